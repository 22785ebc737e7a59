"""Every support of a family, tried and proved."""

import numpy as np
import pytest
from small_problems import null

from dcgev_cvx import Gram, Pencil
from dcgev_cvx._numerics.checks import UNIT_ROUNDOFF
from dcgev_cvx.budgets import Budget
from dcgev_cvx.exact import best_subset, enumeration
from dcgev_cvx.exact.enumeration import Incumbent, ScaledProblem, forming_error, try_all, values_on_supports

NOBODY = np.empty(0, dtype=np.intp)


def test_what_was_tried_is_counted_and_bounded_and_the_first_of_equals_is_kept(monkeypatch):
    monkeypatch.setattr(enumeration, "TABLE_NUMBERS", 12)  # tables of three supports
    pencil = Pencil(np.eye(5))
    best = Incumbent(pencil)
    count, bound = try_all(best, Budget.of(pencil, 2), NOBODY, np.arange(5))
    assert (count, best.support.tolist(), best.value) == (10, [0, 1], 1.0)
    assert 1.0 <= bound <= 1.0 + 1e-9


def test_supports_with_known_members_are_all_tried():
    pencil = Pencil(np.diag([1.0, 1.0, 2.0, 9.0, 2.0, 3.0]))
    best = Incumbent(pencil)
    count, _ = try_all(best, Budget.of(pencil, 4), np.array([0, 1]), np.arange(2, 6))
    assert (count, best.support.tolist(), best.value) == (6, [0, 1, 2, 3], 9.0)


def test_values_of_supports_are_those_of_the_sub_pencils():
    G, H = np.random.default_rng(0).standard_normal((2, 6, 12))
    pencil = Pencil(G @ H.T + H @ G.T, H @ H.T)
    table = np.array([[0, 2, 5], [1, 3, 4]])
    assert values_on_supports(pencil, table) == pytest.approx([pencil.restrict(S).lambda_max for S in table])


def test_the_bound_scales_with_the_units_bit_for_bit():
    A = np.array(null(30).A)
    plain = best_subset(Pencil(A), 4)
    for power in (-40, 40):
        assert best_subset(Pencil(2.0**power * A), 4).upper_bound == 2.0**power * plain.upper_bound


def test_forming_the_matrix_of_a_factor_costs_the_bound_rounding_only():
    C = np.random.default_rng(0).standard_normal((20, 6))
    error = forming_error(Pencil(Gram(C)), 3)
    assert error == pytest.approx(22 * UNIT_ROUNDOFF * 3 * np.sum(C * C, axis=0), rel=1e-9, abs=0.0)
    assert not forming_error(Pencil(C.T @ C), 3).any()
    found = best_subset(Pencil(Gram(C)), 3)
    assert found.optimal
    assert found.upper_bound <= found.value * (1.0 + 1e-9)


def test_a_factor_is_charged_in_the_units_of_the_metric():
    C, B = np.random.default_rng(0).standard_normal((400, 3)), np.diag([1.0, 2.0**20, 2.0**-20])
    pencil = Pencil(Gram(C), B)
    problem = ScaledProblem(pencil, 2)
    charge = np.diagonal(problem.A - C.T @ C)
    assert charge == pytest.approx(forming_error(pencil, 2), rel=0.02, abs=0.0)
    assert np.array_equal(problem.pencil.A, problem.scaling.objective_form(problem.A))


def test_products_below_the_normal_numbers_are_charged():
    C = np.array([[1e-200, 1.0], [1e-200, 1.0]])
    assert forming_error(Pencil(Gram(C)), 2)[0] == 4 * 2 * 2.0**-1074
