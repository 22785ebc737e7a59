"""SDPA: wrong on metric_lasso, n = 3, scaled by 1024

expected  between -1308.07475444 and -1308.07473962
because   a primal and a dual feasible point
said      infeasible
which is  the optimum is -1308.0747
versions  SDPA 0.2.3, CVXPY 1.9.3, NumPy 2.4.6, Python 3.11.7, Linux x86_64
"""

import cvxpy as cp
import numpy as np

solver = 'SDPA'
n = 3
c = cp.Parameter(3, value=np.array([-1146.0843255895834, 358.44285125284995, -644.4130888650238]))
p = cp.Parameter(3, value=np.array([916.8674604716668, 1678.3745226202102, 2796.962900514032]), nonneg=True)
B = np.array([[361.4956579228058, -79.80270936910118, 137.57558584802644], [-79.80270936910118, 1283.215982076043, 203.3030986157628], [137.57558584802644, 203.3030986157628, 1056.0670288045544]])
x = cp.Variable(n)
problem = cp.Problem(cp.Minimize(cp.quad_form(x, B, assume_PSD=True) - 2 * c @ x + p @ cp.abs(x)), [])
problem.solve(solver=solver, warm_start=False)
value = float(np.ravel(problem.objective.value)[0]) if problem.objective.value is not None else np.nan
errors = [max(0.0, -1308.0747544439428 - value, value - -1308.0747396190952) / 1309.0747544439428]
for constraint in problem.constraints:
    violation = float(np.max(constraint.violation())) if np.isfinite(value) else np.inf
    errors.append(violation / (1 + max(float(np.max(np.abs(part.value))) for part in constraint.args)))
error = max(errors)
print(problem.status, "value", value, "error", error)
wrong = not problem.status.startswith("optimal") or (problem.status == "optimal" and not error <= 0.00016)
print("WRONG" if wrong else "right")
raise SystemExit(int(wrong))
