"""Cells: computations whose results are saved one by one, so that a run that was stopped continues where it was.

A cell is a function of plain arguments. Its result is written to FOLDER/KEY.json as soon as it is known, with a hash:
a file that is cut, altered, of other arguments, or of another version is computed again. joblib runs the cells, on
any of its backends: processes of this machine, a Dask cluster, Ray.
"""

import asyncio
import hashlib
import json
import os
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias, cast

from .. import __version__
from .._numerics.checks import as_whole, shown
from .._numerics.extras import require
from .._numerics.output_files import write_file
from .._numerics.threads import one_thread
from ..errors import DataUnavailable, InvalidParameter, MissingPackage

CellProgress: TypeAlias = Callable[[int, int, str], object]
"""Called as progress(finished, total, message) at the beginning, after every cell, and when something happened."""
CellOutcome: TypeAlias = tuple[str, Any, str]
"""The key of a cell, its result, and the reason if it failed."""

BREAKS = 3
"""So often in a row without a result the workers may die before the remaining cells count as failed."""
CONNECT_SECONDS = 5.0
"""A Dask scheduler that does not answer within this time is unreachable."""


@dataclass(frozen=True)
class Cell:
    """A computation `work(**arguments)`, whose result JSON can hold.

    `work` is found by name in the worker, so it belongs to a module. Two cells of one key and one identity have the
    same result; by default the identity is the arguments. A cell that is timed runs after the others, alone.
    """

    key: str
    work: Callable[..., Any]
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])
    identity: str = ""
    timed: bool = False

    @property
    def signature(self) -> str:
        """What the saved result must belong to."""
        return self.identity or json.dumps(dict(self.arguments), sort_keys=True)


def cell_key(name: str) -> str:
    """A file name that is like the name, and unique to it.

    >>> from dcgev_cvx.comparison.cells import cell_key
    >>> cell_key("spiked n=20 seed=3, k=5")
    'spiked-n-20-seed-3-k-5-89c0f7fe'
    """
    readable = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.")[:60]
    return f"{readable}-{sha256_of(name)[:8]}"


def sha256_of(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


# results on disk


def save_cell(folder: Path, cell: Cell, result: Any) -> None:
    """Write a result; the file is whole or absent."""
    content = {"cell": cell.key, "result": result, "check": checksum(cell, result)}
    write_file(folder / f"{cell.key}.json", json.dumps(content, indent=1, sort_keys=True), durable=False)


def load_cell(folder: Path, cell: Cell) -> Any:
    """The result in a file, or None if there is none or it is damaged or of other arguments."""
    try:
        content = json.loads((folder / f"{cell.key}.json").read_text(encoding="utf-8"))
        return content["result"] if content["check"] == checksum(cell, content["result"]) else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):  # RecursionError: brackets without end
        return None


def checksum(cell: Cell, result: Any) -> str:
    """The hash that a saved result must carry; seconds do not count: only they differ between two runs."""
    return sha256_of(json.dumps([__version__, cell.key, cell.signature, timeless(result)], sort_keys=True))


def timeless(result: Any) -> Any:
    """The result without what is called seconds."""
    if isinstance(result, dict):
        entries = cast("Mapping[str, Any]", result)
        return {key: timeless(entry) for key, entry in entries.items() if key != "seconds"}
    return [timeless(entry) for entry in cast("Sequence[Any]", result)] if isinstance(result, list) else result


# running


def silent(finished: int, total: int, message: str) -> None:
    """A CellProgress that shows nothing."""


def run_cells(
    cells: Sequence[Cell],
    folder: Path | None,
    *,
    jobs: int = 1,
    backend: AbstractContextManager[Any] | None = None,
    progress: CellProgress = silent,
    results: dict[str, Any] | None = None,
) -> tuple[dict[str, Any], dict[str, str]]:
    """Results by key, and why others failed: read from the folder, or computed and saved at once.

    Parameters
    ----------
    cells : sequence of Cell
        What to compute; no key twice.
    folder : Path or None
        Where results are read and saved; None saves nothing.
    jobs : int
        The number of processes; -1 for one per core, or per worker of the backend.
    backend : context manager, optional
        A joblib backend, such as `dask_cluster(address)` or joblib.parallel_config(backend="ray").
    progress : callable
        progress(finished, total, message).
    results : dict, optional
        Filled as results come, so that an interrupt leaves the finished ones.

    Returns
    -------
    tuple of dict
        Results by key, and reasons of failures by key. A failed cell does not stop the others, and the next run tries
        it again.

    Examples
    --------
    >>> from dcgev_cvx.comparison.cells import Cell, run_cells
    >>> run_cells([Cell("two", pow, {"base": 2, "exp": 1}), Cell("none", pow, {"base": 0, "exp": -1})], None)
    ({'two': 2}, {'none': 'ZeroDivisionError: 0.0 cannot be raised to a negative power'})
    """
    jobs = checked_jobs(-1 if backend is not None and jobs == 1 else jobs, backend is None)
    found: dict[str, Any] = {} if results is None else results
    failures: dict[str, str] = {}
    if folder is not None:
        saved = ((cell.key, load_cell(folder, cell)) for cell in cells)
        found.update((key, result) for key, result in saved if result is not None)
    todo = {cell.key: cell for cell in cells if cell.key not in found}
    progress(len(found), len(cells), f"{len(found)} of {len(cells)} results are saved already" if found else "")
    damaged = [key for key in todo if folder is not None and (folder / f"{key}.json").exists()]
    if damaged:
        progress(len(found), len(cells), f"{len(damaged)} saved results are damaged or of other data: computed again")
    for key, result, failure in outcomes(
        list(todo.values()), jobs, backend, lambda line: progress(len(found) + len(failures), len(cells), line)
    ):
        if failure:
            failures[key] = failure
        else:
            found[key] = result
            if folder is not None:
                save_cell(folder, todo[key], result)
        progress(len(found) + len(failures), len(cells), "")
    return {cell.key: found[cell.key] for cell in cells if cell.key in found}, failures


def outcomes(
    cells: Sequence[Cell], jobs: int, backend: AbstractContextManager[Any] | None, tell: Callable[[str], object]
) -> Iterator[CellOutcome]:
    """Outcomes as they come; timed cells are last and run alone in this process, so that nothing disturbs them."""
    untimed = [cell for cell in cells if not cell.timed]
    if len(untimed) > 1 and (jobs != 1 or backend is not None):
        with backend or nullcontext():
            yield from on_workers(untimed, jobs, tell)
    else:
        yield from map(outcome_of, untimed)
    yield from (outcome_of(cell) for cell in cells if cell.timed)


def outcome_of(cell: Cell) -> CellOutcome:
    """Compute a cell with one BLAS thread: the same bits for any number of workers. An error becomes a reason."""
    try:
        with one_thread:
            return cell.key, cell.work(**cell.arguments), ""
    except Exception as cause:  # a cell may fail in the user's code too, and the others go on
        return cell.key, None, f"{type(cause).__name__}: {cause}"


def on_workers(cells: Sequence[Cell], jobs: int, tell: Callable[[str], object]) -> Iterator[CellOutcome]:
    """Outcomes from joblib's workers; the cells that a dead worker leaves are computed again."""
    joblib = require("joblib", "study")
    left, breaks = {cell.key: cell for cell in cells}, 0
    while left:
        before = len(left)
        try:
            with workers_safe_path():
                parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered")
                for outcome in parallel(joblib.delayed(outcome_of)(cell) for cell in list(left.values())):
                    del left[outcome[0]]
                    yield outcome
        except Exception as cause:
            if not worker_died(cause):
                raise
            breaks = breaks + 1 if len(left) == before else 1
            if breaks >= BREAKS:
                reason = "its worker was killed again and again, perhaps for lack of memory: use fewer jobs"
                yield from ((key, None, reason) for key in left)
                return
            tell(f"a worker was killed: its cells are computed again, {len(left)} are left")


def worker_died(cause: Exception) -> bool:
    """Is it an error of joblib's processes or of Dask that says so?"""
    return type(cause).__name__ in ("TerminatedWorkerError", "BrokenProcessPool", "KilledWorker", "WorkerCrashedError")


@contextmanager
def workers_safe_path() -> Generator[None]:
    """Workers do not look for modules in the current folder, where a `random.py` may lie."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        os.environ.pop("PYTHONSAFEPATH") if before is None else os.environ.update(PYTHONSAFEPATH=before)


def checked_jobs(jobs: Any, here: bool) -> int:
    """A number of processes; -1 stands for all, and on this machine no more than one runs for each core."""
    if jobs == -1:
        return -1
    wanted = as_whole(jobs, "jobs (-1 for all cores)")
    return min(wanted, require("joblib", "study").cpu_count()) if here and wanted > 1 else wanted


@contextmanager
def dask_cluster(address: str) -> Generator[None]:
    """joblib on the workers of a Dask scheduler, such as tcp://127.0.0.1:8786.

    Raises
    ------
    DataUnavailable
        When no scheduler answers at that address, or it has no workers.
    """
    joblib, distributed = require("joblib", "study"), require("distributed", "dask")
    if not workers_at(address, distributed):
        raise DataUnavailable(
            f"the Dask scheduler at {address} has no workers: start some with `dask worker {address}`."
        )
    with (
        distributed.Client(address, set_as_default=False) as client,
        client.as_current(),
        joblib.parallel_config(backend="dask", n_jobs=-1),
    ):
        yield


def workers_at(address: str, distributed: Any) -> Mapping[str, Any]:
    """The workers of a scheduler, asked in a thread of its own: a Client that cannot connect may never return."""

    async def asked() -> Mapping[str, Any]:
        async with distributed.rpc(address) as scheduler:
            return (await scheduler.identity())["workers"]

    async def answered() -> Mapping[str, Any]:
        return await asyncio.wait_for(asked(), CONNECT_SECONDS)

    try:
        with ThreadPoolExecutor(1) as thread:  # a notebook's own thread runs an event loop already
            return thread.submit(asyncio.run, answered()).result()
    except Exception as cause:  # a server of another kind sends bytes that Dask may read as anything
        raise DataUnavailable(
            f"no Dask scheduler answers at {shown(address)}: start one with `dask scheduler`, or give the address "
            "that it prints, such as tcp://127.0.0.1:8786."
        ) from cause


def named_backend(name: str) -> AbstractContextManager[Any]:
    """A joblib backend by its name; "ray" is registered first, and needs Ray."""
    joblib = require("joblib", "study")
    if name == "ray":
        if find_spec("ray") is None:
            raise MissingPackage("backend = 'ray' needs the package ray: pip install ray.", name="ray")
        import_module("ray.util.joblib").register_ray()
    try:
        return joblib.parallel_config(backend=name)
    except ValueError as cause:
        raise InvalidParameter(
            f"backend = {shown(name)} is not known to joblib: use loky, multiprocessing, threading, or ray."
        ) from cause
