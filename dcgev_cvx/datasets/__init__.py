"""Data sets: pit props (bundled), synthetic pencils with known answers, gene expression (fetched)."""

from __future__ import annotations

from ._pitprops import pitprops
from .fetch import Samples, colon, leukemia
from .synthetic import Planted, indefinite, planted_cca, planted_pca, two_gaussians

__all__ = [
    "Planted",
    "Samples",
    "colon",
    "indefinite",
    "leukemia",
    "pitprops",
    "planted_cca",
    "planted_pca",
    "two_gaussians",
]
