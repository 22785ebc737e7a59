"""Sparse canonical pairs: deflation and certificates against plain linear algebra."""

import numpy as np
import pytest

from dcgev_cvx import InvalidParameter, Pencil, SparseGEV, certify
from dcgev_cvx.search.sparse_pairs import DeflatedViews, canonical_pairs, sparse_pairs

N, K = 90, 13


@pytest.fixture(scope="module")
def data():
    """Two centred views of N samples and N variables each that share a few factors."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((N, 6))
    X, Y = (z @ rng.standard_normal((6, N)) + rng.standard_normal((N, N)) for _ in range(2))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


@pytest.fixture(scope="module")
def components(data):
    return sparse_pairs(*data, 5, K)


def test_dense_pairs_are_the_generalized_eigenvectors():
    from scipy.linalg import eigh

    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 6)), rng.standard_normal((30, 5))
    Bx, By, C = X.T @ X, Y.T @ Y, X.T @ Y
    pairs = canonical_pairs(Bx, By, C)
    A, B = np.block([[np.zeros((6, 6)), C], [C.T, np.zeros((5, 5))]]), np.zeros((11, 11))
    B[:6, :6], B[6:, 6:] = Bx, By
    assert pairs.values == pytest.approx(eigh(A, B, eigvals_only=True)[::-1][:5], abs=1e-12)
    assert np.allclose(pairs.U.T @ Bx @ pairs.U, np.eye(5), atol=1e-10)
    assert np.allclose(pairs.U.T @ C @ pairs.V, np.diag(pairs.values), atol=1e-10)


def test_deflation_updates_what_recomputing_gives(data):
    """(I − ppᵀ)K and the covariances of the deflated data, from scratch."""
    state = DeflatedViews(*data, 0.05)
    X, Y = (view / np.sqrt(N) for view in data)
    rng = np.random.default_rng(5)
    for _ in range(3):
        u, v = rng.standard_normal((2, N))
        p, q = X @ u / np.linalg.norm(X @ u), Y @ v / np.linalg.norm(Y @ v)
        X, Y = X - np.outer(p, p @ X), Y - np.outer(q, q @ Y)
        state.deflate(u, v)
    scale = np.abs(X.T @ Y).max()
    for ours, theirs in ((state.X, X), (state.Y, Y), (state.Sx, X.T @ X), (state.Sy, Y.T @ Y), (state.C, X.T @ Y)):
        assert np.allclose(ours, theirs, atol=1e-10 * scale)


def test_every_component_is_a_certified_stationary_point_of_its_deflated_pencil(data, components):
    """The certificate of the whole 2N-dimensional pencil, built here from the deflated data."""
    state = DeflatedViews(*data, 0.03)
    for component in components[:4]:
        u, v = component.vectors(N, N)
        A, B = np.zeros((2 * N, 2 * N)), np.zeros((2 * N, 2 * N))
        A[:N, N:], A[N:, :N] = state.C, state.C.T
        B[:N, :N], B[N:, N:] = state.Sx + state.kx * np.eye(N), state.Sy + state.ky * np.eye(N)
        program = SparseGEV(Pencil(A, B, blocks=(N, N)), component.rho, shift="metric")
        x = balanced(program, u, v)
        assert certify(program, x).stationarity <= 1e-8
        assert component.stationarity <= 1e-8
        assert component.correlation == pytest.approx(u @ state.C @ v, rel=1e-9)
        state.deflate(u, v)


def balanced(program, u, v):
    """(u, v) with the shares of xᵀBx that a stationary point has: each view's KKT rows times its loadings.

    With a = share of u: −2√(a(1−a))·c + 2μa + ρk_u = 0 and the same for v; so a − (1−a) = ρ(k_v − k_u)/2μ.
    """
    ku, kv = np.count_nonzero(u), np.count_nonzero(v)
    rho_eps, share = program.rho_eps, 0.5
    for _ in range(50):
        x = np.concatenate([np.sqrt(share) * u, np.sqrt(1.0 - share) * v])
        mu = program.multiplier(x, program.gradient(x), program.slopes(x))
        share = 0.5 + 0.25 * rho_eps * (kv - ku) / mu
    return x


def test_components_are_sparse_positive_and_unit(data, components):
    for component in components:
        assert all(1 <= len(rows) <= K for rows in component.rows)
        assert 0.0 < component.correlation <= 1.0
    first = components[0]
    assert first.correlation >= 0.9 * DeflatedViews(*data, 0.03).dense.values[0]


def test_without_sparsity_the_first_component_is_the_dense_pair(data):
    state = DeflatedViews(*data, 0.03)
    (found,) = sparse_pairs(*data, 1, N)
    assert found.correlation == pytest.approx(state.dense.values[0], rel=1e-4)


def test_component_j_does_not_depend_on_d(data, components):
    for again, before in zip(sparse_pairs(*data, 3, K), components, strict=False):
        assert all(np.array_equal(a, b) for a, b in zip(again.rows, before.rows, strict=True))


def test_more_components_than_the_rank_raise_an_error():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((50, 2))
    X, Y = z @ rng.standard_normal((2, 6)), z @ rng.standard_normal((2, 5))
    with pytest.raises(InvalidParameter, match=r"at most 2|no correlation is left"):
        sparse_pairs(X - X.mean(axis=0), Y - Y.mean(axis=0), 4, 5)


def test_bad_numbers_are_named():
    X = np.eye(4) - 0.25
    with pytest.raises(InvalidParameter, match="k = 99"):
        sparse_pairs(X, X, 1, 99)
    with pytest.raises(InvalidParameter, match="ridge = 0 is out of range"):
        sparse_pairs(X, X, 1, 1, ridge=0.0)
    with pytest.raises(InvalidParameter, match=r"= 2\.5 must be a whole number"):
        sparse_pairs(X, X, 2.5, 1)
