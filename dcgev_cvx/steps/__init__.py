"""One MM step, one call shape: step(program, y) → StepOutput (Section 3.3).

All steps of a program minimise the same surrogate and return the same point up to their residual:
closed forms (`closed`), CVXPY problems in each of the paper's forms (`convex`), compiled coordinate descent
(`native`). `polish` makes any of them exact on its face, `speedups` wraps any of them.
"""

from __future__ import annotations

from .step import Step, StepOutput

__all__ = ["Step", "StepOutput"]
