"""Forward selection, columns of A, and supports made to fit."""

from itertools import combinations

import numpy as np
import pytest
from families import cca, conditioned, value_on
from scipy.linalg import eigh

from dcgev_cvx import Gram, Pencil, datasets
from dcgev_cvx.search.starts import (
    best_pair,
    best_variable,
    column_supports,
    forward_selection,
    highest,
    scaled_columns,
    spread_over_ties,
)


def ritz(pencil, x, j):
    """λmax of the pencil on x and variable j."""
    V = np.column_stack([x, np.eye(pencil.n)[j]])
    A, B = pencil.dense()
    return eigh(V.T @ A @ V, V.T @ B @ V, eigvals_only=True)[-1]


def leading_on(pencil, S):
    A, B = pencil.dense()
    x = np.zeros(pencil.n)
    x[S] = eigh(A[np.ix_(S, S)], B[np.ix_(S, S)])[1][:, -1]
    return x


def mixed(seed, n, *, metric=True):
    """An indefinite pencil in mixed units."""
    A, B = conditioned(seed, n, 30.0).dense()
    d = 10.0 ** np.random.default_rng(seed).uniform(-1, 1, n)
    return Pencil(d[:, None] * A * d, d[:, None] * B * d) if metric else Pencil(A)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("metric", [True, False])
def test_forward_selection_adds_the_best_pair_and_then_the_best_ritz_value(seed, metric):
    pencil = mixed(seed, 9, metric=metric)
    S = list(max(combinations(range(9), 2), key=lambda pair: value_on(pencil, list(pair))))
    assert best_pair(pencil).tolist() == S
    while len(S) < 5:
        x = leading_on(pencil, S)
        S = sorted([*S, max(set(range(9)) - set(S), key=lambda j, x=x: ritz(pencil, x, j))])
        assert forward_selection(pencil, len(S)).tolist() == S


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_forward_selection_and_spread_do_not_overflow(scale):
    """Products of three entries leave floating point: the units are taken out first."""
    rng = np.random.default_rng(0)
    G = rng.standard_normal((9, 20))
    plain = Pencil(G @ G.T, G @ G.T + np.eye(9))
    pencil = Pencil(scale * plain.A, scale * plain.B)
    root = np.sqrt(scale)
    assert np.array_equal(forward_selection(pencil, 4), forward_selection(plain, 4))
    flat = Pencil(scale * np.eye(4), scale * np.eye(4))
    assert np.count_nonzero(spread_over_ties(flat, np.array([1.0, 0.0, 0.0, 0.0]) / root, 3)) == 3


@pytest.mark.parametrize("seed", range(3))
def test_the_best_pair_is_the_best_of_all_pairs(seed):
    pencil = cca(seed)
    pairs = [(i, j) for i in range(14) for j in range(i)]
    assert value_on(pencil, best_pair(pencil)) == pytest.approx(max(value_on(pencil, list(p)) for p in pairs))


def test_forward_selection_on_the_pit_props():
    pencil = datasets.pitprops()
    assert forward_selection(pencil, 1).tolist() == [0]
    assert forward_selection(pencil, 2).tolist() == [0, 1]
    assert len(forward_selection(pencil, 13)) == 13


def test_the_highest_scores_of_each_group():
    plan = ((np.array([0, 1, 2]), 1), (np.array([3, 4, 5]), 2))
    assert highest(np.array([1.0, 1.0, 0.0, 5.0, 5.0, 5.0]), plan).tolist() == [0, 3, 4]


@pytest.mark.parametrize("scale", [1.0, 2.0**-200, 2.0**200])
def test_spread_adds_variables_of_the_same_eigenvalue_in_the_units_of_the_metric(scale):
    metric = scale * np.diag([1.0, 4.0, 100.0, 1.0])
    pencil = Pencil(2.0 * metric - scale * np.diag([0.0, 0.0, 0.0, 1.0]), metric)
    x = spread_over_ties(pencil, np.array([1.0, 0.0, 0.0, 0.0]) / np.sqrt(scale), 3)
    sizes = np.abs(x) * pencil.B_roots
    assert np.flatnonzero(x).tolist() == [0, 1, 2]
    assert sizes[1] == pytest.approx(sizes[2], rel=1e-12)
    assert sizes[1] == pytest.approx(10.0 * sizes[0], rel=1e-12)
    assert pencil.B_norm(x) == pytest.approx(1.0, rel=1e-12)
    assert np.count_nonzero(spread_over_ties(pencil, np.array([1.0, 0.0, 0.0, 0.0]) / np.sqrt(scale), 4)) == 1


@pytest.mark.parametrize("factored", [True, False])
def test_columns_are_compared_in_the_units_of_the_metric(factored):
    C = np.random.default_rng(5).standard_normal((4, 9))
    d = 10.0 ** np.linspace(-2.0, 2.0, 9)
    pencil = Pencil(Gram(C * d) if factored else (C * d).T @ (C * d), np.diag(d**2))
    columns = np.array([7, 2])
    assert scaled_columns(pencil, columns) == pytest.approx(np.abs(C.T @ C)[columns], rel=1e-9)
    plain = column_supports(Pencil(C.T @ C), ((np.arange(9), 3),), np.arange(9), 2)
    assert len(plain) == 2
    assert np.array_equal(column_supports(pencil, ((np.arange(9), 3),), np.arange(9), 2), plain)


def test_the_best_variable_where_every_ratio_is_zero_is_the_first():
    assert best_variable(Pencil(np.array([[0.0, 1.0], [1.0, 0.0]]))).tolist() == [0]
    assert best_variable(Pencil(np.diag([1.0, 2.0, 2.0 + 1e-15, 2.0 + 1e-11]))).tolist() == [3]
    assert best_variable(Pencil(np.diag([1.0, 2.0, 2.0 + 1e-15]))).tolist() == [1]


def test_spread_adds_one_variable_and_leaves_a_full_support_as_it_is():
    flat, x = Pencil(np.eye(4)), np.array([0.6, 0.8, 0.0, 0.0])
    assert np.count_nonzero(spread_over_ties(flat, x, 3)) == 3
    assert spread_over_ties(flat, x, 2) is x
    assert np.count_nonzero(spread_over_ties(Pencil(np.zeros((3, 3))), np.eye(3)[0], 2)) == 2
