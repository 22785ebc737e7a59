"""The d.c. programs: the objective f to minimise over Ω, and the surrogate g that majorises it (Sections 3 and 6).

    SparseGEV   f(x) = ρ_ε Σ log(|xᵢ| + ε) − xᵀAx    Ω = {xᵀBx ≤ 1}    (SGEV-A)
    SparseFDA   f(x) = xᵀBx + ν_ε Σ log(|xᵢ| + ε)    Ω = {aᵀx = 1}     (Eq:fdastudent)

MM minimises g(·, y) over Ω, where g(x, y) ≥ f(x) and g(x, x) = f(x) (Eq:majorize-f): one step minimises
xᵀHx − 2cᵀx + pᵀ|x| over Ω, where c = `linear(y)` and p = `slopes(y)`.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import numpy as np

from ._numerics import checks
from ._numerics.checks import UNIT_ROUNDOFF, Index, Vector, as_number, as_real, as_vector, frozen
from ._numerics.spectra import power_of_two
from .errors import Infeasible, InvalidParameter
from .penalties import Penalty, as_eps, as_penalty, card
from .pencils import Gram, Pencil, expect_pencil

Shift: TypeAlias = Literal["identity", "metric"]

MACHINE_EPS = float(np.finfo(np.float64).eps)
"""The default ε, as in the paper: an entry between 0.1 and 10 then counts between 0.93 and 1.07 in ‖x‖_ε."""
FEASIBILITY_SLACK = 1e-9
"""A start this far outside Ω counts as rounded, and is moved into Ω."""


@dataclass(frozen=True, eq=False, init=False)
class SparseGEV:
    """The sparse generalized eigenvalue problem as a d.c. program (SGEV-A, Eq:tau).

    min f(x) = ρ_ε Σ log(|xᵢ| + ε) − xᵀAx  s.t.  xᵀBx ≤ 1. With M = I (shift="identity", the paper's) or M = B
    (shift="metric", beyond the paper) the split is f = u − v with v = xᵀ(A + τM)x convex; g linearises v and the
    concave penalty at y. f does not depend on M or τ; g does, and for the log penalty exactly

        g(x, y) − f(x) = (x−y)ᵀ(A + τM)(x−y) + ρ_ε Σ [t − log(1 + t)],  t = (|xᵢ| − |yᵢ|)/(|yᵢ| + ε).

    Both terms are nonnegative, which is all that MM needs.

    Parameters
    ----------
    pencil : Pencil
        (A, B).
    rho : float
        ρ̃ ≥ 0, the price of one nonzero; ρ_ε is derived from it.
    eps : float
        ε > 0.
    tau : float, optional
        At least max(0, −λmin(A)), or max(0, −λmin(A, B)) with the metric shift: the default. 0 for A ⪰ 0.
    shift : {"identity", "metric"}
        Whether M = I or M = B.
    penalty : Penalty, optional
        LogPenalty() (the paper's, the default), L1Penalty() (SCoTLASS) or ExponentialPenalty().

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
    coefficient: float = field(repr=False)

    def __init__(
        self,
        pencil: Pencil,
        rho: float,
        eps: float = MACHINE_EPS,
        tau: float | None = None,
        shift: Shift = "identity",
        penalty: Penalty | None = None,
    ) -> None:
        expect_pencil(pencil)
        checks.one_of(shift, "shift", ("identity", "metric"))
        vars(self).update(pencil=pencil, shift=shift, tau=checked_tau(pencil, shift, tau))
        set_penalty(self, "rho", rho, eps, penalty)

    def f(self, x: Vector) -> float:
        """f(x) = ρ_ε Σ log(ε + |xᵢ|) − xᵀAx: τ cancels (Eq:f)."""
        return penalty_value(self, x) - self.pencil.A_quad(x)

    def g(self, x: Vector, y: Vector) -> float:
        """g(x, y), which majorises f and touches it at y (Eq:majorize-f).

        The penalty is replaced by its tangent in |x| at |y|, which lies above it because log is concave (Eq:log);
        −xᵀ(A+τI)x by its tangent plane, which lies above it because A + τI ⪰ 0 (Eq:difftau). The quadratic terms
        τ‖x‖² − 2xᵀ(A+τI)y + yᵀ(A+τI)y are summed as τ‖x−y‖² − 2xᵀAy + yᵀAy, so that g(x, x) = f(x) for any τ.
        """
        d = x - y
        quadratic = self.tau * float(d @ self._M_dot(d)) - self.pencil.A_inner(x + d, y)
        return quadratic + penalty_tangent(self, x, y)

    def violation(self, x: Vector) -> float:
        """How far x lies outside Ω: max(0, xᵀBx − 1)."""
        return max(0.0, self.pencil.B_quad(x) - 1.0)

    def slack(self, x: Vector) -> float:
        """1 − xᵀBx."""
        return 1.0 - self.pencil.B_quad(x)

    @property
    def rho_eps(self) -> float:
        """ρ_ε = ρ̃ / log(1 + 1/ε), the factor before the penalty."""
        return self.coefficient

    def Q(self, x: Vector) -> float:
        """Q(x) = xᵀAx − ρ̃‖x‖₀ (SGEV-R)."""
        return self.pencil.A_quad(x) - self.rho * card(x)

    def Q_eps(self, x: Vector) -> float:
        """Q_ε(x) = xᵀAx − ρ̃‖x‖_ε, which is −f up to a constant (Eq:GEV-sparse-approx-1)."""
        return self.pencil.A_quad(x) - penalty_value(self, x) + penalty_value(self, np.zeros_like(x))

    def slopes(self, y: Vector) -> Vector:
        """p = ρ_ε w(y)."""
        return self.coefficient * self.penalty.weights(y, self.eps)

    def linear(self, y: Vector) -> Vector:
        """c = (A + τI)y, or (A + τB)y with the metric shift."""
        return self.pencil.A_dot(y) + self.tau * self._M_dot(y)

    def H_dot(self, x: Vector) -> Vector:
        """Hx with H = τI or τB."""
        return self.tau * self._M_dot(x)

    def gradient(self, x: Vector) -> Vector:
        """−2Ax, the gradient of f's smooth part."""
        return -2.0 * self.pencil.A_dot(x)

    def normal(self, x: Vector) -> Vector:
        """Bx, half the gradient of the constraint."""
        return self.pencil.B_dot(x)

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
        return unit * (2.0 * np.abs(d) + 2.0 * self.pencil.B_roots * dual_norm)

    def start(self, x0: Any = None) -> Vector:
        """x⁽⁰⁾ ∈ Ω: the leading eigenvector unless one is given."""
        if x0 is None:
            return self.pencil.leading_vector.copy()
        x = given_start(self.pencil, x0)
        unit = power_of_two(float(np.max(np.abs(x))))  # xᵀBx may overflow, its root does not
        norm = unit * self.pencil.B_norm(x / unit)
        if norm > 1.0 + FEASIBILITY_SLACK:
            raise InvalidParameter(f"x0 lies outside Ω: x0ᵀBx0 = {norm * norm:.6g} > 1. Divide x0 by {norm:.6g}.")
        return x / norm if norm > 1.0 else x

    def with_rho(self, rho: float, eps: float | None = None) -> SparseGEV:
        """The same program at another ρ̃ (and ε), sharing the pencil and all that was computed for it."""
        return SparseGEV(self.pencil, rho, self.eps if eps is None else eps, self.tau, self.shift, self.penalty)

    def restrict(self, support: Index) -> SparseGEV:
        """The program on a few variables, the others held at zero; the same τ stays valid."""
        smaller = copy(self)
        vars(smaller)["pencil"] = self.pencil.restrict(support)
        return smaller

    def size(self, x: Vector) -> float:
        """The sum of the moduli of f's terms, against which its rounding error is measured."""
        return abs(self.pencil.A_quad(x)) + penalty_size(self, x) + self.tau * float(x @ self._M_dot(x))

    def rounding(self, size: float, x: Vector) -> float:
        """What f and g, sums of this size, may lose to rounding."""
        return size * self.pencil.rounding(x)

    def norm(self, x: Vector) -> float:
        """‖x‖_B, in which steps are measured."""
        return self.pencil.B_norm(x)

    def name(self, i: int) -> str:
        """The name of variable i."""
        return self.pencil.name(i)

    def collapsed(self, x: Vector) -> bool:
        """Is x zero up to rounding, and f no larger at 0?"""
        return self.norm(x) <= UNIT_ROUNDOFF and self.f(np.zeros_like(x)) <= self.f(x)

    def _M_dot(self, x: Vector) -> Vector:
        return x if self.shift == "identity" else self.pencil.B_dot(x)


@dataclass(frozen=True, eq=False, init=False)
class SparseFDA:
    """Sparse Fisher discriminant analysis as a d.c. program (Eq:fdastudent).

    min f(x) = xᵀBx + ν_ε Σ log(ε + |xᵢ|)  s.t.  aᵀx = 1: the rank-one case A = aaᵀ of (GEV-P), where maximising
    (aᵀx)²/xᵀBx is minimising xᵀBx on the plane aᵀx = 1 (Eq:gevmin). xᵀBx is convex already, so that only the
    penalty is linearised and no shift is needed.

    Parameters
    ----------
    a : array_like
        The difference of the class means, not zero.
    B : array_like or Pencil
        The within-class scatter, positive definite; or a Pencil with this B, to share its factor.
    nu : float
        ν ≥ 0, the price of one nonzero; ν_ε is derived from it.
    eps : float
        ε > 0.
    penalty : Penalty, optional
        LogPenalty() (the paper's, the default), L1Penalty() or ExponentialPenalty().

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import SparseFDA
    >>> program = SparseFDA([1.0, 2.0], np.eye(2), nu=0.5, eps=0.1)
    >>> program.start(), program.violation(np.array([1.0, 0.5]))
    (array([0.2, 0.4]), 1.0)
    """

    pencil: Pencil
    a: Vector
    nu: float
    eps: float
    penalty: Penalty
    coefficient: float = field(repr=False)

    def __init__(self, a: Any, B: Any, nu: float, eps: float = MACHINE_EPS, penalty: Penalty | None = None) -> None:
        given = as_real(a, "a", InvalidParameter)
        row = given.ravel() if given.ndim == 2 and 1 in given.shape else given
        vector = as_vector(row, B.n if isinstance(B, Pencil) else row.size, "a")
        if not np.any(vector):
            raise Infeasible("a = 0: aᵀx = 1 has no solution. The two class means coincide.")
        pencil = B if isinstance(B, Pencil) else Pencil(Gram(vector[None, :]), B)
        check_fisher_size(vector, pencil)
        vars(self).update(pencil=pencil, a=frozen(vector))
        set_penalty(self, "nu", nu, eps, penalty)

    def f(self, x: Vector) -> float:
        """f(x) = xᵀBx + ν_ε Σ log(ε + |xᵢ|) (Eq:fdastudent)."""
        return self.pencil.B_quad(x) + penalty_value(self, x)

    def g(self, x: Vector, y: Vector) -> float:
        """g(x, y): f with each log replaced by its tangent at |yᵢ|."""
        return self.pencil.B_quad(x) + penalty_tangent(self, x, y)

    def violation(self, x: Vector) -> float:
        """|aᵀx − 1|."""
        return abs(float(self.a @ x) - 1.0)

    def slack(self, x: Vector) -> float:
        """0: an equality is always active."""
        return 0.0

    @property
    def nu_eps(self) -> float:
        """ν_ε = ν / log(1 + 1/ε)."""
        return self.coefficient

    def slopes(self, y: Vector) -> Vector:
        """p = ν_ε w(y)."""
        return self.coefficient * self.penalty.weights(y, self.eps)

    def linear(self, y: Vector) -> Vector:
        """c = 0: only the penalty is linearised."""
        return np.zeros_like(y)

    def H_dot(self, x: Vector) -> Vector:
        """Hx with H = B."""
        return self.pencil.B_dot(x)

    def gradient(self, x: Vector) -> Vector:
        """2Bx, the gradient of f's smooth part."""
        return 2.0 * self.pencil.B_dot(x)

    def normal(self, x: Vector) -> Vector:
        """a, so that the KKT system reads 2Bx + p∘s + 2μa = 0."""
        return self.a

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
        """The multiple of y with aᵀx = 1; the dense Fisher direction where aᵀy = 0 up to rounding."""
        ax = float(self.a @ y)
        return y / ax if abs(ax) > 1e-8 * float(np.abs(self.a) @ np.abs(y)) else self.start()

    def start(self, x0: Any = None) -> Vector:
        """x⁽⁰⁾ with aᵀx = 1: the dense Fisher direction B⁻¹a/(aᵀB⁻¹a) unless one is given (Eq:gevmin)."""
        if x0 is None:
            z = self.pencil.B_solve(self.a)
            return z / float(self.a @ z)
        x = given_start(self.pencil, x0)
        with np.errstate(over="ignore", invalid="ignore"):
            ax, size = float(self.a @ x), float(np.abs(self.a) @ np.abs(x))
        if not abs(ax - 1.0) <= min(0.5, FEASIBILITY_SLACK * max(1.0, size)):
            raise InvalidParameter(f"x0 lies outside Ω: aᵀx0 = {ax:.6g}, not 1. Divide x0 by {ax:.6g}.")
        return x / ax

    def with_nu(self, nu: float, eps: float | None = None) -> SparseFDA:
        """The same program at another ν (and ε), sharing the pencil and all that was computed for it."""
        return SparseFDA(self.a, self.pencil, nu, self.eps if eps is None else eps, self.penalty)

    def restrict(self, support: Index) -> SparseFDA:
        """The program on a few variables, the others held at zero."""
        smaller = copy(self)
        vars(smaller).update(pencil=self.pencil.restrict(support), a=frozen(self.a[support]))
        return smaller

    def size(self, x: Vector) -> float:
        """The sum of the moduli of f's terms, against which its rounding error is measured."""
        return self.pencil.B_quad(x) + penalty_size(self, x)

    def rounding(self, size: float, x: Vector) -> float:
        """What f and g, sums of this size, may lose to rounding."""
        return size * self.pencil.rounding(x)

    def norm(self, x: Vector) -> float:
        """‖x‖_B, in which steps are measured."""
        return self.pencil.B_norm(x)

    def name(self, i: int) -> str:
        """The name of variable i."""
        return self.pencil.name(i)

    def collapsed(self, x: Vector) -> bool:
        """Is x = 0? No point with aᵀx = 1 is."""
        return not x.any()


Program: TypeAlias = SparseGEV | SparseFDA


def penalty_value(program: Program, x: Vector) -> float:
    """ρ_ε Σ φ(|xᵢ|), or with ν_ε."""
    return program.coefficient * program.penalty.value(x, program.eps)


def penalty_tangent(program: Program, x: Vector, y: Vector) -> float:
    """The tangent of the penalty in |x| at |y|, which lies above it because φ is concave (Eq:log)."""
    rise = float(program.penalty.weights(y, program.eps) @ (np.abs(x) - np.abs(y)))
    return program.coefficient * (program.penalty.value(y, program.eps) + rise)


def penalty_at_zero(program: Program) -> tuple[float, float]:
    """(value, slope) at 0 of one coordinate's penalty."""
    zero = np.zeros(1)
    return penalty_value(program, zero), program.coefficient * float(program.penalty.weights(zero, program.eps)[0])


def penalty_size(program: Program, x: Vector) -> float:
    """The sum of the moduli of the penalty's terms."""
    return len(x) * abs(penalty_at_zero(program)[0]) + abs(penalty_value(program, x))


def set_penalty(program: Program, letter: str, price: float, eps: float, penalty: Penalty | None) -> None:
    """Set the price ρ̃ or ν, ε, the penalty and its coefficient; raise where the slopes at zero overflow."""
    price, eps = as_number(price, letter), as_eps(eps)
    penalty = as_penalty(penalty, eps)
    coefficient = penalty.coefficient(price, eps)
    vars(program).update({letter: price, "eps": eps, "penalty": penalty, "coefficient": coefficient})
    if not math.isfinite(program.pencil.n * max(map(abs, penalty_at_zero(program)))):
        raise InvalidParameter(
            f"{letter} = {price:g} is too large at eps = {eps:g}: the slope of the penalty at 0 overflows. "
            f"Lower {letter} or raise eps."
        )


def given_start(pencil: Pencil, x0: Any) -> Vector:
    """A start that the user gave, as a vector in the order of the variables."""
    checks.check_order(pencil.names, getattr(x0, "index", None), "the variables", "x0")
    return as_vector(x0, pencil.n, "x0")


def smallest_tau(pencil: Pencil, shift: Shift) -> float:
    """max(0, −λmin(A)), or max(0, −λmin(A, B)) with the metric shift (Section 3.1)."""
    if pencil.semidefinite:
        return 0.0
    return max(0.0, -(pencil.lambda_min_A if shift == "identity" else pencil.lambda_min))


def checked_tau(pencil: Pencil, shift: Shift, tau: float | None) -> float:
    """The smallest valid τ when none is given; otherwise τ, if g majorises f with it."""
    least = smallest_tau(pencil, shift)
    if tau is None:
        return least
    value = as_number(tau, "tau")
    if value < least * (1.0 - 1e-12):
        matrix = "A + τI" if shift == "identity" else "A + τB"
        raise InvalidParameter(f"tau = {value:g} is too small: {matrix} ⪰ 0 needs tau ≥ {least:.17g}.")
    return value


def expect_program(program: Any) -> Program:
    """The program, if it is one over a pencil."""
    if not isinstance(program, (SparseGEV, SparseFDA)):
        raise InvalidParameter(
            f"program must be SparseGEV(pencil, rho) or SparseFDA(a, B, nu), got {type(program).__name__}."
        )
    return program


def check_fisher_size(a: Vector, pencil: Pencil) -> None:
    """Raise for a and B whose Fisher ratios a²/B, or the squares on the way, leave floating point."""
    size, metric, most = math.log10(checks.largest(a)), math.log10(pencil.B_scale), checks.LARGEST_POWER
    ratio = 2.0 * size - metric
    if max(abs(size), abs(metric), abs(ratio)) > most:
        raise InvalidParameter(
            f"a of size 1e{size:+.0f} and B of size 1e{metric:+.0f} give Fisher ratios near 1e{ratio:+.0f}: "
            f"sizes and ratios must lie between 1e-{most} and 1e{most}. Rescale a and B."
        )
