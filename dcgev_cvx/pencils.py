"""The pencil (A, B) of the generalized eigenvalue problem Ax = λBx (Eq:eig); `builders` makes those of data.

(GEV-P)  λmax(A, B) = max xᵀAx  s.t.  xᵀBx = 1,   A symmetric, B positive definite

PCA   max variance of Xx with ‖x‖ = 1                   A = Σ                  B = I
CCA   max correlation of Xwx and Ywy, x = (wx, wy)      A = [0 Σxy; Σyx 0]     B = [Σxx 0; 0 Σyy]
FDA   max between-class over within-class scatter       A = aaᵀ or Σ_between   B = Σ_within

A may be a matrix, or CᵀC of data that are an array, sparse, or beyond one machine: `_numerics.gram`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ._numerics import checks, spectra
from ._numerics.checks import UNIT_ROUNDOFF, Index, Matrix, Vector, frozen, largest
from ._numerics.factors import Factor
from ._numerics.gram import Form, Gram, MatrixForm
from ._numerics.spectra import End, power_of_four, power_of_two
from .errors import InvalidPencil

SMALL = 500
"""Below this n a full product costs less than looking for zeros in x."""


class Pencil:
    """A symmetric A and a positive definite B: max xᵀAx s.t. xᵀBx = 1 (Eq:eig, GEV-P).

    A and B are checked once, copied, made exactly symmetric and read-only. Factors and eigenpairs are computed when
    first used and kept.

    Parameters
    ----------
    A : array_like or Gram
        A symmetric matrix: an array, nested list, pandas frame or sparse matrix; or Gram(C) for A = CᵀC.
    B : array_like, optional
        A positive definite matrix of the same size; the identity, which is never formed, if None.
    names : sequence of str, optional
        The names of the variables; the columns of a pandas frame A by default.
    blocks : sequence of int, optional
        The sizes of the views, such as (p, q) for CCA; B must be block diagonal in them.
    shrinkage : tuple of float, optional
        For the record: the share by which `cca_pencil` has shrunk the correlations within each view.

    Raises
    ------
    InvalidPencil
        If a matrix is not square, finite and symmetric, the sizes differ, or B is not positive definite.

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

    def __init__(
        self,
        A: Any,
        B: Any = None,
        names: Iterable[object] | None = None,
        blocks: Iterable[int] | None = None,
        shrinkage: tuple[float, ...] | None = None,
    ) -> None:
        columns = checks.column_names(A)
        checks.check_order(columns, checks.column_names(B), "the columns of A", "the columns of B")
        form = A if isinstance(A, Gram) else MatrixForm(checks.symmetric(A, "A"))
        metric, n = None if B is None else checks.symmetric(B, "B"), form.n
        if metric is not None and len(metric) != n:
            raise InvalidPencil(f"A is {n}×{n} but B is {len(metric)}×{len(metric)}: the shapes must agree.")
        checked_names = checks.checked_names(columns if names is None else names, n)
        self._set(form, metric, checked_names, checks.checked_blocks(blocks, n, metric), shrinkage)
        if metric is not None:
            self.factor = Factor.of(metric)  # raises if B is not positive definite
            if self.A_scale and not 1e-300 <= self.A_scale / self.B_scale <= 1e300:
                sizes = f"A of size {self.A_scale:.1e} and B of size {self.B_scale:.1e}"
                raise InvalidPencil(f"{sizes} have eigenvalues outside 1e-300 … 1e300. Rescale A or B.")

    def _set(
        self,
        form: Form,
        B: Matrix | None,
        names: tuple[str, ...] | None = None,
        blocks: tuple[int, ...] | None = None,
        shrinkage: tuple[float, ...] | None = None,
    ) -> None:
        self._form = form
        self.A: Matrix | Gram = form if isinstance(form, Gram) else form.toarray()
        self._metric = None if B is None else MatrixForm(B)
        self.B, self.names, self.blocks, self.shrinkage = B, names, blocks, shrinkage

    @classmethod
    def _derived(cls, *parts: Any) -> Pencil:
        """The pencil of parts that are known to be valid: nothing is checked or copied."""
        pencil = cls.__new__(cls)
        pencil._set(*parts)
        return pencil

    def __reduce__(self) -> tuple[Any, ...]:
        return (Pencil, (self.A, self.B, self.names, self.blocks, self.shrinkage))

    def __repr__(self) -> str:
        A = "Gram" if self.A_terms else "dense"
        return f"Pencil(n={self.n}, A {A}, B {'identity' if self.B is None else 'dense'})"

    @property
    def n(self) -> int:
        """The number of variables."""
        return self._form.n

    @property
    def lambda_max(self) -> float:
        """λmax(A, B), the value of (GEV-P)."""
        return self._leading[0]

    @property
    def leading_vector(self) -> Vector:
        """The generalized eigenvector of λmax(A, B), with unit B norm and its largest entry positive."""
        return self._leading[1]

    @cached_property
    def _leading(self) -> tuple[float, Vector]:
        x = self._form.leading(self.B_solve, unit_of_values(self))
        if x is None:
            value, x = extreme(self, "upper")
            return value, frozen(x)
        norm = self.B_norm(x)  # 0 for C = 0, where every vector is as good
        x = spectra.positive(x / norm) if norm > 0.0 else np.eye(1, self.n)[0] / self.B_roots[0]
        return self.A_quad(x), frozen(x)

    @cached_property
    def lambda_min(self) -> float:
        """λmin(A, B); 0 when A = CᵀC has fewer rows than columns."""
        return 0.0 if self.A_rank < self.n else extreme(self, "lower")[0]

    @cached_property
    def lambda_min_A(self) -> float:
        """λmin(A); 0 for A = CᵀC, which needs no shift."""
        if self.A_terms:
            return 0.0
        unit = power_of_two(self.A_scale)
        A = self._form.toarray()
        return unit * spectra.symmetric_extreme(lambda v: self.A_dot(v / unit), lambda: A / unit, self.n, "lower")[0]

    @cached_property
    def semidefinite(self) -> bool:
        """Is A ⪰ 0 up to rounding? Always for A = CᵀC."""
        return self.A_terms > 0 or spectra.semidefinite(self._form.toarray(), self.A_scale)

    def A_dot(self, x: Matrix) -> Matrix:
        """Ax for a vector, from the columns where it is nonzero when these are few, or for the columns of a matrix."""
        return self._form.dot(x, few(x))

    def A_quad(self, x: Vector) -> float:
        """xᵀAx."""
        return self.A_inner(x, x)

    def A_inner(self, u: Vector, v: Vector) -> float:
        """uᵀAv, from the columns where u or v is nonzero when these are few."""
        return self._form.inner(u, v, few(u if u is v else np.abs(u) + np.abs(v)))

    def A_sub(self, support: Index) -> Matrix:
        """The principal submatrix of A on a support, or on each row of a table of supports (m × k × k)."""
        return self._form.sub(np.asarray(support))

    def A_block(self, rows: Index, columns: Index | None = None) -> Matrix:
        """A between rows, a support or a table of them (… × k), and columns; between rows and all columns if None."""
        return self._form.block(np.asarray(rows), columns)

    @property
    def A_terms(self) -> int:
        """How many products an entry of A = CᵀC sums: the rows of C; 0 where A itself was given."""
        return self._form.terms

    @property
    def A_rank(self) -> int:
        """An upper bound on the rank of A: n, or the rows of C."""
        return min(self.n, self.A_terms or self.n)

    @property
    def in_memory(self) -> bool:
        """Are blocks of A cheap to read? Of sparse and Dask data only products and small submatrices are."""
        return self._form.in_memory

    def A_size(self, units: Vector) -> float:
        """max |uᵢAᵢⱼuⱼ| for positive units u."""
        return self._form.size(units)

    def A_error(self) -> Vector:
        """e with |fl(Aᵢⱼ) − Aᵢⱼ| ≤ eᵢeⱼ, what rounding does when A = CᵀC is formed; 0 where A itself was given."""
        return self._form.error()

    def A_factor(self) -> Matrix:
        """C with A = CᵀC as an array: the data themselves, or √Λ Vᵀ from A = VΛVᵀ ⪰ 0 without the null space."""
        return self._form.factor()

    def A_products(self, rows: Index, columns: Index) -> tuple[Matrix, ...]:
        """Matrices whose product is A between rows and columns without any rounding: C's columns, or A itself."""
        return self._form.products(rows, columns)

    def B_dot(self, x: Vector) -> Vector:
        """Bx, from the columns where x is nonzero when these are few."""
        return x if self._metric is None else self._metric.dot(x, few(x))

    def B_quad(self, x: Vector) -> float:
        """xᵀBx."""
        return float(x @ x) if self._metric is None else self._metric.inner(x, x, few(x))

    def B_norm(self, x: Vector) -> float:
        """‖x‖_B = (xᵀBx)^½."""
        return math.sqrt(max(0.0, self.B_quad(x)))

    def rounding(self, x: Vector) -> float:
        """What f and g may lose to rounding at x, relative to their terms: 8(n + a) units in the last place.

        a = (Σ √Bᵢᵢ|xᵢ|)²/xᵀBx bounds the cancellation in the xᵀBx by which a step is scaled into Ω; it
        exceeds n only for an ill-conditioned B.
        """
        z = x / power_of_two(float(np.max(np.abs(x))))
        moduli, square = float(self.B_roots @ np.abs(z)), self.B_quad(z)
        cancellation = 0.0 if moduli == 0.0 else moduli * moduli / square if square > 0.0 else math.inf
        return 8.0 * (self.n + cancellation) * UNIT_ROUNDOFF

    def B_sub(self, support: Index) -> Matrix:
        """The principal submatrix of B on a support."""
        return np.eye(len(support)) if self._metric is None else self._metric.sub(np.asarray(support))

    def B_solve(self, c: Matrix) -> Matrix:
        """B⁻¹c."""
        return c if self.factor is None else self.factor.solve(c)

    @cached_property
    def factor(self) -> Factor | None:
        """B = LLᵀ, or None when B is the identity."""
        return None if self.B is None else Factor.of(self.B)

    @property
    def cholesky(self) -> Matrix | None:
        """Lower L with B = LLᵀ, or None when B is the identity."""
        return None if self.factor is None else self.factor.L

    @property
    def views(self) -> tuple[Index, ...]:
        """The positions of each view; one view of all n variables without blocks."""
        edges = np.cumsum((0, *(self.blocks or (self.n,))))
        return tuple(np.arange(start, stop) for start, stop in pairwise(edges))

    @cached_property
    def A_diagonal(self) -> Vector:
        """The diagonal of A."""
        return frozen(self._form.diagonal())

    @cached_property
    def B_diagonal(self) -> Vector:
        """The diagonal of B."""
        return frozen(np.ones(self.n) if self.B is None else np.diagonal(self.B).copy())

    @cached_property
    def B_roots(self) -> Vector:
        """√Bᵢᵢ, the B norms of the unit vectors."""
        return frozen(np.sqrt(self.B_diagonal))

    @property
    def A_entries(self) -> int:
        """How many numbers a product with A reads: n² of a matrix, 2pn of a factor used twice."""
        return self._form.entries

    @cached_property
    def trace(self) -> float:
        """tr(B⁻¹A), the sum of all generalized eigenvalues; tr(A) when B = I."""
        return float(np.sum(self.A_diagonal) if self.B is None else np.trace(self.B_solve(self.dense()[0])))

    @cached_property
    def A_scale(self) -> float:
        """max |Aᵢⱼ|, attained on the diagonal when A = CᵀC."""
        return float(np.max(self.A_diagonal)) if self.A_terms else largest(self._form.toarray())

    @cached_property
    def B_scale(self) -> float:
        """max |Bᵢⱼ|, attained on the diagonal of a positive definite matrix."""
        return float(np.max(self.B_diagonal))

    def restrict(self, support: Index) -> Pencil:
        """The principal sub-pencil on a support; A = CᵀC is multiplied out where that is smaller than C."""
        support = np.asarray(support)
        names = None if self.names is None else tuple(self.names[i] for i in support)
        B = None if self.B is None else frozen(self.B_sub(support))
        return self._derived(self._form.restrict(support), B, names)

    def rescaled(self, units: Vector, o: float, A: Matrix | None = None) -> Pencil:
        """(uᵢAᵢⱼuⱼ/o, uᵢBᵢⱼuⱼ) for powers of two u and a power of four o, by which nothing is rounded.

        With another matrix A, that takes the place of the scaled one as it is. The factor of B is scaled with it.
        """
        form = self._form.rescaled(units / math.sqrt(o)) if A is None else MatrixForm(frozen(A))
        B = None if self._metric is None else frozen(self._metric.in_units(units))
        scaled = self._derived(form, B, self.names, self.blocks)
        if self.factor is not None:
            smallest = self.factor.smallest * float(np.min(units)) ** 2
            scaled.factor = Factor(frozen(self.factor.L * units[:, None]), smallest)
        return scaled

    def deflated(self, W: Matrix, V: Matrix) -> Pencil:
        """((I − VWᵀ)A(I − WVᵀ), B): A = CᵀC keeps a factor, C − (CW)Vᵀ, and sparse data stay sparse."""
        return self._with(self._form.projected(W, V))

    def with_A(self, A: Matrix) -> Pencil:
        """Another symmetric matrix A with the same B; A is not checked."""
        return self._with(MatrixForm(frozen(A)))

    def _with(self, form: Form) -> Pencil:
        pencil = self._derived(form, self.B, self.names, self.blocks, self.shrinkage)
        pencil.factor = self.factor
        return pencil

    def transposed(self) -> Pencil:
        """(CCᵀ, I) for A = CᵀC and B = I, which has the same largest eigenvalue; the pencil itself for a given A."""
        return self._derived(self._form.transposed(), None)

    def dense(self) -> tuple[Matrix, Matrix]:
        """(A, B) as plain n × n arrays."""
        return self._form.toarray(), np.eye(self.n) if self.B is None else self.B

    def name(self, i: int) -> str:
        """The name of variable i, or x1, x2, … without names."""
        return self.names[i] if self.names is not None else f"x{i + 1}"


def expect_pencil(pencil: Any) -> Pencil:
    """The pencil, if it is one."""
    return checks.expect(pencil, Pencil, "pencil", "use Pencil(A, B)")


def extreme(pencil: Pencil, end: End) -> tuple[float, Vector]:
    """(λ, x) at one end of the spectrum of (A, B), ‖x‖_B = 1, the largest entry of x positive (GEV-P)."""
    unit = unit_of_values(pencil)
    value, x = spectra.generalized_extreme(
        lambda v: pencil.A_dot(v / unit), lambda: pencil.dense()[0] / unit, pencil.factor, pencil.n, end
    )
    return value * unit, spectra.positive(x / pencil.B_norm(x))


def unit_of_values(pencil: Pencil) -> float:
    """A unit for L⁻¹AL⁻ᵀ, a power of two, by which nothing is rounded."""
    return power_of_two(pencil.A_scale) / power_of_four(pencil.B_scale)


def few(x: Vector) -> Index | None:
    """The support of a long vector with at most n/4 nonzeros; None for any other."""
    if x.ndim > 1 or len(x) < SMALL:
        return None
    support = x.nonzero()[0]
    return support if 4 * len(support) <= len(x) else None
