"""What an exact search says of its answer."""

import numpy as np
import pytest
from small_problems import null

from dcgev_cvx import Gram, Pencil
from dcgev_cvx._numerics.checks import UNIT_ROUNDOFF
from dcgev_cvx.datasets import pitprops
from dcgev_cvx.exact import ExactSolution, ExactStatus, best_subset
from dcgev_cvx.exact.results import exact_from, rounding


def test_words():
    text = str(best_subset(pitprops(), 6))
    assert text.startswith("proved optimal: value 3.7709596")
    assert "topdiam, length, ringbut, bowmax, bowdist, whorls" in text


def test_rounding_closes_nothing_where_the_optimum_is_merely_small():
    """1e-9 beside entries of size one is far above rounding: a limit of one node leaves it open."""
    pencil = Pencil(null(30).A - (null(30).lambda_max - 1e-9) * np.eye(30))
    stopped = best_subset(pencil, 8, node_limit=1)
    assert not stopped.optimal


def test_rounding_is_measured_in_the_units_of_the_metric():
    A = np.array([[3.0, 1.0], [1.0, -50.0]])
    assert rounding(Pencil(A), 2) == pytest.approx(8 * 25 * UNIT_ROUNDOFF * 50.0, abs=0.0)
    assert rounding(Pencil(A, np.diag([0.01, 100.0])), 2) == pytest.approx(8 * 25 * UNIT_ROUNDOFF * 300.0, abs=0.0)
    factor = Pencil(Gram(np.diag([3.0, 1.0])), np.diag([0.5, 4.0]))
    assert rounding(factor, 1) == pytest.approx(8 * 16 * UNIT_ROUNDOFF * 18.0, abs=0.0)


def test_a_record_says_only_what_it_was_given_and_closes_up_to_rounding():
    pencil = pitprops()
    found = exact_from(pencil, np.array([0, 1]), 1.9540000001, 2.0)
    assert (found.nodes, found.supports, found.screened, found.seconds) == (0, 0, 0, 2.0)
    assert found.optimal
    open_ = exact_from(pencil, np.array([0, 1]), 1.96, 2.0, ExactStatus.OUT_OF_TIME)
    assert (open_.optimal, open_.status, open_.upper_bound) == (False, ExactStatus.OUT_OF_TIME, 1.96)
    assert exact_from(pencil, np.array([0, 1]), 1.96, 0.0).status is ExactStatus.ROUNDING
    below = exact_from(pencil, np.array([0, 1]), 1.0, 0.0)
    assert below.upper_bound == below.value  # the value is attained, whatever a bound says


def test_a_long_support_is_cut_after_twelve_names():
    found = best_subset(pitprops(), 13)
    assert f"13 nonzeros: {', '.join(found.names[:12])} …" in str(found)


def test_an_optimum_of_zero_is_proved_up_to_the_rounding_of_the_entries_and_no_further():
    pencil = Pencil(np.diag([0.0, -1.0]))
    margin = rounding(pencil, 1)
    for upper, optimal in ((margin, True), (np.nextafter(margin, 1.0), False)):
        assert exact_from(pencil, np.array([0]), upper, 0.0).optimal == optimal


def test_without_screening_no_variable_counts_as_removed():
    found = ExactSolution(np.ones(1), (0,), 1.0, 1.0, ExactStatus.OPTIMAL, 0, 1, 0.0)
    assert found.screened == 0
    assert "proved to be" not in str(found)
