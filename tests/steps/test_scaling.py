"""One change of units: nothing is rounded, and answers come back in the user's units."""

import numpy as np
import pytest

from dcgev_cvx import Gram, InvalidPencil, Pencil, SparseFDA
from dcgev_cvx.steps.scaling import Metric, Scaling


def graded(seed=0, n=6):
    rng = np.random.default_rng(seed)
    s = 10.0 ** rng.uniform(-4, 4, n)
    G, H = rng.standard_normal((n, n)), rng.standard_normal((n, 3 * n))
    return Pencil(1e7 * (G + G.T) * np.outer(s, s), (H @ H.T) * np.outer(s, s))


def test_scaled_matrices_are_of_size_one_and_no_bit_is_lost():
    pencil = graded()
    scaling = Scaling.of_pencil(pencil)
    A, B = scaling.objective_form(pencil.dense()[0]), scaling.form(pencil.B)
    assert 0.5 <= np.max(np.abs(A)) < 2.0
    assert np.all((np.diagonal(B) >= 1.0) & (np.diagonal(B) < 4.0))
    assert np.array_equal(scaling.multiplier_form(A), pencil.A)
    assert np.array_equal(scaling.multiplier_form(B) / scaling.o, pencil.B)
    assert np.all(np.frexp(scaling.u)[0] == 0.5)


def test_values_and_answers_come_back():
    pencil = graded(1)
    scaling = Scaling.of_pencil(pencil)
    A, B = scaling.objective_form(pencil.dense()[0]), scaling.form(pencil.B)
    x = np.random.default_rng(2).standard_normal(pencil.n)
    assert pencil.A_quad(scaling.vector(x)) == pytest.approx(scaling.o * (x @ A @ x))
    assert pencil.B_quad(scaling.vector(x)) == pytest.approx(x @ B @ x)
    X = scaling.matrix(np.outer(x, x))
    np.testing.assert_allclose(X, np.outer(scaling.vector(x), scaling.vector(x)))
    assert np.sum(X * pencil.A) == pytest.approx(scaling.o * (x @ A @ x))


@pytest.mark.parametrize("gram", [False, True])
def test_a_scaled_pencil_needs_no_factorization(gram):
    pencil = graded(3)
    if gram:
        pencil = Pencil(Gram(1e3 * np.random.default_rng(0).standard_normal((4, pencil.n))), pencil.B)
    scaling = Scaling.of_pencil(pencil)
    scaled = scaling.pencil(pencil)
    A, B = scaling.objective_form(pencil.dense()[0]), scaling.form(pencil.B)
    assert isinstance(scaled.A, Gram) == gram
    assert scaled.dense()[0] == pytest.approx(A, rel=1e-12, abs=1e-14)
    assert np.array_equal(scaled.B, B)
    assert scaled.cholesky @ scaled.cholesky.T == pytest.approx(B)
    assert scaling.o * scaled.lambda_max == pytest.approx(pencil.lambda_max)


def test_fisher_data_are_of_size_one():
    program = SparseFDA(np.array([3e5, -1e4]), np.diag([1e-9, 3e-9]), nu=0.0)
    scaling = Scaling.of_program(program)
    assert 0.25 <= np.max(np.abs(scaling.vector(program.a))) < 2.0
    assert 0.25 <= np.max(scaling.objective_form(program.pencil.B)) < 4.0


def test_data_that_overflow_are_refused():
    with pytest.raises(InvalidPencil, match="overflows"):
        Scaling.of_pencil(Pencil(np.diag([1e299, 1.0]), np.diag([1e-15, 1.0])))


def test_the_metric_is_that_of_the_scaled_matrix():
    B, v, x = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([2.0, 0.5]), np.array([1.0, -3.0])
    metric, scaled = Metric(Pencil(np.eye(2), B), v), v[:, None] * B * v
    assert metric.norm(x) == pytest.approx(np.sqrt(x @ scaled @ x))
    assert metric.dual_norm(x) == pytest.approx(np.sqrt(x @ np.linalg.solve(scaled, x)))
    assert metric.roots == pytest.approx(np.sqrt(np.diag(scaled)))
    assert metric.dot(x) == pytest.approx(scaled @ x)
    assert metric.matrix() == pytest.approx(scaled)
    assert Metric(Pencil(np.eye(2)), np.ones(2)).matrix() is None


@pytest.mark.parametrize("nu", [0.1, 1e12])
def test_units_of_fisher_programs_follow_those_of_the_data(nu):
    """B and ν in a smaller unit: the same x, and an objective in that unit; a and x too: the same objective."""
    a, B = np.array([3.0, -1.0]), np.array([[2.0, 0.5], [0.5, 1.0]])
    plain = Scaling.of_program(SparseFDA(a, B, nu, 0.1))
    other = Scaling.of_program(SparseFDA(a, 4.0**30 * B, 4.0**30 * nu, 0.1))
    assert (other.u.tolist(), other.o) == (plain.u.tolist(), 4.0**30 * plain.o)
    if nu > 1.0:
        assert plain.o > 1e6 * Scaling.of_program(SparseFDA(a, B, 0.0, 0.1)).o
