"""SPCA: its regressions, its limits, and the loadings that its authors print."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from small_problems import gaussian

from dcgev_cvx import Gram, Pencil, datasets, rivals
from dcgev_cvx.errors import InvalidParameter
from dcgev_cvx.rivals.spca import elastic_net, lars


def test_elastic_net_is_the_minimiser():
    """KKT of ‖y − Cβ‖² + λ‖β‖² + λ₁‖β‖₁."""
    rng = np.random.default_rng(0)
    C, y = np.asfortranarray(rng.standard_normal((20, 30))), rng.standard_normal(20)
    beta = elastic_net(C, y, 5.0, 8.0, np.zeros(30))
    gradient = 2 * C.T @ (C @ beta - y) + 10.0 * beta
    on = beta != 0
    assert 0 < on.sum() < 30
    assert_allclose(gradient[on], -8.0 * np.sign(beta[on]), atol=2e-2)
    assert np.all(np.abs(gradient[~on]) <= 8.0 + 2e-2)


def test_elastic_net_equals_scikit_learns_estimator():
    from sklearn.linear_model import ElasticNet

    rng = np.random.default_rng(5)
    C, y = np.asfortranarray(rng.standard_normal((25, 10))), rng.standard_normal(25)
    ridge, lasso = 3.0, 4.0
    strength = lasso / 50 + ridge / 25
    model = ElasticNet(alpha=strength, l1_ratio=lasso / 50 / strength, fit_intercept=False, tol=1e-10)
    assert_allclose(elastic_net(C, y, ridge, lasso, np.zeros(10)), model.fit(C, y).coef_, atol=1e-4)


def test_lars_point_solves_its_elastic_net():
    """The LARS point with k nonzeros satisfies the KKT system at its own λ₁."""
    rng = np.random.default_rng(6)
    M = rng.standard_normal((40, 9))
    gram, c = M.T @ M + np.eye(9), rng.standard_normal(9) * 10
    beta = lars(gram, c, 4)
    r = c - gram @ beta
    on = beta != 0
    assert on.sum() == 4
    assert np.ptp(np.abs(r[on])) < 1e-8
    assert np.all(np.abs(r[~on]) <= np.abs(r[on]).max() + 1e-8)
    # the last point with four: the fifth is about to enter
    assert_allclose(np.abs(r[~on]).max(), np.abs(r[on]).max(), atol=1e-8)


def test_spca_from_data_and_covariance_find_the_same_planted_vector():
    planted = datasets.planted_pca(20, 3, strength=9.0, samples=200, rng=1)
    data = Pencil(Gram(planted.pencil.A_factor()))
    assert rivals.spca(data, 3).support == rivals.spca(planted.pencil, 3).support == planted.support


def test_the_limit_of_the_regression_is_a_soft_threshold():
    """As λ grows, λβ tends to the soft threshold of Aα at the first |cᵢ| that is left out (Section 4.2)."""
    A = gaussian(30, 15).dense()[0]
    c = A @ np.ones(15)
    beta = 1e8 * lars(A + 1e8 * np.eye(15), c, 5)
    level = np.sort(np.abs(c))[-6]
    assert_allclose(beta, np.sign(c) * np.maximum(np.abs(c) - level, 0.0), rtol=1e-4, atol=1e-3)


def test_spca_renormalized_explains_no_less():
    pencil = gaussian(20, 40)
    plain, best = rivals.spca(pencil, 8), rivals.spca(pencil, 8, renormalized=True)
    assert plain.support == best.support
    assert best.value > plain.value


def test_spca_of_six_components_is_the_printed_table(pitprops):
    """The loadings of Zou, Hastie and Tibshirani's Table with their own penalties, to the printed digits."""
    V = rivals.spca_components(pitprops, (0.06, 0.16, 0.1, 0.5, 0.5, 0.5))
    printed = np.zeros((13, 6))
    printed[[0, 1, 4, 6, 7, 8, 9], 0] = (-0.48, -0.48, 0.18, -0.25, -0.34, -0.42, -0.40)
    printed[[2, 3, 7, 11], 1] = (0.79, 0.62, -0.02, 0.01)
    printed[[4, 5, 6, 12], 2] = (0.64, 0.59, 0.49, -0.02)
    printed[[10, 11, 12], [3, 4, 5]] = 1.0
    signs = np.sign(np.sum(V * printed, axis=0))
    assert np.array_equal(V != 0.0, printed != 0.0)
    assert_allclose(V * signs, printed, atol=0.006)


def test_spca_without_a_penalty_is_pca(pitprops):
    V = rivals.spca_components(pitprops, (0.0, 0.0), ridge=1e-9)
    truth = np.linalg.eigh(np.asarray(pitprops.A))[1][:, :-3:-1]
    assert_allclose(np.abs(np.sum(V * truth, axis=0)), 1.0, atol=1e-4)


def test_spca_components_at_the_limits(pitprops):
    assert not rivals.spca_components(pitprops, (1e6,)).any()
    assert not rivals.spca_components(Pencil(np.zeros((3, 3))), (0.1, 0.1)).any()
    for lassos, text in (((), "must list numbers"), ((0.1,) * 14, "1 to n = 13"), ((-0.1,), "out of range")):
        with pytest.raises(InvalidParameter, match=text):
            rivals.spca_components(pitprops, lassos)
    with pytest.raises(InvalidParameter, match="B = I"):
        rivals.spca_components(Pencil(np.eye(2), 2.0 * np.eye(2)), (0.1,))
