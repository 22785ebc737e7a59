"""A solver in any language: JSON lines over the standard input and output of a program.

    kit      {"type": "hello", "protocol": 1, "level": "pca", "arguments": ["A", "rho", "eps", "x0"], "returns": "x"}
    program  {"type": "hello", "protocol": 1, "name": "my solver"}
    kit      {"type": "request", "id": 1, "A": [[…], …], "rho": 0.1, "eps": 0.01, "x0": […]}
    program  {"id": 1, "x": […]}  or {"id": 1, "bound": 1.5}  or {"id": 1, "error": "why not"}
             or {"id": 1, "unsupported": "τ = 0"} for what the solver does not claim to do

One request per line, one answer per line; at the end the kit closes the program's input.
"""

from __future__ import annotations

import json
import os
import queue
import shlex
import signal
import subprocess
import sys
import threading
import uuid
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Self

from .._numerics.checks import as_number, listed, shown
from .._numerics.text_tables import printable
from ..errors import InvalidParameter, SolverFailed
from .answers import Answer, from_record, text_of
from .levels import Instance, Level, known_level, plain, stored_question

PROTOCOL = 1
TIME_LIMIT = 10.0
"""Seconds a call may take; then it counts as hanging and no further call is made."""
IMPORTING = 30.0
"""Seconds for the imports of a Python function's module, which are not part of a call."""
TRIAL = "DCGEV_TRIAL"
"""The environment variable by which processes that a program left behind are found."""


class NotInTime(SolverFailed):
    """A call has not returned within its time limit."""


def as_time_limit(seconds: Any) -> float:
    """Seconds > 0 that a queue can wait for."""
    return as_number(seconds, "time_limit", strict=True, high=threading.TIMEOUT_MAX)


class Conversation:
    """A program that gets one JSON object per line and answers each by one: started, timed, and ended with all it left.

    lost says why it cannot be called again. Use it in a `with` block.
    """

    spoken = True  # by a program of the user, who may forget to flush

    def __init__(self, words: Sequence[str], time_limit: float, settings: Mapping[str, str] | None = None) -> None:
        self.time_limit: float = time_limit
        self._cut = ""  # why the program was ended
        self.lost: str = ""
        self._writing = False
        self._stderr: deque[str] = deque(maxlen=21)  # enough for a traceback, and the end
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._mark = uuid.uuid4().hex
        self._process = started(words, {**(settings or {}), TRIAL: self._mark})
        streams = ((self._process.stdout, self._keep, 2**22), (self._process.stderr, self._stderr.append, 2**16))
        self._readers = [threading.Thread(target=read, args=each, daemon=True) for each in streams]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the program's input, give it a second to end, then end it and the processes it has started.

        A program that does not read its request is ended first, since closing the stream would wait for it. A stream
        that a process left behind by the program keeps open is not closed, for the same reason.
        """
        process = self._process
        if self._writing:
            end_group(process)
        with suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1.0)
        end_group(process)
        process.wait()
        end_marked(self._mark)
        for reader, stream in zip(self._readers, (process.stdout, process.stderr), strict=True):
            reader.join(timeout=1.0)
            if stream is not None and not reader.is_alive():
                stream.close()

    @property
    def stderr(self) -> str:
        """The last twenty lines that the program wrote to its standard error."""
        return "\n".join(printable(line.rstrip()[:400]) for line in self._stderr if line)

    def _keep(self, line: str) -> None:
        if self._lines.qsize() == 100:  # its output would fill the memory
            self._cut = "it wrote 100 lines more than it was asked for"
            end_group(self._process)
        if not self._cut or not line:
            self._lines.put(line)

    def exchange(self, message: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        """The answer to a message; NotInTime or SolverFailed says why there is none."""
        if self.lost:  # a program that hung or ended is not called again
            raise SolverFailed(self.lost)
        self._send(json.dumps(message, allow_nan=False) + "\n")
        try:
            line = self._lines.get(timeout=seconds or self.time_limit)
        except queue.Empty:
            limit = f"within {seconds or self.time_limit:g} s"
            waited = f"no line {limit}; flush the output after every line" if self.spoken else f"no answer {limit}"
            self.lost = f"{waited}; the solver was not called again.{self._complaint()}"
            raise NotInTime(self.lost) from None
        if not line:
            raise SolverFailed(self._ending())
        return parsed(line)

    def _send(self, line: str) -> None:
        """Write a line from a thread of its own, since a program that does not read would block this one."""
        failed: list[BaseException] = []

        def write() -> None:
            try:
                stream: Any = self._process.stdin
                stream.write(line)
                stream.flush()
            except (OSError, ValueError) as cause:
                failed.append(cause)
            self._writing = False

        self._writing = True  # and so it stays while the program does not read
        thread = threading.Thread(target=write, daemon=True)
        thread.start()
        thread.join(self.time_limit)
        if failed:
            raise SolverFailed(self._ending())
        if self._writing:
            self.lost = f"the program did not read its request within {self.time_limit:g} s.{self._complaint()}"
            raise NotInTime(self.lost)

    def _ending(self) -> str:
        code = None
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(timeout=1.0)  # its output may end a moment before it does
            self._readers[1].join(timeout=1.0)  # and the last lines of its stderr may not have been read
        ended = "closed its output" if code is None else f"ended with exit code {code}"
        self.lost = f"the program {f'was ended: {self._cut}' if self._cut else ended}.{self._complaint()}"
        return self.lost

    def _complaint(self) -> str:
        return f" It wrote to stderr: {self.stderr}" if self.stderr else ""


class ProcessSolver(Conversation):
    """A program that follows the protocol, called like a function; use it in a `with` block.

    Parameters
    ----------
    command : str or sequence of str
        A command line, which is split as a shell would and run without one, or a list of words.
    level : str
        The level that the program is told; see `LEVELS`.
    time_limit : float
        Seconds for one line. A program that exceeds it once is not waited for again.

    Raises
    ------
    SolverFailed
        If the program cannot be started, ends, or returns something that is not an answer. The message ends with the
        last lines of its stderr.

    Examples
    --------
    >>> import sys
    >>> from dcgev_cvx import verify
    >>> program = '''
    ... import json
    ... print(input() and '{"type": "hello", "protocol": 1}', flush=True)
    ... print(json.dumps({"id": json.loads(input())["id"], "bound": 1.5}), flush=True)
    ... '''
    >>> with verify.ProcessSolver([sys.executable, "-c", program], "bound") as solver:
    ...     solver([[1.0]], [[1.0]], 1)
    1.5
    """

    remote = True

    def __init__(self, command: str | Sequence[str], level: str, *, time_limit: float = TIME_LIMIT) -> None:
        words = split_command(command) if isinstance(command, str) else listed(command)
        if not words or not all(isinstance(word, str) for word in words):
            raise InvalidParameter(f"command = {shown(command)} must name a program, e.g. --cmd 'node impl.js'.")
        self.level: Level = known_level(level)
        self.__name__: str = " ".join(words)
        self._count = 0
        super().__init__(words, as_time_limit(time_limit))
        try:
            self._greet()
        except BaseException:  # also a signal: the program must not outlive the command
            self.close()
            raise

    def __call__(self, *arguments: Any) -> Any:
        """One request, one answer: x, or a bound; SolverFailed where there is none."""
        data = {name: plain(value) for name, value in zip(self.level.arguments, arguments, strict=True)}
        answer = self.respond(stored_question(self.level.name, "", data))
        if answer.x is None:
            raise (NotImplementedError if answer.unsupported else SolverFailed)(answer.problem)
        return answer.x if self.level.returns == "x" else float(answer.x[0])

    def respond(self, instance: Instance, *, reuse: bool = False) -> Answer:
        """One request, one answer; why there is none is its problem."""
        if self.lost:
            return Answer(None, self.lost, asked=False)
        self._count += 1
        data = {name: plain(instance.data[name]) for name in self.level.arguments}
        try:
            record = self.exchange({"type": "request", "id": self._count, **data, **self._about(instance, reuse)})
            if record.get("id") != self._count and not {"error", "unsupported"} & set(record):
                got = shown(record.get("id"))
                raise SolverFailed(f"the program answered with id {got} where {self._count} was asked.")
            return self._answer(record, instance)
        except NotInTime as late:
            return Answer(None, str(late), asked=False)
        except SolverFailed as failure:
            return Answer(None, str(failure))

    def _about(self, instance: Instance, reuse: bool) -> dict[str, Any]:
        return {}  # a program has no arrays that could be laid out or used again

    def _answer(self, record: dict[str, Any], instance: Instance) -> Answer:
        if "unsupported" in record:
            return Answer(None, f"unsupported: {text_of(record['unsupported'])}", asked=False, unsupported=True)
        if "error" in record:
            raise SolverFailed(f"the program answered with an error: {text_of(record['error'])}")
        if self.level.returns not in record:
            raise SolverFailed(f"the answer has no {self.level.returns!r}; it has {shown(list(record))}.")
        return from_record({"x": record[self.level.returns]}, instance)

    def _greet(self) -> None:
        about = {"arguments": list(self.level.arguments), "returns": self.level.returns}
        answer = self.exchange({"type": "hello", "protocol": PROTOCOL, "level": self.level.name, **about})
        if answer.get("type") != "hello" or answer.get("protocol") != PROTOCOL:
            hello = f'{{"type": "hello", "protocol": {PROTOCOL}}}'
            raise SolverFailed(f"the program must answer {hello} first; it said {shown(answer)}.")


class FunctionProcess(ProcessSolver):
    """The Python function that MODULE:FUNCTION or FILE.py:FUNCTION names, in a process of its own.

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
    """

    remote = spoken = False
    passed: tuple[str, ...] = ()

    def __init__(self, target: str, level: str, *, time_limit: float = TIME_LIMIT) -> None:
        self._target = target
        command = [sys.executable, "-P", "-m", "dcgev_cvx.verify.function_program", target]
        super().__init__(command, level, time_limit=time_limit)
        self.__name__: str = target.rpartition(":")[2]

    def _greet(self) -> None:
        seconds = max(self.time_limit, IMPORTING)
        try:
            answer = self.exchange({"type": "hello", "protocol": PROTOCOL, "level": self.level.name}, seconds)
        except NotInTime:
            raise InvalidParameter(
                f"{self._target} was not imported within {seconds:g} s: allow more by --time-limit."
            ) from None
        if "invalid" in answer:
            raise InvalidParameter(text_of(answer["invalid"]))
        named = answer.get("passed")
        self.passed = tuple(name for name in self.level.arguments if isinstance(named, list) and name in named)

    def _about(self, instance: Instance, reuse: bool) -> dict[str, Any]:
        return {"layout": instance.layout, "reuse": reuse}

    def _answer(self, record: dict[str, Any], instance: Instance) -> Answer:
        return from_record(record, instance)


def read(stream: IO[str], keep: Any, longest: int) -> None:
    """Hand on the lines of a stream that are not blank, and "" at its end; longer lines are cut."""
    for line in iter(lambda: stream.readline(longest), ""):
        if line.strip():
            keep(line)
    keep("")


def started(words: Sequence[str], settings: Mapping[str, str]) -> subprocess.Popen[str]:
    """The program, started without a shell and without a terminal; SolverFailed says why it cannot be."""
    text: Any = {"encoding": "utf-8", "errors": "replace"}  # text that is not UTF-8 is not JSON
    streams: Any = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    try:
        return subprocess.Popen(words, **streams, **text, start_new_session=True, env={**os.environ, **settings})
    except (OSError, ValueError) as cause:  # ValueError: a NUL, or half of a surrogate pair
        why = getattr(cause, "strerror", None) or cause
        raise SolverFailed(f"{shown(words[0])} could not be started: {why}") from cause


def end_group(process: subprocess.Popen[str]) -> None:
    """End the program and the processes it has started, which would keep its output open."""
    with suppress(OSError):  # they have ended
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:  # no groups on Windows
            process.kill()


def end_marked(mark: str) -> None:
    """End the processes that a program started and that left its group, where the system lists processes."""
    for file in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError, ValueError):
            if f"{TRIAL}={mark}".encode() in file.read_bytes().split(b"\0"):
                os.kill(int(file.parent.name), signal.SIGKILL)


def parsed(line: str) -> dict[str, Any]:
    """A line as a JSON object; anything else, such as the output of a print statement, is an error."""
    message = None
    with suppress(ValueError, RecursionError):
        message = json.loads(line)
    if not isinstance(message, dict):
        raise SolverFailed(f"a line is not a JSON object: {shown(line.strip()[:120], 140)}")
    return message


def split_command(command: str) -> list[str]:
    """The words of a command line, as a shell takes it apart."""
    try:
        return shlex.split(command)
    except ValueError as cause:
        raise InvalidParameter(f"the command {command!r} cannot be split: {cause}. Close every quote.") from cause
