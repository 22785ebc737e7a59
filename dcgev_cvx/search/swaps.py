"""Local search over supports: exchange one variable at a time while λmax of the sub-pencil rises.

A support that no exchange of two variables improves is far better than an arbitrary stationary point of the
d.c. program, of which at tiny ε nearly every support carries one; and it is still no proof of optimality.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from .._numerics.checks import Index, Matrix, Vector
from .._numerics.spectra import positive
from ..certificates import on_support
from ..pencils import Gram, Pencil
from .exchanges import climb, exchange_rows
from .gains import exchange_gains, other_pairs, shortlists, swap_gains
from .slots import exchange_slots

SHORTLIST = 12
"""Exchanges tried, the most promising first, before a support counts as one that none improves."""
LIST = 24
"""Members that may leave and outsiders that may enter, where there are too many to look at all."""
PRODUCT = 10**7
"""All exchanges are looked at where that takes a product of no more than this many multiplications."""
DIRECT = 100
"""Supports up to this size are decomposed as they are; larger ones are exchanged in place (`slots`)."""
POWER_STEPS = 40
"""Power steps by which `refined` tries to settle an eigenvector before it decomposes the sub-pencil."""
THIN = 60
"""Beyond this many variables the exchanges of A = CᵀC with B = I are evaluated by power steps."""


def eigenvector_on(pencil: Pencil, support: Index) -> tuple[float, Vector]:
    """(λ, x) of the sub-pencil on the support, at least one position; x embedded with unit B norm.

    For a pencil of ordinary size: small supports are decomposed as they are, without scaling.
    """
    if len(support) > DIRECT:
        x = on_support(pencil, support)
        return pencil.A_quad(x), x
    A = pencil.A_sub(support)
    if pencil.B is None:
        v = np.linalg.eigh(A)[1][:, -1]
    else:
        L = np.linalg.cholesky(pencil.B_sub(support))
        half = np.linalg.solve(L, A)
        v = np.linalg.solve(L.T, np.linalg.eigh(np.linalg.solve(L, half.T))[1][:, -1])
    x = np.zeros(pencil.n)
    x[support] = positive(np.asarray(v, dtype=np.float64))
    x /= pencil.B_norm(x)
    return pencil.A_quad(x), x


def refined(pencil: Pencil, x: Vector) -> Vector:
    """The leading eigenvector on the support of x, which is near it: by power steps where these settle it.

    After exchanges on a large factor x is good to a few digits already; an eigenvalue problem from scratch
    would take longer than the rest of them.
    """
    support = np.flatnonzero(x)
    if pencil.B is None and isinstance(pencil.A, Gram) and len(support) > DIRECT:
        W = pencil.A.C.T[support]
        z, v, value = climb(W, x[support], POWER_STEPS)
        # the error of λ is the square of this residual over the gap: far below what λ is printed with
        if np.linalg.norm(W @ v - value * z) <= 1e-10 * value:
            found = np.zeros_like(x)
            found[support] = positive(z)
            return found
    return eigenvector_on(pencil, support)[1]


def swap_search(pencil: Pencil, x: Vector, max_swaps: int = 200, groups: Index | None = None) -> tuple[Vector, int]:
    """Exchange pairs (i out, j in) that raise λmax, the most promising first, until none does.

    Returns the vector and the number of exchanges made. On small problems every exchange is judged
    exactly, so that the result is optimal among all supports that differ in one variable; on large ones
    the candidates are those with the best 2 × 2 estimates.

    Parameters
    ----------
    x
        A nonzero vector; only its support matters, as loadings are recomputed.
    max_swaps
        A guard; each exchange raises the value by more than 1e-12 of itself.
    groups
        A label for each variable: only variables of one group are exchanged.

    Examples
    --------
    From the last two variables two exchanges lead to a pair that no single exchange improves, worth 1.813; the
    best pair, variables 0 and 1, is worth 1.954 and shares none with it. One start is not enough:

    >>> import numpy as np
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.search.swaps import swap_search
    >>> pencil = datasets.pitprops()
    >>> x, exchanges = swap_search(pencil, np.eye(13)[12] + np.eye(13)[11])
    >>> np.flatnonzero(x), round(pencil.A_quad(x), 3), exchanges
    (array([5, 6]), 1.813, 2)
    """
    support = np.flatnonzero(x)
    if pencil.B is None and isinstance(pencil.A, Gram) and pencil.n > THIN and groups is None:
        return exchange_rows(pencil.A.C.T, pencil.A_diagonal, x, max_swaps)
    value, x = eigenvector_on(pencil, support)
    if DIRECT < len(support) < pencil.n:
        members, count = exchange_slots(pencil, support, x, value, max(max_swaps, len(support)), groups)
        return (eigenvector_on(pencil, members)[1] if count else x), count
    for count in range(max_swaps):
        better = best_swap(pencil, support, x, value, groups)
        if better is None:
            return x, count
        value, support, x = better
    return x, max_swaps


def best_swap(
    pencil: Pencil, support: Index, x: Vector, value: float, groups: Index | None = None
) -> tuple[float, Index, Vector] | None:
    """The first of the SHORTLIST most promising exchanges that raises the value, or None when none does.

    Where all exchanges are looked at (`shortlists`) None means that no single exchange raises λmax, up to
    rounding. With `groups`, a label for each variable, only variables of one group are exchanged.
    """
    outside = np.setdiff1d(np.arange(pencil.n), support, assume_unique=True)
    if not len(outside) or not len(support):
        return None
    drop, add = shortlists(pencil, support, outside, x, value, PRODUCT, LIST)
    gains = swap_gains(pencil, support, x, value, drop, add)
    if groups is not None:
        gains[groups[support[drop]][:, None] != groups[add]] = 0.0
    # λ is good to some units in its last place: two supports that tie would else be exchanged back and forth
    threshold = value + 1e-12 * abs(value)
    best = np.argsort(-gains, axis=None, kind="stable")[:SHORTLIST]
    for i, j in zip(*np.unravel_index(best[gains.flat[best] > 0.0], gains.shape), strict=True):
        candidate = support.copy()
        candidate[drop[i]] = add[j]
        candidate.sort()
        found, z = eigenvector_on(pencil, candidate)
        if found > threshold:
            return found, candidate, z
    return None


def eliminated(pencil: Pencil, k: int) -> Index:
    """k variables by backward elimination from all n, three in ten of those left at a time.

    Without variable i the sub-pencil is worth λ − δ with δ = xᵢ²/Gᵢᵢ, G taken at λ − δ (`other_pairs`); those of
    the smallest δ, taken at λ, go. In an ill-conditioned metric single variables say little, as
    large values come from many together: there the way down is worth more than the way up.
    """
    support = np.arange(pencil.n)
    while len(support) > k:
        x = pencil.leading_vector if len(support) == pencil.n else on_support(pencil, support)
        A, B, root = pencil.A_sub(support), pencil.B_sub(support), pencil.B_roots[support]
        z = x[support] * root
        G = other_pairs(A, B, root, z, np.array([[pencil.A_quad(x)]]))
        # Gᵢᵢ = 0 where variable i is an eigenvector by itself: without it nothing is left of λ, and it stays
        loss = z * z / np.maximum(np.diagonal(G), np.finfo(float).tiny)
        kept = np.argsort(-loss, kind="stable")[: max(k, int(0.7 * len(support)))]
        support = np.sort(support[kept])
    return support


@dataclass(frozen=True)
class Climbs:
    """Climbs by exchanges from many supports at once: where each support seen led to, and the tops they ended at.

    A support is kept as the bytes of its sorted positions. Climbs that meet go on as one, so that a
    support is never looked at twice. With `groups`, a label for each variable, only variables of one are exchanged.
    """

    pencil: Pencil
    groups: Index | None = None
    values: dict[bytes, float] = field(default_factory=dict[bytes, float])
    after: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    tops: set[bytes] = field(default_factory=set[bytes])

    def A_rows(self, supports: Index) -> Matrix:
        """The members' rows of A for each support; of A = CᵀC no others are formed."""
        A = self.pencil.A
        return A.C.T[supports] @ A.C if isinstance(A, Gram) else A[supports]

    def best(self, count: int) -> list[Index]:
        """At most `count` of the supports that no exchange improved, the best first."""
        ranked = sorted(self.tops, key=lambda key: (-self.values[key], key))
        return [np.frombuffer(key, dtype=np.intp) for key in ranked[:count]]

    def lonely(self, supports: Index) -> int:
        """How many tops just one of the climbs from these supports, rows, ended at; tops of one value count as one.

        Over the number of climbs it estimates the chance that another would end at a top not yet seen
        (Good and Turing).
        """
        # nine digits: the same value reached on different supports, or by rounding, is one top
        ends = Counter(f"{self.values[self.end(key)]:.9g}" for key in keys(supports))
        return sum(count == 1 for count in ends.values())

    def end(self, key: bytes) -> bytes:
        """The top that the climb from a support ended at."""
        while key not in self.tops:
            key = self.after[key]
        return key

    def climb(self, supports: Index, max_swaps: int = 200) -> None:
        """Make the exchange of the largest estimated gain in each row of a table of supports, while λmax rises.

        All rows are treated at once, as stacks of small matrices: a climb costs a tenth of a `swap_search`.

        Parameters
        ----------
        supports
            m × k positions, k < n, sorted within each row.
        max_swaps
            A guard; each exchange raises the value.
        """
        came, goal = supports[:0], supports
        for _ in range(max_swaps):
            new = goal[self.unseen(goal)]
            better = self.exchanged(new)
            # none came at first; later each row came from somewhere, and goes on only from what is higher
            for old, key in zip(keys(came), keys(goal), strict=False):
                if self.values[key] > self.values[old] + 1e-12 * abs(self.values[old]):
                    self.after[old] = key
                else:
                    self.tops.add(old)
            moves = np.any(better != new, axis=1)
            self.tops.update(keys(new[~moves]))
            came, goal = new[moves], better[moves]
            if not len(came):
                return
        self.tops.update(keys(came))

    def unseen(self, supports: Index) -> list[int]:
        """The rows with a support that has no value yet, each support once."""
        first = {key: i for i, key in reversed(list(enumerate(keys(supports)))) if key not in self.values}
        return sorted(first.values())

    def exchanged(self, supports: Index) -> Index:
        """Each support after its most promising exchange, or as it is if none raises λmax; the values are noted."""
        B, at = self.pencil.B, np.arange(len(supports))
        inside, rows = (supports[:, :, None], supports[:, None, :]), self.A_rows(supports)
        A_sub = np.take_along_axis(rows, supports[:, None, :], axis=2)
        B_sub = np.eye(supports.shape[1])[None] if B is None else B[inside]
        value, x = leading_pairs(A_sub, None if B is None else B_sub)
        self.values.update(zip(keys(supports), value.tolist(), strict=True))
        free = np.ones((len(supports), self.pencil.n), dtype=bool)
        free[at[:, None], supports] = False
        outside = np.nonzero(free)[1].reshape(len(supports), self.pencil.n - supports.shape[1])
        A_cross = np.take_along_axis(rows, outside[:, None, :], axis=2)
        B_cross = np.zeros((1, 1, 1)) if B is None else B[supports[:, :, None], outside[:, None, :]]
        a, b = self.pencil.A_diagonal[outside], self.pencil.B_diagonal[outside]
        gains = exchange_gains(A_sub, B_sub, A_cross, B_cross, a, b, x, value)
        if self.groups is not None:
            gains[self.groups[supports][:, :, None] != self.groups[outside][:, None, :]] = 0.0
        gains = gains.reshape(len(supports), supports.shape[1] * outside.shape[1])
        best = np.argmax(gains, axis=1)
        i, j = np.divmod(best, outside.shape[1])
        after = supports.copy()
        after[at, i] = np.where(gains[at, best] > 0.0, outside[at, j], after[at, i])
        return np.sort(after, axis=1)


def keys(supports: Index) -> list[bytes]:
    """The rows of a table of supports as bytes, by which they are told apart."""
    return [row.tobytes() for row in supports]


def leading_pairs(A: Matrix, B: Matrix | None) -> tuple[Vector, Matrix]:
    """The largest λ and its x, unit in the B norm, of each of a stack of pencils."""
    inverse = np.eye(A.shape[-1]) if B is None else np.linalg.inv(np.linalg.cholesky(B))
    turned = np.swapaxes(inverse, -1, -2)
    values, vectors = np.linalg.eigh(A if B is None else inverse @ A @ turned)
    x = vectors[:, :, -1] if B is None else (turned @ vectors[:, :, -1:])[:, :, 0]
    return np.asarray(values[:, -1], dtype=np.float64), np.asarray(x, dtype=np.float64)


def support_values(pencil: Pencil, supports: Index) -> Vector:
    """λmax of the sub-pencil on each row of an m × k table of supports, all at once.

    Parameters
    ----------
    supports
        m × k positions; within a row they are distinct and in any order.

    Memory is m·k² numbers (and m·p·k for a factor); callers chunk.
    """
    rows, columns = supports[:, :, None], supports[:, None, :]
    if isinstance(pencil.A, Gram):
        parts = np.swapaxes(pencil.A.C.T[supports], 1, 2)
        A = np.swapaxes(parts, 1, 2) @ parts
    else:
        A = pencil.A[rows, columns]
    if pencil.B is not None:
        L = np.linalg.cholesky(pencil.B[rows, columns])
        half = np.linalg.solve(L, A)
        A = np.linalg.solve(L, np.swapaxes(half, 1, 2))
    return np.asarray(np.linalg.eigvalsh(A)[:, -1], dtype=np.float64)
