"""SDPA: wrong on qcqp, n = 3, scaled by 1024

expected  between -1793.45532744 and -1793.45530711
because   minimiser of the step by feature-sign search and by the dual, KKT residual below 1e-12 in extended precision
said      infeasible
which is  the optimum is -1793.4553
versions  SDPA 0.2.3, CVXPY 1.9.3, NumPy 2.4.6, Python 3.11.7, Linux x86_64
"""

import cvxpy as cp
import numpy as np

solver = 'SDPA'
n = 3
c = cp.Parameter(3, value=np.array([-1889.7007195604592, 761.4155983771458, -883.3583928832238]))
p = cp.Parameter(3, value=np.array([1511.7605756483674, 2767.3579267003456, 4611.722442819624]), nonneg=True)
B = np.array([[0.35302310344024, -0.07793233336826287, 0.13435115805471332], [-0.07793233336826287, 1.2531406074961358, 0.19853818224195585], [0.13435115805471332, 0.19853818224195585, 1.0313154578169477]])
tau = 716.8
x, t = cp.Variable(n), cp.Variable(n)
problem = cp.Problem(cp.Minimize(tau * cp.sum_squares(x) - 2 * c @ x + p @ t), [cp.quad_form(x, B, assume_PSD=True) <= 1, -t <= x, x <= t])
problem.solve(solver=solver, warm_start=False)
value = float(np.ravel(problem.objective.value)[0]) if problem.objective.value is not None else np.nan
errors = [max(0.0, -1793.4553274377931 - value, value - -1793.4553071119662) / 1794.4553274377931]
for constraint in problem.constraints:
    violation = float(np.max(constraint.violation())) if np.isfinite(value) else np.inf
    errors.append(violation / (1 + max(float(np.max(np.abs(part.value))) for part in constraint.args)))
error = max(errors)
print(problem.status, "value", value, "error", error)
wrong = not problem.status.startswith("optimal") or (problem.status == "optimal" and not error <= 0.00016)
print("WRONG" if wrong else "right")
raise SystemExit(int(wrong))
