"""The words of a component are translations of each other."""

import numpy as np
import pytest
from dcgev_cvx.reproduction.word_components import word_components, word_table

from dcgev_cvx import InvalidParameter


def test_the_words_of_a_component_are_translations(corpus):
    pairs = word_components(corpus, 4, 6)
    for pair in pairs:
        topics = [{word[1:].split("-")[0] for word, _ in side} - {""} for side in (pair.first, pair.second)]
        assert topics[0] & topics[1]
        assert pair.stationarity <= 1e-8
    table = word_table(pairs)
    assert len(table) == 4
    assert table[0][1].count(",") == len(pairs[0].first) - 1
    with pytest.raises(InvalidParameter, match="too few"):
        word_components(corpus.take(np.arange(2)), 1, 1)
