"""Compute the cells that are not on disk yet: in this process, over the cores, or on a Dask cluster."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from .._numerics.checks import shown
from ..errors import DataUnavailable, DCGEVError, InvalidParameter, SolverMissing
from .base import Experiment
from .cells import Cell, Scratch, Settings, Store

PATIENCE = 10
"""Seconds in which a Dask scheduler must answer."""


class Watch(Protocol):
    """Who is told how a run goes on."""

    def begun(self, name: str, total: int, kept: int) -> None:
        """An experiment begins: `kept` of its cells are on disk already."""
        ...

    def done(self, name: str, cell: Cell) -> None:
        """A cell is on disk."""
        ...

    def said(self, sentence: str) -> None:
        """Something that the user should know."""
        ...


class Silence:
    """A watch that says nothing."""

    def begun(self, name: str, total: int, kept: int) -> None:
        """Nothing."""

    def done(self, name: str, cell: Cell) -> None:
        """Nothing."""

    def said(self, sentence: str) -> None:
        """Nothing."""


@dataclass(frozen=True)
class Results:
    """The results of an experiment by the keys of its cells, and why others are missing.

    computed and kept count cells; failures maps keys to sentences. A failed cell is tried again by the next run.
    """

    cells: dict[str, Any]
    failures: dict[str, str] = field(default_factory=dict[str, str])
    computed: int = 0
    kept: int = 0
    damaged: tuple[str, ...] = ()


@dataclass(frozen=True)
class Crew:
    """Who computes: `jobs` processes here (−1 for all cores), or the Dask cluster at an address.

    Raises InvalidParameter for jobs that are neither −1 nor at least 1. Dask takes precedence over jobs.
    """

    jobs: int = 1
    dask: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.jobs, bool) or not isinstance(self.jobs, int) or self.jobs == 0 or self.jobs < -1:
            raise InvalidParameter(
                f"jobs = {shown(self.jobs)} must be a whole number of at least 1, or -1 for all cores."
            )


@dataclass(frozen=True)
class Outcome:
    """A cell's result, or the sentence that says why there is none."""

    key: str
    result: Any = None
    failure: str = ""


def run(
    experiment: Experiment, settings: Settings, out: Path, crew: Crew | None = None, watch: Watch | None = None
) -> Results:
    """Every cell of an experiment: read from disk when whole, computed and written at once when not.

    Parameters
    ----------
    experiment, settings
        What to compute; settings identify the folder.
    out
        The folder of the reproduction.
    crew, watch
        Who computes and who is told; this process and nobody by default.

    Failures of a cell are recorded and do not stop the others. An interrupt loses the cells under way, and nothing
    that was done.
    """
    watch = Silence() if watch is None else watch
    store = Store.of(out, experiment.name, settings)
    store.prepare(settings)
    cells = experiment.cells(settings)
    loaded = {cell.key: store.load(cell) for cell in cells}
    found = {key: entry.result for key, entry in loaded.items() if entry.found}
    damaged = tuple(key for key, entry in loaded.items() if entry.damaged)
    for key in damaged:
        watch.said(f"{experiment.name}: the file of cell {key} is damaged; it is computed again.")
    watch.begun(experiment.name, len(cells), len(found))
    scratch = Scratch(store.folder / "pieces", watch.said)
    todo = [cell.placed(scratch) for cell in cells if cell.key not in found]
    failures: dict[str, str] = {}
    for outcome in computed(todo, Crew() if crew is None else crew):
        cell = next(cell for cell in todo if cell.key == outcome.key)
        if outcome.failure:
            failures[cell.key] = outcome.failure
            watch.said(f"{experiment.name}: cell {cell.key} could not be computed: {outcome.failure}")
            continue
        store.save(cell, outcome.result)
        found[cell.key] = outcome.result
        watch.done(experiment.name, cell)
    kept = len(cells) - len(todo)
    return Results({c.key: found[c.key] for c in cells if c.key in found}, failures, len(todo), kept, damaged)


def computed(cells: Sequence[Cell], crew: Crew) -> Iterator[Outcome]:
    """The outcomes in the order in which they are finished; timed cells last, one at a time, in this process.

    Timed cells are last and alone, so that the clock of one is not disturbed by the work of another.
    """
    free = [cell for cell in cells if not cell.timed]
    if crew.dask is not None and free:
        yield from on_dask(free, crew.dask)
    elif crew.jobs != 1 and len(free) > 1:
        yield from on_cores(free, crew.jobs)
    else:
        yield from map(outcome_of, free)
    yield from map(outcome_of, (cell for cell in cells if cell.timed))


def outcome_of(cell: Cell) -> Outcome:
    """Run a cell with one BLAS thread: the same bits and fair times for any number of workers.

    Errors that a cell may meet honestly become sentences; anything else is a bug and is raised.
    """
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(limits=1):
            return Outcome(cell.key, cell.work(**cell.arguments))
    except (DCGEVError, ArithmeticError, ValueError, MemoryError) as cause:
        return Outcome(cell.key, failure=f"{type(cause).__name__}: {cause}")


def on_cores(cells: Sequence[Cell], jobs: int) -> Iterator[Outcome]:
    """Through joblib, each outcome as soon as it is there."""
    from joblib import Parallel, delayed

    parallel: Any = Parallel(n_jobs=jobs, return_as="generator_unordered")
    yield from parallel(delayed(outcome_in_worker)(cell, os.getpid()) for cell in cells)


def outcome_in_worker(cell: Cell, parent: int) -> Outcome:
    """The outcome of a cell, in a process that ends when the one that asked for it is gone.

    joblib's workers outlive a parent that was killed: they finish what was sent to them, for nobody, and wait for
    more for five minutes.
    """
    if os.getpid() != parent:  # joblib may work here itself
        leave_with(parent)
    return outcome_of(cell)


@cache
def leave_with(parent: int) -> None:
    """Look after the parent from now on, once a second; the system gives its orphans another, perhaps already."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()


def on_dask(cells: Sequence[Cell], address: str) -> Iterator[Outcome]:
    """On a Dask cluster, each outcome as soon as it is there.

    Raises SolverMissing without the package, DataUnavailable when no scheduler answers.
    """
    try:
        from distributed import as_completed
    except ImportError as cause:
        raise SolverMissing("--dask needs the package distributed: pip install 'dcgev-cvx[dask]'.") from cause
    with connected(address) as client:
        futures = [client.submit(outcome_of, cell, pure=False) for cell in cells]
        for _, outcome in as_completed(futures, with_results=True):
            yield outcome


def connected(address: str) -> Any:
    """A client of the scheduler at an address; DataUnavailable when none answers within PATIENCE seconds.

    What listens there need not speak Dask, nor speak at all: a client's own limit is for the connection alone, hence
    the thread, which may be left behind waiting.
    """
    from distributed import Client

    answer: list[Any] = []

    def knock() -> None:
        try:
            answer.append(Client(address, timeout=f"{PATIENCE}s"))
        except Exception as cause:  # whatever answers may answer anything, and so may the error
            answer.append(cause)

    thread = threading.Thread(target=knock, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    found = answer[0] if answer else TimeoutError(f"nothing was said within {PATIENCE} s")
    if isinstance(found, Exception):
        raise DataUnavailable(f"no Dask scheduler answers at {address}: {found}") from found
    return found
