"""What is known before branching: bounds that fit into the time, first supports, and the relaxation's end."""

import sys
from itertools import count
from time import perf_counter
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import LinAlgError
from small_problems import null, optimum, random_cca

from dcgev_cvx import Gram, Pencil, solve
from dcgev_cvx.datasets import planted_pca
from dcgev_cvx.exact import ExactStatus, best_subset, root
from dcgev_cvx.exact.enumeration import scaled_pencil

C = np.random.default_rng(0).standard_normal((5, 12))
PENCILS = {"dense": null(12), "metric": random_cca(), "wide factor": Pencil(Gram(C))}


@pytest.mark.parametrize("name", PENCILS)
def test_out_of_time_the_interval_holds_the_optimum(name, monkeypatch):
    monkeypatch.setattr(root, "QUICK_LIMIT", 0)
    pencil = PENCILS[name]
    truth = optimum(pencil, 4)
    found = best_subset(pencil, 4, time_limit=0)
    assert found.value <= truth * (1.0 + 1e-12)
    assert truth <= found.upper_bound
    assert found.status is ExactStatus.OUT_OF_TIME
    assert len(found.support) == 4


def test_without_time_no_eigenvalue_of_a_large_problem_is_computed(monkeypatch):
    """At n = 3000 a factorisation would take longer than the tolerance of the time limit."""

    def computed(*_):
        raise AssertionError("λmax was bounded")

    monkeypatch.setattr(root, "QUICK_LIMIT", 0)
    monkeypatch.setattr(root, "dense_bound", computed)
    assert best_subset(null(40), 8, time_limit=0).upper_bound < np.inf


def test_a_bound_without_row_sums_falls_back_to_the_eigenvalue(monkeypatch):
    monkeypatch.setattr(root, "QUICK_LIMIT", 0)
    B = 0.1 * np.eye(6) + 0.9  # no λ makes λB − A diagonally dominant
    pencil = Pencil(np.eye(6), B)
    assert root.quick_bound(pencil, 4, 0.0) == pytest.approx(10.0, rel=1e-9)


def test_without_time_for_any_bound_it_is_infinite(monkeypatch):
    """At n = 3000 with a B the row sums take 1 s and λmax 2 s."""
    monkeypatch.setattr(root, "row_sum_bound", lambda *_: 7.0)
    monkeypatch.setattr(root, "dense_bound", lambda *_: 5.0)
    pencil = SimpleNamespace(n=3000, A=np.eye(1), B=np.eye(1))
    assert [root.quick_bound(pencil, 4, seconds) for seconds in (0.0, 0.5, 1.0)] == [np.inf, np.inf, 5.0]
    monkeypatch.setattr(root, "row_sum_bound", lambda *_: np.inf)
    assert [root.quick_bound(pencil, 4, seconds) for seconds in (1.0, 5.0)] == [np.inf, 5.0]


def test_the_first_support_is_at_least_what_solve_finds():
    pencil = null(60, rng=3)
    support = root.first_support(pencil, 6, np.inf, "normal")
    assert root.value_of(pencil, support) == pytest.approx(solve(pencil, 6).value, rel=1e-12)
    assert best_subset(pencil, 6, time_limit=60.0).value >= solve(pencil, 6).value * (1.0 - 1e-12)


def test_the_relaxation_ends_at_the_deadline_and_when_it_stalls(monkeypatch):
    scaled, _ = scaled_pencil(null(30, rng=1), 5)
    support = root.first_support(scaled, 5, np.inf, "quick")
    late = root.relaxed(scaled, 5, support, 9.0, deadline=0.0)
    assert late.dual is None
    assert len(late.kept) == 30
    steps = []
    plain = root.PairSplitting.run
    monkeypatch.setattr(root.PairSplitting, "run", lambda self, n, end: steps.append(n) or plain(self, n, end))
    root.relaxed(scaled, 5, support, 9.0, deadline=np.inf)
    assert len(steps) > 3
    steps.clear()
    monkeypatch.setattr(root, "PROGRESS", 1.0)  # no check closes all of the gap: the first two after the first are slow
    stalled = root.relaxed(scaled, 5, support, 9.0, deadline=np.inf)
    assert len(steps) <= 3
    assert root.value_of(scaled, support) <= stalled.bound <= 9.0


def test_a_failure_of_lapack_costs_the_relaxation_and_nothing_else(monkeypatch):
    def fails(*_):
        raise LinAlgError("no convergence")

    monkeypatch.setattr(root.PairSplitting, "run", fails)
    for constant in ("LEAF_WORK", "CHEAP_NODES"):
        monkeypatch.setattr(f"dcgev_cvx.exact.branch_and_bound.{constant}", 0)
    pencil = null(14)
    found = best_subset(pencil, 4)
    assert found.optimal
    assert found.value == pytest.approx(optimum(pencil, 4), rel=1e-12)


def test_a_core_whose_dual_does_not_extend_removes_nothing(monkeypatch):
    monkeypatch.setattr(root, "CORE", 12)
    scaled, _ = scaled_pencil(planted_pca(40, 3, samples=400, strength=4.0, rng=1).pencil, 3)
    support = root.first_support(scaled, 3, np.inf, "quick")
    start = root.Root(np.arange(40), None, 9.0, support)
    assert len(root.reduced(scaled, 3, start, np.inf).kept) < 40
    monkeypatch.setattr(root, "extended", lambda *_: None)
    same = root.reduced(scaled, 3, start, np.inf)
    assert same.dual is None
    assert len(same.kept) == 40
    assert root.value_of(scaled, same.support) >= root.value_of(scaled, support)


def test_the_dual_belongs_to_the_variables_that_are_left():
    pencil, k = scaled_pencil(planted_pca(30, 4, samples=200, strength=2.0).pencil, 4)[0], 4
    start = root.Root(np.arange(30), None, np.inf, root.first_support(pencil, k, 9.0, "quick"))
    found = root.descended(pencil, k, start, np.inf)
    assert k <= len(found.kept) < 30
    assert found.dual is not None
    assert found.dual.U.shape == found.dual.a.shape == (len(found.kept), len(found.kept))


@pytest.mark.parametrize(
    ("gaps", "checks"),
    [
        ((1.0, 0.5, 0.4, 0.36, 0.33, 0.2), 5),  # the last two of five close less than 15 % each
        ((1.0, 0.9, 0.5, 0.45, 0.3, 0.2, 0.1), 7),  # never two in a row
        ((1.0, 0.5, 1e-12, 1e-13), 3),  # closed
    ],
)
def test_the_relaxation_ends_after_two_slow_checks_or_when_the_gap_is_closed(gaps, checks, monkeypatch):
    pencil, support, made = null(12), np.arange(4), []
    value = root.value_of(pencil, support)

    class Scripted:
        X = np.diag((np.arange(12) < 4).astype(float))

        def __init__(self, *_):
            pass

        def bounds(self, deadline):
            for gap in gaps:
                made.append(gap)
                yield None, value + gap

    monkeypatch.setattr(root, "PairSplitting", Scripted)
    found = root.descended(pencil, 4, root.Root(np.arange(12), None, np.inf, support), np.inf)
    assert len(made) == checks
    assert found.bound == value + min(made)
    assert found.support.tolist() == [0, 1, 2, 3]


def test_the_threshold_is_relative():
    assert root.threshold(1.0) > 1.0
    for size in (-(2.0**40), 2.0**-40):
        assert root.threshold(size) - size == pytest.approx(abs(size) * (root.threshold(1.0) - 1.0), rel=1e-3, abs=0.0)
    assert root.threshold(-np.inf) == -np.inf


def test_a_start_is_cut_in_the_units_of_the_metric():
    pencil = Pencil(np.eye(3), np.diag([1.0, 1e4, 1.0]))
    assert root.largest(pencil, np.array([0.5, 0.1, 0.2]), 2).tolist() == [0, 1]


def test_the_relaxation_runs_when_there_is_time():
    scaled, _ = scaled_pencil(null(30, rng=1), 5)
    support = root.first_support(scaled, 5, np.inf, "quick")
    assert root.relaxed(scaled, 5, support, 9.0, deadline=perf_counter() + 100.0).dual is not None


@pytest.mark.parametrize(("effort", "seconds"), [("quick", 1.0), ("normal", 2.0)])
def test_a_first_support_is_searched_for_where_the_time_allows(effort, seconds, monkeypatch):
    """One second for the quick setting, two for the normal one, and half as much again at n = 1000."""
    asked = []

    def counted(pencil, k, **settings):
        asked.append(settings["effort"])
        assert not settings["check_path"]
        return SimpleNamespace(x=np.eye(1, pencil.n)[0])

    monkeypatch.setattr(sys.modules["dcgev_cvx.search.solve"], "solve", counted)
    pencil = Pencil(np.eye(1000))
    for share in (0.99, 1.01):
        root.first_support(pencil, 2, share * 1.5 * seconds, effort)
    assert asked == [effort]


def test_the_relaxation_never_ends_with_a_worse_support():
    pencil = scaled_pencil(planted_pca(30, 4, samples=200, strength=2.0).pencil, 4)[0]
    best = root.first_support(pencil, 4, np.inf, "quick")
    worst = np.argsort(pencil.A_diagonal)[:4]
    for support in (best, np.sort(worst)):
        found = root.descended(pencil, 4, root.Root(np.arange(30), None, np.inf, support), np.inf)
        assert root.value_of(pencil, found.support) == pytest.approx(root.value_of(pencil, best), rel=1e-12)


def test_the_smaller_of_both_bounds_where_there_is_time(monkeypatch):
    """A small problem always gets both, a large one where λmax, twelve times the row sums, fits."""
    for rows, dense in ((3.0, 5.0), (5.0, 3.0)):
        monkeypatch.setattr(root, "row_sum_bound", lambda *_, rows=rows: rows)
        monkeypatch.setattr(root, "dense_bound", lambda *_, dense=dense: dense)
        monkeypatch.setattr(root, "QUICK_LIMIT", 4)
        assert root.quick_bound(Pencil(np.eye(4)), 2, 0.0) == 3.0
        assert root.quick_bound(Pencil(Gram(np.eye(2, 4))), 2, 0.0) == 3.0
        assert root.quick_bound(Pencil(Gram(np.eye(2, 5))), 2, 0.0) == dense  # a wide factor: λmax is the faster one
        for factor in (Pencil(Gram(np.eye(5))), Pencil(Gram(np.eye(2, 5)), 2.0 * np.eye(5)), Pencil(np.eye(5))):
            for seconds, bound in ((23.9, rows), (24.1, 3.0)):
                clock = count(7.0, 2.0)  # two seconds from one look at the clock to the next
                monkeypatch.setattr(root, "perf_counter", lambda clock=clock: next(clock))
                assert root.quick_bound(factor, 2, seconds) == bound


def test_the_best_row_is_chosen_and_cut_in_the_units_of_the_metric():
    """Alone the variables are worth 4/1, 9/9, 2/1, 1/1; the row of the first is 1/3, −0.5, 0.1 in units of √Bᵢᵢ."""
    A = np.array([[4.0, 1.0, -0.5, 0.1], [1.0, 9.0, 0.0, 0.0], [-0.5, 0.0, 2.0, 0.0], [0.1, 0.0, 0.0, 1.0]])
    pencil = Pencil(A, np.diag([1.0, 9.0, 1.0, 1.0]))
    assert root.best_row(pencil, 1).tolist() == [0]
    assert root.best_row(pencil, 2).tolist() == [0, 2]
    assert root.best_row(pencil, 3).tolist() == [0, 1, 2]


@pytest.mark.parametrize(("n", "share", "begun"), [(30, 0.99, False), (30, 1.01, True), (20, 1.01, True)])
def test_a_check_that_would_end_after_the_deadline_is_not_begun(n, share, begun, monkeypatch):
    asked = []
    monkeypatch.setattr(root, "perf_counter", lambda: 5.0)
    monkeypatch.setattr(root, "descended", lambda scaled, k, start, deadline: asked.append(start) or start)
    needed = root.CHECK_STEPS * 1.6e-10 * n**3
    root.relaxed(null(n), 5, np.arange(5), 9.0, 5.0 + share * needed)
    assert bool(asked) == begun


@pytest.mark.parametrize(("above", "reduces"), [(30, False), (29, True)])
def test_a_core_is_taken_of_large_problems_only(above, reduces, monkeypatch):
    asked = []
    monkeypatch.setattr(root, "CORE_ABOVE", above)
    monkeypatch.setattr(root, "reduced", lambda scaled, k, start, deadline: asked.append(k) or start)
    root.relaxed(null(30), 5, np.arange(5), 9.0, 0.0)
    assert bool(asked) == reduces


@pytest.mark.parametrize(("n", "cored"), [(14, False), (15, True)])
def test_a_core_leaves_at_least_k_variables_out(n, cored, monkeypatch):
    asked = []
    monkeypatch.setattr(root, "CORE", 10)
    monkeypatch.setattr(root, "promising", lambda *given: asked.append(given))
    start = root.Root(np.arange(n), None, 9.0, np.arange(5))
    assert root.reduced(null(n), 5, start, np.inf) is start
    assert bool(asked) == cored
    assert root.reduced(null(n), 5, start, 0.0) is start  # the deadline has passed
    assert len(asked) == cored
    for _, k, lam, support, size in asked:
        assert (k, support.tolist(), size) == (5, [0, 1, 2, 3, 4], 10)
        value = root.value_of(null(n), support)
        assert (lam - value) / value == pytest.approx(1e-10, rel=1e-3)


def test_the_dual_of_the_best_bound_is_kept(monkeypatch):
    pencil, support = null(12), np.arange(4)
    value = root.value_of(pencil, support)

    class Scripted:
        X = np.diag((np.arange(12) < 4).astype(float))

        def __init__(self, *_):
            pass

        def bounds(self, deadline):
            for gap in (1.0, 0.5, 0.6, 0.55):
                yield gap, value + gap

    monkeypatch.setattr(root, "PairSplitting", Scripted)
    start = root.Root(np.arange(12), None, np.inf, support)
    found = root.descended(pencil, 4, start, np.inf, screen=False)
    assert (found.dual, found.bound) == (0.5, value + 0.5)
