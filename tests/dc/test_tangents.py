"""Tangents of convex expressions, which equal CVXPY's own gradients."""

from itertools import product

import cvxpy as cp
import numpy as np
import pytest

from dcgev_cvx import InvalidParameter
from dcgev_cvx.dc.kinks import NoSubgradient
from dcgev_cvx.dc.tangents import Tangent

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
    value, slopes = Tangent(e, vs).at(x)
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
    value, slopes = Tangent(cp.norm_inf(x) + cp.norm(cp.vec(x, order="F"), "inf"), [x]).at(
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


PIECES = {
    "absolute values": (lambda x: cp.norm1(x), 8),
    "a maximum": (lambda x: cp.max(x), 3),
    "a maximum of several": (lambda x: cp.sum(cp.maximum(x, 2 * x, 0)), 27),
    "the two largest": (lambda x: cp.sum_largest(x, 2), 3),
    "a kink inside another atom": (lambda x: cp.square(1 + cp.abs(x[0])), 2),
    "a maximum of absolute values": (lambda x: cp.norm_inf(x), 3 * 8),
    "a smooth function": (lambda x: cp.sum_squares(x), 1),
    "minus a minimum": (lambda x: -cp.min(x), 3),
}


@pytest.mark.parametrize(("make", "most"), PIECES.values(), ids=PIECES)
def test_pieces_lie_below_and_the_highest_touches(make, most):
    x = cp.Variable(3)
    e, rows, lengths, rng = make(x), np.array([0]), np.full(3, 1e-6), np.random.default_rng(0)
    tangent, zero = Tangent(e, [x]), np.zeros(3)
    kinks, seen = tangent.kinks(zero, lengths, rows), set()
    for chosen in product(*(range(len(kink.options)) for kink in kinks)):
        value, slopes = tangent.piece(zero, kinks, lambda i, _, __, chosen=chosen: chosen[i], zero)
        seen.add(tuple(slopes.toarray().ravel()))
        for z in rng.standard_normal((20, 3)):
            x.value = z
            assert value[0] + (slopes @ z)[0] <= e.value + 1e-12
    assert all(kink.complete for kink in kinks)
    assert len(seen) <= most
    assert (len(seen) > 1) == (most > 1)
    for z in rng.standard_normal((20, 3)):
        value, slopes = tangent.piece(zero, kinks, lambda _, kink, w: kink.highest(w), 1e-3 * z)
        x.value = 1e-3 * z
        assert float(value[0] + (slopes @ x.value)[0]) == pytest.approx(float(e.value), abs=2e-5)


def test_pieces_close_to_a_kink_lie_below_too():
    x = cp.Variable()
    e = cp.power(cp.pos(cp.abs(x) - 1) + 1, 1.5)
    tangent, here = Tangent(e, [x]), np.array([1.0 + 1e-7])
    kinks = tangent.kinks(here, np.array([1e-6]), np.array([0]))
    assert len(kinks) == 1
    for piece in range(2):
        value, slopes = tangent.piece(here, kinks, lambda *_, piece=piece: piece, here)
        for z in np.linspace(-2.0, 3.0, 50):
            x.value = z
            assert value[0] + slopes.toarray()[0, 0] * (z - here[0]) <= e.value + 1e-14


def test_a_power_has_slope_zero_at_zero():
    x = cp.Variable()
    value, slopes = Tangent(cp.power(cp.abs(x), 1.5), [x]).at(np.zeros(1))
    assert (value[0], slopes.toarray()[0, 0]) == (0.0, 0.0)


def test_spectral_norms_and_norms_at_zero_are_tried_by_directions():
    X, x = cp.Variable((2, 2)), cp.Variable(2)
    for e, variable in ((cp.normNuc(X), X), (cp.norm(x), x), (cp.sigma_max(X), X)):
        tangent, n = Tangent(e, [variable]), variable.size
        kinks = tangent.kinks(np.zeros(n), np.full(n, 1e-6), np.array([0]))
        assert len(kinks) == 1
        assert not kinks[0].complete
        for piece in range(len(kinks[0].options)):
            value, slopes = tangent.piece(np.zeros(n), kinks, lambda *_, piece=piece: piece, np.zeros(n))
            for z in np.random.default_rng(0).standard_normal((10, n)):
                variable.value = z.reshape(variable.shape, order="F")
                assert value[0] + (slopes @ z)[0] <= e.value + 1e-9


def test_a_parameter_in_an_affine_map_has_its_present_value():
    x, p = cp.Variable(2), cp.Parameter(value=3.0)
    value, slopes = Tangent(cp.norm1(p * (p * x)) + p, [x]).at(np.array([1.0, -2.0]))
    assert value == [30.0]
    assert slopes.toarray().tolist() == [[9.0, -9.0]]


def test_a_kink_under_an_atom_that_is_level_there_does_not_count() -> None:
    """Each of the twenty kinks of |x| at 0 once doubled the pieces of Σ (|xᵢ| − 1)₊."""
    x = cp.Variable(20)
    tangent = Tangent(cp.sum(cp.pos(cp.abs(x) - 1)), [x])
    assert not tangent.kinks(np.zeros(20), np.full(20, 1e-6), np.arange(1))
    assert len(Tangent(cp.sum(cp.abs(x)), [x]).kinks(np.zeros(20), np.full(20, 1e-6), np.arange(1))) == 20
    assert len(tangent.kinks(np.r_[1.0, np.zeros(19)], np.full(20, 1e-6), np.arange(1))) == 1
