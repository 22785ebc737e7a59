"""Exchange search: exchange variables of a support for others while λmax of the sub-pencil rises.

A support that no exchange improves is far better than an arbitrary stationary point of the d.c. program, of which
at tiny ε nearly every support carries one. It is a local optimum and no proof.
"""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from .._numerics.checks import Index, Matrix, Vector
from .._numerics.selection import largest_first
from ..certificates import on_support
from ..pencils import Pencil

TABLE = 1e7
"""Multiplications of the largest table, 10 ms; where it would take more, a smaller pencil is searched."""
OUTSIDERS = 100
"""Outsiders of that smaller pencil: with 30 or 50 the values of the 500×5000 row are .04 to .07 % lower."""
CHUNK = 1 << 18
"""Numbers computed at a time, 2 MB: fast as long as they stay in the cache."""


class ExchangeSearch:
    """Exchanges by a table of what each is worth, for many supports at once.

    `groups` labels the variables: a variable is exchanged only for one with the same label. `work` counts the
    multiplications so far.
    """

    def __init__(self, pencil: Pencil, k: int, groups: Index | None = None) -> None:
        self.pencil: Pencil = pencil
        self.k: int = k
        self.groups: Index | None = groups
        self.work: float = 0.0
        self.seen: set[bytes] = set()
        # in a product of matrices four multiplications cost as much as one elsewhere
        self.table_work: float = k * pencil.n * (50.0 + 0.25 * max(k, pencil.A_terms))
        self.exact: bool = self.table_work <= TABLE

    def improve(self, supports: Index) -> tuple[Index, Vector]:
        """The new local optima that exchanges reach from the rows of an m × k table, and their values."""
        if self.exact:
            size = max(1, CHUNK // (self.k * self.pencil.n))
            parts = [self.improve_together(supports[at : at + size]) for at in range(0, len(supports), size)]
        else:
            parts = [self.improve_in_parts(supports[at]) for at in self.unseen(supports)]
        ends, values = zip((supports[:0], np.empty(0)), *parts, strict=True)
        return np.concatenate(ends), np.concatenate(values)

    def improve_in_parts(self, support: Index) -> tuple[Index, Vector]:
        """The same for one support: exchanges with the most promising outsiders, chosen anew until none rises."""
        value, x = leading_pairs(self.pencil, support[None])
        while True:
            kept = np.sort(np.append(support, self.promising(support, x[0])))
            part = self.pencil.restrict(kept)
            part = part.with_A(part.dense()[0])
            self.work += self.pencil.A_entries + 0.1 * len(kept) ** 2 * self.pencil.A_terms
            groups = None if self.groups is None else self.groups[kept]
            after, count = pair_exchanges(part, np.searchsorted(kept, support), x[0], groups)
            self.work += 20.0 * count * self.k * (len(kept) - self.k)
            after_value, after_x = leading_pairs(part, after[None])
            after = kept[after]
            if not after_value[0] > value[0] + 1e-12 * abs(value[0]):
                return support[None], value
            support, value, x = after, after_value, after_x

    def improve_together(self, supports: Index) -> tuple[Index, Vector]:
        """The same for a few supports, whose tables are computed together."""
        supports = supports[self.unseen(supports)]
        values, x = leading_pairs(self.pencil, supports)
        ends, end_values = [supports[:0]], [values[:0]]
        while len(supports):
            self.work += len(supports) * self.table_work
            after, after_values, after_x = self.exchanged(supports, values, x)
            # λmax is accurate to some units in its last place: without a margin two tied supports would alternate
            rises = after_values > values + 1e-12 * np.abs(values)
            ends.append(supports[~rises])
            end_values.append(values[~rises])
            new = np.flatnonzero(rises)[self.unseen(after[rises])]
            supports, values, x = after[new], after_values[new], after_x[new]
        return np.concatenate(ends), np.concatenate(end_values)

    def unseen(self, supports: Index) -> list[int]:
        """The rows that were not met before, noted for the next time."""
        rows = {support.tobytes(): row for row, support in enumerate(supports)}
        new = [row for key, row in rows.items() if key not in self.seen]
        self.seen.update(rows)
        return new

    def exchanged(self, supports: Index, values: Vector, x: Matrix) -> tuple[Index, Vector, Matrix]:
        """Each support after its best exchange, or after its best two, four, … at once while λmax rises.

        A large support needs many exchanges, and λmax costs less than a table.
        """
        leaving, entering, useful = self.best_pairs(supports, values, x)
        best, best_values, best_x = supports.copy(), values.copy(), x.copy()
        rows, count = np.flatnonzero(useful[:, 0]), 1
        while len(rows):
            after = supports[rows]
            np.put_along_axis(after, leaving[rows, :count], entering[rows, :count], axis=1)
            after.sort(axis=1)
            after_values, after_x = leading_pairs(self.pencil, after)
            rises = after_values > best_values[rows]
            at = rows[rises]
            best[at], best_values[at], best_x[at] = after[rises], after_values[rises], after_x[rises]
            # several supports at once take one exchange each
            rows = at[useful[at, count:].any(axis=1)] if len(supports) == 1 else at[:0]
            count *= 2
        return best, best_values, best_x

    def best_pairs(self, supports: Index, values: Vector, x: Matrix) -> tuple[Index, Index, Matrix]:
        """For each support the places of its members, the best exchange first, who enters for each, and is it a gain?

        An outsider enters for one member only; the others stay.
        """
        gains = self.gains(supports, values, x)
        best = np.argmax(gains, axis=2)
        gain = np.take_along_axis(gains, best[:, :, None], axis=2)[:, :, 0]
        leaving = np.argsort(-gain, axis=1, kind="stable")
        entering = np.take_along_axis(best, leaving, axis=1)
        again = np.tril(entering[:, :, None] == entering[:, None, :], -1).any(axis=2)
        useful = (np.take_along_axis(gain, leaving, axis=1) > 0.0) & ~again
        return leaving, np.where(useful, entering, np.take_along_axis(supports, leaving, axis=1)), useful

    def promising(self, support: Index, x: Vector) -> Index:
        """The outsiders that form the best pairs with x."""
        z = np.zeros(self.pencil.n)
        z[support] = x
        gain = pair_values(self.pencil, z)
        gain[support] = -math.inf
        return largest_first(gain, min(OUTSIDERS, self.pencil.n - self.k))

    def gains(self, supports: Index, values: Vector, x: Matrix) -> Matrix:
        """What each exchange gains for each support, 0 for members and for variables of another group."""
        gains = exchange_gains(self.pencil, supports, x, values)
        inside = np.zeros((len(supports), self.pencil.n), dtype=bool)
        np.put_along_axis(inside, supports, values=True, axis=1)
        np.copyto(gains, 0.0, where=inside[:, None, :])
        if self.groups is not None:
            np.copyto(gains, 0.0, where=self.groups[supports][:, :, None] != self.groups)
        return gains


def exchange_gains(pencil: Pencil, supports: Index, x: Matrix, value: Any) -> Matrix:
    """λmax(S − i + j) − λmax(S) for all i in S and j outside: the sign as it is, the size estimated.

    With λ = λmax(S), H = A − λB and G = Σ_{m>1} vₘvₘᵀ/(λ − λₘ) over the other eigenvectors of the sub-pencil, let
    uⱼ = xᵀH_Sj, dᵢ = Gᵢᵢ, rᵢⱼ = (GH_Sj)ᵢ and sⱼ = Hⱼⱼ + H_jSGH_Sj. Then S − i + j is worth λ + δ with

        (xᵢ²sⱼ + uⱼ²dᵢ − 2xᵢuⱼrᵢⱼ) + δ(sⱼdᵢ − rᵢⱼ²) = 0,   H, G and u taken at λ + δ.

    Taken at λ, the first bracket is positive exactly where the exchange raises λmax, and δ is an estimate, infinite
    where no positive δ solves the equation. One inverse serves all k(n − k) exchanges.

    Proof. For t > λ the sub-pencil of A − tB is negative definite. Bordered by the column of j and the constraint
    zᵢ = 0 it takes a positive value exactly when the 2 × 2 Schur complement [s r; r d] at t, the leading
    eigenvector's u²/(t − λ), ux/(t − λ) and x²/(t − λ) included, is positive definite (Haynsworth). d > 0, so
    the determinant decides; times δ = t − λ it is the left side.

    Parameters
    ----------
    pencil
        (A, B).
    supports
        The m supports S, m × k.
    x, value
        The leading eigenvectors, unit in the B norm, m × k, and the m values λ.

    Returns
    -------
    m × k × n numbers, 0 where the exchange raises nothing; those of members j are without meaning.
    """
    value = value[:, None, None]
    A, B = sub_pencils(pencil, supports)
    H, B_cross = pencil.A_block(supports), None if pencil.B is None else pencil.B[supports]
    z, a = x, pencil.A_diagonal
    if B is not None and B_cross is not None:  # all variables in units of the metric
        root, roots = pencil.B_roots[supports], pencil.B_roots
        scale = root[:, :, None] * root[:, None, :]
        A, B, z, a = A / scale, B / scale, x * root, a / roots**2
        H = (H - value * B_cross) / (root[:, :, None] * roots)
    G = other_pairs(A, B, z, value)
    r = G @ H
    s = (a - value[:, 0] + np.einsum("mij,mij->mj", H, r))[:, None, :]
    d, u, z = np.diagonal(G, axis1=1, axis2=2)[:, :, None], z[:, None, :] @ H, z[:, :, None]
    own, other = z * z * s, u * u * d
    rises, falls = own + other - 2.0 * z * u * r, r * r - s * d
    # zero but for rounding where neither i nor j is coupled to x: the second bracket decides
    unclear = np.abs(rises) <= 1e-14 * (np.abs(own) + other)
    rises[unclear] = np.where(falls[unclear] < 0.0, 1.0, 0.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        gains = rises / falls
    gains[falls <= 0.0] = math.inf
    gains[rises <= 0.0] = 0.0
    return gains


def other_pairs(A: Matrix, B: Matrix | None, z: Matrix, value: Any) -> Matrix:
    """G = Σ_{m>1} vₘvₘᵀ/(λ − λₘ) over all eigenvectors but the leading z, for a stack of pencils with Bᵢᵢ = 1.

    It is the leading block of [λB − A, Bz; zᵀB, 0]⁻¹, which inverts λB − A where zᵀBv = 0.
    """
    k = z.shape[1]
    metric = np.eye(k) if B is None else B
    K = np.zeros((len(A), k + 1, k + 1))
    K[:, :k, :k] = value * metric - A
    size = np.maximum(np.max(np.abs(K), axis=(1, 2), keepdims=True), np.abs(value))
    size[size == 0.0] = 1.0
    # where another eigenvalue equals λ, G is to be large and not infinite
    K[:, :k, :k] += 1e-10 * size * metric
    K[:, :k, k] = K[:, k, :k] = size[:, 0] * (metric @ z[:, :, None])[:, :, 0]
    return np.asarray(np.linalg.inv(K)[:, :k, :k], dtype=np.float64)


def pair_exchanges(pencil: Pencil, support: Index, x: Vector, groups: Index | None) -> tuple[Index, int]:
    """A support of a small pencil after exchanges that need no eigenvalue problem, and how many tables that took.

    The exchange of i for j is worth at least the value of the pair of j and x without its i-th entry, which becomes
    the new x. The loadings of the others stay as they are.
    """
    (A, B), members, outside = pencil.dense(), support.copy(), np.delete(np.arange(pencil.n), support)
    a, b = np.diagonal(A), np.diagonal(B)
    z = np.zeros(pencil.n)
    z[support] = x
    Az, Bz = A @ z, B @ z
    value = float(z @ Az) / float(z @ Bz)
    for count in range(1, 1 + len(support)):
        i, j = members[:, None], outside
        p, q = z @ Az - 2.0 * z[i] * Az[i] + z[i] ** 2 * a[i], z @ Bz - 2.0 * z[i] * Bz[i] + z[i] ** 2 * b[i]
        cross, metric = Az[j] - z[i] * A[i, j], Bz[j] - z[i] * B[i, j]
        found = pair_value(p, np.maximum(q, 1e-14), cross, metric, a[j], b[j])
        if groups is not None:
            found[groups[i] != groups[j]] = -math.inf
        at = np.unravel_index(int(np.argmax(found)), found.shape)
        if not found[at] > value + 1e-12 * abs(value):
            return np.sort(members), count
        value, i, j = float(found[at]), members[at[0]], outside[at[1]]
        # (cross − λ·metric) + t(aⱼ − λbⱼ) = 0
        fall = value * b[j] - a[j]
        t = (cross[at] - value * metric[at]) / fall if fall > 0.0 else 1.0
        Az += t * A[:, j] - z[i] * A[:, i]
        Bz += t * B[:, j] - z[i] * B[:, i]
        z[i], z[j] = 0.0, t
        members[at[0]], outside[at[1]] = j, i
    return np.sort(members), len(support)


def pair_value(p: Any, q: Any, a: Vector, b: Vector, r: Vector, s: Vector) -> Vector:
    """The larger root λ of (p − λq)(r − λs) = (a − λb)²: λmax of a 2 × 2 pencil, entry by entry.

    Expanded: (qs − b²)λ² − (ps + qr − 2ab)λ + (pr − a²) = 0. qs > b² as B is positive definite; the floor
    keeps a dependent pair from dividing by zero.
    """
    A = np.maximum(q * s - b * b, 1e-14 * q * s)
    half = 0.5 * (p * s + q * r) - a * b
    return (half + np.sqrt(np.maximum(half * half - A * (p * r - a * a), 0.0))) / A


def pair_values(pencil: Pencil, x: Vector) -> Vector:
    """For each variable the value of the pair of it and x, which has unit B norm."""
    return pair_value(pencil.A_quad(x), 1.0, pencil.A_dot(x), pencil.B_dot(x), pencil.A_diagonal, pencil.B_diagonal)


def leading_pairs(pencil: Pencil, supports: Index) -> tuple[Vector, Matrix]:
    """λmax of the sub-pencil on each row of a table of supports and its eigenvector, unit in the B norm."""
    if len(supports) == 1:
        x = on_support(pencil, supports[0])
        return np.array([pencil.A_quad(x)]), x[supports]
    A, B = sub_pencils(pencil, supports)
    if B is None:
        values, vectors = np.linalg.eigh(A)
        return values[:, -1], vectors[:, :, -1]
    inverse = np.linalg.inv(np.linalg.cholesky(B))
    turned = np.swapaxes(inverse, 1, 2)
    values, vectors = np.linalg.eigh(inverse @ A @ turned)
    return values[:, -1], np.asarray((turned @ vectors[:, :, -1:])[:, :, 0], dtype=np.float64)


def values_on_supports(pencil: Pencil, supports: Index) -> Vector:
    """λmax of the sub-pencil on each row of an m × k table of supports, with m·k² numbers of memory."""
    A, B = sub_pencils(pencil, supports)
    if B is not None:
        L = np.linalg.cholesky(B)
        A = np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, A), 1, 2))
    return np.asarray(np.linalg.eigvalsh(A)[:, -1], dtype=np.float64)


def tables_of(supports: Iterator[tuple[int, ...]], k: int) -> Iterator[Index]:
    """Supports of size k as the rows of tables with at most CHUNK numbers in their sub-pencils."""
    while rows := list(islice(supports, max(1, CHUNK // k**2))):
        yield np.array(rows)


def sub_pencils(pencil: Pencil, supports: Index) -> tuple[Matrix, Matrix | None]:
    """A and B on each row of a table of supports; None for B = I."""
    B = None if pencil.B is None else pencil.B[supports[:, :, None], supports[:, None, :]]
    return pencil.A_sub(supports), B
