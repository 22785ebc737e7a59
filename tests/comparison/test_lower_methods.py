"""The rows of vectors: what a d.c. run reached, what solve did, and what is skipped."""

import numpy as np
import pytest

from dcgev_cvx import Pencil, compare, solve
from dcgev_cvx.comparison import METHODS
from dcgev_cvx.comparison.context import Context
from dcgev_cvx.comparison.lower_methods import k_largest, with_vector
from dcgev_cvx.comparison.rows import Row
from dcgev_cvx.datasets import pitprops, planted_cca


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
    row = with_vector(Context(pitprops, 2, np.inf, 0, False), Row("x", "lower"), pitprops.leading_vector, "dense")
    assert (row.valid, row.ok, row.cardinality) == (False, False, 13)
    assert row.status == "has 13 nonzeros, more than 2: not a lower value. dense"


def test_the_k_largest_are_measured_in_the_metric():
    context = Context(Pencil(np.eye(3), np.diag([1.0, 100.0, 4.0])), 1, np.inf, 0, False)
    assert k_largest(context, np.array([1.0, 0.2, -0.9])).tolist() == [0.0, 0.2, 0.0]


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
