"""One MM step, one call shape: step(program, y) → StepOutput (Section 3.3).

All steps of a program minimise the same surrogate and return the same point up to their residual:

closed  soft thresholding and the power method, which need no solver
conic   CVXPY problems in each of the paper's forms: `models` on the data of `scaling`, solved by `backend`
native  compiled coordinate descent

`polish` refines the answer of a solver to the exact minimiser. `accelerate` extrapolates between steps and `shrink`
drops the variables that stay zero; both work with any step.
"""

from .step import Step, StepOutput

__all__ = ["Step", "StepOutput"]
