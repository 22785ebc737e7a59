"""The truth on small problems: the dense optimum, all supports, branch and bound with a proof (GEV-P, SGEV-P).

gev          no sparsity: the leading generalized eigenvector
brute_force  every support of size k, up to five million of them: the oracle of the tests
best_subset  branch and bound with proved node bounds, stopped at any time with an interval
"""

from __future__ import annotations

from .enumeration import brute_force
from .results import ExactSolution, ExactStatus, Progress
from .search import best_subset, gev

__all__ = ["ExactSolution", "ExactStatus", "Progress", "best_subset", "brute_force", "gev"]
