"""What a step is: x = argmin g(·, y) over Ω (Eq:min-step)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .._numerics.checks import Vector
from ..errors import SolverFailed
from ..programs import Program, SparseGEV

LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True)
class StepOutput:
    """The minimiser of the surrogate and how it was found.

    value is g(x, y) computed from the data, mu the constraint's multiplier, residual the
    step's KKT residual, correction the distance ‖x − x_solver‖_B that polishing moved the
    solver's own answer (0 for closed forms), solver the name of who solved it. origin is the
    point the surrogate touches when an accelerated step did not start from y itself, work the
    step's share of one product with the whole of A.

    In the step's KKT system mu appears as 2μBx, for xᵀBx ≤ 1, or as 2μa, for aᵀx = 1; it is ≥ 0 in the first case
    and of either sign in the second.
    """

    x: Vector
    value: float
    mu: float
    seconds: float
    residual: float
    correction: float
    solver: str
    origin: Vector | None = None
    work: float = 1.0


class Step(Protocol):
    """One MM step of a program from y.

    A step is a pure function of (program, y): it remembers nothing (the wrappers of `speedups` excepted, which serve
    one run), raises SolverFailed when it cannot prove its answer and InvalidParameter for a program that it does
    not minimise, and never returns a point outside Ω beyond rounding.
    """

    def __call__(self, program: Program, y: Vector) -> StepOutput:
        """argmin g(·, y) over Ω."""
        ...


def expect_output(out: Any) -> StepOutput:
    """What a step returned, if it is what a step returns."""
    if not isinstance(out, StepOutput):
        raise SolverFailed(f"the step returned {type(out).__name__}, no StepOutput.")
    return out


def own_copy(x: Any, y: Vector) -> Vector:
    """x in float64, if it is a finite vector like y; a copy, for a step may use its arrays again."""
    like = isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.shape == y.shape
    if not like or not (np.abs(x) <= LARGEST).all():
        raise SolverFailed("the step returned NaN, infinite or misshapen values.")
    return np.array(x, dtype=np.float64, subok=False)


def without_pull(program: SparseGEV, y: Vector) -> StepOutput:
    """The step where c = (A + τI)y = 0: nothing pulls x from the origin.

    x = 0 is the minimiser, unless the surrogate is constant (ρ_ε = τ = 0): then y minimises
    it already, "in which case the algorithm stops" (Eq:min-step).

    g(x, y) is then τ‖x‖² + ρ_ε Σ wᵢ|xᵢ| plus a constant, which 0 minimises. The run that meets this is "collapsed".
    """
    constant = program.tau == 0.0 and program.rho_eps == 0.0
    x = y.copy() if constant else np.zeros_like(y)
    return StepOutput(x, program.g(x, y), mu=0.0, seconds=0.0, residual=0.0, correction=0.0, solver="none")
