"""A pencil is validated once, keeps its own copy and knows its extreme eigenvalues."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
import referee
import scipy.linalg
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from dcgev_cvx import Gram, InvalidPencil, Pencil
from dcgev_cvx._numerics.factors import Factor
from dcgev_cvx._numerics.spectra import positive, power_of_four, power_of_two


def test_arrays_are_copied_symmetric_and_read_only():
    A, B = referee.random_pencil(0, 5, cond=10.0)
    A[0, 1] += 1e-12
    before = A.copy(), B.copy()
    pencil = Pencil(A, B)
    assert np.array_equal(pencil.A, pencil.A.T)
    assert not pencil.A.flags.writeable
    assert not pencil.B.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        pencil.A[0, 0] = 1.0
    A[:] = 0.0
    assert np.allclose(pencil.A, before[0])
    assert np.array_equal(B, before[1])


@pytest.mark.parametrize("cond", [None, 10.0, 1e4, 1e8])
@pytest.mark.parametrize("indefinite", [False, True])
def test_extreme_eigenvalues_are_scipys(cond, indefinite):
    A, B = referee.random_pencil(3, 8, cond=cond, indefinite=indefinite)
    pencil = Pencil(A, B)
    values = scipy.linalg.eigh(A, B, eigvals_only=True)
    tol = 1e-14 * max(abs(values)) * (1.0 if cond is None else cond)
    assert pencil.lambda_max == pytest.approx(values[-1], abs=tol)
    assert pencil.lambda_min == pytest.approx(values[0], abs=tol)
    assert pencil.lambda_min_A == pytest.approx(np.linalg.eigvalsh(A)[0], abs=1e-13)
    x = pencil.leading_vector
    assert pencil.B_norm(x) == pytest.approx(1.0, abs=1e-9)
    assert x[np.argmax(np.abs(x))] > 0
    assert pencil.A_quad(x) == pytest.approx(values[-1], rel=1e-8)


def test_products_and_submatrices():
    A, B = referee.random_pencil(1, 6, cond=50.0)
    pencil, x = Pencil(A, B), np.arange(6.0)
    support = np.array([0, 3, 5])
    assert pencil.A_quad(x) == pytest.approx(x @ A @ x, rel=1e-14)
    assert pencil.B_quad(x) == pytest.approx(x @ B @ x, rel=1e-14)
    assert pencil.B_norm(x) == pytest.approx(math.sqrt(x @ B @ x), rel=1e-14)
    assert np.array_equal(pencil.A_sub(support), pencil.A[np.ix_(support, support)])
    assert np.array_equal(pencil.B_sub(support), pencil.B[np.ix_(support, support)])
    assert np.allclose(pencil.cholesky @ pencil.cholesky.T, B, rtol=0, atol=1e-15)
    assert np.allclose(B @ pencil.B_solve(x), x, rtol=1e-12)
    assert np.array_equal(pencil.dense()[1], pencil.B)


def test_identity_metric_is_never_formed():
    pencil = Pencil(np.diag([3.0, 1.0]))
    x = np.array([3.0, 4.0])
    assert pencil.B is None
    assert pencil.cholesky is None
    assert pencil.B_norm(x) == 5.0
    assert np.array_equal(pencil.B_dot(x), x)
    assert np.array_equal(pencil.B_solve(x), x)
    assert np.array_equal(pencil.B_sub(np.array([0, 1])), np.eye(2))
    assert np.array_equal(pencil.dense()[1], np.eye(2))


@pytest.mark.parametrize("shape", [(3, 7), (7, 3), (1, 5), (5, 1), (4, 4)])
@pytest.mark.parametrize("metric", [False, True])
def test_gram_is_its_matrix(shape, metric):
    rng = np.random.default_rng(5)
    C = rng.standard_normal(shape)
    n = shape[1]
    B = referee.random_pencil(2, n, cond=5.0)[1] if metric else None
    by_factor, by_matrix = Pencil(Gram(C), B), Pencil(C.T @ C, B)
    x, support = rng.standard_normal(n), np.arange(0, n, 2)
    gram = by_factor.A
    assert gram.shape == (n, n)
    assert np.allclose(gram @ x, C.T @ C @ x)
    assert gram.trace() == pytest.approx(np.trace(C.T @ C))
    assert np.allclose(gram.diagonal(), np.diag(C.T @ C))
    assert np.allclose(by_factor.A_sub(support), by_matrix.A_sub(support))
    assert by_factor.A_scale == pytest.approx(by_matrix.A_scale)
    assert by_factor.lambda_max == pytest.approx(by_matrix.lambda_max)
    assert by_factor.lambda_min == pytest.approx(by_matrix.lambda_min, abs=1e-12)
    assert by_factor.lambda_min_A == 0.0
    assert np.allclose(by_factor.leading_vector, by_matrix.leading_vector, atol=1e-10)


def test_zero_factor_has_a_leading_vector_all_the_same():
    pencil = Pencil(Gram(np.zeros((2, 4))))
    assert pencil.lambda_max == 0.0
    assert np.linalg.norm(pencil.leading_vector) == 1.0


@pytest.mark.parametrize("size", [1e-150, 1e-6, 1e6, 1e150])
def test_eigenvalues_scale_with_the_data(size):
    A, B = referee.random_pencil(4, 6, cond=20.0)
    plain, scaled = Pencil(A, B), Pencil(A * size, B / size**0.5)
    assert scaled.lambda_max == pytest.approx(plain.lambda_max * size**1.5, rel=1e-12)
    assert scaled.lambda_min_A == pytest.approx(plain.lambda_min_A * size, rel=1e-9)


@given(st.integers(-1000, 1000), st.floats(0.5, 1.0, exclude_max=True))
def test_units_are_exact_powers(exponent, mantissa):
    size = math.ldexp(mantissa, exponent)
    two, four = power_of_two(size), power_of_four(size)
    assert math.frexp(two)[0] == 0.5
    assert math.frexp(math.sqrt(four))[0] == 0.5
    assert 1.0 <= two / size <= 2.0
    assert 0.25 <= four / size <= 2.0
    assert power_of_two(0.0) == power_of_four(0.0) == 1.0


def test_sign_of_an_eigenvector_is_fixed():
    assert np.array_equal(positive(np.array([1.0, -2.0])), [-1.0, 2.0])
    assert np.array_equal(positive(np.array([-1.0, 2.0])), [-1.0, 2.0])


def test_names_travel():
    frame = pd.DataFrame(np.diag([2.0, 1.0]), columns=["height", "width"])
    pencil = Pencil(frame)
    assert pencil.names == ("height", "width")
    assert pencil.name(1) == "width"
    assert Pencil(np.eye(2)).name(1) == "x2"
    assert Pencil(frame, names=["p", "q"]).names == ("p", "q")
    assert pickle.loads(pickle.dumps(pencil)).names == pencil.names
    with pytest.raises(InvalidPencil, match="3 names were given for 2 variables"):
        Pencil(np.eye(2), names=["a", "b", "c"])


def test_repr_says_what_it_is():
    assert repr(Pencil(np.eye(3))) == "Pencil(n=3, A dense, B identity)"
    assert repr(Pencil(Gram(np.ones((2, 3))), np.eye(3))) == "Pencil(n=3, A Gram, B dense)"
    assert repr(Gram(np.ones((2, 3)))) == "Gram(C of shape 2×3)"


def test_gram_pickles():
    gram = pickle.loads(pickle.dumps(Gram(np.arange(6.0).reshape(2, 3))))
    assert np.array_equal(gram.C, np.arange(6.0).reshape(2, 3))
    assert not gram.C.flags.writeable


def test_sparse_matrices_are_densified():
    A = scipy.sparse.csr_array(np.diag([1.0, 2.0, 3.0]))
    assert Pencil(A).lambda_max == pytest.approx(3.0)


def test_singular_B_is_refused_with_its_eigenvalue_and_a_ridge():
    with pytest.raises(InvalidPencil, match=r"smallest eigenvalue is -3 \(largest 1\). Add a ridge, e.g. B \+ 3·I"):
        Pencil(np.eye(2), np.diag([1.0, -3.0]))
    with pytest.raises(InvalidPencil, match="smallest eigenvalue is 0"):
        Pencil(np.eye(2), np.diag([1.0, 0.0]))
    with pytest.raises(InvalidPencil, match="not positive definite to working precision"):
        Pencil(np.eye(2), np.diag([1.0, 1e-18]))
    with pytest.raises(InvalidPencil, match="smallest eigenvalue is 0"):
        Pencil(np.eye(2), np.zeros((2, 2)))


def test_the_suggested_ridge_mends_it():
    B = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(InvalidPencil) as caught:
        Pencil(np.eye(2), B)
    ridge = float(str(caught.value).split("B + ")[1].split("·")[0])
    assert ridge == pytest.approx(1.0, rel=1e-3)
    Factor.of(B + 1.001 * ridge * np.eye(2))


@pytest.mark.parametrize("cond", [1e2, 1e8, 1e12])
def test_ill_conditioned_B_is_accepted_while_it_can_be_factored(cond):
    A, B = referee.random_pencil(0, 6, cond=cond)
    assert Pencil(A, B).cholesky is not None


def test_asymmetry_is_measured():
    A = np.eye(3)
    A[0, 2] = 0.25
    with pytest.raises(InvalidPencil, match=r"A is not symmetric: max \|A - Aᵀ\| = 0.25 where max \|A\| = 1"):
        Pencil(A)
    with pytest.raises(InvalidPencil, match=r"max \|B - Bᵀ\| = 0.25"):
        Pencil(np.eye(3), A)
    A[0, 2] = 1e-9
    assert Pencil(A).A[0, 2] == Pencil(A).A[2, 0] == 5e-10


def test_single_precision_may_be_a_little_asymmetric():
    A = np.eye(3, dtype=np.float32)
    A[0, 2] = 1e-6
    assert Pencil(A).A[0, 2] == pytest.approx(5e-7, rel=1e-6)


@pytest.mark.parametrize("few", [True, False])
def test_inner_products_touch_what_they_need(few):
    rng = np.random.default_rng(0)
    C = rng.standard_normal((7, 240))
    u, v = rng.standard_normal((2, 240))
    if few:
        u[5:] = 0.0
        v[:230] = 0.0
    expected = u @ (C.T @ C) @ v
    for A in (Gram(C), C.T @ C):
        assert Pencil(A).A_inner(u, v) == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("size", [1e160, 1e-160])
def test_factors_whose_square_is_no_number(size):
    with pytest.raises(InvalidPencil, match="its square leaves the range of doubles"):
        Gram(np.full((2, 3), size))


def test_labels_in_another_order_are_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(2.0 * np.eye(3), index=list("abc"), columns=list("abc"))
    assert Pencil(frame, frame).names == ("a", "b", "c")
    assert Pencil(frame.reset_index(drop=True)).names == ("a", "b", "c")
    with pytest.raises(InvalidPencil, match="the rows of A have the same labels in another order"):
        Pencil(frame.set_axis(list("bac")))
    turned = frame.loc[list("cba"), list("cba")]
    with pytest.raises(InvalidPencil, match="the columns of A and the columns of B have the same labels"):
        Pencil(frame, turned)
