"""Bounds of families hold for every support of the family; what screening removes is in no better support."""

from itertools import combinations

import numpy as np
import pytest
from small_problems import null, random_pencil

from dcgev_cvx import Pencil
from dcgev_cvx._numerics.deadline import Deadline
from dcgev_cvx.budgets import Budget
from dcgev_cvx.datasets import planted_pca
from dcgev_cvx.exact import best_subset
from dcgev_cvx.exact.duals import FamilyBounds, Screening, StoredDual, allowances, extended, row_sums, stored
from dcgev_cvx.exact.enumeration import ScaledProblem, values_on_supports
from dcgev_cvx.relaxations.bounds import row_sum_bound
from dcgev_cvx.relaxations.pair_splitting import PairSplitting
from dcgev_cvx.relaxations.pairwise import pair_dual

NOBODY = np.empty(0, dtype=np.intp)


def any_dual(rng, n):
    """Charges and signs of no particular use."""
    a = 10.0 ** rng.uniform(-2, 1) * rng.uniform(size=(n, n)) * (1.0 - np.eye(n))
    upper = np.triu(rng.choice([-1.0, 1.0], size=(n, n)), 1)
    return StoredDual(np.arange(n), a, upper + upper.T)


def budgets(n, rng):
    """One for all variables, and one for each of two groups."""
    p = n // 2
    pencil = Pencil(np.eye(n), np.eye(n), blocks=(p, n - p))
    return [
        Budget.of(pencil, int(rng.integers(2, n))),
        Budget.of(pencil, (int(rng.integers(1, p + 1)), int(rng.integers(1, n - p + 1)))),
    ]


def test_bounds_hold_on_their_family_and_knowing_members_never_hurts():
    rng = np.random.default_rng(5)
    for trial in range(60):
        n = 7
        budget = budgets(n, rng)[trial % 2]
        G, H = rng.standard_normal((n, n)), rng.standard_normal((n, 2 * n))
        A, B = G + G.T, H @ H.T / n
        dual, bounds = any_dual(rng, n), FamilyBounds(A, B, budget)
        some = rng.permutation(next(iter(budget.supports())))
        included = some[: rng.integers(0, len(some))]
        full = np.bincount(budget.labels[included], minlength=len(budget.counts)) == budget.counts
        others = np.setdiff1d(np.arange(n), included)[int(rng.integers(0, 2)) :]
        free = others[~full[budget.labels[others]]]
        values = [
            values_on_supports(Pencil(A, B), np.array([S]))[0]
            for S in budget.supports()
            if set(included) <= set(S) <= {*included, *free}
        ]
        bound, _ = bounds.bound(dual, included, free)
        assert bound >= max(values, default=-np.inf) - 1e-10
        assert bound <= bounds.bound(dual, NOBODY, np.concatenate([included, free]))[0] + 1e-10
        assert bounds.bound(None, included, free)[0] >= max(values, default=-np.inf) - 1e-10


def test_a_stored_dual_prints_with_few_digits_and_is_as_good_as_the_one_it_was_made_of():
    pencil = null(20)
    splitting = PairSplitting(np.array(pencil.A), None, 5, pencil.leading_vector)
    splitting.run(100)
    plain = splitting.dual
    dual = stored(plain, np.arange(20))
    assert all(len(repr(a).replace(".", "").lstrip("0").split("e")[0]) <= 11 for a in dual.a.ravel().tolist())
    assert np.all(dual.a * dual.a.T >= dual.U**2)
    assert np.all(dual.a <= plain.a * (1.0 + 1e-10))
    bound, _ = FamilyBounds(np.array(pencil.A), None, Budget.of(pencil, 5)).bound(dual, NOBODY, np.arange(20))
    assert bound <= plain.bound(np.array(pencil.A), None, np.abs(pencil.A), 5) * (1.0 + 1e-10)


def test_no_variable_of_a_better_support_is_removed():
    rng, removed = np.random.default_rng(0), 0
    for trial in range(60):
        pencil, _ = random_pencil(rng)
        if pencil.n < 4:
            continue
        k = int(rng.integers(2, pencil.n - 1))
        budget = budgets(pencil.n, rng)[1] if trial % 3 == 0 else Budget.of(pencil, k)
        if budget.total == pencil.n:
            continue
        scaled = ScaledProblem(pencil, budget).pencil
        supports = np.array(list(budget.supports()))
        values = values_on_supports(scaled, supports)
        lam = float(np.max(values) + rng.choice([-0.05, 0.001, 0.1, 1.0]) * np.ptp(values))
        dual = any_dual(rng, scaled.n)
        if trial % 2:
            splitting = PairSplitting(np.array(scaled.A), scaled.B, budget, scaled.leading_vector)
            splitting.run(int(rng.integers(5, 60)))
            if splitting.dual is None:
                continue
            dual = stored(splitting.dual, np.arange(scaled.n))
        bounds = FamilyBounds(np.asarray(scaled.A), scaled.B, budget)
        kept = Screening(bounds, dual, lam).kept(rng.uniform(size=scaled.n), Deadline())
        removed += scaled.n - len(kept)
        for support in supports[values > lam + 1e-9 * abs(lam)]:
            assert set(support) <= set(kept)
    assert removed > 20


def test_charges_with_a_variable_of_Z_cover_every_support_and_no_more():
    rng = np.random.default_rng(6)
    for trial in range(30):
        n = 7
        budget, dual = budgets(n, rng)[trial % 2], any_dual(rng, n)
        Z = rng.permutation(n)[: int(rng.integers(1, 4))]
        needed = np.zeros(n)
        for S in budget.supports():
            for j in S if set(S) & set(Z) else ():
                needed[j] = max(needed[j], sum(dual.a[j, i] for i in S if i != j))
        found = Screening(FamilyBounds(np.eye(n), None, budget), dual, 2.0).charges_with(Z)
        assert np.all(found >= needed * (1.0 - 1e-12))
        if len(budget.counts) == 1:
            assert found == pytest.approx(needed, rel=1e-12)


def test_allowances_are_the_most_that_rows_can_pay_whatever_the_support():
    """In every support the rows of Z pay e for each pair with W and |S| for each within Z, and stay positive."""
    rng = np.random.default_rng(2)
    G, H = rng.standard_normal((9, 40)), rng.standard_normal((9, 60))
    A, B, lam = G @ G.T / 40, H @ H.T / 60, 4.0
    Z, S = np.arange(3, 9), np.abs(lam * B - A)
    for k in (2, 3, 4):
        e = allowances(lam, A, B, k, Z)
        left = np.full(9, np.inf)
        for support in combinations(range(9), k):
            for j in set(support) & set(Z):
                inside = sum(S[j, i] for i in support if i in Z and i != j)
                pairs = sum(i not in Z for i in support)
                left[j] = min(left[j], (0.999 * S[j, j] - inside) / max(pairs, 1))
        assert e == pytest.approx(left[3:], rel=1e-12)


def test_a_dual_of_a_part_extends_to_all_variables():
    pencil, k = planted_pca(40, 3, samples=400, strength=4.0, rng=1).pencil, 3
    found = best_subset(pencil, k)
    A, B, lam = np.array(pencil.A), np.eye(40), found.value * (1.0 + 1e-10)
    room = allowances(lam, A, B, k, np.arange(40))
    room[list(found.support)] = -1.0
    core = np.sort(np.argsort(room)[:12])
    splitting = PairSplitting(A[np.ix_(core, core)], None, k, found.x[core])
    splitting.run(200)
    inner = stored(splitting.dual, core)
    dual = extended(A, B, k, lam, inner)
    assert np.array_equal(dual.U[np.ix_(core, core)], inner.U)
    others = np.setdiff1d(np.arange(40), core)
    assert dual.U[:, others] == pytest.approx(((lam * B - A) * (1.0 - np.eye(40)))[:, others], rel=1e-12)
    bounds = FamilyBounds(A, None, Budget.of(pencil, k))
    assert bounds.bound(dual, NOBODY, np.arange(40))[0] >= found.value
    weights = np.isin(np.arange(40), core).astype(float)
    assert len(Screening(bounds, dual, lam).kept(weights, Deadline())) < 40
    assert extended(A, B, k, 0.2 * lam, inner) is None  # rows that cannot pay


def test_row_sums_are_a_dual():
    pencil = null(12)
    A = np.array(pencil.A)
    for k in (2, 5):
        level = row_sum_bound(pencil, k)
        bounds = FamilyBounds(A, None, Budget.of(pencil, k))
        assert bounds.bound(row_sums(A, np.eye(12), level), NOBODY, np.arange(12))[0] == pytest.approx(level)


def test_restricting_a_dual_restricts_its_matrices():
    dual = any_dual(np.random.default_rng(0), 6)
    part, rows = dual.restrict(np.array([1, 4, 5])), np.ix_([1, 4, 5], [1, 4, 5])
    assert np.array_equal(part.a, dual.a[rows])
    assert np.array_equal(part.U, dual.U[rows])
    assert pair_dual(part.U, part.a, 3) is not None
