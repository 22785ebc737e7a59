"""The problem of one MM step in scaled data, and its exact minimiser.

A `StepSurrogate` is a convex quadratic plus pᵀ|x| over a ball, the step of SparseGEV, or on a plane, that of SparseFDA.
The conic steps hand its data to a model of `models`, the native steps to coordinate descent. Either answer shows
nearly which coordinates are nonzero, and with which sign; given support and signs the step is a linear system with at
most one scalar unknown, and `polish` exchanges the few coordinates that are wrong one by one (beyond the paper). Each
exchange lowers a strictly convex function over finitely many sign patterns, so that the method ends.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._numerics.checks import UNIT_ROUNDOFF, Index, Matrix, Vector
from .._numerics.spectra import power_of_two
from .._numerics.threads import same_bits
from ..errors import SolverFailed
from ..programs import Program, SparseFDA
from .scaling import Metric, Scaling

CAP = 1.01
"""Slopes are cut at this multiple of the largest that a nonzero coordinate can have (beyond the paper)."""
KKT_TOL = 1e-13
"""A row off the support may exceed its slope by this share of the largest term: such a tie stays out."""
NEWTON_STEPS = 60
"""A guard for Newton's method on a nearly linear function, which takes a few steps."""


@dataclass(frozen=True)
class StepSurrogate:
    """min τxᵀMx − 2cᵀx + pᵀ|x| s.t. xᵀBx ≤ 1 (ALG) or, where a is given, s.t. aᵀx = 1 (Eq:fdaiterative).

    M = I or, for the metric shift, M = B. Sparse FDA has M = B, τ = 1 and c = 0.
    """

    scaling: Scaling
    B: Metric
    c: Vector
    p: Vector
    tau: float
    metric_shift: bool
    a: Vector | None = None

    def rescaled(self) -> StepSurrogate:
        """The same problem with the objective in units that bring `size` to [½, 1)."""
        unit = max(2.0**-1000, power_of_two(self.size))
        scaling = Scaling(self.scaling.u, self.scaling.o * unit)
        return replace(self, scaling=scaling, c=self.c / unit, p=self.p / unit, tau=self.tau / unit)

    @cached_property
    def size(self) -> float:
        """(cᵀB⁻¹c)^½, the largest that μ, or ‖z‖_B of the LASSO in the metric of B, can be (beyond the paper).

        zᵀBz = cᵀz − ½pᵀ|z| ≤ cᵀz ≤ (cᵀB⁻¹c)^½‖z‖_B, and τ + μ = ‖z‖_B on the sphere.
        """
        return self.B.dual_norm(self.c)

    def length(self, x: Vector) -> float:
        """The length that vectors of Ω have: 1 in the ball, on the plane that of x."""
        return 1.0 if self.a is None else self.B.norm(x)

    def value(self, x: Vector) -> float:
        """The objective at x."""
        return float(x @ (0.5 * self.gradient(x) - self.c) + self.p @ np.abs(x))

    def gradient(self, x: Vector) -> Vector:
        """∇(τxᵀMx − 2cᵀx)."""
        return 2.0 * (self.tau * (self.B.dot(x) if self.metric_shift else x) - self.c)

    def normal(self, x: Vector) -> Vector:
        """Bx or a, by 2μ times which the constraint enters the KKT system."""
        return self.B.dot(x) if self.a is None else self.a

    def multiplier(self, x: Vector, gradient: Vector) -> float:
        """μ from the KKT system times xᵀ; in the ball a negative number means that x lies inside, where μ = 0."""
        along = float(x @ self.normal(x))
        mu = -0.5 * float(gradient @ x + self.p @ np.abs(x)) / along if along != 0.0 else 0.0
        return max(0.0, mu) if self.a is None else mu

    def project(self, x: Vector) -> Vector:
        """x scaled into Ω: by ‖x‖_B where that exceeds 1, or by aᵀx; 0 where aᵀx is rounding alone."""
        along = float(x @ self.normal(x))
        if self.a is None:
            return x / math.sqrt(along) if along > 1.0 else x
        return x / along if abs(along) > 1e-8 * float(np.abs(self.a) @ np.abs(x)) else np.zeros_like(x)

    def first_signs(self, signs: Vector) -> Vector:
        """The signs to begin with; aᵀx = 1 needs a nonzero, by default the best single variable."""
        if self.a is None or np.any(signs * self.a):
            return signs
        i = int(np.argmax(np.abs(self.a) / self.B.roots))
        return np.where(np.arange(len(signs)) == i, np.sign(self.a), signs)

    def on_support(self, support: Index, signs: Vector) -> tuple[Vector, float]:
        """(x, μ): the minimiser among vectors with this support, |xᵢ| being read as sᵢxᵢ."""
        h = self.c[support] - 0.5 * self.p[support] * signs
        if self.a is None and self.B.pencil.B is None:
            return in_ball(None, h, self.tau)
        with exact_solves(len(support)):
            if self.a is not None:
                return on_plane(self.B.sub(support), h, self.a[support])
            solve = in_ball if self.metric_shift or self.tau == 0.0 else in_shifted_ball
            return solve(self.B.sub(support), h, self.tau)


def surrogate_at(program: Program, y: Vector, scaling: Scaling | None = None) -> StepSurrogate:
    """The problem of the MM step from y, in units of size one unless others are given."""
    scaling = Scaling.of_program(program) if scaling is None else scaling
    c = program.linear(y)
    p = scaling.cost(np.minimum(program.slopes(y), CAP * program.largest_slopes(c, y)))
    if isinstance(program, SparseFDA):
        B = Metric(program.pencil, scaling.u / math.sqrt(scaling.o))
        return StepSurrogate(scaling, B, c, p, 1.0, True, program.a * scaling.u)
    metric_shift = program.shift == "metric"
    square = 1.0 if metric_shift else float(scaling.u[0]) ** 2  # with M = I all variables have one unit
    B, tau = Metric(program.pencil, scaling.u), program.tau * square / scaling.o
    return StepSurrogate(scaling, B, scaling.cost(c), p, tau, metric_shift)


def polish(surrogate: StepSurrogate, guess: Vector, max_patterns: int | None = None) -> tuple[Vector, float]:
    """(x, μ): the exact minimiser, from a guess of which only support and signs matter; all in scaled units.

    Minimise on the current sign pattern. If a sign comes out wrong, go to the best sign change on the way; if a row
    off the support violates its bound, add the worst one; else stop. After 2n + 20 patterns, or the number given,
    SolverFailed is raised.
    """
    limit = 2 * len(guess) + 20 if max_patterns is None else max_patterns
    x, signs = first_pattern(surrogate, guess)
    for _ in range(limit):
        x, signs, mu, done = improved(surrogate, x, signs)
        if done:
            return x, mu
    raise SolverFailed(
        f"No sign pattern satisfied the optimality conditions after {limit} attempts: "
        "the solver's answer is too far from the minimiser. Try another solver."
    )


def first_pattern(surrogate: StepSurrogate, x: Vector) -> tuple[Vector, Vector]:
    """A feasible point and the signs of its support: xᵢ belongs to it when |xᵢ| outweighs its dual slack.

    At a minimiser one of |xᵢ| and pᵢ − |rᵢ| is zero; near one, the smaller of the two is the one that should be.
    """
    x = surrogate.project(x)
    gradient, roots = surrogate.gradient(x), surrogate.B.roots
    r = gradient + 2.0 * surrogate.multiplier(x, gradient) * surrogate.normal(x)
    scale = max(float((np.abs(gradient) / roots).max()), 1e-300)
    with np.errstate(all="ignore"):  # a slack that is infinite, or no number, is as good as a large one
        slack = (surrogate.p - np.abs(r)) / roots / scale
        keep = np.abs(x) * roots > surrogate.length(x) * np.maximum(slack, 1e-12)
    signs = surrogate.first_signs(np.where(keep, np.sign(x), 0.0))
    return surrogate.project(np.where(signs != 0.0, x, 0.0)), signs


def improved(surrogate: StepSurrogate, x: Vector, signs: Vector) -> tuple[Vector, Vector, float, bool]:
    """(x, signs, μ, done): the minimiser on a sign pattern, or a lower point on the way, and the next pattern.

    done means that the KKT conditions hold to KKT_TOL of the largest term, or to what rounding allows.
    """
    support = np.flatnonzero(signs)
    new, mu = surrogate.on_support(support, signs[support])
    if (new * signs[support] <= 0.0).any():
        x = lowest_sign_change(surrogate, x, support, new)
        return x, np.sign(x), mu, False
    x = np.zeros_like(x)
    x[support] = new
    r, roots = surrogate.gradient(x) + 2.0 * mu * surrogate.normal(x), surrogate.B.roots
    size = float((np.abs(surrogate.c) / roots).max()) + abs(mu)
    noise = 8.0 * UNIT_ROUNDOFF * (size + (abs(mu) + surrogate.tau) * float(roots @ np.abs(x)))
    excess = np.where(signs == 0.0, (np.abs(r) - surrogate.p) / roots, -np.inf)
    worst = int(excess.argmax())
    if excess[worst] <= max(KKT_TOL * size, noise):
        return x, signs, mu, True
    signs = signs.copy()
    signs[worst] = -np.sign(r[worst])
    return x, signs, mu, False


def lowest_sign_change(surrogate: StepSurrogate, x: Vector, support: Index, new: Vector) -> Vector:
    """The lowest point among the sign changes on the way from x to a pattern's minimiser, the end included.

    Along the segment the smooth part is one parabola and |x| is piecewise linear: all candidates at once.
    """
    old = x[support]
    d = np.zeros_like(x)
    d[support] = new - old
    with np.errstate(divide="ignore", invalid="ignore"):
        t = -old / d[support]
    t = np.append(np.unique(t[(t > 0.0) & (t < 1.0)]), 1.0)
    points = old + t[:, None] * d[support]
    # a coordinate that crosses zero at t is exactly zero there, where its two terms cancel
    points[np.abs(points) <= 8.0 * UNIT_ROUNDOFF * np.abs(old)] = 0.0
    points[-1] = new
    gradient = surrogate.gradient(x)
    curvature = 0.5 * float((surrogate.gradient(x + d) - gradient) @ d)
    values = t * float(gradient @ d) + t * t * curvature + np.abs(points) @ surrogate.p[support]
    best = np.zeros_like(x)
    best[support] = points[int(np.argmin(values))]
    return surrogate.project(best)


# Minimisers on a support with given signs, where pᵀ|x| is linear and part of h


@contextmanager
def exact_solves(k: int) -> Generator[None]:
    """Linear algebra with the same bits on any number of threads; a singular B is the step's failure."""
    try:
        with same_bits(k):
            yield
    except LinAlgError as cause:
        raise SolverFailed(f"B on a support of {k} variables is numerically singular: {cause}") from cause


def in_ball(B: Matrix | None, h: Vector, tau: float) -> tuple[Vector, float]:
    """min τxᵀBx − 2hᵀx s.t. xᵀBx ≤ 1: x = z/max(τ, ‖z‖_B) with Bz = h; for B = I this is (ALG-S)."""
    if B is None or not len(h):
        z, norm = h, math.sqrt(float(h @ h))
    else:
        factor = cho_factor(B, lower=True, check_finite=False)
        z = cho_solve(factor, h, check_finite=False)
        z = z + cho_solve(factor, h - B @ z, check_finite=False)  # the digits that cond(B) took
        norm = math.sqrt(max(0.0, float(z @ (B @ z))))
    if norm == 0.0:
        return np.zeros_like(z), 0.0
    return (z / tau, 0.0) if norm <= tau else (z / norm, norm - tau)


def in_shifted_ball(B: Matrix, h: Vector, tau: float) -> tuple[Vector, float]:
    """min τxᵀx − 2hᵀx s.t. xᵀBx ≤ 1: (τI + μB)x = h with μ the root of xᵀBx = 1, or 0 (Section 3.3 a).

    φ(μ) = 1/‖x(μ)‖_B is concave and increasing, so that Newton's method rises to φ = 1.
    """
    x, mu = h / tau, 0.0
    if float(x @ (B @ x)) <= 1.0:
        return x, 0.0
    for _ in range(NEWTON_STEPS):
        M = mu * B.T  # B itself, stored by columns as LAPACK wants it, so that no copy is made
        M[np.diag_indices_from(M)] += tau
        factor = cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
        x = cho_solve(factor, h, check_finite=False)
        x = x + cho_solve(factor, h - tau * x - mu * (B @ x), check_finite=False)  # the digits that cond(B) took
        Bx = B @ x
        square = float(x @ Bx)
        z = cho_solve(factor, Bx, check_finite=False)
        step = square * (math.sqrt(square) - 1.0) / float(Bx @ z)
        mu, x = mu + step, x - step * z  # to first order x moves with μ
        if abs(step) <= 1e-9 * mu:
            break
    return x, mu


def on_plane(B: Matrix, h: Vector, a: Vector) -> tuple[Vector, float]:
    """min xᵀBx − 2hᵀx s.t. aᵀx = 1: Bx = h − μa (Eq:fdaiterative)."""
    factor = cho_factor(B, lower=True, check_finite=False)
    z_a = cho_solve(factor, a, check_finite=False)
    square = float(a @ z_a)
    if len(a) == 1 or square == 0.0:
        return vertex(B, h, a)
    x, mu = np.zeros_like(h), 0.0
    for _ in range(2):  # the second round refines both unknowns
        z = cho_solve(factor, h - mu * a - B @ x, check_finite=False)
        move = (float(a @ (x + z)) - 1.0) / square
        x, mu = x + z - move * z_a, mu + move
    ax = float(a @ x)
    return (x / ax, mu) if 0.5 < ax < 2.0 else vertex(B, h, a)


def vertex(B: Matrix, h: Vector, a: Vector) -> tuple[Vector, float]:
    """The eᵢ/aᵢ of least penalty −2hᵢ/aᵢ, with its μ.

    Where the penalty outweighs xᵀBx so much that aᵀx = 1 is lost to rounding, the step is a linear program.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        price = np.where(h * a < 0.0, -h / a, np.inf)
    i = int(np.argmin(price))
    x = np.zeros_like(a)
    x[i] = 1.0 / a[i]
    return x, float((h[i] - B[i, i] * x[i]) * x[i])
