"""How fast the reference is: CVXPY's overhead per step, the time of a small step, and dccp on the same program."""

from __future__ import annotations

import statistics
import subprocess
import sys
import warnings
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import cvxpy as cp
import numpy as np

from dcgev_cvx import Backend, MMResult, Pencil, SparseGEV, datasets, iterate, sparse_gev
from dcgev_cvx._numerics.checks import Vector
from dcgev_cvx.programs import Program
from dcgev_cvx.steps.backend import Solved
from dcgev_cvx.steps.conic import LassoStep, LinearStep, MetricLassoStep, QCQPStep, compiled_problem
from dcgev_cvx.steps.engines import Engine
from dcgev_cvx.steps.polish import surrogate_at

from . import engine
from .report import Measure, Skipped, at_least, at_most, installed, taking_turns, timed

STEPS = 8
"""MM steps timed per program, after two that are not counted (compilation, first solve)."""


class Stopwatch(Backend):
    """A backend that notes the solver's own seconds of every solve."""

    def solve(self, problem: cp.Problem, solver: str | None = None) -> Solved:
        """Solve as usual, and remember the time."""
        solved = super().solve(problem, solver)
        self.__dict__.setdefault("own", []).append(problem.solver_stats.solve_time)
        return solved


def run(repeats: int) -> Iterator[Measure | Skipped]:
    """Every measure of the section."""
    yield first_help(repeats)
    yield from small_steps(repeats)
    yield kept_form(repeats)
    yield from overheads()
    yield from engine.run(repeats)
    yield from dccp_ratios(repeats) if installed("dccp") else [Skipped("dccp", "pip install '.[bench]'")]


def first_help(repeats: int) -> Measure:
    """How long `dcgev --help` takes, Python's own start included."""
    command = [sys.executable, "-m", "dcgev_cvx", "--help"]
    seconds = timed(lambda: subprocess.run(command, check=True, capture_output=True), repeats)
    return at_most("dcgev --help", seconds, "s", 0.5)


def small_steps(repeats: int) -> Iterator[Measure]:
    """Milliseconds of one whole step on pit props: parameters, CVXPY, solver, polish, certificate."""
    program = SparseGEV(datasets.pitprops(), 4.84)
    y = program.start()
    for step in (LinearStep(), QCQPStep(), MetricLassoStep()):
        seconds = timed(lambda step=step: step(program, y), max(20, repeats))
        yield at_most(f"{type(step).__name__} step, n = 13", 1e3 * seconds, "ms", 4.0)


def kept_form(repeats: int) -> Measure:
    """What `CompiledProblem` saves: the data of one step by CVXPY's own way, over those from the kept standard form."""
    program, step = SparseGEV(datasets.pitprops(), 4.84), LinearStep()
    step(program, program.start())
    problem = compiled_problem(step, program.pencil, surrogate_at(program, program.start()))
    ours = timed(lambda: problem.get_problem_data("CLARABEL"), 50 * repeats)
    theirs = timed(lambda: cp.Problem.get_problem_data(problem, "CLARABEL"), 50 * repeats)
    return at_least("data of a step: CVXPY's own/kept form", theirs / ours, "×", 2.0, f"{1e3 * (theirs - ours):.2f} ms")


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


def dccp_ratios(repeats: int) -> Iterator[Measure]:
    """dccp's time over ours until f is as low as the one dccp ends at, from the same start with the same solver.

    Once with dccp's default tolerance, which ends on a plateau, and once with one that takes it past the plateau;
    ours as printed and with accelerate=True, every step a CVXPY problem in both, and for comparison our run to
    its own end, where the certificate passes. Our problem stays compiled with its pencil, as it does for any
    user; dccp has no place to keep one.
    """
    program = SparseGEV(datasets.pitprops(), 0.3, 1e-4)
    for tol in (1e-5, 1e-7):
        target = program.f(into_ball(by_dccp(program, tol)))
        ours = {
            "as printed, to dccp's f": partial(until, program, target, accelerate=False),
            "accelerated, to dccp's f": partial(until, program, target, accelerate=True),
            "accelerated, to its own end": partial(until, program, -np.inf, accelerate=True),
            "native, to dccp's f": partial(until, program, target, accelerate=True, engine="native"),
        }
        theirs, *seconds = taking_turns((partial(by_dccp, program, tol), *ours.values()), repeats)
        for (name, call), own in zip(ours.items(), seconds, strict=True):
            reached = call()
            ratio = theirs / own if reached.f <= target else 0.0
            detail = f"dccp {1e3 * theirs:.0f} ms, f = {target:.9g}; ours {1e3 * own:.1f} ms, f = {reached.f:.9g}, "
            what, detail = f"dccp (ep = {tol:g}) / {name}", detail + f"{reached.n_iter} steps"
            yield (
                Measure(what, ratio, "×", detail=detail)
                if "own" in name
                else at_least(what, ratio, "×", 100.0 if "native" in name else 10.0, detail)
            )


def until(program: SparseGEV, target: float, *, accelerate: bool, engine: Engine = "cvxpy") -> MMResult:
    """MM until f is at most the target."""
    return sparse_gev(
        program.pencil,
        rho=program.rho,
        eps=program.eps,
        accelerate=accelerate,
        engine=engine,
        callback=lambda point: point.f <= target,
    )


def by_dccp(program: SparseGEV, tol: float) -> Vector:
    """dccp's answer to (SGEV-A) in the (x, y) form of Eq:tau-1 from our start, with Clarabel."""
    from dccp.problem import dccp
    from scipy.linalg import sqrtm

    n, root = program.pencil.n, np.real(sqrtm(np.asarray(program.pencil.A)))
    x, y = cp.Variable(n), cp.Variable(n)
    objective = cp.sum_squares(root @ x) - program.rho_eps * cp.sum(cp.log(y + program.eps))
    problem = cp.Problem(cp.Maximize(objective), [cp.norm2(x) <= 1, x <= y, -y <= x])
    x.value = program.start()
    y.value = np.abs(x.value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # dccp reads sparse values in a way that CVXPY discourages
        dccp(problem, solver="CLARABEL", ep=tol)
    return np.asarray(x.value)


def into_ball(x: Vector) -> Vector:
    """x pulled into xᵀx ≤ 1, so that a solver's feasibility tolerance earns it nothing."""
    return x / max(1.0, float(np.linalg.norm(x)))
