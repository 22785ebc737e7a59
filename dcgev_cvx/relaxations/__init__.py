"""Convex relaxations as printable CVXPY problems; each with a bound that trusts no solver (Sections 3 and 6)."""

from __future__ import annotations

from .base import Dimacs, Relaxation
from .entrywise import entrywise_sdp, homogeneous_sdp, penalized_sdp, radius_for
from .fisher import FisherQP, fisher_l1, fisher_l1_penalized
from .literal import literal_dual, literal_sdp

__all__ = [
    "Dimacs",
    "FisherQP",
    "Relaxation",
    "entrywise_sdp",
    "fisher_l1",
    "fisher_l1_penalized",
    "homogeneous_sdp",
    "literal_dual",
    "literal_sdp",
    "penalized_sdp",
    "radius_for",
]
