"""Solution: find the wrong solver."""

import numpy as np

from dcgev_cvx import teach

A, B = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 0.4], [0.4, 1.0]])  # B is not diagonal
y, rho, eps, tau = np.array([0.5, 0.5]), 0.5, 0.1, 1.0

print(teach.check("suspect", ("b", A, B, y, rho, eps, tau)))
