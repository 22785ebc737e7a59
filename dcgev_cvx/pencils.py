"""The pencil (A, B) of the generalized eigenvalue problem Ax = λBx (Eq:eig), and those of PCA, CCA and FDA.

    (GEV-P)  λmax(A, B) = max xᵀAx  s.t.  xᵀBx = 1,   A symmetric, B positive definite

    PCA   max variance of Xx with ‖x‖ = 1                   A = Σ                  B = I
    CCA   max correlation of Xwx and Ywy, x = (wx, wy)      A = [0 Σxy; Σyx 0]     B = [Σxx 0; 0 Σyy]
    FDA   max between-class over within-class scatter       A = aaᵀ or Σ_between   B = Σ_within

Every covariance is divided by the number of samples m, not m − 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from scipy.linalg import block_diag

from ._numerics import checks, data_tables, spectra
from ._numerics.checks import UNIT_ROUNDOFF, Index, Matrix, Vector, frozen, largest
from ._numerics.factors import Factor
from ._numerics.gram import Gram, RowBlocks, implicit_factor
from ._numerics.spectra import End, power_of_four, power_of_two
from ._numerics.threads import same_bits
from .errors import InvalidParameter, InvalidPencil

SMALL = 500
"""Below this n a full product costs less than looking for zeros in x."""
LARGEST_FORMED = 1000
"""Of data that are not arrays in memory A is formed up to this n: 8 MB."""


@dataclass(frozen=True, eq=False)
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

    A: Matrix | Gram
    B: Matrix | None = None
    names: tuple[str, ...] | None = None
    blocks: tuple[int, ...] | None = None
    shrinkage: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        columns = checks.column_names(self.A)
        checks.check_order(columns, checks.column_names(self.B), "the columns of A", "the columns of B")
        A = self.A if isinstance(self.A, Gram) else checks.symmetric(self.A, "A")
        B = None if self.B is None else checks.symmetric(self.B, "B")
        n = A.shape[0]
        if B is not None and B.shape != (n, n):
            raise InvalidPencil(f"A is {n}×{n} but B is {B.shape[0]}×{B.shape[1]}: the shapes must agree.")
        names = checks.checked_names(columns if self.names is None else self.names, n)
        vars(self).update(A=A, B=B, names=names, blocks=checks.checked_blocks(self.blocks, n, B))
        if B is not None:
            vars(self)["factor"] = Factor.of(B)  # raises if B is not positive definite
            if self.A_scale and not 1e-300 <= self.A_scale / self.B_scale <= 1e300:
                sizes = f"A of size {self.A_scale:.1e} and B of size {self.B_scale:.1e}"
                raise InvalidPencil(f"{sizes} have eigenvalues outside 1e-300 … 1e300. Rescale A or B.")

    def __reduce__(self) -> tuple[Any, ...]:
        return (Pencil, (self.A, self.B, self.names, self.blocks, self.shrinkage))

    def __repr__(self) -> str:
        kind = "Gram" if isinstance(self.A, Gram) else "dense"
        return f"Pencil(n={self.n}, A {kind}, B {'identity' if self.B is None else 'dense'})"

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.A.shape[0]

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
        if isinstance(self.A, Gram) and self.A.implicit is None and self.A.rows < self.n:
            value, x = leading_of_factor(self, self.A.C)
        else:
            value, x = extreme(self, "upper")
        return value, frozen(x)

    @cached_property
    def lambda_min(self) -> float:
        """λmin(A, B); 0 when A = CᵀC has fewer rows than columns."""
        return 0.0 if isinstance(self.A, Gram) and self.A.rows < self.n else extreme(self, "lower")[0]

    @cached_property
    def lambda_min_A(self) -> float:
        """λmin(A); 0 for A = CᵀC, which needs no shift."""
        if isinstance(self.A, Gram):
            return 0.0
        A, unit = self.A, power_of_two(self.A_scale)
        return unit * spectra.symmetric_extreme(lambda v: self.A_dot(v / unit), lambda: A / unit, self.n, "lower")[0]

    @cached_property
    def semidefinite(self) -> bool:
        """Is A ⪰ 0 up to rounding? Always for A = CᵀC."""
        return isinstance(self.A, Gram) or spectra.semidefinite(self.A, self.A_scale)

    def A_dot(self, x: Vector) -> Vector:
        """Ax, from the columns where x is nonzero when these are few."""
        support = few(x)
        if isinstance(self.A, Gram):
            return self.A.transposed_dot(self.A.dot(x, support))
        return self.A @ x if support is None else x[support] @ self.A[support]

    def A_quad(self, x: Vector) -> float:
        """xᵀAx."""
        return self.A_inner(x, x)

    def A_inner(self, u: Vector, v: Vector) -> float:
        """uᵀAv, from the columns where u or v is nonzero when these are few."""
        support = few(u if u is v else np.abs(u) + np.abs(v))
        if isinstance(self.A, Gram):
            Cv = self.A.dot(v, support)
            return float((Cv if u is v else self.A.dot(u, support)) @ Cv)
        if support is None:
            return float(u @ (self.A @ v))
        return float(u[support] @ (self.A_sub(support) @ v[support]))

    def A_sub(self, support: Index) -> Matrix:
        """The principal submatrix of A on a support."""
        if isinstance(self.A, Gram):
            return self.A.sub(np.asarray(support))
        return self.A[np.asarray(support)[:, None], support]

    def B_dot(self, x: Vector) -> Vector:
        """Bx, from the columns where x is nonzero when these are few."""
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
        return np.eye(len(support)) if self.B is None else self.B[np.asarray(support)[:, None], support]

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
        return frozen(self.A.diagonal() if isinstance(self.A, Gram) else np.diagonal(self.A).copy())

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
        return 2 * self.A.entries if isinstance(self.A, Gram) else self.A.size

    @cached_property
    def trace(self) -> float:
        """tr(B⁻¹A), the sum of all generalized eigenvalues; tr(A) when B = I."""
        return float(np.sum(self.A_diagonal) if self.B is None else np.trace(self.B_solve(self.dense()[0])))

    @cached_property
    def A_scale(self) -> float:
        """max |Aᵢⱼ|, attained on the diagonal when A = CᵀC."""
        return float(np.max(self.A_diagonal)) if isinstance(self.A, Gram) else largest(self.A)

    @cached_property
    def B_scale(self) -> float:
        """max |Bᵢⱼ|, attained on the diagonal of a positive definite matrix."""
        return float(np.max(self.B_diagonal))

    def restrict(self, support: Index) -> Pencil:
        """The principal sub-pencil on a support; a part of a checked pencil is not checked again.

        A = CᵀC is multiplied out if C has at least as many rows as the support has variables, or is not in memory.
        """
        A = self.A
        if isinstance(A, Gram) and A.implicit is None and len(support) > A.rows:
            A = Gram.of(A.C[:, support])
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
        """The name of variable i, or x1, x2, … without names."""
        return self.names[i] if self.names is not None else f"x{i + 1}"


def pca_pencil(X: Any, *, center: bool = True, scale: bool = False) -> Pencil:
    """The pencil of PCA: A = XᵀX/m of the centred data, B = I (Section 1, item a).

    With fewer samples than variables A stays Gram(X/√m) and is not formed. Data that are not arrays in memory are
    centred without being made dense, and A is not formed for more than 1000 variables either.

    Parameters
    ----------
    X : array_like, sparse matrix, numpy.memmap or dask.array.Array
        m samples × n variables; the column names of a pandas frame are kept.
    center : bool
        Subtract the means. Without it A is the matrix of second moments, and a large mean becomes the leading
        component.
    scale : bool
        Divide by the standard deviations, so that A is the correlation matrix.

    Returns
    -------
    Pencil
        (A, I).

    Raises
    ------
    InvalidParameter
        For fewer than two samples (one without center and scale), entries that are not finite numbers, a constant
        column when scale is True, or data without any variance.

    Examples
    --------
    >>> from dcgev_cvx import pca_pencil
    >>> pca_pencil([[0.0, 1.0], [2.0, 1.0], [4.0, 4.0]]).A
    array([[2.66666667, 2.        ],
           [2.        , 2.        ]])
    >>> pca_pencil([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]]).A
    Gram(C of shape 2×3)
    """
    center, scale = checks.as_flag(center, "center"), checks.as_flag(scale, "scale")
    table = row_blocks(X) or data_tables.read_table(X, least=2 if center or scale else 1)
    mean, deviation = table.spread()
    if scale and not np.all(deviation):
        constant = data_tables.some_of(np.flatnonzero(deviation == 0.0).tolist(), checks.column_names(X))
        raise InvalidParameter(
            f"X has constant column(s): {constant}. They cannot be scaled to unit variance: drop them, or pass "
            "scale=False."
        )
    shift = mean if center else np.zeros_like(mean)
    if not np.any(deviation) and not np.any(mean - shift):
        raise InvalidParameter("X has no variance: every column is constant.")
    unit = deviation if scale else np.ones_like(mean)
    if isinstance(table, RowBlocks):  # A is formed if it is small
        (m, n), C = table.shape, replace(table, shift=shift, scale=1.0 / (unit * math.sqrt(table.shape[0])))
        return Pencil(C.gram(np.arange(n)) if n <= min(m, LARGEST_FORMED) else Gram.of(C))
    Z = (table.X - shift) / unit / np.sqrt(table.m)
    if table.m < table.n:
        return Pencil(Gram(Z), names=table.names)
    checks.check_bytes((table.n, table.n), "A", "Pass fewer columns.")
    return Pencil(Z.T @ Z, names=table.names)


def row_blocks(X: Any) -> RowBlocks | None:
    """Data that are read by blocks of rows; None for arrays in memory."""
    rows = None if hasattr(X, "rmatvec") else implicit_factor(X, "X", InvalidParameter)
    return rows if isinstance(rows, RowBlocks) else None


def cca_pencil(X: Any, Y: Any, *, ridge: float | tuple[float, float] | Literal["auto"] = 0.0) -> Pencil:
    """The pencil of CCA: A = [0 Σxy; Σyx 0], B = [Σxx 0; 0 Σyy] + ridge·I, blocks = (p, q) (Eq:CCA).

    At an eigenvector each view carries half of xᵀBx = 1, so that the value xᵀAx = 2wxᵀΣxy wy is the (ridged)
    correlation of Xwx and Ywy; this holds on every support.

    Proof. Ax = λBx reads Σxy wy = λΣxx wx and Σyx wx = λΣyy wy. Multiplied by wxᵀ and wyᵀ both left sides are the
    same number, so λ ≠ 0 gives wxᵀΣxx wx = wyᵀΣyy wy = ½.

    Parameters
    ----------
    X : array_like
        m samples × p variables, the first view.
    Y : array_like
        The same m samples × q variables; two pandas frames are matched by the labels of their rows.
    ridge : float, pair of float, or "auto"
        A number of at least 0 is added to every variance. Needed with m ≤ p or m ≤ q; without one, m ≤ p + q gives
        correlations of one between unrelated data. A pair of shares 0 < λ < 1 multiplies the variances of the two
        views by 1/(1 − λ) instead, which shrinks the correlations within a view by the share λ. "auto" takes the
        shares of Schäfer and Strimmer (2005). The shares are in `Pencil.shrinkage`.

    Returns
    -------
    Pencil
        (A, B) of n = p + q variables.

    Raises
    ------
    InvalidParameter
        If the numbers of rows differ, or the data are not finite numbers.
    InvalidPencil
        If a covariance is singular; the message names columns and a ridge that would do.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import cca_pencil
    >>> t = np.arange(6.0)
    >>> pencil = cca_pencil(np.column_stack([t, t**2]), (t + 0.5 * (-1.0) ** t)[:, None], ridge=0.01)
    >>> pencil.blocks, pencil.names, round(pencil.lambda_max, 3)
    ((2, 1), ('x1', 'x2', 'y1'), 0.953)
    >>> rng = np.random.default_rng(0)
    >>> pencil = cca_pencil(rng.standard_normal((20, 50)), rng.standard_normal((20, 3)), ridge="auto")
    >>> [round(share, 2) for share in pencil.shrinkage]
    [0.89, 0.95]
    """
    tx, ty = data_tables.read_table(X, "X"), data_tables.read_table(data_tables.in_row_order(X, Y, "X", "Y"), "Y")
    if tx.m != ty.m:
        raise InvalidParameter(f"X has {tx.m} rows but Y has {ty.m}: row i of both must be the same sample.")
    p, n = tx.n, tx.n + ty.n
    checks.check_bytes((n, n), "B", "Pass fewer columns.")
    U, V = tx.centred(), ty.centred()
    A = np.zeros((n, n))
    A[:p, p:] = U.T @ V
    A[p:, :p] = A[:p, p:].T
    shares = shares_of(ridge, tx, ty)
    if shares is None:
        amount = checks.as_number(ridge, "ridge")
        Sxx = data_tables.with_ridge(U.T @ U, amount, tx, "the covariance of X")
        Syy = data_tables.with_ridge(V.T @ V, amount, ty, "the covariance of Y")
    else:
        Sxx, Syy = data_tables.shrunk(U.T @ U, shares[0]), data_tables.shrunk(V.T @ V, shares[1])
    names = (*tx.labelled("x"), *ty.labelled("y"))
    return Pencil(A, np.asarray(block_diag(Sxx, Syy)), names, (p, n - p), shares)


def shares_of(ridge: Any, *views: data_tables.Table) -> tuple[float, ...] | None:
    """The shares by which the correlations within the views are shrunk; None if ridge is a number."""
    if isinstance(ridge, str) and checks.one_of(ridge, "ridge", ("auto",)):
        return tuple(view.shrinkage() for view in views)
    shares = checks.listed(ridge)
    if shares and len(shares) != len(views):
        raise InvalidParameter(f"ridge = {checks.shown(ridge)} must be a number, 'auto', or one share for each view.")
    return tuple(checks.as_number(share, "a share of ridge", strict=True, high=0.999) for share in shares) or None


def fda_pencil(X: Any, y: Any, *, ridge: float = 0.0) -> Pencil:
    """The pencil of Fisher's discriminant: A = between-class, B = within-class scatter + ridge·I (Eq:FDA).

    Two classes: A = aaᵀ with a = μ₁ − μ₂ and B = Σ₁ + Σ₂, as in the paper. More: with the class weights
    π_c = m_c/m, A = Σ π_c(μ_c − μ)(μ_c − μ)ᵀ and B = Σ π_cΣ_c. For two classes of equal size both give the same
    directions. A is a Gram of rank at most the number of classes less one.

    Parameters
    ----------
    X : array_like
        m samples × n variables.
    y : sequence
        The class labels of the samples, of any type that can be compared for equality; a pandas Series is matched to
        a frame by the labels of the rows.
    ridge : float
        At least 0; added to the diagonal of B. Needed when m ≤ n.

    Returns
    -------
    Pencil
        (A, B).

    Raises
    ------
    InvalidParameter
        For fewer than two classes, a class with one member, or two class means that coincide.
    InvalidPencil
        If the within-class scatter is singular.

    Examples
    --------
    >>> from dcgev_cvx import datasets, fda_pencil, solve
    >>> X, y, planted = datasets.two_gaussians(12, 3, samples=200)
    >>> solve(fda_pencil(X, y), 3).support == planted
    True
    """
    table = data_tables.read_table(X)
    labels = data_tables.read_labels(data_tables.in_row_order(X, y, "X", "y"), table.m)
    if len(labels.classes) == 2:
        a, B = fda_vectors(X, labels.codes, ridge=ridge)
        return Pencil(Gram(a[None, :]), B, table.names)
    weights = labels.counts / table.m
    means = data_tables.class_means(table, labels)
    between = np.sqrt(weights)[:, None] * (means - weights @ means)
    B = data_tables.within(table, labels, weights, checks.as_number(ridge, "ridge"))
    return Pencil(Gram(between), B, table.names)


def fda_vectors(X: Any, y: Any, *, ridge: float = 0.0) -> tuple[Vector, Matrix]:
    """The vector a = μ₁ − μ₂ and B = Σ₁ + Σ₂ + ridge·I of two-class FDA, for `sparse_fda` (Eq:gevmin).

    Parameters
    ----------
    X : array_like
        m samples × n variables.
    y : sequence
        The class labels, two different ones; class 1 is the first in sorted order.
    ridge : float
        At least 0; added to the diagonal of B.

    Returns
    -------
    a : ndarray
        The difference of the class means.
    B : ndarray
        The within-class scatter.

    Raises
    ------
    InvalidParameter
        If there are not exactly two classes, or their means coincide.
    InvalidPencil
        If the within-class scatter is singular.

    Examples
    --------
    >>> from dcgev_cvx import fda_vectors
    >>> a, B = fda_vectors([[0.0, 0.0], [2.0, 0.0], [4.0, 1.0], [6.0, 3.0]], ["u", "u", "v", "v"], ridge=1.0)
    >>> a, B
    (array([-4., -2.]), array([[3., 1.],
           [1., 2.]]))
    """
    table = data_tables.read_table(X)
    labels = data_tables.read_labels(data_tables.in_row_order(X, y, "X", "y"), table.m)
    if len(labels.classes) != 2:
        raise InvalidParameter(f"y has {len(labels.classes)} classes where two are needed: use fda_pencil for more.")
    means = data_tables.class_means(table, labels)
    a = means[0] - means[1]
    if not np.any(a):
        raise InvalidParameter("The two class means coincide (a = 0): no direction separates the classes.")
    return a, data_tables.within(table, labels, np.ones(2), checks.as_number(ridge, "ridge"))


def expect_pencil(pencil: Any) -> Pencil:
    """The pencil, if it is one."""
    return checks.expect(pencil, Pencil, "pencil", "use Pencil(A, B)")


def extreme(pencil: Pencil, end: End) -> tuple[float, Vector]:
    """(λ, x) at one end of the spectrum of (A, B), ‖x‖_B = 1, the largest entry of x positive (GEV-P)."""
    # a unit for L⁻¹AL⁻ᵀ; powers of two round nothing
    unit = power_of_two(pencil.A_scale) / power_of_four(pencil.B_scale)
    value, x = spectra.generalized_extreme(
        lambda v: pencil.A_dot(v / unit), lambda: pencil.dense()[0] / unit, pencil.factor, pencil.n, end
    )
    return value * unit, spectra.positive(x / pencil.B_norm(x))


def leading_of_factor(pencil: Pencil, C: Matrix) -> tuple[float, Vector]:
    """The leading pair of (CᵀC, B) from the p × p matrix CB⁻¹Cᵀ: x ∝ B⁻¹Cᵀu.

    Proof: CB⁻¹Cᵀu = λu gives CᵀC(B⁻¹Cᵀu) = λB(B⁻¹Cᵀu). For C = 0 the first unit vector is returned.
    """
    D, unit = C / power_of_two(largest(C)), power_of_four(pencil.B_scale)
    solved = D.T if pencil.factor is None else pencil.B_solve(D.T) * unit
    with same_bits(pencil.n):
        M = D @ solved
        x = solved @ spectra.one_pair(0.5 * (M + M.T), len(C) - 1)[1]
    norm = pencil.B_norm(x)
    x = spectra.positive(x / norm) if norm > 0.0 else np.eye(1, pencil.n)[0] / pencil.B_roots[0]
    return pencil.A_quad(x), x


def few(x: Vector) -> Index | None:
    """The support of a long vector with at most n/4 nonzeros; None for any other."""
    if len(x) < SMALL:
        return None
    support = x.nonzero()[0]
    return support if 4 * len(support) <= len(x) else None
