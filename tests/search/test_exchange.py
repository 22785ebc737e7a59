"""One battery for both data structures of the exchange search, and exchanges on large supports."""

import numpy as np
import pytest
from families import conditioned, exchanged_values, factor, fisher, graded, pca, tied, value_on
from scipy.linalg import eigh

from dcgev_cvx import Gram, Pencil
from dcgev_cvx.search import exchange
from dcgev_cvx.search.exchange import ExchangeTable, disjoint, exchanges_for
from dcgev_cvx.search.exchange_factor import FactorPool
from dcgev_cvx.search.exchange_table import leading, table_work

EXHAUSTIVE = {
    "table, dense A and B": (ExchangeTable, lambda seed: conditioned(seed, 16, 1e4)),
    "table, B = I": (ExchangeTable, lambda seed: pca(seed, 16)),
    "table, many ties": (ExchangeTable, lambda seed: tied(seed, 16)),
    "table, A = CᵀC and B = I": (ExchangeTable, lambda seed: Pencil(factor(seed, 7, 20))),
    "table, A = CᵀC and dense B": (
        ExchangeTable,
        lambda seed: Pencil(factor(seed, 7, 20), conditioned(seed, 20, 1e2).B),
    ),
    "table, A = aaᵀ": (ExchangeTable, lambda seed: fisher(seed, 16)),
}
STRUCTURES = EXHAUSTIVE | {
    "pool, A = CᵀC and B = I": (FactorPool, lambda seed: Pencil(factor(seed, 30, 100))),
    "pool, more outsiders than fit": (FactorPool, lambda seed: Pencil(factor(seed, 10, 300))),
}


def made(name, seed, k=5):
    structure, make = STRUCTURES[name]
    return structure(make(seed), k)


def starts(n, k, count, seed=0):
    rng = np.random.default_rng(seed)
    return np.array([np.sort(rng.permutation(n)[:k]) for _ in range(count)])


def test_supports_are_treated_as_many_together_as_fit_into_a_chunk(monkeypatch):
    parts = []
    monkeypatch.setattr(
        ExchangeTable, "improve_together", lambda self, part: parts.append(len(part)) or (part, part[:, 0])
    )
    monkeypatch.setattr(exchange, "CHUNK", 2 * 5 * 16 + 9)
    ends, firsts = ExchangeTable(pca(0, 16), 5).improve(table := starts(16, 5, 5))
    assert parts == [2, 2, 1]
    assert np.array_equal(ends, table)
    assert np.array_equal(firsts, table[:, 0])
    for share, together in ((1.0, [2, 2, 1]), (0.99, [1, 1, 1, 1, 1])):  # a shortened table is for one support
        parts.clear()
        monkeypatch.setattr(exchange, "TABLE", share * table_work(pca(0, 16), 5))
        ExchangeTable(pca(0, 16), 5).improve(table)
        assert parts == together


@pytest.mark.parametrize(("rise", "goes_on"), [(0.0, False), (0.5e-12, False), (1.5e-12, True)])
@pytest.mark.parametrize("value", [4.0, -4.0])
def test_an_exchange_must_raise_the_value_by_more_than_rounding(rise, goes_on, value, monkeypatch):
    def exchanged(self, supports, values, x):
        later = np.array([[3, 4]])
        return (later, values + rise * abs(value), x) if supports[0, 0] == 0 else (supports, values, x)

    monkeypatch.setattr(exchange, "leading", lambda pencil, supports: (np.array([value]), np.ones((1, 2))))
    monkeypatch.setattr(ExchangeTable, "exchanged", exchanged)
    ends, _ = ExchangeTable(pca(0), 2).improve(np.array([[0, 1]]))
    assert ends.tolist() == [[3, 4] if goes_on else [0, 1]]


def test_several_supports_make_their_best_exchange_each_and_an_optimum_stays():
    pencil = conditioned(1, 9, 30.0)
    found = ExchangeTable(pencil, 3)
    best = found.improve(starts(9, 3, 4))[0][:1]
    table = np.vstack([best, starts(9, 3, 3, seed=5)])
    gains = found.gains(table, *leading(pencil, table), np.arange(9))
    after, values, _ = found.exchanged(table, *leading(pencil, table))
    assert after[0].tolist() == best[0].tolist()
    for S, given, own, value in zip(after, table, gains, values, strict=True):
        i, j = np.unravel_index(np.argmax(own), own.shape)
        expected = np.sort(np.append(np.delete(given, i), j)) if own.max() > 0.0 else given
        assert S.tolist() == expected.tolist()
        assert value == pytest.approx(value_on(pencil, S), rel=1e-9)


def test_the_work_of_a_table_is_that_of_its_columns():
    pencil, table = pca(0, 16), starts(16, 5, 3)
    found = ExchangeTable(pencil, 5)
    found.gains(table, *leading(pencil, table), np.arange(4))
    assert found.work == pytest.approx(3 * 5 * 16 * (50.0 + 0.25 * 5) * 4 / 16, rel=1e-12)


@pytest.mark.parametrize(("share", "count"), [(0.5, 8), (0.2, 5), (2.0, 11)])
def test_the_outsiders_of_a_shortened_table_form_the_best_pairs_with_x(share, count, monkeypatch):
    pencil = conditioned(2, 16, 30.0)
    A, B = pencil.dense()
    support = np.array([1, 4, 5, 9, 12])
    monkeypatch.setattr(exchange, "TABLE", share * table_work(pencil, 5) * (1.0 + 1e-12))
    z = np.zeros(16)
    z[support] = leading(pencil, support[None])[1][0]
    pairs = {}
    for j in np.setdiff1d(np.arange(16), support).tolist():
        V = np.column_stack([z, np.eye(16)[j]])
        pairs[j] = eigh(V.T @ A @ V, V.T @ B @ V, eigvals_only=True)[-1]
    found = ExchangeTable(pencil, 5).promising(support, z[support])
    assert found.tolist() == sorted(pairs, key=pairs.get, reverse=True)[:count]


def test_exchanges_are_made_together_by_doubling_while_the_value_rises(monkeypatch):
    """Eight members may leave, 1, 2, 4, then all 8 at once; where 4 are worth no more than 2, two are made."""
    gains = np.zeros((12, 30))
    gains[np.arange(8), np.arange(20, 28)] = np.arange(8.0, 0.0, -1.0)
    support, x = np.arange(12)[None], np.ones((1, 12))
    for fall, made in ((99, [1, 2, 4, 8]), (4, [1, 2, 4])):
        counts = []

        def valued(pencil, supports, counts=counts, fall=fall):
            counts.append(int(np.sum(supports >= 20)))
            return np.array([counts[-1] if counts[-1] < fall else 2.0]), x

        monkeypatch.setattr(exchange, "leading", valued)
        after, value, _ = ExchangeTable(pca(0, 30), 12).several(support, np.zeros(1), x, gains, np.arange(30))
        assert counts == made
        assert int(value[0]) == np.sum(after >= 20) == (8 if fall == 99 else 2)
        assert set(range(20, 22)) <= set(after[0].tolist())


def test_at_most_4k_exchanges_are_thought_of(monkeypatch):
    """The 4k best of 3 × 20 all have the same member but the last: only two are disjoint."""
    gains = np.zeros((3, 20))
    gains[0, 3:14] = 5.0
    gains[1, 15] = 2.0
    gains[2, 16] = 1.0  # the thirteenth
    support, x, counts = np.arange(3)[None], np.ones((1, 3)), []
    monkeypatch.setattr(
        exchange, "leading", lambda pencil, supports: (np.array([counts.append(supports.tolist()) or len(counts)]), x)
    )
    ExchangeTable(pca(0, 20), 3).several(support, np.zeros(1), x, gains, np.arange(20))
    assert counts == [[[1, 2, 3]], [[2, 3, 15]]]


def test_a_pool_is_for_a_factor_whose_table_costs_too_much(monkeypatch):
    wide = Pencil(factor(0, 7, 20))
    monkeypatch.setattr(exchange, "TABLE", table_work(wide, 5))
    assert isinstance(exchanges_for(wide, 5), ExchangeTable)
    monkeypatch.setattr(exchange, "TABLE", 0.99 * table_work(wide, 5))
    assert isinstance(exchanges_for(wide, 5), FactorPool)
    assert isinstance(exchanges_for(Pencil(wide.A, np.eye(20) + 0.1), 5), ExchangeTable)
    assert isinstance(exchanges_for(Pencil(wide.dense()[0]), 5), ExchangeTable)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", STRUCTURES)
def test_the_value_rises_k_is_kept_and_the_value_is_that_of_the_support(name, seed):
    search = made(name, seed)
    for start in starts(search.pencil.n, 5, 6, seed):
        ends, values = made(name, seed).improve(start[None])
        assert ends.shape == (1, 5)
        assert np.all(np.diff(ends[0]) > 0)
        truth = value_on(search.pencil, ends[0])
        assert truth >= value_on(search.pencil, start) * (1 - 1e-9)
        # a pool's values are attained by power steps, which need not have converged
        assert truth * (1 - (1e-9 if search.exhaustive else 1e-2)) <= values[0] <= truth * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_no_single_exchange_improves_the_end(name, seed):
    search = made(name, seed)
    ends, values = search.improve(starts(search.pencil.n, 5, 8, seed))
    assert len(ends)
    for end, value in zip(ends, values, strict=True):
        assert max(exchanged_values(search.pencil, end)) <= value * (1 + 1e-7)


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_a_support_seen_before_ends_the_search(name):
    search = made(name, 1)
    table = starts(search.pencil.n, 5, 4)
    first, _ = search.improve(table)
    work = search.work
    assert len(search.improve(np.vstack([table, first]))[0]) == 0
    assert search.work == work


@pytest.mark.parametrize("name", STRUCTURES)
def test_together_or_one_by_one_the_best_is_the_same(name):
    table = starts(made(name, 2).pencil.n, 5, 12)
    together = made(name, 2).improve(table)[1].max()
    alone = max(made(name, 2).improve(start[None])[1].max() for start in table)
    assert together == pytest.approx(alone, rel=1e-9) or name.startswith("table")
    assert np.array_equal(made(name, 2).improve(table)[0], made(name, 2).improve(table)[0])


@pytest.mark.parametrize("name", STRUCTURES)
def test_work_is_counted(name):
    search = made(name, 0)
    search.improve(starts(search.pencil.n, 5, 3))
    assert search.work >= search.exchange_work > 0.0


@pytest.mark.parametrize("k", [1, 15])
@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_one_variable_and_all_but_one(name, k):
    search = made(name, 0, k)
    n = search.pencil.n
    ends, values = search.improve(starts(n, k, 1))
    assert max(exchanged_values(search.pencil, ends[0])) <= values[0] * (1 + 1e-7)


@pytest.mark.parametrize("structure", [ExchangeTable, FactorPool])
@pytest.mark.parametrize(
    "C",
    [np.zeros((3, 30)), np.ones((3, 30)), np.eye(30), np.repeat(np.eye(6), 5, axis=1)],
    ids=["zero", "all equal", "identity", "copies"],
)
def test_degenerate_factors(structure, C):
    ends, values = structure(Pencil(Gram(C)), 4).improve(starts(30, 4, 3))
    assert np.all(np.diff(ends, axis=1) > 0)
    for end, value in zip(ends, values, strict=True):
        assert value == pytest.approx(np.linalg.norm(C[:, end], 2) ** 2, abs=1e-9)


def test_the_units_of_the_variables_do_not_matter():
    """(DAD, DBD) has the same supports; D over six decades."""
    A, B = conditioned(3, 16, 1e2).dense()
    d = 10.0 ** np.random.default_rng(3).uniform(-3, 3, 16)
    table = starts(16, 5, 6)
    plain = ExchangeTable(Pencil(A, B), 5).improve(table)
    scaled = ExchangeTable(Pencil(d[:, None] * A * d, d[:, None] * B * d), 5).improve(table)
    assert np.array_equal(plain[0], scaled[0])
    assert plain[1] == pytest.approx(scaled[1], rel=1e-9)


def test_variables_are_exchanged_within_their_groups():
    pencil, groups = graded(5), np.repeat([0, 1], 80)
    for k, start in ((110, np.r_[0:60, 80:130]), (5, np.array([0, 1, 80, 81, 82]))):
        ends, _ = exchanges_for(pencil, k, groups).improve(np.array([start, start + 10]))
        assert len(ends)
        for end in ends:
            assert np.sum(groups[end] == 0) == np.sum(groups[start] == 0)
            assert not np.array_equal(end, start)


def test_the_structure_follows_the_pencil():
    wide = Pencil(Gram(np.ones((60, 4000))))
    assert isinstance(exchanges_for(Pencil(factor(0, 40, 150)), 5), ExchangeTable)
    assert isinstance(exchanges_for(wide, 200), FactorPool)
    assert isinstance(exchanges_for(wide, 200, np.arange(4000) % 2), ExchangeTable)
    assert isinstance(exchanges_for(Pencil(np.eye(2000)), 500), ExchangeTable)


def test_disjoint_pairs_keep_their_order():
    assert disjoint((np.array([2, 2, 0, 1, 0]), np.array([5, 6, 5, 6, 7]))).tolist() == [[2, 5], [1, 6], [0, 7]]


def test_a_wrong_estimate_ends_the_search_and_lowers_nothing(monkeypatch):
    monkeypatch.setattr(
        exchange, "exchange_gains", lambda pencil, supports, columns, *_: np.ones((*supports.shape, len(columns)))
    )
    pencil = pca(0, 9)
    table = np.array([[0, 1, 2], [2, 5, 8], [1, 4, 6]])
    ends, values = ExchangeTable(pencil, 3).improve(table)
    assert values.max() >= max(value_on(pencil, start) for start in table)
    assert values == pytest.approx([value_on(pencil, end) for end in ends])


@pytest.mark.parametrize("metric", [True, False])
@pytest.mark.parametrize("shortened", [True, False])
def test_large_supports_end_where_no_exchange_helps(metric, shortened, monkeypatch):
    """Also where only the most promising variables are looked at, on problems where these are nearly all."""
    pencil = graded(0, 130, metric=metric)
    if shortened:
        monkeypatch.setattr(exchange, "TABLE", 0.9 * table_work(pencil, 105))
    ends, values = ExchangeTable(pencil, 105).improve(np.arange(105)[None])
    assert values[0] == pytest.approx(value_on(pencil, ends[0]), rel=1e-9)
    assert max(exchanged_values(pencil, ends[0], every=7)) <= values[0] * (1.0 + 1e-9)


def test_a_shortened_table_has_as_many_outsiders_as_members(monkeypatch):
    monkeypatch.setattr(exchange, "TABLE", 1.0)
    pencil = graded(1, 60)
    table = ExchangeTable(pencil, 10)
    support = np.arange(10)
    columns = table.promising(support, leading(pencil, support[None])[1][0])
    assert len(columns) == 10
    assert not set(columns) & set(support)
    ends, values = table.improve(np.array([support, support + 5]))
    assert values == pytest.approx([value_on(pencil, end) for end in ends])


def test_each_support_is_offered_its_own_promising_outsiders(monkeypatch):
    monkeypatch.setattr(exchange, "TABLE", 1.0)
    pencil = graded(1, 60)
    starts = np.array([np.arange(10), np.arange(50, 60)])
    alone = {ExchangeTable(pencil, 10).improve(start[None])[0].tobytes() for start in starts}
    assert {end.tobytes() for end in ExchangeTable(pencil, 10).improve(starts)[0]} == alone


def test_a_single_support_exchanges_one_two_and_more_members_at_once(monkeypatch):
    """Of the 4k best exchanges three have no member and no outsider in common: one, two, then all three are made."""
    counts = []

    def counted(pencil, supports):
        counts.append(int(np.sum(supports[0] >= 16)))
        return leading(pencil, supports)

    pencil = Pencil(np.eye(40) + np.where(np.arange(40) >= 16, 1.0, 0.0)[:, None] * (np.arange(40) >= 16))
    table, support = ExchangeTable(pencil, 16), np.arange(16)[None]
    gains = table.gains(support, *leading(pencil, support), np.arange(40))[0]
    monkeypatch.setattr(exchange, "leading", counted)
    after = table.several(support, *leading(pencil, support), gains, np.arange(40))[0]
    assert counts == [1, 2, 3]
    assert np.sum(after[0] >= 16) == 3


def test_only_the_table_is_exhaustive():
    assert ExchangeTable.exhaustive
    assert not FactorPool.exhaustive


def test_where_nothing_rises_a_support_is_an_end():
    ends, values = ExchangeTable(Pencil(np.zeros((4, 4))), 2).improve(np.array([[0, 1]]))
    assert (ends.tolist(), values.tolist()) == ([[0, 1]], [0.0])


def test_supports_larger_than_a_chunk_come_one_at_a_time(monkeypatch):
    pencil, supports = pca(0), np.array([[0, 1, 2], [3, 4, 5]])
    plain = ExchangeTable(pencil, 3).improve(supports)
    monkeypatch.setattr(exchange, "CHUNK", 1)
    ends, values = ExchangeTable(pencil, 3).improve(supports)
    assert sorted(ends.tolist()) == sorted(plain[0].tolist())
    assert sorted(values) == pytest.approx(sorted(plain[1]))
