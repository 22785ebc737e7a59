"""Write the report of a run: Markdown, HTML, JSON, CSV and figures, with every published number beside ours."""

from __future__ import annotations

import csv
import html
import io
import json
import platform
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from .._numerics.extras import require
from .._numerics.output_files import write_file
from .findings import Figure, Finding, Panel, Section, Table, Verdict

METHOD_STYLES = {
    "DC-PCA": ("#0072b2", "o", "-"),
    "d.c. one-shot": ("#000000", "*", "-"),
    "d.c. solve": ("#000000", "*", "-"),
    "GPower": ("#d55e00", "s", "--"),
    "SPCA": ("#009e73", "D", "-"),
    "SPCA (own loadings)": ("#009e73", "x", ":"),
    "DSPCA": ("#cc79a7", "^", "-."),
    "GSPCA": ("#e69f00", "v", ":"),
    "greedy": ("#56b4e9", "P", "--"),
    "SCoTLASS": ("#7f7f7f", "X", "-"),
    "exact": ("#000000", "+", ":"),
}
"""Colour (Okabe and Ito's, which colour-blind readers can distinguish), marker and line of each method."""

OTHER_STYLES = (("#0072b2", "o", "-"), ("#d55e00", "s", "--"), ("#009e73", "D", "-."), ("#cc79a7", "^", ":"))

STYLE_SHEET = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 13px; display: block; overflow-x: auto; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #888; }
.agree { color: #00664b; font-weight: 600; } .differs { color: #a83c00; font-weight: 600; }
.holds { color: #00664b; } .fails { color: #a83c00; }
.cannot { color: #555; font-weight: 600; } img { max-width: 100%; }
code { background: #f3f3f3; padding: .1rem .3rem; }
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
        paper, ours = (Verdict.AGREE, Verdict.DIFFERS, Verdict.UNMATCHED), (Verdict.HOLDS, Verdict.FAILS)
        counted = [", ".join(f"{self.count(v)} {v.value.removesuffix('s')}" for v in each) for each in (paper, ours)]
        return f"{counted[0]}; beyond the paper {counted[1]}"


def versions() -> dict[str, str]:
    """Python and the packages whose version may change a number."""
    installed = {package.name: package.version for package in distributions()}
    packages = ("dcgev-cvx", "numpy", "scipy", "scikit-learn", "cvxpy", "clarabel", "scs", "joblib", "rdata")
    return {"python": platform.python_version()} | {name: installed.get(name, "not installed") for name in packages}


def write(report: Report, out: Path) -> None:
    """Write report.md, report.html, tables/*.csv, figures/*.{png,svg,csv} and, last, numbers.json.

    Nothing is written when numbers.json is unchanged and every file exists.
    """
    files, numbers = report_files(report), out / "numbers.json"
    content = json_text(report)
    if all((out / name).exists() for name in files) and numbers.exists() and numbers.read_text("utf-8") == content:
        return
    for name, make in files.items():
        write_file(out / name, make())
    write_file(numbers, content)


def report_files(report: Report) -> dict[str, Callable[[], str | bytes]]:
    """The files of a report but numbers.json, each with the function that makes its content."""
    files: dict[str, Callable[[], str | bytes]] = {}
    files["report.md"], files["report.html"] = partial(markdown, report), partial(html_page, report)
    for section in report.sections:
        for table in section.tables:
            files[f"tables/{table.name}.csv"] = partial(csv_text, table.columns, table.rows)
        for figure in section.figures:
            for ending in ("png", "svg"):
                files[f"figures/{figure.name}.{ending}"] = partial(drawn, figure, ending)
            files[f"figures/{figure.name}.csv"] = partial(csv_text, ("panel", "curve", "x", "y"), points(figure))
    return files


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
    experiments = {
        section.name: {
            "title": section.title,
            "setup": section.setup,
            "findings": [{**asdict(finding), "verdict": finding.verdict.value} for finding in section.findings],
            "tables": {table.name: {"columns": table.columns, "rows": table.rows} for table in section.tables},
            "figures": {figure.name: points(figure) for figure in section.figures},
            "missing": section.missing,
        }
        for section in report.sections
    }
    verdicts = {verdict.value: report.count(verdict) for verdict in Verdict}
    content = {"command": report.command, "versions": report.versions, "verdicts": verdicts}
    return json.dumps({**content, "experiments": experiments}, indent=1, ensure_ascii=False)


def blocks(report: Report, *, figures: bool) -> Iterator[tuple[str, Any]]:
    """The report in order, as (kind, content): headings, paragraphs, tables and figures."""
    yield "h1", "Reproduction of the paper"
    yield "p", f"`{report.command}`"
    yield "p", f"Verdicts: {report.summary}."
    if not figures:
        yield "p", "This page is written by the command with `--page FILE`; its report contains the figures as well."
    if differing := [f for f in report.findings if f.verdict in (Verdict.DIFFERS, Verdict.FAILS)]:
        yield "h2", "Results that differ from the paper"
        yield "table", finding_table(differing)
    for section in report.sections:
        yield "h2", section.title
        yield "p", section.setup
        yield from (("p", f"Not computed: {sentence}") for sentence in section.missing)
        if section.findings:
            yield "table", finding_table(section.findings)
        for table in section.tables:
            yield "h3", table.title
            yield "table", table
        if figures:
            yield from (("figure", figure) for figure in section.figures)
    yield "h2", "Versions"
    yield "p", ", ".join(f"{name} {found}" for name, found in report.versions.items())


def finding_table(findings: Iterable[Finding]) -> Table:
    """Findings as a table."""
    rows = tuple((f.what, f.paper, f.ours, f.verdict.value, f.remark) for f in findings)
    return Table("", "", ("number", "paper", "ours", "verdict", "remark"), rows)


def markdown(report: Report, *, figures: bool = True) -> str:
    """The report in Markdown, without dates, so that two runs can be compared with diff."""

    def line(entries: Iterable[Any]) -> str:
        return "| " + " | ".join(str(entry).replace("|", "\\|") for entry in entries) + " |\n"

    def rendered(kind: str, content: Any) -> str:
        if kind == "table":
            return "".join(map(line, (content.columns, ["---"] * len(content.columns), *content.rows)))
        if kind == "figure":
            return f"![{content.caption}](figures/{content.name}.png)\n\n*{content.caption}*\n"
        return f"{'#' * int(kind[1])} {content}\n" if kind != "p" else f"{content}\n"

    return "\n".join(rendered(kind, content) for kind, content in blocks(report, figures=figures))


def html_page(report: Report) -> str:
    """The report as one HTML page that links to its figures."""
    marks = {verdict.value: f' class="{verdict.value.split()[0]}"' for verdict in Verdict}

    def text(content: Any) -> str:
        return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(str(content)))

    def row(entries: Iterable[Any], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}{marks.get(str(e), '')}>{text(e)}</{tag}>" for e in entries) + "</tr>"

    def rendered(kind: str, content: Any) -> str:
        if kind == "table":
            body = "".join(row(entries, "td") for entries in content.rows)
            return f"<table><thead>{row(content.columns, 'th')}</thead><tbody>{body}</tbody></table>"
        if kind == "figure":
            image = f'<img src="figures/{content.name}.png" alt="{text(content.caption)}">'
            caption = f"<figcaption>{text(content.caption)}</figcaption>"
            return f'<figure><a href="figures/{content.name}.svg">{image}</a>{caption}</figure>'
        return f"<{kind}>{text(content)}</{kind}>"

    body = "\n".join(rendered(kind, content) for kind, content in blocks(report, figures=True))
    head = f'<meta charset="utf-8"><title>Reproduction of the paper</title><style>{STYLE_SHEET}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def drawn(figure: Figure, ending: str) -> bytes:
    """A PNG or SVG file with the panels, two to a row: the same bytes for the same numbers and Matplotlib."""
    columns = min(2, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    content = io.BytesIO()
    with require("matplotlib", "reproduce").rc_context({"svg.hashsalt": "dcgev", "font.size": 9}):
        canvas = require("matplotlib.figure", "reproduce").Figure((5.6 * columns, 4.0 * rows), layout="constrained")
        for j, panel in enumerate(figure.panels):
            draw_panel(canvas.add_subplot(rows, columns, j + 1), panel)
        unknown = {"png": "Software", "svg": "Date"}[ending]  # a version or a date would change the file
        canvas.savefig(content, format=ending, dpi=130, metadata={unknown: None})
    return content.getvalue()


def draw_panel(ax: Any, panel: Panel) -> None:
    """Every curve with the colour and marker of its method; curves of many points have no markers."""
    for j, (name, curve) in enumerate(panel.curves.items()):
        if curve:
            color, marker, line = METHOD_STYLES.get(name, OTHER_STYLES[j % len(OTHER_STYLES)])
            # smaller from curve to curve, so that markers at the same point can all be seen
            size = max(3.5, 7.5 - 0.6 * j) if len(curve) < 50 else 0
            look = {"color": color, "marker": marker, "linestyle": line, "linewidth": 1.2}
            ax.plot(*zip(*curve, strict=True), label=name, markersize=size, markerfacecolor="none", **look)
    ax.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    if panel.log_x:
        ax.set_xscale("log")
        values = sorted({x for curve in panel.curves.values() for x, _ in curve})
        if len(values) <= 6:  # few enough to mark them all
            ax.set_xticks(values, minor=False)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter("")
    if panel.log_y:
        ax.set_yscale("log")
    ax.grid(True, alpha=0.3)
    ax.legend(fontsize=8, framealpha=0.8, edgecolor="none")
