"""The gain of every exchange, and exchanges until none raises the value."""

import numpy as np
import pytest
import referee
from families import conditioned, exchanged_values, factor, fisher, graded, pca, tied, value_on
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh

from dcgev_cvx import Gram, Pencil
from dcgev_cvx.search import exchange
from dcgev_cvx.search.exchange import (
    ExchangeSearch,
    exchange_gains,
    leading_pairs,
    pair_exchanges,
    pair_value,
    pair_values,
    values_on_supports,
)

PENCILS = {
    "dense A and B": lambda seed: conditioned(seed, 16, 1e4),
    "B = I": lambda seed: pca(seed, 16),
    "many ties": lambda seed: tied(seed, 16),
    "A = CᵀC and B = I": lambda seed: Pencil(factor(seed, 7, 20)),
    "A = CᵀC and dense B": lambda seed: Pencil(factor(seed, 7, 20), conditioned(seed, 20, 1e2).B),
    "A = aaᵀ": lambda seed: fisher(seed, 16),
}


def starts(n, k, count, seed=0):
    rng = np.random.default_rng(seed)
    return np.array([np.sort(rng.permutation(n)[:k]) for _ in range(count)])


def gains_of(pencil, support):
    return ExchangeSearch(pencil, len(support)).gains(support[None], *leading_pairs(pencil, support[None]))[0]


@pytest.mark.parametrize("metric", [True, False])
def test_gains_follow_the_formula(metric):
    """Every number for two supports, with G from the eigenvectors of SciPy and sums written out."""
    pencil = conditioned(7, 7, 30.0) if metric else Pencil(conditioned(7, 7, 30.0).A)
    A, B = pencil.dense()
    supports = np.array([[0, 2, 5], [1, 3, 4]])
    values, vectors = leading_pairs(pencil, supports)
    found = exchange_gains(pencil, supports, vectors, values)
    for S, gains in zip(supports, found, strict=True):
        outside = np.setdiff1d(np.arange(7), S)
        lam, V = eigh(A[np.ix_(S, S)], B[np.ix_(S, S)])
        x, H = V[:, -1], A - lam[-1] * B
        G = sum(np.outer(V[:, m], V[:, m]) / (lam[-1] - lam[m]) for m in range(2))
        for i in range(3):
            for j in outside:
                u, r, s = x @ H[S, j], G[i] @ H[S, j], H[j, j] + H[j, S] @ G @ H[S, j]
                rises, falls = x[i] ** 2 * s + u**2 * G[i, i] - 2.0 * x[i] * u * r, r**2 - s * G[i, i]
                expected = 0.0 if rises <= 0.0 else np.inf if falls <= 0.0 else rises / falls
                assert gains[i, j] == pytest.approx(expected, rel=1e-6)
    assert len(np.unique(found[np.isfinite(found)])) > 3


@settings(max_examples=40)
@given(
    st.integers(0, 1000), st.integers(1, 9), st.sampled_from([1.0, 1e2, 1e4, 1e6]), st.sampled_from([0.0, 1.0, 1e-5])
)
def test_gains_are_positive_exactly_where_an_exchange_raises_the_value(seed, k, cond, shift):
    rng = np.random.default_rng(seed)
    A, B = referee.random_pencil(seed, 10, cond=cond, indefinite=True)
    d = 10.0 ** rng.uniform(-2, 2, 10)
    pencil = Pencil(d[:, None] * (A - shift * np.eye(10)) * d, d[:, None] * B * d)
    support = np.sort(rng.permutation(10)[:k])
    value, gains = value_on(pencil, support), gains_of(pencil, support)
    assert not gains[:, support].any()
    for i in range(k):
        for j in np.setdiff1d(np.arange(10), support):
            after = value_on(pencil, np.sort(np.append(np.delete(support, i), j)))
            if abs(after - value) > 1e-6 * abs(value):
                assert (gains[i, j] > 0.0) == (after > value)


def test_exchanges_of_uncoupled_variables_are_seen():
    """Diagonal A: x has one nonzero, and neither the bracket of x nor that of j tells anything."""
    pencil = Pencil(np.diag([3.0, 1.0, 2.0, 5.0, 4.0]))
    gains = gains_of(pencil, np.array([0, 1]))
    assert (gains > 0.0).tolist() == [[False, False, False, True, True]] * 2
    assert 3 in ExchangeSearch(pencil, 2).improve(np.array([[0, 1]]))[0][0]
    assert not gains_of(Pencil(np.zeros((3, 3))), np.arange(1)).any()


def test_pair_value_is_the_larger_root():
    top = eigh([[1.0, 0.3], [0.3, -2.0]], [[2.0, 0.1], [0.1, 1.0]], eigvals_only=True)[-1]
    args = (1.0, 2.0, np.array([0.3]), np.array([0.1]), np.array([-2.0]), np.array([1.0]))
    assert pair_value(*args)[0] == pytest.approx(top, rel=1e-12)
    p, q, a, b, r, s = args
    assert pair_value(1e-3 * p, q, 1e-3 * a, b, 1e-3 * r, s)[0] == pytest.approx(1e-3 * top, rel=1e-12)


def test_support_values_are_eigenvalues():
    pencil = conditioned(2, 8, 1e3)
    supports = np.array([[0, 3, 5], [1, 2, 7]])
    for value, support in zip(values_on_supports(pencil, supports), supports, strict=True):
        assert value == pytest.approx(value_on(pencil, support), rel=1e-9)


def test_pair_values_are_eigenvalues_of_the_pencil_on_x_and_a_variable():
    pencil = conditioned(1, 9, 1e2)
    A, B = pencil.dense()
    x = np.zeros(9)
    x[:3] = eigh(A[:3, :3], B[:3, :3])[1][:, -1]
    for j, found in enumerate(pair_values(pencil, x)[3:], 3):
        V = np.column_stack([x, np.eye(9)[j]])
        assert found == pytest.approx(eigh(V.T @ A @ V, V.T @ B @ V, eigvals_only=True)[-1], rel=1e-9)


@pytest.mark.parametrize("kind", ["matrix B", "B = I", "factor"])
def test_leading_pairs_of_several_supports_are_eigenpairs_of_unit_norm(kind):
    pencil = conditioned(3, 8, 1e3)
    A = {"matrix B": pencil.A, "B = I": pencil.A, "factor": Gram(np.random.default_rng(3).standard_normal((5, 8)))}[
        kind
    ]
    pencil = Pencil(A, pencil.B if kind == "matrix B" else None)
    supports = np.array([[0, 3, 5], [1, 2, 7], [4, 5, 6]])
    values, vectors = leading_pairs(pencil, supports)
    A, B = pencil.dense()
    for value, x, S in zip(values, vectors, supports, strict=True):
        AS, BS = A[np.ix_(S, S)], B[np.ix_(S, S)]
        assert value == pytest.approx(eigh(AS, BS, eigvals_only=True)[-1], rel=1e-9)
        assert x @ BS @ x == pytest.approx(1.0, rel=1e-9)
        np.testing.assert_allclose(AS @ x, value * (BS @ x), atol=1e-8 * np.abs(AS).max() * np.abs(x).max())


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", PENCILS)
def test_the_value_rises_k_is_kept_and_the_value_is_that_of_the_support(name, seed):
    search = ExchangeSearch(PENCILS[name](seed), 5)
    for start in starts(search.pencil.n, 5, 6, seed):
        ends, values = ExchangeSearch(search.pencil, 5).improve(start[None])
        assert ends.shape == (1, 5)
        assert np.all(np.diff(ends[0]) > 0)
        truth = value_on(search.pencil, ends[0])
        assert truth >= value_on(search.pencil, start) * (1 - 1e-9)
        assert values[0] == pytest.approx(truth, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", PENCILS)
def test_no_single_exchange_improves_the_end(name, seed):
    search = ExchangeSearch(PENCILS[name](seed), 5)
    ends, values = search.improve(starts(search.pencil.n, 5, 8, seed))
    assert len(ends)
    for end, value in zip(ends, values, strict=True):
        assert max(exchanged_values(search.pencil, end)) <= value * (1 + 1e-7)


@pytest.mark.parametrize("k", [1, 15])
@pytest.mark.parametrize("name", PENCILS)
def test_one_variable_and_all_but_one(name, k):
    search = ExchangeSearch(PENCILS[name](0), k)
    n = search.pencil.n
    ends, values = search.improve(starts(n, k, 1))
    assert max(exchanged_values(search.pencil, ends[0])) <= values[0] * (1 + 1e-7)


@pytest.mark.parametrize("largest", [1e7, 0.0])
@pytest.mark.parametrize(
    "C",
    [np.zeros((3, 30)), np.ones((3, 30)), np.eye(30), np.repeat(np.eye(6), 5, axis=1)],
    ids=["zero", "all equal", "identity", "copies"],
)
def test_degenerate_factors(largest, C, monkeypatch):
    monkeypatch.setattr(exchange, "TABLE", largest)
    ends, values = ExchangeSearch(Pencil(Gram(C)), 4).improve(starts(30, 4, 3))
    assert np.all(np.diff(ends, axis=1) > 0)
    for end, value in zip(ends, values, strict=True):
        assert value == pytest.approx(np.linalg.norm(C[:, end], 2) ** 2, abs=1e-9)


def test_the_units_of_the_variables_do_not_matter():
    """(DAD, DBD) has the same supports; D over six decades."""
    A, B = conditioned(3, 16, 1e2).dense()
    d = 10.0 ** np.random.default_rng(3).uniform(-3, 3, 16)
    table = starts(16, 5, 6)
    plain = ExchangeSearch(Pencil(A, B), 5).improve(table)
    scaled = ExchangeSearch(Pencil(d[:, None] * A * d, d[:, None] * B * d), 5).improve(table)
    assert np.array_equal(plain[0], scaled[0])
    assert plain[1] == pytest.approx(scaled[1], rel=1e-9)


def test_variables_are_exchanged_within_their_groups():
    pencil, groups = graded(5), np.repeat([0, 1], 80)
    for k, start in ((110, np.r_[0:60, 80:130]), (5, np.array([0, 1, 80, 81, 82]))):
        ends, _ = ExchangeSearch(pencil, k, groups).improve(np.array([start, start + 10]))
        assert len(ends)
        for end in ends:
            assert np.sum(groups[end] == 0) == np.sum(groups[start] == 0)
            assert not np.array_equal(end, start)


def test_where_nothing_rises_a_support_is_an_end():
    ends, values = ExchangeSearch(Pencil(np.zeros((4, 4))), 2).improve(np.array([[0, 1]]))
    assert (ends.tolist(), values.tolist()) == ([[0, 1]], [0.0])


@pytest.mark.parametrize("metric", [True, False])
def test_large_supports_end_where_no_exchange_helps(metric):
    pencil = graded(0, 130, metric=metric)
    ends, values = ExchangeSearch(pencil, 105).improve(np.arange(105)[None])
    assert values[0] == pytest.approx(value_on(pencil, ends[0]), rel=1e-9)
    assert max(exchanged_values(pencil, ends[0], every=7)) <= values[0] * (1.0 + 1e-9)


@pytest.mark.parametrize("name", PENCILS)
def test_exchanges_without_eigenvalue_problems_raise_the_value_too(name):
    pencil = PENCILS[name](0)
    for start in starts(pencil.n, 5, 6):
        end, count = pair_exchanges(pencil, start, leading_pairs(pencil, start[None])[1][0], None)
        assert count >= 1
        assert len(set(end.tolist())) == 5
        assert value_on(pencil, end) >= value_on(pencil, start) * (1.0 - 1e-9)
        if count > 1:
            assert not np.array_equal(end, start)


@pytest.mark.parametrize("metric", [True, False])
def test_beyond_the_largest_table_the_ends_are_almost_as_good(metric, monkeypatch):
    pencil, table = graded(1, 100, metric=metric), starts(100, 10, 8)
    whole = ExchangeSearch(pencil, 10).improve(table)[1].max()
    monkeypatch.setattr(exchange, "TABLE", 0.0)
    ends, values = ExchangeSearch(pencil, 10).improve(table)
    assert values == pytest.approx([value_on(pencil, end) for end in ends], rel=1e-9)
    assert values.max() >= 0.97 * whole


def test_beyond_the_largest_table_groups_keep_their_numbers(monkeypatch):
    monkeypatch.setattr(exchange, "TABLE", 0.0)
    pencil, groups, start = graded(5), np.repeat([0, 1], 80), np.array([0, 1, 80, 81, 82])
    end = ExchangeSearch(pencil, 5, groups).improve(start[None])[0][0]
    assert np.sum(end < 80) == 2
    assert not np.array_equal(end, start)
