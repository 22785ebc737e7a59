"""`study`: `compare` over many problems, in parallel, saved as it goes, continued after an interruption.

Read in this order: `families` says what an instance is, `cells` computes and saves, `study` puts the two together,
`study_tables` and `study_plots` show what came out.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

from .. import __version__
from .._numerics.checks import as_callback, as_flag, as_number, as_whole, listed, shown
from .._numerics.extras import require
from .._numerics.output_files import output_file, output_folder, write_file
from ..errors import DataUnavailable, InvalidParameter
from ..pencils import Pencil
from ..relaxations.bounds import Gap
from .cells import Cell, CellProgress, cell_key, dask_cluster, named_backend, run_cells, silent
from .compare_methods import METHODS, checked_methods, compare
from .families import StudyInstance, instances_of
from .rows import Counts, counts_text

StudyRow: TypeAlias = dict[str, Any]
"""What one method found on one instance at one k; the columns are those of `Study`."""

STUDY_METHODS = ("solve", "dc-native", "rounded", "homogeneous", "exact")
"""The methods of a study by default: the search, Algorithm 1, an SDP with its vector, and the truth."""

TIGHT_SHARE = 1e-4
"""A bound is called tight when it is within this share of the optimum: SDP solvers stop near 1e-6, and the bound is
moved up by what they leave."""


@dataclass(frozen=True)
class Study:
    """The rows of a study: one per instance, k and method.

    Each row is a dictionary with
    instance, family, and the parameters of the instance (n, seed, signal, …);
    k, method, side ("lower" for vectors, "upper" for bounds);
    value, and bound, the smallest valid bound of all methods;
    gap, the relative distance to the best of the other side; cardinality, support and stationarity of a vector;
    optimal: True for a vector whose value is proved optimal, False where a better one is known, None in between;
    tight: True for a bound that a vector attains to 1e-4, False where the optimum is proved to be lower, else None;
    seconds and status, the reason of a failure too.

    Parameters
    ----------
    rows : tuple of dict
        The rows, in the order of instances, ks and methods.
    settings : dict
        Methods, ks, time limit, seed and version.

    Examples
    --------
    >>> from dcgev_cvx import study
    >>> from dcgev_cvx.comparison import family
    >>> found = study(family("spiked", n=12, seeds=2), [2, 3], ["greedy", "exact"])
    >>> len(found.rows), sorted({row["optimal"] for row in found.rows if row["method"] == "exact"})
    (12, [True])
    """

    rows: tuple[StudyRow, ...]
    settings: Mapping[str, Any]

    @property
    def failed(self) -> list[StudyRow]:
        """The rows whose cell could not be computed."""
        return [row for row in self.rows if row["status"].startswith("failed: ")]

    @cached_property
    def columns(self) -> list[str]:
        """The names of all columns."""
        return list(dict.fromkeys(key for row in self.rows for key in row))

    def table(self, *by: str) -> list[dict[str, Any]]:
        """Shares, gaps and times per group and method, by default by family and k; see `study_tables.study_summary`."""
        from .study_tables import study_summary

        return study_summary(self, by or ("family", "k"))

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame, a budget per view as text such as 5+5."""
        from .study_tables import column_text

        rows = [row | ({"k": column_text(row["k"])} if isinstance(row["k"], list) else {}) for row in self.rows]
        return require("pandas", "pandas").DataFrame(rows, columns=self.columns)

    def save(self, path: str | Path) -> None:
        """Write the rows to a file that ends in .csv, .json or, with pandas and pyarrow, .parquet."""
        from .study_tables import csv_of

        file = output_file("path", path)
        if file.suffix == ".csv":
            write_file(file, csv_of(self.columns, self.rows))
        elif file.suffix == ".json":
            content = {"settings": dict(self.settings), "rows": self.rows}
            write_file(file, json.dumps(content, indent=1, ensure_ascii=False))
        elif file.suffix == ".parquet":
            require("pyarrow", "pandas")
            self.to_frame().astype({"k": str, "support": str}).to_parquet(file)
        else:
            raise InvalidParameter(f"path {file.name} must end in .csv, .json or .parquet.")

    @classmethod
    def load(cls, path: str | Path) -> "Study":
        """The study in a folder of results, or in a .json file that `save` wrote."""
        from .study_tables import study_in

        return study_in(Path(path))

    def plot(self, kind: Literal["gap", "transition", "time"] = "gap", ax: Any = None) -> Any:
        """Draw one of three pictures; returns the Matplotlib Axes.

        gap          the relative gap against k, per method, with bands of quantiles
        transition   the share of optima found against the signal, with the region where an SDP is tight
        time         seconds against n, both axes logarithmic
        """
        from .study_plots import study_plot

        return study_plot(self, kind, ax)

    def __str__(self) -> str:
        from .study_tables import study_text

        return study_text(self)


class StudyInterrupted(KeyboardInterrupt):
    """Ctrl-C while `study` was at work; `study` holds the rows of the cells that were finished."""

    def __init__(self, study: Study, finished: int, total: int) -> None:
        super().__init__(f"after {finished} of {total} cells; a study with a folder continues from there")
        self.study, self.finished, self.total = study, finished, total

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.study, self.finished, self.total)


def study(
    instances: Any,
    ks: Counts | Iterable[Counts],
    methods: Iterable[str] = STUDY_METHODS,
    *,
    folder: str | Path | None = None,
    jobs: int = 1,
    dask: str | None = None,
    backend: str | None = None,
    time_limit: float | None = None,
    random_state: int = 0,
    force: bool = False,
    progress: CellProgress | None = None,
) -> Study:
    """Compare methods on every instance at every k, and collect what they found in one table (SGEV-P).

    Each pair of an instance and a k is a cell. With a folder, its result is saved as soon as it is known, and the
    same call continues after an interruption. Without a time limit the results do not depend on the number of
    workers, seconds apart.

    Parameters
    ----------
    instances : iterable
        What `family` returns, pairs (name, pencil), a dictionary of pencils, records with a name and a pencil, a
        library such as `datasets.library().only(offline=True)`, whose pencils are taken once each, or a folder of .npy
        and .npz files.
    ks : int, tuple or iterable of these
        Cardinalities; a tuple gives one for each view. A k that an instance does not have is a failed cell.
    methods : iterable of str
        Names from `comparison.METHODS`.
    folder : path, optional
        Where results are saved, one small JSON file per cell. One that holds another study is refused.
    jobs : int
        The number of processes, -1 for one per core.
    dask : str, optional
        The address of a Dask scheduler whose workers compute, such as tcp://127.0.0.1:8786.
    backend : str, optional
        Another joblib backend by name, such as "ray". Without one, that of joblib.parallel_config is used.
    time_limit : float, optional
        Seconds per cell, as in `compare`.
    random_state : int
        The seed of the search.
    force : bool
        Whether methods run that are skipped because n is large.
    progress : callable, optional
        Called as progress(finished, total, message) after every cell.

    Returns
    -------
    Study
        One row per instance, k and method.

    Raises
    ------
    InvalidParameter
        For an unknown method or family, and a folder that holds another study.
    DataUnavailable
        When no Dask scheduler answers.
    StudyInterrupted
        A KeyboardInterrupt whose `study` holds the finished rows.

    See Also
    --------
    compare : One instance and one k.

    Examples
    --------
    >>> from dcgev_cvx import datasets, study
    >>> found = study({"pit props": datasets.pitprops()}, range(2, 5), ["solve", "homogeneous", "exact"])
    >>> [(row["k"], row["tight"]) for row in found.rows if row["method"] == "homogeneous"]
    [(2, True), (3, False), (4, False)]
    """
    made, counts, chosen = instances_of(instances), checked_ks(ks), checked_methods(methods)
    given = {"time_limit": time_limit, "random_state": as_whole(random_state, "random_state", low=0)}
    given["force"] = as_flag(force, "force")
    if time_limit is not None:
        as_number(time_limit, "time_limit", strict=True)
    settings: dict[str, Any] = {"methods": chosen, "ks": [plain_k(k) for k in counts], **given, "version": __version__}
    cells = {cell.key: (cell, instance, k) for cell, instance, k in cells_of(made, counts, chosen, given)}
    place = None if folder is None else claimed(Path(folder), settings, made)
    shared: Any = {"jobs": jobs, "backend": chosen_backend(dask, backend)}
    shared["progress"] = as_callback(progress, "progress") or silent
    results: dict[str, Any] = {}

    def so_far(failures: Mapping[str, str]) -> Study:
        known = (key for key in cells if key in results or key in failures)
        parts = (rows_of(*cells[key][1:], chosen, results.get(key), failures.get(key, "")) for key in known)
        return Study(tuple(row for part in parts for row in part), settings)

    try:
        _, failures = run_cells([cell for cell, _, _ in cells.values()], place, results=results, **shared)
    except KeyboardInterrupt as stop:
        raise StudyInterrupted(so_far({}), len(results), len(cells)) from stop
    return so_far(failures)


def checked_ks(ks: Any) -> list[Counts]:
    """The cardinalities, each once."""
    given = [ks] if isinstance(ks, int | tuple) else listed(ks)
    words = f"ks = {shown(ks)} must list cardinalities, such as [2, 5] or [(5, 5)]"
    try:
        found: list[Counts] = [tuple(map(int, k)) if isinstance(k, Sequence) else as_whole(k, "k") for k in given]
    except (TypeError, ValueError) as cause:
        raise InvalidParameter(f"{words}.") from cause
    if not found:
        raise InvalidParameter(f"{words}.")
    return list(dict.fromkeys(found))


def plain_k(k: Counts) -> Any:
    """As JSON has it."""
    return list(k) if isinstance(k, tuple) else k


def chosen_backend(dask: str | None, backend: str | None) -> AbstractContextManager[Any] | None:
    """The joblib backend that was asked for, entered when the work begins."""
    if dask is not None and backend is not None:
        raise InvalidParameter(f"dask = {dask} and backend = {backend} were both given: give one of them.")
    if dask is not None:
        return dask_cluster(str(dask))
    return None if backend is None else named_backend(str(backend))


def cells_of(
    instances: Sequence[StudyInstance], ks: Sequence[Counts], methods: Sequence[str], settings: Mapping[str, Any]
) -> Iterator[tuple[Cell, StudyInstance, Counts]]:
    """The cells, each with its instance and k."""
    for instance in instances:
        for k in ks:
            arguments = {"make": instance.make, "parameters": dict(instance.parameters), "k": k, "methods": methods}
            identity = json.dumps([instance.signature, plain_k(k), list(methods), dict(settings)], sort_keys=True)
            key = cell_key(f"{instance.name} k={counts_text(k)}")
            yield Cell(key, compared_cell, arguments | {"settings": dict(settings)}, identity), instance, k


def compared_cell(
    make: Callable[..., Pencil],
    parameters: Mapping[str, Any],
    k: Counts,
    methods: Sequence[str],
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    """The comparison of one cell, as JSON has it."""
    return compare(make(**parameters), k, methods, **settings).to_dict()


def rows_of(
    instance: StudyInstance, k: Counts, methods: Sequence[str], result: Mapping[str, Any] | None, failure: str
) -> Iterator[StudyRow]:
    """The rows of one cell; all of them have the reason if it failed."""
    about = {"instance": instance.name, "family": instance.family, **instance.parameters, "k": plain_k(k)}
    if result is None:
        empty = dict.fromkeys(("value", "bound", "gap", "cardinality", "support", "stationarity", "optimal", "tight"))
        for name in methods:
            side = METHODS[name].side
            yield {**about, "method": name, "side": side, **empty, "seconds": None, "status": f"failed: {failure}"}
        return
    best = -math.inf if result["best_lower"] is None else result["best_lower"]
    bound = math.inf if result["best_upper"] is None else result["best_upper"]
    for name, row in zip(methods, result["rows"], strict=True):
        kept = ("value", "gap", "cardinality", "support", "stationarity", "seconds", "status")
        judged = {"bound": result["best_upper"], **verdicts_of(row, best, bound)}
        yield {
            **about,
            "n": result["n"],
            "method": name,
            "side": row["side"],
            **{key: row[key] for key in kept},
            **judged,
        }


def verdicts_of(row: Mapping[str, Any], best: float, bound: float) -> dict[str, bool | None]:
    """Is a vector the optimum, and is a bound tight? None where it is not known, or not a question."""
    found: dict[str, bool | None] = {"optimal": None, "tight": None}
    if not row["valid"] or row["value"] is None:
        if row["side"] == "lower" and Gap(best, bound).closed:
            found["optimal"] = False  # no vector, and the optimum is known
        return found
    value = float(row["value"])
    if row["side"] == "lower":
        better = best - value > 1e-9 * abs(best)
        found["optimal"] = True if Gap(value, bound).closed else False if better else None
    elif value - best <= TIGHT_SHARE * abs(value):
        found["tight"] = True
    elif Gap(best, bound).closed:
        found["tight"] = False
    return found


# the folder of a study


def claimed(folder: Path, settings: Mapping[str, Any], instances: Sequence[StudyInstance]) -> Path:
    """The folder of cells, when it is empty or holds this study; the settings are written into study.json."""
    place, file = output_folder("folder", folder), folder / "study.json"
    kept = {instance.name: [instance.family, dict(instance.parameters), instance.signature] for instance in instances}
    wanted = json.loads(json.dumps({**settings, "instances": kept}))
    if file.exists():
        if differing := difference(settings_in(folder), wanted):
            raise InvalidParameter(
                f"folder {folder} holds another study: {differing}. Choose another folder, or repeat its settings."
            )
    elif any(path.name != "cells" for path in place.iterdir()):
        raise InvalidParameter(f"folder {folder} holds other files and no study: choose a new or an empty folder.")
    else:
        write_file(file, json.dumps(wanted, indent=1, ensure_ascii=False))
    return output_folder("folder", folder / "cells")


def settings_in(folder: Path) -> dict[str, Any]:
    """What study.json says."""
    try:
        found = json.loads((folder / "study.json").read_text(encoding="utf-8"))
        return dict(found) | {"instances": dict(found["instances"])}
    except (OSError, ValueError, KeyError, TypeError) as cause:
        raise DataUnavailable(f"{folder} holds no study: its study.json is missing or damaged ({cause}).") from cause


def difference(there: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """What differs between two studies, in words; empty if nothing does."""
    found = [
        f"{key} there {shown(there.get(key))}, here {shown(here[key])}"
        for key in here
        if key != "instances" and there.get(key) != here[key]
    ]
    old, new = there["instances"], here["instances"]
    for words, names in (
        ("instances are there and not here", [name for name in old if name not in new]),
        ("instances are here and not there", [name for name in new if name not in old]),
        ("instances have other data", [name for name in new if name in old and old[name] != new[name]]),
    ):
        if names:
            found.append(f"{len(names)} {words} ({', '.join(names[:3])}{', …' if len(names) > 3 else ''})")
    return "; ".join(found)
