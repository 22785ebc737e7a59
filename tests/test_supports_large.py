"""Exchanges on large supports: what the kept inverse and the tableau say is what the data say."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dcgev_cvx import Gram, Pencil, solve
from dcgev_cvx.search import slots, supports
from dcgev_cvx.search.slots import Slots, exchange_slots
from dcgev_cvx.search.supports import joined
from dcgev_cvx.search.swaps import eigenvector_on, eliminated, swap_search
from dcgev_cvx.search.sweeps import Tableau, rank_one_support


def general(seed, n=160, *, metric=True):
    rng = np.random.default_rng(seed)
    M, G = rng.standard_normal((n, n)), rng.standard_normal((2 * n, n)) * 10.0 ** rng.uniform(-1, 1, n)
    return Pencil(M + M.T, G.T @ G / n if metric else None)


@pytest.mark.parametrize("metric", [True, False])
def test_an_exchange_in_place_is_worth_what_the_new_support_is(metric):
    pencil, rng = general(0, metric=metric), np.random.default_rng(1)
    support = np.sort(rng.permutation(pencil.n)[:110])
    value, x = eigenvector_on(pencil, support)
    kept, seen = Slots(pencil, support, x, value), 0
    for _ in range(12):
        place, newcomer = next(kept.promising(None))
        wanted = kept.members.copy()
        wanted[place] = newcomer
        truth, before = eigenvector_on(pencil, np.sort(wanted))[0], kept.value
        assert truth > before
        if not kept.exchange(place, newcomer):
            assert kept.value == before
            assert kept.exchange(place, newcomer, exactly=True)
            seen += 1
        assert kept.value == pytest.approx(truth, rel=1e-8)
        assert np.array_equal(kept.members, wanted)
        kept.invert()
    # the second eigenvalue is taken for the first now and then, no more
    assert seen <= 3
    # A and B of the members are those of the pencil, and x is unit in the metric
    root = pencil.B_roots[kept.members]
    assert kept.A * np.outer(root, root) == pytest.approx(pencil.A_sub(kept.members))
    assert kept.x @ kept.B @ kept.x == pytest.approx(1.0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("steepest", [400, 0])
def test_no_single_exchange_improves_what_is_left(seed, steepest, monkeypatch):
    monkeypatch.setattr(slots, "STEEPEST", steepest)
    pencil = general(seed, 130)
    x = swap_search(pencil, supports.indicator(np.arange(105), pencil.n))[0]
    members, value = np.flatnonzero(x), pencil.A_quad(x)
    outside = np.setdiff1d(np.arange(pencil.n), members)
    best = max(
        eigenvector_on(pencil, np.sort(np.append(np.delete(members, i), j)))[0]
        for i in range(0, len(members), 7)
        for j in outside
    )
    assert best <= value * (1.0 + 1e-9)


def test_groups_keep_their_sizes():
    pencil = general(5)
    groups = np.repeat([0, 1], 80)
    start = np.r_[0:60, 80:130]
    value, x = eigenvector_on(pencil, start)
    members, done = exchange_slots(pencil, start, x, value, 200, groups)
    assert done > 0
    assert np.sum(groups[members] == 0) == 60


def test_a_zero_matrix_has_nothing_to_exchange():
    pencil = Pencil(np.zeros((130, 130)), general(3, 130).B)
    assert solve(pencil, 110).value == 0.0


def test_two_tops_together_lead_to_a_third():
    pencil, k = general(7), 110
    tops = [eigenvector_on(pencil, S)[1] for S in (eliminated(pencil, k), np.arange(k))]
    (third,) = joined(pencil, tops, k)
    assert np.count_nonzero(third) == k
    assert pencil.A_quad(third) > max(map(pencil.A_quad, tops))
    assert not joined(pencil, tops[:1], k)
    assert not joined(pencil, [tops[0], tops[0]], k)


# ---- rank one ---------------------------------------------------------------------------------------


def fisher(seed, n):
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((3 * n, n)) * 10.0 ** rng.uniform(-2, 2, n)
    return rng.standard_normal(n) * np.sqrt(np.sum(G**2, axis=0)), G.T @ G


def ratio(a, B, S):
    return float(a[S] @ np.linalg.solve(B[np.ix_(S, S)], a[S])) if len(S) else 0.0


def test_the_tableau_says_what_the_data_say(monkeypatch):
    monkeypatch.setattr("dcgev_cvx.search.sweeps.REFRESH", 10**9)
    a, B = fisher(0, 12)
    tableau, rng = Tableau(a, B, np.array([1, 5])), np.random.default_rng(0)
    for i in rng.integers(12, size=60):
        tableau.toggle(int(i))
        S = np.flatnonzero(tableau.inside)
        assert tableau.value == pytest.approx(ratio(a, B, S), abs=1e-9)
        for j in range(12):
            other = np.setdiff1d(S, [j]) if j in S else np.append(S, j)
            change = ratio(a, B, other) - ratio(a, B, S)
            found = -tableau.losses()[j] if j in S else tableau.gains()[j]
            assert found == pytest.approx(change, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_rank_one_supports_are_the_best_of_all_or_near(seed):
    a, B = fisher(seed, 11)
    for k in (2, 4, 7):
        best = max(ratio(a, B, np.array(S)) for S in combinations(range(11), k))
        found = rank_one_support(a, B, k)
        assert len(found) == k
        assert ratio(a, B, found) >= 0.99 * best


def test_rank_one_with_copies_of_a_variable():
    """Copies but for rounding add nothing: their variance beside each other is noise, and so would be the gain."""
    a, B = fisher(3, 6)
    both = np.repeat(np.arange(6), 2)
    found = rank_one_support(a[both], B[np.ix_(both, both)] + 1e-15 * np.diag(np.diagonal(B)[both]), 6)
    assert sorted(found // 2) == list(range(6))


def test_solve_on_a_large_rank_one_pencil_finds_no_better_exchange():
    a, B = fisher(4, 90)
    found = solve(Pencil(Gram(a[None, :]), B), 45)
    S = np.array(found.support)
    outside = np.setdiff1d(np.arange(90), S)
    best = max(ratio(a, B, np.append(np.delete(S, i), j)) for i in range(45) for j in outside)
    assert best <= found.value * (1.0 + 1e-9)
