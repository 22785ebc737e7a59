"""The starts, the rounds and the end of the search."""

import numpy as np
import pytest
from families import cca, pca, value_on

from dcgev_cvx import Gram, Pencil
from dcgev_cvx.search.support_search import SupportSearch


def search_of(pencil, k, seed=0):
    return SupportSearch(pencil, ((np.arange(pencil.n), k),), np.random.default_rng(seed))


def test_the_best_supports_are_kept_in_their_order():
    pencil = pca(0)
    search = search_of(pencil, 3)
    search.construct(1e8)
    search.restart(1e8, 2)
    values = [value_on(pencil, support) for support in search.ranked]
    assert values == pytest.approx(sorted(values, reverse=True), rel=1e-9)
    assert list(search.tops.values()) == pytest.approx(
        [value_on(pencil, np.frombuffer(key, dtype=np.intp)) for key in search.tops], rel=1e-9
    )


def test_a_budget_ends_the_restarts():
    search = search_of(cca(0, 40), 10)
    search.construct(1e7)
    search.restart(1e7, 10**6)
    assert 1e7 <= search.work < 1e8
    before = dict(search.starts)
    search.restart(1e7, 10**6)
    assert search.starts == before


def test_restarts_keep_k_and_the_numbers_of_each_view():
    pencil = cca(0, 9)
    plan = ((pencil.views[0], 3), (pencil.views[1], 2))
    search = SupportSearch(pencil, plan, np.random.default_rng(0))
    search.construct(1e8)
    search.restart(1e8, 3)
    for support in [*search.ranked, *(search.next_start() for _ in range(10))]:
        assert (np.sum(support < 9), np.sum(support >= 9)) == (3, 2)


def test_beyond_the_largest_table_one_shot_mm_restarts_from_other_directions():
    C = np.random.default_rng(0).standard_normal((62, 1000))
    search = search_of(Pencil(Gram(C)), 200)
    search.construct(1e9)
    search.restart(1e9, 2)
    assert not search.exchanges.exact
    assert search.starts["restarts"] >= 2
    assert len({S.tobytes() for S in search.ranked}) >= 2
