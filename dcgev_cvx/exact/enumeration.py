"""Every support of a family, many at a time: the oracle for small problems and the leaves of the search.

On a support S the best vector is the leading eigenvector of (A_SS, B_SS), so (SGEV-P) is a search over
supports with λmax as the score. Tables of supports are scored by one batched eigenvalue call, which for
small k is far quicker than one call a support.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, islice
from time import perf_counter

import numpy as np

from ..bounds import Units, smallest_B_eigenvalue
from ..checks import UNIT_ROUNDOFF, Index, Vector
from ..errors import InvalidParameter
from ..pencils import Pencil, expect_pencil
from ..solutions import checked_k
from ..swaps import support_values
from .results import ExactSolution, exact_from

CHUNK_ENTRIES = 1 << 18
"""Numbers gathered at a time: supports × k²."""
BRUTE_FORCE_LIMIT = 5_000_000


@dataclass(frozen=True)
class Tried:
    """The best of the supports that were tried; finished is False when the deadline came first.

    value is −inf and support the included variables alone when nothing was tried.
    """

    value: float
    support: Index
    count: int
    finished: bool


def supports_of(included: Index, free: Index, m: int) -> Iterator[Index]:
    """All supports included ∪ (m of free), in tables of a bounded size.

    Each table has the included variables first, then the chosen ones in lexicographic order, and at most
    CHUNK_ENTRIES/k² rows, so that memory stays bounded.
    """
    k = len(included) + m
    rows = max(1, CHUNK_ENTRIES // (k * k))
    subsets = combinations(free.tolist(), m)
    while chosen := list(islice(subsets, rows)):
        flat = np.fromiter(chain.from_iterable(chosen), dtype=np.intp, count=len(chosen) * m)
        fixed = np.broadcast_to(included, (len(chosen), len(included)))
        yield np.hstack([fixed, flat.reshape(len(chosen), m)])


def try_all(pencil: Pencil, included: Index, free: Index, m: int, deadline: float = math.inf) -> Tried:
    """λmax of every support included ∪ (m of free); stops at the deadline.

    The clock is read once a table. A deadline in the past leaves count = 0 and finished = False.
    """
    best = Tried(-math.inf, included, 0, True)
    for table in supports_of(included, free, m):
        if perf_counter() > deadline:
            return Tried(best.value, best.support, best.count, False)
        values = support_values(pencil, table)
        top = int(np.argmax(values))
        count = best.count + len(table)
        # strictly larger: of equal supports the first in lexicographic order is kept
        if values[top] > best.value:
            best = Tried(float(values[top]), np.sort(table[top]), count, True)
        else:
            best = Tried(best.value, best.support, count, True)
    return best


def scaled_pencil(pencil: Pencil) -> tuple[Pencil, float]:
    """The pencil in units where its entries are of size one, and the factor that brings its values back."""
    units = Units.of(pencil)
    return Pencil(units.A, None if pencil.B is None else units.B), units.a


def rounding_margin(scaled: Pencil, size: int, norms: tuple[float, float], lam: float) -> float:
    """What LAPACK may lose in λ on a sub-pencil: 8·size·u·(‖M‖ + |λ|‖B‖)/λmin(B), by backward stability.

    λmin(B) bounds that of every principal submatrix from below (interlacing), and row-sum norms
    bound theirs from above, so one number serves the whole search.

    Derivation: a backward stable eigensolver returns the exact λ of (M + E, B + F) with ‖E‖ ≤ c·u‖M‖, ‖F‖ ≤ c·u‖B‖,
    and λ moves by at most (‖E‖ + |λ|‖F‖)/λmin(B). c = 8·size is generous. Infinite where λmin(B) > 0 is not proved.
    """
    lowest = smallest_B_eigenvalue(scaled)
    total = norms[0] + abs(lam) * norms[1]
    return 8.0 * size * UNIT_ROUNDOFF * total / lowest if lowest > 0.0 else math.inf


def row_norm(M: Vector, k: int) -> float:
    """The largest sum of k moduli in a row: a norm for every k × k principal submatrix.

    ‖M_SS‖₂ ≤ ‖M_SS‖∞ = max row sum of moduli, at most the k largest of the whole row.
    """
    moduli = np.partition(np.abs(M), len(M) - k, axis=1)[:, len(M) - k :]
    return float(np.max(np.sum(moduli, axis=1)))


def brute_force(pencil: Pencil, k: int) -> ExactSolution:
    """The optimum of (SGEV-P) over all C(n, k) supports; λmax only grows with the support, so smaller ones wait.

    Parameters
    ----------
    pencil, k
        The problem; C(n, k) may be at most BRUTE_FORCE_LIMIT = 5 000 000.

    Returns
    -------
    ExactSolution
        Its upper bound is the best λmax plus what rounding can have done to any of them.

    Raises
    ------
    InvalidParameter
        For a k outside 1 … n or too many supports, with their number.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.exact import brute_force
    >>> found = brute_force(datasets.pitprops(), 2)
    >>> found.support, round(found.value, 4), found.supports, found.optimal
    ((0, 1), 1.954, 78, True)
    """
    begin = perf_counter()
    k = checked_k(k, expect_pencil(pencil).n)
    count = math.comb(pencil.n, k)
    if count > BRUTE_FORCE_LIMIT:
        raise InvalidParameter(
            f"n = {pencil.n}, k = {k} has {count} supports, more than {BRUTE_FORCE_LIMIT}: use best_subset, "
            "which proves the optimum without visiting them all."
        )
    scaled, unit = scaled_pencil(pencil)
    tried = try_all(scaled, np.empty(0, dtype=np.intp), np.arange(pencil.n), k)
    upper = unit * (tried.value + subset_margin(scaled, k, tried.value))
    seconds = perf_counter() - begin
    return exact_from(pencil, tried.support, upper, None, nodes=0, supports=tried.count, seconds=seconds)


def subset_margin(scaled: Pencil, k: int, lam: float) -> float:
    """The rounding margin for supports of size k.

    λ is the value near which the margin is wanted; it enters only as |λ|‖B‖.
    """
    A, B = scaled.dense()
    return rounding_margin(scaled, k, (row_norm(A, k), row_norm(B, k)), lam)
