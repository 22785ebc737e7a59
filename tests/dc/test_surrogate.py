"""The surrogates of a d.c. program written in CVXPY: above f, compiled once, computed anew for other parameters."""

import cvxpy as cp
import numpy as np
import pytest

from dcgev_cvx import InvalidParameter
from dcgev_cvx.dc.surrogate import Surrogate
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
