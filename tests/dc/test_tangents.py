"""Tangents of convex expressions, which equal CVXPY's own gradients."""

import cvxpy as cp
import numpy as np
import pytest

from dcgev_cvx import InvalidParameter
from dcgev_cvx.dc.tangents import NoSubgradient, Tangent

A = np.random.default_rng(0).standard_normal((6, 6))
POSITIVE = A.T @ A


def variables():
    rng = np.random.default_rng(1)
    square = rng.standard_normal((3, 3))
    x = cp.Variable(6, name="x", value=rng.standard_normal(6))
    X = cp.Variable((3, 3), symmetric=True, name="X", value=square @ square.T + np.eye(3))
    return x, X, cp.Variable(name="s", value=0.7)


CONVEX = {
    "quadratic and affine": lambda x, X, s: cp.sum_squares(A @ x) - x[0],
    "two variables": lambda x, X, s: cp.quad_form(x, POSITIVE) + s**2,
    "minus logarithms": lambda x, X, s: -cp.sum(cp.log(x + 5)),
    "norm": lambda x, X, s: cp.norm(x - 1) + 3,
    "nested": lambda x, X, s: cp.square(cp.norm(A @ x)),
    "affine between atoms": lambda x, X, s: cp.max(2 * cp.abs(x) + 1) + cp.exp(s),
    "lambda_max": lambda x, X, s: cp.lambda_max(X),
    "minus log_det": lambda x, X, s: -cp.log_det(X),
    "a vector": lambda x, X, s: cp.hstack([cp.square(s), x[1], cp.norm(X, "fro")]),
    "elementwise": lambda x, X, s: cp.square(x),
    "by rows": lambda x, X, s: cp.norm(X, axis=1),
    "two arguments": lambda x, X, s: 2 * cp.quad_over_lin(x[:3], s + 1),
    "log_sum_exp": lambda x, X, s: cp.log_sum_exp(A @ x),
    "huber": lambda x, X, s: cp.sum(cp.huber(x)),
    "nuclear norm": lambda x, X, s: cp.normNuc(X),
    "matrix_frac": lambda x, X, s: cp.matrix_frac(x[:3], X),
    "sum_largest": lambda x, X, s: cp.sum_largest(X, 2),
    "total variation": lambda x, X, s: cp.tv(x),
    "affine": lambda x, X, s: x + 2,
    "constant": lambda x, X, s: cp.Constant(3.0),
}


@pytest.mark.parametrize("make", CONVEX.values(), ids=CONVEX)
def test_value_and_subgradients_are_cvxpys(make):
    vs = variables()
    e = make(*vs)
    x = np.concatenate([np.ravel(v.value, order="F") for v in vs])
    value, slopes, _ = Tangent(e, vs).at(x)
    blocks = [e.grad.get(v, 0.0) for v in vs]
    blocks = [b.toarray() if hasattr(b, "toarray") else b for b in blocks]
    expected = np.vstack([np.broadcast_to(b, (v.size, e.size)) for v, b in zip(vs, blocks, strict=True)]).T
    assert np.allclose(value, np.ravel(e.value, order="F"), rtol=1e-14)
    assert np.allclose(slopes.toarray(), expected, rtol=1e-12, atol=1e-14)


def test_a_tangent_leaves_the_variables_as_they_are():
    x = cp.Variable(2, value=[1.0, 2.0])
    Tangent(cp.norm(3 * x + 1), [x]).at(np.array([5.0, 6.0]))
    assert x.value.tolist() == [1.0, 2.0]


def test_kinks_have_one_subgradient_that_depends_on_the_point_alone():
    x = cp.Variable(3)
    zero = np.zeros(3)
    assert Tangent(cp.norm1(x), [x]).at(zero)[1].toarray().tolist() == [[0.0, 0.0, 0.0]]
    assert Tangent(cp.norm(x), [x]).at(zero)[1].toarray().tolist() == [[0.0, 0.0, 0.0]]
    largest = Tangent(cp.max(x), [x])
    slopes = [largest.at(np.ones(3))[1].toarray() for _ in range(3)]
    assert slopes[0].sum() == 1.0
    assert all(np.array_equal(slopes[0], other) for other in slopes)


def test_the_largest_absolute_value_which_has_no_gradient_in_cvxpy():
    x = cp.Variable((2, 2))
    value, slopes, _ = Tangent(cp.norm_inf(x) + cp.norm(cp.vec(x, order="F"), "inf"), [x]).at(
        np.array([1.0, -3.0, 2.0, 0.0])
    )
    assert value == [6.0]
    assert slopes.toarray().tolist() == [[0.0, -2.0, 0.0, 0.0]]


def test_an_atom_without_a_gradient_is_named(monkeypatch):
    def missing(self, values):
        raise NotImplementedError

    x = cp.Variable(2)
    monkeypatch.setattr(cp.log_sum_exp, "_grad", missing)
    with pytest.raises(InvalidParameter, match="CVXPY has no gradient of log_sum_exp"):
        Tangent(cp.log_sum_exp(x), [x]).at(np.zeros(2))


@pytest.mark.parametrize("point", [0.0, -1.0])
def test_no_subgradient_outside_the_domain_or_on_its_boundary(point):
    x = cp.Variable()
    with pytest.raises(NoSubgradient, match=r"(?i)power|sqrt"):
        Tangent(-cp.sqrt(x), [x]).at(np.array([point]))


DEPENDENCE = {
    "entry by entry": (lambda x, X: cp.square(x), 6),
    "row by row": (lambda x, X: cp.norm(X, axis=1), 9),
    "column by column, kept": (lambda x, X: cp.max(X, axis=0, keepdims=True), 9),
    "a scalar": (lambda x, X: cp.log_sum_exp(x), 6),
    "an inner maximum": (lambda x, X: cp.square(cp.max(X, axis=0)), 27),
}


@pytest.mark.parametrize(("make", "count"), DEPENDENCE.values(), ids=DEPENDENCE)
def test_slopes_have_the_same_places_at_every_point(make, count):
    x, X, s = variables()
    x.value, X.value = np.abs(x.value), np.abs(X.value)
    tangent = Tangent(make(x, X), [x, X, s])
    rng = np.random.default_rng(2)
    for _ in range(3):
        square = rng.uniform(0.5, 1.5, (3, 3))
        point = np.concatenate([rng.uniform(0.5, 1.5, 6), (square + square.T).ravel(), [0.7]])
        _, jacobian, S = tangent.at(point)
        assert len(S) == count
        rebuilt = tangent.D.toarray() + tangent.K.toarray() @ np.diag(S) @ tangent.L.toarray()
        assert np.allclose(jacobian.toarray(), rebuilt)


def test_a_parameter_in_an_affine_map_has_its_present_value():
    x, p = cp.Variable(2), cp.Parameter(value=3.0)
    value, slopes, _ = Tangent(cp.norm1(p * (p * x)) + p, [x]).at(np.array([1.0, -2.0]))
    assert value == [30.0]
    assert slopes.toarray().tolist() == [[9.0, -9.0]]
