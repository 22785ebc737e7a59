"""Learn that sparse PCA is a d.c. program of three lines
======================================================

How much variance does a component keep when the ℓ1 norm of its loadings is bounded?

Maximising the convex xᵀAx over a convex set is a d.c. program with u = 0. Its step maximises a linear function:
(Ay)ᵀx over the same set.
"""

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

from dcgev_cvx import DCProgram, datasets
from dcgev_cvx.comparison.other_solvers import reached_by_others
from dcgev_cvx.plotting import plot_sandwich

pencil = datasets.pitprops()
A = pencil.dense()[0]
start = pencil.leading_vector

# %%
# The program, with the ℓ1 radius as a parameter: it is compiled once, and solved for each radius from the leading
# eigenvector. That start violates the smaller radii, and the first step projects it.
x, radius = cp.Variable(13, name="x"), cp.Parameter(nonneg=True, name="radius")
v = cp.quad_form(x, A)
program = DCProgram(0, v, [cp.sum_squares(x) <= 1, cp.norm1(x) <= radius])
runs = {}
for k in (2, 4, 7, 13):
    radius.value, x.value = np.sqrt(k), start
    runs[k] = program.minimize()
    nonzeros = np.count_nonzero(np.abs(x.value) > 1e-6)
    print(f"radius √{k}: variance {-runs[k].f:.4f} of {A.trace():.0f}, {nonzeros} nonzeros, {runs[k].status.value}")

# %%
# A radius √k admits every k-sparse unit vector, and other vectors too, so that the nonzeros need not be k. The same
# problem in other tools, which need A as a sum of squares:
radius.value, x.value = 2.0, start / np.abs(start).sum()
values, vectors = np.linalg.eigh(A)
same = cp.sum_squares((vectors * np.sqrt(np.maximum(values, 0))).T @ x)
for name, reached in reached_by_others(cp.Problem(cp.Maximize(same), program.constraints)).items():
    print(f"{name}: {reached}")

# %%
# The certificate bounds what one more step could gain. It makes no claim about better vectors elsewhere; for those
# see ``dcgev_cvx.compare``.
print(runs[4].certificate)
print(f"bound {runs[4].bound.value:.6g} by {runs[4].bound.method}; f lies at most {runs[4].gap:.1%} above the minimum")
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for k, run in runs.items():
    left.plot(np.sort(np.abs(run.x))[::-1], marker="o", markersize=4, label=rf"$\|x\|_1\leq\sqrt{{{k}}}$")
left.set(xlabel="rank of the loading", ylabel="|loading|")
left.legend()
plot_sandwich(runs[4], right)
figure.savefig("dc_sparse_pca.png")
