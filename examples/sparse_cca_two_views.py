"""The ridge decides which variables sparse CCA finds
==================================================

**Question.** Two tables have more columns than rows. Can sparse CCA find the few columns that they share?

Two things can mislead it: without a ridge the problem has no solution, and with a small one it fits noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from dcgev_cvx import DCCCA, InvalidPencil, cca_pencil


def views(rng, samples, size=100, shared=5):
    """Two views of white noise whose first variables share one factor."""
    z = rng.standard_normal((samples, 1))
    X, Y = rng.standard_normal((2, samples, size))
    X[:, :shared] += z
    Y[:, :shared] += z
    return X, Y


# %%
# Eighty samples of two views with one hundred variables each. Without a ridge the covariances are singular:
rng = np.random.default_rng(0)
train, test = views(rng, 80), views(rng, 2000)
try:
    cca_pencil(*train)
except InvalidPencil as error:
    print("without a ridge:", error)

# %%
# With a ridge, we compare the correlation on the training samples with that on new samples. The ridge "auto" is
# estimated from the training samples alone.
ridges, scores = (0.02, 0.1, 0.5, 2.0, 8.0, "auto"), []
for ridge in ridges:
    model = DCCCA(kx=5, ky=5, ridge=ridge, scale=False).fit(*train)
    found = np.flatnonzero(model.x_weights_[:, 0]), np.flatnonzero(model.y_weights_[:, 0])
    hits = sum(int(np.sum(view < 5)) for view in found)
    scores.append((model.score(*train), model.score(*test)))
    print(f"ridge {ridge:4}: {hits} of 10 right, correlation {scores[-1][0]:.3f}, on new samples {scores[-1][1]:.3f}")

# %%
# The two correlations:
figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
for (name, style), values in zip({"training": "ks--", "new": "C0o-"}.items(), zip(*scores, strict=True), strict=True):
    ax.plot([str(ridge) for ridge in ridges], values, style, fillstyle="none", label=f"{name} samples")
ax.set(xlabel="ridge", ylabel="correlation")
ax.legend(frameon=False)
figure.savefig("sparse_cca_two_views.png")
assert scores[0][0] == max(train for train, _ in scores)
assert scores[0][1] == min(new for _, new in scores)

# %%
# **Conclusion.** A small ridge gives the largest correlation on the training samples and the smallest on new
# ones. Choose the ridge on held-out samples, or let it be estimated.
