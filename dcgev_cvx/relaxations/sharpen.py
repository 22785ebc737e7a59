"""A better dual matrix from a sloppy one: a few eigenvectors lower the bound it proves (beyond the paper).

h is convex and its value at any feasible (U, b) is a bound, so every step that lowers it is a gain and a
failed one costs nothing but time. A first-order solver leaves h above its optimum; some dozens of n × n
eigenvalue problems win part of that back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from scipy.linalg import LinAlgError

from .._numerics.checks import Matrix, Vector
from .._numerics.proofs import leading_pair
from .bounds import Dual, charged

SCALINGS = 12
"""Golden-section steps along the ray tU: they leave t to within 0.01."""
STEPS = 25
"""Subgradient steps; each costs one eigenvalue problem."""
ENOUGH = 1e-7
"""A bound this close to the solver's value, relatively, is not worth another eigenvalue problem."""
AIM = 0.02
"""Where the solver's value is no target, Polyak's steps aim this share below the bound."""
GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class DualFunction:
    """h(U, b) = λmax(A + U + c·b·D², B) + r·b, convex: (c, r) = (k, 0) homogeneous, (0, radius²) fixed radius.

    With c = 0 the constraint is tr(XB) ≤ 1 and the positive part of λmax is meant.

    Subgradient: if v is the leading vector (vᵀBv = 1) of the matrix, then vvᵀ is a subgradient of λmax with
    respect to U, because λmax(M + E, B) ≥ vᵀ(M + E)v = λmax(M, B) + ⟨vvᵀ, E⟩.
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
    """The best of a line search over tU (unless b is fixed) and a few subgradient steps; stops near the target.

    Parameters
    ----------
    h
        The dual function, in units of size one.
    dual
        Where to start; it is returned unchanged when LAPACK fails on it.
    target
        The solver's primal value, which h cannot fall below if that value is right.
    fixed
        Hold b (the penalised form, where b = ρ is data).
    deadline
        A time of perf_counter after which the best so far is returned.
    """
    if perf_counter() > deadline:
        return dual
    try:
        start, _ = h(dual)
        if abs(start - target) <= ENOUGH * abs(target):
            return dual
        # a solver's value above the bound is no target: aim a little lower instead
        goal = target if target < start else start - AIM * abs(start)
        return descended(h, dual if fixed else rescaled(h, dual, deadline), goal, deadline)
    except (LinAlgError, ValueError):
        return dual


def rescaled(h: DualFunction, dual: Dual, deadline: float) -> Dual:
    """(tU, tb) with the t in [0, 2] that golden section finds; h is convex in t.

    Along the ray h is convex in one variable: golden section narrows [0, 2] by 0.618 at each of twelve steps
    and keeps the best point seen, t = 1 among the candidates, so that it never loses.
    """
    low, high = 0.0, 2.0
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    f_left, f_right = h(dual.scaled(left))[0], h(dual.scaled(right))[0]
    best, t = min((h(dual)[0], 1.0), (f_left, left), (f_right, right))
    for _ in range(SCALINGS):
        if perf_counter() > deadline:
            break
        if f_left < f_right:
            high, right, f_right = right, left, f_left
            left = high - GOLDEN * (high - low)
            f_left = h(dual.scaled(left))[0]
            best, t = min((best, t), (f_left, left))
        else:
            low, left, f_left = left, right, f_right
            right = low + GOLDEN * (high - low)
            f_right = h(dual.scaled(right))[0]
            best, t = min((best, t), (f_right, right))
    return dual.scaled(t)


def descended(h: DualFunction, dual: Dual, target: float, deadline: float) -> Dual:
    """Polyak's subgradient steps on U with b held: U ← clip(U − α·vvᵀ), the best iterate kept.

    Polyak's step length (h − target)/‖G‖² is the one that reaches the target if h were linear. The diagonal is
    left out of G, as it is fixed by b. Subgradient steps may rise; the best iterate is what is returned.
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
        U = np.clip(dual.U - (value - target) / norm * G, -outer, outer)
        # clipped into the box, the iterate is dual again and its h a bound again
        dual = replace(dual, U=U)
    return best
