"""A of xᵀAx behind the same methods, whatever it is made of: a matrix, or CᵀC of an array, SciPy sparse or Dask array.

    MatrixForm   A itself, n × n
    Gram         A = CᵀC, by products with its factor C (p × n):
                   ArrayFactor    C is a NumPy array, or a Dask array for data beyond one machine
                   SparseFactor   C is a SciPy sparse matrix less one of low rank, such as its column means

Nobody outside this file asks which one it has.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ..errors import InvalidPencil
from . import checks
from .checks import LARGEST_POWER, UNIT_ROUNDOFF, Index, InputError, Matrix, Vector, frozen, largest
from .last_results import LastResults
from .spectra import Operator, symmetric_extreme

TINY = float(np.finfo(np.float64).tiny)
FORMED = 2000
"""A of sparse or Dask data, or of a part of them, is formed up to this many variables: 32 MB."""


class MatrixForm:
    """A symmetric matrix that is given as such."""

    def __init__(self, A: Matrix) -> None:
        self.A = A
        self._products: LastResults[Matrix] = LastResults()

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self.A)

    @property
    def terms(self) -> int:
        """How many products an entry of A = CᵀC sums, the rows of C; 0 for a matrix that was given."""
        return 0

    @property
    def entries(self) -> int:
        """How many numbers a product with A reads."""
        return self.A.size

    @property
    def in_memory(self) -> bool:
        """Are blocks of A cheap? Of sparse and Dask data only products and small submatrices are."""
        return True

    def dot(self, x: Matrix, support: Index | None = None) -> Matrix:
        """Ax for a vector or the columns of a matrix; `support` contains the nonzeros of a vector."""
        return self._products.of(x, lambda x: self.A @ x) if support is None else x[support] @ self.A[support]

    def inner(self, u: Vector, v: Vector, support: Index | None = None) -> float:
        """uᵀAv."""
        return float(u @ self.dot(v) if support is None else u[support] @ (self.sub(support) @ v[support]))

    def sub(self, support: Index) -> Matrix:
        """A on a support (k × k), or on each row of a table of supports (m × k × k)."""
        return self.A[support[..., :, None], support[..., None, :]]

    def block(self, rows: Index, columns: Index | None = None) -> Matrix:
        """A between rows, a support or a table of them, and the columns; all columns if None."""
        return self.A[rows] if columns is None else self.A[rows[..., :, None], columns]

    def diagonal(self) -> Vector:
        """Aᵢᵢ."""
        return np.diagonal(self.A).copy()

    def size(self, units: Vector) -> float:
        """max |uᵢAᵢⱼuⱼ| for positive units u."""
        return largest(self.in_units(units))

    def error(self) -> Vector:
        """e with |fl(Aᵢⱼ) − Aᵢⱼ| ≤ eᵢeⱼ for what `sub` and `toarray` return: the rounding of their sums."""
        return np.zeros(self.n)

    def factor(self) -> Matrix:
        """C with A = CᵀC as an array, for A ⪰ 0."""
        values, vectors = np.linalg.eigh(self.A)
        kept = values > self.n * UNIT_ROUNDOFF * max(values[-1], 0.0)
        return np.sqrt(values[kept])[:, None] * vectors[:, kept].T if kept.any() else np.zeros((1, self.n))

    def products(self, rows: Index, columns: Index) -> tuple[Matrix, ...]:
        """Matrices in memory whose product is A between rows and columns, itself where A was given."""
        return (self.block(rows, columns),)

    def restrict(self, support: Index) -> Form:
        """A on a support, formed where that is smaller than C on it."""
        return MatrixForm(frozen(self.sub(support)))

    def rescaled(self, units: Vector) -> Form:
        """uᵢAᵢⱼuⱼ for powers of two u, by which nothing is rounded."""
        return MatrixForm(frozen(self.in_units(units)))

    def in_units(self, units: Vector) -> Matrix:
        """uᵢAᵢⱼuⱼ in one new array; 1/(uᵢuⱼ) is a number even where uᵢuⱼ overflows."""
        s = 1.0 / units
        outer = s[:, None] * s
        return np.divide(self.A, outer, out=outer)

    def projected(self, W: Matrix, V: Matrix) -> Form:
        """(I − VWᵀ)A(I − WVᵀ)."""
        AW = self.A @ W
        cross = AW @ V.T
        A = self.A - cross - cross.T + V @ (W.T @ AW) @ V.T
        return MatrixForm(frozen(0.5 * (A + A.T)))

    def transposed(self) -> Form:
        """CCᵀ, which has the nonzero eigenvalues of CᵀC; A itself where it was given."""
        return self

    def leading(self, solve: Operator, unit: float) -> Vector | None:
        """The leading eigenvector of (A, B) from the p × p matrix CB⁻¹Cᵀ; None unless C has fewer rows than columns."""
        return None

    def toarray(self) -> Matrix:
        """A as an array."""
        return self.A


class Gram:
    """A = CᵀC given by its factor C (p × n); A itself is not formed.

    For p samples of n ≫ p variables, a product costs 2pn operations and the memory is that of the data. A sparse
    matrix or a Dask array is never made dense. A Dask array is not copied: its data must not change while in use.

    Parameters
    ----------
    C : array_like, sparse matrix or dask.array.Array
        The factor, such as a centred data matrix divided by √m; see `pca_pencil` for data that are not centred.

    Raises
    ------
    InvalidPencil
        If C is empty, not a matrix of finite numbers, or its squares overflow; for a Dask array with unknown chunks.

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
    Gram(C of shape 2×3, sparse)
    """

    def __init__(self, C: Any) -> None:
        self._C = C if isinstance(C, (ArrayFactor, SparseFactor)) else factor_of(C, "C", InvalidPencil)

    @property
    def C(self) -> Matrix:
        """The factor as an array; an error where that would not fit."""
        return self._C.toarray()

    @property
    def n(self) -> int:
        """The number of variables."""
        return self._C.shape[1]

    @property
    def rows(self) -> int:
        """p, the number of rows of C."""
        return self._C.shape[0]

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n), the shape of A."""
        return (self.n, self.n)

    @property
    def terms(self) -> int:
        """How many products an entry of A sums: p."""
        return self.rows

    @property
    def entries(self) -> int:
        """How many numbers a product with A reads."""
        return 2 * self._C.entries

    @property
    def in_memory(self) -> bool:
        """Are blocks of A cheap, C being an array?"""
        return self._C.kind == "array"

    def __reduce__(self) -> tuple[Any, ...]:
        return (Gram, (self._C,))

    def dot(self, x: Matrix, support: Index | None = None) -> Matrix:
        """Ax = Cᵀ(Cx), from the columns where x is nonzero if these are given."""
        return self._C.transposed_dot(self._C.dot(x, support))

    def __matmul__(self, x: Matrix) -> Matrix:
        """Ax."""
        return self.dot(x)

    def inner(self, u: Vector, v: Vector, support: Index | None = None) -> float:
        """uᵀAv = (Cu)ᵀ(Cv)."""
        Cv = self._C.dot(v, support)
        return float((Cv if u is v else self._C.dot(u, support)) @ Cv)

    def sub(self, support: Index) -> Matrix:
        """A on a support, or on each row of a table of supports."""
        if support.ndim == 1:
            return self._C.gram(support)
        W = self._C.columns(support)
        return W @ np.swapaxes(W, -1, -2)

    def block(self, rows: Index, columns: Index | None = None) -> Matrix:
        """A between rows, a support or a table of them, and the columns; all columns if None."""
        W = self._C.columns(rows)
        if columns is not None:
            return W @ self._C.columns(columns).T
        return self._C.transposed_dot(W.reshape(-1, self.rows).T).T.reshape(*rows.shape, self.n)

    def diagonal(self) -> Vector:
        """The squared norms of C's columns."""
        return self._C.squares

    def trace(self) -> float:
        """tr A = ‖C‖²_F."""
        return float(self.diagonal().sum())

    def size(self, units: Vector) -> float:
        """max |uᵢAᵢⱼuⱼ|, attained on the diagonal of a positive semidefinite matrix."""
        return float(np.max(self.diagonal() * units**2))

    def error(self) -> Vector:
        """√((p + 2)u)·‖cᵢ‖, by Cauchy and Schwarz for each sum of p products; TINY stands for those that underflow."""
        return np.sqrt((self.rows + 2) * UNIT_ROUNDOFF * (self._C.raw_squares() + TINY))

    def factor(self) -> Matrix:
        """C as an array."""
        return self.C

    def products(self, rows: Index, columns: Index) -> tuple[Matrix, ...]:
        """Cᵀ on the rows and C on the columns."""
        return self._C.columns(rows), self._C.columns(columns).T

    def restrict(self, support: Index) -> Form:
        """CᵀC on a support; multiplied out if C has at least as many rows as the support has variables."""
        if len(support) <= (self.rows if self.in_memory else FORMED):
            return MatrixForm(frozen(self.sub(support)))
        return Gram(self._C.part(support))

    def rescaled(self, units: Vector) -> Form:
        """The Gram matrix of C·diag(u)."""
        return Gram(self._C.scaled(units))

    def projected(self, W: Matrix, V: Matrix) -> Form:
        """The Gram matrix of C(I − WVᵀ)."""
        return Gram(self._C.minus(self._C.dot(W), V))

    def transposed(self) -> Form:
        """CCᵀ (p × p), which has the nonzero eigenvalues of CᵀC."""
        return Gram(self._C.transposed())

    def leading(self, solve: Operator, unit: float) -> Vector | None:
        """x = B⁻¹Cᵀu of the leading eigenvector u of CB⁻¹Cᵀ; `unit` brings its eigenvalues to size one.

        Proof: CB⁻¹Cᵀu = λu gives CᵀC(B⁻¹Cᵀu) = λB(B⁻¹Cᵀu).
        """
        if self.rows >= self.n:
            return None

        def lift(u: Matrix) -> Matrix:
            return solve(self._C.transposed_dot(u / unit))

        _, u = symmetric_extreme(
            lambda u: self._C.dot(lift(u)), lambda: self._C.dot(lift(np.eye(self.rows))), self.rows, "upper"
        )
        return lift(u)

    def toarray(self) -> Matrix:
        """A itself, n × n."""
        checks.check_bytes(self.shape, "A", "Restrict the pencil to fewer variables.", InvalidPencil)
        return self.sub(np.arange(self.n))

    def __repr__(self) -> str:
        kind = "" if self.in_memory else f", {self._C.kind}"
        return f"Gram(C of shape {self.rows}×{self.n}{kind})"


Form: TypeAlias = MatrixForm | Gram


class ArrayFactor:
    """C as a NumPy array, or as a Dask array, whose chunks Dask multiplies wherever its workers are."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (ArrayFactor, (self.C,))  # NumPy forgets that an array is read-only

    def __init__(self, C: Any) -> None:
        self.C = frozen(C) if isinstance(C, np.ndarray) else C
        self.kind = "array" if isinstance(C, np.ndarray) else "Dask"
        self.shape = (int(C.shape[0]), int(C.shape[1]))
        self.entries = math.prod(self.shape)
        self._products: LastResults[Matrix] = LastResults()

    @cached_property
    def squares(self) -> Vector:
        """The squared norms of the columns."""
        return frozen(np.array(np.einsum("ij,ij->j", self.C, self.C)))

    def raw_squares(self) -> Vector:
        """Squared norms of the numbers that a product sums."""
        return self.squares

    def dot(self, x: Matrix, support: Index | None = None) -> Matrix:
        """Cx, from the columns where x is nonzero if these are given."""
        if support is None:
            return self._products.of(x, lambda x: np.asarray(self.C @ x))
        return self._products.of(x, lambda x: np.asarray(self.C[:, support] @ x[support]))

    def transposed_dot(self, u: Matrix) -> Matrix:
        """Cᵀu."""
        return np.asarray(self.C.T @ u)

    def gram(self, support: Index) -> Matrix:
        """C_SᵀC_S on a support S."""
        part = self.C[:, support]
        return np.asarray(part.T @ part)

    def columns(self, support: Index) -> Matrix:
        """The columns on a support, or on a table of supports, as rows of an array."""
        if self.kind == "array":
            return self.C.T[support]
        return np.asarray(self.C[:, support.ravel()]).T.reshape(*support.shape, -1)

    def part(self, support: Index) -> ArrayFactor:
        """C on a support."""
        return ArrayFactor(self.C[:, support])

    def scaled(self, units: Vector) -> ArrayFactor:
        """C·diag(u)."""
        return ArrayFactor(self.C * units)

    def minus(self, L: Matrix, R: Matrix) -> ArrayFactor:
        """C − LRᵀ."""
        return ArrayFactor(self.C - L @ R.T)

    def transposed(self) -> ArrayFactor:
        """Cᵀ."""
        return ArrayFactor(self.C.T)

    def toarray(self) -> Matrix:
        """C as an array; an error where that would not fit."""
        if self.kind != "array":
            check_dense(self.shape)
        return np.asarray(self.C)


class SparseFactor:
    """C = X − LRᵀ with X sparse (CSR) and L, R of few columns: centred or deflated data, whose zeros stay zeros."""

    kind = "sparse"

    def __init__(self, X: Any, L: Matrix | None = None, R: Matrix | None = None, squares: Vector | None = None) -> None:
        p, n = X.shape
        self.X, self.shape, self.entries = X, (int(p), int(n)), int(X.nnz)
        self.L: Matrix = np.zeros((p, 0)) if L is None else L
        self.R: Matrix = np.zeros((n, 0)) if R is None else R
        self.known_squares = squares  # more accurate than from differences

    @cached_property
    def squares(self) -> Vector:
        """The squared norms of the columns."""
        if self.known_squares is not None:
            return self.known_squares
        cross = np.sum(self.R * (self.X.T @ self.L), axis=1)
        low_rank = np.sum(self.R * (self.R @ (self.L.T @ self.L)), axis=1)
        return frozen(np.maximum(column_squares(self.X) - 2.0 * cross + low_rank, 0.0))

    def raw_squares(self) -> Vector:
        """Squared norms of the numbers that a product sums, before they cancel."""
        return (np.sqrt(column_squares(self.X)) + np.abs(self.R) @ np.linalg.norm(self.L, axis=0)) ** 2

    def dot(self, x: Matrix, support: Index | None = None) -> Matrix:
        """Cx."""
        return self.X @ x - self.L @ (self.R.T @ x)

    def transposed_dot(self, u: Matrix) -> Matrix:
        """Cᵀu."""
        return self.X.T @ u - self.R @ (self.L.T @ u)

    def gram(self, support: Index) -> Matrix:
        """C_SᵀC_S on a support S."""
        part, R = self.X[:, support], self.R[support]
        cross = (part.T @ self.L) @ R.T
        G = (part.T @ part).toarray() - cross - cross.T + R @ (self.L.T @ self.L) @ R.T
        G[np.diag_indices(len(G))] = self.squares[support]
        return G

    def columns(self, support: Index) -> Matrix:
        """The columns on a support, or on a table of supports, as rows of an array."""
        flat = support.ravel()
        check_dense((self.shape[0], len(flat)))
        return (self.X[:, flat].toarray().T - self.R[flat] @ self.L.T).reshape(*support.shape, -1)

    def part(self, support: Index) -> SparseFactor:
        """C on a support."""
        return SparseFactor(self.X[:, support].tocsr(), self.L, self.R[support], self.squares[support])

    def scaled(self, units: Vector) -> SparseFactor:
        """C·diag(u)."""
        return SparseFactor(times_columns(self.X, units), self.L, self.R * units[:, None], self.squares * units**2)

    def minus(self, L: Matrix, R: Matrix) -> SparseFactor:
        """C − LRᵀ."""
        return SparseFactor(self.X, np.hstack([self.L, L]), np.hstack([self.R, R]))

    def transposed(self) -> SparseFactor:
        """Cᵀ."""
        return SparseFactor(self.X.T.tocsr(), self.R, self.L)

    def toarray(self) -> Matrix:
        """C as an array; an error where that would not fit."""
        check_dense(self.shape)
        return self.X.toarray() - self.L @ self.R.T


def factor_of(C: Any, what: str, error: InputError) -> ArrayFactor | SparseFactor:
    """C as a factor: a copy of an array or a sparse matrix of finite numbers, a Dask array as it is."""
    if is_large(C):
        return standardized_factor(large_table(C, what, error))
    array = checks.as_real(C, what, error, order="F")  # a support selects columns
    if array.ndim != 2 or 0 in array.shape:
        raise error(f"{what} must be a non-empty p × n matrix, got shape {array.shape}.")
    size = largest(array)
    if size and not 1e-150 <= size <= 1e150:
        raise error(f"max |{what}| = {size:.3g}: its square leaves the range of doubles. Divide {what} by it.")
    return ArrayFactor(array)


def is_large(X: Any) -> bool:
    """Is it a sparse matrix or a Dask array, which are never made dense?"""
    return is_dask(X) or (hasattr(X, "tocsr") and X.ndim == 2)


def large_table(X: Any, what: str, error: InputError) -> Any:
    """A sparse matrix as a float64 copy in CSR form, entries given twice added up; a Dask array of float64."""
    check_matrix(X, what, error)
    X = X.astype(np.float64)
    if not is_dask(X):
        X = X.tocsr(copy=True)
        X.sum_duplicates()
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.asarray(X.sum(axis=0)).ravel()
        check_columns_finite(sums, what, error)
        squares = np.asarray((X**2).sum(axis=0)) if is_dask(X) else column_squares(X)
    size = math.sqrt(float(np.max(squares)))
    if size and not 10.0**-LARGEST_POWER <= size <= 10.0**LARGEST_POWER:
        raise error(f"{what} has columns of size {size:.1e}, whose squares cannot be summed: rescale it.")
    return X


def spread(X: Any) -> tuple[Vector, Vector]:
    """The mean and standard deviation (divided by m) of each column, the latter exactly 0 for a constant one.

    A column counts as constant when its deviation is within 4u√m of its size: the mean of m copies of 0.1 need not
    be 0.1 in floating point.
    """
    m = X.shape[0]
    if hasattr(X, "tocsr"):
        mean = np.asarray(X.sum(axis=0)).ravel() / m
        zeros = m - np.bincount(X.indices, minlength=X.shape[1])
        about = np.bincount(X.indices, (X.data - mean[X.indices]) ** 2, X.shape[1]) + zeros * mean**2
    else:
        mean = np.asarray(X.mean(axis=0))
        about = np.asarray(((X - mean) ** 2).sum(axis=0))
    deviation = np.sqrt(about / m)
    return mean, np.where(deviation <= 4.0 * UNIT_ROUNDOFF * math.sqrt(m) * np.hypot(mean, deviation), 0.0, deviation)


def standardized_factor(X: Any, shift: Vector | None = None, units: Vector | None = None) -> ArrayFactor | SparseFactor:
    """C = (X − 1·shiftᵀ)·diag(units) of an array, a sparse matrix or a Dask array; X itself by default.

    The mean is taken off a sparse matrix inside the products, (X − 1μᵀ)x = Xx − 1(μᵀx), so that zeros stay zeros.
    """
    units = np.ones(X.shape[1]) if units is None else units
    if not hasattr(X, "tocsr"):
        return ArrayFactor((X if shift is None else X - shift) * units)
    if shift is None:
        return SparseFactor(times_columns(X, units))
    mean, deviation = spread(X)
    squares = X.shape[0] * (deviation**2 + (mean - shift) ** 2) * units**2
    return SparseFactor(times_columns(X, units), np.ones((X.shape[0], 1)), (shift * units)[:, None], squares)


def is_dask(X: Any) -> bool:
    """Is it a Dask array?"""
    return hasattr(X, "to_delayed") and hasattr(X, "chunks")


def check_matrix(X: Any, what: str, error: InputError) -> None:
    """Raise unless it is a matrix of real numbers, of a known shape, with rows and columns."""
    if (is_dask(X) and not isinstance(X._meta, np.ndarray)) or isinstance(getattr(X, "_meta", None), np.ma.MaskedArray):
        raise error(f"{what} is a Dask array of {type(X._meta).__name__} blocks: make them plain NumPy arrays.")
    if any(math.isnan(size) for size in X.shape):
        raise error(f"{what} is a Dask array with unknown chunk sizes: call {what}.compute_chunk_sizes() first.")
    if len(X.shape) != 2 or 0 in X.shape:
        raise error(f"{what} must be a non-empty matrix, got shape {tuple(X.shape)}.")
    if X.dtype is not None and X.dtype.kind not in "fiub":
        raise error(f"{what} has dtype {X.dtype}, which is not real: convert it, e.g. {what}.astype(float).")


def check_columns_finite(sums: Vector, what: str, error: InputError) -> None:
    """Raise for columns whose sum is not a finite number."""
    if not np.isfinite(sums).all():
        columns = ", ".join(map(str, np.flatnonzero(~np.isfinite(sums))[:10]))
        raise error(
            f"{what} has entries that are NaN or infinite, in column(s) {columns}: "
            "drop those rows or columns, or fill the gaps."
        )


def check_dense(shape: tuple[int, int]) -> None:
    """Raise for a factor that does not fit into memory as an array."""
    checks.check_bytes(shape, "C as a dense matrix", "Restrict the pencil to fewer variables.", InvalidPencil)


def column_squares(X: Any) -> Vector:
    """The sum of squares of each column of a sparse matrix."""
    return np.bincount(X.indices, X.data**2, X.shape[1]).astype(np.float64, copy=False)


def times_columns(X: Any, units: Vector) -> Any:
    """X·diag(u) for a sparse matrix in CSR form."""
    scaled = X.copy()
    scaled.data = X.data * units[X.indices]
    return scaled
