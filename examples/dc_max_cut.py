"""Learn to improve the rounding of a max-cut relaxation
=====================================================

Random hyperplanes round the SDP relaxation of max-cut to cuts. Can a d.c. program round better?

A cut x ∈ {−1, 1}ⁿ weighs (1ᵀw1 − xᵀwx)/4. Since w has a zero diagonal, xᵀwx is linear in each xᵢ, and its minimum
over the box ``|xᵢ| ≤ 1`` lies at a vertex: the d.c. program needs no other constraint.
"""

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

from dcgev_cvx import DCProgram
from dcgev_cvx.comparison.other_solvers import reached_by_others
from dcgev_cvx.plotting import plot_sandwich

rng = np.random.default_rng(2)
n = 30
w = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.4), 1)
w = (w + w.T) / 4

# %%
# In the relaxation xxᵀ becomes a matrix X ⪰ 0 with ones on its diagonal. Thirty hyperplanes round its vectors.
X = cp.Variable((n, n), PSD=True)
relaxed = cp.Problem(cp.Maximize(w.sum() - cp.trace(w @ X)), [cp.diag(X) == 1])
relaxed.solve(solver="CLARABEL")
directions = rng.multivariate_normal(np.zeros(n), X.value, 30, check_valid="ignore")
rounded = [w.sum() - np.sign(y) @ w @ np.sign(y) for y in directions]

# %%
# The same directions start the d.c. program before their signs are taken. Where it ends inside the box, each entry
# goes to the better of its two ends, which cannot make xᵀwx larger.
x = cp.Variable(n, name="x")
problem = cp.Problem(cp.Minimize(cp.quad_form(x, w)), [cp.abs(x) <= 1])
program, runs, cuts = DCProgram.from_problem(problem), [], []
for y in directions:
    x.value = y / np.abs(y).max()
    runs.append(program.minimize())
    s = runs[-1].x.copy()
    for i in range(n):
        s[i] = -np.sign(w[i] @ s) or 1.0
    cuts.append(w.sum() - s @ w @ s)
print(f"bound {relaxed.value:.3f}; hyperplanes: median {np.median(rounded):.3f}, best {max(rounded):.3f}")
print(f"d.c. program: median {np.median(cuts):.3f}, best {max(cuts):.3f}")
longest = max(runs, key=lambda run: run.n_iter)
print(longest.certificate)
print(f"bound {longest.bound.value:.6g} by {longest.bound.method}; f lies at most {longest.gap:.1%} above the minimum")
x.value = directions[0] / np.abs(directions[0]).max()
print(f"from one start, xᵀwx = {runs[0].f:.6g};", reached_by_others(problem))

# %%
# The d.c. program raises the median of the cuts. A cut at the bound would be optimal.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(np.sort(rounded), "o", fillstyle="none", label="hyperplanes")
left.plot(np.sort(cuts), "k.", label="d.c. program")
left.axhline(float(relaxed.value), color="0.5", linestyle="--", label="bound of the SDP")
left.set(xlabel="start, sorted", ylabel="weight of the cut")
left.legend()
plot_sandwich(longest, right)
figure.savefig("dc_max_cut.png")
