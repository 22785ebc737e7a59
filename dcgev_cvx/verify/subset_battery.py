"""The battery of (SGEV-P): pencils small enough to look at every support, many with a tight relaxation.

Where a relaxation is tight (k = 1, planted, rank-one, diagonal A, k = n) a bound that trusts a
solver, or forgets a term, falls below the truth; where it is loose nothing shows.
"""

from __future__ import annotations

import numpy as np

from ..checks import Matrix
from .instances import Instance, question
from .matrices import METRICS, OBJECTIVES, Random, dense, pencil
from .steps_battery import balanced

SUBSET_SIZES = (1, 2, 3, 4, 4, 5, 5, 6, 7, 8, 10)


def subset_battery(level: str, seed: int, count: int) -> list[Instance]:
    """Random pencils of all families at every share of k, then decoys and extreme scales.

    n ≤ 10, so that every support can be looked at; k at both ends and between, as 1 and n are where loops go wrong.
    """
    rng = np.random.default_rng([seed, 8, len(level)])
    kinds, metrics = (*OBJECTIVES, "cca"), tuple(METRICS)
    places = ("one", "two", "half", "most", "all")
    columns = (kinds, metrics, SUBSET_SIZES, places)
    drawn = zip(*(balanced(rng, column, count) for column in columns), strict=True)
    cases = [
        subset_case(level, *pencil(kind, metric, n, rng), place, (kind, metric)) for kind, metric, n, place in drawn
    ]
    return [*cases, *decoys(level, seed, max(3, count // 12)), *tight(level, seed, max(4, count // 6))]


def subset_case(level: str, A: Matrix, B: Matrix, place: str, flags: tuple[str, ...]) -> Instance:
    """A pencil with a k named by its place between 1 and n."""
    n = len(A)
    k = {"one": 1, "two": min(2, n), "half": max(1, n // 2), "most": max(1, n - 1), "all": n}[place]
    flags = (*flags, f"k-{place}")
    return question(level, f"n = {n}, k = {k}, {', '.join(flags)}", flags, {"A": A, "B": B, "k": k})


def decoys(level: str, seed: int, count: int) -> list[Instance]:
    """One variable with the largest variance alone and a correlated block: the greedy choice is not the best one."""
    rng = np.random.default_rng([seed, 9, len(level)])
    return [decoy(level, rng) for _ in range(count)]


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
