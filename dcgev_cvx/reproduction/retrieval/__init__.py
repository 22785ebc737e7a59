"""Cross-language document retrieval by CCA and sparse CCA on kernels of documents (Section 5.1)."""

from __future__ import annotations

from .baselines import dense_cca, lsi, unit_rows
from .components import Component, sparse_cca, sparse_pairs
from .projections import Projection, deflated_projection, plain_projection
from .ranking import Scores, score
from .views import KernelView, kernel_views

__all__ = [
    "Component",
    "KernelView",
    "Projection",
    "Scores",
    "deflated_projection",
    "dense_cca",
    "kernel_views",
    "lsi",
    "plain_projection",
    "score",
    "sparse_cca",
    "sparse_pairs",
    "unit_rows",
]
