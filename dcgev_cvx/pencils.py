"""The pencil (A, B) of the generalized eigenvalue problem Ax = λBx, checked once (Eq:eig, GEV-P)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._numerics.checks import (
    Index,
    Matrix,
    Vector,
    as_flag,
    as_number,
    as_real,
    attribute,
    check_bytes,
    checked_names,
    column_names,
    frozen,
    is_whole,
    largest,
    listed,
    shown,
    spelt,
)
from ._numerics.factors import Factor, asymmetry
from ._numerics.limits import refuse_ratio
from ._numerics.samples import Labels, Table, read_labels, read_table
from ._numerics.spectra import extreme, extreme_of_factor, semidefinite, smallest_of_matrix, two_views
from .errors import InvalidParameter, InvalidPencil

SMALL = 500
"""Below this many variables a product costs less than looking for zeros."""
LARGEST_SUM = 1e305
"""n·max |A| may reach this: traces, row sums and twice an eigenvalue are then numbers."""


class Gram:
    """A = CᵀC given by its factor C (p × n) and never formed.

    For data C with p samples of n ≫ p variables, a product costs 2pn operations and the memory is
    that of the data. C is kept by columns, since a support selects columns.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import Gram
    >>> G = Gram(np.arange(6.0).reshape(2, 3))
    >>> G @ np.array([1.0, 0.0, -1.0])
    array([ -6., -10., -14.])
    >>> G.trace(), G.shape
    (55.0, (3, 3))
    """

    def __init__(self, C: ArrayLike) -> None:
        factor = as_real(C, "C", InvalidPencil, order="F")  # columns are what gets selected
        if factor.ndim != 2 or 0 in factor.shape:
            raise InvalidPencil(f"C must be a non-empty p × n matrix, got shape {factor.shape}.")
        size = largest(factor)
        if size and not 1e-150 <= size <= 1e150:
            raise InvalidPencil(
                f"max |C| = {size:.3g}: its square leaves the range of doubles. Divide C by {size:.3g}."
            )
        self.C: Matrix = frozen(factor)

    def columns(self, support: Index) -> Gram:
        """The principal part on a support, as a product; it needs no check again."""
        part = object.__new__(Gram)
        part.C = frozen(self.C[:, support])
        return part

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n), the shape of the matrix that is not formed."""
        return (self.C.shape[1], self.C.shape[1])

    def __matmul__(self, x: Vector) -> Vector:
        """Ax = Cᵀ(Cx)."""
        return self.C.T @ (self.C @ x)

    def quad(self, x: Vector) -> float:
        """xᵀAx = ‖Cx‖²."""
        u = self.C @ x
        return float(u @ u)

    def submatrix(self, support: Index) -> Matrix:
        """The principal submatrix of A on the support."""
        columns = self.C[:, support]
        return columns.T @ columns

    def diagonal(self) -> Vector:
        """The squared norms of C's columns."""
        return np.einsum("ij,ij->j", self.C, self.C)

    def trace(self) -> float:
        """tr A = ‖C‖²_F."""
        return float(self.diagonal().sum())

    def toarray(self) -> Matrix:
        """A itself, n × n: for small n and for the curious."""
        return self.C.T @ self.C

    def __reduce__(self) -> tuple[Any, ...]:
        return (Gram, (np.asarray(self.C),))

    def __repr__(self) -> str:
        return f"Gram(C of shape {self.C.shape[0]}×{self.C.shape[1]})"


@dataclass(frozen=True, eq=False)
class Pencil:
    """A symmetric and B positive definite (the identity when None): max xᵀAx s.t. xᵀBx = 1 (GEV-P).

    Checked once, at the door: finite, square, symmetric (by how much not), B positive definite (its
    smallest eigenvalue). The arrays are copied, symmetric to the last bit and read-only; what is
    expensive (factor, extreme eigenpairs) is computed when first asked for and kept.

    Parameters
    ----------
    A
        A symmetric matrix in any numeric form (array, list, pandas frame, sparse), or a Gram.
    B
        Positive definite, or None for the identity, which is never formed.
    names
        The variables' names; a frame's columns by default. They travel with every result.
    blocks
        The sizes of the views, such as (p, q) of CCA: B is block diagonal in them.

    Examples
    --------
    >>> from dcgev_cvx import Pencil
    >>> pencil = Pencil([[2.0, 1.0], [1.0, 2.0]], names=["left", "right"])
    >>> round(pencil.lambda_max, 12), pencil.name(1)
    (3.0, 'right')
    >>> Pencil([[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidPencil: B is not positive definite ... its smallest eigenvalue is -1 (largest 3)...
    """

    A: Matrix | Gram
    B: Matrix | None = None
    names: tuple[str, ...] | None = None
    blocks: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        names = self.names if self.names is not None else column_names(self.A)
        check_order(column_names(self.A), column_names(self.B), "the columns of A", "the columns of B")
        A = self.A if isinstance(self.A, Gram) else symmetric(self.A, "A")
        n = A.shape[0]
        B = None if self.B is None else symmetric(self.B, "B")
        if B is not None and B.shape != (n, n):
            raise InvalidPencil(f"A is {n}×{n} but B is {B.shape[0]}×{B.shape[1]}: the shapes must agree.")
        object.__setattr__(self, "A", A)
        object.__setattr__(self, "B", B)
        object.__setattr__(self, "names", checked_names(names, n))
        object.__setattr__(self, "blocks", checked_blocks(self.blocks, n, B))
        if B is not None:
            vars(self)["factor"] = Factor.of(B)  # now, since it shows that B is positive definite
            refuse_ratio(self.A_scale, self.B_scale)

    def __reduce__(self) -> tuple[Any, ...]:
        A = self.A if isinstance(self.A, Gram) else np.asarray(self.A)
        return (Pencil, (A, self.B, self.names, self.blocks))

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.A.shape[0]

    @property
    def views(self) -> tuple[Index, ...]:
        """The positions of each view; one view of all n variables when there are no blocks."""
        edges = np.cumsum((0, *(self.blocks or (self.n,))))
        return tuple(np.arange(start, stop) for start, stop in pairwise(edges))

    @cached_property
    def factor(self) -> Factor | None:
        """B = LLᵀ by its diagonal blocks, or None when B is the identity."""
        return None if self.B is None else Factor.of(self.B)

    @cached_property
    def cholesky(self) -> Matrix | None:
        """Lower L with B = LLᵀ, or None when B is the identity."""
        return None if self.factor is None else frozen(self.factor.lower())

    @cached_property
    def split(self) -> int | None:
        """Where the two views of a CCA pencil meet, A being zero within each; None for any other."""
        return None if isinstance(self.A, Gram) else two_views(self.A, self.B)

    def A_dot(self, x: Vector) -> Vector:
        """Ax, touching only the columns where x is nonzero when these are few."""
        support = few(x)
        if isinstance(self.A, Gram):
            return self.A @ x if support is None else self.A.C.T @ (self.A.C[:, support] @ x[support])
        if support is not None:
            return x[support] @ self.A[support]
        h = self.split if self.n > SMALL else None
        return self.A @ x if h is None else np.append(self.A[:h, h:] @ x[h:], self.A[h:, :h] @ x[:h])

    def A_quad(self, x: Vector) -> float:
        """xᵀAx."""
        support = few(x)
        if isinstance(self.A, Gram):
            u = self.A.C @ x if support is None else self.A.C[:, support] @ x[support]
            return float(u @ u)
        z, A = (x, self.A) if support is None else (x[support], self.A_sub(support))
        return float(z @ (A @ z))

    def A_inner(self, u: Vector, v: Vector) -> float:
        """uᵀAv, from the columns where u or v is nonzero when these are few."""
        support = few(np.abs(u) + np.abs(v))
        if support is not None:
            u, v = u[support], v[support]
        if isinstance(self.A, Gram):
            C = self.A.C if support is None else self.A.C[:, support]
            return float((C @ u) @ (C @ v))
        return float(u @ ((self.A if support is None else self.A_sub(support)) @ v))

    def A_sub(self, support: Index) -> Matrix:
        """A restricted to a support."""
        return (
            self.A.submatrix(support) if isinstance(self.A, Gram) else self.A[np.asarray(support)[:, None], support]
        )

    def B_dot(self, x: Vector) -> Vector:
        """Bx, touching only the columns where x is nonzero when these are few."""
        if self.B is None:
            return x
        support = few(x)
        return self.B @ x if support is None else x[support] @ self.B[support]

    def B_quad(self, x: Vector) -> float:
        """xᵀBx."""
        if self.B is None:
            return float(x @ x)
        support = few(x)
        z, B = (x, self.B) if support is None else (x[support], self.B_sub(support))
        return float(z @ (B @ z))

    def B_norm(self, x: Vector) -> float:
        """‖x‖_B = (xᵀBx)^½."""
        return math.sqrt(max(0.0, self.B_quad(x)))

    def B_sub(self, support: Index) -> Matrix:
        """B restricted to a support."""
        return np.eye(len(support)) if self.B is None else self.B[np.asarray(support)[:, None], support]

    def B_solve(self, c: Matrix) -> Matrix:
        """B⁻¹c."""
        return c if self.factor is None else self.factor.solve(c)

    @cached_property
    def A_diagonal(self) -> Vector:
        """The diagonal of A."""
        return frozen(self.A.diagonal() if isinstance(self.A, Gram) else np.diagonal(self.A).copy())

    @cached_property
    def B_diagonal(self) -> Vector:
        """The diagonal of B."""
        return frozen(np.ones(self.n) if self.B is None else np.diagonal(self.B).copy())

    @cached_property
    def B_roots(self) -> Vector:
        """√Bᵢᵢ, the lengths of the unit vectors."""
        return frozen(np.sqrt(self.B_diagonal))

    @property
    def A_entries(self) -> int:
        """How many numbers a product with A touches: n² of a matrix, 2pn of a factor used twice."""
        return 2 * self.A.C.size if isinstance(self.A, Gram) else self.A.size

    @cached_property
    def A_scale(self) -> float:
        """max |Aᵢⱼ|, attained on the diagonal when A = CᵀC."""
        return float(np.max(self.A.diagonal())) if isinstance(self.A, Gram) else largest(self.A)

    @cached_property
    def B_scale(self) -> float:
        """max |Bᵢⱼ|, attained on the diagonal of a positive definite matrix."""
        return float(np.max(self.B_diagonal))

    @property
    def smallest_B(self) -> float:
        """A cheap lower estimate of λmin(B)."""
        return 1.0 if self.factor is None else self.factor.smallest

    @cached_property
    def lambda_min_A(self) -> float:
        """λmin(A), zero when A = CᵀC needs no shift anyway."""
        if isinstance(self.A, Gram):
            return 0.0
        return smallest_of_matrix(self)

    @cached_property
    def semidefinite(self) -> bool:
        """Is A ⪰ 0 but for rounding? Always so for A = CᵀC."""
        return isinstance(self.A, Gram) or semidefinite(self.A, self.A_scale)

    @cached_property
    def lambda_min(self) -> float:
        """λmin(A, B); −λmax(A, B) for the two views of CCA, 0 when A = CᵀC has fewer rows than columns."""
        if isinstance(self.A, Gram):
            return 0.0 if self.A.C.shape[0] < self.n else extreme(self, "lower")[0]
        return -self.lambda_max if self.split is not None else extreme(self, "lower")[0]

    @property
    def lambda_max(self) -> float:
        """λmax(A, B), the value of (GEV-P)."""
        return self._leading[0]

    @property
    def leading_vector(self) -> Vector:
        """The generalized eigenvector of λmax(A, B), unit in the B norm, its largest entry positive."""
        return self._leading[1]

    @cached_property
    def _leading(self) -> tuple[float, Vector]:
        if isinstance(self.A, Gram) and self.A.C.shape[0] < self.n:
            value, x = extreme_of_factor(self, self.A.C)
        else:
            value, x = extreme(self, "upper")
        return value, frozen(x)

    def restrict(self, support: Index, products: int = 128) -> Pencil:
        """The principal sub-pencil on the support, for about so many products with its A.

        A = CᵀC is multiplied out once that costs less than it saves: ½ps² for the matrix, 2ps − s² at each product.
        A part of a checked pencil needs no check: it is symmetric, and its B is positive definite by interlacing.
        """
        s, p = len(support), len(self.A.C) if isinstance(self.A, Gram) else 0
        if isinstance(self.A, Gram) and (s > p or 0.5 * p * s > products * (2 * p - s)):
            A = self.A.columns(support)
        else:
            A = frozen(self.A_sub(support))
        smaller = object.__new__(Pencil)
        vars(smaller).update(
            A=A,
            B=None if self.B is None else frozen(self.B_sub(support)),
            names=None if self.names is None else tuple(self.names[i] for i in support),
            blocks=None,
        )
        return smaller

    def dense(self) -> tuple[Matrix, Matrix]:
        """(A, B) as plain n × n arrays."""
        A = self.A.toarray() if isinstance(self.A, Gram) else self.A
        return A, np.eye(self.n) if self.B is None else self.B

    def name(self, i: int) -> str:
        """The name of variable i, or x1, x2, … when none was given."""
        return self.names[i] if self.names is not None else f"x{i + 1}"

    def __repr__(self) -> str:
        kind = "Gram" if isinstance(self.A, Gram) else "dense"
        return f"Pencil(n={self.n}, A {kind}, B {'identity' if self.B is None else 'dense'})"


def checked_blocks(blocks: Any, n: int, B: Matrix | None) -> tuple[int, ...] | None:
    """The sizes of the views, if they add up to n and B is block diagonal in them."""
    if blocks is None:
        return None
    given = listed(blocks)
    sizes = tuple(int(size) for size in given) if all(map(is_whole, given)) else ()
    if not sizes or min(sizes) < 1 or sum(sizes) != n:
        raise InvalidPencil(f"blocks = {shown(blocks)} must be whole numbers of at least 1 that add up to n = {n}.")
    for start, stop in pairwise((0, *accumulate(sizes))):
        if B is not None and (np.any(B[start:stop, :start]) or np.any(B[start:stop, stop:])):
            raise InvalidPencil(f"B is not block diagonal in blocks = {sizes}: rows {start} to {stop - 1} reach out.")
    return sizes


def few(x: Vector) -> Index | None:
    """The support of a long vector with few nonzeros, where gathering pays; None otherwise."""
    if len(x) < SMALL:
        return None
    support = x.nonzero()[0]
    return support if 4 * len(support) <= len(x) else None


def check_order(names: Any, others: Any, what: str, other: str) -> None:
    """Labels of a pandas frame that are the same but in another order would be taken for one another."""
    labels = tuple(map(spelt, listed(others)))
    if names is not None and labels != names and sorted(labels) == sorted(names):
        raise InvalidPencil(f"{what} and {other} have the same labels in another order: sort one by the other.")


def symmetric(data: Any, what: str) -> Matrix:
    """A read-only symmetric float64 matrix, or InvalidPencil with the amount of asymmetry."""
    check_order(column_names(data), attribute(data, "index"), f"the columns of {what}", f"the rows of {what}")
    dtype = attribute(data, "dtype")
    single = isinstance(dtype, np.dtype) and dtype.kind == "f" and dtype.itemsize < 8
    array = as_real(data, what, InvalidPencil)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise InvalidPencil(f"{what} must be a square matrix, got shape {array.shape}.")
    if array.shape[0] == 0:
        raise InvalidPencil(f"{what} is empty (0×0): a pencil needs at least one variable.")
    scale = largest(array)
    skew = asymmetry(array) if scale else 0.0
    if skew > (1e-5 if single else 1e-8) * scale:
        raise InvalidPencil(
            f"{what} is not symmetric: max |{what} - {what}ᵀ| = {skew:.3g} where max |{what}| = {scale:.3g}. "
            f"Pass ({what} + {what}ᵀ)/2 if that is what you mean."
        )
    if scale * len(array) > LARGEST_SUM:
        raise InvalidPencil(f"max |{what}| = {scale:.3g}: sums of it overflow. Divide {what} by {scale:.3g}.")
    return frozen(array if skew == 0.0 else 0.5 * (array + array.T))


def expect_pencil(pencil: Any) -> Pencil:
    """The pencil, if it is one."""
    if not isinstance(pencil, Pencil):
        raise InvalidParameter(f"pencil must be a Pencil, got {type(pencil).__name__}: use Pencil(A, B).")
    return pencil


DUPLICATE = 1e-10
"""Columns whose correlation is within this of ±1 count as one column."""


def pca_pencil(X: Any, *, center: bool = True, scale: bool = False) -> Pencil:
    """A = XᵀX/m, B = I: the variance of Xx (Section 1, item a).

    With fewer samples than variables A stays the Gram matrix of X/√m and is never formed.
    center subtracts each column's mean, scale divides by its standard deviation.

    Parameters
    ----------
    X
        m samples × n variables: array, pandas frame (whose column names travel on) or SciPy sparse matrix.
    center
        Subtract the means. Without it A is the matrix of second moments and a large mean becomes the
        leading component.
    scale
        Divide by the standard deviations, so that A is the correlation matrix and tr A = n.

    Raises
    ------
    InvalidParameter
        For fewer than two samples (one without center and scale), entries that are not finite, a constant
        column when scale is True, or data without any variance; the columns are named.

    Examples
    --------
    >>> from dcgev_cvx.pencils import pca_pencil
    >>> pca_pencil([[0.0, 1.0], [2.0, 1.0], [4.0, 4.0]]).A
    array([[2.66666667, 2.        ],
           [2.        , 2.        ]])
    >>> pca_pencil([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).A  # two samples of three variables: the factor is kept
    Gram(C of shape 2×3)
    """
    center, scale = as_flag(center, "center"), as_flag(scale, "scale")
    table = read_table(X, least=2 if center or scale else 1)
    mean, deviation = table.spread()
    if scale and not np.all(deviation):
        raise InvalidParameter(
            f"X has constant column(s): {table.list_of(np.flatnonzero(deviation == 0.0))}. They cannot be scaled "
            "to unit variance: drop them, or pass scale=False."
        )
    Z = (table.X - mean if center else table.X) / (deviation if scale else 1.0) / np.sqrt(table.m)
    if not np.any(deviation if center else Z):
        raise InvalidParameter("X has no variance: every column is constant.")
    # the factor has m·n numbers where A would have n²
    if table.m < table.n:
        return Pencil(Gram(Z), names=table.names)
    check_bytes((table.n, table.n), "A", "Pass fewer columns.")
    return Pencil(Z.T @ Z, names=table.names)


def cca_pencil(X: Any, Y: Any, *, ridge: float = 0.0) -> Pencil:
    """A = [0 Σxy; Σyx 0], B = [Σxx 0; 0 Σyy] + ridge·I, blocks = (p, q): max wxᵀΣxy wy (Eq:CCA).

    At an eigenvector each view carries half of xᵀBx = 1, so that the value xᵀAx = 2wxᵀΣxy wy
    is the (ridged) correlation of Xwx and Ywy itself; this holds on every support.

    Proof. Rows of Ax = λBx read Σxy wy = λΣxx wx and Σyx wx = λΣyy wy; times wxᵀ and wyᵀ both left sides are the same
    number, so λ ≠ 0 gives wxᵀΣxx wx = wyᵀΣyy wy = ½. The spectrum is symmetric: (wx, −wy) belongs to −λ.

    Parameters
    ----------
    X, Y
        Two views of the same m samples, in the same order.
    ridge
        ≥ 0, added to every variance. With m ≤ p or m ≤ q some ridge is needed; without one, m ≤ p + q makes
        correlations of one where nothing is related.

    Raises
    ------
    InvalidParameter
        When the numbers of rows differ, or the data are not finite numbers.
    InvalidPencil
        When a covariance is singular, with the columns to blame and a ridge that would do.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx.pencils import cca_pencil
    >>> t = np.arange(6.0)
    >>> pencil = cca_pencil(np.column_stack([t, t**2]), (t + 0.5 * (-1.0) ** t)[:, None], ridge=0.01)
    >>> pencil.blocks, pencil.names, round(pencil.lambda_max, 3)
    ((2, 1), ('x1', 'x2', 'y1'), 0.953)
    """
    tx, ty = read_table(X, "X"), read_table(Y, "Y")
    if tx.m != ty.m:
        raise InvalidParameter(f"X has {tx.m} rows but Y has {ty.m}: row i of both must be the same sample.")
    amount = as_number(ridge, "ridge")
    p, n = tx.n, tx.n + ty.n
    check_bytes((n, n), "B", "Pass fewer columns.")
    U, V = centred(tx), centred(ty)
    A, B = np.zeros((n, n)), np.zeros((n, n))
    A[:p, p:] = U.T @ V
    A[p:, :p] = A[:p, p:].T
    B[:p, :p] = with_ridge(U.T @ U, amount, tx, "the covariance of X")
    B[p:, p:] = with_ridge(V.T @ V, amount, ty, "the covariance of Y")
    return Pencil(A, B, (*view_names(tx, "x"), *view_names(ty, "y")), (p, n - p))


def fda_pencil(X: Any, y: Any, *, ridge: float = 0.0) -> Pencil:
    """A = between-class, B = within-class scatter + ridge·I: Fisher's discriminant (Eq:FDA).

    Two classes: A = aaᵀ with a = μ₁ − μ₂ and B = Σ₁ + Σ₂, as in the paper. More: with the
    class weights π_c = m_c/m, A = Σ π_c(μ_c − μ)(μ_c − μ)ᵀ and B = Σ π_cΣ_c.
    A is a Gram matrix of rank one less than the number of classes and is never formed.

    Parameters
    ----------
    X, y
        Samples and their class labels, of any type that can be compared for equality.
    ridge
        ≥ 0, added to the diagonal of B; needed when m ≤ n.

    Raises
    ------
    InvalidParameter
        For fewer than two classes, a class with one member, or class means that coincide.
    InvalidPencil
        When the within-class scatter is singular.

    The two conventions differ by factors only: with two classes of equal size Σ π_cΣ_c is ½(Σ₁ + Σ₂) and
    the between-class scatter is ¼aaᵀ, so the directions agree and λ is halved.

    Examples
    --------
    >>> from dcgev_cvx import datasets, fda_pencil, solve
    >>> X, y, planted = datasets.two_gaussians(12, 3, samples=200)
    >>> solve(fda_pencil(X, y), 3).support == planted
    True
    """
    table = read_table(X)
    labels = read_labels(y, table.m)
    if len(labels.classes) == 2:
        a, B = two_class_vectors(table, labels, as_number(ridge, "ridge"))
        return Pencil(Gram(a[None, :]), B, table.names)
    weights = labels.counts / table.m
    means = class_means(table, labels)
    between = np.sqrt(weights)[:, None] * (means - weights @ means)
    B = within(table, labels, weights, as_number(ridge, "ridge"))
    return Pencil(Gram(between), B, table.names)


def fda_vectors(X: Any, y: Any, *, ridge: float = 0.0) -> tuple[Vector, Matrix]:
    """(a, B) of two-class FDA: a = μ₁ − μ₂, B = Σ₁ + Σ₂ + ridge·I (Eq:gevmin). Class 1 is the first label.

    For `sparse_fda`, `fisher_path` and `fisher_solve`, which want a itself and not aaᵀ.

    Examples
    --------
    >>> from dcgev_cvx.pencils import fda_vectors
    >>> a, B = fda_vectors([[0.0, 0.0], [2.0, 0.0], [4.0, 1.0], [6.0, 3.0]], ["u", "u", "v", "v"], ridge=1.0)
    >>> a, B
    (array([-4., -2.]), array([[3., 1.],
           [1., 2.]]))
    """
    table = read_table(X)
    labels = read_labels(y, table.m)
    if len(labels.classes) != 2:
        raise InvalidParameter(
            f"y has {len(labels.classes)} classes where two are needed: use fda_pencil, which takes any number."
        )
    return two_class_vectors(table, labels, as_number(ridge, "ridge"))


def two_class_vectors(table: Table, labels: Labels, ridge: float) -> tuple[Vector, Matrix]:
    """a = μ₁ − μ₂ and B = Σ₁ + Σ₂ + ridge·I.

    Raises InvalidParameter when a = 0: the plane aᵀx = 1 is then empty.
    """
    means = class_means(table, labels)
    a = means[0] - means[1]
    if not np.any(a):
        raise InvalidParameter("The two class means coincide (a = 0): no direction tells the classes apart.")
    return a, within(table, labels, np.ones(2), ridge)


def class_means(table: Table, labels: Labels) -> Matrix:
    """One row per class: μ_c."""
    return np.array([table.X[labels.codes == c].mean(axis=0) for c in range(len(labels.classes))])


def within(table: Table, labels: Labels, weights: Vector, ridge: float) -> Matrix:
    """Σ_c weight_c·Σ_c + ridge·I, the within-class scatter.

    The residuals X − μ_c are scaled by √(weight_c/m_c) and multiplied once, rather than class by class.
    """
    check_bytes((table.n, table.n), "B", "Pass fewer columns.")
    root = np.sqrt(weights / labels.counts)
    residual = root[labels.codes, None] * (table.X - class_means(table, labels)[labels.codes])
    return with_ridge(residual.T @ residual, ridge, table, "the within-class scatter of X")


def centred(table: Table) -> Matrix:
    """(X − mean)/√m, so that the Gram matrix is the covariance; a constant column is zero to the last bit.

    Subtracting a mean leaves dust of rounding in a constant column, which would pass for a variance.
    """
    mean, deviation = table.spread()
    return np.where(deviation > 0.0, table.X - mean, 0.0) / np.sqrt(table.m)


def view_names(table: Table, letter: str) -> tuple[str, ...]:
    """The view's own names, or x1, x2, … and y1, y2, …"""
    return table.names or tuple(f"{letter}{j + 1}" for j in range(table.n))


def with_ridge(S: Matrix, ridge: float, table: Table, what: str) -> Matrix:
    """S + ridge·I if it is positive definite; otherwise the columns to blame and a ridge that would do.

    The test is the Cholesky factorisation that Pencil itself makes, so what passes here passes there.
    """
    B = S + ridge * np.eye(len(S))
    try:
        Factor.of(B)
    except InvalidPencil:
        raise InvalidPencil(f"{reason(S, ridge, table, what)} {remedy(S, ridge)}") from None
    return B


def reason(S: Matrix, ridge: float, table: Table, what: str) -> str:
    """Why S + ridge·I is singular: no variance, a column twice, too few samples, or plain dependence.

    Tried in the order in which a reader can act on them: drop a column, drop a twin, add samples or a ridge.
    """
    flat = np.flatnonzero(np.diagonal(S) <= 1e-28 * np.max(np.diagonal(S), initial=0.0))
    if len(flat):
        return f"{what} is singular: column(s) {table.list_of(flat)} have no variance."
    root = np.sqrt(np.diagonal(S))
    twins = np.argwhere(np.triu(np.abs(S) >= (1.0 - DUPLICATE) * np.outer(root, root), 1))
    if len(twins):
        i, j = (int(index) for index in twins[0])
        return f"{what} is singular: columns {table.list_of([i])} and {table.list_of([j])} are the same up to scale."
    if table.m <= table.n:
        return f"{what} is singular: {table.m} samples cannot span {table.n} variables."
    return f"{what} is singular to working precision: some columns depend on others."


def remedy(S: Matrix, ridge: float) -> str:
    """The smallest round ridge that keeps the condition number near 1e8.

    1.1e-8·λmax makes the matrix factorable; for statistics a ridge of a per cent or so of λmax is a better
    idea, and the message says so.
    """
    top = float(np.linalg.eigvalsh(S)[-1])
    enough = float(f"{1.1e-8 * top if top > 0.0 else 1.0:.1e}")
    if ridge > 0.0:
        return f"ridge = {ridge:g} is too small; ridge={enough:g} would do."
    better = f"for estimates take about {enough * 1e6:g}"
    return f"Drop columns or pass a ridge: ridge={enough:g} would do to invert it; {better}."


__all__ = ["cca_pencil", "fda_pencil", "fda_vectors", "pca_pencil"]
