"""The report of a run: Markdown, HTML, JSON and CSV with every published number beside ours."""

from __future__ import annotations

import csv
import html
import io
import json
import platform
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .base import Figure, Finding, Section, Verdict
from .cells import write_atomically
from .figures import drawn

PACKAGES = ("dcgev-cvx", "numpy", "scipy", "scikit-learn", "cvxpy", "clarabel", "scs", "joblib", "rdata")


@dataclass(frozen=True)
class Report:
    """The sections of a run, the command that gives them again, and the versions behind them."""

    sections: tuple[Section, ...]
    command: str
    versions: dict[str, str]

    @property
    def findings(self) -> list[Finding]:
        """Every verdict, in order."""
        return [finding for section in self.sections for finding in section.findings]

    def count(self, verdict: Verdict) -> int:
        """How many numbers came to that verdict."""
        return sum(finding.verdict is verdict for finding in self.findings)

    @property
    def summary(self) -> str:
        """The verdicts on the paper's numbers counted in one sentence, those on our own in a second."""
        paper, ours = (Verdict.AGREE, Verdict.DIFFERS, Verdict.UNMATCHED), (Verdict.HOLDS, Verdict.FAILS)
        counted = [
            ", ".join(f"{self.count(v)} {v.value.removesuffix('s')}" for v in group) for group in (paper, ours)
        ]
        return f"{counted[0]}; beyond the paper {counted[1]}"


def versions() -> dict[str, str]:
    """Python and the packages whose version may change a number.

    A package that is not installed is said to be, since its absence may explain a missing number.
    """
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def write(report: Report, out: Path) -> list[Path]:
    """report.md, report.html, tables/*.csv, figures/*.{png,svg,csv} and, last, numbers.json.

    Nothing is drawn again when numbers.json says the same already: it is written after all others.

    The CSV beside each figure holds its points. numbers.json is the last file and holds everything, so that its
    presence says that the report is complete.
    """
    paths, everything = files(report, out), numbers(report)
    if all(path.exists() for path in paths) and paths[-1].read_text(encoding="utf-8") == everything:
        return paths
    write_atomically(out / "report.md", markdown(report))
    write_atomically(out / "report.html", page(report))
    for section in report.sections:
        for table in section.tables:
            write_atomically(out / "tables" / f"{table.name}.csv", as_csv(table.columns, table.rows))
        for figure in section.figures:
            for ending, content in drawn(figure).items():
                write_atomically(out / "figures" / f"{figure.name}.{ending}", content)
            rows = as_csv(("panel", "curve", "x", "y"), points(figure))
            write_atomically(out / "figures" / f"{figure.name}.csv", rows)
    write_atomically(out / "numbers.json", everything)
    return paths


def files(report: Report, out: Path) -> list[Path]:
    """Every file of the report, numbers.json last.

    In the order in which they are written, numbers.json last.
    """
    tables = [out / "tables" / f"{table.name}.csv" for s in report.sections for table in s.tables]
    figures = [
        out / "figures" / f"{figure.name}.{ending}"
        for s in report.sections
        for figure in s.figures
        for ending in ("png", "svg", "csv")
    ]
    return [out / "report.md", out / "report.html", *tables, *figures, out / "numbers.json"]


def points(figure: Figure) -> list[tuple[Any, ...]]:
    """Every point of a figure as a row."""
    return [
        (panel.title, name, x, y) for panel in figure.panels for name, curve in panel.curves.items() for x, y in curve
    ]


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Comma separated values with a header."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def numbers(report: Report) -> str:
    """Everything as JSON."""
    content = {
        "command": report.command,
        "versions": report.versions,
        "verdicts": {verdict.value: report.count(verdict) for verdict in Verdict},
        "experiments": {section.name: section_numbers(section) for section in report.sections},
    }
    return json.dumps(content, indent=1, ensure_ascii=False)


def section_numbers(section: Section) -> dict[str, Any]:
    """One section as plain content."""
    return {
        "title": section.title,
        "setup": section.setup,
        "findings": [
            {"what": f.what, "paper": f.paper, "ours": f.ours, "verdict": f.verdict.value, "remark": f.remark}
            for f in section.findings
        ],
        "tables": {t.name: {"columns": t.columns, "rows": t.rows} for t in section.tables},
        "figures": {f.name: [list(row) for row in points(f)] for f in section.figures},
        "missing": section.missing,
    }


def markdown(report: Report, *, figures: bool = True) -> str:
    """The report for people and for version control; without figures it stands alone.

    Stable text: no dates, no times of writing, so that two runs can be compared with diff.
    """
    lines = ["# The paper, reproduced", "", f"`{report.command}`", "", f"Verdicts: {report.summary}.", ""]
    if not figures:
        lines += ["This page is what the command writes with `--page FILE`; its report has the figures as well.", ""]
    if rows := disagreements(report):
        lines += [f"## {DISAGREEMENTS}", "", *pipe_table(FINDING_COLUMNS, rows)]
    for section in report.sections:
        lines += [f"## {section.title}", "", section.setup, ""]
        lines += [f"Not computed: {sentence}\n" for sentence in section.missing]
        if section.findings:
            lines += pipe_table(FINDING_COLUMNS, finding_rows(section.findings))
        for table in section.tables:
            lines += [f"### {table.title}", "", *pipe_table(table.columns, table.rows)]
        if figures:
            lines += [f"![{f.caption}](figures/{f.name}.png)\n\n*{f.caption}*\n" for f in section.figures]
    lines += ["## Versions", "", ", ".join(f"{name} {found}" for name, found in report.versions.items()), ""]
    return "\n".join(lines)


FINDING_COLUMNS = ("number", "paper", "ours", "verdict", "remark")


DISAGREEMENTS = "Where ours and the paper part"


def finding_rows(findings: Iterable[Finding]) -> list[tuple[Any, ...]]:
    """The verdicts as a table."""
    return [(f.what, f.paper, f.ours, f.verdict.value, f.remark) for f in findings]


def disagreements(report: Report) -> list[tuple[Any, ...]]:
    """What differs and what does not hold, in one place: nobody should have to look for it."""
    return finding_rows(f for f in report.findings if f.verdict in (Verdict.DIFFERS, Verdict.FAILS))


def pipe_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """A Markdown table; bars inside cells are escaped.

    Verdicts and formulas may hold a bar, which would end the cell.
    """

    def line(cells: Iterable[Any]) -> str:
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"

    return [line(columns), line("---" for _ in columns), *(line(row) for row in rows), ""]


STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 13px; }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: left; vertical-align: top; }
th { border-bottom: 2px solid #888; }
.agree { color: #00664b; font-weight: 600; } .differs { color: #a83c00; font-weight: 600; }
.holds { color: #00664b; } .fails { color: #a83c00; }
.cannot { color: #555; font-weight: 600; } img { max-width: 100%; }
code { background: #f3f3f3; padding: .1rem .3rem; }
.wide { overflow-x: auto; }
"""


def page(report: Report) -> str:
    """The report as one HTML page beside its figures.

    Figures are linked, not embedded; the page stands beside its folders.
    """
    parts = [f"<h1>The paper, reproduced</h1><p><code>{html.escape(report.command)}</code></p>"]
    parts.append(f"<p>Verdicts: {html.escape(report.summary)}.</p>")
    if rows := disagreements(report):
        parts.append(f"<h2>{DISAGREEMENTS}</h2>{html_table(FINDING_COLUMNS, rows)}")
    for section in report.sections:
        parts.append(f"<h2>{html.escape(section.title)}</h2><p>{rich_text(section.setup)}</p>")
        parts += [f"<p>Not computed: {html.escape(sentence)}</p>" for sentence in section.missing]
        if section.findings:
            parts.append(html_table(FINDING_COLUMNS, finding_rows(section.findings)))
        for table in section.tables:
            parts.append(f"<h3>{html.escape(table.title)}</h3>{html_table(table.columns, table.rows)}")
        for f in section.figures:
            caption = html.escape(f.caption)
            parts.append(
                f'<figure><a href="figures/{f.name}.svg"><img src="figures/{f.name}.png" alt="{caption}"></a>'
                f"<figcaption>{caption}</figcaption></figure>"
            )
    listed = ", ".join(f"{name} {found}" for name, found in report.versions.items())
    parts.append(f"<h2>Versions</h2><p>{html.escape(listed)}</p>")
    head = f'<meta charset="utf-8"><title>The paper, reproduced</title><style>{STYLE}</style>'
    return f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(parts)}</body></html>\n'


def rich_text(text: str) -> str:
    """Escaped, with `code` set as such."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text))


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table whose verdicts carry a class.

    The class is the first word of the verdict, by which the style colours it.
    """
    marks = {verdict.value: verdict.value.split()[0] for verdict in Verdict}

    def cell(content: Any) -> str:
        text = str(content)
        mark = f' class="{marks[text]}"' if text in marks else ""
        return f"<td{mark}>{rich_text(text)}</td>"

    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(f"<tr>{''.join(cell(content) for content in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
