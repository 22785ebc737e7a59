"""The report: findings that compare the paper's numbers with ours, tables and figures, as Markdown, JSON and CSV."""

import csv
import io
import json
import platform
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, TypeAlias

from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

import dcgev_cvx
from dcgev_cvx import Study, study
from dcgev_cvx.comparison import Cell, run_cells

PUBLISHED = tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf-8"))
"""The numbers that the paper prints."""

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

    The name, the title and, in `missing`, why results could not be computed are set by the run.
    """

    setup: str
    tables: Sequence[Table] = ()
    findings: Sequence[Finding] = ()
    figures: Sequence[Figure] = ()
    name: str = ""
    title: str = ""
    missing: Sequence[str] = ()


class Work:
    """Where the scripts of the paper compute: every result is saved, and failures become lines of the report."""

    def __init__(self, folder: Path, jobs: int = 1, options: Mapping[str, str] | None = None, tell: Any = None) -> None:
        self.folder, self.jobs, self.options = folder, jobs, dict(options or {})
        self.missing: list[str] = []
        self._tell = tell

    def cells(self, cells: Sequence[Cell], name: str) -> dict[str, Any]:
        """The results of some cells by key; why others failed is kept."""
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        settings: Any = {"jobs": self.jobs, "progress": self._progress(name)}
        results, failures = run_cells(cells, self.folder / name, **settings)
        self.missing += dict.fromkeys(failures.values())
        return results

    def study(self, instances: Any, ks: Sequence[int], methods: Sequence[str], name: str) -> Study:
        """A study of the package."""
        settings: Any = {"jobs": self.jobs, "progress": self._progress(name)}
        found = study(instances, ks, methods, folder=self.folder / name, **settings)
        self.missing += dict.fromkeys(row["status"] for row in found.failed)
        return found

    def _progress(self, name: str) -> Any:
        return lambda finished, total, message: self._tell and self._tell(name, finished, total, message)


@dataclass(frozen=True)
class Report:
    """The sections of a run, the command that gives them again, and the versions of the packages used."""

    sections: Sequence[Section]
    command: str
    versions: dict[str, str]
    machine: str = ""

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
    """The version and commit of the package, Python, and the packages whose version may change a number."""
    folder = Path(dcgev_cvx.__file__).parent
    asked = subprocess.run(
        ["git", "-C", str(folder), "describe", "--always", "--dirty", "--abbrev=10"],
        capture_output=True,
        text=True,
        check=False,
    )
    commit = {"commit": asked.stdout.strip()} if asked.returncode == 0 else {}
    installed = {package.name: package.version for package in distributions()}
    packages = ("numpy", "scipy", "scikit-learn", "cvxpy", "clarabel", "scs", "joblib", "rdata")
    others = {name: installed.get(name, "not installed") for name in packages}
    return {"dcgev-cvx": dcgev_cvx.__version__, **commit, "python": platform.python_version(), **others}


# Files


def write(report: Report, out: Path) -> None:
    """Write report.md, numbers.json, tables/*.csv and figures/*.{png,svg,csv}."""
    put(out / "report.md", markdown(report))
    numbers = {**asdict(report), "verdicts": report.verdicts}
    put(out / "numbers.json", json.dumps(numbers, indent=1, ensure_ascii=False))
    for section in report.sections:
        for table in section.tables:
            put(out / "tables" / f"{table.name}.csv", csv_text(table.columns, table.rows))
        for figure in section.figures:
            put(out / "figures" / f"{figure.name}.csv", csv_text(("panel", "curve", "x", "y"), points(figure)))
            for ending in ("png", "svg"):
                put(out / "figures" / f"{figure.name}.{ending}", drawn(figure, ending))


def put(file: Path, content: str | bytes) -> None:
    """Write a file, and its folder where it does not exist."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)


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
    made = {name: report.versions[name] for name in ("dcgev-cvx", "commit") if name in report.versions}
    yield f"`{report.command}`, {', '.join(f'{name} {found}' for name, found in made.items())}, {report.machine}."
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
    columns = min(2, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    content = io.BytesIO()
    with style.context(["tableau-colorblind10", {"svg.hashsalt": "dcgev", "font.size": 9}]):
        canvas = Canvas((5.6 * columns, 4.0 * rows), layout="constrained")
        FigureCanvasAgg(canvas)
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
