"""The MM steps that need no solver: soft thresholding for PCA, the power method for ρ̃ = 0 (Section 4)."""

import math
from time import perf_counter

import numpy as np

from .._numerics.checks import Vector, as_point, frozen
from .._numerics.spectra import power_of_two
from ..certificates import kkt_residuals
from ..errors import InvalidParameter
from ..programs import Program, SparseGEV
from .step import StepOutput, without_pull


def soft_threshold(c: Vector, t: Vector | float) -> Vector:
    """S(cᵢ, tᵢ) = [|cᵢ| − tᵢ]₊ sign cᵢ, without -0.0."""
    return np.copysign(np.maximum(0.0, np.abs(c) - t), c) + 0.0


def soft_threshold_step(program: Program, y: Vector) -> StepOutput:
    """xᵢ ∝ [|(Ay)ᵢ| − ½ρ_ε wᵢ]₊ sign (Ay)ᵢ, for B = I (ALG-S).

    For τ > 0 the divisor is max(τ, ‖·‖) instead of ‖·‖ (beyond the paper): with z = S(c, ½p), c = (A + τI)y, the KKT
    conditions say (τ + μ)x = z, where μ = 0 inside the ball and τ + μ = ‖z‖ on its boundary. When every |cᵢ| ≤ ½pᵢ
    the printed formula is 0/0, and the minimiser is x = 0.

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


def power_step(program: Program, y: Vector) -> StepOutput:
    """x = B⁻¹Ay / (yᵀAB⁻¹Ay)^½, the step for ρ̃ = 0 and τ = 0 (Eq:power-generalize, Eq:power).

    Without a penalty the step is max cᵀx s.t. xᵀBx ≤ 1 with c = Ay, and B⁻¹c/‖B⁻¹c‖_B attains it by Cauchy and
    Schwarz.

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
    x, terms = frozen(x), (-2.0 * c,) if program.tau == 0.0 else (2.0 * program.H_dot(x), -2.0 * c)
    residual, _ = kkt_residuals(program, x, terms, p)
    value, seconds = program.g(x, y), perf_counter() - begin
    return StepOutput(x, value, mu, seconds, residual, correction=0.0, solver="closed form")
