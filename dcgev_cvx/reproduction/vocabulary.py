"""Vocabulary selection: which words can be heard? Sparse CCA between sound and words (Section 5.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from .._numerics.checks import Index, Matrix, Vector, as_generator, as_indices, as_whole, expect, listed, shown
from .._numerics.data_tables import read_table
from ..errors import InvalidParameter
from ..pencils import Gram, Pencil, cca_pencil
from ..search.deflation import components
from .cal500 import Songs

RIDGE = 0.1
SHUFFLES = 5


def word_pencil(audio: Matrix, tags: Matrix, ridge: float = RIDGE) -> Pencil:
    """(ΣyxΣxx⁻¹Σxy, Σyy): CCA with sparsity asked of the words alone (Eq:CCA).

    For given loadings v of the words the best loadings of the audio features are
    Σxx⁻¹Σxy v up to scale; put in, they leave max vᵀΣyxΣxx⁻¹Σxy v s.t. vᵀΣyyv = 1. Both views are
    standardised; a word that every song or no song carries gets variance ridge alone.
    """
    X, Y = standardised(read_table(audio, "audio").X), standardised(read_table(tags, "tags").X)
    p = X.shape[1]
    pencil = cca_pencil(X, Y, ridge=ridge)
    A, B = pencil.dense()
    factor = solve_triangular(cholesky(B[:p, :p], lower=True), A[:p, p:], lower=True)
    return Pencil(Gram(factor), B[p:, p:])


def standardised(X: Matrix) -> Matrix:
    """Columns of mean 0 and variance 1; a constant column is 0."""
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 1e-12, deviation, 1.0)


def sparse_cca_vocabularies(audio: Matrix, tags: Matrix, sizes: Sequence[int]) -> list[Index]:
    """For each size the words in the supports of the first sparse components, as many as asked.

    The cardinality of every component is raised until the supports together hold `size` words;
    of the words that come last those with the largest loadings are kept. There are as many components as
    canonical correlations above those of songs whose words were shuffled.
    """
    wanted = checked_sizes(sizes, read_table(tags, "tags").n)
    order = entry_order(word_pencil(audio, tags), audible(audio, tags))
    return [np.sort(order[:size]) for size in wanted]


def audible(audio: Matrix, tags: Matrix, rng: int | np.random.Generator = 0) -> int:
    """The number of canonical correlations larger than the largest of SHUFFLES data sets without any; at least 1."""
    generator = as_generator(rng)
    audio, tags = read_table(audio, "audio").X, read_table(tags, "tags").X
    A, B = word_pencil(audio, tags).dense()
    values = eigh(A, B, eigvals_only=True)
    chance = max(word_pencil(audio, generator.permutation(tags)).lambda_max for _ in range(SHUFFLES))
    return max(1, int(np.count_nonzero(values > chance)))


def entry_order(pencil: Pencil, count: int) -> Index:
    """The words in the order in which they enter the union of the supports as the cardinality k grows.

    k runs 1, 2, 3, 4, 6, 9, … up to all words; words that enter at the same k are ordered by their
    largest loading, weighted by the value of the component that has it.
    """
    order: list[int] = []
    k = 1
    while len(order) < pencil.n:
        strength = union_strength(pencil, k, count)
        entering = [j for j in np.argsort(-strength, kind="stable") if strength[j] > 0.0 and j not in order]
        order += [int(j) for j in entering]
        if k == pencil.n:
            order += [j for j in range(pencil.n) if j not in order]
        k = min(pencil.n, max(k + 1, int(1.5 * k)))
    return np.array(order[: pencil.n], dtype=np.intp)


def union_strength(pencil: Pencil, k: int, count: int) -> Vector:
    """For each word the largest λ_j|v_j|√Bᵢᵢ over components with k nonzeros each; 0 off their supports."""
    found = components(pencil, [k] * count, deflation="projection", effort="quick")
    values = np.maximum(np.array(found.deflated_values), 1e-12)
    return np.max(np.abs(found.V) * values, axis=1) * np.sqrt(pencil.B_diagonal)


def agreement_vocabularies(songs: Songs, rows: Index, sizes: Sequence[int]) -> list[Index] | None:
    """The words on which listeners agree most: their mean answer over the songs that carry the word."""
    expect(songs, Songs, "songs", "see datasets.cal500")
    if songs.agreement is None:
        return None
    rows = as_indices(rows, len(songs.tags), "rows")
    tags, answers = songs.tags[rows], songs.agreement[rows]
    used = np.maximum(tags.sum(axis=0), 1.0)
    order = np.argsort(-(tags * answers).sum(axis=0) / used, kind="stable")
    return [np.sort(order[:size]) for size in checked_sizes(sizes, len(order))]


def random_vocabularies(n: int, sizes: Sequence[int], rng: np.random.Generator) -> list[Index]:
    """Words drawn at random, each vocabulary within the next larger one."""
    order = as_generator(rng).permutation(as_whole(n, "n", high=10**7))
    return [np.sort(order[:size]) for size in checked_sizes(sizes, n)]


def word_scores(songs: Songs, train: Index, test: Index) -> Vector:
    """AROC of each word on the test songs, ranked by a model of the word trained on the audio of the training songs.

    The model is a ridge-penalised logistic regression per word. The models of two words know nothing of
    each other, so that training the system on a smaller vocabulary is leaving words out. A word that
    all or no songs of a half carry cannot be scored: NaN.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score

    expect(songs, Songs, "songs", "see datasets.cal500")
    train, test = as_indices(train, len(songs.tags), "train"), as_indices(test, len(songs.tags), "test")
    mean, deviation = songs.audio[train].mean(axis=0), songs.audio[train].std(axis=0)
    X, Z = ((songs.audio[rows] - mean) / np.where(deviation > 0.0, deviation, 1.0) for rows in (train, test))
    scores = np.full(len(songs.words), np.nan)
    for j in range(len(songs.words)):
        y, truth = songs.tags[train, j], songs.tags[test, j]
        if 0.0 < y.mean() < 1.0 and 0.0 < truth.mean() < 1.0:
            model: Any = LogisticRegression(C=0.1, max_iter=200).fit(X, y)
            scores[j] = roc_auc_score(truth, model.decision_function(Z))
    return scores


def average(scores: Vector, words: Index) -> float:
    """The average AROC over the words of a vocabulary that can be scored."""
    if not isinstance(scores, np.ndarray) or scores.ndim != 1 or scores.dtype.kind != "f":
        raise InvalidParameter(f"scores = {shown(scores)} must be one number (or NaN) per word.")
    if np.any((scores < 0.0) | (scores > 1.0)):
        raise InvalidParameter(f"scores = {shown(scores)} must lie between 0 and 1, or be NaN.")
    rows = as_indices(words, len(scores), "words")
    known = scores[rows][~np.isnan(scores[rows])]
    if not len(known):
        raise InvalidParameter(f"none of the {len(words)} words of the vocabulary can be scored on the test songs.")
    return float(np.mean(known))


def checked_sizes(sizes: Sequence[int], n: int) -> list[int]:
    """Sizes between 1 and n."""
    wanted = [as_whole(size, "vocabulary size") for size in listed(sizes)]
    if not wanted:
        raise InvalidParameter(f"sizes = {shown(sizes)} must list sizes of vocabularies.")
    if max(wanted) > n:
        raise InvalidParameter(f"vocabulary size {max(wanted)} is out of range: there are {n} words.")
    return wanted


__all__ = [
    "agreement_vocabularies",
    "audible",
    "average",
    "random_vocabularies",
    "sparse_cca_vocabularies",
    "word_pencil",
    "word_scores",
]
