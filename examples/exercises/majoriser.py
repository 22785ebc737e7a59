"""Exercise: write a majoriser. Fill in and run; `teach.hint("majoriser")` helps."""

import numpy as np

from dcgev_cvx import teach


def g(A, x, y, rho, eps, tau):
    """Touches f(x) = rho Σ (1 − exp(−|xᵢ|/eps)) − xᵀAx at y, lies above it, convex in x."""
    return rho * np.sum(1 - np.exp(-np.abs(x) / eps)) - x @ A @ x  # this is f itself: what does it lack?


print(teach.check("majoriser", g))
