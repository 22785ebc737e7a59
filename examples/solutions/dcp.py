"""Solution: repair a problem that is not DCP."""

import cvxpy as cp
import numpy as np

from dcgev_cvx import teach


def problem(A, B, y, rho, eps, tau):
    """min τ‖x‖² − 2xᵀ(A + τI)y + ρ_ε Σ wᵢ|xᵢ| s.t. xᵀBx ≤ 1 (ALG)."""
    x = cp.Variable(len(A), name="x")
    rho_eps = rho / np.log1p(1 / eps)
    linear = -2 * (y @ (A + tau * np.eye(len(A)))) @ x
    penalty = rho_eps * (1 / (np.abs(y) + eps)) @ cp.abs(x)
    return cp.Problem(cp.Minimize(tau * cp.sum_squares(x) + linear + penalty), [cp.quad_form(x, B) <= 1])


print(teach.check("dcp", problem))
