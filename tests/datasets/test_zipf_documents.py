"""Word counts with planted topics."""

import numpy as np
import pytest

from dcgev_cvx import datasets, errors


def test_counts_are_whole_reproducible_and_zipfian():
    X, topics = datasets.word_counts(3000, 400, rng=1)
    again = datasets.word_counts(3000, 400, rng=1).X
    assert (again != X).nnz == 0
    assert np.array_equal(X.data, np.round(X.data))
    totals = np.asarray(X.sum(axis=0))
    assert totals[0] > totals[19] > totals[399]
    assert X.sum() == pytest.approx(3000 * 53, rel=0.02)  # fifty words, and thirty in one document of ten
    assert len(np.unique(topics)) == topics.size == 50


def test_blocks_of_documents_continue_one_another(monkeypatch):
    monkeypatch.setattr("dcgev_cvx.datasets.zipf_documents.DOCUMENTS_AT_A_TIME", 400)
    assert datasets.word_counts(1000, 200).X.shape == (1000, 200)


def test_too_few_words_for_the_topics():
    with pytest.raises(errors.InvalidParameter, match="words = 100 must be a whole number of at least 200"):
        datasets.word_counts(10, 100)
