"""Data at the door: a samples × variables table of finite numbers, class labels, or an error naming the columns.

Everything that takes data passes through `read_table` and `read_labels`, so that an unusable column is named
once, here, and the mathematics behind may assume finite numbers. Nothing is imputed, encoded or dropped:
that would be the user's decision.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidParameter
from .checks import (
    NOT_REAL,
    UNIT_ROUNDOFF,
    Index,
    Matrix,
    Vector,
    as_real,
    attribute,
    checked_names,
    column_names,
    dense,
    frozen,
    listed,
    shown,
)


@dataclass(frozen=True)
class Table:
    """X, m samples by n variables, read-only, with the variables' names if they have any.

    what is the name by which errors call the table: X, Y or y.
    """

    X: Matrix
    names: tuple[str, ...] | None
    what: str = "X"

    @property
    def m(self) -> int:
        """The number of samples."""
        return self.X.shape[0]

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.X.shape[1]

    def list_of(self, columns: Iterable[int]) -> str:
        """Columns by name (or by position when they have none), ten at most."""
        return some_of(list(columns), self.names)

    def spread(self) -> tuple[Vector, Vector]:
        """Each column's mean and standard deviation (divided by m), the latter 0 for a column that is constant.

        A column counts as constant when its deviation is within 4u√m of its largest modulus: 0.1 added up m times and
        divided by m need not be 0.1 again.

        Examples
        --------
        >>> from dcgev_cvx._numerics.samples import read_table
        >>> read_table([[0.1, 1.0], [0.1, 3.0], [0.1, 5.0]]).spread()[1].round(3)
        array([0.   , 1.633])
        """
        mean = self.X.mean(axis=0)
        deviation = np.sqrt(np.mean((self.X - mean) ** 2, axis=0))
        dust = 4.0 * UNIT_ROUNDOFF * np.sqrt(self.m) * np.max(np.abs(self.X), axis=0)
        return mean, np.where(deviation <= dust, 0.0, deviation)


@dataclass(frozen=True)
class Labels:
    """The class of each sample as a code 0, 1, …, and what the codes stand for.

    Code c stands for classes[c]. Class 1 of the paper is code 0: the first label in sorted order.
    """

    codes: Index
    classes: tuple[Any, ...]

    @property
    def counts(self) -> Index:
        """The number of samples in each class."""
        return np.bincount(self.codes, minlength=len(self.classes))


def read_table(data: Any, what: str = "X", *, least: int = 2) -> Table:
    """A table of at least `least` samples from an array, a pandas frame or a SciPy sparse matrix.

    Parameters
    ----------
    data
        Two-dimensional. A sparse matrix is made dense, if that takes no more than 2 GiB.
    what
        The name used in errors.
    least
        The smallest number of samples that makes sense to the caller.

    Raises
    ------
    InvalidParameter
        For text, missing or infinite entries (columns named, ten at most), another shape, too few rows, or
        numbers whose squares overflow or vanish.

    Examples
    --------
    >>> from dcgev_cvx._numerics.samples import read_table
    >>> read_table([[1.0, float("nan")], [2.0, 3.0]])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: X has 1 entries that are NaN or infinite, ...
    """
    names = column_names(data)
    array = as_table(data, what, names)
    if array.ndim != 2 or array.shape[1] == 0:
        raise InvalidParameter(f"{what} must be a samples × variables table, got shape {array.shape}.")
    if array.shape[0] < least:
        raise InvalidParameter(
            f"{what} has n_samples = {array.shape[0]} but at least {least} are needed: a covariance compares samples."
        )
    check_size(array, what)
    return Table(frozen(array), checked_names(names, array.shape[1]), what)


def as_table(data: Any, what: str, names: Sequence[str] | None) -> Matrix:
    """A float64 copy; columns that are not numbers, or not finite, are named."""
    if attribute(data, "iloc") is not None:
        data = frame_values(data, what)
    elif isinstance(data, np.ndarray) and data.dtype.kind == "O" and data.ndim == 2:
        refuse_columns(what, [j for j in range(data.shape[1]) if not is_numeric(data[:, j])], names)
    raw = dense(data, what, InvalidParameter)
    if isinstance(raw, np.ndarray) and raw.ndim == 2 and raw.dtype.kind == "f" and not np.all(np.isfinite(raw)):
        bad = np.count_nonzero(~np.isfinite(raw), axis=0)
        columns = [int(j) for j in np.flatnonzero(bad)]
        raise InvalidParameter(
            f"{what} has {int(bad.sum())} entries that are NaN or infinite, in column(s) "
            f"{some_of(columns, names)}: drop those rows or columns, or fill the gaps."
        )
    return as_real(raw, what, InvalidParameter)


def check_size(array: Matrix, what: str) -> None:
    """Refuse numbers whose squares leave the range of floating point.

    Covariances square their data: 1e140 leaves room for sums of 1e280, and below 1e-140 squares lose digits to
    subnormal numbers.
    """
    size = float(np.max(np.abs(array)))
    if size > 1e140 or 0.0 < size < 1e-140:
        raise InvalidParameter(f"{what} has entries of size {size:.1e}, whose squares cannot be summed: rescale it.")


def frame_values(frame: Any, what: str) -> Any:
    """A pandas frame's numbers; a Series is refused by its shape later on.

    Nullable pandas columns become floats with NaN for what is missing, which the next check names.
    """
    if getattr(frame, "ndim", 2) != 2:
        return frame.to_numpy()
    kinds = [getattr(dtype, "kind", "O") for dtype in frame.dtypes]
    doubtful = [j for j, kind in enumerate(kinds) if kind not in "fiub" and not is_numeric(frame.iloc[:, j])]
    refuse_columns(what, doubtful, [str(column) for column in frame.columns])
    return frame.to_numpy(dtype=np.float64, na_value=np.nan)


def is_numeric(column: Any) -> bool:
    """Do all entries of an object column pass for real numbers? Text does not, even when it spells one.

    "3" is refused although float() takes it: a column of text that looks like numbers is a mistake worth hearing of.
    """
    return all(not isinstance(entry, NOT_REAL) and as_float(entry) for entry in column)


def as_float(entry: Any) -> bool:
    """Does float() take it?"""
    try:
        float(entry)
    except Exception:  # an object's own __float__ may raise anything, and 10**400 has no float
        return False
    return True


def refuse_columns(what: str, columns: list[int], names: Sequence[str] | None) -> None:
    """The error that names the columns which are not numbers."""
    if columns:
        raise InvalidParameter(
            f"{what} has {len(columns)} column(s) that are not numbers: {some_of(columns, names)}. "
            "Drop them or encode them, e.g. one 0/1 column per category."
        )


def some_of(columns: list[int], names: Sequence[str] | None) -> str:
    """Ten columns at most, by name or position."""
    shown = ", ".join(str(j) if names is None else repr(names[j]) for j in columns[:10])
    return shown + (f" and {len(columns) - 10} more" if len(columns) > 10 else "")


def read_labels(y: Any, m: int) -> Labels:
    """Class labels of any type, one per sample: sorted when they can be, else in order of appearance.

    Parameters
    ----------
    y
        One label per sample: numbers, strings, booleans, anything hashable.
    m
        The number of samples.

    Raises
    ------
    InvalidParameter
        When the lengths differ, labels are missing or cannot be hashed, there is one class only, or a class
        has a single member (its within-class covariance would be zero).

    Examples
    --------
    >>> from dcgev_cvx._numerics.samples import read_labels
    >>> labels = read_labels(["b", "a", "b", "a"], 4)
    >>> labels.classes, labels.codes.tolist()
    (('a', 'b'), [1, 0, 1, 0])
    """
    values = label_list(y)
    if len(values) != m:
        raise InvalidParameter(f"X has {m} rows but y has {len(values)} labels: one label per sample is needed.")
    missing = sum(1 for value in values if is_missing(value))
    if missing:
        raise InvalidParameter(f"y has {missing} missing labels (None or NaN): drop those samples.")
    classes = list(dict.fromkeys(values))
    # labels of several types have no order but the one in which they appear
    with suppress(TypeError):
        classes.sort()
    code = {label: i for i, label in enumerate(classes)}
    labels = Labels(np.array([code[value] for value in values], dtype=np.intp), tuple(classes))
    check_classes(labels)
    return labels


def label_list(y: Any) -> list[Any]:
    """The labels as a list of hashable things; a column (m, 1) is taken as one, another table is not.

    What is masked becomes None, which is missing.
    """
    try:
        if attribute(y, "__array__") is not None:
            y = y if isinstance(y, np.ma.MaskedArray) else np.asarray(y)
            y = y.ravel().tolist() if y.shape in ((y.size,), (y.size, 1)) else y
        values = listed(y)
        set(values)
    except Exception as cause:  # an object's own __array__ or __hash__ may raise anything
        raise InvalidParameter(f"y must be a sequence of class labels, one per sample: {cause}.") from cause
    if not values:
        raise InvalidParameter(f"y = {shown(y)} must be a sequence of class labels, one per sample.")
    return values


def is_missing(value: Any) -> bool:
    """Is a label None, NaN, or something that refuses to be compared (pandas.NA)?"""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def check_classes(labels: Labels) -> None:
    """At least two classes of at least two members."""
    if len(labels.classes) < 2:
        raise InvalidParameter(f"y has one class only ({[*labels.classes]}): there is nothing to tell apart.")
    lone = [label for label, count in zip(labels.classes, labels.counts, strict=True) if count < 2]
    if lone:
        raise InvalidParameter(
            f"{len(lone)} class(es) have one member only: {', '.join(map(repr, lone[:10]))}. A within-class "
            "covariance needs two: drop or merge them."
        )
