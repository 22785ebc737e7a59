"""Learn to decode bits with a d.c. program
========================================

A vector of bits ±1 is sent through a known matrix and received with noise. Which bits were sent?

The most likely ones minimise ‖Ax − b‖² over xᵢ² = 1. The usual decoder drops the constraint and rounds.
"""

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

from dcgev_cvx import DCProgram
from dcgev_cvx.comparison.other_solvers import reached_by_others

rng = np.random.default_rng(0)
n = 40
A, bits = rng.standard_normal((n, n)), rng.choice([-1.0, 1.0], n)
noise = rng.standard_normal(n)
x, b = cp.Variable(n, name="x"), cp.Parameter(n, name="b")
problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)), [cp.square(x) == 1])

# %%
# What was received is a parameter: the program is compiled once for all levels of noise. Each run starts from zero.
# There the tangents of xᵢ² ≥ 1 have no slope, so phase one begins beside it.
program = DCProgram.from_problem(problem)
levels = [0.1, 0.5, 1.0, 2.0, 3.0]
wrong, residuals, runs = [], [], []
for sigma in levels:
    b.value, x.value = A @ bits + sigma * noise, np.zeros(n)
    runs.append(program.minimize())
    rounded = np.sign(np.linalg.solve(A, b.value))
    wrong.append((np.sum(rounded != bits), np.sum(np.sign(x.value) != bits)))
    residuals.append([float(np.sum((A @ s - b.value) ** 2)) for s in (rounded, runs[-1].x, bits)])
    print(f"noise {sigma}: wrong bits {wrong[-1][0]} rounded, {wrong[-1][1]} by MM;", end=" ")
    print("‖Ax − b‖² {:.1f} rounded, {:.1f} by MM, {:.1f} of the bits sent".format(*residuals[-1]))

# %%
# Other tools on the last problem, from a small random start, since they cannot leave zero:
x.value = 0.1 * rng.standard_normal(n)
for name, reached in reached_by_others(problem).items():
    print(f"{name}: {reached}")

# %%
# Feasible points are isolated here: phase one does the work, and the descent after it is a step that stays. Where MM
# ends below the residual of the bits sent, other bits explain the data better, and no decoder can be blamed.
print(runs[-1].status.value, "|", runs[-1].message, "|", runs[-1].certificate)
print(
    f"bound {runs[-1].bound.value:.6g} by {runs[-1].bound.method}; f lies at most {runs[-1].gap:.1%} above the minimum"
)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
left.plot(levels, wrong, "o-", label=["rounded least squares", "d.c. program"])
left.set(xlabel="noise", ylabel=f"wrong bits of {n}")
left.legend()
right.semilogy(levels, residuals, "o-", label=["rounded least squares", "d.c. program", "bits sent"])
right.set(xlabel="noise", ylabel=r"$\|Ax-b\|^2$")
right.legend()
figure.savefig("dc_boolean_least_squares.png")
