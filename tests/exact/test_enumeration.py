"""All supports, against a plain loop over them."""

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


def test_the_dense_problem():
    assert gev(pitprops()).value == pytest.approx(4.2186, abs=5e-5)


def test_too_many_supports_raise():
    with pytest.raises(InvalidParameter, match=r"75287520 supports, more than 5000000: use best_subset"):
        brute_force(null(100), 5)
