"""Asking a solver: one call at a time, within a time limit, with everything it did on the side written down."""

from __future__ import annotations

import io
import math
import queue
import sys
import threading
import warnings
from collections import deque
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from time import perf_counter, process_time
from typing import Any, TypeAlias

import numpy as np

from .._numerics.checks import Vector, as_number
from .instances import LEVELS, Instance

Solver: TypeAlias = Callable[..., Any]

TIME_LIMIT = 10.0
"""Seconds a call may take; then it counts as hanging and no further call is made."""
WATCHED = 4
"""For how many calls an array that was handed over is watched: a solver may keep it and write to it later."""
PATIENCE = 6.0
"""How many time limits a solver is given that computes but gets little of a busy machine."""


def as_time_limit(seconds: Any) -> float:
    """Seconds > 0 that a queue can wait for; an error of ours otherwise."""
    return as_number(seconds, "time_limit", strict=True, high=threading.TIMEOUT_MAX)


@dataclass(frozen=True)
class Answer:
    """What came back: x (or a bound as a vector of one), or why it cannot be judged.

    x is None when the form is wrong, and problem says how; asked is False for calls that were not made because the
    solver hung before. x is a copy, raw what the solver handed over, which it may still own.
    """

    x: Vector | None
    problem: str = ""
    seconds: float = 0.0
    oddities: tuple[str, ...] = ()
    single: bool = False
    printed: bool = False
    warned: str = ""
    asked: bool = True
    raw: Any = None


@dataclass(eq=False)
class Handed:
    """What a solver was given, with copies of the arrays to compare them with."""

    instance: Instance
    arguments: list[Any]
    copies: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.copies = [a.copy() if isinstance(a, np.ndarray) else a for a in self.arguments]

    def changed(self) -> str:
        """The names of the arrays that hold other numbers now."""
        names = LEVELS[self.instance.level].arguments
        rows = zip(names, self.copies, self.arguments, strict=True)
        return ", ".join(name for name, old, new in rows if differs(old, new))


@dataclass
class Session:
    """A solver on trial: every answer is kept, so that one call serves all checks.

    Solvers run in one worker thread: a call that never returns is left behind, as Python cannot end a thread, and
    no further call is made. stdout and warnings are caught during the call and reported as manners. written holds
    the calls during which an argument was changed, of that call or of one of the last before it.
    """

    solver: Solver
    time_limit: float = TIME_LIMIT
    calls: int = 0
    seconds: float = 0.0
    hung: str = ""
    answers: dict[int, Answer] = field(default_factory=dict[int, Answer])
    kept: list[Instance] = field(default_factory=list[Instance])
    written: list[tuple[Instance, str]] = field(default_factory=list[tuple[Instance, str]])
    watched: deque[Handed] = field(default_factory=lambda: deque[Handed](maxlen=WATCHED))
    progress: Callable[[int], None] | None = None
    _worker: _Worker | None = None

    def ask(self, instance: Instance) -> Answer:
        """The answer to an instance, asked for the first time or remembered.

        Answers are kept by the instance's identity, so that the same numbers in another instance are asked again.
        """
        if id(instance) not in self.answers:
            self.kept.append(instance)  # an id is only good while its object lives
            self.answers[id(instance)] = self.call(instance, instance.arguments())
        return self.answers[id(instance)]

    def call(self, instance: Instance, arguments: list[Any]) -> Answer:
        """One call with the given arguments, judged for form alone.

        Arguments are compared with copies taken before the call. Seconds are those of the call alone.
        """
        if self.hung:
            return Answer(None, self.hung, asked=False)
        self.watched.append(Handed(instance, arguments))
        noise = Noise()
        begin = perf_counter()
        own = redirect_stderr(sys.stderr)  # as it was, whatever the solver makes of it
        with warnings.catch_warnings(record=True) as caught, redirect_stdout(noise), own:
            warnings.simplefilter("always")
            raw, failure = self._run(arguments)
        seconds = perf_counter() - begin
        self.calls += 1
        self.seconds += seconds
        if self.progress is not None:
            self.progress(self.calls)
        self._look()
        return replace(
            form_of(instance, raw, failure),
            seconds=seconds,
            printed=bool(noise.getvalue()),
            warned=f"{caught[0].category.__name__}: {caught[0].message}" if caught else "",
            raw=raw,
        )

    def _look(self) -> None:
        """Note which of the arrays handed over last are no longer what they were; each call is noted once."""
        for handed in list(self.watched):
            if names := handed.changed():
                late = "" if handed is self.watched[-1] else ", when it was called again"
                self.written.append((handed.instance, f"changed {names} in place{late}"))
                self.watched.remove(handed)

    def _run(self, arguments: list[Any]) -> tuple[Any, str]:
        """(what the solver returned, what went wrong)."""
        if self._worker is None:
            self._worker = _Worker(self.solver)
        try:
            raw, error = self._worker.run(arguments, self.time_limit)
        except queue.Empty:
            self.hung = f"no answer within {self.time_limit:g} s; the solver was not called again"
            return None, self.hung
        if error is not None:
            return None, f"raised {type(error).__name__}: {first_line(error)}"
        return raw, ""


def first_line(error: BaseException) -> str:
    """An exception's message as far as its first line; its own __str__ may raise."""
    try:
        text = str(error).strip().splitlines()
    except Exception:
        text = []
    return text[0] if text else "without a message"


class Noise(io.StringIO):
    """What a solver prints; a solver that closes its stdout closes nothing."""

    def close(self) -> None:
        """Stay open, so that what was printed can be read."""


class _Worker:
    """One daemon thread that calls the solver, so that a call that never returns can be left behind."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self._inbox: queue.SimpleQueue[list[Any]] = queue.SimpleQueue()
        self._outbox: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        threading.Thread(target=self._serve, daemon=True).start()

    def run(self, arguments: list[Any], seconds: float) -> tuple[Any, BaseException | None]:
        """The solver's answer or its exception; queue.Empty when it takes too long."""
        begin, used, wait = perf_counter(), process_time(), seconds
        self._inbox.put(arguments)
        while True:
            try:
                return self._outbox.get(timeout=wait)
            except queue.Empty:
                if not starved(perf_counter() - begin, process_time() - used, seconds):
                    raise
                wait = 0.25 * seconds

    def _serve(self) -> None:
        while True:
            arguments = self._inbox.get()
            try:
                self._outbox.put((self._solver(*arguments), None))
            except BaseException as error:  # whatever the solver raises, SystemExit included, is an answer
                self._outbox.put((None, error))


def starved(wall: float, cpu: float, limit: float) -> bool:
    """Is the solver computing on a machine that gives it little: under half its time limit so far, but not nothing?

    A solver that sleeps uses no CPU and is not waited for; one that computes on an idle machine has used its limit.
    """
    return 0.02 * wall < cpu < 0.5 * limit and wall < PATIENCE * limit


def form_of(instance: Instance, raw: Any, failure: str) -> Answer:
    """The answer as numbers, or what is wrong with its form."""
    if failure:
        return Answer(None, failure)
    if LEVELS[instance.level].returns == "bound":
        return Answer(*number_of(raw))
    x, problem, oddities, single = vector_of(raw, instance.n)
    return Answer(x, problem, oddities=oddities, single=single)


def differs(old: Any, new: Any) -> bool:
    """Was an argument changed in place?"""
    return isinstance(old, np.ndarray) and not np.array_equal(old, new)


def numbers_of(raw: Any) -> Any:
    """An answer as an array of real numbers, or None where it is none: text, objects, masks, imaginary parts.

    Numbers of another kind (Fraction, Decimal, mpmath's) are numbers if they say what they are as a float.
    """
    if np.ma.is_masked(raw):
        return None
    try:
        array: Any = np.asarray(raw)
        if array.dtype.kind == "O" and array.size and all(map(is_number, array.flat)):
            array = array.astype(np.float64)
    except BaseException:  # whatever a foreign object does when it is looked at, SystemExit included
        return None
    if array.dtype.kind == "c" and not np.any(array.imag):
        array = array.real
    return array if array.dtype.kind in "fiu" else None


def is_number(value: Any) -> bool:
    """Is it a number that NumPy does not know: no text, no truth value, no array, and with a float of its own?"""
    return hasattr(value, "__float__") and not isinstance(value, (str, bytes, bool, np.bool_, np.ndarray))


def number_of(raw: Any) -> tuple[Vector | None, str]:
    """A bound as a vector of one, or why it is none; +∞ is a number, NaN is not.

    −∞ is a number too, and an invalid bound.
    """
    array = numbers_of(raw)
    if array is None:
        return None, f"returned {described(raw)} where a number is expected"
    if array.size != 1:
        return None, f"returned an array of shape {array.shape} where a number is expected"
    value = float(array.reshape(-1)[0])
    return (None, "returned NaN") if math.isnan(value) else (np.array([value]), "")


def vector_of(raw: Any, n: int) -> tuple[Vector | None, str, tuple[str, ...], bool]:
    """(x, what is wrong, what is odd, float32?): lists and (n, 1) are odd but right, other shapes are wrong.

    Complex numbers without an imaginary part and objects that are numbers pass; booleans, text, other objects and
    other shapes do not. Single precision is noticed and judged by its own tolerance.
    """
    if raw is None:
        return None, "returned None", (), False
    array = numbers_of(raw)
    if array is None:
        return None, f"returned {described(raw)}, not a vector of {n} real numbers", (), False
    if array.shape not in ((n,), (n, 1)):
        return None, f"returned an array of shape {array.shape} where ({n},) is expected", (), False
    single = array.dtype.kind == "f" and array.dtype.itemsize < 8
    odd = [] if isinstance(raw, np.ndarray) else [f"returned a {type(raw).__name__}, not an array"]
    odd += ["returned shape (n, 1)"] if array.ndim == 2 else []
    odd += [f"returned dtype {np.asarray(raw).dtype}"] if np.asarray(raw).dtype != np.float64 else []
    x = array.reshape(n).astype(np.float64)
    bad = int(n - np.count_nonzero(np.isfinite(x)))
    return (
        (None, f"returned {bad} entries that are NaN or infinite", (), single) if bad else (x, "", tuple(odd), single)
    )


def described(raw: Any) -> str:
    """The type of an answer, with its dtype if it is an array."""
    if raw is None:
        return "None"
    if not isinstance(raw, np.ndarray):
        return f"a value of type {type(raw).__name__}"
    masked = f" with {np.ma.count_masked(raw)} masked entries" if np.ma.is_masked(raw) else ""
    return f"an array of dtype {raw.dtype}{masked}"
