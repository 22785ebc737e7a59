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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from .._numerics.checks import (
    LARGEST_POWER,
    UNIT_ROUNDOFF,
    Index,
    Matrix,
    Vector,
    as_number,
    as_vector,
    listed,
    one_of,
    shown,
)
from .._numerics.proofs import ATTEMPTS, TINY, lambda_max_bound, up
from ..budgets import Budget, Cardinality
from ..errors import InvalidParameter, InvalidPencil
from ..pencils import Pencil, expect_pencil
from ..steps.scaling import Scaling, unit_lengths
from .dual_matrices import Dual, charged_bound, dual_of, entries, finite_array

Scale: TypeAlias = Literal["diagonal", "identity"]
Radius: TypeAlias = float | Sequence[float]
"""An ℓ1 budget: ‖x‖₁ ≤ radius, or one for each view."""

CLOSED_TOL = 1e-9
"""The relative gap at which a value counts as proved optimal; rounding margins stay below it up to n ≈ 1000."""
FORGIVEN = 64.0 * UNIT_ROUNDOFF
"""n times this share of radius² may be missing from k/λmin(B): `largest_valid_k` forgives it, `radius_bound` pays."""
SDP_LIMIT = 250
"""The largest n for which an SDP is built without force=True; beyond it takes gigabytes."""


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


def cheap_bound(pencil: Pencil, k: Cardinality) -> float:
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
    if pencil.B is None and pencil.A_rank < pencil.n:
        return dense_bound(pencil.transposed())
    A, size = entries(pencil)
    lead = pencil.lambda_max, pencil.leading_vector  # computed once and kept by the pencil
    return lambda_max_bound(A, pencil.B, size, lead)


@np.errstate(over="ignore", invalid="ignore")  # where something overflows no row is dominant, and the answer is +inf
def row_sum_bound(pencil: Pencil, k: Cardinality) -> float:
    """The smallest λ found with λBᵢᵢ − Aᵢᵢ > Σ of the k − 1 largest |Aᵢⱼ − λBᵢⱼ|, j ≠ i (beyond the paper).

    With a budget for each view the sum is over the k_g − 1 largest of the view of i and the k_h largest of the others.

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
    budget = Budget.of(pencil, k)
    A, size = entries(pencil)
    rounded = 16.0 * (budget.total + 2) * UNIT_ROUNDOFF
    if pencil.B is None:
        moduli = np.abs(A)
        np.fill_diagonal(moduli, 0.0)
        top = float(np.max(np.diagonal(A) + budget.partner_sum(moduli)))
        # twice the units that are taken off below; a zero matrix needs none
        return top + 2.0 * rounded * (abs(top) + float(np.max(size)))
    if not A.any():
        return 0.0
    # no powers of two here: the last bits that this changes are among the units that are taken off
    units = 1.0 / pencil.B_roots
    A, B, sizes = A * units, pencil.B * units, np.max(size * units, axis=1) * units
    A, B = np.multiply(A, units[:, None], out=A), np.multiply(B, units[:, None], out=B)
    lam, nudge = float(np.max(np.diagonal(A))), max(UNIT_ROUNDOFF * float(np.max(sizes)), TINY)
    for _ in range(ATTEMPTS):
        left, slope = dominance(lam, A, B, budget)
        # entries of λB − A are rounded by two units each and the sum of k of them by k more
        left = left - rounded * (abs(lam) + sizes)
        short = ~(left > 0.0)
        if not np.any(short):
            return lam
        if not np.all(slope[short] > 0.0):
            return math.inf
        # the last step may be too small to be one: it is helped by ever more units in the last place
        lam += float(np.max(-left[short] / slope[short])) + nudge
        nudge *= 2.0
    return math.inf


def dominance(lam: float, A: Matrix, B: Matrix, budget: Budget) -> tuple[Vector, Vector]:
    """What λBᵢᵢ − Aᵢᵢ has left beside the largest |Aᵢⱼ − λBᵢⱼ| of partners of i in a support, and its slope in λ.

    Where it is positive in every row, λB − A is strictly diagonally dominant on every support.
    """
    S = lam * B - A
    left, slope = np.diagonal(S).copy(), np.diagonal(B).copy()
    np.fill_diagonal(S, 0.0)
    for rows, columns, most in budget.partners():
        block = S[np.ix_(rows, columns)]
        first = len(columns) - most
        top = np.argpartition(np.abs(block), max(0, first - 1), axis=1)[:, first:]
        beside = np.take_along_axis(block, top, axis=1)
        left[rows] -= np.sum(np.abs(beside), axis=1)
        slope[rows] -= np.sum(np.sign(beside) * np.take_along_axis(B[np.ix_(rows, columns)], top, axis=1), axis=1)
    return left, slope


def homogeneous_bound(
    pencil: Pencil, k: Cardinality, U: Any = None, *, scale: Scale | Vector = "diagonal", X: Any = None
) -> float:
    """λmax(A + U + k·b·D², B) ≥ the optimum of (SGEV-P), for any U with |Uᵢⱼ| ≤ b·dᵢdⱼ (beyond the paper).

    Proof. For a k-sparse x, −xᵀUx ≤ b(Σ dᵢ|xᵢ|)² ≤ k·b·xᵀD²x by Cauchy and Schwarz on the k nonzeros. So
    xᵀAx = xᵀ(A + U)x − xᵀUx ≤ xᵀ(A + U + k·b·D²)x ≤ λmax(A + U + k·b·D², B) when xᵀBx = 1.

    With at most k_g nonzeros in each view g let |Uᵢⱼ| ≤ b_gh·dᵢdⱼ for i in g and j in h, and s_g = Σ_{i∈g} dᵢ|xᵢ|. For
    any positive v, 2s_g s_h ≤ s_g²v_h/v_g + s_h²v_g/v_h and s_g² ≤ k_g Σ_{i∈g} dᵢ²xᵢ². So −xᵀUx ≤ Σ b_gh s_g s_h ≤
    Σ cᵢdᵢ²xᵢ² with cᵢ = k_g Σ_h b_gh v_h/v_g, which takes the place of k·b. The best v_g is √(k_g Σ_{i∈g} dᵢ²xᵢ²).

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B); λmax(A, B) may be negative.
    k : int or sequence of int
        The cardinality, or one for each view.
    U : array_like
        Any array. The best comes from `homogeneous_sdp`. One that is missing, misshapen or not finite counts as 0,
        which gives λmax(A, B); the smaller of the two bounds is returned.
    scale : {"diagonal", "identity"} or array_like
        D, see `scale_vector`; it has to be the one U was computed for, or the bound is loose.
    X : array_like, optional
        The SDP's X, whose diagonal stands for the xᵢ² in v; the leading vector of the pencil by default.

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
    budget, floor, d = Budget.of(pencil, k), dense_bound(pencil), scale_vector(pencil, scale)
    dual = dual_of(U, d, budget.labels)
    if dual is None:
        return floor
    X = finite_array(X, (pencil.n, pencil.n))
    squares = pencil.leading_vector**2 if X is None else np.maximum(np.diagonal(X), 0.0)
    return min(floor, charged_bound(pencil, dual, dual.charges(budget, squares)))


def radius_bound(pencil: Pencil, radius: Radius, U: Any = None) -> float:
    """λmax(A + U, B)₊ + radius²·b ≥ max xᵀAx s.t. xᵀBx ≤ 1, ‖x‖₁ ≤ radius, for any U with b = max|Uᵢⱼ| (Eq:approx).

    Proof. −xᵀUx ≤ b‖x‖₁² ≤ b·radius², and xᵀ(A + U)x ≤ λmax(A + U, B)·xᵀBx ≤ λmax(A + U, B)₊, the positive part
    since xᵀBx ≤ 1 admits x = 0. With ‖x_g‖₁ ≤ r_g for every view, b_gh is the largest |Uᵢⱼ| between g and h, and
    Σ b_gh r_g r_h takes the place of radius²·b. U is as in `homogeneous_bound`, but its diagonal counts: Uᵢᵢ = −b
    earns some of the budget back. It bounds (SGEV-P) at k only if every k-sparse x with xᵀBx = 1 has ‖x‖₁ ≤ radius
    (`largest_valid_k`).
    """
    radii, labels = checked_radius(pencil, radius)
    floor = max(0.0, dense_bound(pencil))
    dual = dual_of(U, np.ones(pencil.n), labels, tight=False)
    if dual is None:
        return floor
    # in this order r_g·r_h cannot underflow on its own, and each product is rounded up
    terms = [
        up(r * up(s * float(b))) for r, row in zip(radii, dual.b, strict=True) for s, b in zip(radii, row, strict=True)
    ]
    budget = sum(terms) * (1.0 + (2.0 * FORGIVEN * pencil.n + 2.0 * len(terms) * UNIT_ROUNDOFF))
    return min(floor, up(max(0.0, charged_bound(pencil, dual, dual.diagonal)) + up(budget)))


def penalized_bound(pencil: Pencil, rho: float, U: Any = None) -> float:
    """λmax(A + U, B)₊ ≥ max xᵀAx − ρ‖x‖₁² s.t. xᵀBx ≤ 1, for any U with |Uᵢⱼ| ≤ ρ: a larger one is cut (Section 4).

    Proof. −xᵀUx ≤ ρ‖x‖₁². The best diagonal is Uᵢᵢ = −ρ, and U = 0 off the diagonal is tried too.
    """
    rho = as_number(rho, "rho")
    n = expect_pencil(pencil).n
    # xᵀAx ≤ max|Aᵢⱼ|·‖x‖₁²: nothing is worth such a price (twice, for the rounding of CᵀC)
    if rho >= 2.0 * pencil.A_scale:
        return 0.0
    one = np.zeros(n, dtype=np.intp)
    given = dual_of(U, np.ones(n), one, level=rho)
    # level may be a unit or two above ρ after rounding: the diagonal then takes off a little less
    price = np.full((1, 1), rho * (1.0 - 4.0 * UNIT_ROUNDOFF))
    duals = [Dual(V, price, np.ones(n), one) for V in (np.zeros((n, n)), *([given.U] if given else []))]
    return max(0.0, min(charged_bound(pencil, dual, dual.diagonal) for dual in duals))


def checked_radius(pencil: Pencil, radius: Any) -> tuple[list[float], Index]:
    """An ℓ1 budget as a list with one number for each group, and the group of each variable."""
    n, radii = expect_pencil(pencil).n, listed(radius)
    if not radii:
        return [as_number(radius, "radius", strict=True)], np.zeros(n, dtype=np.intp)
    if len(radii) != len(pencil.views):
        views = len(pencil.views)
        raise InvalidParameter(f"radius = {shown(radius)} must be one number, or one for each of the {views} view(s).")
    checked = [as_number(r, f"radius[{g}]", strict=True) for g, r in enumerate(radii)]
    return checked, np.repeat(np.arange(len(radii)), pencil.blocks or (n,))


@overload
def valid_radius(pencil: Pencil, k: int) -> float: ...
@overload
def valid_radius(pencil: Pencil, k: Cardinality) -> float | tuple[float, ...]: ...
def valid_radius(pencil: Pencil, k: Cardinality) -> float | tuple[float, ...]:
    """√(k/λmin(B)): every k-sparse x with xᵀBx = 1 has ‖x‖₁² ≤ k‖x‖² ≤ k/λmin(B) (beyond the paper).

    For one k_g for each view it is a tuple of √(k_g/λmin(B_g)), as x_gᵀB_g x_g ≤ 1 in the block of B of that view.
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
    budget = Budget.of(pencil, k)
    lowest = smallest_of_groups(pencil, budget.labels)
    radii = tuple(
        math.sqrt(count / low) * (1.0 + 4.0 * UNIT_ROUNDOFF) if low > 0.0 else math.inf
        for count, low in zip(budget.counts, lowest, strict=True)
    )
    return radii[0] if len(radii) == 1 else radii


@overload
def radius_for(pencil: Pencil, k: int, rule: Literal["paper", "valid"]) -> float: ...
@overload
def radius_for(pencil: Pencil, k: Cardinality, rule: Literal["paper", "valid"]) -> float | tuple[float, ...]: ...
def radius_for(pencil: Pencil, k: Cardinality, rule: Literal["paper", "valid"]) -> float | tuple[float, ...]:
    """Return an ℓ1 budget for a cardinality: "paper" = k (Section 3), "valid" = √(k/λmin(B)) (beyond the paper).

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B).
    k : int or sequence of int
        The cardinality, or one for each view.
    rule : {"paper", "valid"}
        "paper": ‖x‖₁ ≤ k. For B = I it holds with room to spare, as ‖x‖₁ ≤ √k, so its bound is weak; for
        k·λmin(B) < 1 it may cut the optimum off, and is then no bound at all. "valid": the smallest radius
        that is proved to hold on all of (SGEV-P).

    Returns
    -------
    float or tuple of float
        The radius, or one for each view.

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
    budget = Budget.of(pencil, k)
    if one_of(rule, "rule", ("paper", "valid")) == "paper":
        return tuple(map(float, budget.counts)) if len(budget.counts) > 1 else float(budget.total)
    radius = valid_radius(pencil, budget)
    if np.any(np.isinf(radius)):
        condition = np.linalg.cond(pencil.dense()[1] / np.outer(pencil.B_roots, pencil.B_roots))
        raise InvalidPencil(
            f"no ℓ1 radius is proved to hold at k = {budget}: λmin(B) > 0 cannot be proved in floating point, B being "
            f"singular to working precision (its condition number is near {condition:.0e}). Add a ridge, or "
            "use homogeneous_sdp, which needs no radius."
        )
    return radius


def largest_valid_k(pencil: Pencil, radius: Radius) -> int | tuple[int, ...]:
    """The largest k for which ‖x‖₁ ≤ radius is proved to hold on (SGEV-P): k ≤ radius²·λmin(B) (beyond the paper).

    0 says that the radius bounds no cardinality at all. The factor 1 + 64nu forgives the rounding of a radius
    that was itself computed as √(k/λmin(B)); `radius_bound` adds as much to its budget.
    """
    counts = valid_budget(pencil, radius).counts
    return counts[0] if len(counts) == 1 else counts


def valid_budget(pencil: Pencil, radius: Radius) -> Budget:
    """The supports for which a radius, or one for each view, is proved to hold (see `largest_valid_k`)."""
    radii, labels = checked_radius(pencil, radius)
    reach = [
        r * (r * low) * (1.0 + FORGIVEN * pencil.n)
        for r, low in zip(radii, smallest_of_groups(pencil, labels), strict=True)
    ]
    sizes = np.bincount(labels).tolist()
    return Budget(labels, tuple(int(min(float(most), k)) for most, k in zip(sizes, reach, strict=True)))


def smallest_of_groups(pencil: Pencil, labels: Index) -> list[float]:
    """A number ≤ λmin of B on each group; of B as a whole where groups are coupled. 0 where no proof was found."""
    coupled = pencil.B is not None and bool(np.any(pencil.B[labels[:, None] != labels]))
    groups = [np.flatnonzero(labels == g) for g in range(int(np.max(labels)) + 1)]
    parts = [pencil if coupled or len(groups) == 1 else pencil.restrict(group) for group in groups]
    return [smallest_B_eigenvalue(part) for part in parts]


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
    """Raise for an SDP beyond SDP_LIMIT variables."""
    if n > SDP_LIMIT:
        raise InvalidParameter(
            f"an SDP with n = {n} has {n * (n + 1) // 2} variables and as many moduli, and takes about "
            f"{4.8e-6 * n * n:.1f} GB. Use bounds.cheap_bound(pencil, k), which needs no SDP, restrict the pencil to "
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
