"""Every method on one pencil and one k: values from below, bounds from above, a gap that trusts no solver."""

from __future__ import annotations

from .methods import METHODS, compare
from .report import html_report
from .rows import Comparison, Row

__all__ = ["METHODS", "Comparison", "Row", "compare", "html_report"]
