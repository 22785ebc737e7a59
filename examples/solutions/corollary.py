"""Solution: a counterexample to Corollary 6."""

import numpy as np

from dcgev_cvx import teach

A = np.diag([2.0, 1.0])
x0 = np.array([0.0, 1.0])  # an eigenvector: the power method never leaves it

print(teach.check("corollary", (A, x0)))
