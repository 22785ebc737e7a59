"""What the tables of Li and Xie (INFORMS Journal on Computing, 2024) report, beside what this package proves.

`published_results.json` holds the figures: an instance, the number of the table, the method, its gap in per cent (null
where it ended without a bound) and its seconds. Their runs had a limit of 3,600 s, Gurobi 9.5 and Mosek 10.
"""

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from .instance_library import Record, counted, gap_text

LIMIT = 3600.0
"""The time limit of the published runs, in seconds."""


@cache
def published_rows() -> tuple[dict[str, Any], ...]:
    """The figures, in the order of the tables."""
    return tuple(json.loads((files("dcgev_cvx.datasets") / "published_results.json").read_text(encoding="utf-8")))


def published_names() -> list[str]:
    """The instances of the tables, each once."""
    return list(dict.fromkeys(row["instance"] for row in published_rows()))


def published_page(records: Sequence[Record], limit: float, version: str) -> str:
    """A page in Markdown: for every instance what was published, and what `best_subset` proves."""
    machines = sorted({record.machine for record in records})
    dates = sorted({record.date for record in records})
    closed = sum(record.status == "closed" for record in records)
    slowest = max((record.seconds for record in records), default=0.0)
    lines = [
        "# Published tables of exact sparse PCA",
        "",
        f"`exact.best_subset` proves {closed} of {len(records)} instances of Li and Xie (INFORMS Journal on Computing, "
        f"2024) optimal to 1e-9, the slowest in {slowest:.1f} s of CPU time.",
        f"One thread of {', '.join(machines)}; {', '.join(dates)}; {version}; time limit {limit:g} s.",
        "",
        "The published figures are those of their tables: their machine, Gurobi 9.5 and Mosek 10, a limit of 3,600 s.",
        "A gap is that of a bound, or of a heuristic in the rows *local search*, as a share of the optimum. Times on",
        "two machines do not compare solvers; whether a bound was reached at all does.",
        "",
        "Made by `dcgev library run --published --page docs/published-tables.md`.",
        "",
        "| instance | n | k | published | optimum | gap | nodes | CPU s |",
        "|---|--:|--:|---|--:|--:|--:|--:|",
    ]
    for record in records:
        nodes = record.proof.removeprefix("branch and bound, ").removesuffix("s").removesuffix(" node")
        cells = (record.name, record.n, counted(record.k), published_text(record.name), f"{record.value:.8g}",
                 gap_text(record.gap), nodes, f"{record.seconds:.2f}")  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def published_text(name: str) -> str:
    """What the tables say of an instance."""
    parts = list[str]()
    for row in published_rows():
        if row["instance"] == name:
            exact = row["table"] == 2 and row["gap"] == 0.0
            ended = f"optimal, {row['seconds']:,.0f} s" if exact else outcome(row["gap"], row["seconds"])
            parts.append(f"Table {row['table']}, {row['method']}: {ended}")
    return "<br>".join(parts)


def outcome(gap: float | None, seconds: float) -> str:
    """A gap and a time, or that there was none."""
    if gap is None:
        ended = f"after {seconds:,.0f} s"
        return f"**no bound {ended}**" if seconds >= LIMIT else f"no bound, ended {ended}"
    return f"gap {gap_text(0.01 * gap)}, {seconds:,.0f} s"
