"""The two QPs of sparse FDA, against their dual bound and wrong multipliers."""

import pickle

import numpy as np
import pytest
from lying_solver import FAULTS, ODD, lie

from dcgev_cvx import Infeasible, SolverFailed
from dcgev_cvx.datasets import two_gaussians
from dcgev_cvx.relaxations import fisher_l1, fisher_l1_penalized


def fisher_data():
    X, y, _ = two_gaussians(20, 3)
    a = X[y == 1.0].mean(axis=0) - X[y == 0.0].mean(axis=0)
    return a, np.cov(X[y == 1.0].T) + np.cov(X[y == 0.0].T)


@pytest.mark.parametrize("factor", [1.0, 1.001, 2.0, 20.0])
def test_l1_fda_is_solved_to_its_dual_bound(factor):
    a, B = fisher_data()
    radius = factor / np.max(np.abs(a))
    qp = fisher_l1(a, B, radius)
    assert a @ qp.x == pytest.approx(1.0)
    assert np.sum(np.abs(qp.x)) <= radius * (1.0 + 1e-9)
    assert qp.lower_bound <= qp.value * (1.0 + 1e-12)
    assert qp.gap.relative < 1e-6
    if factor == 20.0:  # a loose ball: the dense Fisher direction
        assert qp.value == pytest.approx(1.0 / (a @ np.linalg.solve(B, a)), rel=1e-6)


@pytest.mark.parametrize("nu", [0.0, 0.1, 1.0, 10.0])
def test_penalized_l1_fda_is_solved_to_its_dual_bound(nu):
    a, B = fisher_data()
    qp = fisher_l1_penalized(a, B, nu)
    assert a @ qp.x == pytest.approx(1.0)
    assert qp.lower_bound <= qp.value * (1.0 + 1e-12)
    assert qp.gap.relative < 1e-6


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("factor", [1.0, 30.0, 1e5, 1e9])
def test_the_fisher_bound_outlives_any_multiplier(monkeypatch, fault, factor):
    """B with a condition of 1e7: what is proved of the minimum stays below what is attained, whatever β is."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    a, B = rng.standard_normal(5), (Q * np.logspace(-7, 0, 5)) @ Q.T
    radius = 1.5 / np.max(np.abs(a))
    fair = fisher_l1(a, 0.5 * (B + B.T), radius)
    assert fair.gap.relative <= 1e-6

    def spoil(problem):
        for variable in problem.constraints[-1].dual_variables:
            variable._value = factor * FAULTS[fault](variable.value) if fault != "none" else None

    lie(monkeypatch, spoil)
    assert 0.0 <= fisher_l1(a, 0.5 * (B + B.T), radius).lower_bound <= fair.value


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("fault", ODD)
@pytest.mark.parametrize("victim", ["x", "multipliers"])
def test_a_fisher_qp_refuses_or_outlives_what_is_no_number(monkeypatch, victim, fault):
    def spoil(problem):
        multipliers = [v for c in problem.constraints for v in c.dual_variables]
        for variable in problem.variables() if victim == "x" else multipliers:
            variable._value = ODD[fault](variable.value)

    lie(monkeypatch, spoil)
    if victim == "x":
        with pytest.raises(SolverFailed, match="returned no finite vector"):
            fisher_l1([1.0, 0.5], np.eye(2), 1.5)
    else:
        assert 0.0 <= fisher_l1([1.0, 0.5], np.eye(2), 1.5).lower_bound <= 0.8


def test_l1_fda_without_a_feasible_point():
    a, B = fisher_data()
    least = 1.0 / np.max(np.abs(a))
    with pytest.raises(Infeasible, match=f"{least:.6f}"[:6]):
        fisher_l1(a, B, 0.99 * least)
    with pytest.raises(Infeasible, match="a = 0"):
        fisher_l1(np.zeros(20), B, 1.0)


def test_a_fisher_qp_travels_between_processes():
    found = fisher_l1([1.0, 0.5], np.eye(2), 1.2)
    back = pickle.loads(pickle.dumps(found))
    assert np.array_equal(back.x, found.x)
    assert back.gap == found.gap
    assert back.problem is None
    assert found.problem is not None
