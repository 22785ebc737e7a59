"""Sparse CCA on words instead of documents: a few words of each language side by side (Section 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from .._numerics.checks import Index
from .._numerics.selection import largest_first
from ..errors import InvalidParameter
from .corpora import Corpus
from .sparse_pairs import Component, sparse_pairs

Words: TypeAlias = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class WordPair:
    """One component: (word, loading) of each language, largest first, and the correlation of its two scores."""

    first: Words
    second: Words
    correlation: float
    stationarity: float


def word_components(corpus: Corpus, d: int = 5, k: int = 6) -> tuple[WordPair, ...]:
    """d sparse canonical pairs with at most k words in each language, at a ridge of a tenth of the mean variance.

    The views are columns of E and F, centred: the 800 words of largest variance in each language among those in at
    most a quarter of the documents. Both views are deflated between components.
    """
    columns = [varied(bags, 800) for bags in (corpus.E, corpus.F)]
    X, Y = (bags[:, chosen].toarray() for bags, chosen in zip((corpus.E, corpus.F), columns, strict=True))
    found = sparse_pairs(X - X.mean(axis=0), Y - Y.mean(axis=0), d, (k, k), ridge=0.1)
    return tuple(word_pair(corpus, columns, component) for component in found)


def varied(bags: Any, count: int) -> Index:
    """The columns with the largest variance p(1 − p), 0 < p ≤ ¼, at most `count`, in their order.

    Words in more than a quarter of the documents say little about any.
    """
    share = np.asarray(bags.mean(axis=0)).ravel()
    variance = np.where(share <= 0.25, share * (1.0 - share), 0.0)
    best = largest_first(variance, count)
    best = best[variance[best] > 0.0]
    if len(best) < 2:
        raise InvalidParameter(f"{len(best)} word(s) occur in at most 25 % of the documents: too few, add documents.")
    return np.sort(best)


def word_pair(corpus: Corpus, columns: Sequence[Index], component: Component) -> WordPair:
    """The component with words for numbers, its largest loading in the first language positive."""
    sign = np.sign(max(component.loadings[0], key=abs))
    sides: list[Words] = []
    for names, chosen, rows, loadings in zip(corpus.words, columns, component.rows, component.loadings, strict=True):
        entries = [(names[chosen[row]], float(sign * loading)) for row, loading in zip(rows, loadings, strict=True)]
        sides.append(tuple(sorted(entries, key=lambda entry: -abs(entry[1]))))
    return WordPair(sides[0], sides[1], component.correlation, component.stationarity)


def word_table(pairs: Sequence[WordPair]) -> list[tuple[str, str, str]]:
    """(component, words of the first language, of the second); a minus marks words with a negative loading."""

    def words(side: Words) -> str:
        return ", ".join(word if loading > 0.0 else f"−{word}" for word, loading in side)

    numbered = enumerate(pairs, 1)
    return [(f"{j} ({pair.correlation:.3f})", words(pair.first), words(pair.second)) for j, pair in numbered]
