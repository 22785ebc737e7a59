"""Three measures of explained variance."""

import numpy as np
import pytest
from families import random_pencil, views
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh

from dcgev_cvx import InvalidParameter, Pencil, datasets, pca_pencil
from dcgev_cvx.search import explained_variance as explained

common = settings(max_examples=20)
seeds = st.integers(0, 10_000)


@pytest.mark.parametrize("form", ["identity", "dense", "gram"])
def test_the_measures_are_those_of_the_whitened_problem(form):
    """With B = LLᵀ, S = L⁻¹AL⁻ᵀ and Q = LᵀV: projector, Gram–Schmidt of scores, and squares, written out."""
    given = random_pencil(3, kind="dense" if form == "identity" else form)
    pencil = Pencil(given.A) if form == "identity" else given
    A, B = pencil.dense()
    L = np.linalg.cholesky(B)
    S = np.linalg.solve(L, np.linalg.solve(L, A).T)
    V = np.random.default_rng(3).standard_normal((6, 3)) * [1e3, 1.0, 1e-3]
    Q = L.T @ V
    Q /= np.linalg.norm(Q, axis=0)
    M, left = Q.T @ S @ Q, 0.0
    for j in range(3):
        earlier = M[:j, :j]
        left += M[j, j] - (M[j, :j] @ np.linalg.solve(earlier, M[:j, j]) if j else 0.0)
    assert explained.projector_trace(pencil, V) == pytest.approx(np.trace(Q @ np.linalg.pinv(Q) @ S) / np.trace(S))
    assert explained.adjusted(pencil, V) == pytest.approx(left / np.trace(S))
    assert explained.plain_sum(pencil, V) == pytest.approx(np.trace(M) / np.trace(S))


def test_a_vector_is_one_column_and_a_cube_is_none():
    pencil = Pencil(np.diag([3.0, 1.0]))
    assert explained.plain_sum(pencil, np.array([1.0, 0.0])) == 0.75
    for shape in ((2, 0), (2, 1, 1), (3, 1)):
        with pytest.raises(InvalidParameter, match=r"V must be 2 × r"):
            explained.plain_sum(pencil, np.ones(shape))
    with pytest.raises(InvalidParameter, match=r"V has a zero column \(1\)"):
        explained.plain_sum(pencil, np.array([[1.0, 0.0], [0.0, 0.0]]))
    for size in (1e-200, 1e200):
        assert explained.plain_sum(pencil, size * np.eye(2)) == pytest.approx(1.0)


@common
@given(seeds)
def test_the_measures_agree_on_eigenvectors_and_are_ordered_otherwise(seed):
    pencil = random_pencil(seed)
    values, V = eigh(*pencil.dense())
    share = values[-3:].sum() / values.sum()
    for measure in (explained.projector_trace, explained.adjusted, explained.plain_sum):
        assert measure(pencil, V[:, -3:]) == pytest.approx(share, rel=1e-9)
    W = np.random.default_rng(seed).standard_normal((6, 3))
    assert explained.adjusted(pencil, W) <= explained.plain_sum(pencil, W) + 1e-12
    assert explained.projector_trace(pencil, W) <= 1.0 + 1e-12
    mixed = W @ np.random.default_rng(seed + 1).standard_normal((3, 3))
    assert explained.projector_trace(pencil, mixed) == pytest.approx(explained.projector_trace(pencil, W), rel=1e-6)


def test_projector_trace_is_what_a_reconstruction_keeps():
    X = np.random.default_rng(0).standard_normal((50, 6)) @ np.diag(np.arange(1, 7.0))
    V = np.random.default_rng(1).standard_normal((6, 2))
    X -= X.mean(0)
    residual = X - X @ V @ np.linalg.pinv(V)
    share = 1 - np.sum(residual**2) / np.sum(X**2)
    assert explained.projector_trace(pca_pencil(X), V) == pytest.approx(share)


def test_adjusted_is_zous_qr_of_the_scores():
    X = np.random.default_rng(0).standard_normal((50, 6)) @ np.diag(np.arange(1, 7.0))
    V = np.random.default_rng(1).standard_normal((6, 3))
    V /= np.linalg.norm(V, axis=0)
    X -= X.mean(0)
    R = np.linalg.qr(X @ V)[1]
    assert explained.adjusted(pca_pencil(X), V) == pytest.approx(np.sum(np.diag(R) ** 2) / np.sum(X**2))


@pytest.mark.parametrize("form", ["dense", "gram"])
def test_the_same_component_twice_explains_nothing_more(form):
    pencil = random_pencil(5, kind=form)
    v = np.eye(6)[:, :1]
    twice = np.hstack([v, v])
    assert explained.projector_trace(pencil, twice) == pytest.approx(explained.projector_trace(pencil, v))
    assert explained.adjusted(pencil, twice) == pytest.approx(explained.adjusted(pencil, v))
    assert explained.plain_sum(pencil, twice) == pytest.approx(2 * explained.plain_sum(pencil, v))


@common
@given(seeds)
def test_a_factor_explains_what_its_matrix_does(seed):
    factor = random_pencil(seed, kind="gram")
    matrix = Pencil(*factor.dense())
    V = np.random.default_rng(seed).standard_normal((6, 2))
    for measure in (explained.projector_trace, explained.adjusted, explained.plain_sum):
        assert measure(factor, V) == pytest.approx(measure(matrix, V), rel=1e-9)


def test_bad_input():
    pencil = datasets.pitprops()
    with pytest.raises(InvalidParameter, match=r"Explained variance needs A ⪰ 0.*correlations"):
        explained.projector_trace(views()[2], np.ones(7))
    with pytest.raises(InvalidParameter, match="needs A ⪰ 0 and A ≠ 0"):
        explained.projector_trace(Pencil(np.zeros((3, 3))), np.ones(3))
    with pytest.raises(InvalidParameter, match=r"V must be 13 × r"):
        explained.adjusted(pencil, np.ones((12, 2)))
    with pytest.raises(InvalidParameter, match="zero column"):
        explained.plain_sum(pencil, np.zeros((13, 1)))
