"""Variational renormalization: the best loadings on a given support."""

from fractions import Fraction

import numpy as np
import pytest
import referee
from hypothesis import given
from hypothesis import strategies as st

from dcgev_cvx import Gram, InvalidParameter, InvalidPencil, Pencil, renormalize
from dcgev_cvx.certificates import on_support, value


@given(st.integers(0, 1000), st.integers(1, 7), st.sampled_from([None, 10.0, 1e4]), st.booleans())
def test_value_never_falls_and_is_the_best_of_its_support(seed, n, cond, indefinite):
    A, B = referee.random_pencil(seed, n, cond=cond, indefinite=indefinite)
    pencil, x = Pencil(A, B), referee.start(seed, B, n, zeros=seed % n)
    z = renormalize(pencil, x)
    support = np.flatnonzero(x)
    best, _ = referee.best_subset(A[np.ix_(support, support)], pencil.B_sub(support), len(support))
    size = max(1.0, abs(pencil.lambda_max))
    assert np.all(z[x == 0] == 0.0)
    assert pencil.B_norm(z) == pytest.approx(1.0, abs=1e-10)
    assert value(pencil, z) >= value(pencil, x) - 1e-10 * size
    assert value(pencil, z) == pytest.approx(best, abs=1e-9 * size)
    assert pencil.B_dot(z) @ x >= 0


def test_a_full_support_gives_the_leading_vector():
    A, B = referee.random_pencil(1, 5, cond=10.0)
    pencil = Pencil(A, B)
    assert renormalize(pencil, pencil.leading_vector) == pytest.approx(pencil.leading_vector, abs=1e-12)
    assert renormalize(pencil, -pencil.leading_vector) == pytest.approx(-pencil.leading_vector, abs=1e-12)
    assert on_support(pencil, np.array([2])) == pytest.approx(np.eye(5)[2] / np.sqrt(B[2, 2]))


def test_zero_has_no_support():
    with pytest.raises(InvalidParameter, match="x = 0 has no support to renormalize on"):
        renormalize(Pencil(np.eye(3)), np.zeros(3))
    with pytest.raises(InvalidParameter, match="x must have length 3"):
        renormalize(Pencil(np.eye(3)), np.ones(2))


def test_the_input_is_left_alone():
    x = np.array([0.6, 0.0, 0.8])
    renormalize(Pencil(np.diag([1.0, 2.0, 3.0])), x)
    assert np.array_equal(x, [0.6, 0.0, 0.8])


def quotient(pencil, x):
    """xᵀAx/xᵀBx of the numbers as they are, and as a fraction."""
    z = [Fraction(float(entry)) for entry in x]

    def quad(M):
        return sum(z[i] * z[j] * Fraction(float(M[i, j])) for i in range(len(z)) for j in range(len(z)))

    if isinstance(pencil.A, Gram):
        above = sum(sum(Fraction(float(c)) * t for c, t in zip(row, z, strict=True)) ** 2 for row in pencil.A.C)
    else:
        above = quad(pencil.A)
    return above / quad(pencil.dense()[1])


@pytest.mark.parametrize("kind", ["dense", "factor", "near B", "denormal"])
@pytest.mark.parametrize("cond", [1e2, 1e8, 1e12, 1e14])
def test_a_value_is_that_of_its_vector_however_b_is_conditioned(kind, cond):
    """At cond(B) = 1e12 xᵀBx lost four digits: values stood above proved bounds, and the gap looked closed."""
    for seed in range(5):
        A, B = referee.random_pencil(seed, 6, cond=cond)
        if kind == "near B":
            A = B + 1e-10 * A
        if kind == "denormal":
            A, B = 1e-316 * A, 1e-18 * B
        pencil = Pencil(Gram(A) if kind == "factor" else A, B)
        x = pencil.leading_vector
        exact = quotient(pencil, x)
        assert abs(Fraction(value(pencil, x)) / exact - 1) <= 1e-11


def test_a_part_of_a_pencil_is_not_refused():
    """Its eigenvalues may be too small to be the whole of a pencil."""
    pencil = Pencil(np.diag([1.0, 1e-310, 1e-310]), np.eye(3))
    assert on_support(pencil, np.array([1, 2])) @ np.ones(3) == pytest.approx(1.0)
    assert value(pencil, on_support(pencil, np.array([1]))) == 1e-310


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("x", [[1.0, -1.0], [1e155, -1e155]])
def test_a_value_beyond_floating_point_is_refused(x):
    pencil = Pencil(np.diag([1e299, 1e298]), [[1.0, 1.0 - 1e-12], [1.0 - 1e-12, 1.0]])
    with pytest.raises(InvalidPencil, match=r"overflows: divide A by 1e100"):
        value(pencil, np.array(x))
    assert value(Pencil(np.diag([1e199, 1e198]), pencil.B), np.array(x)) == pytest.approx(5.5e210, rel=1e-3)
