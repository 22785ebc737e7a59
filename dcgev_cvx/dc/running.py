"""A run of a DCProgram from any start: phase one until the constraints hold, then the driver of `mm`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import numpy as np

from .._numerics.checks import Vector, says_stop
from .._numerics.deadline import Deadline
from .._numerics.text_tables import count
from ..errors import Infeasible, SolverFailed, Unbounded
from ..mm import Callback, Iterate, MMResult, Status, Stop, minimize, result_of
from ..steps.backend import Backend
from .kinks import NoSubgradient
from .program import FEASIBLE, DCCertificate, DCProgram, TangentStep

FIRST_PENALTY, GROWTH = 3e-3, 1.3
"""The first penalty, relative to the sizes of objective and constraints, and its growth from step to step.

The objective leads at first. The pairs (1e-2, 1.5), (1e-3, 1.5), (3e-3, 1.3) and (1e-3, 1.2) were tried on seeds 0
to 5 of the benchmark's circle packing, filter design and boolean least squares. The first two ended at worse
stationary points in one of these problems each; (1e-3, 1.2) took nearly twice as many steps as (3e-3, 1.3).
"""
SLOW, PENALTIES, HIGHEST, HEAVY = 60, 100, 1e8, 1e3
"""After this many penalties the growth is 4; the most penalties tried; the highest, and where the constraints hold."""
ESCAPING, DOUBLINGS = 2.0**10, 60
"""A run that has grown by this factor is followed along its last direction; so many doublings tell."""

LOOSE = {"CLARABEL": {"tol_gap_abs": 1e-8, "tol_gap_rel": 1e-8, "tol_feas": 1e-8}}
"""The solver's own tolerances do for phase one, since its points are only starts; tight ones take longer."""


def run(program: DCProgram, step: TangentStep, stop: Stop, callback: Callback | None, deadline: Deadline) -> MMResult:
    """Phase one while a constraint is violated, then the driver at a fixed penalty.

    Where the driver ends outside the constraints, the penalty was too small: the next one starts from there. The same
    where the surrogate is unbounded.
    """
    y, complete = program.values()
    program.refer_to(y)
    if program.dc_constraints and is_level(program, y):
        program.refer_to(y, level=True)
    inside = bool(np.isfinite(program.point(y).u).all())  # y may lie outside the domain of u
    feasible = complete and inside and program.violation(y) <= FEASIBLE
    begin, taken, unbounded, failed = y, 0, None, False
    for mu in penalties(program):
        weighted = program.with_penalty(mu, y) if program.dc_constraints else program
        if deadline.passed:
            return ended_at(weighted, y, Status.TIME_LIMIT, f"{count(taken, 'step')} of phase one")
        try:
            if not feasible:
                y, taken = phase_one_step(weighted, step, y), taken + 1
                feasible = program.dc_violation(y) <= FEASIBLE and program.convex_violation(y) <= FEASIBLE
                if feasible and program.dc_constraints:
                    # where sizes were small on the way, weights are larger than any solver likes
                    weighted.weights = np.minimum(weighted.weights, program.with_penalty(HEAVY, y).weights)
            if feasible:
                result = minimize(weighted, step, y, stop=stop, callback=watched(weighted, callback, begin, deadline))
                if unbounded is not None and result.status is Status.SOLVER_FAILED:
                    raise unbounded
                if weighted.dc_violation(result.x) <= FEASIBLE:
                    check_bounded(weighted, result.history[0].x if result.n_iter else begin, result.x)
                    return named(result, taken, deadline)
                y, feasible = result.history[-2].x, True
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
    steps = f"{count(taken, 'step')} of phase one"
    message = f"the largest violation is {worst:.2g} of its constraint's size after {steps}. Try other starts."
    return ended_at(program, y, Status.NO_FEASIBLE_POINT, message)


def named(result: MMResult, taken: int, deadline: Deadline) -> MMResult:
    """The result with the word that its certificate earned as its status."""
    status, certificate = result.status, cast("DCCertificate", result.certificate)
    if status in (Status.SMALL_STEP, Status.SMALL_DECREASE):
        status = Status.D_STATIONARY if certificate.complete else Status.D_STATIONARY_TRIED
    elif status is Status.STOPPED and deadline.passed:
        status = Status.TIME_LIMIT
    elif status is Status.STALLED and certificate.critical <= 1e-6:
        status = Status.CRITICAL
    notes = [result.message, f"phase one took {count(taken, 'step')}" * (taken > 0)]
    if status is Status.D_STATIONARY_TRIED:
        notes.append(f"{count(certificate.pieces, 'piece')} of v tried")
    return replace(result, status=status, message="; ".join(note for note in notes if note))


def penalties(program: DCProgram) -> Iterator[float]:
    """Growing penalties; a single one, of which nothing depends, when there is no d.c. constraint."""
    if not program.dc_constraints:
        yield 0.0
        return
    mu = FIRST_PENALTY
    if not program.u.variables() and not program.v.variables():
        mu = 1.0  # nothing but the violations is minimised
    for number in range(PENALTIES):
        yield min(mu, HIGHEST)
        mu *= GROWTH if number < SLOW else 4.0


def phase_one_step(program: DCProgram, step: TangentStep, y: Vector) -> Vector:
    """The minimiser of the penalised surrogate, wherever y lies."""
    y, backend = off_kinks(program, y), step.backend
    if program.dc_constraints and type(backend) is Backend and not backend.options:
        backend = backend.with_options(LOOSE.get(backend.solver, {}))
    try:
        x = program.minimum(y, backend).x
        if program.inside(x, y, back=1e-9) is not x:  # on the edge of the domain of v
            x = program.minimum(y, step.backend).x
        # y may violate the constraints: at most this little of it is mixed in
        return program.inside(x, y, back=1e-9)
    except SolverFailed as failure:
        if "infeasible" in str(failure) and program.is_empty():
            raise Infeasible("the convex constraints have no common point. Relax some of them.") from failure
        raise


def off_kinks(program: DCProgram, y: Vector) -> Vector:
    """y, or a point nearby where the tangent of a violated vⱼ is level, as that of ‖x‖ is at 0: it leads nowhere."""
    seed = int(np.float64(program.mu).view(np.int64))  # another direction at each penalty
    noise, z = np.random.default_rng(seed).standard_normal(program.n), y
    for share in (1e-3, 1e-1, 1.0, 10.0, 100.0):
        if not is_level(program, z):
            break
        z = program.inside(y + share * program.lengths(y) * noise, y, back=0.5)
    return z


def is_level(program: DCProgram, x: Vector) -> bool:
    """Does the tangent of a violated vⱼ hardly rise over a thousand lengths of x?"""
    at, sizes = program.point(x), program.sizes(x)[1:]
    violations = (at.u[1:] - at.v[1:]) / sizes
    steepness = (abs(at.slopes) @ program.lengths(x))[1:]
    return bool(np.any((violations > FEASIBLE) & (1e3 * steepness / sizes < violations)))


def watched(program: DCProgram, callback: Callback | None, begin: Vector, deadline: Deadline) -> Callback:
    """The user's callback, and a stop where the d.c. constraints are left, time is over or x grows for ever."""
    seen = [float(np.max(np.abs(begin), initial=0.0)) or 1.0]
    points = [begin]

    def stops(point: Iterate) -> bool:
        if float(np.max(np.abs(point.x))) > ESCAPING * seen[0]:
            seen[0] = float(np.max(np.abs(point.x)))
            check_bounded(program, points[-1], point.x)
        points.append(point.x)
        left = program.dc_violation(point.x) > FEASIBLE
        return left or deadline.passed or (callback is not None and says_stop(callback(point)))

    return stops


def check_bounded(program: DCProgram, y: Vector, x: Vector) -> None:
    """Raise Unbounded where f falls for ever along x − y: followed by doubling, it falls on as fast as before."""
    if not (x != y).any():
        return
    direction = (x - y) / float(np.max(np.abs(x - y)))
    length = float(program.lengths(x).max())
    values = [program.f(x)]
    for k in range(DOUBLINGS):
        z = x + 2.0**k * length * direction
        try:
            with np.errstate(all="ignore"):
                values.append(program.f(z))
        except NoSubgradient:
            return
        if not values[-1] < values[-2]:
            return
        if values[-1] == -np.inf:
            break
        if k in (0, 8, DOUBLINGS - 1) and not program.violation(z) <= FEASIBLE:
            return
    half = len(values) // 2
    if values[-1] == -np.inf or values[half] - values[-1] >= 0.5 * (values[0] - values[half]):
        raise Unbounded(
            f"f falls for ever as {program.towards(direction)}: it is {values[0]:.3g} here and {values[-1]:.3g} after "
            f"{len(values) - 1} doublings of the step. Add constraints that bound the variables."
        )


def ended_at(program: DCProgram, x: Vector, status: Status, message: str) -> MMResult:
    """The result of a run that ended in phase one, at x."""
    value = program.f(x)
    return result_of(program, [Iterate(0, x, value, value, program.mu, 0.0)], status, message)
