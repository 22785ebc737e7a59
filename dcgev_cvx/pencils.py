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
    as_real,
    attribute,
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
