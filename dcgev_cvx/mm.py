"""The majorization-minimization driver: it knows programs and steps only by their call shape (Section 3.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from ._numerics.checks import (
    UNIT_ROUNDOFF,
    Vector,
    as_callback,
    as_flag,
    as_number,
    as_whole,
    frozen,
    says_stop,
    shown,
)
from .certificates import Certificate, certify, rounding
from .errors import InvalidParameter, SolverFailed
from .programs import Program, expect_program
from .steps.shrink import Face
from .steps.step import Step, StepOutput, expect_output, own_copy


class Status(Enum):
    """How a run ended, as a sentence. A stationary point is not called optimal."""

    SMALL_STEP = "converged: the step became small at a stationary point"
    SMALL_DECREASE = "converged: f stopped decreasing at a stationary point"
    STALLED = "stalled: x no longer moves but is not stationary to the tolerance"
    OUT_OF_ITERATIONS = "ran out of iterations before reaching a stationary point"
    COLLAPSED = "collapsed: x = 0 minimises the surrogate (the penalty outweighs A)"
    STOPPED = "stopped by the caller"
    ASCENT = "ascent seen: f went up, so a step was not a minimiser"
    SOLVER_FAILED = "solver failed: the history up to the failure is kept"


@dataclass(frozen=True)
class Iterate:
    """x⁽ˡ⁾ with f(x⁽ˡ⁾), g(x⁽ˡ⁾, x⁽ˡ⁻¹⁾), the multiplier μ and the seconds the step took.

    An accelerated step minimises g(·, origin) instead, where f(origin) ≤ f(x⁽ˡ⁻¹⁾).
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
    """When to stop: ‖x⁽ˡ⁺¹⁾ − x⁽ˡ⁾‖_B ≤ step·‖x‖_B, or f decreasing by no more than `decrease` of its size.

    Either counts as convergence only when the certificate of x passes at `stationarity`; if not,
    the run goes on. A run that creeps (steps of 1e-6 with a residual of 1e-3) is therefore never
    called converged, and one that stands still without being stationary is called stalled.

    Parameters
    ----------
    max_iter
        The most MM steps to take.
    step
        A relative step this small is a fixed point; 1e-10 leaves about eight digits in x.
    decrease
        A decrease this small, relative to the terms of f; 0 stops where f no longer falls in
        floating point, which is where steps of about 1e-8 are.
    stationarity
        The tolerance of the certificate, free of the problem's scale.
    """

    max_iter: int = 1000
    step: float = 1e-10
    decrease: float = 0.0
    stationarity: float = 1e-6

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_iter", as_whole(self.max_iter, "max_iter"))
        for name in ("step", "decrease", "stationarity"):
            object.__setattr__(self, name, as_number(getattr(self, name), name))

    def moved_little(self, program: Program, before: Vector, after: Vector) -> bool:
        """Is the step small?"""
        return program.pencil.B_norm(after - before) <= self.step * program.pencil.B_norm(after)

    def sank_little(self, program: Program, before: Iterate, after: Iterate) -> bool:
        """Is the decrease small?"""
        slack = self.decrease * program.size(after.x) if self.decrease > 0.0 else 0.0
        return before.f - after.f <= slack


USUAL = Stop()
Callback = Callable[[Iterate], Any]


@dataclass(frozen=True)
class MMResult:
    """Where the run ended, why, how it got there, and what the data prove about it.

    Attributes
    ----------
    x, f
        The last iterate and its objective.
    status, message
        Why the run ended, as a sentence, and what a failed solver said.
    converged
        True only for a small step or decrease at a point whose certificate passes. It means
        stationary: other stationary points may have a lower f.
    n_iter, history
        The number of steps, and every Iterate from the start on.
    program, certificate
        What was minimised, and the referee's numbers for x and for the whole history.
    """

    x: Vector
    f: float
    status: Status
    converged: bool
    n_iter: int
    history: tuple[Iterate, ...]
    program: Program
    certificate: Certificate
    message: str = ""

    @property
    def solvers(self) -> dict[str, int]:
        """Who solved how many of the steps."""
        return dict(Counter(iterate.solver for iterate in self.history[1:]))

    @property
    def passes(self) -> float:
        """Products with the whole of A that the run's work amounts to; restricted steps count by their share."""
        return sum(iterate.work for iterate in self.history)

    @property
    def support(self) -> tuple[int, ...]:
        """The positions of the nonzeros."""
        return tuple(i for i, value in enumerate(self.x) if value != 0.0)

    def __str__(self) -> str:
        names = ", ".join(self.program.pencil.name(i) for i in self.support[:12])
        more = " …" if len(self.support) > 12 else ""
        return (
            f"{self.status.value}{': ' + self.message if self.message else ''}\n"
            f"  f = {self.f:.10g} after {self.n_iter} iterations, {len(self.support)} nonzeros: {names}{more}\n"
            f"  certificate: {self.certificate}"
        )


def iterate(program: Program, step: Step, x0: Any = None) -> Iterator[Iterate]:
    """x⁽⁰⁾, x⁽¹⁾, x⁽²⁾, … without end: x⁽ˡ⁺¹⁾ = argmin g(·, x⁽ˡ⁾) over Ω (Eq:min-step). Take as many as you like.

    The iterates satisfy f(x⁽ˡ⁺¹⁾) ≤ g(x⁽ˡ⁺¹⁾, x⁽ˡ⁾) ≤ g(x⁽ˡ⁾, x⁽ˡ⁾) = f(x⁽ˡ⁾): the first because g majorises f, the
    second because x⁽ˡ⁺¹⁾ minimises g, the last because g touches f (Eq:sandwich).

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
    expect_step(step)
    return steps_from(program, step, frozen(expect_program(program).start(x0)))


def steps_from(program: Program, step: Step, y: Vector, l: int = 0) -> Iterator[Iterate]:  # noqa: E741
    """y as iterate l, then the steps from it."""
    value, first = program.f(y), l
    yield Iterate(l, y, value, value, mu=0.0, seconds=0.0)
    while True:
        l += 1  # noqa: E741 - the paper's iteration index
        done = l > first + 1 and vanished(program, y)
        out = extrapolated(program, y) if done else expect_output(step(program, y))
        origin = None if out.origin is None else own_copy(out.origin, y)
        y = frozen(own_copy(out.x, y))
        yield Iterate(l, y, program.f(y), out.value, out.mu, out.seconds, out.residual, out.solver, origin, out.work)


def vanished(program: Program, y: Vector) -> bool:
    """Is y zero but for rounding beside Ω = {xᵀBx ≤ 1}, and f no larger at 0?

    Where A has no positive direction, steps without a penalty only shrink x: by a factor each, down to numbers
    whose squares are none, though the limit was known long before.
    """
    zero = np.zeros_like(y)
    tiny = y.any() and program.pencil.B_norm(y) <= UNIT_ROUNDOFF
    return bool(tiny and program.violation(zero) == 0.0 and program.f(zero) <= program.f(y))


def extrapolated(program: Program, y: Vector) -> StepOutput:
    """The step from 0, the limit of a run through y, which stays there: an accelerated one, its origin 0."""
    zero = np.zeros_like(y)
    return StepOutput(
        zero, program.f(zero), mu=0.0, seconds=0.0, residual=0.0, correction=0.0, solver="none", origin=zero, work=0.0
    )


def expect_step(step: Any) -> None:
    """Refuse what cannot be called."""
    if isinstance(step, type) or not callable(step):
        raise InvalidParameter(
            f"step = {shown(step)} is none: it is called as step(program, y); see dcgev_cvx.steps."
        )


def expect_stop(stop: Any) -> Stop:
    """The stop rule if it is one, the default for None."""
    if stop is not None and not isinstance(stop, Stop):
        raise InvalidParameter(f"stop = {shown(stop)} is no stop rule: use Stop(max_iter=..., step=...).")
    return USUAL if stop is None else stop


def minimize(
    program: Program,
    step: Step,
    x0: Any = None,
    *,
    stop: Stop | None = None,
    callback: Callback | None = None,
    shrink: bool = False,
) -> MMResult:
    """Run MM until the stop rule and the certificate agree; a callback that returns True stops the run.

    The driver asks nothing of a program but f, g and Ω, and nothing of a step but the argmin of
    g(·, y); every algorithm of this package runs through it. A step that raises SolverFailed ends
    the run with what was computed before it; whatever else a step does wrong, the certificate is
    computed from the data and shows it.

    Parameters
    ----------
    program
        What to minimise: SparseGEV or SparseFDA.
    step
        step(program, y) → StepOutput; any of `dcgev_cvx.steps`, or your own.
    x0
        A start in Ω; the program's own by default.
    stop
        When to stop; `Stop()` by default.
    callback
        Called with each Iterate, the start included.
    shrink
        Drop the variables that are zero for good (see Face) and go on with the smaller program: the same
        iterates, sooner. The result and its certificate are those of the whole program all the same.

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
    expect_program(program)
    history: list[Iterate] = []
    status, message = Status.OUT_OF_ITERATIONS, ""
    try:
        for face, local in on_faces(program, step, x0, shrink):
            current = local[-1]
            history.append(lifted(face, current))
            verdict = ended(face.part, rule, local)
            if callback is not None and says_stop(callback(history[-1])) and verdict is None:
                verdict = Status.STOPPED
            if verdict is not None:
                status = verdict
                break
    except SolverFailed as failure:
        status, message = Status.SOLVER_FAILED, f"step {len(history)}: {failure}"
    return result_of(program, history, status, message)


def on_faces(program: Program, step: Step, x0: Any, shrink: bool) -> Iterator[tuple[Face, list[Iterate]]]:
    """The iterates, each as the newest of a list of at most two in the coordinates of its face."""
    face, local = Face.whole(program), list[Iterate]()
    run = iterate(program, step, x0)
    while True:
        local = [*local[-1:], next(run)]
        yield face, local
        smaller = face.shrunk(local[-1].x) if shrink else face
        if smaller is not face:
            run = steps_from(smaller.part, step, frozen(local[-1].x[local[-1].x != 0.0]), local[-1].l)
            face, local = smaller, [next(run)]


def lifted(face: Face, point: Iterate) -> Iterate:
    """The same iterate in the whole space."""
    if face.part is face.whole_program:
        return point
    f, g = point.f + face.constant, point.g + face.constant
    origin = None if point.origin is None else face.lift(point.origin)
    x, work = face.lift(point.x), point.work * face.share
    return Iterate(point.l, x, f, g, point.mu, point.seconds, point.residual, point.solver, origin, work)


def ended(program: Program, rule: Stop, history: Sequence[Iterate]) -> Status | None:
    """The status after the newest iterate, or None to go on.

    In this order: nothing left (collapsed), f went up (ascent), standing still at a stationary
    point (converged) or elsewhere (stalled), the limit of iterations.
    """
    if len(history) < 2:
        return None
    before, after = history[-2], history[-1]
    if not after.x.any():
        return Status.COLLAPSED
    if after.f > before.f and after.f - before.f > rounding(program, program.size(before.x), after.x):
        return Status.ASCENT
    still = rule.moved_little(program, before.x, after.x)
    if still or rule.sank_little(program, before, after):
        if certify(program, after.x).passes(rule.stationarity):
            return Status.SMALL_STEP if still else Status.SMALL_DECREASE
        if (after.x == before.x).all():
            return Status.STALLED
    return Status.OUT_OF_ITERATIONS if after.l >= rule.max_iter else None


def result_of(program: Program, history: Sequence[Iterate], status: Status, message: str = "") -> MMResult:
    """The record of a run, judged by the referee; converged only if its whole certificate passes."""
    last = history[-1]
    certificate = certify(program, last.x, history)
    # the run was ended by f alone; only the sandwich of the whole history shows a step whose g was wrong
    if certificate.sandwich > 1e-9 and status in (Status.SMALL_STEP, Status.SMALL_DECREASE):
        status = Status.ASCENT
    return MMResult(
        x=last.x,
        f=last.f,
        status=status,
        converged=status in (Status.SMALL_STEP, Status.SMALL_DECREASE),
        n_iter=last.l,
        history=tuple(history),
        program=program,
        certificate=certificate,
        message=message,
    )
