"""Exercise: repair a problem that is not DCP. Fill in and run; `teach.hint("dcp")` helps."""

import cvxpy as cp
import numpy as np

from dcgev_cvx import teach


def problem(A, B, y, rho, eps, tau):
    """The MM step from y as a convex problem in x."""
    x = cp.Variable(len(A), name="x")
    rho_eps = rho / np.log1p(1 / eps)
    concave = -cp.quad_form(x, A + tau * np.eye(len(A)))  # not convex: replace it
    penalty = rho_eps * cp.sum(cp.log(eps + cp.abs(x)))  # nor is this
    return cp.Problem(cp.Minimize(tau * cp.sum_squares(x) + concave + penalty), [cp.quad_form(x, B) <= 1])


print(teach.check("dcp", problem))
