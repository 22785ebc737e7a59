"""A better dual matrix from the multipliers of a solver that stopped early (beyond the paper).

h is convex and its value at any feasible (U, b) is a bound, so a step that lowers it helps and a failed one costs
time only. A first-order solver leaves h above its optimum; some dozens of n × n eigenvalue problems win part of that
back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from scipy.linalg import LinAlgError
from scipy.optimize import minimize_scalar

from .._numerics.checks import Matrix, Vector
from .._numerics.proofs import leading_pair
from .bounds import Dual, charged

STEPS = 25
"""Subgradient steps; each costs one eigenvalue problem."""
ENOUGH = 1e-7
"""A bound this close to the solver's value, relatively, is not worth another eigenvalue problem."""
AIM = 0.02
"""Where the solver's value is no target, Polyak's steps aim this share below the bound."""


@dataclass(frozen=True)
class DualFunction:
    """h(U, b) = λmax(A + U + c·b·D², B) + r·b, convex: (c, r) = (k, 0) homogeneous, (0, radius²) fixed radius.

    With c = 0 the constraint is tr(XB) ≤ 1 and the positive part of λmax is meant. If v is the leading vector of the
    matrix, vᵀBv = 1, then vvᵀ is a subgradient of λmax in U: λmax(M + E, B) ≥ vᵀ(M + E)v = λmax(M, B) + ⟨vvᵀ, E⟩.
    """

    A: Matrix
    B: Matrix
    c: float
    r: float

    def matrix(self, dual: Dual) -> Matrix:
        """A + U + c·b·D²."""
        return charged(self.A, self.c, dual)

    def __call__(self, dual: Dual) -> tuple[float, Vector]:
        """(h(U, b), v): the value and the eigenvector in which it is attained."""
        top, vector = leading_pair(self.matrix(dual), self.B)
        return (top if self.c > 0.0 else max(0.0, top)) + self.r * dual.b, vector


def sharpen(h: DualFunction, dual: Dual, target: float, *, fixed: bool = False, deadline: float = math.inf) -> Dual:
    """The best of a line search over (tU, tb), unless b is fixed, and a few subgradient steps.

    target is the solver's primal value, which h cannot fall below if that value is right; deadline a time of
    perf_counter. The dual is returned unchanged when LAPACK fails on it.
    """
    if perf_counter() > deadline:
        return dual
    try:
        start, _ = h(dual)
        if abs(start - target) <= ENOUGH * abs(target):
            return dual
        # a solver's value above the bound is no target: aim a little lower instead
        goal = target if target < start else start - AIM * abs(start)
        return descended(h, dual if fixed else rescaled(h, dual, start, deadline), goal, deadline)
    except (LinAlgError, ValueError):
        return dual


def rescaled(h: DualFunction, dual: Dual, start: float, deadline: float) -> Dual:
    """(tU, tb) with the best t in [0, 2], to within 0.01; h is convex in t, and h(U, b) = start."""

    def along(t: float) -> float:
        return h(dual.scaled(t))[0] if perf_counter() <= deadline else math.inf

    found = minimize_scalar(along, bounds=(0.0, 2.0), method="bounded", options={"xatol": 0.01, "maxiter": 15})
    return dual.scaled(float(found.x)) if found.fun < start else dual


def descended(h: DualFunction, dual: Dual, target: float, deadline: float) -> Dual:
    """Polyak's subgradient steps on U with b held: U ← clip(U − α·vvᵀ), α = (h − target)/‖G‖²; the best iterate.

    The diagonal is left out of G, as it is fixed by b.
    """
    best_value, best = np.inf, dual
    for _ in range(STEPS):
        value, v = h(dual)
        if value < best_value:
            best_value, best = value, dual
        G = np.outer(v, v)
        np.fill_diagonal(G, 0.0)
        norm = float(np.sum(G * G))
        if value - target <= ENOUGH * abs(target) or norm == 0.0 or perf_counter() > deadline:
            break
        outer = dual.b * dual.d[:, None] * dual.d
        # clipped, the iterate is dual again and its h a bound again
        dual = replace(dual, U=np.clip(dual.U - (value - target) / norm * G, -outer, outer))
    return best
