"""All supports, against a plain loop over them."""

import numpy as np
import pytest
from small_problems import null, optimum

from dcgev_cvx import Gram, InvalidParameter, Pencil
from dcgev_cvx._numerics.checks import UNIT_ROUNDOFF
from dcgev_cvx.datasets import indefinite, pitprops
from dcgev_cvx.exact import brute_force, enumeration, gev
from dcgev_cvx.exact.enumeration import forming_error, scaled_pencil, try_all
from dcgev_cvx.steps.scaling import Scaling


def test_brute_force_agrees_with_the_plain_loop():
    for pencil, k in ((pitprops(), 3), (indefinite(7, dense_metric=True), 3), (Pencil(-np.eye(4) - 0.1), 2)):
        found = brute_force(pencil, k)
        assert found.value == pytest.approx(optimum(pencil, k), rel=1e-12)
        assert found.optimal


def test_the_dense_problem():
    dense = gev(pitprops())
    assert dense.value == pytest.approx(4.2186, abs=5e-5)
    assert 0.0 <= dense.seconds < 10.0


def test_too_many_supports_raise():
    with pytest.raises(InvalidParameter, match=r"75287520 supports, more than 5000000: use best_subset"):
        brute_force(null(100), 5)


@pytest.mark.parametrize(("k", "count"), [(22, "780512175396135"), (23, "about 1e15")])
def test_the_number_of_supports_is_rounded_from_a_million_billion(k, count):
    with pytest.raises(InvalidParameter, match=f"has {count} supports"):
        brute_force(null(54), k)


def test_forming_the_matrix_of_a_factor_costs_the_bound_rounding_only():
    C = np.random.default_rng(0).standard_normal((20, 6))
    error = forming_error(Pencil(Gram(C)), 3)
    assert error == pytest.approx(22 * UNIT_ROUNDOFF * 3 * np.sum(C * C, axis=0), rel=1e-9, abs=0.0)
    assert not forming_error(Pencil(C.T @ C), 3).any()
    found = brute_force(Pencil(Gram(C)), 3)
    assert found.optimal
    assert found.upper_bound <= found.value * (1.0 + 1e-11)


def test_what_was_tried_is_counted_and_bounded_and_the_first_of_equals_is_kept():
    pencil = Pencil(np.eye(5))
    tried = try_all(pencil, np.empty(0, dtype=np.intp), np.arange(5), 2)
    assert (tried.count, tried.support.tolist(), tried.value) == (10, [0, 1], 1.0)
    assert 1.0 <= tried.bound <= 1.0 + 1e-13
    assert try_all(pencil, np.empty(0, dtype=np.intp), np.arange(5), 2, floor=3.0).bound == pytest.approx(3.0)


def test_supports_with_known_members_are_all_tried():
    tried = try_all(Pencil(np.diag([1.0, 1.0, 2.0, 9.0, 2.0, 3.0])), np.array([0, 1]), np.arange(2, 6), 2)
    assert (tried.count, tried.support.tolist(), tried.value) == (6, [0, 1, 2, 3], 9.0)


def test_as_many_supports_as_the_limit_are_tried(monkeypatch):
    monkeypatch.setattr(enumeration, "BRUTE_FORCE_LIMIT", 10)
    assert brute_force(null(5), 2).supports == 10
    with pytest.raises(InvalidParameter, match="15 supports, more than 10"):
        brute_force(null(6), 2)


def test_the_proved_bound_scales_with_the_units_bit_for_bit():
    pencil = indefinite(6, dense_metric=True)
    nobody, plain = np.empty(0, dtype=np.intp), None
    for power in (0, -40, 40):
        scaled = Pencil(2.0**power * pencil.A, pencil.B)
        found = try_all(scaled, nobody, np.arange(6), 3).bound / 2.0**power
        plain = found if plain is None else plain
        assert found == plain
    tight = try_all(Pencil(2.0**-40 * np.eye(5)), nobody, np.arange(5), 2).bound
    assert 2.0**-40 <= tight <= 2.0**-40 * (1.0 + 1e-13)


def test_a_scaled_factor_is_charged_in_its_own_units():
    C = np.random.default_rng(0).standard_normal((20, 6))
    plain, unit = scaled_pencil(Pencil(Gram(C)), 3)
    larger, other = scaled_pencil(Pencil(Gram(2.0**20 * C)), 3)
    assert np.array_equal(plain.A, larger.A)
    assert other == 2.0**40 * unit


def test_a_factor_is_charged_in_the_units_of_the_metric():
    C, B = np.random.default_rng(0).standard_normal((400, 3)), np.diag([1.0, 2.0**20, 2.0**-20])
    pencil = Pencil(Gram(C), B)
    scaled, _ = scaled_pencil(pencil, 2)
    scaling = Scaling.of_pencil(pencil)
    charge = np.diagonal(scaled.A - scaling.objective_form(pencil.dense()[0]))
    expected = np.diagonal(scaling.objective_form(np.diag(forming_error(pencil, 2))))
    assert charge == pytest.approx(expected, rel=0.01, abs=0.0)


def test_the_first_of_equals_is_kept_over_several_tables_too(monkeypatch):
    """Tables of three: the best of the first one is not replaced by its equals in later ones."""

    def by_threes(supports, k):
        rows = np.array(list(supports))
        return [rows[i : i + 3] for i in range(0, len(rows), 3)]

    monkeypatch.setattr(enumeration, "tables_of", by_threes)
    tried = try_all(Pencil(np.eye(5)), np.empty(0, dtype=np.intp), np.arange(5), 2)
    assert (tried.count, tried.support.tolist(), tried.value) == (10, [0, 1], 1.0)


def test_supports_without_an_entry_need_no_proof():
    table = np.array([[0, 1], [1, 2]])
    assert enumeration.proved_on_all(Pencil(np.zeros((3, 3))), table, -1.0) == 0.0
    assert enumeration.proved_on_all(Pencil(np.zeros((3, 3))), table, 0.5) == 0.5


@pytest.mark.parametrize(("guess", "larger"), [(0.5, 7.0), (-16.0, 16.0)])
def test_the_first_margin_is_four_units_for_each_variable_of_a_support(guess, larger, monkeypatch):
    monkeypatch.setattr(enumeration, "is_definite", lambda *_: True)
    A = np.array([[1.0, 2.0, 0.5], [2.0, -7.0, 0.0], [0.5, 0.0, 1.0]])
    bound = enumeration.proved_on_all(Pencil(A), np.array([[0, 1, 2]]), guess)
    assert bound == guess + 4 * 3 * UNIT_ROUNDOFF * larger


def test_the_time_of_an_enumeration_is_its_own():
    assert 0.0 <= brute_force(null(5), 2).seconds < 10.0


def test_products_below_the_normal_numbers_are_charged():
    C = np.array([[1e-200, 1.0], [1e-200, 1.0]])
    assert forming_error(Pencil(Gram(C)), 2)[0] == 4 * 2 * 2.0**-1074
