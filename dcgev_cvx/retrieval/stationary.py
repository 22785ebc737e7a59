"""The stationary point of (SGEV-A) on given supports, found by Newton's method and judged by the certificate.

MM would creep there: canonical correlations are close to one another. Every fixed point of MM is a
stationary point and conversely, so it does not matter who finds it; the referee decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, solve

from ..certificates import certify
from ..checks import Index, Matrix, Vector
from ..penalties import MACHINE_EPS, log_scale
from ..pencils import Pencil
from ..programs import SparseGEV
from .deflated import DeflatedViews
from .pairs import canonical_pairs, ridged

NEWTON_STEPS = 12
SMALLER = 12
"""ρ̃ is divided by 8 at most so often until Newton's method keeps the signs and converges."""
TOL = 1e-10
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
    x, program = stationary_near(pencil, start)
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


def stationary_near(pencil: Pencil, x0: Vector) -> tuple[Vector, SparseGEV]:
    """(x, program): the stationary point that the eigenvector x0 becomes for a small ρ̃, no loading lost.

    Coordinate i is at a maximum of its own while ρ_ε < 2λBᵢᵢxᵢ²: ρ_ε starts at a tenth of the smallest of
    these and shrinks until Newton's method converges. With ρ̃ = 0 x0 itself is stationary.
    """
    value = pencil.A_quad(x0)
    rho_eps = 0.2 * value * float(np.min(pencil.B_diagonal * x0**2))
    for _ in range(SMALLER):
        x = newton(pencil, x0, value, rho_eps)
        if x is not None:
            return x, program_of(pencil, rho_eps)
        rho_eps /= 8.0
    return x0, program_of(pencil, 0.0)


def program_of(pencil: Pencil, rho_eps: float) -> SparseGEV:
    """The program (SGEV-A) with a given ρ_ε at ε = machine precision."""
    return SparseGEV(pencil, rho_eps * log_scale(MACHINE_EPS), MACHINE_EPS, shift="metric")


def newton(pencil: Pencil, x0: Vector, mu: float, rho_eps: float) -> Vector | None:
    """Solve −2Ax + 2μBx + ρ_ε sign(x)/(|x| + ε) = 0, xᵀBx = 1 from (x0, μ); None if it leaves x0's signs or fails."""
    A, B = pencil.dense()
    n, x, signs = pencil.n, x0, np.sign(x0)
    J = np.zeros((n + 1, n + 1))
    for _ in range(NEWTON_STEPS):
        Bx = B @ x
        room = np.abs(x) + MACHINE_EPS
        residual = np.append(2.0 * (mu * Bx - A @ x) + rho_eps * signs / room, x @ Bx - 1.0)
        if float(np.max(np.abs(residual[:n]))) <= TOL * float(np.max(np.abs(2.0 * mu * Bx))):
            return x / math.sqrt(float(x @ Bx))
        J[:n, :n] = 2.0 * (mu * B - A)
        J[np.arange(n), np.arange(n)] -= rho_eps / room**2
        J[:n, n] = J[n, :n] = 2.0 * Bx
        try:
            move = solve(J, residual, assume_a="sym", check_finite=False)
        except LinAlgError:
            return None
        x, mu = x - move[:n], mu - float(move[n])
        if not np.all(x * signs > 0.0):
            return None
    return None


def two_view_pencil(C: Matrix, Bx: Matrix, By: Matrix) -> Pencil:
    """A = [0 C; Cᵀ 0], B = [Bx 0; 0 By] (Eq:CCA)."""
    p, q = C.shape
    A, B = np.zeros((p + q, p + q)), np.zeros((p + q, p + q))
    A[:p, p:], A[p:, :p] = C, C.T
    B[:p, :p], B[p:, p:] = Bx, By
    return Pencil(A, B, blocks=(p, q))
