"""Retrieval by CCA: ranking from its definition, kernels, projections, and translations that are found."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking import score
from retrieval import deflated_projection, dense_cca, kernel_views, plain_projection, sparse_cca
from sklearn.metrics import roc_auc_score

from dcgev_cvx import InvalidParameter


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 4))
def test_aroc_is_the_area_under_the_roc_curve(seed, n, d):
    """Against scikit-learn, one curve per query; small integers make ties."""
    rng = np.random.default_rng(seed)
    Q, T = (rng.integers(-2, 3, size=(n, d)).astype(float) for _ in range(2))
    areas = [roc_auc_score(np.arange(n) == i, -np.sum((T - Q[i]) ** 2, axis=1)) for i in range(n)]
    assert score(Q, T).aroc == pytest.approx(np.mean(areas), abs=1e-12)


def test_the_papers_examples_of_aroc():
    line = np.arange(101.0)[:, None]
    assert score(line, line).aroc == 1.0
    assert score(line, line).recall == 1.0
    queries, targets = np.zeros((101, 1)), np.arange(101.0)[:, None]
    assert score(queries, targets).aroc == pytest.approx(0.5)  # ranks 0, 1, …, 100: chance
    assert score(np.zeros((5, 1)), np.zeros((5, 1))).aroc == 0.5  # all tied


def test_kernels_are_inner_products_of_bags_centred(halves, views):
    E = halves[0].E.toarray()
    assert np.allclose(views[0].K, E @ E.T - (E @ E.T).mean(axis=0), atol=1e-12)
    chosen = np.array([3, 17, 40])
    Q = halves[1].E.toarray() @ E.T - (E @ E.T).mean(axis=0)
    assert np.allclose(views[0].similarities(halves[1].E, chosen), Q[:, chosen], atol=1e-12)


def test_deflated_scores_are_the_scores_of_deflated_data(views, components):
    """On the training documents: score j is X_j u_j with X_j deflated by the components before it."""
    N = views[0].n
    X = views[0].K / np.sqrt(N)
    projection = deflated_projection(views[0], components, 0)
    scores = views[0].K[:, projection.documents] @ projection.weights
    for j, component in enumerate(components):
        t = X @ component.vectors(N, N)[0]
        assert np.allclose(scores[:, j], t, atol=1e-8 * np.abs(t).max())
        X = X - np.outer(t, t @ X) / (t @ t)


def test_queries_touch_the_training_documents_of_the_supports_only(halves, views, components):
    documents = sorted({row for component in components for row in component.rows[0]})
    for project in (plain_projection, deflated_projection):
        projection = project(views[0], components, 0)
        assert projection.documents.tolist() == documents
        assert projection.evaluations == len(documents) < views[0].n
        full = views[0].similarities(halves[1].E, np.arange(views[0].n))
        assert np.allclose(projection(halves[1].E), full[:, documents] @ projection.weights, atol=1e-9)
    one = plain_projection(views[0], components, 0).first(1)
    assert one.evaluations == len(components[0].rows[0])


def test_translations_are_found_and_shuffled_pairs_are_not(halves, views, components):
    training, queries = halves
    dense = dense_cca(*views, 8)
    good = score(dense[0](queries.E), dense[1](queries.F)).aroc
    ours = [deflated_projection(view, components, side) for side, view in enumerate(views)]
    assert good > 0.9
    assert score(ours[0](queries.E), ours[1](queries.F)).aroc > 0.85
    wrong = kernel_views(training.shuffled(3))
    lost = dense_cca(*wrong, 8)
    assert abs(score(lost[0](queries.E), lost[1](queries.F)).aroc - 0.5) < 0.12


def test_more_components_than_the_rank_are_named(views):
    with pytest.raises(InvalidParameter, match="at least 1 and at most 99"):
        sparse_cca(*views, 120)
