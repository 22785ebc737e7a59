"""Every support of a family, many at a time: for small problems, and for the leaves of branch and bound.

On a support S the best vector is the leading eigenvector of (A_SS, B_SS), so (SGEV-P) is a search over supports with
λmax as the score. Tables of supports are scored by one batched eigenvalue call.
"""

import math
from dataclasses import dataclass, replace
from itertools import combinations
from time import perf_counter

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Index, Vector
from .._numerics.proofs import ATTEMPTS, GROWTH, TINY, is_definite, times
from ..certificates import Solution, checked_k, solution_of
from ..errors import InvalidParameter
from ..pencils import Gram, Pencil, expect_pencil
from ..relaxations.bounds import cheap_bound
from ..search.exchange import support_values, tables_of
from ..steps.scaling import Scaling
from .results import ExactSolution, exact_from

BRUTE_FORCE_LIMIT = 5_000_000
"""The most supports that brute_force tries: about a minute at k = 6."""


def gev(pencil: Pencil) -> Solution:
    """Return the dense optimum λmax(A, B) and its eigenvector (GEV-P).

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B).

    Returns
    -------
    Solution
        The leading generalized eigenvector, unit in the B norm.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.exact import gev
    >>> dense = gev(datasets.pitprops())
    >>> dense.k, round(dense.value, 4)
    (13, 4.2186)
    """
    begin = perf_counter()
    x = expect_pencil(pencil).leading_vector
    return solution_of(pencil, x, "generalized eigenvector", perf_counter() - begin)


def brute_force(pencil: Pencil, k: int) -> ExactSolution:
    """Return the optimum of (SGEV-P) over all C(n, k) supports of size k.

    Smaller supports need not be tried: λmax only grows with the support.

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B).
    k : int
        The cardinality; C(n, k) may be at most 5,000,000.

    Returns
    -------
    ExactSolution
        Its upper bound is proved on every support by a Cholesky factorisation, rounding included.

    Raises
    ------
    InvalidParameter
        If k lies outside 1 … n, or there are too many supports.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.exact import brute_force
    >>> found = brute_force(datasets.pitprops(), 2)
    >>> found.support, round(found.value, 4), found.supports, found.optimal
    ((0, 1), 1.954, 78, True)
    """
    begin = perf_counter()
    k = checked_k(k, expect_pencil(pencil).n)
    count = math.comb(pencil.n, k)
    if count > BRUTE_FORCE_LIMIT:
        many = count if count < 10**15 else f"about 1e{math.log10(count):.0f}"
        raise InvalidParameter(
            f"n = {pencil.n}, k = {k} has {many} supports, more than {BRUTE_FORCE_LIMIT}: use best_subset, "
            "which proves the optimum without visiting them all."
        )
    scaled, unit = scaled_pencil(pencil, k)
    tried = try_all(scaled, np.empty(0, dtype=np.intp), np.arange(pencil.n), k)
    # no proof is found in a metric that is singular to working precision
    upper = tried.bound if math.isfinite(tried.bound) else cheap_bound(scaled, k)
    return exact_from(pencil, tried.support, times(upper, unit), perf_counter() - begin, supports=tried.count)


@dataclass(frozen=True)
class Tried:
    """The best of the supports that were tried; `bound` is proved to be at least the value of each of them."""

    value: float
    support: Index
    count: int
    bound: float


def try_all(pencil: Pencil, included: Index, free: Index, m: int, floor: float = -math.inf) -> Tried:
    """λmax of every support included ∪ (m of free), and a proof that none exceeds the bound.

    The bound starts at `floor`: nothing below it needs a proof.
    """
    best = Tried(-math.inf, included, 0, floor)
    known = tuple(included.tolist())
    for table in tables_of((known + others for others in combinations(free.tolist(), m)), len(known) + m):
        values = support_values(pencil, table)
        top = int(np.argmax(values))
        bound = proved_on_all(pencil, table, max(best.bound, float(values[top])))
        best = replace(best, count=best.count + len(table), bound=bound)
        # strictly larger: of equal supports the first in lexicographic order is kept
        if values[top] > best.value:
            best = replace(best, value=float(values[top]), support=np.sort(table[top]))
    return best


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


def scaled_pencil(pencil: Pencil, k: int) -> tuple[Pencil, float]:
    """The pencil with entries of size one, A formed, and the factor that brings its values back.

    What forming A = CᵀC has rounded away is added to its diagonal, so that a bound on the k-sparse values of the
    matrix bounds those of the factor.
    """
    scaling = Scaling.of_pencil(pencil)
    A = scaling.objective_form(pencil.A.toarray() if isinstance(pencil.A, Gram) else pencil.A)
    A[np.diag_indices(pencil.n)] += forming_error(pencil, k) * scaling.u / scaling.o * scaling.u
    return scaling.pencil(pencil, A), scaling.o


def forming_error(pencil: Pencil, k: int) -> Vector:
    """e with |xᵀ(fl(CᵀC) − CᵀC)x| ≤ Σ eᵢxᵢ² for every k-sparse x: (p + 2)·u·k·‖cᵢ‖²; 0 for a given A.

    Each entry is a sum of p products and off by at most (p + 2)·u·‖cᵢ‖‖cⱼ‖, and (Σ ‖cᵢ‖|xᵢ|)² ≤ k Σ ‖cᵢ‖²xᵢ² by
    Cauchy and Schwarz. TINY stands for products below the normal numbers.
    """
    if not isinstance(pencil.A, Gram):
        return np.zeros(pencil.n)
    return (pencil.A.rows + 2) * UNIT_ROUNDOFF * k * (pencil.A_diagonal + TINY)
