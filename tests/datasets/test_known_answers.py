"""Data with known answers."""

import numpy as np
import pytest
import referee

from dcgev_cvx import InvalidParameter, SparseFDA, dc_pca, renormalize, sparse_fda, sparse_gev
from dcgev_cvx.certificates import value
from dcgev_cvx.datasets import genes_and_lipids, indefinite, planted_cca, planted_pca, two_gaussians


def test_pitprops_is_jeffers_matrix(pitprops):
    assert pitprops.n == 13
    assert pitprops.names[:2] == ("topdiam", "length")
    assert np.array_equal(np.diag(pitprops.A), np.ones(13))
    assert pitprops.A[0, 1] == 0.954
    assert pitprops.lambda_max == pytest.approx(4.2186, abs=5e-5)


def test_six_components_of_pitprops_explain_87_percent(pitprops):
    values = np.linalg.eigvalsh(pitprops.A)[::-1]
    assert 100 * values[:6].sum() / values.sum() == pytest.approx(86.999, abs=5e-4)


EXACT = [1.0, 1.9540, 2.4753, 2.9375, 3.4062, 3.7710, 3.9962, 4.0686, 4.1386, 4.1726, 4.2083, 4.2182, 4.2186]


@pytest.mark.parametrize("k", [1, 2, 3, 4, 6, 11, 12, 13])
def test_best_subsets_of_pitprops(pitprops, k):
    assert referee.best_subset(pitprops.A, None, k)[0] == pytest.approx(EXACT[k - 1], abs=5e-5)


def test_first_component_of_the_paper(pitprops):
    """ρ̃ = 4.84 leaves 6 nonzeros: .44 .45 .38 .34 .40 .42 on variables 1 2 7 8 9 10, the exact optimum at k = 6."""
    result = dc_pca(pitprops, rho=4.84)
    assert result.converged
    assert result.support == (0, 1, 6, 7, 8, 9)
    x = renormalize(pitprops, result.x)
    assert x[list(result.support)] == pytest.approx([0.44, 0.45, 0.38, 0.34, 0.40, 0.42], abs=0.005)
    assert value(pitprops, x) == pytest.approx(referee.best_subset(pitprops.A, None, 6)[0], rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_planted_pca_is_found(seed):
    planted = planted_pca(30, 4, rng=seed)
    assert planted.value == pytest.approx(3.0, rel=1e-12)
    assert len(planted.support) == 4
    assert planted.pencil.lambda_max == pytest.approx(3.0, rel=1e-12)
    result = dc_pca(planted.pencil, rho=0.3)
    assert result.support == planted.support
    assert abs(result.x @ planted.x) == pytest.approx(1.0, abs=1e-9)


def test_planted_pca_is_the_best_subset():
    planted = planted_pca(9, 3, rng=4)
    best, support = referee.best_subset(planted.pencil.A, None, 3)
    assert best == pytest.approx(planted.value, rel=1e-12)
    assert support == planted.support


def test_sampled_pca_finds_the_truth_behind_the_draws():
    planted = planted_pca(20, 3, strength=5.0, samples=2000, rng=1)
    assert dc_pca(planted.pencil, rho=1.5).support == planted.support


@pytest.mark.parametrize("seed", range(3))
def test_planted_cca_is_found(seed):
    planted = planted_cca(8, 7, 2, rng=seed)
    assert planted.value == pytest.approx(0.8, rel=1e-12)
    assert planted.pencil.lambda_max == pytest.approx(0.8, rel=1e-12)
    assert planted.pencil.B_norm(planted.x) == pytest.approx(1.0, abs=1e-15)
    result = sparse_gev(planted.pencil, rho=0.05, shift="metric")
    assert result.converged
    assert result.support == planted.support


def test_sampled_cca_has_the_covariances_blocks():
    planted = planted_cca(4, 5, 2, samples=300, ridge=0.5, rng=2)
    A, B = planted.pencil.A, planted.pencil.B
    assert not A[:4, :4].any()
    assert not B[:4, 4:].any()
    assert np.linalg.eigvalsh(B)[0] > 0.5


def test_genes_and_lipids_share_factors():
    X, Y = genes_and_lipids(400, rng=2)
    np.testing.assert_allclose(Y.sum(axis=1), 100.0)
    cross = np.abs(np.corrcoef(X.T, Y.T)[:120, 120:])
    assert cross.max() > 0.5
    assert np.median(cross) < 0.2


def test_two_gaussians_differ_where_they_say():
    X, y, support = two_gaussians(12, 3, samples=600, shift=2.0, rng=3)
    a = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    centred = X - np.where((y == 1)[:, None], X[y == 1].mean(axis=0), X[y == 0].mean(axis=0))
    B = centred.T @ centred / len(X)
    assert tuple(np.sort(np.argsort(-np.abs(a))[:3])) == support
    result = sparse_fda(a, B, nu=0.05)
    assert result.converged
    assert result.support == support
    assert SparseFDA(a, B, 0.05).violation(result.x) <= 1e-12


@pytest.mark.parametrize("dense_metric", [False, True])
def test_indefinite_has_eigenvalues_of_both_signs(dense_metric):
    pencil = indefinite(8, dense_metric=dense_metric, rng=5)
    assert pencil.lambda_min < -0.1
    assert pencil.lambda_max > 0.1
    assert (pencil.B is not None) == dense_metric


def test_the_same_seed_gives_the_same_bits():
    for make in (planted_pca, planted_cca):
        assert np.array_equal(make(rng=7).pencil.A, make(rng=7).pencil.A)
        assert not np.array_equal(make(rng=7).x, make(rng=8).x)
    generator = np.random.default_rng(7)
    assert np.array_equal(planted_pca(rng=generator).x, planted_pca(rng=7).x)
    assert np.array_equal(two_gaussians(rng=1)[0], two_gaussians(rng=1)[0])
    assert np.array_equal(indefinite(rng=1).A, indefinite(rng=1).A)


def test_bad_settings_are_named():
    with pytest.raises(InvalidParameter, match="k = 9 is out of range: it must be a whole number between 1 and n = 5"):
        planted_pca(5, 9)
    with pytest.raises(InvalidParameter, match="correlation = 1"):
        planted_cca(correlation=1.0)
    with pytest.raises(InvalidParameter, match=r"strength = 9.22337e\+18 is out of range"):
        planted_pca(6, 2, strength=2.0**63, samples=20)


def test_small_integers_do_not_overflow():
    one, two = (planted_cca(kind(100), kind(100), kind(3), rng=1) for kind in (int, np.int8))
    assert np.array_equal(one.pencil.A, two.pencil.A)
