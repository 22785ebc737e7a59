"""One cardinality per view."""

import itertools

import numpy as np
import pytest
import standin
from families import few_samples, views

from dcgev_cvx import cca_pencil
from dcgev_cvx.search.exchange_table import support_values
from dcgev_cvx.search.per_view import solve_per_view


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("h", "ks"), [(6, (2, 3)), (7, (3, 1)), (5, (5, 2))])
def test_views_are_solved_exactly(seed, h, ks):
    pencil = cca_pencil(*np.hsplit(np.random.default_rng(seed).standard_normal((30, 2 * h)), 2), ridge=0.01)
    table = [
        [*left, *(h + j for j in right)]
        for left in itertools.combinations(range(h), ks[0])
        for right in itertools.combinations(range(h), ks[1])
    ]
    best = float(np.max(support_values(pencil, np.array(table))))
    found = solve_per_view(pencil, ks)
    assert found.value == pytest.approx(best, rel=1e-9)
    assert (sum(i < h for i in found.support), sum(i >= h for i in found.support)) == ks


def test_views_that_are_too_many_to_enumerate():
    """Exactly the planted variables, five of a hundred in each view, with a ridge that makes them the optimum."""
    found = solve_per_view(few_samples(0, ridge=5.0), (5, 5))
    assert found.support == (*range(5), *range(100, 105))
    assert "exchanges from" in found.method


@pytest.mark.parametrize("effort", ["quick", "normal"])
def test_the_search_within_views_is_near_the_best_of_all(effort):
    """Five and six variables, cardinalities (2, 3): 200 supports."""
    shares = []
    for seed in range(10):
        pencil = views(seed, p=6, q=5)[2]
        pairs = itertools.product(itertools.combinations(range(6), 2), itertools.combinations(range(6, 11), 3))
        best = standin.support_values(pencil, np.array([(*s, *t) for s, t in pairs])).max()
        found = solve_per_view(pencil, (2, 3), effort=effort)
        assert tuple(np.count_nonzero(part) for part in (found.x[:6], found.x[6:])) == (2, 3)
        shares.append(found.value / best)
    assert min(shares) >= (0.9 if effort == "quick" else 1.0 - 1e-9)


def test_more_effort_is_not_worse():
    pencil = few_samples(1)
    values = [solve_per_view(pencil, (4, 6), effort=effort).value for effort in ("quick", "normal")]
    assert values[0] <= values[1] * (1.0 + 1e-12)
