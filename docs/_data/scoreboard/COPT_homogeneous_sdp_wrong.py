"""COPT: wrong on homogeneous_sdp, n = 2

expected  between 0.906540714473 and 0.906540716286
because   k = 1: X is diagonal, so the largest Aᵢᵢ/Bᵢᵢ
said      unbounded
which is  the optimum is 0.90654072
versions  COPT 8.0.7, CVXPY 1.9.3, NumPy 2.4.6, Python 3.11.7, Linux x86_64
"""

import cvxpy as cp
import numpy as np

solver = 'COPT'
n = 2
A = np.array([[0.8704055798927762, 0.6143355033813483], [0.6143355033813483, 0.9065407153793642]])
B = np.eye(2)
k = cp.Parameter(value=1.0, nonneg=True)
X = cp.Variable((n, n), symmetric=True)
r, c = np.triu_indices(n, 1)
problem = cp.Problem(cp.Maximize(cp.sum(cp.multiply(A, X))), [X >> 0, cp.trace(X) == 1, 2 * cp.sum(cp.abs(X[r, c])) + cp.trace(X) <= k * cp.trace(X)])
problem.solve(solver=solver, warm_start=False)
value = float(np.ravel(problem.objective.value)[0]) if problem.objective.value is not None else np.nan
errors = [max(0.0, 0.9065407144728235 - value, value - 0.9065407162859049) / 1.906540716285905]
for constraint in problem.constraints:
    violation = float(np.max(constraint.violation())) if np.isfinite(value) else np.inf
    errors.append(violation / (1 + max(float(np.max(np.abs(part.value))) for part in constraint.args)))
error = max(errors)
print(problem.status, "value", value, "error", error)
wrong = not problem.status.startswith("optimal") or (problem.status == "optimal" and not error <= 0.00014000000000000001)
print("WRONG" if wrong else "right")
raise SystemExit(int(wrong))
