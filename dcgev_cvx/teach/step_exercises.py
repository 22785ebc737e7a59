"""The exercise `threshold`: the step in closed form (ALG-S); and what it shares with the exercise `dcp`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..pencils import Pencil
from ..programs import SparseGEV
from .faults import Family, faults_of
from .guarded_calls import called, returned_vector
from .verdicts import Verdict, all_of, frozen, judge_step, random_point, text

SMALL = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, -0.4], [0.5, -0.4, 1.0]])


@cache
def step_points(B: bool = False, tau: float = 0.0) -> list[tuple[SparseGEV, Vector]]:
    """Programs, the last of which collapses, each with a few points of Ω."""
    metric = np.array([[1.0, 0.3, 0.0], [0.3, 1.5, 0.2], [0.0, 0.2, 0.8]]) if B else None
    settings = ((0.5, 0.1), (2.0, 1e-3), (0.0, 0.9), (1e4, 0.5))
    programs = [SparseGEV(Pencil(SMALL, metric), rho, eps, tau) for rho, eps in settings]
    generators = [np.random.default_rng(seed) for seed in range(4)]
    return [(p, y) for p in programs for y in (frozen(p.start()), *(random_point(p, g) for g in generators))]


# What is common to the steps: p = ρ_ε w and its misreadings

PRICES: Mapping[str, Callable[[float, float], float]] = MappingProxyType(
    {
        "rho_eps": lambda rho, eps: rho / np.log1p(1.0 / eps),
        "rho": lambda rho, eps: rho,
        "log(1/eps)": lambda rho, eps: rho / np.log(1.0 / eps),
        "times": lambda rho, eps: rho * np.log1p(1.0 / eps),
        "none": lambda rho, eps: 0.0,
    }
)
WEIGHTS: Mapping[str, Callable[[Vector, float], Vector]] = MappingProxyType(
    {
        "w": lambda y, eps: 1.0 / (np.abs(y) + eps),
        "one": lambda y, eps: np.ones_like(y),
        "no eps": lambda y, eps: 1.0 / np.abs(y),
        "inverse": lambda y, eps: np.abs(y) + eps,
        "signed": lambda y, eps: 1.0 / (y + eps),
        "log": lambda y, eps: np.log(np.abs(y) + eps),
    }
)


# The step in closed form (ALG-S)


def length(z: Vector, how: str) -> float:
    """What z is divided by."""
    return float({"unit": np.linalg.norm(z), "square": z @ z, "sum": np.abs(z).sum(), "none": 1.0}[how])


def closed_step(
    A: Matrix,
    y: Vector,
    rho: float,
    eps: float,
    *,
    half: float = 0.5,
    price: str = "rho_eps",
    weights: str = "w",
    source: str = "Ay",
    shrink: str = "soft",
    norm: str = "unit",
    empty: str = "zero",
) -> Vector:
    """xᵢ ∝ [|(Ay)ᵢ| − ½ρ_ε wᵢ]₊ sign (Ay)ᵢ, and 0 when nothing is left (ALG-S)."""
    c = {"Ay": A @ y, "y": y, "unit": A @ y / np.linalg.norm(A @ y), "minus": -A @ y}[source]
    threshold = half * PRICES[price](rho, eps) * WEIGHTS[weights](y, eps)
    rest = np.abs(c) - threshold
    z = {
        "soft": np.sign(c) * np.maximum(0.0, rest),
        "hard": np.where(rest > 0.0, c, 0.0),
        "unclipped": np.sign(c) * rest,
        "unsigned": np.maximum(0.0, rest),
        "subtracted": c - threshold,
        "one-sided": np.maximum(0.0, c - threshold),
    }[shrink]
    if norm != "none" and not z.any() and empty != "nan":
        return y if empty == "y" else z
    return z / length(z, norm)


def threshold_row(answer: Any, i: int) -> Vector:
    """The step from test point i."""
    program, y = step_points()[i]
    return returned_vector(called(answer, program.pencil.dense()[0], y, program.rho, program.eps), len(y), "x")


def judge_steps(points: list[tuple[SparseGEV, Vector]], found: Matrix, words: str, tol: float = 1e-7) -> Verdict:
    """The first vector that is not the minimiser of its step, or success in these words."""

    def verdict(program: SparseGEV, y: Vector, x: Vector) -> Verdict:
        if np.isfinite(x).all():
            return judge_step(program, y, x, tol)
        return Verdict(False, f"x has NaN or infinite entries from y = {text(y)}, ρ̃ = {program.rho:g}.")

    return all_of((verdict(program, y, x) for (program, y), x in zip(points, found, strict=True)), words)


THRESHOLD = Family(partial(partial, closed_step), threshold_row, 20, faults_of("threshold", "penalty"))


def judge_threshold(found: Matrix) -> Verdict:
    """Are the vectors the minimisers of (ALG) with B = I and τ = 0?"""
    return judge_steps(step_points(), found, "the minimiser of (ALG) in every case, the collapse among them")
