"""One view's weighted LASSO with a wanted number of nonzeros, and the rank-one updates of deflation; compiled."""

from __future__ import annotations

import numpy as np

from ..._numerics.checks import Matrix, Vector
from ..._numerics.compiled import compiled
from ...steps.kernels import weighted_lasso

TRIES = 30
SWEEPS = 300


@compiled
def lasso_near_k(
    B: Matrix, ridge: float, c: Vector, w: Vector, k: int, z: Vector, q: Vector, rho: float, tol: float
) -> float:  # pragma: no cover
    """ρ for which argmin zᵀ(B + ridge·I)z − 2cᵀz + ρ Σ wᵢ|zᵢ| has between 0.94k and k nonzeros, from a guess.

    z and q = Bz are warm and updated. The number of nonzeros falls about as 1/ρ, so ρ·count/k is
    tried first and bisection closes the bracket; after TRIES the sparser side is kept.
    """
    low, high = 0.0, 2.0 * np.max(np.abs(c) / w)
    wanted = 0.97 * k
    if not 0.0 < rho < high:
        rho = 0.3 * high
    for attempt in range(TRIES):
        size = max(np.dot(np.abs(c), np.abs(z)), 1e-3 * np.max(c * c / (np.diag(B) + ridge)))
        weighted_lasso(B, ridge, 1.0, c, rho * w, z, q, size, tol, SWEEPS)
        count = np.count_nonzero(z)
        if 0.94 * k <= count <= k:
            break
        low, high = (rho, high) if count > k else (low, rho)
        guess = rho * count / wanted
        rho = guess if low < guess < high and attempt < 8 else 0.5 * (low + high)
    return rho


@compiled
def subtract_outer(M: Matrix, a: Vector, b: Vector) -> None:  # pragma: no cover
    """M −= abᵀ in place, touching M once."""
    for i in range(len(a)):
        row = M[i]
        for j in range(len(b)):
            row[j] -= a[i] * b[j]
