"""Steps 2 to 5 of `solve`: what is constructed within a budget, and when the restarts stop."""

from types import SimpleNamespace

import numpy as np
import pytest
from families import cca, conditioned, factor, pca, value_on

from dcgev_cvx import Gram, Pencil
from dcgev_cvx.search import restarts
from dcgev_cvx.search.one_shot import one_shot
from dcgev_cvx.search.restarts import ROUND, TOPS, Search


def search_of(pencil, k, seed=0):
    return Search(pencil, ((np.arange(pencil.n), k),), np.random.default_rng(seed))


class Ends:
    """Exchanges that change nothing and cost nothing: every start is an end, with the values given."""

    exhaustive, work, exchange_work = True, 0.0, 100.0

    def __init__(self, values):
        self.values = iter(values)

    def improve(self, supports):
        return supports, np.array([next(self.values) for _ in supports])


def test_the_eight_best_of_all_supports_are_kept_and_starts_are_counted():
    search = search_of(pca(0), 2)
    search.exchanges = Ends([3.0, 9.0, 1.0, 8.0, 2.0, 7.0, 5.0, 6.0, 4.0, 0.0])
    assert search.improve("one", [np.array([0, 13])]) == 1
    assert search.method == "exchanges from 1 start"
    assert search.improve("nine", [np.array([0, j]) for j in range(1, 10)]) == 9
    assert list(search.tops.values()) == [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0]
    assert [S.tolist() for S in search.ranked[:3]] == [[0, 1], [0, 3], [0, 5]]
    assert search.starts == {"one": 1, "nine": 9}
    assert search.method == "exchanges from 10 starts"


def test_one_shot_gives_the_support_of_its_x():
    pencil = pca(0)
    x, _ = one_shot(pencil, 3, pencil.leading_vector)
    assert search_of(pencil, 3).one_shot_support(pencil.leading_vector).tolist() == np.flatnonzero(x).tolist()


def test_what_was_spent_before_counts_against_a_construction():
    search = search_of(pca(0, 50), 3)
    search.exchanges.work = 1.0
    search.construct(20.0 * 50**2)
    assert "one-shot MM" not in search.starts


def test_forward_selection_has_a_tenth_of_the_budget():
    work = 0.5 * 3**4 + 3 * 50**2
    for share, made in ((10.0 * (1.0 + 1e-12), True), (9.9, False)):
        search = search_of(pca(0, 50), 3)
        search.construct(share * work)
        assert ("forward selection" in search.starts) == made


def test_columns_are_not_scanned_where_no_start_from_them_is_affordable():
    search = search_of(pca(0, 30), 3)
    start = 3 * search.exchanges.exchange_work
    search.scan(start)  # a quarter of it goes to the columns, and then it does not do for a start
    assert (search.scanned, search.exchanges.work) == (0, 0.0)
    search.scan(1.4 * start)
    assert search.scanned == int(0.25 * 1.4 * start / search.column_work) > 0


def test_starts_from_columns_end_with_the_budget():
    """A quarter of 115200 looks at all 60 columns, 480 each; the rest does for 4.8 starts, and each part takes 1.5."""
    search, made = search_of(pca(0, 60, 200), 3), []

    def improve(kind, supports):
        made.append((kind, len(supports)))
        search.exchanges.work += 1.5 * 3 * 6000.0

    search.exchanges, search.improve = Ends([]), improve
    search.exchanges.exchange_work = 6000.0
    search.scan(115200.0)
    assert made == [("columns of A", 4), ("columns of A", 3), ("columns of A", 1)]
    assert (search.scanned, search.exchanges.work) == (60, 60 * 480.0 + 3 * 1.5 * 3 * 6000.0)


def test_a_round_has_32_starts_or_what_is_affordable_and_at_least_one():
    for room, starts in ((40.0, 32), (5.5, 5), (0.5, 1)):
        search = search_of(pca(0), 4)
        search.exchanges = Ends([1.0] * 100)
        search.tops = {np.arange(4).tobytes(): 1.0}
        calls = []
        search.improve = lambda kind, supports, calls=calls: calls.append((kind, len(supports))) or 0
        search.restart(room * 400.0, 1)
        assert calls == [("restarts", starts)]
    search.exchanges.work = 0.5 * 400.0
    search.restart(0.5 * 400.0, 9)
    assert len(calls) == 1


@pytest.mark.parametrize(("rise", "rounds"), [(0.5e-12, 3), (1.5e-12, 4)])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_support_is_better_where_it_rises_by_more_than_rounding(rise, rounds, sign):
    search = search_of(pca(0), 4)
    search.tops = {np.arange(4).tobytes(): sign}
    made = []

    def improve(kind, supports):
        made.append(kind)
        search.tops = {np.arange(4).tobytes(): sign + rise}
        return 0

    search.improve = improve
    search.restart(1e9, 3)
    assert len(made) == rounds


def test_two_to_five_members_leave_and_not_many_more_than_half():
    for k, most in ((2, 3), (4, 3), (6, 4), (8, 5), (40, 5)):
        search, asked = search_of(pca(0, 60), k), []
        search.tops = {np.arange(k).tobytes(): 1.0}
        search.generator = SimpleNamespace(
            permutation=lambda given: np.arange(given) if isinstance(given, int) else given,
            random=lambda n: np.linspace(0.9, 0.1, n),
            integers=lambda low, high, asked=asked: asked.append((low, high)) or 2,
        )
        for i in (0, 1):  # a single support cannot be crossed, and is perturbed
            assert search.next_start(i).tolist() == list(range(2, k + 2))
        assert asked == [(2, most + 1)] * 2
        assert search.next_start(4).tolist() == list(range(k))


def test_columns_are_ordered_whatever_their_size():
    assert search_of(Pencil(np.diag([1e50, 3e50, 2e50])), 2).column_order.tolist() == [1, 2, 0]
    assert sorted(search_of(Pencil(np.zeros((3, 3))), 2).column_order.tolist()) == [0, 1, 2]


def test_every_construction_is_made_once_where_the_budget_allows_all():
    search = search_of(cca(0), 4)
    search.construct(1e9)
    first = dict(search.starts)
    assert set(first) == {"one-shot MM", "backward elimination", "forward selection", "columns of A"}
    search.construct(1e9)
    assert dict(search.starts) == first
    assert search.method == f"one-shot MM and exchanges from {sum(first.values())} starts"


@pytest.mark.parametrize(
    ("budget", "made"),
    [
        (10.0 * 0.5 * 50**3, {"one-shot MM", "backward elimination", "forward selection"}),
        (9.9 * 0.5 * 50**3, {"one-shot MM", "forward selection"}),
        (20.0 * 50**2, {"one-shot MM"}),
        (19.9 * 50**2, {"the leading eigenvector cut"}),
    ],
)
def test_a_construction_is_left_out_where_its_share_of_the_budget_is_too_large(budget, made):
    """Backward elimination and forward selection have a tenth; one-shot MM has all of it."""
    search = search_of(pca(0, 50), 3)
    search.construct(budget)
    assert set(search.starts) - {"columns of A"} == made


def test_the_work_of_the_constructions_is_counted():
    dense, metric = search_of(pca(0, 50), 3), search_of(conditioned(0, 20, 10.0), 3)
    assert dense.one_shot_work == 20.0 * 50**2
    assert metric.one_shot_work == 2e4 * 3 * 20
    dense.construct(1e9)
    exact = dense.one_shot_work + 0.5 * 50**3 + 0.5 * 3**4 + 3 * 50**2 + 50 * dense.column_work
    assert dense.exchanges.work > exact
    assert (dense.exchanges.work - exact) / dense.exchanges.exchange_work == pytest.approx(
        round((dense.exchanges.work - exact) / dense.exchanges.exchange_work), abs=1e-6
    )
    assert dense.affordable(dense.exchanges.work + 2.5 * 3 * dense.exchanges.exchange_work) == 2
    assert dense.affordable(0.0) == 0


def test_the_best_supports_are_kept_in_order():
    search = search_of(pca(1), 4)
    search.construct(1e9)
    search.restart(1e9, 2)
    values = [value_on(search.pencil, S) for S in search.ranked]
    assert 1 < len(values) <= TOPS
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(max(search.tops.values()), rel=1e-9)


def test_restarts_stop_after_rounds_without_a_better_support_and_continue_from_there():
    """One local optimum: every round is idle, and the patience of a larger effort counts those before."""
    search = search_of(Pencil(np.outer(np.arange(1.0, 10.0), np.arange(1.0, 10.0))), 3)
    search.construct(1e9)
    best = search.ranked[0]
    assert best.tolist() == [6, 7, 8]
    for patience in (1, 4):
        search.restart(1e9, patience)
        assert search.starts["restarts"] == patience * ROUND
    search.restart(1e9, 4)
    assert search.starts["restarts"] == 4 * ROUND
    assert search.ranked[0].tolist() == best.tolist()


def test_a_better_support_adds_the_rounds_that_it_took(monkeypatch):
    search = search_of(pca(0), 4)
    search.tops = {np.arange(4).tobytes(): 1e-6}
    values = iter([1e-6, 1e-6, 1.5e-6, *[1.5e-6] * 20])

    def improve(kind, supports):
        search.starts[kind] += 1
        search.tops = {np.arange(4).tobytes(): next(values)}
        return 0

    monkeypatch.setattr(search, "improve", improve)
    search.restart(1e9, 3)
    assert search.starts["restarts"] == 3 + 3


def test_an_equal_support_is_not_a_better_one(monkeypatch):
    search = search_of(Pencil(np.zeros((6, 6))), 2)
    search.tops = {np.arange(2).tobytes(): 0.0}
    monkeypatch.setattr(search, "improve", lambda kind, supports: search.starts.update([kind]) or 0)
    search.restart(1e9, 3)
    assert search.starts["restarts"] == 3


@pytest.mark.parametrize(("new", "rounds"), [(4, 2), (5, 10)])
def test_rounds_with_many_new_local_optima_do_not_count(new, rounds, monkeypatch):
    search = search_of(pca(0), 4)
    search.tops = {np.arange(4).tobytes(): 1.0}

    def improve(kind, supports):
        assert len(supports) == ROUND
        search.starts[kind] += 1
        search.exchanges.work += 1e7
        return new

    monkeypatch.setattr(search, "improve", improve)
    search.restart(1e8, 2)
    assert search.starts["restarts"] == rounds


def test_restarts_end_with_the_budget():
    search = search_of(conditioned(3, 30, 1e6), 6)
    search.construct(1e7)
    search.restart(3e7, 1000)
    assert 3e7 <= search.exchanges.work < 4e7


def test_starts_are_perturbed_crossed_and_random():
    search = search_of(pca(0, 60), 8)
    left, right = np.arange(8), np.arange(4, 12)
    search.tops = {left.tobytes(): 2.0, right.tobytes(): 1.0}
    for _ in range(20):
        perturbed, crossed, random = (search.next_start(i) for i in (0, 1, 4))
        assert max(len(np.intersect1d(perturbed, S)) for S in (left, right)) in (3, 4, 5, 6, 7)
        assert set(range(4, 8)) <= set(crossed.tolist()) <= set(range(12))
        assert len(np.unique(random)) == 8
    assert len({tuple(search.next_start(4)) for _ in range(5)}) > 1
    search.tops = {np.arange(8 * i, 8 * i + 8).tobytes(): 1.0 for i in range(3)}
    for i, parents in ((0, 1), (1, 2), (2, 1), (3, 2)):
        for _ in range(20):
            from_each = np.bincount(search.next_start(i) // 8, minlength=8)[:3]
            assert np.count_nonzero(from_each) <= parents if parents == 2 else from_each.max() >= 3


def test_columns_are_looked_at_by_their_diagonal_and_in_random_order_where_it_is_equal():
    rng = np.random.default_rng(0)
    A = np.diag([1.0, 3.0, 2.0]) + 0.01
    assert search_of(Pencil(A), 2).column_order.tolist() == [1, 2, 0]
    assert search_of(Pencil(np.diag([1e-30, 1e10, 2e10])), 2).column_order.tolist() == [2, 1, 0]
    C = rng.standard_normal((30, 40))
    equal = Pencil(Gram(C / np.linalg.norm(C, axis=0)))
    orders = {tuple(search_of(equal, 3, seed).column_order) for seed in range(3)}
    assert len(orders) == 3
    assert all(sorted(order) == list(range(40)) for order in orders)


def test_columns_are_not_scanned_twice_nor_for_a_factor_of_few_rows():
    search = search_of(pca(0, 30), 3)
    assert search.column_work == 30 * 8.0
    search.scan(4.0 * 20 * search.column_work)
    assert search.scanned == 20
    assert search.exchanges.work >= 20 * search.column_work
    search.scan(1e9)
    assert search.scanned == 30
    flat = search_of(Pencil(factor(0, 5, 40)), 5)
    assert flat.column_work == 40 * (8.0 + 0.1 * 5)
    flat.scan(1e9)
    assert flat.scanned == 0
    tall = search_of(Pencil(factor(0, 6, 40)), 5)
    tall.scan(1e9)
    assert tall.scanned == 40


def test_a_large_factor_restarts_from_columns_and_random_directions_by_turns():
    search = search_of(Pencil(factor(0, 60, 4000)), 200)
    assert not search.exchanges.exhaustive
    for count, column in ((0, 0), (1, None), (2, 1), (3, None), (4, 2)):
        search.starts["restarts"] = count
        direction = search.next_direction()
        columns = [search.pencil.A_dot(np.eye(4000)[j]) for j in search.column_order[:4]]
        assert [np.allclose(direction, c) for c in columns] == [column == j for j in range(4)]
    work = search.exchanges.work
    assert 0 < len(search.next_start(0)) <= 200
    assert search.exchanges.work == work + search.one_shot_work


def test_directions_go_round_the_columns_and_leave_out_those_that_are_zero():
    search = search_of(Pencil(Gram(np.diag([3.0, 2.0, 0.0]))), 2)
    found = []
    for count in range(8):
        search.starts["restarts"] = count
        found.append(search.next_direction())
    assert [found[i].tolist() for i in (0, 2, 6)] == [[9.0, 0.0, 0.0], [0.0, 4.0, 0.0], [9.0, 0.0, 0.0]]
    assert all(np.count_nonzero(found[i]) == 3 for i in (1, 3, 4, 5, 7))


def test_a_large_factor_restarts_one_at_a_time_and_every_restart_counts():
    search = search_of(Pencil(factor(0, 60, 4000)), 200)
    search.improve("given supports", [np.arange(200)])
    search.tops = dict.fromkeys(search.tops, 1000000000.0)
    search.restart(1e12, 2)
    assert search.starts["restarts"] == 2


def test_columns_come_by_their_values_in_the_metric():
    pencil = Pencil(np.diag([1.0, 2.0, 3.0, 4.0, 0.5]), np.diag([1.0, 8.0, 1.0, 100.0, 1.0]))
    assert search_of(pencil, 2).column_order.tolist() == [2, 0, 4, 1, 3]


def test_each_view_exchanges_among_its_own_variables():
    plan = ((np.arange(3), 1), (np.arange(3, 5), 1))
    assert Search(cca(0), plan, np.random.default_rng(0)).exchanges.groups.tolist() == [0, 0, 0, 1, 1]
    assert search_of(cca(0), 2).exchanges.groups is None


def test_a_dozen_columns_are_tried_and_fewer_on_a_small_budget():
    search = search_of(pca(0, 60, 200), 3)
    search.construct(1e9)
    assert search.starts["columns of A"] == 12
    search = search_of(pca(0, 60, 200), 3)
    search.scan(3.0 * search.k * search.exchanges.exchange_work)
    assert 0 < search.starts["columns of A"] < 12


def test_two_of_five_starts_perturb_a_support_two_cross_two_and_one_is_random(monkeypatch):
    """Members of a parent have a vote of at least one, those that leave it one below zero."""
    search = search_of(pca(1), 4)
    monkeypatch.setattr(Search, "ranked", [np.arange(4), np.arange(4, 8)])
    votes = []
    monkeypatch.setattr(restarts, "highest", lambda found, plan: votes.append(found.copy()))
    for i in range(10):
        search.next_start(i)
    chosen = [int(np.sum((found >= 1.0) | (found < 0.0))) for found in votes]
    leaving = [int(np.sum(found < 0.0)) for found in votes]
    assert chosen == [4, 8, 4, 8, 0] * 2
    assert all((2 <= count <= 5) == (total == 4) for count, total in zip(leaving, chosen, strict=True))


def test_the_leading_eigenvector_is_cut_in_the_units_of_the_metric():
    A, d = pca(2).dense()[0], 10.0 ** np.linspace(-2.0, 2.0, pca(2).n)
    found = []
    for pencil in (Pencil(A), Pencil(A * np.outer(d, d), np.diag(d**2))):
        search = search_of(pencil, 3)
        search.improve = lambda kind, supports: found.append((kind, supports[0].tolist()))
        search.construct(0.0)
    assert found[0] == found[1]
    assert found[0][0] == "the leading eigenvector cut"
