"""Solution: write a majoriser."""

import numpy as np

from dcgev_cvx import teach


def g(A, x, y, rho, eps, tau):
    """Tangents at y of the two concave terms, −xᵀ(A + τI)x and the penalty in |xᵢ|; τ‖x‖² stays."""
    M = A + tau * np.eye(len(A))
    slope = np.exp(-np.abs(y) / eps) / eps
    tangent = 1 - np.exp(-np.abs(y) / eps) + slope * (np.abs(x) - np.abs(y))
    return tau * x @ x - 2 * x @ M @ y + y @ M @ y + rho * np.sum(tangent)


print(teach.check("majoriser", g))
