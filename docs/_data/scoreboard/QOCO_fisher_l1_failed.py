"""QOCO: failed on fisher_l1, n = 2

expected  infeasible
because   aᵀx = 1 needs ‖x‖₁ ≥ 1/max |aᵢ| = 2
said      SolverError: Solver 'QOCO' failed. Try another solver, or solve with verbose=True for more information.
which is  failed
versions  QOCO 0.3.2, CVXPY 1.9.3, NumPy 2.4.6, Python 3.11.7, Linux x86_64
"""

import cvxpy as cp
import numpy as np

solver = 'QOCO'
n = 2
a = np.array([0.5, 0.4])
B = np.eye(2)
radius = cp.Parameter(value=1.5, nonneg=True)
x = cp.Variable(n)
problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [a @ x == 1, cp.norm1(x) <= radius])
problem.solve(solver=solver, warm_start=False)
print(problem.status, "value", problem.value)
wrong = not problem.status.startswith(('infeasible', "infeasible_or_unbounded"))
print("WRONG" if wrong else "right")
raise SystemExit(int(wrong))
