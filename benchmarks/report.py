"""What a measurement is, how it is timed, printed and stored."""

from __future__ import annotations

import gc
import json
import platform
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from os import cpu_count
from pathlib import Path
from time import perf_counter
from typing import Any

from dcgev_cvx.cli.library_command import cpu_model

PACKAGES = ("dcgev-cvx", "cvxpy", "clarabel", "scs", "ecos", "osqp", "numpy", "scipy", "dccp")


@dataclass(frozen=True)
class Measure:
    """One number with its target; met is None when there is none, detail says what went into it."""

    what: str
    value: float
    unit: str
    target: str = ""
    met: bool | None = None
    detail: str = ""

    @property
    def verdict(self) -> str:
        """The target met, missed, or not set."""
        return {True: "met", False: "MISSED", None: ""}[self.met]


@dataclass(frozen=True)
class Skipped:
    """A peer that is not installed, and how to get it."""

    what: str
    remedy: str


def at_most(what: str, value: float, unit: str, limit: float, detail: str = "") -> Measure:
    """A measure that should not exceed its limit."""
    return Measure(what, value, unit, f"≤ {limit:g}", value <= limit, detail)


def at_least(what: str, value: float, unit: str, limit: float, detail: str = "") -> Measure:
    """A measure that should reach its limit."""
    return Measure(what, value, unit, f"≥ {limit:g}", value >= limit, detail)


STORED = Path(__file__).parents[1] / "docs" / "benchmarks.md"
"""The page of the last whole run, whose values a new run is compared with."""
SMALLER_IS_BETTER = ("s", "ms", "passes", "products", "MiB", "of the data")
"""Units of measures without a target of which less is better."""


def stored_values(page: Path = STORED) -> dict[tuple[str, str], float]:
    """The values on a page that `page` wrote, by section and measure; none where there is no page."""
    found: dict[tuple[str, str], float] = {}
    section = ""
    for line in page.read_text(encoding="utf-8").splitlines() if page.exists() else []:
        if line.startswith("## "):
            section = line.removeprefix("## ")
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 5:
            try:
                found[section, cells[0]] = float(cells[1])
            except ValueError:  # the header, and the line below it
                continue
    return found


def fell(measure: Measure, stored: float) -> bool:
    """Is the measure worse than the stored value by more than a fifth? False where no direction is known."""
    if measure.target.startswith("≥"):
        return measure.value < 0.8 * stored
    return (measure.target.startswith("≤") or measure.unit in SMALLER_IS_BETTER) and measure.value > 1.2 * stored


def timed(function: Callable[[], Any], repeats: int) -> float:
    """The median wall seconds of a call over the repeats, after one call that is not counted."""
    return taking_turns([function], repeats)[0]


def taking_turns(functions: Sequence[Callable[[], Any]], repeats: int) -> list[float]:
    """The same for several functions that take turns, so that a busy moment of the machine falls on all of them."""
    for function in functions:
        function()
    rounds = [[seconds_of(function) for function in functions] for _ in range(repeats)]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def seconds_of(function: Callable[[], Any]) -> float:
    """The wall seconds of one call; earlier garbage is not collected on its time."""
    gc.collect()
    begin = perf_counter()
    function()
    return perf_counter() - begin


def machine() -> dict[str, Any]:
    """Processor, cores, system and versions: what a reader needs to judge the numbers."""
    return {
        "cpu": cpu_model(),
        "cores": cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: found for name in PACKAGES if (found := installed(name))},
    }


def installed(package: str) -> str | None:
    """The version of a package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def of_the_tests(name: str) -> Any:
    """A module in tests/ or one of its folders, such as "verify/wrong_solvers", which are not packages."""
    path = Path(__file__).parents[1] / "tests" / name
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    return import_module(path.name)


def show(section: str, measures: Sequence[Measure | Skipped], title: str = "") -> int:
    """The section as a table beside the stored values, then the details and the peers that were skipped.

    Returns how many measures fell by more than a fifth.
    """
    from dcgev_cvx._numerics.text_tables import table
    from dcgev_cvx.cli.console import show as print_parts

    done, stored = [m for m in measures if isinstance(m, Measure)], stored_values()
    rows: list[tuple[str, ...]] = []
    fallen = 0
    for m in done:
        before = stored.get((section, m.what))
        down = before is not None and fell(m, before)
        fallen += down
        shown = "" if before is None else f"{before:.3g}"
        rows.append((m.what, f"{m.value:.3g}", m.unit, m.target, m.verdict, shown, "FELL" if down else ""))
    print_parts(table(("measure", "value", "unit", "target", "", "stored", ""), rows, title=title or section))
    for m in done:
        if m.detail:
            print_parts(f"  {m.what}: {m.detail}")
    for skipped in (m for m in measures if isinstance(m, Skipped)):
        print_parts(f"  skipped: {skipped.what} ({skipped.remedy})")
    return fallen


def store(folder: Path, section: str, measures: Sequence[Measure | Skipped]) -> Path:
    """Write the section with the machine it ran on to FOLDER/section.json."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{section}.json"
    content = {
        "section": section,
        "machine": machine(),
        "measures": [asdict(m) for m in measures if isinstance(m, Measure)],
        "skipped": [asdict(m) for m in measures if isinstance(m, Skipped)],
    }
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def page(results: dict[str, Sequence[Measure | Skipped]], command: str) -> str:
    """Every section as one Markdown page, with the machine and the command that made it."""
    about = machine()
    versions = ", ".join(f"{name} {found}" for name, found in about["versions"].items())
    lines = [
        "# Benchmarks",
        "",
        f"Made by `{command}` on {about['cpu']}, {about['cores']} cores, Python {about['python']}; {versions}.",
        "Ratios are medians of one run, warm-up excluded; a target is the goal of this project.",
    ]
    for section, measures in results.items():
        lines += ["", f"## {section}", "", "| measure | value | unit | target | verdict |", "|---|---|---|---|---|"]
        done = [m for m in measures if isinstance(m, Measure)]
        lines += [f"| {m.what} | {m.value:.3g} | {m.unit} | {m.target} | {m.verdict} |" for m in done]
        lines += ["", *(f"- {m.what}: {m.detail}" for m in done if m.detail)]
        lines += [f"- skipped: {m.what} ({m.remedy})" for m in measures if isinstance(m, Skipped)]
    return "\n".join(lines).rstrip() + "\n"
