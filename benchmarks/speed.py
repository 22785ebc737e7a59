"""How fast the reference is: CVXPY's overhead per step, the time of a small step, and dccp on the same program."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Any

import cvxpy as cp
import numpy as np

from dcgev_cvx import Backend, Pencil, SparseGEV, datasets, iterate, sparse_gev
from dcgev_cvx.checks import Vector
from dcgev_cvx.programs import Program
from dcgev_cvx.solvers import Solved
from dcgev_cvx.steps.convex import LassoStep, LinearStep, MetricLassoStep, QCQPStep

from .report import Measure, Skipped, at_least, at_most, installed, timed

STEPS = 8
"""MM steps timed per program, after two that are not counted (compilation, first solve)."""


class Stopwatch(Backend):
    """A backend that notes the solver's own seconds of every solve."""

    def solve(self, problem: cp.Problem, solver: str | None = None) -> Solved:
        """Solve as usual, and remember the time."""
        solved = super().solve(problem, solver)
        self.__dict__.setdefault("own", []).append(solved.solver_seconds)
        return solved


def run(repeats: int) -> Iterator[Measure | Skipped]:
    """Every measure of the section."""
    yield first_help(repeats)
    yield from small_steps(repeats)
    yield from overheads()
    yield dccp_ratio(repeats) if installed("dccp") else Skipped("dccp", "pip install 'dcgev-cvx[bench]'")


def first_help(repeats: int) -> Measure:
    """How long `dcgev --help` takes, Python's own start included."""
    command = [sys.executable, "-m", "dcgev_cvx", "--help"]
    seconds = timed(lambda: subprocess.run(command, check=True, capture_output=True), repeats)
    return at_most("dcgev --help", seconds, "s", 0.5)


def small_steps(repeats: int) -> Iterator[Measure]:
    """Milliseconds of one whole step on pit props: parameters, CVXPY, solver, polish, certificate."""
    program = SparseGEV(datasets.pitprops(), 4.84)
    for step in (LinearStep(), QCQPStep(), MetricLassoStep()):
        y = program.start()
        seconds = timed(lambda step=step, y=y: step(program, y), max(20, repeats))
        yield at_most(f"{type(step).__name__}, n = 13", 1e3 * seconds, "ms", 4.0)


def overheads() -> Iterator[Measure]:
    """Wall time of a step over the solver's own time, n = 200 with dense B."""
    pencil = dense_pencil(200)
    identity, metric = (SparseGEV(pencil, 5.0, 1e-4, shift=shift) for shift in ("identity", "metric"))
    for form, program in ((LassoStep, identity), (QCQPStep, identity), (MetricLassoStep, metric)):
        watch = Stopwatch()
        ratio, seconds = overhead(program, form(watch), watch)
        detail = f"{1e3 * seconds:.0f} ms per step"
        yield at_most(f"{form.__name__}, n = 200: wall/solver", ratio, "×", 1.3, detail)


def overhead(program: Program, step: Any, watch: Stopwatch) -> tuple[float, float]:
    """(median wall/solver ratio, median wall seconds) over STEPS steps, the first two not counted."""
    walls = [it.seconds for it in islice(iterate(program, step), 3, 3 + STEPS)]
    own = watch.__dict__["own"][2:]
    return statistics.median(w / o for w, o in zip(walls, own, strict=True)), statistics.median(walls)


def dense_pencil(n: int) -> Pencil:
    """A random indefinite A and a well-conditioned dense B."""
    return datasets.indefinite(n, dense_metric=True, rng=0)


def dccp_ratio(repeats: int) -> Measure:
    """dccp's time over ours on (SGEV-A) for pit props, same start, same solver, both judged by f."""
    pencil = datasets.pitprops()
    program = SparseGEV(pencil, 0.3, 1e-4)
    start = program.start()
    ours = sparse_gev(Pencil(pencil.A), rho=0.3, eps=1e-4, x0=start)
    # a fresh pencil each time: compilation is part of what a user waits for, on both sides
    our_seconds = timed(lambda: sparse_gev(Pencil(pencil.A), rho=0.3, eps=1e-4, x0=start), repeats)
    theirs = by_dccp(program, start)
    their_seconds = timed(lambda: by_dccp(program, start), repeats)
    f_theirs = program.f(into_ball(theirs))
    detail = (
        f"ours {our_seconds:.3f} s, f = {ours.f:.8g}, {ours.n_iter} steps; "
        f"dccp {their_seconds:.3f} s, f = {f_theirs:.8g}"
    )
    made = at_least("dccp time / ours, pit props", their_seconds / our_seconds, "×", 10.0, detail)
    no_worse = ours.f <= f_theirs + 1e-9 * abs(f_theirs)
    return made if no_worse else Measure(made.what, made.value, made.unit, made.target, False, detail)


def by_dccp(program: SparseGEV, start: Vector) -> Vector:
    """dccp's answer to (SGEV-A) in the (x, y) form of Eq:tau-1 from the given start, with Clarabel."""
    import dccp  # noqa: F401 - registers the method
    from scipy.linalg import sqrtm

    n, root = program.pencil.n, np.real(sqrtm(np.asarray(program.pencil.A)))
    x, y = cp.Variable(n), cp.Variable(n)
    objective = cp.sum_squares(root @ x) - program.rho_eps * cp.sum(cp.log(y + program.eps))
    problem = cp.Problem(cp.Maximize(objective), [cp.norm2(x) <= 1, x <= y, -y <= x])
    x.value, y.value = start, np.abs(start)
    problem.solve(method="dccp", solver="CLARABEL")
    return np.asarray(x.value)


def into_ball(x: Vector) -> Vector:
    """x pulled into xᵀx ≤ 1, so that a solver's feasibility tolerance earns it nothing."""
    return x / max(1.0, float(np.linalg.norm(x)))
