"""Cases of whole runs: how they are drawn, and which of them tell a right solver from a wrong one.

At tiny ε x = eᵢ/√Bᵢᵢ is stationary unless ρ̃ is large, and so is 0. So a case is kept only if
its start lies below all of these, its limit has at least two nonzeros without a tie, and the
printed iteration reaches it in a stated number of steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector
from .instances import Instance, question
from .matrices import Random, leading, pencil, unit
from .measures import objective, proximal_residual, spread, tangent
from .printed import Run, printed_run, settles

QUICK_RUN = 120
"""In so many steps of the printed iteration a case of the battery is settled, unless it is one of the slow ones."""
TRIES = 12


def first_good(
    draw: Callable[[], Instance], limit: int, least: int = 1, rates: tuple[float, float] = (0.0, 1.0)
) -> Any:
    """The first draw that passes the conditions of a useful case, or None after TRIES.

    Cases without a limit of two nonzeros, with ties, or with a start above a trivial point are redrawn: they could
    not tell a right solver from one that returns a coordinate vector.
    """
    for _ in range(TRIES):
        case = draw()
        run = telling(case, limit)
        if run is not None and run.steps >= least and rates[0] <= run.rate <= rates[1]:
            return case
    return None


def telling(case: Instance, limit: int) -> Run | None:
    """The printed run, if it settles in time at two nonzeros or more without a tie, from below the trivial points."""
    run = printed_run(case, limit) if below_trivial(case) and settles(case, limit) else None
    if run is None or not run.settled or np.count_nonzero(run.x) < 2:
        return None
    return run if without_tie(case, run.x) else None


def draw_run(
    level: str, rng: Random, kind: str, metric: str, n: int, eps: float, level_rho: float, start: str
) -> Instance:
    """One run of the named families."""
    A, B = pencil(kind, metric, n, rng)
    top = leading(A, B)
    rho = level_rho * float(top @ A @ top)
    flags = (kind, "cca" if kind == "cca" else metric, f"eps={eps:.0e}", start, f"rho-{level_rho:g}")
    return run_case(level, A, B, rho, eps, run_start(B, top, start, rng), flags)


def run_case(
    level: str, A: Matrix, B: Matrix, rho: float, eps: float, x0: Vector, flags: tuple[str, ...]
) -> Instance:
    """A run as the level asks for it."""
    data: dict[str, Any] = {"A": A, "rho": rho, "eps": eps, "x0": x0}
    if level == "algorithm":
        data["B"] = B
    return question(level, f"n = {len(x0)}, {', '.join(flags)}", flags, data)


def run_start(B: Matrix, top: Vector, start: str, rng: Random) -> Vector:
    """A start near the leading eigenvector, with zeros, inside Ω, or dense and far.

    "interior" scales the start by 0.6, since Ω is the ball and not the sphere; "zeros" keeps two thirds of the
    entries.
    """
    n = len(top)
    noise = unit(B, rng.standard_normal(n))
    if start == "zeros":
        keep = np.argsort(-np.abs(top))[: max(2, (2 * n) // 3)]
        return unit(B, np.where(np.isin(np.arange(n), keep), top + 0.1 * noise, 0.0))
    mixed = top + {"near": 0.3, "dense": 0.8}.get(start, 0.0) * noise
    return unit(B, mixed) * (0.6 if start == "interior" else 1.0)


def below_trivial(case: Instance) -> bool:
    """Does the start lie clearly below 0 and every eᵢ/√Bᵢᵢ, so that answering one of these is an ascent?

    At tiny ε these are stationary at most ρ̃, so stationarity alone would let a solver pass that always answers e₁.
    """
    x0 = case.data["x0"]
    corners = [objective(case, np.zeros_like(x0))]
    corners += [objective(case, e / np.sqrt(case.B[i, i])) for i, e in enumerate(np.eye(case.n))]
    return objective(case, x0) < min(corners) - 0.01 * spread(case, x0)


def without_tie(case: Instance, x: Vector) -> bool:
    """Is the limit stationary, with every zero held by a margin and no entry near zero?

    A zero held by less than 2 % of the scale, or an entry below 2e-3, is too near a tie for solvers with a tolerance.
    """
    problem = tangent(case, x)
    r = np.abs(2.0 * (problem.H @ x) + 2.0 * float(x @ case.data["A"] @ x) * (problem.B @ x)) / problem.root
    spare = problem.p / problem.root - r
    on = x != 0.0
    scale = float(np.max(np.abs(2.0 * (problem.H @ x)) / problem.root))
    held = bool(np.all(spare[~on] >= 0.02 * scale))
    large = bool(np.all((np.abs(x) * problem.root)[on] >= 2e-3))
    return held and large and proximal_residual(problem, x, 1e-9) <= 1e-7
