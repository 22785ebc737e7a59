"""The pencils (A, B) of PCA, CCA and FDA, from samples × variables (Section 1).

Every covariance is divided by the number of samples m, not m − 1.
"""

from typing import Any, Literal

import numpy as np
from scipy.linalg import block_diag

from ._numerics import checks, data_tables
from ._numerics.checks import Matrix, Vector
from ._numerics.gram import FORMED, Gram, is_large, large_table, spread, standardized_factor
from .errors import InvalidParameter
from .pencils import Pencil


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
    least = 2 if center or scale else 1
    if is_large(X):
        data, names = large_table(X, "X", InvalidParameter), None
    else:
        table = data_tables.read_table(X, least=least)
        data, names = table.X, table.names
    m, n = data.shape
    if m < least:
        raise InvalidParameter(f"X has {m} row(s) but at least {least} are needed: a covariance compares samples.")
    mean, deviation = spread(data)
    if scale and not np.all(deviation):
        constant = checks.some_of(np.flatnonzero(deviation == 0.0).tolist(), names)
        raise InvalidParameter(
            f"X has constant column(s): {constant}. They cannot be scaled to unit variance: drop them, or pass "
            "scale=False."
        )
    if not np.any(deviation) and (center or not np.any(mean)):
        raise InvalidParameter("X has no variance: every column is constant.")
    units = 1.0 / ((deviation if scale else np.ones(n)) * np.sqrt(m))
    gram = Gram(standardized_factor(data, mean if center else None, units))
    if m < n or (n > FORMED and not gram.in_memory):
        return Pencil(gram, names=names)
    checks.check_bytes((n, n), "A", "Pass fewer columns.")
    return Pencil(gram.toarray(), names=names)


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
    y_table = data_tables.read_table(data_tables.in_row_order(X, Y, "X", "Y"), "Y")
    return cca_pencil_of_tables(data_tables.read_table(X, "X"), y_table, ridge)


def cca_pencil_of_tables(tx: data_tables.Table, ty: data_tables.Table, ridge: Any) -> Pencil:
    """The pencil of CCA from two checked tables."""
    for table, what in ((tx, "X"), (ty, "Y")):
        if not np.any(spread(table.X)[1]):
            raise InvalidParameter(f"{what} has no variance: every column is constant.")
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
