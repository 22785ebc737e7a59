"""The stationary point of (SGEV-A) on given supports, found by Newton's method and judged by the certificate.

MM would creep there: canonical correlations are close to one another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..._numerics.checks import Index, Matrix, Vector
from ...certificates import certify
from ...pencils import Pencil
from ...search.stationary import program_of, stationary_near
from .deflated import DeflatedViews
from .pairs import canonical_pairs, ridged

DUST = 1e-4
"""Loadings below this share of a unit vector are dropped from a support."""
ROUNDS = 5


@dataclass(frozen=True)
class StationaryPair:
    """u and v on their supports a and b, unit in Bx and By; ρ̃ and the KKT residual of the whole deflated pencil."""

    a: Index
    b: Index
    u: Vector
    v: Vector
    correlation: float
    rho: float
    stationarity: float


def stationary_pair(views: DeflatedViews, a: Index, b: Index) -> StationaryPair:
    """The stationary point next to the leading pair of the sub-pencil on the supports a and b (SGEV-A).

    On the supports the residual is the certificate's. Off them it is max(0, |2μ(Bx)ᵢ − 2(Ax)ᵢ| − ρ_ε/ε)
    in the same units, for which the rows of the supports are enough.
    """
    a, b = without_dust(views, a, b)
    Bx, By, C = blocks(views, a, b)
    pairs = canonical_pairs(Bx, By, C)
    start = np.concatenate([pairs.U[:, 0], pairs.V[:, 0]]) / math.sqrt(2.0)
    pencil = two_view_pencil(C, Bx, By)
    x, rho_eps = stationary_near(pencil, start)
    program = program_of(pencil, rho_eps)
    inner = certify(program, x).stationarity
    p, q = x[: len(a)], x[len(a) :]
    mu = program.multiplier(x, program.gradient(x), program.slopes(x))
    pull_x = slopes_off(views.Sx, views.kx, views.C[:, b] @ q, a, p, mu)
    pull_y = slopes_off(views.Sy, views.ky, p @ views.C[a], b, q, mu)
    scale = float(np.max(np.abs(program.gradient(x)) / np.sqrt(pencil.B_diagonal)))
    outer = max(0.0, float(max(np.max(pull_x), np.max(pull_y))) - program.at_zero()[1]) / scale
    u, v = p / math.sqrt(p @ Bx @ p), q / math.sqrt(q @ By @ q)
    return StationaryPair(a, b, u, v, float(u @ C @ v), program.rho, max(inner, outer))


def blocks(views: DeflatedViews, a: Index, b: Index) -> tuple[Matrix, Matrix, Matrix]:
    """(Bx, By, C) on the supports."""
    Bx = ridged(views.Sx[np.ix_(a, a)], views.kx)
    return Bx, ridged(views.Sy[np.ix_(b, b)], views.ky), views.C[np.ix_(a, b)]


def without_dust(views: DeflatedViews, a: Index, b: Index) -> tuple[Index, Index]:
    """The supports without members whose loading in the leading pair is below DUST: no penalty would keep them."""
    for _ in range(ROUNDS):
        Bx, By, C = blocks(views, a, b)
        pairs = canonical_pairs(Bx, By, C)
        strong_a = np.abs(pairs.U[:, 0]) * np.sqrt(np.diagonal(Bx)) > DUST
        strong_b = np.abs(pairs.V[:, 0]) * np.sqrt(np.diagonal(By)) > DUST
        if np.all(strong_a) and np.all(strong_b):
            break
        a, b = a[strong_a], b[strong_b]
    return a, b


def slopes_off(S: Matrix, ridge: float, Ax: Vector, own: Index, z: Vector, mu: float) -> Vector:
    """|2μ(Bx)ᵢ − 2(Ax)ᵢ| of one view's coordinates off the support, 0 on it."""
    row = 2.0 * mu * (z @ S[own]) - 2.0 * Ax
    row[own] = 0.0
    return np.abs(row)


def two_view_pencil(C: Matrix, Bx: Matrix, By: Matrix) -> Pencil:
    """A = [0 C; Cᵀ 0], B = [Bx 0; 0 By] (Eq:CCA)."""
    p, q = C.shape
    A, B = np.zeros((p + q, p + q)), np.zeros((p + q, p + q))
    A[:p, p:], A[p:, :p] = C, C.T
    B[:p, :p], B[p:, p:] = Bx, By
    return Pencil(A, B, blocks=(p, q))
