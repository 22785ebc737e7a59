"""Word counts of many short documents, with planted topics: sparse data for PCA at any size."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from .._numerics.checks import Index, Matrix, as_generator, as_whole

DOCUMENTS_AT_A_TIME = 100_000
"""Documents made at a time."""


class WordCounts(NamedTuple):
    """Word counts and the topics planted in them.

    Parameters
    ----------
    X : sparse array
        Documents × words, in CSR form.
    topics : array
        The columns of each topic's ten words, one row per topic.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> datasets.word_counts(100, 200, topics=2).topics[0]
    array([20, 22, 24, 26, 28, 30, 32, 34, 36, 38])
    """

    X: Any
    topics: Index


def word_counts(
    documents: int, words: int, *, topics: int = 5, length: int = 50, rng: int | np.random.Generator = 0
) -> WordCounts:
    """Documents of words drawn by Zipf's law; one in ten also has the ten words of a topic, three times each.

    Word i has a frequency proportional to 1/(i + 10). The words of topic j are j, j + topics, …, among the hundred
    after the twenty most frequent words.

    Parameters
    ----------
    documents : int
        The number of rows.
    words : int
        The number of columns, at least 200.
    topics : int
        The number of topics, at most 10.
    length : int
        Words per document, repetitions included, without those of its topic.
    rng : int or numpy.random.Generator
        The seed.

    Returns
    -------
    WordCounts
        The counts as a CSR array of float32, and the words of the topics.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> X, planted = datasets.word_counts(1000, 500)
    >>> X.shape, planted.shape
    ((1000, 500), (5, 10))
    """
    m, n = as_whole(documents, "documents"), as_whole(words, "words", low=200)
    generator, many = as_generator(rng, "rng"), as_whole(topics, "topics", high=10)
    planted = 20 + np.arange(many)[:, None] + many * np.arange(10)
    share = np.cumsum(1.0 / np.arange(10, n + 10))
    blocks = [
        count_matrix(
            generator, min(DOCUMENTS_AT_A_TIME, m - start), share / share[-1], planted, as_whole(length, "length")
        )
        for start in range(0, m, DOCUMENTS_AT_A_TIME)
    ]
    return WordCounts(scipy.sparse.vstack(blocks, format="csr"), planted)


def count_matrix(generator: np.random.Generator, m: int, share: Matrix, planted: Index, length: int) -> Any:
    """The counts of m documents."""
    column = np.searchsorted(share, generator.random(m * length)).astype(np.int32)
    row = np.repeat(np.arange(m, dtype=np.int32), length)
    on = np.flatnonzero(generator.random(m) < 0.1)
    topic = planted[generator.integers(len(planted), size=len(on))]
    column = np.append(column, topic.ravel().astype(np.int32))
    row = np.append(row, np.repeat(on.astype(np.int32), topic.shape[1]))
    times = np.repeat(np.array([1.0, 3.0], dtype=np.float32), [m * length, topic.size])
    return scipy.sparse.coo_array((times, (row, column)), shape=(m, len(share))).tocsr()
