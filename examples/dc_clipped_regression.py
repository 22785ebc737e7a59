"""Learn to ignore outliers with a clipped loss
============================================

A third of the measurements is wrong. Which line fits the rest?

The loss min(rᵢ², 1) stops counting a residual beyond 1. It is a difference of convex functions,
min(r², 1) = r² − max(r² − 1, 0).
"""

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

from dcgev_cvx import DCProgram
from dcgev_cvx.comparison.other_solvers import reached_by_others
from dcgev_cvx.plotting import plot_sandwich

rng = np.random.default_rng(0)
t = np.sort(rng.uniform(-3, 3, 60))
truth = np.array([1.0, 0.8])
b = truth[0] + truth[1] * t + 0.2 * rng.standard_normal(60)
wrong = rng.permutation(60)[:20]
b[wrong] = rng.uniform(4, 8, 20) - 2 * t[wrong]

# %%
# The start is the least-squares line, which the outliers pull away. A step drops the points whose residual exceeds 1
# and fits the others again: the tangent of max(r² − 1, 0) cancels r² there. The box ``|xᵢ| ≤ 5`` is for the bound.
x = cp.Variable(2, name="x")
residual = b - x[0] - x[1] * t
u, v = cp.sum_squares(residual), cp.sum(cp.pos(cp.square(residual) - 1))
cp.Problem(cp.Minimize(cp.norm1(residual))).solve(solver="CLARABEL")
robust = x.value.copy()
cp.Problem(cp.Minimize(u)).solve(solver="CLARABEL")
start = x.value.copy()
runs = {}
for name, x.value in {"from least squares": start, "from least absolute values": robust}.items():
    runs[name] = DCProgram(u, v, [cp.abs(x) <= 5]).minimize()
    print(f"{name}: x = {runs[name].x.round(3)}, f = {runs[name].f:.3f}, {runs[name].n_iter} steps")
best = min(runs.values(), key=lambda run: run.f)
print(best)
print(f"bound {best.bound.value:.6g} by {best.bound.method}; f lies at most {best.gap:.1%} above")

# %%
# Other general tools, from the same start; where the objective breaks their rules, they say so:
x.value = robust
for name, reached in reached_by_others(cp.Problem(cp.Minimize(u - v))).items():
    print(f"{name}: {reached}")

# %%
# The outliers no longer count. Both runs end at the same line here, the one from the better convex guess in fewer
# steps; in general a clipped loss has many stationary points, and the start decides.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(t, b, "o", color="0.6", markersize=4)
for line, style, name in ((start, ":", "least squares"), (robust, "--", "least absolute"), (best.x, "-", "clipped")):
    left.plot(t, line[0] + line[1] * t, style, color="black", label=name)
left.legend()
plot_sandwich(best, right)
figure.savefig("dc_clipped_regression.png")
