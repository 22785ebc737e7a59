"""What an experiment hands to the report: tables beside the paper's, findings with a verdict, figures as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, TypeAlias

from .cells import Cell, Settings

Effort: TypeAlias = Literal["tiny", "quick", "full"]


class Verdict(Enum):
    """What a comparison with the paper came to.

    AGREE is about a claim or a printed number within its digits, DIFFERS about one that ours contradicts, UNMATCHED
    about what cannot be compared because the data are not to be had. HOLDS and FAILS are about what this package
    says of itself and the paper does not: they are no agreement with anybody.
    """

    AGREE = "agree"
    DIFFERS = "differs"
    UNMATCHED = "cannot be matched"
    HOLDS = "holds"
    FAILS = "fails"


@dataclass(frozen=True)
class Finding:
    """One number of the paper, ours, the verdict and why.

    paper and ours are text as it is shown, numbers with their units; remark says how the number was measured, or
    why it differs.
    """

    what: str
    paper: str
    ours: str
    verdict: Verdict
    remark: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers under a header."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Panel:
    """One pair of axes: named curves of points.

    A curve is a sequence of (x, y); the figure's CSV holds the same points, so that it can be drawn by other means.
    """

    title: str
    x: str
    y: str
    curves: Mapping[str, Sequence[tuple[float, float]]]
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

    missing holds the reasons of cells that could not be computed, each once.
    """

    name: str
    title: str
    setup: str
    tables: tuple[Table, ...] = ()
    findings: tuple[Finding, ...] = ()
    figures: tuple[Figure, ...] = ()
    missing: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Experiment:
    """A table or figure of the paper: its settings by effort, its cells, and what the results say.

    settings maps "tiny" (seconds, for the tests), "quick" (minutes) and "full" (the paper's sizes) to plain content.
    """

    name: str
    title: str
    settings: Mapping[Effort, Settings]
    cells: Callable[[Settings], list[Cell]]
    section: Callable[[Settings, Mapping[str, Any]], Section]


def agreement(holds: bool) -> Verdict:
    """AGREE or DIFFERS."""
    return Verdict.AGREE if holds else Verdict.DIFFERS


def claim_of_ours(holds: bool) -> Verdict:
    """HOLDS or FAILS, for what is not in the paper."""
    return Verdict.HOLDS if holds else Verdict.FAILS


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean of at least one number."""
    return sum(values) / len(values)
