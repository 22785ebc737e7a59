"""A given number of nonzeros in each view: sparse CCA with kx and ky (Eq:CCA; beyond the paper).

Every value is that of the best vector on its support, found by a small eigenvalue problem, so
the search can only rise: supports are cut from a few starts, then one member of a view is exchanged at a
time for another variable of that view.

With one cardinality for both views, the view with more or stronger variables may take nearly all of it;
kx and ky are the numbers that a user of CCA has in mind.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from .._numerics.checks import Index, Vector, listed, one_of, shown
from ..certificates import Solution, checked_k, on_support, value
from ..errors import InvalidParameter
from ..pencils import Pencil, expect_pencil
from .supports import after_climbs, climbs_at_a_time, group_labels, highest, in_units
from .swaps import swap_search

if TYPE_CHECKING:
    from .paths import Effort


def solve_views(pencil: Pencil, ks: Sequence[int], *, effort: Effort = "normal", random_state: int = 0) -> Solution:
    """max xᵀAx s.t. xᵀBx = 1 with exactly ks[b] nonzeros in view b (SGEV-P, one cardinality per view).

    Starts: solve(pencil, Σks), the leading eigenvector and its truncated power iterates.

    Parameters
    ----------
    pencil
        With blocks, as `cca_pencil` makes it.
    ks
        One cardinality per view, each between 1 and the view's size.
    effort, random_state
        Passed to the first `solve`, whose support is cut to fit.

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
    >>> from dcgev_cvx.search.view_counts import solve_views
    >>> planted = datasets.planted_cca(8, 8, 2)
    >>> pencil = Pencil(planted.pencil.A, planted.pencil.B, blocks=(8, 8))
    >>> found = solve_views(pencil, (2, 2), effort="quick")
    >>> found.support == planted.support, round(found.value, 6)
    (True, 0.8)
    """
    from .paths import matched_solution

    begin = perf_counter()
    sizes = checked_ks(pencil, ks)
    one_of(effort, "effort", ("quick", "normal", "high"))
    x = on_support(pencil, np.flatnonzero(best_views(in_units(pencil)[0], sizes, effort, random_state)))
    return matched_solution(pencil, x, "solve per view", begin)


def best_views(pencil: Pencil, sizes: tuple[int, ...], effort: Effort, random_state: int) -> Vector:
    """The best vector that exchanges reach from solve(pencil, Σks), cut to fit, and from the leading eigenvector.

    Beyond "quick" also from random and kicked supports.
    """
    from .paths import solve

    k = sum(sizes)
    first = solve(pencil, k, effort=effort, random_state=random_state, check_path=False)
    cut_first = on_support(pencil, cut(pencil, scores(pencil, first.x), sizes))
    starts = [cut_first, power(pencil, cut_first, sizes), power(pencil, pencil.leading_vector, sizes)]
    best = max((exchange(pencil, x) for x in starts), key=pencil.A_quad)
    count, plan = climbs_at_a_time(pencil, k), tuple(zip(pencil.views, sizes, strict=True))
    if effort == "quick" or not count:
        return best
    return after_climbs(pencil, best, plan, count, effort, np.random.default_rng(random_state))


def checked_ks(pencil: Pencil, ks: Any) -> tuple[int, ...]:
    """One cardinality per view, each between 1 and the view's size."""
    blocks, wanted = expect_pencil(pencil).blocks, listed(ks)
    if blocks is None:
        raise InvalidParameter(f"k = {shown(ks)} names views, but the pencil has none: build it with cca_pencil.")
    if len(wanted) != len(blocks):
        raise InvalidParameter(f"k = {shown(ks)} must give one number for each of the {len(blocks)} views.")
    return tuple(checked_k(k, size) for k, size in zip(wanted, blocks, strict=True))


def cut(pencil: Pencil, score: Vector, ks: Sequence[int]) -> Index:
    """The ks[b] highest scores of each view, ties to the lower position."""
    return highest(score, tuple(zip(pencil.views, ks, strict=True)))


def scores(pencil: Pencil, x: Vector) -> Vector:
    """Members by |xᵢ|√Bᵢᵢ, above all outsiders; outsiders by the slope |(Ax − λBx)ᵢ|/√Bᵢᵢ.

    The slope is the first-order gain: moving x by t·eⱼ changes the Rayleigh quotient by 2t(Ax − λBx)ⱼ, and √Bⱼⱼ
    puts the move in units of the metric. On the support the slope is zero, as x is an eigenvector there.
    """
    root = np.sqrt(pencil.B_diagonal)
    slope = np.abs(pencil.A @ x - value(pencil, x) * pencil.B_dot(x)) / root
    # members above all outsiders, so that a cut keeps them first
    ceiling = float(np.max(slope))
    return np.where(x != 0.0, ceiling + np.abs(x) * root, slope)


def power(pencil: Pencil, x: Vector, ks: Sequence[int], steps: int = 20) -> Vector:
    """Truncated power iterates x ← cut of B⁻¹(A + τB)x, each the best vector on its support; the best of them.

    The shift τ makes A + τB positive semidefinite, so that the untruncated iteration climbs; truncation may
    lower the value, which is why the best iterate and not the last is kept. Ends when the support stays.
    """
    tau = max(0.0, -pencil.lambda_min)
    root = np.sqrt(pencil.B_diagonal)
    best = on_support(pencil, cut(pencil, np.abs(x) * root, ks))
    y = best
    for _ in range(steps):
        z = on_support(pencil, cut(pencil, np.abs(pencil.B_solve(pencil.A @ y) + tau * y) * root, ks))
        if np.array_equal(z != 0.0, y != 0.0):
            break
        y = z
        best = max(best, y, key=lambda v: value(pencil, v))
    return best


def exchange(pencil: Pencil, x: Vector) -> Vector:
    """Exchange one member of a view at a time while the value rises."""
    return swap_search(pencil, x, groups=group_labels(pencil.views, pencil.n))[0]
