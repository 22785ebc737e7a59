"""The pairwise bound: each pair of variables is charged on its own (beyond the paper).

Theorem. Let U be symmetric with zero diagonal and a ≥ 0 with Uᵢⱼ² ≤ aᵢⱼaⱼᵢ for all i ≠ j. Then every x with at most k
nonzeros and xᵀBx = 1 has xᵀAx ≤ λmax(A + U + Diag(r), B), where rᵢ is the sum of the k − 1 largest aᵢⱼ; with at most
k_g nonzeros in every group g, rᵢ is the sum of the k_g − 1 largest aᵢⱼ in the group of i and of the k_h largest in
every other group h.

Proof. [[aᵢⱼ, Uᵢⱼ], [Uᵢⱼ, aⱼᵢ]] ⪰ 0 says −2Uᵢⱼxᵢxⱼ ≤ aᵢⱼxᵢ² + aⱼᵢxⱼ². Summed over the pairs in the support S of x,
−xᵀUx ≤ Σ_{i∈S} xᵢ² Σ_{j∈S, j≠i} aᵢⱼ ≤ Σ rᵢxᵢ², for S holds no more than these j beside i. Add xᵀ(A + U)x.

aᵢⱼ = b·dᵢ² gives the homogeneous bound, aᵢⱼ = cᵢ²/4fᵢ + fⱼ the one of the row constraints (docs/pairwise-bound.md), so
that the best (U, a) is at least as good as either; `pair_splitting` looks for it. B needs no weights here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Matrix, Vector
from .._numerics.proofs import TINY, lambda_max_bound
from ..budgets import Budget, Cardinality
from ..pencils import Pencil
from .bounds import dense_bound
from .dual_matrices import entries, finite_array


@dataclass(frozen=True)
class PairDual:
    """U symmetric, a ≥ 0, both with zero diagonals and Uᵢⱼ² ≤ aᵢⱼaⱼᵢ: what a pairwise bound needs."""

    U: Matrix
    a: Matrix

    def __getitem__(self, support: Any) -> PairDual:
        """The same on a principal sub-pencil, where the inequalities still hold."""
        rows = np.ix_(support, support)
        return PairDual(self.U[rows], self.a[rows])

    def bound(self, A: Matrix, B: Matrix | None, size: Matrix, budget: Budget | int) -> float:
        """A proved number ≥ λmax(A + U + Diag(r), B); size as in `lambda_max_bound`, for A."""
        r = np.diag(charges(self.a, 0, budget))
        with np.errstate(over="ignore"):  # a sum that overflows gives +inf, a valid bound
            return lambda_max_bound(A + self.U + r, B, size + np.abs(self.U) + r)


def pairwise_bound(pencil: Pencil, k: Cardinality, U: Any = None, a: Any = None) -> float:
    """λmax(A + U + Diag(r), B), rᵢ the sum of the k − 1 largest aᵢⱼ: a bound on (SGEV-P) for any U and a ≥ 0.

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B).
    k : int or sequence of int
        The cardinality, or one for each view.
    U, a : array_like
        Any two arrays; U is cut to Uᵢⱼ² ≤ aᵢⱼaⱼᵢ. Misshapen or not finite, they count as 0, which gives λmax(A, B);
        the smaller of the two bounds is returned.

    Returns
    -------
    float
        The bound, rounding included.

    Examples
    --------
    With a = |A| and U = −A off the diagonal it is Gershgorin's bound on k-subsets:

    >>> import numpy as np
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations.bounds import row_sum_bound
    >>> from dcgev_cvx.relaxations.pairwise import pairwise_bound
    >>> pencil = datasets.pitprops()
    >>> round(pairwise_bound(pencil, 3, -pencil.A, np.abs(pencil.A)), 6) == round(row_sum_bound(pencil, 3), 6)
    True
    """
    budget = Budget.of(pencil, k)
    floor, dual = dense_bound(pencil), pair_dual(U, a, pencil.n)
    A, size = entries(pencil)
    return floor if dual is None else min(floor, dual.bound(A, pencil.B, size, budget))


def pair_dual(U: Any, a: Any, n: int) -> PairDual | None:
    """Any two arrays as a PairDual: a cut at 0, U symmetrised and cut at √(aᵢⱼaⱼᵢ); None where they are garbage."""
    U, a = finite_array(U, (n, n)), finite_array(a, (n, n))
    if U is None or a is None or not math.isfinite(4.0 * n * float(np.max(np.abs(a)))):
        return None
    a = np.maximum(a, 0.0)
    np.fill_diagonal(a, 0.0)
    with np.errstate(over="ignore"):
        products = a * a.T
    # four units less than the root, which was rounded; below the normal numbers nothing is sure
    limit = np.where(products >= TINY, np.sqrt(products) * (1.0 - 4.0 * UNIT_ROUNDOFF), 0.0)
    return PairDual(np.clip(0.5 * U + 0.5 * U.T, -limit, limit), a)


def charges(a: Matrix, p: int, left: Budget | int) -> Vector:
    """r of the supports that hold the first p variables and `left` of the others, sums rounded up.

    Pairs of the first p are known to be in the support: their U is 0 and they cost nothing. A row among them is
    charged the largest sum of aᵢⱼ that `left` admits; any other row its pairs with the first p and its best partners.
    """
    left = left if isinstance(left, Budget) else Budget.whole(len(a) - p, left)
    r = np.concatenate([left.top_sum(a[:p, p:]), np.sum(a[p:, :p], axis=1) + left.partner_sum(a[p:, p:])])
    return r * (1.0 + 4.0 * (p + left.total + 2) * UNIT_ROUNDOFF)
