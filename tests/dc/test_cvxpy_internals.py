"""The undocumented parts of CVXPY give what its documented interface gives, in every supported version."""

import cvxpy as cp
import numpy as np
import pytest

from dcgev_cvx import Backend, DCProgram
from dcgev_cvx.dc import cvxpy_internals, surrogate
from dcgev_cvx.dc.cvxpy_internals import affine_map, gradient, public_affine_map


def test_affine_maps_by_both_ways():
    x, X = cp.Variable(3), cp.Variable((2, 2))
    p = cp.Parameter(value=2.0)
    for e in (p * x + 1, cp.cumsum(x), X @ np.array([1.0, 2.0]), X.T - 3, cp.trace(X), cp.Constant(2.0) * x[1]):
        ours, theirs = affine_map([e], [x, X]), public_affine_map([e], [x, X])
        assert np.allclose(ours[0].toarray(), theirs[0].toarray())
        assert np.allclose(ours[1], theirs[1])


@pytest.mark.parametrize("make", [cp.exp, cp.log_sum_exp, cp.sum_squares, cp.norm2, cp.sum_largest])
def test_gradients_by_both_ways(make):
    x = cp.Variable(4, value=[0.3, 0.2, -0.1, 0.5])
    e = make(x, 2) if make is cp.sum_largest else make(x)
    here, there = gradient(e)[x], e.grad[x]
    assert np.allclose(getattr(here, "toarray", lambda: here)(), getattr(there, "toarray", lambda: there)())


def ring():
    x = cp.Variable(3, value=[0.5, 0.2, 0.1])
    return DCProgram(cp.sum_squares(x - 1), cp.norm1(x), [cp.norm(x) >= 1, x <= 2])


def test_the_compiled_surrogate_has_the_minimum_of_the_definition():
    program = ring().with_penalty(1.0, np.array([0.5, 0.2, 0.1]))
    y = np.array([0.5, 0.2, 0.1])
    compiled = program.minimum(y, Backend())
    other = program.minimum(y, Backend("SCS"))  # any other solver gets the problem that `linearized` writes
    assert compiled.x == pytest.approx(other.x, abs=1e-5)
    assert compiled.value == pytest.approx(other.value, abs=1e-5)


@pytest.mark.parametrize("missing", ["compiler", "offset"])
def test_without_an_internal_part_the_documented_way_gives_the_same(missing, monkeypatch):
    expected = ring().minimize()
    monkeypatch.setattr(cvxpy_internals, missing, lambda *_: None)
    if missing == "offset":
        monkeypatch.setattr(surrogate, missing, lambda *_: None)
    found = ring().minimize()
    assert found.converged
    assert found.f == pytest.approx(expected.f, abs=1e-6)
