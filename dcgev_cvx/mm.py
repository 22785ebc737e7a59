"""The majorization-minimization driver: minimise f over Ω by steps x⁽ˡ⁺¹⁾ = argmin g(·, x⁽ˡ⁾) (Section 3.2).

iterate    the iterates x⁽⁰⁾, x⁽¹⁾, x⁽²⁾, … without end
minimize   the same, until they no longer move and the certificate passes

The driver knows no program: it asks for the methods of `majorized.Majorized`, and for more where a program has them.
A step is any function step(program, y).
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from ._numerics import checks
from ._numerics.checks import Vector, frozen, method_flag, method_value, shown
from ._numerics.text_tables import count, printable
from .certificates import SANDWICH_TOL, Certificate, certify, rounding_of
from .errors import InvalidParameter, SolverFailed
from .majorized import Majorized
from .steps.shrink import Restriction, expect_restrictable
from .steps.step import AnyStep, own_copy, taken

MOST_STEPS = 100_000
"""The most steps of a run whose stop rule is the caller's own; `Stop` has its max_iter."""


class Status(Enum):
    """How a run ended, as a sentence. A stationary point is not called optimal.

    Examples
    --------
    >>> from dcgev_cvx import Status
    >>> Status.SMALL_STEP.value
    'converged: the step became small at a stationary point'
    """

    SMALL_STEP = "converged: the step became small at a stationary point"
    SMALL_DECREASE = "converged: f stopped decreasing at a stationary point"
    D_STATIONARY = "converged: d-stationary, f has no direction of descent"
    D_STATIONARY_TRIED = "converged: d-stationary in the pieces of v that were tried"
    CRITICAL = "critical: x minimises the surrogate of one tangent, but another piece of v was not ruled out"
    STALLED = "stalled: x no longer moves but is not stationary to the tolerance"
    OUT_OF_ITERATIONS = "ran out of iterations before reaching a stationary point"
    COLLAPSED = "collapsed: x = 0 minimises the surrogate (the penalty outweighs A)"
    NO_FEASIBLE_POINT = "no feasible point found: phase one ended with a violated constraint"
    TIME_LIMIT = "stopped at the time limit"
    STOPPED = "stopped by the caller"
    ASCENT = "ascent seen: f went up, so a step was not a minimiser"
    NOT_MAJORISED = "no MM run: f(x⁺) ≤ g(x⁺, x) ≤ f(x) fails, so the surrogate or a step is wrong"
    SOLVER_FAILED = "solver failed: the history up to the failure is kept"


CONVERGED = (Status.SMALL_STEP, Status.SMALL_DECREASE)
"""The statuses of a run whose last point is stationary to the tolerance."""


@dataclass(frozen=True)
class Iterate:
    """x⁽ˡ⁾ with f(x⁽ˡ⁾), g(x⁽ˡ⁾, x⁽ˡ⁻¹⁾), the multiplier μ and the seconds the step took.

    Parameters
    ----------
    l : int
        The number of steps before this point; 0 is the start.
    x : Vector
        The point, read-only.
    f : float
        The objective at x.
    g : float
        The surrogate of the step that led here, at x.
    mu : float
        The constraint's multiplier in that step.
    seconds : float
        The wall time of that step.
    residual : float
        The KKT residual of that step, where it has one.
    solver : str
        The name of the solver that took the step.
    origin : Vector or None
        Where the surrogate touches f, if not at the iterate before: an accelerated step minimises g(·, origin),
        where f(origin) ≤ f(x⁽ˡ⁻¹⁾).
    work : float
        The share of the variables that the step worked on; 0 for the start.

    Examples
    --------
    >>> from dcgev_cvx import datasets, dc_pca
    >>> start = dc_pca(datasets.pitprops(), rho=4.84).history[0]
    >>> start.l, round(start.f, 3)
    (0, -7.275)
    """

    l: int  # noqa: E741 - the paper's iteration index
    x: Vector
    f: float
    g: float
    mu: float = 0.0
    seconds: float = 0.0
    residual: float = 0.0
    solver: str = ""
    origin: Vector | None = None
    work: float = 0.0


@dataclass(frozen=True)
class Stop:
    """When to stop: ‖x⁽ˡ⁺¹⁾ − x⁽ˡ⁾‖ ≤ step·‖x⁽ˡ⁺¹⁾‖, or f decreasing by no more than `decrease` of its size.

    Either counts as convergence only when the certificate of x passes at `stationarity`; if not, the run continues. A
    slow run (steps of 1e-6 with a residual of 1e-3) is therefore never called converged, and one that no longer moves
    without being stationary is called stalled. Any function rule(program, before, after) of two successive iterates
    that returns a Status, or None to go on, can take its place.

    Parameters
    ----------
    max_iter : int
        The most MM steps to take.
    step : float
        A relative step this small is a fixed point; 1e-10 leaves about eight digits in x. Steps of the paper's
        programs are measured in the norm of B.
    decrease : float
        A decrease this small, relative to the terms of f; 0 stops where f no longer falls in
        floating point, which is where steps of about 1e-8 are.
    stationarity : float
        The tolerance of the certificate, free of the problem's scale.

    Examples
    --------
    >>> from dcgev_cvx import Stop
    >>> Stop(max_iter=50)
    Stop(max_iter=50, step=1e-10, decrease=0.0, stationarity=1e-06)
    """

    max_iter: int = 1000
    step: float = 1e-10
    decrease: float = 0.0
    stationarity: float = 1e-6

    def __post_init__(self) -> None:
        checks.as_whole(self.max_iter, "max_iter")
        for name in ("step", "decrease", "stationarity"):
            checks.as_number(getattr(self, name), name)

    def __call__(self, program: Any, before: Iterate, after: Iterate) -> Status | None:
        """The status after two successive iterates, or None to go on.

        In this order: nothing left (collapsed), f went up (ascent), g below f (not majorised), no longer moving at a
        stationary point (converged) or elsewhere (stalled), the limit of iterations.
        """
        if not after.x.any() and has_collapsed(program, after.x):
            return Status.COLLAPSED
        if after.f > min(before.f, after.g):
            size = method_value(program, "size", after.x)
            noise = rounding_of(program, max(size, method_value(program, "size", before.x)), after.x)
            if after.f - before.f > noise:
                return Status.ASCENT
            if after.f - after.g > noise + SANDWICH_TOL * size:
                return Status.NOT_MAJORISED
        still = step_length(program, after.x - before.x) <= self.step * step_length(program, after.x)
        least = self.decrease * method_value(program, "size", after.x) if self.decrease else 0.0
        if still or before.f - after.f <= least:
            if certify(program, after.x).passes(self.stationarity):
                return Status.SMALL_STEP if still else Status.SMALL_DECREASE
            if (after.x == before.x).all():
                return Status.STALLED
        return Status.OUT_OF_ITERATIONS if after.l >= self.max_iter else None


Callback: TypeAlias = Callable[[Iterate], Any]
StopRule: TypeAlias = Callable[[Any, Iterate, Iterate], Status | None]


@dataclass(frozen=True)
class MMResult:
    """Where the run ended, why, how it got there, and what the data prove about it.

    Parameters
    ----------
    x : Vector
        The last iterate.
    f : float
        The objective at x.
    status : Status
        Why the run ended, as a sentence.
    converged : bool
        True only for a small step or decrease at a point whose certificate passes. It means
        stationary: other stationary points may have a lower f.
    n_iter : int
        The number of steps.
    history : tuple of Iterate
        Every iterate from the start on.
    program : SparseGEV, SparseFDA, DCProgram or another
        What was minimised.
    certificate : Certificate
        The numbers that certify x and the whole history, computed from the data.
    message : str
        What a failed solver said, or what else there is to say about the run.

    Examples
    --------
    >>> from dcgev_cvx import datasets, dc_pca
    >>> result = dc_pca(datasets.pitprops(), rho=4.84)
    >>> result.converged, result.n_iter, result.support
    (True, 149, (0, 1, 6, 7, 8, 9))
    """

    x: Vector
    f: float
    status: Status
    converged: bool
    n_iter: int
    history: tuple[Iterate, ...]
    program: Any
    certificate: Certificate
    message: str = ""

    @property
    def solvers(self) -> dict[str, int]:
        """How many of the steps each solver took."""
        return dict(Counter(iterate.solver for iterate in self.history[1:]))

    @property
    def passes(self) -> float:
        """How many steps on all variables the run's work amounts to; restricted steps count by their share."""
        return sum(iterate.work for iterate in self.history)

    @property
    def support(self) -> tuple[int, ...]:
        """The positions of the nonzeros."""
        return tuple(int(i) for i in np.flatnonzero(self.x))

    def __str__(self) -> str:
        name: Callable[[int], str] = getattr(self.program, "name", lambda i: f"x{i + 1}")
        names = ", ".join(printable(str(name(i))) for i in self.support[:12])
        more = " …" if len(self.support) > 12 else ""
        return (
            f"{self.status.value}{': ' + self.message if self.message else ''}\n"
            f"  f = {self.f:.10g} after {count(self.n_iter, 'iteration')}, "
            f"{count(len(self.support), 'nonzero')}: {names}{more}\n"
            f"  certificate: {self.certificate}"
        )


def iterate(program: Majorized, step: AnyStep, x0: Any = None) -> Iterator[Iterate]:
    """x⁽⁰⁾, x⁽¹⁾, x⁽²⁾, … without end: x⁽ˡ⁺¹⁾ = argmin g(·, x⁽ˡ⁾) over Ω (Eq:min-step).

    The iterates satisfy f(x⁽ˡ⁺¹⁾) ≤ g(x⁽ˡ⁺¹⁾, x⁽ˡ⁾) ≤ g(x⁽ˡ⁾, x⁽ˡ⁾) = f(x⁽ˡ⁾): the first because g majorises f, the
    second because x⁽ˡ⁺¹⁾ minimises g, the last because g touches f (Eq:sandwich).

    Parameters
    ----------
    program : Majorized
        What to minimise: a SparseGEV, SparseFDA or DCProgram, or your own.
    step : callable
        Called as step(program, y), returns a StepOutput or the minimiser alone; any of `dcgev_cvx.steps`, or your own.
    x0 : array_like, optional
        A start in Ω; the program's own by default.

    Returns
    -------
    Iterator[Iterate]
        The start and the steps from it, one at a time. Take as many as you like.

    Examples
    --------
    >>> from itertools import islice
    >>> from dcgev_cvx import SparseGEV, datasets
    >>> from dcgev_cvx.steps.closed import soft_threshold_step
    >>> program = SparseGEV(datasets.pitprops(), rho=4.84)
    >>> for point in islice(iterate(program, soft_threshold_step), 3):
    ...     print(point.l, round(point.f, 3), (point.x != 0).sum())
    0 -7.275 13
    1 -29.518 8
    2 -33.981 7
    """
    check_arguments(program, step)
    x = start_point(program, x0)
    f = method_value(program, "f", x)
    start = Iterate(0, x, f, f)
    return chain([start], steps_after(program, step, start))


def steps_after(program: Majorized, step: AnyStep, before: Iterate) -> Iterator[Iterate]:
    """The iterates after this one."""
    while True:
        y = before.x
        out = taken(step, program, y)
        x, g = own_copy(out.x, y), out.value
        if x.any() and has_collapsed(program, x):  # it would shrink for ever, until squares underflow
            x = np.zeros_like(x)
            g = method_value(program, "g", x, y)
        f = method_value(program, "f", frozen(x))
        origin = None if out.origin is None else own_copy(out.origin, y)
        before = Iterate(before.l + 1, x, f, g, out.mu, out.seconds, out.residual, out.solver, origin, work=1.0)
        yield before


def minimize(
    program: Majorized,
    step: AnyStep,
    x0: Any = None,
    *,
    stop: StopRule | None = None,
    callback: Callback | None = None,
    shrink: bool = False,
) -> MMResult:
    """Run MM until the stop rule and the certificate agree; a callback that returns True stops the run.

    Every algorithm of this package runs through this driver. A step that raises SolverFailed ends
    the run with what was computed before it; whatever else a step does wrong, the certificate is
    computed from the data and shows it.

    Parameters
    ----------
    program : Majorized
        What to minimise: a SparseGEV, SparseFDA or DCProgram, or your own.
    step : callable
        Called as step(program, y), returns a StepOutput or the minimiser alone; any of `dcgev_cvx.steps`, or your own.
    x0 : array_like, optional
        A start in Ω; the program's own by default.
    stop : Stop or callable, optional
        When to stop; `Stop()` by default, or a function of (program, before, after) that returns a Status or None.
        With a function the run also ends at an iterate equal to the one before it, and after 100,000 steps, and a
        status of convergence counts as STOPPED where the certificate does not pass.
    callback : callable, optional
        Called with each Iterate, the start included.
    shrink : bool
        Remove the variables that stay zero in all later steps and go on with the smaller program: the same
        iterates, sooner. The result and its certificate are those of the whole program all the same.

    Returns
    -------
    MMResult
        The last iterate, its status as a sentence, the history and the certificate.

    Examples
    --------
    >>> from dcgev_cvx import SparseGEV, Stop, datasets, minimize
    >>> from dcgev_cvx.steps.closed import soft_threshold_step
    >>> program = SparseGEV(datasets.pitprops(), rho=4.84)
    >>> done = minimize(program, soft_threshold_step)
    >>> done.status.name, done.converged, len(done.support)
    ('SMALL_DECREASE', True, 6)
    >>> short = minimize(program, soft_threshold_step, stop=Stop(max_iter=3))
    >>> short.status.name, short.converged
    ('OUT_OF_ITERATIONS', False)
    """
    rule, callback, shrink = (
        expect_rule(stop),
        checks.as_callback(callback, "callback"),
        checks.as_flag(shrink, "shrink"),
    )
    if shrink:
        expect_restrictable(program)
    points = iterate(program, step, x0)
    before = next(points)
    history, part = [before], Restriction.whole(program, len(before.x))
    status, message = wish(callback, before), ""
    try:
        while status is None:
            if shrink and part.can_shrink(before.x):
                part = part.shrunk(before.x)
                before = without_zeros(part.program, before)
                points = steps_after(part.program, step, before)
            after = next(points)
            history.append(lifted(after, part))
            verdict, wanted = rule(part.program, before, after), wish(callback, history[-1])
            status, before = verdict or wanted, after
    except SolverFailed as failure:
        status, message = Status.SOLVER_FAILED, f"step {len(history)}: {failure}"
    return result_of(program, history, status, message)


def wish(callback: Callback | None, point: Iterate) -> Status | None:
    """What the callback wants: STOPPED where it returns True."""
    return Status.STOPPED if callback is not None and checks.says_stop(callback(point)) else None


def without_zeros(program: Any, point: Iterate) -> Iterate:
    """An iterate without its zeros, from which a restricted program goes on."""
    x = frozen(point.x[point.x != 0.0])
    f = method_value(program, "f", x)
    return Iterate(point.l, x, f, f)


def lifted(point: Iterate, part: Restriction) -> Iterate:
    """An iterate of a restricted program as one of the whole."""
    if part.program is part.original:
        return point
    origin = None if point.origin is None else part.lift(point.origin)
    f, g, work = point.f + part.constant, point.g + part.constant, point.work * len(point.x) / part.n
    return replace(point, x=part.lift(point.x), f=f, g=g, origin=origin, work=work)


def result_of(program: Any, history: Sequence[Iterate], status: Status, message: str = "") -> MMResult:
    """The record of a run with its certificate; converged only if f descended along the whole history."""
    last = history[-1]
    certificate = certify(program, last.x, history)
    # the run was ended by f alone; only the sandwich of the whole history shows a step whose g was wrong
    if not certificate.sandwich <= SANDWICH_TOL and status in CONVERGED:
        status = Status.NOT_MAJORISED
    if status in (Status.STALLED, Status.OUT_OF_ITERATIONS) and hasattr(program, "obstacle"):
        message = str(program.obstacle(last.x) or "")
    return MMResult(last.x, last.f, status, status in CONVERGED, last.l, tuple(history), program, certificate, message)


# What the driver asks, with its defaults, and how it checks what it is given


def step_length(program: Any, x: Vector) -> float:
    """The length of a step, Euclidean where the program does not say otherwise."""
    return method_value(program, "norm", x) if hasattr(program, "norm") else math.sqrt(float(x @ x))


def has_collapsed(program: Any, x: Vector) -> bool:
    """Is x zero up to rounding, with nothing left to optimise? False where the program does not say."""
    return hasattr(program, "collapsed") and method_flag(program, "collapsed", x)


def start_point(program: Majorized, x0: Any) -> Vector:
    """x⁽⁰⁾, a finite vector."""
    x: Any = program.start(x0)
    if not isinstance(x, np.ndarray) or x.ndim != 1 or x.dtype.kind not in "fiu" or not np.isfinite(x).all():
        raise InvalidParameter(f"{type(program).__name__}.start(x0) must return a finite vector; got {shown(x)}.")
    return frozen(np.array(x, dtype=np.float64))


def check_arguments(program: Any, step: Any) -> None:
    """Raise unless the program has the methods that the driver calls and the step can be called."""
    calls = {"start": "start(x0)", "f": "f(x)", "g": "g(x, y)", "size": "size(x)", "certify": "certify(x, history)"}
    missing = [call for name, call in calls.items() if not callable(getattr(program, name, None))]
    if missing or isinstance(program, type):
        kind = f"the class {program.__name__}" if isinstance(program, type) else type(program).__name__
        raise InvalidParameter(
            "program must be a SparseGEV, SparseFDA, DCProgram or an object with the methods of majorized.Majorized; "
            f"got {kind}{' without ' + ', '.join(missing) if missing else ', not an instance of it'}."
        )
    if isinstance(step, type) or not callable(step):
        raise InvalidParameter(
            f"step must be a function called as step(program, y); got {shown(step)}. See dcgev_cvx.steps."
        )


def expect_rule(stop: Any) -> StopRule:
    """The stop rule; the default for None, and one that ends every run where it is the caller's own."""
    if stop is None or isinstance(stop, Stop):
        return stop or Stop()
    if isinstance(stop, type) or not callable(stop):
        raise InvalidParameter(
            f"stop must be a Stop such as Stop(max_iter=50), or a function of (program, before, after) that returns a "
            f"Status or None; got {shown(stop)}."
        )

    def bounded(program: Any, before: Iterate, after: Iterate) -> Status | None:
        status = stop(program, before, after)
        if status is not None and not isinstance(status, Status):
            raise InvalidParameter(f"the stop rule must return a Status, or None to go on; got {shown(status)}.")
        if status in CONVERGED and not certify(program, after.x).passes():
            return Status.STOPPED
        if status is None and (after.x == before.x).all():  # a step is a function of y: nothing will change
            return Status.SMALL_STEP if certify(program, after.x).passes() else Status.STALLED
        return Status.OUT_OF_ITERATIONS if status is None and after.l >= MOST_STEPS else status

    return bounded


def expect_stop(stop: Any) -> Stop:
    """A Stop, the default for None: for runs that read its settings."""
    return Stop() if stop is None else checks.expect(stop, Stop, "stop", "pass one such as Stop(max_iter=50), or None")
