"""Exercise: a counterexample to Corollary 6. Fill in and run; `teach.hint("corollary")` helps."""

import numpy as np

from dcgev_cvx import teach

A = np.diag([2.0, 1.0])
x0 = np.array([0.6, 0.8])  # from here the power method does reach λmax

print(teach.check("corollary", (A, x0)))
