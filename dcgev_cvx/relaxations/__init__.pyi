from . import bounds
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
    "bounds",
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
