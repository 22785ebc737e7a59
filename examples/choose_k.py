"""Held-out data show how many variables to keep
=============================================

**Question.** How many nonzeros should a sparse component have?

On the training data the explained variance never decreases when variables are added. On held-out data it levels
off.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV

from dcgev_cvx import DCPCA

# %%
# The data have forty variables. Six of them share a factor, the others are noise.
rng = np.random.default_rng(0)
factor = rng.standard_normal((120, 1))
X = rng.standard_normal((120, 40))
X[:, :6] += 1.5 * factor

# %%
# ``DCPCA`` is a scikit-learn estimator, so ``GridSearchCV`` computes the held-out explained variance for several
# k.
grid = GridSearchCV(DCPCA(effort="quick"), {"k": [1, 2, 4, 6, 8, 12, 20, 40]}, cv=5).fit(X)
mean = grid.cv_results_["mean_test_score"]
error = grid.cv_results_["std_test_score"] / np.sqrt(5)
for k, score, spread in zip(grid.param_grid["k"], mean, error, strict=True):
    print(f"k = {k:2d}  held-out explained variance {score:.4f} ± {spread:.4f}")

# %%
# A common rule takes the smallest k whose score is within one standard error of the best.
best = int(np.argmax(mean))
good = mean >= mean[best] - error[best]
k = grid.param_grid["k"][int(np.argmax(good))]
chosen = DCPCA(k=k).fit(X)
print(f"best k = {grid.param_grid['k'][best]}; the sparsest within one standard error: k = {k}")
print("its variables:", *np.flatnonzero(chosen.components_[0]))

figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
ax.errorbar(grid.param_grid["k"], mean, error, fmt="o-", color="black", fillstyle="none", capsize=3)
ax.axhline(mean[best] - error[best], color="#0072B2", linestyle="--", label="one standard error below the best")
ax.set(xlabel="$k$", ylabel="held-out explained variance")
ax.legend(frameon=False)
figure.savefig("choose_k.png")
assert k == 6

# %%
# **Conclusion.** The curve rises up to the six variables that share the factor and is flat beyond. The rule finds
# exactly these variables.
