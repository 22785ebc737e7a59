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
from contextlib import redirect_stderr, redirect_stdout
from types import NoneType
from typing import Any

import numpy as np

from ..errors import InvalidParameter, SolverFailed
from ..verify.levels import strided
from ..verify.protocol import PROTOCOL, ProcessSolver
from ..verify.solver_coverage import Branch, Watcher
from ..verify.trial import first_line, numbers_of

KEPT = 4
"""Calls whose arguments, and answers whose numbers, are compared again after later calls."""


IMPORTING = 60.0
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
        self._target, self.goal = target, None
        self.problem, self.distance, self.values, self.taken = "", math.inf, list[float](), set[Any]()
        command = [sys.executable, "-P", "-m", "dcgev_cvx.cli.solver_process", target]
        super().__init__(command, level, time_limit=time_limit)
        self.__name__ = target.rpartition(":")[2]

    def _greet(self) -> None:
        answer = self._exchange({"type": "hello", "protocol": PROTOCOL}, max(self.time_limit, IMPORTING))
        if "invalid" in answer:
            raise InvalidParameter(str(answer["invalid"]))

    def __call__(self, *arguments: Any) -> Any:
        """One call in the other process; what it changed there is changed here, what it raised is raised here."""
        self._count += 1
        sent = [packed(value, self._place(value)) for value in arguments]
        self._given.append(list(arguments))
        answer = self._exchange({"id": self._count, "arguments": sent, "goal": self.goal})
        self.distance, self.values = answer["distance"], answer["values"]
        self.taken = {(tuple(place), outcome) for place, outcome in answer["taken"]}
        for age, index, value in answer.get("changed", []):
            overwrite(self._given[age][index], unpacked(value))
        for age, value in answer.get("overwritten", []):
            overwrite(self._returned[age], unpacked(value))
        if answer.get("printed"):
            print("the function printed")
        if answer.get("warned"):
            warnings.warn(str(answer["warned"]), stacklevel=2)
        if "unsupported" in answer:
            raise NotImplementedError(str(answer["unsupported"]))
        if "raised" in answer:
            raise SolverFailed(str(answer["raised"]))
        result = unpacked(answer["answer"])
        self._returned.append(result)
        return result

    def fresh(self) -> FunctionProcess:
        """The same function in a new process."""
        return FunctionProcess(self._target, self.level.name, time_limit=self.time_limit)

    def branches(self) -> list[Branch]:
        """The conditions of the function's source that had one outcome only."""
        if self.lost:
            return []
        answer = self._exchange({"branches": True})
        self.problem = answer["problem"]
        return [Branch(tuple(place), *rest) for place, *rest in answer["branches"]]

    def text(self, place: Any) -> tuple[str, str]:
        """The line and the condition at a place of the source."""
        source, condition = self._exchange({"text": place})["text"]
        return source, condition

    def _place(self, value: Any) -> tuple[int, int] | None:
        """Where the same array was an argument before: it is the same array in the other process too."""
        given = ((age, index, old) for age, values in enumerate(self._given) for index, old in enumerate(values))
        return next(((a, i) for a, i, old in given if old is value and isinstance(value, np.ndarray)), None)


def overwrite(array: Any, value: Any) -> None:
    """New numbers in an array, if it is one and can be written to."""
    if isinstance(array, np.ndarray) and isinstance(value, np.ndarray) and array.shape == value.shape:
        array.flags.writeable = True
        array[...] = value


def packed(value: Any, place: tuple[int, int] | None = None) -> dict[str, Any]:
    """A number, a list of numbers or an array, with its layout; of anything else the name of its type."""
    array = isinstance(value, np.ndarray) and value.dtype.kind in "fiubc" and not np.ma.isMaskedArray(value)
    if not array and type(value) not in (bool, int, float, str, NoneType):
        numbers = numbers_of(value)
        if numbers is None:
            return {"unknown": type(value).__name__}
        numbers = np.asarray(numbers, dtype=np.float64)
        value = numbers.tolist() if isinstance(value, (list, tuple)) else numbers
    flags = np.asarray(value).flags if array else np.zeros(1).flags
    about = {"strided": not (flags.c_contiguous or flags.f_contiguous), "writeable": flags.writeable, "place": place}
    text = base64.b64encode(pickle.dumps(np.asarray(value) if array else value)).decode()
    return {"pickle": text, **about}


def unpacked(sent: dict[str, Any]) -> Any:
    """The value again; an array that was neither in C nor in Fortran order is strided again."""
    if "unknown" in sent:
        return type(sent["unknown"], (Unknown,), {})()
    value = pickle.loads(base64.b64decode(sent["pickle"]))
    if isinstance(value, np.ndarray):
        value = strided(value) if sent["strided"] else value.copy(order="K")
        value.flags.writeable = sent["writeable"]
    return value


class Unknown:
    """An answer that is no number, of which the parent knows the type's name only."""


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

    function: Any = None
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
        request = json.loads(line)
        if "branches" in request:
            found = [list(vars(branch).values()) for branch in function.branches()]
            say({"branches": found, "problem": function.problem})
        elif "text" in request:
            say({"text": function.text(tuple(request["text"]))})
        else:
            function.goal = request["goal"] and (tuple(request["goal"][0]), request["goal"][1])
            answer = memory.call(function, request["arguments"])
            seen = {"distance": function.distance, "values": function.values, "taken": list(function.taken)}
            say({"id": request["id"], **answer, **seen})


class Memory:
    """The calls of a function, with copies of its last arguments and answers to compare them with."""

    def __init__(self) -> None:
        self.given: deque[tuple[list[Any], list[Any]]] = deque(maxlen=KEPT)
        self.returned: deque[tuple[Any, Any]] = deque(maxlen=KEPT)

    def call(self, function: Any, sent: list[Any]) -> dict[str, Any]:
        """One call: the answer or what was raised, and what happened beside it."""
        arguments = self.arguments(sent)
        self.given.append((arguments, [np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments]))
        output, found = io.StringIO(), dict[str, Any]()
        with warnings.catch_warnings(record=True) as caught, redirect_stdout(output), redirect_stderr(sys.stderr):
            warnings.simplefilter("always")
            try:
                raw = function(*arguments)
                found["answer"] = packed(raw)
                self.returned.append((raw, np.copy(raw) if isinstance(raw, np.ndarray) else None))
            except NotImplementedError as error:
                found["unsupported"] = first_line(error)
            except BaseException as error:  # SystemExit included: a function that exits has not answered
                found["raised"] = f"raised {type(error).__name__}: {first_line(error)}"
        found["warned"] = f"{caught[0].category.__name__}: {caught[0].message}" if caught else ""
        found["printed"] = bool(output.getvalue())
        return {**found, "changed": self.changed(), "overwritten": self.overwritten()}

    def arguments(self, sent: list[Any]) -> list[Any]:
        """The arguments, the same arrays as before where the parent passed the same."""
        values = [unpacked(value) for value in sent]
        for index, value in enumerate(sent):
            if value["place"] is not None:
                age, at = value["place"]
                old = self.given[age][0][at]
                overwrite(old, values[index])
                values[index] = old
                self.given[age][1][at] = np.copy(old)  # it is the parent that writes to it
        return values

    def changed(self) -> list[Any]:
        """(call, argument, new numbers) of arguments that are no longer what they were."""
        found = [
            (age, index, packed(new))
            for age, (arguments, copies) in enumerate(self.given)
            for index, (new, old) in enumerate(zip(arguments, copies, strict=True))
            if isinstance(old, np.ndarray) and not np.array_equal(new, old)
        ]
        for age, index, _ in found:
            self.given[age][1][index] = np.copy(self.given[age][0][index])
        return found

    def overwritten(self) -> list[Any]:
        """(answer, new numbers) of answers that a later call has overwritten."""
        kept = [(age, raw, copy) for age, (raw, copy) in enumerate(self.returned) if copy is not None]
        return [(age, packed(raw)) for age, raw, copy in kept if not np.array_equal(raw, copy)]


if __name__ == "__main__":
    main()
