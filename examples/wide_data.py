"""Learn that 16063 variables are no obstacle
==========================================

A = CᵀC is never formed, neither to solve nor to deflate.
"""

import numpy as np

from dcgev_cvx import components, pca_pencil

rng = np.random.default_rng(0)
X = rng.standard_normal((127, 16063))
X[:, :50] += 2.0 * rng.standard_normal((127, 1))  # fifty variables move together,
X[:, 50:80] += 1.5 * rng.standard_normal((127, 1))  # thirty others with another factor

pencil = pca_pencil(X)
print(pencil)
found = components(pencil, [50, 30], deflation="projection")  # projection keeps the factor, Hotelling would not
for solution, planted in zip(found.solutions, (range(50), range(50, 80)), strict=True):
    hits = len(set(solution.support) & set(planted))
    print(f"{solution.k} nonzeros, {hits} of {len(planted)} planted, value {solution.value:.2f}")
