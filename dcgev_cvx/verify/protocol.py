"""A solver in any language: JSON lines over the standard input and output of a program.

    kit      {"type": "hello", "protocol": 1, "level": "pca", "arguments": ["A", "rho", "eps", "x0"], "returns": "x"}
    program  {"type": "hello", "protocol": 1, "name": "my solver"}
    kit      {"type": "request", "id": 1, "A": [[…], …], "rho": 0.1, "eps": 0.01, "x0": […]}
    program  {"id": 1, "x": […]}        or {"id": 1, "bound": 1.5}        or {"id": 1, "error": "why not"}

One request per line, one answer per line; at the end the kit closes the program's input.
"""

from __future__ import annotations

import json
import math
import os
import queue
import shlex
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import IO, Any

import numpy as np

from .._numerics.checks import listed, shown
from ..errors import InvalidParameter, SolverFailed
from .instances import known_level, plain
from .session import TIME_LIMIT, as_time_limit

PROTOCOL = 1
STDERR_LINES, STDERR_WIDTH = 20, 400
LONGEST_LINE, MOST_UNREAD = 2**22, 100
"""Characters of a line and lines not yet asked for, beyond which a program is cut off: memory is not its to fill."""


class ProcessSolver:
    """A program that speaks the protocol, called like a function; use it in a `with` block.

    Parameters
    ----------
    command
        A command line, split as a shell would but run without one, or a list of words.
    level
        The level to be announced.
    time_limit
        Seconds for one line; a program that misses it once is not waited for again.

    Raises
    ------
    SolverFailed
        When the program cannot be started, ends, or answers what is not an answer; the last lines of its stderr are
        added.
    """

    remote = True

    def __init__(self, command: str | Sequence[str], level: str, *, time_limit: float = TIME_LIMIT) -> None:
        words = split_command(command) if isinstance(command, str) else listed(command)
        if not words or not all(isinstance(word, str) for word in words):
            raise InvalidParameter(f"command = {shown(command)} must name a program, e.g. --cmd 'node impl.js'.")
        self.level = known_level(level)
        self.time_limit = as_time_limit(time_limit)
        self.__name__ = " ".join(words)
        self._count = 0
        self._lost = self._cut = ""
        self._writing = False
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._process = started(words)
        self._readers = [
            threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True),
            threading.Thread(target=self._collect, args=(self._process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        try:
            self._greet()
        except SolverFailed:
            self.close()
            raise

    def __enter__(self) -> ProcessSolver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __call__(self, *arguments: Any) -> Any:
        """One request, one answer.

        Raises SolverFailed when the program answers with an error, another id, or without the field that the level
        returns; the session turns that into a finding.
        """
        self._count += 1
        named = zip(self.level.arguments, map(plain, arguments), strict=True)
        answer = self._exchange({"type": "request", "id": self._count, **dict(named)})
        if "error" in answer:
            raise SolverFailed(f"the program answered with an error: {shown(answer['error'], 400)}")
        if answer.get("id") != self._count:
            raise SolverFailed(
                f"the program answered with id {shown(answer.get('id'))} where {self._count} was asked."
            )
        if self.level.returns not in answer:
            raise SolverFailed(f"the answer has no {self.level.returns!r}; it has {shown(list(answer))}.")
        return answered(answer[self.level.returns])

    def close(self) -> None:
        """Close the program's input, give it a second to end, then end it and whatever it has started.

        It never waits longer than a few seconds, whatever the program does. A request that the program does not read
        holds the stream: then it is ended first. So does a reader whose program left a process of its own behind: its
        stream is left open, since closing it would wait for that process.
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
        for reader, stream in zip(self._readers, (process.stdout, process.stderr), strict=True):
            reader.join(timeout=1.0)
            if stream is not None and not reader.is_alive():
                stream.close()

    @property
    def stderr(self) -> str:
        """The last lines that the program wrote to its standard error.

        Twenty lines at most: enough for a traceback, and bounded for a program that talks.
        """
        return "\n".join(self._stderr)

    def _greet(self) -> None:
        hello = {
            "type": "hello",
            "protocol": PROTOCOL,
            "level": self.level.name,
            "arguments": list(self.level.arguments),
            "returns": self.level.returns,
        }
        answer = self._exchange(hello)
        if answer.get("type") != "hello" or answer.get("protocol") != PROTOCOL:
            raise SolverFailed(
                f'the program must answer {{"type": "hello", "protocol": {PROTOCOL}}} first; it said {shown(answer)}.'
            )

    def _exchange(self, message: dict[str, Any]) -> dict[str, Any]:
        if self._lost:  # a program that hung once is not waited for again
            raise SolverFailed(self._lost)
        stream = self._process.stdin
        try:
            if stream is None:
                raise BrokenPipeError
            self._writing = True  # and so it stays while the program does not read
            stream.write(json.dumps(message, allow_nan=False) + "\n")
            stream.flush()
            self._writing = False
        except (OSError, ValueError):
            raise SolverFailed(self._ending()) from None
        try:
            line = self._lines.get(timeout=self.time_limit)
        except queue.Empty:
            self._lost = f"no line within {self.time_limit:g} s.{self._complaint()}"
            raise SolverFailed(self._lost) from None
        if not line:
            raise SolverFailed(self._ending())
        return parsed(line)

    def _ending(self) -> str:
        try:
            code = self._process.wait(timeout=1.0)  # its output may end a moment before it does
        except subprocess.TimeoutExpired:
            code = None
        if self._cut:
            return f"the program was ended: {self._cut}.{self._complaint()}"
        ended = "closed its output" if code is None else f"ended with exit code {code}"
        return f"the program {ended}.{self._complaint()}"

    def _complaint(self) -> str:
        return f" It wrote to stderr: {self.stderr}" if self._stderr else ""

    def _listen(self, stream: IO[str]) -> None:
        for line in iter(lambda: stream.readline(LONGEST_LINE), ""):
            if len(line) == LONGEST_LINE or self._lines.qsize() == MOST_UNREAD:
                self._cut = "a line is too long" if len(line) == LONGEST_LINE else "it answers more than it is asked"
                end_group(self._process)
                break
            if line.strip():
                self._lines.put(line)
        self._lines.put("")

    def _collect(self, stream: IO[str]) -> None:
        for line in iter(lambda: stream.readline(LONGEST_LINE), ""):
            self._stderr.append(line.rstrip()[:STDERR_WIDTH])


def started(words: Sequence[str]) -> subprocess.Popen[str]:
    """The program, started without a shell; SolverFailed says why it cannot be.

    No shell: what is run is exactly the words of the command, and nothing in them is expanded.
    """
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(
            words,
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            encoding="utf-8",
            errors="replace",  # what is not UTF-8 is not JSON, and is shown as such
            start_new_session=True,
        )
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


def parsed(line: str) -> dict[str, Any]:
    """A line as a JSON object.

    Blank lines are skipped before; anything else that is not a JSON object is an error, print statements included.
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise SolverFailed(f"a line is not JSON: {line.strip()[:120]!r}") from None
    if not isinstance(message, dict):
        raise SolverFailed(f"a line is not a JSON object: {line.strip()[:120]!r}")
    return message


def answered(value: Any) -> Any:
    """Numbers as an array; null, for which JSON uses what is not finite, becomes NaN.

    JSON has no NaN and no infinity; null stands for both and is judged as NaN.
    """
    if isinstance(value, list):
        entries = [math.nan if entry is None else entry for entry in value]
        numbers = all(isinstance(e, (int, float)) and not isinstance(e, bool) for e in entries)
        return np.array(entries, dtype=np.float64) if numbers else entries
    return math.nan if value is None else value


def split_command(command: str) -> list[str]:
    """The words of a command line, as a shell takes it apart."""
    try:
        return shlex.split(command)
    except ValueError as cause:
        raise InvalidParameter(
            f"the command {command!r} cannot be taken apart: {cause}. Close every quote."
        ) from cause
