"""Branch and bound against plain enumeration, on every kind of pencil, and honest intervals when it is stopped."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from mpmath import mp
from scipy.linalg import LinAlgError
from small_problems import null, optimum, random_cca

from dcgev_cvx import Gram, InvalidParameter, Pencil, solve
from dcgev_cvx.budgets import Budget
from dcgev_cvx.datasets import pitprops, planted_cca, planted_pca
from dcgev_cvx.exact import ExactStatus, best_subset, branch_and_bound, brute_force, root
from dcgev_cvx.relaxations.bounds import cheap_bound, smallest_B_eigenvalue

PITPROPS = [1.0, 1.9540, 2.4753, 2.9375, 3.4062, 3.7710, 3.9962, 4.0686, 4.1386, 4.1726, 4.2083, 4.2182, 4.2186]


@pytest.fixture
def no_enumeration(monkeypatch):
    """Small problems go through the tree too, down to its last leaf."""
    monkeypatch.setattr(branch_and_bound, "LEAF_WORK", 0.0)


@pytest.fixture
def relaxed_at_once(no_enumeration, monkeypatch):
    """And the first tree is left out."""
    monkeypatch.setattr(branch_and_bound, "CHEAP_NODES", 0)


def random_problem(rng, trial, largest=9):
    """A positive, negative or indefinite; B the identity or dense, every other time with two views."""
    n = int(rng.integers(5, largest))
    G, H = rng.standard_normal((2, n, 2 * n))
    A = [G @ G.T, -G @ G.T, 0.5 * (G[:, :n] + G[:, :n].T)][trial % 3]
    B = H @ H.T / n + 0.01 * np.eye(n)
    p = n // 2
    if trial % 4 == 3:
        B[:p, p:] = B[p:, :p] = 0.0
        return Pencil(A, B, blocks=(p, n - p)), (int(rng.integers(1, p + 1)), int(rng.integers(1, n - p + 1)))
    return Pencil(A, B if trial % 2 else None), int(rng.integers(2, n))


def test_pit_props_exactly_for_every_k():
    found = [best_subset(pitprops(), k) for k in range(1, 14)]
    assert [s.value for s in found] == pytest.approx(PITPROPS, abs=5.1e-5)
    assert all(s.optimal and s.value <= s.upper_bound <= s.value * (1.0 + 1e-9) for s in found)


@pytest.mark.parametrize("tree", ["no_enumeration", "relaxed_at_once"])
def test_the_tree_agrees_with_enumeration_on_every_kind_of_pencil(tree, request):
    request.getfixturevalue(tree)
    rng = np.random.default_rng(0)
    for trial in range(4):
        pencil, k = random_problem(rng, trial, largest=8)
        found, truth = best_subset(pencil, k), brute_force(pencil, k)
        assert found.value == pytest.approx(truth.value, rel=1e-10)
        assert found.optimal
        assert found.nodes >= 1
        assert Budget.of(pencil, k).admits(found.support)
        assert found.upper_bound >= truth.value


def test_a_budget_for_each_view_is_never_above_the_budget_for_all(no_enumeration):
    pencil = Pencil(*random_cca().dense(), blocks=(7, 7))
    both = best_subset(pencil, 6)
    for k in ((1, 5), (5, 1)):
        assert best_subset(pencil, k).value <= both.upper_bound
    assert best_subset(pencil, (3, 3)).value == pytest.approx(brute_force(pencil, (3, 3)).value, rel=1e-12)
    own = Budget.of(pencil, [2, 2, 2], groups=[range(5), range(5, 9), range(9, 14)])
    assert best_subset(pencil, own).value == pytest.approx(brute_force(pencil, own).value, rel=1e-12)


@pytest.mark.slow
def test_budgets_per_view_equal_brute_force_on_500_pencils():
    rng = np.random.default_rng(5)
    for trial in range(500):
        pencil, k = random_problem(rng, 4 * trial + 3, largest=13)
        assert best_subset(pencil, k).value == pytest.approx(brute_force(pencil, k).value, rel=1e-10)


@pytest.mark.parametrize(
    ("pencil", "k"),
    [(null(26), 4), (planted_pca(60, 5, samples=240).pencil, 5), (planted_cca(samples=100, ridge=0.1).pencil, 3)],
    ids=["null", "planted", "cca"],
)
def test_larger_problems_are_proved(pencil, k):
    found = best_subset(pencil, k)
    assert found.optimal
    assert found.value >= solve(pencil, k).value * (1.0 - 1e-12)


def test_the_null_problem_agrees_with_enumeration():
    assert best_subset(null(24), 5).value == pytest.approx(brute_force(null(24), 5).value, rel=1e-12)


@pytest.mark.parametrize("name", ["dense", "metric", "wide factor"])
def test_out_of_time_the_interval_holds_the_optimum(name):
    C = np.random.default_rng(0).standard_normal((5, 14))
    pencil = {"dense": null(14), "metric": random_cca(), "wide factor": Pencil(Gram(C))}[name]
    truth = optimum(pencil, 7)
    found = best_subset(pencil, 7, time_limit=0)
    assert found.value <= truth * (1.0 + 1e-12)
    assert truth <= found.upper_bound
    assert found.optimal or found.status is ExactStatus.OUT_OF_TIME


def test_a_problem_stopped_at_once_has_the_cheap_bound():
    found = best_subset(null(40), 8, time_limit=0)
    assert found.status is ExactStatus.OUT_OF_TIME
    assert len(found.support) == 8
    assert found.upper_bound == pytest.approx(cheap_bound(null(40), 8), rel=1e-9)


def test_node_limits_nest(relaxed_at_once):
    pencil = null(14, rng=3)
    truth = brute_force(pencil, 4).value
    widths = []
    for limit in (0, 1, 5, 20, 10_000):
        found = best_subset(pencil, 4, node_limit=limit)
        assert found.value <= truth * (1.0 + 1e-12)
        assert truth <= found.upper_bound
        widths.append(found.gap.absolute)
    assert widths == sorted(widths, reverse=True)
    assert found.optimal


def test_a_full_heap_makes_the_search_dive_and_still_end(no_enumeration, monkeypatch):
    monkeypatch.setattr(branch_and_bound, "HEAP_LIMIT", 2)
    pencil = null(12, rng=1)
    found = best_subset(pencil, 4)
    assert found.optimal
    assert found.value == pytest.approx(optimum(pencil, 4), rel=1e-12)


def test_the_relaxation_removes_variables_and_saves_nodes(relaxed_at_once, monkeypatch):
    pencil = null(16, rng=5)
    relaxed = best_subset(pencil, 3)
    monkeypatch.setattr(branch_and_bound, "CHEAP_NODES", np.inf)
    plain = best_subset(pencil, 3)
    assert plain.support == relaxed.support
    assert plain.optimal
    assert relaxed.optimal
    assert plain.screened == 0 < relaxed.screened
    assert plain.nodes > 5 * relaxed.nodes
    assert "proved to be in no better support" in str(relaxed)


@pytest.mark.parametrize("strength", [2.0, 6.0])
def test_a_core_of_the_variables_leads_to_the_same_proof(strength, monkeypatch):
    """As for n > 500, where rows outside the core must pay for their pairs; at strength 2 not all can."""
    monkeypatch.setattr(root, "CORE", 15)
    monkeypatch.setattr(root, "CORE_ABOVE", 20)
    monkeypatch.setattr(branch_and_bound, "CORE_ABOVE", 20)
    pencil = planted_pca(60, 5, samples=300, strength=strength).pencil
    found = best_subset(pencil, 5)
    assert found.optimal
    assert strength == 2.0 or found.screened >= 45
    monkeypatch.undo()
    assert found.support == best_subset(pencil, 5).support


def test_a_failure_of_lapack_costs_the_relaxation_and_nothing_else(relaxed_at_once, monkeypatch):
    def fails(*_):
        raise LinAlgError("no convergence")

    monkeypatch.setattr(root.PairSplitting, "run", fails)
    pencil = null(14)
    found = best_subset(pencil, 4)
    assert found.optimal
    assert found.value == pytest.approx(optimum(pencil, 4), rel=1e-12)


def test_gram_scales_and_ties():
    C = np.random.default_rng(2).standard_normal((6, 15))
    gram, dense = best_subset(Pencil(Gram(C)), 4), best_subset(Pencil(C.T @ C), 4)
    assert gram.support == dense.support
    huge = best_subset(Pencil(1e120 * (C.T @ C), 1e-60 * np.eye(15)), 4)
    assert huge.support == dense.support
    assert huge.optimal
    tied = best_subset(Pencil(np.eye(30)), 7, start=np.ones(30))
    assert tied.value == 1.0
    assert tied.optimal


def test_a_metric_that_just_passed_the_door_is_not_refused_in_other_units():
    Q = np.linalg.qr(np.random.default_rng(19).standard_normal((2, 2)))[0]
    B = (Q * np.array([10.0**-15.1, 1.0])) @ Q.T
    pencil = Pencil(np.eye(2) + 0.5, 0.5 * (B + B.T))
    found = best_subset(pencil, 1)
    assert found.value == pytest.approx(np.max(pencil.A_diagonal / pencil.B_diagonal))
    assert found.upper_bound >= found.value
    both = best_subset(pencil, 2)  # λmax itself is hardly defined in floating point: the bound says so
    assert both.status is ExactStatus.ROUNDING
    assert both.upper_bound >= both.value


@pytest.mark.parametrize("leaf_work", [250_000, 0])
def test_a_factor_in_a_nearly_singular_metric_is_bounded_as_its_matrix_is(leaf_work, monkeypatch):
    """What forming CᵀC rounds away is charged to each variable: divided by λmin(B) it made the bound +inf."""
    monkeypatch.setattr(branch_and_bound, "LEAF_WORK", leaf_work)
    rng = np.random.default_rng(1)
    C, Q = rng.standard_normal((10, 6)), np.linalg.qr(rng.standard_normal((6, 6)))[0]
    B = (Q * np.geomspace(1.0, 1.0 / 3e14, 6)) @ Q.T
    pencil = Pencil(Gram(C), 0.5 * (B + B.T))
    assert smallest_B_eigenvalue(pencil) == 0.0
    found = best_subset(pencil, 2)
    assert found.value <= found.upper_bound
    assert found.status is ExactStatus.OPTIMAL


def test_a_support_has_k_members_where_fewer_do_as_well(no_enumeration):
    found = best_subset(Pencil(Gram(np.diag([3.0, 1.0, 1.0, 1.0, 0.5, 0.5]))), 3)
    assert len(found.support) == 3
    assert found.support[0] == 0
    assert found.optimal


@pytest.mark.parametrize("scale", [1.0, 1e100, 1e-100])
@pytest.mark.parametrize("metric", [None, np.diag([1.0, 2.0, 3.0])])
@pytest.mark.parametrize(
    ("A", "k"),
    [
        (np.zeros((3, 3)), 2),
        (np.diag([0.0, -1.0, -2.0]), 1),
        (np.diag([0.0, -1.0, -2.0]), 2),
        (np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), 1),  # CCA: a variable alone is worth nothing
    ],
)
@pytest.mark.parametrize("leaf_work", [250_000, 0])
def test_an_optimum_of_zero_is_proved(A, k, metric, scale, leaf_work, monkeypatch):
    """No relative gap closes at zero: the bound is zero too, or zero but for the rounding of A's entries."""
    monkeypatch.setattr(branch_and_bound, "LEAF_WORK", leaf_work)
    found = best_subset(Pencil(scale * A, metric), k)
    assert found.value == pytest.approx(0.0, abs=1e-15 * scale)
    assert 0.0 <= found.upper_bound <= 1e-13 * scale
    assert found.status is ExactStatus.OPTIMAL


def test_a_start_is_used_and_progress_is_told(monkeypatch):
    monkeypatch.setattr(branch_and_bound, "REPORT_SECONDS", 0.0)
    planted = planted_pca(40, 5, samples=120, strength=1.0)
    lines = []
    found = best_subset(planted.pencil, 5, start=planted.x, progress=lines.append, node_limit=20)
    assert found.value >= planted.value
    assert lines
    assert all(a.bound >= b.bound - 1e-9 for a, b in pairwise(lines))


def test_bad_input():
    with pytest.raises(InvalidParameter, match="k = 14 is out of range"):
        best_subset(pitprops(), 14)
    with pytest.raises(InvalidParameter, match=r"k = \(3, 3\) names views, but the pencil has none"):
        best_subset(pitprops(), (3, 3))
    with pytest.raises(InvalidParameter, match="one number for each of the 2 views"):
        best_subset(Pencil(*random_cca().dense(), blocks=(7, 7)), (3, 3, 1))
    with pytest.raises(InvalidParameter, match="time_limit = -1 is out of range"):
        best_subset(pitprops(), 3, time_limit=-1.0)
    with pytest.raises(InvalidParameter, match="node_limit"):
        best_subset(pitprops(), 3, node_limit=-1)
    with pytest.raises(InvalidParameter, match="start must have length 30"):
        best_subset(null(30), 6, start=np.ones(3))
    with pytest.raises(InvalidParameter, match=r"n = 6000.*GB"):
        best_subset(Pencil(Gram(np.ones((1, 6000)))), 3)


def top_in_fifty_digits(A, B):
    inverse = mp.cholesky(mp.matrix(B.tolist())) ** -1
    M = inverse * mp.matrix(A.tolist()) * inverse.T
    return max(mp.eigsy((M + M.T) / 2, eigvals_only=True))


@pytest.mark.parametrize("leaf_work", [250_000, 100])
@pytest.mark.parametrize("seed", range(3))
def test_the_bound_holds_in_fifty_digits(leaf_work, seed, monkeypatch):
    monkeypatch.setattr(branch_and_bound, "LEAF_WORK", leaf_work)
    rng = np.random.default_rng(seed)
    n, k = 6, 1 + seed % 3
    M, N = rng.standard_normal((n, n)), rng.standard_normal((n, 2 * n))
    # in turn: plain, nearly rank one (every support ties), an ill-conditioned metric
    A = [M + M.T, np.ones((n, n)) + 1e-13 * (M + M.T), M @ M.T][seed]
    Q = np.linalg.qr(M)[0]
    B = [N @ N.T / n, np.eye(n), (Q * np.logspace(-8, 0, n)) @ Q.T][seed]
    pencil = Pencil(A, 0.5 * (B + B.T))
    found = best_subset(pencil, k)
    with mp.workdps(50):
        parts = [np.ix_(S, S) for S in combinations(range(n), k)]
        truth = max(top_in_fifty_digits(pencil.A[rows], pencil.B[rows]) for rows in parts)
        assert 0 <= found.upper_bound - truth <= 1e-7 * abs(truth)
