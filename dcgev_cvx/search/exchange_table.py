"""Exchanges in any pencil: the gain of every exchange, for many supports at once, from one inverse for each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._numerics.checks import Index, Matrix, Vector
from .._numerics.selection import largest_first
from ..certificates import on_support
from ..pencils import Gram, Pencil

TABLE = 1e7
"""Multiplications of the largest table of all exchanges, 10 ms; beyond, only the likeliest variables are tried."""
CHUNK = 1 << 18
"""Numbers computed at a time, 2 MB: fast as long as they stay in the cache."""


@dataclass
class ExchangeTable:
    """Exchanges by tables of gains, best exchange first; `groups` are labels as in `exchanges_for`."""

    pencil: Pencil
    k: int
    groups: Index | None = None
    work: float = 0.0
    seen: set[bytes] = field(default_factory=set[bytes])

    exhaustive: ClassVar[bool] = True

    @property
    def exchange_work(self) -> float:
        """Multiplications of one exchange."""
        return table_work(self.pencil, self.k)

    def improve(self, supports: Index) -> tuple[Index, Vector]:
        """The local optima that exchanges reach from the rows of an m × k table, and their values."""
        size = max(1, CHUNK // (self.k * self.pencil.n))
        parts = [self.improve_together(supports[at : at + size]) for at in range(0, len(supports), size)]
        return np.concatenate([ends for ends, _ in parts]), np.concatenate([values for _, values in parts])

    def improve_together(self, supports: Index) -> tuple[Index, Vector]:
        """The same for a few supports, whose tables are computed together."""
        supports = supports[self.unseen(supports)]
        values, x = leading(self.pencil, supports)
        ends, end_values = [supports[:0]], [values[:0]]
        while len(supports):
            after, after_values, after_x = self.exchanged(supports, values, x)
            # λmax is good to some units in its last place: two supports that tie would else be exchanged for ever
            rises = after_values > values + 1e-12 * np.abs(values)
            ends.append(supports[~rises])
            end_values.append(values[~rises])
            new = np.flatnonzero(rises)[self.unseen(after[rises])]
            supports, values, x = after[new], after_values[new], after_x[new]
        return np.concatenate(ends), np.concatenate(end_values)

    def unseen(self, supports: Index) -> list[int]:
        """The rows that were not met before, noted for the next time."""
        new: list[int] = []
        for row, support in enumerate(supports):
            key = support.tobytes()
            if key not in self.seen:
                self.seen.add(key)
                new.append(row)
        return new

    def exchanged(self, supports: Index, values: Vector, x: Matrix) -> tuple[Index, Vector, Matrix]:
        """Each support after its best exchange, or as it is where none raises λmax, with the new leading pairs."""
        columns = np.arange(self.pencil.n)
        if self.exchange_work > TABLE:
            columns = self.promising(supports[0], float(values[0]), x[0])
        gains = self.gains(supports, values, x, columns)
        if len(supports) == 1:
            return self.several(supports, values, x, gains[0], columns)
        flat, at = gains.reshape(len(supports), -1), np.arange(len(supports))
        best = np.argmax(flat, axis=1)
        i, j = np.divmod(best, len(columns))
        after = supports.copy()
        after[at, i] = np.where(flat[at, best] > 0.0, columns[j], after[at, i])
        after.sort(axis=1)
        return after, *leading(self.pencil, after)

    def several(
        self, supports: Index, values: Vector, x: Matrix, gains: Matrix, columns: Index
    ) -> tuple[Index, Vector, Matrix]:
        """The best exchange of a single support, then the best two, four, … together while λmax rises.

        A large support needs many exchanges, and λmax costs less than a table.
        """
        best, flat, count = (supports, values, x), gains.ravel(), 1
        order = largest_first(flat, 4 * self.k)
        pairs = disjoint(np.divmod(order[flat[order] > 0.0], len(columns)))
        while count // 2 < len(pairs):
            after = supports.copy()
            after[0, pairs[:count, 0]] = columns[pairs[:count, 1]]
            after.sort(axis=1)
            found = leading(self.pencil, after)
            if not found[0][0] > best[1][0]:
                break
            best, count = (after, *found), 2 * count
        return best

    def promising(self, support: Index, value: float, x: Vector) -> Index:
        """As many outsiders as fit into a table, at least k: those that form the best pairs with x."""
        pencil, z = self.pencil, np.zeros(self.pencil.n)
        z[support] = x
        gain = pair_value(value, 1.0, pencil.A_dot(z), pencil.B_dot(z), pencil.A_diagonal, pencil.B_diagonal)
        gain[support] = -math.inf
        few = max(self.k, int(pencil.n * TABLE / self.exchange_work))
        return largest_first(gain, min(few, pencil.n - self.k))

    def gains(self, supports: Index, values: Vector, x: Matrix, columns: Index) -> Matrix:
        """`exchange_gains` for each support, with 0 for members and for variables of another group."""
        pencil = self.pencil
        self.work += len(supports) * self.exchange_work * len(columns) / pencil.n
        A, B = sub_pencils(pencil, supports)
        A_cross, B_cross = cross_blocks(pencil, supports, columns)
        gains = exchange_gains(
            A, B, A_cross, B_cross, pencil.A_diagonal[columns], pencil.B_diagonal[columns], x, values
        )
        inside = np.zeros((len(supports), pencil.n), dtype=bool)
        np.put_along_axis(inside, supports, values=True, axis=1)
        np.copyto(gains, 0.0, where=inside[:, None, columns])
        if self.groups is not None:
            np.copyto(gains, 0.0, where=self.groups[supports][:, :, None] != self.groups[columns])
        return gains


def table_work(pencil: Pencil, k: int) -> float:
    """About how many multiplications a table of all exchanges takes, the eigenvalue problem included.

    Fifty for each of the kn entries, k more for the product with the inverse, p more for the rows of A = CᵀC; in a
    product of matrices four cost as much as one elsewhere.
    """
    rows = len(pencil.A.C) if isinstance(pencil.A, Gram) else 0
    return k * pencil.n * (50.0 + 0.25 * max(k, rows))


def exchange_gains(
    A: Matrix,
    B: Matrix | None,
    A_cross: Matrix,
    B_cross: Matrix | None,
    a: Vector,
    b: Vector,
    x: Matrix,
    value: Vector,
) -> Matrix:
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
    A, B
        The sub-pencils on m supports S, m × k × k; None for B = I.
    A_cross, B_cross, a, b
        Rows S and columns j, m × k × l, and the diagonals at j.
    x, value
        The leading eigenvectors, unit in the B norm, m × k, and the m values λ.

    Returns
    -------
    m × k × l numbers, 0 where the exchange raises nothing.
    """
    value = value[:, None, None]
    if B is None or B_cross is None:
        z, H = x, A_cross
    else:  # all variables in units of the metric
        root = np.sqrt(np.diagonal(B, axis1=1, axis2=2))
        scale = root[:, :, None] * root[:, None, :]
        A, B, z = A / scale, B / scale, x * root
        H = (A_cross - value * B_cross) / (root[:, :, None] * np.sqrt(b))
    G = other_pairs(A, B, z, value)
    r = G @ H
    s = (a / b - value[:, 0] + np.einsum("mij,mij->mj", H, r))[:, None, :]
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
    k = A.shape[-1]
    metric = np.eye(k) if B is None else B
    K = np.zeros((len(A), k + 1, k + 1))
    K[:, :k, :k] = value * metric - A
    size = np.maximum(np.max(np.abs(K), axis=(1, 2), keepdims=True), np.abs(value))
    size[size == 0.0] = 1.0
    # where another eigenvalue equals λ, G is to be large and not infinite
    K[:, :k, :k] += 1e-10 * size * metric
    K[:, :k, k] = K[:, k, :k] = size[:, 0] * (metric @ z[:, :, None])[:, :, 0]
    return np.asarray(np.linalg.inv(K)[:, :k, :k], dtype=np.float64)


def pair_value(p: Any, q: Any, a: Vector, b: Vector, r: Vector, s: Vector) -> Vector:
    """The larger root λ of (p − λq)(r − λs) = (a − λb)²: λmax of a 2 × 2 pencil, entry by entry.

    Expanded: (qs − b²)λ² − (ps + qr − 2ab)λ + (pr − a²) = 0. qs > b² as B is positive definite; the floor
    keeps a dependent pair from dividing by zero.
    """
    A = np.maximum(q * s - b * b, 1e-14 * q * s)
    half = 0.5 * (p * s + q * r) - a * b
    return (half + np.sqrt(np.maximum(half * half - A * (p * r - a * a), 0.0))) / A


def leading(pencil: Pencil, supports: Index) -> tuple[Vector, Matrix]:
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


def support_values(pencil: Pencil, supports: Index) -> Vector:
    """λmax of the sub-pencil on each row of an m × k table of supports, with m·k² numbers of memory."""
    A, B = sub_pencils(pencil, supports)
    if B is not None:
        L = np.linalg.cholesky(B)
        A = np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, A), 1, 2))
    return np.asarray(np.linalg.eigvalsh(A)[:, -1], dtype=np.float64)


def sub_pencils(pencil: Pencil, supports: Index) -> tuple[Matrix, Matrix | None]:
    """A and B on each row of a table of supports; None for B = I."""
    rows, columns = supports[:, :, None], supports[:, None, :]
    if isinstance(pencil.A, Gram):
        W = pencil.A.C.T[supports]
        A = W @ np.swapaxes(W, 1, 2)
    else:
        A = pencil.A[rows, columns]
    return A, None if pencil.B is None else pencil.B[rows, columns]


def cross_blocks(pencil: Pencil, supports: Index, columns: Index) -> tuple[Matrix, Matrix | None]:
    """A and B between each row of a table of supports and the columns; None for B = I."""
    at = supports if len(columns) == pencil.n else (supports[:, :, None], columns)
    A = pencil.A.C.T[supports] @ pencil.A.C[:, columns] if isinstance(pencil.A, Gram) else pencil.A[at]
    return A, None if pencil.B is None else pencil.B[at]


def disjoint(pairs: tuple[Index, Index]) -> Index:
    """The pairs (i, j) in their order, without those of which i or j has occurred before, as rows."""
    first, second = pairs
    kept: list[tuple[int, int]] = []
    rows: set[int] = set()
    columns: set[int] = set()
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        if i not in rows and j not in columns:
            kept.append((i, j))
            rows.add(i)
            columns.add(j)
    return np.array(kept, dtype=np.intp).reshape(-1, 2)
