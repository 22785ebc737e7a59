"""Factors C of A = CᵀC that are never made dense: sparse matrices, memory-mapped arrays, Dask arrays, operators.

Nothing of the size of C or of A is formed: only vectors, blocks of rows, and Gram matrices of a few columns.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from ..errors import InvalidPencil
from .checks import LARGEST_POWER, UNIT_ROUNDOFF, Index, InputError, Matrix, Vector

Block: TypeAlias = Any
"""Some rows of X: an array, or a sparse matrix in CSR form."""
Work: TypeAlias = Callable[..., Any]
"""A function of a block, and of the same rows of a vector where one is given; picklable, for Dask."""

BLOCK = 1 << 20
"""Numbers read at a time: 8 MB, enough to hide the cost of a call, and little on any machine."""
DENSE_SHARE = 0.1
"""A sparse block with more nonzeros than this is multiplied as an array, which is then faster."""


class ImplicitFactor(Protocol):
    """C (p × n), given by its products."""

    @property
    def shape(self) -> tuple[int, int]:
        """(p, n)."""
        ...

    @property
    def entries(self) -> int:
        """How many numbers a product reads."""
        ...

    def dot(self, x: Matrix) -> Matrix:
        """Cx."""
        ...

    def transposed_dot(self, u: Matrix) -> Matrix:
        """Cᵀu."""
        ...

    def squares(self) -> Vector:
        """The squared norms of C's columns."""
        ...

    def gram(self, support: Index) -> Matrix:
        """C_SᵀC_S on a support S."""
        ...


class Moments(NamedTuple):
    """Of each column of some rows: the number of rows, the mean, the sum of squares about it, and its bad entries."""

    m: int
    mean: Vector
    squares: Vector
    bad: Index

    def __add__(self, other: Any) -> Moments:
        """The moments of both sets of rows together, without cancellation (Chan, Golub and LeVeque 1983)."""
        m, step = self.m + other.m, other.mean - self.mean
        squares = self.squares + other.squares + step**2 * (self.m * other.m / m)
        return Moments(m, self.mean + step * (other.m / m), squares, self.bad + other.bad)


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """C = (X − 1·shiftᵀ)·diag(scale), X read by blocks of rows: a CSR matrix, an array in a file, or a Dask array.

    X is not copied: it must not change while it is in use.
    """

    X: Any
    shift: Vector
    scale: Vector

    @classmethod
    def of(cls, X: Any, what: str, error: InputError) -> RowBlocks:
        """X itself as a factor, if its entries are finite numbers of ordinary size."""
        rows = cls(X, np.zeros(X.shape[1]), np.ones(X.shape[1]))
        bad = rows.moments.bad
        if bad.any():
            columns = ", ".join(map(str, np.flatnonzero(bad)[:10]))
            raise error(
                f"{what} has {int(bad.sum())} entries that are NaN or infinite, in column(s) {columns}: drop those "
                "rows or columns, or fill the gaps."
            )
        size = math.sqrt(float(np.max(rows.squares())))
        if size and not 10.0**-LARGEST_POWER <= size <= 10.0**LARGEST_POWER:
            raise error(f"{what} has columns of size {size:.1e}, whose squares cannot be summed: rescale it.")
        return rows

    def spread(self) -> tuple[Vector, Vector]:
        """The mean and standard deviation of X's columns, the latter exactly 0 for a constant column."""
        m, mean, squares, _ = self.moments
        deviation = np.sqrt(squares / m)
        rounding = 4.0 * UNIT_ROUNDOFF * math.sqrt(m) * np.hypot(mean, deviation)
        return mean, np.where(deviation <= rounding, 0.0, deviation)

    @property
    def shape(self) -> tuple[int, int]:
        """(p, n)."""
        return int(self.X.shape[0]), int(self.X.shape[1])

    @property
    def entries(self) -> int:
        """The stored numbers of X."""
        return int(self.X.nnz) if hasattr(self.X, "nnz") else math.prod(self.shape)

    @cached_property
    def moments(self) -> Moments:
        """The moments of X's columns, in one pass."""
        return self.total(moments)

    def dot(self, x: Matrix) -> Matrix:
        """Cx."""
        z = (x.T * self.scale).T
        return np.concatenate(self.each(partial(times, z=z))) - self.shift @ z

    def transposed_dot(self, u: Matrix) -> Matrix:
        """Cᵀu."""
        product = self.total(transposed_times, u) - np.multiply.outer(self.shift, u.sum(axis=0))
        return (product.T * self.scale).T

    def squares(self) -> Vector:
        """The squared norms of C's columns."""
        m, mean, squares, _ = self.moments
        return (squares + m * (mean - self.shift) ** 2) * self.scale**2

    def gram(self, support: Index) -> Matrix:
        """C_SᵀC_S on a support S, in one pass."""
        scale = self.scale[support]
        return self.total(partial(block_gram, support=support, shift=self.shift[support])) * scale[:, None] * scale

    def each(self, work: Work) -> list[Any]:
        """What a function returns for each block of rows, from the first to the last."""
        if not is_dask(self.X):
            return [work(self.X[i:j]) for i, j in self.ranges()]
        import dask

        return list(dask.compute(*self.delayed(work)))  # pyright: ignore[reportPrivateImportUsage]

    def total(self, work: Work, u: Matrix | None = None) -> Any:
        """The sum over the blocks of what a function returns for a block, and for the same rows of u."""
        if not is_dask(self.X):
            terms = (work(self.X[i:j], *([] if u is None else [u[i:j]])) for i, j in self.ranges())
            return reduce(operator.add, terms)
        import dask

        # in pairs, so that no worker holds more than a few terms
        terms = self.delayed(work, u)
        while len(terms) > 1:
            add: Any = dask.delayed(operator.add)  # pyright: ignore[reportPrivateImportUsage]
            terms = [add(*terms[i : i + 2]) if i + 1 < len(terms) else terms[i] for i in range(0, len(terms), 2)]
        return dask.compute(terms[0])[0]  # pyright: ignore[reportPrivateImportUsage]

    def delayed(self, work: Work, u: Matrix | None = None) -> list[Any]:
        """The tasks of Dask, one for each chunk of rows."""
        import dask

        call: Any = dask.delayed(work)  # pyright: ignore[reportPrivateImportUsage]
        chunks = self.X.rechunk({1: -1}).to_delayed().ravel()
        rest = [[] if u is None else [u[i:j]] for i, j in self.ranges()]
        return [call(chunk, *some) for chunk, some in zip(chunks, rest, strict=True)]

    def ranges(self) -> list[tuple[int, int]]:
        """The first row of each block and the row after its last."""
        p = self.shape[0]
        if is_dask(self.X):
            return list(pairwise(accumulate(self.X.chunks[0], initial=0)))
        size = max(1, BLOCK * p // max(1, self.entries))
        return [(i, min(p, i + size)) for i in range(0, p, size)]


@dataclass(frozen=True, eq=False)
class OperatorFactor:
    """C given as a SciPy LinearOperator with `matvec` and `rmatvec`."""

    C: Any

    @property
    def shape(self) -> tuple[int, int]:
        """(p, n)."""
        return int(self.C.shape[0]), int(self.C.shape[1])

    @property
    def entries(self) -> int:
        """p·n, for want of a better estimate."""
        return math.prod(self.shape)

    def dot(self, x: Matrix) -> Matrix:
        """Cx."""
        return np.asarray(self.C @ x, dtype=np.float64)

    def transposed_dot(self, u: Matrix) -> Matrix:
        """Cᵀu."""
        return np.asarray(self.C.T @ u, dtype=np.float64)

    def squares(self) -> Vector:
        """The squared norms of C's columns, from the products with all unit vectors of the shorter side."""
        p, n = self.shape
        if p < n:
            return sum(
                (np.sum(self.transposed_dot(E) ** 2, axis=1) for E in unit_vectors(np.arange(p), p)), np.zeros(n)
            )
        return np.concatenate([np.sum(self.dot(E) ** 2, axis=0) for E in unit_vectors(np.arange(n), n)])

    def gram(self, support: Index) -> Matrix:
        """C_SᵀC_S on a support S."""
        parts = [self.transposed_dot(self.dot(E))[support] for E in unit_vectors(support, self.shape[1])]
        G = np.column_stack(parts)
        return 0.5 * (G + G.T)


def implicit_factor(C: Any, what: str = "C", error: InputError = InvalidPencil) -> ImplicitFactor | None:
    """C as a factor that is never made dense; None for data that are arrays in memory.

    >>> import numpy as np, scipy.sparse
    >>> from dcgev_cvx._numerics.implicit_factors import implicit_factor
    >>> C = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    >>> implicit_factor(scipy.sparse.csr_array(C)).squares()
    array([1., 9., 4.])
    >>> implicit_factor(C) is None
    True
    """
    in_file = isinstance(C, np.memmap) and C.dtype.kind in "fiub" and C.size > BLOCK
    if is_dask(C) or (hasattr(C, "tocsr") and C.ndim == 2) or in_file:
        check_matrix(C, what, error)
        return RowBlocks.of(as_csr(C) if hasattr(C, "tocsr") else C, what, error)
    return checked_operator(C, what, error) if hasattr(C, "rmatvec") else None


def is_dask(X: Any) -> bool:
    """Is it a Dask array?"""
    return hasattr(X, "to_delayed") and hasattr(X, "chunks")


def check_matrix(X: Any, what: str, error: InputError) -> None:
    """Raise unless it is a matrix of real numbers, of a known shape, with rows and columns."""
    if any(math.isnan(size) for size in X.shape):
        raise error(f"{what} is a Dask array with unknown chunk sizes: call {what}.compute_chunk_sizes() first.")
    if len(X.shape) != 2 or 0 in X.shape:
        raise error(f"{what} must be a non-empty matrix, got shape {tuple(X.shape)}.")
    if X.dtype is not None and X.dtype.kind not in "fiub":
        raise error(f"{what} has dtype {X.dtype}, which is not real: convert it, e.g. {what}.astype(float).")


def as_csr(X: Any) -> Any:
    """A sparse matrix in CSR form, entries given twice added up; copied only if it has another form."""
    rows = X.tocsr()
    if rows.has_canonical_format:
        return rows
    rows = rows.copy() if rows is X else rows
    rows.sum_duplicates()
    return rows


def checked_operator(C: Any, what: str, error: InputError) -> OperatorFactor:
    """A linear operator that can be applied from both sides."""
    check_matrix(C, what, error)
    factor = OperatorFactor(C)
    try:
        factor.transposed_dot(factor.dot(np.zeros(C.shape[1])))
    except (NotImplementedError, TypeError):
        raise error(f"{what} is a LinearOperator without rmatvec: pass rmatvec=…, the product with Cᵀ.") from None
    if not np.all(np.isfinite(factor.squares())):
        raise error(f"{what} is a LinearOperator that returns NaN or infinite numbers.")
    return factor


def unit_vectors(support: Index, n: int) -> Iterator[Matrix]:
    """The unit vectors of a support as columns, as many at a time as a block holds."""
    size = max(1, BLOCK // n)
    for start in range(0, len(support), size):
        part = support[start : start + size]
        E = np.zeros((n, len(part)))
        E[part, np.arange(len(part))] = 1.0
        yield E


def moments(block: Block) -> Moments:
    """The moments of a block's columns; zeros that a sparse block does not store count."""
    m, n = block.shape
    if not hasattr(block, "tocsr"):
        X = np.asarray(block, dtype=np.float64)
        bad = np.count_nonzero(~np.isfinite(X), axis=0)
        mean = np.where(bad, 0.0, X.sum(axis=0, where=np.isfinite(X)) / m)
        return Moments(m, mean, np.sum((X - mean) ** 2, axis=0, where=np.isfinite(X)), bad)
    finite = np.isfinite(block.data)
    column, entries = block.indices[finite], block.data[finite].astype(np.float64)
    mean = np.bincount(column, entries, n) / m
    squares = np.bincount(column, (entries - mean[column]) ** 2, n)
    stored = np.bincount(column, minlength=n)
    return Moments(m, mean, squares + (m - stored) * mean**2, np.bincount(block.indices[~finite], minlength=n))


def times(block: Block, z: Matrix) -> Matrix:
    """A block times z."""
    return np.asarray(block @ z)


def transposed_times(block: Block, u: Matrix) -> Matrix:
    """A block transposed times u."""
    return np.asarray(block.T @ u)


def block_gram(block: Block, support: Index, shift: Vector) -> Matrix:
    """ZᵀZ of some columns Z = X_S − 1·shiftᵀ of a block."""
    part = block[:, support]
    if hasattr(part, "tocsr") and part.nnz > DENSE_SHARE * math.prod(part.shape):
        part = part.toarray()
    if not hasattr(part, "tocsr"):
        Z = np.asarray(part, dtype=np.float64) - shift
        return Z.T @ Z
    sums = np.asarray(part.sum(axis=0), dtype=np.float64).ravel()
    cross = np.multiply.outer(shift, sums - 0.5 * part.shape[0] * shift)
    return (part.T @ part).toarray() - cross - cross.T
