"""The methods that Tables 2 and 4 time: they reach k, and are timed in turn."""

import pytest
from dcgev_cvx.reproduction.timed_methods import METHODS, Answer, Prepared, compared, gaussian_pencil, timed


@pytest.mark.parametrize("method", METHODS)
def test_methods_reach_k_and_report_two_variances(method):
    pencil = gaussian_pencil(20, 50, [7])
    answer = timed({method: METHODS[method](pencil, 10, 0)}, 2)[method]
    assert answer.k == 10
    assert 0.0 < answer.raw <= answer.variance * (1.0 + 1e-12)
    assert answer.seconds > 0.0
    assert answer.total > 0.0
    assert METHODS[method](pencil, 10, 2).answer.k in range(8, 13)


def test_methods_are_timed_in_turn_and_spca_once():
    turns = []
    methods = {
        name: Prepared(
            Answer(1, 1.0, 1.0, 0.0, total=9.0, exact=True, steps=1, runs=runs), lambda n=name: turns.append(n)
        )
        for name, runs in (("SPCA", 3), ("GPower", 3), ("d.c. one-shot", 0))
    }
    answers = timed(methods, 3)
    others = ["GPower", "GPower", "d.c. one-shot", "d.c. one-shot"]  # the first of each pair is not timed
    assert turns == ["SPCA", *others * 3]
    assert answers["GPower"].total == 9.0
    assert answers["d.c. one-shot"].total == answers["d.c. one-shot"].seconds < 1.0
    turns.clear()
    timed(methods, 1, patience=60.0)  # runs that take no time: the number of rounds is bounded
    assert turns.count("GPower") == 120


def test_dc_methods_are_compared_at_the_cardinality_of_gpower():
    found = compared(gaussian_pencil(20, 60, [2]), 12, 3, 1, spca=False)["methods"]
    assert list(found) == ["GPower", "DC-PCA", "d.c. one-shot"]
    assert len({answer["k"] for answer in found.values()}) == 1
    assert all(found[name]["passes"] > 1.0 for name in ("GPower", "DC-PCA"))
