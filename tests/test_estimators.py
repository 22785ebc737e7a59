"""The estimators: scikit-learn's own checks, their mathematics, pipelines, grids, frames and bad settings."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from dcgev_cvx import (
    DCCCA,
    DCFDA,
    DCPCA,
    MCP,
    SCAD,
    InvalidParameter,
    cca_pencil,
    components,
    datasets,
    dc_pca,
    deflate,
    pca_pencil,
    sparse_gev,
)
from dcgev_cvx._numerics.data_tables import Table
from dcgev_cvx.estimators import held_out_correlation
from dcgev_cvx.search import explained_variance

SKIPPED = {"check_array_api_input"}
"""Left out: the estimators do not claim array API support, and the check skips itself for that."""


FORMS = (
    DCPCA(),
    DCPCA(rho=0.1),
    DCPCA(k=1, scale=True, center=False),
    DCCCA(ridge=0.1),
    DCCCA(kx=1, ky=1, ridge=(0.5, 0.5), scale=False),
    DCFDA(),
    DCFDA(k=1, refit=False),
    DCFDA(nu=0.1),
)


def all_checks():
    for estimator in (*FORMS, DCCCA()):
        for number, (owner, check) in enumerate(estimator_checks_generator(estimator)):
            name = getattr(check, "func", check).__name__
            marks = pytest.mark.slow if str(owner) == str(DCCCA()) else ()  # cross-validation takes seconds
            if name not in SKIPPED:
                yield pytest.param(owner, check, id=f"{estimator}-{number}-{name}", marks=marks)


@pytest.mark.parametrize(("estimator", "check"), list(all_checks()))
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def planted(m=200, n=30, k=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    X[:, :k] += 2.0 * rng.standard_normal((m, 1))
    return X


# --- DCPCA


def test_pca_finds_the_planted_variables():
    model = DCPCA(k=4).fit(planted())
    assert set(np.flatnonzero(model.components_[0])) == {0, 1, 2, 3}
    assert np.linalg.norm(model.components_[0]) == pytest.approx(1.0)


def test_dense_pca_is_pca():
    X = planted(n=6) * np.arange(1, 7)
    mine = DCPCA(3, k=6).fit(X)
    theirs = PCA(3).fit(X)
    np.testing.assert_allclose(np.abs(mine.components_), np.abs(theirs.components_), atol=1e-6)
    np.testing.assert_allclose(np.abs(mine.transform(X)), np.abs(theirs.transform(X)), atol=1e-5)
    np.testing.assert_allclose(
        mine.inverse_transform(mine.transform(X)), theirs.inverse_transform(theirs.transform(X)), atol=1e-5
    )
    np.testing.assert_allclose(mine.projector_trace_, np.cumsum(theirs.explained_variance_ratio_), atol=1e-8)


def test_pca_score_on_the_training_data_is_the_projector_trace():
    X = planted()
    for settings in ({}, {"scale": True}, {"center": False}):
        model = DCPCA(3, k=[4, 2, 2], **settings).fit(X)
        assert model.score(X) == pytest.approx(model.projector_trace_[-1])
        pencil = pca_pencil(X, **settings)
        assert model.projector_trace_[-1] == pytest.approx(
            explained_variance.projector_trace(pencil, model.components_.T)
        )
        assert model.adjusted_[-1] == pytest.approx(explained_variance.adjusted(pencil, model.components_.T))
        assert model.plain_sum_[-1] == pytest.approx(explained_variance.plain_sum(pencil, model.components_.T))


def test_pca_reconstruction_is_the_projection():
    X = planted(n=8)
    model = DCPCA(2, k=3, scale=True).fit(X)
    again = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(model.transform(again), model.transform(X), atol=1e-10)
    Z = (X - model.mean_) / model.scale_
    P = model.components_.T @ np.linalg.pinv(model.components_.T)
    np.testing.assert_allclose((again - model.mean_) / model.scale_, Z @ P, atol=1e-10)


def test_pca_is_components_of_the_pencil():
    X = planted(n=10)
    model = DCPCA(2, k=3, deflation="projection").fit(X)
    found = components(pca_pencil(X), [3, 3], deflation="projection")
    np.testing.assert_array_equal(model.components_, found.V.T)


def test_rho_runs_algorithm_2():
    X = planted(n=10)
    model = DCPCA(rho=0.5).fit(X)
    result = dc_pca(pca_pencil(X), rho=0.5)
    np.testing.assert_array_equal(model.components_[0], result.x / np.linalg.norm(result.x))
    (solution,) = model.solutions_
    assert solution.method == "Algorithm 2 (dc_pca)"
    assert (solution.rho, solution.certificate) == (0.5, result.certificate)


@pytest.mark.parametrize("deflation", ["orthogonalized-hotelling", "hotelling", "projection", "schur"])
def test_rho_with_several_components_deflates_between_them(deflation):
    X = planted(n=10)
    model = DCPCA(3, rho=0.1, deflation=deflation).fit(X)
    pencil, found = pca_pencil(X), np.zeros((10, 0))
    for j, x in enumerate(model.components_):
        if j:
            pencil = deflate(pencil, model.components_[j - 1], deflation, found[:, : j - 1])
        run = dc_pca if pencil.semidefinite else sparse_gev
        assert model.solutions_[j].method == ("Algorithm 2 (dc_pca)" if run is dc_pca else "Algorithm 1 (sparse_gev)")
        np.testing.assert_allclose(np.abs(run(pencil, rho=0.1).x), np.abs(x), atol=1e-6)
        found = np.linalg.qr(model.components_[: j + 1].T)[0]
    assert model.score(X) == pytest.approx(model.projector_trace_[-1])


def test_grid_search_picks_a_cardinality_and_pipelines_work():
    X = planted()
    grid = GridSearchCV(DCPCA(effort="quick"), {"k": [1, 2, 4, 30]}, cv=3).fit(X)
    assert grid.best_params_["k"] in (4, 30)
    assert len(grid.cv_results_["mean_test_score"]) == 4
    assert make_pipeline(StandardScaler(), DCPCA(2, k=3)).fit_transform(X).shape == (200, 2)


def test_frames_names_and_set_output():
    frame = pd.DataFrame(planted(n=5), columns=list("abcde"))
    model = DCPCA(2, k=2).set_output(transform="pandas").fit(frame)
    assert list(model.transform(frame).columns) == ["dcpca0", "dcpca1"]
    assert list(model.get_feature_names_out()) == ["dcpca0", "dcpca1"]
    assert list(model.feature_names_in_) == list("abcde")
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[list("edcba")])


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_matrix])
def test_sparse_input_gives_the_same_answer(kind):
    X = np.where(np.abs(planted(n=8)) > 1, planted(n=8), 0.0)
    y = np.arange(200) % 2
    np.testing.assert_allclose(DCPCA(k=2).fit(kind(X)).components_, DCPCA(k=2).fit(X).components_, atol=1e-12)
    np.testing.assert_allclose(
        DCFDA(k=2).fit(kind(X), y).decision_function(X), DCFDA(k=2).fit(X, y).decision_function(kind(X))
    )
    one, two = DCCCA(kx=2, ky=1).fit(kind(X[:, :5]), kind(X[:, 5:])), DCCCA(kx=2, ky=1).fit(X[:, :5], X[:, 5:])
    np.testing.assert_allclose(one.x_weights_, two.x_weights_, atol=1e-12)


@pytest.mark.parametrize("setting", [{"k": 3}, {"rho": 0.5}])
def test_wide_sparse_input_is_never_made_dense(setting, monkeypatch):
    X = np.where(np.abs(planted(60, 1200)) > 1, planted(60, 1200), 0.0)
    kept = X.var(axis=0) >= setting.get("rho", 0.0)  # no other variable pays its price
    dense = DCPCA(2, deflation="projection", **setting).fit(X[:, kept])
    monkeypatch.setattr("dcgev_cvx._numerics.checks.MAX_BYTES", 0)
    model = DCPCA(2, deflation="projection", **setting).fit(sp.csr_array(X))
    np.testing.assert_allclose(model.values_, dense.values_, rtol=1e-6)
    np.testing.assert_allclose(model.mean_[kept], dense.mean_, atol=1e-14)
    scores = (X - model.mean_) @ model.components_.T
    np.testing.assert_allclose(model.transform(sp.csr_array(X)), scores, atol=1e-12)


def test_more_variables_than_samples():
    X = planted(20, 300)
    model = DCPCA(3, k=5, deflation="projection").fit(X)
    assert (np.count_nonzero(model.components_, axis=1) == 5).all()


# --- DCCCA


def views(m=150, p=20, q=15, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((m, 1))
    X, Y = rng.standard_normal((m, p)), rng.standard_normal((m, q))
    X[:, :3] += z
    Y[:, :2] += z
    return X, Y


def test_cca_finds_the_shared_variables_and_holds_out():
    X, Y = views()
    model = DCCCA(kx=3, ky=2).fit(X, Y)
    assert set(np.flatnonzero(model.x_weights_[:, 0])) == {0, 1, 2}
    assert set(np.flatnonzero(model.y_weights_[:, 0])) == {0, 1}
    fresh = views(seed=1)
    assert model.score(*fresh) > 0.55
    assert np.corrcoef(*[s[:, 0] for s in model.transform(*fresh)])[0, 1] == pytest.approx(model.score(*fresh))


def test_dense_cca_without_ridge_is_cca():
    X, Y = views(p=4, q=3)
    model = DCCCA(3, kx=4, ky=3, ridge=0.0, deflation="projection").fit(X, Y)
    Qx, Qy = (np.linalg.qr(V - V.mean(0))[0] for V in (X, Y))
    np.testing.assert_allclose(model.values_, np.linalg.svd(Qx.T @ Qy)[1], atol=1e-6)


def test_cca_is_unmoved_by_units():
    X, Y = views(p=6, q=5)
    plain, scaled = DCCCA(kx=2, ky=2).fit(X, Y), DCCCA(kx=2, ky=2).fit(1000.0 * X + 3.0, Y / 50.0)
    np.testing.assert_allclose(plain.transform(X), scaled.transform(1000.0 * X + 3.0), atol=1e-8)


def test_cca_in_a_grid_and_with_one_dependent_variable():
    X, Y = views()
    grid = GridSearchCV(DCCCA(effort="quick", ridge=0.1), {"kx": [1, 3], "ky": [2]}, cv=3).fit(X, Y)
    assert grid.best_params_ == {"kx": 3, "ky": 2}
    assert DCCCA(kx=3, ridge=0.1).fit(X, Y[:, 0]).transform(X, Y[:, 0])[1].shape == (150, 1)


def test_the_scores_of_a_constant_view_correlate_with_nothing():
    X, Y = views(p=4, q=2)
    assert DCCCA(kx=1, ky=1).fit(X, Y).score(np.ones((5, 4)), Y[:5]) == 0.0


# --- DCFDA


def test_dense_two_class_fda_is_lda():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :6]
    mine, theirs = DCFDA(k=6, ridge=0.0).fit(X, y), LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    np.testing.assert_allclose(mine.decision_function(X), theirs.decision_function(X), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-8)


def test_dense_many_class_fda_is_lda():
    X, y = load_iris(return_X_y=True)
    mine, theirs = DCFDA(k=4, ridge=0.0).fit(X, y), LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    assert mine.n_components_ == 2
    np.testing.assert_allclose(mine.predict_proba(X), theirs.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(np.exp(mine.predict_log_proba(X)), mine.predict_proba(X), atol=1e-12)


def classes_on_a_line():
    """Three classes whose means differ in the first variable alone: scatter of rank one."""
    half = np.random.default_rng(0).standard_normal((10, 4))
    X, y = np.vstack([half, -half] * 3), np.repeat([0, 1, 2], 20)
    return X + 3.0 * y[:, None] * np.eye(4)[0], y


def test_classes_on_a_line_have_one_discriminant():
    X, y = classes_on_a_line()
    assert DCFDA().fit(X, y).components_.shape == (1, 4)
    with pytest.raises(InvalidParameter, match=r"n_components with 3 classes = 2 must be .* at most 1"):
        DCFDA(n_components=2).fit(X, y)


def test_discriminants_that_are_one_vector_count_once():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], 30)
    X = rng.standard_normal((90, 3)) + 20.0 * y[:, None] * np.eye(3)[0]
    twice, once = DCFDA(k=1).fit(X, y), DCFDA(k=1, n_components=1).fit(X, y)
    assert (twice.components_ != 0).tolist() == [[True, False, False]] * 2
    np.testing.assert_allclose(twice.predict_proba(X), once.predict_proba(X), atol=1e-12)
    assert twice.score(X, y) == once.score(X, y) == 1.0


def test_a_few_variables_tell_breast_cancer():
    X, y = load_breast_cancer(return_X_y=True)
    assert cross_val_score(DCFDA(k=5), X, y, cv=5).mean() > 0.93
    assert np.count_nonzero(DCFDA(k=5).fit(X, y).components_) == 5


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_predictions_are_those_of_linear_discriminant_analysis_on_the_chosen_variables(load):
    X, y = load(return_X_y=True)
    model = DCFDA(k=2, effort="quick").fit(X[::2], y[::2])
    chosen = model.components_.any(axis=0)
    plain = LinearDiscriminantAnalysis(solver="eigen").fit(X[::2, chosen], y[::2])
    np.testing.assert_allclose(model.predict_proba(X[1::2]), plain.predict_proba(X[1::2, chosen]), rtol=1e-6, atol=1e-9)
    assert not model.coef_[:, ~chosen].any()


def test_labels_that_scikit_learn_cannot_score_raise_our_error():
    X, y, _ = datasets.two_gaussians(8, 2)
    model = DCFDA(k=2).fit(X, y)
    for labels in (y.astype("S"), pd.arrays.SparseArray(y)):
        with pytest.raises(InvalidParameter, match="the data cannot be used"):
            model.score(X, labels)


def test_without_refit_only_the_scores_count():
    X, y = load_wine(return_X_y=True)
    model = DCFDA(k=2, effort="quick", refit=False).fit(X, y)
    directions = model.components_.T
    assert np.linalg.matrix_rank(np.column_stack([directions, model.coef_.T])) == directions.shape[1]
    with pytest.raises(InvalidParameter, match="refit"):
        DCFDA(refit=2).fit(X, y)


def test_nu_is_the_other_way_to_sparsity():
    X, y, support = datasets.two_gaussians(15, 3, samples=200)
    model = DCFDA(nu=0.1).fit(X, y)
    assert set(np.flatnonzero(model.components_[0])) == set(support)
    assert model.score(X, y) > 0.9


def test_labels_and_names():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = DCFDA(k=2).fit(X, np.array(["u", "v", "w"])[y])
    assert set(model.predict(X)) == {"u", "v", "w"}
    assert list(model.get_feature_names_out()) == ["dcfda0", "dcfda1"]
    assert model.score(X, np.array(["u", "v", "w"])[y]) > 0.9


@pytest.mark.parametrize("seed", range(2))
def test_automatic_shrinkage_has_the_largest_correlation_on_held_out_samples(seed):
    X, Y = datasets.genes_and_lipids(60, rng=seed)
    X, Y = (Table(StandardScaler().fit_transform(view), None) for view in (X[:, :12], Y[:, :8]))
    analytic = cca_pencil(X.X, Y.X, ridge="auto").shrinkage
    rng = np.random.default_rng(seed)
    splits = [rng.permutation(60) % 3 for _ in range(5)]  # 5·60 = 300
    ridges = ("auto", (0.1, 0.1), (0.98, 0.98))
    means = [np.mean([held_out_correlation(X, Y, ridge, (2, 2), fold) for fold in splits]) for ridge in ridges]
    best = ridges[int(np.argmax(means))]
    found = DCCCA(kx=2, ky=2, effort="quick", random_state=seed).fit(X.X, Y.X).shrinkage_
    assert found == pytest.approx(analytic if best == "auto" else best)
    assert DCCCA(kx=2, ky=2, ridge=0.1, effort="quick").fit(X.X, Y.X).shrinkage_ is None


@pytest.mark.parametrize("seed", range(4))
def test_rounding_does_not_choose_the_shrinkage(seed):
    """Where two ridges find the same pair, X times 1 + 1e-12 used to change the answer."""
    X, Y = (view + 0.0 for view in datasets.genes_and_lipids(60, rng=seed))
    X, Y = X[:, :6], Y[:, :4]
    plain, moved = (DCCCA(kx=1, ky=1, effort="quick").fit(X * size, Y) for size in (1.0, 1.0 + 1e-12))
    assert moved.values_ == pytest.approx(plain.values_, rel=1e-6)


def test_automatic_shrinkage_keeps_correlations_that_a_pair_of_variables_needs():
    """z is the difference of two variables: the analytic shares, close to 1, miss the pair."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((100, 50)), rng.standard_normal((100, 50))
    z = rng.standard_normal(100)
    for view in (X, Y):
        both = 2.0 * view[:, 0]
        view[:, 0], view[:, 1] = both + z, both - z + 0.3 * view[:, 1]
    model = DCCCA(kx=2, ky=2, effort="quick").fit(X, Y)
    assert model.shrinkage_ == (0.1, 0.1)
    assert [list(np.flatnonzero(w[:, 0])) for w in (model.x_weights_, model.y_weights_)] == [[0, 1], [0, 1]]
    missed = DCCCA(kx=2, ky=2, effort="quick", ridge=cca_pencil(X, Y, ridge="auto").shrinkage).fit(X, Y)
    assert missed.score(X, Y) < 0.5 < model.score(X, Y)


def test_held_out_correlation_scores_each_sample_by_a_pair_found_without_it():
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((40, 6)), rng.standard_normal((40, 5))
    Y[:, 0] += X[:, 0]
    fold = np.random.default_rng(3).permutation(40) % 3
    scores = np.empty((2, 40))
    for i in range(3):
        model = DCCCA(kx=1, ky=1, ridge=(0.1, 0.1), scale=False).fit(X[fold != i], Y[fold != i])
        for row, part in zip(scores, model.transform(X[fold == i], Y[fold == i]), strict=True):
            row[fold == i] = part[:, 0]
    expected = scores[0] @ scores[1] / np.linalg.norm(scores[0]) / np.linalg.norm(scores[1])
    assert held_out_correlation(Table(X, None), Table(Y, None), (0.1, 0.1), (1, 1), fold) == pytest.approx(expected)
    assert held_out_correlation(Table(X, None), Table(np.ones((40, 1)), None), (0.1, 0.1), (1, 1), fold) == 0.0


# --- all of them


def test_what_is_explained_is_named_as_in_scikit_learn():
    X = planted(n=6) * np.arange(1, 7)
    mine, theirs = DCPCA(3, k=6).fit(X), PCA(3).fit(X)
    np.testing.assert_allclose(mine.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-8)
    np.testing.assert_allclose(mine.explained_variance_ * 200 / 199, theirs.explained_variance_, rtol=1e-8)
    sparse = DCPCA(k=[3, 2, 1]).fit(X)
    assert sparse.explained_variance_ratio_.sum() == pytest.approx(sparse.score(X))


def test_a_list_of_cardinalities_says_how_many_components_there_are():
    X, Y = views()
    y = np.arange(len(X)) % 3
    assert DCPCA(k=[3, 2, 2]).fit(X).components_.shape[0] == 3
    assert DCCCA(kx=[2, 1], ky=1, ridge=0.1).fit(X, Y).x_weights_.shape[1] == 2
    assert DCCCA(ky=[2, 1], ridge=0.1).fit(X, Y).x_weights_.shape[1] == 2
    assert DCFDA(k=[2]).fit(X, y).components_.shape[0] == 1


def test_the_default_cardinality_is_said():
    assert repr(DCPCA()) == "DCPCA(k=⌈n_features/10⌉)"
    assert repr(DCPCA(2, rho=0.1)) == "DCPCA(n_components=2, rho=0.1)"
    assert repr(DCCCA(kx=3)) == "DCCCA(kx=3, ky=⌈n_features/10⌉)"


def test_solutions_have_the_names_and_values_of_the_model():
    X, Y = views()
    y = np.arange(len(X)) % 3
    X = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
    Y = pd.DataFrame(Y, columns=[f"lipid {j}" for j in range(Y.shape[1])])
    pca, cca = DCPCA(k=2).fit(X), DCCCA(kx=2, ky=1, ridge=0.1).fit(X, Y)
    fda, pair, priced = DCFDA(k=[2, 1]).fit(X, y), DCFDA(k=2).fit(X, y > 0), DCFDA(nu=0.001).fit(X, y > 0)
    assert cca.solutions_[0].names == (*X.columns, *Y.columns)
    for model in (pca, fda, pair, priced):
        assert model.solutions_[0].names == (*X.columns,)
        np.testing.assert_array_equal([found.x for found in model.solutions_], model.components_)
        np.testing.assert_array_equal([found.value for found in model.solutions_], model.values_)
    # the ratio of Fisher: the variance of the class means over the mean variance within, and the ridge
    Z = X.to_numpy() / X.to_numpy().std(axis=0) @ pair.components_[0]
    groups = Z[y > 0], Z[y == 0]
    within = sum(len(group) * group.var() for group in groups) / len(Z)
    ridge = 0.01 * float(np.sum(pair.components_[0] ** 2))
    between = sum(len(group) * (group.mean() - Z.mean()) ** 2 for group in groups) / len(Z)
    assert pair.values_[0] == pytest.approx(between / (within + ridge))
    assert within + ridge == pytest.approx(1.0)


def test_another_penalty_takes_the_place_of_the_log():
    X = planted(n=10)
    y = X[:, 0] > 0
    model, run = DCPCA(rho=0.5, penalty=MCP()).fit(X), dc_pca(pca_pencil(X), rho=0.5, penalty=MCP())
    np.testing.assert_allclose(model.components_[0], run.x / np.linalg.norm(run.x))
    assert not np.allclose(model.components_, DCPCA(rho=0.5).fit(X).components_)
    a, b = DCFDA(nu=0.02, penalty=SCAD()).fit(X, y), DCFDA(nu=0.02).fit(X, y)
    assert not np.allclose(a.components_, b.components_)
    for model in (DCPCA(k=2, penalty=MCP()), DCFDA(k=2, penalty=MCP())):
        with pytest.raises(InvalidParameter, match=r"penalty = MCP.* is used with (rho|nu) only"):
            model.fit(X, y)


@pytest.mark.parametrize("constant", [0, 1])
def test_a_constant_view_is_an_error(constant):
    data = [*views()]
    data[constant] = np.full_like(data[constant], 0.1)
    with pytest.raises(InvalidParameter, match=f"{'XY'[constant]} has no variance: every column is constant"):
        DCCCA().fit(*data)


def test_the_same_random_state_gives_the_same_bits_and_a_generator_works():
    X = planted(60, 70)
    one, two = (DCPCA(k=5, random_state=3).fit(X).components_ for _ in range(2))
    assert np.array_equal(one, two)
    for state in (np.random.RandomState(0), np.random.default_rng(0), None):
        assert np.count_nonzero(DCPCA(k=5, random_state=state).fit(X).components_) == 5


def loadings(model):
    return model.x_weights_.T if isinstance(model, DCCCA) else model.components_


@pytest.mark.parametrize("seed", range(4))
def test_answers_follow_permuted_flipped_and_rescaled_variables(seed):
    X = planted(60, 8, seed=seed) @ np.diag(np.arange(1, 9.0))
    y = np.where(X[:, 0] + X[:, 4] > 0, 1, 0)
    rng = np.random.default_rng(seed)
    order, signs = rng.permutation(8), rng.choice([-1.0, 1.0], 8)
    for model, fit in ((DCPCA(2, k=3), (None,)), (DCFDA(k=3), (y,)), (DCCCA(kx=3, ky=1, ridge=0.1), (X[:, :1] ** 2,))):
        plain = np.abs(loadings(clone(model).fit(X, *fit)))
        moved = np.abs(loadings(clone(model).fit((X * signs)[:, order], *fit)))
        np.testing.assert_allclose(moved, plain[:, order], atol=1e-6)
        np.testing.assert_allclose(
            np.abs(clone(model).fit(64.0 * X, *fit).transform(64.0 * X)),
            (64.0 if isinstance(model, DCPCA) else 1.0) * np.abs(clone(model).fit(X, *fit).transform(X)),
            rtol=1e-6,
            atol=1e-6,
        )


def test_fitted_models_pickle_and_clone():
    model = DCPCA(2, k=3).fit(planted(n=8))
    assert np.array_equal(pickle.loads(pickle.dumps(model)).components_, model.components_)
    assert not hasattr(clone(model), "components_")


X0, Y0 = views(p=5, q=4)
LABELS = np.arange(150) % 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: DCPCA(k=0).fit(X0), "k = 0 must be a whole number of at least 1"),
        (lambda: DCPCA(k=6).fit(X0), "k = 6 must be at most n_features = 5"),
        (lambda: DCPCA(k=1.5).fit(X0), "k = 1.5 must be a whole number"),
        (lambda: DCPCA(0).fit(X0), "n_components = 0"),
        (lambda: DCPCA(2.0).fit(X0), "n_components = 2.0"),
        (lambda: DCPCA(2, k=[1, 2, 3]).fit(X0), "must have 2 entries, one per component"),
        (lambda: DCPCA(2, deflation="shur").fit(X0), "did you mean 'schur'"),
        (lambda: DCPCA(random_state="x").fit(X0), "random_state = 'x' must be a whole number"),
        (lambda: DCPCA(random_state=-1).fit(X0), "random_state = -1"),
        (lambda: DCPCA(effort="heroic").fit(X0), "effort = 'heroic'"),
        (lambda: DCPCA(k=1, scale=True).fit(np.column_stack([X0, np.ones(150)])), "constant column"),
        (lambda: DCPCA(k=1).fit(X0).inverse_transform(X0), "Z has 5 columns but there are 1 components"),
        (lambda: DCPCA(k=1).fit(X0).score(np.tile(X0.mean(0), (3, 1))), "no variance to explain"),
        (lambda: DCPCA(k=1, rho=0.1).fit(X0), "k = 1 and rho = 0.1 were both given"),
        (lambda: DCPCA(rho=-1.0).fit(X0), "rho = -1 is out of range"),
        (lambda: DCPCA(rho=1e6).fit(X0), "rho = 1000000.0 gives x = 0 for component 1: lower rho"),
        (lambda: DCCCA(kx=6).fit(X0, Y0), "kx = 6 must be at most n_features = 5"),
        (lambda: DCCCA(ridge=-1).fit(X0, Y0), "ridge = -1"),
        (lambda: DCCCA().fit(X0, Y0[:-1]), "X has 150 rows but Y has 149"),
        (lambda: DCCCA().fit(X0, Y0).transform(X0, Y0[:, :2]), "y is 150×2 where 150×4 is expected"),
        (lambda: DCFDA(k=1, nu=0.1).fit(X0, LABELS), "both given"),
        (
            lambda: DCFDA(nu=0.1).fit(X0, np.arange(150) % 3),
            "Only binary classification is supported with nu = 0.1, but y has 3 classes",
        ),
        (
            lambda: DCFDA(n_components=2).fit(X0, LABELS),
            "n_components with 2 classes = 2 must be .* at most 1",
        ),
        (
            lambda: DCFDA(n_components=3).fit(X0, np.arange(150) % 3),
            "n_components with 3 classes = 3 must be .* at most 2",
        ),
        (lambda: DCFDA().fit(X0, np.r_[np.zeros(149), 1]), "one member only"),
        (lambda: DCFDA(k=1).fit(np.full((150, 3), 0.1), np.arange(150) % 3), "the means of the 3 classes coincide"),
        (lambda: DCFDA(nu=-1.0).fit(X0, LABELS), "nu = -1"),
        (lambda: DCFDA(deflation="shur").fit(X0, LABELS), "did you mean 'schur'"),
        (lambda: DCFDA(effort="heroic").fit(X0, LABELS), "effort = 'heroic'"),
        (lambda: DCFDA(random_state=-1).fit(X0, LABELS), "random_state = -1"),
        (lambda: DCFDA(nu=0.1, deflation=None).fit(X0, LABELS), "deflation = None"),
        (lambda: DCPCA(k="2").fit(X0), "k = '2' must be a whole number"),
        (lambda: DCPCA(k=np.array(2.0)).fit(X0), r"k = array\(2.\) must be a whole number"),
    ],
)
def test_bad_settings(call, message):
    with pytest.raises(InvalidParameter, match=message):
        call()


# --- awkward data


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "a", "b", "b", "c", "d"], "one member only: 'c', 'd'"),
        (["a"] * 6, r"one class only \(\['a'\]\)"),
        (np.array(["a", None] * 3, dtype=object), "3 missing labels"),
        (np.array(["a", 1] * 3, dtype=object), "class labels of one type that can be sorted"),
        (np.array([0.0, np.nan] * 3), "Input y contains NaN"),
        (pd.array([0, pd.NA] * 3), "y has 3 masked entries"),
        (np.ma.array([0, 1] * 3, mask=[True, True, False, False, False, False]), "y has 2 masked entries"),
        (sp.csr_array(np.array([[0], [1]] * 3)), "the data cannot be used: Sparse data was passed for y"),
        (np.linspace(0.0, 1.0, 6), "Unknown label type"),
    ],
)
def test_bad_labels_are_named_as_they_were_given(labels, message):
    with pytest.raises(InvalidParameter, match=message):
        DCFDA(k=1).fit(np.random.default_rng(0).standard_normal((6, 3)), labels)


@pytest.mark.parametrize("make", [lambda X: DCPCA(k=1).fit(X), lambda X: DCFDA(k=1).fit(X, ["a", "b", "a", "b"])])
def test_columns_of_a_frame_that_are_no_numbers_are_named(make):
    with pytest.raises(InvalidParameter, match="not numbers: 'town'"):
        make(pd.DataFrame({"age": [1.0, 2.0, 3.0, 5.0], "town": list("xyzx")}))


NO_NUMBERS = {
    "text": (lambda X: X.astype(str), "Convert your data to numeric values"),
    "bytes": (lambda X: X.astype("S"), "Convert your data to numeric values"),
    "a list of text": (lambda X: X.astype(str).tolist(), "Convert your data to numeric values"),
    "dates": (
        lambda X: np.zeros(X.shape, dtype="datetime64[s]"),
        "is not an array of real numbers: its dtype is datetime64",
    ),
    "text in a frame": (lambda X: pd.DataFrame(X).astype({0: str}), "1 column.s. that are not numbers: '0'"),
    "dates in a frame": (lambda X: pd.DataFrame(X).assign(day=pd.Timestamp(0)), "that are not numbers: 'day'"),
    "dates and names": (lambda X: pd.DataFrame(X).assign(day=0.0), "the data cannot be used: Feature names are"),
    "a dictionary": (lambda X: {"a": X}, "Expected 2D array"),
    "an iterator": (iter, "Expected 2D array"),
    "a gap": (lambda X: np.where(X[1, 2] == X, np.nan, X), r"X has 1 entries .* in column\(s\) 2: drop"),
    "a gap in a sparse matrix": (
        lambda X: sp.csr_array(np.where(X[1, 2] == X, np.nan, X)),
        r"X has .*entries .* in column\(s\) 2: drop",
    ),
    "one sample": (lambda X: X[0], "Expected 2D array, got 1D array"),
}


@pytest.mark.parametrize("name", NO_NUMBERS)
def test_tables_that_are_not_of_numbers(name):
    """In fit, transform and predict alike: "1.5" is text, and a column of it is worth hearing of."""
    convert, message = NO_NUMBERS[name]
    wrong = convert(X0)
    found = DCPCA(k=1).fit(X0), DCCCA(kx=1, ky=1).fit(X0, Y0), DCFDA(k=1).fit(X0, LABELS)
    for call in (
        DCPCA(k=1).fit,
        lambda X: DCFDA(k=1).fit(X, LABELS),
        lambda X: DCCCA(kx=1, ky=1).fit(X, Y0),
        *(model.transform for model in found),
        found[0].score,
        found[2].predict,
        found[2].predict_proba,
    ):
        with pytest.raises(InvalidParameter, match=message):
            call(wrong)


def test_string_labels_in_any_order_give_the_classes_of_codes():
    X = planted(m=60, n=6)
    y = np.array(["late", "early", "never"] * 20)
    X[y == "never", 2] += 5.0
    codes = np.unique(y, return_inverse=True)[1]
    words, numbers = DCFDA(k=2).fit(X, y), DCFDA(k=2).fit(X, codes)
    assert list(words.classes_) == ["early", "late", "never"]
    assert np.array_equal(words.predict(X), words.classes_[numbers.predict(X)])


def test_constants_and_duplicates_beside_good_columns():
    """A constant column is never chosen; of two equal ones both may be, and the scores are finite."""
    X = planted(m=40, n=8)
    X[:, 5], X[:, 6] = 2.0, X[:, 0]
    y = np.arange(40) % 2
    X[:, 1] += y
    Y = X[:, :3] + np.random.default_rng(1).standard_normal((40, 3))
    for model in (DCPCA(k=4).fit(X), DCCCA(kx=3, ky=2).fit(X, Y), DCFDA(k=3).fit(X, y)):
        weights = model.x_weights_.T if isinstance(model, DCCCA) else model.components_
        assert np.all(weights[:, 5] == 0.0)
        assert np.all(np.isfinite(model.transform(X)))


def test_two_samples_in_each_class_and_more_variables_than_samples():
    X = np.random.default_rng(0).standard_normal((6, 30))
    y = list("aabbcc")
    model = DCFDA(k=3).fit(X, y)
    assert [int(np.count_nonzero(row)) for row in model.components_] == [3, 3]
    assert model.predict(X).tolist() == y


def test_without_scikit_learn_the_error_names_the_extra():
    code = """
import sys
sys.modules["sklearn"] = None
import dcgev_cvx
dcgev_cvx.solve(dcgev_cvx.datasets.pitprops(), 3)
try:
    dcgev_cvx.DCPCA
except dcgev_cvx.MissingPackage as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'dcgev-cvx[estimators]'" in done.stdout


def test_targets_are_matched_by_row_labels():
    rng = np.random.default_rng(8)
    z = rng.standard_normal((40, 1))
    frame = pd.DataFrame(rng.standard_normal((40, 7)) + 2.0 * z, [f"s{i}" for i in range(40)], list("abcdpqr"))
    X, Y, y, order = frame[list("abcd")], frame[list("pqr")], pd.Series(z[:, 0] > 0, frame.index), rng.permutation(40)
    fda, cca = DCFDA(k=2).fit(X, y), DCCCA(kx=1, ky=1, effort="quick").fit(X, Y)
    assert np.array_equal(DCFDA(k=2).fit(X, y.iloc[order]).components_, fda.components_)
    assert fda.score(X, y.iloc[order]) == fda.score(X, y) == fda.score(X, y.to_numpy())
    assert np.array_equal(DCCCA(kx=1, ky=1, effort="quick").fit(X, Y.iloc[order]).values_, cca.values_)
    assert cca.score(X, Y.iloc[order]) == cca.score(X, Y)
    with pytest.raises(InvalidParameter, match="different row labels"):
        DCFDA(k=2).fit(X, y.set_axis(range(40)))
    with pytest.raises(InvalidParameter, match=r"columns of y .* same labels in another order"):
        cca.transform(X, Y[["q", "p", "r"]])


@pytest.mark.parametrize("columns", [[0, 1, 2], pd.date_range("2020", periods=3)])
def test_columns_in_another_order_are_refused_whatever_their_labels(columns):
    X = pd.DataFrame(np.random.default_rng(9).standard_normal((20, 3)), columns=columns)
    model = DCPCA(k=2, effort="quick").fit(X)
    assert np.array_equal(model.transform(X), model.transform(X.to_numpy()))
    with pytest.raises(InvalidParameter, match="the columns of X in fit and those of X now have the same labels in"):
        model.transform(X.iloc[:, ::-1])


@pytest.mark.parametrize("entry", ["1", b"1", np.timedelta64(1, "D")])
def test_objects_that_scikit_learn_would_convert_are_refused(entry):
    X = np.random.default_rng(9).standard_normal((20, 3)).astype(object)
    X[3, 1] = entry
    with pytest.raises(InvalidParameter, match="X holds text, dates or complex numbers"):
        DCPCA(k=2).fit(X)


def test_numbers_beyond_the_range_of_doubles_are_refused():
    X = np.random.default_rng(9).standard_normal((20, 3)).astype(object)
    X[3, 1] = 10**400
    with pytest.raises(InvalidParameter, match="the data cannot be used"):
        DCPCA(k=2).fit(X)


def test_names_in_errors_of_scikit_learn_do_not_steer_the_terminal():
    X = pd.DataFrame(np.random.default_rng(9).standard_normal((20, 2)), columns=["u", "v"])
    with pytest.raises(InvalidParameter, match="Feature names unseen at fit time") as caught:
        DCPCA(k=1, effort="quick").fit(X).transform(X.set_axis(["\x1b[2J", "v"], axis=1))
    assert "\x1b" not in str(caught.value)
