"""The exact optimum of small problems, with a proof (GEV-P, SGEV-P).

gev          the dense optimum: the leading generalized eigenvector
brute_force  every support of size k, up to five million of them
best_subset  branch and bound; stopped early it returns an interval that contains the optimum
"""

from .branch_and_bound import best_subset
from .brute_force import brute_force, gev
from .results import ExactSolution, ExactStatus, Progress

__all__ = ["ExactSolution", "ExactStatus", "Progress", "best_subset", "brute_force", "gev"]
