"""Penalties: concave, their slopes their derivatives, their tangents majorisers; the cardinality they stand for."""

import math
from itertools import pairwise

import numpy as np
import pytest
import referee
from hypothesis import given, settings
from hypothesis import strategies as st

from dcgev_cvx import (
    MCP,
    SCAD,
    ExponentialPenalty,
    InvalidParameter,
    L1Penalty,
    LogPenalty,
    LqPenalty,
    Pencil,
    SparseFDA,
    SparseGEV,
    card,
    card_eps,
)
from dcgev_cvx.penalties import log_scale
from dcgev_cvx.programs import MACHINE_EPS
from dcgev_cvx.steps.closed import soft_threshold_step
from dcgev_cvx.steps.conic import FisherStep, LassoStep, LinearStep, MetricLassoStep, QCQPStep
from dcgev_cvx.steps.native import native_step

PENALTIES = [LogPenalty(), L1Penalty(), ExponentialPenalty(), MCP(), MCP(2.0), SCAD(), SCAD(0.3, 1.5), LqPenalty(0.3)]
named = pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
epsilons = st.sampled_from([1.0, 1e-2, 1e-4, 1e-8, 2.2e-16])


@named
@pytest.mark.parametrize("eps", [1.0, 1e-2])
def test_weights_are_the_slopes_of_the_value(penalty, eps):
    for t in (0.02, 0.2, 0.4, 0.9):
        values = [penalty.value(np.array([s]), eps) for s in (t - 1e-6, t + 1e-6)]
        assert penalty.weights(np.array([-t]), eps) == pytest.approx((values[1] - values[0]) / 2e-6, rel=1e-4, abs=1e-8)


@named
@settings(max_examples=30)
@given(st.lists(st.floats(-3, 3), min_size=1, max_size=6), st.integers(0, 99), epsilons)
def test_the_tangent_majorises_and_touches(penalty, x, seed, eps):
    x, y = np.array(x), np.random.default_rng(seed).standard_normal(len(x)) * (seed % 3)
    w = penalty.weights(y, eps)
    tangent = penalty.value(y, eps) + float(w @ (np.abs(x) - np.abs(y)))
    size = abs(penalty.value(x, eps)) + abs(penalty.value(y, eps)) + float(w @ (np.abs(x) + np.abs(y))) + 1.0
    assert penalty.value(x, eps) <= tangent + 1e-13 * size


@named
@pytest.mark.parametrize("eps", [1.0, 1e-4, 2.2e-16])
def test_slopes_fall_and_are_finite_at_zero(penalty, eps):
    slopes = penalty.weights(np.geomspace(1e-20, 10, 50), eps)
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(slopes))
    assert slopes[-1] >= 0.0
    assert np.isfinite(penalty.weights(np.zeros(1), eps)[0])


@pytest.mark.parametrize("penalty", [LogPenalty(), ExponentialPenalty(), MCP(), SCAD(), SCAD(1.0, 2.0), LqPenalty()])
def test_rho_is_the_price_of_an_entry_of_one(penalty):
    eps = 1e-3
    cost = penalty.value(np.ones(1), eps) - penalty.value(np.zeros(1), eps)
    assert penalty.coefficient(3.0, eps) * cost == pytest.approx(3.0, rel=1e-3)
    assert penalty.coefficient(0.0, eps) == 0.0


def test_mcp_and_scad_charge_nothing_beyond_their_width():
    for penalty in (MCP(0.4), SCAD(0.4)):
        assert penalty.weights(np.array([0.4, -0.7]), 1.0).tolist() == [0.0, 0.0]
        assert penalty.value(np.array([0.4]), 1.0) == pytest.approx(penalty.value(np.array([5.0]), 1.0))


def test_lq_lies_between_log_and_l1():
    """q → 1 is ℓ1; the slopes of q → 0 are those of log, up to a factor."""
    y = np.array([0.0, 0.1, 1.0])
    assert LqPenalty(1 - 1e-9).weights(y, 0.01) == pytest.approx(np.ones(3))
    small = LqPenalty(1e-9)
    assert small.weights(y, 0.01) / small.weights(y, 0.01)[2] == pytest.approx(1.01 * LogPenalty().weights(y, 0.01))


@named
def test_g_majorises_f_and_touches_it(penalty):
    rng = np.random.default_rng(0)
    A, B = referee.random_pencil(3, 5, cond=10.0, indefinite=True)
    programs = [SparseGEV(Pencil(A, B), 0.5, 1e-2, penalty=penalty), SparseFDA(A[0], B, 0.5, 1e-2, penalty)]
    for program in programs:
        for _ in range(20):
            x, y = rng.standard_normal((2, 5)) * (rng.random((2, 5)) < 0.7)
            slack = 1e-12 * (program.size(x) + program.size(y))
            assert program.g(x, y) >= program.f(x) - slack
            assert program.g(y, y) == pytest.approx(program.f(y), abs=slack)


@named
def test_the_steps_agree_for_every_penalty(penalty):
    """The same minimiser by every form of the step, for A ⪰ 0 and indefinite A, and for sparse FDA."""
    A, B = referee.random_pencil(2, 6, cond=10.0)
    low, _ = referee.random_pencil(2, 6, cond=10.0, indefinite=True)
    fda = SparseFDA(A[0], B, 0.2, 1e-2, penalty)
    cases = [
        (SparseGEV(Pencil(A), 0.4, 1e-2, penalty=penalty), (soft_threshold_step, LinearStep(), QCQPStep())),
        (SparseGEV(Pencil(A, B), 0.4, 1e-2, penalty=penalty), (native_step, LinearStep(), MetricLassoStep())),
        (SparseGEV(Pencil(low, B), 0.4, 1e-2, penalty=penalty), (native_step, LassoStep(), QCQPStep())),
        (fda, (native_step, FisherStep())),
    ]
    for program, steps in cases:
        y = program.start()
        first, *others = [step(program, y).x for step in steps]
        for x in others:
            assert x == pytest.approx(first, abs=1e-9)


# ---- penalties of others --------------------------------------------------------------------------


class Capped:
    """min(|x|, 1/2): concave, with a slope that jumps."""

    def coefficient(self, rho, eps):
        return rho

    def value(self, x, eps):
        return float(np.minimum(np.abs(x), 0.5).sum())

    def weights(self, y, eps):
        return np.where(np.abs(y) < 0.5, 1.0, 0.0)


def with_weights(weights):
    return type("Mine", (Capped,), {"weights": lambda self, y, eps: weights(np.abs(y), eps)})()


def test_any_object_with_the_three_methods_is_a_penalty(pitprops):
    program = SparseGEV(pitprops, 1.0, penalty=Capped())
    assert program.slopes(np.array([0.0, 0.7])).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("weights", "text"),
    [
        (lambda t, eps: -np.ones_like(t), "the slope of Mine at |x| = 0 is -1"),
        (lambda t, eps: 1.0 - t, "the slope of Mine at |x| = 2.15 is -1.15 (eps ="),
        (lambda t, eps: 0.5 / np.sqrt(t), "the slope of Mine at |x| = 0 is inf"),
        (lambda t, eps: np.full_like(t, np.nan), "the slope of Mine at |x| = 0 is nan"),
        (
            lambda t, eps: 2.0 * t,
            "the tangent of Mine at |x| = 0, of slope 0, lies 1e-12 below it at |x| = 1e-12",
        ),
        (lambda t, eps: np.where(t < 0.5, 0.2, 0.0), "MM needs a concave function of |x| and its derivative"),
        (lambda t, eps: np.where(t < 0.5, 1.0, 0.1), "of slope 0.1, lies"),
        (lambda t, eps: list(t), "Mine.weights(y, eps) must return an array of numbers like y; got"),
        (lambda t, eps: 1.0, "Mine.weights(y, eps) must return an array of numbers like y; got"),
    ],
)
def test_slopes_that_no_step_can_use(weights, text):
    for make in (lambda p: SparseGEV(Pencil(np.eye(2)), 1.0, 0.1, penalty=p), lambda p: SparseFDA([1], [[1]], 1, 1, p)):
        with pytest.raises(InvalidParameter) as caught:
            make(with_weights(weights))
        assert text in str(caught.value)


@pytest.mark.parametrize("answer", [-1.0, np.nan, None, "2"])
def test_a_coefficient_that_is_no_price(answer):
    Mine = type("Mine", (Capped,), {"coefficient": lambda self, rho, eps: answer})
    with pytest.raises(InvalidParameter, match=r"Mine.coefficient\(2, 0.1\) must return a number of at least 0; got"):
        SparseGEV(Pencil(np.eye(2)), 2.0, 0.1, penalty=Mine())


@pytest.mark.parametrize("penalty", [LogPenalty, "log", 1.0, np.zeros(3)], ids=str)
def test_what_is_not_a_penalty(penalty):
    with pytest.raises(InvalidParameter, match=r"penalty must be LogPenalty\(\), L1Penalty\(\)"):
        SparseGEV(Pencil(np.eye(2)), 1.0, penalty=penalty)


@pytest.mark.parametrize("make", [lambda: MCP(0.0), lambda: SCAD(a=1.0), lambda: LqPenalty(1.0), lambda: LqPenalty(-1)])
def test_settings_outside_their_range(make):
    with pytest.raises(InvalidParameter, match=r"(width|a|q) = "):
        make()


# ---- the cardinality ------------------------------------------------------------------------------

unit_entries = st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=1, max_size=8).map(np.array)
entries = st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=1, max_size=8).map(np.array)
any_eps = st.floats(-16, 4).map(lambda t: 10.0**t)


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


def test_the_slope_at_zero_is_one_over_eps_and_not_the_derivative():
    assert LogPenalty().weights(np.zeros(1), 1e-4)[0] == pytest.approx(1e4)
    assert ExponentialPenalty().weights(np.zeros(1), 1e-4)[0] == pytest.approx(1e4)


def test_the_exponential_penalty_tends_to_the_cardinality():
    x = np.array([0.5, 0.0, -1.0])
    assert ExponentialPenalty().value(x, 1e-3) == pytest.approx(card(x), abs=1e-12)
