"""The MM steps that need no solver: soft thresholding for PCA, the power method for ρ̃ = 0 (Section 4)."""

from __future__ import annotations

import math
from time import perf_counter

import numpy as np

from .._numerics.checks import Vector, as_point
from .._numerics.spectra import power_of_two
from ..certificates import kkt_residuals
from ..errors import InvalidParameter
from ..programs import Program, SparseGEV
from .step import StepOutput, without_pull


def soft_threshold(c: Vector, t: Vector) -> Vector:
    """S(cᵢ, tᵢ) = [|cᵢ| − tᵢ]₊ sign cᵢ."""
    return np.copysign(np.maximum(0.0, np.abs(c) - t), c) + 0.0  # and no -0.0


def soft_threshold_step(program: Program, y: Vector) -> StepOutput:
    """xᵢ ∝ [|(Ay)ᵢ| − ½ρ_ε wᵢ]₊ sign (Ay)ᵢ, for B = I (ALG-S).

    With τ > 0 its sibling divides by max(τ, ‖·‖) instead of ‖·‖ (beyond the paper). When every
    |cᵢ| ≤ ½pᵢ the printed formula is 0/0; the minimiser is x = 0.

    Derivation. With B = I the step is min τ‖x‖² − 2cᵀx + pᵀ|x| over ‖x‖ ≤ 1. Coordinatewise, (τ + μ)xᵢ = S(cᵢ, ½pᵢ)
    with S the soft threshold and μ the multiplier of the ball; z = S(c, ½p) does not depend on μ. Inside
    the ball μ = 0 and x = z/τ, on its boundary τ + μ = ‖z‖: together x = z/max(τ, ‖z‖).

    Parameters
    ----------
    program
        A SparseGEV with B = I; both shifts coincide there.
    y
        Where the surrogate touches.

    Raises
    ------
    InvalidParameter
        For another B, or for a program that is not a SparseGEV.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import Pencil, SparseGEV
    >>> from dcgev_cvx.steps.closed import soft_threshold_step
    >>> program = SparseGEV(Pencil(np.diag([2.0, 1.0])), rho=0.1, eps=1.0)
    >>> soft_threshold_step(program, np.array([0.6, 0.8])).x.round(4)
    array([0.8354, 0.5497])
    """
    if not isinstance(program, SparseGEV) or program.pencil.B is not None:
        raise InvalidParameter("soft_threshold_step needs a SparseGEV program with B = I: use QCQPStep otherwise.")
    begin = perf_counter()
    y = as_point(y, program.pencil.n, "y")
    c = program.linear(y)
    if not c.any():
        return without_pull(program, y)
    p = program.slopes(y)
    unit = power_of_two(float(np.abs(c).max()))  # squares of z/unit neither overflow nor vanish
    z = soft_threshold(c, 0.5 * p) / unit
    norm = math.sqrt(float(z @ z))
    radius = max(program.tau / unit, norm)
    x = z / radius if radius > 0.0 else z
    return output(program, y, x, c, p, mu=max(0.0, norm - program.tau / unit) * unit, begin=begin)


def soft_threshold(c: Vector, level: Vector | float) -> Vector:
    """[|cᵢ| − levelᵢ]₊ sign cᵢ, without -0.0 (ALG-S)."""
    return np.copysign(np.maximum(0.0, np.abs(c) - level), c) + 0.0


def power_step(program: Program, y: Vector) -> StepOutput:
    """x = B⁻¹Ay / (yᵀAB⁻¹Ay)^½, the step for ρ̃ = 0 and τ = 0 (Eq:power-generalize, Eq:power).

    Without a penalty the surrogate is linear, max cᵀx over xᵀBx ≤ 1 with c = Ay, attained at B⁻¹c/‖B⁻¹c‖_B by
    Cauchy and Schwarz in the metric; μ = (cᵀB⁻¹c)^½. One step of iterative refinement follows the solve with B.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import Pencil, SparseGEV
    >>> from dcgev_cvx.steps.closed import power_step
    >>> power_step(SparseGEV(Pencil(np.diag([3.0, 4.0])), rho=0.0), np.array([1.0, 1.0])).x
    array([0.6, 0.8])
    """
    if not isinstance(program, SparseGEV) or program.rho != 0.0 or program.tau != 0.0:
        raise InvalidParameter("power_step is the case ρ̃ = 0, τ = 0 of Algorithm 1 (A ⪰ 0): use QCQPStep otherwise.")
    begin = perf_counter()
    y = as_point(y, program.pencil.n, "y")
    c = program.linear(y)
    if not c.any():
        return without_pull(program, y)
    unit = power_of_two(float(np.max(np.abs(c))))
    d = c / unit
    z = program.pencil.B_solve(d)
    z = z + program.pencil.B_solve(d - program.pencil.B_dot(z))  # the last digits, when B is ill-conditioned
    norm = program.pencil.B_norm(z)
    return output(program, y, z / norm, c, program.slopes(y), mu=norm * unit, begin=begin)


def output(program: SparseGEV, y: Vector, x: Vector, c: Vector, p: Vector, *, mu: float, begin: float) -> StepOutput:
    """The step with its value and residual computed from the data."""
    residual, _ = kkt_residuals(program, x, (2.0 * program.H_dot(x), -2.0 * c), p)
    value, seconds = program.g(x, y), perf_counter() - begin
    return StepOutput(x, value, mu, seconds, residual, correction=0.0, solver="closed form")
