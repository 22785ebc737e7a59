"""COPT: failed on entrywise_sdp, n = 1

expected  between 0.406340586062 and 0.406340586874
because   ‖v‖₁ ≤ radius at the leading eigenvector v, and no X exceeds max(0, λmax(A, B))
said      CoptError: 3, (INVALID) Fail to load cone problem by matrix
which is  failed
versions  COPT 8.0.7, CVXPY 1.9.3, NumPy 2.4.6, Python 3.11.7, Linux x86_64
"""

import cvxpy as cp
import numpy as np

solver = 'COPT'
n = 1
A = np.array([[0.406340586468091]])
B = np.eye(1)
square = cp.Parameter(value=1.001**2, nonneg=True)
X = cp.Variable((n, n), symmetric=True)
r, c = np.triu_indices(n, 1)
problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(A, X))), [X >> 0, cp.trace(X) <= 1, 2 * cp.sum(cp.abs(X[r, c])) + cp.trace(X) <= square])
problem.solve(solver=solver, warm_start=False)
value = float(np.ravel(problem.objective.value)[0]) if problem.objective.value is not None else np.nan
errors = [max(0.0, 0.40634058606175044 - value, value - 0.4063405868744316) / 1.4063405868744316]
for constraint in problem.constraints:
    violation = float(np.max(constraint.violation())) if np.isfinite(value) else np.inf
    errors.append(violation / (1 + max(float(np.max(np.abs(part.value))) for part in constraint.args)))
error = max(errors)
print(problem.status, "value", value, "error", error)
wrong = not problem.status.startswith("optimal") or (problem.status == "optimal" and not error <= 0.00012000000000000002)
print("WRONG" if wrong else "right")
raise SystemExit(int(wrong))
