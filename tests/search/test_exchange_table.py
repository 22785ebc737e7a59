"""The gain of every exchange from one inverse."""

from itertools import combinations

import numpy as np
import pytest
import referee
from families import conditioned, value_on
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh

from dcgev_cvx import Gram, Pencil
from dcgev_cvx.search import exchange_table
from dcgev_cvx.search.exchange import ExchangeTable
from dcgev_cvx.search.exchange_table import leading, other_pairs, pair_value, pair_values, support_values, tables_of


def gains_of(pencil, support):
    table = ExchangeTable(pencil, len(support))
    return table.gains(support[None], *leading(pencil, support[None]), np.arange(pencil.n))[0]


@pytest.mark.parametrize("metric", [True, False])
def test_gains_follow_the_formula(metric):
    """Every number for two supports, with G from the eigenvectors of SciPy and sums written out."""
    pencil = conditioned(7, 7, 30.0) if metric else Pencil(conditioned(7, 7, 30.0).A)
    A, B = pencil.dense()
    supports = np.array([[0, 2, 5], [1, 3, 4]])
    values, vectors = leading(pencil, supports)
    found = exchange_table.exchange_gains(pencil, supports, np.arange(7), vectors, values)
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
    part = exchange_table.exchange_gains(pencil, supports, np.array([6, 2]), vectors, values)
    assert part == pytest.approx(found[:, :, [6, 2]], rel=1e-9)


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
    assert 3 in ExchangeTable(pencil, 2).improve(np.array([[0, 1]]))[0][0]
    assert not gains_of(Pencil(np.zeros((3, 3))), np.arange(1)).any()


def test_pair_value_is_the_larger_root():
    top = eigh([[1.0, 0.3], [0.3, -2.0]], [[2.0, 0.1], [0.1, 1.0]], eigvals_only=True)[-1]
    args = (1.0, 2.0, np.array([0.3]), np.array([0.1]), np.array([-2.0]), np.array([1.0]))
    assert pair_value(*args)[0] == pytest.approx(top, rel=1e-12)
    p, q, a, b, r, s = args
    assert pair_value(1e-3 * p, q, 1e-3 * a, b, 1e-3 * r, s)[0] == pytest.approx(1e-3 * top, rel=1e-12)


def test_a_dependent_pair_has_a_large_value_and_no_infinite_one():
    """q·s = b²: the determinant is taken to be 1e-14·q·s, and the larger root is then (p·s + q·r − 2ab)/that."""
    found = pair_value(1.0, 4.0, np.zeros(1), np.array([6.0]), np.ones(1), np.array([9.0]))
    assert found[0] == pytest.approx((9.0 + 4.0) / 36e-14, rel=1e-9)


def test_a_table_of_all_exchanges_takes_ten_million_multiplications_at_most():
    assert exchange_table.TABLE == 1e7


def test_support_values_are_eigenvalues():
    pencil = conditioned(2, 8, 1e3)
    supports = np.array([[0, 3, 5], [1, 2, 7]])
    for value, support in zip(support_values(pencil, supports), supports, strict=True):
        assert value == pytest.approx(value_on(pencil, support), rel=1e-9)


def test_the_work_of_a_table_is_counted():
    assert exchange_table.table_work(Pencil(np.eye(10)), 3) == 3 * 10 * (50.0 + 0.25 * 3)
    assert exchange_table.table_work(Pencil(Gram(np.eye(8, 10))), 3) == 3 * 10 * (50.0 + 0.25 * 8)


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
    values, vectors = leading(pencil, supports)
    A, B = pencil.dense()
    for value, x, S in zip(values, vectors, supports, strict=True):
        AS, BS = A[np.ix_(S, S)], B[np.ix_(S, S)]
        assert value == pytest.approx(eigh(AS, BS, eigvals_only=True)[-1], rel=1e-9)
        assert x @ BS @ x == pytest.approx(1.0, rel=1e-9)
        np.testing.assert_allclose(AS @ x, value * (BS @ x), atol=1e-8 * np.abs(AS).max() * np.abs(x).max())


def test_supports_come_in_tables_that_cover_all_of_them_once(monkeypatch):
    monkeypatch.setattr(exchange_table, "CHUNK", 3 * 9 + 8)
    tables = list(tables_of(combinations(range(5), 3), 3))
    assert [len(table) for table in tables] == [3, 3, 3, 1]
    assert [tuple(row) for table in tables for row in table.tolist()] == list(combinations(range(5), 3))
    assert len(next(tables_of(combinations(range(9), 7), 7))) == 1


def test_the_other_pairs_scale_with_the_units_bit_for_bit_and_stay_finite():
    pencil = conditioned(5, 4, 1e2)
    A, B = pencil.dense()
    d = np.sqrt(np.diagonal(B))
    A, B = (A / np.outer(d, d))[None], (B / np.outer(d, d))[None]
    value, z = eigh(A[0], B[0])
    plain = other_pairs(A, B, z[None, :, -1], value[-1])
    for power in (-40, 40):
        assert np.array_equal(
            other_pairs(2.0**power * A, B, z[None, :, -1], 2.0**power * value[-1]), plain / 2.0**power
        )
    assert other_pairs(np.zeros((1, 2, 2)), None, np.eye(2)[:1], 0.0)[0] == pytest.approx(np.diag([0.0, 1e10]))


def test_where_another_eigenvalue_ties_the_other_pairs_are_large_in_the_units_of_the_pencil():
    """1/(1e-10·max|λB − A|), the largest entry being 5 although λ = 0."""
    found = other_pairs(np.diag([0.0, 0.0, -5.0])[None], None, np.eye(3)[:1], 0.0)[0]
    assert found == pytest.approx(np.diag([0.0, 2e9, 0.2]), rel=1e-6)
