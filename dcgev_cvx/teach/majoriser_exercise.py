"""The exercise `majoriser`: a majoriser of f with the exponential penalty, whose formula no page prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..pencils import Pencil
from ..programs import ExponentialPenalty, SparseGEV
from .faults import Family, faults_of
from .guarded_calls import called, returned_number
from .step_exercises import SMALL
from .verdicts import Verdict, all_of, judge_values, trial_points

TRIALS = 60


def exponential_tangents() -> Mapping[str, Callable[[Vector, Vector, float], Vector]]:
    """The tangent in |x| of 1 − exp(−|x|/ε) at y, and what is written in its place."""

    def value(x: Vector, eps: float) -> Vector:
        return 1.0 - np.exp(-np.abs(x) / eps)

    def slope(y: Vector, eps: float) -> Vector:
        return np.exp(-np.abs(y) / eps) / eps

    return {
        "tangent": lambda x, y, eps: value(y, eps) + slope(y, eps) * (np.abs(x) - np.abs(y)),
        "kept": lambda x, y, eps: value(x, eps),
        "none": lambda x, y, eps: np.zeros_like(x),
        "signed": lambda x, y, eps: value(y, eps) + slope(y, eps) * np.sign(y) * (x - y),
        "no constant": lambda x, y, eps: slope(y, eps) * np.abs(x),
        "no 1/eps": lambda x, y, eps: value(y, eps) + eps * slope(y, eps) * (np.abs(x) - np.abs(y)),
        "logarithm": lambda x, y, eps: value(y, eps) + (np.abs(x) - np.abs(y)) / (np.abs(y) + eps),
    }


def surrogate(
    A: Matrix,
    x: Vector,
    y: Vector,
    rho: float,
    eps: float,
    tau: float,
    *,
    square: float = 1.0,
    shift: float = 1.0,
    factor: float = 2.0,
    constant: float = 1.0,
    quadratic: str = "tangent",
    penalty: str = "tangent",
    swapped: bool = False,
) -> float:
    """τ‖x‖² − 2xᵀMy + yᵀMy + ρ Σ [tangent of 1 − exp(−|xᵢ|/ε) in |xᵢ|], M = A + τI."""
    x, y = (y, x) if swapped else (x, y)
    M = A + shift * tau * np.eye(len(A))
    tangent = square * tau * x @ x - factor * x @ M @ y + constant * y @ M @ y
    smooth = -x @ A @ x if quadratic == "kept" else tangent
    return float(smooth + rho * np.sum(exponential_tangents()[penalty](x, y, eps)))


@cache
def majoriser_programs() -> list[tuple[SparseGEV, list[tuple[Vector, ...]]]]:
    """Three programs and trial points: one variable, A ⪰ 0, and an indefinite A that needs its τ."""
    # with A ⪰ 0 any τ ≥ 0 will do, so a g without τ shows itself only where A is indefinite and the price is small
    indefinite = np.array([[1.0, 0.5, 0.0], [0.5, -2.0, 0.3], [0.0, 0.3, 0.5]])
    data = ((np.ones((1, 1)), 0.5, 0.3, 2.0), (SMALL, 2.0, 0.2, 0.7), (indefinite, 0.01, 0.5, None))
    programs = [SparseGEV(Pencil(A), rho, eps, tau, penalty=ExponentialPenalty()) for A, rho, eps, tau in data]
    return [(program, trial_points(program, TRIALS)) for program in programs]


def majoriser_row(answer: Any, i: int) -> list[float]:
    """g(·, y) at the points of trial i."""
    which, trial = divmod(i, TRIALS)
    p, points = majoriser_programs()[which]
    values = [called(answer, p.pencil.dense()[0], x, points[trial][0], p.rho, p.eps, p.tau) for x in points[trial]]
    return [returned_number(value, "the value of g") for value in values]


def judge_majoriser(values: Matrix) -> Verdict:
    """Does g touch, lie above, and is it convex?"""
    pairs = zip(majoriser_programs(), np.split(values, 3), strict=True)
    verdicts = (judge_values(program, points, part) for (program, points), part in pairs)
    return all_of(verdicts, "it touches, lies above and is convex on three programs")


MAJORISER = Family(partial(partial, surrogate), majoriser_row, 3 * TRIALS, faults_of("majoriser"))
