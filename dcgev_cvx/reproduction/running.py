"""Run tasks and save each result on disk: a run that was killed continues where it stopped.

A task is a function of plain arguments. Its result is written to OUT/results/NAME-HASH/KEY.json as soon as it is
computed; HASH is that of the experiment's settings. The file is written under another name, flushed and renamed, and
holds a hash of key, arguments and result: a file that is cut, altered or has other arguments is computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from typing import Any, TypeAlias

from .._numerics.checks import is_whole, shown
from .._numerics.extras import require
from .._numerics.output_files import write_file
from .._numerics.threads import one_thread
from ..errors import DataUnavailable, DCGEVError, InvalidParameter

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
    task runs alone and in this process. A task that saves parts is also given `folder`, where it keeps them; it must
    be timed.
    """

    key: str
    work: Callable[..., Any]
    arguments: Settings
    timed: bool = False
    saves_parts: bool = False


@dataclass(frozen=True)
class Saved:
    """What the disk holds for a task: a result, nothing, or a damaged file."""

    found: bool
    result: Any = None
    damaged: bool = False


@dataclass(frozen=True)
class ResultFolder:
    """The saved results of one experiment with one choice of settings."""

    path: Path

    @staticmethod
    def of(out: Path, name: str, settings: Settings) -> ResultFolder:
        """The folder below OUT/results, named by a hash of the settings; nothing is created yet."""
        return ResultFolder(out / "results" / f"{name}-{digest(dict(settings))[:12]}")

    def prepare(self, settings: Settings) -> None:
        """Create the folder and write the settings to it.

        Raises InvalidParameter when OUT holds the same experiment with other settings, with the differences.
        """
        name = self.path.name.rpartition("-")[0]
        for other in sorted(self.path.parent.glob(f"{name}-*/settings.json")):
            if other.parent != self.path:
                try:
                    there = differences(json.loads(other.read_text(encoding="utf-8")), settings)
                except (OSError, ValueError, AttributeError, RecursionError):
                    there = "its settings cannot be read"
                raise InvalidParameter(
                    f"{self.path.parent.parent} holds results of {name} with other settings ({there}): "
                    f"choose another --out, or delete {other.parent}."
                )
        write_file(self.path / "settings.json", json.dumps(dict(settings), indent=2, sort_keys=True))

    def load(self, key: str, arguments: Settings) -> Saved:
        """The result saved under a key, if the file is whole and belongs to these arguments."""
        try:
            content = json.loads((self.path / f"{key}.json").read_text(encoding="utf-8"))
            if content["check"] == fingerprint(key, arguments, content["result"]):
                return Saved(True, content["result"])
        except FileNotFoundError:
            return Saved(False)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):  # RecursionError: brackets without end
            pass
        return Saved(False, damaged=True)

    def save(self, key: str, arguments: Settings, result: Any) -> None:
        """Write a result; the file is either whole or absent, even after a power failure."""
        check = fingerprint(key, arguments, result)
        content = {"key": key, "arguments": dict(arguments), "result": result, "check": check}
        write_file(self.path / f"{key}.json", json.dumps(content, indent=1))


@dataclass(frozen=True)
class Results:
    """The results by key, why others failed, how many were read from disk, and which files were damaged."""

    results: dict[str, Any]
    failures: dict[str, str]
    loaded: int
    damaged: tuple[str, ...]


def silent(name: str, finished: int, total: int, message: str) -> None:
    """A Progress that shows nothing."""


def run(
    name: str,
    tasks: Sequence[Task],
    folder: ResultFolder,
    *,
    jobs: int = 1,
    dask: str | None = None,
    progress: Progress = silent,
) -> Results:
    """Load the results that are on disk, compute the others, and save each as soon as it is computed.

    A task that fails does not stop the others, and is tried again by the next run. An interrupt loses the tasks under
    way and nothing else.
    """
    saved = {task.key: folder.load(task.key, task.arguments) for task in tasks}
    results = {key: entry.result for key, entry in saved.items() if entry.found}
    damaged = tuple(key for key, entry in saved.items() if entry.damaged)
    loaded, total = len(results), len(tasks)
    progress(name, loaded, total, f"{loaded} of {total} results are on disk already." if loaded else "")
    for key in damaged:
        progress(name, loaded, total, f"the saved result {key} is damaged; it is computed again.")
    todo = {task.key: task for task in tasks if task.key not in results}
    failures: dict[str, str] = {}

    def waiting() -> None:
        left = len(todo) - len(failures) - (len(results) - loaded)
        where = f"Dask at {dask}" if dask is not None else f"{jobs} workers" if jobs != 1 else "this process"
        progress(name, len(results), total, f"{QUIET:g} s without a result; waiting for {left} from {where}.")

    for key, result, failure in noisily(outcomes(list(todo.values()), folder, jobs, dask), waiting):
        if failure:
            failures[key] = failure
        else:
            folder.save(key, todo[key].arguments, result)
            results[key] = result
        progress(name, len(results), total, f"{key} could not be computed: {failure}" if failure else "")
    return Results({key: results[key] for key in saved if key in results}, failures, loaded, damaged)


def outcomes(tasks: Sequence[Task], folder: ResultFolder, jobs: int, dask: str | None) -> Iterator[Outcome]:
    """Outcomes as they come: in this process, over `jobs` processes, or on a Dask cluster.

    Timed tasks are last, one at a time and in this process, so that nothing disturbs their clocks.
    """
    untimed = [task for task in tasks if not task.timed]
    if dask is not None and untimed:
        yield from on_dask(untimed, dask)
    elif jobs != 1 and len(untimed) > 1:
        yield from on_workers(untimed, jobs)
    else:
        yield from map(outcome_of, untimed)
    for task in tasks:
        if task.timed:
            yield outcome_of(task, **({"folder": folder.path / "parts"} if task.saves_parts else {}))


def outcome_of(task: Task, **extra: Path) -> Outcome:
    """Run a task with one BLAS thread: the same bits and fair times for any number of workers.

    Errors of this package and arithmetic ones become the reason for a failure; anything else is a bug and is raised.
    """
    try:
        with one_thread:
            return task.key, task.work(**task.arguments, **extra), ""
    except (DCGEVError, ArithmeticError, ValueError, MemoryError) as cause:
        return task.key, None, f"{type(cause).__name__}: {cause}"


def noisily(found: Iterator[Outcome], waiting: Callable[[], None]) -> Iterator[Outcome]:
    """The outcomes; `waiting` is called whenever none has come for QUIET seconds."""
    came, ended = Event(), Event()

    def watch() -> None:
        while not ended.is_set():
            if not came.wait(QUIET) and not ended.is_set():
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


def on_workers(tasks: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    """Outcomes from worker processes; when one is killed, the tasks without a result are failures."""
    joblib = require("joblib", "reproduce")
    left = {task.key for task in tasks}
    before = os.environ.get("PYTHONSAFEPATH")
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


def on_dask(tasks: Sequence[Task], address: str) -> Iterator[Outcome]:
    """Outcomes from the Dask cluster at an address; DataUnavailable when no scheduler answers in ten seconds.

    Dask computes the tasks of a worker that is lost on another one; what is lost with the scheduler is a failure.
    """
    distributed = require("distributed", "dask")
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, ValueError) as cause:
        raise DataUnavailable(f"no Dask scheduler answers at {address} ({cause}): check the address.") from cause
    with client:
        keys = {client.submit(outcome_of, task, pure=False): task.key for task in tasks}
        lost = (CancelledError, OSError, TimeoutError, distributed.KilledWorker)
        for future in distributed.as_completed(keys):
            try:
                yield future.result()
            except lost as cause:
                reason = f"the Dask cluster lost it ({type(cause).__name__}): run the same command again"
                yield keys[future], None, reason


def checked_jobs(jobs: Any, tell: Callable[[str], object] = lambda line: None) -> int:
    """A number of processes: at least 1, or -1 for all cores; at most one for each core."""
    if not is_whole(jobs) or jobs == 0 or jobs < -1:
        raise InvalidParameter(f"jobs = {shown(jobs)} must be a whole number of at least 1, or -1 for all cores.")
    cores = usable_cores()
    if jobs > cores:
        tell(f"{jobs} jobs were asked for; {cores} run, one for each core.")
    return min(int(jobs), cores)


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def fingerprint(key: str, arguments: Settings, result: Any) -> str:
    """The hash that a saved result must carry."""
    return digest({"key": key, "arguments": dict(arguments), "result": result})


def digest(content: Any) -> str:
    """The sha256 of canonical JSON: equal content has an equal hash."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def differences(theirs: Settings, ours: Settings) -> str:
    """`name: there X, now Y` for every setting that differs."""
    return "; ".join(
        f"{key}: there {theirs.get(key, 'nothing')}, now {ours.get(key, 'nothing')}"
        for key in sorted({*theirs, *ours})
        if theirs.get(key) != ours.get(key)
    )
