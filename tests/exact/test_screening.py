"""What screening removes is in no support that reaches λ, whatever the dual; a dual of a part extends to all."""

from itertools import combinations

import numpy as np
import pytest
from small_problems import null, optimum, random_pencil

from dcgev_cvx import Pencil
from dcgev_cvx.datasets import planted_pca
from dcgev_cvx.exact import best_subset, root
from dcgev_cvx.exact.enumeration import scaled_pencil
from dcgev_cvx.exact.screening import SLACK, Screening, allowance, extended, promising
from dcgev_cvx.relaxations.pair_splitting import PairSplitting
from dcgev_cvx.relaxations.pairwise import pair_dual, pairwise_bound
from dcgev_cvx.search.exchange_table import support_values


def dual_for(rng, pencil, k, honest):
    """Of the splitting, cut short, or wild."""
    if honest:
        splitting = PairSplitting(np.array(pencil.A), pencil.B, k, pencil.leading_vector)
        splitting.run(int(rng.integers(5, 60)))
        return splitting.dual
    a = 10.0 ** rng.uniform(-2, 1) * rng.uniform(size=(pencil.n, pencil.n))
    return pair_dual(rng.standard_normal((pencil.n, pencil.n)), a, pencil.n)


def test_no_variable_of_a_better_support_is_removed():
    rng, removed = np.random.default_rng(0), 0
    for trial in range(120):
        pencil, _ = random_pencil(rng)
        if pencil.n < 4:
            continue
        k = int(rng.integers(2, pencil.n - 1))
        scaled, _ = scaled_pencil(pencil, k)
        supports = np.array(list(combinations(range(scaled.n), k)))
        values = support_values(scaled, supports)
        lam = float(np.max(values) + rng.choice([-0.05, 0.001, 0.1, 1.0]) * np.ptp(values))
        dual = dual_for(rng, scaled, k, honest=trial % 2 == 0)
        if dual is None:
            continue
        kept = Screening(np.asarray(scaled.A), scaled.B, k, dual, lam).kept(rng.uniform(size=scaled.n))
        removed += scaled.n - len(kept)
        for support in supports[values > lam + 1e-9 * abs(lam)]:
            assert set(support) <= set(kept)
    assert removed > 40


def test_charges_with_a_variable_of_Z_cover_every_support_and_no_more():
    rng = np.random.default_rng(6)
    for _ in range(20):
        n, k = 7, int(rng.integers(2, 6))
        dual = pair_dual(np.zeros((n, n)), rng.uniform(size=(n, n)), n)
        Z = rng.permutation(n)[: int(rng.integers(1, 4))]
        needed = np.zeros(n)
        for S in combinations(range(n), k):
            for j in S if set(S) & set(Z) else ():
                needed[j] = max(needed[j], sum(dual.a[j, i] for i in S if i != j))
        assert Screening(np.eye(n), None, k, dual, 2.0).charges_with(Z) == pytest.approx(needed, rel=1e-12)


def test_a_dual_of_a_part_extends_to_all_variables():
    pencil, k = planted_pca(40, 3, samples=400, strength=4.0, rng=1).pencil, 3
    found = best_subset(pencil, k)
    support, lam = np.array(found.support), found.value * (1.0 + 1e-10)
    core = promising(pencil, k, lam, support, 12)
    assert set(support) <= set(core)
    splitting = PairSplitting(np.array(pencil.A[np.ix_(core, core)]), None, k, found.x[core])
    splitting.run(200)
    dual = extended(pencil, k, lam, core, splitting.dual)
    assert pairwise_bound(pencil, k, dual.U, dual.a) >= found.value
    weights = np.zeros(40)
    weights[core] = 1.0
    assert len(Screening(np.asarray(pencil.A), None, k, dual, lam).kept(weights)) < 40


def test_allowances_are_paid_whatever_the_support():
    """In every support of k the rows of Z pay e per pair with W and |S| per pair within Z, and stay positive."""
    rng = np.random.default_rng(2)
    G, H = rng.standard_normal((9, 40)), rng.standard_normal((9, 60))
    pencil, k, lam = Pencil(G @ G.T / 40, H @ H.T / 60), 4, 4.0
    Z, W = np.arange(3, 9), np.arange(3)
    e, S = allowance(lam, pencil, k, Z), lam * pencil.B - pencil.A
    assert np.any(e > 0.0)
    for support in combinations(range(9), k):
        for j in set(support) & set(Z[e > 0.0]):
            inside = sum(abs(S[j, i]) for i in support if i in Z and i != j)
            assert inside + e[j - 3] * len(set(support) & set(W)) < S[j, j]


def test_an_allowance_is_the_most_that_a_row_can_pay(plain_partition):
    G = np.random.default_rng(3).standard_normal((12, 50))
    pencil, Z, lam = Pencil(G @ G.T / 50), np.arange(2, 12), 3.0
    for k in (2, 3, 5):
        found = allowance(lam, pencil, k, Z)
        for row, j in enumerate(Z):
            others = np.sort([abs(pencil.A[j, i]) for i in Z if i != j])[::-1]
            diagonal = SLACK * (lam - pencil.A[j, j])
            rooms = [(diagonal - np.sum(others[: k - 1 - t])) / t for t in range(1, k)]
            assert found[row] == pytest.approx(min(*rooms, diagonal - np.sum(others[: k - 1])))


@pytest.mark.parametrize("strength", [2.0, 6.0])
def test_a_core_of_the_variables_leads_to_the_same_proof(strength, monkeypatch):
    monkeypatch.setattr(root, "CORE", 15)
    monkeypatch.setattr(root, "CORE_ABOVE", 20)
    monkeypatch.setattr("dcgev_cvx.exact.branch_and_bound.CORE_ABOVE", 20)
    pencil = planted_pca(60, 5, samples=300, strength=strength).pencil
    found = best_subset(pencil, 5)
    assert found.optimal
    monkeypatch.undo()
    assert found.support == best_subset(pencil, 5).support
    if strength == 6.0:
        assert found.screened >= 45
        assert "proved to be in no better support" in str(found)


def test_without_room_for_a_core_the_root_is_as_given():
    pencil = null(30)
    assert promising(pencil, 5, 1.0, np.arange(5), 10) is None
    start = root.Root(np.arange(30), None, 9.0, np.arange(5))
    assert root.reduced(pencil, 5, start, deadline=np.inf) is start


def test_the_relaxation_alone_proves_a_small_null_problem(monkeypatch):
    for constant in ("LEAF_WORK", "CHEAP_NODES"):
        monkeypatch.setattr(f"dcgev_cvx.exact.branch_and_bound.{constant}", 0)
    pencil = null(16)
    found = best_subset(pencil, 3)
    assert found.optimal
    assert found.value == pytest.approx(optimum(pencil, 3), rel=1e-12)
    assert found.screened > 0
    assert found.nodes <= 3


def test_an_extended_dual_cancels_the_pairs_with_other_variables_and_charges_what_their_rows_can_pay():
    rng = np.random.default_rng(4)
    G = rng.standard_normal((9, 60))
    pencil, k, lam, W, Z = Pencil(G @ G.T / 60), 3, 4.0, np.arange(3), np.arange(3, 9)
    inner = pair_dual(np.full((3, 3), 0.1), np.full((3, 3), 0.2), 3)
    dual, S = extended(pencil, k, lam, W, inner), lam * np.eye(9) - pencil.A
    pairs = ~np.eye(9, dtype=bool)
    pairs[:3, :3] = False
    assert dual.U[pairs] == pytest.approx(S[pairs], rel=1e-12)  # nothing was cut: the charges pay for it
    assert dual.a[np.ix_(Z, W)] == pytest.approx(np.repeat(allowance(lam, pencil, k, Z)[:, None], 3, axis=1))
    assert (dual.a * dual.a.T)[np.ix_(W, Z)] == pytest.approx(S[np.ix_(W, Z)] ** 2, rel=1e-12)
    assert dual.a[np.ix_(Z, Z)][pairs[3:, 3:]] == pytest.approx(np.abs(S)[np.ix_(Z, Z)][pairs[3:, 3:]], rel=1e-12)
    assert np.array_equal(dual.U[:3, :3], inner.U)
    assert extended(pencil, k, 1.0, W, inner) is None


@pytest.mark.parametrize("k", [2, 3, 5])
def test_an_allowance_pays_every_number_of_pairs(k):
    """Against a loop over t, on rows long enough for a partial sort to be one."""
    G = np.random.default_rng(k).standard_normal((200, 400))
    pencil, Z = Pencil(G @ G.T / 400), np.arange(3, 200)
    S = 6.0 * np.eye(197) - pencil.A[np.ix_(Z, Z)]
    diagonal = SLACK * np.diagonal(S)
    rows = -np.sort(-np.abs(S - np.diag(np.diagonal(S))), axis=1)
    paid = [(diagonal - rows[:, : k - 1 - t].sum(axis=1)) / max(t, 1) for t in range(k)]
    assert allowance(6.0, pencil, k, Z) == pytest.approx(np.min(paid, axis=0), rel=1e-12)


@pytest.fixture
def plain_partition(monkeypatch):
    """A partition that promises no order on either side, and has none."""

    def reversed_sides(M, kth, axis):
        rows = np.sort(M, axis=axis)
        return np.hstack([rows[:, :kth][:, ::-1], rows[:, [kth]], rows[:, kth + 1 :][:, ::-1]])

    monkeypatch.setattr(np, "partition", reversed_sides)


def test_the_last_charge_and_the_sizes_of_every_row(plain_partition):
    """The smallest of the k − 1 largest."""
    rng = np.random.default_rng(9)
    n, k = 30, 5
    A = np.diag(rng.standard_normal(n))
    dual = pair_dual(rng.standard_normal((n, n)), rng.uniform(size=(n, n)), n)
    screening = Screening(A, None, k, dual, 2.0)
    largest = -np.sort(-dual.a, axis=1)[:, : k - 1]
    assert screening.last.tolist() == largest[:, -1].tolist()
    assert screening.charges == pytest.approx(largest.sum(axis=1), rel=1e-12)
    expected = np.abs(A) + np.abs(dual.U) + np.diag(screening.charges)
    assert screening.size == pytest.approx(expected, rel=1e-12)
    assert np.array_equal(screening.M, A + dual.U)


@pytest.mark.parametrize(("deadline", "tried"), [(np.inf, [37, 34, 28, 16]), (0.0, [37])])
def test_twice_as_many_variables_are_kept_after_each_failure_until_the_deadline(deadline, tried, monkeypatch):
    asked = []
    dual = pair_dual(np.zeros((40, 40)), np.ones((40, 40)), 40)
    screening = Screening(np.eye(40), None, 3, dual, 2.0)

    def never(self, Z):
        asked.append(len(Z))
        assert len(asked) <= len(tried)
        return False

    monkeypatch.setattr(Screening, "excluded", never)
    assert screening.kept(np.arange(40.0), deadline).tolist() == list(range(40))
    assert asked == tried
    monkeypatch.setattr(Screening, "excluded", lambda self, Z: len(Z) == 34)
    assert screening.kept(np.arange(40.0)).tolist() == list(range(34, 40))


def test_an_allowance_pays_for_a_support_without_a_pair_too():
    """Diagonal 1 and 0.4 beside it, k = 3: no pair leaves 1 − 0.8, one 1 − 0.4, two 1/2 each."""
    pencil = Pencil(0.4 * (np.ones((5, 5)) - np.eye(5)))
    assert allowance(1.0, pencil, 3, np.arange(1, 5)) == pytest.approx(np.full(4, SLACK - 0.8))


def test_as_many_rows_as_the_core_holds_may_lack_dominance():
    """At λ = 1 the support and the row of 1 are not dominant: three rows."""
    pencil, support = Pencil(np.diag([5.0, 4.0, 1.0, 0.5, 0.6, 0.1])), np.array([0, 1])
    assert promising(pencil, 2, 1.0, support, 2) is None
    assert promising(pencil, 2, 1.0, support, 3).tolist() == [0, 1, 2]
    assert promising(pencil, 2, 1.0, support, 4).tolist() == [0, 1, 2, 4]


def test_rows_that_can_pay_little_extend_a_dual():
    inner = pair_dual(np.zeros((2, 2)), np.ones((2, 2)), 2)
    for size, extends in ((0.5, True), (1.0, False)):
        found = extended(Pencil(size * np.eye(4)), 2, 1.0, np.arange(2), inner)
        assert (found is not None) == extends


def test_a_thousandth_of_a_diagonal_is_left_for_rounding():
    assert allowance(1.0, Pencil(0.5 * np.eye(4)), 2, np.arange(4)) == pytest.approx(np.full(4, 0.4995), rel=1e-12)
