"""Upper bounds on (SGEV-P) that are theorems about the data, whatever a solver did. Never imports a solver.

Three families, from the cheapest to the sharpest; each is λmax of some pencil, proved in floating point by
`_numerics.proofs.lambda_max_bound`:

dense_bound                       λmax(A, B), which knows nothing of k: one factorisation
row_sum_bound                     Gershgorin's row sums on k-subsets: O(n²) a trial, sharp for small k
homogeneous_bound, radius_bound   from a dual matrix U, usually an SDP's multipliers; a wrong U makes the bound loose,
                                  never false, so that nothing here asks whether a solver converged

Examples
--------
>>> from dcgev_cvx.relaxations import bounds
>>> from dcgev_cvx import datasets
>>> pencil = datasets.pitprops()
>>> round(bounds.dense_bound(pencil), 4), round(bounds.row_sum_bound(pencil, 2), 4)
(4.2186, 1.954)
>>> bounds.homogeneous_bound(pencil, 2, U="not a matrix") == bounds.dense_bound(pencil)
True
"""

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from .._numerics.checks import LARGEST_POWER, UNIT_ROUNDOFF, Matrix, Vector, as_number, as_real, as_vector, one_of
from .._numerics.proofs import ATTEMPTS, TINY, lambda_max_bound, up
from .._numerics.selection import top_sum
from ..errors import InvalidParameter, InvalidPencil
from ..pencils import Gram, Pencil, expect_pencil
from ..solutions import checked_k
from ..steps.scaling import Scaling, unit_lengths

Scale: TypeAlias = Literal["diagonal", "identity"]

CLOSED_TOL = 1e-9
"""The relative gap at which a value counts as proved optimal; rounding margins stay below it up to n ≈ 1000."""
FORGIVEN = 64.0 * UNIT_ROUNDOFF
"""n times this share of radius² may be missing from k/λmin(B): `largest_valid_k` forgives it, `radius_bound` pays."""
SDP_LIMIT = 250
"""The largest n for which an SDP is built without force=True; beyond it takes gigabytes and minutes."""


@dataclass(frozen=True)
class Gap:
    """The interval that holds the optimum of (SGEV-P): a value that is attained and a bound that is proved.

    Parameters
    ----------
    lower : float
        An attained value, −inf when no vector is known.
    upper : float
        A proved bound for the same k, +inf when none is known.

    Examples
    --------
    >>> from dcgev_cvx.relaxations.bounds import Gap
    >>> print(Gap(2.9, 3.0))
    [2.9, 3], gap 3.3 %
    >>> Gap(3.0, 3.0).closed, Gap(float("-inf"), 3.0).relative
    (True, inf)
    """

    lower: float
    upper: float

    @property
    def absolute(self) -> float:
        """Upper − lower, never below zero."""
        return max(0.0, self.upper - self.lower)

    @property
    def relative(self) -> float:
        """(upper − lower)/max(|upper|, |lower|): 0.03 says that no k-sparse vector is 3 % better.

        It lies in [0, 2] for finite ends and is infinite when an end is.
        """
        size = max(abs(self.upper), abs(self.lower))
        if self.absolute == 0.0:
            return 0.0
        return self.absolute / size if math.isfinite(size) else math.inf

    @property
    def closed(self) -> bool:
        """Is the value proved optimal: do the ends agree to 1e-9? A value far above the bound proves nothing."""
        return math.isfinite(self.upper) and math.isclose(self.lower, self.upper, rel_tol=CLOSED_TOL)

    def __str__(self) -> str:
        return f"[{self.lower:.6g}, {self.upper:.6g}], gap {100.0 * self.relative:.2g} %"


def cheap_bound(pencil: Pencil, k: int) -> float:
    """The smaller of λmax(A, B) and the row sums: a bound for any n, without an SDP (beyond the paper)."""
    return min(dense_bound(pencil), row_sum_bound(pencil, k))


def dense_bound(pencil: Pencil) -> float:
    """λmax(A, B), the bound that knows nothing of k; it may be negative, as (SGEV-P)'s value may (GEV-P).

    Examples
    --------
    >>> from dcgev_cvx import Pencil
    >>> from dcgev_cvx.relaxations.bounds import dense_bound
    >>> 3.0 <= dense_bound(Pencil([[2.0, 1.0], [1.0, 2.0]])) <= 3.0 + 1e-13
    True
    >>> dense_bound(Pencil([[-2.0, 0.0], [0.0, -1.0]])) < 0.0
    True
    """
    expect_pencil(pencil)
    # CᵀC and CCᵀ have the same largest eigenvalue: of a wide factor the smaller matrix is bounded
    if isinstance(pencil.A, Gram) and pencil.B is None and pencil.A.rows < pencil.n:
        return dense_bound(Pencil(Gram(pencil.A.C.T)))
    A, size = entries(pencil)
    lead = pencil.lambda_max, pencil.leading_vector  # computed once and kept by the pencil
    return lambda_max_bound(A, pencil.B, size, lead)


@np.errstate(over="ignore", invalid="ignore")  # where something overflows no row is dominant, and the answer is +inf
def row_sum_bound(pencil: Pencil, k: int) -> float:
    """The smallest λ found with λBᵢᵢ − Aᵢᵢ > Σ of the k − 1 largest |Aᵢⱼ − λBᵢⱼ|, j ≠ i (beyond the paper).

    Proof. On every support of size k the matrix λB − A is then strictly diagonally dominant with a positive
    diagonal, hence positive definite: λ > λmax of the sub-pencil. For B = I this is Gershgorin's theorem on
    k-subsets. +inf when B's rows allow no such λ.

    For other B the variables are scaled to Bᵢᵢ = 1, which makes the answer independent of units. What a row has left,
    λ − Aᵢᵢ − Σ …, is concave and piecewise linear in λ: Newton's steps from max Aᵢᵢ/Bᵢᵢ, each to where the last row's
    tangent reaches zero, never pass the smallest λ there is, and a few of them are enough. A row whose tangent falls
    there reaches zero nowhere.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations.bounds import row_sum_bound
    >>> [round(row_sum_bound(datasets.pitprops(), k), 3) for k in (1, 2, 3)]
    [1.0, 1.954, 2.602]
    """
    k = checked_k(k, expect_pencil(pencil).n)
    A, size = entries(pencil)
    if pencil.B is None:
        moduli = np.abs(A)
        np.fill_diagonal(moduli, 0.0)
        top = float(np.max(np.diagonal(A) + top_sum(moduli, k - 1)))
        # twice the units that are taken off below; a zero matrix needs none
        return top + 32.0 * (k + 2) * UNIT_ROUNDOFF * (abs(top) + float(np.max(size)))
    if not A.any():
        return 0.0
    # no powers of two here: the last bits that this changes are among the units that are taken off
    units = 1.0 / pencil.B_roots
    A, B, sizes = A * units, pencil.B * units, np.max(size * units, axis=1) * units
    A, B = np.multiply(A, units[:, None], out=A), np.multiply(B, units[:, None], out=B)
    lam, nudge = float(np.max(np.diagonal(A))), max(UNIT_ROUNDOFF * float(np.max(sizes)), TINY)
    for _ in range(ATTEMPTS):
        left, slope = dominance(lam, A, B, k)
        # entries of λB − A are rounded by two units each and the sum of k of them by k more; 16(k + 2) are taken off
        left = left - 16.0 * (k + 2) * UNIT_ROUNDOFF * (abs(lam) + sizes)
        short = ~(left > 0.0)
        if not np.any(short):
            return lam
        if not np.all(slope[short] > 0.0):
            return math.inf
        # the last step may be too small to be one: it is helped by ever more units in the last place
        lam += float(np.max(-left[short] / slope[short])) + nudge
        nudge *= 2.0
    return math.inf


def homogeneous_bound(
    pencil: Pencil, k: int, U: Any = None, *, scale: Scale | Vector = "diagonal", level: float | None = None
) -> float:
    """λmax(A + U + k·b·D², B) ≥ the optimum of (SGEV-P), for any U with |Uᵢⱼ| ≤ b·dᵢdⱼ (beyond the paper).

    Proof. For a k-sparse x, −xᵀUx ≤ b(Σ dᵢ|xᵢ|)² ≤ k·b·xᵀD²x by Cauchy and Schwarz on the k nonzeros. So
    xᵀAx = xᵀ(A + U)x − xᵀUx ≤ xᵀ(A + U + k·b·D²)x ≤ λmax(A + U + k·b·D², B) when xᵀBx = 1.

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B); λmax(A, B) may be negative.
    k : int
        The cardinality.
    U : array_like
        Any array. The best comes from `homogeneous_sdp`. One that is missing, misshapen or not finite counts as 0,
        which gives λmax(A, B); the smaller of the two bounds is returned.
    scale : {"diagonal", "identity"} or array_like
        D, see `scale_vector`; it has to be the one U was computed for, or the bound is loose.
    level : float, optional
        Cut U at |Uᵢⱼ| ≤ level·dᵢdⱼ, for instance at the SDP's own multiplier.

    Returns
    -------
    float
        The bound, rounding included.

    Examples
    --------
    The dual matrix of the SDP proves 1.954 for two variables, where λmax is 4.2186; spoilt by 10 % it still proves
    something:

    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations import bounds, homogeneous_sdp
    >>> pencil = datasets.pitprops()
    >>> U = homogeneous_sdp(pencil, 2).U
    >>> round(bounds.homogeneous_bound(pencil, 2, U), 4), round(bounds.homogeneous_bound(pencil, 2, 0.9 * U), 2)
    (1.954, 2.15)
    """
    k = checked_k(k, expect_pencil(pencil).n)
    floor = dense_bound(pencil)
    dual = dual_of(U, scale_vector(pencil, scale), level)
    return floor if dual is None else min(floor, charged_bound(pencil, k, dual))


def radius_bound(pencil: Pencil, radius: float, U: Any = None, *, level: float | None = None) -> float:
    """λmax(A + U, B)₊ + radius²·b ≥ max xᵀAx s.t. xᵀBx ≤ 1, ‖x‖₁ ≤ radius, for any U with b = max|Uᵢⱼ| (Eq:approx).

    Proof. −xᵀUx ≤ b‖x‖₁² ≤ b·radius², and xᵀ(A + U)x ≤ λmax(A + U, B)·xᵀBx ≤ λmax(A + U, B)₊, the positive part
    since xᵀBx ≤ 1 admits x = 0. U and level are as in `homogeneous_bound`, with weights one. It bounds (SGEV-P) at k
    only if every k-sparse x with xᵀBx = 1 has ‖x‖₁ ≤ radius (`largest_valid_k`).
    """
    radius = as_number(radius, "radius", strict=True)
    floor = max(0.0, dense_bound(pencil))
    # b is not tightened, since the diagonal −b earns some of it back
    dual = dual_of(U, np.ones(pencil.n), level, tight=False)
    if dual is None:
        return floor
    # in this order radius² cannot underflow on its own, and each product is rounded up
    budget = up(radius * up(radius * dual.b)) * (1.0 + 2.0 * FORGIVEN * pencil.n)
    return min(floor, up(max(0.0, charged_bound(pencil, 0.0, dual)) + budget))


def penalized_bound(pencil: Pencil, rho: float, U: Any = None) -> float:
    """λmax(A + U, B)₊ ≥ max xᵀAx − ρ‖x‖₁² s.t. xᵀBx ≤ 1, for any U with |Uᵢⱼ| ≤ ρ: a larger one is cut (Section 4).

    Proof. −xᵀUx ≤ ρ‖x‖₁². The best diagonal is Uᵢᵢ = −ρ, and U = 0 off the diagonal is tried too.
    """
    rho = as_number(rho, "rho")
    n = expect_pencil(pencil).n
    # xᵀAx ≤ max|Aᵢⱼ|·‖x‖₁²: nothing is worth such a price (twice, for the rounding of CᵀC)
    if rho >= 2.0 * pencil.A_scale:
        return 0.0
    given = dual_of(U, np.ones(n), rho)
    zero = np.zeros((n, n))
    # level may be a unit or two above ρ after rounding: the diagonal then takes off a little less
    duals = [Dual(V, rho * (1.0 - 4.0 * UNIT_ROUNDOFF), np.ones(n)) for V in (zero, given.U if given else zero)]
    return max(0.0, min(charged_bound(pencil, 0.0, dual) for dual in duals))


def valid_radius(pencil: Pencil, k: int) -> float:
    """√(k/λmin(B)): every k-sparse x with xᵀBx = 1 has ‖x‖₁² ≤ k‖x‖² ≤ k/λmin(B) (beyond the paper).

    The paper's own radius k is larger than √k when B = I (loose), and too small when λmin(B) < 1/k: with B = 0.01·I
    and k = 1, x = 10e₁ is feasible and has ‖x‖₁ = 10. +inf where λmin(B) > 0 is not proved.

    Examples
    --------
    >>> from dcgev_cvx import Pencil
    >>> from dcgev_cvx.relaxations.bounds import largest_valid_k, valid_radius
    >>> small = Pencil([[2.0, 1.0], [1.0, 3.0]], [[0.01, 0.0], [0.0, 0.01]])
    >>> round(valid_radius(small, 1), 9), largest_valid_k(small, radius=1.0)
    (10.0, 0)
    """
    lowest = smallest_B_eigenvalue(pencil)
    return math.sqrt(checked_k(k, pencil.n) / lowest) * (1.0 + 4.0 * UNIT_ROUNDOFF) if lowest > 0.0 else math.inf


def radius_for(pencil: Pencil, k: int, rule: Literal["paper", "valid"]) -> float:
    """Return an ℓ1 budget for a cardinality: "paper" = k (Section 3), "valid" = √(k/λmin(B)) (beyond the paper).

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B).
    k : int
        The cardinality.
    rule : {"paper", "valid"}
        "paper": ‖x‖₁ ≤ k. For B = I it holds with room to spare, as ‖x‖₁ ≤ √k, so its bound is weak; for
        k·λmin(B) < 1 it may cut the optimum off, and is then no bound at all. "valid": the smallest radius
        that is proved to hold on all of (SGEV-P).

    Returns
    -------
    float
        The radius.

    Raises
    ------
    InvalidParameter
        If k lies outside 1 … n or the rule is unknown.
    InvalidPencil
        For "valid" if λmin(B) > 0 cannot be proved in floating point: then no radius is known to hold.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations import radius_for
    >>> pencil = datasets.pitprops()
    >>> radius_for(pencil, 4, "paper"), round(radius_for(pencil, 4, "valid"), 9)
    (4.0, 2.0)
    """
    k = checked_k(k, expect_pencil(pencil).n)
    if one_of(rule, "rule", ("paper", "valid")) == "paper":
        return float(k)
    radius = valid_radius(pencil, k)
    if math.isinf(radius):
        condition = np.linalg.cond(pencil.dense()[1] / np.outer(pencil.B_roots, pencil.B_roots))
        raise InvalidPencil(
            f"no ℓ1 radius is proved to hold at k = {k}: λmin(B) > 0 cannot be proved in floating point, B being "
            f"singular to working precision (its condition number is near {condition:.0e}). Add a ridge, or "
            "use homogeneous_sdp, which needs no radius."
        )
    return radius


def largest_valid_k(pencil: Pencil, radius: float) -> int:
    """The largest k for which ‖x‖₁ ≤ radius is proved to hold on (SGEV-P): k ≤ radius²·λmin(B) (beyond the paper).

    0 says that the radius bounds no cardinality at all. The factor 1 + 64nu forgives the rounding of a radius
    that was itself computed as √(k/λmin(B)); `radius_bound` adds as much to its budget.
    """
    lowest = smallest_B_eigenvalue(pencil)
    radius = as_number(radius, "radius")
    reach = radius * (radius * lowest) * (1.0 + FORGIVEN * pencil.n)
    return int(min(float(pencil.n), reach))


def smallest_B_eigenvalue(pencil: Pencil) -> float:
    """A number ≤ λmin(B) and above zero, proved; 0 where no proof was found.

    −λmax(−B), by the same Cholesky proof; or min sᵢ²·λmin(B̂) for B = SB̂S with powers of two sᵢ ≤ √Bᵢᵢ, since
    xᵀBx ≥ λmin(B̂)‖Sx‖²: variables of very different units do not spoil that.
    """
    B = expect_pencil(pencil).B
    if B is None:
        return 1.0
    found = -lambda_max_bound(-B, None)
    u = unit_lengths(pencil)
    if np.max(u) > 4.0 * np.min(u):
        least = float(1.0 / np.max(u))
        # products of powers of two round nothing, unless they leave the normal numbers: then one unit less
        scaled = -lambda_max_bound(-Scaling(u, 1.0).form(B), None) * least * least
        found = max(found, math.nextafter(scaled, 0.0))
    return max(0.0, found)


def check_sdp_size(n: int) -> None:
    """Raise for an SDP beyond SDP_LIMIT variables, with an estimate of its cost fitted to measured runs."""
    if n <= SDP_LIMIT:
        return
    memory, minutes = 1e-9 * 1200.0 * n * n * 8.0 / 2.0, (n / 200.0) ** 3 * 8.0 / 60.0
    raise InvalidParameter(
        f"an SDP with n = {n} has {n * (n + 1) // 2} variables and as many moduli: about {memory:.1f} GB and "
        f"{minutes:.0f} min with SCS. Use bounds.cheap_bound(pencil, k), which needs no SDP, restrict the pencil to "
        f"at most {SDP_LIMIT} variables, or pass force=True."
    )


def scale_vector(pencil: Pencil, scale: Scale | Vector) -> Vector:
    """The weights d of the homogeneous relaxation: "diagonal" = diag(B)^½, "identity" = 1, or a positive vector.

    d = diag(B)^½ makes it invariant under a change of the variables' units, x → S⁻¹x with (A, B) → (SAS, SBS), since
    then d → Sd and dᵢ|xᵢ| stays. Entries must lie between 1e-140 and 1e140, so that the products dᵢdⱼ are numbers.
    """
    n = expect_pencil(pencil).n
    if isinstance(scale, str):
        named = one_of(scale, "scale", ("diagonal", "identity"))
        return pencil.B_roots if named == "diagonal" else np.ones(n)
    d = as_vector(scale, n, "scale")
    if not np.all(d > 0.0):
        raise InvalidParameter(f"scale must be positive, but its smallest entry is {float(np.min(d)):g}.")
    if not np.all(np.abs(np.log10(d)) <= LARGEST_POWER):
        raise InvalidParameter(
            f"scale lies between {float(np.min(d)):g} and {float(np.max(d)):g}: its entries must be between "
            f"1e-{LARGEST_POWER} and 1e{LARGEST_POWER}, so that their products are numbers."
        )
    return d


@dataclass(frozen=True)
class Dual:
    """U symmetric with |Uᵢⱼ| ≤ b·dᵢdⱼ off the diagonal: what a bound needs of an SDP's dual variables.

    Its diagonal is −b·dᵢ² and is not stored: the bounds are λmax(A + U + …), which rises with each Uᵢᵢ, and
    Uᵢᵢ ≥ −b·dᵢ² is all that −xᵀUx ≤ b(Σ dᵢ|xᵢ|)² asks of it.
    """

    U: Matrix
    b: float
    d: Vector


def dual_of(U: Any, d: Vector, level: float | None = None, *, tight: bool = True) -> Dual | None:
    """Any array as a Dual: symmetrised, cut at |Uᵢⱼ| ≤ level·dᵢdⱼ when a level is given; None when it is garbage.

    b is the smallest that fits off the diagonal; tight=False makes it the level, or the largest of U, diagonal
    included. The first is better where b only costs, as in the homogeneous bound, the second where the diagonal
    −b·dᵢ² pays for it, as with a fixed radius.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx.relaxations.bounds import dual_of
    >>> dual_of([[5.0, 2.0], [0.0, -1.0]], np.ones(2)).U
    array([[0., 1.],
           [1., 0.]])
    >>> dual_of(np.full((2, 2), np.nan), np.ones(2)) is None
    True
    """
    n = len(d)
    level = None if level is None else as_number(level, "level")
    try:
        array = as_real(U, "U", InvalidParameter)
    except InvalidParameter:
        return None
    if array.shape != (n, n):
        return None
    array = 0.5 * array + 0.5 * array.T  # halved first: the sum of two huge entries would overflow
    outer = d[:, None] * d
    with np.errstate(over="ignore"):
        largest = float(np.max(np.abs(array) / outer))
    b = largest if level is None else level
    # charges of n·b·d² must be finite; where they are not, U = 0 gives the better bound
    if not math.isfinite(4.0 * n * b * float(np.max(outer))):
        return None
    # the diagonal has a best value of its own, −b·dᵢ², and what was given for it is dropped
    np.fill_diagonal(array, 0.0)
    array = np.clip(array, -b * outer, b * outer)
    if tight:
        b = float(np.max(np.abs(array) / outer))
    # the quotient was rounded: a few units more make the inequality true, below the normal numbers the next one does
    return Dual(array, up(b * (1.0 + 16.0 * UNIT_ROUNDOFF)) if array.any() else b, d)


def charged(A: Matrix, c: float, dual: Dual) -> Matrix:
    """A + U + c·b·D² with Uᵢᵢ = −b·dᵢ²; the two are added in one go, (c − 1)·b·dᵢ², so that they do not cancel."""
    M = A + dual.U
    M[np.diag_indices(len(M))] += (c - 1.0) * dual.b * dual.d**2
    return M


def charged_bound(pencil: Pencil, c: float, dual: Dual) -> float:
    """A proved number ≥ λmax(A + U + c·b·D², B): c = k is the homogeneous bound, c = 0 the radius and the penalty."""
    A, size = entries(pencil)
    # the moduli of the summands, with two units of the charge to spare
    moduli = Dual(np.abs(dual.U), dual.b, dual.d)
    with np.errstate(over="ignore"):  # a sum that overflows gives +inf, a valid bound
        return lambda_max_bound(charged(A, c, dual), pencil.B, charged(size, c + 2.0, moduli))


def entries(pencil: Pencil) -> tuple[Matrix, Matrix]:
    """(A, size): the matrix and a bound on the moduli of the sums behind its entries, larger for A = CᵀC.

    For A = CᵀC each entry is a sum of p products, whose rounding error is at most p·u·‖cᵢ‖‖cⱼ‖ by Cauchy and
    Schwarz; `size` is stated so that what `is_definite` charges per unit of it covers that with room to spare.
    Products below the normal numbers lose half a unit of 2⁻¹⁰⁷⁴ each, for which ‖cᵢ‖² is raised by TINY.
    """
    if isinstance(pencil.A, Gram):
        A = pencil.A.toarray()
        norms = np.sqrt(pencil.A.diagonal() + TINY)
        return A, max(1.0, pencil.A.rows / 4.0) * norms[:, None] * norms
    return pencil.A, np.abs(pencil.A)


def dominance(lam: float, A: Matrix, B: Matrix, k: int) -> tuple[Vector, Vector]:
    """What λBᵢᵢ − Aᵢᵢ has left beside the k − 1 largest |Aᵢⱼ − λBᵢⱼ| of its row, and its slope in λ.

    Where it is positive in every row, every k × k principal submatrix of λB − A is strictly diagonally dominant.
    """
    S = lam * B - A
    left, slope = np.diagonal(S).copy(), np.diagonal(B)
    if k > 1:
        np.fill_diagonal(S, 0.0)
        # a row of a k × k submatrix holds k − 1 entries beside its diagonal
        top = np.argpartition(np.abs(S), len(A) - k + 1, axis=1)[:, len(A) - k + 1 :]
        beside = np.take_along_axis(S, top, axis=1)
        left = left - np.sum(np.abs(beside), axis=1)
        slope = slope - np.sum(np.sign(beside) * np.take_along_axis(B, top, axis=1), axis=1)
    return left, slope
