"""SDPA: wrong on dspca, n = 3, scaled by 1024

expected  between 3071.99999693 and 3072.00000307
because   ρ = 0: max(0, λmax(A, B))
said      infeasible
which is  the optimum is 3072
versions  SDPA 0.2.3, CVXPY 1.9.3, NumPy 2.4.6, Python 3.11.7, Linux x86_64
"""

import cvxpy as cp
import numpy as np

solver = 'SDPA'
n = 3
A = np.array([[1024.0, 0.0, 0.0], [0.0, 3072.0, 0.0], [0.0, 0.0, 1024.0]])
B = np.eye(3)
rho = cp.Parameter(value=0.0, nonneg=True)
X = cp.Variable((n, n), symmetric=True)
r, c = np.triu_indices(n, 1)
problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(A, X)) - rho * (2 * cp.sum(cp.abs(X[r, c])) + cp.trace(X))), [X >> 0, cp.trace(X) <= 1])
problem.solve(solver=solver, warm_start=False)
value = float(np.ravel(problem.objective.value)[0]) if problem.objective.value is not None else np.nan
errors = [max(0.0, 3071.999996928 - value, value - 3072.000003072) / 3073.000003072]
for constraint in problem.constraints:
    violation = float(np.max(constraint.violation())) if np.isfinite(value) else np.inf
    errors.append(violation / (1 + max(float(np.max(np.abs(part.value))) for part in constraint.args)))
error = max(errors)
print(problem.status, "value", value, "error", error)
wrong = not problem.status.startswith("optimal") or (problem.status == "optimal" and not error <= 0.00016)
print("WRONG" if wrong else "right")
raise SystemExit(int(wrong))
