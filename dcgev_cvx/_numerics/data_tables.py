"""Data as users have them: a samples × variables table of finite numbers, class labels, and their covariances.

Nothing is imputed, encoded or dropped. An error names the columns that cannot be used.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidParameter, InvalidPencil
from . import checks
from .checks import LARGEST_POWER, UNIT_ROUNDOFF, Index, Matrix, Vector, frozen
from .factors import Factor
from .gram import spread


@dataclass(frozen=True)
class Table:
    """X, m samples by n variables, read-only, and the variables' names, if any."""

    X: Matrix
    names: tuple[str, ...] | None

    @property
    def m(self) -> int:
        """The number of samples."""
        return self.X.shape[0]

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.X.shape[1]

    def centred(self) -> Matrix:
        """(X − mean)/√m, whose Gram matrix is the covariance; exactly zero in a constant column."""
        mean, deviation = spread(self.X)
        return np.where(deviation > 0.0, self.X - mean, 0.0) / np.sqrt(self.m)

    def shrinkage(self) -> float:
        """The share λ by which the correlations are shrunk to zero for the least expected squared error.

        λ = Σ Var(rᵢⱼ)/Σ rᵢⱼ² over i ≠ j (Schäfer and Strimmer 2005), the variances estimated from the samples. It is
        kept between 1/m and 1 − 1/m: the first makes a singular matrix invertible, the second keeps λ/(1 − λ) finite.
        """
        mean, deviation = spread(self.X)
        Z = (self.X - mean) / np.where(deviation > 0.0, deviation, np.inf)
        squares = Z * Z
        correlations = float(np.sum((Z @ Z.T) ** 2) - np.sum(np.sum(squares, axis=0) ** 2)) / self.m**2
        products = float(np.sum(np.sum(squares, axis=1) ** 2) - np.sum(squares * squares))
        rounding = self.m * UNIT_ROUNDOFF * self.n**2
        share = (products / correlations / self.m - 1.0) / (self.m - 1.0) if correlations > rounding else 0.0
        return float(np.clip(share, 1.0 / self.m, 1.0 - 1.0 / self.m))

    def labelled(self, letter: str) -> tuple[str, ...]:
        """The names of the variables, or such as x1, x2, … when they have none."""
        return self.names or tuple(f"{letter}{j + 1}" for j in range(self.n))


@dataclass(frozen=True)
class Labels:
    """The class of each sample as a code: code c stands for classes[c]. The paper's class 1 is code 0."""

    codes: Index
    classes: tuple[Any, ...]

    @property
    def counts(self) -> Index:
        """The number of samples in each class."""
        return np.bincount(self.codes, minlength=len(self.classes))


def read_table(data: Any, what: str = "X", *, least: int = 2) -> Table:
    """A table of at least `least` samples from an array, nested list, frame or SciPy sparse matrix.

    >>> from dcgev_cvx._numerics.data_tables import read_table
    >>> read_table([[1.0, float("nan")], [2.0, 3.0]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: X has 1 entries that are NaN or infinite, ...
    """
    names = checks.column_names(data)
    array = checks.as_real(data, what, InvalidParameter)
    if array.ndim != 2 or array.shape[1] == 0:
        raise InvalidParameter(f"{what} must be a samples × variables table, got shape {array.shape}.")
    if array.shape[0] < least:
        raise InvalidParameter(
            f"{what} has n_samples = {array.shape[0]} but at least {least} are needed: a covariance compares samples."
        )
    size = checks.largest(array)
    if size and not 10.0**-LARGEST_POWER <= size <= 10.0**LARGEST_POWER:
        raise InvalidParameter(f"{what} has entries of size {size:.1e}, whose squares cannot be summed: rescale it.")
    return Table(frozen(array), checks.checked_names(names, array.shape[1]))


def read_labels(y: Any, m: int) -> Labels:
    """Class labels of one type that can be sorted, one per sample.

    >>> from dcgev_cvx._numerics.data_tables import read_labels
    >>> labels = read_labels(["b", "a", "b", "a"], 4)
    >>> labels.classes, labels.codes.tolist()
    (('a', 'b'), [1, 0, 1, 0])
    """
    values = label_list(y)
    if len(values) != m:
        raise InvalidParameter(f"X has {m} rows but y has {len(values)} labels: one label per sample is needed.")
    try:
        distinct, missing = set(values), sum(map(is_missing, values))
        classes = [] if missing else sorted(distinct)
    except TypeError as cause:
        raise InvalidParameter(f"y must hold class labels of one type that can be sorted: {cause}.") from cause
    if missing:
        raise InvalidParameter(f"y has {missing} missing labels (None or NaN): drop those samples.")
    code = {label: i for i, label in enumerate(classes)}
    labels = Labels(np.array([code[value] for value in values], dtype=np.intp), tuple(classes))
    if len(classes) < 2:
        raise InvalidParameter(f"y has one class only ({classes}): at least two are needed.")
    lone = [label for label, count in zip(classes, labels.counts, strict=True) if count < 2]
    if lone:
        raise InvalidParameter(
            f"{len(lone)} class(es) have one member only: {', '.join(map(repr, lone[:10]))}. A within-class "
            "covariance needs two: drop or merge them."
        )
    return labels


def in_row_order(first: Any, second: Any, what: str, other: str) -> Any:
    """The second with its rows in the order of the first's labels; itself where one of them has no labels.

    >>> import pandas as pd
    >>> from dcgev_cvx._numerics.data_tables import in_row_order
    >>> in_row_order(pd.Series([1, 2], ["a", "b"]), pd.Series([3, 4], ["b", "a"]), "X", "y").tolist()
    [4, 3]
    """
    labels, others = (checks.labels(each, 0) for each in (first, second))
    if not labels or not others or len(labels) != len(others) or labels == others:
        return second
    position = {label: i for i, label in enumerate(others)}
    if len(position) < len(others) or set(position) != set(labels):
        strange = next((label for label in labels if label not in position), None)
        why = "labels that repeat" if strange is None else f"different row labels ({checks.shown(strange)} …)"
        raise InvalidParameter(
            f"{what} and {other} have {why}: give both the same labels, or drop them to pair rows by position "
            "(reset_index(drop=True) or to_numpy() in pandas)."
        )
    order = [position[label] for label in labels]
    return second.iloc[order] if hasattr(second, "iloc") else second[order]


def label_list(y: Any) -> list[Any]:
    """The labels as a list; a column (m, 1) is accepted, masked labels become None."""
    if hasattr(y, "__array__"):
        y = y if isinstance(y, np.ma.MaskedArray) else checks.as_array(y, "y")
        y = y.ravel().tolist() if y.shape in ((y.size,), (y.size, 1)) else y
    values = checks.listed(y)
    if not values:
        raise InvalidParameter(f"y = {checks.shown(y)} must be a sequence of class labels, one per sample.")
    return values


def is_missing(value: Any) -> bool:
    """Is a label None, NaN or pandas.NA?"""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA has no truth value
        return True


def class_means(table: Table, labels: Labels) -> Matrix:
    """One row per class: μ_c."""
    return np.array([table.X[labels.codes == c].mean(axis=0) for c in range(len(labels.classes))])


def within(table: Table, labels: Labels, weights: Vector, ridge: float) -> Matrix:
    """Σ_c weight_c·Σ_c + ridge·I, the within-class scatter, as one product of residuals scaled by √(weight_c/m_c)."""
    checks.check_bytes((table.n, table.n), "B", "Pass fewer columns.")
    root = np.sqrt(weights / labels.counts)
    residual = root[labels.codes, None] * (table.X - class_means(table, labels)[labels.codes])
    return with_ridge(residual.T @ residual, ridge, table, "the within-class scatter of X")


def shrunk(S: Matrix, share: float) -> Matrix:
    """S + λ/(1 − λ)·diag(S): up to the factor 1 − λ, S with its correlations shrunk to zero by the share λ.

    A variable without variance is given the mean variance of the others.
    """
    variances = np.diagonal(S)
    target = np.where(variances > 0.0, variances, np.mean(variances[variances > 0.0]) if np.any(variances) else 1.0)
    return S + np.diag(share / (1.0 - share) * target)


def with_ridge(S: Matrix, ridge: float, table: Table, what: str) -> Matrix:
    """S + ridge·I if it is positive definite by the same factorisation as in Pencil."""
    B = S + ridge * np.eye(len(S))
    try:
        Factor.of(B)
    except InvalidPencil:
        raise InvalidPencil(f"{reason(S, table, what)} {remedy(S, ridge)}") from None
    return B


def reason(S: Matrix, table: Table, what: str) -> str:
    """Why S is singular: no variance, equal columns, too few samples, or linear dependence."""
    flat = np.flatnonzero(np.diagonal(S) <= 1e-28 * np.max(np.diagonal(S), initial=0.0))
    if len(flat):
        return f"{what} is singular: column(s) {checks.some_of(flat.tolist(), table.names)} have no variance."
    root = np.sqrt(np.diagonal(S))
    # a correlation within 1e-10 of ±1
    twins = np.argwhere(np.triu(np.abs(S) >= (1.0 - 1e-10) * np.outer(root, root), 1))
    if len(twins):
        first, second = (checks.some_of([int(j)], table.names) for j in twins[0])
        return f"{what} is singular: columns {first} and {second} are the same up to scale."
    if table.m <= table.n:
        return f"{what} is singular: {table.m} samples cannot span {table.n} variables."
    return f"{what} is singular to working precision: some columns depend on others."


def remedy(S: Matrix, ridge: float) -> str:
    """A round ridge that makes the condition number 1e8, and one of a per cent of λmax for estimation."""
    top = float(np.linalg.eigvalsh(S)[-1])
    enough = float(f"{1.1e-8 * top if top > 0.0 else 1.0:.1e}")
    if ridge > 0.0:
        return f"ridge = {ridge:g} is too small; ridge={enough:g} would do."
    better = f"for estimates take about {enough * 1e6:g}"
    return f"Drop columns or pass a ridge: ridge={enough:g} would do to invert it; {better}."
