"""A given number of nonzeros in each view: sparse CCA with kx and ky (Eq:CCA; beyond the paper).

With one cardinality for both views, the view with more or stronger variables may take nearly all of it; kx and ky
are the numbers that a user of CCA has in mind. The search is that of `solve`, with exchanges within a view only.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from .._numerics.checks import as_generator, listed, one_of, shown
from ..certificates import Solution, checked_k, on_support
from ..errors import InvalidParameter
from ..pencils import Pencil, expect_pencil
from .constructions import in_units
from .matching_program import matched_solution
from .solve import EFFORTS, Effort, best_support


def solve_per_view(
    pencil: Pencil, ks: Sequence[int], *, effort: Effort = "normal", random_state: int | np.random.Generator = 0
) -> Solution:
    """max xᵀAx s.t. xᵀBx = 1 with exactly ks[b] nonzeros in view b (SGEV-P, one cardinality per view).

    Parameters
    ----------
    pencil : Pencil
        With blocks, as `cca_pencil` makes it.
    ks : sequence of int
        One cardinality per view, each between 1 and the view's size.
    effort : {"quick", "normal", "high"}
        As in `solve`.
    random_state : int or numpy.random.Generator
        As in `solve`.

    Returns
    -------
    Solution
        Exactly ks[b] nonzeros in view b; a local optimum under exchanges within a view, without proof.

    Raises
    ------
    InvalidParameter
        For a pencil without views, another number of ks than views, or one out of range.

    Examples
    --------
    >>> from dcgev_cvx import Pencil, datasets
    >>> from dcgev_cvx.search.per_view import solve_per_view
    >>> planted = datasets.planted_cca(8, 8, 2)
    >>> pencil = Pencil(planted.pencil.A, planted.pencil.B, blocks=(8, 8))
    >>> found = solve_per_view(pencil, (2, 2))
    >>> found.support == planted.support, round(found.value, 6), found.method
    (True, 0.8, 'all 784 supports')
    """
    begin = perf_counter()
    sizes = checked_ks(pencil, ks)
    one_of(effort, "effort", EFFORTS)
    unit, length, _ = in_units(pencil)
    plan = tuple(zip(unit.views, sizes, strict=True))
    support, method = best_support(unit, plan, effort, as_generator(random_state))
    return matched_solution(pencil, length * on_support(unit, support), method, begin)


def checked_ks(pencil: Pencil, ks: Any) -> tuple[int, ...]:
    """One cardinality per view, each between 1 and the view's size."""
    blocks, wanted = expect_pencil(pencil).blocks, listed(ks)
    if blocks is None:
        raise InvalidParameter(f"k = {shown(ks)} names views, but the pencil has none: build it with cca_pencil.")
    if len(wanted) != len(blocks):
        raise InvalidParameter(f"k = {shown(ks)} must give one number for each of the {len(blocks)} views.")
    return tuple(checked_k(k, size) for k, size in zip(wanted, blocks, strict=True))
