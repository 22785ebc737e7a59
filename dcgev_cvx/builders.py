"""PCA, CCA and FDA from data: each is a pencil (A, B) of the generalized eigenvalue problem (Section 1).

Every covariance is divided by the number of samples m, not m − 1.

PCA  max variance of Xx with ‖x‖ = 1                        A = Σ                 B = I
CCA  max correlation of Xwx and Ywy, x = (wx, wy)           A = [0 Σxy; Σyx 0]    B = [Σxx 0; 0 Σyy]
FDA  max between-class over within-class scatter of Xx      A = aaᵀ or Σ_between   B = Σ_within

Whether one divides by m or m − 1 changes the values of PCA by that factor, and neither the correlations of CCA
nor any direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ._numerics.checks import Matrix, Vector, as_flag, as_number, check_bytes
from ._numerics.factors import Factor
from ._numerics.samples import Labels, Table, read_labels, read_table
from .errors import InvalidParameter, InvalidPencil
from .pencils import Gram, Pencil

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
    >>> from dcgev_cvx.builders import pca_pencil
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
    >>> from dcgev_cvx.builders import cca_pencil
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
    >>> from dcgev_cvx.builders import fda_vectors
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
