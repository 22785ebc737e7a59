"""The report of a run: report.md, numbers.json with every table and curve, and the figures as PNG."""

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from drawing import drawn
from findings import Finding, Section, Verdict

import dcgev_cvx

PACKAGES = ("numpy", "scipy", "scikit-learn", "cvxpy", "clarabel", "scs", "numba", "joblib", "rdata")
"""Those whose version may change a number or a time."""


@dataclass(frozen=True)
class Report:
    """The sections of a run, the command that gives them again, and what it ran on."""

    sections: Sequence[Section]
    command: str
    made_by: str

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


@cache
def commit() -> str:
    """The version of the package, and the commit of its checkout, with "modified" for changes since then."""
    git = ["git", "-C", str(Path(dcgev_cvx.__file__).parent), "describe", "--always", "--abbrev=10"]
    asked = subprocess.run([*git, "--dirty= modified"], capture_output=True, text=True, check=False)
    return dcgev_cvx.__version__ + (f", commit {asked.stdout.strip()}" if asked.returncode == 0 else "")


def made_by() -> str:
    """Version and commit of the package, Python, the packages that may change a number, and the machine's cores."""
    installed = {package.name: package.version for package in distributions()}
    others = ", ".join(f"{name} {installed[name]}" if name in installed else f"no {name}" for name in PACKAGES)
    python = f"Python {platform.python_version()}"
    return f"dcgev-cvx {commit()}; {python}, {others}; {os.cpu_count()} cores"


def write(report: Report, out: Path) -> None:
    """Write report.md, numbers.json and figures/*.png."""
    put(out / "report.md", markdown(report))
    numbers = {**asdict(report), "verdicts": report.verdicts}
    put(out / "numbers.json", json.dumps(numbers, indent=1, ensure_ascii=False))
    for figure in (figure for section in report.sections for figure in section.figures):
        put(out / "figures" / f"{figure.name}.png", drawn(figure))


def put(file: Path, content: str | bytes) -> None:
    """Write a file, and its folder where it does not exist."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)


def markdown(report: Report, *, figures: bool = True) -> str:
    """The report in Markdown, without dates, so that two runs can be compared with diff."""
    return "\n\n".join(paragraphs(report, figures)) + "\n"


def paragraphs(report: Report, figures: bool) -> Iterator[str]:
    """The headings, paragraphs, tables and figures of the report, in order."""
    yield "# Reproduction of the paper"
    yield f"Made by `{report.command}` with {report.made_by}."
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
