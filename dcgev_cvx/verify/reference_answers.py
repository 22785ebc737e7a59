"""Certified answers: the minimiser of one MM step by two methods, proved in extended precision.

The convex program of a step is written from the paper's formula and solved here without the package's own steps:

1. in the primal, by feature-sign search: minimise on the current support and signs, add the variable that violates
   its optimality condition most, and go on until none does (Lee, Battle, Raina and Ng 2006);
2. in the dual, a least-squares problem with bounds, by SciPy's BVLS, the multiplier by Brent's method within a
   millionth of the first one's.

The first answer is corrected by Newton's method with residuals in extended precision. It becomes a reference only if
its optimality conditions hold to 1e-12 there and the second method lies within 1e-9 of it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Index, Matrix, Vector, frozen
from .._numerics.threads import one_thread
from ..errors import SolverFailed
from .levels import Instance

WIDE = np.longdouble
"""Extended precision: 64 bits of mantissa on x86, 113 on ARM under Linux; plain double on Windows and ARM Macs."""


@dataclass(frozen=True, eq=False)
class Surrogate:
    """min xᵀHx − 2cᵀx + pᵀ|x| s.t. xᵀBx ≤ 1, or s.t. aᵀx = 1 where a is given (ALG, Eq:fdaiterative).

    Arrays are of either precision. spectra keeps the eigenvectors of (H, B) on the supports met so far.
    """

    H: Any
    c: Any
    p: Any
    B: Any
    a: Any = None
    spectra: dict[bytes, tuple[Vector, Matrix]] = field(default_factory=dict[bytes, tuple[Vector, Matrix]])

    @property
    def root(self) -> Any:
        """√Bᵢᵢ, the unit in which coordinate i is measured."""
        return np.sqrt(np.diagonal(self.B))

    def value(self, x: Vector) -> float:
        """xᵀHx − 2cᵀx + pᵀ|x|."""
        return float(x @ self.H @ x) - 2.0 * float(self.c @ x) + float(self.p @ np.abs(x))

    def size(self, x: Vector) -> float:
        """The sum of the moduli of the value's terms at x, and at least what one coordinate can reach alone."""
        terms = abs(float(x @ self.H @ x)) + 2.0 * float(np.abs(self.c) @ np.abs(x)) + float(self.p @ np.abs(x))
        return max(terms, 0.2 * float(np.max(np.abs(self.c) / self.root)))

    def norm(self, x: Vector) -> float:
        """‖x‖_B."""
        return math.sqrt(max(0.0, float(x @ self.B @ x)))

    def length(self, x: Vector) -> float:
        """The size of Ω: 1 for the ball, ‖x‖_B for the plane, where x has no other scale."""
        return 1.0 if self.a is None else max(self.norm(x), 1e-300)

    def normal(self, x: Any) -> Any:
        """Bx or a: half the gradient of the constraint xᵀBx ≤ 1, or the gradient of aᵀx = 1."""
        return self.B @ x if self.a is None else self.a

    def rows(self, x: Any, mu: Any) -> Any:
        """Hx − c + μ·normal: half the gradient of the Lagrangian without the penalty."""
        return self.H @ x - self.c + mu * self.normal(x)

    def moduli(self, x: Any, mu: Any) -> Any:
        """The same sums with every term replaced by its modulus: the scale of their rounding errors."""
        pull = np.abs(self.B) @ np.abs(x) if self.a is None else np.abs(self.a)
        return np.abs(self.H) @ np.abs(x) + np.abs(self.c) + abs(mu) * pull

    def room(self, x: Any) -> Any:
        """1 − xᵀBx, or 1 − aᵀx."""
        return 1 - x @ self.normal(x)

    @property
    def only_zero(self) -> bool:
        """Is 0 a minimiser because nothing pulls away from it: no constraint aᵀx = 1, c = 0, H ⪰ 0?"""
        free = self.a is None and not self.c.any() and np.min(np.diagonal(self.H)) >= 0.0
        return bool(free and np.linalg.eigvalsh(self.H)[0] >= 0.0)


def surrogate(instance: Instance) -> Surrogate:
    """The convex program of one MM step in double precision (ALG, Eq:fdaiterative)."""
    return instance.once("surrogate", lambda: built(instance, np.float64))


def built(instance: Instance, number: Any) -> Surrogate:
    """H = τI, c = (A + τI)y, p = ρ_ε w(y); for FDA H = B, c = 0; computed in the given precision."""
    data, B = instance.data, instance.B.astype(number)
    y = data["y"].astype(number)
    p = instance.slopes(y, number)
    if instance.level == "fda":
        return Surrogate(B, np.zeros_like(y), p, B, data["a"].astype(number))
    tau = number(data["tau"])
    return Surrogate(tau * np.eye(len(y), dtype=number), data["A"].astype(number) @ y + tau * y, p, B)


@dataclass(frozen=True)
class Reference:
    """The minimiser of a step, and what proves it.

    kkt         residual of the optimality conditions in extended precision, relative to their largest terms
    agreement   ‖x − x'‖_B between the two methods
    strictness  the smallest gap in complementarity
    """

    x: Vector
    mu: float
    kkt: float
    agreement: float
    strictness: float

    @property
    def nondegenerate(self) -> bool:
        """May x be compared coordinate by coordinate? Below 1e-2 interior-point solvers lose digits of x."""
        return self.strictness >= 1e-2


def reference(instance: Instance) -> Reference:
    """The certified minimiser of a step, computed once per instance (ALG, Eq:fdaiterative)."""
    with one_thread, np.errstate(invalid="ignore"):  # threads would wait for each other; a method that failed is NaN
        return instance.once("reference", lambda: certified(instance))


def certified(instance: Instance) -> Reference:
    """The minimiser by both methods; SolverFailed where the step is not valid or the answer is not proved."""
    refuse_invalid(instance)
    wide, unit, scale = rescaled(built(instance, WIDE))
    double = in_double(wide)
    x, mu = feature_sign_search(double, first_point(double), lambda *at: corrected(wide, double, *at, rounds=1))
    wide_x, wide_mu = corrected(wide, double, x, mu, np.sign(x), rounds=3)
    kkt, x, mu = kkt_residual(wide, wide_x, wide_mu), wide_x.astype(np.float64), float(wide_mu)
    proved = kkt <= 1e-12
    distance = double.norm(dual_minimiser(double, mu) - x) / double.length(x) if proved else math.inf
    if not (proved and distance <= 1e-9):
        found = f"KKT residual {kkt:.2g}, two methods {distance:.2g} apart"
        raise SolverFailed(f"The reference of '{instance.name}' is not certified: {found}.")
    answer, multiplier = (wide_x * unit).astype(np.float64), float(wide_mu * scale)
    return Reference(frozen(answer), multiplier, kkt, distance, strictness(surrogate(instance), answer, multiplier))


def refuse_invalid(instance: Instance) -> None:
    """SolverFailed for an indefinite B, for A + τI with a negative eigenvalue beyond rounding, and for a = 0."""
    data, why = instance.data, ""
    if not np.linalg.eigvalsh(instance.B)[0] > 0.0:
        why = "B is not positive definite"
    elif instance.level == "fda":
        why = "" if data["a"].any() else "a is 0"
    elif np.linalg.eigvalsh(data["A"])[0] < -data["tau"] - 1e-9 * np.max(np.abs(data["A"])):
        why = "A + τI has a negative eigenvalue"
    if why:
        raise SolverFailed(f"'{instance.name}' has no reference: {why}.")


def rescaled(step: Surrogate) -> tuple[Surrogate, Any, Any]:
    """(the step for x/unit with its objective over scale, unit, scale): powers of two, so that nothing is rounded."""
    ball = step.a is None
    unit = power_of_two(1 / np.max(step.root) if ball else 1 / np.max(np.abs(step.a)))
    scale = power_of_two(unit * np.max(np.abs(step.c)) if ball else unit**2 * np.max(np.diagonal(step.H)))
    H, c, p = step.H * (unit**2 / scale), step.c * (unit / scale), step.p * (unit / scale)
    return Surrogate(H, c, p, step.B * unit**2, None) if ball else Surrogate(H, c, p, H, step.a * unit), unit, scale


def power_of_two(value: Any) -> Any:
    """The nearest power of two; 1 for 0."""
    return WIDE(2.0) ** np.round(np.log2(value)) if value > 0 else WIDE(1.0)


def in_double(step: Surrogate) -> Surrogate:
    """The step rounded to double precision."""
    H, c, p, B, a = (None if v is None else v.astype(np.float64) for v in (step.H, step.c, step.p, step.B, step.a))
    return Surrogate(H, c, p, B, a)


# The first method: feature-sign search


def first_point(step: Surrogate) -> Vector:
    """The origin for the ball; eᵢ/aᵢ for the plane, i the variable that reaches it at the smallest ‖x‖_B."""
    x = np.zeros_like(step.c)
    if step.a is not None:
        i = int(np.argmax(np.abs(step.a) / step.root))
        x[i] = 1.0 / step.a[i]
    return x


def feature_sign_search(step: Surrogate, x: Vector, correct: Callable[..., Any] | None = None) -> tuple[Vector, float]:
    """(x, μ) at the minimum, from a feasible x; every round lowers the objective over finitely many sign patterns."""
    signs = np.sign(x)
    for _ in range(20 * len(x) + 100):
        on, new, mu = np.flatnonzero(signs), np.zeros_like(x), 0.0
        if len(on):
            new[on], mu = minimiser_on_support(step, on, step.c[on] - 0.5 * step.p[on] * signs[on])
            if correct is not None:
                new, mu = (np.asarray(part, dtype=np.float64) for part in correct(new, mu, signs))
        if np.any((new * signs)[on] <= 0.0):
            x = lowest_on_the_way(step, x, new)
            signs = np.sign(x)
            continue
        x, rows = new, step.rows(new, mu)
        excess = np.abs(rows) - 0.5 * step.p - 16.0 * UNIT_ROUNDOFF * step.moduli(x, mu)
        worst = int(np.argmax(np.where(signs == 0.0, excess / step.root, -np.inf)))
        if signs[worst] != 0.0 or excess[worst] <= 0.0:
            return x, float(mu)
        signs = signs.copy()
        signs[worst] = -np.sign(rows[worst])
    raise SolverFailed("The search over supports and signs did not end.")


def minimiser_on_support(step: Surrogate, on: Index, h: Vector) -> tuple[Vector, float]:
    """(x, μ) of min xᵀHx − 2hᵀx over Ω on the variables of a support.

    With VᵀBV = I and VᵀHV = Λ it is x = Vw, (λᵢ + μ)wᵢ = (Vᵀh)ᵢ, and ‖x‖_B = ‖w‖. The root of ‖w(μ)‖ = 1 is found
    by Newton's method on 1/‖w(μ)‖, which is concave: from below it rises to the root and never beyond.
    """
    key = on.tobytes()
    if key not in step.spectra:
        step.spectra[key] = spectrum(step.H[np.ix_(on, on)], step.B[np.ix_(on, on)])
    values, V = step.spectra[key]
    t = V.T @ h
    if step.a is not None:
        b = V.T @ step.a[on]
        mu = (float(t @ (b / values)) - 1.0) / float(b @ (b / values))
        return V @ ((t - mu * b) / values), mu
    mu, w = max(0.0, float(np.max(np.abs(t) - values))), t
    for _ in range(60):
        w = t / (values + mu + 1e-300)  # 0/0 is 0: the variable is neither pulled nor held
        square = float(w @ w)
        if mu == 0.0 and square <= 1.0:
            break
        move = square * (math.sqrt(square) - 1.0) / float(w @ (w / (values + mu)))
        mu += move
        if move <= 1e-15 * mu:
            break
    return V @ w, mu


def spectrum(H: Matrix, B: Matrix) -> tuple[Any, Any]:
    """(λ, V) with VᵀHV = diag(λ) and VᵀBV = I; by NumPy, since SciPy's BLAS starts threads for a 5 × 5 matrix."""
    L = np.linalg.cholesky(B)
    values, U = np.linalg.eigh(np.linalg.solve(L, np.linalg.solve(L, H).T))
    return np.maximum(values, 0.0), np.linalg.solve(L.T, U)


def lowest_on_the_way(step: Surrogate, x: Vector, new: Vector) -> Vector:
    """The lowest point of the objective among the sign changes between x and new, new included."""
    with np.errstate(divide="ignore", invalid="ignore"):
        t = x / (x - new)
    points = x + np.append(t[(t > 0.0) & (t < 1.0)], 1.0)[:, None] * (new - x)
    crossing = np.abs(points) <= 8.0 * UNIT_ROUNDOFF * np.abs(x)  # where a coordinate is 0 its terms cancel
    points[crossing] = 0.0
    points[-1] = new
    values = np.sum((points @ step.H - 2.0 * step.c) * points, axis=1) + np.abs(points) @ step.p
    return points[int(np.argmin(values))]


def corrected(wide: Surrogate, double: Surrogate, x: Vector, mu: float, signs: Vector, rounds: int) -> tuple[Any, Any]:
    """(x, μ) in extended precision by Newton's method on the support: residuals wide, corrections in double."""
    on, wide_x, wide_mu = np.flatnonzero(signs), x.astype(WIDE), WIDE(mu)
    k, part, ball = len(on), np.ix_(on, on), wide.a is None
    border = int(not ball or mu > 0.0)
    for _ in range(rounds if k else 0):
        J = np.zeros((k + border, k + border))
        J[:k, :k] = double.H[part] + (float(wide_mu) * double.B[part] if ball else 0.0)
        miss = -wide.rows(wide_x, wide_mu)[on] - wide.p[on] * signs[on] / 2
        if border:
            J[:k, k] = J[k, :k] = wide.normal(wide_x)[on]
            miss = np.append(miss, wide.room(wide_x) / (2 if ball else 1))
        move = np.linalg.solve(J, miss.astype(np.float64))
        wide_x[on] += move[:k]
        wide_mu += WIDE(move[k]) if border else 0
    return wide_x, wide_mu


# The second method: bounded least squares in the dual


def dual_minimiser(step: Surrogate, guess: float) -> Vector:
    """The minimiser through LASSO problems: at τ = 0 one of them, otherwise the μ at which its solution is feasible.

    The root is sought within a millionth of the guess. Where the constraint does not change sign there, the two
    methods disagree, and infinity is returned.
    """
    from scipy.optimize import brentq

    if step.a is None and not step.H.any():  # x is a multiple of the LASSO's solution (beyond the paper)
        z = dual_lasso(step.B, step.c, step.p)
        unpenalised = dual_lasso(step.B, step.c, 0.0 * step.p)
        return z / step.norm(z) if step.norm(z) > 1e-12 * step.norm(unpenalised) else 0.0 * z

    def at(mu: float) -> Vector:
        if step.a is not None:
            return dual_lasso(step.B, -mu * step.a, step.p)
        return dual_lasso(step.H + mu * step.B, step.c, step.p)

    def room(mu: float) -> float:
        return float(step.room(at(mu)))

    if guess == 0.0:
        x = at(0.0)
        return x if step.room(x) > -1e-9 else np.full_like(x, np.inf)
    low, high = guess * (1.0 - 1e-6), guess * (1.0 + 1e-6)
    if room(low) * room(high) > 0.0:
        return np.full_like(step.c, np.inf)
    root: Any = brentq(room, low, high, xtol=1e-300, rtol=np.float64(4.0 * UNIT_ROUNDOFF))
    return at(root)


def dual_lasso(M: Matrix, c: Vector, p: Vector) -> Vector:
    """argmin xᵀMx − 2cᵀx + pᵀ|x| = M⁻¹(c − u), u the point of the box |u| ≤ p/2 that is nearest to c in M⁻¹."""
    from scipy.optimize import lsq_linear

    size = float(np.max(np.abs(c)))
    if size == 0.0:
        return np.zeros_like(c)
    d = np.sqrt(np.diagonal(M))
    L = np.linalg.cholesky(M / np.outer(d, d))
    T = np.linalg.solve(L, np.diag(np.min(d) / d))
    free, u = p / size > np.finfo(np.float64).tiny, np.zeros_like(c)  # a box of no width has its centre
    if free.any():
        half = p[free] / (2.0 * size)
        found = lsq_linear(T[:, free], T @ (c / size), (-half, half), "bvls", tol=1e-15, max_iter=50 * len(c) + 50)
        u[free] = size * found.x
    rest = c.astype(WIDE) - u
    x = np.linalg.solve(M, rest.astype(np.float64))
    return x + np.linalg.solve(M, (rest - M @ x.astype(WIDE)).astype(np.float64))  # the digits that cond(M) takes


# The certificate


def kkt_residual(step: Surrogate, x: Any, mu: Any) -> float:
    """The optimality conditions: rows of the support, excess off it, the constraint and the sign of its multiplier.

    Divided by the largest sum of moduli behind a row, as LAPACK does, so that rounding in rows that cancel does not
    count as a miss.
    """
    rows, root = step.rows(x, mu), step.root
    scale = np.max(step.moduli(x, mu) / root)
    if scale == 0:
        return 0.0
    miss = np.where(x != 0, np.abs(rows + step.p * np.sign(x) / 2), np.maximum(0, np.abs(rows) - step.p / 2))
    room = step.room(x) / max(1, np.abs(x) @ (np.abs(step.B) @ np.abs(x) if step.a is None else np.abs(step.a)))
    constraint = abs(room) if step.a is not None else max(-room, -mu / scale, min(abs(room), abs(mu) / scale))
    return float(max(2 * np.max(miss / root) / scale, constraint))


def strictness(problem: Surrogate, x: Vector, mu: float) -> float:
    """The smallest of: a nonzero's size, a zero's spare slope, μ or the constraint's slack, the curvature.

    Below 1e-2 a change of the data of that size may change the support, and two right solvers may differ in x by much
    more than in value.
    """
    root, on = problem.root, x != 0.0
    terms = (2.0 * problem.H @ x, 2.0 * problem.c, 2.0 * mu * problem.normal(x))
    scale = max(float(np.max(np.abs(term) / root)) for term in terms)
    if scale == 0.0:
        return math.inf if np.all(problem.p > 0.0) else 0.0
    spare = (problem.p - np.abs(2.0 * problem.rows(x, mu))) / (root * scale)
    size = float(np.min((np.abs(x) * root)[on], initial=math.inf)) / problem.length(x)
    gaps = [size, float(np.min(spare[~on], initial=math.inf))]
    if problem.a is None:
        gaps += [max(mu / scale, float(problem.room(x))), curvature(problem, mu) / scale if on.any() else math.inf]
    return min(gaps)


def curvature(problem: Surrogate, mu: float) -> float:
    """κ with q(x) − q(x*) ≥ κ‖x − x*‖²_B on Ω: μ + τ/λmax(B) for the ball, 1 for FDA.

    Proof: on Ω the Lagrangian q + μ(xᵀBx − 1) lies below q, is least at x*, and has the quadratic part τ‖x‖² + μxᵀBx.
    """
    if problem.a is not None:
        return 1.0
    return mu + float(np.min(np.diagonal(problem.H))) / float(np.linalg.eigvalsh(problem.B)[-1])
