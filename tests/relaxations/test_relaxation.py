"""What a relaxation says of itself: errors, rank, the model in the user's own data."""

import pickle

import cvxpy as cp
import numpy as np
import pytest
from lying_solver import SDPS, lie
from small_problems import random_cca

from dcgev_cvx import Pencil
from dcgev_cvx.datasets import pitprops
from dcgev_cvx.relaxations import Dimacs, entrywise_sdp, homogeneous_sdp


@pytest.mark.parametrize("share", [0.5, 1.0, 1.5])
def test_a_trace_that_is_not_one_is_an_error_where_it_has_to_be_one(monkeypatch, share):
    """err1 counts what is missing from tr(XB) = 1 too; tr(XB) ≤ 1 asks for no more than that."""
    pencil = Pencil(np.diag([3.0, 2.0, 1.0]))
    lie(monkeypatch, lambda problem: problem.var_dict["X"].save_value(share * problem.var_dict["X"].value))
    assert homogeneous_sdp(pencil, 1).dimacs.err1 == pytest.approx(abs(share - 1.0) / 2.0, abs=1e-6)
    assert entrywise_sdp(pencil, 2.0).dimacs.err1 == pytest.approx(max(0.0, share - 1.0) / 2.0, abs=1e-6)


def test_a_missing_multiplier_makes_the_worst_error_infinite():
    assert Dimacs(0.0, 0.0, np.nan, 0.0, 0.0, 0.0).worst == np.inf
    assert Dimacs(0.0, 0.0, 0.0, 0.0, -0.25, 0.0).worst == 0.25


def test_rank_one_is_told_apart_from_exact():
    exact, loose = homogeneous_sdp(pitprops(), 2), homogeneous_sdp(pitprops(), 4)
    assert exact.rank == 1
    assert exact.exact
    assert "the relaxation is exact" in str(exact)
    assert loose.rank == 1
    assert not loose.exact
    assert "more than k nonzeros" in str(loose)
    assert loose.rounded.k == 4


@pytest.mark.parametrize("name", SDPS)
def test_a_relaxations_problem_is_the_model_in_the_users_own_data(name):
    pencil = random_cca()
    A, B = pencil.dense()
    scaled = Pencil(16.0 * A, 4.0 * B)
    relaxed = SDPS[name](scaled, 2)
    assert isinstance(relaxed.problem, cp.Problem)
    assert relaxed.problem.value is None
    assert relaxed.problem.is_dpp()
    constants = {c.name(): c.value for c in relaxed.problem.constants() if c.name() in ("A", "B")}
    assert np.array_equal(constants["A"], scaled.A)
    assert np.array_equal(constants["B"], scaled.B)
    solved = relaxed.problem.solve(solver="CLARABEL")
    assert solved == pytest.approx(relaxed.value, rel=1e-6)


def test_results_are_read_only_and_inputs_untouched():
    pencil = pitprops()
    before = np.array(pencil.A)
    relaxed = homogeneous_sdp(pencil, 3)
    with pytest.raises(ValueError, match="read-only"):
        relaxed.X[0, 0] = 1.0
    assert np.array_equal(before, pencil.A)


def test_a_relaxation_travels_without_its_problem():
    here = homogeneous_sdp(pitprops(), 2)
    there = pickle.loads(pickle.dumps(here))
    assert there.upper_bound == here.upper_bound
    assert there.problem is None
    assert np.array_equal(there.X, here.X)
