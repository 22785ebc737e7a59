"""Objectives and constraints split into convex parts, or the subexpression named that cannot be split."""

import cvxpy as cp
import numpy as np
import pytest

from dcgev_cvx import InvalidParameter
from dcgev_cvx.dc.splitting import split, split_constraints

A = np.random.default_rng(0).standard_normal((6, 6))
POSITIVE = A.T @ A


def variables():
    rng = np.random.default_rng(1)
    square = rng.standard_normal((3, 3))
    x = cp.Variable(6, name="x", value=rng.standard_normal(6))
    X = cp.Variable((3, 3), symmetric=True, name="X", value=square @ square.T + np.eye(3))
    return x, X, cp.Variable(name="s", value=0.7)


SUMS = {
    "convex": lambda x, X, s: cp.exp(s),
    "concave": lambda x, X, s: cp.sqrt(s),
    "sum": lambda x, X, s: cp.exp(s) + cp.log(s) - 3 * cp.norm(x) + x[0],
    "negative of a sum": lambda x, X, s: -(cp.exp(s) - cp.square(s)),
    "scaled": lambda x, X, s: -2 * (cp.exp(s) - cp.square(s)) / 3,
    "vector": lambda x, X, s: cp.square(x) - cp.abs(x),
    "mixed signs": lambda x, X, s: A @ (cp.square(x) - cp.abs(x)),
    "elementwise factors": lambda x, X, s: cp.multiply(A[0], cp.square(x)),
    "indefinite quadratic": lambda x, X, s: cp.quad_form(x, A + A.T) - cp.exp(s),
    "stacked and summed": lambda x, X, s: cp.sum(cp.hstack([cp.exp(s), -cp.norm(x), s])[:2]),
    "index and reshape": lambda x, X, s: cp.reshape(cp.square(x) - cp.exp(x), (2, 3), order="F")[1, :],
}


@pytest.mark.parametrize("make", SUMS.values(), ids=SUMS)
def test_a_sum_is_the_difference_of_its_two_convex_parts(make):
    vs = variables()
    e = make(*vs)
    u, v = split(e)
    assert u.is_convex()
    assert v.is_convex()
    assert u.shape == v.shape == e.shape
    assert np.allclose(u.value - v.value, e.value, rtol=1e-13)


def test_affine_terms_of_a_concave_sum_stand_in_u():
    x, t = cp.Variable(name="x"), cp.Variable(name="t")
    u, v = split(t - x**2)
    assert u.variables() == [t]
    assert v.variables() == [x]


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda x, s: cp.exp(s) + x[0] * x[1], r"x\[0\] @ x\[1\]|x\[0\] \* x\[1\]"),
        (lambda x, s: cp.square(s) - 2 * cp.exp(cp.sqrt(s)), r"exp\("),
        (lambda x, s: cp.log(cp.exp(s) + 1), r"log\("),
    ],
)
def test_what_cannot_be_split_is_named_with_its_curvature(make, named):
    x, _, s = variables()
    with pytest.raises(InvalidParameter, match=named) as caught:
        split(make(x, s))
    assert "has curvature" in str(caught.value)


def test_a_factor_without_a_sign_is_named():
    s, factor = cp.Variable(name="s"), cp.Parameter(name="factor")
    with pytest.raises(InvalidParameter, match="the factor 'factor' has no known sign"):
        split(cp.exp(s) + factor * cp.square(s))
    u, v = split(cp.exp(s) - cp.Parameter(nonneg=True, value=2.0) * cp.square(s))
    assert u.is_convex()
    assert v.is_convex()


def test_an_equality_gives_its_convex_half_and_a_pair():
    x = cp.Variable(3)
    convex, pairs = split_constraints([x >= 0, cp.norm(x) == 1, cp.norm(x - 1) >= 2])
    assert len(convex) == 2
    assert all(constraint.is_dcp() for constraint in convex)
    assert [(u.is_convex(), v.is_convex()) for u, v in pairs] == [(True, True)] * 2


def test_constraints_that_cannot_be_split():
    x, X = cp.Variable(3, name="x"), cp.Variable((2, 2), symmetric=True, name="X")
    with pytest.raises(InvalidParameter, match="must be CVXPY constraints"):
        split_constraints([True])
    with pytest.raises(InvalidParameter, match=r"PSD constraint .* is not convex"):
        split_constraints([cp.square(X) >> 0])
    with pytest.raises(InvalidParameter, match=r"x\[0\].*x\[1\]"):
        split_constraints([x[0] * x[1] >= 1])
