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
from typing import IO, Any

import numpy as np

from .._numerics.checks import listed, shown
from ..errors import InvalidParameter, SolverFailed
from .levels import Level, known_level, plain
from .trial import TIME_LIMIT, NotInTime, as_time_limit

PROTOCOL = 1


class ProcessSolver:
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
        self.time_limit: float = as_time_limit(time_limit)
        self.__name__: str = " ".join(words)
        self._count = 0
        self._cut = ""  # why the program was ended
        self.lost: str = ""  # why it cannot be called again
        self._writing = False
        self._stderr: deque[str] = deque(maxlen=21)  # enough for a traceback, and the end
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._process = started(words)
        streams = ((self._process.stdout, self._keep), (self._process.stderr, self._stderr.append))
        self._readers = [threading.Thread(target=read, args=pair, daemon=True) for pair in streams]
        for reader in self._readers:
            reader.start()
        try:
            self._greet()
        except BaseException:  # also a signal: the program must not outlive the command
            self.close()
            raise

    def __enter__(self) -> ProcessSolver:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __call__(self, *arguments: Any) -> Any:
        """One request, one answer; SolverFailed for an error, another id, or a missing field."""
        self._count += 1
        named = zip(self.level.arguments, map(plain, arguments), strict=True)
        answer = self._exchange({"type": "request", "id": self._count, **dict(named)})
        if "unsupported" in answer:
            raise NotImplementedError(shown(answer["unsupported"], 200))
        if "error" in answer:
            raise SolverFailed(f"the program answered with an error: {shown(answer['error'], 400)}")
        if answer.get("id") != self._count:
            got = shown(answer.get("id"))
            raise SolverFailed(f"the program answered with id {got} where {self._count} was asked.")
        if self.level.returns not in answer:
            raise SolverFailed(f"the answer has no {self.level.returns!r}; it has {shown(list(answer))}.")
        return numbers(answer[self.level.returns])

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
        for reader, stream in zip(self._readers, (process.stdout, process.stderr), strict=True):
            reader.join(timeout=1.0)
            if stream is not None and not reader.is_alive():
                stream.close()

    @property
    def stderr(self) -> str:
        """The last twenty lines that the program wrote to its standard error."""
        return "\n".join(line.rstrip()[:400] for line in self._stderr if line)

    def _keep(self, line: str) -> None:
        if self._lines.qsize() == 100:  # its output would fill the memory
            self._cut = "it wrote 100 lines more than it was asked for"
            end_group(self._process)
        if not self._cut or not line:
            self._lines.put(line)

    def _greet(self) -> None:
        about = {"arguments": list(self.level.arguments), "returns": self.level.returns}
        answer = self._exchange({"type": "hello", "protocol": PROTOCOL, "level": self.level.name, **about})
        if answer.get("type") != "hello" or answer.get("protocol") != PROTOCOL:
            hello = f'{{"type": "hello", "protocol": {PROTOCOL}}}'
            raise SolverFailed(f"the program must answer {hello} first; it said {shown(answer)}.")

    def _exchange(self, message: dict[str, Any], seconds: float | None = None) -> dict[str, Any]:
        if self.lost:  # a program that hung or ended is not called again
            raise SolverFailed(self.lost)
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
            line = self._lines.get(timeout=seconds or self.time_limit)
        except queue.Empty:
            limit = f"within {seconds or self.time_limit:g} s"
            waited = f"no line {limit}; flush the output after every line." if self.remote else f"no answer {limit}."
            self.lost = f"{waited}{self._complaint()}"
            raise NotInTime(self.lost) from None
        if not line:
            raise SolverFailed(self._ending())
        return parsed(line)

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


def read(stream: IO[str], keep: Any) -> None:
    """Hand on the lines of a stream that are not blank, and "" at its end; a line without an end is cut at 4 MB."""
    for line in iter(lambda: stream.readline(2**22), ""):
        if line.strip():
            keep(line)
    keep("")


def started(words: Sequence[str]) -> subprocess.Popen[str]:
    """The program, started without a shell; SolverFailed says why it cannot be."""
    pipe = subprocess.PIPE
    try:
        # text that is not UTF-8 is not JSON, and is shown with replacement characters
        return subprocess.Popen(
            words, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8", errors="replace", start_new_session=True
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
    """A line as a JSON object; anything else, such as the output of a print statement, is an error."""
    message = None
    with suppress(ValueError, RecursionError):
        message = json.loads(line)
    if not isinstance(message, dict):
        raise SolverFailed(f"a line is not a JSON object: {line.strip()[:120]!r}")
    return message


def numbers(value: Any) -> Any:
    """Numbers as an array; null, which stands for NaN and infinity in JSON, becomes NaN."""
    if isinstance(value, list):
        entries = [math.nan if entry is None else entry for entry in value]
        real = all(isinstance(e, (int, float)) and not isinstance(e, bool) for e in entries)
        return np.array(entries, dtype=np.float64) if real else entries
    return math.nan if value is None else value


def split_command(command: str) -> list[str]:
    """The words of a command line, as a shell takes it apart."""
    try:
        return shlex.split(command)
    except ValueError as cause:
        raise InvalidParameter(f"the command {command!r} cannot be split: {cause}. Close every quote.") from cause
