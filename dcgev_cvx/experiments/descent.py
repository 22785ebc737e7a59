"""DC-PCA on data with nothing but the iteration: what Tables 2 and 4 time (ALG-S).

The driver of `dc_pca` computes f, g and a residual at each step, which is right for a certified run and would be
what one measures in a race. Here the bare iteration is run, with the same iterates; the tests compare the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from ..checks import Matrix, Vector
from ..penalties import MACHINE_EPS, rho_eps
from ..rivals.base import Run

SHRINK = 0.7
"""Columns are dropped when this share of them is left: each copy costs as much as a step."""

SMALL = 60_000
"""Up to this many numbers in the active columns a compiled loop beats calls to BLAS."""


@dataclass(frozen=True)
class Start:
    """x⁽⁰⁾ with the product Cx⁽⁰⁾ and the sum ‖C‖² of all squares, which come with it."""

    x: Vector
    Cx: Vector
    squares: float


def descend(C: Matrix, rho: float, start: Start, *, tol: float = 1e-4, max_iter: int = 1000) -> Run:
    """xᵢ ∝ [|(CᵀCy)ᵢ| − ½ρ_ε/(|yᵢ| + ε)]₊ sign(CᵀCy)ᵢ at machine precision ε (ALG-S).

    The iterates are those of `dc_pca`. A zero of y is absorbing (its weight 1/ε outweighs every
    |cᵢᵀCy| ≤ ‖cᵢ‖‖C‖), so its column is never touched again: a step costs the support only.
    Stops, like GPower, when the objective xᵀAx − ρ_ε Σ log(1 + |xᵢ|/ε) rises by at most `tol`·xᵀAx.

    Parameters
    ----------
    C
        p × n data, A = CᵀC.
    rho
        ρ̃ ≥ 0.
    start
        From `krylov_start`, product included: the first step costs one product less.
    tol, max_iter
        The stop rule of GPower's authors, so that both methods are stopped alike.

    Returns
    -------
    Run
        x with its zeros, the number of steps, and whether the rule was met (a collapse to 0 counts as met).
    """
    price = rho_eps(rho, MACHINE_EPS)
    absorbing = 0.5 * price / MACHINE_EPS > start.squares
    columns, D, y, Cy = np.arange(C.shape[1]), C, start.x, start.Cx
    before, steps, settled = -math.inf, 0, False
    while steps < max_iter and not settled and y.any():
        if absorbing and D.size <= SMALL:
            y = y.copy()
            steps, settled = settle(np.ascontiguousarray(D.T), y, price, MACHINE_EPS, tol, before, steps, max_iter)
            break
        steps += 1
        Cy = D @ y if steps > 1 else Cy
        variance = float(Cy @ Cy)
        y, penalty = thresholded(Cy @ D, y, price, MACHINE_EPS)
        objective = variance - price * penalty
        settled, before = objective - before <= tol * variance, objective
        if absorbing and np.count_nonzero(y) < SHRINK * len(y):
            kept = np.flatnonzero(y)
            columns, D, y = columns[kept], D[:, kept], y[kept]
    x = np.zeros(C.shape[1])
    x[columns] = y
    return Run(x, steps, settled or not y.any())


@njit(cache=True)
def thresholded(c: Vector, y: Vector, price: float, eps: float) -> tuple[Vector, float]:  # pragma: no cover
    """(the next iterate, Σ log(1 + |yᵢ|/ε)): one loop over the variables; 0 when nothing is left.

    Products of up to 1e250 are collected before a logarithm is taken: n logarithms would cost more than the rest of
    the loop.
    """
    z = np.zeros_like(y)
    square, penalty, product = 0.0, 0.0, 1.0
    for i in range(len(y)):
        room = abs(y[i]) + eps
        product *= room / eps
        if product > 1e250:  # a logarithm of a product is cheaper than a sum of logarithms
            penalty += math.log(product)
            product = 1.0
        size = abs(c[i]) - 0.5 * price / room
        if size > 0.0:
            z[i] = math.copysign(size, c[i])
            square += size * size
    if square > 0.0:
        z /= math.sqrt(square)
    return z, penalty + math.log(product)


@njit(cache=True, fastmath={"reassoc", "contract"})
def settle(
    D: Matrix, y: Vector, price: float, eps: float, tol: float, before: float, steps: int, max_iter: int
) -> tuple[int, bool]:  # pragma: no cover
    """The same iteration compiled, one row of D per variable, zeros skipped; y is overwritten.

    fastmath is limited to reassociation and contraction: no assumption about NaN or infinity is made.
    """
    n, p = D.shape
    settled = False
    while steps < max_iter and not settled:
        steps += 1
        Cy = np.zeros(p)
        penalty = 0.0
        for i in range(n):
            if y[i] != 0.0:
                penalty += math.log((abs(y[i]) + eps) / eps)
                for j in range(p):
                    Cy[j] += y[i] * D[i, j]
        variance = 0.0
        for j in range(p):
            variance += Cy[j] * Cy[j]
        objective = variance - price * penalty
        settled = objective - before <= tol * variance
        before = objective
        square = 0.0
        for i in range(n):
            if y[i] != 0.0:
                c = 0.0
                for j in range(p):
                    c += D[i, j] * Cy[j]
                size = abs(c) - 0.5 * price / (abs(y[i]) + eps)
                y[i] = math.copysign(size, c) if size > 0.0 else 0.0
                square += y[i] * y[i]
        if square == 0.0:
            return steps, True
        y /= math.sqrt(square)
    return steps, settled


def krylov_start(C: Matrix, steps: int = 6) -> Start:
    """The best direction in the span of a few MM steps at ρ̃ = 0 (power steps) from the longest column of C.

    An approximate leading eigenvector at the price of as many iterations (Rayleigh–Ritz); fewer
    when the span already holds nearly all of the next power step.

    Rayleigh–Ritz: the leading eigenvector of A restricted to the span of Cᵀz₁, …, Cᵀz_j is read off a j × j matrix.
    It costs the products that the power steps cost anyway.
    """
    squares = np.einsum("ij,ij->j", C, C)
    z = C[:, int(np.argmax(squares))]
    Z, scores, products = np.zeros((steps, C.shape[0])), np.zeros((steps, C.shape[1])), np.zeros((steps, C.shape[0]))
    used = 0
    for j in range(steps):
        rest = z - Z[:j].T @ (Z[:j] @ z)
        size = float(np.linalg.norm(rest))
        if size <= 0.2 * float(np.linalg.norm(z)):
            break
        Z[j] = rest / size
        scores[j] = Z[j] @ C
        z = products[j] = C @ scores[j]
        used = j + 1
    mixture = np.linalg.eigh(Z[:used] @ products[:used].T)[1][:, -1]
    x = mixture @ scores[:used]
    norm = max(float(np.linalg.norm(x)), np.finfo(float).tiny)
    return Start(x / norm, mixture @ products[:used] / norm, float(squares.sum()))


def rho_max(C: Matrix, start: Start) -> float:
    """The ρ̃ at which the first step is 0."""
    log = 1.0 / rho_eps(1.0, MACHINE_EPS)
    return log * 2.0 * float(np.max(np.abs(start.Cx @ C) * (np.abs(start.x) + MACHINE_EPS)))
