"""SDPA: failed on metric_lasso, n = 3, scaled by 1024

expected  between -33.4015040466 and -33.4015036629
because   a primal and a dual feasible point
said      SolverError: Solver 'SDPA' failed. Try another solver, or solve with verbose=True for more information.
which is  failed
versions  SDPA 0.2.3, CVXPY 1.9.3, NumPy 2.4.6, Python 3.11.7, Linux x86_64
"""

import cvxpy as cp
import numpy as np

solver = 'SDPA'
n = 3
c = cp.Parameter(3, value=np.array([-207.36224166086686, 66.89236467280485, 370.7430353271494]))
p = cp.Parameter(3, value=np.array([250.76032104430354, 319.16763426085623, 296.59442826171954]), nonneg=True)
B = np.array([[8886.256689895179, 0.0, 0.0], [0.0, 1109.8630987721783, 0.0], [0.0, 0.0, 1515.7573950763633]])
x = cp.Variable(n)
problem = cp.Problem(cp.Minimize(cp.quad_form(x, B, assume_PSD=True) - 2 * c @ x + p @ cp.abs(x)), [])
problem.solve(solver=solver, warm_start=False)
value = float(np.ravel(problem.objective.value)[0]) if problem.objective.value is not None else np.nan
errors = [max(0.0, -33.40150404664867 - value, value - -33.401503662878376) / 34.40150404664867]
for constraint in problem.constraints:
    violation = float(np.max(constraint.violation())) if np.isfinite(value) else np.inf
    errors.append(violation / (1 + max(float(np.max(np.abs(part.value))) for part in constraint.args)))
error = max(errors)
print(problem.status, "value", value, "error", error)
wrong = not problem.status.startswith("optimal") or (problem.status == "optimal" and not error <= 0.00016)
print("WRONG" if wrong else "right")
raise SystemExit(int(wrong))
