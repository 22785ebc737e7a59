"""compare: both sides, failures that stay in their row, one time limit for all, and interrupts that lose nothing."""

import math
import pickle
from itertools import combinations

import numpy as np
import pytest

from dcgev_cvx import InvalidParameter, Pencil, SolverFailed, cca_pencil, compare
from dcgev_cvx.comparison import METHODS, ComparisonInterrupted
from dcgev_cvx.datasets import pitprops, planted_cca
from dcgev_cvx.exact import brute_force

QUICK = ("dc-pca", "solve", "greedy", "rounded", "homogeneous", "no-sdp", "exact")


def test_pit_props_with_every_method(six, row_of):
    wanted = {method.title for method in METHODS.values() if not method.rival and not method.package}
    assert wanted <= {row.method for row in six.rows} <= {method.title for method in METHODS.values()}
    assert six.gap.closed
    assert six.best_lower == pytest.approx(3.77096, abs=1e-5)
    assert all(row.value <= six.best_upper * (1 + 1e-12) for row in six.lower if row.valid)
    assert all(row.value >= six.best_lower * (1 - 1e-12) for row in six.upper if row.valid)
    assert row_of(six, "homogeneous").value == pytest.approx(3.8137, abs=1e-4)
    assert row_of(six, "homogeneous").percent == pytest.approx(90.40, abs=0.01)
    assert row_of(six, "literal").value == pytest.approx(4.2186, abs=1e-4)
    closed, cvxpy = row_of(six, "dc-pca"), row_of(six, "dc-cvxpy")
    assert closed.value == pytest.approx(cvxpy.value, rel=1e-9)
    assert closed.stationarity < 1e-6
    assert closed.iterations > 1
    assert closed.support == ("topdiam", "length", "ringbut", "bowmax", "bowdist", "whorls")
    assert all(row.ok for row in six.rows)


def test_cca_with_a_dense_B_skips_what_needs_the_identity(row_of):
    pencil = planted_cca(7, 7, 2, samples=60, ridge=0.01).pencil
    found = compare(pencil, 4, QUICK)
    assert row_of(found, "dc-pca").status == "skipped: needs B = I and A ⪰ 0"
    assert found.best_lower == pytest.approx(brute_force(pencil, 4).value, rel=1e-12)
    assert found.gap.closed


def test_a_failing_method_is_a_row_and_the_others_stay(monkeypatch, row_of):
    def broken(*args, **kwargs):
        raise SolverFailed("SCS failed: out of memory")

    monkeypatch.setattr("dcgev_cvx.relaxations.homogeneous_sdp", broken)
    found = compare(pitprops(), 3, QUICK)
    row = row_of(found, "homogeneous")
    assert row.status == "failed: SCS failed: out of memory"
    assert math.isnan(row.value)
    assert not row.ok
    assert found.gap.closed


def test_negative_spectra(row_of):
    found = compare(Pencil(-np.diag([5.0, 4.0, 3.0]) - 0.1), 2, QUICK)
    assert found.best_lower < 0.0
    assert found.gap.closed
    assert all(math.isnan(row.percent) for row in found.rows)


@pytest.mark.parametrize("A", [[[-2.0]], np.zeros((3, 3)), -np.diag([1.0, 2.0, 3.0])])
def test_no_positive_eigenvalue(A):
    """λmax(A, B) ≤ 0: the optimum is zero or negative, found and bounded, and nothing divides by it."""
    pencil = Pencil(A)
    found = compare(pencil, 1)
    assert found.best_lower == pytest.approx(pencil.lambda_max, abs=1e-9)
    assert found.best_upper >= found.best_lower - 1e-12


def test_sizes_that_an_sdp_refuses(row_of):
    C = np.random.default_rng(0).standard_normal((30, 260))
    found = compare(Pencil(C.T @ C), 3, ("homogeneous", "no-sdp", "solve"))
    assert "force=True" in row_of(found, "homogeneous").status
    assert math.isfinite(found.gap.relative)


def test_a_budget_for_each_view(row_of):
    """The vectors keep both numbers; a bound for kx + ky nonzeros holds for (kx, ky) too."""
    rng = np.random.default_rng(0)
    common = rng.standard_normal((60, 1))
    X, Y = (0.6 * common + rng.standard_normal((60, 5)) for _ in range(2))
    pencil = cca_pencil(X, Y, ridge=0.1)
    views = [(S, T) for S in combinations(range(5), 1) for T in combinations(range(5, 10), 2)]
    best = max(pencil.restrict(np.array(S + T)).lambda_max for S, T in views)
    found = compare(pencil, (1, 2))
    assert row_of(found, "solve").value == pytest.approx(best, rel=1e-9)
    assert found.best_lower == pytest.approx(best, rel=1e-9)
    assert found.best_upper >= best - 1e-9
    assert all(row.value >= best - 1e-9 for row in found.upper if row.valid)
    assert compare(pencil, (1, 2), ["dc-native"]).rows[0].status == "skipped: needs one k"
    assert "k = 1+2" in found.verdict
    assert found.to_dict()["k"] == [1, 2]
    for wrong, words in (((1,), "each of the 2 views"), ((1, 6), r"k\[1\] = 6 is out of range")):
        with pytest.raises(InvalidParameter, match=words):
            compare(pencil, wrong)


def test_bad_input():
    with pytest.raises(InvalidParameter, match="did you mean 'homogeneous'"):
        compare(pitprops(), 3, ("homogenous",))
    with pytest.raises(InvalidParameter, match="no method was given"):
        compare(pitprops(), 3, ())
    with pytest.raises(InvalidParameter, match="k = 0 is out of range"):
        compare(pitprops(), 0)
    with pytest.raises(InvalidParameter, match="use Pencil"):
        compare(np.eye(3), 2)
    with pytest.raises(InvalidParameter, match="time_limit = 0 is out of range"):
        compare(pitprops(), 3, time_limit=0)


# the time limit and the order of the methods


def test_a_time_limit_that_is_over_leaves_rows_that_say_so():
    found = compare(pitprops(), 6, time_limit=1e-6)
    assert all(row.status == "not run: the time limit was reached" for row in found.rows)
    assert found.best_lower == -math.inf
    assert found.gap.relative == math.inf


def test_short_methods_run_first_and_rows_keep_their_order():
    told = []
    found = compare(pitprops(), 6, ["dc-pca", "solve", "no-sdp", "greedy", "exact"], progress=told.append)
    assert told == ["solve", "greedy", "no SDP", "DC-PCA (closed form)", *["exact (branch and bound)"] * 2]
    assert [row.method for row in found.rows][:4] == ["DC-PCA (closed form)", "solve", "greedy", "no SDP"]


# interrupts


def test_an_interrupt_keeps_the_rows_that_were_finished(monkeypatch, row_of):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("dcgev_cvx.relaxations.homogeneous_sdp", interrupted)
    with pytest.raises(ComparisonInterrupted) as stop:
        compare(pitprops(), 6, QUICK)
    found = pickle.loads(pickle.dumps(stop.value)).comparison
    assert len(found.rows) == len(QUICK) + 1  # exact has two
    assert found.best_lower == pytest.approx(3.77096, abs=1e-5)
    kept = [row.method for row in found.rows if row.valid]
    assert kept == ["DC-PCA (closed form)", "solve", "greedy", "no SDP"]
    assert row_of(found, "exact").status == "not finished: interrupted"
    with pytest.raises(KeyboardInterrupt) as nothing:
        compare(pitprops(), 6, ["rounded", "exact"])
    assert nothing.type is KeyboardInterrupt  # there was no row to keep
