"""A small aligned corpus whose translations are known: topics with words of their own in two languages."""

from __future__ import annotations

import numpy as np

from .._numerics.checks import as_generator, as_whole, check_bytes
from .corpora import Corpus


def planted_translations(
    documents: int = 150, topics: int = 10, words: int = 12, noise: int = 60, *, rng: int | np.random.Generator = 0
) -> Corpus:
    """Documents about a few topics each; word j of topic t is "t3-5" in the first language, "s3-5" in the second.

    A word of a chosen topic occurs with probability ½, any other word with probability 0.05, in both
    languages independently: what the two versions of a document share is its topics.
    """
    sizes = (("documents", documents), ("topics", topics), ("words", words))
    documents, topics, words = (as_whole(count, what, low=2, high=10**9) for what, count in sizes)
    noise = as_whole(noise, "noise", low=0, high=10**9)
    check_bytes((documents, topics * words + noise), "the corpus", "Take fewer words.")
    from scipy.sparse import csr_matrix

    generator = as_generator(rng)
    about = generator.random((documents, topics)) < 0.3
    about[np.arange(documents), generator.integers(topics, size=documents)] = True
    chance = np.hstack([np.where(np.repeat(about, words, axis=1), 0.5, 0.05), np.full((documents, noise), 0.05)])
    views = [csr_matrix((generator.random(chance.shape) < chance).astype(np.float64)) for _ in range(2)]
    names = [
        tuple(
            [f"{letter}{t}-{j}" for t in range(topics) for j in range(words)]
            + [f"{letter}-{j}" for j in range(noise)]
        )
        for letter in ("t", "s")
    ]
    labels = tuple(f"document {i + 1}" for i in range(documents))
    return Corpus(views[0], views[1], (names[0], names[1]), labels, "planted translations")
