"""How many variables a support may hold: k of all of them, or one number for each view or group (SGEV-P).

A budget per view is what sparse CCA asks for: at most kx variables of X and at most ky of Y. Groups may be any
partition of the variables. A support never gains by being smaller than its budget, since λmax of a sub-pencil only
grows with the support; "every support" below means every support of the full size.

>>> from dcgev_cvx import cca_pencil
>>> from dcgev_cvx.budgets import Budget
>>> pencil = cca_pencil([[0.0, 1.0], [2.0, 1.0], [4.0, 4.0]], [[1.0, 0.0], [0.0, 1.0], [3.0, 5.0]], ridge=0.1)
>>> budget = Budget.of(pencil, (1, 2))
>>> print(budget, budget.total, budget.number, budget.admits([0, 2]), budget.admits([0, 1]))
1+2 3 2 True False
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, islice
from typing import Any, TypeAlias

import numpy as np

from ._numerics.checks import Index, Matrix, Vector, is_whole, listed, shown
from ._numerics.selection import largest_first, top_sum
from .errors import InvalidParameter
from .pencils import Pencil, expect_pencil


@dataclass(frozen=True, eq=False)
class Budget:
    """At most `counts[g]` of the variables whose label is g, for every group g; `Budget.of` checks what users give.

    Parameters
    ----------
    labels : Index
        The number of each variable's group, 0 … len(counts) − 1.
    counts : tuple of int
        How many variables a support may hold of each group; 0 occurs only in what `restrict` returns.
    """

    labels: Index
    counts: tuple[int, ...]

    @classmethod
    def of(cls, pencil: Pencil, k: Any, groups: Any = None) -> Budget:
        """The budget that k means for a pencil: a number for all variables, or one for each of its views.

        Parameters
        ----------
        pencil : Pencil
            The pencil (A, B); its `blocks` are the sizes of its views.
        k : int, sequence of int or Budget
            The largest number of nonzeros, or one for each view; a Budget is returned as it is.
        groups : sequence of sequences of int, optional
            Positions that hold every variable once, in place of the views.

        Returns
        -------
        Budget
            Whole numbers from 1 to the number of variables, of all or of each group.

        Raises
        ------
        InvalidParameter
            If k does not match the views or groups, or asks for more variables than there are.

        Examples
        --------
        >>> from dcgev_cvx import datasets
        >>> from dcgev_cvx.budgets import Budget
        >>> pencil = datasets.planted_cca(4, 5, 2).pencil
        >>> print(Budget.of(pencil, 4), Budget.of(pencil, (2, 3)))
        4 2+3
        """
        n = expect_pencil(pencil).n
        if isinstance(k, Budget):
            if len(k.labels) != n or groups is not None:
                raise InvalidParameter(f"k is a Budget for {len(k.labels)} variables; make it by Budget.of(pencil, k).")
            return k
        numbers = listed(k)
        if groups is None and not numbers:
            return cls.whole(n, checked_count(k, n, f"k = {shown(k)}", f"n = {n}"))
        if groups is None and pencil.blocks is None:
            raise InvalidParameter(
                f"k = {shown(k)} names views, but the pencil has none: build it with cca_pencil or Pencil(…, blocks=…)."
            )
        word, parts = ("view", pencil.views) if groups is None else ("group", checked_groups(groups, n))
        if len(numbers) != len(parts):
            raise InvalidParameter(f"k = {shown(k)} must give one number for each of the {len(parts)} {word}s.")
        labels, counts = np.empty(n, dtype=np.intp), list[int]()
        for g, (part, number) in enumerate(zip(parts, numbers, strict=True)):
            labels[part] = g
            limit = f"{len(part)}, the number of variables of {word} {g}"
            counts.append(checked_count(number, len(part), f"k[{g}] = {shown(number)}", limit))
        return cls(labels, tuple(counts))

    @classmethod
    def whole(cls, n: int, k: int) -> Budget:
        """At most k of n variables, as one group."""
        return cls(np.zeros(n, dtype=np.intp), (k,))

    def __str__(self) -> str:
        return "+".join(map(str, self.counts))

    @property
    def total(self) -> int:
        """The number of variables of a full support."""
        return sum(self.counts)

    @cached_property
    def groups(self) -> tuple[Index, ...]:
        """The positions of each group."""
        return tuple(np.flatnonzero(self.labels == g) for g in range(len(self.counts)))

    @property
    def number(self) -> int:
        """How many supports there are, as an exact integer."""
        return math.prod(math.comb(len(group), count) for group, count in zip(self.groups, self.counts, strict=True))

    def admits(self, support: Any) -> bool:
        """Does a set of positions keep to the budget? Smaller supports do, repeated positions do not."""
        chosen = np.asarray(support, dtype=np.intp)
        used = np.bincount(self.labels[chosen], minlength=len(self.counts))
        return len(np.unique(chosen)) == len(chosen) and bool(np.all(used <= self.counts))

    def covers(self, other: Budget) -> bool:
        """Does it admit every support that another budget admits?"""
        return all(other.restrict(group).total <= k for group, k in zip(self.groups, self.counts, strict=True))

    def largest(self, values: Vector) -> Index:
        """The support of the largest values: the first ones of every group, in ascending order of position."""
        chosen = [group[largest_first(values[group], k)] for group, k in zip(self.groups, self.counts, strict=True)]
        return np.sort(np.concatenate(chosen))

    def top_sum(self, rows: Matrix) -> Vector:
        """The largest sum over a support of every row's entries, which must not be negative."""
        parts = [top_sum(rows[:, group], k) for group, k in zip(self.groups, self.counts, strict=True)]
        return np.sum(parts, axis=0)

    def partner_sum(self, a: Matrix) -> Vector:
        """For every i the largest sum of aᵢⱼ ≥ 0 over the other members j of a support that holds i; aᵢᵢ must be 0."""
        sums = np.zeros(len(a))
        for rows, columns, most in self.partners():
            sums[rows] += top_sum(a[np.ix_(rows, columns)], most)
        return sums

    def partners(self) -> Iterator[tuple[Index, Index, int]]:
        """For each two groups their positions, and how many of the second a support holds beside one of the first."""
        for g, rows in enumerate(self.groups):
            for h, (columns, k) in enumerate(zip(self.groups, self.counts, strict=True)):
                yield rows, columns, k - (h == g)

    def restrict(self, variables: Index, taken: Any = ()) -> Budget:
        """What is left for some variables, numbered anew, when those of `taken` are in the support already."""
        used = np.bincount(self.labels[np.asarray(taken, dtype=np.intp)], minlength=len(self.counts))
        labels = self.labels[variables]
        sizes = np.bincount(labels, minlength=len(self.counts))
        return Budget(labels, tuple(np.minimum(np.array(self.counts) - used, sizes).tolist()))

    def supports(self) -> Iterator[tuple[int, ...]]:
        """Every support, one group after the other; the positions ascend within each group."""
        return joined([(group.tolist(), k) for group, k in zip(self.groups, self.counts, strict=True)])

    def tables(self, rows: int) -> Iterator[Index]:
        """Every support as a row of tables with at most so many rows, the positions in ascending order."""
        every = self.supports()
        while part := list(islice(every, max(1, rows))):
            table = np.fromiter(chain.from_iterable(part), np.intp).reshape(len(part), -1)
            yield np.sort(table, axis=1)


Cardinality: TypeAlias = int | Sequence[int] | Budget
"""What users give as k: one number, one for each view, or a Budget with groups of their own."""


def joined(parts: Sequence[tuple[list[int], int]]) -> Iterator[tuple[int, ...]]:
    """Every way of taking so many of each list; itertools.product would hold all ways of each in memory."""
    (first, k), others = parts[0], parts[1:]
    for head in combinations(first, k):
        if others:
            yield from (head + tail for tail in joined(others))
        else:
            yield head


def checked_count(k: Any, most: int, given: str, limit: str) -> int:
    """A whole number from 1 to the number of variables."""
    if not is_whole(k) or not 1 <= k <= most:
        raise InvalidParameter(f"{given} is out of range: it must be a whole number between 1 and {limit}.")
    return int(k)


def checked_groups(groups: Any, n: int) -> list[Index]:
    """Lists of positions that hold every variable once."""
    parts = [listed(group) for group in listed(groups)]
    flat = [i for part in parts for i in part]
    if not all(parts) or not all(map(is_whole, flat)) or sorted(flat) != list(range(n)):
        raise InvalidParameter(
            f"groups = {shown(groups)} must list the positions of every group, such as [[0, 2], [1, 3]], so that each "
            f"of the variables 0 … {n - 1} is in exactly one of them."
        )
    return [np.array(part, dtype=np.intp) for part in parts]
