"""Algorithm 1 by hand: the pit props with CVXPY and NumPy alone
=============================================================
"""

import cvxpy as cp
import numpy as np

from dcgev_cvx import datasets

A, rho, eps = np.array(datasets.pitprops().A), 4.84, np.finfo(float).eps  # A ⪰ 0, so that τ = 0; B = I
rho_eps = rho / np.log(1 + 1 / eps)  # line 3
y = np.linalg.eigh(A)[1][:, -1]  # line 2

x, c, p = cp.Variable(13), cp.Parameter(13), cp.Parameter(13, nonneg=True)
step = cp.Problem(cp.Maximize(c @ x - 0.5 * p @ cp.abs(x)), [cp.sum_squares(x) <= 1])  # line 4
for _ in range(150):
    c.value, p.value = A @ y, np.minimum(rho_eps / (abs(y) + eps), 100)  # slopes of 1e15 break every conic solver
    step.solve(solver="CLARABEL")
    y = np.where(abs(x.value) > 1e-6, x.value, 0)
print("x =", y.round(3), " xᵀAx =", round(y @ A @ y, 6))
