"""Four programs compute the same MM step
======================================

**Question.** The paper writes one step of its algorithm as a QCQP, as a problem with a linear objective, and in
closed form. Are these really the same step?
"""

from dcgev_cvx import SparseGEV, datasets
from dcgev_cvx.plotting import plot_loadings
from dcgev_cvx.steps.closed import soft_threshold_step
from dcgev_cvx.steps.conic import LinearStep, QCQPStep
from dcgev_cvx.steps.native import native_step

# %%
# One program and one starting point. The first two steps are solved with CVXPY, the other two need no solver.
pencil = datasets.pitprops()
program = SparseGEV(pencil, rho=4.84, eps=0.01)
steps = {"QCQP": QCQPStep(), "linear": LinearStep(), "closed": soft_threshold_step, "native": native_step}
print(QCQPStep().problem(program))

# %%
# Each step returns its minimiser, and the residual of its KKT conditions, computed from the data.
answers = {}
for name, step in steps.items():
    out = step(program, pencil.leading_vector)
    answers[name] = out.x
    print(f"{name:8} g(x, y) = {out.value:.12f}  KKT residual {out.residual:.1e}  by {out.solver}")
apart = max(pencil.B_norm(a - b) for a in answers.values() for b in answers.values())
print("largest distance between two of them:", apart)

# %%
# The four vectors, side by side:
plot_loadings(pencil, answers).figure.savefig("four_steps.png")
assert apart < 1e-12

# %%
# **Conclusion.** The four steps agree to rounding error. A conic solver alone is accurate to about its tolerance;
# the package uses its answer to find the support, and then computes the exact minimiser on that support.
