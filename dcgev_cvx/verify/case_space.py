"""A space of cases with declared dimensions, and a covering array: cases that hold every pair of its levels.

Faulty code seldom fails everywhere; it fails on a branch, and a branch asks about one or two properties of the data.
So the cases of a level are not drawn but designed: each property is a dimension with a few levels, and cases are made
until every two levels of different dimensions have occurred together ("full": every three levels of the dimensions
with few of them).

Two kinds of pairs are not counted. Levels that contradict each other are listed as such. A level that makes the
answer 0 whatever the other arguments are, such as y = 0, hides every other fault; a case with such a level covers the
pairs of this level alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from .levels import Instance

Row: TypeAlias = dict[str, str]
Build: TypeAlias = Callable[[Row, np.random.Generator], "Instance | None"]
Levels: TypeAlias = Mapping[str, Any] | Sequence[str]


@dataclass(frozen=True, eq=False)
class Space:
    """Dimensions with their levels; a level is written "dimension=level".

    dimensions  names of levels, or what is drawn at each level by its name
    apart       pairs of levels that contradict each other, as {level: levels}
    hiding      levels at which the answer is 0 whatever the rest is
    """

    dimensions: Mapping[str, Levels]
    apart: Mapping[str, Iterable[str]] = field(default_factory=dict[str, Iterable[str]])
    hiding: frozenset[str] = frozenset()

    def at(self, name: str, level: str) -> Any:
        """What is drawn at a level of a dimension that says so: sizes, the ends of a range, or a number."""
        levels = self.dimensions[name]
        return levels[level] if isinstance(levels, Mapping) else level

    def without(self, *levels: str) -> Space:
        """The space with some levels left out."""
        kept = {
            name: tuple(v for v in values if f"{name}={v}" not in levels) for name, values in self.dimensions.items()
        }
        return Space(kept, self.apart, self.hiding)

    @cached_property
    def levels(self) -> list[str]:
        """All levels in order."""
        return [f"{name}={value}" for name, values in self.dimensions.items() for value in values]

    @cached_property
    def owner(self) -> Any:
        """The dimension of each level, as a number."""
        return np.repeat(np.arange(len(self.dimensions)), [len(values) for values in self.dimensions.values()])

    @cached_property
    def hides(self) -> Any:
        """Which levels hide the others."""
        return np.array([level in self.hiding for level in self.levels])

    @cached_property
    def sensible(self) -> Any:
        """Which pairs of levels can occur together, as a symmetric matrix of truth values."""
        place = {level: index for index, level in enumerate(self.levels)}
        allowed = self.owner[:, None] != self.owner[None, :]
        for level, others in self.apart.items():
            for other in (o for o in others if o in place and level in place):
                allowed[place[level], place[other]] = allowed[place[other], place[level]] = False
        return allowed & ~(self.hides[:, None] & self.hides[None, :])

    def allows(self, row: Row) -> bool:
        """Can the levels of a row occur together?"""
        at = [self.levels.index(level) for name, value in row.items() if (level := f"{name}={value}") in self.levels]
        return len(at) == len(self.dimensions) and all(self.sensible[a, b] for a, b in combinations(at, 2))

    def row(self, chosen: Iterable[int]) -> Row:
        """The levels of some numbers, by dimension."""
        return dict(self.levels[i].split("=", 1) for i in chosen)


@dataclass(frozen=True)
class Covered:
    """The cases of a covering array, and the share of the sensible pairs of levels that they hold."""

    cases: tuple[Instance, ...]
    pairs: int
    asked: int
    missing: tuple[tuple[str, str], ...] = ()

    @property
    def share(self) -> float:
        """Pairs that occur, over pairs that can."""
        return self.asked / self.pairs if self.pairs else 1.0


def covered(
    space: Space, build: Build, rng: np.random.Generator, *, triples: bool = False, attempts: int = 4000
) -> Covered:
    """Cases until every pair is held; `build` returns None for a row that cannot be judged, and another is tried.

    attempts bounds the rows that are tried, those included that cannot be judged.
    """
    wanted, third = space.sensible.copy(), wanted_triples(space) if triples else None
    pairs, cases, budget = int(wanted.sum()) // 2, list[Instance](), attempts
    while budget > 0 and (wanted.any() or (third is not None and third.any())):
        chosen = best_row(space, wanted, third, rng)
        budget -= 1
        case = build(space.row(chosen), rng) if len(chosen) == len(space.dimensions) else None
        if case is None:
            continue
        cases.append(case)
        for a, b in counted_pairs(space, chosen):
            wanted[a, b] = wanted[b, a] = False
        if third is not None:
            third[np.ix_(chosen, chosen, chosen)] = False
    left = [(space.levels[a], space.levels[b]) for a, b in np.argwhere(np.triu(wanted))]
    return Covered(tuple(cases), pairs, pairs - len(left), tuple(left))


def counted_pairs(space: Space, chosen: list[int]) -> Iterator[tuple[int, int]]:
    """The pairs that a row covers: with a hiding level, those of this level alone."""
    hidden = [i for i in chosen if space.hides[i]]
    return ((hidden[0], i) for i in chosen if i != hidden[0]) if hidden else combinations(chosen, 2)


def wanted_triples(space: Space) -> Any:
    """Which triples of levels are asked for: sensible, without hiding ones, of dimensions with at most ten levels."""
    sizes = np.array([len(values) for values in space.dimensions.values()])
    few = (sizes[space.owner] <= 10) & ~space.hides
    pair = space.sensible & few[:, None] & few[None, :]
    return pair[:, :, None] & pair[:, None, :] & pair[None, :, :]


def best_row(space: Space, wanted: Any, third: Any, rng: np.random.Generator) -> list[int]:
    """The best of six rows, each grown from a pair or triple that is still wanted; more rows save few cases."""
    goals = np.argwhere(wanted) if wanted.any() else np.argwhere(third)
    rows = (grown(space, [int(i) for i in goals[rng.integers(len(goals))]], wanted, third, rng) for _ in range(6))
    return max(rows, key=lambda row: row[0])[1]


def grown(
    space: Space, start: list[int], wanted: Any, third: Any, rng: np.random.Generator
) -> tuple[float, list[int]]:
    """(new pairs and triples, the row): dimension by dimension the sensible level that adds most, ties at random."""
    chosen, gain = list(start), 1.0
    hidden = any(space.hides[i] for i in start)
    for dimension in rng.permutation(len(space.dimensions)):
        if any(space.owner[i] == dimension for i in chosen):
            continue
        allowed = (space.owner == dimension) & ~space.hides & np.all(space.sensible[chosen], axis=0)
        counting = [i for i in chosen if space.hides[i]] if hidden else chosen
        new = wanted[counting].sum(axis=0) + (
            0.0 if third is None else 0.5 * third[np.ix_(chosen, chosen)].sum((0, 1))
        )
        score = np.where(allowed, new + 0.9 * rng.random(len(new)), -1.0)
        best = int(np.argmax(score))
        if score[best] < 0.0:
            return -1.0, chosen  # a dead end: three levels may contradict each other where no two do
        chosen.append(best)
        gain += float(new[best])
    return gain, sorted(chosen)
