"""Who takes the steps of an algorithm: a CVXPY problem of a given form, or the native step; plain or accelerated."""

from typing import Any, Literal, TypeAlias

from .._numerics.checks import as_flag, one_of
from .._numerics.extras import LARGE, expect_numba
from .accelerate import Accelerated
from .step import AnyStep

Engine: TypeAlias = Literal["cvxpy", "native"]
ConicForm: TypeAlias = Literal["LinearStep", "LassoStep", "MetricLassoStep", "FisherStep"]


def engine_step(form: ConicForm, n: int, *, engine: str, solver: Any, accelerate: bool | None) -> AnyStep:
    """A step of `steps.conic` by its name, or the native step, which has the same minimiser."""
    if one_of(engine, "engine", ("cvxpy", "native")) == "native":
        from .native import native_step

        expect_numba(n >= LARGE)
        return accelerated(native_step, True if accelerate is None else accelerate)
    from . import conic
    from .backend import Backend

    return accelerated(getattr(conic, form)(Backend.of(solver)), accelerate)


def accelerated(step: AnyStep, accelerate: bool | None) -> AnyStep:
    """The step, extrapolated if that is wanted."""
    return Accelerated(step) if accelerate is not None and as_flag(accelerate, "accelerate") else step
