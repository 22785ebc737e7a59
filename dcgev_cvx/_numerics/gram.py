"""A = CᵀC given by its factor C: an array, or data that are never made dense.

Of sparse matrices, memory-mapped arrays, Dask arrays and linear operators nothing of the size of C or of A is formed:
only vectors, blocks of rows, and Gram matrices of a few columns.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, TypeAlias

import numpy as np

from ..errors import InvalidPencil
from . import checks
from .checks import LARGEST_POWER, UNIT_ROUNDOFF, Index, InputError, Matrix, Vector, frozen, largest

Block: TypeAlias = Any
"""Some rows of X: an array, a sparse matrix in CSR form, or a Dask array."""

BLOCK = 1 << 20
"""Numbers read at a time: 8 MB, enough to hide the cost of a call, and little on any machine."""
DENSE_SHARE = 0.1
"""A sparse block with more nonzeros than this is multiplied as an array, which is then faster."""


class Gram:
    """A = CᵀC given by its factor C (p × n); A itself is not formed.

    For p samples of n ≫ p variables, a product costs 2pn operations and the memory is that of the data. A sparse
    matrix, a memory-mapped array, a Dask array or a LinearOperator is not copied and never made dense: products and
    small Gram matrices are computed by blocks of rows. It must not change while it is in use.

    Parameters
    ----------
    C : array_like, sparse matrix, numpy.memmap, dask.array.Array or LinearOperator
        The factor, such as a centred data matrix divided by √m; see `pca_pencil` for data that are not centred.

    Raises
    ------
    InvalidPencil
        If C is empty, not a matrix of finite numbers, or its squares overflow; for a Dask array with unknown chunks,
        or a LinearOperator without rmatvec.

    Examples
    --------
    >>> import numpy as np, scipy.sparse
    >>> from dcgev_cvx import Gram
    >>> G = Gram(np.arange(6.0).reshape(2, 3))
    >>> G @ np.array([1.0, 0.0, -1.0])
    array([ -6., -10., -14.])
    >>> G.trace(), G.shape
    (55.0, (3, 3))
    >>> Gram(scipy.sparse.csr_array(G.C))
    Gram(C of shape 2×3, not formed)
    """

    implicit: RowBlocks | OperatorFactor | None

    def __init__(self, C: Any) -> None:
        self.implicit = implicit_factor(C)
        if self.implicit is None:
            vars(self)["C"] = frozen(checked_factor(C))

    @classmethod
    def of(cls, C: Matrix | RowBlocks | OperatorFactor) -> Gram:
        """The Gram matrix of a factor that was checked before."""
        made = object.__new__(cls)
        vars(made).update({"implicit": None, "C": frozen(C)} if isinstance(C, np.ndarray) else {"implicit": C})
        return made

    @cached_property
    def C(self) -> Matrix:
        """The factor as an array; an error where that would not fit."""
        p, n = self.rows, self.shape[0]
        checks.check_bytes((p, n), "C as a dense matrix", "Restrict the pencil to fewer variables.", InvalidPencil)
        assert self.implicit is not None
        return frozen(self.implicit.dot(np.eye(n)) if n <= p else self.implicit.transposed_dot(np.eye(p)).T)

    @property
    def rows(self) -> int:
        """p, the number of rows of C."""
        return self.C.shape[0] if self.implicit is None else self.implicit.shape[0]

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n), the shape of A."""
        n = self.C.shape[1] if self.implicit is None else self.implicit.shape[1]
        return (n, n)

    @property
    def entries(self) -> int:
        """How many numbers a product with C reads."""
        return self.C.size if self.implicit is None else self.implicit.entries

    def dot(self, x: Matrix, support: Index | None = None) -> Matrix:
        """Cx, from the columns where x is nonzero if these are given."""
        if self.implicit is not None:
            return self.implicit.dot(x)
        return self.C @ x if support is None else self.C[:, support] @ x[support]

    def transposed_dot(self, u: Matrix) -> Matrix:
        """Cᵀu."""
        return self.C.T @ u if self.implicit is None else self.implicit.transposed_dot(u)

    def __matmul__(self, x: Matrix) -> Matrix:
        """Ax = Cᵀ(Cx)."""
        return self.transposed_dot(self.dot(x))

    def sub(self, support: Index) -> Matrix:
        """The principal submatrix of A on a support."""
        if self.implicit is not None:
            return self.implicit.gram(support)
        C = self.C[:, support]
        return C.T @ C

    def diagonal(self) -> Vector:
        """The squared norms of C's columns."""
        return np.einsum("ij,ij->j", self.C, self.C) if self.implicit is None else self.implicit.squares()

    def trace(self) -> float:
        """tr A = ‖C‖²_F."""
        return float(self.diagonal().sum())

    def toarray(self) -> Matrix:
        """A itself, n × n."""
        checks.check_bytes(self.shape, "A", "Restrict the pencil to fewer variables.", InvalidPencil)
        return self.sub(np.arange(self.shape[0])) if self.implicit is not None else self.C.T @ self.C

    def __reduce__(self) -> tuple[Any, ...]:
        return (Gram.of, (self.C if self.implicit is None else self.implicit,))

    def __repr__(self) -> str:
        return f"Gram(C of shape {self.rows}×{self.shape[0]}{', not formed' if self.implicit is not None else ''})"


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """C = (X − 1·shiftᵀ)·diag(scale), X read by blocks of rows: a CSR matrix, an array in a file, or a Dask array.

    X is not copied: it must not change while it is in use.
    """

    X: Any
    mean: Vector
    about_mean: Vector
    """The sums of squares of X's columns about their means."""
    shift: Vector
    scale: Vector

    @classmethod
    @np.errstate(over="ignore", invalid="ignore")  # numbers that are not finite raise below
    def of(cls, X: Any, what: str, error: InputError) -> RowBlocks:
        """X itself as a factor, if its entries are finite numbers of ordinary size."""
        zero, one = np.zeros(X.shape[1]), np.ones(X.shape[1])
        raw = cls(X, zero, zero, zero, one)
        mean = sum((column_sums(block) for _, block in raw.blocks()), zero) / X.shape[0]
        if not np.isfinite(mean).all():
            columns = ", ".join(map(str, np.flatnonzero(~np.isfinite(mean))[:10]))
            raise error(
                f"{what} has entries that are NaN or infinite, in column(s) {columns}: "
                "drop those rows or columns, or fill the gaps."
            )
        rows = cls(X, mean, sum((squares_about(mean, block) for _, block in raw.blocks()), zero), zero, one)
        size = math.sqrt(float(np.max(rows.squares())))
        if size and not 10.0**-LARGEST_POWER <= size <= 10.0**LARGEST_POWER:
            raise error(f"{what} has columns of size {size:.1e}, whose squares cannot be summed: rescale it.")
        return rows

    def blocks(self) -> Iterator[tuple[slice, Block]]:
        """The rows of X, BLOCK numbers at a time; a Dask array as a whole, which Dask computes by its chunks."""
        p = self.shape[0]
        size = p if is_dask(self.X) else max(1, BLOCK * p // max(1, self.entries))
        for start in range(0, p, size):
            rows = slice(start, start + size)
            yield rows, self.X[rows]

    def spread(self) -> tuple[Vector, Vector]:
        """The mean and standard deviation of X's columns, the latter exactly 0 for a constant column."""
        m = self.shape[0]
        deviation = np.sqrt(self.about_mean / m)
        rounding = 4.0 * UNIT_ROUNDOFF * math.sqrt(m) * np.hypot(self.mean, deviation)
        return self.mean, np.where(deviation <= rounding, 0.0, deviation)

    @property
    def shape(self) -> tuple[int, int]:
        """(p, n)."""
        return int(self.X.shape[0]), int(self.X.shape[1])

    @property
    def entries(self) -> int:
        """The stored numbers of X."""
        return int(self.X.nnz) if hasattr(self.X, "nnz") else math.prod(self.shape)

    def dot(self, x: Matrix) -> Matrix:
        """Cx."""
        z = (x.T * self.scale).T
        return np.concatenate([np.asarray(block @ z) for _, block in self.blocks()]) - self.shift @ z

    def transposed_dot(self, u: Matrix) -> Matrix:
        """Cᵀu."""
        product = reduce(operator.add, (np.asarray(block.T @ u[rows]) for rows, block in self.blocks()))
        return ((product - np.multiply.outer(self.shift, u.sum(axis=0))).T * self.scale).T

    def squares(self) -> Vector:
        """The squared norms of C's columns."""
        return (self.about_mean + self.shape[0] * (self.mean - self.shift) ** 2) * self.scale**2

    def gram(self, support: Index) -> Matrix:
        """C_SᵀC_S on a support S, in one pass."""
        shift, scale = self.shift[support], self.scale[support]
        gram = reduce(operator.add, (block_gram(block, support, shift) for _, block in self.blocks()))
        return gram * scale[:, None] * scale


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


def checked_factor(C: Any) -> Matrix:
    """C as an array of finite numbers whose squares are numbers too."""
    factor = checks.as_real(C, "C", InvalidPencil, order="F")  # a support selects columns
    if factor.ndim != 2 or 0 in factor.shape:
        raise InvalidPencil(f"C must be a non-empty p × n matrix, got shape {factor.shape}.")
    size = largest(factor)
    if size and not 1e-150 <= size <= 1e150:
        raise InvalidPencil(f"max |C| = {size:.3g}: its square leaves the range of doubles. Divide C by it.")
    return factor


def implicit_factor(C: Any, what: str = "C", error: InputError = InvalidPencil) -> RowBlocks | OperatorFactor | None:
    """C as a factor that is never made dense; None for data that are arrays in memory.

    >>> import numpy as np, scipy.sparse
    >>> from dcgev_cvx._numerics.gram import implicit_factor
    >>> C = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])
    >>> implicit_factor(scipy.sparse.csr_array(C)).squares()
    array([1., 9., 4.])
    >>> implicit_factor(C) is None
    True
    """
    sparse = hasattr(C, "tocsr") and C.ndim == 2
    in_file = isinstance(C, np.memmap) and C.dtype.kind in "fiub" and C.size > BLOCK
    if sparse or in_file or is_dask(C):
        check_matrix(C, what, error)
        return RowBlocks.of(as_csr(C) if sparse else C, what, error)
    if not hasattr(C, "rmatvec"):
        return None
    check_matrix(C, what, error)
    factor = OperatorFactor(C)
    try:
        squares = factor.squares()
        factor.transposed_dot(factor.dot(np.zeros(C.shape[1])))
    except (NotImplementedError, TypeError):
        raise error(f"{what} is a LinearOperator without rmatvec: pass rmatvec=…, the product with Cᵀ.") from None
    if not np.all(np.isfinite(squares)):
        raise error(f"{what} is a LinearOperator that returns NaN or infinite numbers.")
    return factor


def is_dask(X: Any) -> bool:
    """Is it a Dask array?"""
    return hasattr(X, "to_delayed") and hasattr(X, "chunks")


def check_matrix(X: Any, what: str, error: InputError) -> None:
    """Raise unless it is a matrix of real numbers, of a known shape, with rows and columns."""
    checks.check_masks(X, what, error)
    if is_dask(X) and hasattr(X._meta, "tocsr"):
        raise error(f"{what} is a Dask array of sparse blocks: make them dense, or pass one SciPy sparse matrix.")
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


def unit_vectors(support: Index, n: int) -> Iterator[Matrix]:
    """The unit vectors of a support as columns, as many at a time as a block holds."""
    size = max(1, BLOCK // n)
    for start in range(0, len(support), size):
        part = support[start : start + size]
        E = np.zeros((n, len(part)))
        E[part, np.arange(len(part))] = 1.0
        yield E


def column_sums(block: Block) -> Vector:
    """The sum of each column, in double precision."""
    return np.asarray(block.sum(axis=0, dtype=np.float64)).ravel()


def squares_about(mean: Vector, block: Block) -> Vector:
    """The sum of squares of each column about its mean; zeros that a sparse block does not store count."""
    if not hasattr(block, "tocsr"):
        return np.asarray(((block - mean) ** 2).sum(axis=0))
    m, n = block.shape
    column = block.indices
    zeros = m - np.bincount(column, minlength=n)
    return np.bincount(column, (block.data - mean[column]) ** 2, n) + zeros * mean**2


def block_gram(block: Block, support: Index, shift: Vector) -> Matrix:
    """ZᵀZ of some columns Z = X_S − 1·shiftᵀ of a block."""
    part = block[:, support].astype(np.float64)
    if hasattr(part, "tocsr") and part.nnz > DENSE_SHARE * math.prod(part.shape):
        part = part.toarray()
    if not hasattr(part, "tocsr"):
        Z = part - shift
        return np.asarray(Z.T @ Z)
    sums = column_sums(part)
    cross = np.multiply.outer(shift, sums - 0.5 * part.shape[0] * shift)
    return (part.T @ part).toarray() - cross - cross.T
