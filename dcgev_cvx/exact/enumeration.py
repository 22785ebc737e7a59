"""Every support of a family, many at a time: for small problems, and for the leaves of branch and bound.

On a support S the best vector is the leading eigenvector of (A_SS, B_SS), so (SGEV-P) is a search over supports with
λmax as the score. Tables of supports are scored by one batched eigenvalue call.
"""

import math

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Index, Matrix, Vector
from .._numerics.proofs import ATTEMPTS, GROWTH, is_definite
from ..budgets import Budget, Cardinality
from ..errors import InvalidParameter
from ..pencils import Pencil
from ..steps.scaling import Scaling

PRUNE_TOL = 1e-10
"""A family is closed when its bound exceeds the best value by no more than this share: ties stay open otherwise."""
TABLE_NUMBERS = 1 << 18
"""Numbers in the sub-pencils of one table of supports, 2 MB: fast as long as they stay in the cache."""
DENSE_LIMIT = 5_000
"""Beyond this n the matrix alone is 200 MB, and every bound works on most of it."""


class Incumbent:
    """The best support known of a scaled pencil, and its value."""

    def __init__(self, pencil: Pencil) -> None:
        self.pencil, self.value, self.support = pencil, -math.inf, np.empty(0, dtype=np.intp)

    @property
    def threshold(self) -> float:
        """What a support must exceed to count as better, −inf as long as none is known."""
        return self.value + PRUNE_TOL * abs(self.value) if math.isfinite(self.value) else self.value

    def offer(self, support: Index) -> None:
        """Keep a support if it is the best so far."""
        self.offer_all(support[None, :])

    def offer_all(self, table: Index) -> float:
        """Keep the best of many supports if it is the best so far; of equal ones the first. Returns its value."""
        values = support_values(self.pencil, table)
        top = int(np.argmax(values))
        if values[top] > self.value:
            self.value, self.support = float(values[top]), np.sort(table[top])
        return float(values[top])


def support_values(pencil: Pencil, table: Index) -> Vector:
    """λmax of the sub-pencil on each row of an m × k table of supports, with m·k² numbers of memory."""
    rows, columns = table[:, :, None], table[:, None, :]
    A = np.asarray(pencil.A)[rows, columns]
    if pencil.B is not None:
        L = np.linalg.cholesky(pencil.B[rows, columns])
        A = np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, A), 1, 2))
    return np.asarray(np.linalg.eigvalsh(A)[:, -1], dtype=np.float64)


def try_all(best: Incumbent, budget: Budget, included: Index, free: Index) -> tuple[int, float]:
    """Offer every support of a family; how many there are, and a number that is proved to be at least their values.

    The number is at least the threshold: nothing below needs a proof.
    """
    count, bound = 0, best.threshold
    left = budget.restrict(free, included)
    k = len(included) + left.total
    for table in left.tables(TABLE_NUMBERS // k**2):
        supports = np.hstack([np.tile(included, (len(table), 1)), free[table]])
        top = best.offer_all(supports)
        bound = proved_on_all(best.pencil, supports, max(bound, best.threshold, top))
        count += len(table)
    return count, bound


def proved_on_all(scaled: Pencil, table: Index, guess: float) -> float:
    """A number ≥ λmax on every support of a table, a few units in the last place above the guess; +inf without proof.

    λB_SS − A_SS is positive definite on all of them at once (`_numerics.proofs.is_definite`).
    """
    rows, columns, k = table[:, :, None], table[:, None, :], table.shape[1]
    M = np.asarray(scaled.A)[rows, columns]
    N = np.eye(k) if scaled.B is None else scaled.B[rows, columns]
    if not M.any():  # all values are 0, which needs no proof
        return max(guess, 0.0)
    size = np.abs(M)
    margin = 4.0 * k * UNIT_ROUNDOFF * max(abs(guess), float(np.max(size)))
    for _ in range(ATTEMPTS):
        if is_definite(guess + margin, M, N, size):
            return guess + margin
        margin *= GROWTH
    return math.inf


class ScaledProblem:
    """A pencil with entries of size one, A formed, and a budget; `scaling` leads back to the user's units.

    What forming A = CᵀC has rounded away is added to its diagonal, so that a bound on the k-sparse values of the
    matrix A bounds those of the factor.
    """

    def __init__(self, pencil: Pencil, k: Cardinality) -> None:
        if pencil.n > DENSE_LIMIT:
            raise InvalidParameter(
                f"n = {pencil.n}: the search needs A as {pencil.n}×{pencil.n} numbers ({8e-9 * pencil.n**2:.1f} GB), "
                f"and is meant for n ≤ {DENSE_LIMIT}. bounds.cheap_bound bounds any n, restrict() makes a small pencil."
            )
        self.given, self.budget = pencil, Budget.of(pencil, k)
        self.formed = pencil.A_terms > 0
        self.B = pencil.B
        self.A: Matrix = pencil.dense()[0]
        if self.formed:
            self.A[np.diag_indices(pencil.n)] += forming_error(pencil, self.budget.total)
        self.scaling = Scaling.of_pencil(pencil)
        self.pencil = self.scaling.pencil(pencil, self.scaling.objective_form(self.A))


def forming_error(pencil: Pencil, k: int) -> Vector:
    """e with |xᵀ(fl(CᵀC) − CᵀC)x| ≤ Σ eᵢxᵢ² for every k-sparse x: (p + 2)·u·k·‖cᵢ‖²; 0 for a given A.

    Each entry is a sum of p products and off by at most (p + 2)·u·‖cᵢ‖‖cⱼ‖, and (Σ ‖cᵢ‖|xᵢ|)² ≤ k Σ ‖cᵢ‖²xᵢ² by
    Cauchy and Schwarz.
    """
    return k * pencil.A_error() ** 2
