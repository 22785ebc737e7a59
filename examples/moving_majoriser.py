"""Learn what a majoriser does
===========================

It touches f at y, lies above it, and its minimiser lowers f.
"""

from itertools import islice, pairwise

import numpy as np

from dcgev_cvx import Pencil, SparseGEV, iterate
from dcgev_cvx.plotting import plot_majoriser_2d
from dcgev_cvx.steps.native import native_step

program = SparseGEV(Pencil(np.array([[2.0, 0.8], [0.8, 1.2]])), rho=0.6, eps=0.1, tau=4.0)
history = list(islice(iterate(program, native_step, [0.3, 0.35]), 12))
for y, x in pairwise(history):
    print(f"l = {y.l:2d}  f(x⁺) = {x.f:+.5f} ≤ g(x⁺, x) = {program.g(x.x, y.x):+.5f} ≤ f(x) = {y.f:+.5f}")
plot_majoriser_2d(program, history, at=2).figure.savefig("moving_majoriser.png")
