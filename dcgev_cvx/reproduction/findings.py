"""What an experiment adds to the report: tables, figures, and findings that compare the paper's numbers with ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, TypeAlias

from .running import Settings, Task

Effort: TypeAlias = Literal["tiny", "quick", "full"]
Curve: TypeAlias = Sequence[tuple[float, float]]
"""Points (x, y)."""


class Verdict(Enum):
    """The result of a comparison with the paper, or of a claim that the paper does not make."""

    AGREE = "agree"
    DIFFERS = "differs"
    UNMATCHED = "cannot be matched"  # the paper's data are not available
    HOLDS = "holds"  # HOLDS and FAILS: this package's own claims
    FAILS = "fails"


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
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


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
    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class Section:
    """What one experiment adds to the report.

    `reproduce` sets the experiment's name and title, and in `missing` why results could not be computed.
    """

    setup: str
    tables: tuple[Table, ...] = ()
    findings: tuple[Finding, ...] = ()
    figures: tuple[Figure, ...] = ()
    name: str = ""
    title: str = ""
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """A table or figure of the paper: settings by effort, their tasks, and the section made of the results.

    "tiny" takes seconds (for the tests), "quick" minutes, "full" has the paper's sizes.
    """

    title: str
    tiny: Settings
    quick: Settings
    full: Settings
    tasks: Callable[[Settings], list[Task]]
    section: Callable[[Settings, Mapping[str, Any]], Section]


def agreement(holds: bool) -> Verdict:
    """AGREE or DIFFERS, for a claim of the paper."""
    return Verdict.AGREE if holds else Verdict.DIFFERS


def percent_finding(what: str, paper: float, ours: float, tol: float, remark: str = "", digits: int = 2) -> Finding:
    """A printed per cent beside ours, which agrees within `tol`."""
    return Finding(what, f"{paper:g} %", f"{ours:.{digits}f} %", agreement(abs(ours - paper) < tol), remark)
