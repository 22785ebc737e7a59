"""Small data sets with known answers: the pit props, and synthetic pencils whose sparse solution was planted."""

from .fetched import colon, leukemia
from .instance_library import library
from .known_answers import Planted, genes_and_lipids, indefinite, pitprops, planted_cca, planted_pca, two_gaussians
from .zipf_documents import WordCounts, word_counts

__all__ = ["Planted", "genes_and_lipids", "indefinite", "pitprops", "planted_cca", "planted_pca", "two_gaussians"]
__all__ += ["WordCounts", "word_counts"]
__all__ += ["colon", "leukemia"]
__all__ += ["library"]
