"""QOCO: wrong on linear, n = 2

expected  unbounded
because   B is 0 on the second variable, along which the objective improves without end
said      optimal
which is  the problem is unbounded: B is 0 on the second variable, along which the objective improves without end
versions  QOCO 0.3.2, CVXPY 1.9.3, NumPy 2.4.6, Python 3.11.7, Linux x86_64
"""

import cvxpy as cp
import numpy as np

solver = 'QOCO'
n = 2
c = cp.Parameter(2, value=np.array([1.0, 1.0]))
p = cp.Parameter(2, value=np.array([0.5, 0.5]), nonneg=True)
B = np.array([[1.0, 0.0], [0.0, 0.0]])
x = cp.Variable(n)
problem = cp.Problem(cp.Maximize(c @ x - 0.5 * p @ cp.abs(x)), [cp.quad_form(x, B, assume_PSD=True) <= 1])
problem.solve(solver=solver, warm_start=False)
print(problem.status, "value", problem.value)
wrong = not problem.status.startswith(('unbounded', "infeasible_or_unbounded"))
print("WRONG" if wrong else "right")
raise SystemExit(int(wrong))
