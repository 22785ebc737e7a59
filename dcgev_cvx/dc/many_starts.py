"""Many starts for one d.c. program: the best result, and the table of all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._numerics.checks import Vector, as_vector, as_whole, shown
from .._numerics.deadline import Deadline
from .._numerics.extras import require
from ..errors import InvalidParameter
from ..mm import Callback, MMResult, Status, Stop
from ..steps.backend import Backend
from .kinks import NoSubgradient, put
from .lower_bounds import LowerBound, bounding_box, lower_bound
from .program import FEASIBLE, DCProgram, TangentStep
from .running import run
from .tangents import restored

ATTEMPTS = 30
"""Draws of one random start until v has a subgradient there; each is closer to the variables' values."""


RETRIES, SMALL = 3, 30
"""Random starts where the variables' values lead to no feasible point; most variables for drawing them from a box."""


@dataclass(frozen=True)
class StartedRun:
    """How the run from one start ended."""

    x0: Vector
    f: float
    status: Status
    violation: float
    n_iter: int


@dataclass(frozen=True)
class DCResult(MMResult):
    """The result of `DCProgram.minimize`; `starts` lists all runs in the order of their starts, if there were several.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from dcgev_cvx import DCProgram
    >>> x = cp.Variable(2, value=[0.3, 0.4])
    >>> result = DCProgram(cp.sum_squares(x), cp.norm1(x), [cp.abs(x) <= 1]).minimize()
    >>> round(result.f, 6), round(result.bound.value, 2), result.bound.method
    (-0.5, -2.0, 'chords over a box')
    """

    starts: tuple[StartedRun, ...] = ()

    @cached_property
    def bound(self) -> LowerBound:
        """A number below the minimum, by a convex relaxation that is solved when this is first asked for.

        CVXPY parameters count with the values that they have then.
        """
        feasible = self.certificate.feasibility <= FEASIBLE
        return lower_bound(self.program, self.f if feasible else None)

    @property
    def gap(self) -> float:
        """How far f may lie above the minimum, relative to the larger of |f| and |bound|."""
        return self.bound.gap(self.f)

    def table(self) -> str:
        """One line for each start, the lowest value first."""
        rows = sorted(self.starts, key=lambda row: (not row.violation <= FEASIBLE, row.f))
        lines = [
            f"{row.f:>16.9g}  violation {row.violation:.1e}  {row.n_iter:>4} steps  {row.status.value}" for row in rows
        ]
        return "\n".join(lines)


def run_from_values(
    program: DCProgram, backend: Backend, stop: Stop, callback: Callback | None, deadline: Deadline, random_state: Any
) -> DCResult:
    """The run from the variables' values, then from random starts while no feasible point is found."""
    step = TangentStep(backend, deadline)
    result = run(program, step, stop, callback, deadline)
    if result.status is not Status.NO_FEASIBLE_POINT:
        return as_result(result)
    rng, centre = np.random.default_rng(0 if random_state is None else random_state), program.near()
    wide = np.full(program.n, np.inf)
    low, high = bounding_box(program) if program.n <= SMALL else (-wide, wide)
    for _ in range(RETRIES):
        if deadline.passed:
            break
        try:
            x0 = random_start(program, rng, centre, 3.0 * program.lengths(centre), low, high)
        except InvalidParameter:  # v has no subgradient at any of them
            break
        other = run_from(program, x0, step, stop, callback, deadline)
        if other.certificate.feasibility <= FEASIBLE:
            note = "from a random start, since the variables' values led to no feasible point"
            return as_result(replace(other, message="; ".join(filter(None, [other.message, note]))))
    return as_result(result)


def best_of_starts(
    program: DCProgram,
    backend: Backend,
    stop: Stop,
    callback: Callback | None,
    deadline: Deadline,
    starts: Any,
    random_state: Any,
    n_jobs: int | None,
) -> DCResult:
    """Runs from all starts; the feasible one with the lowest f is the result."""
    points = list(start_points(program, starts, random_state))
    step = TangentStep(backend, deadline)
    if n_jobs in (None, 1):
        results = [run_from(program, x0, step, stop, callback, deadline) for x0 in points]
    else:
        joblib = require("joblib", "study")
        task = joblib.delayed(run_from)
        results = joblib.Parallel(n_jobs=n_jobs)(task(program, x0, step, stop, callback, deadline) for x0 in points)
    rows = tuple(
        StartedRun(x0, r.f, r.status, r.certificate.feasibility, r.n_iter)
        for x0, r in zip(points, results, strict=True)
    )
    k = min(range(len(rows)), key=lambda i: (max(rows[i].violation, FEASIBLE), rows[i].f))
    best = results[k] if n_jobs in (None, 1) else run_from(program, points[k], step, stop, None, Deadline())
    return as_result(best, rows)


def as_result(result: MMResult, starts: tuple[StartedRun, ...] = ()) -> DCResult:
    """The result with its bound and the runs from all starts."""
    return DCResult(**{field.name: getattr(result, field.name) for field in fields(MMResult)}, starts=starts)


def run_from(
    program: DCProgram, x0: Vector, step: TangentStep, stop: Stop, callback: Callback | None, deadline: Deadline
) -> MMResult:
    """The run from one start, which leaves the variables as they are."""
    with restored(program.variables):
        put(program.variables, x0)
        return run(program, step, stop, callback, deadline)


def start_points(program: DCProgram, starts: Any, random_state: Any) -> Iterator[Vector]:
    """The given starts, or random ones in the box of the constraints, the variables' values first."""
    if not isinstance(starts, (int, np.integer)):
        try:
            given = [as_vector(np.asarray(x0, dtype=float).ravel(order="F"), program.n, "a start") for x0 in starts]
        except (TypeError, ValueError) as cause:
            raise InvalidParameter(
                f"starts = {shown(starts)} must be a number of starts, or a list of vectors of length {program.n}."
            ) from cause
        if not given:
            raise InvalidParameter("starts is empty; it needs at least one vector, or a number of starts.")
        yield from given
        return
    number = as_whole(starts, "starts")
    if number < 1:
        raise InvalidParameter(f"starts = {number} must be at least 1.")
    rng = np.random.default_rng(0 if random_state is None else random_state)
    known = all(variable.value is not None for variable in program.variables)
    centre = program.values()[0] if known else np.zeros(program.n)
    if known:
        yield centre
    low, high = bounding_box(program)
    spread = 3.0 * program.lengths(centre) if known else np.full(program.n, 10.0)
    for _ in range(number - known):
        yield random_start(program, rng, centre, spread, low, high)


def random_start(
    program: DCProgram, rng: np.random.Generator, centre: Vector, spread: Vector, low: Vector, high: Vector
) -> Vector:
    """A point in the box, or normally distributed where it has no sides, at which v has a subgradient."""
    x = centre
    for attempt in range(ATTEMPTS):
        free = centre + 0.8**attempt * spread * rng.standard_normal(program.n)
        inside = np.where(np.isfinite(low), low, -1.0) + np.where(
            np.isfinite(high - low), high - low, 1.0
        ) * rng.random(program.n)
        x = np.where(np.isfinite(high - low), inside, np.clip(free, low, high))
        with restored(program.variables):
            put(program.variables, x)
            x = np.concatenate([np.ravel(w.project(w.value), order="F") for w in program.variables])
        try:
            program.point(x)
        except NoSubgradient:
            continue
        return x
    raise InvalidParameter(
        "no random start was found at which v has a subgradient. Give starts as vectors inside the domain of v."
    )
