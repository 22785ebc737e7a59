"""Vocabulary selection for music retrieval by sparse CCA between audio features and words (Section 5.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from .._numerics.checks import Index, Matrix, Vector, as_generator, as_whole
from .._numerics.data_tables import read_table
from .._numerics.extras import require
from ..errors import InvalidParameter
from ..pencils import Gram, Pencil, cca_pencil
from ..search.components import components
from .songs import Songs


def word_pencil(audio: Matrix, tags: Matrix, ridge: float = 0.1) -> Pencil:
    """(ΣyxΣxx⁻¹Σxy, Σyy): CCA with sparsity asked of the words alone (Eq:CCA).

    For given loadings v of the words the best loadings of the audio features are Σxx⁻¹Σxy v up to scale; substituted,
    they leave max vᵀΣyxΣxx⁻¹Σxy v s.t. vᵀΣyyv = 1. Both views are standardised; a word that every song or no song has
    gets variance ridge alone.
    """
    X, Y = standardised(read_table(audio, "audio").X), standardised(read_table(tags, "tags").X)
    p = X.shape[1]
    A, B = cca_pencil(X, Y, ridge=ridge).dense()
    factor = solve_triangular(cholesky(B[:p, :p], lower=True), A[:p, p:], lower=True)
    return Pencil(Gram(factor), B[p:, p:])


def standardised(X: Matrix) -> Matrix:
    """Columns of mean 0 and variance 1; a constant column is 0."""
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 1e-12, deviation, 1.0)


def sparse_cca_vocabularies(audio: Matrix, tags: Matrix, sizes: Sequence[int]) -> list[Index]:
    """For each size the words in the supports of the first sparse components, as many as asked.

    The cardinality of every component is raised until the supports together hold `size` words; of the words that
    enter last those with the largest loadings are kept. The number of components is `correlations_above_chance`.
    """
    order = entry_order(word_pencil(audio, tags), correlations_above_chance(audio, tags))
    return nested(order, sizes)


def correlations_above_chance(audio: Matrix, tags: Matrix, rng: int | np.random.Generator = 0) -> int:
    """The number of canonical correlations above the largest of five data sets with shuffled songs; at least 1."""
    generator = as_generator(rng)
    tags = read_table(tags, "tags").X
    A, B = word_pencil(audio, tags).dense()
    chance = max(word_pencil(audio, generator.permutation(tags)).lambda_max for _ in range(5))
    return max(1, int(np.count_nonzero(eigh(A, B, eigvals_only=True) > chance)))


def entry_order(pencil: Pencil, count: int) -> Index:
    """The words in the order in which they enter the union of the supports as the cardinality k grows.

    k runs 1, 2, 3, 4, 6, 9, … up to all words; words that enter at the same k are ordered by their largest loading,
    weighted by the value of its component.
    """
    order: list[int] = []
    k = 1
    while len(order) < pencil.n:
        strength = union_strength(pencil, k, count)
        order += [int(j) for j in np.argsort(-strength, kind="stable") if strength[j] > 0.0 and j not in order]
        if k == pencil.n:
            order += [j for j in range(pencil.n) if j not in order]
        k = min(pencil.n, max(k + 1, int(1.5 * k)))
    return np.array(order, dtype=np.intp)


def union_strength(pencil: Pencil, k: int, count: int) -> Vector:
    """For each word the largest λ_j|v_j|√Bᵢᵢ over components with k nonzeros each; 0 off their supports."""
    found = components(pencil, [k] * count, deflation="projection", effort="quick")
    values = np.maximum(np.array(found.deflated_values), 1e-12)
    return np.max(np.abs(found.V) * values, axis=1) * np.sqrt(pencil.B_diagonal)


def agreement_vocabularies(songs: Songs, rows: Index, sizes: Sequence[int]) -> list[Index] | None:
    """The words on which listeners agree most: their mean answer over the songs that have the word."""
    if songs.agreement is None:
        return None
    tags, answers = songs.tags[rows], songs.agreement[rows]
    means = (tags * answers).sum(axis=0) / np.maximum(tags.sum(axis=0), 1.0)
    return nested(np.argsort(-means, kind="stable"), sizes)


def random_vocabularies(n: int, sizes: Sequence[int], rng: np.random.Generator) -> list[Index]:
    """Words drawn at random."""
    return nested(rng.permutation(n), sizes)


def nested(order: Index, sizes: Sequence[int]) -> list[Index]:
    """The first words of an order, for each size: each vocabulary lies within the next larger one."""
    if max(as_whole(size, "vocabulary size") for size in sizes) > len(order):
        raise InvalidParameter(f"vocabulary size {max(sizes)} is out of range: there are {len(order)} words.")
    return [np.sort(order[:size]) for size in sizes]


def word_scores(songs: Songs, train: Index, test: Index) -> Vector:
    """AROC of each word on the test songs, ranked by a model of the word trained on the training songs' audio.

    The model is a ridge-penalised logistic regression per word. The models of two words are independent, so that
    training on a smaller vocabulary is leaving words out. A word that all or no songs of a half have cannot be
    scored: NaN.
    """
    regression = require("sklearn.linear_model", "reproduce").LogisticRegression(C=0.1, max_iter=200)
    metrics = require("sklearn.metrics", "reproduce")
    mean, deviation = songs.audio[train].mean(axis=0), songs.audio[train].std(axis=0)
    X, Z = ((songs.audio[rows] - mean) / np.where(deviation > 0.0, deviation, 1.0) for rows in (train, test))
    scores = np.full(len(songs.words), np.nan)
    for j in range(len(songs.words)):
        y, truth = songs.tags[train, j], songs.tags[test, j]
        if 0.0 < y.mean() < 1.0 and 0.0 < truth.mean() < 1.0:
            scores[j] = metrics.roc_auc_score(truth, regression.fit(X, y).decision_function(Z))
    return scores


def average(scores: Vector, words: Index) -> float:
    """The average AROC over the words of a vocabulary that can be scored."""
    known = scores[words][~np.isnan(scores[words])]
    if not len(known):
        raise InvalidParameter(f"none of the {len(words)} words of the vocabulary can be scored on the test songs.")
    return float(np.mean(known))
