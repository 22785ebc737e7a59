"""Deflations against their whitened definitions, components on pit props, explained variance by name."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import standin
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import cholesky, eigh, solve_triangular

from dcgev_cvx import Gram, InvalidParameter, Pencil, cca_pencil, components, datasets, deflate, pca_pencil
from dcgev_cvx.certificates import on_support, value
from dcgev_cvx.search import explained
from dcgev_cvx.search.deflation import RULES, directions
from dcgev_cvx.search.view_counts import solve_views

common = settings(derandomize=True, deadline=None, max_examples=20)
seeds = st.integers(0, 10_000)
KINDS = sorted(RULES)
PATTERN = [6, 2, 2, 1, 1, 1]


@pytest.fixture
def exhaustive(monkeypatch):
    monkeypatch.setattr("dcgev_cvx.search.paths.solve", standin.solve, raising=False)


def random_pencil(seed, n=6, kind="dense"):
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((4 if kind == "gram" else 2 * n, n))
    N = rng.standard_normal((n, 2 * n))
    A = Gram(C) if kind == "gram" else C.T @ C
    return Pencil(A, N @ N.T / n + 0.1 * np.eye(n))


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


def test_orthogonalized_hotelling_removes_what_is_new_only(exhaustive):
    pencil = random_pencil(3)
    found = components(pencil, [3, 3, 3])
    W = np.zeros((6, 0))
    A = pencil.dense()[0]
    B = pencil.dense()[1]
    for v in found.V.T:
        w = v - W @ (W.T @ B @ v)
        w /= np.sqrt(w @ B @ w)
        W = np.column_stack([W, w])
    first = A - (W[:, 0] @ A @ W[:, 0]) * np.outer(B @ W[:, 0], B @ W[:, 0])
    second = first - (W[:, 1] @ first @ W[:, 1]) * np.outer(B @ W[:, 1], B @ W[:, 1])
    assert found.deflated_values[1] == pytest.approx(value(Pencil(first, B), found.V[:, 1]))
    assert found.deflated_values[2] == pytest.approx(value(Pencil(second, B), found.V[:, 2]))


# --- views


def cca(seed=0, m=60, p=4, q=3):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((m, 2))
    X = Z @ rng.standard_normal((2, p)) + rng.standard_normal((m, p))
    Y = Z @ rng.standard_normal((2, q)) + rng.standard_normal((m, q))
    return X, Y, cca_pencil(X, Y)


@pytest.mark.parametrize("kind", KINDS)
def test_both_views_are_deflated_and_a_keeps_its_zero_blocks(kind):
    _, _, pencil = cca()
    x = on_support(pencil, np.array([0, 1, 4, 5]))
    A = deflate(pencil, x, kind).A
    assert not A[:4, :4].any()
    assert not A[4:, 4:].any()
    wx, wy = directions(pencil, x)[:4, 0], directions(pencil, x)[4:, 1]
    assert abs(wx @ A[:4, 4:] @ wy) < 1e-12


def test_projection_makes_later_scores_uncorrelated_with_earlier_ones():
    """The deflated cross-covariance is that of the data with the first scores regressed out of each view."""
    X, Y, pencil = cca()
    x = on_support(pencil, np.array([0, 1, 4, 5]))
    wx, wy = x[:4], x[4:]
    Xc, Yc = X - X.mean(0), Y - Y.mean(0)
    u, v = Xc @ wx, Yc @ wy
    left = Xc - np.outer(u, u @ Xc) / (u @ u)
    right = Yc - np.outer(v, v @ Yc) / (v @ v)
    np.testing.assert_allclose(deflate(pencil, x, "projection").A[:4, 4:], left.T @ right / len(X), atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_dense_components_are_the_canonical_correlations(kind, exhaustive):
    X, Y, pencil = cca()
    found = components(pencil, [7, 7, 7], deflation=kind)
    Qx, Qy = (np.linalg.qr(V - V.mean(0))[0] for V in (X, Y))
    np.testing.assert_allclose(found.values, np.linalg.svd(Qx.T @ Qy)[1], atol=1e-8)


def test_views_are_searched_as_well_as_by_exhaustion(exhaustive):
    exact, total = 0, 0
    for seed in range(15):
        _, _, pencil = cca(seed, p=6, q=5)
        for ks in ((1, 1), (2, 1), (2, 3), (3, 3)):
            found = solve_views(pencil, ks)
            pairs = itertools.product(*map(itertools.combinations, (range(6), range(6, 11)), ks))
            best = standin.support_values(pencil, np.array([(*s, *t) for s, t in pairs])).max()
            assert tuple(np.count_nonzero(part) for part in (found.x[:6], found.x[6:])) == ks
            assert found.value >= 0.95 * best
            exact += found.value >= best * (1 - 1e-9)
            total += 1
    assert exact >= 0.95 * total


def test_views_need_a_pencil_that_has_them(exhaustive):
    with pytest.raises(InvalidParameter, match=r"k = \(1, 1\) names views, but the pencil has none"):
        components(Pencil(np.eye(3)), [(1, 1)])
    with pytest.raises(InvalidParameter, match="one number for each of the 2 views"):
        components(cca()[2], [(1, 1, 1)])
    with pytest.raises(InvalidParameter, match="k = 5 is out of range"):
        components(cca()[2], [(5, 1)])


# --- pit props


@pytest.mark.parametrize("finder", ["exhaustive", "solve"])
def test_pit_props_explain_what_the_paper_says(finder, request):
    if finder == "exhaustive":
        request.getfixturevalue("exhaustive")
    found = components(datasets.pitprops(), PATTERN)
    assert found.cardinalities == tuple(PATTERN)
    assert [s.support for s in found.solutions[:3]] == [(0, 1, 6, 7, 8, 9), (2, 3), (5, 6)]
    # four variables are left with variance one: which three of them come next is a tie
    assert {s.support for s in found.solutions[3:]} < {(4,), (10,), (11,), (12,)}
    np.testing.assert_allclose(
        np.abs(found.V[[0, 1, 6, 7, 8, 9], 0]), [0.44, 0.45, 0.38, 0.34, 0.40, 0.42], atol=6e-3
    )
    np.testing.assert_allclose(np.abs(found.V[[2, 3], 1]), [0.71, 0.71], atol=5e-3)
    np.testing.assert_allclose(np.abs(found.V[[5, 6], 2]), [0.82, 0.58], atol=1e-2)
    assert found.projector_trace()[-1] == pytest.approx(0.7705, abs=5e-5)
    assert found.plain_sum()[-1] == pytest.approx(0.8019, abs=5e-5)
    assert 0.709 <= found.adjusted()[-1] <= 0.7245
    assert finder == "solve" or found.adjusted()[-1] == pytest.approx(0.7230, abs=5e-5)
    assert "projector trace 77.05%, adjusted 7" in str(found)
    assert found.to_dict()["explained"]["projector_trace"][-1] == found.projector_trace()[-1]


def test_values_are_those_of_the_undeflated_pencil(exhaustive):
    pencil = datasets.pitprops()
    found = components(pencil, PATTERN)
    for solution, v in zip(found.solutions, found.V.T, strict=True):
        assert solution.value == pytest.approx(v @ pencil.A @ v)
        assert np.array_equal(solution.x, v)
    assert found.deflated_values[2] < found.values[2]


@common
@given(seeds, st.sampled_from(KINDS))
def test_components_permute_flip_and_scale(seed, kind):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dcgev_cvx.search.paths.solve", standin.solve, raising=False)
        pencil = random_pencil(seed)
        A, B = pencil.dense()
        rng = np.random.default_rng(seed)
        order, signs = rng.permutation(6), rng.choice([-1.0, 1.0], 6)
        plain = components(pencil, [3, 2, 2], deflation=kind)
        moved = components(Pencil(A[np.ix_(order, order)], B[np.ix_(order, order)]), [3, 2, 2], deflation=kind)
        flip = np.outer(signs, signs)
        flipped = components(Pencil(A * flip, B * flip), [3, 2, 2], deflation=kind)
        scaled = components(Pencil(4.0 * A, B / 16.0), [3, 2, 2], deflation=kind)
    np.testing.assert_allclose(np.abs(moved.V), np.abs(plain.V[order]), atol=1e-7)
    np.testing.assert_allclose(np.abs(flipped.V), np.abs(plain.V), atol=1e-7)
    np.testing.assert_allclose(np.abs(scaled.V), 4.0 * np.abs(plain.V), atol=1e-6)
    np.testing.assert_allclose(scaled.values, 64.0 * np.array(plain.values), rtol=1e-8)
    np.testing.assert_allclose(scaled.projector_trace(), plain.projector_trace(), rtol=1e-8)


# --- explained variance


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


# --- bad input


def test_bad_input(exhaustive):
    pencil = datasets.pitprops()
    with pytest.raises(InvalidParameter, match="did you mean 'projection'"):
        components(pencil, [2, 2], deflation="projektion")
    with pytest.raises(InvalidParameter, match="did you mean 'schur'"):
        components(pencil, [2], deflation="shur")
    with pytest.raises(InvalidParameter, match="ks = 5 must list one cardinality per component"):
        components(pencil, 5)
    with pytest.raises(InvalidParameter, match="ks is empty"):
        components(pencil, [])
    with pytest.raises(InvalidParameter, match="k = 14 is out of range"):
        components(pencil, [2, 14])
    with pytest.raises(InvalidParameter, match="x = 0 is not a direction"):
        deflate(pencil, np.zeros(13), "schur")
    with pytest.raises(InvalidParameter, match=r"Nothing is left of A after 1 component"):
        components(Pencil(np.outer([1.0, 2.0, 0.0], [1.0, 2.0, 0.0])), [2, 2])
    with pytest.raises(InvalidParameter, match="no Schur complement"):
        deflate(Pencil(np.diag([1.0, 0.0])), np.array([0.0, 1.0]), "schur")
    with pytest.raises(InvalidParameter, match=r"Explained variance needs A ⪰ 0.*correlations"):
        explained.projector_trace(cca()[2], np.ones(7))
    with pytest.raises(InvalidParameter, match=r"V must be 13 × r"):
        explained.adjusted(pencil, np.ones((12, 2)))
    with pytest.raises(InvalidParameter, match="zero column"):
        explained.plain_sum(pencil, np.zeros((13, 1)))


def test_a_callback_sees_each_component_and_may_stop(exhaustive):
    seen = []

    def watch(solution):
        seen.append(solution.k)
        return len(seen) == 2

    found = components(datasets.pitprops(), PATTERN, callback=watch)
    assert seen == [6, 2]
    assert found.cardinalities == (6, 2)


def test_cardinalities_are_not_text():
    with pytest.raises(InvalidParameter, match="ks = '22' must list one cardinality per component"):
        components(datasets.pitprops(), "22")
    with pytest.raises(InvalidParameter, match="k = '3' must be a whole number between 1 and n = 13"):
        components(datasets.pitprops(), [2, "3"])


@pytest.mark.parametrize("size", [2.0**-900, 2.0**900])
def test_only_the_direction_of_a_component_matters(size):
    """x of any size, also one whose square is no number, takes out the same, to the last bit."""
    pencil, x = datasets.pitprops(), np.arange(1.0, 14.0)
    for rule in ("hotelling", "projection", "schur"):
        assert np.array_equal(deflate(pencil, size * x, rule).A, deflate(pencil, x, rule).A)
