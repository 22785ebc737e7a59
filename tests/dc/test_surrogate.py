"""The surrogates of a d.c. program: the compiled rows of numbers equal the definition, and bounds hold."""

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.reductions.dcp2cone.dcp2cone import Dcp2Cone
from random_programs import random_program

from dcgev_cvx import DCProgram
from dcgev_cvx.dc.surrogate import entry_name
from dcgev_cvx.steps.backend import Backend


@pytest.mark.parametrize("seed", range(8))
def test_the_compiled_surrogate_is_the_definition(seed):
    program = random_program(seed)
    y = program.start() if not program.dc_constraints else program.values()[0]
    program = program.with_penalty(2.0, y) if program.dc_constraints else program
    answer = program.minimum(y, Backend())
    definition = program._surrogate.linearized(program.point(y), y, program.weights)
    definition.solve(solver="CLARABEL")
    assert answer.value == pytest.approx(definition.value, abs=1e-6)
    assert answer.lowest <= definition.value + 1e-7
    assert answer.lowest == pytest.approx(definition.value, abs=1e-5)


VARIABLES = {
    "symmetric": lambda: cp.Variable((2, 2), symmetric=True, value=np.eye(2)),
    "PSD": lambda: cp.Variable((2, 2), PSD=True, value=np.eye(2)),
    "diagonal": lambda: cp.Variable((2, 2), diag=True),
    "nonneg": lambda: cp.Variable((2, 2), nonneg=True, value=np.ones((2, 2))),
    "bounds": lambda: cp.Variable((2, 2), bounds=[-1.0, 2.0], value=np.ones((2, 2))),
}


@pytest.mark.parametrize("make", VARIABLES.values(), ids=VARIABLES)
def test_variables_with_attributes(make):
    X = make()
    if X.value is None:
        X.save_value(np.array([[0.0, 0.0], [0.0, 1.0]]))
    result = DCProgram(cp.sum_squares(X - 1), cp.norm(X, "fro")).minimize()
    assert result.converged


@pytest.mark.filterwarnings("ignore")
def test_a_bound_holds_for_a_bad_dual_point():
    program = random_program(0)
    y = program.start()
    answer = program.minimum(y, Backend())
    rng = np.random.default_rng(0)
    for _ in range(20):
        z = answer.conic.scaled_z * rng.uniform(0.5, 1.5, len(answer.conic.scaled_z))
        bad = type(answer.conic)(**{**vars(answer.conic), "scaled_z": z})
        assert bad.lower_bound(answer.reach) <= answer.conic.value + 1e-9


def test_compiled_once_for_all_steps(monkeypatch):
    calls, original = [], Dcp2Cone.apply
    monkeypatch.setattr(Dcp2Cone, "apply", lambda self, problem: calls.append(1) or original(self, problem))
    x = cp.Variable(3, name="x", value=[0.3, 0.2, 0.1])
    program = DCProgram(cp.sum_squares(x), cp.norm(x), [cp.max(x) >= 1])
    program.minimize()
    assert len(calls) == 1


def test_entries_have_names():
    variables = [cp.Variable(name="s"), cp.Variable(2, name="x"), cp.Variable((2, 2), name="X")]
    expected = ["s", "x[0]", "x[1]", "X[0, 0]", "X[1, 0]", "X[0, 1]", "X[1, 1]"]
    assert [entry_name(variables, i) for i in range(7)] == expected
