"""Every table and figure of Section 4 as cells on disk: run, resumed after a kill, reported with verdicts."""

from __future__ import annotations

from .registry import ALIASES, EXPERIMENTS, named, reproduce

__all__ = ["ALIASES", "EXPERIMENTS", "named", "reproduce"]
