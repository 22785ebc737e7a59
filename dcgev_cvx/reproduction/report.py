"""The report: findings that compare the paper's numbers with ours, tables and figures, as Markdown, JSON and CSV."""

import csv
import io
import json
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, TypeAlias

from .._numerics.canvas import new_figure
from .._numerics.extras import require
from .._numerics.output_files import write_file
from .running import Settings, Task

Curve: TypeAlias = Sequence[tuple[float, float]]
"""Points (x, y)."""

MARKERS, LINES = "osD^vP*Xx", ("-", "--", "-.", ":")


class Verdict(StrEnum):
    """The result of a comparison with the paper."""

    AGREE = "agree"
    DIFFERS = "differs"
    UNMATCHED = "cannot be matched"  # the paper's data are not available


@dataclass(frozen=True)
class Finding:
    """One number or claim of the paper, ours as text, the verdict, and how it was measured or why it differs."""

    what: str
    paper: str
    ours: str
    verdict: Verdict
    remark: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers below a header."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Panel:
    """One pair of axes with named curves."""

    title: str
    x: str
    y: str
    curves: Mapping[str, Curve]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Figure:
    """Panels side by side with a caption."""

    name: str
    caption: str
    panels: Sequence[Panel]


@dataclass(frozen=True)
class Section:
    """What one experiment adds to the report.

    `reproduce` sets the experiment's name and title, and in `missing` why results could not be computed.
    """

    setup: str
    tables: Sequence[Table] = ()
    findings: Sequence[Finding] = ()
    figures: Sequence[Figure] = ()
    name: str = ""
    title: str = ""
    missing: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A table or figure of the paper: settings by effort, their tasks, and the section made of the results.

    "tiny" takes seconds (for the tests), "quick" minutes, "full" has the paper's sizes.
    """

    title: str
    tasks: Callable[[Settings], list[Task]]
    section: Callable[[Settings, Mapping[str, Any]], Section]
    tiny: Settings = field(default_factory=dict[str, Any])
    quick: Settings = field(default_factory=dict[str, Any])
    full: Settings = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Report:
    """The sections of a run, the command that gives them again, and the versions of the packages used."""

    sections: Sequence[Section]
    command: str
    versions: dict[str, str]

    @property
    def findings(self) -> list[Finding]:
        """Every finding, in order."""
        return [finding for section in self.sections for finding in section.findings]

    @property
    def verdicts(self) -> dict[str, int]:
        """The number of findings with each verdict."""
        given = [finding.verdict for finding in self.findings]
        return {verdict.value: given.count(verdict) for verdict in Verdict}

    @property
    def summary(self) -> str:
        """How many of the paper's numbers agree."""
        return ", ".join(f"{count} {verdict.removesuffix('s')}" for verdict, count in self.verdicts.items())


def agreement(holds: bool) -> Verdict:
    """AGREE or DIFFERS, for a claim of the paper."""
    return Verdict.AGREE if holds else Verdict.DIFFERS


def percent_finding(what: str, paper: float, ours: float, tol: float, remark: str = "", digits: int = 2) -> Finding:
    """A printed per cent beside ours, which agrees within `tol`."""
    return Finding(what, f"{paper:g} %", f"{ours:.{digits}f} %", agreement(abs(ours - paper) < tol), remark)


def versions() -> dict[str, str]:
    """Python and the packages whose version may change a number."""
    installed = {package.name: package.version for package in distributions()}
    packages = ("dcgev-cvx", "numpy", "scipy", "scikit-learn", "cvxpy", "clarabel", "scs", "joblib", "rdata")
    return {"python": platform.python_version()} | {name: installed.get(name, "not installed") for name in packages}


# Files


def write(report: Report, out: Path) -> None:
    """Write report.md, numbers.json, tables/*.csv and figures/*.{png,svg,csv}."""
    write_file(out / "report.md", markdown(report))
    numbers = {**asdict(report), "verdicts": report.verdicts}
    write_file(out / "numbers.json", json.dumps(numbers, indent=1, ensure_ascii=False))
    for section in report.sections:
        for table in section.tables:
            write_file(out / "tables" / f"{table.name}.csv", csv_text(table.columns, table.rows))
        for figure in section.figures:
            write_file(out / "figures" / f"{figure.name}.csv", csv_text(("panel", "curve", "x", "y"), points(figure)))
            for ending in ("png", "svg"):
                write_file(out / "figures" / f"{figure.name}.{ending}", drawn(figure, ending))


def points(figure: Figure) -> list[tuple[str, str, float, float]]:
    """Every point of a figure as a row."""
    return [(p.title, name, x, y) for p in figure.panels for name, curve in p.curves.items() for x, y in curve]


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Comma separated values below a header."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([columns, *rows])
    return text.getvalue()


def markdown(report: Report, *, figures: bool = True) -> str:
    """The report in Markdown, without dates, so that two runs can be compared with diff."""
    return "\n\n".join(paragraphs(report, figures)) + "\n"


def paragraphs(report: Report, figures: bool) -> Iterator[str]:
    """The headings, paragraphs, tables and figures of the report, in order."""
    yield "# Reproduction of the paper"
    yield f"`{report.command}`"
    yield f"Verdicts: {report.summary}."
    if not figures:
        yield "This page is written by the command with `--page FILE`; its report contains the figures as well."
    differing = [finding for finding in report.findings if finding.verdict is Verdict.DIFFERS]
    if differing:
        yield "## Results that differ from the paper"
        yield finding_lines(differing)
    for section in report.sections:
        yield f"## {section.title}"
        yield section.setup
        yield from (f"Not computed: {reason}" for reason in section.missing)
        if section.findings:
            yield finding_lines(section.findings)
        for table in section.tables:
            yield f"### {table.title}"
            yield table_lines(table.columns, table.rows)
        for figure in section.figures if figures else ():
            yield f"![{figure.caption}](figures/{figure.name}.png)"
            yield f"*{figure.caption}*"
    yield "## Versions"
    yield ", ".join(f"{name} {found}" for name, found in report.versions.items())


def finding_lines(findings: Iterable[Finding]) -> str:
    """Findings as a Markdown table."""
    rows = [(f.what, f.paper, f.ours, f.verdict.value, f.remark) for f in findings]
    return table_lines(("number", "paper", "ours", "verdict", "remark"), rows)


def table_lines(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in Markdown."""
    lines: list[str] = []
    for row in (columns, ["---"] * len(columns), *rows):
        entries = [str(entry).replace("|", "\\|") for entry in row]
        lines.append(f"| {' | '.join(entries)} |")
    return "\n".join(lines)


def drawn(figure: Figure, ending: str) -> bytes:
    """A PNG or SVG file with the panels, two to a row: the same bytes for the same numbers and Matplotlib."""
    style = require("matplotlib.style", "reproduce")
    columns = min(2, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    content = io.BytesIO()
    with style.context(["tableau-colorblind10", {"svg.hashsalt": "dcgev", "font.size": 9}]):
        canvas = new_figure((5.6 * columns, 4.0 * rows), layout="constrained")
        for j, panel in enumerate(figure.panels):
            draw_panel(canvas.add_subplot(rows, columns, j + 1), panel)
        unknown = {"png": "Software", "svg": "Date"}[ending]  # a version or a date would change the file
        canvas.savefig(content, format=ending, dpi=130, metadata={unknown: None})
    return content.getvalue()


def draw_panel(ax: Any, panel: Panel) -> None:
    """Every curve with its own colour and marker; curves of many points have no markers."""
    for j, (name, curve) in enumerate(panel.curves.items()):
        # smaller from curve to curve, so that markers at the same point can all be seen
        size = max(3.5, 7.5 - 0.6 * j) if len(curve) < 50 else 0
        look = {"marker": MARKERS[j], "markersize": size, "markerfacecolor": "none", "linestyle": LINES[j % 4]}
        ax.plot([x for x, _ in curve], [y for _, y in curve], label=name, linewidth=1.2, **look)
    ax.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    if panel.log_x:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    if panel.log_y:
        ax.set_yscale("log")
    ax.grid(True, alpha=0.3)
    ax.legend(fontsize=8, framealpha=0.8, edgecolor="none")
