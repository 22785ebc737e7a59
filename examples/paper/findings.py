"""What the scripts of the paper return: published numbers beside ours, tables, curves; and where they compute."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

from dcgev_cvx import Study, study
from dcgev_cvx.comparison import Cell, run_cells

PUBLISHED = tomllib.loads(Path(__file__).with_name("published.toml").read_text(encoding="utf-8"))
"""The numbers that the paper prints."""

Curve: TypeAlias = Sequence[tuple[float, float]]
"""Points (x, y)."""


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
    """What one script adds to the report; the run sets the title and, in `missing`, why results are not there."""

    setup: str
    tables: Sequence[Table] = ()
    findings: Sequence[Finding] = ()
    figures: Sequence[Figure] = ()
    title: str = ""
    missing: Sequence[str] = ()


class Work:
    """Where the scripts compute: every result is saved, and failures become lines of the report."""

    def __init__(self, folder: Path, jobs: int = 1, corpus: str | None = None, tell: Any = None) -> None:
        self.folder, self.jobs, self.corpus, self.missing = folder, jobs, corpus, list[str]()
        self._tell = tell

    def cells(self, cells: Sequence[Cell], name: str) -> dict[str, Any]:
        """The results of some cells by key; why others failed is kept."""
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        results, failures = run_cells(cells, self.folder / name, jobs=self.jobs, progress=self._progress(name))
        self.missing += dict.fromkeys(failures.values())
        return results

    def study(self, instances: Any, ks: Sequence[int], methods: Sequence[str], name: str) -> Study:
        """A study of the package."""
        folder, progress = self.folder / name, self._progress(name)
        found = study(instances, ks, methods, folder=folder, jobs=self.jobs, progress=progress)
        self.missing += dict.fromkeys(row["status"] for row in found.failed)
        return found

    def _progress(self, name: str) -> Any:
        return lambda finished, total, message: self._tell and self._tell(name, finished, total, message)


def agreement(holds: bool) -> Verdict:
    """AGREE or DIFFERS, for a claim of the paper."""
    return Verdict.AGREE if holds else Verdict.DIFFERS


def percent_finding(what: str, paper: float, ours: float, tol: float, remark: str = "", digits: int = 2) -> Finding:
    """A printed per cent beside ours, which agrees within `tol`."""
    return Finding(what, f"{paper:g} %", f"{ours:.{digits}f} %", agreement(abs(ours - paper) < tol), remark)
