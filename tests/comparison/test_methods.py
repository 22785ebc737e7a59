"""The rows of vectors and bounds: what was reached, which bounds are valid at this k, and the time that is kept."""

import math

import numpy as np
import pytest

from dcgev_cvx import Pencil, compare, datasets, dc_pca, solve
from dcgev_cvx._numerics.deadline import Deadline
from dcgev_cvx.budgets import Budget
from dcgev_cvx.comparison import METHODS, methods
from dcgev_cvx.comparison.methods import Context, with_vector
from dcgev_cvx.comparison.rows import ComparisonRow
from dcgev_cvx.datasets import pitprops, planted_cca

# the search for ρ̃


def test_a_run_stops_at_its_deadline():
    over = Deadline.after(0.0, "time_limit")
    assert methods.mm_run(datasets.pitprops(), 1.0, "native", over).status.name == "STOPPED"
    assert methods.rho_for(datasets.pitprops(), 4, "closed", over)[1] is None


def test_the_search_ends_at_k_or_at_the_nearest_number_below():
    pencil = datasets.pitprops()
    for k, reached in ((6, 6), (4, 3)):
        rho, run = methods.rho_for(pencil, k, "closed", Deadline())
        assert run.converged
        assert len(run.support) == len(dc_pca(pencil, rho=rho).support) == reached


# vectors


def test_a_cardinality_that_is_not_on_the_path_is_said(row_of):
    four = compare(pitprops(), 4, ("dc-pca", "exact"))
    row = row_of(four, "dc-pca")
    assert row.cardinality == 3
    assert row.status.startswith("no ρ̃ found gives k = 4; the nearest run (ρ̃ = ")
    assert row.status.endswith(") has 3 nonzeros")
    assert (row.valid, row.ok) == (True, False)
    assert four.gap.closed


def test_the_row_of_solve_says_what_solve_did(six, row_of):
    assert row_of(six, "solve").status == solve(pitprops(), 6, check_path=False).method


def test_a_late_run_is_no_row_with_a_value():
    pencil = Pencil(np.cov(np.random.default_rng(0).standard_normal((400, 300)).T))
    (row,) = compare(pencil, 5, ["dc-native"], time_limit=1e-6).rows
    assert not row.valid
    assert "time limit" in row.status


def test_a_vector_with_more_than_k_nonzeros_does_not_count(pitprops):
    context = Context(pitprops, Budget.of(pitprops, 2), Deadline(), 0, False)
    row = with_vector(context, ComparisonRow("x", "lower"), pitprops.leading_vector, "dense")
    assert (row.valid, row.ok, row.cardinality) == (False, False, 13)
    assert row.status == "has 13 nonzeros, more than 2: not a lower value. dense"


def test_the_k_largest_on_the_l1_ball_are_measured_in_the_metric(monkeypatch):
    pencil = Pencil(np.eye(3), np.diag([1.0, 100.0, 4.0]))
    # in units of powers of two: x = u∘x̂ with u = (1, 1/8, 1/2)
    answer = np.array([1.0, 0.2, -0.9]) / [1.0, 0.125, 0.5]
    monkeypatch.setattr(
        "dcgev_cvx.comparison.other_solvers.solve_with", lambda _, p: p.var_dict["x"].save_value(answer)
    )
    row = methods.l1_ball_row(
        Context(pencil, Budget.of(pencil, 1), Deadline(), 0, False), ComparisonRow("x", "lower"), "dccp"
    )
    assert row.support == ("x2",)


@pytest.mark.parametrize("name", ["dccp", "uno"])
def test_general_solvers_run_when_installed(name, capfd, row_of):
    pytest.importorskip(METHODS[name].package)
    for pencil, k in ((pitprops(), 4), (planted_cca(5, 5, 2, samples=60, ridge=0.1).pencil, 4)):
        found = compare(pencil, k, (name, "exact"))
        assert found.gap.closed
        row = row_of(found, name)
        assert row.value <= found.best_upper or row.status == "skipped: needs A ⪰ 0"
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("name", ["dccp", "uno"])
def test_a_missing_package_is_a_row_only_when_asked_for_by_name(name, monkeypatch):
    monkeypatch.setattr("dcgev_cvx.comparison.compare_methods.find_spec", lambda package: None)
    found, package = compare(pitprops(), 3, [name]), METHODS[name].package
    assert [row.status for row in found.rows] == [f"skipped: needs {package} (pip install {package})"]
    assert found.verdict == "k = 3: nothing is known of the optimum: no method gave a number"
    assert METHODS[name].title not in [row.method for row in compare(Pencil(np.eye(2)), 1, time_limit=1e-6).rows]
    metric = compare(Pencil(np.eye(2), np.diag([1.0, 2.0])), 1, ["dc-pca", "greedy"])
    assert [row.valid for row in metric.rows] == [False, True]


# bounds


def test_the_papers_budget_is_marked_where_it_is_no_bound(row_of):
    pencil = Pencil(np.diag([3.0, 2.0, 1.0]), 0.01 * np.eye(3))
    found = compare(pencil, 1, ("entrywise-paper", "entrywise-valid", "exact"))
    paper = row_of(found, "entrywise-paper")
    assert (paper.valid, paper.ok) == (False, False)
    assert "not a valid bound" in paper.status
    assert paper.value < found.best_lower
    assert math.isnan(paper.gap)
    assert f"({paper.value:#.6g})" in str(found)
    assert found.gap.closed


def test_the_literal_sdp_is_zero_where_every_eigenvalue_is_negative():
    literal = compare(Pencil(-np.diag([5.0, 4.0, 3.0])), 2, ["literal"]).rows[0]
    assert literal.value == 0.0
    assert literal.status.startswith("valid, and always 0, as λmax(A,B) < 0 and X = 0 is allowed: it ignores k")


@pytest.mark.parametrize("k", [2, 4, 6])
def test_the_pairwise_sdp_is_the_tightest_of_the_relaxations(k, row_of):
    found = compare(pitprops(), k, ("homogeneous", "pairwise", "exact"))
    row = row_of(found, "pairwise")
    assert found.best_lower - 1e-9 <= row.value <= row_of(found, "homogeneous").value + 1e-6
    assert row.value == pytest.approx(found.best_lower, rel=1e-6)
    assert row.status.startswith("valid for every B; X has rank one and is k-sparse")


def test_an_infinite_bound_is_not_valid():
    near_singular = Pencil(np.diag([1.0, 2.0, 3.0]), np.ones((3, 3)) + 1e-14 * np.eye(3))
    found = compare(near_singular, 2, ["exact"])
    for row in found.upper:
        assert math.isinf(row.value)
        assert not row.valid
    assert "no bound was proved" in found.verdict
