"""problem.solve(method="dc"), as users of dccp call it."""

import subprocess
import sys

import cvxpy as cp
import numpy as np
import pytest

import dcgev_cvx


def farthest(value=None):
    x = cp.Variable(2, name="x", value=value)
    return cp.Problem(cp.Maximize(cp.norm(x - 0.2)), [cp.abs(x) <= 1]), x


def test_value_status_and_variables_are_set(capsys):
    problem, x = farthest([0.1, 0.0])
    value = problem.solve(method="dc", verbose=True, time_limit=30)
    assert value == problem.value == pytest.approx(np.sqrt(2) * 1.2, abs=1e-6)
    assert problem.status == "converged: d-stationary, f has no direction of descent"
    assert np.allclose(np.abs(x.value), 1.0, atol=1e-6)
    assert capsys.readouterr().out.startswith("step    0   f = ")


def test_a_variable_without_a_value_gets_a_random_start():
    problem, x = farthest()
    problem.solve(method="dc", random_state=3)
    assert problem.status.startswith("converged")
    assert np.allclose(np.abs(x.value), 1.0, atol=1e-6)


def test_infeasible_and_unbounded_problems_have_cvxpys_status():
    x = cp.Variable(value=1.0)
    for problem, status, value in (
        (cp.Problem(cp.Minimize(x**2 - cp.abs(x)), [x >= 1, x <= 0]), cp.INFEASIBLE, np.inf),
        (cp.Problem(cp.Maximize(cp.abs(x))), cp.UNBOUNDED, np.inf),
    ):
        assert problem.solve(method="dc") == value
        assert problem.status == status


def test_an_option_that_the_solver_does_not_know():
    with pytest.raises(dcgev_cvx.InvalidParameter, match="'colour' is no option of CLARABEL"):
        farthest([0.1, 0.0])[0].solve(method="dc", colour=3)


@pytest.mark.parametrize("first", ["cvxpy", "dcgev_cvx"])
def test_the_method_is_known_whichever_package_is_imported_first(first):
    second = {"cvxpy": "dcgev_cvx", "dcgev_cvx": "cvxpy"}[first]
    code = f"import {first}, {second}; print('dc' in __import__('cvxpy').Problem.REGISTERED_SOLVE_METHODS)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "True\n"
