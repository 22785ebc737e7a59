"""Write the report of a run: Markdown, HTML, JSON, CSV and figures, with every published number beside ours."""

from __future__ import annotations

import csv
import io
import json
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from .._numerics.extras import require
from .._numerics.output_files import write_file
from .findings import Figure, Finding, Panel, Section, Table, Verdict

MARKERS, LINES = "osD^vP*Xx", ("-", "--", "-.", ":")

STYLE_SHEET = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 13px; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: left; vertical-align: top; }
.agree, .holds { color: #00664b; font-weight: 600; } .differs, .fails { color: #a83c00; font-weight: 600; }
img { max-width: 100%; } code { background: #f3f3f3; padding: .1rem .3rem; }
"""


@dataclass(frozen=True)
class Report:
    """The sections of a run, the command that gives them again, and the versions of the packages used."""

    sections: tuple[Section, ...]
    command: str
    versions: dict[str, str]

    @property
    def findings(self) -> list[Finding]:
        """Every finding, in order."""
        return [finding for section in self.sections for finding in section.findings]

    def count(self, verdict: Verdict) -> int:
        """The number of findings with a verdict."""
        return sum(finding.verdict is verdict for finding in self.findings)

    @property
    def summary(self) -> str:
        """How many of the paper's numbers agree, and how many of the package's own claims hold."""
        counted = [f"{self.count(verdict)} {verdict.value.removesuffix('s')}" for verdict in Verdict]
        return f"{', '.join(counted[:3])}; beyond the paper {', '.join(counted[3:])}"


def versions() -> dict[str, str]:
    """Python and the packages whose version may change a number."""
    installed = {package.name: package.version for package in distributions()}
    packages = ("dcgev-cvx", "numpy", "scipy", "scikit-learn", "cvxpy", "clarabel", "scs", "joblib", "rdata")
    return {"python": platform.python_version()} | {name: installed.get(name, "not installed") for name in packages}


def write(report: Report, out: Path) -> None:
    """Write report.md, report.html, numbers.json, tables/*.csv and figures/*.{png,svg,csv}."""
    write_file(out / "report.md", markdown(report))
    write_file(out / "report.html", html_page(report))
    write_file(out / "numbers.json", json_text(report))
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


def json_text(report: Report) -> str:
    """Everything that the report says, as JSON."""
    content = asdict(report)
    content["verdicts"] = {verdict.value: report.count(verdict) for verdict in Verdict}
    return json.dumps(content, indent=1, ensure_ascii=False, default=lambda verdict: verdict.value)


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
    differing = [finding for finding in report.findings if finding.verdict in (Verdict.DIFFERS, Verdict.FAILS)]
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
            yield table_lines(table)
        for figure in section.figures if figures else ():
            yield f"![{figure.caption}](figures/{figure.name}.png)"
            yield f"*{figure.caption}*"
    yield "## Versions"
    yield ", ".join(f"{name} {found}" for name, found in report.versions.items())


def finding_lines(findings: Iterable[Finding]) -> str:
    """Findings as a Markdown table."""
    rows = tuple((f.what, f.paper, f.ours, f.verdict.value, f.remark) for f in findings)
    return table_lines(Table("", "", ("number", "paper", "ours", "verdict", "remark"), rows))


def table_lines(table: Table) -> str:
    """A table in Markdown."""
    lines: list[str] = []
    for row in (table.columns, ["---"] * len(table.columns), *table.rows):
        entries = [str(entry).replace("|", "\\|") for entry in row]
        lines.append(f"| {' | '.join(entries)} |")
    return "\n".join(lines)


def html_page(report: Report) -> str:
    """The Markdown report as one HTML page that links to its figures."""
    reader = require("markdown_it", "reproduce").MarkdownIt("commonmark", {"html": False}).enable("table")
    body = reader.render(markdown(report))
    for verdict in Verdict:
        body = body.replace(f"<td>{verdict.value}</td>", f'<td class="{verdict.value}">{verdict.value}</td>')
    head = f'<meta charset="utf-8"><title>Reproduction of the paper</title><style>{STYLE_SHEET}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def drawn(figure: Figure, ending: str) -> bytes:
    """A PNG or SVG file with the panels, two to a row: the same bytes for the same numbers and Matplotlib."""
    style, figures = (require(f"matplotlib.{part}", "reproduce") for part in ("style", "figure"))
    columns = min(2, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    content = io.BytesIO()
    with style.context(["tableau-colorblind10", {"svg.hashsalt": "dcgev", "font.size": 9}]):
        canvas = figures.Figure((5.6 * columns, 4.0 * rows), layout="constrained")
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
