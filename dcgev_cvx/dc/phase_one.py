"""A run of a DCProgram from any start: phase one until the constraints hold, then the driver of `mm`."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .._numerics.checks import Vector, says_stop
from .._numerics.text_tables import count
from ..errors import Infeasible, SolverFailed, Unbounded
from ..mm import Callback, Iterate, MMResult, Status, Stop, minimize, result_of
from ..steps.backend import Backend
from ..steps.solver_settings import settings_of
from .program import FEASIBLE, DCProgram, TangentStep

FIRST_PENALTY, GROWTH = 3e-3, 1.3
"""The first penalty, relative to the sizes of objective and constraints, and its growth from step to step.

The objective leads at first. The pairs (1e-2, 1.5), (1e-3, 1.5), (3e-3, 1.3) and (1e-3, 1.2) were tried on seeds 0
to 5 of the benchmark's circle packing, filter design and boolean least squares. The first two ended at worse
stationary points in one of these problems each; (1e-3, 1.2) took nearly twice as many steps as (3e-3, 1.3).
"""
SLOW, PENALTIES, HIGHEST = 60, 100, 1e9
"""After this many penalties the growth is 4; the most penalties tried; and the highest, where the size of f is 1."""


def run(program: DCProgram, step: TangentStep, stop: Stop, callback: Callback | None) -> MMResult:
    """Phase one while a constraint is violated, then the driver at a fixed penalty.

    Where the driver leaves the constraints, the penalty was too small: the next one starts from the last feasible
    point. The same where the surrogate is unbounded.
    """
    y, complete = program.values()
    feasible = complete and program.violation(y) <= FEASIBLE
    taken, unbounded, failed = 0, None, False
    for weighted in penalised(program, y):
        try:
            if not feasible:
                y, taken = phase_one_step(weighted, step, y), taken + 1
                feasible = program.dc_violation(y) <= FEASIBLE and program.convex_violation(y) <= FEASIBLE
            if feasible:
                result = minimize(weighted, step, y, stop=stop, callback=while_feasible(weighted, callback))
                if unbounded is not None and result.status is Status.SOLVER_FAILED:
                    raise unbounded
                if weighted.dc_violation(result.x) <= FEASIBLE:
                    return replace(
                        result, message=result.message or f"phase one took {count(taken, 'step')}" * (taken > 0)
                    )
                y = result.history[-2].x
            unbounded, failed = None, False
        except Unbounded as failure:
            unbounded = failure
        except SolverFailed as failure:
            if unbounded is not None:
                raise unbounded from failure
            if not failed:
                failed = True  # the problem with the next penalty is another one
                continue
            return ended_at(program, y, Status.SOLVER_FAILED, f"phase one, step {taken + 1}: {failure}")
    if unbounded is not None:
        raise unbounded
    worst = program.violation(y)
    message = f"the largest violation is {worst:.2g} after {count(taken, 'step')} of phase one. Try other starts."
    return ended_at(program, y, Status.NO_FEASIBLE_POINT, message)


def penalised(program: DCProgram, y: Vector) -> Iterator[DCProgram]:
    """The program with growing penalties; the program itself when it has no d.c. constraint."""
    if not program.dc_constraints:
        yield program
        return
    size, *others = program.sizes(y)
    unit = 1.0 / float(np.mean(others))
    penalty, highest = FIRST_PENALTY * size * unit, HIGHEST * max(1.0, size) * unit
    if not program.u.variables() and not program.v.variables():
        penalty = highest = unit  # nothing but the violations is minimised
    for number in range(PENALTIES):
        yield program.with_penalty(min(penalty, highest))
        penalty *= GROWTH if number < SLOW else 4.0


def phase_one_step(program: DCProgram, step: TangentStep, y: Vector) -> Vector:
    """The minimiser of the penalised surrogate, wherever y lies."""
    y, backend = off_kinks(program, y), step.backend
    if type(backend) is Backend and not backend.options:
        backend = backend.with_options(settings_of(backend.solver).start)
    try:
        # y may violate the constraints: at most this little of it is mixed in
        return program.inside(program.minimum(y, backend).x, y, back=1e-9)
    except SolverFailed as failure:
        if "infeasible" in str(failure):
            raise Infeasible("the convex constraints have no common point. Relax some of them.") from failure
        raise


def off_kinks(program: DCProgram, y: Vector) -> Vector:
    """y, or a point nearby where the tangent of a violated vⱼ is level, as that of ‖x‖ is at 0: it leads nowhere."""
    at, reach = program.point(y), 1e3 * (1.0 + float(np.max(np.abs(y))))
    violations = at.u[1:] - at.v[1:]
    steepness = abs(at.slopes) @ np.ones(program.n)
    if not np.any((violations > FEASIBLE) & (reach * steepness[1:] < violations)):
        return y
    seed = int(np.float64(program.penalty).view(np.int64))  # another direction at each penalty
    noise = np.random.default_rng(seed).standard_normal(program.n)
    return program.inside(y + 1e-3 * (1.0 + np.abs(y)) * noise, y, back=0.5)


def while_feasible(program: DCProgram, callback: Callback | None) -> Callback:
    """The user's callback, and a stop where the d.c. constraints are left."""

    def stops(point: Iterate) -> bool:
        return program.dc_violation(point.x) > FEASIBLE or (callback is not None and says_stop(callback(point)))

    return stops


def ended_at(program: DCProgram, x: Vector, status: Status, message: str) -> MMResult:
    """The result of a run that ended in phase one, at x."""
    value = program.f(x)
    return result_of(program, [Iterate(0, x, value, value, program.penalty, 0.0)], status, message)
