"""Exact minimisation on a face, and the walk that finds the face from any guess."""

import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import referee
from hypothesis import given, settings
from hypothesis import strategies as st

from dcgev_cvx import Gram, Pencil, SolverFailed, SparseFDA, SparseGEV
from dcgev_cvx._numerics.checks import UNIT_ROUNDOFF
from dcgev_cvx.steps import polish as steps_polish
from dcgev_cvx.steps.polish import Surrogate, in_ball, in_shifted_ball, on_plane, polish, surrogate_at
from dcgev_cvx.steps.scaling import Metric, Scaling

epsilons = st.sampled_from([1.0, 1e-2, 1e-4, 1e-8, 2.2e-16])


def guess_of(kind, exact, seed, B):
    """What a solver might hand over: nearly right, plainly wrong, or nothing."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal(len(exact))
    return {
        "exact": exact,
        "near": exact + 1e-6 * noise,
        "coarse": exact + 1e-2 * noise,
        "random": referee.start(seed + 99, B, len(exact)),
        "far": 1e6 * noise,
        "flipped": -exact,
        "zero": np.zeros_like(exact),
    }[kind]


def minimiser(program, y, guess):
    """The polished point and its multiplier in the user's units."""
    surrogate = surrogate_at(program, y)
    scaling = surrogate.scaling
    x, mu = polish(surrogate, guess / scaling.u)
    return SimpleNamespace(x=scaling.vector(x), mu=mu * scaling.o)


GUESSES = ["exact", "near", "coarse", "random", "far", "flipped", "zero"]


@pytest.mark.parametrize("kind", GUESSES)
@given(
    seed=st.integers(0, 500),
    eps=epsilons,
    rho=st.floats(0.01, 4),
    indefinite=st.booleans(),
    shift=st.sampled_from(["identity", "metric"]),
)
@settings(max_examples=25)
def test_every_guess_leads_to_the_one_minimiser(kind, seed, eps, rho, indefinite, shift):
    n = 1 + seed % 6
    A, B = referee.random_pencil(seed, n, cond=[None, 5.0, 50.0][seed % 3], indefinite=indefinite)
    program = SparseGEV(Pencil(A, B), rho, eps, shift=shift)
    y = referee.start(seed, B, n, zeros=seed % 3)
    if not program.linear(y).any():
        return
    exact = referee.step_by_bisection(A, B, y, rho=rho, eps=eps, tau=program.tau, shift=shift)
    found = minimiser(program, y, guess_of(kind, exact, seed, B))
    residual = referee.step_kkt(A, B, y, found.x, rho=rho, eps=eps, tau=program.tau, shift=shift)
    assert residual <= 1e-12
    assert program.g(found.x, y) <= program.g(exact, y) + 1e-12 * program.size(exact)
    assert found.mu >= 0.0


@pytest.mark.parametrize("kind", GUESSES)
@given(seed=st.integers(0, 500), eps=epsilons, nu=st.floats(0.01, 4))
@settings(max_examples=8)
def test_fisher_guesses_too(kind, seed, eps, nu):
    B = referee.random_pencil(seed, 4, cond=5.0)[1]
    a = np.random.default_rng(seed).standard_normal(4)
    program = SparseFDA(a, B, nu, eps)
    y = program.start()
    exact = referee.fisher_by_bisection(a, B, y, nu=nu, eps=eps)
    found = minimiser(program, y, guess_of(kind, exact, seed, B))
    assert referee.fisher_kkt(a, B, y, found.x, nu=nu, eps=eps) <= 1e-12
    assert program.g(found.x, y) <= program.g(exact, y) + 1e-12 * program.size(exact)


def test_too_many_patterns_are_a_failure():
    A, B = referee.random_pencil(0, 8, cond=10.0)
    program = SparseGEV(Pencil(A, B), 0.5, 1e-2)
    surrogate = surrogate_at(program, referee.start(0, B, 8))
    with pytest.raises(SolverFailed, match="No sign pattern satisfied the optimality conditions after 1 attempts"):
        polish(surrogate, np.zeros(8), max_patterns=1)


def test_a_singular_support_says_so(monkeypatch):
    surrogate = surrogate_at(SparseGEV(Pencil(np.eye(2), np.eye(2)), 0.5), np.array([0.6, 0.8]))
    monkeypatch.setattr(Metric, "sub", lambda self, support: np.zeros((2, 2)))
    with pytest.raises(SolverFailed, match="B on a support of 2 variables is numerically singular"):
        surrogate.on_support(np.array([0, 1]), np.ones(2))


@given(
    st.integers(0, 300), st.integers(1, 6), st.floats(-8, 3).map(lambda t: 10.0**t), st.sampled_from([2.0, 1e3, 1e6])
)
def test_in_shifted_ball(seed, n, tau, cond):
    """(τI + μB)x = h with xᵀBx = 1, or μ = 0 inside."""
    B = referee.random_pencil(seed, n, cond=cond)[1]
    h = np.random.default_rng(seed).standard_normal(n)
    x, mu = in_shifted_ball(B, h, tau)
    x, B, h = referee.long(x), referee.long(B), referee.long(h)
    assert mu >= 0
    size = float(np.max(np.abs(h)) + mu * np.max(np.abs(B)) * np.max(np.abs(x)))
    assert float(np.max(np.abs(tau * x + mu * (B @ x) - h))) <= 1e-13 * size * n
    norm = float(x @ B @ x)
    assert norm <= 1 + 1e-13 * cond
    assert mu == 0 or norm == pytest.approx(1.0, abs=1e-13 * cond)


@given(st.integers(0, 300), st.integers(1, 6), st.floats(-8, 3).map(lambda t: 10.0**t))
def test_in_ball(seed, n, tau):
    """x = z/max(τ, ‖z‖_B) with Bz = h."""
    B = referee.random_pencil(seed, n, cond=100.0)[1]
    h = np.random.default_rng(seed).standard_normal(n)
    x, mu = in_ball(B, h, tau)
    z = np.linalg.solve(B, h)
    norm = np.sqrt(z @ B @ z)
    assert x == pytest.approx(z / max(tau, norm), rel=1e-9, abs=1e-12)
    assert mu == pytest.approx(max(0.0, norm - tau), rel=1e-9, abs=1e-12)


def test_on_plane():
    B = referee.random_pencil(1, 4, cond=10.0)[1]
    a, h = np.array([1.0, 2.0, -1.0, 0.5]), np.array([0.1, -0.2, 0.3, 0.0])
    x, mu = on_plane(B, h, a)
    assert a @ x == pytest.approx(1.0, abs=1e-15)
    assert B @ x + mu * a == pytest.approx(h, abs=1e-13)


def test_on_plane_at_condition_1e4():
    """Refined in both unknowns: in x alone the residual of this step was 1.7e-12."""
    a = np.array([1.35597605, -1.88727117])
    B = np.array([[0.27763862, 0.44775348], [0.44775348, 0.72246138]])
    program, y = SparseFDA(a, B, 8.0, 0.01), np.array([0.39589794, -0.24541883])
    x = minimiser(program, y / (a @ y), y).x
    assert referee.fisher_kkt(a, B, y / (a @ y), x, nu=8.0, eps=0.01) <= 1e-15


@pytest.mark.parametrize("nu", [1e12, 1e18, 1e40, 1e190])
@pytest.mark.parametrize("eps", [2.2e-16, 1e-2, 1.0])
def test_a_penalty_beside_which_the_scatter_drowns(nu, eps):
    """The step is a linear program then: the vertex of least pᵢ/|aᵢ|, reached from any guess."""
    for seed in range(20):
        B = referee.random_pencil(seed, 6, cond=50.0)[1]
        a = np.random.default_rng(seed).standard_normal(6)
        program = SparseFDA(a, B, nu, eps)
        y = program.start()
        i = int(np.argmin(program.slopes(y) / np.abs(a)))
        for guess in (y, np.zeros(6), 1.0 / a, -y):
            assert minimiser(program, y, guess).x.tolist() == (np.eye(6)[i] / a).tolist()


@given(st.integers(0, 300), epsilons, st.floats(0.01, 10))
def test_capped_slopes_change_no_minimiser(seed, eps, rho):
    """The exact rule: the subproblem sees min(p, 1.01θ), the answer is that of p itself."""
    A, B = referee.random_pencil(seed, 5, cond=10.0)
    program = SparseGEV(Pencil(A, B), rho, eps)
    y = referee.start(seed, B, 5, zeros=2)
    surrogate = surrogate_at(program, y)
    assert np.all(surrogate.p <= surrogate.scaling.cost(program.slopes(y)))
    largest = program.largest_slopes(program.linear(y), y)
    assert np.all(surrogate.p <= 1.0101 * surrogate.scaling.cost(largest))
    x = minimiser(program, y, np.zeros(5)).x
    assert referee.step_kkt(A, B, y, x, rho=rho, eps=eps) <= 1e-12


@pytest.mark.parametrize("shift", ["identity", "metric"])
@pytest.mark.parametrize("rank", [1, 2])
def test_exactly_at_a_tie(shift, rank):
    """ρ̃ at which a coordinate, or the last one, just drops out: finite, with a small residual, from any guess."""
    for seed in range(12):
        A, B = referee.random_pencil(seed, 5, cond=10.0, indefinite=seed % 2 == 0)
        y = referee.start(seed, B, 5, zeros=1)
        program = SparseGEV(Pencil(A, B), 0.0, 1e-2, shift=shift)
        scores = 2.0 * np.abs(program.linear(y)) * (np.abs(y) + 1e-2)
        program = program.with_rho(float(np.sort(scores)[-rank]) * np.log1p(1e2))
        for guess in (y, np.zeros(5), -y):
            x = minimiser(program, y, guess).x
            kkt = referee.step_kkt(A, B, y, x, rho=program.rho, eps=1e-2, tau=program.tau, shift=shift)
            assert kkt <= 1e-12


@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_a_step_takes_at_most_four_matrices(shift):
    """On the whole face, where every factor is n × n."""
    n = 120
    A, B = referee.random_pencil(2, n, cond=50.0, indefinite=True)
    program = SparseGEV(Pencil(A, B), 0.01, 1.0, shift=shift)
    y = program.start()
    surrogate = surrogate_at(program, y)
    guess = y / surrogate.scaling.u
    assert np.count_nonzero(polish(surrogate, guess)[0]) > 0.9 * n
    tracemalloc.start()
    polish(surrogate, guess)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 4 * 8 * n * n


# ---- each correction, from a start that is wrong in the sixth digit: a wrong sign would double the error


@pytest.fixture
def wrong_factor(monkeypatch):
    """Factorisations of a matrix that is off by 1e-6, which one refinement turns into 1e-12."""
    true = steps_polish.cho_factor

    def off(M, **settings):
        return true(M * (1.0 + 1e-6), **settings)

    monkeypatch.setattr(steps_polish, "cho_factor", off)


def exact_ball(B, h, tau):
    z = np.linalg.solve(B, h)
    norm = np.sqrt(z @ B @ z)
    return z / max(tau, norm), max(0.0, norm - tau)


@pytest.mark.parametrize("tau", [1e-3, 50.0])
def test_refinement_corrects_a_wrong_factor_in_the_ball(wrong_factor, tau):
    B, h = referee.random_pencil(3, 5, cond=10.0)[1], np.arange(1.0, 6.0)
    x, mu = in_ball(B, h, tau)
    exact, multiplier = exact_ball(B, h, tau)
    assert np.abs(x - exact).max() <= 1e-10 * np.abs(exact).max()
    assert mu == pytest.approx(multiplier, rel=1e-10, abs=1e-12)


def test_the_second_round_corrects_a_wrong_factor_on_the_plane(wrong_factor):
    B, h, a = referee.random_pencil(4, 5, cond=10.0)[1], np.arange(1.0, 6.0), np.array([1.0, -2.0, 0.5, 3.0, 1.0])
    x, mu = on_plane(B, h, a)
    z, z_a = np.linalg.solve(B, h), np.linalg.solve(B, a)
    multiplier = (a @ z - 1.0) / (a @ z_a)
    assert np.abs(x - (z - multiplier * z_a)).max() <= 1e-10 * np.abs(x).max()
    assert mu == pytest.approx(multiplier, rel=1e-10)


def test_the_last_newton_step_corrects_both_unknowns():
    B, h, tau = referee.random_pencil(5, 4, cond=10.0)[1], np.arange(1.0, 5.0), 0.7
    x, mu = in_shifted_ball(B, h, tau)
    assert np.abs(tau * x + mu * B @ x - h).max() <= 1e-14 * np.abs(h).max() * 10.0
    assert abs(x @ B @ x - 1.0) <= 1e-14


def test_the_multiplier_of_a_point_inside_is_zero():
    program = SparseGEV(Pencil(np.eye(2), np.diag([1.0, 2.0])), 0.0, tau=0.5)
    ball = surrogate_at(program, np.array([0.1, 0.1]))
    x = np.array([0.3, 0.2])
    assert ball.multiplier(x, ball.B.dot(x)) == 0.0
    assert ball.multiplier(x, -6.0 * ball.B.dot(x)) == pytest.approx(3.0)


@pytest.mark.parametrize("seed", range(30))
def test_the_lowest_of_the_sign_changes_and_the_end_is_taken(seed):
    rng = np.random.default_rng(seed)
    program = SparseGEV(Pencil(np.diag(rng.uniform(-1, 1, 4)), np.eye(4) + 0.1), 0.5, 0.1, tau=8.0)
    ball = surrogate_at(program, np.full(4, 0.1))
    x, new = 0.1 * rng.standard_normal((2, 4))
    crossings = [t for t in -x / (new - x) if 0.0 < t < 1.0]
    ways = [np.where(t == -x / (new - x), 0.0, x + t * (new - x)) for t in crossings] + [new]
    best = min(ways, key=ball.value)
    assert steps_polish.lowest_sign_change(ball, x, np.arange(4), new) == pytest.approx(best, abs=1e-14)


def test_a_row_may_exceed_its_slope_by_the_tolerance_or_by_rounding():
    """In the ball with c = e₁: size = |c₁| + μ = 2, so that a tie of 2e-13 stays out."""
    program = SparseGEV(Pencil(np.eye(2)), 0.0)
    for excess, done in ((1.5e-13, True), (3e-13, False), (-1.0, True)):
        surrogate = replace(
            surrogate_at(program, np.array([1.0, 0.0])), c=np.array([1.0, 0.25]), p=np.array([0.0, 0.5 - excess])
        )
        assert steps_polish.improved(surrogate, np.array([1.0, 0.0]), np.array([1.0, 0.0]))[3] == done
    n = 10_001  # ‖x‖₁ = 100: rounding is eight units of μ‖x‖₁ = 1.8e-13, above 1e-13·size
    c = np.full(n, 0.01)
    c[-1] = 0.005
    for excess, done in ((1.5e-13, True), (2.1e-13, False)):
        p = np.zeros(n)
        p[-1] = 0.01 - excess
        surrogate = replace(surrogate_at(SparseGEV(Pencil(Gram(np.eye(1, n))), 0.0), np.eye(1, n)[0]), c=c, p=p)
        signs = np.ones(n)
        signs[-1] = 0.0
        assert steps_polish.improved(surrogate, c, signs)[3] == done


@pytest.mark.parametrize("seed", range(6))
def test_near_the_minimiser_the_first_pattern_is_its_own(seed):
    A, B = referee.random_pencil(seed, 8, cond=10.0)
    program = SparseGEV(Pencil(A, B), 4.0 * np.abs(A).max(), 0.1)
    surrogate = surrogate_at(program, program.start())
    x = polish(surrogate, np.zeros(8))[0]
    assert 0 < np.count_nonzero(x) < 8
    noise = 1e-7 * np.random.default_rng(seed).standard_normal(8)
    assert steps_polish.first_pattern(surrogate, x + noise)[1].tolist() == np.sign(x).tolist()


def test_a_point_on_the_plane_lies_on_it_to_the_last_digits():
    B, h, a = np.diag([1.0, 1e-14]), np.array([1.0, 1e-3]), np.array([1.0, 1e-6])
    x = on_plane(B, h, a)[0]
    assert a @ x == pytest.approx(1.0, rel=4e-16)


def test_without_a_pull_the_minimiser_in_the_ball_is_zero_and_so_is_its_multiplier():
    for B in (None, np.diag([1.0, 4.0])):
        x, mu = in_ball(B, np.zeros(2), 0.5)
        assert (x.tolist(), mu) == ([0.0, 0.0], 0.0)


def test_signs_without_a_part_in_the_plane_begin_with_the_best_single_variable():
    program = SparseFDA([0.0, 1.0, 3.0], np.diag([1.0, 1.0, 100.0]), 0.1)
    surrogate = surrogate_at(program, program.start())
    assert surrogate.first_signs(np.array([1.0, 0.0, 0.0])).tolist() == [1.0, 1.0, 0.0]
    assert surrogate.first_signs(np.array([1.0, 0.0, -1.0])).tolist() == [1.0, 0.0, -1.0]
    unscaled = plane([0.0, 1.0, -3.0], np.zeros(3), np.diag([1.0, 1.0, 100.0]))
    assert unscaled.first_signs(np.array([1.0, 0.0, 0.0])).tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("cond", [1e2, 1e6])
def test_newton_rises_to_a_multiplier_far_below_one(cond):
    """From zero: a tangent of the concave φ from above would end below zero, where the matrix is indefinite."""
    B, h = np.diag([1.0, cond]), 0.72 * np.array([1.0, 1.0 / np.sqrt(cond)])
    x, mu = in_shifted_ball(B, h, 1.0)
    assert 0.0 < mu < 1e-2
    assert x @ B @ x == pytest.approx(1.0, rel=1e-12)
    assert x + mu * (B @ x) == pytest.approx(h, rel=1e-12)


# ---- single formulas on problems small enough for a hand calculation


def ball(c, p, B=None, tau=0.0, metric_shift=False):
    """min τxᵀMx − 2cᵀx + pᵀ|x| s.t. xᵀBx ≤ 1 as it stands, without scaling."""
    n = len(c)
    metric, scaling = Metric(Pencil(np.eye(n), B), np.ones(n)), Scaling(np.ones(n), 1.0)
    return Surrogate(scaling, metric, np.array(c), np.array(p), tau, metric_shift)


def plane(a, p, B):
    """min xᵀBx + pᵀ|x| s.t. aᵀx = 1 as it stands."""
    return replace(ball(np.zeros(len(a)), p, B, 1.0, metric_shift=True), a=np.array(a))


def kept(surrogate, *x):
    return (steps_polish.first_pattern(surrogate, np.array(x))[1] != 0.0).tolist()


def test_a_coordinate_is_kept_when_it_outweighs_its_slack_in_the_units_of_the_metric():
    """Gradient (−16, −2) and roots (4, 1): the slacks are (p − 16)/4/4 and (p − 2)/1/4, beside 4|x₁| and |x₂|."""
    surrogate = ball([8.0, 1.0], [20.0, 3.0], np.diag([16.0, 1.0]))
    assert kept(surrogate, 0.062, 0.26) == [False, True]
    assert kept(surrogate, 0.063, 0.24) == [True, False]
    assert kept(surrogate, 0.0625, 0.25) == [False, False]
    tie = ball([8.0, 1.0], [16.0, 2.0], np.diag([16.0, 1.0]))  # no slack: 1e-12 of the length of x
    assert kept(tie, 0.3e-12, 0.9e-12) == [True, False]
    assert kept(tie, 0.2e-12, 1.1e-12) == [False, True]


@pytest.mark.parametrize(("p", "keep"), [(2.9, True), (3.1, False)])
def test_the_slack_counts_the_multiplier(p, keep):
    """x = (½, ½): μ = 2.5 − p₁/2 and r₁ = −2 + μ, so that the slack (p₁ − |r₁|)/4 is ½ at p₁ = 3."""
    assert kept(ball([1.0, 2.0], [p, 1.0]), 0.5, 0.5) == [keep, True]


def test_the_first_point_is_feasible_and_zero_off_the_first_signs():
    point, signs = steps_polish.first_pattern(
        ball([8.0, 1.0], [20.0, 3.0], np.diag([16.0, 1.0])), np.array([3.0, -4.0])
    )
    assert signs.tolist() == [1.0, -1.0]
    assert point == pytest.approx(np.array([3.0, -4.0]) / np.sqrt(160.0))
    point, signs = steps_polish.first_pattern(plane([0.5, 1.0], [0.0, 1e9], np.eye(2)), np.array([2.0, 1e-14]))
    assert (point.tolist(), signs.tolist()) == ([2.0, 0.0], [1.0, 0.0])


def test_the_objective_and_its_parts_are_those_of_the_formula():
    B, c, p, x = np.array([[2.0, 0.5], [0.5, 1.0]]), [3.0, -1.0], [0.25, 4.0], np.array([0.5, -0.25])
    for metric_shift, square in ((False, 0.3125), (True, float(x @ B @ x))):
        surrogate = ball(c, p, B, 0.75, metric_shift)
        assert surrogate.value(x) == pytest.approx(0.75 * square - 2.0 * 1.75 + 0.125 + 1.0, rel=1e-15)
        M = B if metric_shift else np.eye(2)
        assert surrogate.gradient(x) == pytest.approx(2.0 * (0.75 * M @ x - np.array(c)), rel=1e-15)
    assert surrogate.length(x) == 1.0
    assert surrogate.size == pytest.approx(np.sqrt(c @ np.linalg.solve(B, c)), rel=1e-14)
    on = plane([1.0, 2.0], p, B)
    assert on.length(x) == pytest.approx(np.sqrt(x @ B @ x), rel=1e-15)
    assert on.normal(x).tolist() == [1.0, 2.0]
    assert surrogate.normal(x) == pytest.approx(B @ x)


def test_a_multiplier_on_the_plane_has_either_sign():
    """μ = −½(gradientᵀx + pᵀ|x|)/aᵀx, 0 where aᵀx = 0."""
    on = plane([1.0, 2.0], [1.0, 3.0], np.eye(2))
    assert on.multiplier(np.array([1.0, -1.0]), np.array([2.0, 4.0])) == 1.0
    assert on.multiplier(np.array([1.0, 1.0]), np.array([2.0, 4.0])) == pytest.approx(-10.0 / 6.0)
    assert on.multiplier(np.array([2.0, -1.0]), np.array([2.0, 4.0])) == 0.0


def test_projections():
    inside, outside = np.array([0.3, 0.4]), np.array([3.0, 4.0])
    surrogate = ball([1.0, 1.0], [0.0, 0.0], 4.0 * np.eye(2))
    assert surrogate.project(inside).tolist() == inside.tolist()
    assert surrogate.project(outside) == pytest.approx(outside / 10.0)
    assert surrogate.project(np.array([0.3, 0.5])) == pytest.approx(np.array([0.3, 0.5]) / np.sqrt(1.36))
    on = plane([1.0, -1.0], [0.0, 0.0], np.eye(2))
    assert on.project(np.array([1.0, 3.0])).tolist() == [-0.5, -1.5]
    for share, zero in ((0.9e-8, True), (1.1e-8, False)):  # aᵀx beside |a|ᵀ|x| = 2
        assert (not on.project(np.array([1.0 + share, 1.0 - share])).any()) == zero
    on = plane([4.0, -4.0], [0.0, 0.0], np.eye(2))  # in either unit of a and of x
    for share, zero in ((0.9e-8, True), (1.1e-8, False)):
        assert (not on.project(8.0 * np.array([1.0 + share, 1.0 - share])).any()) == zero


@pytest.mark.parametrize("power", [-40, 0, 40])
def test_rescaling_brings_the_size_to_one_and_changes_the_objective_s_unit_alone(power):
    unit = 2.0**power
    surrogate = ball([3.0 * unit, 4.0 * unit], [unit, 2.0 * unit], tau=7.0 * unit)
    scaled = surrogate.rescaled()
    assert scaled.size == 0.625
    assert (scaled.c.tolist(), scaled.p.tolist(), scaled.tau) == ([0.375, 0.5], [0.125, 0.25], 0.875)
    assert scaled.scaling.o == 8.0 * unit
    assert scaled.scaling.u.tolist() == [1.0, 1.0]


def test_a_pull_below_the_normal_numbers_is_rescaled_by_a_normal_one():
    scaled = ball([2.0**-1050, 0.0], [0.0, 0.0]).rescaled()
    assert (scaled.c.tolist(), scaled.scaling.o) == ([2.0**-50, 0.0], 2.0**-1000)


def test_the_vertex_of_least_price_solves_the_linear_program():
    """Prices −h/a are 2 and ½; a sign against a, or a zero in a, has none. μ from Bᵢᵢxᵢ = hᵢ − μaᵢ."""
    B, h, a = np.diag([1.0, 3.0, 1.0, 1.0]), np.array([-2.0, 1.0, 0.25, 0.0]), np.array([1.0, -2.0, 0.5, 0.0])
    x, mu = steps_polish.vertex(B, h, a)
    assert x.tolist() == [0.0, -0.5, 0.0, 0.0]
    assert mu == (1.0 + 1.5) / -2.0


def test_on_a_support_the_penalty_is_linear():
    """h = c − ½ps, on the parts of B and a that belong to the support."""
    B, support, signs = np.diag([2.0, 1.0, 4.0]) + 0.1, np.array([0, 2]), np.array([1.0, -1.0])
    c, p = [9.0, 5.0, -7.0], [2.0, 5.0, 6.0]
    h, part = np.array([8.0, -4.0]), B[np.ix_(support, support)]
    cases = [
        (ball(c, p, tau=2.0), in_ball(None, h, 2.0)),
        (ball(c, p, B), in_ball(part, h, 0.0)),
        (ball(c, p, B, 2.0, metric_shift=True), in_ball(part, h, 2.0)),
        (ball(c, p, B, 2.0), in_shifted_ball(part, h, 2.0)),
        (plane([1.0, 5.0, 3.0], p, B), on_plane(part, np.array([-1.0, 3.0]), np.array([1.0, 3.0]))),
    ]
    for surrogate, (x, mu) in cases:
        found, multiplier = surrogate.on_support(support, signs)
        assert found == pytest.approx(x, rel=1e-14)
        assert multiplier == pytest.approx(mu, rel=1e-14)


def test_as_many_patterns_are_tried_as_the_text_says(monkeypatch):
    tried = []

    def never_done(surrogate, x, signs):
        tried.append(signs)
        return x, signs, 0.0, False

    monkeypatch.setattr(steps_polish, "improved", never_done)
    with pytest.raises(SolverFailed, match="after 24 attempts"):
        polish(ball([1.0, 1.0], [0.0, 0.0]), np.ones(2))
    assert len(tried) == 24


def test_the_worst_row_joins_in_the_units_of_the_metric():
    """Excesses beyond p = 0 are 2|c|/roots = 8/4, 3/1, 0: the second row joins, with the sign of its c."""
    surrogate = ball([4.0, -1.5, 1.0], [0.0, 0.0, 2.0], np.diag([16.0, 1.0, 1.0]))
    _, signs, mu, done = steps_polish.improved(surrogate, np.zeros(3), np.zeros(3))
    assert (signs.tolist(), mu, done) == ([0.0, -1.0, 0.0], 0.0, False)


@pytest.mark.parametrize("root", [1.0, 4.0])
def test_ties_are_measured_in_the_units_of_the_metric(root):
    """x = e₁/√B₁₁ with μ = |c₁|/√B₁₁ = 1: the terms have size 2 in either metric, and the tolerance is 2e-13."""
    B = np.diag([root**2, root**2])
    for excess, done in ((1.8e-13, True), (2.2e-13, False)):
        surrogate = ball([root, 0.25 * root], [0.0, 0.5 * root - excess * root], B)
        x, _, mu, end = steps_polish.improved(surrogate, np.zeros(2), np.array([1.0, 0.0]))
        assert (x.tolist(), mu, end) == ([1.0 / root, 0.0], 1.0, done)


def test_the_problem_of_a_step_in_given_units():
    A, B = np.array([[3.0, 1.0], [1.0, -2.0]]), np.diag([4.0, 1.0])
    y, u = np.array([0.3, 0.4]), np.array([0.5, 0.5])
    for shift, square in (("identity", 0.25), ("metric", 1.0)):
        program = SparseGEV(Pencil(A, B), 0.5, 0.1, 5.0, shift=shift)
        s = surrogate_at(program, y, Scaling(u, 8.0))
        assert s.c == pytest.approx(program.linear(y) * u / 8.0, rel=1e-15)
        limit = steps_polish.CAP * program.largest_slopes(program.linear(y), y)
        assert s.p == pytest.approx(np.minimum(program.slopes(y), limit) * u / 8.0, rel=1e-15)
        assert (s.tau, s.metric_shift, s.a) == (5.0 * square / 8.0, shift == "metric", None)
        assert s.B.sub(np.arange(2)).tolist() == [[1.0, 0.0], [0.0, 0.25]]
    fda = SparseFDA([1.0, 2.0], B, 0.5, 0.1)
    s = surrogate_at(fda, np.array([0.2, 0.4]), Scaling(u, 4.0))
    assert (s.tau, s.metric_shift, s.c.tolist(), s.a.tolist()) == (1.0, True, [0.0, 0.0], [0.5, 1.0])
    assert s.B.sub(np.arange(2)).tolist() == [[0.25, 0.0], [0.0, 0.0625]]


def test_slopes_are_cut_one_percent_above_the_largest_that_a_nonzero_can_have():
    program = SparseGEV(Pencil(np.diag([2.0, 1.0])), 3.0, 1e-9)
    y = np.array([1.0, 0.0])
    s = surrogate_at(program, y, Scaling(np.ones(2), 1.0))
    largest = program.largest_slopes(program.linear(y), y)
    assert s.p[1] / largest[1] == pytest.approx(1.01, rel=1e-12)
    assert s.p[0] == program.slopes(y)[0]


def test_rounding_grows_with_the_shift_and_the_length_of_x():
    """Inside the ball μ = 0 and x = c/τ with ‖x‖₁ = 1: eight units of c + τ‖x‖₁ = 1.001, above 1e-13·c."""
    n = 1001
    c = np.full(n, 1e-3)
    c[-1] = 5e-4
    for tau in (1.0, 4.0):
        for excess, done in ((1.6e-15, True), (1.95e-15, False)):
            p = np.zeros(n)
            p[-1] = 1e-3 - excess
            surrogate = replace(ball(c, p), B=Metric(Pencil(Gram(np.eye(1, n))), np.ones(n)), tau=tau)
            signs = np.ones(n)
            signs[-1] = 0.0
            x, _, mu, end = steps_polish.improved(surrogate, c, signs)
            assert (mu, end) == (0.0, done)
            assert x[0] == 1e-3 / tau


def test_a_coordinate_that_comes_out_as_zero_leaves_the_pattern():
    _, signs, _, done = steps_polish.improved(ball([1.0, 0.5], [0.0, 1.0]), np.full(2, 0.5), np.ones(2))
    assert (signs.tolist(), done) == ([1.0, 0.0], False)


def test_without_pull_and_penalty_zero_is_the_minimiser():
    assert steps_polish.improved(ball([0.0, 0.0], [0.0, 0.0]), np.zeros(2), np.zeros(2))[2:] == (0.0, True)


def test_refinement_corrects_a_wrong_factor_in_the_shifted_ball(wrong_factor):
    B, h, tau = referee.random_pencil(5, 4, cond=10.0)[1], np.arange(1.0, 5.0), 0.7
    x, mu = in_shifted_ball(B, h, tau)
    assert np.abs(tau * x + mu * B @ x - h).max() <= 1e-9
    assert abs(x @ B @ x - 1.0) <= 1e-9


@pytest.mark.parametrize(("units", "zero"), [(4, True), (8, True), (12, False)])
def test_a_coordinate_within_eight_units_of_zero_counts_as_one_that_crosses(units, zero):
    """Both coordinates go from 1 to −1 but for a few units of one of them."""
    new = np.array([-1.0, -1.0 + 2.0 * units * UNIT_ROUNDOFF])
    x = steps_polish.lowest_sign_change(ball([0.0, 0.0], [1.0, 1.0]), np.ones(2), np.arange(2), new)
    assert np.abs(x).max() <= 1e-14
    assert (not x.any()) == zero


def test_the_start_of_the_way_is_no_sign_change():
    way = ball([0.0], [2.0]), np.zeros(1), np.arange(1), np.array([-1.0])
    assert steps_polish.lowest_sign_change(*way).tolist() == [-1.0]


def test_a_plane_whose_normal_has_no_square_has_a_vertex():
    with np.errstate(over="ignore"):  # μ = −B₁₁x₁² is no number
        x, _ = on_plane(np.eye(2), np.array([-1.0, -2.0]), np.array([1e-200, 1e-200]))
    assert x.tolist() == [1e200, 0.0]
