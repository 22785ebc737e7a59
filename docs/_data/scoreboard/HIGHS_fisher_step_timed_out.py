"""HIGHS: timed out on fisher_step, n = 3, scaled by 0.000976562

expected  between 0.000159766713173 and 0.000159766713492
because   minimiser by feature-sign search and by the dual, KKT residual below 1e-12 in extended precision
said      no answer within 10 s; the solver was not called again.
which is  timed out
versions  HIGHS 1.15.1, CVXPY 1.9.3, NumPy 2.4.6, Python 3.11.7, Linux x86_64
"""

import cvxpy as cp
import numpy as np

solver = 'HIGHS'
n = 3
p = cp.Parameter(3, value=np.array([1.8316677154533515e-05, 3.509360042393972e-05, 1.543009834503259e-05]), nonneg=True)
a = np.array([1.7450623518764505, 0.42837363493352393, 1.828801990901952])
B = np.array([[0.0009765625, 0.0, 0.0], [0.0, 0.0009765625, 0.0], [0.0, 0.0, 0.0009765625]])
x = cp.Variable(n)
problem = cp.Problem(cp.Minimize(cp.quad_form(x, B, assume_PSD=True) + p @ cp.abs(x)), [a @ x == 1])
problem.solve(solver=solver, warm_start=False)
value = float(np.ravel(problem.objective.value)[0]) if problem.objective.value is not None else np.nan
errors = [max(0.0, 0.00015976671317254995 - value, value - 0.00015976671349208336) / 1.000159766713492]
for constraint in problem.constraints:
    violation = float(np.max(constraint.violation())) if np.isfinite(value) else np.inf
    errors.append(violation / (1 + max(float(np.max(np.abs(part.value))) for part in constraint.args)))
error = max(errors)
print(problem.status, "value", value, "error", error)
wrong = not problem.status.startswith("optimal") or (problem.status == "optimal" and not error <= 0.00016)
print("WRONG" if wrong else "right")
raise SystemExit(int(wrong))
