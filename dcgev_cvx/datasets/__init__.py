"""Data sets: pit props (bundled), synthetic data with known answers, gene expression (fetched), texts and songs."""

from __future__ import annotations

from ._pitprops import pitprops
from .synthetic import Planted, indefinite, planted_cca, planted_pca, two_gaussians

__all__ = [
    "Planted",
    "indefinite",
    "pitprops",
    "planted_cca",
    "planted_pca",
    "two_gaussians",
]
