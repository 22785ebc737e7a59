"""The MM steps without CVXPY: coordinate descent finds support and signs, `polish` makes them exact.

Each step is the argmin of the same surrogate as its CVXPY twin and returns the same point. Coordinate descent needs
many sweeps for its last digits and few for the right support; `polish` needs the right support and gives all digits.
"""

import math
from collections.abc import Callable
from operator import itemgetter
from time import perf_counter

import numpy as np

from .._numerics.checks import Matrix, Vector, as_point
from ..certificates import step_residuals
from ..errors import SolverFailed
from ..programs import Program, SparseGEV, expect_program
from .closed import soft_threshold, soft_threshold_step
from .polish import StepSurrogate, polish, surrogate_at
from .step import StepOutput, without_pull

GUESS_TOL = 1e-5
"""Accuracy of the guess: enough for support and signs nearly always."""
MAX_SWEEPS = 2000
"""The most sweeps: with an ill-conditioned B coordinate descent is slow, and `polish` starts from what it has."""
WARM_SUPPORT = 400
"""Supports up to this size are tried before any coordinate descent, for one Cholesky factor."""


def native_step(program: Program, y: Vector) -> StepOutput:
    """The exact minimiser: from the sign pattern of y where that is nearly right, else from coordinate descent.

    Late in a run support and signs no longer change, and one small Cholesky factor is the whole step. Either way the
    answer is the unique minimiser, so that the choice affects the time alone.

    Examples
    --------
    >>> from dcgev_cvx import SparseGEV, datasets
    >>> from dcgev_cvx.steps.native import native_step
    >>> program = SparseGEV(datasets.planted_cca().pencil, rho=0.1)
    >>> native_step(program, program.start()).residual < 1e-10
    True
    """
    if isinstance(program, SparseGEV) and program.pencil.B is None:
        return soft_threshold_step(program, y)
    begin = perf_counter()
    y = as_point(y, expect_program(program).pencil.n, "y")
    s = surrogate_at(program, y)
    if isinstance(program, SparseGEV) and not s.c.any():
        return without_pull(program, y)
    warm = y / s.scaling.u
    try:
        # a large support costs a large Cholesky factor, and an early one is wrong anyway
        x, mu = polish(s, warm, max_patterns=3 if np.count_nonzero(y) <= WARM_SUPPORT else 0)
    except SolverFailed:
        x, mu = polish(s, guess(s, warm))
    x = s.scaling.vector(x)
    residual, _ = step_residuals(program, y, x)
    value, seconds = program.g(x, y), perf_counter() - begin
    return StepOutput(x, value, mu * s.scaling.o, seconds, residual, correction=0.0, solver="native")


def guess(s: StepSurrogate, y: Vector) -> Vector:
    """Nearly the minimiser, by coordinate descent from y."""
    if s.a is not None:
        return fisher_guess(s, s.a, y)
    return metric_guess(s, y) if s.metric_shift or s.tau == 0.0 else identity_guess(s, y)


class Lasso:
    """min ridge·zᵀz + scale·zᵀB̂z − 2cᵀz + pᵀ|z| in scaled units, by coordinate descent on w = vz with B itself.

    w and Bw are kept from one setting of (c, ridge, scale) to the next, which then costs a few sweeps.
    """

    def __init__(self, s: StepSurrogate, z: Vector) -> None:
        pencil = s.B.pencil
        self.v: Vector = s.B.v
        self.B: Matrix = np.eye(pencil.n) if pencil.B is None else pencil.B
        self.p: Vector = s.p / self.v
        self.w: Vector = self.v * z
        self.q: Vector = pencil.B_dot(self.w).copy()

    @property
    def z(self) -> Vector:
        """The current minimiser."""
        return self.w / self.v

    def solve(self, c: Vector, ridge: float, scale: float, size: float) -> Vector:
        """The minimiser, its objective accurate to GUESS_TOL² of size²."""
        from .kernels import weighted_lasso

        ridge /= float(self.v[0]) ** 2  # with a ridge all variables have one unit
        weighted_lasso(self.B, ridge, scale, c / self.v, self.p, self.w, self.q, size * size, GUESS_TOL, MAX_SWEEPS)
        return self.z


def metric_guess(s: StepSurrogate, y: Vector) -> Vector:
    """x = z/max(τ, ‖z‖_B) with z = argmin zᵀBz − 2cᵀz + pᵀ|z|, for τxᵀBx or τ = 0 (beyond the paper).

    Why no constraint is left: with μ the multiplier of xᵀBx ≤ 1 the KKT system of the step reads
    2(τ + μ)Bx − 2c + p∘∂|x| ∋ 0, and z = (τ + μ)x solves 2Bz − 2c + p∘∂|z| ∋ 0, which does not know μ. On the sphere
    τ + μ = ‖z‖_B; inside it μ = 0. The LASSO is warm-started at the best nonnegative multiple of y.
    """
    gain = 2.0 * float(s.c @ y) - float(s.p @ np.abs(y))
    square = float(y @ s.B.dot(y))
    z = max(0.0, 0.5 * gain / square) * y if square > 0.0 else y
    z = Lasso(s, z).solve(s.c, 0.0, 1.0, s.size)
    radius = max(s.tau, s.B.norm(z))
    return z / radius if radius > 0.0 else z


def identity_guess(s: StepSurrogate, y: Vector) -> Vector:
    """x(μ) = argmin τxᵀx + μxᵀBx − 2cᵀx + pᵀ|x| at the root of ‖x(μ)‖_B = 1, or at μ = 0 (ALG, Eq:weighted).

    ‖x(μ)‖_B falls with μ: adding the optimality of x(μ) and of x(μ') for μ < μ' gives
    (μ' − μ)(‖x(μ)‖²_B − ‖x(μ')‖²_B) ≥ 0. It is below 1 at μ = (cᵀB⁻¹c)^½.
    """
    inside = soft_threshold(s.c, 0.5 * s.p) / s.tau
    if s.B.norm(inside) <= 1.0:
        return inside
    lasso = Lasso(s, y)
    falling_root(lambda mu: s.B.norm(lasso.solve(s.c, s.tau, mu, s.size)) - 1.0, s.size)
    return lasso.z


def fisher_guess(s: StepSurrogate, a: Vector, y: Vector) -> Vector:
    """x(t) = argmin xᵀBx − 2t aᵀx + pᵀ|x| at the root of aᵀx(t) = 1 (Eq:fdaiterative).

    aᵀx(t) rises with t from 0. Times xᵀ the KKT system reads 2xᵀBx + pᵀ|x| = 2t: t is at most the surrogate's value
    at any feasible point, such as the multiple of y or of the best single variable, where y may be huge.
    """
    points = (s.project(v) for v in (y, s.first_signs(np.zeros_like(y))))
    square, x = min(((float(x @ s.B.dot(x)) + float(s.p @ np.abs(x)), x) for x in points if x.any()), key=itemgetter(0))
    lasso, size = Lasso(s, x), math.sqrt(max(0.0, square))
    falling_root(lambda t: 1.0 - float(a @ lasso.solve(t * a, 0.0, 1.0, size)), 2.0 * size * size)
    return lasso.z


def falling_root(function: Callable[[float], float], high: float) -> None:
    """Bring a continuous falling function, positive at 0, to within 1e-3 of zero; `polish` corrects the rest."""
    from scipy.optimize import brentq

    def rounded(t: float) -> float:
        value = function(t)
        return 0.0 if abs(value) <= 1e-3 else value

    if rounded(high) < 0.0 < rounded(0.0):
        brentq(rounded, 0.0, high, rtol=np.float64(1e-6), maxiter=60, disp=False)
