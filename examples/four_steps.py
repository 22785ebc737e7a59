"""Learn that four programs are one and the same MM step
=====================================================

QCQP, linear form, closed form and native kernel end at the same point.
"""

from dcgev_cvx import SparseGEV, datasets
from dcgev_cvx.plotting import plot_loadings
from dcgev_cvx.steps.closed import soft_threshold_step
from dcgev_cvx.steps.conic import LinearStep, QCQPStep
from dcgev_cvx.steps.native import native_step

pencil = datasets.pitprops()
program = SparseGEV(pencil, rho=4.84, eps=0.01)
steps = {"QCQP": QCQPStep(), "linear": LinearStep(), "closed": soft_threshold_step, "native": native_step}
answers = {}
for name, step in steps.items():
    out = step(program, pencil.leading_vector)
    answers[name] = out.x
    print(f"{name:8} g(x, y) = {out.value:.12f}  KKT residual {out.residual:.1e}  by {out.solver}")
apart = max(pencil.B_norm(a - b) for a in answers.values() for b in answers.values())
print("largest distance between two of them:", apart)
plot_loadings(pencil, answers).figure.savefig("four_steps.png")
