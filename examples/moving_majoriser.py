"""MM step by step, as an animation
================================

**Question.** How can a function that is not convex be minimised with convex problems only?

Majorization-minimization (MM) replaces the function f by a convex majoriser g(·, y), which touches f at the
current point y and lies above it. Its minimiser is the next y. This script draws the animation at the top of
the README.
"""

from itertools import islice

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter

from dcgev_cvx import Pencil, SparseGEV, iterate
from dcgev_cvx.plotting import plot_majoriser, plot_majoriser_2d
from dcgev_cvx.steps.native import native_step

# %%
# Two problems: in one variable the feasible set is an interval, in two variables a disc. τ is larger than
# necessary, so that the steps are short enough to see.
line = SparseGEV(Pencil([[1.0]]), rho=0.5, eps=0.1, tau=3.0)
plane = SparseGEV(Pencil([[2.0, 0.8], [0.8, 1.2]]), rho=0.6, eps=0.1, tau=8.0)

# %%
# ``iterate`` yields one point per step. f never increases, and g lies between two values of f:
runs = {}
for program, start in ((line, [0.35]), (plane, [0.2, 0.3])):
    runs[program] = list(islice(iterate(program, native_step, start), 8))
for y, x in zip(runs[plane], runs[plane][1:5], strict=False):
    print(f"l = {y.l}: f(x) = {x.f:+.5f} ≤ g(x, y) = {plane.g(x.x, y.x):+.5f} ≤ f(y) = {y.f:+.5f}")

# %%
# Each frame of the animation shows one step: on the left f and g(·, y), on the right their level lines and the
# path.
figure, (left, right) = plt.subplots(1, 2, figsize=(10.4, 4.0), width_ratios=(1.0, 1.25))
figure.subplots_adjust(0.05, 0.12, 0.86, 0.92, wspace=0.2)


def draw(l):  # noqa: E741 - the paper's letter
    """One frame."""
    for ax in (left, right):
        ax.clear()
    plot_majoriser(line, runs[line][l].x, ax=left).legend(frameon=False, loc="lower center", fontsize=9)
    left.set(xlim=(-1.05, 1.05), ylim=(-1.15, 0.6), title=f"one variable, step {l}")
    plot_majoriser_2d(plane, runs[plane], at=l, ax=right).set_title(f"two variables, step {l}")


FuncAnimation(figure, draw, frames=8).save("mm.gif", PillowWriter(fps=1.2), dpi=72)
assert all(np.diff([point.f for point in run]).max() <= 0 for run in runs.values())

# %%
# **Conclusion.** Every step solves a convex problem and lowers f. In the plane the iterates first move to the
# boundary of the feasible set and then along it.
#
# .. image:: /_static/mm.gif
#    :alt: MM in one and in two variables
