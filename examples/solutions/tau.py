"""Solution: the smallest shift."""

import numpy as np

from dcgev_cvx import datasets, teach

A, _ = datasets.indefinite(7).dense()
tau = max(0.0, -np.linalg.eigvalsh(A)[0])  # g − f contains (x−y)ᵀ(A + τI)(x−y)

print(teach.check("tau", tau))
