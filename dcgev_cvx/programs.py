"""The d.c. programs: f to be minimised over Ω and the surrogate g that majorises it (Sections 3 and 6)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol, Self, TypeAlias

import numpy as np

from ._numerics.checks import Index, Vector, as_number, as_real, as_vector, attribute, frozen, one_of, shown
from ._numerics.limits import as_shift, refuse_dust, refuse_price, refuse_size
from ._numerics.spectra import power_of_four, power_of_two
from .errors import Infeasible, InvalidParameter
from .pencils import Gram, Pencil, expect_pencil

MACHINE_EPS = float(np.finfo(np.float64).eps)
SMALLEST_EPS, LARGEST_EPS = 1e-300, 1e300
"""1/ε must be a number."""


class Penalty(Protocol):
    """φ concave in abs(x): a value and the positive slopes of its tangent in abs(x)."""

    def coefficient(self, rho: float, eps: float) -> float:
        """The factor that stands before the value, ρ_ε in the paper."""
        ...

    def value(self, x: Vector, eps: float) -> float:
        """Σ φ(|xᵢ|)."""
        ...

    def weights(self, y: Vector, eps: float) -> Vector:
        """φ'(|yᵢ|): the slope in abs(x), positive everywhere, also at 0."""
        ...


def card(x: Vector) -> int:
    """‖x‖₀, the number of nonzero entries (SGEV-P). No tolerance: 1e-300 counts.

    >>> from dcgev_cvx import card
    >>> card([0.0, 2.0, -1e-300])
    2
    """
    return int(np.count_nonzero(as_real(x, "x", InvalidParameter)))


def as_eps(eps: Any) -> float:
    """ε, a number whose reciprocal is one too."""
    return as_number(as_number(eps, "eps", strict=True), "eps", low=SMALLEST_EPS, high=LARGEST_EPS)


def as_penalty(penalty: Any) -> Penalty:
    """The penalty if it is one, the paper's for None."""
    if penalty is None:
        return LogPenalty()
    wanted = ("coefficient", "value", "weights")
    if isinstance(penalty, type) or not all(callable(attribute(penalty, name)) for name in wanted):
        raise InvalidParameter(
            f"penalty = {shown(penalty)} is none: it is LogPenalty(), L1Penalty(), ExponentialPenalty(), or has "
            "the three methods coefficient, value and weights."
        )
    return penalty


def log_scale(eps: float) -> float:
    """log(1 + 1/ε), without overflow for the smallest ε and without cancellation for the largest."""
    return math.log1p(eps) - math.log(eps) if eps < 1.0 else math.log1p(1.0 / eps)


def log1p_ratio(a: Vector, eps: float) -> Vector:
    """log(1 + a/ε) for a ≥ 0, by the form that neither overflows nor cancels."""
    large = a > eps
    big = np.where(large, a, 1.0)
    small = np.where(large, 0.0, a)
    return np.where(large, np.log(big) + np.log1p(eps / big) - math.log(eps), np.log1p(small / eps))


def card_eps(x: Vector, eps: float) -> float:
    """‖x‖_ε = Σ log(1 + |xᵢ|/ε) / log(1 + 1/ε), between ‖x‖₀ (ε → 0) and ‖x‖₁ (ε → ∞) (Eq:lim-cardinality).

    Each term a_ε lies between 1 and a, and nearer to 1 the smaller ε is, so that ‖x‖_ε is a closer
    stand-in for the cardinality than ‖x‖₁ at every ε.

    >>> import numpy as np
    >>> x = np.array([0.0, 0.5, 2.0])
    >>> [round(card_eps(x, eps), 3) for eps in (1e6, 1.0, 1e-3, 1e-12, 1e-300)]
    [2.5, 2.17, 2.0, 2.0, 2.0]
    """
    eps = as_eps(eps)
    return float(np.sum(log1p_ratio(np.abs(as_real(x, "x", InvalidParameter)), eps))) / log_scale(eps)


def rho_eps(rho: float, eps: float) -> float:
    """ρ_ε = ρ̃ / log(1 + 1/ε) (SGEV-A)."""
    return rho / log_scale(eps)


@dataclass(frozen=True)
class LogPenalty:
    """Σ log(ε + |xᵢ|), the paper's choice: a Student t prior (SGEV-A).

    Its slope 1/(|x| + ε) is 1/ε at zero and falls like 1/|x|: small entries are pressed hard,
    large ones hardly. At ε = machine precision the slopes span sixteen orders of magnitude.
    """

    def coefficient(self, rho: float, eps: float) -> float:
        """ρ_ε = ρ̃ / log(1 + 1/ε)."""
        return rho_eps(rho, eps)

    def value(self, x: Vector, eps: float) -> float:
        """Σ log(ε + |xᵢ|)."""
        return float(np.log(eps + np.abs(x)).sum())

    def weights(self, y: Vector, eps: float) -> Vector:
        """wᵢ = 1/(|yᵢ| + ε) (Eq:log)."""
        return 1.0 / (np.abs(y) + eps)


@dataclass(frozen=True)
class L1Penalty:
    """Σ |xᵢ|, the choice of SCoTLASS: its majoriser is itself, ε plays no part (Eq:scotlass-regularized).

    Every entry pays the same slope, so a zero can come back and large entries are shrunk as much
    as small ones: what the paper's penalty avoids.
    """

    def coefficient(self, rho: float, eps: float) -> float:
        """ρ."""
        return rho

    def value(self, x: Vector, eps: float) -> float:
        """‖x‖₁."""
        return float(np.abs(x).sum())

    def weights(self, y: Vector, eps: float) -> Vector:
        """1."""
        return np.ones_like(y)


@dataclass(frozen=True)
class ExponentialPenalty:
    """Σ (1 − exp(−α|xᵢ|)) with α = 1/ε, the choice of Bradley and Mangasarian (Section 3.1).

    Bounded by the cardinality from below and above by n; entries beyond a few ε are free, so ε should be
    of the size of the entries that count (0.1, not machine precision).
    """

    def coefficient(self, rho: float, eps: float) -> float:
        """ρ̃: the sum tends to the cardinality by itself as ε → 0."""
        return rho

    def value(self, x: Vector, eps: float) -> float:
        """Σ (1 − exp(−|xᵢ|/ε))."""
        return -float(np.expm1(-np.abs(x) / eps).sum())

    def weights(self, y: Vector, eps: float) -> Vector:
        """exp(−|yᵢ|/ε)/ε, held above zero where the exponential underflows."""
        return np.maximum(np.exp(-np.abs(y) / eps) / eps, np.finfo(np.float64).tiny)


Shift: TypeAlias = Literal["identity", "metric"]

FEASIBILITY_SLACK = 1e-9
"""How far outside Ω a start may lie and still count as rounding: it is then pulled back."""


class Program(Protocol):
    """min f over Ω with a majoriser g; what the driver, the steps and the referee ask of a program.

    One MM step minimises xᵀHx − 2cᵀx + pᵀ|x| over Ω, where c = `linear(y)` and
    p = `slopes(y)`; H and Ω do not change along a run.
    """

    @property
    def pencil(self) -> Pencil:
        """The pencil whose B measures lengths."""
        ...

    @property
    def units(self) -> tuple[float, float]:
        """Powers of two (u, o): x/u and objective/o are of size one."""
        ...

    def f(self, x: Vector) -> float:
        """The objective."""
        ...

    def g(self, x: Vector, y: Vector) -> float:
        """The surrogate, g(x, x) = f(x)."""
        ...

    def violation(self, x: Vector) -> float:
        """How far x lies outside Ω."""
        ...

    def size(self, x: Vector) -> float:
        """The sum of the moduli of f's terms."""
        ...

    def linear(self, y: Vector) -> Vector:
        """c of the step from y."""
        ...

    def slopes(self, y: Vector) -> Vector:
        """p of the step from y."""
        ...

    def H_dot(self, x: Vector) -> Vector:
        """Hx."""
        ...

    def normal(self, x: Vector) -> Vector:
        """Half the constraint's gradient at x."""
        ...

    def slack(self, x: Vector) -> float:
        """The room left in the constraint."""
        ...

    def gradient(self, x: Vector) -> Vector:
        """The gradient of f's smooth part."""
        ...

    def multiplier(self, x: Vector, gradient: Vector, p: Vector) -> float:
        """μ recovered from x."""
        ...

    def largest_slopes(self, c: Vector, y: Vector) -> Vector:
        """The slopes above which a coordinate is zero for sure."""
        ...

    def start(self, x0: Any = None) -> Vector:
        """A feasible start."""
        ...

    def at_zero(self) -> tuple[float, float]:
        """(value, slope) of one coordinate's penalty at 0, with its coefficient."""
        ...

    def restrict(self, support: Index, products: int = 128) -> Self:
        """The same program on a few variables, the others held at zero."""
        ...


@dataclass(frozen=True, eq=False, init=False)
class SparseGEV:
    """max xᵀAx − ρ_ε Σ log(|xᵢ| + ε) s.t. xᵀBx ≤ 1, written as a d.c. program (SGEV-A, Eq:tau).

    With M = I (shift="identity", the paper's) or M = B (shift="metric"), f = u − v for the convex
    functions u = τxᵀMx + [penalty majorised] and v = xᵀ(A + τM)x, and g linearises v and the
    concave penalty at y. f itself does not depend on M or τ; g does, and exactly

        g(x, y) − f(x) = (x−y)ᵀ(A + τM)(x−y) + ρ_ε Σ [t − log(1 + t)],  t = (|xᵢ| − |yᵢ|)/(|yᵢ| + ε),

    for the log penalty: both terms are nonnegative, which is all that MM needs.

    Parameters
    ----------
    pencil
        (A, B); shared, not copied, by `with_rho`.
    rho, eps
        ρ̃ ≥ 0 and ε > 0; ρ_ε is derived from them.
    tau
        At least max(0, −λmin(A)), or max(0, −λmin(A, B)) with the metric shift; the smallest when
        None. 0 for a semidefinite A.
    shift
        Which M.
    penalty
        LogPenalty (the paper), L1Penalty (SCoTLASS) or ExponentialPenalty.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import Pencil, SparseGEV
    >>> program = SparseGEV(Pencil([[2.0, 1.0], [1.0, 3.0]]), rho=0.5, eps=0.1)
    >>> x, y = np.array([0.6, 0.8]), np.array([0.0, 1.0])
    >>> bool(program.f(x) <= program.g(x, y)), bool(np.isclose(program.g(y, y), program.f(y)))
    (True, True)
    """

    pencil: Pencil
    rho: float
    eps: float
    tau: float
    shift: Shift
    penalty: Penalty

    def __init__(
        self,
        pencil: Pencil,
        rho: float,
        eps: float = MACHINE_EPS,
        tau: float | None = None,
        shift: Shift = "identity",
        penalty: Penalty | None = None,
    ) -> None:
        settings = {
            "pencil": expect_pencil(pencil),
            "rho": as_number(rho, "rho"),
            "eps": as_eps(eps),
            "shift": one_of(shift, "shift", ("identity", "metric")),
            "penalty": as_penalty(penalty),
            "tau": checked_tau(pencil, shift, tau),
        }
        for name, value in settings.items():
            object.__setattr__(self, name, value)
        refuse_dust(pencil.A_scale)
        refuse_price(f"rho = {self.rho:g}", self.at_zero(), pencil.n)

    def with_rho(self, rho: float, eps: float | None = None) -> SparseGEV:
        """The same program at another ρ̃ (and ε): shares the pencil, so nothing is compiled or factored again."""
        return SparseGEV(self.pencil, rho, self.eps if eps is None else eps, self.tau, self.shift, self.penalty)

    def restrict(self, support: Index, products: int = 128) -> SparseGEV:
        """The program on a few variables, the others held at zero; the same τ stays valid."""
        smaller = object.__new__(SparseGEV)
        settings = {**vars(self), "pencil": self.pencil.restrict(support, products)}
        vars(smaller).update(settings)
        return smaller

    @cached_property
    def rho_eps(self) -> float:
        """ρ_ε, the factor before the penalty."""
        return self.penalty.coefficient(self.rho, self.eps)

    @property
    def units(self) -> tuple[float, float]:
        """Powers of two (u, o) such that x/u and the objective/o are of size one."""
        b = power_of_four(self.pencil.B_scale)
        shift = self.tau if self.shift == "identity" else self.tau * b
        return 1.0 / math.sqrt(b), power_of_two(max(self.pencil.A_scale, shift)) / b

    def f(self, x: Vector) -> float:
        """f(x) = ρ_ε Σ log(ε + |xᵢ|) − xᵀAx: τ cancels (Eq:f)."""
        return self.rho_eps * self.penalty.value(x, self.eps) - self.pencil.A_quad(x)

    def g(self, x: Vector, y: Vector) -> float:
        """g(x, y), which majorises f and touches it at y (Eq:majorize-f).

        τ‖x‖² − 2xᵀ(A+τI)y + yᵀ(A+τI)y is summed as τ‖x−y‖² − 2xᵀAy + yᵀAy,
        so that g(x, x) = f(x) holds however large τ is. The penalty is replaced by its tangent in
        |x| at |y|, which lies above it because log is concave (Eq:log); −xᵀ(A+τI)x by its tangent
        plane, which lies above it because A + τI ⪰ 0 (Eq:difftau).
        """
        d = x - y
        w = self.penalty.weights(y, self.eps)
        tangent = self.penalty.value(y, self.eps) + float(w @ (np.abs(x) - np.abs(y)))
        return self.tau * float(d @ self._metric(d)) - self.pencil.A_inner(x + d, y) + self.rho_eps * tangent

    def Q(self, x: Vector) -> float:
        """Q(x) = xᵀAx − ρ̃‖x‖₀ (SGEV-R)."""
        return self.pencil.A_quad(x) - self.rho * card(x)

    def Q_eps(self, x: Vector) -> float:
        """Q_ε(x) = xᵀAx − ρ̃‖x‖_ε, which is −f up to a constant (Eq:GEV-sparse-approx-1)."""
        at_zero = self.penalty.value(np.zeros_like(x), self.eps)
        return self.pencil.A_quad(x) - self.rho_eps * (self.penalty.value(x, self.eps) - at_zero)

    def violation(self, x: Vector) -> float:
        """How far x lies outside Ω: max(0, xᵀBx − 1)."""
        return max(0.0, self.pencil.B_quad(x) - 1.0)

    def size(self, x: Vector) -> float:
        """The sum of the moduli of f's terms: what its rounding error is measured against."""
        penalty = len(x) * abs(self.at_zero()[0]) + self.rho_eps * abs(self.penalty.value(x, self.eps))
        return abs(self.pencil.A_quad(x)) + penalty + self.tau * float(x @ self._metric(x))

    def linear(self, y: Vector) -> Vector:
        """c = (A + τI)y, or (A + τB)y with the metric shift."""
        return self.pencil.A_dot(y) + self.tau * self._metric(y)

    def slopes(self, y: Vector) -> Vector:
        """p = ρ_ε w(y)."""
        return self.rho_eps * self.penalty.weights(y, self.eps)

    def H_dot(self, x: Vector) -> Vector:
        """Hx with H = τI or τB."""
        return self.tau * self._metric(x)

    def normal(self, x: Vector) -> Vector:
        """Half the gradient of the constraint: Bx."""
        return self.pencil.B_dot(x)

    def slack(self, x: Vector) -> float:
        """1 − xᵀBx."""
        return 1.0 - self.pencil.B_quad(x)

    def gradient(self, x: Vector) -> Vector:
        """−2Ax, the gradient of f's smooth part."""
        return -2.0 * (self.pencil.A_dot(x))

    def multiplier(self, x: Vector, gradient: Vector, p: Vector) -> float:
        """μ ≥ 0 recovered from x: the KKT system ∇ + p∘s + 2μBx = 0 multiplied by xᵀ."""
        b = self.pencil.B_quad(x)
        return max(0.0, -0.5 * float(gradient @ x + p @ np.abs(x)) / b) if b > 0.0 else 0.0

    def largest_slopes(self, c: Vector, y: Vector) -> Vector:
        """θᵢ = 2|cᵢ| + 2√(Bᵢᵢ · cᵀB⁻¹c): a slope above θᵢ means xᵢ = 0 at the minimiser (beyond the paper).

        KKT row i of a nonzero xᵢ gives pᵢ ≤ 2|cᵢ| + 2μ|(Bx)ᵢ|, |(Bx)ᵢ| ≤ √Bᵢᵢ‖x‖_B,
        and the KKT system times xᵀ gives μ‖x‖_B ≤ (cᵀB⁻¹c)^½. It holds for both shifts.
        """
        unit = power_of_two(float(np.max(np.abs(c))))  # c² may overflow, (c/unit)² may not
        d = c / unit
        dual_norm = math.sqrt(max(0.0, float(d @ self.pencil.B_solve(d))))
        return unit * (2.0 * np.abs(d) + 2.0 * np.sqrt(self.pencil.B_diagonal) * dual_norm)

    def at_zero(self) -> tuple[float, float]:
        """(value, slope) of one coordinate's penalty at 0, with its coefficient."""
        zero = np.zeros(1)
        factor = self.rho_eps
        return factor * self.penalty.value(zero, self.eps), factor * float(self.penalty.weights(zero, self.eps)[0])

    def start(self, x0: Any = None) -> Vector:
        """x⁽⁰⁾ ∈ Ω: the leading eigenvector unless one is given."""
        if x0 is None:
            return self.pencil.leading_vector.copy()
        x = as_vector(x0, self.pencil.n, "x0")
        unit = power_of_two(float(np.max(np.abs(x))))  # xᵀBx may overflow, its root does not
        norm = unit * self.pencil.B_norm(x / unit)
        if norm > 1.0 + FEASIBILITY_SLACK:
            raise InvalidParameter(f"x0 lies outside Ω: x0ᵀBx0 = {norm * norm:.6g} > 1. Divide x0 by {norm:.6g}.")
        return x / norm if norm > 1.0 else x

    def _metric(self, x: Vector) -> Vector:
        return x if self.shift == "identity" else self.pencil.B_dot(x)


@dataclass(frozen=True, eq=False, init=False)
class SparseFDA:
    """min xᵀBx + ν_ε Σ log(ε + |xᵢ|) s.t. aᵀx = 1: sparse Fisher discriminant analysis (Eq:fdastudent).

    The rank-one case A = aaᵀ of (GEV-P), turned around: maximising (aᵀx)²/xᵀBx is minimising xᵀBx
    on the plane aᵀx = 1 (Eq:gevmin). xᵀBx is convex already, so g(x, y) − f(x) is the penalty's
    part alone and no shift is needed.

    Parameters
    ----------
    a
        The difference of the class means, not zero.
    B
        The within-class scatter, positive definite; or a Pencil that holds it, to share its factor.
    nu, eps, penalty
        ν ≥ 0, ε > 0 and the penalty; ν_ε is derived.
    """

    pencil: Pencil
    a: Vector
    nu: float
    eps: float
    penalty: Penalty

    def __init__(self, a: Any, B: Any, nu: float, eps: float = MACHINE_EPS, penalty: Penalty | None = None) -> None:
        given = as_real(a, "a", InvalidParameter)
        row = given.ravel() if given.ndim == 2 and 1 in given.shape else given
        vector = as_vector(row, B.n if isinstance(B, Pencil) else row.size, "a")
        if not np.any(vector):
            raise Infeasible("a = 0: aᵀx = 1 has no solution. The two class means coincide.")
        pencil = B if isinstance(B, Pencil) else Pencil(Gram(vector[None, :]), B)
        settings = {
            "pencil": pencil,
            "a": frozen(vector),
            "nu": as_number(nu, "nu"),
            "eps": as_eps(eps),
            "penalty": as_penalty(penalty),
        }
        for name, value in settings.items():
            object.__setattr__(self, name, value)
        refuse_size(self.a, pencil.B_diagonal)
        refuse_price(f"nu = {self.nu:g}", self.at_zero(), pencil.n)

    def with_nu(self, nu: float, eps: float | None = None) -> SparseFDA:
        """The same program at another ν (and ε), sharing what is compiled and factored."""
        return SparseFDA(self.a, self.pencil, nu, self.eps if eps is None else eps, self.penalty)

    def restrict(self, support: Index, products: int = 128) -> SparseFDA:
        """The program on a few variables, the others held at zero."""
        smaller = object.__new__(SparseFDA)
        settings = {**vars(self), "pencil": self.pencil.restrict(support, products), "a": frozen(self.a[support])}
        vars(smaller).update(settings)
        return smaller

    @cached_property
    def nu_eps(self) -> float:
        """ν_ε = ν / log(1 + 1/ε)."""
        return self.penalty.coefficient(self.nu, self.eps)

    @property
    def units(self) -> tuple[float, float]:
        """Powers of two (u, o) such that x/u and the objective/o are of size one: aᵀx = 1 fixes x's size."""
        whitened = self.a / np.sqrt(self.pencil.B_diagonal)
        size = power_of_two(float(np.max(np.abs(whitened))))
        u = 1.0 / (size * math.sqrt(power_of_four(self.pencil.B_scale)))
        return u, 1.0 / (size * size)

    def f(self, x: Vector) -> float:
        """xᵀBx + ν_ε Σ log(ε + |xᵢ|) (Eq:fdastudent)."""
        return self.pencil.B_quad(x) + self.nu_eps * self.penalty.value(x, self.eps)

    def g(self, x: Vector, y: Vector) -> float:
        """f with each log replaced by its tangent at |yᵢ|: majorises f, touches it at y."""
        w = self.penalty.weights(y, self.eps)
        tangent = self.penalty.value(y, self.eps) + float(w @ (np.abs(x) - np.abs(y)))
        return self.pencil.B_quad(x) + self.nu_eps * tangent

    def violation(self, x: Vector) -> float:
        """|aᵀx − 1|."""
        return abs(float(self.a @ x) - 1.0)

    def size(self, x: Vector) -> float:
        """The sum of the moduli of f's terms."""
        penalty = len(x) * abs(self.at_zero()[0]) + self.nu_eps * abs(self.penalty.value(x, self.eps))
        return self.pencil.B_quad(x) + penalty

    def linear(self, y: Vector) -> Vector:
        """c = 0: nothing but the penalty is linearised."""
        return np.zeros_like(y)

    def slopes(self, y: Vector) -> Vector:
        """p = ν_ε w(y)."""
        return self.nu_eps * self.penalty.weights(y, self.eps)

    def H_dot(self, x: Vector) -> Vector:
        """Hx with H = B."""
        return self.pencil.B_dot(x)

    def normal(self, x: Vector) -> Vector:
        """a (so that the KKT system reads 2Bx + p∘s + 2μa = 0)."""
        return self.a

    def slack(self, x: Vector) -> float:
        """0: an equality is always active."""
        return 0.0

    def gradient(self, x: Vector) -> Vector:
        """2Bx, the gradient of f's smooth part."""
        return 2.0 * self.pencil.B_dot(x)

    def multiplier(self, x: Vector, gradient: Vector, p: Vector) -> float:
        """μ recovered from x: the KKT system ∇ + p∘s + 2μa = 0 multiplied by xᵀ."""
        ax = float(self.a @ x)
        return -0.5 * float(gradient @ x + p @ np.abs(x)) / ax if ax != 0.0 else 0.0

    def largest_slopes(self, c: Vector, y: Vector) -> Vector:
        """θᵢ = 2F|aᵢ| + 2√(BᵢᵢF), F the surrogate's value at a feasible point near y (beyond the paper)."""
        x = self.on_plane(y)
        F = self.pencil.B_quad(x) + float(self.slopes(y) @ np.abs(x))
        return 2.0 * F * np.abs(self.a) + 2.0 * np.sqrt(self.pencil.B_diagonal * F)

    def on_plane(self, y: Vector) -> Vector:
        """The multiple of y with aᵀx = 1; the dense Fisher direction where aᵀy = 0 but for rounding."""
        ax = float(self.a @ y)
        return y / ax if abs(ax) > 1e-8 * float(np.abs(self.a) @ np.abs(y)) else self.start()

    def at_zero(self) -> tuple[float, float]:
        """(value, slope) of one coordinate's penalty at 0, with its coefficient."""
        zero = np.zeros(1)
        factor = self.nu_eps
        return factor * self.penalty.value(zero, self.eps), factor * float(self.penalty.weights(zero, self.eps)[0])

    def start(self, x0: Any = None) -> Vector:
        """x⁽⁰⁾ with aᵀx = 1: the dense Fisher direction B⁻¹a/(aᵀB⁻¹a) unless one is given (Eq:gevmin)."""
        if x0 is None:
            z = self.pencil.B_solve(self.a)
            return z / float(self.a @ z)
        x = as_vector(x0, self.pencil.n, "x0")
        with np.errstate(over="ignore", invalid="ignore"):
            ax, size = float(self.a @ x), float(np.abs(self.a) @ np.abs(x))
        if not abs(ax - 1.0) <= min(0.5, FEASIBILITY_SLACK * max(1.0, size)):
            raise InvalidParameter(f"x0 lies outside Ω: aᵀx0 = {ax:.6g}, not 1. Divide x0 by {ax:.6g}.")
        return x / ax


def expect_program(program: Any) -> Program:
    """The program, if it is one: a Pencil with f, g and a start."""
    whole = all(callable(attribute(program, name)) for name in ("f", "g", "start"))
    if not whole or not isinstance(attribute(program, "pencil"), Pencil):
        raise InvalidParameter(
            f"a program is wanted, got {type(program).__name__}: use SparseGEV(pencil, rho) or SparseFDA(a, B, nu)."
        )
    return program


def smallest_tau(pencil: Pencil, shift: Shift) -> float:
    """max(0, −λmin(A)), or max(0, −λmin(A, B)) with the metric shift (Section 3.1)."""
    if pencil.semidefinite:
        return 0.0
    return max(0.0, -(pencil.lambda_min_A if shift == "identity" else pencil.lambda_min))


def checked_tau(pencil: Pencil, shift: Shift, tau: float | None) -> float:
    """The smallest valid τ when none is given; otherwise τ, if the surrogate majorises with it."""
    if tau is None:
        return smallest_tau(pencil, shift)
    value = as_number(tau, "tau")
    least = smallest_tau(pencil, shift)
    if value < least * (1.0 - 1e-12):
        matrix = "A + τI" if shift == "identity" else "A + τB"
        raise InvalidParameter(f"tau = {value:g} is too small: {matrix} ⪰ 0 needs tau ≥ {least:.17g}.")
    return as_shift(value, pencil.A_scale / (1.0 if shift == "identity" else pencil.B_scale))
