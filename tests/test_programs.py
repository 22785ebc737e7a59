"""The surrogate majorises f and touches it, by the exact identity; penalties, τ, starts and settings."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
import referee
from hypothesis import given, settings
from hypothesis import strategies as st

from dcgev_cvx import (
    Gram,
    Infeasible,
    InvalidParameter,
    InvalidPencil,
    L1Penalty,
    Pencil,
    SparseFDA,
    SparseGEV,
    card_eps,
)
from dcgev_cvx.programs import expect_program, smallest_tau

epsilons = st.sampled_from([1.0, 1e-2, 1e-4, 1e-8, 2.2e-16])
SHIFTS = ["identity", "metric"]


@st.composite
def situations(draw):
    """(A, B, program, x, y): a pencil of either signature, and two points with exact zeros here and there."""
    seed, n = draw(st.integers(0, 10_000)), draw(st.integers(1, 7))
    cond = draw(st.sampled_from([None, 10.0, 1e4]))
    A, B = referee.random_pencil(seed, n, cond=cond, indefinite=draw(st.booleans()))
    shift = draw(st.sampled_from(SHIFTS))
    program = SparseGEV(Pencil(A, B), draw(st.floats(0, 5)), draw(epsilons), shift=shift)
    if draw(st.booleans()):
        tau = program.tau + draw(st.floats(0, 3))
        program = SparseGEV(program.pencil, program.rho, program.eps, tau, shift)
    points = [referee.start(seed + i, B, n, zeros=draw(st.integers(0, n))) for i in (1, 2)]
    return program.pencil.A, B, program, *points


@given(situations())
def test_surrogate_minus_objective_is_known_exactly(case):
    """g(x,y) − f(x) = (x−y)ᵀ(A+τI)(x−y) + ρ_ε Σ[…] ≥ 0, and with τB for τI when the shift is metric."""
    A, B, program, x, y = case
    n = len(x)
    H = program.tau * (np.eye(n) if program.shift == "identity" else referee.metric(B, n))
    expected = referee.gap_exactly(A, H, x, y, program.rho, program.eps)
    w = program.slopes(y)
    size = program.size(x) + program.size(y) + float(w @ (np.abs(x) + np.abs(y)))
    assert program.g(x, y) - program.f(x) == pytest.approx(expected, abs=1e-13 * size)
    assert expected >= -1e-13 * size
    assert program.f(x) == pytest.approx(referee.f_exactly(A, x, program.rho, program.eps), abs=1e-13 * size)


@given(situations())
def test_surrogate_touches_to_the_last_bits(case):
    _, _, program, x, _ = case
    assert program.g(x, x) == pytest.approx(program.f(x), abs=4e-16 * (program.size(x) + 1e-300))


@given(situations())
def test_surrogate_is_its_quadratic_form(case):
    """g(x, y) = xᵀHx − 2cᵀx + pᵀ|x| up to a constant in x: what the steps minimise is g."""
    _, _, program, x, y = case
    zero = np.zeros_like(x)

    def form(v):
        return float(v @ program.H_dot(v) - 2 * program.linear(y) @ v + program.slopes(y) @ np.abs(v))

    size = program.size(x) + program.size(y) + float(program.slopes(y) @ (np.abs(x) + np.abs(y)))
    difference = program.g(x, y) - program.g(zero, y)
    assert difference == pytest.approx(form(x), abs=1e-13 * size)


@given(situations(), st.floats(0, 10))
def test_f_does_not_see_tau_nor_the_shift(case, more):
    _, _, program, x, _ = case
    for shift in SHIFTS:
        tau = smallest_tau(program.pencil, shift) + more
        other = SparseGEV(program.pencil, program.rho, program.eps, tau, shift)
        assert other.f(x) == program.f(x)


@given(situations())
def test_both_shifts_agree_on_the_sphere(case):
    """On xᵀBx = 1 with B = I the two splits are one."""
    A, _, program, x, y = case
    one, two = (SparseGEV(Pencil(A), program.rho, program.eps, 50.0, shift) for shift in SHIFTS)
    assert one.g(x, y) == two.g(x, y)


@given(situations())
def test_q_eps_is_minus_f_up_to_its_constant(case):
    A, _, program, x, _ = case
    expected = float(x @ A @ x) - program.rho * card_eps(x, program.eps)
    size = program.size(x) + program.rho * len(x)
    assert program.Q_eps(x) == pytest.approx(expected, abs=1e-12 * size)
    assert program.Q(x) == pytest.approx(float(x @ A @ x) - program.rho * np.count_nonzero(x), abs=1e-12 * size)


@pytest.mark.parametrize("shift", SHIFTS)
@given(seed=st.integers(0, 500), eps=epsilons, rho=st.floats(0.1, 20))
@settings(max_examples=30)
def test_a_surviving_coordinate_has_a_slope_below_the_cap(shift, seed, eps, rho):
    A, B = referee.random_pencil(seed, 4, cond=10.0, indefinite=seed % 2 == 0)
    program = SparseGEV(Pencil(A, B), rho, eps, shift=shift)
    y = referee.start(seed, B, 4, zeros=seed % 3)
    x = referee.step_by_bisection(A, B, y, rho=rho, eps=eps, tau=program.tau, shift=shift)
    theta = program.largest_slopes(program.linear(y), y)
    assert np.all(program.slopes(y)[x != 0] <= theta[x != 0])


@given(st.integers(0, 500), epsilons, st.floats(0.01, 3))
@settings(max_examples=30)
def test_fisher_cap(seed, eps, nu):
    a, B, program = fisher(seed, 4, nu=nu, eps=eps)
    y = program.start()
    x = referee.fisher_by_bisection(a, B, y, nu=nu, eps=eps)
    theta = program.largest_slopes(program.linear(y), y)
    assert np.all(program.slopes(y)[x != 0] <= theta[x != 0])


def test_violation_slack_and_multiplier():
    program = SparseGEV(Pencil(np.diag([3.0, 1.0]), np.diag([1.0, 4.0])), 0.0)
    x = np.array([1.0, 0.5])
    assert program.violation(x) == 1.0
    assert program.violation(x / 2) == 0.0
    assert program.slack(x) == -1.0
    assert np.array_equal(program.normal(x), [1.0, 2.0])
    assert np.array_equal(program.gradient(x), [-6.0, -1.0])
    e = np.array([1.0, 0.0])
    assert program.multiplier(e, program.gradient(e), np.zeros(2)) == 3.0
    assert program.multiplier(np.zeros(2), np.zeros(2), np.zeros(2)) == 0.0


def test_smallest_tau():
    A = np.diag([2.0, -3.0])
    B = np.diag([1.0, 6.0])
    assert SparseGEV(Pencil(A), 1.0).tau == pytest.approx(3.0)
    assert SparseGEV(Pencil(A, B), 1.0).tau == pytest.approx(3.0)
    assert SparseGEV(Pencil(A, B), 1.0, shift="metric").tau == pytest.approx(0.5)
    assert SparseGEV(Pencil(np.eye(2)), 1.0).tau == 0.0
    assert SparseGEV(Pencil(Gram(np.ones((2, 3)))), 1.0).tau == 0.0
    # semidefinite but for rounding
    v = np.random.default_rng(0).standard_normal(9)
    assert SparseGEV(Pencil(np.outer(v, v)), 1.0).tau == 0.0


def test_tau_too_small_says_how_small_it_may_be():
    pencil = Pencil(np.diag([2.0, -3.0]), np.diag([1.0, 6.0]))
    with pytest.raises(InvalidParameter, match=r"tau = 2 is too small: A \+ τI ⪰ 0 needs tau ≥ 3"):
        SparseGEV(pencil, 1.0, tau=2.0)
    with pytest.raises(InvalidParameter, match=r"tau = 2.999 is too small"):
        SparseGEV(pencil, 1.0, tau=2.999)
    with pytest.raises(InvalidParameter, match=r"tau = 0.1 is too small: A \+ τB ⪰ 0 needs tau ≥ 0.5"):
        SparseGEV(pencil, 1.0, tau=0.1, shift="metric")
    with pytest.raises(InvalidParameter) as caught:
        SparseGEV(Pencil(referee.random_pencil(0, 6, indefinite=True)[0]), 1.0, tau=0.0)
    least = float(str(caught.value).split("≥ ")[-1].rstrip("."))
    assert SparseGEV(Pencil(referee.random_pencil(0, 6, indefinite=True)[0]), 1.0, tau=least).tau == least


def test_start_is_the_leading_vector_or_the_users_own():
    A, B = referee.random_pencil(2, 5, cond=10.0)
    program = SparseGEV(Pencil(A, B), 1.0)
    assert np.array_equal(program.start(), program.pencil.leading_vector)
    inside = 0.5 * program.start()
    assert np.array_equal(program.start(inside), inside)
    nudged = program.start() * (1 + 1e-10)
    assert program.violation(program.start(nudged)) <= 1e-15
    with pytest.raises(InvalidParameter, match=r"x0 lies outside Ω: x0ᵀBx0 = 4 > 1. Divide x0 by 2"):
        program.start(2.0 * program.start())
    with pytest.raises(InvalidParameter, match=r"x0 must have length 5, got shape \(4,\)"):
        program.start(np.zeros(4))


def test_with_rho_shares_the_pencil():
    program = SparseGEV(Pencil(np.eye(3)), 1.0, 1e-4, 2.0, "metric", L1Penalty())
    other = program.with_rho(2.0)
    assert other.pencil is program.pencil
    assert (other.rho, other.eps, other.tau, other.shift) == (2.0, 1e-4, 2.0, "metric")
    assert other.penalty is program.penalty
    assert program.with_rho(2.0, 1e-2).eps == 1e-2


@pytest.mark.parametrize("eps", [0.0, -1.0, math.nan])
def test_with_rho_refuses_a_bad_eps(eps):
    with pytest.raises(InvalidParameter, match="eps"):
        SparseGEV(Pencil(np.eye(3)), 1.0).with_rho(2.0, eps)
    with pytest.raises(InvalidParameter, match="eps"):
        SparseFDA(np.ones(3), np.eye(3), 1.0).with_nu(2.0, eps)


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"rho": -0.5}, "rho = -0.5 is out of range"),
        ({"rho": math.inf}, "rho = inf is not finite"),
        ({"rho": 1.0, "eps": 0.0}, "eps = 0 is out of range; it must be greater than 0"),
        ({"rho": 1.0, "eps": -1e-8}, "eps = -1e-08 is out of range"),
        ({"rho": 1.0, "eps": math.nan}, "eps = nan is not finite"),
        ({"rho": 1.0, "tau": -1.0}, "tau = -1 is out of range"),
        ({"rho": 1.0, "tau": math.inf}, "tau = inf is not finite"),
        ({"rho": 1.0, "shift": "both"}, "shift = 'both' is unknown"),
    ],
)
def test_bad_settings(settings, text):
    with pytest.raises(InvalidParameter) as caught:
        SparseGEV(Pencil(np.eye(3)), **settings)
    assert text in str(caught.value)


def test_a_matrix_is_not_a_pencil():
    with pytest.raises(InvalidParameter, match=r"pencil must be a Pencil, got ndarray: use Pencil\(A, B\)"):
        SparseGEV(np.eye(3), 1.0)


# ---- sparse FDA -----------------------------------------------------------------------------------


def fisher(seed=0, n=6, **settings):
    B = referee.random_pencil(seed, n, cond=20.0)[1]
    a = np.random.default_rng(seed).standard_normal(n)
    return a, B, SparseFDA(a, B, **settings)


@given(st.integers(0, 500), epsilons, st.floats(0, 3))
def test_fisher_surrogate_majorises_and_touches(seed, eps, nu):
    _, B, program = fisher(seed, nu=nu, eps=eps)
    x, y = (referee.start(seed + i, B, 6, zeros=i) for i in (1, 2))
    expected = referee.gap_exactly(np.zeros((6, 6)), np.zeros((6, 6)), x, y, nu, eps)
    size = program.size(x) + program.size(y) + float(program.slopes(y) @ (np.abs(x) + np.abs(y)))
    assert program.g(x, y) - program.f(x) == pytest.approx(expected, abs=1e-13 * size)
    assert program.g(x, x) == pytest.approx(program.f(x), abs=1e-15 * size)
    assert program.nu_eps == pytest.approx(nu / math.log1p(1 / eps), rel=1e-12)


def test_fisher_start_is_the_dense_direction():
    a, B, program = fisher(nu=1.0)
    x = program.start()
    z = np.linalg.solve(B, a)
    assert x == pytest.approx(z / (a @ z), rel=1e-10)
    assert program.violation(x) <= 1e-15
    assert program.slack(x) == 0.0
    given_start = np.eye(6)[0] / a[0]
    assert program.start(given_start) == pytest.approx(given_start)
    with pytest.raises(InvalidParameter, match=r"aᵀx0 = 2, not 1. Divide x0 by 2"):
        program.start(2 * x)


def test_fisher_needs_a_direction():
    with pytest.raises(Infeasible, match="a = 0: aᵀx = 1 has no solution"):
        SparseFDA(np.zeros(3), np.eye(3), 1.0)
    with pytest.raises(InvalidParameter, match="nu = -1"):
        SparseFDA(np.ones(3), np.eye(3), -1.0)


def test_fisher_shapes():
    a = [1.0, 2.0, 3.0]
    plain = SparseFDA(a, np.eye(3), 1.0)
    for shape in ((3, 1), (1, 3)):
        assert np.array_equal(SparseFDA(np.reshape(a, shape), np.eye(3), 1.0).a, plain.a)
    other = plain.with_nu(2.0)
    assert other.pencil is plain.pencil
    assert other.nu == 2.0


def test_programs_pickle_to_the_same_bits():
    A, B = referee.random_pencil(9, 6, cond=100.0, indefinite=True)
    program = SparseGEV(Pencil(A, B), 0.3, 1e-8, shift="metric")
    copy = pickle.loads(pickle.dumps(program))
    x, y = referee.start(1, B, 6), referee.start(2, B, 6)
    assert (copy.f(x), copy.g(x, y), copy.tau) == (program.f(x), program.g(x, y), program.tau)
    _, _, fda = fisher(nu=0.5)
    again = pickle.loads(pickle.dumps(fda))
    assert again.f(x) == fda.f(x)
    assert np.array_equal(again.start(), fda.start())


@pytest.mark.parametrize("B", [None, np.diag([1.0, 4.0])])
def test_a_start_whose_square_overflows_is_told_its_length(B):
    with pytest.raises(InvalidParameter, match=r"Divide x0 by 3e\+200"):
        SparseGEV(Pencil(np.eye(2), B), 0.1).start([3e200, 0.5])


def test_the_multiplier_solves_the_optimality_system_times_x():
    rng = np.random.default_rng(2)
    B = referee.random_pencil(3, 4, cond=10.0)[1]
    x, p = rng.standard_normal(4), rng.uniform(0.1, 1.0, 4)
    ball, plane = SparseGEV(Pencil(np.eye(4), B), 0.1), SparseFDA(rng.standard_normal(4), B, 0.1)
    for program, gradient in ((ball, -5.0 * B @ x), (plane, 2.0 * B @ x)):
        mu = program.multiplier(x, gradient, p)
        assert mu != 0.0
        assert x @ (gradient + 2.0 * mu * program.normal(x)) + p @ np.abs(x) == pytest.approx(0.0, abs=1e-12)
    assert ball.multiplier(x, 5.0 * B @ x, p) == 0.0


def test_a_labelled_start_in_another_order_is_refused():
    program = SparseGEV(Pencil(np.eye(3), names=["u", "v", "w"]), 0.1)
    x0 = pd.Series([0.5, 0.25, 0.0], ["u", "v", "w"])
    assert program.start(x0).tolist() == [0.5, 0.25, 0.0]
    with pytest.raises(InvalidPencil, match="the variables and x0 have the same labels in another order"):
        program.start(x0.iloc[::-1])


@pytest.mark.parametrize(
    ("size", "metric"), [(1e-80, 1.0), (1e80, 1.0), (1e70, 1.0), (1.0, 1e-130), (1.0, 1e130), (1e100, 1e100)]
)
def test_fisher_ratios_lie_in_floating_point(size, metric):
    """Ratios of 1e±160 do not, though a and B do."""
    a, B = size * np.ones(2), metric * np.eye(2)
    if size in (1e-80, 1e80):
        with pytest.raises(InvalidParameter, match="give Fisher ratios near"):
            SparseFDA(a, B, 1.0)
    else:
        assert SparseFDA(a, B, 1.0).pencil.n == 2


def test_only_a_program_over_a_pencil_is_one():
    for program in (SparseGEV(Pencil(np.eye(2)), 1.0), SparseFDA(np.ones(2), np.eye(2), 1.0)):
        assert expect_program(program) is program
    with pytest.raises(InvalidParameter, match=r"program must be SparseGEV.*got Pencil"):
        expect_program(Pencil(np.eye(2)))
