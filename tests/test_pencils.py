"""A pencil is checked once and knows its extreme eigenpairs; PCA, CCA and FDA agree with NumPy and scikit-learn."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest
import referee
import scipy.linalg
import scipy.sparse
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh

from dcgev_cvx import (
    Gram,
    InvalidParameter,
    InvalidPencil,
    Pencil,
    cca_pencil,
    fda_pencil,
    fda_vectors,
    least_squares_form,
    pca_pencil,
)
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
    with pytest.raises(InvalidPencil, match=r"names = .* must list 2 names, one per variable"):
        Pencil(np.eye(2), names=["a", "b", "c"])


def test_repr_says_what_it_is():
    assert repr(Pencil(np.eye(3))) == "Pencil(n=3, A dense, B identity)"
    assert repr(Pencil(Gram(np.ones((2, 3))), np.eye(3))) == "Pencil(n=3, A Gram, B dense)"
    assert repr(Gram(np.ones((2, 3)))) == "Gram(C of shape 2×3)"


def test_gram_pickles():
    gram = pickle.loads(pickle.dumps(Gram(np.arange(6.0).reshape(2, 3))))
    assert np.array_equal(gram.C, np.arange(6.0).reshape(2, 3))
    with pytest.raises(ValueError, match="read-only"):
        gram.C[0] = 1.0


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
    with pytest.raises(InvalidPencil, match="its rows have the same labels in another order"):
        Pencil(frame.set_axis(list("bac")))
    turned = frame.loc[list("cba"), list("cba")]
    with pytest.raises(InvalidPencil, match="the columns of A and the columns of B have the same labels"):
        Pencil(frame, turned)


common = settings(derandomize=True, deadline=None, max_examples=25)
seeds = st.integers(0, 10_000)


def data(seed, m=30, n=6):
    return np.random.default_rng(seed).standard_normal((m, n)) * np.arange(1, n + 1)


# --- PCA


def test_pca_is_the_covariance_divided_by_m():
    X = data(0)
    A, B = pca_pencil(X).dense()
    np.testing.assert_allclose(A, np.cov(X.T, bias=True), atol=1e-13)
    assert np.array_equal(B, np.eye(6))


def test_pca_scaled_is_the_correlation():
    np.testing.assert_allclose(pca_pencil(data(0), scale=True).A, np.corrcoef(data(0).T), atol=1e-13)


def test_pca_uncentred_is_the_second_moment():
    X = data(0) + 5
    np.testing.assert_allclose(pca_pencil(X, center=False).A, X.T @ X / 30, rtol=1e-13)


@pytest.mark.parametrize("scale", [False, True])
def test_pca_keeps_the_factor_when_that_is_smaller(scale):
    X = data(1, 5, 12)
    pencil = pca_pencil(X, scale=scale)
    assert isinstance(pencil.A, Gram)
    assert pencil.A.C.shape == (5, 12)
    expected = np.corrcoef(X.T) if scale else np.cov(X.T, bias=True)
    np.testing.assert_allclose(pencil.A.toarray(), expected, atol=1e-12)


@pytest.mark.parametrize(("m", "factor"), [(11, True), (12, False), (13, False)])
def test_pca_forms_the_smaller_of_the_two(m, factor):
    assert isinstance(pca_pencil(data(1, m, 12)).A, Gram) is factor


def test_pca_never_forms_a_wide_covariance():
    pencil = pca_pencil(np.random.default_rng(0).standard_normal((20, 30_000)))
    assert pencil.n == 30_000
    assert pencil.lambda_max > 0


def test_pca_takes_frames_and_sparse_matrices():
    X = data(2)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    assert pca_pencil(frame).names == tuple("abcdef")
    np.testing.assert_array_equal(pca_pencil(frame).A, pca_pencil(X).A)
    for kind in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        np.testing.assert_allclose(pca_pencil(kind(X)).A, pca_pencil(X).A, atol=1e-14)


def test_a_constant_column_is_harmless_without_scaling_and_named_with_it():
    frame = pd.DataFrame(data(3), columns=list("abcdef")).assign(c=0.1)
    assert pca_pencil(frame).A[2, 2] == pytest.approx(0.0, abs=1e-30)
    with pytest.raises(InvalidParameter, match=r"constant column\(s\): 'c'.*scale=False"):
        pca_pencil(frame, scale=True)


def test_data_without_variance():
    with pytest.raises(InvalidParameter, match="every column is constant"):
        pca_pencil(np.ones((5, 3)))


@common
@given(seeds, st.booleans(), st.sampled_from([(30, 5), (4, 9)]))
def test_pca_permutes_flips_and_scales(seed, scale, shape):
    X = data(seed, *shape)
    rng = np.random.default_rng(seed)
    order, signs = rng.permutation(shape[1]), rng.choice([-1.0, 1.0], shape[1])
    A = pca_pencil(X, scale=scale).dense()[0]
    np.testing.assert_allclose(pca_pencil(X[:, order], scale=scale).dense()[0], A[np.ix_(order, order)], atol=1e-11)
    flipped = pca_pencil(X * signs, scale=scale).dense()[0]
    np.testing.assert_allclose(flipped, A * np.outer(signs, signs), atol=1e-11)
    bigger = pca_pencil(4.0 * X, scale=scale).dense()[0]
    np.testing.assert_allclose(bigger, A if scale else 16.0 * A, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(pca_pencil(X + 100.0, scale=scale).dense()[0], A, atol=1e-9)


def test_inputs_are_not_modified():
    X, y = data(4), np.repeat([0, 1], 15)
    X.flags.writeable = False
    copy = X.copy()
    pca_pencil(X, scale=True), cca_pencil(X, X[:, :2] ** 2), fda_pencil(X, y)
    assert np.array_equal(X, copy)


# --- CCA


def test_cca_value_is_the_canonical_correlation():
    rng = np.random.default_rng(5)
    Z = rng.standard_normal((80, 1))
    X, Y = Z + rng.standard_normal((80, 4)), Z + rng.standard_normal((80, 3))
    pencil = cca_pencil(X, Y)
    Qx, Qy = (np.linalg.qr(V - V.mean(0))[0] for V in (X, Y))
    assert pencil.lambda_max == pytest.approx(np.linalg.svd(Qx.T @ Qy)[1][0], abs=1e-12)
    x = pencil.leading_vector
    assert np.corrcoef(X @ x[:4], Y @ x[4:])[0, 1] == pytest.approx(pencil.lambda_max, abs=1e-12)
    assert pencil.blocks == (4, 3)
    assert pencil.names == ("x1", "x2", "x3", "x4", "y1", "y2", "y3")


def test_cca_blocks_are_the_covariances_plus_ridge():
    X, Y = data(6), data(7, 30, 3)
    A, B = cca_pencil(X, Y, ridge=0.5).dense()
    joint = np.cov(np.hstack([X, Y]).T, bias=True)
    np.testing.assert_allclose(A[:6, 6:], joint[:6, 6:], atol=1e-12)
    assert not A[:6, :6].any()
    assert not A[6:, 6:].any()
    np.testing.assert_allclose(B[:6, :6], joint[:6, :6] + 0.5 * np.eye(6), atol=1e-12)
    assert not B[:6, 6:].any()


def test_cca_with_more_variables_than_samples():
    X, Y = data(8, 20, 50), data(9, 20, 40)
    assert 0.9 < cca_pencil(X, Y, ridge=0.1).lambda_max < 1.0
    with pytest.raises(InvalidPencil, match="20 samples cannot span 50 variables"):
        cca_pencil(X, Y)


def test_blocks_survive_pickling_and_are_checked():
    pencil = cca_pencil(data(6), data(7, 30, 3))
    assert pickle.loads(pickle.dumps(pencil)).blocks == (6, 3)
    with pytest.raises(InvalidPencil, match=r"blocks = \(2, 2\).*add up to n = 3"):
        Pencil(np.eye(3), blocks=(2, 2))
    with pytest.raises(InvalidPencil, match="not block diagonal"):
        Pencil(np.eye(2), np.array([[2.0, 1.0], [1.0, 2.0]]), blocks=(1, 1))


# --- FDA


def test_two_classes_as_in_the_paper():
    X, y = data(10), np.repeat(["b", "a"], 15)
    a, B = fda_vectors(X, y, ridge=0.2)
    one, two = X[y == "a"], X[y == "b"]
    np.testing.assert_allclose(a, one.mean(0) - two.mean(0), atol=1e-14)
    np.testing.assert_allclose(B, np.cov(one.T, bias=True) + np.cov(two.T, bias=True) + 0.2 * np.eye(6), atol=1e-12)
    pencil = fda_pencil(X, y, ridge=0.2)
    np.testing.assert_allclose(pencil.A.toarray(), np.outer(a, a), atol=1e-13)
    assert pencil.lambda_max == pytest.approx(a @ np.linalg.solve(B, a))


def test_many_classes_give_the_directions_of_scikit_learn():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X = data(11, 60, 4)
    y = np.repeat([3, 1, 2], [30, 20, 10])
    X[y == 1] += 2
    X[y == 2, 0] -= 3
    pencil = fda_pencil(X, y)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    _, V = eigh(*pencil.dense())
    for mine, other in zip(V[:, ::-1].T[:2], theirs.scalings_.T[:2], strict=True):
        assert abs(mine @ other) / np.linalg.norm(mine) / np.linalg.norm(other) == pytest.approx(1.0, abs=1e-9)
    values = eigh(*pencil.dense(), eigvals_only=True)
    assert np.count_nonzero(values > 1e-10 * values[-1]) == 2


def test_total_covariance_is_between_plus_within():
    X, y = data(12, 60, 5), np.arange(60) % 4
    A, B = fda_pencil(X, y).dense()
    np.testing.assert_allclose(A + B, np.cov(X.T, bias=True), atol=1e-12)


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [-1.5, 2.5],
        ["no", "yes"],
        [True, False],
        [(1, 2), (0, 0)],
        [np.datetime64("2020"), np.datetime64("2021")],
    ],
)
def test_class_labels_of_any_type_that_can_be_sorted(labels):
    X = data(13, 10, 2)
    expected = abs(fda_vectors(X, [0] * 5 + [1] * 5)[0])
    np.testing.assert_allclose(abs(fda_vectors(X, [labels[0]] * 5 + [labels[1]] * 5)[0]), expected)


def test_labels_as_series_and_column():
    X, y = data(14), np.repeat([0, 1], 15)
    for form in (pd.Series(y), pd.Categorical(y), y[:, None], list(y), tuple(y)):
        np.testing.assert_array_equal(fda_vectors(X, form)[0], fda_vectors(X, y)[0])


@common
@given(seeds)
def test_fda_value_is_unmoved_by_linear_maps_and_class_names(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 4)), np.arange(40) % 3
    M = rng.standard_normal((4, 4)) + 3 * np.eye(4)
    top = fda_pencil(X, y).lambda_max
    assert fda_pencil(X @ M, y).lambda_max == pytest.approx(top, rel=1e-7)
    assert fda_pencil(X, (y + 1) % 3).lambda_max == pytest.approx(top, rel=1e-9)


@pytest.mark.parametrize("blocks", ["x", 3, [], np.ones(3), [1.5, 1.5], [np.nan], [4], [0, 3], [-1, 4], [1, 1]])
def test_blocks_are_whole_numbers_that_add_up(blocks):
    with pytest.raises(InvalidPencil, match="must be whole numbers of at least 1 that add up to n = 3"):
        Pencil(np.eye(3), blocks=blocks)


def test_frames_are_matched_by_their_row_labels():
    frame = pd.DataFrame(np.random.default_rng(3).standard_normal((20, 5)), [f"s{i}" for i in range(20)], list("abcde"))
    X, Y, y = frame[["a", "b"]], frame[["c", "d", "e"]], frame["a"] + frame["c"] > 0
    for other in (Y, y):
        build = cca_pencil if other is Y else fda_pencil
        order = np.random.default_rng(4).permutation(20)
        assert build(X, other.iloc[order]).lambda_max == pytest.approx(build(X, other).lambda_max)
        assert build(X, other.iloc[order].to_numpy()).lambda_max != pytest.approx(build(X, other).lambda_max)
        with pytest.raises(InvalidParameter, match=r"have different row labels \('s0' …\): give both the same labels"):
            build(X, other.set_axis(range(20)))
        with pytest.raises(InvalidParameter, match="have labels that repeat"):
            build(X.set_axis(["s0"] * 19 + ["s1"]), other.set_axis(["s1"] * 19 + ["s0"]))
    np.testing.assert_array_equal(least_squares_form(X, y.iloc[order]).t, least_squares_form(X, y).t)


def test_the_trace_is_the_sum_of_the_generalized_eigenvalues():
    M = np.random.default_rng(5).standard_normal((4, 4))
    for A, B in ((M @ M.T, None), (Gram(M), np.diag([1.0, 2.0, 3.0, 4.0]))):
        dense, metric = Pencil(A, B).dense()
        assert Pencil(A, B).trace == pytest.approx(np.sum(np.linalg.eigvals(np.linalg.solve(metric, dense))).real)


def test_labels_of_A_and_B_that_differ_are_refused():
    A = pd.DataFrame(np.eye(3), columns=list("abc"))
    with pytest.raises(InvalidPencil, match=r"different labels \('d'\): give both the same"):
        Pencil(A, pd.DataFrame(np.eye(3), columns=list("abd")))
    with pytest.raises(InvalidPencil, match=r"different labels \('x'\): give both the same"):
        Pencil(A, pd.DataFrame(np.eye(3), columns=list("xyz")))
    assert Pencil(pd.DataFrame(np.eye(3), index=[1, 2, 3], columns=list("abc"))).names == ("a", "b", "c")
    assert Pencil(A, pd.DataFrame(np.eye(3))).names == ("a", "b", "c")
    assert Pencil(np.eye(4), names=["a", "b", "a", "a"]).names == ("a", "b", "a.1", "a.2")


@given(st.integers(0, 10**6), st.integers(3, 30), st.integers(2, 12))
def test_automatic_ridge_is_the_shrinkage_of_schaefer_and_strimmer(seed, m, p):
    """Their formulas written out: λ = Σ Var(rᵢⱼ)/Σ rᵢⱼ², Var(rᵢⱼ) = m/(m−1)³ Σ (wₖᵢⱼ − w̄ᵢⱼ)²."""
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((m, p)) + rng.standard_normal((m, 1))) * 10.0 ** rng.uniform(-3, 3, p)
    pencil = cca_pencil(X, X[:, :1], ridge="auto")
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    w = Z[:, :, None] * Z[:, None, :]
    off = ~np.eye(p, dtype=bool)
    variance = m / (m - 1) ** 3 * np.sum((w - w.mean(axis=0)) ** 2, axis=0)[off].sum()
    share = np.clip(variance / np.sum(np.corrcoef(X.T)[off] ** 2), 1 / m, 1 - 1 / m)
    assert pencil.shrinkage == (pytest.approx(share, rel=1e-6), pytest.approx(1 / m))
    S = np.cov(X.T, bias=True)
    np.testing.assert_allclose((1 - share) * pencil.B[:p, :p], (1 - share) * S + share * np.diag(np.diag(S)), rtol=1e-6)


def test_automatic_ridge_accepts_constant_and_equal_columns():
    t = np.tile([0.0, 1.0], 5)
    pencil = cca_pencil(np.column_stack([t, t, np.ones(10)]), t[:, None], ridge="auto")
    assert pencil.lambda_max <= 1.0
    assert pickle.loads(pickle.dumps(pencil)).shrinkage == pencil.shrinkage
    with pytest.raises(InvalidParameter, match="ridge = 'Auto' is unknown; did you mean 'auto'"):
        cca_pencil(t[:, None], t[:, None], ridge="Auto")


def test_a_pair_of_shares_shrinks_the_correlations_within_each_view():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 4)), rng.standard_normal((30, 3))
    pencil, plain = cca_pencil(X, Y, ridge=(0.25, 0.5)), cca_pencil(X, Y)
    assert pencil.shrinkage == (0.25, 0.5)
    np.testing.assert_array_equal(pencil.A, plain.A)
    off = ~np.eye(7, dtype=bool)
    np.testing.assert_allclose(pencil.B[off], plain.B[off])
    np.testing.assert_allclose(np.diagonal(pencil.B) / np.diagonal(plain.B), [4 / 3] * 4 + [2] * 3)


@pytest.mark.parametrize(
    ("ridge", "text"),
    [
        ((0.1,), r"ridge = \(0.1,\) must be a number, 'auto', or one share for each view"),
        ((0.1, 1.0), r"a share of ridge = 1 is out of range; it must be greater than 0 and at most 0.999"),
        ((0.0, 0.5), r"a share of ridge = 0 is out of range"),
        ((0.1, float("nan")), r"a share of ridge = nan is not finite"),
        (-1.0, r"ridge = -1 is out of range"),
        ((), r"ridge = \(\) is not a real number"),
    ],
)
def test_a_ridge_that_is_neither_a_number_nor_two_shares_raises(ridge, text):
    with pytest.raises(InvalidParameter, match=text):
        cca_pencil(np.eye(3), np.eye(3), ridge=ridge)
