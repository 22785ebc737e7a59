"""Checks of arguments: each returns a clean copy of what it accepts, or raises an error that shows the value.

Arrays are always copied to float64, so that later changes by the caller cannot reach a pencil or a result.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidParameter, InvalidPencil, nearest

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
InputError: TypeAlias = type[InvalidPencil] | type[InvalidParameter]
T = TypeVar("T")

UNIT_ROUNDOFF = float(np.finfo(np.float64).eps)
MAX_BYTES = 2 << 30
"""2 GiB: the largest dense matrix that is formed from a sparse one or from long data."""
LARGEST_POWER = 140
"""Entries between 1e-140 and 1e140 have squares and sums of squares that are numbers."""
LARGEST_SUM = 1e305
"""n·max |A| may reach this: traces, row sums and twice an eigenvalue are then finite."""


def frozen(array: Matrix) -> Matrix:
    """The same array, read-only."""
    array.flags.writeable = False
    return array


def shown(value: object, most: int = 60) -> str:
    """repr(value) on one line of at most 60 characters, for an error message."""
    text = " ".join(repr(value).split())
    return text if len(text) <= most else f"{text[: most - 2]} …"


def largest(array: Matrix) -> float:
    """max |aᵢ| of a non-empty array, without a copy of it."""
    return max(float(array.max()), -float(array.min()))


def as_real(data: Any, what: str, error: InputError, order: Literal["C", "F"] = "C") -> Matrix:
    """A float64 copy of an array, nested list, frame or sparse matrix of finite real numbers."""
    data = dense(data, what, error)
    check_masks(data, what, error)
    names = column_names(data)
    if is_frame(data):
        raw = np.empty(data.shape)
        for j, column in enumerate(numeric_columns(frame_columns(data), what, error, names)):
            raw[:, j] = column
    else:
        raw = as_array(data, what, error)
        if raw.dtype.kind == "O" and raw.ndim == 2 and raw.size:
            raw = np.column_stack(numeric_columns(list(raw.T), what, error, names))
        if raw.dtype.kind == "c":
            raise error(f"{what} is complex: only real numbers are supported. Pass {what}.real if you mean that.")
        if raw.dtype.kind not in "fiub" and not (raw.dtype.kind == "O" and raw.ndim == 1 and is_numeric(raw)):
            raise error(
                f"{what} = {shown(data)} is not an array of real numbers: its dtype is {raw.dtype}. Convert it."
            )
    with np.errstate(over="ignore"):  # a long double beyond the range of doubles is reported as infinite
        array = np.array(raw, dtype=np.float64, order=order, copy=True, subok=False)
    finite = np.isfinite(array)
    if not finite.all():
        count = int(array.size - np.count_nonzero(finite))
        bad = np.flatnonzero(~finite.all(axis=tuple(range(array.ndim - 1))))
        place = f"in column(s) {some_of(bad.tolist(), names)}" if array.ndim > 1 else f"the first at {bad[0]}"
        raise error(
            f"{what} has {count} entries that are NaN or infinite, {place}: "
            "drop those rows or columns, or fill the gaps."
        )
    return array


def as_array(data: Any, what: str, error: InputError = InvalidParameter) -> NDArray[Any]:
    """np.asarray(data), with an error for whatever a ragged list or the __array__ of another library raises."""
    try:
        return np.asarray(data)
    except Exception as cause:
        raise error(f"{what} cannot be read as an array: {cause}") from cause


def check_masks(data: Any, what: str, error: InputError = InvalidParameter) -> None:
    """Raise for masked entries: NumPy would drop their masks."""
    if np.ma.is_masked(data):
        raise error(f"{what} has {int(np.ma.count_masked(data))} masked entries: fill or drop them first.")


def is_frame(data: Any) -> bool:
    """Is it a table of columns, each of its own type, of pandas, polars, pyarrow or another library?"""
    named = hasattr(data, "columns") or hasattr(data, "column_names")
    return named and not isinstance(data, np.ndarray) and len(getattr(data, "shape", ())) == 2


def frame_columns(data: Any) -> list[NDArray[Any]]:
    """The columns of a frame as NumPy reads them: dates as dates, and text as text."""
    if hasattr(data, "iloc"):
        return [np.asarray(data.iloc[:, j]) for j in range(data.shape[1])]  # names may repeat
    return [np.asarray(data[name]) for name in labels(data, 1)]


def numeric_columns(
    columns: Sequence[NDArray[Any]], what: str, error: InputError, names: Sequence[str] | None
) -> list[NDArray[Any]]:
    """The columns as numbers; an error that names those which are none."""
    bad = [j for j, column in enumerate(columns) if column.dtype.kind not in "fiub" and not is_numeric(column)]
    if bad:
        raise error(
            f"{what} has {len(bad)} column(s) that are not numbers: {some_of(bad, names)}. "
            "Drop them or encode them, e.g. one 0/1 column per category."
        )
    return [column if column.dtype.kind != "O" else column.astype(np.float64) for column in columns]


def is_numeric(column: NDArray[Any]) -> bool:
    """Are all objects of a column numbers? Text is not, even when it spells one; nor are dates."""
    if column.dtype.kind != "O":
        return False
    try:
        column.astype(np.float64)
    except Exception:  # whatever the __float__ of an entry raises
        return False
    return not holds_other(column)


def holds_other(entries: Iterable[Any]) -> bool:
    """Is one of the objects text, a date or a complex number, which NumPy would convert to a float?"""
    other = (str, bytes, complex, np.complexfloating, np.datetime64, np.timedelta64)
    return any(isinstance(entry, other) for entry in entries)


def some_of(columns: Sequence[int], names: Sequence[str] | None) -> str:
    """At most ten columns by name or position."""
    text = ", ".join(str(j) if names is None else repr(names[j]) for j in columns[:10])
    return text + (f" and {len(columns) - 10} more" if len(columns) > 10 else "")


def dense(data: Any, what: str, error: InputError) -> Any:
    """A sparse matrix as an array if it takes at most MAX_BYTES; anything else as it is."""
    if not hasattr(data, "toarray"):
        return data
    if data.ndim == 2:
        check_bytes(data.shape, f"{what} as a dense matrix", "Pass fewer rows or columns.", error)
    return data.toarray()


def check_bytes(shape: Sequence[int], what: str, remedy: str, error: InputError = InvalidParameter) -> None:
    """Raise for a dense matrix beyond MAX_BYTES."""
    size = 8 * int(shape[0]) * int(shape[1])
    if size > MAX_BYTES:
        raise error(f"{what} is {shape[0]}×{shape[1]} and takes {size:,} bytes (> {MAX_BYTES:,}). {remedy}")


def labels(data: Any, axis: int) -> list[Any]:
    """The labels of the rows (axis 0) or columns (1) of a frame or xarray object; [] for anything else."""
    indexes, dims = getattr(data, "indexes", {}), getattr(data, "dims", ())  # of xarray, by dimension
    if indexes and isinstance(dims, tuple) and axis < len(dims):
        return listed(indexes.get(dims[axis]))
    if axis == 1 and hasattr(data, "column_names"):  # of pyarrow, whose columns are data
        return listed(data.column_names)
    return listed(getattr(data, ("index", "columns")[axis], None))


def column_names(data: Any) -> tuple[str, ...] | None:
    """The columns of a frame or xarray object as strings; None for anything else."""
    return tuple(map(str, labels(data, 1))) or None


def checked_names(names: Iterable[object] | None, n: int) -> tuple[str, ...] | None:
    """One name per variable; a name that repeats becomes name.1, name.2, …, as in pandas."""
    if names is None:
        return None
    found = list(map(str, listed(names)))
    if len(found) != n:
        raise InvalidPencil(f"names = {shown(names)} must list {n} names, one per variable.")
    seen: Counter[str] = Counter()
    for i, name in enumerate(found):
        while seen[found[i]]:  # name.1 may be there already
            found[i] = f"{name}.{seen[name]}"
            seen[name] += 1
        seen[found[i]] += 1
    return tuple(found)


def checked_blocks(blocks: Any, n: int, B: Matrix | None) -> tuple[int, ...] | None:
    """The sizes of the views, if they add up to n and B is block diagonal in them."""
    if blocks is None:
        return None
    sizes = tuple(listed(blocks))
    if not sizes or not all(is_whole(size) and size >= 1 for size in sizes) or sum(sizes) != n:
        raise InvalidPencil(f"blocks = {shown(blocks)} must be whole numbers of at least 1 that add up to n = {n}.")
    view = np.repeat(np.arange(len(sizes)), sizes)
    if B is not None and np.any(B[view[:, None] != view]):
        raise InvalidPencil(f"B is not block diagonal in blocks = {sizes}: it has nonzeros between two views.")
    return tuple(map(int, sizes))


def check_order(names: Any, others: Any, what: str, other: str, error: InputError = InvalidPencil) -> None:
    """Raise when two pandas frames, or a frame's rows and columns, have different labels, or another order of them.

    Rows and columns numbered from 0, as pandas does without names, or from 1, as R does, have no labels.
    """
    n = len(listed(others))
    if names is None or len(names) != n:
        return
    first, second = (checked_names(each, n) or () for each in (names, others))
    if first != second and sorted(first) == sorted(second):
        raise error(f"{what} and {other} have the same labels in another order: sort one by the other.")
    numbered = (tuple(map(str, range(start, start + n))) for start in (0, 1))
    if first != second and not {first, second} & {*numbered}:
        strange = next(label for label in second if label not in first)
        raise error(f"{what} and {other} have different labels ({strange!r}): give both the same.")


def symmetric(data: Any, what: str) -> Matrix:
    """A read-only symmetric float64 matrix; asymmetry up to 1e-8 (1e-5 in single precision) is averaged away."""
    check_order(column_names(data), labels(data, 0), f"the columns of {what}", "its rows")
    dtype = getattr(data, "dtype", None)
    single = isinstance(dtype, np.dtype) and dtype.kind == "f" and dtype.itemsize < 8
    array = as_real(data, what, InvalidPencil)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not array.size:
        raise InvalidPencil(f"{what} must be a square matrix of at least one variable, got shape {array.shape}.")
    with np.errstate(over="ignore"):
        scale, skew = largest(array), float(np.abs(array - array.T).max())
    if skew > (1e-5 if single else 1e-8) * scale:
        raise InvalidPencil(
            f"{what} is not symmetric: max |{what} - {what}ᵀ| = {skew:.3g} where max |{what}| = {scale:.3g}. "
            f"Pass ({what} + {what}ᵀ)/2 if that is what you mean."
        )
    if scale * len(array) > LARGEST_SUM or 0.0 < scale < 1.0 / LARGEST_SUM:
        raise InvalidPencil(f"max |{what}| = {scale:.3g} leaves the range of doubles. Divide {what} by {scale:.3g}.")
    return frozen(array if skew == 0.0 else 0.5 * (array + array.T))


def as_vector(x: Any, n: int, what: str) -> Vector:
    """A float64 copy of a finite vector of length n; a column (n, 1) is accepted.

    >>> from dcgev_cvx._numerics.checks import as_vector
    >>> as_vector([1.0, 2.0], 3, "x0")
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: x0 must have length 3, got shape (2,).
    """
    vector = as_real(x, what, InvalidParameter)
    if vector.shape == (n, 1):
        vector = vector[:, 0]
    if vector.shape != (n,):
        raise InvalidParameter(f"{what} must have length {n}, got shape {vector.shape}.")
    return vector


def as_point(x: Any, n: int, what: str) -> Vector:
    """x itself, not copied, if it is a finite float64 vector of length n; else as `as_vector`."""
    ready = type(x) is np.ndarray and x.dtype == np.float64 and x.shape == (n,) and np.isfinite(x).all()
    return x if ready else as_vector(x, n, what)


def as_number(value: Any, what: str, *, low: float = 0.0, strict: bool = False, high: float = math.inf) -> float:
    """A finite float between low (excluded if strict) and high; True, text and arrays raise.

    >>> from dcgev_cvx._numerics.checks import as_number
    >>> as_number(-1, "rho")
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: rho = -1 is out of range; it must be at least 0.
    """
    rule = f"must be {'greater than' if strict else 'at least'} {low:g}"
    rule += "" if math.isinf(high) else f" and at most {high:g}"
    try:
        # float() would accept all of these: True as 1, "1" as 1, 1 + 2j as 1 from NumPy, an array of one entry
        if isinstance(value, (bool, np.bool_, str, bytes)) or np.iscomplexobj(value) or np.ndim(value):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InvalidParameter(f"{what} = {shown(value)} is not a real number; it {rule}.") from None
    if not math.isfinite(number):
        raise InvalidParameter(f"{what} = {number} is not finite; it {rule}.")
    if number < low or number > high or (strict and number == low):
        raise InvalidParameter(f"{what} = {number:g} is out of range; it {rule}.")
    return number


def as_numbers(values: Any, what: str) -> list[float]:
    """A non-empty list of finite numbers, none below 0."""
    numbers = listed(values)
    if not numbers:
        raise InvalidParameter(f"{what} = {shown(values)} must list numbers of at least 0, such as [1.0, 0.5].")
    return [as_number(value, f"{what}[{i}]") for i, value in enumerate(numbers)]


def listed(values: Any) -> list[Any]:
    """The members of a list, a generator or an array with one axis; [] for text, sets, dicts, tables and numbers."""
    if isinstance(values, (str, bytes, dict, set, frozenset)) or getattr(values, "ndim", 1) != 1:
        return []
    try:
        return list(values)
    except TypeError:
        return []


def is_whole(value: Any) -> bool:
    """Is it an integer, Python's or NumPy's? True is not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def as_whole(value: Any, what: str, *, low: int = 1, high: float = math.inf) -> int:
    """An integer between two limits; True, 2.0 and "3" raise.

    >>> from dcgev_cvx._numerics.checks import as_whole
    >>> as_whole(0, "points")
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: points = 0 must be a whole number of at least 1.
    """
    if not is_whole(value) or not low <= value <= high:
        most = "" if math.isinf(high) else f" and at most {high}"
        raise InvalidParameter(f"{what} = {shown(value)} must be a whole number of at least {low}{most}.")
    return int(value)


def as_flag(value: Any, what: str) -> bool:
    """True or False, Python's or NumPy's; 0, 1, None and text raise."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidParameter(f"{what} = {shown(value)} must be True or False.")
    return bool(value)


def one_of(value: Any, what: str, known: Iterable[str]) -> str:
    """A known name; the error for any other suggests the nearest.

    >>> from dcgev_cvx._numerics.checks import one_of
    >>> one_of("metrik", "shift", ("identity", "metric"))
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: shift = 'metrik' is unknown; did you mean 'metric'?
    """
    names = tuple(known)
    if not isinstance(value, str) or value not in names:
        raise InvalidParameter(f"{what} = {shown(value)} is unknown; {nearest(shown(value), names)}")
    return value


def expect(value: Any, kind: type[T], what: str, remedy: str) -> T:
    """The value if it has the type; the error says where to get one."""
    if not isinstance(value, kind):
        raise InvalidParameter(f"{what} must be a {kind.__name__}, got {type(value).__name__}: {remedy}.")
    return value


def as_path(value: Any, what: str) -> Path:
    """A Path from non-empty text or another path."""
    if not isinstance(value, (str, Path)) or value == "":
        raise InvalidParameter(f"{what} = {shown(value)} must be the path of a file or folder.")
    return Path(value)


def as_callback(function: Any, what: str) -> Callable[..., Any] | None:
    """A function or None."""
    if function is not None and not callable(function):
        raise InvalidParameter(f"{what} = {shown(function)} must be a function, or None.")
    return function


def as_generator(seed: Any, what: str = "random_state") -> np.random.Generator:
    """A generator from a seed, or the generator itself; None raises, since results must be reproducible."""
    if isinstance(seed, np.random.Generator):
        return seed
    if not is_whole(seed) or seed < 0:
        raise InvalidParameter(f"{what} = {shown(seed)} must be a whole number of at least 0, or a Generator.")
    return np.random.default_rng(int(seed))


def says_stop(answer: object) -> bool:
    """Did a callback return True, Python's or NumPy's? Any other answer continues."""
    return isinstance(answer, (bool, np.bool_)) and bool(answer)


def method_value(owner: Any, method: str, *points: Vector) -> float:
    """f(x), g(x, y) or another value of an object that somebody else wrote, checked to be a number."""
    value = getattr(owner, method)(*points)
    if not isinstance(value, (int, float, np.number)) or value != value:
        call = f"{type(owner).__name__}.{method}({', '.join('xy'[: len(points)])})"
        raise InvalidParameter(f"{call} must return a number; got {shown(value)}.")
    return float(value)


def method_flag(owner: Any, method: str, x: Vector) -> bool:
    """The answer of an object that somebody else wrote, checked to be True or False."""
    answer = getattr(owner, method)(x)
    if not isinstance(answer, (bool, np.bool_)):
        raise InvalidParameter(f"{type(owner).__name__}.{method}(x) must return True or False; got {shown(answer)}.")
    return bool(answer)
