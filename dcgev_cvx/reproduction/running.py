"""Run tasks and save each result on disk: a run that was stopped continues where it was.

A task is a function of plain arguments. Its result is written to FOLDER/KEY.json as soon as it is computed, with its
arguments and a hash: a file that is cut, altered, of other arguments, or of another version is computed again.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any, TypeAlias

from .. import __version__
from .._numerics.checks import as_whole
from .._numerics.extras import require
from .._numerics.output_files import write_file
from .._numerics.threads import one_thread
from ..errors import DCGEVError

Settings: TypeAlias = Mapping[str, Any]
"""Numbers, strings and lists: what JSON can hold."""

Outcome: TypeAlias = tuple[str, Any, str]
"""The key of a task, its result, and the reason if it failed."""

Progress: TypeAlias = Callable[[str, int, int, str], None]
"""Called as progress(experiment, finished, total, message) at the beginning and after every task."""

QUIET = 30.0
"""Seconds without a result after which a line says what is waited for."""


@dataclass(frozen=True)
class Task:
    """A computation whose result is saved under `key`: `work(**arguments)`.

    `work` is a module-level function that returns what JSON can hold, so that other processes can import it. A timed
    task runs alone and in this process.
    """

    key: str
    work: Callable[..., Any]
    arguments: Settings
    timed: bool = False


# Results on disk


def save(file: Path, arguments: Settings, result: Any) -> None:
    """Write a result; the file is either whole or absent, even after a power failure."""
    content = {"arguments": dict(arguments), "result": result, "check": fingerprint(file, arguments, result)}
    write_file(file, json.dumps(content, indent=1))


def load(file: Path, arguments: Settings) -> Any:
    """The result in a file, or None if there is none, the file is damaged, or the arguments differ."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        whole = content["check"] == fingerprint(file, arguments, content["result"])
        return content["result"] if whole else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # RecursionError: brackets without end
        return None


def fingerprint(file: Path, arguments: Settings, result: Any) -> str:
    """The hash that a saved result must carry."""
    content = json.dumps([__version__, file.stem, dict(arguments), result], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


# Running


def silent(name: str, finished: int, total: int, message: str) -> None:
    """A Progress that shows nothing."""


def run(
    name: str, tasks: Sequence[Task], folder: Path, *, jobs: int = 1, progress: Progress = silent
) -> tuple[dict[str, Any], dict[str, str]]:
    """The results of the tasks, and why others failed: read from the folder, or computed and saved at once.

    A task that fails does not stop the others, and is tried again by the next run. An interrupt loses the tasks under
    way and nothing else.
    """
    files = {task.key: folder / f"{task.key}.json" for task in tasks}
    saved = {task.key: load(files[task.key], task.arguments) for task in tasks}
    results = {key: result for key, result in saved.items() if result is not None}
    failures: dict[str, str] = {}

    def tell(message: str = "") -> None:
        progress(name, len(results), len(tasks), message)

    def waiting() -> None:
        where = f"{jobs} workers" if jobs > 1 else "this process"
        left = len(tasks) - len(results) - len(failures)
        tell(f"{QUIET:g} s without a result; waiting for {left} from {where}.")

    tell(f"{len(results)} of {len(tasks)} results are on disk already." if results else "")
    todo = {task.key: task for task in tasks if task.key not in results}
    for key in todo:
        if files[key].exists():
            tell(f"the saved result {key} is damaged or of other data; it is computed again.")
    for key, result, failure in announced(outcomes(list(todo.values()), jobs), waiting):
        if failure:
            known = failure in failures.values()
            failures[key] = failure
            tell("" if known else f"{key} could not be computed: {failure}")
        else:
            save(files[key], todo[key].arguments, result)
            results[key] = result
            tell()
    return {key: results[key] for key in files if key in results}, failures


def announced(found: Iterator[Outcome], waiting: Callable[[], None]) -> Iterator[Outcome]:
    """The outcomes; `waiting` is called whenever none has come for QUIET seconds."""
    came, ended = Event(), Event()

    def watch() -> None:
        while not ended.is_set():
            if not came.wait(QUIET):
                waiting()
            came.clear()

    Thread(target=watch, daemon=True).start()
    try:
        for outcome in found:
            came.set()
            yield outcome
    finally:
        ended.set()
        came.set()


def outcomes(tasks: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    """Outcomes as they come, in this process or over `jobs` processes.

    Timed tasks are last, one at a time and in this process, so that nothing disturbs their clocks.
    """
    untimed = [task for task in tasks if not task.timed]
    yield from on_workers(untimed, jobs) if jobs > 1 and len(untimed) > 1 else map(outcome_of, untimed)
    yield from (outcome_of(task) for task in tasks if task.timed)


def outcome_of(task: Task) -> Outcome:
    """Run a task with one BLAS thread: the same bits and fair times for any number of workers.

    Errors of this package and arithmetic ones become the reason for a failure; anything else is a bug and is raised.
    """
    try:
        with one_thread:
            return task.key, task.work(**task.arguments), ""
    except (DCGEVError, ArithmeticError, ValueError, MemoryError) as cause:
        return task.key, None, f"{type(cause).__name__}: {cause}"


def on_workers(tasks: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    """Outcomes from worker processes; when one is killed, the tasks without a result are failures."""
    joblib = require("joblib", "reproduce")
    left, before = {task.key for task in tasks}, os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"  # workers must not import files of the current folder
    try:
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
        for outcome in parallel(joblib.delayed(outcome_of)(task) for task in tasks):
            left.discard(outcome[0])
            yield outcome
    except BrokenExecutor:
        reason = "a worker process was killed, perhaps for lack of memory: run the same command with fewer --jobs"
        yield from ((key, None, reason) for key in sorted(left))
    finally:
        os.environ.pop("PYTHONSAFEPATH") if before is None else os.environ.update(PYTHONSAFEPATH=before)


def checked_jobs(jobs: Any, tell: Callable[[str], object] = lambda line: None) -> int:
    """A number of processes: -1 stands for all cores, and no more than one runs for each core."""
    cores: int = require("joblib", "reproduce").cpu_count()
    if jobs == -1:
        return cores
    wanted = as_whole(jobs, "jobs (-1 for all cores)")
    if wanted > cores:
        tell(f"{wanted} jobs were asked for; {cores} run, one for each core.")
    return min(wanted, cores)
