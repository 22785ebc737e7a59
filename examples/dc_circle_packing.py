"""Learn to pack circles with a d.c. program
=========================================

How small a square holds ten circles of given radii?

Two circles do not overlap if their centres are far apart, ‖cᵢ − cⱼ‖ ≥ rᵢ + rⱼ. That is a lower bound on a convex
function, so the problem is not convex, but every part of it is convex or concave.
"""

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

from dcgev_cvx import DCProgram
from dcgev_cvx.comparison.other_solvers import reached_by_others
from dcgev_cvx.plotting import plot_sandwich

rng = np.random.default_rng(1)
n = 10
r = rng.uniform(1.0, 3.0, n)
c = cp.Variable((n, 2), name="c")
i, j = np.triu_indices(n, 1)
side = 2 * cp.max(cp.max(cp.abs(c), axis=1) + r)
problem = cp.Problem(cp.Minimize(side), [cp.norm(c[i] - c[j], axis=1) >= r[i] + r[j]])

# %%
# ``from_problem`` splits the problem. At the random start the circles overlap: phase one moves them apart, and from
# there on every iterate is feasible and no step raises the side. Other starts lead to other stationary points, so
# we keep the best of eight.
program = DCProgram.from_problem(problem)
starts = rng.uniform(-8, 8, (8, n, 2))
best = program.minimize(starts=[start.ravel(order="F") for start in starts])
lowest = int(np.argmin([run.f for run in best.starts]))
print(best.table())
print(best)
print(f"bound {best.bound.value:.6g} by {best.bound.method}; f lies at most {best.gap:.1%} above")

# %%
# dccp and CVXPY's nonlinear solver from the start of the best run:
c.value = starts[lowest]
for name, reached in reached_by_others(problem).items():
    print(f"{name}: {reached}")

# %%
# The picture shows the packing and the descent. The certificate says that no step from here lowers the side. It does
# not say that the packing is optimal: the eight runs end at different sides.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for (a, b), radius in zip(best.x.reshape(2, n).T, r, strict=True):
    left.add_patch(plt.Circle((a, b), radius, facecolor="#56B4E9", edgecolor="black"))
half = best.f / 2
left.set(xlim=(-half, half), ylim=(-half, half), aspect="equal", title=f"side {best.f:.3f}", xticks=[], yticks=[])
plot_sandwich(best, right)
figure.savefig("dc_circle_packing.png")
