"""All supports, against a plain loop over them; and the dense optimum."""

from itertools import combinations

import numpy as np
import pytest
from small_problems import null, optimum

from dcgev_cvx import InvalidParameter, Pencil
from dcgev_cvx.datasets import indefinite, pitprops
from dcgev_cvx.exact import brute_force, gev


def test_brute_force_agrees_with_the_plain_loop():
    for pencil, k in ((pitprops(), 3), (indefinite(7, dense_metric=True), 3), (Pencil(-np.eye(4) - 0.1), 2)):
        found = brute_force(pencil, k)
        assert found.value == pytest.approx(optimum(pencil, k), rel=1e-12)
        assert found.optimal
        assert found.nodes == 0


def test_every_support_that_keeps_to_the_views_is_tried():
    pencil = Pencil(null(7).A, np.eye(7), blocks=(3, 4))
    found = brute_force(pencil, (1, 2))
    assert found.supports == 3 * 6
    supports = [np.array([i, *pair]) for i in range(3) for pair in combinations(range(3, 7), 2)]
    truth = max(pencil.restrict(S).lambda_max for S in supports)
    assert found.value == pytest.approx(truth, rel=1e-12)


def test_the_dense_problem():
    dense = gev(pitprops())
    assert dense.value == pytest.approx(4.2186, abs=5e-5)
    assert len(dense.support) == 13


@pytest.mark.parametrize(
    ("n", "k", "count"), [(100, 5, "75287520"), (54, 22, "780512175396135"), (54, 23, "about 1e15")]
)
def test_too_many_supports_raise(n, k, count):
    with pytest.raises(InvalidParameter, match=f"has {count} supports, more than 5000000: use best_subset"):
        brute_force(null(n), k)
