"""Every table and figure of Section 4 as cells on disk: run, resumed after a kill, reported with verdicts.

An experiment is data: settings by effort, a function from settings to cells, a function from results to a section
of the report. Cells are pure functions of plain arguments, which is what makes them restartable, parallel and
checkable: the same settings give the same numbers (times excepted) on one core, on many or on a cluster.
"""

from __future__ import annotations

from .registry import ALIASES, EXPERIMENTS, named, reproduce

__all__ = ["ALIASES", "EXPERIMENTS", "named", "reproduce"]
