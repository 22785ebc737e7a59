"""What a component means: sparse CCA on words, a few of each language side by side (Section 5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._numerics.checks import Index, Matrix, as_whole, expect, listed, shown
from ..errors import InvalidParameter
from .corpora import Corpus, two_languages
from .retrieval.components import Component, sparse_pairs

COMMONEST = 0.25
"""Words in more than this share of the documents say little about any; they are left out."""


@dataclass(frozen=True)
class WordPair:
    """One component: (word, loading) of each language, largest first, and the correlation of its two scores."""

    first: tuple[tuple[str, float], ...]
    second: tuple[tuple[str, float], ...]
    correlation: float
    stationarity: float


def word_components(
    corpus: Corpus, d: int = 5, k: int = 6, *, words: int = 800, ridge: float = 0.1
) -> tuple[WordPair, ...]:
    """d sparse canonical pairs with at most k words in each language.

    The views are the columns of E and F, centred: the `words` most varied words of each language
    among those in at most a quarter of the documents. Both views are deflated between components.
    """
    expect(corpus, Corpus, "corpus", "see datasets.aligned_corpus")
    columns = [varied(bags, as_whole(words, "words")) for bags in (corpus.E, corpus.F)]
    X, Y = (centred(bags, chosen) for bags, chosen in zip((corpus.E, corpus.F), columns, strict=True))
    found = sparse_pairs(X, Y, d, (k, k), ridge=ridge)
    return tuple(word_pair(corpus, columns, component) for component in found)


def varied(bags: Any, count: int) -> Index:
    """The columns with the largest variance p(1 − p), 0 < p ≤ COMMONEST, at most `count`, in their order."""
    share = np.asarray(bags.mean(axis=0)).ravel()
    spread = np.where(share <= COMMONEST, share * (1.0 - share), 0.0)
    best = np.argsort(-spread, kind="stable")[:count]
    best = best[spread[best] > 0.0]
    if len(best) < 2:
        raise InvalidParameter(f"{len(best)} word(s) occur in at most {COMMONEST:.0%} of the documents: too few.")
    return np.sort(best)


def centred(bags: Any, columns: Index) -> Matrix:
    """A few columns as a dense matrix of mean 0."""
    X = bags[:, columns].toarray()
    return X - X.mean(axis=0)


def word_pair(corpus: Corpus, columns: Sequence[Index], component: Component) -> WordPair:
    """The component with words for numbers; the sign is such that the largest loading of the first is positive."""
    sign = np.sign(max(component.loadings[0], key=abs))
    sides: list[tuple[tuple[str, float], ...]] = []
    for side in range(2):
        named = [
            (corpus.words[side][columns[side][row]], float(sign * loading))
            for row, loading in zip(component.rows[side], component.loadings[side], strict=True)
        ]
        sides.append(tuple(sorted(named, key=lambda entry: -abs(entry[1]))))
    return WordPair(sides[0], sides[1], component.correlation, component.stationarity)


def word_table(pairs: Sequence[WordPair]) -> list[tuple[str, str, str]]:
    """(component, words of the first language, words of the second), a minus before words that count against."""
    return [
        (f"{j} ({pair.correlation:.3f})", in_order(pair.first), in_order(pair.second))
        for j, pair in enumerate(as_pairs(pairs), 1)
    ]


def as_pairs(pairs: Any) -> list[WordPair]:
    """At least one pair of word lists."""
    found = listed(pairs)
    if not found or not all(isinstance(pair, WordPair) for pair in found):
        raise InvalidParameter(f"pairs = {shown(pairs)} must be what word_components returns.")
    return found


def in_order(side: Sequence[tuple[str, float]]) -> str:
    """The words in order of their loading."""
    return ", ".join(word if loading > 0.0 else f"−{word}" for word, loading in side)


def plot_words(pairs: Sequence[WordPair], languages: tuple[str, str] = ("en", "fr"), figure: Any = None) -> Any:
    """Each component a row, the loadings of each language a column of bars; returns the Figure."""
    pairs, languages = as_pairs(pairs), two_languages(languages)
    if figure is not None and not hasattr(figure, "add_subplot"):
        raise InvalidParameter(f"figure must be a Matplotlib Figure, got {type(figure).__name__}.")
    if figure is None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        longest = max(len(side) for pair in pairs for side in (pair.first, pair.second))
        figure = Figure(figsize=(8.0, (0.6 + 0.2 * longest) * len(pairs)), layout="constrained")
        FigureCanvasAgg(figure)
    for j, pair in enumerate(pairs):
        for side, entries in enumerate((pair.first, pair.second)):
            ax = figure.add_subplot(len(pairs), 2, 2 * j + side + 1)
            words, loadings = zip(*reversed(entries), strict=True)
            ax.barh(range(len(words)), loadings, color=["#d55e00" if v < 0.0 else "#0072b2" for v in loadings])
            ax.set_yticks(range(len(words)), words, fontsize=8)
            ax.axvline(0.0, color="0.3", linewidth=0.8)
            ax.tick_params(axis="x", labelsize=7)
            title = f"component {j + 1}, {languages[side]}"
            ax.set_title(
                f"{title} (correlation {pair.correlation:.3f})" if side == 0 else title, fontsize=8, loc="left"
            )
    return figure


__all__ = ["WordPair", "plot_words", "word_components", "word_table"]
