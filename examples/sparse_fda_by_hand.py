"""Sparse FDA by hand: two classes with CVXPY and NumPy alone
==========================================================
"""

import cvxpy as cp
import numpy as np

from dcgev_cvx import datasets, fda_vectors

a, B = fda_vectors(*datasets.two_gaussians(12, 3, samples=200)[:2])  # they differ in variables 6, 7 and 8
eps = np.finfo(float).eps
nu_eps = 0.5 / np.log(1 + 1 / eps)  # ν = 0.5
y = np.linalg.solve(B, a) / (a @ np.linalg.solve(B, a))
x, p = cp.Variable(12), cp.Parameter(12, nonneg=True)
step = cp.Problem(cp.Minimize(cp.quad_form(x, B) + p @ cp.abs(x)), [a @ x == 1])  # Eq:fdaiterative
for _ in range(30):
    p.value = np.minimum(nu_eps / (abs(y) + eps), 100)
    step.solve(solver="CLARABEL")
    y = np.where(abs(x.value) > 1e-6, x.value, 0)
print("x =", y.round(3), " xᵀBx =", round(y @ B @ y, 6))
