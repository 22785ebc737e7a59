"""Exercise: find the wrong solver. Fill in and run; `teach.hint("suspect")` helps."""

import numpy as np

from dcgev_cvx import teach

A, B = np.diag([2.0, 1.0]), np.eye(2)  # an example on which one of the three is wrong?
y, rho, eps, tau = np.array([0.6, 0.6]), 0.5, 0.1, 1.0

print(teach.check("suspect", ("a", A, B, y, rho, eps, tau)))
