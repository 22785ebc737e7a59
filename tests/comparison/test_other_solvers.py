"""dccp and UNO on any problem: what they reach, or why there is nothing."""

import cvxpy as cp
import pytest

from dcgev_cvx.comparison import other_solvers


def problem():
    x = cp.Variable(2, value=[0.2, 0.1])
    return x, cp.Problem(cp.Maximize(cp.norm(x)), [cp.abs(x) <= 1])


def test_packages_that_are_absent_are_said_so(monkeypatch):
    monkeypatch.setattr(other_solvers, "find_spec", lambda name: None)
    assert other_solvers.reached_by_others(problem()[1]) == {"dccp": "not installed", "UNO": "not installed"}


def test_a_failure_is_the_answer_and_the_values_stay(monkeypatch):
    def failing(*_, **__):
        raise other_solvers.SolverFailed("ran away")

    monkeypatch.setattr(other_solvers, "find_spec", lambda name: object())
    monkeypatch.setattr(other_solvers, "import_module", lambda name: None)
    monkeypatch.setattr("dcgev_cvx.steps.backend.foreign", failing)
    x, asked = problem()
    found = other_solvers.reached_by_others(asked)
    assert found["dccp"] == found["UNO"] == "no answer: 'ran away'"
    assert x.value.tolist() == [0.2, 0.1]


def test_dccp_reaches_the_corner():
    pytest.importorskip("dccp")
    value, violation = other_solvers.reached_by_others(problem()[1])["dccp"].split(", violation ")
    assert float(value) == pytest.approx(2**0.5, rel=1e-3)
    assert float(violation) < 1e-3
