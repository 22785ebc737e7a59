"""DC-PCA on data with nothing but the iteration: what Tables 2 and 4 time (ALG-S)."""

from __future__ import annotations

import numpy as np

from ..checks import Matrix, Vector
from ..penalties import MACHINE_EPS, rho_eps
from ..rivals.base import Run

SHRINK = 0.7
"""Columns are dropped when this share of them is left: each copy costs as much as a step."""


def descend(C: Matrix, rho: float, x0: Vector, *, tol: float = 1e-4, max_iter: int = 1000) -> Run:
    """xᵢ ∝ [|(CᵀCy)ᵢ| − ½ρ_ε/(|yᵢ| + ε)]₊ sign(CᵀCy)ᵢ at machine precision ε (ALG-S).

    The iterates are those of `dc_pca`. A zero of y is absorbing (its weight 1/ε outweighs every
    |cᵢᵀCy| ≤ ‖cᵢ‖‖C‖), so its column is never touched again: a step costs the support only.
    Stops, like GPower, when the objective xᵀAx − ρ_ε Σ log(1 + |xᵢ|/ε) rises by at most `tol`·xᵀAx.
    """
    price = rho_eps(rho, MACHINE_EPS)
    absorbing = 0.5 * price / MACHINE_EPS > float(np.linalg.norm(C)) ** 2
    columns, D, y = np.arange(C.shape[1]), C, x0
    before, steps, settled = -np.inf, 0, False
    while steps < max_iter and not settled and y.any():
        steps += 1
        Cy = D @ y
        room = np.abs(y) + MACHINE_EPS
        variance = float(Cy @ Cy)
        objective = variance - price * float(np.sum(np.log(room / MACHINE_EPS)))
        settled, before = objective - before <= tol * variance, objective
        y = thresholded(Cy @ D, 0.5 * price / room)
        kept = np.flatnonzero(y)
        if absorbing and len(kept) < SHRINK * len(y):
            columns, D, y = columns[kept], np.ascontiguousarray(D[:, kept]), y[kept]
    x = np.zeros(C.shape[1])
    x[columns] = y
    return Run(x, steps, settled or not y.any())


def thresholded(c: Vector, level: Vector) -> Vector:
    """[|cᵢ| − levelᵢ]₊ sign cᵢ, of unit length; 0 when nothing is left."""
    z = np.sign(c) * np.maximum(0.0, np.abs(c) - level)
    norm = float(np.linalg.norm(z))
    return z / norm if norm > 0.0 else z


def krylov_start(C: Matrix, steps: int = 6) -> Vector:
    """The best direction in the span of a few MM steps at ρ̃ = 0 (power steps) from the longest column of C.

    An approximate leading eigenvector at the price of as many iterations (Rayleigh–Ritz).
    """
    z = C[:, int(np.argmax(np.einsum("ij,ij->j", C, C)))]
    Z, scores, used = np.zeros((steps, C.shape[0])), np.zeros((steps, C.shape[1])), 0
    for j in range(steps):
        rest = z - Z[:j].T @ (Z[:j] @ z)
        size = float(np.linalg.norm(rest))
        if size <= 0.05 * float(np.linalg.norm(z)):
            break  # the span holds the leading direction nearly whole
        Z[j] = rest / size
        scores[j] = Z[j] @ C
        z, used = C @ scores[j], j + 1
    x = np.linalg.eigh(scores[:used] @ scores[:used].T)[1][:, -1] @ scores[:used]
    return x / max(float(np.linalg.norm(x)), np.finfo(float).tiny)


def rho_max(C: Matrix, x0: Vector) -> float:
    """The ρ̃ at which the first step from x0 is 0."""
    log = 1.0 / rho_eps(1.0, MACHINE_EPS)
    return log * 2.0 * float(np.max(np.abs(C.T @ (C @ x0)) * (np.abs(x0) + MACHINE_EPS)))
