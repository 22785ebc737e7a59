"""Deflations against their definitions in the whitened problem."""

import numpy as np
import pytest
from families import random_pencil, views
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import cholesky, eigh, solve_triangular

from dcgev_cvx import Gram, InvalidParameter, Pencil, datasets, deflate
from dcgev_cvx.certificates import on_support
from dcgev_cvx.search.deflation import check_invertible, directions, orthonormal

common = settings(max_examples=20)
seeds = st.integers(0, 10_000)
KINDS = ["hotelling", "orthogonalized-hotelling", "projection", "schur"]


def whitened(pencil):
    A, B = pencil.dense()
    L = cholesky(B, lower=True)
    return solve_triangular(L, solve_triangular(L, A, lower=True).T, lower=True), L


def mackey(A, q, kind):
    """Mackey (2008), Section 3, for B = I and a unit vector q."""
    P = np.eye(len(q)) - np.outer(q, q)
    if kind == "projection":
        return P @ A @ P
    if kind == "schur":
        return A - np.outer(A @ q, A @ q) / (q @ A @ q)
    return A - (q @ A @ q) * np.outer(q, q)


@common
@given(seeds, st.sampled_from(KINDS), st.sampled_from(["dense", "gram"]))
def test_each_deflation_is_mackeys_in_the_whitened_problem(seed, kind, form):
    pencil = random_pencil(seed, kind=form)
    x = np.random.default_rng(seed).standard_normal(pencil.n)
    x[::2] = 0.0
    S, L = whitened(pencil)
    q = L.T @ x / pencil.B_norm(x)
    expected = L @ mackey(S, q, kind) @ L.T
    deflated = deflate(pencil, x, kind)
    np.testing.assert_allclose(deflated.dense()[0], expected, atol=1e-10 * np.abs(S).max())
    assert isinstance(deflated.A, Gram) == (form == "gram" and kind in ("projection", "schur"))


@common
@given(seeds, st.sampled_from(KINDS))
def test_an_eigenvector_is_taken_out_and_the_rest_stays(seed, kind):
    pencil = random_pencil(seed)
    values = eigh(*pencil.dense(), eigvals_only=True)
    after = eigh(*deflate(pencil, pencil.leading_vector, kind).dense(), eigvals_only=True)
    np.testing.assert_allclose(after, np.sort([0.0, *values[:-1]]), atol=1e-9 * values[-1])


@common
@given(seeds)
def test_hotelling_loses_definiteness_for_any_other_vector(seed):
    """Why Hotelling's deflation of a Gram matrix is no Gram matrix."""
    pencil = random_pencil(seed)
    deflated = deflate(pencil, np.eye(6)[0], "hotelling")
    assert deflated.lambda_min < -1e-6


def test_deflation_stays_in_factor_form_without_an_n_by_n_matrix():
    C = np.random.default_rng(0).standard_normal((20, 30_000))
    pencil = Pencil(Gram(C))
    x = np.zeros(30_000)
    x[:5] = 1.0
    for kind in ("projection", "schur"):
        left = deflate(pencil, x, kind)
        assert isinstance(left.A, Gram)
        assert left.A_quad(x) < 1e-20 * pencil.A_quad(x)
    with pytest.raises(InvalidParameter, match=r'takes 7,200,000,000 bytes.*deflation="projection" or "schur"'):
        deflate(pencil, x, "hotelling")


@pytest.mark.parametrize("kind", KINDS)
def test_both_views_are_deflated_and_a_keeps_its_zero_blocks(kind):
    _, _, pencil = views()
    x = on_support(pencil, np.array([0, 1, 4, 5]))
    A = deflate(pencil, x, kind).A
    assert not A[:4, :4].any()
    assert not A[4:, 4:].any()
    wx, wy = directions(pencil, x)[:4, 0], directions(pencil, x)[4:, 1]
    assert abs(wx @ A[:4, 4:] @ wy) < 1e-12


def test_projection_makes_later_scores_uncorrelated_with_earlier_ones():
    """The deflated cross-covariance is that of the data with the first scores regressed out of each view."""
    X, Y, pencil = views()
    x = on_support(pencil, np.array([0, 1, 4, 5]))
    wx, wy = x[:4], x[4:]
    Xc, Yc = X - X.mean(0), Y - Y.mean(0)
    u, v = Xc @ wx, Yc @ wy
    left = Xc - np.outer(u, u @ Xc) / (u @ u)
    right = Yc - np.outer(v, v @ Yc) / (v @ v)
    np.testing.assert_allclose(deflate(pencil, x, "projection").A[:4, 4:], left.T @ right / len(X), atol=1e-12)


@pytest.mark.parametrize("size", [2.0**-900, 2.0**900])
def test_only_the_direction_of_a_component_matters(size):
    """x of any size, also one whose square is no number, takes out the same, to the last bit."""
    pencil, x = datasets.pitprops(), np.arange(1.0, 14.0)
    for rule in ("hotelling", "projection", "schur"):
        assert np.array_equal(deflate(pencil, size * x, rule).A, deflate(pencil, x, rule).A)


def test_bad_input():
    pencil = datasets.pitprops()
    with pytest.raises(InvalidParameter, match="did you mean 'schur'"):
        deflate(pencil, np.ones(13), "shur")
    with pytest.raises(InvalidParameter, match="x = 0 is not a direction"):
        deflate(pencil, np.zeros(13), "schur")
    with pytest.raises(InvalidParameter, match="earlier must be 13 × r"):
        deflate(pencil, np.ones(13), "hotelling", np.ones((12, 1)))
    with pytest.raises(InvalidParameter, match="no Schur complement"):
        deflate(Pencil(np.diag([1.0, 0.0])), np.array([0.0, 1.0]), "schur")


def test_directions_are_made_orthonormal_to_those_before_and_spanned_ones_drop_out():
    pencil = random_pencil(5)
    B = pencil.dense()[1]
    found = orthonormal(pencil, np.eye(6)[:, :2], np.zeros((6, 0)))
    W = orthonormal(pencil, np.column_stack([np.eye(6)[:, 2], found @ [1.0, -2.0], np.eye(6)[:, 3]]), found)
    both = np.column_stack([found, W])
    assert W.shape == (6, 2)
    np.testing.assert_allclose(both.T @ B @ both, np.eye(4), atol=1e-12)
    assert np.linalg.matrix_rank(np.column_stack([both, np.eye(6)[:, :4]]), tol=1e-9) == 4


def test_only_the_span_of_the_earlier_components_counts():
    pencil, rule = random_pencil(5), "orthogonalized-hotelling"
    V = np.random.default_rng(2).standard_normal((6, 2))
    A = deflate(pencil, np.ones(6), rule, V).A
    np.testing.assert_allclose(deflate(pencil, np.ones(6), rule, V @ [[2.0, 1.0], [0.0, -3.0]]).A, A, atol=1e-10)
    assert not np.allclose(deflate(pencil, np.ones(6), rule, V[:, :1]).A, A, atol=1e-3)
    np.testing.assert_allclose(deflate(pencil, V[:, 0], rule, V).A, pencil.A)


def test_one_view_that_explains_nothing_has_no_schur_complement():
    A = np.zeros((4, 4))
    A[0, 2] = A[2, 0] = 1.0
    pencil = Pencil(A + np.diag([2.0, 0.0, 2.0, 0.0]), np.eye(4), blocks=(2, 2))
    with pytest.raises(InvalidParameter, match="no Schur complement"):
        deflate(pencil, np.array([1.0, 0.0, 0.0, 1.0]), "schur")
    assert not deflate(pencil, np.array([1.0, 0.0, 1.0, 0.0]), "schur").A.any()


def test_a_component_explains_nothing_by_the_units_of_the_pencil():
    """n·u·max|A|/max|B| is 2·2⁻⁵²·2⁴⁰/4 here."""
    pencil = Pencil(2.0**40 * np.eye(2), 4.0 * np.eye(2))
    check_invertible(np.array([1.1, 5.0]) * 2.0**-13, pencil)
    for size in (0.9, 1.0):
        with pytest.raises(InvalidParameter, match="singular"):
            check_invertible(np.array([size, 5.0]) * 2.0**-13, pencil)
