"""Branch and bound against plain enumeration, on every kind of pencil, and honest intervals when it is stopped."""

from __future__ import annotations

from heapq import heappop
from itertools import combinations, pairwise
from time import perf_counter, sleep

import numpy as np
import pytest
from mpmath import mp
from small_problems import null, optimum

from dcgev_cvx import Gram, InvalidParameter, Pencil
from dcgev_cvx.datasets import pitprops, planted_cca, planted_pca
from dcgev_cvx.exact import ExactStatus, best_subset, branch_and_bound, brute_force
from dcgev_cvx.exact.branch_and_bound import _Search as Search
from dcgev_cvx.exact.branch_and_bound import work
from dcgev_cvx.exact.enumeration import scaled_pencil
from dcgev_cvx.exact.node_bounds import Node, NodeBounds
from dcgev_cvx.exact.root import Root
from dcgev_cvx.relaxations.bounds import cheap_bound, smallest_B_eigenvalue

PITPROPS = [1.0, 1.9540, 2.4753, 2.9375, 3.4062, 3.7710, 3.9962, 4.0686, 4.1386, 4.1726, 4.2083, 4.2182, 4.2186]


@pytest.fixture
def no_enumeration(monkeypatch):
    """Small problems go through the tree too, down to its last leaf."""
    monkeypatch.setattr(branch_and_bound, "LEAF_WORK", 0.0)


def test_pit_props_exactly_for_every_k():
    found = [best_subset(pitprops(), k) for k in range(1, 14)]
    assert [s.value for s in found] == pytest.approx(PITPROPS, abs=5.1e-5)
    assert all(s.optimal and s.status is ExactStatus.OPTIMAL for s in found)
    assert all(s.value <= s.upper_bound <= s.value * (1.0 + 1e-9) for s in found)


def test_the_tree_agrees_with_enumeration_on_every_kind_of_pencil(no_enumeration):
    rng = np.random.default_rng(0)
    for trial in range(24):
        n = int(rng.integers(5, 9))
        G = rng.standard_normal((n, 2 * n))
        A = [G @ G.T, -G @ G.T, 0.5 * (G[:, :n] + G[:, :n].T)][trial % 3]
        H = rng.standard_normal((n, 2 * n))
        pencil = Pencil(A, None if trial % 2 else H @ H.T / n + 0.01 * np.eye(n))
        k = int(rng.integers(2, n))
        found = best_subset(pencil, k)
        assert found.value == pytest.approx(optimum(pencil, k), rel=1e-10)
        assert found.optimal
        assert found.nodes >= 1
        assert len(found.support) <= k


def test_a_negative_optimum_is_found_and_proved(no_enumeration):
    pencil = Pencil(-np.diag([5.0, 4.0, 3.0, 2.0, 6.0]) - 0.1)
    found = best_subset(pencil, 2)
    assert found.value == pytest.approx(optimum(pencil, 2))
    assert found.value < 0.0
    assert found.optimal


@pytest.mark.parametrize(
    ("pencil", "k"),
    [(null(30), 5), (planted_pca(60, 5, samples=240).pencil, 5), (planted_cca(samples=100, ridge=0.1).pencil, 6)],
    ids=["null", "planted", "cca"],
)
def test_larger_problems_are_proved(pencil, k):
    found = best_subset(pencil, k, time_limit=60.0)
    assert found.optimal
    assert found.nodes > 0
    assert 0.0 < found.seconds < 66.0


def test_the_null_problem_agrees_with_enumeration():
    assert best_subset(null(24), 5).value == pytest.approx(brute_force(null(24), 5).value, rel=1e-12)


def test_a_time_limit_gives_a_valid_interval_in_time():
    planted = planted_pca(300, 20, samples=200, strength=1.0)
    begin = perf_counter()
    found = best_subset(planted.pencil, 20, time_limit=0.3)
    assert perf_counter() - begin < 3.0  # a loaded machine is slow; the promise itself is measured in the benchmark
    assert found.status is ExactStatus.OUT_OF_TIME
    assert found.value <= found.upper_bound <= planted.pencil.lambda_max * (1.0 + 1e-9)
    assert planted.value <= found.upper_bound
    assert not found.optimal


def test_out_of_time_no_node_is_visited(monkeypatch):
    """At n = 1500 the root alone would cost a decomposition of all variables, after the time is up."""

    def visited(*_):
        raise AssertionError("a node was bounded after the deadline")

    monkeypatch.setattr(NodeBounds, "interlacing", visited)
    pencil = null(40)
    found = best_subset(pencil, 8, time_limit=0)
    assert found.status is ExactStatus.OUT_OF_TIME
    assert found.nodes == 0
    assert len(found.support) == 8
    assert found.value <= found.upper_bound <= pencil.lambda_max * (1.0 + 1e-9)


def test_a_node_that_would_end_after_the_limit_is_not_begun(no_enumeration, monkeypatch):
    plain, begun = NodeBounds.interlacing, []

    def slow(self, allowed):
        begun.append(perf_counter())
        sleep(0.4)
        return plain(self, allowed)

    monkeypatch.setattr(NodeBounds, "interlacing", slow)
    monkeypatch.setattr(branch_and_bound, "first_support", lambda *_: np.arange(8))
    pencil, begin = null(40), perf_counter()
    found = best_subset(pencil, 8, time_limit=1.0)
    assert len(begun) <= 2
    assert all(at - begin <= 0.65 for at in begun)
    assert found.status is ExactStatus.OUT_OF_TIME
    assert found.value <= found.upper_bound <= pencil.lambda_max * (1.0 + 1e-9)


def test_node_limits_nest(no_enumeration):
    pencil = null(14, rng=3)
    truth = brute_force(pencil, 4).value
    widths = []
    for limit in (1, 5, 20, 10_000):
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


def test_without_the_relaxation_the_proof_takes_more_nodes(no_enumeration, monkeypatch):
    pencil = null(16, rng=5)
    monkeypatch.setattr(branch_and_bound, "CHEAP_NODES", 0)
    relaxed = best_subset(pencil, 5)
    monkeypatch.setattr(branch_and_bound, "CHEAP_NODES", np.inf)
    plain = best_subset(pencil, 5)
    assert plain.support == relaxed.support
    assert plain.optimal
    assert relaxed.optimal
    assert plain.screened == 0
    assert plain.nodes > relaxed.nodes


@pytest.mark.slow
def test_gram_scales_and_ties():
    C = np.random.default_rng(2).standard_normal((6, 15))
    gram, dense = best_subset(Pencil(Gram(C)), 4), best_subset(Pencil(C.T @ C), 4)
    assert gram.support == dense.support
    huge = best_subset(Pencil(1e120 * (C.T @ C), 1e-60 * np.eye(15)), 4)
    assert huge.support == dense.support
    assert huge.optimal
    tied = best_subset(Pencil(np.eye(30)), 7)
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


@pytest.mark.parametrize("route", ["enumeration", "tree"])
def test_a_factor_in_a_nearly_singular_metric_is_bounded_as_its_matrix_is(route, monkeypatch):
    """What forming CᵀC rounds away is charged to each variable: divided by λmin(B) it made the bound +inf."""
    if route == "tree":
        monkeypatch.setattr(branch_and_bound, "LEAF_WORK", -1.0)
    rng = np.random.default_rng(1)
    C, Q = rng.standard_normal((10, 6)), np.linalg.qr(rng.standard_normal((6, 6)))[0]
    B = (Q * np.geomspace(1.0, 1.0 / 3e14, 6)) @ Q.T
    pencil = Pencil(Gram(C), 0.5 * (B + B.T))
    assert smallest_B_eigenvalue(pencil) == 0.0
    found = best_subset(pencil, 2)
    assert found.value <= found.upper_bound
    assert found.status is ExactStatus.OPTIMAL


def test_a_support_has_k_members_where_fewer_do_as_well(no_enumeration):
    pencil = Pencil(Gram(np.diag([3.0, 1.0, 1.0, 1.0, 0.5, 0.5])))
    found = best_subset(pencil, 3)
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
@pytest.mark.parametrize("route", ["enumeration", "tree"])
def test_an_optimum_of_zero_is_proved(A, k, metric, scale, route, monkeypatch):
    """No relative gap closes at zero: the bound is zero too, or zero but for the rounding of A's entries."""
    if route == "tree":
        monkeypatch.setattr(branch_and_bound, "LEAF_WORK", -1.0)
    found = best_subset(Pencil(scale * A, metric), k)
    assert found.value == pytest.approx(0.0, abs=1e-15 * scale)
    assert 0.0 <= found.upper_bound <= 1e-13 * scale
    assert found.status is ExactStatus.OPTIMAL


def test_a_start_is_used_and_progress_is_told(monkeypatch):
    monkeypatch.setattr(branch_and_bound, "REPORT_SECONDS", 0.0)
    planted = planted_pca(40, 5, samples=120, strength=1.0)
    lines = []
    found = best_subset(planted.pencil, 5, start=planted.x, progress=lines.append, time_limit=20.0)
    assert found.value >= planted.value
    assert lines
    assert all(a.bound >= b.bound - 1e-9 for a, b in pairwise(lines))


def test_bad_input():
    with pytest.raises(InvalidParameter, match="k = 14 is out of range"):
        best_subset(pitprops(), 14)
    with pytest.raises(InvalidParameter, match="time_limit = -1 is out of range"):
        best_subset(pitprops(), 3, time_limit=-1.0)
    with pytest.raises(InvalidParameter, match="start must have length 30"):
        best_subset(null(30), 6, start=np.ones(3))
    with pytest.raises(InvalidParameter, match=r"n = 6000.*GB"):
        best_subset(Pencil(Gram(np.ones((1, 6000)))), 3)


def top_in_fifty_digits(A, B):
    L = mp.cholesky(mp.matrix(B.tolist()))
    inverse = L**-1
    M = inverse * mp.matrix(A.tolist()) * inverse.T
    return max(mp.eigsy((M + M.T) / 2, eigvals_only=True))


@pytest.mark.parametrize("route", ["enumeration", "search"])
@pytest.mark.parametrize("seed", range(6))
def test_the_bound_holds_in_fifty_digits(route, seed, monkeypatch):
    if route == "search":  # no enumeration at the root, tiny leaves: every bound of a node is used
        monkeypatch.setattr("dcgev_cvx.exact.branch_and_bound.LEAF_WORK", -1.0)
        monkeypatch.setattr("dcgev_cvx.exact.branch_and_bound.LEAF_WORK", 100.0)
    rng = np.random.default_rng(seed)
    n, k = 6, 1 + seed % 3
    M, N = rng.standard_normal((n, n)), rng.standard_normal((n, 2 * n))
    # in turn: plain, nearly rank one (every support ties), an ill-conditioned metric
    A = [M + M.T, np.ones((n, n)) + 1e-13 * (M + M.T), M @ M.T][seed % 3]
    Q = np.linalg.qr(M)[0]
    B = [N @ N.T / n, np.eye(n), (Q * np.logspace(-8, 0, n)) @ Q.T][seed % 3]
    pencil = Pencil(A, 0.5 * (B + B.T))
    found = best_subset(pencil, k)
    with mp.workdps(50):
        truth = max(
            top_in_fifty_digits(pencil.A[np.ix_(S, S)], pencil.B[np.ix_(S, S)])
            for S in map(list, combinations(range(n), k))
        )
        assert found.upper_bound >= truth
        assert found.upper_bound - truth <= 1e-7 * abs(truth)


@pytest.mark.parametrize("limit", [1e-9, 1e-5, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("k", [1, 6, 13])
def test_a_tiny_time_limit_leaves_an_interval_that_holds_the_optimum(k, limit):
    found = best_subset(pitprops(), k, time_limit=limit)
    assert len(found.support) == k
    assert found.value <= PITPROPS[k - 1] + 5.1e-5
    assert found.upper_bound >= PITPROPS[k - 1] - 5.1e-5


def test_the_relaxation_lowers_the_bound_of_the_whole_search():
    scaled, _ = scaled_pencil(null(40), 5)
    first = cheap_bound(scaled, 5)
    search = Search(scaled, 5, 1.0, np.inf, np.inf)
    search.offer(np.arange(5))
    search.open(np.arange(40))
    search.relax(search.support)
    assert search.value <= search.upper <= search.root < 0.9 * first
    assert search.screened == 40 - len(search.bounds.kept)


def test_the_work_of_enumeration_counts_supports_and_is_infinite_where_they_are_too_many():
    assert work(10, 3, 4) == 120 * 56.0
    assert work(1999, 3, 3) < np.inf
    assert work(5000, 2, 2) == 5000 * 4999 / 2 * 44.0
    assert work(2000, 3, 3) == np.inf
    assert work(1100, 550, 550) > 1e308  # an integer that no float holds


def test_a_removed_variable_may_still_be_in_a_support_up_to_the_threshold(monkeypatch):
    """The bound of the search after the relaxation is the larger of the relaxation's and the threshold."""
    scaled, _ = scaled_pencil(null(40), 5)
    for factor in (1.1, 0.5):
        search = Search(scaled, 5, 1.0, np.inf, np.inf)
        search.offer(np.arange(5))
        search.open(np.arange(40))
        root = Root(np.arange(40), None, factor * search.value, search.support)
        monkeypatch.setattr(branch_and_bound, "relaxed", lambda *_, root=root: root)
        threshold = search.threshold
        search.relax(search.support)
        assert search.root == (root.bound if factor > 1.0 else threshold)


def test_an_open_node_has_the_smallest_of_its_bounds():
    scaled, _ = scaled_pencil(null(40), 5)
    for inherited in (np.inf, 2.0):
        search = Search(scaled, 5, 1.0, np.inf, np.inf)
        search.root = inherited
        search.offer(np.arange(5))
        search.open(np.arange(40))
        assert -search.heap[0][0] == pytest.approx(min(inherited, scaled.lambda_max))


def test_the_largest_bound_comes_first_and_beyond_the_limit_the_last_node_kept(monkeypatch):
    monkeypatch.setattr(branch_and_bound, "HEAP_LIMIT", 3)
    search = Search(scaled_pencil(null(40), 5)[0], 5, 1.0, np.inf, np.inf)
    for branch, bound in enumerate([3.0, 5.0, 5.0, 1.0, 2.0]):
        search.keep(Node(bound, np.arange(0), np.arange(40), branch))
    search.value, search.root = 0.0, 9.0
    assert search.upper == 5.0
    assert [heappop(search.heap)[2].branch for _ in range(5)] == [4, 3, 1, 2, 0]


def test_a_limit_of_no_nodes_is_allowed():
    found = best_subset(pitprops(), 3, node_limit=0)
    assert found.value <= 2.4753 + 1e-4 <= found.upper_bound + 2e-4
    with pytest.raises(InvalidParameter, match="node_limit"):
        best_subset(pitprops(), 3, node_limit=-1)


def test_progress_tells_the_seconds_of_this_search(monkeypatch):
    for constant, small in (("REPORT_SECONDS", 0.0), ("LEAF_WORK", 0)):
        monkeypatch.setattr(branch_and_bound, constant, small)
    seen = []
    best_subset(null(14), 4, progress=seen.append)
    assert seen
    assert all(0.0 <= point.seconds < 60.0 for point in seen)


def test_the_first_node_is_expected_to_take_as_long_as_the_bound_of_the_problem(monkeypatch):
    """Or as long as λmax, where the faster part of the bound was all that there was time for."""
    scaled, _ = scaled_pencil(null(300), 5)
    monkeypatch.setattr(branch_and_bound, "quick_bound", lambda *_: 1.0)
    assert Search(scaled, 5, 1.0, np.inf, np.inf).cost == pytest.approx(5e-11 * 300**3)
    monkeypatch.setattr(branch_and_bound, "quick_bound", lambda *_: sleep(0.02) or 1.0)
    assert Search(scaled, 5, 1.0, np.inf, np.inf).cost >= 0.02


def test_a_node_whose_bound_is_the_threshold_is_not_searched():
    scaled, _ = scaled_pencil(null(40), 5)
    search = Search(scaled, 5, 1.0, np.inf, np.inf)
    search.offer(np.arange(5))
    search.keep(Node(search.threshold, np.arange(0), np.arange(40), 0))
    assert search.run() is None
    assert search.nodes == 0


def test_a_node_is_enumerated_where_one_support_is_left_and_not_before(monkeypatch):
    monkeypatch.setattr(branch_and_bound, "LEAF_WORK", -1.0)
    scaled, _ = scaled_pencil(null(40), 5)
    for included, free, supports in ((5, 10, 1), (2, 3, 1), (4, 10, 0)):
        search = Search(scaled, 5, 1.0, np.inf, np.inf)
        search.offer(np.arange(30, 35))
        search.visit(np.arange(included), np.arange(included, included + free), np.inf)
        assert (search.nodes, search.supports, len(search.heap)) == (1, supports, 1 - supports)


def test_progress_is_reported_when_half_a_second_has_passed(monkeypatch):
    seen, now = [], [1000.0]
    monkeypatch.setattr(branch_and_bound, "perf_counter", lambda: now[0])
    search = Search(scaled_pencil(null(40), 5)[0], 5, 1.0, np.inf, np.inf, progress=seen.append)
    for seconds in (0.25, 0.5, 0.75, 1.0, 2.0):
        now[0] = 1000.0 + seconds
        search.report()
    assert [point.seconds for point in seen] == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(("n", "error"), [(5000, "time_limit = -1"), (5001, r"n = 5001.*n ≤ 5000")])
def test_more_than_five_thousand_variables_raise(n, error):
    """The limit of n is checked before the others, one of which is invalid here so that no search begins."""
    with pytest.raises(InvalidParameter, match=error):
        best_subset(Pencil(Gram(np.ones((1, n)))), 3, time_limit=-1.0)


def test_a_node_is_expected_to_take_as_long_as_the_last_one_or_half_as_long_as_expected_before(monkeypatch):
    search, now = Search(scaled_pencil(null(40), 5)[0], 5, 1.0, np.inf, np.inf), [0.0]
    monkeypatch.setattr(branch_and_bound, "perf_counter", lambda: now[0])
    search.cost = 8.0
    for seconds, expected in ((1.0, 4.0), (1.0, 2.0), (3.0, 3.0)):

        def visit(*_, seconds=seconds):
            now[0] += seconds

        monkeypatch.setattr(search, "visit", visit)
        search.open(np.arange(40))
        assert search.cost == expected


def test_the_relaxation_gets_two_fifths_of_the_time_that_is_left(monkeypatch):
    search, given = Search(scaled_pencil(null(40), 5)[0], 5, 1.0, np.inf, np.inf), []

    def relaxed(pencil, k, support, bound, deadline):
        given.append(deadline)
        return Root(np.arange(40), None, bound, support)

    monkeypatch.setattr(branch_and_bound, "perf_counter", lambda: 100.0)
    monkeypatch.setattr(branch_and_bound, "relaxed", relaxed)
    search.deadline = 110.0
    search.relax(np.arange(5))
    assert given == [104.0]
