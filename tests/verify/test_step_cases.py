"""Questions about one step."""

from __future__ import annotations

from dcgev_cvx.verify.reference_answers import reference
from dcgev_cvx.verify.suite import suite


def test_a_size_that_occurs_once_is_asked_where_it_shows():
    for seed in range(3):
        large = [case for case in suite("step", seed, "quick").cases if case.n > 16]
        assert {case.n for case in large} == {*range(17, 67), 97, 129}
        assert all(reference(case).x.any() for case in large)
