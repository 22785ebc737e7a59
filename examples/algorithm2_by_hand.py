"""Algorithm 2 by hand: the pit props with NumPy alone
===================================================
"""

import numpy as np

from dcgev_cvx import datasets

A, rho, eps = np.array(datasets.pitprops().A), 4.84, np.finfo(float).eps
rho_eps = rho / np.log(1 + 1 / eps)  # line 2
y = np.linalg.eigh(A)[1][:, -1]  # line 1

for _ in range(150):
    c = A @ y
    z = np.sign(c) * np.maximum(0, abs(c) - 0.5 * rho_eps / (abs(y) + eps))  # line 3
    y = z / np.linalg.norm(z)
print("x =", y.round(3), " xᵀAx =", round(y @ A @ y, 6))
