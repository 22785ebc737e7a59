"""The referee: what can be proved about a vector from the data alone. Never imports a solver."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from ._numerics.checks import (
    Index,
    Matrix,
    Vector,
    as_number,
    as_point,
    as_vector,
    frozen,
    is_whole,
    shown,
)
from ._numerics.proofs import TINY
from ._numerics.spectra import power_of_two
from .errors import InvalidParameter, InvalidPencil
from .pencils import Gram, Pencil, expect_pencil
from .programs import Program, expect_program

SNAP_TOL = 1e-9
"""Entries with |xᵢ|√Bᵢᵢ below this share of ‖x‖_B count as zero when stationarity is judged (beyond the paper)."""


class Move(Protocol):
    """What the sandwich inequality needs of an iterate."""

    @property
    def x(self) -> Vector:
        """The point."""
        ...

    @property
    def f(self) -> float:
        """F there."""
        ...

    @property
    def origin(self) -> Vector | None:
        """Where the surrogate touches f, when not at the previous iterate."""
        ...


@dataclass(frozen=True)
class Certificate:
    """Four numbers computed from the data; zero is perfect, each is free of the problem's scale.

    feasibility      violation of Ω
    stationarity     KKT residual of the d.c. program at x
    complementarity  multiplier times slack of the constraint
    sandwich         worst violation of f(x⁺) ≤ g(x⁺, x) ≤ f(x) along the history (0 without one)

    snapped counts the entries that were taken as zero when stationarity was judged: one entry of
    1e-9 where 0 belongs would otherwise make the residual of order one, since the slope at zero is
    ρ_ε/ε. What is reported is about the snapped point, and the rule is announced (SNAP_TOL).
    """

    feasibility: float
    stationarity: float
    complementarity: float
    sandwich: float
    snapped: int

    def passes(self, tol: float = 1e-6) -> bool:
        """Is x a stationary point to the tolerance, reached without ascent? It says nothing of optimality."""
        tol = as_number(tol, "tol")
        numbers = (self.feasibility, self.stationarity, self.complementarity)
        return all(number <= tol for number in numbers) and self.sandwich <= 1e-9

    def __str__(self) -> str:
        return (
            f"feasibility {self.feasibility:.1e}, stationarity {self.stationarity:.1e}, "
            f"complementarity {self.complementarity:.1e}, sandwich {self.sandwich:.1e}"
            f"{f', {self.snapped} entries taken as zero' if self.snapped else ''}"
        )


def snap(program: Program, x: Vector, tol: float = SNAP_TOL) -> Vector:
    """x with its dust set to zero: entries with |xᵢ|√Bᵢᵢ ≤ tol·‖x‖_B."""
    z = of_size_one(x)
    return np.where(np.abs(z) * program.pencil.B_roots <= tol * program.pencil.B_norm(z), 0.0, x)


def of_size_one(x: Vector) -> Vector:
    """x over a power of two, so that no square of it overflows, and not all of them underflow."""
    return x / power_of_two(float(np.max(np.abs(x))))


@np.errstate(over="ignore", invalid="ignore")  # far outside Ω nothing is a number, and nothing passes
def certify(program: Program, x: Vector, history: Sequence[Move] = (), *, tol: float = SNAP_TOL) -> Certificate:
    """Feasibility, stationarity, complementarity of x and the sandwich along its history (Eq:sandwich).

    x is stationary for f over Ω when 0 ∈ ∇(smooth part) + ρ_ε w∘∂|x| + 2μ·normal with μ ≥ 0 and
    μ·slack = 0. With μ recovered from x itself (the system times xᵀ) the residual is |rᵢ + pᵢ sign xᵢ|
    on the support and max(0, |rᵢ| − pᵢ) off it. At tiny ε the second is nearly always 0: nearly
    every support carries a stationary point, so passing says "stationary", never "optimal".

    Parameters
    ----------
    program
        What x should be stationary for.
    x
        Any vector: a solver's answer, yours, or a guess.
    history
        Iterates (anything with x and origin) whose descent is to be audited.
    tol
        Entries with |xᵢ|√Bᵢᵢ ≤ tol·‖x‖_B are judged as zeros.

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
    refuse_history(history, program.pencil.n)
    kept = snap(program, x, as_number(tol, "tol"))
    stationarity, complementarity = kkt_residuals(program, kept, (program.gradient(kept),), program.slopes(kept))
    return Certificate(
        feasibility=program.violation(x),
        stationarity=stationarity,
        complementarity=complementarity,
        sandwich=sandwich_violation(program, history),
        snapped=int(np.count_nonzero(x) - np.count_nonzero(kept)),
    )


def refuse_history(history: Any, n: int) -> None:
    """Refuse what is no sequence of iterates in n variables."""
    wrong = not isinstance(history, (list, tuple)) or not all(is_move(point, n) for point in history)  # pyright: ignore[reportUnknownVariableType]
    if wrong:
        raise InvalidParameter(
            f"history = {shown(history)} must hold iterates of length {n}, as MMResult.history does."
        )


def is_move(point: Any, n: int) -> bool:
    """Has a point an x of length n, and an origin that is None or another?"""
    x, origin = getattr(point, "x", None), getattr(point, "origin", None)
    return isinstance(x, np.ndarray) and x.shape == (n,) and (origin is None or np.shape(origin) == (n,))


def step_residuals(program: Program, y: Vector, x: Vector) -> tuple[float, float]:
    """(KKT residual, complementarity) of x as the minimiser of g(·, y) over Ω (ALG, Eq:fdaiterative)."""
    x, y = (as_point(point, program.pencil.n, what) for point, what in ((x, "x"), (y, "y")))
    return kkt_residuals(program, x, (2.0 * program.H_dot(x), -2.0 * program.linear(y)), program.slopes(y))


def kkt_residuals(program: Program, x: Vector, terms: Sequence[Vector], p: Vector) -> tuple[float, float]:
    """(KKT residual, complementarity) of x for min q(x) + pᵀ|x| over Ω, ∇q the sum of the terms; without units.

    With r = ∇q + 2μ·normal: |rᵢ + pᵢ sign xᵢ| on the support, max(0, |rᵢ| − pᵢ) off
    it, divided by √Bᵢᵢ and by the largest of the terms that must cancel.
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
    return min(found, residuals(0.0), key=max) if slack > 1e-12 and mu != 0.0 else found


def ratio(part: float, whole: float) -> float:
    """part/whole, 0 when the part is 0, and infinite rather than NaN."""
    if part == 0.0:
        return 0.0
    value = part / whole if whole > 0.0 else float("inf")
    return value if value == value else float("inf")


@np.errstate(over="ignore", invalid="ignore")
def sandwich_violation(program: Program, history: Sequence[Move]) -> float:
    """max over the history of f(x⁺) − g(x⁺, x) and g(x⁺, x) − f(x), relative to the size of f's terms (Eq:sandwich).

    f and g are computed anew from the data; what the history says of them is not used.
    """
    return max((violation_on_face(program, face) for face in faces(history)), default=0.0)


def faces(history: Sequence[Move]) -> Iterator[Sequence[Move]]:
    """The history in pieces that share their ends, a new one whenever the nonzeros have become half as many."""
    cards = [np.count_nonzero(point.x) for point in history]
    begin = 0
    for end in range(1, len(history)):
        if 2 * cards[end] <= cards[begin] or end == len(history) - 1:
            yield history[begin : end + 1]
            begin = end


def violation_on_face(program: Program, history: Sequence[Move]) -> float:
    """The sandwich on the variables that are nonzero somewhere: the others add the same to f and to g."""
    points = [point.x for point in history]
    origins = [before.x if after.origin is None else after.origin for before, after in pairwise(history)]
    support = np.flatnonzero(np.any([*points, *origins], axis=0))
    part = program.restrict(support, 3 * len(history)) if 0 < len(support) < program.pencil.n else program
    if part is not program:
        points, origins = [x[support] for x in points], [y[support] for y in origins]
    dropped = 2.0 * (program.pencil.n - part.pencil.n) * abs(program.at_zero()[0])
    values = [part.f(x) for x in points]
    worst = 0.0
    for before, y in enumerate(origins):
        after = before + 1
        f_y = values[before] if history[after].origin is None else part.f(y)
        g_between = part.g(points[after], y)
        rises = (values[after] - g_between, g_between - f_y, f_y - values[before])
        if not all(rise <= 0.0 for rise in rises):  # what is no number is no descent
            size = dropped + max(part.size(points[before]), part.size(points[after]))
            worst = max(worst, ratio(float(np.max(rises)) - part.rounding(size, points[after]), size))
    return worst


CANCELS = 1e4
"""A sum of which the terms are this much larger has lost four digits: it is computed in whole numbers."""
EXACT_ENTRIES = 40_000
"""The largest matrix for which that takes some hundredths of a second."""


def renormalize(pencil: Pencil, x: Vector) -> Vector:
    """Variational renormalization: the leading eigenvector of (A_k, B_k) on the support of x, unit in the B norm.

    The value xᵀAx/xᵀBx does not fall, and is the best that this sparsity pattern allows: if x is not
    the leading eigenvector already, it is not optimal among vectors with its own zeros. The sign is
    chosen to agree with x.

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
    return z if float(pencil.B_dot(z) @ x) >= 0.0 else -z


def on_support(pencil: Pencil, support: Index) -> Vector:
    """The leading eigenvector of the principal sub-pencil, embedded with exact zeros."""
    x = np.zeros(pencil.n)
    # products = 0: a large support of A = CᵀC never forms its square
    x[support] = pencil.restrict(support, products=0).leading_vector
    return x


def value(pencil: Pencil, x: Vector) -> float:
    """The generalized Rayleigh quotient xᵀAx/xᵀBx, rounded once where its sums cancel (GEV-P).

    Along the small eigenvalues of an ill-conditioned B the terms of xᵀBx are up to cond(B) times their sum: at 1e12
    four digits would be left, and a value could pass a proved bound. There it is computed in whole numbers, for up
    to EXACT_ENTRIES entries. InvalidPencil where it is beyond floating point.

    >>> import numpy as np
    >>> from dcgev_cvx import Pencil
    >>> from dcgev_cvx.certificates import value
    >>> value(Pencil(np.eye(2), [[1.0, 1.0 - 1e-13], [1.0 - 1e-13, 1.0]]), np.array([1.0, -0.7])) < 1.49 / 0.09
    True
    """
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = pencil.A_quad(x), pencil.B_quad(x)
    found = exact_value(pencil, np.flatnonzero(x), x) if cancels(pencil, x, a, b) else a / b
    if not math.isfinite(found):
        raise InvalidPencil("xᵀAx/xᵀBx overflows: divide A by 1e100, or multiply B.")
    return found


def cancels(pencil: Pencil, x: Vector, a: float, b: float) -> bool:
    """May the terms of a = xᵀAx or of b = xᵀBx be more than CANCELS times their sum, or below the normal numbers?

    They are at most max|Aᵢⱼ|·‖x‖₁² and, B being positive definite, (Σ √Bᵢᵢ|xᵢ|)².
    """
    support = np.flatnonzero(x)
    rows = pencil.A.C.shape[0] if isinstance(pencil.A, Gram) else len(support)
    if not pencil.A_scale or len(support) * max(rows, len(support)) > EXACT_ENTRIES:
        return False
    moduli = np.abs(x)
    l1, length = float(np.sum(moduli)), float(moduli @ pencil.B_roots)
    return not TINY < pencil.A_scale * l1 * l1 <= CANCELS * abs(a) or length * length > CANCELS * b


def exact_value(pencil: Pencil, support: Index, x: Vector) -> float:
    """xᵀAx/xᵀBx of the numbers as they are, in integers: every double is one times a power of two."""
    z, _ = whole(x[support])
    B, down = whole(pencil.B_sub(support))
    if isinstance(pencil.A, Gram):
        C, up = whole(pencil.A.C[:, support])
        a, up = sum((C @ z) ** 2), 2 * up
    else:
        A, up = whole(pencil.A_sub(support))
        a = z @ A @ z
    try:
        return float(Fraction(a) / Fraction(z @ B @ z) * Fraction(2) ** (up - down))
    except OverflowError:
        return math.inf


def whole(values: Matrix) -> tuple[Any, int]:
    """Integers m and a number e with values = m·2ᵉ: nothing is rounded.

    >>> import numpy as np
    >>> from dcgev_cvx.certificates import whole
    >>> m, e = whole(np.array([0.75, -2.0, 0.0]))
    >>> [entry * 2.0**e for entry in m]
    [0.75, -2.0, 0.0]
    """
    mantissas, exponents = np.frexp(values)
    least = int(np.min(exponents, where=values != 0.0, initial=1024))
    shifts = np.maximum(exponents - least, 0).astype(object)
    return np.ldexp(mantissas, 53).astype(np.int64).astype(object) << shifts, least - 53


@dataclass(frozen=True)
class Solution:
    """A sparse vector with unit B norm and exact zeros; value = xᵀAx/xᵀBx from the data.

    rho and eps name the last program of a d.c. run (NaN for other methods), certificate is its
    referee's verdict, on_path says whether k lies on the ρ̃ path (None when not asked), method
    who found it, passes how many products with A that took (0 when not counted).

    A Solution says what was attained, never that nothing better exists: for that see
    `dcgev_cvx.exact.ExactSolution` or the bound of a `Relaxation`.

    Examples
    --------
    >>> from dcgev_cvx import datasets, solve
    >>> found = solve(datasets.pitprops(), 2, effort="quick")
    >>> found.support, found.k, round(found.value, 4)
    ((0, 1), 2, 1.954)
    >>> print(found)
    solve: value 1.954 with 2 nonzeros: topdiam +0.707, length +0.707
    """

    x: Vector
    k: int
    support: tuple[int, ...]
    value: float
    method: str
    seconds: float
    rho: float = math.nan
    eps: float = math.nan
    on_path: bool | None = None
    certificate: Certificate | None = None
    passes: int = 0
    names: tuple[str, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, for JSON.

        NaN becomes None, since JSON has no NaN; loadings are by name (x1, x2, … without names), positions from 0.
        """
        loadings = {self._name(i): float(self.x[i]) for i in self.support}
        return {
            "method": self.method,
            "k": self.k,
            "value": self.value,
            "support": list(self.support),
            "loadings": loadings,
            "rho": None if math.isnan(self.rho) else self.rho,
            "eps": None if math.isnan(self.eps) else self.eps,
            "on_path": self.on_path,
            "stationarity": None if self.certificate is None else self.certificate.stationarity,
            "seconds": self.seconds,
        }

    def _name(self, i: int) -> str:
        return self.names[i] if self.names is not None else f"x{i + 1}"

    def __str__(self) -> str:
        loadings = ", ".join(f"{self._name(i)} {self.x[i]:+.3f}" for i in self.support[:12])
        more = " …" if self.k > 12 else ""
        return f"{self.method}: value {self.value:.6g} with {self.k} nonzeros: {loadings}{more}"


def solution_of(
    pencil: Pencil,
    x: Vector,
    method: str,
    seconds: float,
    *,
    rho: float = math.nan,
    eps: float = math.nan,
    on_path: bool | None = None,
    certificate: Certificate | None = None,
    passes: int = 0,
) -> Solution:
    """The record of a vector, scaled to unit B norm and judged by the data.

    Parameters
    ----------
    x
        Any nonzero vector of length n; it is copied, scaled and frozen.
    method
        The label by which tables call it.
    rho, eps, certificate
        Of the last d.c. program, where there was one.
    on_path
        Whether some ρ̃ gives k nonzeros, None when that was not asked.

    Raises
    ------
    InvalidParameter
        For x = 0, a wrong length, or entries that are not finite.
    """
    x = as_vector(x, expect_pencil(pencil).n, "x")
    norm = pencil.B_norm(x)
    if norm == 0.0:
        raise InvalidParameter("x = 0 is not a direction: it has no value xᵀAx/xᵀBx.")
    x = frozen(x / norm)
    support = tuple(int(i) for i in np.flatnonzero(x))
    return Solution(
        x=x,
        k=len(support),
        support=support,
        value=value(pencil, x),
        method=method,
        seconds=seconds,
        rho=rho,
        eps=eps,
        on_path=on_path,
        certificate=certificate,
        passes=passes,
        names=pencil.names,
    )


def checked_k(k: Any, n: int) -> int:
    """A whole number between 1 and n.

    Raises InvalidParameter for True, 2.0, "3" and everything outside 1 … n: a cardinality that had to be guessed
    would be a silent mistake.

    Examples
    --------
    >>> from dcgev_cvx.certificates import checked_k
    >>> checked_k(3, 13)
    3
    >>> checked_k(14, 13)
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: k = 14 is out of range: a cardinality lies between 1 and n = 13.
    """
    if not is_whole(k):
        raise InvalidParameter(f"k = {shown(k)} must be a whole number between 1 and n = {n}.")
    if not 1 <= k <= n:
        raise InvalidParameter(f"k = {shown(k)} is out of range: a cardinality lies between 1 and n = {n}.")
    return int(k)
