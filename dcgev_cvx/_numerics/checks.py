"""What every number and array passes at the door: a fresh float64 copy, or an error that names the culprit.

A copy is always made: what the user does to an array afterwards cannot change a pencil or a result, and no
input is ever written to. Booleans and integers become float64, text does not.
"""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import DCGEVError, InvalidParameter, InvalidPencil, nearest

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Index: TypeAlias = NDArray[np.intp]
T = TypeVar("T")

UNIT_ROUNDOFF = float(np.finfo(np.float64).eps)
MAX_BYTES = 2 << 30
"""The largest dense matrix that is formed without being asked twice: 2 GiB."""
NOT_REAL = (str, bytes, complex, np.complexfloating, np.datetime64, np.timedelta64)
"""What float() takes and should not: "1" and 1 + 2j would become 1, and a date the nanoseconds since 1970."""
LONGEST = 10**7
"""A list of names, prices or cardinalities that goes on beyond this has no end."""


def frozen(array: Matrix) -> Matrix:
    """The same array, read-only.

    It does not copy; it is given arrays that nobody else holds.
    """
    array.flags.writeable = False
    return array


def shown(value: object, most: int = 60) -> str:
    """repr(value) on one line and cut short, for an error: arrays and frames are many lines, and a repr may fail."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # 10**5000 has no repr, an object's own may raise anything
        text = f"<{type(value).__name__}>"
    return text if len(text) <= most else f"{text[: most - 2]} …"


def attribute(value: Any, name: str) -> Any:
    """value.name, or None where there is none: an object's own __getattr__ may raise anything."""
    try:
        return getattr(value, name, None)
    except Exception:
        return None


def spelt(label: object) -> str:
    """str(label), or the name of its type where that fails."""
    try:
        return str(label)
    except Exception:
        return f"<{type(label).__name__}>"


def largest(array: Matrix) -> float:
    """max |aᵢ| of a non-empty array, without a copy of it."""
    return max(float(array.max()), -float(array.min()))


def as_real(
    data: Any, what: str, error: type[InvalidPencil] | type[InvalidParameter], order: Literal["C", "F"] = "C"
) -> Matrix:
    """A fresh float64 copy of real, finite data, or an error that says what is wrong with it.

    Parameters
    ----------
    data
        An array, a nested list, a pandas frame, a SciPy sparse matrix (anything with toarray).
    what
        The name by which the error calls it.
    error
        InvalidPencil for matrices of a pencil, InvalidParameter for everything else.
    order
        Memory order of the copy: "F" where columns will be selected.

    Raises
    ------
    error
        For masked, complex, non-numeric or ragged data and for NaN or infinity, whose number and first place
        are given.
    """
    data = dense(data, what, error)
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        raise error(f"{what} has {int(np.sum(np.ma.getmaskarray(data)))} masked entries: fill or drop them first.")
    try:
        raw = np.asarray(data)
    except Exception as cause:  # an object's own __array__ may raise anything
        raise error(f"{what} is not a matrix of numbers: {cause}") from cause
    if raw.dtype.kind == "c":
        raise error(
            f"{what} is complex ({raw.dtype}); only real pencils are treated. "
            f"Pass {what}.real if the imaginary part is zero."
        )
    if raw.dtype.kind not in "fiubO":
        raise error(f"{what} has dtype {raw.dtype}, which is not numeric: convert it to real numbers.")
    if raw.dtype.kind == "O" and raw.ndim == 0:
        raise error(f"{what} = {shown(data)} is not an array of numbers.")
    if raw.dtype.kind == "O":
        refuse_objects(raw, what, error)
    try:
        with np.errstate(over="ignore"):  # a long double beyond float64 becomes infinite, and is reported as that
            array = np.array(raw, dtype=np.float64, order=order, copy=True, subok=False)
    except (TypeError, ValueError, OverflowError) as cause:
        raise error(f"{what} has entries that are not numbers: {cause}") from cause
    except MemoryError as cause:
        raise error(f"{what} of shape {raw.shape} does not fit in memory: pass fewer rows or columns.") from cause
    bad = int(array.size - np.count_nonzero(np.isfinite(array)))
    if bad:
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise error(f"{what} has {bad} entries that are NaN or infinite, the first at {where}: {array[where]}.")
    return array


def dense(data: Any, what: str, error: type[InvalidPencil] | type[InvalidParameter]) -> Any:
    """A sparse matrix (anything with toarray) as an array, anything else as it is.

    Raises the error for one that would take more than MAX_BYTES, or whose toarray fails.
    """
    if attribute(data, "toarray") is None:
        return data
    shape = attribute(data, "shape")
    if isinstance(shape, tuple) and len(shape) == 2:
        check_bytes(shape, f"{what} as a dense matrix", "Pass fewer rows or columns.", error)
    try:
        if attribute(data, "check_format") is not None:  # SciPy writes wherever the indices of a damaged one point
            data.copy().check_format(full_check=True)
        return data.toarray()
    except Exception as cause:  # an object's own toarray may raise anything
        raise error(f"{what} is not a matrix of numbers: {cause}") from cause


def refuse_objects(raw: NDArray[Any], what: str, error: type[InvalidPencil] | type[InvalidParameter]) -> None:
    """Text and complex numbers among objects, by the place of the first."""
    for where, entry in np.ndenumerate(raw):
        if isinstance(entry, NOT_REAL):
            raise error(f"{what} has entries that are not real numbers, the first at {where}: {shown(entry)}.")


def check_bytes(
    shape: Sequence[int],
    what: str,
    remedy: str,
    error: type[InvalidPencil] | type[InvalidParameter] = InvalidParameter,
) -> None:
    """Refuse a dense matrix beyond MAX_BYTES, with the number of bytes.

    The remedy is the caller's, since it depends on what the matrix was for.
    """
    size = 8 * int(shape[0]) * int(shape[1])
    if size > MAX_BYTES:
        raise error(f"{what} is {shape[0]}×{shape[1]} and takes {size:,} bytes (> {MAX_BYTES:,}). {remedy}")


def column_names(data: Any) -> tuple[str, ...] | None:
    """The columns of a pandas frame as strings; None for anything else.

    Columns that are not strings (the 0, 1, … of a frame without names) become strings too.
    """
    return tuple(map(spelt, listed(attribute(data, "columns")))) or None


def checked_names(names: Iterable[object] | None, n: int) -> tuple[str, ...] | None:
    """One name per variable, or an error that counts them.

    Names may repeat: they are labels, and variables are identified by position.
    """
    if names is None:
        return None
    found = tuple(map(spelt, listed(names)))
    if not found:
        raise InvalidPencil(f"names = {shown(names)} must list {n} names, one per variable.")
    if len(found) != n:
        raise InvalidPencil(f"{len(found)} names were given for {n} variables.")
    return found


def as_vector(x: Any, n: int, what: str) -> Vector:
    """A float64 copy of a finite vector of length n; a column (n, 1) is taken as one.

    Examples
    --------
    >>> from dcgev_cvx._numerics.checks import as_vector
    >>> as_vector([[1], [2]], 2, "x")
    array([1., 2.])
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
    """x itself where it is a finite float64 vector of length n, as in the loop of a run; else as `as_vector`."""
    ready = type(x) is np.ndarray and x.dtype == np.float64 and x.shape == (n,) and np.isfinite(x).all()
    return x if ready else as_vector(x, n, what)


def as_number(value: Any, what: str, *, low: float = 0.0, strict: bool = False, high: float = math.inf) -> float:
    """A finite float between two limits, or an error that names it; text is refused, even when it spells a number.

    Parameters
    ----------
    low
        The smallest number allowed; 0 by default, since prices, tolerances and limits are not negative.
    strict
        Whether low itself is refused.
    high
        The largest number allowed.

    Examples
    --------
    >>> from dcgev_cvx._numerics.checks import as_number
    >>> as_number(2, "rho")
    2.0
    >>> as_number(-1, "rho")
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: rho = -1 is out of range; it must be at least 0.
    """
    rule = f"must be {'greater than' if strict else 'at least'} {low:g}"
    rule += "" if math.isinf(high) else f" and at most {high:g}"
    try:
        # float() takes True for 1, reads text, drops imaginary parts, opens an array of one entry, warns of a mask
        if isinstance(value, (bool, np.bool_, np.ma.MaskedArray, *NOT_REAL)) or np.ndim(value):
            raise TypeError
        number = float(value)
    except Exception:  # an object's own __float__ may raise anything
        raise InvalidParameter(f"{what} = {shown(value)} is not a real number; it {rule}.") from None
    if not math.isfinite(number):
        raise InvalidParameter(f"{what} = {number} is not finite; it {rule}.")
    if number < low or number > high or (strict and number == low):
        raise InvalidParameter(f"{what} = {number:g} is out of range; it {rule}.")
    return number


def as_numbers(values: Any, what: str, *, low: float = 0.0) -> list[float]:
    """A list of finite numbers, none below a limit; one number alone, text and an empty list are refused.

    Examples
    --------
    >>> from dcgev_cvx._numerics.checks import as_numbers
    >>> as_numbers((1, 0.5), "rhos")
    [1.0, 0.5]
    >>> as_numbers(3.0, "rhos")
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: rhos = 3.0 must list numbers of at least 0, such as [1.0, 0.5].
    """
    numbers = listed(values)
    if not numbers:
        raise InvalidParameter(f"{what} = {shown(values)} must list numbers of at least {low:g}, such as [1.0, 0.5].")
    return [as_number(value, f"{what}[{i}]", low=low) for i, value in enumerate(numbers)]


def listed(values: Any) -> list[Any]:
    """The members of a list, an array of one axis, a generator; none for anything else.

    A number has no members, a set no order, and what goes on beyond LONGEST no end; text would be taken for its
    letters and a table for its rows or the names of its columns.
    """
    if isinstance(values, (str, bytes, dict, set, frozenset)) or attribute(values, "toarray") is not None:
        return []
    try:
        if getattr(values, "ndim", 1) != 1:
            return []
        members = list(islice(values, LONGEST + 1))
    except Exception:  # an object's own __iter__ may raise anything
        return []
    return members if len(members) <= LONGEST else []


def is_whole(value: Any) -> bool:
    """Is it an integer, Python's or NumPy's? True and a duration, which pass for one, are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))


def as_whole(value: Any, what: str, *, low: int = 1, high: float = math.inf) -> int:
    """A whole number between two limits; True, 2.0 and "3" are refused, for they had to be guessed.

    Examples
    --------
    >>> from dcgev_cvx._numerics.checks import as_whole
    >>> as_whole(3, "points")
    3
    >>> as_whole(0, "points")
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: points = 0 must be a whole number of at least 1.
    """
    if not is_whole(value) or not low <= value <= high:
        most = "" if math.isinf(high) else f" and at most {high}"
        raise InvalidParameter(f"{what} = {shown(value)} must be a whole number of at least {low}{most}.")
    return int(value)


def as_indices(values: Any, n: int, what: str) -> Index:
    """Positions 0 … n − 1, at least one; a mask, negative positions and numbers with a point are refused.

    Examples
    --------
    >>> from dcgev_cvx._numerics.checks import as_indices
    >>> as_indices([2, 0], 3, "rows")
    array([2, 0])
    >>> as_indices([3], 3, "rows")
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: rows = [3] must list whole numbers between 0 and 2.
    """
    members = listed(values)
    if not members or not all(is_whole(i) and 0 <= i < n for i in members):
        raise InvalidParameter(f"{what} = {shown(values)} must list whole numbers between 0 and {n - 1}.")
    return np.array(members, dtype=np.intp)


def as_flag(value: Any, what: str) -> bool:
    """True or False, Python's or NumPy's: "no", 0 and None would have to be guessed."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidParameter(f"{what} = {shown(value)} must be True or False.")
    return bool(value)


def one_of(value: Any, what: str, known: Iterable[str]) -> str:
    """A name that is known, or the nearest one in the error.

    Examples
    --------
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
    """The value, if it is of a kind; otherwise what was given and where to get the right thing."""
    if not isinstance(value, kind):
        raise InvalidParameter(f"{what} must be a {kind.__name__}, got {type(value).__name__}: {remedy}.")
    return value


def as_path(value: Any, what: str) -> Path:
    """A path from text or another path; numbers, bytes, "" and what no file can be called are refused."""
    usable = isinstance(value, (str, Path)) and value != ""
    try:
        _ = usable and os.lstat(value)
    except ValueError:  # a NUL, or half of a surrogate pair
        usable = False
    except OSError as cause:  # that it is not there is no fault of a path
        usable = cause.errno != errno.ENAMETOOLONG
    if not usable:
        raise InvalidParameter(f"{what} = {shown(value)} must be the path of a file or folder.")
    return Path(value)


def refuse_endless(path: Path, error: type[DCGEVError]) -> None:
    """A pipe or a device is no file: reading one may never end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise error(f"{path} is a pipe or a device; a file is needed: copy what it gives into one.")


def refuse_bomb(archive: Any, path: Path, error: type[DCGEVError]) -> None:
    """Refuse an .npz whose arrays unpack to more than MAX_BYTES each: zeros are packed a thousandfold."""
    for member in archive.zip.infolist():
        if member.file_size > MAX_BYTES:
            size = f"{member.file_size:,} bytes (> {MAX_BYTES:,})"
            raise error(f"{member.filename} in {path} takes {size}. Store fewer rows or columns.")


def as_listener(listener: Any, what: str) -> Callable[..., Any] | None:
    """A function to be called along the way, or None."""
    if listener is not None and not callable(listener):
        raise InvalidParameter(f"{what} = {shown(listener)} must be a function, or None.")
    return listener


def as_generator(random_state: Any) -> np.random.Generator:
    """The generator of a seed, or the generator itself; None is refused, for answers are to be repeatable."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if not is_whole(random_state) or random_state < 0:
        raise InvalidParameter(
            f"random_state = {shown(random_state)} must be a whole number of at least 0, or a Generator."
        )
    return np.random.default_rng(int(random_state))


def says_stop(answer: object) -> bool:
    """Did a callback ask to stop: True, Python's or NumPy's, and nothing else."""
    return isinstance(answer, (bool, np.bool_)) and bool(answer)
