"""What a step is: x = argmin g(·, y) over Ω (Eq:min-step)."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol, TypeAlias

import numpy as np

from .._numerics.checks import Vector, frozen, method_value, shown
from ..errors import SolverFailed
from ..programs import Program, SparseGEV

LARGEST = np.finfo(np.float64).max


@dataclass(frozen=True)
class StepOutput:
    """The minimiser of the surrogate and how it was found.

    In the step's KKT system μ multiplies 2Bx for xᵀBx ≤ 1, where μ ≥ 0, or 2a for aᵀx = 1, where it has either sign.

    Parameters
    ----------
    x : ndarray
        The minimiser.
    value : float
        g(x, y), computed from the data.
    mu : float
        The multiplier of the constraint.
    seconds : float
        The time that the step took.
    residual : float
        The KKT residual of the step, computed from the data.
    correction : float
        The distance between the solver's own answer and x, relative to the size of the variable; 0 for closed forms.
    solver : str
        Who solved the step.
    origin : ndarray, optional
        Where the surrogate touches f, when an accelerated step did not start from y itself.

    Examples
    --------
    >>> from dcgev_cvx import SparseGEV, datasets
    >>> from dcgev_cvx.steps.closed import soft_threshold_step
    >>> program = SparseGEV(datasets.pitprops(), rho=4.84)
    >>> out = soft_threshold_step(program, program.start())
    >>> (out.x != 0).sum(), out.solver, out.residual < 1e-12
    (np.int64(8), 'closed form', True)
    """

    x: Vector
    value: float
    mu: float = 0.0
    seconds: float = 0.0
    residual: float = 0.0
    correction: float = 0.0
    solver: str = ""
    origin: Vector | None = None


class Step(Protocol):
    """One MM step of a program from y.

    A step is a pure function of (program, y) that returns a StepOutput, or the minimiser alone;
    `steps.accelerate.Accelerated`, which serves one run, is the exception. It raises SolverFailed when it cannot prove
    its answer, InvalidParameter for a program that it does not minimise, and never returns a point outside Ω beyond
    rounding.

    Examples
    --------
    Any such function is a step:

    >>> from dcgev_cvx import SparseGEV, Stop, datasets, minimize
    >>> from dcgev_cvx.steps.closed import soft_threshold_step
    >>> def reported(program, y):
    ...     out = soft_threshold_step(program, y)
    ...     print((out.x != 0).sum())
    ...     return out
    >>> done = minimize(SparseGEV(datasets.pitprops(), rho=9.0), reported, stop=Stop(max_iter=3))
    8
    7
    7
    """

    def __call__(self, program: Program, y: Vector) -> StepOutput:
        """argmin g(·, y) over Ω."""
        ...


AnyStep: TypeAlias = Callable[[Any, Vector], Any]
"""A step as the driver calls it: a function of (program, y)."""


def taken(step: AnyStep, program: Any, y: Vector) -> StepOutput:
    """The step's output; of a step that returns the minimiser alone, g there and the time that it took."""
    begin = perf_counter()
    out = step(program, y)
    if isinstance(out, StepOutput):
        if not isinstance(out.value, (int, float, np.number)) or out.value != out.value:
            raise SolverFailed(f"the step returned the value {shown(out.value)} instead of g(x, y), a number.")
        return out
    if isinstance(out, np.ndarray):
        x = own_copy(out, y)
        return StepOutput(x, method_value(program, "g", x, y), seconds=perf_counter() - begin, solver=name_of(step))
    raise SolverFailed(f"the step returned {type(out).__name__} instead of an array or a StepOutput.")


def name_of(step: AnyStep) -> str:
    """The name of a function, or of the class of an object."""
    return getattr(step, "__name__", type(step).__name__)


def own_copy(x: Any, y: Vector) -> Vector:
    """x as a read-only float64 vector, which must be finite and like y; a copy where the step may change its array."""
    like = isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.shape == y.shape
    if not like or not (np.abs(x) <= LARGEST).all():
        raise SolverFailed("the step returned NaN, infinite or misshapen values.")
    own = type(x) is np.ndarray and x.dtype == np.float64 and x.base is None and not x.flags.writeable
    return x if own else frozen(np.array(x, dtype=np.float64, subok=False))


def without_pull(program: SparseGEV, y: Vector) -> StepOutput:
    """The step where c = (A + τI)y = 0: x = 0 is the minimiser.

    If ρ_ε = τ = 0 too, the surrogate is constant and y minimises it already, "in which case the algorithm stops"
    (Eq:min-step).
    """
    constant = program.tau == 0.0 and program.rho_eps == 0.0
    x = y.copy() if constant else np.zeros_like(y)
    return StepOutput(x, program.g(x, y), mu=0.0, seconds=0.0, residual=0.0, correction=0.0, solver="none")
