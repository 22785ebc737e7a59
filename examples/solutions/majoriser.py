"""Solution: write a majoriser of the d.c. objective."""

import numpy as np

from dcgev_cvx import teach


def g(A, x, y, rho_eps, eps, tau):
    """τ‖x‖² − 2xᵀ(A + τI)y + yᵀ(A + τI)y + ρ_ε Σ [log(ε + |yᵢ|) + (|xᵢ| − |yᵢ|)/(|yᵢ| + ε)] (Eq:majorize-f)."""
    M = A + tau * np.eye(len(A))
    tangent = np.log(eps + np.abs(y)) + (np.abs(x) - np.abs(y)) / (np.abs(y) + eps)
    return tau * x @ x - 2 * x @ M @ y + y @ M @ y + rho_eps * np.sum(tangent)


print(teach.check("majoriser", g))
