"""Forward selection, backward elimination, and supports made to fit."""

import numpy as np
import pytest
import referee
from families import cca, conditioned, value_on
from scipy.linalg import eigh

from dcgev_cvx import Gram, Pencil, datasets
from dcgev_cvx.search.constructions import (
    backward_elimination,
    best_pair,
    best_variable,
    column_supports,
    fitted,
    forward_selection,
    highest,
    scaled_columns,
    spread,
)


def test_elimination_keeps_what_carries_the_value():
    """With noise far below the planted pencil the planted variables are left, for any k; k = n is all of them."""
    A, B = referee.random_pencil(3, 5, cond=1e3)
    rng = np.random.default_rng(0)
    big = np.diag(rng.uniform(1e-6, 1e-5, 90))
    big[20:25, 20:25] = A
    metric = np.eye(90)
    metric[20:25, 20:25] = B
    pencil = Pencil(big, metric)
    assert backward_elimination(pencil, 5).tolist() == [20, 21, 22, 23, 24]
    assert set(range(20, 25)) <= set(backward_elimination(pencil, 30).tolist())
    assert len(backward_elimination(pencil, 90)) == 90


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
    assert np.count_nonzero(spread(flat, np.array([1.0, 0.0, 0.0, 0.0]) / root, 3)) == 3


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


def test_a_support_is_cut_by_loadings_and_grown_by_gains():
    pencil = conditioned(0, 12, 1e2)
    plan = ((np.arange(0, 6), 2), (np.arange(6, 12), 3))
    assert fitted(pencil, np.array([0, 1, 6, 7, 8]), plan).tolist() == [0, 1, 6, 7, 8]
    cut = fitted(pencil, np.arange(6), plan)
    assert len(set(cut) & set(range(6))) == 2
    assert len(cut) == 5
    assert fitted(pencil, np.array([4]), plan)[0] <= 4
    assert 4 in fitted(pencil, np.array([4]), plan)


def test_the_highest_scores_of_each_group():
    plan = ((np.array([0, 1, 2]), 1), (np.array([3, 4, 5]), 2))
    assert highest(np.array([1.0, 1.0, 0.0, 5.0, 5.0, 5.0]), plan).tolist() == [0, 3, 4]


def test_elimination_drops_those_whose_loss_is_least():
    """One step from n = 10 to 7, against δ = xᵢ²/Gᵢᵢ with G from the eigenvectors, in mixed units."""
    A, B = conditioned(4, 10, 1e2).dense()
    d = 10.0 ** np.random.default_rng(4).uniform(-2, 2, 10)
    pencil = Pencil(d[:, None] * A * d, d[:, None] * B * d)
    values, vectors = eigh(*pencil.dense())
    G = (vectors[:, :-1] ** 2) @ (1.0 / (values[-1] - values[:-1]))
    loss = vectors[:, -1] ** 2 / G
    assert backward_elimination(pencil, 7).tolist() == np.sort(np.argsort(-loss)[:7]).tolist()


@pytest.mark.parametrize("scale", [1.0, 2.0**-200, 2.0**200])
def test_spread_adds_variables_of_the_same_eigenvalue_in_the_units_of_the_metric(scale):
    metric = scale * np.diag([1.0, 4.0, 100.0, 1.0])
    pencil = Pencil(2.0 * metric - scale * np.diag([0.0, 0.0, 0.0, 1.0]), metric)
    x = spread(pencil, np.array([1.0, 0.0, 0.0, 0.0]) / np.sqrt(scale), 3)
    sizes = np.abs(x) * pencil.B_roots
    assert np.flatnonzero(x).tolist() == [0, 1, 2]
    assert sizes[1] == pytest.approx(sizes[2], rel=1e-12)
    assert sizes[1] == pytest.approx(10.0 * sizes[0], rel=1e-12)
    assert pencil.B_norm(x) == pytest.approx(1.0, rel=1e-12)
    assert np.count_nonzero(spread(pencil, np.array([1.0, 0.0, 0.0, 0.0]) / np.sqrt(scale), 4)) == 1


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
    assert np.count_nonzero(spread(flat, x, 3)) == 3
    assert spread(flat, x, 2) is x
