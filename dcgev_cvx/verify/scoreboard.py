"""Many CVXPY solvers on every model: a table of shares, a heat map, and the findings with their scripts."""

import csv
import io
import math
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from html import escape
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ..errors import InvalidParameter
from .model_cases import ModelCase, model_cases
from .solver_scripts import versions_of, write_scripts
from .solver_trial import CLAIMS, TOLERANCE, UNANSWERED, Row, allowed, tried

COLUMNS = ("right", "wrong", "duals wrong", "inaccurate", "failed", "crashed", "timed out", *UNANSWERED)
HEADS = ("solver", "models", "right", "“optimal” but wrong", "duals wrong", "inaccurate", "failed", "crashed or hung",
         "not licensed", "worst error", "own claim", "within it", "time")  # fmt: skip


def run_scoreboard(
    solvers: Sequence[str],
    *,
    seed: int = 0,
    tol: float = TOLERANCE,
    options: Mapping[str, Any] | None = None,
    time_limit: float = 10.0,
    scripts: Path | None = None,
    jobs: int = 2,
    progress: Callable[[str, int], None] | None = None,
) -> dict[str, Any]:
    """Try solvers, a process for each, some at once; the run as plain data, with the scripts written to a folder."""
    begin, cases = perf_counter(), model_cases(seed)

    def one(solver: str) -> list[tuple[ModelCase, Row]]:
        settings: Any = {"options": options, "time_limit": time_limit, "tol": tol, "progress": progress}
        return list(tried(solver, cases, **settings))

    with ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(one, solvers))
    rows = [row for each in found for _, row in each]
    findings = (
        [] if scripts is None else write_scripts(scripts, [pair for each in found for pair in each], options or {}, tol)
    )
    return {
        "command": "scoreboard",
        "versions": {solver: versions_of(solver).get(solver, "") for solver in solvers}
        | {name: version(name) for name in ("cvxpy", "numpy", "dcgev-cvx")},
        "platform": f"Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        "seed": seed,
        "tolerance": tol,
        "cases": len(cases),
        "seconds": round(perf_counter() - begin, 1),
        "claims": {} if options else {solver: CLAIMS[solver] for solver in solvers if solver in CLAIMS},
        "cells": cells(rows),
        "findings": findings,
    }


def cells(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """For each solver and model the outcomes, the worst error of its answers, and the mean time of a right one."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.solver, row.model), []).append(row)
    made: list[dict[str, Any]] = []
    for (solver, model), group in groups.items():
        answered = [row for row in group if row.outcome not in UNANSWERED]
        times = [row.seconds for row in group if row.outcome == "right"]
        counts = Counter(row.outcome for row in group)
        errors = [row.error for row in answered if math.isfinite(row.error)]
        claim = CLAIMS.get(solver, 0.0)
        kept = [row for row in group if row.outcome in ("right", "duals wrong") and row.error <= allowed(row.n, claim)]
        dimacs = [max(row.dimacs.values()) for row in answered if row.dimacs]
        made.append({
            "solver": solver,
            "model": model,
            "asked": len(answered),
            **{name: counts[name] for name in COLUMNS},
            "within its claim": len(kept),
            "worst error": max(errors, default=0.0),
            "worst DIMACS error": max(dimacs, default=None),
            "seconds": float(np.mean(times)) if times else None,
        })  # fmt: skip
    return made


def relative_times(run: Mapping[str, Any]) -> dict[str, float]:
    """The geometric mean over models of a solver's time over the shortest of this run."""
    fastest: dict[str, float] = {}
    for cell in run["cells"]:
        if cell["seconds"]:
            fastest[cell["model"]] = min(fastest.get(cell["model"], math.inf), cell["seconds"])
    ratios: dict[str, list[float]] = {}
    for cell in run["cells"]:
        if cell["seconds"]:
            ratios.setdefault(cell["solver"], []).append(math.log(cell["seconds"] / fastest[cell["model"]]))
    return {solver: math.exp(float(np.mean(values))) for solver, values in ratios.items()}


def by_solver(run: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The rows of the table: shares of the questions that a solver takes, those with the largest share right first."""
    times, rows = relative_times(run), list[tuple[float, float, tuple[str, ...]]]()
    for solver in dict.fromkeys(cell["solver"] for cell in run["cells"]):
        own = [cell for cell in run["cells"] if cell["solver"] == solver]
        asked = sum(cell["asked"] for cell in own)
        total = {name: sum(cell[name] for cell in own) for name in COLUMNS}
        models = sum(cell["asked"] > 0 for cell in own)
        lost = total["crashed"] + total["timed out"]
        counts = (total["right"], total["wrong"], total["duals wrong"], total["inaccurate"], total["failed"], lost)
        worst = max(cell["worst error"] for cell in own)
        claim = run["claims"].get(solver)
        kept = "–" if claim is None else share_of(sum(cell["within its claim"] for cell in own), asked)
        rows.append((total["right"] / asked if asked else -1.0, models, (
            solver, f"{models} of {len(own)}", *(share_of(count, asked) for count in counts),
            str(total["not licensed"] or "–"), f"{worst:.0e}" if asked else "–",
            "–" if claim is None else f"{claim:.0e}", kept,
            f"{times[solver]:.1f}" if solver in times else "–")))  # fmt: skip
    return [cells for _, _, cells in sorted(rows, key=lambda row: (-row[1], -row[0]))]


def share_of(count: int, asked: int) -> str:
    """A share in per cent; a dash for none."""
    if not asked or not count:
        return "–"
    return f"{100.0 * count / asked:.{0 if count == asked else 1}f} %"


def markdown(run: Mapping[str, Any], picture: str | None = None, scripts: str = "") -> str:
    """The page: what was run, the table, the heat map, and the findings."""
    names = ", ".join(f"{name} {number}" for name, number in run["versions"].items() if number)
    lines = [
        "# Scoreboard of CVXPY solvers",
        "",
        "**You will find** which CVXPY solvers are right on the paper's models, from one stored run of `dcgev "
        "scoreboard`. **You need to know** how [a solver is tried and judged](check-cvxpy-solvers.md).",
        "",
        f"{run['platform']}; {names}. Seed {run['seed']}, {run['cases']} problems, {run['seconds']:.0f} s for all "
        "solvers.",
        "",
        f"The outcomes are judged at one tolerance for all solvers, {run['tolerance']:g}, which allows an error of "
        f"(10 + 2n)·{run['tolerance']:g} on n variables. It is what the least accurate solvers claim by default, so "
        "that one table compares them all. *Own claim* is the tolerance of the solver's defaults as CVXPY calls it, "
        "and *within it* the share of answers with an error of at most (10 + 2n) times that.",
        "",
        *table_lines(HEADS, by_solver(run)),
        "",
        "Shares are of the problems that the solver takes. *“Optimal” but wrong*: it claims an optimum that the data "
        "contradict, or claims that a problem with an optimum has none. *Inaccurate*: off, and the solver says so. "
        "*Not licensed*: problems that its licence excludes. *Worst error*: the largest relative violation or error of "
        "the value. *Time*: the geometric mean over the models of its time over the shortest in this run.",
        "",
    ]
    if picture is not None:
        lines += [f"![Share of right answers by solver and model]({picture})", ""]
    lines += ["## Findings", ""]
    found = run["findings"]
    if not found:
        return "\n".join([*lines, "None.", ""])
    lines += ["The smallest problem of each kind. A script needs CVXPY and NumPy alone.", ""]
    rows = [finding_cells(one, scripts) for one in found]
    return "\n".join([*lines, *table_lines(("solver", "model", "outcome", "problem", "what", "script"), rows), ""])


def finding_cells(one: Mapping[str, str], scripts: str) -> tuple[str, ...]:
    """A finding as a row of a table."""
    what = shortened(": ".join(filter(None, (one["said"], one["what"]))))
    link = f"[script]({scripts}{one['script']}), {one['alone']}"
    return one["solver"], f"`{one['model']}`", one["outcome"], one["problem"], what, link


def shortened(text: str) -> str:
    """At most 120 letters, without what Markdown reads as a table or as markup."""
    plain = text.replace("|", "∣").replace("*", "·").replace("<", "‹").replace("`", "'")
    return plain if len(plain) <= 120 else f"{plain[:119]}…"


def table_lines(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table of Markdown."""
    return [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *rows)]


def csv_text(run: Mapping[str, Any]) -> str:
    """A line for each solver and model."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(run["cells"][0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(run["cells"])
    return out.getvalue()


def heat_map(run: Mapping[str, Any]) -> str:
    """The share of right answers by solver and model as SVG; the number of wrong ones is written in the cell."""
    solvers = [row[0] for row in by_solver(run)]
    models = sorted({cell["model"] for cell in run["cells"]})
    wide, high, left, top = 46, 24, 110, 130
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + wide * len(models) + 10} '
        f'{top + high * len(solvers) + 30}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    for j, model in enumerate(models):
        x, y = left + wide * j + 28, top - 8
        parts.append(f'<text x="{x}" y="{y}" transform="rotate(-45 {x} {y})">{escape(model)}</text>')
    at = {(cell["solver"], cell["model"]): cell for cell in run["cells"]}
    for i, solver in enumerate(solvers):
        y = top + high * i
        parts.append(f'<text x="{left - 6}" y="{y + 16}" text-anchor="end">{escape(solver)}</text>')
        for j, model in enumerate(models):
            cell = at.get((solver, model))
            fill, words = colour(cell)
            x = left + wide * j
            parts.append(f'<rect x="{x}" y="{y}" width="{wide - 2}" height="{high - 2}" fill="{fill}"/>')
            parts.append(
                f'<text x="{x + wide // 2 - 1}" y="{y + 16}" text-anchor="middle" font-size="11">{words}</text>'
            )
    y = top + high * len(solvers) + 20
    parts.append(
        f'<text x="{left}" y="{y}">number: share right in %; grey: not supported, not licensed or not asked</text>'
    )
    return "\n".join([*parts, "</svg>", ""])


def colour(cell: Mapping[str, Any] | None) -> tuple[str, str]:
    """(the fill, the words) of a cell: white to blue for the share right, orange where an answer is wrong."""
    if cell is None or not cell["asked"]:
        return "#dddddd", ""
    share = cell["right"] / cell["asked"]
    if cell["wrong"]:
        return "#f0a070", f"{100 * share:.0f}"
    mix = [round(255 + (end - 255) * share) for end in (120, 180, 225)]
    return "#{:02x}{:02x}{:02x}".format(*mix), f"{100 * share:.0f}"


def checked_run(run: Any) -> dict[str, Any]:
    """A stored run, if it is one."""
    if not isinstance(run, dict) or run.get("command") != "scoreboard" or not run.get("cells"):
        raise InvalidParameter("the file holds no run of `dcgev scoreboard`: write one with --out DIR.")
    return run
