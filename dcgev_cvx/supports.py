"""The search for a support of k variables: starts, one-shot cardinality, exchanges and kicks (beyond the paper).

The search goes through stages, "quick", "normal" and "high". Each begins with what the one before it
found and keeps it unless it finds better, so that more effort is never worse.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .checks import Index, Matrix, Vector
from .gains import pair_value
from .oneshot import SCHEDULES, one_shot, trimmed
from .pencils import Gram, Pencil
from .postprocess import value
from .spectra import power_of_four
from .swaps import DIRECT, Climbs, eigenvector_on, eliminated, refined, support_values, swap_search
from .sweeps import rank_one_support

Effort: TypeAlias = Literal["quick", "normal", "high"]

Plan: TypeAlias = tuple[tuple[Index, int], ...]
"""How many variables a support has from each of some groups, which are all variables together."""

EFFORTS: tuple[Effort, ...] = ("quick", "normal", "high")
SEARCHES = {"quick": 1, "normal": 8, "high": 24}
"""From how many of its candidates, the best first, a stage searches by exchanges."""
ROUNDS = {"quick": 0, "normal": 16, "high": 100}
"""Rounds of kicks by which a stage tries to leave its best supports."""
PATIENCE = {"quick": 0, "normal": 5, "high": 20}
"""Rounds without a better support after which a stage gives up."""
TOPS = 4
"""Tops that are kicked in turn."""
CLIMBS = 48
"""Climbs from random supports before the kicks, a quarter beyond SMALL; each round of kicks has half as many."""
WORK = 10**6
"""The climbs at a time are so many that they multiply about this many numbers: k²n each."""
MOST_WORK = 10**7
"""A climb that would multiply more than this many numbers at each exchange is not made."""
SMALL = 60
"""Up to this many variables the search is by climbs: many random starts, exhaustive exchanges, kicks."""
CHEAP = 10**5
"""Where a step touches no more numbers than this "normal" tries many starts too: some tens of milliseconds."""
EVERY = 4000
"""Where there are no more supports than this, "normal" and "high" look at all of them."""
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
    if effort != "quick" and math.comb(pencil.n, k) <= EVERY:
        return best_of_all(pencil, k)
    best: list[Vector] = []
    for stage in EFFORTS[: EFFORTS.index(effort) + 1]:
        found = most_promising(pencil, candidates(pencil, k, stage, generator), SEARCHES[stage])
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
    """How many climbs multiply about WORK numbers at a time, k²n each.

    None beyond SMALL with B = I: one-shot cardinality from several starts is quicker there, and A may be a factor.
    """
    if k == pencil.n or (pencil.n > SMALL and pencil.B is None):
        return 0
    work = k * k * pencil.n
    most = CLIMBS if pencil.n <= SMALL else CLIMBS // 4
    return min(most, max(WORK // work, 2)) if work <= MOST_WORK else 0


def after_climbs(
    pencil: Pencil, x: Vector, plan: Plan, count: int, stage: Effort, generator: np.random.Generator
) -> Vector:
    """The best of x and the tops of climbs from random supports, then from kicked tops and more random supports.

    Kicks are spared where every top was reached by several of the random starts, so that hardly one is unseen; they
    end where PATIENCE rounds of them brought nothing.
    """
    groups = np.zeros(pencil.n, dtype=np.intp)
    for label, (rows, _) in enumerate(plan):
        groups[rows] = label
    climbs = Climbs(pencil, groups)
    starts = np.array([drawn(plan, generator) for _ in range(count)])
    climbs.climb(np.vstack([whole(x, plan), starts]))
    still, settled = 0, climbs.lonely(starts) == 0
    for _ in range(ROUNDS[stage]):
        if still == PATIENCE[stage] or settled:
            break
        tops = climbs.best(TOPS)
        near = [kicked(tops[i % len(tops)], groups, generator) for i in range((count + 1) // 2)]
        climbs.climb(np.array([*near, *(drawn(plan, generator) for _ in range(count // 4))]))
        still = still + 1 if np.array_equal(climbs.best(1)[0], tops[0]) else 0
    found = swap_search(pencil, indicator(climbs.best(1)[0], pencil.n), groups=groups)[0]
    return max(x, found, key=pencil.A_quad)


def drawn(plan: Plan, generator: np.random.Generator) -> Index:
    """A random support."""
    return np.sort(np.concatenate([generator.permutation(rows)[:k] for rows, k in plan]))


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
            found.append(greedy(pencil, k))
        if isinstance(pencil.A, Gram) and len(pencil.A.C) == 1 and pencil.A.C.any():
            best = rank_one_support(pencil.A.C[0], pencil.B_sub(np.arange(pencil.n)), k)
            found.append(indicator(best, pencil.n))
        if pencil.B is not None:
            found.append(trimmed(pencil, pencil.leading_vector, k))
            if "quick" in schedules(pencil, k):  # else "quick" itself has begun with it
                found.append(indicator(eliminated(pencil, k), pencil.n))
    if k < pencil.n and many_starts(pencil, k, stage):
        found.append(trimmed(pencil, pencil.leading_vector, k))
        found += [one_shot(pencil, k, x0, SCHEDULES["quick"])[0] for x0 in starts(pencil, generator)]
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


def many_starts(pencil: Pencil, k: int, stage: Effort) -> bool:
    """Does a stage try one-shot cardinality from other starts than the leading eigenvector?

    "high" does beyond SMALL variables, "normal" only where B = I and a step touches few numbers.
    """
    if pencil.n <= SMALL or stage == "quick":
        return False
    numbers = pencil.A.C.size if isinstance(pencil.A, Gram) else pencil.n**2
    return "high" in schedules(pencil, k) if stage == "high" else pencil.B is None and numbers <= CHEAP


def starts(pencil: Pencil, generator: np.random.Generator) -> Iterator[Vector]:
    """The best columns of A and random directions. B⁻¹Aeᵢ leads to supports around variable i."""
    for i in np.argsort(-partners(pencil)[0], kind="stable")[:20]:
        unit = np.zeros(pencil.n)
        unit[i] = 1.0
        column = pencil.B_solve(pencil.A_dot(unit))
        yield column if np.any(column) else unit
    for _ in range(8):
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
    """At most `count` vectors with different supports, those of the largest λmax."""
    unique = list({tuple(np.flatnonzero(x)): x for x in found}.values())
    if len(unique) > count:
        unique.sort(key=lambda x: eigenvector_on(pencil, np.flatnonzero(x))[0], reverse=True)
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


def whole(x: Vector, plan: Plan) -> Index:
    """The support of x, with further variables of a group where it has fewer than planned: more cost nothing."""
    kept = [rows[np.argsort(x[rows] == 0.0, kind="stable")[:k]] for rows, k in plan]
    return np.sort(np.concatenate(kept))


def indicator(support: Index, n: int) -> Vector:
    """The vector of ones on a support."""
    x = np.zeros(n)
    x[support] = 1.0
    return x


def best_single(pencil: Pencil) -> Vector:
    """The optimum for k = 1: the variable with the largest Aᵢᵢ/Bᵢᵢ, the first of those equal but for rounding."""
    ratio = pencil.A_diagonal / pencil.B_diagonal
    top = float(np.max(ratio))
    i = int(np.flatnonzero(ratio >= top - 1e-12 * abs(top))[0])
    x = np.zeros(pencil.n)
    x[i] = 1.0 / math.sqrt(pencil.B_diagonal[i])
    return x


def greedy(pencil: Pencil, k: int) -> Vector:
    """Forward selection from the best pair (k > 1): add the variable whose 2 × 2 Rayleigh–Ritz value is largest."""
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
    z = x.copy()
    room = np.flatnonzero(x == 0.0)
    gain = pair_value(pencil.A_quad(x), 1.0, pencil.A_dot(x), pencil.B_dot(x), pencil.A_diagonal, pencil.B_diagonal)
    best = room[np.argsort(-gain[room], kind="stable")[:missing]]
    z[best] = float(np.max(np.abs(x))) * np.sqrt(pencil.B_scale / pencil.B_diagonal[best])
    old, new = value(pencil, x), value(pencil, z)
    return z / pencil.B_norm(z) if new >= old - 1e-12 * abs(old) else x


def overfits(pencil: Pencil) -> bool:
    """Is this sparse CCA on more than SMALL variables, from fewer samples than variables?

    A + B is then the joint covariance of both views plus a ridge, and as the samples do not span the space, many
    directions share one eigenvalue, the ridge; deflation moves a few of them. A covariance of enough samples has
    no eigenvalue three times. One that is known may have, but for a reason of its own: groups of variables that
    are uncorrelated with all others, each with the same eigenvalue, or variables that the others' covariances
    do not tell apart, as in a block of equal correlations. So each group is asked by itself, each such variable once.
    """
    if pencil.n <= SMALL or isinstance(pencil.A, Gram) or pencil.B is None or not has_views(pencil.A, pencil.B):
        return False
    S, tol = pencil.A + pencil.B, 1e-11 * pencil.B_scale
    shared = shared_smallest(S, tol)
    if shared is None:
        return False
    # mostly all variables are told apart, and no group has to be asked again
    rest = [told_apart(S, rows, shared) for rows in connected(S)]
    return len(rest[0]) == pencil.n or any(unspanned(S, rows, tol) for rows in rest)


def unspanned(S: Matrix, rows: Index, tol: float) -> bool:
    """Do three directions share an eigenvalue of S on these rows, though all variables are told apart?

    Those that are not are dropped and the rest is asked again.
    """
    shared = shared_smallest(S[np.ix_(rows, rows)], tol) if len(rows) > 2 else None
    if shared is None:
        return False
    kept = told_apart(S, rows, shared)
    return len(kept) == len(rows) or unspanned(S, kept, tol)


def shared_smallest(S: Matrix, tol: float) -> float | None:
    """One of the smallest eigenvalues of a positive definite S that three directions share, if there is one.

    By inverse iteration with twelve vectors, shifted closer twice: three Cholesky factorisations instead of a
    spectrum. A shared eigenvalue is found several times at once; two that differ are told apart long
    before they are accurate.
    """
    V = np.random.default_rng(0).standard_normal((len(S), min(12, len(S))))
    shift = 0.0
    for _ in range(3):
        try:
            factor = cho_factor(S - shift * np.eye(len(S)), lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None
        for _ in range(30):
            V = np.linalg.qr(cho_solve(factor, V, check_finite=False))[0]
        low = np.linalg.eigvalsh(V.T @ (S @ V))
        threes = np.flatnonzero(low[2:] - low[:-2] <= tol)
        if len(threes):
            return float(low[threes[0]])
        shift = float(low[0] - 2.0 * (low[-1] - low[0]))
    return None


def connected(S: Matrix) -> list[Index]:
    """The groups of variables between which S is zero."""
    if S[0].all():
        return [np.arange(len(S))]
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(csr_array(S != 0.0), directed=False)
    return [np.flatnonzero(label == group) for group in range(count)]


def told_apart(S: Matrix, rows: Index, shared: float) -> Index:
    """The rows without those whose column of R = S − σI is zero or a multiple of the column of an earlier one.

    From samples R = CᵀC, and these are constants and duplicates among the columns of C. Proportional columns have
    RᵢᵢRⱼⱼ = Rᵢⱼ², so that only such pairs are compared.
    """
    R = S[np.ix_(rows, rows)] - shared * np.eye(len(rows))
    diagonal, size = np.diagonal(R), np.linalg.norm(R, axis=1)
    dropped = size <= 1e-9 * np.diagonal(S)[rows]
    likely = np.triu(np.abs(R * R - np.outer(diagonal, diagonal)) <= 1e-9 * np.outer(size, size), 1)
    for i in range(len(rows)):
        others = np.flatnonzero(likely[i] & ~dropped)
        if not dropped[i] and len(others):
            apart = np.outer(R[others, i], R[i]) - R[i, i] * R[others]
            dropped[others[np.linalg.norm(apart, axis=1) <= 1e-9 * size[i] * size[others]]] = True
    return rows[~dropped]


def has_views(A: Matrix, B: Matrix) -> bool:
    """Do the variables fall into two groups, in any order, A zero within them and B zero between them (Eq:CCA)?"""
    other = A[0] != 0.0
    own = ~other
    crossed = A[np.ix_(own, own)].any() or A[np.ix_(other, other)].any() or B[np.ix_(own, other)].any()
    return bool(other.any() and not crossed)


def diagonal_metric(pencil: Pencil) -> Pencil:
    """(D⁻¹AD⁻¹, I) with D² = diag(B): the pencil without the covariances within a view.

    With fewer samples than variables these covariances are mostly noise, and the exchanges that raise the in-sample
    correlation mostly fit it. Sparse CCA by penalized matrix decomposition (Witten, Tibshirani and Hastie
    2009) drops them altogether; here they only have no say in which variables are chosen.
    """
    root = 1.0 / np.sqrt(pencil.B_diagonal)
    A = pencil.dense()[0]
    return Pencil(root[:, None] * A * root, blocks=pencil.blocks)


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
