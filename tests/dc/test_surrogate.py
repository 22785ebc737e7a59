"""The surrogates of a d.c. program written in CVXPY: above f, compiled once, computed anew for other parameters."""

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.reductions.dcp2cone.dcp2cone import Dcp2Cone

from dcgev_cvx import InvalidParameter
from dcgev_cvx.dc.surrogate import Surrogate, entry_name
from dcgev_cvx.steps.backend import Backend


def parts(weight=1.0):
    x = cp.Variable(2, name="x", value=[0.5, -0.2])
    w = cp.Parameter(nonneg=True, name="w", value=weight)
    u, v = w * cp.sum_squares(x), cp.norm(x - 1)
    return x, w, Surrogate([(u, v)], [cp.abs(x) <= 2], [x])


def test_the_minimum_is_that_of_the_convex_problem_with_the_tangent():
    x, _, surrogate = parts()
    y = np.array([0.5, -0.2])
    at = surrogate.point(y)
    answer = surrogate.minimum(y, 0.0, Backend())
    slope = (y - 1) / np.linalg.norm(y - 1)
    assert at.slopes.toarray() == pytest.approx(slope[None, :])
    assert answer.x == pytest.approx(slope / 2, abs=1e-7)
    assert abs(answer.gap) < 1e-6
    assert x.value.tolist() == [0.5, -0.2]


def test_what_is_kept_belongs_to_the_values_of_the_parameters():
    _, w, surrogate = parts()
    y = np.array([0.5, -0.2])
    first = surrogate.minimum(y, 0.0, Backend())
    assert surrogate.minimum(y, 0.0, Backend()) is first
    w.value = 2.0
    assert surrogate.minimum(y, 0.0, Backend()).x == pytest.approx(first.x / 2, abs=1e-7)
    w.value = None
    with pytest.raises(InvalidParameter, match="parameter w has no value"):
        surrogate.point(y)


def test_a_parameter_inside_v_changes_the_compiled_tangents_of_constraints():
    x, w = cp.Variable(2, name="x", value=[0.5, -0.2]), cp.Parameter(nonneg=True, name="w", value=1.0)
    surrogate = Surrogate([(cp.sum_squares(x), cp.norm(x - 1)), (cp.Constant(1.0), w * cp.norm(3 * x))], [], [x])
    y = np.array([0.5, -0.2])
    for w.value in (1.0, 2.0, 0.5):
        answer = surrogate.minimum(y, 10.0, Backend())
        slope, norm = (y - 1) / np.linalg.norm(y - 1), 3 * w.value * np.linalg.norm(y)
        z, tangent = cp.Variable(2), w.value * 9 * y / np.linalg.norm(3 * y)
        short = cp.pos(1 - norm - tangent @ (z - y))
        cp.Problem(cp.Minimize(cp.sum_squares(z) - slope @ z + 10 * short)).solve(solver="CLARABEL")
        assert answer.x == pytest.approx(z.value, abs=1e-6)


def test_fixed_atoms_give_one_parameter_for_each_of_their_slopes():
    x = cp.Variable(20, name="x", value=np.linspace(-1.0, 1.0, 20))
    C = np.random.default_rng(0).standard_normal((2, 20))
    surrogate = Surrogate([(cp.sum_squares(x), cp.norm(x)), (cp.Constant(1.0), cp.norm(C @ x) + x[0])], [], [x])
    surrogate.minimum(x.value, 1.0, Backend())
    assert surrogate._own["S"].size == 2


def compilations(monkeypatch):
    """A list that grows with each compilation of a problem."""
    calls, original = [], Dcp2Cone.apply
    monkeypatch.setattr(Dcp2Cone, "apply", lambda self, problem: calls.append(1) or original(self, problem))
    return calls


def test_a_maximum_whose_largest_entry_changes_is_compiled_once(monkeypatch):
    calls = compilations(monkeypatch)
    x = cp.Variable(3, name="x")
    surrogate = Surrogate([(cp.sum_squares(x), cp.Constant(0.0)), (cp.Constant(1.0), cp.max(x))], [], [x])
    for i in range(3):
        y = np.eye(3)[i] * 2.0
        assert surrogate.minimum(y, 100.0, Backend()).x == pytest.approx(np.eye(3)[i], abs=1e-6)
    assert len(calls) == 1


def test_a_parameter_is_compiled_once_unless_it_stands_in_v(monkeypatch):
    calls = compilations(monkeypatch)
    x, w = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name="w")
    y = np.array([0.5, -0.2])
    for pairs, expected in (([(w * cp.sum(cp.abs(x)), cp.norm(x))], 1), ([(cp.norm1(x), w * cp.norm(x))], 3)):
        calls.clear()
        surrogate = Surrogate(pairs, [cp.abs(x) <= 2], [x])
        for w.value in (1.0, 2.0, 0.5):
            surrogate.minimum(y, 0.0, Backend())
        assert len(calls) == expected


@pytest.mark.parametrize("name", ["c", "S", "b", "penalty"])
def test_the_users_parameters_may_have_any_name(name):
    x, p = cp.Variable(2, name="x"), cp.Parameter(nonneg=True, name=name, value=3.0)
    surrogate = Surrogate([(p * cp.sum_squares(x), cp.norm(x)), (cp.Constant(0.1), cp.norm(x))], [], [x])
    answer = surrogate.minimum(np.array([1.0, 0.0]), 1.0, Backend())
    assert answer.x == pytest.approx([1 / 6, 0.0], abs=1e-6)
    assert p.value == 3.0


def test_the_bound_is_below_the_minimum_by_the_duality_gap():
    _, _, surrogate = parts()
    y = np.array([0.5, -0.2])
    answer, at = surrogate.minimum(y, 0.0, Backend()), surrogate.point(y)
    z = answer.x
    g = z @ z - (at.v[0] + at.slopes.toarray()[0] @ (z - y))
    assert answer.lowest + answer.gap == pytest.approx(g, abs=1e-9)
    assert np.isnan(surrogate.minimum(y, 0.0, Backend("SCS")).gap)


def test_entries_have_names():
    variables = [cp.Variable(name="s"), cp.Variable(2, name="x"), cp.Variable((2, 2), name="X")]
    assert [entry_name(variables, i) for i in range(7)] == [
        "s",
        "x[0]",
        "x[1]",
        "X[0, 0]",
        "X[1, 0]",
        "X[0, 1]",
        "X[1, 1]",
    ]
