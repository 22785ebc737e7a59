"""What a study found, group by group: shares of optima and of tight bounds, gaps and times, as text and CSV."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from .._numerics.text_tables import as_text, table
from ..errors import DataUnavailable, InvalidParameter, nearest
from .families import StudyInstance, given_pencil

if TYPE_CHECKING:
    from .study import Study, StudyRow


def study_summary(found: "Study", by: Sequence[str]) -> list[dict[str, Any]]:
    """One row per group and method.

    cells     how many cells the group has, and failed those without a number
    optimal   the share of vectors that are the optimum, among the known cells: those whose optimum is proved
    tight     the share of bounds within 1e-4 of the optimum, among the known cells: those where that can be said
    known     how many cells are known
    gap       the median relative gap, worst_gap the largest; seconds the median time
    """
    for column in by:
        if column not in found.columns:
            raise InvalidParameter(f"by = {column!r} is no column of the study; {nearest(column, found.columns)}")
    groups: dict[tuple[str, ...], list[StudyRow]] = {}
    for row in found.rows:
        key = (*(column_text(row.get(column)) for column in by), row["method"], row["side"])
        groups.setdefault(key, []).append(row)
    return [
        {**dict(zip((*by, "method", "side"), key, strict=True)), **group_measures(rows)} for key, rows in groups.items()
    ]


def group_measures(rows: Sequence["StudyRow"]) -> dict[str, Any]:
    """The numbers of one group."""
    gaps = [row["gap"] for row in rows if row["gap"] is not None]
    seconds = [row["seconds"] for row in rows if row["seconds"] is not None and row["value"] is not None]
    return {
        "cells": len(rows),
        "failed": sum(row["value"] is None for row in rows),
        "optimal": known_share(row["optimal"] for row in rows),
        "tight": known_share(row["tight"] for row in rows),
        "known": sum(row["optimal"] is not None or row["tight"] is not None for row in rows),
        "gap": median(gaps) if gaps else None,
        "worst_gap": max(gaps, default=None),
        "seconds": median(seconds) if seconds else None,
    }


def known_share(answers: Iterable[bool | None]) -> float | None:
    """The share of True among those that are known."""
    known = [answer for answer in answers if answer is not None]
    return sum(known) / len(known) if known else None


def column_text(entry: Any) -> str:
    """An entry that names a group: 5+5 for a budget per view."""
    return "+".join(map(str, entry)) if isinstance(entry, list | tuple) else "" if entry is None else str(entry)


def study_text(found: "Study") -> str:
    """The table by family and k, or by k where the instances have no family, in eighty columns."""
    by = [column for column in ("family", "k") if len({column_text(row.get(column)) for row in found.rows}) > 1]
    lines = study_summary(found, by or ["k"])
    columns = (*(by or ["k"]), "method", "cells", "optimal", "tight", "gap %", "worst %", "s")
    rows = [
        (
            *(line[column] for column in (*(by or ["k"]), "method")),
            str(line["cells"]) if not line["failed"] else f"{line['cells'] - line['failed']} of {line['cells']}",
            *(share_text(line[name], line["known"]) for name in ("optimal", "tight")),
            *("" if line[name] is None else f"{100.0 * line[name]:.2f}" for name in ("gap", "worst_gap")),
            "" if line["seconds"] is None else f"{line['seconds']:.3g}",
        )
        for line in lines
    ]
    words = tuple(range(len(by or ["k"]) + 1))
    failures = dict.fromkeys(row["status"] for row in found.failed)
    told = [f"{sum(row['status'] == status for row in found.failed)} rows {status}" for status in failures]
    return as_text(table(columns, rows, words=words), *told[:5])


def share_text(share: float | None, known: int) -> str:
    """A share of the known cells as numbers, 3 of 4, or nothing."""
    return "" if share is None else f"{round(share * known)} of {known}"


def csv_of(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as comma separated values below a header; lists are joined."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([joined_entry(row.get(column)) for column in columns])
    return text.getvalue()


def joined_entry(entry: Any) -> Any:
    """A cell of a CSV file: names in a row, or 5+5 for a budget per view."""
    numbers = isinstance(entry, list | tuple) and all(isinstance(each, int) for each in entry)
    return column_text(entry) if numbers else " ".join(entry) if isinstance(entry, list | tuple) else entry


def study_in(path: Path) -> "Study":
    """The study in a folder of results, or in a .json file."""
    import json

    from .cells import load_cell
    from .study import Study, cells_of, rows_of, settings_in

    if path.is_file():
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            return Study(tuple(content["rows"]), content["settings"])
        except (OSError, ValueError, KeyError, TypeError) as cause:
            raise DataUnavailable(f"{path} is no study that `save` wrote ({cause}).") from cause
    settings = settings_in(path)
    kept = settings.pop("instances")
    instances = [StudyInstance(name, given_pencil, *what) for name, what in kept.items()]
    ks = [tuple(k) if isinstance(k, list) else k for k in settings["ks"]]
    asked = {name: settings[name] for name in ("time_limit", "random_state", "force")}
    rows: list[Any] = []
    for cell, instance, k in cells_of(instances, ks, settings["methods"], asked):
        result = load_cell(path / "cells", cell)
        rows += rows_of(instance, k, settings["methods"], result, "not computed") if result is not None else []
    return Study(tuple(rows), settings)
