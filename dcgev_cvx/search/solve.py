"""A k-sparse generalized eigenvector: construct supports, exchange variables, restart (SGEV-P).

    if all supports of size k cost less than a twentieth of the budget:
        return the best of all
    starts: one-shot MM from the leading eigenvector, if B = I and its work fits into the budget; else that vector cut
            the largest entries of the dozen columns of A with the largest sums, of as many as can be looked at with a
            twentieth of the budget
    repeat  exchange from every start, one variable for another while λmax rises
            starts: the best supports so far, perturbed or crossed, and random ones
    until   `patience` rounds have found nothing better, or the budget is used up

Work is counted in multiplications, one or two 10⁹ in a second, so that the answer does not depend on the machine. An
effort is a budget and a patience. It continues where the one before it ended, so that more effort is never worse.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from time import perf_counter
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from .._numerics.checks import Index, Vector, as_flag, as_generator, one_of, shown
from .._numerics.threads import one_thread
from ..certificates import on_support
from ..errors import InvalidParameter
from ..penalties import Penalty, as_penalty
from ..pencils import Pencil, expect_pencil
from ..programs import MACHINE_EPS
from ..solutions import Solution, checked_k
from .exchange import tables_of, values_on_supports
from .matching_program import matched_solution
from .path import on_path
from .starts import Plan, best_variable, in_units, size_of, spread_over_ties
from .support_search import SupportSearch
from .working_set import working_set

SearchEffort: TypeAlias = Literal["quick", "normal", "high"]


class EffortLimits(NamedTuple):
    """What an effort may spend: multiplications in all, and rounds of restarts without a better support."""

    work: float
    patience: int


EFFORTS: dict[SearchEffort, EffortLimits] = {
    "quick": EffortLimits(2e8, 2),
    "normal": EffortLimits(2e9, 4),
    "high": EffortLimits(4e10, 20),
}
"""About 0.2 s, 1 s and 40 s at most, and far less on small problems, where patience ends the search."""


def solve(
    pencil: Pencil,
    k: int | Sequence[int],
    *,
    effort: SearchEffort = "normal",
    random_state: int | np.random.Generator = 0,
    check_path: bool | None = None,
    penalty: Penalty | None = None,
) -> Solution:
    """A k-sparse generalized eigenvector of a large value xᵀAx/xᵀBx.

    The search constructs supports, one of them by one-shot MM, exchanges variables while λmax rises, and restarts
    from the best supports; `dcgev_cvx.search.solve` states it in full. The loadings are the leading eigenvector of
    the sub-pencil. Unless `Solution.method` says that all supports were looked at, the result is a local optimum
    over exchanges and carries no proof; `exact.best_subset` proves.

    Parameters
    ----------
    pencil : Pencil
        (A, B), A of any sign; A = CᵀC is never formed. If C is not an array in memory (see `Gram`), the search is on
        the variables of the largest variance, and `Solution.method` says whether that is proved to be enough.
    k : int or sequence of int
        The number of nonzeros; for a pencil with views (`cca_pencil`) also one number for each view, such as
        (kx, ky). Fewer come back only when more would lower the value, as for a diagonal A.
    effort : {"quick", "normal", "high"}
        How long to search: about 0.2, 1 and 40 seconds at most, far less on small problems. Each begins where the one
        before it ends and is never worse.
    random_state : int or numpy.random.Generator
        Seed or Generator of the restarts; the answer is a function of it.
    check_path : bool or None
        Ask whether some ρ̃ takes Algorithm 1 from the leading eigenvector to this k (`on_path`); None for n ≤ 60 and
        a single k.
    penalty : Penalty or None
        The penalty of the program that the answer names, and of `on_path`; None for the paper's logarithm. The search
        is for a support of the largest value and does not depend on it. Where no program of this penalty has a
        stationary point on the support, as is common for ℓ1, rho and eps are NaN and the certificate is None.

    Returns
    -------
    Solution
        x with unit B norm and exact zeros, its value from the data, what was done in words, and (rho, eps,
        certificate) of a program (SGEV-A) that has a stationary point on this support.

    Examples
    --------
    No ρ̃ takes Algorithm 1 from the leading eigenvector to four nonzeros:

    >>> from dcgev_cvx import datasets, solve
    >>> found = solve(datasets.pitprops(), 4)
    >>> round(found.value, 4), found.on_path, found.method
    (2.9375, False, 'all 715 supports')
    """
    begin = perf_counter()
    plan = checked_plan(pencil, k)
    one_of(effort, "effort", EFFORTS)
    total = size_of(plan)
    if (screened := working_set(pencil, total)) is not None:
        part = solve(screened.pencil, k, effort=effort, random_state=random_state, check_path=False)
        whole = screened.embed(part, prove=True)
        return matched_solution(pencil, whole.x, whole.method, begin, penalty)
    if penalty is not None:
        penalty = as_penalty(penalty, MACHINE_EPS)
    unit, length, _ = in_units(pencil)
    with one_thread:
        support, method = best_support(unit, plan, effort, as_generator(random_state))
        x = on_support(unit, support)
        x = spread_over_ties(unit, x, total) if len(plan) == 1 else x
        found = matched_solution(pencil, length * x, method, begin, penalty)
    asked = pencil.n <= 60 and len(plan) == 1 if check_path is None else as_flag(check_path, "check_path")
    return replace(found, on_path=on_path(unit if penalty is None else pencil, total, penalty)) if asked else found


def constructed(pencil: Pencil, k: int | Sequence[int]) -> Vector:
    """x of the starts with a tenth of the budget of quick effort: a rougher answer, for cross-validation."""
    unit, length, _ = in_units(pencil)
    with one_thread:
        search = SupportSearch(unit, checked_plan(pencil, k), np.random.default_rng(0))
        search.construct(0.1 * EFFORTS["quick"].work)
        return length * on_support(unit, search.ranked[0])


def checked_plan(pencil: Pencil, k: Any) -> Plan:
    """How many variables of which: k of all, or one number for each view."""
    if not isinstance(k, Sequence) or isinstance(k, str):
        return ((np.arange(expect_pencil(pencil).n), checked_k(k, pencil.n)),)
    if expect_pencil(pencil).blocks is None:
        raise InvalidParameter(f"k = {shown(k)} names views, but the pencil has none: build it with cca_pencil.")
    if len(k) != len(pencil.views):
        raise InvalidParameter(f"k = {shown(k)} must give one number for each of the {len(pencil.views)} views.")
    return tuple((rows, checked_k(size, len(rows))) for rows, size in zip(pencil.views, k, strict=True))


def best_support(pencil: Pencil, plan: Plan, effort: SearchEffort, generator: np.random.Generator) -> tuple[Index, str]:
    """The best support that the effort finds for a pencil of ordinary size, and what was done, in words."""
    k, count = size_of(plan), math.prod(math.comb(len(rows), k) for rows, k in plan)
    if k == 1 or count == 1:
        return (best_variable(pencil), f"all {count} variables") if k == 1 else (np.arange(pencil.n), "all variables")
    if count * (1000 + 5 * k**3) <= 0.05 * EFFORTS[effort].work:
        return best_of_all(pencil, plan), f"all {count} supports"
    search = SupportSearch(pencil, plan, generator)
    for stage, (work, patience) in EFFORTS.items():
        search.construct(work)
        search.restart(work, patience)
        if stage == effort:
            break
    return search.ranked[0], search.method


def best_of_all(pencil: Pencil, plan: Plan) -> Index:
    """The support of the largest value of all, the first of those that tie."""
    parts = product(*(combinations(rows.tolist(), k) for rows, k in plan))
    best, top = np.empty(0, dtype=np.intp), -math.inf
    for supports in tables_of((sum(part, ()) for part in parts), size_of(plan)):
        values = values_on_supports(pencil, supports)
        at = int(np.argmax(values))
        if values[at] > top:
            best, top = supports[at], float(values[at])
    return best
