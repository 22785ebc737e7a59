"""What the data alone prove about a vector: stationarity, descent, and its value xᵀAx/xᵀBx.

The referee imports no solver and no program: it asks the program for its gradient, its slopes and its constraint.

certify      the program's certificate of x: feasibility, stationarity, complementarity, and the sandwich along a run
renormalize  the best loadings on the support of x (Section 3.3)
value        xᵀAx/xᵀBx, in exact integers where its sums cancel
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Protocol, TypeVar

import numpy as np

from ._numerics.checks import UNIT_ROUNDOFF, Index, Vector, as_number, as_point, as_vector, frozen, shown
from ._numerics.exact_products import EXACT_ENTRIES, B_cancels, ExactPencil, exact_quotient, may_cancel
from ._numerics.spectra import power_of_two
from .errors import InvalidParameter, InvalidPencil
from .pencils import Pencil, expect_pencil

SNAP_TOL = 1e-9
"""Entries with |xᵢ|√Bᵢᵢ below this share of ‖x‖_B count as zero when stationarity is measured (beyond the paper)."""
SANDWICH_TOL = 1e-9
"""A violation of the sandwich by a larger share of f's terms is no rounding."""


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
        The KKT residual of the d.c. program at x, free of scale.
    complementarity : float
        Multiplier times slack of the constraint.
    sandwich : float
        The largest violation of f(x⁺) ≤ g(x⁺, x) ≤ f(x) along the history; 0 without one.
    snapped : int
        The number of entries that were counted as zero.
    textbook : float, optional
        The KKT residual as a textbook writes it, in the units of f; None where a program does not say.

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
    textbook: float | None = field(default=None, kw_only=True)

    @classmethod
    def of(
        cls,
        program: Any,
        history: Sequence[Any] = (),
        *,
        stationarity: float,
        feasibility: float = 0.0,
        complementarity: float = 0.0,
    ) -> Certificate:
        """The certificate of a program of your own, with the sandwich of its f and g along the history.

        Parameters
        ----------
        program : Majorized
            The program, whose f, g and size are called.
        history : sequence of Iterate
            The iterates of a run.
        stationarity : float
            How far x is from stationary, 0 where it is; free of the problem's scale if possible.
        feasibility : float
            How far x lies outside Ω.
        complementarity : float
            Multiplier times slack.

        Returns
        -------
        Certificate
            The numbers given, and the largest violation of f(x⁺) ≤ g(x⁺, x) ≤ f(x).
        """
        sandwich = sandwich_violation(program, history)
        return cls(feasibility, stationarity, complementarity, sandwich, snapped=0)

    def passes(self, tol: float = 1e-6) -> bool:
        """Is x a stationary point to the tolerance, reached without ascent? This says nothing about optimality."""
        tol = as_number(tol, "tol")
        numbers = (self.feasibility, self.stationarity, self.complementarity)
        return all(number <= tol for number in numbers) and self.sandwich <= SANDWICH_TOL

    def __str__(self) -> str:
        return (
            f"feasibility {self.feasibility:.1e}, stationarity {self.stationarity:.1e}, "
            f"complementarity {self.complementarity:.1e}, sandwich {self.sandwich:.1e}"
            f"{f', {self.snapped} entries taken as zero' if self.snapped else ''}"
        )


class PencilProgram(Protocol):
    """min f = q(x) + (a concave penalty of |x|) over Ω, on a pencil: what the referee asks of it."""

    pencil: Pencil

    def gradient(self, x: Vector) -> Vector:
        """∇q(x)."""
        ...

    def slopes(self, y: Vector) -> Vector:
        """p, the slopes of the penalty in |x| at y."""
        ...

    def normal(self, x: Vector) -> Vector:
        """Half the gradient of the constraint."""
        ...

    def multiplier(self, x: Vector, gradient: Vector, p: Vector) -> float:
        """μ recovered from x."""
        ...

    def violation(self, x: Vector) -> float:
        """How far x lies outside Ω."""
        ...

    def slack(self, x: Vector) -> float:
        """How far x lies inside the constraint; 0 where it is active."""
        ...

    def on_pencil(self, pencil: Any) -> Any:
        """The same program with another object for its products with A and B."""
        ...


class StepProgram(PencilProgram, Protocol):
    """A pencil program whose step minimises xᵀHx − 2cᵀx + pᵀ|x| over Ω."""

    def H_dot(self, x: Vector) -> Vector:
        """Hx."""
        ...

    def linear(self, y: Vector) -> Vector:
        """c at y."""
        ...


def certify(program: Any, x: Vector, history: Sequence[Any] = (), *, tol: float | None = None) -> Certificate:
    """The program's certificate of x: how feasible and stationary it is, and whether f descended (Eq:sandwich).

    For a SparseGEV or SparseFDA this is `pencil_certificate`, computed from the data. At tiny ε nearly every support
    carries a stationary point: passing means "stationary", never "optimal".

    Parameters
    ----------
    program : SparseGEV, SparseFDA, DCProgram or your own
        The program for which x should be stationary.
    x : array_like
        Any vector: a solver's answer, yours, or a guess.
    history : sequence of Iterate
        The iterates of a run, whose descent is to be checked.
    tol : float, optional
        For SparseGEV and SparseFDA: entries with |xᵢ|√Bᵢᵢ ≤ tol·‖x‖_B count as zeros, by default 1e-9.

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
    own = getattr(program, "certify", None)
    if isinstance(program, type) or not callable(own):
        raise InvalidParameter(
            f"program must be a SparseGEV, SparseFDA, DCProgram or an object with the method certify(x, history); "
            f"got {type(program).__name__}."
        )
    certificate = own(x, history) if tol is None else own(x, history, tol=tol)
    if not isinstance(certificate, Certificate):
        raise InvalidParameter(
            f"{type(program).__name__}.certify(x, history) must return a Certificate; got {shown(certificate)}."
        )
    return certificate


@np.errstate(over="ignore", invalid="ignore")  # far outside Ω the numbers overflow, and nothing passes
def pencil_certificate(program: PencilProgram, x: Any, history: Sequence[Any], tol: float) -> Certificate:
    """x is stationary for f over Ω when 0 ∈ ∇q + p∘∂|x| + 2μ·normal, μ ≥ 0 (any sign on a plane), μ·slack = 0."""
    x = as_vector(x, program.pencil.n, "x")
    check_history(history, program.pencil.n)
    exact, lost = carefully(program, x)
    kept = snap(exact, x, as_number(tol, "tol"))
    gradient, p = exact.gradient(kept), exact.slopes(kept)
    stationarity, complementarity = kkt_residuals(exact, kept, (gradient,), p)
    return Certificate(
        feasibility=exact.violation(x) + lost,
        stationarity=stationarity + lost,
        complementarity=complementarity,
        sandwich=sandwich_violation(program, history),
        snapped=int(np.count_nonzero(x) - np.count_nonzero(kept)),
        textbook=textbook_residual(exact, kept, gradient, p),
    )


# Stationarity


def textbook_residual(program: PencilProgram, x: Vector, gradient: Vector, p: Vector) -> float:
    """The largest entry of the KKT residual, with μ from the KKT system times xᵀ."""
    pull = 2.0 * program.multiplier(x, gradient, p) * program.normal(x)
    return float(kkt_rows(gradient + pull, p, x).max())


def kkt_rows(r: Vector, p: Vector, x: Vector) -> Vector:
    """|rᵢ + pᵢ sign xᵢ| on the support and max(0, |rᵢ| − pᵢ) off it, where r = ∇q + 2μ·normal: 0 means stationary."""
    return np.where(x != 0.0, np.abs(r + p * np.sign(x)), np.maximum(0.0, np.abs(r) - p))


def kkt_residuals(program: PencilProgram, x: Vector, terms: Sequence[Vector], p: Vector) -> tuple[float, float]:
    """(KKT residual, complementarity) of x for min q(x) + pᵀ|x| over Ω, ∇q the sum of the terms, free of scale.

    The textbook residual grows with A and depends on the units of each variable: 1e-6 is good for one problem and
    bad for another. So each row is divided by √Bᵢᵢ, and the whole by the largest of the terms that must cancel.
    """
    gradient = sum(terms[1:], terms[0])
    mu = program.multiplier(x, gradient, p)
    root, normal, norm = program.pencil.B_roots, program.normal(x), program.pencil.B_norm(x)
    slack, *largest = program.slack(x), *(float((np.abs(term) / root).max()) for term in (normal, *terms))

    def residuals(mu: float) -> tuple[float, float]:
        rows = kkt_rows(gradient + 2.0 * mu * normal, p, x)
        scale = max(2.0 * abs(mu) * largest[0], *largest[1:])
        return ratio(float((rows / root).max()), scale), ratio(abs(mu * slack), abs(mu) + scale * norm)

    # inside Ω the multiplier is zero; near its boundary the recovered one may fit better
    found = residuals(mu)
    return min(found, residuals(0.0), key=max) if slack > 1e-12 else found


def step_residuals(program: StepProgram, y: Vector, x: Vector) -> tuple[float, float]:
    """(KKT residual, complementarity) of x as the minimiser of g(·, y) over Ω (ALG, Eq:fdaiterative)."""
    x, y = (as_point(point, program.pencil.n, what) for point, what in ((x, "x"), (y, "y")))
    return kkt_residuals(program, x, (2.0 * program.H_dot(x), -2.0 * program.linear(y)), program.slopes(y))


def snap(program: PencilProgram, x: Vector, tol: float = SNAP_TOL) -> Vector:
    """x with zeros for the entries with |xᵢ|√Bᵢᵢ ≤ tol·‖x‖_B."""
    z = x / power_of_two(float(np.max(np.abs(x))))  # of size one, so that no square overflows
    return np.where(np.abs(z) * program.pencil.B_roots <= tol * program.pencil.B_norm(z), 0.0, x)


Judged = TypeVar("Judged", bound=PencilProgram)


def carefully(program: Judged, x: Vector) -> tuple[Judged, float]:
    """The program, with exact products where xᵀBx cancels at x; where that is too large, what may be lost."""
    if program.pencil.B is None or not B_cancels(program.pencil, x):
        return program, 0.0
    if np.count_nonzero(x) * program.pencil.n > EXACT_ENTRIES:
        return program, program.pencil.n * program.pencil.rounding(x)
    return program.on_pencil(ExactPencil(program.pencil)), 0.0


# Descent


def rounding_of(program: Any, size: float, x: Vector) -> float:
    """What f and g, sums of this size, may lose to rounding at x."""
    return program.rounding(size, x) if hasattr(program, "rounding") else 16.0 * (len(x) + 1) * UNIT_ROUNDOFF * size


@np.errstate(over="ignore", invalid="ignore")
def sandwich_violation(program: Any, history: Sequence[Any]) -> float:
    """The largest f(x⁺) − g(x⁺, x) or g(x⁺, x) − f(x) of a history, relative to the size of f's terms (Eq:sandwich).

    f and g are computed by the program, not taken from the history. For any program with f, g and size.
    """
    return max((violation_along(program, part) for part in by_support_size(history)), default=0.0)


def restricted(program: Any, support: Index) -> Any:
    """The program on these variables alone."""
    part = program.restrict(support)
    if not all(callable(getattr(part, method, None)) for method in ("f", "g", "size")):
        raise InvalidParameter(f"{type(program).__name__}.restrict(support) must return a program; got {shown(part)}.")
    return part


def by_support_size(history: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Parts of the history that share their end points; a new part when the number of nonzeros has halved."""
    cards = [np.count_nonzero(point.x) for point in history]
    begin = 0
    for end in range(1, len(history)):
        if 2 * cards[end] <= cards[begin] or end == len(history) - 1:
            yield history[begin : end + 1]
            begin = end


def violation_along(program: Any, history: Sequence[Any]) -> float:
    """The violation on the variables that are nonzero somewhere: the others add the same to f and to g."""
    points, origins = [point.x for point in history], [point.origin for point in history[1:]]
    support = np.flatnonzero(reduce(np.logical_or, [*points, *(y for y in origins if y is not None)]))
    if hasattr(program, "restrict") and 0 < len(support) < len(points[0]):
        points = [frozen(x[support]) for x in points]
        origins = [None if y is None else frozen(y[support]) for y in origins]
        program = restricted(program, support)
    return largest_rise(program, points, origins)


def largest_rise(program: Any, points: Sequence[Vector], origins: Sequence[Vector | None]) -> float:
    """The largest violation along these points; a surrogate touches f at its origin, None for the point before."""
    worst, f_before = 0.0, program.f(points[0])
    for before, after, origin in zip(points[:-1], points[1:], origins, strict=True):
        y, f_y = (before, f_before) if origin is None else (origin, program.f(origin))
        g, f_after = program.g(after, y), program.f(after)
        if not f_after <= g <= f_y <= f_before:  # NaN is not descent
            size = max(program.size(before), program.size(after))
            rise = float(np.max((f_after - g, g - f_y, f_y - f_before)))
            worst = max(worst, ratio(rise - rounding_of(program, size, after), size))
        f_before = f_after
    return worst


def check_history(history: Any, n: int) -> None:
    """Raise unless history is a list or tuple of iterates in n variables."""
    whole = isinstance(history, (list, tuple)) and all(np.shape(getattr(point, "x", 0)) == (n,) for point in history)
    if not whole:
        raise InvalidParameter(
            f"history = {shown(history)} must hold iterates of length {n}, as MMResult.history does."
        )


# The value of a support


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
        found = float(exact_quotient(pencil, x)) if may_cancel(pencil, x, a, b) else a / b
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise InvalidPencil("xᵀAx/xᵀBx overflows: divide A by 1e100, or multiply B.")
    return found


def length(pencil: Pencil, x: Vector) -> float:
    """‖x‖_B, in exact integers where its sum cancels."""
    exact = B_cancels(pencil, x) and np.count_nonzero(x) ** 2 <= EXACT_ENTRIES
    return (ExactPencil(pencil) if exact else pencil).B_norm(x)


def ratio(part: float, whole: float) -> float:
    """part/whole, 0 when the part is 0, and infinite rather than NaN."""
    if part == 0.0:
        return 0.0
    value = part / whole if whole > 0.0 else float("inf")
    return value if value == value else float("inf")
