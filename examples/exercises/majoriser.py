"""Exercise: write a majoriser of the d.c. objective. Fill in and run; `teach.hint("majoriser")` helps."""

import numpy as np

from dcgev_cvx import teach


def g(A, x, y, rho_eps, eps, tau):
    """Touches f(x) = rho_eps Σ log(eps + |xᵢ|) − xᵀAx at y, lies above it, convex in x."""
    return rho_eps * np.sum(np.log(eps + np.abs(x))) - x @ A @ x  # this is f itself: what does it lack?


print(teach.check("majoriser", g))
