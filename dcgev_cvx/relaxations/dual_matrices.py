"""Dual matrices: any array that a solver left, made one for which a bound is a theorem. Never imports a solver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Index, Matrix, Vector, as_real
from .._numerics.proofs import lambda_max_bound
from ..budgets import Budget
from ..errors import InvalidParameter
from ..pencils import Pencil

LEAST_SHARE = 1e-3
"""Groups share what a pair of them is charged in no more uneven a ratio than this."""


@dataclass(frozen=True)
class Dual:
    """U symmetric with |Uᵢⱼ| ≤ b_gh·dᵢdⱼ off the diagonal, g and h the groups of i and j: what a bound needs of an SDP.

    Its diagonal is −b_gg·dᵢ² and is not stored in U: the bounds are λmax(A + U + …), which rises with each Uᵢᵢ, and
    Uᵢᵢ ≥ −b_gg·dᵢ² is all that −xᵀUx ≤ Σ b_gh s_g s_h, s_g = Σ_{i∈g} dᵢ|xᵢ|, asks of it.
    """

    U: Matrix
    b: Matrix
    d: Vector
    labels: Index

    @property
    def diagonal(self) -> Vector:
        """−b_gg·dᵢ²."""
        return -np.diagonal(self.b)[self.labels] * self.d**2

    def charges(self, budget: Budget, squares: Vector) -> Vector:
        """(cᵢ − b_gg)dᵢ² with cᵢ = k_g Σ_h b_gh v_h/v_g and v_g² = k_g Σ_{i∈g} dᵢ²xᵢ², given the xᵢ².

        `homogeneous_bound` has the proof. k_g − 1 is formed first, so that nothing cancels. Each is rounded up.
        """
        k = np.array(budget.counts, dtype=np.float64)
        v = np.sqrt(k * np.bincount(self.labels, self.d**2 * squares, minlength=len(k)))
        v = np.maximum(v, LEAST_SHARE * np.max(v)) if np.any(v > 0.0) else np.ones(len(k))
        across = self.b * (v / v[:, None])
        np.fill_diagonal(across, 0.0)
        c = (k - 1.0) * np.diagonal(self.b) + k * np.sum(across, axis=1) * (1.0 + 4.0 * len(k) * UNIT_ROUNDOFF)
        return c[self.labels] * self.d**2


def dual_of(
    U: Any, d: Vector, labels: Index, level: float | Matrix | None = None, *, tight: bool = True
) -> Dual | None:
    """Any array as a Dual: symmetrised, cut at |Uᵢⱼ| ≤ level·dᵢdⱼ when a level is given; None when it is garbage.

    The level is one number, or one for each two groups. b is the smallest that fits off the diagonal; tight=False
    makes it the level, or the largest of U, diagonal included. The first is better where b only costs, as in the
    homogeneous bound, the second where the diagonal −b·dᵢ² pays for it, as with a fixed radius.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx.relaxations.dual_matrices import dual_of
    >>> one_group = np.zeros(2, dtype=int)
    >>> dual_of([[5.0, 2.0], [0.0, -1.0]], np.ones(2), one_group).U
    array([[0., 1.],
           [1., 0.]])
    >>> dual_of(np.full((2, 2), np.nan), np.ones(2), one_group) is None
    True
    """
    n, m = len(d), int(np.max(labels)) + 1
    array = finite_array(U, (n, n))
    if array is None:
        return None
    array = 0.5 * array + 0.5 * array.T  # halved first: the sum of two huge entries would overflow
    outer = d[:, None] * d
    with np.errstate(over="ignore", invalid="ignore"):
        b = largest_by_group(np.abs(array) / outer, labels) if level is None else np.broadcast_to(level, (m, m))
        # charges of n·b·d² must be finite; where they are not, U = 0 gives the better bound
        if not (np.all(b >= 0.0) and np.all(np.isfinite(4.0 * n * m * b * float(np.max(outer))))):
            return None
    # the diagonal has a best value of its own, −b·dᵢ², and what was given for it is dropped
    np.fill_diagonal(array, 0.0)
    most = b[labels][:, labels] * outer
    array = np.clip(array, -most, most)
    if tight:
        b = largest_by_group(np.abs(array) / outer, labels)
    # the quotient was rounded: a few units more make the inequality true, below the normal numbers the next one does
    raised = np.nextafter(b * (1.0 + 16.0 * UNIT_ROUNDOFF), np.inf)
    return Dual(array, np.where(largest_by_group(np.abs(array), labels) > 0.0, raised, b), d, labels)


def largest_by_group(M: Matrix, labels: Index) -> Matrix:
    """The largest entry of M ≥ 0 in the rows of each group and the columns of each."""
    groups = [np.flatnonzero(labels == g) for g in range(int(np.max(labels)) + 1)]
    return np.array([[np.max(M[np.ix_(rows, columns)], initial=0.0) for columns in groups] for rows in groups])


def finite_array(raw: Any, shape: tuple[int, ...]) -> Matrix | None:
    """An array of finite real numbers of a shape; None for anything else."""
    try:
        array = as_real(raw, "a dual matrix", InvalidParameter)
    except InvalidParameter:
        return None
    return array if array.shape == shape else None


def charged_bound(pencil: Pencil, dual: Dual, diagonal: Vector) -> float:
    """A proved number ≥ λmax(A + U + Diag(diagonal), B), for charges of `dual` on the diagonal."""
    A, size = entries(pencil)
    # the moduli of the summands, with two units of the charge to spare, and more where several were added
    moduli = len(dual.b) * np.abs(diagonal) - 2.0 * dual.diagonal
    with np.errstate(over="ignore"):  # a sum that overflows gives +inf, a valid bound
        return lambda_max_bound(A + dual.U + np.diag(diagonal), pencil.B, size + np.abs(dual.U) + np.diag(moduli))


def entries(pencil: Pencil) -> tuple[Matrix, Matrix]:
    """(A, size): the matrix and a bound on the moduli of the sums behind its entries, larger for A = CᵀC.

    For A = CᵀC each entry is a sum of p products, whose rounding error is at most p·u·‖cᵢ‖‖cⱼ‖ by Cauchy and
    Schwarz; `size` is stated so that what `is_definite` charges per unit of it covers that with room to spare.
    """
    A, e = pencil.dense()[0], pencil.A_error()
    return A, np.abs(A) + np.outer(e, e) / (4.0 * UNIT_ROUNDOFF)
