"""The pairwise bound: each pair of variables is charged on its own (beyond the paper).

Theorem. Let U be symmetric with zero diagonal and a ≥ 0 with Uᵢⱼ² ≤ aᵢⱼaⱼᵢ for all i ≠ j. Then every x with at most k
nonzeros and xᵀBx = 1 has xᵀAx ≤ λmax(A + U + Diag(r), B), where rᵢ is the sum of the k − 1 largest aᵢⱼ.

Proof. [[aᵢⱼ, Uᵢⱼ], [Uᵢⱼ, aⱼᵢ]] ⪰ 0 says −2Uᵢⱼxᵢxⱼ ≤ aᵢⱼxᵢ² + aⱼᵢxⱼ². Summed over the pairs in the support S of x,
−xᵀUx ≤ Σ_{i∈S} xᵢ² Σ_{j∈S, j≠i} aᵢⱼ ≤ Σ rᵢxᵢ², for a row holds at most k − 1 of the others. Add xᵀ(A + U)x.

aᵢⱼ = b·dᵢ² gives the homogeneous bound, aᵢⱼ = cᵢ²/4fᵢ + fⱼ the one of the row constraints (docs/pairwise-bound.md), so
that the best (U, a) is at least as good as either; `pair_splitting` looks for it. B needs no weights here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Matrix, Vector, as_real
from .._numerics.proofs import TINY, lambda_max_bound
from .._numerics.selection import top_sum
from ..errors import InvalidParameter
from ..pencils import Pencil, expect_pencil
from ..solutions import checked_k
from .bounds import dense_bound, entries


@dataclass(frozen=True)
class PairDual:
    """U symmetric, a ≥ 0, both with zero diagonals and Uᵢⱼ² ≤ aᵢⱼaⱼᵢ: what a pairwise bound needs."""

    U: Matrix
    a: Matrix

    def __getitem__(self, support: Any) -> PairDual:
        """The same on a principal sub-pencil, where the inequalities still hold."""
        rows = np.ix_(support, support)
        return PairDual(self.U[rows], self.a[rows])

    def bound(self, A: Matrix, B: Matrix | None, size: Matrix, k: int) -> float:
        """A proved number ≥ λmax(A + U + Diag(r), B); size as in `lambda_max_bound`, for A."""
        r = np.diag(charges(self.a, 0, k))
        with np.errstate(over="ignore"):  # a sum that overflows gives +inf, a valid bound
            return lambda_max_bound(A + self.U + r, B, size + np.abs(self.U) + r)


def pairwise_bound(pencil: Pencil, k: int, U: Any = None, a: Any = None) -> float:
    """λmax(A + U + Diag(r), B), rᵢ the sum of the k − 1 largest aᵢⱼ: a bound on (SGEV-P) for any U and a ≥ 0.

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B).
    k : int
        The cardinality.
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
    k = checked_k(k, expect_pencil(pencil).n)
    floor, dual = dense_bound(pencil), pair_dual(U, a, pencil.n)
    A, size = entries(pencil)
    return floor if dual is None else min(floor, dual.bound(A, pencil.B, size, k))


def pair_dual(U: Any, a: Any, n: int) -> PairDual | None:
    """Any two arrays as a PairDual: a cut at 0, U symmetrised and cut at √(aᵢⱼaⱼᵢ); None where they are garbage."""
    try:
        U, a = (as_real(array, "a dual matrix", InvalidParameter) for array in (U, a))
    except InvalidParameter:
        return None
    if U.shape != (n, n) or a.shape != (n, n) or not math.isfinite(4.0 * n * float(np.max(np.abs(a)))):
        return None
    a = np.maximum(a, 0.0)
    np.fill_diagonal(a, 0.0)
    with np.errstate(over="ignore"):
        products = a * a.T
    # four units less than the root, which was rounded; below the normal numbers nothing is sure
    limit = np.where(products >= TINY, np.sqrt(products) * (1.0 - 4.0 * UNIT_ROUNDOFF), 0.0)
    return PairDual(np.clip(0.5 * U + 0.5 * U.T, -limit, limit), a)


def charges(a: Matrix, p: int, m: int) -> Vector:
    """r of the supports that hold the first p variables and m of the others, sums rounded up.

    Pairs of the first p are known to be in the support: their U is 0 and they cost nothing. A row among them is
    charged its m largest aᵢⱼ; any other row its pairs with the first p and the m − 1 largest of the rest.
    """
    r = np.concatenate([top_sum(a[:p, p:], m), np.sum(a[p:, :p], axis=1) + top_sum(a[p:, p:], m - 1)])
    return r * (1.0 + 4.0 * (p + m + 2) * UNIT_ROUNDOFF)
