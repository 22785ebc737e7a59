"""What a call of a solver gave, as plain data: numbers, the form they came in, and what the call did beside answering.

`FunctionCaller` calls a Python function, here or in a process of its own (`function_program`); what reaches the judge
is an `Answer`, which text from the other side cannot make anything but numbers, truth values and short sentences.
"""

import inspect
import io
import math
import threading
import warnings
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._numerics.checks import Vector
from .._numerics.text_tables import printable
from ..errors import InvalidParameter
from .levels import LEVELS, Instance, laid_out

WATCHED = 4
"""Calls whose arguments and answers are compared again after later calls."""


@dataclass(frozen=True)
class Answer:
    """What a call returned: x (or a bound as a vector of one), or why it cannot be judged.

    x is None when the form is wrong, and problem says how; asked is False for calls that were not made, or not answered
    in time; unsupported for those that the solver does not claim to answer.
    single: the answer has the dtype float32. disturbed lists (age, what): the arguments or the answer of the call so
    many calls ago, 0 for this one, that are no longer what they were.
    """

    x: Vector | None
    problem: str = ""
    asked: bool = True
    unsupported: bool = False
    single: bool = False
    disturbed: tuple[tuple[int, str], ...] = ()


# The form of an answer


def form_of(raw: Any, instance: Instance) -> Answer:
    """The answer as numbers, or what is wrong with its form."""
    return number_of(raw) if LEVELS[instance.level].returns == "bound" else vector_of(raw, instance.n)


def number_of(raw: Any) -> Answer:
    """A bound as a vector of one; +∞ is a number, NaN is not."""
    array = numbers_of(raw)
    if array is None:
        return Answer(None, f"returned {described(raw)} where a number is expected")
    if array.size != 1:
        return Answer(None, f"returned an array of shape {array.shape} where a number is expected")
    x = array.reshape(1).astype(np.float64)
    return Answer(None, "returned NaN") if np.isnan(x[0]) else Answer(x)


def vector_of(raw: Any, n: int) -> Answer:
    """A vector of n finite numbers: a list and the shape (n, 1) are right, other shapes are wrong.

    Complex numbers without an imaginary part and objects that are numbers pass; booleans and text do not.
    """
    array = numbers_of(raw)
    if array is None:
        return Answer(None, f"returned {described(raw)} where a vector of {n} real numbers is expected")
    if array.shape not in ((n,), (n, 1)):
        return Answer(None, f"returned an array of shape {array.shape} where ({n},) is expected")
    x = array.reshape(n).astype(np.float64)
    bad = int(n - np.count_nonzero(np.isfinite(x)))
    if bad:
        return Answer(None, f"returned {bad} entries that are NaN or infinite")
    return Answer(x, single=array.dtype.kind == "f" and array.dtype.itemsize < 8)


def numbers_of(raw: Any) -> Any:
    """An array of real numbers, or None for text, masks, imaginary parts and other objects.

    Numbers of another kind (Fraction, Decimal, mpmath's) are converted by their __float__.
    """
    if raw is None or np.ma.is_masked(raw):
        return None
    try:
        array: Any = np.asarray(raw)
        if array.dtype.kind == "O" and array.size and all(map(is_number, array.flat)):
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    if array.dtype.kind == "c" and not np.any(array.imag):
        array = array.real
    return array if array.dtype.kind in "fiu" else None


def is_number(value: Any) -> bool:
    """Is it a number that NumPy does not know: no text, no truth value, no array, and with a __float__?"""
    return hasattr(value, "__float__") and not isinstance(value, (str, bytes, bool, np.bool_, np.ndarray))


def described(raw: Any) -> str:
    """The type of an answer, with its dtype if it is an array."""
    if not isinstance(raw, np.ndarray):
        return "None" if raw is None else f"a value of type {type(raw).__name__}"
    masked = f" with {np.ma.count_masked(raw)} masked entries" if np.ma.is_masked(raw) else ""
    return f"an array of dtype {raw.dtype}{masked}"


# An answer as a line of JSON can hold it


def as_record(answer: Answer) -> dict[str, Any]:
    """Plain data: a list of numbers, infinity as text, and the rest."""
    x = None if answer.x is None else [v if math.isfinite(v) else repr(v) for v in answer.x.tolist()]
    return {**vars(answer), "x": x}


def from_record(record: Mapping[str, Any], instance: Instance) -> Answer:
    """The answer in a record that another process wrote: what has not the expected type is not read."""
    x, problem = record.get("x"), text_of(record.get("problem"))
    if record.get("unsupported") is True:
        return Answer(None, problem, asked=False, unsupported=True)
    if x is None or problem:
        return Answer(None, problem or "returned nothing")
    found = form_of(numbers_in(x), instance)
    if found.x is None:
        return found
    aged = record.get("disturbed")
    pairs = [p for p in listed(aged) if isinstance(p, list) and len(p) == 2 and isinstance(p[0], int)]
    return Answer(
        found.x,
        single=record.get("single") is True,
        disturbed=tuple((age, text_of(what)) for age, what in pairs),
    )


def numbers_in(value: Any) -> Any:
    """The float64 array, or number, in decoded JSON; null is NaN, and whatever else is there is not a number."""
    cells: list[Any] = value if isinstance(value, list) else [value]
    made = [math.nan if v is None else math.inf if v == "inf" else v for v in cells]
    if any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in made):
        return None
    try:
        array = np.array(made, dtype=np.float64)
    except OverflowError:  # a whole number beyond all floats
        return None
    return array if isinstance(value, list) else array[0]


def listed(value: Any) -> list[Any]:
    """At most ten entries of a list; nothing of anything else."""
    return value[:10] if isinstance(value, list) else []


def text_of(value: Any) -> str:
    """At most 300 letters of a text on one line, none of which steers a terminal; "" for anything but text."""
    return printable(" ".join(value[:300].split())) if isinstance(value, str) else ""


# Calling a function


class FunctionCaller:
    """Calls a Python function within a time limit, and watches its arguments and answers.

    lost says why it is not called again: one call did not return, and Python cannot end its thread.
    """

    remote = False

    def __init__(self, function: Callable[..., Any], time_limit: float, level: str) -> None:
        self.function = function
        self.time_limit = time_limit
        self.passed: tuple[str, ...] = parameters_by_name(function, LEVELS[level].arguments)
        self.lost: str = ""
        self._given: deque[tuple[list[Any], list[Any]]] = deque(maxlen=WATCHED)
        self._returned: deque[tuple[Any, Any]] = deque(maxlen=WATCHED)

    def respond(self, instance: Instance, *, reuse: bool = False) -> Answer:
        """One call with fresh arrays in the instance's layout, or with the arrays of the call before, overwritten."""
        plain = [instance.data[name] for name in LEVELS[instance.level].arguments]
        arguments = [laid_out(value, instance.layout) for value in plain]
        if reuse and self._given:
            arguments = [written_over(old, new) for old, new in zip(self._given[-1][0], arguments, strict=True)]
            self._given.clear()  # it is the kit that has written to these arrays
        self._given.append((arguments, [np.copy(value) for value in arguments]))
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            raw, error = self._run(arguments, instance.level)
        if isinstance(error, NotImplementedError):
            return Answer(None, f"unsupported: {first_line(error)}", asked=False, unsupported=True)
        if self.lost:
            return Answer(None, self.lost, asked=False)
        found = form_of(raw, instance) if error is None else Answer(None, raised(error))
        self._returned.append((raw, np.copy(raw)) if isinstance(raw, np.ndarray) else (None, None))
        return replace(found, disturbed=tuple(self._disturbed(instance.level)))

    def _run(self, arguments: list[Any], level: str) -> tuple[Any, BaseException | None]:
        """(what the function returned, what it raised), from a thread that is left behind if it does not return."""
        found: list[tuple[Any, BaseException | None]] = []
        names = LEVELS[level].arguments
        given = [arguments[names.index(name)] for name in self.passed or names]

        def work() -> None:
            try:
                found.append((self.function(*given), None))
            except BaseException as error:  # SystemExit included: a solver that exits has not answered
                found.append((None, error))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(self.time_limit)
        if not found:
            self.lost = f"no answer within {self.time_limit:g} s; the solver was not called again"
            return None, None
        return found[0]

    def _disturbed(self, level: str) -> list[tuple[int, str]]:
        """(age, what) of the arguments and answers of the last calls that have changed; each is noted once."""
        noted: list[tuple[int, str]] = []
        for age, (arguments, copies) in enumerate(reversed(self._given)):
            for i, name in enumerate(LEVELS[level].arguments):
                if not np.array_equal(arguments[i], copies[i], equal_nan=True):
                    noted.append((age, f"{name} was changed in place"))
                    copies[i] = np.copy(arguments[i])
        for age, (raw, copy) in enumerate(reversed(self._returned)):
            # a NaN is unequal to itself, and an answer of objects has no NaN
            if raw is not None and not np.array_equal(raw, copy, equal_nan=raw.dtype.kind in "fc"):
                noted.append((age, "a later call overwrote it"))
                copy[...] = raw
        return noted


def parameters_by_name(function: Callable[..., Any], names: Sequence[str]) -> tuple[str, ...]:
    """The arguments that a function takes by name, if these are fewer than a level has; () if it takes all of them.

    InvalidParameter for a function that cannot be called with the level's arguments at all.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # a function of C, without a signature
        return ()
    try:
        signature.bind(*names)
        return ()
    except TypeError:
        own = tuple(signature.parameters)
    if own and set(own) <= set(names):
        return own
    raise InvalidParameter(
        f"it takes ({', '.join(own)}); this level calls it with ({', '.join(names)}), or with those of them "
        "that it has as parameters."
    )


def written_over(old: Any, new: Any) -> Any:
    """The old array with new numbers, if both are arrays of one shape; otherwise the new value."""
    if not (isinstance(old, np.ndarray) and isinstance(new, np.ndarray) and old.shape == new.shape):
        return new
    old[...] = new
    return old


def raised(error: BaseException) -> str:
    """An exception as one line."""
    return f"raised {type(error).__name__}: {first_line(error)}"


def first_line(error: BaseException) -> str:
    """The first line of an exception's message."""
    return text_of(next(iter(str(error).strip().splitlines()), "")) or "without a message"
