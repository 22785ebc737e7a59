"""Vocabularies of planted songs: sparse CCA drops the noisy words first, and the score rises."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse
from dcgev_cvx.reproduction.vocabulary import (
    agreement_vocabularies,
    average,
    correlations_above_chance,
    random_vocabularies,
    sparse_cca_vocabularies,
    standardised,
    word_pencil,
    word_scores,
)

from dcgev_cvx import InvalidParameter, cca_pencil
from dcgev_cvx.reproduction.songs import planted_songs

SIZES = [60, 45, 36, 24, 12]


@pytest.fixture(scope="module")
def songs():
    return planted_songs(300, 20, 60, 24, factors=5, rng=1)


@pytest.fixture(scope="module")
def halves(songs):
    order = np.random.default_rng(0).permutation(songs.n_songs)
    return order[:220], order[220:]


@pytest.fixture(scope="module")
def chosen(songs, halves):
    return sparse_cca_vocabularies(songs.audio[halves[0]], songs.tags[halves[0]], SIZES)


def test_the_word_pencil_has_the_canonical_correlations(songs):
    """Its eigenvalues are the squares of those of the two-view pencil."""
    from scipy.linalg import eigh

    pencil = word_pencil(songs.audio, songs.tags)
    both = cca_pencil(standardised(songs.audio), standardised(songs.tags), ridge=0.1)
    assert pencil.lambda_max == pytest.approx(both.lambda_max**2, rel=1e-9)
    A, B = pencil.dense()
    A2, B2 = both.dense()
    top = eigh(A, B, eigvals_only=True)[::-1][:5]
    assert top == pytest.approx(eigh(A2, B2, eigvals_only=True)[::-1][:5] ** 2, rel=1e-8)


def test_as_many_components_as_factors(songs, halves):
    assert correlations_above_chance(songs.audio[halves[0]], songs.tags[halves[0]]) == 5
    assert correlations_above_chance(songs.audio[halves[0]], scipy.sparse.csr_array(songs.tags[halves[0]])) == 5
    rng = np.random.default_rng(0)
    assert correlations_above_chance(songs.audio, rng.permutation(songs.tags)) <= 2


def test_noisy_words_go_first(songs, chosen):
    noisy = np.array([word in songs.noisy for word in songs.words])
    left = [int(noisy[words].sum()) for words in chosen]
    assert [len(words) for words in chosen] == SIZES
    assert left[0] == 24
    assert left == sorted(left, reverse=True)
    assert left[2] <= 5  # 36 sound words: a random 36 hold 14 noisy ones
    assert left[3] == 0


def test_vocabularies_are_nested(chosen):
    for larger, smaller in pairwise(chosen):
        assert set(smaller) <= set(larger)


def test_the_claim_of_figure_6(songs, halves, chosen):
    scores = word_scores(songs, *halves)
    full = average(scores, chosen[0])
    ours = [average(scores, words) for words in chosen]
    assert ours[2] > full + 0.08
    assert ours[3] > ours[1] > full
    rng = np.random.default_rng(3)
    drawn = np.mean([[average(scores, w) for w in random_vocabularies(60, SIZES, rng)] for _ in range(40)], axis=0)
    assert np.all(np.abs(drawn - full) < 0.02)
    agreed = [average(scores, words) for words in agreement_vocabularies(songs, halves[0], SIZES)]
    assert full - 0.02 < agreed[2] < ours[2]


def test_noisy_words_cannot_be_heard(songs, halves):
    scores = word_scores(songs, *halves)
    noisy = np.array([word in songs.noisy for word in songs.words])
    assert abs(np.nanmean(scores[noisy]) - 0.5) < 0.05
    assert np.nanmean(scores[~noisy]) > 0.8


def test_bad_sizes_and_words_without_songs(songs, halves):
    with pytest.raises(InvalidParameter, match="vocabulary size 61 is out of range: there are 60 words"):
        random_vocabularies(60, [61], np.random.default_rng(0))
    with pytest.raises(InvalidParameter, match="none of the 1 words"):
        average(np.array([np.nan]), np.array([0]))
    constant = songs.tags.copy()
    constant[:, 3] = 1.0
    assert word_pencil(songs.audio, constant).A.C[:, 3].tolist() == [0.0] * 20
