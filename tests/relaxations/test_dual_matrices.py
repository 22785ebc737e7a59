"""Whatever a solver left becomes a dual matrix that obeys its inequality exactly, or none."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from dcgev_cvx import Gram, Pencil
from dcgev_cvx.budgets import Budget
from dcgev_cvx.relaxations.dual_matrices import dual_of, entries

ONE = np.zeros(2, dtype=int)


def test_a_dual_is_symmetrised_and_cut_in_the_units_of_its_scale():
    assert dual_of([[9.0, 2.0], [0.0, 9.0]], np.ones(2), ONE, 0.5).U.tolist() == [[0.0, 0.5], [0.5, 0.0]]
    for entry, cut in ((1.5, 1.5), (-1.5, -1.5), (5.0, 2.0), (-5.0, -2.0)):
        assert dual_of([[0.0, entry], [entry, 0.0]], np.array([1.0, 2.0]), ONE, 1.0).U[0, 1] == cut


def test_its_price_is_that_of_its_entries_beside_the_diagonal():
    U = [[9.0, 1.0], [1.0, -9.0]]
    assert dual_of(U, np.ones(2), ONE).b.item() == pytest.approx(1.0)
    assert dual_of(U, np.ones(2), ONE, tight=False).b.item() == pytest.approx(9.0)
    assert dual_of(U, np.ones(2), ONE, 4.0, tight=False).b.item() == pytest.approx(4.0)
    assert dual_of(np.zeros((2, 2)), np.ones(2), ONE).b.item() == 0.0


@pytest.mark.parametrize("labels", [[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 0, 2]])
def test_the_inequality_holds_without_rounding(labels):
    rng, labels = np.random.default_rng(0), np.array(labels)
    for size in (1.0, 1e-60, 1e-300):
        d = 10.0 ** rng.uniform(-3, 3, 4)
        dual = dual_of(size * rng.standard_normal((4, 4)), d, labels)
        for i, j in combinations(range(4), 2):
            price = Fraction(dual.b[labels[i], labels[j]]) * Fraction(d[i]) * Fraction(d[j])
            assert abs(Fraction(dual.U[i, j])) <= price
        assert np.array_equal(dual.b, dual.b.T)


def test_products_that_are_no_numbers_give_no_dual():
    assert dual_of(1e307 * np.ones((20, 20)), 1e140 * np.ones(20), np.zeros(20, dtype=int)) is None
    assert dual_of(1e307 * np.ones((2, 2)), 1e-140 * np.ones(2), ONE) is None
    assert dual_of([[0.0, 1.0], [1.0, 0.0]], np.ones(2), ONE, np.nan) is None
    assert dual_of("U", np.ones(2), ONE) is None


def test_the_charges_pay_for_every_sparse_vector():
    """−xᵀUx ≤ Σ (charge + b)xᵢ² with the diagonal of U at −b, for any weights and any squares."""
    rng = np.random.default_rng(1)
    pencil = Pencil(np.eye(7), blocks=(3, 4))
    for _ in range(50):
        budget = Budget.of(pencil, (int(rng.integers(1, 4)), int(rng.integers(1, 5))))
        d = 10.0 ** rng.uniform(-1, 1, 7)
        dual = dual_of(rng.standard_normal((7, 7)), d, budget.labels)
        U = dual.U + np.diag(dual.charges(budget, rng.uniform(size=7) ** 4))
        for support in budget.supports():
            S = list(support)
            assert np.linalg.eigvalsh(U[np.ix_(S, S)])[0] >= -1e-12 * np.max(np.abs(U))


@pytest.mark.parametrize("rows", [2, 40])
def test_the_sums_behind_a_factor_are_charged_by_its_rows(rows):
    C = np.random.default_rng(0).standard_normal((rows, 3))
    A, size = entries(Pencil(Gram(C)))
    norms = np.linalg.norm(C, axis=0)
    assert pytest.approx(C.T @ C) == A
    assert np.all(size >= np.abs(A) + rows / 4.0 * np.outer(norms, norms))
