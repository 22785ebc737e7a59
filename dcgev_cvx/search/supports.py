"""The search for a support of k variables: starts, one-shot cardinality, exchanges and kicks (beyond the paper).

The search goes through stages, "quick", "normal" and "high". Each begins with what the one before it
found and keeps it unless it finds better, so that more effort is never worse.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from .._numerics.checks import Index, Vector
from .._numerics.spectra import power_of_four
from ..certificates import value
from ..pencils import Gram, Pencil
from .gains import pair_value
from .oneshot import SCHEDULES, one_shot, trimmed
from .swaps import DIRECT, Climbs, eigenvector_on, eliminated, refined, support_values, swap_search
from .sweeps import rank_one_support

Effort: TypeAlias = Literal["quick", "normal", "high"]

Plan: TypeAlias = tuple[tuple[Index, int], ...]
"""How many variables a support has from each of some groups, which are all variables together."""

EFFORTS: tuple[Effort, ...] = ("quick", "normal", "high")
SEARCHES = {"quick": 1, "normal": 6, "high": 24}
"""From how many of its candidates, the best first, a stage searches by exchanges."""
ROUNDS = {"quick": 0, "normal": 16, "high": 100}
"""Rounds of kicks by which a stage tries to leave its best supports."""
PATIENCE = {"quick": 0, "normal": 5, "high": 20}
"""Rounds without a better support after which a stage gives up."""
TOPS = 8
"""Tops that are kicked in turn, and crossed with one another."""
CLIMBS = 48
"""Climbs from random supports before the kicks, half as many beyond SMALL; a round has half as many kicks."""
WORK = 10**6
"""The climbs at a time are so many that they multiply about this many numbers."""
MOST_WORK = 10**7
"""A climb that would multiply more than this many numbers at each exchange is not made; WORK where B = I."""
SMALL = 60
"""Up to this many variables the search is by climbs: many random starts, exhaustive exchanges, kicks."""
CHEAP = 10**5
"""Where a step touches no more numbers than this "normal" tries all starts too: some tens of milliseconds."""
COLUMNS, DIRECTIONS = 20, 8
"""The starts: the best columns of A, and random directions."""
FEW_STARTS, FEW_SEARCHES = 4, 1
"""Where a step touches more: most of what all starts gain on noise, for a third of the time."""
EVERY = 4000
"""Where there are no more supports than this, "normal" and "high" look at all of them."""
LONE = 6
"""So many times as many where B is a matrix: there the best support may be one to which hardly an exchange leads."""
CHUNK = 1 << 18
"""Numbers gathered at a time when all supports are looked at: supports × k²."""
PAIRS = 1500
"""Up to this many variables of a dense A all pairs are looked at for starts."""
ORDINARY = 2.0**50
"""Pencils with entries between 1/ORDINARY and ORDINARY are searched as they are: no square overflows."""


def best_support(pencil: Pencil, k: int, effort: Effort, generator: np.random.Generator) -> Vector:
    """The best vector with at most k nonzeros that the stages up to the effort find, unit in the B norm."""
    if k == 1:
        return best_single(pencil)
    if effort != "quick" and math.comb(pencil.n, k) <= EVERY * (1 if pencil.B is None else LONE):
        return best_of_all(pencil, k)
    best: list[Vector] = []
    for stage in EFFORTS[: EFFORTS.index(effort) + 1]:
        found = most_promising(pencil, candidates(pencil, k, stage, generator), searches_of(pencil, stage))
        tops = [*best, *(swap_search(pencil, x)[0] for x in found)]
        best = [max([*tops, *joined(pencil, tops, k)], key=pencil.A_quad)]
        count = climbs_at_a_time(pencil, k)
        if stage != "quick" and count:
            best = [after_climbs(pencil, best[0], ((np.arange(pencil.n), k),), count, stage, generator)]
    return refined(pencil, best[0])


def joined(pencil: Pencil, tops: list[Vector], k: int) -> list[Vector]:
    """What exchanges reach from the two best tops taken together and cut back to k by elimination.

    Beyond DIRECT, where there are few tops; nothing where the two are one.
    """
    first, *others = sorted(tops, key=pencil.A_quad, reverse=True)
    both = np.flatnonzero((first != 0.0) | (others[0] != 0.0)) if others else np.flatnonzero(first)
    if pencil.B is None or not DIRECT < k < len(both):
        return []
    return [swap_search(pencil, indicator(both[eliminated(pencil.restrict(both), k)], pencil.n))[0]]


def climbs_at_a_time(pencil: Pencil, k: int) -> int:
    """How many climbs multiply about WORK numbers at a time: k²n each, pkn where A = CᵀC has p > k rows.

    Beyond WORK none where B = I, as one-shot cardinality does well there.
    """
    rows = len(pencil.A.C) if isinstance(pencil.A, Gram) else 0
    work = k * pencil.n * max(k, rows)
    if k == pencil.n or work > (MOST_WORK if pencil.n <= SMALL or pencil.B is not None else WORK):
        return 0
    return min(CLIMBS if pencil.n <= SMALL else CLIMBS // 2, max(WORK // work, 2))


def after_climbs(
    pencil: Pencil, x: Vector, plan: Plan, count: int, stage: Effort, generator: np.random.Generator
) -> Vector:
    """The best of x and the tops of climbs from random supports, then from kicked and crossed tops and random ones.

    These rounds are spared where every top was reached by several of the random starts, so that hardly one is unseen;
    they end where PATIENCE of them brought nothing.
    """
    groups = group_labels([rows for rows, _ in plan], pencil.n)
    climbs = Climbs(pencil, groups)
    starts = np.array([drawn(plan, generator) for _ in range(count)])
    climbs.climb(np.vstack([highest(x != 0.0, plan), starts]))
    still, settled = 0, climbs.lonely(starts) == 0
    for _ in range(ROUNDS[stage]):
        if still == PATIENCE[stage] or settled:
            break
        tops = climbs.best(TOPS)
        near = [kicked(tops[i % len(tops)], groups, generator) for i in range((count + 1) // 2)]
        between = [crossed(tops, plan, generator) for _ in range(count // 2)]
        climbs.climb(np.array([*near, *between, *(drawn(plan, generator) for _ in range(count // 4))]))
        still = still + 1 if np.array_equal(climbs.best(1)[0], tops[0]) else 0
    found = swap_search(pencil, indicator(climbs.best(1)[0], pencil.n), groups=groups)[0]
    return max(x, found, key=pencil.A_quad)


def group_labels(groups: Sequence[Index], n: int) -> Index:
    """The number of its group for each variable."""
    labels = np.zeros(n, dtype=np.intp)
    for label, rows in enumerate(groups):
        labels[rows] = label
    return labels


def highest(score: Vector, plan: Plan) -> Index:
    """The planned number of variables with the highest scores of each group, ties to the lower position."""
    kept = [rows[np.argsort(-np.asarray(score[rows], float), kind="stable")[:k]] for rows, k in plan]
    return np.sort(np.concatenate(kept))


def drawn(plan: Plan, generator: np.random.Generator) -> Index:
    """A random support."""
    return np.sort(np.concatenate([generator.permutation(rows)[:k] for rows, k in plan]))


def crossed(tops: Sequence[Index], plan: Plan, generator: np.random.Generator) -> Index:
    """What two of the tops have in common, filled up at random with what one of them has."""
    votes = generator.random(sum(len(rows) for rows, _ in plan))
    for at in generator.permutation(len(tops))[:2]:
        votes[tops[at]] += 1.0
    return highest(votes, plan)


def best_of_all(pencil: Pencil, k: int) -> Vector:
    """The optimum, by looking at every support: cheaper than a search where there are few."""
    supports = np.array(list(combinations(range(pencil.n), k)))
    rows = max(1, CHUNK // k**2)
    values = np.concatenate(
        [support_values(pencil, supports[at : at + rows]) for at in range(0, len(supports), rows)]
    )
    return eigenvector_on(pencil, supports[int(np.argmax(values))])[1]


def candidates(pencil: Pencil, k: int, stage: Effort, generator: np.random.Generator) -> list[Vector]:
    """k-sparse vectors from the starts of a stage, each filled up to k nonzeros.

    With a matrix B the one-shot steps are LASSOs, slow where many variables stay: backward elimination does as well
    there, and beside short schedules better than long ones.
    """
    found: list[Vector] = []
    if stage in schedules(pencil, k):
        found.append(one_shot(pencil, k, pencil.leading_vector, SCHEDULES[stage])[0])
    elif stage == "quick":
        found.append(indicator(eliminated(pencil, k), pencil.n))
    if k < pencil.n and stage == "normal":
        if k <= SMALL:
            found.append(forward(pencil, k))
        if isinstance(pencil.A, Gram) and len(pencil.A.C) == 1 and pencil.A.C.any():
            best = rank_one_support(pencil.A.C[0], pencil.B_sub(np.arange(pencil.n)), k)
            found.append(indicator(best, pencil.n))
        if pencil.B is not None:
            found.append(trimmed(pencil, pencil.leading_vector, k))
            if "quick" in schedules(pencil, k):  # else "quick" itself has begun with it
                found.append(indicator(eliminated(pencil, k), pencil.n))
    most = starts_of(pencil, k, stage) if k < pencil.n else 0
    if most:
        found.append(trimmed(pencil, pencil.leading_vector, k))
        found += [one_shot(pencil, k, x0, SCHEDULES["quick"])[0] for x0 in starts(pencil, most, generator)]
    return [filled(pencil, x, k) for x in found if np.any(x)]


def schedules(pencil: Pencil, k: int) -> tuple[Effort, ...]:
    """The stages that begin with one-shot cardinality from the leading eigenvector.

    Up to SMALL variables climbs from random supports take the place of the longer schedules.
    """
    if pencil.n <= SMALL:
        return ("quick",)
    if pencil.B is None:
        return EFFORTS
    return ("quick", "high") if k <= SMALL else ()


def starts_of(pencil: Pencil, k: int, stage: Effort) -> int:
    """From how many starts beside the leading eigenvector a stage tries one-shot cardinality.

    "high" tries all beyond SMALL variables, "normal" only where B = I; FEW_STARTS where a step touches more than
    CHEAP numbers, and fewer where it touches far more: the work stays the same.
    """
    if pencil.n <= SMALL or stage == "quick" or "high" not in schedules(pencil, k):
        return 0
    most = COLUMNS + DIRECTIONS
    if stage == "high":
        return most
    if pencil.B is not None:
        return 0
    numbers = numbers_of(pencil)
    return most if numbers <= CHEAP else min(FEW_STARTS, most * CHEAP // numbers)


def searches_of(pencil: Pencil, stage: Effort) -> int:
    """From how many candidates a stage searches by exchanges."""
    few = stage == "normal" and isinstance(pencil.A, Gram) and pencil.B is None and numbers_of(pencil) > CHEAP
    return FEW_SEARCHES if few else SEARCHES[stage]


def numbers_of(pencil: Pencil) -> int:
    """How many numbers a product with A touches."""
    return pencil.A.C.size if isinstance(pencil.A, Gram) else pencil.n**2


def starts(pencil: Pencil, most: int, generator: np.random.Generator) -> Iterator[Vector]:
    """The best columns of A and random directions, half of each where few. B⁻¹Aeᵢ leads to supports around i."""
    directions = min(DIRECTIONS, most // 2)
    for i in np.argsort(-partners(pencil)[0], kind="stable")[: min(COLUMNS, most - directions)]:
        unit = np.zeros(pencil.n)
        unit[i] = 1.0
        column = pencil.B_solve(pencil.A_dot(unit))
        yield column if np.any(column) else unit
    for _ in range(directions):
        yield generator.standard_normal(pencil.n) / pencil.B_roots


def partners(pencil: Pencil) -> tuple[Vector, Index]:
    """For each variable the best value of a pair with it, and the other of the pair; itself alone for a factor.

    In CCA, where the diagonal of A is zero, nothing less than a pair has a value.
    """
    a, b = pencil.A_diagonal, pencil.B_diagonal
    if isinstance(pencil.A, Gram) or not 1 < pencil.n <= PAIRS:
        return a / b, np.arange(pencil.n)
    off = np.zeros((pencil.n, pencil.n)) if pencil.B is None else pencil.B
    pairs = pair_value(a[:, None], b[:, None], pencil.A, off, a[None, :], b[None, :])
    np.fill_diagonal(pairs, -math.inf)
    return np.max(pairs, axis=1), np.argmax(pairs, axis=1)


def most_promising(pencil: Pencil, found: list[Vector], count: int) -> list[Vector]:
    """At most `count` vectors with different supports, those of the largest λmax, or the largest value as they are.

    The second where few are wanted: there λmax on each support would take as long as a search.
    """
    unique = list({tuple(np.flatnonzero(x)): x for x in found}.values())
    if len(unique) > count:
        exact = count > FEW_SEARCHES
        unique.sort(
            key=lambda x: eigenvector_on(pencil, np.flatnonzero(x))[0] if exact else value(pencil, x), reverse=True
        )
    return unique[:count]


def kicked(support: Index, groups: Index, generator: np.random.Generator) -> Index:
    """A support with two or three variables exchanged at random within their groups: a way out of a local optimum."""
    outside = generator.permutation(np.setdiff1d(np.arange(len(groups)), support, assume_unique=True))
    members = generator.permutation(support)
    for at in range(min(int(generator.integers(2, 4)), len(members))):
        same = np.flatnonzero(groups[outside] == groups[members[at]])
        if len(same):
            members[at], outside = outside[same[0]], np.delete(outside, same[0])
    return np.sort(members)


def indicator(support: Index, n: int) -> Vector:
    """The vector of ones on a support."""
    x = np.zeros(n)
    x[support] = 1.0
    return x


def best_single(pencil: Pencil) -> Vector:
    """The optimum for k = 1: the variable with the largest Aᵢᵢ/Bᵢᵢ, the first of those equal but for rounding."""
    ratio = pencil.A_diagonal / pencil.B_diagonal
    # the diagonal of a correlation matrix is 1 but for rounding, and rounding must not choose the variable
    top = float(np.max(ratio))
    i = int(np.flatnonzero(ratio >= top - 1e-12 * abs(top))[0])
    x = np.zeros(pencil.n)
    x[i] = 1.0 / math.sqrt(pencil.B_diagonal[i])
    return x


def greedy(pencil: Pencil, k: int) -> Vector:
    """Forward selection from the best pair (k > 1): add the variable whose 2 × 2 Rayleigh–Ritz value is largest."""
    unit, length, _ = in_units(pencil)
    return length * forward(unit, k)


def forward(pencil: Pencil, k: int) -> Vector:
    """`greedy` for a pencil of ordinary size."""
    if k == 1:
        return best_single(pencil)
    score, other = partners(pencil)
    x = np.zeros(pencil.n)
    x[[int(np.argmax(score)), int(other[np.argmax(score)])]] = 1.0
    return filled(pencil, x, k)


def filled(pencil: Pencil, x: Vector, k: int) -> Vector:
    """x grown to k nonzeros, one variable at a time by its gain; x itself when it has k."""
    support: Index = np.flatnonzero(x)
    while len(support) < k:
        current, x = eigenvector_on(pencil, support)
        Ax, Bx = pencil.A_dot(x), pencil.B_dot(x)
        gain = pair_value(current, 1.0, Ax, Bx, pencil.A_diagonal, pencil.B_diagonal)
        gain[support] = -math.inf
        support = np.sort(np.append(support, int(np.argmax(gain))))
        x = eigenvector_on(pencil, support)[1] if len(support) == k else x
    return x


def spread(pencil: Pencil, x: Vector, k: int) -> Vector:
    """x with k nonzeros where its eigenvalue is shared by other variables, so that more of them cost nothing."""
    missing = k - np.count_nonzero(x)
    if missing <= 0:
        return x
    unit, length, _ = in_units(pencil)
    if unit is not pencil:
        return length * spread(unit, x / length, k)
    z = x.copy()
    room = np.flatnonzero(x == 0.0)
    gain = pair_value(pencil.A_quad(x), 1.0, pencil.A_dot(x), pencil.B_dot(x), pencil.A_diagonal, pencil.B_diagonal)
    best = room[np.argsort(-gain[room], kind="stable")[:missing]]
    z[best] = float(np.max(np.abs(x))) * np.sqrt(pencil.B_scale / pencil.B_diagonal[best])
    old, new = value(pencil, x), value(pencil, z)
    return z / pencil.B_norm(z) if new >= old - 1e-12 * abs(old) else x


def in_units(pencil: Pencil) -> tuple[Pencil, float, float]:
    """(pencil with entries of ordinary size, unit of x, unit of λ); itself when it is of ordinary size.

    Powers of two and four, so that nothing is rounded: with A/a and B/b the vector is √b times, the value b/a times.
    """
    ordinary = (1.0 / ORDINARY, ORDINARY)
    sizes = (pencil.A_scale or 1.0, pencil.B_scale)
    if all(ordinary[0] <= size <= ordinary[1] for size in sizes):
        return pencil, 1.0, 1.0
    a, b = power_of_four(sizes[0]), power_of_four(sizes[1])
    A = Gram(pencil.A.C / math.sqrt(a)) if isinstance(pencil.A, Gram) else pencil.A / a
    return (
        Pencil(A, None if pencil.B is None else pencil.B / b, pencil.names, pencil.blocks),
        1.0 / math.sqrt(b),
        a / b,
    )
