"""The penalties lie below their tangents, and the paper's runs from the cardinality to the ℓ1 norm."""

import math

import numpy as np
import pytest
import referee
from hypothesis import given
from hypothesis import strategies as st

from dcgev_cvx import ExponentialPenalty, InvalidParameter, L1Penalty, LogPenalty, Pencil, SparseGEV, card, card_eps
from dcgev_cvx.penalties import MACHINE_EPS, log_scale

unit_entries = st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=1, max_size=8).map(np.array)
entries = st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=1, max_size=8).map(np.array)
any_eps = st.floats(-16, 4).map(lambda t: 10.0**t)
PENALTIES = [LogPenalty(), L1Penalty(), ExponentialPenalty()]


@given(entries, any_eps)
def test_card_eps_in_fifty_digits(x, eps):
    assert card_eps(x, eps) == pytest.approx(referee.card_eps_exactly(x, eps), rel=1e-13, abs=1e-300)


@given(unit_entries)
def test_limits_are_cardinality_and_l1_norm(x):
    l1 = float(np.sum(np.abs(x)))
    assert card_eps(x, 1e100) == pytest.approx(l1, rel=1e-12, abs=1e-190)
    large = np.where(np.abs(x) > 0.01, x, 0.0)
    assert card_eps(large, 1e-300) == pytest.approx(card(large), abs=0.05)
    gaps = [abs(card_eps(large, eps) - card(large)) for eps in (1e-2, 1e-8, 1e-32, 1e-128, 1e-300)]
    assert gaps == sorted(gaps, reverse=True)


@given(unit_entries, any_eps, st.floats(1.0, 1e6))
def test_card_eps_falls_from_cardinality_to_l1_norm(x, eps, factor):
    """For |xᵢ| ≤ 1: ‖x‖₁ ≤ ‖x‖_ε' ≤ ‖x‖_ε ≤ ‖x‖₀ whenever ε ≤ ε'."""
    slack = 1e-13 * len(x)
    tight, loose = card_eps(x, eps), card_eps(x, eps * factor)
    assert np.sum(np.abs(x)) <= loose + slack
    assert loose <= tight + slack
    assert tight <= card(x) + slack


def test_card_eps_at_zero_and_at_one():
    for eps in (MACHINE_EPS, 1e-8, 1.0, 1e8):
        assert card_eps(np.zeros(3), eps) == 0.0
        assert card_eps(np.array([1.0, 0.0, -1.0]), eps) == pytest.approx(2.0, rel=1e-14)


@given(st.floats(1e-3, 10.0), any_eps)
def test_rho_eps_is_the_papers(rho, eps):
    assert LogPenalty().coefficient(rho, eps) == pytest.approx(rho / math.log(1 + 1 / eps), rel=1e-6)


@pytest.mark.parametrize("eps", [1e-300, MACHINE_EPS, 1.0, 1e300])
def test_logarithms_neither_overflow_nor_cancel(eps):
    assert math.isfinite(log_scale(eps))
    assert log_scale(eps) > 0
    terms = [log_scale(eps) * card_eps([entry], eps) for entry in (0.0, eps, 1.0, 1e300)]
    assert np.all(np.isfinite(terms))
    assert terms[0] == 0.0
    assert terms[1] == pytest.approx(math.log(2.0), rel=1e-12)
    assert terms[2] <= terms[3]


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: type(p).__name__)
@given(x=entries, seed=st.integers(0, 1000), eps=st.floats(-6, 2).map(lambda t: 10.0**t))
def test_tangent_majorises_and_touches(penalty, x, seed, eps):
    y = x[np.random.default_rng(seed).permutation(len(x))]
    w = penalty.weights(y, eps)
    tangent = penalty.value(y, eps) + float(w @ (np.abs(x) - np.abs(y)))
    size = abs(penalty.value(x, eps)) + abs(penalty.value(y, eps)) + float(w @ (np.abs(x) + np.abs(y))) + 1.0
    assert np.all(w > 0)
    assert penalty.value(x, eps) <= tangent + 1e-13 * size
    assert penalty.weights(np.zeros(1), eps)[0] >= np.max(w) * (1 - 1e-15)


@pytest.mark.parametrize("penalty", PENALTIES, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("eps", [0.1, 1.0])
def test_weights_are_the_slopes(penalty, eps):
    y, h = np.array([0.3, -0.7, 1.5]), 1e-6
    for i in range(3):
        e = np.eye(3)[i] * h * np.sign(y[i])
        slope = (penalty.value(y + e, eps) - penalty.value(y - e, eps)) / (2 * h)
        assert penalty.weights(y, eps)[i] == pytest.approx(slope, rel=1e-6, abs=1e-9)


def test_weight_at_zero_is_one_over_eps_and_not_the_derivative():
    assert LogPenalty().weights(np.zeros(1), 1e-4)[0] == pytest.approx(1e4)
    assert ExponentialPenalty().weights(np.zeros(1), 1e-4)[0] == pytest.approx(1e4)
    assert L1Penalty().weights(np.zeros(1), 1e-4)[0] == 1.0


def test_exponential_tends_to_the_cardinality():
    x = np.array([0.5, 0.0, -1.0])
    assert ExponentialPenalty().value(x, 1e-3) == pytest.approx(card(x), abs=1e-12)
    assert ExponentialPenalty().weights(np.array([1.0]), 1e-6)[0] > 0


@pytest.mark.parametrize("penalty", [LogPenalty, "log", 1.0, np.zeros(3)], ids=str)
def test_what_is_not_a_penalty(penalty):
    with pytest.raises(InvalidParameter, match=r"penalty must be LogPenalty\(\), L1Penalty\(\)"):
        SparseGEV(Pencil(np.eye(2)), 1.0, penalty=penalty)
