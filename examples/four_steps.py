"""Learn that QCQP, linear form, closed form and native kernel are one and the same MM step."""

from dcgev_cvx import SparseGEV, datasets
from dcgev_cvx.steps.closed import soft_threshold_step
from dcgev_cvx.steps.convex import LinearStep, QCQPStep
from dcgev_cvx.steps.native import native_step

pencil = datasets.pitprops()
program = SparseGEV(pencil, rho=4.84, eps=0.01)
steps = {"QCQP": QCQPStep(), "linear": LinearStep(), "closed": soft_threshold_step, "native": native_step(program)}
answers = []
for name, step in steps.items():
    out = step(program, pencil.leading_vector)
    answers.append(out.x)
    print(f"{name:8} g(x, y) = {out.value:.12f}  KKT residual {out.residual:.1e}  by {out.solver}")
print("largest distance between two of them:", max(pencil.B_norm(a - b) for a in answers for b in answers))
