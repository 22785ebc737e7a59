"""DC-PCA on a data matrix C, A = CᵀC, in plain NumPy: the iteration that Tables 2 and 4 time (ALG-S).

`dc_pca` computes f, g and a residual at each step. Here only the iteration itself is run, as GPower is, so that a
comparison of times is one of iterations. The iterates are those of `dc_pca`; the tests compare the two.
"""

from __future__ import annotations

import math

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..penalties import MACHINE_EPS, LogPenalty
from ..rivals.gpower import unit
from ..rivals.sparse_pca import Run, longest_column
from ..steps.closed import soft_threshold


def krylov_start(C: Matrix) -> Vector:
    """Near the leading eigenvector of CᵀC, from GPower's start z, the longest column of C.

    If z explains a quarter of ‖C‖², x⁽⁰⁾ ∝ Cᵀz. Otherwise x⁽⁰⁾ is the leading eigenvector of A restricted to the span
    of 1.3 p^⅓ power steps from Cᵀz, read off a small matrix (Rayleigh–Ritz). The first two eigenvalues of a noise
    matrix are a share p^(−⅔) apart, and Krylov spaces separate them after a number of steps that grows as the root of
    its inverse.
    """
    z, squares = longest_column(C)
    score = z @ C
    if score @ score >= 0.25 * squares:
        return unit(score)
    Z, scores = z[None], score[None]
    for _ in range(round(1.3 * len(C) ** (1.0 / 3.0)) - 1):
        z = C @ scores[-1]
        Z = np.vstack([Z, unit(z - (Z @ z) @ Z)])
        scores = np.vstack([scores, Z[-1] @ C])
    return unit(np.linalg.eigh(scores @ scores.T)[1][:, -1] @ scores)


def descend(C: Matrix, rho: float, x: Vector, *, tol: float = 1e-4, max_iter: int = 1000) -> Run:
    """xᵢ ∝ [|(CᵀCy)ᵢ| − ½ρ_ε/(|yᵢ| + ε)]₊ sign(CᵀCy)ᵢ at machine precision ε, from y = x (ALG-S).

    A zero of y stays zero (its weight 1/ε outweighs every |cᵢᵀCy| unless ρ̃ is of the size of rounding), so columns
    are dropped: a step costs the support only. Stops when the objective xᵀAx − ρ_ε Σ log(1 + |xᵢ|/ε) rises by at most
    `tol`·xᵀAx, the rule of GPower's authors. A collapse to 0 counts as converged.
    """
    price = LogPenalty().coefficient(rho, MACHINE_EPS)
    columns, D, y, Cy, room = np.arange(len(x)), C, x, C @ x, np.abs(x) + MACHINE_EPS
    before, converged, step = -math.inf, False, 0
    while step < max_iter and not converged:
        step += 1
        z = soft_threshold(Cy @ D, 0.5 * price / room)
        kept = z.nonzero()[0]
        if not len(kept):
            return Run(np.zeros(len(x)), step, True)
        if price > 0.0 and len(kept) < 0.65 * len(z):  # not at every loss: a copy costs as much as a step
            columns, D, z = columns[kept], D.T.take(kept, axis=0).T, z[kept]
        y = z / math.sqrt(float(z @ z))
        Cy, room = D @ y, np.abs(y) + MACHINE_EPS
        variance = float(Cy @ Cy)
        objective = variance - price * (float(np.log(room).sum()) - len(room) * math.log(MACHINE_EPS))
        converged = objective - before <= tol * variance
        before = objective
    found = np.zeros(len(x))
    found[columns] = y
    return Run(found, step, converged)


def rho_max(C: Matrix, x: Vector) -> float:
    """The ρ̃ at which the first step from x is 0."""
    slopes = np.abs((C @ x) @ C) * (np.abs(x) + MACHINE_EPS)
    return 2.0 * float(np.max(slopes)) / LogPenalty().coefficient(1.0, MACHINE_EPS)
