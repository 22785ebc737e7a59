"""What an exact search says of its answer."""

import numpy as np
import pytest
from small_problems import null

from dcgev_cvx import Gram, Pencil
from dcgev_cvx._numerics.checks import UNIT_ROUNDOFF
from dcgev_cvx.datasets import pitprops
from dcgev_cvx.exact import ExactStatus, best_subset
from dcgev_cvx.exact.results import rounding


def test_words():
    text = str(best_subset(pitprops(), 6))
    assert text.startswith("proved optimal: value 3.7709596")
    assert "topdiam, length, ringbut, bowmax, bowdist, whorls" in text
    all_of_them = best_subset(pitprops(), 13)
    assert f"13 nonzeros: {', '.join(all_of_them.names[:12])} …" in str(all_of_them)


def test_rounding_closes_nothing_where_the_optimum_is_merely_small():
    """1e-9 beside entries of size one is far above rounding: a limit of one node leaves it open."""
    pencil = Pencil(null(30).A - (null(30).lambda_max - 1e-9) * np.eye(30))
    stopped = best_subset(pencil, 8, node_limit=1)
    assert stopped.status is ExactStatus.OUT_OF_NODES


def test_rounding_is_measured_in_the_units_of_the_metric():
    A = np.array([[3.0, 1.0], [1.0, -50.0]])
    assert rounding(Pencil(A), 2) == pytest.approx(8 * 25 * UNIT_ROUNDOFF * 50.0, rel=1e-12)
    assert rounding(Pencil(A, np.diag([0.01, 100.0])), 2) == pytest.approx(8 * 25 * UNIT_ROUNDOFF * 300.0, rel=1e-12)
    factor = Pencil(Gram(np.diag([3.0, 1.0])), np.diag([0.5, 4.0]))
    assert rounding(factor, 1) == pytest.approx(8 * 16 * UNIT_ROUNDOFF * 18.0, rel=1e-12)
