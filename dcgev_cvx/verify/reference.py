"""Reference answers that depend on no single solver, each with its certificate.

A step's minimiser is walked to face by face (`steps.polish`), found again as the dual point of a
box-constrained least-squares problem (SciPy's BVLS), and its optimality conditions are evaluated
in extended precision. An optimum of (SGEV-P) is found by looking at every support.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector, frozen
from ..errors import SolverFailed
from ..pencils import Pencil
from ..programs import SparseFDA, SparseGEV
from ..steps.polish import polish, surrogate_at
from .instances import Instance
from .measures import Surrogate, surrogate

STRICT = 1e-2
"""Strict complementarity from which on x itself is compared; below, interior-point digits are lost."""
AGREEMENT = 1e-9
"""How far the two methods may differ in the B norm; the tests ask for 1e-10 over whole batteries."""
CERTIFIED = 1e-12
"""The largest KKT residual, in extended precision, of a reference answer."""
WIDE = np.longdouble


@dataclass(frozen=True)
class Reference:
    """The minimiser of a step, and what proves it.

    kkt         residual of the optimality conditions in extended precision
    agreement   ‖x − x'‖_B between the two methods
    strictness  the smallest gap in complementarity; x is compared when it is at least STRICT

    An uncertified reference is never used: `certified` raises SolverFailed instead.
    """

    x: Vector
    mu: float
    kkt: float
    agreement: float
    strictness: float

    @property
    def nondegenerate(self) -> bool:
        """May x be compared coordinate by coordinate?"""
        return self.strictness >= STRICT


def reference(instance: Instance) -> Reference:
    """The certified minimiser of a step, computed once per instance (ALG, Eq:fdaiterative)."""
    if "reference" not in instance.cache:
        instance.cache["reference"] = certified(instance)
    return instance.cache["reference"]


def certified(instance: Instance) -> Reference:
    """Walk, solve again by another method, and judge in extended precision.

    The two methods share nothing but the data: an active-set walk in the primal, bounded least squares in the dual.

    Raises SolverFailed with both numbers when the walk's KKT residual exceeds 1e-12 or the two methods are more
    than 1e-9 apart in the B norm: better no reference than a doubtful one.
    """
    problem = surrogate(instance)
    wide, wide_mu = refined(instance, *walked(instance))
    kkt = residual_of(instance, wide, wide_mu)
    x, mu = wide.astype(np.float64), float(wide_mu)
    other = dual_point(problem, x, mu)
    distance = problem.norm(other - x) / max(problem.length(x), 1e-300)
    if not (kkt <= CERTIFIED and distance <= AGREEMENT):
        raise SolverFailed(
            f"The reference of '{instance.name}' is not certified: KKT residual {kkt:.2g}, "
            f"two methods {distance:.2g} apart."
        )
    return Reference(frozen(x), mu, kkt, distance, strictness(problem, x, mu))


def walked(instance: Instance) -> tuple[Vector, float]:
    """(x, μ) by the exact active-set walk, from the origin (the ball) or Fisher's direction (FDA).

    From there and not from y, so that a mistake in the use of y cannot be shared with a solver under test.
    """
    data = instance.data
    if instance.level == "fda":
        program: Any = SparseFDA(data["a"], data["B"], data["nu"], data["eps"])
        guess = program.start()
    else:
        program = SparseGEV(Pencil(data["A"], data["B"]), data["rho"], data["eps"], data["tau"])
        guess = np.zeros(instance.n)
        if not program.linear(data["y"]).any():
            return guess, 0.0
    surrogate = surrogate_at(program, data["y"])
    scaling = surrogate.scaling
    found = polish(surrogate, guess / scaling.u, max_patterns=20 * instance.n + 100)
    return scaling.vector(found.x), found.mu * scaling.o


def dual_point(problem: Surrogate, x: Vector, mu: float) -> Vector:
    """The minimiser of the Lagrangian at μ by bounded least squares: u nearest to c in the box |u| ≤ p/2.

    min xᵀMx − 2cᵀx + pᵀ|x| with M = H + μB has the dual min (c − u)ᵀM⁻¹(c − u) over the
    box and x = M⁻¹(c − u); for FDA the linear term is −μa. At M = 0 every x in the box's
    polar is a minimiser and the conditions alone decide.

    Raises nothing: infinity is returned where the conditions fail at M = 0, and the distance then refuses the
    reference.
    """
    from scipy.linalg import solve_triangular
    from scipy.optimize import lsq_linear

    M = problem.H + mu * problem.B if problem.a is None else problem.B
    c = problem.c if problem.a is None else -mu * problem.a
    scale = float(np.max(np.abs(c)))
    if scale == 0.0 or not M.any():
        return x if np.all(np.abs(c) <= 0.5 * problem.p) else np.full_like(x, np.inf)
    half = 0.5 * problem.p / scale
    d = np.sqrt(np.diagonal(M))
    L = np.linalg.cholesky(M / np.outer(d, d))
    T = np.linalg.solve(L, np.diag(1.0 / d))  # not solve_triangular: its BLAS starts threads for a 5 × 5 matrix
    T, target = T * float(np.min(d)), T @ (c / scale) * float(np.min(d))
    free = half > 0.0
    u = np.zeros_like(c)
    if free.any():
        bounds = (-half[free], half[free])
        u[free] = lsq_linear(T[:, free], target, bounds, method="bvls", tol=1e-15, max_iter=50 * len(c) + 50).x
    y = solve_triangular(L, (c - scale * u) / d, lower=True)
    return solve_triangular(L.T, y, lower=False) / d


@dataclass(frozen=True)
class WideStep:
    """The step's data in extended precision: r(x, μ) = 2(Hx − c + μ·normal), with p and the constraint's miss.

    np.longdouble has 64 bits of mantissa on x86; where it is no wider than double the residuals are those of double
    precision, and the certificate says so by its size.
    """

    H: Any
    c: Any
    p: Any
    B: Any
    a: Any

    def normal(self, x: Any) -> Any:
        """Bx, or a."""
        return self.B @ x if self.a is None else self.a

    def room(self, x: Any) -> Any:
        """1 − xᵀBx, or 1 − aᵀx."""
        return 1 - x @ self.normal(x)


def widened(instance: Instance) -> WideStep:
    """The step's data, computed from the arguments in extended precision."""
    data, B = instance.data, instance.B.astype(WIDE)
    y = data["y"].astype(WIDE)
    p = WIDE(instance.coefficient) / (np.abs(y) + WIDE(data["eps"]))
    if instance.level == "fda":
        return WideStep(B, np.zeros_like(y), p, B, data["a"].astype(WIDE))
    tau = WIDE(data["tau"])
    return WideStep(tau * np.eye(len(y), dtype=WIDE), data["A"].astype(WIDE) @ y + tau * y, p, B, None)


def refined(instance: Instance, x: Vector, mu: float, rounds: int = 4) -> tuple[Any, Any]:
    """(x, μ) in extended precision: Newton's method on the face of x, residuals wide, corrections in double.

    Iterative refinement in the large: the Jacobian in double precision is good enough to gain digits in every round,
    as long as the residuals are wide.
    """
    step, on = widened(instance), np.flatnonzero(x)
    X, m = x.astype(WIDE), WIDE(mu)
    if not len(on):
        return X, m
    active = step.a is not None or mu > 0.0
    k, signs = len(on), np.sign(x[on])
    for _ in range(rounds):
        normal = step.normal(X)[on]
        rows = (step.H @ X - step.c + m * step.normal(X))[on] + step.p[on] * signs / 2
        J = np.zeros((k + active, k + active))
        J[:k, :k] = (step.H[np.ix_(on, on)] + (m * step.B[np.ix_(on, on)] if step.a is None else 0)).astype(
            np.float64
        )
        if active:
            J[:k, k] = J[k, :k] = normal.astype(np.float64)
        miss = [step.room(X) / (2 if step.a is None else 1)] if active else []
        delta = np.linalg.solve(J, np.append(-rows, miss).astype(np.float64))
        X[on] += delta[:k]
        m += WIDE(delta[k]) if active else 0
    return X, m


def residual_of(instance: Instance, x: Any, mu: Any) -> float:
    """The optimality conditions in extended precision: rows of the support, excess off it, the constraint.

    Divided by the largest sum of moduli behind a row, |H||x| + |c| + |μ||B||x|, as LAPACK does.

    Dividing by sums of moduli and not by the largest term keeps rounding of cancelling rows from counting as a
    miss: what is left is about the unit roundoff of extended precision.
    """
    step = widened(instance)
    r = 2 * (step.H @ x - step.c + mu * step.normal(x))
    root = np.sqrt(np.diagonal(step.B))
    push = np.abs(step.B) @ np.abs(x) if step.a is None else np.abs(step.a)
    scale = np.max((np.abs(step.H) @ np.abs(x) + np.abs(step.c) + abs(mu) * push) / root)
    if scale == 0:
        return 0.0
    rows = np.where(x != 0, np.abs(r + step.p * np.sign(x)), np.maximum(0, np.abs(r) - step.p)) / root
    room = step.room(x) / max(1, np.abs(x) @ push)
    miss = abs(room) if step.a is not None else max(-room, min(abs(room), abs(mu) / scale))
    return float(max(np.max(rows) / scale, miss))


def strictness(problem: Surrogate, x: Vector, mu: float) -> float:
    """The smallest of: a nonzero's size, a zero's spare slope, μ or the constraint's slack, the curvature.

    Below STRICT a change of the data of that size may change support or uniqueness, and two right solvers may
    differ in x by much more than in value.
    """
    root, on = problem.root, x != 0.0
    normal = problem.B @ x if problem.a is None else problem.a
    terms = (2.0 * problem.H @ x, 2.0 * problem.c, 2.0 * mu * normal)
    scale = max(float(np.max(np.abs(term) / root)) for term in terms)
    if scale == 0.0:
        return math.inf if np.all(problem.p > 0.0) else 0.0
    r = terms[0] - terms[1] + terms[2]
    gaps = [
        float(np.min((np.abs(x) * root)[on], initial=math.inf)) / max(problem.length(x), 1e-300),
        float(np.min(((problem.p - np.abs(r)) / (root * scale))[~on], initial=math.inf)),
    ]
    if problem.a is None:
        slack = 1.0 - float(x @ problem.B @ x)
        gaps += [max(mu / scale, slack), curvature(problem, mu) / scale if on.any() else math.inf]
    return min(gaps)


def curvature(problem: Surrogate, mu: float) -> float:
    """κ with q(x) − q(x*) ≥ κ‖x − x*‖²_B on Ω: μ + τ/λmax(B) for the ball, 1 for FDA.

    Proof: on Ω the Lagrangian q + μ(xᵀBx − 1) lies below q, is least at x*, and has the quadratic part τ‖x‖² + μxᵀBx.
    """
    if problem.a is not None:
        return 1.0
    return mu + float(np.min(np.diagonal(problem.H))) / float(np.linalg.eigvalsh(problem.B)[-1])


@dataclass(frozen=True)
class Optimum:
    """The best support of (SGEV-P) at k by enumeration, its value, and the size of the pencil's spectrum.

    radius is max |λ| of the whole pencil, the unit in which misses of a bound are measured: unlike the optimum
    itself it cannot be near zero by cancellation. It is 1 for A = 0, which has no unit of its own.
    """

    value: float
    support: tuple[int, ...]
    lambda_max: float
    radius: float


def optimum(instance: Instance) -> Optimum:
    """max λmax(A_S, B_S) over every support of size k (SGEV-P).

    C(n, k) supports for n ≤ 16, or k near 1 or n: a matter of milliseconds, and nothing to trust.
    """
    if "optimum" not in instance.cache:
        instance.cache["optimum"] = enumerated(instance.data["A"], instance.B, int(instance.data["k"]))
    return instance.cache["optimum"]


def enumerated(A: Matrix, B: Matrix, k: int) -> Optimum:
    """Every support of size k, whitened and diagonalised in one batch.

    One call of LAPACK's batch for all supports, 12 870 at most.
    """
    supports = np.array(list(combinations(range(len(A)), k)))
    rows, columns = supports[:, :, None], supports[:, None, :]
    tops = top_values(A[rows, columns], B[rows, columns])
    best = int(np.argmax(tops))
    spectrum = spectrum_of(A[None], B[None])[0]
    return Optimum(float(tops[best]), tuple(int(i) for i in supports[best]), float(spectrum[-1]), radius_of(spectrum))


def top_values(A: Matrix, B: Matrix) -> Vector:
    """λmax of a batch of pencils."""
    return spectrum_of(A, B)[:, -1]


def spectrum_of(A: Matrix, B: Matrix) -> Matrix:
    """The eigenvalues of a batch of pencils by Cholesky whitening.

    L⁻¹AL⁻ᵀ is symmetrised before it is diagonalised, since the two solves round differently.
    """
    L = np.linalg.cholesky(B)
    half = np.linalg.solve(L, A)
    W = np.linalg.solve(L, np.swapaxes(half, -1, -2))
    return np.asarray(np.linalg.eigvalsh(0.5 * (W + np.swapaxes(W, -1, -2))), dtype=np.float64)


def radius_of(spectrum: Vector) -> float:
    """max |λ|, or 1 where every λ is 0."""
    return float(np.max(np.abs(spectrum))) or 1.0
