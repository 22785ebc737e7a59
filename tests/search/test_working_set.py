"""The search on the variables of largest variance, and the proof that the others do not matter."""

from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dcgev_cvx import Gram, Pencil, components, datasets, errors, pca_pencil, solve
from dcgev_cvx.search import working_set as module
from dcgev_cvx.search.working_set import WorkingSet, affordable, scores, subset_bounds, working_set


def best(A: np.ndarray, k: int) -> tuple[float, tuple[int, ...]]:
    return max((np.linalg.eigvalsh(A[np.ix_(S, S)])[-1], S) for S in combinations(range(len(A)), k))


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(module, "WORKING_SET", 6)


def data(seed: int, n: int = 12, decay: float = 0.7) -> sp.csr_array:
    X = np.random.default_rng(seed).standard_normal((40, n)) @ np.linalg.qr(np.ones((n, n)) + np.eye(n))[0]
    return sp.csr_array(X * decay ** np.arange(n))


def of_variances(variances):
    return Pencil(Gram(sp.csr_array(np.diag(np.sqrt(variances)))))


def test_variances_below_rho_are_left_out_but_for_rounding():
    pencil = of_variances([2.0, 2.0 * (1.0 - 0.5e-9), 2.0 * (1.0 - 1.5e-9), 3.0])
    assert affordable(pencil, 2.0).kept.tolist() == [0, 1, 3]


def test_data_in_memory_are_searched_whole():
    assert working_set(pca_pencil(data(0).toarray()[:5]), 3) is None


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.3, 0.6, 0.9]))
def test_a_proved_removal_removes_no_variable_of_an_optimum(seed, k, decay):
    A = pca_pencil(data(seed, 9, decay), center=False).dense()[0]
    pencil = Pencil(Gram(sp.csr_array(np.linalg.cholesky(A + 1e-12 * np.eye(9)).T)))
    kept = np.sort(np.argsort(-np.diagonal(A), kind="stable")[:5])
    value, support = best(A, k)
    if WorkingSet(pencil, kept, pencil.restrict(kept)).proves(k, best(A[np.ix_(kept, kept)], k)[0]):
        assert set(support) <= set(kept.tolist())
        assert value == pytest.approx(best(A[np.ix_(kept, kept)], k)[0], rel=1e-9)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_subset_bounds_are_bounds(seed, k):
    G = np.random.default_rng(seed).standard_normal((6, 6))
    bounds = subset_bounds(G.T @ G, k)
    assert bounds[0] == 0.0
    assert all(bounds[j] >= best(G.T @ G, j)[0] - 1e-12 for j in range(1, k + 1))


def test_the_method_says_what_was_kept_and_whether_that_is_proved(few):
    steep, flat = solve(pca_pencil(scaled(0.2)), 2), solve(pca_pencil(scaled(0.999)), 2)
    assert steep.method.startswith("20 of 1200 variables kept (proved: no better support has another); ")
    assert flat.method.startswith("20 of 1200 variables kept (not proved to be enough); ")
    assert flat.certificate is not None


def scaled(decay: float) -> sp.csr_array:
    return sp.csr_array(np.random.default_rng(0).standard_normal((30, 1200)) * decay ** np.arange(1200))


@pytest.mark.slow
def test_planted_topics_are_the_first_components():
    X, topics = datasets.word_counts(20_000, 2000, topics=3, rng=4)
    found = components(pca_pencil(X), [10, 10, 10])
    assert sorted(solution.support for solution in found.solutions) == [tuple(topic) for topic in topics.tolist()]
    assert found.V.shape == (2000, 3)
    assert 0.0 < found.projector_trace()[-1] < 1.0
    assert found.values[0] == pytest.approx(solve(pca_pencil(X), 10).value)


def test_components_agree_with_those_of_the_array():
    X = data(3, 1200, 0.99)
    sparse, dense = (components(pca_pencil(Z), [3, 2]) for Z in (X, X.toarray()))
    assert [s.support for s in sparse.solutions] == [s.support for s in dense.solutions]
    np.testing.assert_allclose(sparse.deflated_values, dense.deflated_values, rtol=1e-9)


def test_a_callback_sees_all_variables_and_can_stop():
    seen = []
    pencil = pca_pencil(scaled(0.9))
    found = components(pencil, [2, 2], callback=lambda solution: seen.append(len(solution.x)) or True)
    assert seen == [1200]
    assert len(found.solutions) == 1


def test_equal_variances_are_ranked_by_what_variables_share(few):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 1200))
    X[:, 700:706] += 2.0 * rng.standard_normal((400, 1))
    pencil = pca_pencil(sp.csr_array(X / X.std(axis=0)))
    assert set(np.argsort(-scores(pencil, 6))[:6]) == set(range(700, 706))
    larger = pca_pencil(sp.csr_array(10.0 * X / X.std(axis=0)))
    assert set(np.argsort(-scores(larger, 6))[:6]) == set(range(700, 706))
    assert solve(pencil, 6).support == tuple(range(700, 706))


def test_variables_that_cost_more_than_they_are_worth():
    A = pca_pencil(data(1, 8), center=False).dense()[0]
    pencil, rho = Pencil(Gram(sp.csr_array(np.linalg.cholesky(A).T))), 0.3 * float(A.max())
    kept = affordable(pencil, rho)
    values = [best(A, k)[0] - rho * k for k in range(1, 9)]
    support = best(A, 1 + int(np.argmax(values)))[1]
    assert kept is not None
    assert set(support) <= set(kept.kept.tolist())
    assert len(kept.kept) < 8
    assert affordable(Pencil(A), rho) is None
    with pytest.raises(errors.InvalidParameter, match=r"rho = 100 exceeds every variance \(largest .*: lower rho"):
        affordable(pencil, 100.0)


def test_nothing_is_proved_with_a_metric():
    C = sp.csr_array(np.diag([9.0, 8.0, 1.0, 0.1]))
    for B, answer in ((None, True), (np.eye(4), False)):
        pencil = Pencil(Gram(C), B)
        assert WorkingSet(pencil, np.arange(2), pencil.restrict(np.arange(2))).proves(1, 81.0) == answer


def test_a_variance_that_equals_rho_but_for_rounding_is_affordable():
    pencil = Pencil(Gram(sp.csr_array(np.diag(np.sqrt([1.0, 1.0 - 0.5 * module.ROUNDING, 0.9])))))
    assert affordable(pencil, 1.0).kept.tolist() == [0, 1]
