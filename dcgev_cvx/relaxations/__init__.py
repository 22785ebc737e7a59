"""Convex relaxations of (SGEV-P) and of sparse FDA, solved, each with a bound that trusts no solver (Sections 3, 6).

A relaxation replaces xxᵀ by a matrix X ⪰ 0 and ‖x‖₀ ≤ k by a convex condition on X. Its optimal value bounds
(SGEV-P) from above, provided that every k-sparse x with xᵀBx = 1 gives a feasible X = xxᵀ; where that holds
up to some k only, `Relaxation.valid_k` says up to which.

literal_sdp, literal_dual   the paper's SDP and its dual as printed: λmax(A, B) whatever the radius
entrywise_sdp               1ᵀ|X|1 ≤ radius², the paper's tractable form
homogeneous_sdp             Σ dᵢdⱼ|Xᵢⱼ| ≤ k Σ dᵢ²Xᵢᵢ: valid for every B
pairwise_sdp                one condition for each pair of variables: valid for every B, and the tightest here
penalized_sdp               tr(XA) − ρ1ᵀ|X|1, DSPCA's form
fisher_l1, fisher_l1_penalized   the two QPs of sparse FDA

`relaxations.bounds` holds the bounds, which need no CVXPY; the modules that do are imported when first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .bounds import radius_for
    from .entrywise import entrywise_sdp, homogeneous_sdp, penalized_sdp
    from .fisher_qps import FisherQP, fisher_l1, fisher_l1_penalized
    from .literal import literal_dual, literal_sdp
    from .pair_splitting import pairwise_sdp
    from .relaxation import Dimacs, Relaxation

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
    "pairwise_sdp",
    "penalized_sdp",
    "radius_for",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that the bounds can be had without CVXPY."""
    homes = ("bounds", "relaxation", "pair_splitting", "entrywise", "literal", "fisher_qps")
    for module in homes if name in __all__ else ():
        if hasattr(found := import_module(f".{module}", __name__), name):
            return getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "bounds"]
