"""Words that audio features can tell, by sparse CCA between features (dense) and words (sparse) (Section 5.2)."""

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from dcgev_cvx import Gram, Pencil, cca_pencil, components
from dcgev_cvx.datasets import Songs


def word_pencil(audio: np.ndarray, tags: np.ndarray, ridge: float = 0.1) -> Pencil:
    """(ΣyxΣxx⁻¹Σxy, Σyy): CCA with sparsity asked of the words alone (Eq:CCA).

    For given loadings v of the words the best loadings of the audio features are Σxx⁻¹Σxy v up to scale; substituted,
    they leave max vᵀΣyxΣxx⁻¹Σxy v s.t. vᵀΣyyv = 1. Both views are standardised.
    """
    p = audio.shape[1]
    A, B = cca_pencil(standardised(audio, audio), standardised(tags, tags), ridge=ridge).dense()
    factor = solve_triangular(cholesky(B[:p, :p], lower=True), A[:p, p:], lower=True)
    return Pencil(Gram(factor), B[p:, p:])


def standardised(X: np.ndarray, training: np.ndarray) -> np.ndarray:
    """Columns less the mean and over the deviation of the training data; a constant column is only centred."""
    deviation = training.std(axis=0)
    return (X - training.mean(axis=0)) / np.where(deviation > 1e-12, deviation, 1.0)


def correlations_above_chance(audio: np.ndarray, tags: np.ndarray) -> int:
    """The number of canonical correlations above the largest of five data sets with shuffled songs; at least 1."""
    rng = np.random.default_rng(0)
    A, B = word_pencil(audio, tags).dense()
    chance = max(word_pencil(audio, rng.permutation(tags)).lambda_max for _ in range(5))
    return max(1, int(np.count_nonzero(eigh(A, B, eigvals_only=True) > chance)))


def sparse_cca_order(audio: np.ndarray, tags: np.ndarray) -> np.ndarray:
    """The words in the order in which they enter the supports of sparse components as their cardinality k grows.

    k runs 1, 2, 3, 4, 6, 9, …; words that enter together are ordered by their largest λ_j|v_j|√Bᵢᵢ.
    """
    pencil, number = word_pencil(audio, tags), correlations_above_chance(audio, tags)
    order, k = list[int](), 1
    while len(order) < pencil.n:
        found = components(pencil, [k] * number, deflation="projection", effort="quick")
        values = np.maximum(np.array(found.deflated_values), 1e-12)
        strength = np.max(np.abs(found.V) * values, axis=1) * np.sqrt(pencil.B_diagonal)
        entering = np.argsort(-strength, kind="stable")
        order += [int(j) for j in entering if (strength[j] > 0.0 or k == pencil.n) and j not in order]
        k = min(pencil.n, max(k + 1, int(1.5 * k)))
    return np.array(order)


def word_scores(songs: Songs, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """AROC of each word on the test songs, ranked by a logistic model of the word; NaN where it cannot be scored."""
    regression = LogisticRegression(C=0.1, max_iter=200)
    X, Z = (standardised(songs.audio[rows], songs.audio[train]) for rows in (train, test))
    scores = np.full(len(songs.noisy), np.nan)
    for j in range(len(scores)):
        y, truth = songs.tags[train, j], songs.tags[test, j]
        if 0.0 < y.mean() < 1.0 and 0.0 < truth.mean() < 1.0:
            scores[j] = roc_auc_score(truth, regression.fit(X, y).decision_function(Z))
    return scores
