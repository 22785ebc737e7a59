"""The truth on small problems: the dense optimum, all supports, branch and bound with a proof (GEV-P, SGEV-P)."""

from __future__ import annotations

from .enumeration import brute_force
from .results import ExactSolution, ExactStatus, Progress
from .search import best_subset, gev

__all__ = ["ExactSolution", "ExactStatus", "Progress", "best_subset", "brute_force", "gev"]
