"""Data sets: pit props (bundled), synthetic data with known answers, gene expression (fetched), texts and songs."""

from __future__ import annotations

from ._cal500 import Songs, cal500, planted_songs
from ._laws import laws_of_canada
from ._manpages import manpages
from ._pitprops import pitprops
from .corpora import Corpus, aligned_corpus, corpus_from_texts
from .fetch import Samples, colon, leukemia
from .planted_text import planted_translations
from .synthetic import Planted, indefinite, planted_cca, planted_pca, two_gaussians

__all__ = [
    "Corpus",
    "Planted",
    "Samples",
    "Songs",
    "aligned_corpus",
    "cal500",
    "colon",
    "corpus_from_texts",
    "indefinite",
    "laws_of_canada",
    "leukemia",
    "manpages",
    "pitprops",
    "planted_cca",
    "planted_pca",
    "planted_songs",
    "planted_translations",
    "two_gaussians",
]
