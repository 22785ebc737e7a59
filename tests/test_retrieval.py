"""Retrieval by CCA: ranking from its definition, deflation and certificates against plain linear algebra."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from dcgev_cvx import InvalidParameter, Pencil, SparseGEV, certify
from dcgev_cvx.cli import main
from dcgev_cvx.reproduction import EXPERIMENTS, reproduce
from dcgev_cvx.reproduction.pieces import Pieces
from dcgev_cvx.reproduction.planted_text import planted_translations
from dcgev_cvx.reproduction.retrieval import (
    Component,
    deflated_projection,
    dense_cca,
    kernel_views,
    lsi,
    plain_projection,
    score,
    sparse_cca,
    sparse_pairs,
    unit_rows,
)
from dcgev_cvx.reproduction.retrieval.deflated import DeflatedViews
from dcgev_cvx.reproduction.retrieval.pairs import canonical_pairs
from dcgev_cvx.reproduction.wordspace import plot_words, word_components, word_table


@pytest.fixture(scope="module")
def corpus():
    return planted_translations(documents=240, rng=0)


@pytest.fixture(scope="module")
def halves(corpus):
    return corpus.split(160, 80, seed=1)


@pytest.fixture(scope="module")
def views(halves):
    return kernel_views(halves[0])


@pytest.fixture(scope="module")
def components(views):
    return sparse_cca(*views, 8, zeros=0.85)


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
    with pytest.raises(InvalidParameter, match="one shape"):
        score(line, line[:5])


def test_kernels_are_inner_products_of_bags_centred(halves, views):
    E = halves[0].E.toarray()
    assert np.allclose(views[0].K, E @ E.T - (E @ E.T).mean(axis=0), atol=1e-12)
    chosen = np.array([3, 17, 40])
    Q = halves[1].E.toarray() @ E.T - (E @ E.T).mean(axis=0)
    assert np.allclose(views[0].similarities(halves[1].E, chosen), Q[:, chosen], atol=1e-12)


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


def test_deflation_updates_what_recomputing_gives(views):
    """(I − ppᵀ)K and the covariances of the deflated data, from scratch."""
    state = DeflatedViews(views[0].K, views[1].K, 0.05)
    N = views[0].n
    X, Y = views[0].K / np.sqrt(N), views[1].K / np.sqrt(N)
    rng = np.random.default_rng(5)
    for _ in range(3):
        u, v = rng.standard_normal((2, N))
        p, q = X @ u / np.linalg.norm(X @ u), Y @ v / np.linalg.norm(Y @ v)
        X, Y = X - np.outer(p, p @ X), Y - np.outer(q, q @ Y)
        state.deflate(u, v)
    scale = np.abs(X.T @ Y).max()
    for ours, theirs in ((state.X, X), (state.Y, Y), (state.Sx, X.T @ X), (state.Sy, Y.T @ Y), (state.C, X.T @ Y)):
        assert np.allclose(ours, theirs, atol=1e-10 * scale)


def test_every_component_is_a_certified_stationary_point_of_its_deflated_pencil(views, components):
    """The certificate of the whole 2N-dimensional pencil, built here from the deflated data."""
    N = views[0].n
    state = DeflatedViews(views[0].K, views[1].K, 0.03)
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


def test_components_are_sparse_positive_and_unit(views, components):
    k = int(0.15 * views[0].n)
    for component in components:
        assert all(1 <= len(rows) <= k for rows in component.rows)
        assert 0.0 < component.correlation <= 1.0
        assert component.rho > 0.0
    first = components[0]
    assert first.correlation >= 0.9 * DeflatedViews(views[0].K, views[1].K, 0.03).dense.values[0]


def test_a_sparse_component_sees_the_whole_when_nothing_is_zero(views):
    """Without sparsity the first component is the dense pair."""
    state = DeflatedViews(views[0].K, views[1].K, 0.03)
    (found,) = sparse_cca(*views, 1, zeros=0.0)
    assert found.correlation == pytest.approx(state.dense.values[0], rel=1e-4)


def test_component_j_does_not_depend_on_d_nor_on_an_interruption(views, components):
    again = sparse_cca(*views, 3, zeros=0.85)
    assert [c.rows for c in again] == [c.rows for c in components[:3]]
    seen = []
    resumed = sparse_cca(*views, 5, zeros=0.85, known=components[:4], callback=seen.append)
    assert len(seen) == 1
    assert resumed[4].rows == components[4].rows
    assert resumed[4].loadings == components[4].loadings
    assert Component.from_dict(json.loads(json.dumps(components[0].to_dict()))) == components[0]


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


def test_translations_are_found_and_shuffled_pairs_are_not(corpus, halves, views):
    training, queries = halves
    dense = dense_cca(*views, 8)
    good = score(dense[0](queries.E), dense[1](queries.F)).aroc
    sparse = sparse_cca(*views, 8, zeros=0.85)
    ours = [deflated_projection(view, sparse, side) for side, view in enumerate(views)]
    assert good > 0.9
    assert score(ours[0](queries.E), ours[1](queries.F)).aroc > 0.85
    wrong = kernel_views(training.shuffled(3))
    lost = dense_cca(*wrong, 8)
    assert abs(score(lost[0](queries.E), lost[1](queries.F)).aroc - 0.5) < 0.12
    astray = sparse_cca(*wrong, 8, zeros=0.85)
    ours = [deflated_projection(view, astray, side) for side, view in enumerate(wrong)]
    assert abs(score(ours[0](queries.E), ours[1](queries.F)).aroc - 0.5) < 0.12


def test_latent_semantic_indexing(halves):
    first, second = lsi(*halves, 8)
    assert first.shape == (80, 8)
    assert score(unit_rows(first), unit_rows(second)).aroc > 0.8
    assert unit_rows(np.zeros((2, 3))).tolist() == [[0, 0, 0], [0, 0, 0]]


def test_bad_numbers_are_named(views):
    with pytest.raises(InvalidParameter, match="between 1 and 159, the rank"):
        sparse_cca(*views, 200)
    with pytest.raises(InvalidParameter, match=r"d = 2\.5 components"):
        dense_cca(*views, 2.5)
    with pytest.raises(InvalidParameter, match="zeros = 1 must lie below 1"):
        sparse_cca(*views, 2, zeros=1.0)
    with pytest.raises(InvalidParameter, match="ridge = 0 is out of range"):
        sparse_cca(*views, 2, ridge=0.0)
    with pytest.raises(InvalidParameter, match="k = 99"):
        sparse_pairs(np.eye(4) - 0.25, np.eye(4) - 0.25, 1, (99, 1))
    alike = planted_translations(20, rng=0).take(np.zeros(5, dtype=int))
    with pytest.raises(InvalidParameter, match="alike in the first language"):
        kernel_views(alike)


def test_when_the_rank_is_used_up_it_is_said():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((50, 2))
    X, Y = z @ rng.standard_normal((2, 6)), z @ rng.standard_normal((2, 5))
    with pytest.raises(
        InvalidParameter, match=r"d must be a whole number between 1 and 2|Nothing is left to correlate"
    ):
        sparse_pairs(X - X.mean(axis=0), Y - Y.mean(axis=0), 4, (6, 5))


def test_the_words_of_a_component_are_translations(corpus):
    pairs = word_components(corpus, 4, 6)
    for pair in pairs:
        topics = [{word[1:].split("-")[0] for word, _ in side} - {""} for side in (pair.first, pair.second)]
        assert topics[0] & topics[1]
        assert pair.stationarity <= 1e-8
    table = word_table(pairs)
    assert len(table) == 4
    assert table[0][1].count(",") == len(pairs[0].first) - 1
    assert len(plot_words(pairs).axes) == 8
    with pytest.raises(InvalidParameter, match="too few"):
        word_components(corpus.take(np.arange(2)), 1, 1)


class Interrupted(Exception):
    pass


def test_an_interrupted_run_goes_on_at_the_next_component(tmp_path, monkeypatch):
    keep = Pieces.keep
    calls = []

    def kept(self, component):
        keep(self, component)
        calls.append(component)
        if len(calls) == 3:
            raise Interrupted

    monkeypatch.setattr(Pieces, "keep", kept)
    with pytest.raises(Interrupted):
        reproduce(["table5"], tmp_path, effort="tiny")
    (pieces,) = tmp_path.glob("cells/table5-*/pieces")
    assert len(list(pieces.iterdir())) == 3
    report = reproduce(["table5"], tmp_path, effort="tiny")
    assert len(calls) == 4  # 4 components in all: one was missing
    assert not report.sections[0].missing
    (pieces / "component-0002.json").write_text("{", encoding="utf-8")
    (pieces.parent / "sparse-4.json").unlink()
    reproduce(["table5"], tmp_path, effort="tiny")
    assert len(calls) == 7  # 2, 3 and 4 were computed again
    assert calls[-1].rows == calls[3].rows


def test_the_report_names_the_corpus_and_never_claims_hansard(tmp_path):
    corpus = planted_translations(rng=4)
    corpus.save(tmp_path / "mine.npz")
    report = reproduce(["table5"], tmp_path / "out", effort="tiny", data={"corpus": str(tmp_path / "mine.npz")})
    section = report.sections[0]
    assert "Corpus: mine.npz, not the paper's Hansard" in section.setup
    assert [table.name for table in section.tables] == ["table5", "table5-words"]
    assert EXPERIMENTS["table5"].settings["quick"]["corpus"] == "manpages"


def test_another_file_under_the_same_name_is_another_corpus(tmp_path):
    path = tmp_path / "mine.npz"
    arocs = []
    for seed in (4, 5):
        planted_translations(rng=seed).save(path)
        report = reproduce(["table5"], tmp_path / "out", effort="tiny", data={"corpus": str(path)})
        arocs.append(report.sections[0].tables[0].rows[0][1])
    fresh = reproduce(["table5"], tmp_path / "fresh", effort="tiny", data={"corpus": str(path)})
    assert arocs[0] != arocs[1] == fresh.sections[0].tables[0].rows[0][1]


def test_the_command_line(tmp_path, capsys):
    assert main(["reproduce", "table5", "--tiny", "--corpus", "planted", "--out", str(tmp_path / "a")]) == 0
    assert "pairs that are no translations" in capsys.readouterr().out
    assert main(["reproduce", "figure6", "--tiny", "--songs", str(tmp_path), "--out", str(tmp_path / "b")]) == 1
    assert "put CAL500.arff into that folder" in capsys.readouterr().out


def test_a_damaged_corpus_is_a_reason_in_the_report(tmp_path):
    (tmp_path / "no.npz").write_text("bags")
    report = reproduce(["table5"], tmp_path, effort="tiny", data={"corpus": str(tmp_path / "no.npz")})
    assert "no.npz is not a corpus file" in report.sections[0].missing[0]
