"""The majorization-minimization driver: minimise f over Ω by steps x⁽ˡ⁺¹⁾ = argmin g(·, x⁽ˡ⁾) (Section 3.2).

iterate    the iterates x⁽⁰⁾, x⁽¹⁾, x⁽²⁾, … without end
minimize   the same, until they no longer move and the certificate passes
Majorized  what the driver asks of a program; a step is any function step(program, y)
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol

import numpy as np

from ._numerics.checks import Vector, as_callback, as_flag, as_number, as_whole, expect, frozen, says_stop, shown
from ._numerics.text_tables import count, printable
from .certificates import Certificate, certify
from .errors import InvalidParameter, SolverFailed
from .pencils import Pencil
from .programs import SparseFDA, SparseGEV
from .steps.shrink import Restriction
from .steps.step import StepOutput, expect_output, own_copy


class Majorized(Protocol):
    """min f over Ω with a surrogate g: what the driver asks of a program."""

    def start(self, x0: Any = None) -> Vector:
        """A point of Ω to start from."""
        ...

    def f(self, x: Vector) -> float:
        """The objective."""
        ...

    def g(self, x: Vector, y: Vector) -> float:
        """The surrogate: g(x, y) ≥ f(x) and g(y, y) = f(y)."""
        ...

    def size(self, x: Vector) -> float:
        """The sum of the moduli of f's terms, which a decrease of f is measured against."""
        ...

    def rounding(self, size: float, x: Vector) -> float:
        """What f and g, sums of this size, may lose to rounding."""
        ...

    def norm(self, x: Vector) -> float:
        """The length of a step."""
        ...

    def collapsed(self, x: Vector) -> bool:
        """Is x zero up to rounding, and 0 a point where nothing is left to optimise?"""
        ...

    def name(self, i: int) -> str:
        """The name of entry i of x."""
        ...


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
    SOLVER_FAILED = "solver failed: the history up to the failure is kept"


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
        The step's share of one product with the whole of A.

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
    mu: float
    seconds: float
    residual: float = 0.0
    solver: str = ""
    origin: Vector | None = None
    work: float = 0.0


@dataclass(frozen=True)
class Stop:
    """When to stop: ‖x⁽ˡ⁺¹⁾ − x⁽ˡ⁾‖ ≤ step·‖x⁽ˡ⁺¹⁾‖, or f decreasing by no more than `decrease` of its size.

    Either counts as convergence only when the certificate of x passes at `stationarity`; if not, the run continues. A
    slow run (steps of 1e-6 with a residual of 1e-3) is therefore never called converged, and one that no longer moves
    without being stationary is called stalled.

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
        object.__setattr__(self, "max_iter", as_whole(self.max_iter, "max_iter"))
        for name in ("step", "decrease", "stationarity"):
            object.__setattr__(self, name, as_number(getattr(self, name), name))


Callback = Callable[[Iterate], Any]
AnyStep = Callable[[Any, Vector], StepOutput]


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
    program : SparseGEV, SparseFDA or DCProgram
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
        """Products with the whole of A that the run's work amounts to; restricted steps count by their share."""
        return sum(iterate.work for iterate in self.history)

    @property
    def support(self) -> tuple[int, ...]:
        """The positions of the nonzeros."""
        return tuple(int(i) for i in np.flatnonzero(self.x))

    def __str__(self) -> str:
        names = ", ".join(printable(self.program.name(i)) for i in self.support[:12])
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
    program : SparseGEV, SparseFDA or DCProgram
        What to minimise.
    step : callable
        Called as step(program, y); any of `dcgev_cvx.steps`, or your own.
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
    return steps_from(program, step, frozen(program.start(x0)))


def minimize(
    program: Majorized,
    step: AnyStep,
    x0: Any = None,
    *,
    stop: Stop | None = None,
    callback: Callback | None = None,
    shrink: bool = False,
) -> MMResult:
    """Run MM until the stop rule and the certificate agree; a callback that returns True stops the run.

    Every algorithm of this package runs through this driver. A step that raises SolverFailed ends
    the run with what was computed before it; whatever else a step does wrong, the certificate is
    computed from the data and shows it.

    Parameters
    ----------
    program : SparseGEV, SparseFDA or DCProgram
        What to minimise.
    step : callable
        Called as step(program, y), returns a StepOutput; any of `dcgev_cvx.steps`, or your own.
    x0 : array_like, optional
        A start in Ω; the program's own by default.
    stop : Stop, optional
        When to stop; `Stop()` by default.
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
    rule, callback, shrink = expect_stop(stop), as_callback(callback, "callback"), as_flag(shrink, "shrink")
    history: list[Iterate] = []
    status, message = Status.OUT_OF_ITERATIONS, ""
    try:
        for part, local, point in judged_iterates(program, step, x0, shrink):
            history.append(point)
            verdict = ended(part, rule, local)
            if callback is not None and says_stop(callback(point)) and verdict is None:
                verdict = Status.STOPPED
            if verdict is not None:
                status = verdict
                break
    except SolverFailed as failure:
        status, message = Status.SOLVER_FAILED, f"step {len(history)}: {failure}"
    return result_of(program, history, status, message)


def ended(program: Majorized, rule: Stop, history: Sequence[Iterate]) -> Status | None:
    """The status after the last two iterates, or None to go on.

    In this order: nothing left (collapsed), f went up (ascent), no longer moving at a stationary
    point (converged) or elsewhere (stalled), the limit of iterations.
    """
    if len(history) < 2:
        return None
    before, after = history
    if not after.x.any() and program.collapsed(after.x):
        return Status.COLLAPSED
    if after.f > before.f and after.f - before.f > program.rounding(program.size(before.x), after.x):
        return Status.ASCENT
    still = program.norm(after.x - before.x) <= rule.step * program.norm(after.x)
    if still or before.f - after.f <= (rule.decrease * program.size(after.x) if rule.decrease else 0.0):
        if judge(program, after.x).passes(rule.stationarity):
            return Status.SMALL_STEP if still else Status.SMALL_DECREASE
        if (after.x == before.x).all():
            return Status.STALLED
    return Status.OUT_OF_ITERATIONS if after.l >= rule.max_iter else None


def judge(program: Any, x: Vector, history: Sequence[Iterate] = ()) -> Certificate:
    """The program's own certificate where it has one, as a DCProgram does, else that of the paper's programs."""
    own = getattr(program, "certify", None)
    return certify(program, x, history) if own is None else own(x, history)


def result_of(program: Majorized, history: Sequence[Iterate], status: Status, message: str = "") -> MMResult:
    """The record of a run with its certificate; converged only if the whole certificate passes."""
    last = history[-1]
    certificate = judge(program, last.x, history)
    # the run was ended by f alone; only the sandwich of the whole history shows a step whose g was wrong
    if certificate.sandwich > 1e-9 and status in (Status.SMALL_STEP, Status.SMALL_DECREASE):
        status = Status.ASCENT
    converged = status in (Status.SMALL_STEP, Status.SMALL_DECREASE)
    if status in (Status.STALLED, Status.OUT_OF_ITERATIONS) and isinstance(program, (SparseGEV, SparseFDA)):
        message = lost_digits(program.pencil, last.x)
    return MMResult(last.x, last.f, status, converged, last.l, tuple(history), program, certificate, message)


def lost_digits(pencil: Pencil, x: Vector) -> str:
    """Why a certificate cannot pass: xᵀBx has too few digits at x. Empty where it has enough."""
    lost = pencil.rounding(x)
    return f"B is so ill-conditioned that xᵀBx is known to {lost:.0e} only: add a ridge to B" if lost > 1e-7 else ""


def judged_iterates(
    program: Any, step: AnyStep, x0: Any, shrink: bool
) -> Iterator[tuple[Majorized, list[Iterate], Iterate]]:
    """The iterates, each with the program and its last two iterates, by which the stop rule judges.

    With `shrink` the variables that stay zero are removed on the way; each iterate is the whole point all the same.
    """
    run, local = iterate(program, step, x0), list[Iterate]()
    restricted = Restriction.whole(program) if shrink else None
    while True:
        point = next(run)
        local = [*local[-1:], point]
        if restricted is None:
            yield program, local, point
            continue
        yield restricted.part, local, lifted(restricted, point)
        smaller = restricted.shrunk(point.x)
        if smaller is not restricted:
            run = steps_from(smaller.part, step, frozen(point.x[point.x != 0.0]), point.l)
            restricted, local = smaller, [next(run)]


def lifted(restricted: Restriction, point: Iterate) -> Iterate:
    """The same iterate in the whole space."""
    if restricted.part is restricted.whole_program:
        return point
    origin = None if point.origin is None else restricted.lift(point.origin)
    f, g, work = point.f + restricted.constant, point.g + restricted.constant, point.work * restricted.share
    return replace(point, x=restricted.lift(point.x), f=f, g=g, origin=origin, work=work)


def steps_from(program: Majorized, step: AnyStep, y: Vector, l: int = 0) -> Iterator[Iterate]:  # noqa: E741
    """y as iterate l, then the steps from it."""
    value, first = program.f(y), l
    yield Iterate(l, y, value, value, mu=0.0, seconds=0.0)
    while True:
        l += 1  # noqa: E741 - the paper's iteration index
        # where A has no positive direction, steps without a penalty only shrink x, until its squares underflow
        if l > first + 1 and y.any() and program.collapsed(y):
            y = frozen(np.zeros_like(y))
            value = program.f(y)
            yield Iterate(l, y, value, value, mu=0.0, seconds=0.0, solver="none", origin=y)
            continue
        out = expect_output(step(program, y))
        origin = None if out.origin is None else own_copy(out.origin, y)
        y = frozen(own_copy(out.x, y))
        yield Iterate(l, y, program.f(y), out.value, out.mu, out.seconds, out.residual, out.solver, origin, work=1.0)


def check_arguments(program: Any, step: Any) -> None:
    """Raise unless the program has the methods that the driver calls and the step can be called."""
    if not all(callable(getattr(program, name, None)) for name in ("start", "f", "g", "size", "rounding", "norm")):
        raise InvalidParameter(
            f"program must be a SparseGEV, SparseFDA or DCProgram; got {type(program).__name__}. "
            "Build one, such as SparseGEV(pencil, rho)."
        )
    if isinstance(step, type) or not callable(step):
        raise InvalidParameter(
            f"step must be a function called as step(program, y); got {shown(step)}. See dcgev_cvx.steps."
        )


def expect_stop(stop: Any) -> Stop:
    """The stop rule; the default for None."""
    return Stop() if stop is None else expect(stop, Stop, "stop", "pass one such as Stop(max_iter=50), or None")
