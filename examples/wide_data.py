"""Sparse PCA with 16063 variables
===============================

**Question.** Can sparse components be computed if the covariance matrix does not fit into memory?

With 16063 variables A = CᵀC would need two gigabytes. The package keeps the factor C, and multiplies with it
instead.
"""

import matplotlib.pyplot as plt
import numpy as np

from dcgev_cvx import components, pca_pencil

# %%
# 127 samples of 16063 variables, a shape that occurs with gene expression. Fifty variables share one factor,
# thirty others share another one, the rest is noise.
rng = np.random.default_rng(0)
X = rng.standard_normal((127, 16063))
X[:, :50] += 2.0 * rng.standard_normal((127, 1))
X[:, 50:80] += 1.5 * rng.standard_normal((127, 1))
pencil = pca_pencil(X)
print(pencil)

# %%
# Two components. The deflation method "projection" keeps the factor; Hotelling's would need the full matrix.
found = components(pencil, [50, 30], deflation="projection")
for solution, planted in zip(found.solutions, (range(50), range(50, 80)), strict=True):
    hits = len(set(solution.support) & set(planted))
    print(f"{solution.k} nonzeros, {hits} of {len(planted)} planted, value {solution.value:.2f}")

# %%
# The loadings of the first hundred variables. All others are zero.
figure, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
for i, (solution, style) in enumerate(zip(found.solutions, ("ko", "C0s"), strict=True), 1):
    ax.plot(np.abs(solution.x[:100]), style, fillstyle="none", markersize=4, label=f"component {i}")
ax.set(xlabel="variable", ylabel="absolute loading")
ax.legend(frameon=False)
figure.savefig("wide_data.png")
assert all(not solution.x[100:].any() for solution in found.solutions)

# %%
# **Conclusion.** Both groups of variables are found exactly, and A is never formed.
