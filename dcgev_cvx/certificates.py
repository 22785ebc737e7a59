"""What the data alone prove about a vector: stationarity, descent, and its value xᵀAx/xᵀBx. Never imports a solver.

certify      feasibility, stationarity and complementarity of x, and the sandwich inequality along a run
renormalize  the best loadings on the support of x (Section 3.3)
value        xᵀAx/xᵀBx, in exact integers where its sums cancel
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np

from ._numerics.checks import Index, Vector, as_number, as_point, as_vector, shown
from ._numerics.exact_products import exact_product, rounded_product
from ._numerics.proofs import TINY
from ._numerics.spectra import power_of_two
from .errors import InvalidParameter, InvalidPencil
from .pencils import Gram, Pencil, expect_pencil
from .programs import Program, expect_program, penalty_at_zero

SNAP_TOL = 1e-9
"""Entries with |xᵢ|√Bᵢᵢ below this share of ‖x‖_B count as zero when stationarity is measured (beyond the paper)."""
CANCELLATION = 1e4
"""A sum whose terms are this much larger has lost four digits: it is computed in exact integers."""
EXACT_ENTRIES = 40_000
"""The largest matrix for which that takes some hundredths of a second."""


@dataclass(frozen=True)
class Certificate:
    """Four numbers computed from the data; zero is perfect, and none depends on the scale of the problem.

    Entries below `SNAP_TOL` count as zero when stationarity is measured: 1e-9 where 0 belongs would otherwise make
    the residual of order one, since the slope at zero is ρ_ε/ε.

    Parameters
    ----------
    feasibility : float
        How far x lies outside Ω.
    stationarity : float
        The KKT residual of the d.c. program at x.
    complementarity : float
        Multiplier times slack of the constraint.
    sandwich : float
        The largest violation of f(x⁺) ≤ g(x⁺, x) ≤ f(x) along the history; 0 without one.
    snapped : int
        The number of entries that were counted as zero.

    Examples
    --------
    >>> from dcgev_cvx import datasets, sparse_gev
    >>> certificate = sparse_gev(datasets.pitprops(), rho=4.84).certificate
    >>> certificate.passes(), certificate.stationarity < 1e-6
    (True, True)
    """

    feasibility: float
    stationarity: float
    complementarity: float
    sandwich: float
    snapped: int

    def passes(self, tol: float = 1e-6) -> bool:
        """Is x a stationary point to the tolerance, reached without ascent? This says nothing about optimality."""
        tol = as_number(tol, "tol")
        numbers = (self.feasibility, self.stationarity, self.complementarity)
        return all(number <= tol for number in numbers) and self.sandwich <= 1e-9

    def __str__(self) -> str:
        return (
            f"feasibility {self.feasibility:.1e}, stationarity {self.stationarity:.1e}, "
            f"complementarity {self.complementarity:.1e}, sandwich {self.sandwich:.1e}"
            f"{f', {self.snapped} entries taken as zero' if self.snapped else ''}"
        )


@np.errstate(over="ignore", invalid="ignore")  # far outside Ω the numbers overflow, and nothing passes
def certify(program: Program, x: Vector, history: Sequence[Any] = (), *, tol: float = SNAP_TOL) -> Certificate:
    """Feasibility, stationarity and complementarity of x, and the sandwich along its history (Eq:sandwich).

    x is stationary for f over Ω when 0 ∈ ∇(smooth part) + ρ_ε w∘∂|x| + 2μ·normal with μ ≥ 0 and μ·slack = 0. With μ
    recovered from x (the system times xᵀ) the residual is |rᵢ + pᵢ sign xᵢ| on the support and max(0, |rᵢ| − pᵢ) off
    it. At tiny ε the second is nearly always 0, so that nearly every support carries a stationary point: passing
    means "stationary", never "optimal".

    Parameters
    ----------
    program : SparseGEV or SparseFDA
        The program for which x should be stationary.
    x : array_like
        Any vector: a solver's answer, yours, or a guess.
    history : sequence of Iterate
        The iterates of a run, whose descent is to be checked.
    tol : float
        Entries with |xᵢ|√Bᵢᵢ ≤ tol·‖x‖_B count as zeros.

    Returns
    -------
    Certificate
        The four numbers.

    Examples
    --------
    >>> from dcgev_cvx import SparseGEV, certify, datasets, sparse_gev
    >>> pencil = datasets.pitprops()
    >>> program = SparseGEV(pencil, rho=4.84)
    >>> certify(program, sparse_gev(pencil, rho=4.84).x).passes()
    True
    >>> certify(program, 0.9 * sparse_gev(pencil, rho=4.84).x).passes()
    False
    """
    x = as_vector(x, expect_program(program).pencil.n, "x")
    check_history(history, program.pencil.n)
    exact, lost = carefully(program, x)
    kept = snap(exact, x, as_number(tol, "tol"))
    stationarity, complementarity = kkt_residuals(exact, kept, (exact.gradient(kept),), exact.slopes(kept))
    return Certificate(
        feasibility=exact.violation(x) + lost,
        stationarity=stationarity + lost,
        complementarity=complementarity,
        sandwich=sandwich_violation(program, history),
        snapped=int(np.count_nonzero(x) - np.count_nonzero(kept)),
    )


def renormalize(pencil: Pencil, x: Vector) -> Vector:
    """Variational renormalization: the leading eigenvector of (A_k, B_k) on the support of x, unit in the B norm.

    Its value xᵀAx/xᵀBx is the best on that support. The sign is chosen to agree with x.

    Parameters
    ----------
    pencil : Pencil
        (A, B).
    x : array_like
        A vector with at least one nonzero.

    Returns
    -------
    ndarray
        The eigenvector, with exact zeros off the support.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import Pencil, renormalize
    >>> pencil = Pencil([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 9.0]])
    >>> renormalize(pencil, np.array([1.0, 0.2, 0.0])).round(4)
    array([0.7071, 0.7071, 0.    ])
    """
    x = as_vector(x, expect_pencil(pencil).n, "x")
    support = np.flatnonzero(x)
    if not len(support):
        raise InvalidParameter("x = 0 has no support to renormalize on: lower rho.")
    z = on_support(pencil, support)
    z = z / length(pencil, z)
    return z if float(pencil.B_dot(z) @ x) >= 0.0 else -z


def on_support(pencil: Pencil, support: Index) -> Vector:
    """The leading eigenvector of the principal sub-pencil, embedded with exact zeros."""
    x = np.zeros(pencil.n)
    x[support] = pencil.restrict(support).leading_vector
    return x


def value(pencil: Pencil, x: Vector) -> float:
    """The generalized Rayleigh quotient xᵀAx/xᵀBx, in exact integers where its sums cancel (GEV-P).

    Along the small eigenvalues of an ill-conditioned B the terms of xᵀBx are up to cond(B) times their sum; in
    floating point a value could then exceed a proved bound.

    >>> import numpy as np
    >>> from dcgev_cvx import Pencil
    >>> from dcgev_cvx.certificates import value
    >>> value(Pencil(np.eye(2), [[1.0, 1.0 - 1e-13], [1.0 - 1e-13, 1.0]]), np.array([1.0, -0.7])) < 1.49 / 0.09
    True
    """
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = pencil.A_quad(x), pencil.B_quad(x)
    try:
        found = float(exact_value(pencil, x)) if may_cancel(pencil, x, a, b) else a / b
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise InvalidPencil("xᵀAx/xᵀBx overflows: divide A by 1e100, or multiply B.")
    return found


def may_cancel(pencil: Pencil, x: Vector, a: float, b: float) -> bool:
    """May the terms of a = xᵀAx or b = xᵀBx exceed CANCELLATION times their sum, or underflow?

    The terms of a are at most max|Aᵢⱼ|·‖x‖₁².
    """
    s = np.count_nonzero(x)
    rows = pencil.A.rows if isinstance(pencil.A, Gram) else s
    if not pencil.A_scale or s * max(rows, s) > EXACT_ENTRIES:
        return False
    l1 = float(np.sum(np.abs(x)))
    return not TINY < pencil.A_scale * l1 * l1 <= CANCELLATION * abs(a) or b == 0.0 or B_cancels(pencil, x)


def B_cancels(pencil: Pencil, x: Vector) -> bool:
    """Do the terms of xᵀBx, bounded by (Σ √Bᵢᵢ|xᵢ|)², exceed CANCELLATION times their sum?"""
    if pencil.B is None or not x.any():
        return False
    z = x / power_of_two(float(np.max(np.abs(x))))
    return float(np.abs(z) @ pencil.B_roots) ** 2 > CANCELLATION * pencil.B_quad(z)


def length(pencil: Pencil, x: Vector) -> float:
    """‖x‖_B, in exact integers where its sum cancels."""
    exact = B_cancels(pencil, x) and np.count_nonzero(x) ** 2 <= EXACT_ENTRIES
    return (ExactPencil.of(pencil) if exact else pencil).B_norm(x)


def carefully(program: Any, x: Vector) -> tuple[Any, float]:
    """The program, with exact products where xᵀBx cancels at x; where that is too large, what may be lost."""
    if not B_cancels(program.pencil, x):
        return program, 0.0
    if np.count_nonzero(x) * program.pencil.n > EXACT_ENTRIES:
        return program, program.pencil.n * program.pencil.rounding(x)
    exact = object.__new__(type(program))
    vars(exact).update(vars(program) | {"pencil": ExactPencil.of(program.pencil)})
    return exact, 0.0


class ExactPencil(Pencil):
    """A pencil whose products with A and B are computed in integers and rounded once."""

    @staticmethod
    def of(pencil: Pencil) -> ExactPencil:
        """The same matrices."""
        made = object.__new__(ExactPencil)
        vars(made).update(vars(pencil))
        return made

    def A_dot(self, x: Vector) -> Vector:
        """Ax."""
        if isinstance(self.A, Gram):
            return super().A_dot(x) if self.A.implicit is not None else rounded_product(self.A.C.T, self.A.C, x)
        return rounded_product(self.A, x)

    def B_dot(self, x: Vector) -> Vector:
        """Bx."""
        return x if self.B is None else rounded_product(self.B, x)

    def B_quad(self, x: Vector) -> float:
        """xᵀBx."""
        support = np.flatnonzero(x)
        return float(rounded_product(x[None, support], self.B_sub(support), x[support])[0])


def exact_value(pencil: Pencil, x: Vector) -> Fraction:
    """xᵀAx/xᵀBx without rounding."""
    support = np.flatnonzero(x)
    z, A = x[support], pencil.A
    if isinstance(A, Gram) and A.implicit is None:
        factors = A.C[:, support].T, A.C[:, support]
    else:
        factors = (pencil.A_sub(support),)
    (a,), (b,) = exact_product(z[None], *factors, z), exact_product(z[None], pencil.B_sub(support), z)
    return a / b


def step_residuals(program: Program, y: Vector, x: Vector) -> tuple[float, float]:
    """(KKT residual, complementarity) of x as the minimiser of g(·, y) over Ω (ALG, Eq:fdaiterative)."""
    x, y = (as_point(point, program.pencil.n, what) for point, what in ((x, "x"), (y, "y")))
    return kkt_residuals(program, x, (2.0 * program.H_dot(x), -2.0 * program.linear(y)), program.slopes(y))


def kkt_residuals(program: Program, x: Vector, terms: Sequence[Vector], p: Vector) -> tuple[float, float]:
    """(KKT residual, complementarity) of x for min q(x) + pᵀ|x| over Ω, where ∇q is the sum of the terms.

    With r = ∇q + 2μ·normal: |rᵢ + pᵢ sign xᵢ| on the support and max(0, |rᵢ| − pᵢ) off it, divided by √Bᵢᵢ and by
    the largest of the terms that must cancel.
    """
    gradient = sum(terms[1:], terms[0])
    mu = program.multiplier(x, gradient, p)
    root, normal, norm = program.pencil.B_roots, program.normal(x), program.pencil.B_norm(x)
    slack, largest = program.slack(x), max(float((np.abs(term) / root).max()) for term in terms)

    def residuals(mu: float) -> tuple[float, float]:
        pull = 2.0 * mu * normal
        r = gradient + pull
        raw = np.where(x != 0.0, np.abs(r + p * np.sign(x)), np.maximum(0.0, np.abs(r) - p))
        scale = max(largest, float((np.abs(pull) / root).max()))
        return ratio(float((raw / root).max()), scale), ratio(abs(mu * slack), abs(mu) + scale * norm)

    # inside Ω the multiplier is zero; near its boundary the recovered one may fit better
    found = residuals(mu)
    return min(found, residuals(0.0), key=max) if slack > 1e-12 else found


@np.errstate(over="ignore", invalid="ignore")
def sandwich_violation(program: Program, history: Sequence[Any]) -> float:
    """The largest f(x⁺) − g(x⁺, x) or g(x⁺, x) − f(x) of a history, relative to the size of f's terms (Eq:sandwich).

    f and g are computed from the data, not taken from the history.
    """
    return max((violation_on_support(program, part) for part in by_support_size(history)), default=0.0)


def by_support_size(history: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Parts of the history that share their end points; a new part when the number of nonzeros has halved."""
    cards = [np.count_nonzero(point.x) for point in history]
    begin = 0
    for end in range(1, len(history)):
        if 2 * cards[end] <= cards[begin] or end == len(history) - 1:
            yield history[begin : end + 1]
            begin = end


def violation_on_support(program: Program, history: Sequence[Any]) -> float:
    """The violation on the variables that are nonzero somewhere: the others add the same to f and to g."""
    points = [point.x for point in history]
    origins = [before.x if after.origin is None else after.origin for before, after in pairwise(history)]
    support, part = np.flatnonzero(reduce(np.logical_or, [*points, *origins])), program
    if 0 < len(support) < program.pencil.n:
        part = program.restrict(support)
        points, origins = [x[support] for x in points], [y[support] for y in origins]
    dropped = 2.0 * (program.pencil.n - part.pencil.n) * abs(penalty_at_zero(program)[0])
    worst, f_before = 0.0, part.f(points[0])
    for before, after, y in zip(points[:-1], points[1:], origins, strict=True):
        f_y = f_before if np.array_equal(y, before) else part.f(y)
        g, f_after = part.g(after, y), part.f(after)
        rises = (f_after - g, g - f_y, f_y - f_before)
        if not all(rise <= 0.0 for rise in rises):  # NaN is not descent
            size = dropped + max(part.size(before), part.size(after))
            worst = max(worst, ratio(float(np.max(rises)) - part.rounding(size, after), size))
        f_before = f_after
    return worst


def snap(program: Program, x: Vector, tol: float = SNAP_TOL) -> Vector:
    """x with zeros for the entries with |xᵢ|√Bᵢᵢ ≤ tol·‖x‖_B."""
    z = x / power_of_two(float(np.max(np.abs(x))))  # of size one, so that no square overflows
    return np.where(np.abs(z) * program.pencil.B_roots <= tol * program.pencil.B_norm(z), 0.0, x)


def ratio(part: float, whole: float) -> float:
    """part/whole, 0 when the part is 0, and infinite rather than NaN."""
    if part == 0.0:
        return 0.0
    value = part / whole if whole > 0.0 else float("inf")
    return value if value == value else float("inf")


def check_history(history: Any, n: int) -> None:
    """Raise unless history is a list or tuple of iterates in n variables."""
    whole = isinstance(history, (list, tuple)) and all(np.shape(getattr(point, "x", 0)) == (n,) for point in history)
    if not whole:
        raise InvalidParameter(
            f"history = {shown(history)} must hold iterates of length {n}, as MMResult.history does."
        )
