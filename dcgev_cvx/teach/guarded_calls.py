"""Calls of a student's code: within a time limit, its output kept back, its failures said in a sentence."""

import contextlib
import ctypes
import io
import threading
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .._numerics.checks import Vector, as_number, as_vector, shown
from ..errors import DCGEVError

T = TypeVar("T")


class Unusable(DCGEVError):
    """An answer that cannot be judged; the message is the sentence for the student."""


class Interrupted(BaseException):
    """Raised inside a student's code when its time is over."""


def guarded(work: Callable[[], T], seconds: float) -> tuple[T, str]:
    """(what work() returns, the first line that it printed); Unusable when it raises or takes too long."""
    result: Future[T] = Future()
    output = io.StringIO()

    def run() -> None:
        try:
            with np.errstate(all="ignore"):
                result.set_result(work())
        except BaseException as error:  # SystemExit included: the lesson goes on
            result.set_exception(error)

    with warnings.catch_warnings(), contextlib.redirect_stdout(output):
        warnings.simplefilter("ignore")
        finished = run_in_thread(run, seconds)
    if not finished:
        raise Unusable(f"There was no answer within {seconds:g} s. Is there an endless loop, or an input()?")
    if error := result.exception():
        raise Unusable(raised(error))
    return result.result(), output.getvalue().strip().partition("\n")[0]


def run_in_thread(run: Callable[[], None], seconds: float) -> bool:
    """Whether run() came to its end in time; then it is interrupted. Without threads (Pyodide) there is no limit."""
    thread = threading.Thread(target=run, daemon=True)
    try:
        thread.start()
    except RuntimeError:
        run()
        return True
    thread.join(seconds)
    finished = not thread.is_alive()
    for _ in range(20):  # one exception may be swallowed by an `except:` of the student's
        if not thread.is_alive() or thread.ident is None:
            break
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(Interrupted))
        thread.join(0.05)
    return finished


def raised(error: BaseException) -> str:
    """What a student's code raised, and on which of its lines; an error of this package says it itself."""
    if isinstance(error, DCGEVError):
        return str(error)
    package = str(Path(__file__).parents[1])
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(package)]
    own = next((frame for frame in reversed(frames) if "site-packages" not in frame.filename), None)
    where = f" in line {own.lineno}" + (f", `{own.line}`" if own.line else "") if own else ""
    message = str(error).strip().partition("\n")[0] or "no message"
    advice = " Your code changes one of its arguments: work on a copy." if "read-only" in message else ""
    return f"Your code raises {type(error).__name__}{where}: {message}.{advice}"


def called(answer: Any, *arguments: Any) -> Any:
    """The value of a student's function."""
    if not callable(answer):
        raise Unusable(f"The answer must be a function, got {shown(answer)}.")
    value = answer(*arguments)
    if value is None:
        raise Unusable("Your function returns None. Is a `return` missing?")
    return value


def returned_vector(value: Any, n: int, what: str) -> Vector:
    """A vector of n numbers; NaN is allowed in an array, because 0/0 is a typical mistake."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.shape in ((n,), (n, 1)):
        return value.astype(np.float64).reshape(n)
    return as_vector(value, n, what)


def returned_number(value: Any, what: str) -> float:
    """A real number; a float may be NaN or infinite."""
    if isinstance(value, (float, np.floating)):
        return float(value)
    return as_number(value, what, low=-1e300)
