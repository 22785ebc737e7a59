"""Exact minimisation of the surrogate on a face, and the active-set walk that finds the face (beyond the paper).

A conic solver's answer tells nearly which coordinates are nonzero and with which sign. Once support
and signs are known the step is a linear system and one scalar equation; the walk repairs the few
coordinates that the solver got wrong. Every move lowers the surrogate, so it ends.

The same walk serves as the referee of solvers: what a solver answered is compared with the exact minimiser, and
the distance is reported as `correction`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._numerics.checks import UNIT_ROUNDOFF, Index, Matrix, Vector
from .._numerics.spectra import power_of_two
from .._numerics.threads import same_bits
from ..errors import SolverFailed
from ..programs import Program, SparseFDA, SparseGEV

KKT_TOL = 1e-13
"""A row off the support may exceed its slope by this share of the largest term: that is a tie, and stays out."""
NEWTON_STEPS = 60
"""A guard: on a nearly linear function Newton takes a few."""


@dataclass(frozen=True)
class Subproblem:
    """min xᵀHx − 2cᵀx + pᵀ|x| over Ω, in units that make every number of size one (ALG, Eq:fdaiterative).

    x = unit·x̂ and the objective is measured in `objective`; both are powers of two, so that
    changing units rounds nothing. Slopes beyond the largest that can matter are cut (beyond the paper).

    H is τI (identity shift), τB (metric shift) or B (FDA); c = (A + τI)y or (A + τB)y, and 0 for FDA; p are the
    slopes ρ_ε w at y. Cutting p at 1.01·θ leaves the minimiser as it is, because a coordinate with a slope above θ
    is zero in any case (see `Program.largest_slopes`); uncut, slopes of 1e15 break conic solvers.
    """

    program: Program
    c: Vector
    p: Vector
    unit: float
    objective: float

    @classmethod
    def at(cls, program: Program, y: Vector) -> Subproblem:
        """The subproblem of the MM step from y.

        y itself is not kept: the subproblem knows it only through c and p.
        """
        unit, objective = program.units
        factor = unit / objective
        c, p = program.linear(y), program.slopes(y)
        cap = 1.01 * program.largest_slopes(c, y)
        return cls(program, c * factor, np.minimum(p, cap) * factor, unit, objective)

    @cached_property
    def tau(self) -> float:
        """The coefficient of xᵀx (identity shift) or xᵀBx (metric shift, and 1 for FDA) in these units."""
        if isinstance(self.program, SparseGEV):
            square = self.unit * self.unit if self.program.shift == "identity" else 1.0
            return self.program.tau * square / self.objective
        return 1.0

    @cached_property
    def metric(self) -> float:
        """The factor on B in these units, a power of four: xᵀBx counts toward Ω, or toward FDA's objective."""
        square = self.unit * self.unit
        return square / self.objective if isinstance(self.program, SparseFDA) else square

    @cached_property
    def root(self) -> Vector:
        """√Bᵢᵢ in these units."""
        return self.program.pencil.B_roots * math.sqrt(self.metric)

    def B_sub(self, support: Index) -> Matrix:
        """B on the support, in these units."""
        return self.program.pencil.B_sub(support) * self.metric

    def B_dot(self, x: Vector) -> Vector:
        """Bx in these units."""
        return self.program.pencil.B_dot(x) * self.metric

    def norm(self, x: Vector) -> float:
        """‖x‖_B in these units."""
        return math.sqrt(max(0.0, float(x @ self.B_dot(x))))

    @cached_property
    def largest_norm(self) -> float:
        """(cᵀB⁻¹c)^½, the largest that ‖z‖_B and μ can be (beyond the paper).

        zᵀBz = cᵀz − ½pᵀ|z| ≤ cᵀz ≤ (cᵀB⁻¹c)^½‖z‖_B for the LASSO's minimiser z, and τ + μ = ‖z‖_B on the sphere.
        """
        unit = power_of_two(float(np.abs(self.c).max()))  # the square of a tiny c is 0, that of c/unit is not
        d = self.c / unit
        return unit * math.sqrt(max(0.0, float(d @ self.program.pencil.B_solve(d)) / self.metric))

    def value(self, x: Vector) -> float:
        """xᵀHx − 2cᵀx + pᵀ|x|."""
        return float(x @ (0.5 * self.gradient(x) - self.c) + self.p @ np.abs(x))

    def gradient(self, x: Vector) -> Vector:
        """∇(xᵀHx − 2cᵀx)."""
        plain = isinstance(self.program, SparseGEV) and self.program.shift == "identity"
        return 2.0 * (self.tau * (x if plain else self.B_dot(x)) - self.c)


@dataclass(frozen=True)
class Polished:
    """A minimiser in the user's units, its multiplier and how many faces were visited."""

    x: Vector
    mu: float
    faces: int


def polish(sub: Subproblem, guess: Vector, max_faces: int | None = None) -> Polished:
    """The exact minimiser of the subproblem, walked to from a guess in the user's units.

    A face is a support with signs; on it pᵀ|x| is linear and the minimiser is one linear system, or
    one with a scalar root. The walk minimises on a face; if a sign comes out wrong it stops at the
    best sign change on the way, if a row off the support violates its bound it lets the worst one in,
    else it is done. Each move lowers a strictly convex function over finitely many faces.

    Parameters
    ----------
    sub
        The step's data, without units.
    guess
        Where a solver, the previous iterate or coordinate descent thinks the minimiser is; only its
        support and signs matter.
    max_faces
        The most faces to visit, 2n + 20 by default; SolverFailed when they do not suffice.
    """
    limit = 2 * len(guess) + 20 if max_faces is None else max_faces
    x, signs = first_face(sub, guess / sub.unit)
    for faces in range(1, limit + 1):
        x, signs, mu, done = visit(sub, x, signs)
        if done:
            return Polished(x * sub.unit, mu * sub.objective, faces)
    raise SolverFailed(
        f"No face satisfied the optimality conditions after {limit} attempts: "
        "the solver's answer is too far from the minimiser. Try another solver."
    )


def first_face(sub: Subproblem, x: Vector) -> tuple[Vector, Vector]:
    """A feasible point and the signs of its support: xᵢ is in when |xᵢ| outweighs its dual slack.

    At a minimiser one of |xᵢ| and pᵢ − |rᵢ| is zero; near one, the smaller of the two is the one that
    is meant to be. The comparison is free of units and of tolerances, whoever made the guess.

    Raises nothing: a guess of zeros gives an empty face (GEV), or for FDA the best single variable, since the plane
    aᵀx = 1 needs one.
    """
    x = feasible(sub, x)
    gradient, normal = sub.gradient(x), normal_of(sub, x)
    mu = multiplier_of(sub, x, gradient, normal)
    r = gradient + 2.0 * mu * normal
    scale = max(float((np.abs(gradient) / sub.root).max()), 1e-300)
    with np.errstate(over="ignore"):  # an infinite slack is as good as a large one: the coordinate is out
        slack = (sub.p - np.abs(r)) / (sub.root * scale)
    keep = np.abs(x) * sub.root > np.maximum(slack, 1e-12)
    signs = np.where(keep, np.sign(x), 0.0)
    if isinstance(sub.program, SparseFDA) and not np.any(signs * sub.program.a):
        i = int(np.argmax(np.abs(sub.program.a) / sub.root))
        signs[i] = np.sign(sub.program.a[i])
    return feasible(sub, np.where(signs != 0.0, x, 0.0)), signs


def visit(sub: Subproblem, x: Vector, signs: Vector) -> tuple[Vector, Vector, float, bool]:
    """Minimise on the face of `signs`; then leave it by the worst row, stop before a sign flips, or end.

    Returns (x, signs, μ, done). done means that the KKT conditions hold to KKT_TOL of the largest term or to what
    rounding allows, whichever is larger: asking for more would make the walk turn in circles.
    """
    support = np.flatnonzero(signs)
    s = signs[support]
    new, mu = minimise_on_face(sub, support, s)
    if (new * s <= 0.0).any():
        x = cross(sub, x, support, new)
        return x, np.sign(x), mu, False
    x = np.zeros_like(x)
    x[support] = new
    r = sub.gradient(x) + 2.0 * mu * normal_of(sub, x)
    size = float((np.abs(sub.c) / sub.root).max()) + abs(mu)
    noise = 8.0 * UNIT_ROUNDOFF * (size + (abs(mu) + sub.tau) * float(sub.root @ np.abs(x)))
    excess = np.where(signs == 0.0, (np.abs(r) - sub.p) / sub.root, -np.inf)
    worst = int(excess.argmax())
    if excess[worst] <= max(KKT_TOL * size, noise):
        return x, signs, mu, True
    signs = signs.copy()
    signs[worst] = -np.sign(r[worst])
    return x, signs, mu, False


def cross(sub: Subproblem, x: Vector, support: Index, new: Vector) -> Vector:
    """The lowest point of the surrogate among the sign changes on the way from x to the face's minimiser.

    Along the segment the smooth part is one parabola and |x| is piecewise linear, so all candidates
    are evaluated at once.

    The face's minimiser has signs that the linear model took as fixed; stopping at the first sign change is safe
    but slow. The lowest of all breakpoints, the end among them, is at least as low as the first.
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
    gradient = sub.gradient(x)
    curvature = 0.5 * float((sub.gradient(x + d) - gradient) @ d)
    values = t * float(gradient @ d) + t * t * curvature + np.abs(points) @ sub.p[support]
    best = np.zeros_like(x)
    best[support] = points[int(np.argmin(values))]
    return feasible(sub, best)


def minimise_on_face(sub: Subproblem, support: Index, s: Vector) -> tuple[Vector, float]:
    """(x, μ) minimising the surrogate with pᵀ|x| replaced by (p∘s)ᵀx on the support."""
    h = sub.c[support] - 0.5 * sub.p[support] * s
    if sub.program.pencil.B is None and isinstance(sub.program, SparseGEV):
        return round_face(h, sub.tau)
    B = sub.B_sub(support)
    try:
        with same_bits(len(support)):
            if isinstance(sub.program, SparseFDA):
                return affine_face(B, h, sub.program.a[support] * sub.unit)
            if isinstance(sub.program, SparseGEV) and sub.program.shift == "identity" and sub.tau > 0.0:
                return secular_face(B, h, sub.tau)
            return metric_face(B, h, sub.tau)
    except LinAlgError as cause:
        raise SolverFailed(f"B on a support of {len(support)} variables is numerically singular: {cause}") from cause


def round_face(h: Vector, tau: float) -> tuple[Vector, float]:
    """min τxᵀx − 2hᵀx s.t. xᵀx ≤ 1: x = h/max(τ, ‖h‖), for B = I and both shifts (ALG-S)."""
    norm = math.sqrt(float(h @ h))
    if norm == 0.0:
        return np.zeros_like(h), 0.0
    return (h / tau, 0.0) if norm <= tau else (h / norm, norm - tau)


def metric_face(B: Matrix, h: Vector, tau: float) -> tuple[Vector, float]:
    """min τxᵀBx − 2hᵀx s.t. xᵀBx ≤ 1: x = z/max(τ, ‖z‖_B) with Bz = h (beyond the paper).

    h = c − ½p∘s on the support. One step of iterative refinement gives the digits that cond(B) took.
    """
    if not len(h):
        return h, 0.0
    factor = cho_factor(B, lower=True, check_finite=False)
    z = cho_solve(factor, h, check_finite=False)
    z = z + cho_solve(factor, h - B @ z, check_finite=False)
    norm = math.sqrt(max(0.0, float(z @ (B @ z))))
    if norm == 0.0:
        return np.zeros_like(z), 0.0
    return (z / tau, 0.0) if norm <= tau else (z / norm, norm - tau)


def secular_face(B: Matrix, h: Vector, tau: float) -> tuple[Vector, float]:
    """min τxᵀx − 2hᵀx s.t. xᵀBx ≤ 1: (τI + μB)x = h with μ the root of xᵀBx = 1, or 0 (Section 3.3 a).

    Newton on ‖x(μ)‖_B⁻¹, which is nearly linear in μ and rises to the root from the left.

    Convergence: φ(μ) = 1/‖x(μ)‖_B is concave and increasing in μ, so Newton's iterates from μ = 0 rise to the
    root of φ = 1 without overshooting, and their last digits come quadratically.
    """
    x = h / tau  # the minimiser without the constraint: if it lies in Ω, it is the answer
    if float(x @ (B @ x)) <= 1.0:
        return x, 0.0
    return refine_on_sphere(B, h, tau, *secular_root(B, h, tau, x))


def secular_root(B: Matrix, h: Vector, tau: float, x: Vector) -> tuple[Vector, float]:
    """(x, μ) near the root, by Newton's method from μ = 0; the factors it needs are gone when it returns."""
    mu = 0.0
    for _ in range(NEWTON_STEPS):
        M = mu * B.T  # B itself, stored by columns as LAPACK wants it, so that no copy is made
        M[np.diag_indices_from(M)] += tau
        factor = cho_factor(M, lower=True, overwrite_a=True, check_finite=False)
        x = cho_solve(factor, h, check_finite=False)
        Bx = B @ x
        square = float(x @ Bx)
        slope = float(Bx @ cho_solve(factor, Bx, check_finite=False))
        step = square * (math.sqrt(square) - 1.0) / slope
        mu = max(0.0, mu + step)
        if abs(step) <= 1e-9 * mu:
            break
    return x, mu


def refine_on_sphere(B: Matrix, h: Vector, tau: float, x: Vector, mu: float) -> tuple[Vector, float]:
    """One Newton step on (τI + μB)x = h, xᵀBx = 1 in both unknowns: the last digits.

    The bordered matrix is singular only if Bx = 0, that is never on the sphere; in doubt the input is returned.
    """
    Bx = B @ x
    k = len(x)
    J = np.zeros((k + 1, k + 1))
    J[:k, :k] = mu * B
    J[np.arange(k), np.arange(k)] += tau
    J[:k, k] = J[k, :k] = Bx
    residual = np.append(h - tau * x - mu * Bx, 0.5 * (1.0 - float(x @ Bx)))
    try:
        delta = np.linalg.solve(J, residual)
    except np.linalg.LinAlgError:
        return x, mu
    return x + delta[:k], mu + float(delta[k])


def affine_face(B: Matrix, h: Vector, a: Vector) -> tuple[Vector, float]:
    """min xᵀBx − 2hᵀx s.t. aᵀx = 1: Bx = h − μa (Eq:fdaiterative).

    μ is minus the t of `fisher_guess`. The second round is iterative refinement in both unknowns, and x is divided
    by aᵀx at the end: the constraint holds to the last bit or two.
    """
    factor = cho_factor(B, lower=True, check_finite=False)
    z_a = cho_solve(factor, a, check_finite=False)
    square = float(a @ z_a)
    if len(a) == 1 or square == 0.0:
        return vertex(B, h, a)
    x, mu = np.zeros_like(h), 0.0
    for _ in range(2):
        z = cho_solve(factor, h - mu * a - B @ x, check_finite=False)
        move = (float(a @ (x + z)) - 1.0) / square
        x, mu = x + z - move * z_a, mu + move
    ax = float(a @ x)
    return (x / ax, mu) if 0.5 < ax < 2.0 else vertex(B, h, a)


def vertex(B: Matrix, h: Vector, a: Vector) -> tuple[Vector, float]:
    """The point eᵢ/aᵢ of least penalty −2hᵢ/aᵢ, with its μ: what is left where xᵀBx drowns beside the penalty.

    There aᵀx = 1 is lost to rounding on a larger face, and the step is a linear program: a vertex minimises it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        price = np.where(h * a < 0.0, -h / a, np.inf)
    i = int(np.argmin(price))
    x = np.zeros_like(a)
    x[i] = 1.0 / a[i]
    return x, float((h[i] - B[i, i] * x[i]) * x[i])


def normal_of(sub: Subproblem, x: Vector) -> Vector:
    """Bx, or a for FDA, in these units."""
    return sub.program.a * sub.unit if isinstance(sub.program, SparseFDA) else sub.B_dot(x)


def multiplier_of(sub: Subproblem, x: Vector, gradient: Vector, normal: Vector) -> float:
    """μ from the KKT system multiplied by xᵀ.

    For GEV a negative number means that x lies inside Ω, where μ = 0.
    """
    b = float(normal @ x)
    if b == 0.0:
        return 0.0
    mu = -0.5 * float(gradient @ x + sub.p @ np.abs(x)) / b
    return mu if isinstance(sub.program, SparseFDA) else max(0.0, mu)


def feasible(sub: Subproblem, x: Vector) -> Vector:
    """x pulled into Ω: divided by ‖x‖_B when that exceeds 1; by aᵀx for FDA, or 0 where that is rounding alone."""
    normal = normal_of(sub, x)
    b = float(normal @ x)
    if isinstance(sub.program, SparseFDA):
        return x / b if abs(b) > 1e-8 * float(np.abs(normal) @ np.abs(x)) else np.zeros_like(x)
    return x / math.sqrt(b) if b > 1.0 else x
