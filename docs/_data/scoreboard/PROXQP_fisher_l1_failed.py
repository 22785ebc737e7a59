"""PROXQP: failed on fisher_l1, n = 3, new parameters

expected  between 0.152498251112 and 0.152498251417
because   ‖x‖₁ = radius at the certified minimiser of xᵀBx + ν‖x‖₁, which minimises xᵀBx among these
said      TypeError: update(): incompatible function arguments. The following argument types are supported: 1. update(self, H: numpy.ndarray[dtype=float64, shape=(*, *), writable=False] | None = None, g: numpy.ndarray[dty
which is  failed
versions  PROXQP 0.8.0, CVXPY 1.9.3, NumPy 2.4.6, Python 3.11.7, Linux x86_64
"""

import cvxpy as cp
import numpy as np

solver = 'PROXQP'
n = 3
a = np.array([1.7450623518764505, 0.42837363493352393, 1.828801990901952])
B = np.eye(3)
radius = cp.Parameter(value=0.8322907058628829, nonneg=True)
x = cp.Variable(n)
problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [a @ x == 1, cp.norm1(x) <= radius])
problem.solve(solver=solver)
radius.value = 0.5944933613306307
problem.solve(solver=solver, warm_start=True)
value = float(np.ravel(problem.objective.value)[0]) if problem.objective.value is not None else np.nan
errors = [max(0.0, 0.15249825111157916 - value, value - 0.1524982514165757) / 1.1524982514165756]
for constraint in problem.constraints:
    violation = float(np.max(constraint.violation())) if np.isfinite(value) else np.inf
    errors.append(violation / (1 + max(float(np.max(np.abs(part.value))) for part in constraint.args)))
error = max(errors)
print(problem.status, "value", value, "error", error)
wrong = not problem.status.startswith("optimal") or (problem.status == "optimal" and not error <= 0.00016)
print("WRONG" if wrong else "right")
raise SystemExit(int(wrong))
