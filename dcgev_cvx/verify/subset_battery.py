"""The battery of (SGEV-P): pencils small enough to look at every support, many with a tight relaxation.

Where a relaxation is tight (k = 1, planted, rank-one, diagonal A, k = n) a bound that trusts a
solver, or forgets a term, falls below the truth; where it is loose nothing shows.
"""

from __future__ import annotations

from itertools import cycle
from types import MappingProxyType

import numpy as np

from .._numerics.checks import Matrix
from .instances import Instance, question
from .matrices import METRICS, OBJECTIVES, Random, dense, pencil
from .reference import enumerated, top_values
from .steps_battery import balanced

PLACES = ("one", "two", "half", "most", "all")
"""Where k lies between 1 and n."""
SUBSET_SIZES = (1, 2, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 11)
MILD_METRICS = tuple(name for name in METRICS if name != "cond-1e8")
STEEP_SIZES = (2, 3, 4, 3, 5, 6, 7, 8, 9, 10)
"""cond(B) = 1e8, few, the small first: first-order conic solvers run to their last iteration there, for seconds."""
WIDE_SIZES = MappingProxyType({"bound": (13, 17, 24), "cardinality": (13, 24, 41, 60)})
"""Beyond what is enumerated at every k: there k is 1, 2, n − 1 or n. Relaxations of more variables are slow."""


def subset_battery(level: str, seed: int, count: int) -> list[Instance]:
    """Random pencils of all families at every share of k, then decoys and extreme scales.

    n ≤ 10 (16 for some decoys), so that every support can be looked at; k at both ends and between, as 1 and n are
    where loops go wrong.
    """
    rng = np.random.default_rng([seed, 8, len(level)])
    columns = ((*OBJECTIVES, "cca"), MILD_METRICS, SUBSET_SIZES, PLACES)
    drawn = zip(*(balanced(rng, column, count) for column in columns), strict=True)
    cases = [
        subset_case(level, *pencil(kind, metric, n, rng), place, (kind, metric)) for kind, metric, n, place in drawn
    ]
    special = [*decoys(level, seed, max(3, count // 12)), *tight(level, seed, max(4, count // 6))]
    special += correlated(level, seed, count // 20)
    return [*cases, *special, *steep(level, seed, count // 30), *wide(level, seed), *nothing(level, seed)]


def nothing(level: str, seed: int) -> list[Instance]:
    """A = 0, where the optimum is 0 at every k and every unit vector attains it: 0/0 by a norm of A shows."""
    rng = np.random.default_rng([seed, 19, len(level)])
    return [subset_case(level, np.zeros((n, n)), dense(n, rng), "two", ("no-objective", "dense")) for n in (1, 4)]


def steep(level: str, seed: int, count: int) -> list[Instance]:
    """cond(B) = 1e8: a ridge, a truncated inverse or single precision loses the small variables."""
    rng = np.random.default_rng([seed, 18, len(level)])
    kinds = balanced(rng, tuple(OBJECTIVES), count)
    return [
        subset_case(level, *pencil(kind, "cond-1e8", n, rng), place, (kind, "cond-1e8"))
        for kind, n, place in zip(kinds, cycle(STEEP_SIZES), cycle(PLACES[::-1]), strict=False)
    ]


def wide(level: str, seed: int) -> list[Instance]:
    """Many variables at the ends of k, where there are few supports to look at."""
    rng = np.random.default_rng([seed, 17, len(level)])
    return [
        subset_case(
            level, *pencil(str(rng.choice(["covariance", "indefinite"])), metric, n, rng), place, ("wide", metric)
        )
        for n in WIDE_SIZES[level]
        for metric, place in zip(("identity", "dense", "uneven", "dense"), ("one", "two", "most", "all"), strict=True)
    ]


def subset_case(level: str, A: Matrix, B: Matrix, place: str, flags: tuple[str, ...]) -> Instance:
    """A pencil with a k named by its place between 1 and n."""
    n = len(A)
    k = {"one": 1, "two": min(2, n), "half": max(1, n // 2), "most": max(1, n - 1), "all": n}[place]
    flags = (*flags, f"k-{place}")
    return question(level, f"n = {n}, k = {k}, {', '.join(flags)}", flags, {"A": A, "B": B, "k": k})


def decoys(level: str, seed: int, count: int) -> list[Instance]:
    """Pencils whose best support a search does not find: greedy, by swaps, or greedy from every variable."""
    rng = np.random.default_rng([seed, 9, len(level)])
    makers = (decoy, cliques, decoy, elusive)
    return [case for i in range(count) if (case := makers[i % len(makers)](level, rng)) is not None]


def decoy(level: str, rng: Random) -> Instance:
    """Greedy search takes the lonely variable first and never leaves it.

    The block of k correlated variables is worth about 0.9k + 0.1, more than the lonely variable with anything
    beside it.
    """
    n, k = int(rng.integers(5, 9)), int(rng.integers(2, 4))
    A = 0.3 * np.eye(n)
    A[:k, :k] = 0.9 + 0.1 * np.eye(k)
    A[k, k] = 1.05 + 0.3 * float(rng.random())
    noise = 0.02 * rng.standard_normal((n, n))
    order = rng.permutation(n)
    signs = rng.choice([-1.0, 1.0], size=n)
    A = ((A + noise + noise.T) * np.outer(signs, signs))[np.ix_(order, order)]
    B = np.eye(n) if rng.random() < 0.5 else 0.1 * dense(n, rng) + np.eye(n)
    return question(level, f"n = {n}, k = {k}, decoy", ("decoy",), {"A": A, "B": B, "k": k})


def cliques(level: str, rng: Random) -> Instance:
    """Two blocks of k and a crowd: the largest variances lie in the worse block, the eigenvector in the crowd.

    Variances and greedy choice lead to the first block, which no single swap leaves; the leading eigenvector lives
    on the crowd, whose k-subsets are worth little; the best support is the second block.
    """
    k = int(rng.integers(3, 5))
    crowd = 2 * k
    first = 0.55 + (1.25 - 0.55 + 0.02 * float(rng.random())) * np.eye(k)
    second = 0.85 + 0.15 * np.eye(k)
    third = 0.5 * (0.95 + 0.05 * np.eye(crowd))
    A = 0.01 * np.eye(4 * k)
    for start, block in ((0, first), (k, second), (2 * k, third)):
        A[start : start + len(block), start : start + len(block)] = block
    order, signs = rng.permutation(4 * k), rng.choice([-1.0, 1.0], size=4 * k)
    A = (A * np.outer(signs, signs))[np.ix_(order, order)]
    return question(level, f"n = {4 * k}, k = {k}, cliques", ("decoy",), {"A": A, "B": np.eye(4 * k), "k": k})


def elusive(level: str, rng: Random) -> Instance | None:
    """A Gaussian A whose best support is not found by greedy search from any of its variables, by a margin.

    About one draw in fifteen; None if sixty draws bring none.
    """
    for _ in range(60):
        n, k = 10, int(rng.integers(3, 6))
        M = rng.standard_normal((n, n))
        A, B = 0.5 * (M + M.T), np.eye(n)
        best = enumerated(A, B, k)
        if best.value - max(greedy_from(A, B, k, i) for i in range(n)) > 1e-3 * best.radius:
            return question(level, f"n = {n}, k = {k}, elusive", ("decoy",), {"A": A, "B": B, "k": k})
    return None


def greedy_from(A: Matrix, B: Matrix, k: int, start: int) -> float:
    """The value of the support that grows from one variable by the best addition each time."""
    chosen, value = [start], float(A[start, start] / B[start, start])
    while len(chosen) < k:
        rest = [i for i in range(len(A)) if i not in chosen]
        supports = np.array([[*chosen, i] for i in rest])
        rows, columns = supports[:, :, None], supports[:, None, :]
        values = top_values(A[rows, columns], B[rows, columns])
        chosen.append(rest[int(np.argmax(values))])
        value = float(np.max(values))
    return value


def tight(level: str, seed: int, count: int) -> list[Instance]:
    """Planted and rank-one A with a sparse vector, at k, k − 1 and k + 1; B of any size (λmax is the truth at k)."""
    rng = np.random.default_rng([seed, 10, len(level)])
    return [tight_case(level, rng, index) for index in range(count)]


def tight_case(level: str, rng: Random, index: int) -> Instance:
    """θvvᵀ (+ I) with v k-sparse and B = bI or diagonal: the bound must reach the truth exactly.

    For A = vvᵀ (+ 0.3·I) and B = bI the optimum at k = ‖v‖₀ is λmax, so that a bound has no room below it.
    """
    n = int(rng.integers(3, 9))
    k = int(rng.integers(1, n))
    v = np.zeros(n)
    v[rng.permutation(n)[:k]] = rng.choice([-1.0, 1.0], size=k) * rng.uniform(0.5, 1.0, size=k)
    A = np.outer(v, v) + (0.3 * np.eye(n) if index % 2 else 0.0)
    B = np.eye(n) * float(rng.choice([1.0, 0.01, 100.0])) if index % 3 else np.diag(rng.uniform(0.3, 3.0, size=n))
    asked = (k, k, max(1, k - 1), min(n, k + 1))[index % 4]
    return question(level, f"n = {n}, k = {asked}, tight", ("tight",), {"A": A, "B": B, "k": asked})


def correlated(level: str, seed: int, count: int) -> list[Instance]:
    """(Bv)(Bv)ᵀ with v k-sparse and correlated variables: λmax(A, B) = vᵀBv is attained at v, and v alone is sparse.

    No factor B = LLᵀ keeps it sparse: a bound for k-sparse vectors of L⁻¹AL⁻ᵀ falls below the truth.
    """
    rng = np.random.default_rng([seed, 20, len(level)])
    return [correlated_case(level, rng) for _ in range(count)]


def correlated_case(level: str, rng: Random) -> Instance:
    """One of them, the variables in units between ½ and 2."""
    n = int(rng.integers(3, 9))
    k = int(rng.integers(1, 3))
    d = rng.uniform(0.5, 2.0, n)
    B = (0.1 * np.eye(n) + 0.9) * np.outer(d, d)
    v = np.zeros(n)
    v[rng.permutation(n)[:k]] = rng.uniform(0.5, 1.0, k)
    A = np.outer(B @ v, B @ v)
    return question(level, f"n = {n}, k = {k}, correlated", ("tight", "dense"), {"A": A, "B": B, "k": k})
