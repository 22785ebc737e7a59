"""The k largest entries, and the parameter that gives k."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dcgev_cvx._numerics.selection import keep_largest, largest_first, parameter_for_count


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.5, np.inf, -np.inf]), max_size=12), st.integers(0, 13))
def test_the_largest_entries_are_those_of_a_stable_sort(values, k):
    values = np.array(values)
    assert largest_first(values, k).tolist() == np.argsort(-values, kind="stable")[:k].tolist()


def test_the_largest_are_kept_and_ties_go_to_the_first():
    assert keep_largest(np.array([1.0, -3.0, 3.0, 0.5]), 1).tolist() == [0.0, -3.0, 0.0, 0.0]
    assert keep_largest(np.array([1.0, -3.0, 3.0, 0.5]), 2, np.array([9.0, 1.0, 2.0, 3.0])).tolist() == [1, 0, 0, 0.5]


def test_a_parameter_is_found_where_the_count_is_k():
    sizes = np.array([0.1, 0.2, 0.2, 0.7, 3.0])

    def count(t):
        return int(np.sum(sizes > t))

    for k in (1, 2, 4):
        assert count(parameter_for_count(count, k, 1e-3, 4.0)) == k
    assert parameter_for_count(count, 3, 1e-3, 4.0) is None


def test_the_search_is_bounded_and_can_be_ended():
    tried = []
    assert parameter_for_count(lambda t: tried.append(t) or 0, 1, 0.0, 1.0, tries=7, width=0.0) is None
    assert len(tried) == 7
    assert parameter_for_count(lambda t: tried.append(t), 1, 0.0, 1.0) is None
    assert len(tried) == 8
