"""The two optima that need no search: the dense one, and the best of all supports of a small problem."""

import math
from time import perf_counter

from .._numerics.deadline import Deadline
from ..budgets import Budget, Cardinality
from ..errors import InvalidParameter
from ..pencils import Pencil, expect_pencil
from ..solutions import Solution, solution_of
from .branch_and_bound import BranchAndBound
from .enumeration import ScaledProblem
from .results import ExactSolution, exact_from
from .root import NOBODY

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


def brute_force(pencil: Pencil, k: Cardinality) -> ExactSolution:
    """Return the optimum of (SGEV-P) over all supports of size k.

    Smaller supports need not be tried: λmax only grows with the support.

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B).
    k : int or sequence of int
        The cardinality, or one for each view; there may be at most 5,000,000 supports.

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
    number = Budget.of(expect_pencil(pencil), k).number
    if number > BRUTE_FORCE_LIMIT:
        many = number if number < 10**15 else f"about 1e{math.log10(number):.0f}"
        raise InvalidParameter(
            f"n = {pencil.n}, k = {k} has {many} supports, more than {BRUTE_FORCE_LIMIT}: use best_subset, "
            "which proves the optimum without visiting them all."
        )
    search = BranchAndBound(ScaledProblem(pencil, k), Deadline(), math.inf, None)
    search.enumerate(0, NOBODY, search.root.kept)
    if math.isinf(search.upper):  # no proof is found in a metric that is singular to working precision
        search.root.bound_cheaply()
        search.tree.explain(0, search.root.number(search.root.dual), search.root.bound)
        search.tried = search.root.bound
    found = search.best.support, search.upper, search.tree, search.root.duals
    return exact_from(search.problem, *found, perf_counter() - begin, supports=search.supports)
