"""A Python function on trial in a process of its own: whatever it does there, the trial goes on and judges.

The parent speaks the protocol of `verify.protocol` over pipes that the function cannot reach by printing: in the
child the file descriptors 0 and 1 lead nowhere. Arrays travel as bytes with their layout, so that strides, Fortran
order, read-only and reused arrays are what they would be in one process. What the function did beside answering
(arguments or earlier answers overwritten, warnings, printing) is reported with the answer and repeated on the copies
of the parent.
"""

from __future__ import annotations

import base64
import io
import json
import math
import os
import pickle
import sys
import warnings
from collections import deque
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import astuple
from types import NoneType
from typing import Any, cast

import numpy as np

from .._numerics.checks import shown
from ..errors import InvalidParameter, SolverFailed
from ..verify.levels import strided
from ..verify.protocol import PROTOCOL, ProcessSolver
from ..verify.solver_coverage import Branch, Watcher
from ..verify.trial import NotInTime, first_line, numbers_of

KEPT = 4
"""Calls whose arguments, and answers whose numbers, are compared again after later calls."""


IMPORTING = 30.0
"""Seconds for the imports of the function's module, which are not part of a call."""


class FunctionProcess(ProcessSolver):
    """The function that MODULE:FUNCTION or FILE.py:FUNCTION names, called in another process.

    Parameters
    ----------
    target : str
        The function's module or file, a colon, and its name.
    level : str
        The level that it is tried at.
    time_limit : float
        Seconds for one call. A function that exceeds it once is not called again.

    Raises
    ------
    InvalidParameter
        If the module cannot be imported or has no such function.
    SolverFailed
        If the process ends, or its answer cannot be read.
    """

    remote = False

    def __init__(self, target: str, level: str, *, time_limit: float) -> None:
        self._given: deque[list[Any]] = deque(maxlen=KEPT)
        self._returned: deque[Any] = deque(maxlen=KEPT)
        self._target = target
        self.goal: Any = None
        self.problem: str = ""
        self.distance: float = math.inf
        self.values: list[float] = []
        self.taken: set[Any] = set()
        command = [sys.executable, "-P", "-m", "dcgev_cvx.cli.solver_process", target]
        super().__init__(command, level, time_limit=time_limit)
        self.__name__: str = target.rpartition(":")[2]

    def _greet(self) -> None:
        seconds = max(self.time_limit, IMPORTING)
        try:
            answer = self._exchange({"type": "hello", "protocol": PROTOCOL}, seconds)
        except NotInTime:
            raise InvalidParameter(
                f"{self._target} was not imported within {seconds:g} s: allow more by --time-limit."
            ) from None
        if "invalid" in answer:
            raise InvalidParameter(str(answer["invalid"]))

    def __call__(self, *arguments: Any) -> Any:
        """One call in the other process; what it changed there is changed here, what it raised is raised here."""
        sent = [(value, self._place(value), *layout_of(value)) for value in arguments]
        self._given.append(list(arguments))
        answer = self._ask(self._repeat, "call", sent, self.goal)
        if answer["printed"]:
            print("the function printed")
        if answer["warned"]:
            warnings.warn(answer["warned"], stacklevel=2)
        if "unsupported" in answer:
            raise NotImplementedError(answer["unsupported"])
        if "raised" in answer:
            raise SolverFailed(answer["raised"])
        if "unknown" in answer:  # what is no number has the name of its type alone
            return type(answer["unknown"], (), {})()
        self._returned.append(answer["answer"])
        return answer["answer"]

    def _ask(self, understand: Callable[[Any], Any], *request: Any) -> Any:
        """The answer to a request, as `understand` takes it; the process can send anything."""
        line = self._exchange(encoded(request))
        try:
            return understand(AnswerReader(io.BytesIO(base64.b64decode(line["pickle"]))).load())
        except Exception as cause:
            self.lost = f"its process sent an answer that cannot be read ({shown(cause)})."
            raise SolverFailed(self.lost) from cause

    def _repeat(self, answer: Any) -> dict[str, Any]:
        """Repeat on the copies here what the call did beside answering."""
        self.distance, self.values = float(answer["distance"]), list(map(float, answer["values"]))
        self.taken = {(tuple(map(int, place)), bool(outcome)) for place, outcome in answer["taken"]}
        for age, index, value in answer["changed"]:
            overwrite(self._given[age][index], value)
        for age, value in answer["overwritten"]:
            overwrite(self._returned[age], value)
        return {"printed": False, "warned": "", "answer": None, **answer}

    def fresh(self) -> FunctionProcess:
        """The same function in a new process."""
        return FunctionProcess(self._target, self.level.name, time_limit=self.time_limit)

    def branches(self) -> list[Branch]:
        """The conditions of the function's source that had one outcome only."""
        found = list[Branch]()
        with suppress(SolverFailed):
            found, self.problem = self._ask(branches_of, "branches")
        return found

    def text(self, place: Any) -> tuple[str, str]:
        """The line and the condition at a place of the source."""
        with suppress(SolverFailed):
            source, condition = self._ask(lambda texts: map(str, texts), "text", place)
            return source, condition
        return "", ""

    def _place(self, value: Any) -> tuple[int, int] | None:
        """Where the same array was an argument before: it is the same array in the other process too."""
        given = ((age, index, old) for age, values in enumerate(self._given) for index, old in enumerate(values))
        return next(((a, i) for a, i, old in given if old is value and isinstance(value, np.ndarray)), None)


def overwrite(array: Any, value: Any) -> None:
    """New numbers in an array, if it is one and can be written to."""
    if isinstance(array, np.ndarray) and isinstance(value, np.ndarray) and array.shape == value.shape:
        if not array.flags.writeable:
            array.flags.writeable = True
        array[...] = value


def encoded(message: Any) -> dict[str, str]:
    """A message as a line of JSON can hold it."""
    return {"pickle": base64.b64encode(pickle.dumps(message)).decode()}


class AnswerReader(pickle.Unpickler):
    """Reads numbers, arrays, text and what contains them: any other class could run code in this process."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        """A part of NumPy that builds arrays, or an error."""
        if module_name.startswith("numpy") and global_name in ("_reconstruct", "_frombuffer", "ndarray", "dtype"):
            return super().find_class(module_name, global_name)
        raise pickle.UnpicklingError(f"it contains {module_name}.{global_name}")


def branches_of(answer: Any) -> tuple[list[Branch], str]:
    """The branches in an answer, and why they were not watched."""
    (found, problem), made = answer, cast("Any", Branch)
    return [made(tuple(map(int, p)), str(s), str(c), bool(m), int(n)) for p, s, c, m, n in found], str(problem)


def layout_of(value: Any) -> tuple[bool, bool]:
    """(is it an array neither in C nor in Fortran order, may it be written to): what a copy does not keep."""
    flags = np.asarray(value).flags
    return not (flags.c_contiguous or flags.f_contiguous), flags.writeable


def described(raw: Any) -> dict[str, Any]:
    """An answer as arrays, lists and numbers that the parent can read; of anything else the name of its type."""
    if isinstance(raw, np.ndarray) and raw.dtype.kind in "fiubc" and not np.ma.isMaskedArray(raw):
        return {"answer": np.array(raw, subok=False)}
    if type(raw) in (bool, int, float, str, NoneType):
        return {"answer": raw}
    numbers = numbers_of(raw)
    if numbers is None:
        return {"unknown": type(raw).__name__}
    numbers = np.array(numbers, dtype=np.float64)
    return {"answer": numbers.tolist() if isinstance(raw, (list, tuple)) else numbers}


# The child


def main() -> None:
    """Answer requests until the input ends."""
    requests, answers = os.fdopen(os.dup(0), encoding="utf-8"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    dump = json.dumps  # the function may replace what it finds in modules

    def say(message: dict[str, Any]) -> None:
        answers.write(dump(message) + "\n")
        answers.flush()

    requests.readline()
    try:
        from .verify_command import loaded

        function = Watcher(loaded(sys.argv[1]))
        say({"type": "hello", "protocol": PROTOCOL})
    except InvalidParameter as cause:
        say({"invalid": str(cause)})
        return
    memory = Memory()
    for line in requests:
        kind, *content = pickle.loads(base64.b64decode(json.loads(line)["pickle"]))
        if kind == "call":
            sent, function.goal = content
            answer = memory.call(function, sent)
            seen = {"distance": function.distance, "values": function.values, "taken": function.taken}
            say(encoded({**answer, **seen}))
        else:
            branches = [astuple(branch) for branch in function.branches()]
            say(encoded(function.text(*content) if kind == "text" else (branches, function.problem)))


class Memory:
    """The calls of a function, with copies of its last arguments and answers to compare them with."""

    def __init__(self) -> None:
        self.given: deque[tuple[list[Any], list[Any]]] = deque(maxlen=KEPT)
        self.returned: deque[tuple[Any, Any]] = deque(maxlen=KEPT)

    def call(self, function: Any, sent: list[Any]) -> dict[str, Any]:
        """One call: the answer or what was raised, and what happened beside it."""
        arguments = [self.argument(*value) for value in sent]
        self.given.append((arguments, [np.copy(value) for value in arguments]))
        output, found = io.StringIO(), dict[str, Any]()
        with warnings.catch_warnings(record=True) as caught, redirect_stdout(output), redirect_stderr(sys.stderr):
            warnings.simplefilter("always")
            try:
                raw = function(*arguments)
                found = described(raw)
                if "answer" in found:
                    self.returned.append((raw, np.copy(raw) if isinstance(raw, np.ndarray) else None))
            except NotImplementedError as error:
                found["unsupported"] = first_line(error)
            except BaseException as error:  # SystemExit included: a function that exits has not answered
                found["raised"] = f"raised {type(error).__name__}: {first_line(error)}"
        found["warned"] = f"{caught[0].category.__name__}: {caught[0].message}" if caught else ""
        found["printed"] = bool(output.getvalue())
        return {**found, "changed": self.changed(), "overwritten": self.overwritten()}

    def argument(self, value: Any, place: tuple[int, int] | None, as_strided: bool, writeable: bool) -> Any:
        """The argument in its layout, or the same array as before where the parent passed the same."""
        if not isinstance(value, np.ndarray):
            return value
        if place is None:
            value = strided(value) if as_strided else value.copy(order="K")
            value.flags.writeable = writeable
            return value
        age, index = place
        arguments, copies = self.given[age]
        overwrite(arguments[index], value)
        copies[index] = value  # it is the parent that writes to it
        return arguments[index]

    def changed(self) -> list[tuple[int, int, Any]]:
        """(call, argument, new numbers) of arguments that are no longer what they were."""
        found = list[tuple[int, int, Any]]()
        for age, (arguments, copies) in enumerate(self.given):
            for index, new in enumerate(arguments):
                if not np.array_equal(new, copies[index]):
                    copies[index] = np.copy(new)
                    found.append((age, index, copies[index]))
        return found

    def overwritten(self) -> list[tuple[int, Any]]:
        """(answer, new numbers) of answers that a later call has overwritten."""
        kept = [(age, raw, copy) for age, (raw, copy) in enumerate(self.returned) if copy is not None]
        return [(age, np.array(raw)) for age, raw, copy in kept if not np.array_equal(raw, copy)]


if __name__ == "__main__":
    main()
