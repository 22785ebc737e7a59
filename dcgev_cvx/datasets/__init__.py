"""Small data sets with known answers: the pit props, and synthetic pencils whose sparse solution was planted."""

from .corpora import Corpus, corpus_from_texts, planted_translations, read_corpus
from .fetched import colon, leukemia
from .instance_library import library
from .known_answers import Planted, genes_and_lipids, indefinite, pitprops, planted_cca, planted_pca, two_gaussians
from .songs import Songs, planted_songs
from .zipf_documents import WordCounts, word_counts

__all__ = ["Planted", "genes_and_lipids", "indefinite", "pitprops", "planted_cca", "planted_pca", "two_gaussians"]
__all__ += ["WordCounts", "word_counts"]
__all__ += ["colon", "leukemia"]
__all__ += ["Corpus", "Songs", "corpus_from_texts", "planted_songs", "planted_translations", "read_corpus"]
__all__ += ["library"]
