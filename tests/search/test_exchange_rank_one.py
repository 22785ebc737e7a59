"""The tableau of a pencil with A = aaᵀ says what the data say."""

from itertools import combinations

import numpy as np
import pytest
from families import fisher

from dcgev_cvx.search.exchange_rank_one import RankOneTableau, Tableau


def ratio(a, B, S):
    return float(a[S] @ np.linalg.solve(B[np.ix_(S, S)], a[S])) if len(S) else 0.0


def test_gains_and_losses_are_exact():
    pencil = fisher(0, 12)
    a, B = pencil.A.C[0], pencil.B
    tableau, rng = Tableau(a, B, np.array([1, 5])), np.random.default_rng(0)
    for i in rng.integers(12, size=60):
        tableau.sweep(int(i))
        S = tableau.support
        assert tableau.value == pytest.approx(ratio(a, B, S), abs=1e-9)
        for j in range(12):
            other = np.setdiff1d(S, [j]) if j in S else np.append(S, j)
            change = ratio(a, B, other) - ratio(a, B, S)
            found = -tableau.losses()[j] if j in S else tableau.gains()[j]
            assert found == pytest.approx(change, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_exchanges_from_forward_and_backward_selection_are_near_the_best_of_all(seed):
    pencil = fisher(seed, 11)
    for k in (2, 4, 7):
        search = RankOneTableau(pencil, k)
        fitted = [search.fitted(start) for start in (np.arange(11), np.empty(0, dtype=np.intp))]
        best = max(ratio(pencil.A.C[0], pencil.B, np.array(S)) for S in combinations(range(11), k))
        assert search.improve(np.array(fitted))[1].max() >= 0.97 * best


def test_fitting_drops_the_cheapest_and_adds_the_best():
    pencil = fisher(2, 8)
    a, B = pencil.A.C[0], pencil.B
    for k in range(7, 0, -1):
        start = np.arange(8)[: k + 1]
        cheapest = max(combinations(start, k), key=lambda S: ratio(a, B, np.array(S)))
        assert RankOneTableau(pencil, k).fitted(start).tolist() == list(cheapest)
        grown = max(range(k, 8), key=lambda j: ratio(a, B, np.append(np.arange(k), j)))
        assert RankOneTableau(pencil, k + 1).fitted(np.arange(k)).tolist() == [*range(k), grown]


def test_copies_of_a_variable():
    """Copies but for rounding add nothing: their variance beside each other is noise, and so would be the gain."""
    pencil = fisher(3, 6)
    both = np.repeat(np.arange(6), 2)
    B = pencil.B[np.ix_(both, both)] + 1e-15 * np.diag(np.diagonal(pencil.B)[both])
    tableau = Tableau(pencil.A.C[0][both], B, np.empty(0, dtype=np.intp))
    tableau.fit(6)
    tableau.improve(set())
    assert sorted(tableau.support // 2) == list(range(6))
