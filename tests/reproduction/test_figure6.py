"""Figure 6: sparse CCA drops the noisy words of planted songs first, and the score rises."""

import numpy as np
import pytest
from scipy.linalg import eigh

from dcgev_cvx import cca_pencil
from dcgev_cvx.reproduction.figure6 import (
    agreement_order,
    averages,
    correlations_above_chance,
    findings,
    planted_songs,
    sparse_cca_order,
    standardised,
    word_pencil,
    word_scores,
)

SIZES = [40, 30, 24, 16, 8]


@pytest.fixture(scope="module")
def songs():
    return planted_songs(300, 20, 40, 16, factors=5, rng=1)


@pytest.fixture(scope="module")
def halves(songs):
    order = np.random.default_rng(0).permutation(len(songs.audio))
    return order[:220], order[220:]


@pytest.fixture(scope="module")
def order(songs, halves):
    return sparse_cca_order(songs.audio[halves[0]], songs.tags[halves[0]])


@pytest.fixture(scope="module")
def scores(songs, halves):
    return word_scores(songs, *halves)


def test_the_word_pencil_has_the_canonical_correlations(songs):
    """Its eigenvalues are the squares of those of the two-view pencil."""
    pencil = word_pencil(songs.audio, songs.tags)
    audio, tags = (standardised(X, X) for X in (songs.audio, songs.tags))
    both = cca_pencil(audio, tags, ridge=0.1)
    assert pencil.lambda_max == pytest.approx(both.lambda_max**2, rel=1e-9)
    top, squares = (eigh(*p.dense(), eigvals_only=True)[::-1][:5] for p in (pencil, both))
    assert top == pytest.approx(squares**2, rel=1e-8)


def test_a_word_that_every_song_has_is_not_correlated(songs):
    constant = songs.tags.copy()
    constant[:, 3] = 1.0
    assert word_pencil(songs.audio, constant).A.C[:, 3].tolist() == [0.0] * 20


def test_as_many_components_as_factors(songs, halves):
    assert correlations_above_chance(songs.audio[halves[0]], songs.tags[halves[0]]) == 5
    rng = np.random.default_rng(0)
    assert correlations_above_chance(songs.audio, rng.permutation(songs.tags)) <= 2


def test_noisy_words_go_first(songs, order):
    left = [int(songs.noisy[order[:size]].sum()) for size in SIZES]
    assert sorted(order) == list(range(40))
    assert left[0] == 16
    assert left[2] <= 3  # 24 sound words: a random 24 hold 10 noisy ones
    assert left[3] == 0


def test_the_claim_of_figure_6(songs, halves, order, scores):
    ours = averages(scores, order, SIZES)
    full = ours[0]
    assert ours[2] > full + 0.08
    assert ours[3] > ours[1] > full
    rng = np.random.default_rng(3)
    drawn = np.mean([averages(scores, rng.permutation(40), SIZES) for _ in range(40)], axis=0)
    assert np.all(np.abs(drawn - full) < 0.03)
    agreed = averages(scores, agreement_order(songs, halves[0]), SIZES)
    assert full - 0.03 < agreed[2] < ours[2]


def test_noisy_words_cannot_be_heard(songs, scores):
    assert abs(np.nanmean(scores[songs.noisy]) - 0.5) < 0.06
    assert np.nanmean(scores[~songs.noisy]) > 0.8


def test_words_that_cannot_be_scored_are_left_out():
    assert averages(np.array([0.5, np.nan, 1.0]), np.array([2, 1, 0]), [3, 2]) == [0.75, 1.0]


def test_findings_are_on_half_of_the_words():
    shares = {"sparse CCA": [70.0, 80.0, 60.0], "random": [70.0, 73.0, 90.0], "agreement": [70.0, 81.0, 70.0]}
    found = findings([20, 9, 2], shares, [10.0, 2.0, 0.0])
    assert [each.verdict.value for each in found] == ["agree", "differs", "differs", "agree"]
    assert found[0].ours == "+10.0 with 9 of 20 words"
    assert found[3].ours == "10 of 20 words are noisy, 2.0 of 9"


def test_planted_songs_know_their_noise():
    songs = planted_songs(200, 10, 30, 12, rng=3)
    assert songs.tags.shape == songs.answers.shape == (200, 30)
    assert songs.noisy.sum() == 12
    assert set(np.unique(songs.tags)) == {0.0, 1.0}
    assert np.all((songs.answers >= 0.0) & (songs.answers <= 1.0))
    assert np.array_equal(planted_songs(200, 10, 30, 12, rng=3).audio, songs.audio)
