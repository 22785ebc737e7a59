"""Upper bounds on (SGEV-P) that are theorems about the data, whatever a solver did. Never imports a solver.

Every bound here is λmax of some pencil, and every λmax is proved: λ ≥ λmax(M, B) because a Cholesky
factorisation of λB − M, shifted down by all that rounding can have done to it, ran to its end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh

from .checks import UNIT_ROUNDOFF, Matrix, Vector, as_number, as_vector
from .errors import InvalidParameter
from .pencils import Gram, Pencil
from .solutions import checked_k
from .spectra import one_pair, power_of_two

Scale: TypeAlias = Literal["diagonal", "identity"]

CLOSED_TOL = 1e-9
"""The relative gap at which a value counts as proved optimal; rounding margins stay below it up to n ≈ 1000."""
GROWTH = 4.0
ATTEMPTS = 60


@dataclass(frozen=True)
class Gap:
    """What is known of the optimum: it lies between a value that is attained and a bound that is proved."""

    lower: float
    upper: float

    @property
    def absolute(self) -> float:
        """Upper − lower, never below zero."""
        return max(0.0, self.upper - self.lower)

    @property
    def relative(self) -> float:
        """(upper − lower)/max(|upper|, |lower|): 0.03 says that no k-sparse vector is 3 % better."""
        size = max(abs(self.upper), abs(self.lower))
        if self.absolute == 0.0:
            return 0.0
        return self.absolute / size if math.isfinite(size) else math.inf

    @property
    def closed(self) -> bool:
        """Is the value proved optimal?"""
        return self.relative <= CLOSED_TOL

    def __str__(self) -> str:
        return f"[{self.lower:.6g}, {self.upper:.6g}], gap {100.0 * self.relative:.2g} %"


@dataclass(frozen=True)
class Units:
    """Â = A/(a·ssᵀ), B̂ = B/(ssᵀ) with s = diag(B)^½ rounded to powers of two, so that nothing is rounded."""

    A: Matrix
    B: Matrix
    a: float
    s: Vector

    @classmethod
    def of(cls, pencil: Pencil) -> Units:
        """The units of a pencil."""
        A, B = pencil.dense()
        s = np.exp2(np.round(0.5 * np.log2(pencil.B_diagonal)))
        outer = s[:, None] * s
        A = A / outer
        a = power_of_two(float(np.max(np.abs(A))))
        return cls(A / a, B / outer, a, s)

    def primal(self, X: Matrix) -> Matrix:
        """X in the user's units: x = x̂/s."""
        return X / (self.s[:, None] * self.s)

    def dual(self, U: Matrix) -> Matrix:
        """U in the user's units, those of A."""
        return self.a * U * (self.s[:, None] * self.s)


@dataclass(frozen=True)
class Dual:
    """U symmetric with |Uᵢⱼ| ≤ b·dᵢdⱼ off the diagonal: what a bound needs of an SDP's dual variables.

    Its diagonal is −b·dᵢ², the best that the inequality allows, and is not stored.
    """

    U: Matrix
    b: float
    d: Vector

    def __getitem__(self, support: Any) -> Dual:
        """The same on a principal sub-pencil, where it is still a dual matrix."""
        return Dual(self.U[np.ix_(support, support)], self.b, self.d[support])

    def scaled(self, t: float) -> Dual:
        """(tU, tb)."""
        return Dual(t * self.U, t * self.b, self.d)


def dual_of(U: Any, d: Vector, level: float | None = None, *, tight: bool = True) -> Dual | None:
    """Any array as a Dual: symmetrised, cut at |Uᵢⱼ| ≤ level·dᵢdⱼ when a level is given; None when it is garbage.

    b is the smallest that fits off the diagonal; tight=False makes it the level (the largest of U, diagonal
    included, without one): where b only costs, as in the homogeneous bound, the first is better, where the
    diagonal −b·dᵢ² pays for it, as with a fixed radius, the second.
    """
    n = len(d)
    try:
        array = np.array(U, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    # beyond 1e150 products overflow: such a U could only lose to U = 0
    if array.shape != (n, n) or not np.all(np.abs(array) < 1e150):
        return None
    array = 0.5 * array + 0.5 * array.T
    outer = d[:, None] * d
    b = float(np.max(np.abs(array) / outer)) if level is None else max(0.0, float(level))
    np.fill_diagonal(array, 0.0)
    array = np.clip(array, -b * outer, b * outer)
    if tight:
        b = float(np.max(np.abs(array) / outer))
    # the quotient was rounded: a few units more make the inequality true
    return Dual(array, b * (1.0 + 16.0 * UNIT_ROUNDOFF), d) if math.isfinite(b) else None


def scale_vector(pencil: Pencil, scale: Scale | Vector) -> Vector:
    """The positive diagonal D of the homogeneous relaxation: "diagonal" = diag(B)^½, "identity" = 1, or given."""
    if isinstance(scale, str):
        if scale not in ("diagonal", "identity"):
            raise InvalidParameter(
                f'scale = {scale!r} is unknown; it is "diagonal", "identity" or a positive vector.'
            )
        return np.sqrt(pencil.B_diagonal) if scale == "diagonal" else np.ones(pencil.n)
    d = as_vector(scale, pencil.n, "scale")
    if not np.all(d > 0.0):
        raise InvalidParameter(f"scale must be positive, but its smallest entry is {float(np.min(d)):g}.")
    return d


def lambda_max_bound(M: Matrix, B: Matrix | None, size: Matrix | None = None) -> float:
    """A number λ ≥ λmax(M, B), proved by Cholesky; +inf where no proof was found.

    λ ≥ λmax(M, B) says λB − M ⪰ 0. Let S = fl(λB − M) and let fl-Cholesky of H = S − cI end.
    Then H + E ⪰ 0 with ‖E‖ ≤ γ/(1 − γ)·tr H, γ = (n+1)u (Higham 2002, Theorem 10.3; Demmel; Rump 2006),
    so λB − M ⪰ (c − ‖E‖ − ‖δ‖)I with ‖δ‖ the rounding of S itself and of M, whose summands are
    at most `size` in modulus. c is twice what is needed. Rows and columns are first scaled
    by powers of two so that B has a unit diagonal, which rounds nothing.
    """
    n = len(M)
    p = np.ones(n) if B is None else np.exp2(-np.round(0.5 * np.log2(np.diagonal(B))))
    unit = power_of_two(float(np.max(np.abs(M) * p[:, None] * p)))
    if not math.isfinite(unit):
        return math.inf
    outer = p[:, None] * p
    M = M * outer / unit
    B = np.eye(n) if B is None else B * outer
    size = np.abs(M) if size is None else size * outer / unit
    lead = largest_eigenvalue(M, B)
    if not math.isfinite(lead):
        return math.inf
    margin = 4.0 * n * UNIT_ROUNDOFF * max(abs(lead), float(np.max(np.abs(M))))
    for _ in range(ATTEMPTS):
        if is_definite(lead + margin, M, B, size):
            return (lead + margin) * unit
        margin *= GROWTH
    return math.inf


def largest_eigenvalue(M: Matrix, B: Matrix) -> float:
    """λmax(M, B) in floating point, NaN if LAPACK fails: a guess for the proof to start from."""
    try:
        # all eigenvalues: LAPACK's search for one alone gives up on multiples of the identity
        return float(eigh(M, B, eigvals_only=True, check_finite=False)[-1])
    except (LinAlgError, ValueError):
        return math.nan


def leading_pair(M: Matrix, B: Matrix | None = None) -> tuple[float, Vector]:
    """λmax(M, B) and its vector in floating point."""
    if B is None:
        return one_pair(M, len(M) - 1)
    values, vectors = eigh(M, B, check_finite=False)
    return float(values[-1]), vectors[:, -1]


def is_definite(lam: float, M: Matrix, B: Matrix, size: Matrix) -> bool:
    """Is λB − M ⪰ 0 for certain? See `lambda_max_bound` for the proof."""
    n = len(M)
    S = lam * B - M
    rounded = 8.0 * UNIT_ROUNDOFF * float(np.max(np.sum(abs(lam) * np.abs(B) + size, axis=1)))
    diagonal = np.diagonal(S)
    if not np.all(diagonal > 0.0):
        return False
    shift = 2.0 * ((n + 3) * UNIT_ROUNDOFF * float(np.sum(diagonal)) + rounded)
    S[np.diag_indices(n)] -= shift
    try:
        cholesky(S, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True


def entries(pencil: Pencil) -> tuple[Matrix, Matrix]:
    """(A, size): the matrix and a bound on the moduli of the sums behind its entries, larger for A = CᵀC."""
    if isinstance(pencil.A, Gram):
        A = pencil.A.toarray()
        norms = np.sqrt(pencil.A.diagonal())
        return A, max(1.0, pencil.A.C.shape[0] / 4.0) * norms[:, None] * norms
    return pencil.A, np.abs(pencil.A)


def gram_error(pencil: Pencil, k: int) -> float:
    """What forming A = CᵀC may change in λ on k variables: (p + 2)·u·(k largest Aᵢᵢ)/λmin(B); 0 for a given A."""
    if not isinstance(pencil.A, Gram):
        return 0.0
    lowest = smallest_B_eigenvalue(pencil)
    trace = float(np.sum(np.sort(pencil.A.diagonal())[-k:]))
    return (pencil.A.C.shape[0] + 2) * UNIT_ROUNDOFF * trace / lowest if lowest > 0.0 else math.inf


def dense_bound(pencil: Pencil) -> float:
    """λmax(A, B), the bound that knows nothing of k (GEV-P).

    It needs no tr(XB) ≤ 1 and no ( · )₊: (SGEV-P) asks for xᵀBx = 1, so its value may be negative and so may this.
    """
    if isinstance(pencil.A, Gram) and pencil.B is None and pencil.A.C.shape[0] < pencil.n:
        other = Pencil(Gram(pencil.A.C.T))  # CCᵀ has the same largest eigenvalue and is smaller
        return dense_bound(other)
    A, size = entries(pencil)
    return lambda_max_bound(A, pencil.B, size)


def charged(A: Matrix, c: float, dual: Dual) -> Matrix:
    """A + U + c·b·D² with Uᵢᵢ = −b·dᵢ²."""
    M = A + dual.U
    M[np.diag_indices(len(M))] += (c - 1.0) * dual.b * dual.d**2
    return M


def charged_bound(pencil: Pencil, c: float, dual: Dual) -> float:
    """A proved number ≥ λmax(A + U + c·b·D², B)."""
    A, size = entries(pencil)
    moduli = Dual(np.abs(dual.U), dual.b, dual.d)
    return lambda_max_bound(charged(A, c, dual), pencil.B, charged(size, c + 2.0, moduli))


def homogeneous_bound(
    pencil: Pencil, k: int, U: Any = None, *, scale: Scale | Vector = "diagonal", level: float | None = None
) -> float:
    """λmax(A + U + k·b·D², B) ≥ the optimum of (SGEV-P), for any U with |Uᵢⱼ| ≤ b·dᵢdⱼ (beyond the paper).

    Proof. For a k-sparse x, −xᵀUx ≤ b(Σ dᵢ|xᵢ|)² ≤ k·b·xᵀD²x by Cauchy and Schwarz on the k nonzeros. So
    xᵀAx = xᵀ(A + U)x − xᵀUx ≤ xᵀ(A + U + k·b·D²)x ≤ λmax(A + U + k·b·D², B) when xᵀBx = 1.
    A U that is missing, misshapen or not finite gives λmax(A, B), which is U = 0; the smaller of the two is returned.
    """
    k = checked_k(k, pencil.n)
    floor = dense_bound(pencil)
    dual = dual_of(U, scale_vector(pencil, scale), level)
    return floor if dual is None else min(floor, charged_bound(pencil, k, dual))


def radius_bound(pencil: Pencil, radius: float, U: Any = None, *, level: float | None = None) -> float:
    """λmax(A + U, B)₊ + radius²·b ≥ max xᵀAx s.t. xᵀBx ≤ 1, ‖x‖₁ ≤ radius, for any U with b = max|Uᵢⱼ| (Eq:approx).

    Proof. −xᵀUx ≤ b‖x‖₁² ≤ b·radius², and xᵀ(A + U)x ≤ λmax(A + U, B)·xᵀBx ≤ λmax(A + U, B)₊.
    It bounds (SGEV-P) at k only if every k-sparse x with xᵀBx = 1 has ‖x‖₁ ≤ radius; see `largest_valid_k`.
    """
    radius = as_number(radius, "radius", strict=True)
    floor = max(0.0, dense_bound(pencil))
    dual = dual_of(U, np.ones(pencil.n), level, tight=False)
    if dual is None:
        return floor
    budget = radius * radius * dual.b * (1.0 + 8.0 * UNIT_ROUNDOFF)
    bound = max(0.0, charged_bound(pencil, 0.0, dual)) + budget
    return min(floor, bound * (1.0 + 2.0 * UNIT_ROUNDOFF))


def penalized_bound(pencil: Pencil, rho: float, U: Any = None) -> float:
    """λmax(A + U, B)₊ ≥ max xᵀAx − ρ‖x‖₁² s.t. xᵀBx ≤ 1, for any U with |Uᵢⱼ| ≤ ρ: a larger one is cut (Section 4).

    Proof. −xᵀUx ≤ ρ‖x‖₁². The best diagonal is Uᵢᵢ = −ρ.
    """
    rho = as_number(rho, "rho")
    given = dual_of(U, np.ones(pencil.n), rho)
    zero = np.zeros((pencil.n, pencil.n))
    # level may be a unit or two above ρ after rounding: the diagonal then takes off a little less
    duals = [
        Dual(V, rho * (1.0 - 4.0 * UNIT_ROUNDOFF), np.ones(pencil.n)) for V in (zero, given.U if given else zero)
    ]
    return max(0.0, min(charged_bound(pencil, 0.0, dual) for dual in duals))


def smallest_B_eigenvalue(pencil: Pencil) -> float:
    """A number ≤ λmin(B) and above zero, proved; 0 where no proof was found."""
    if pencil.B is None:
        return 1.0
    return max(0.0, -lambda_max_bound(-pencil.B, None))


def valid_radius(pencil: Pencil, k: int) -> float:
    """√(k/λmin(B)): every k-sparse x with xᵀBx = 1 has ‖x‖₁² ≤ k‖x‖² ≤ k/λmin(B) (beyond the paper)."""
    lowest = smallest_B_eigenvalue(pencil)
    return math.sqrt(checked_k(k, pencil.n) / lowest) * (1.0 + 4.0 * UNIT_ROUNDOFF) if lowest > 0.0 else math.inf


def largest_valid_k(pencil: Pencil, radius: float) -> int:
    """The largest k for which ‖x‖₁ ≤ radius is proved to hold on (SGEV-P): k ≤ radius²·λmin(B) (beyond the paper)."""
    reach = radius * radius * smallest_B_eigenvalue(pencil) * (1.0 + 64.0 * UNIT_ROUNDOFF * pencil.n)
    return min(pencil.n, int(reach))


def row_sum_bound(pencil: Pencil, k: int) -> float:
    """The smallest λ found with λBᵢᵢ − Aᵢᵢ > Σ of the k − 1 largest |Aᵢⱼ − λBᵢⱼ|, j ≠ i (beyond the paper).

    Proof. On every support of size k the matrix λB − A is then strictly diagonally dominant with a positive
    diagonal, hence positive definite: λ > λmax of the sub-pencil. For B = I this is Gershgorin's theorem on
    k-subsets. No factorisation is needed: O(n²) a trial. +inf when B's rows allow no such λ.
    """
    k = checked_k(k, pencil.n)
    A, size = entries(pencil)
    B = np.eye(pencil.n) if pencil.B is None else pencil.B
    d = 1.0 / np.sqrt(pencil.B_diagonal)
    outer = d[:, None] * d
    A, B, size = A * outer, B * outer, size * outer
    low = float(np.max(np.diagonal(A)))
    step = max(float(np.max(np.abs(A))), np.finfo(np.float64).tiny)
    high = low + step
    for _ in range(ATTEMPTS):
        if dominant(high, A, B, size, k):
            break
        step *= 2.0
        high = low + step
    else:
        return math.inf
    for _ in range(ATTEMPTS):
        middle = 0.5 * low + 0.5 * high
        if high - low <= 1e-9 * abs(high) or not low < middle < high:
            break
        low, high = (low, middle) if dominant(middle, A, B, size, k) else (middle, high)
    return high


def dominant(lam: float, A: Matrix, B: Matrix, size: Matrix, k: int) -> bool:
    """Is every k × k principal submatrix of λB − A strictly diagonally dominant, rounding included?"""
    S = lam * B - A
    slack = np.diagonal(S).copy()
    np.fill_diagonal(S, 0.0)
    off = np.abs(S)
    n = len(S)
    top = np.partition(off, n - k + 1, axis=1)[:, n - k + 1 :] if k > 1 else off[:, :0]
    rounded = 16.0 * (k + 2) * UNIT_ROUNDOFF * np.max(abs(lam) * np.abs(B) + size, axis=1)
    return bool(np.all(slack - np.sum(top, axis=1) > rounded))


def cheap_bound(pencil: Pencil, k: int) -> float:
    """The better of λmax(A, B) and the row sums: a bound for any n, without an SDP (beyond the paper)."""
    return min(dense_bound(pencil), row_sum_bound(pencil, k))
