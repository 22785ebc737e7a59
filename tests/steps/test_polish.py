"""Exact minimisation on a face, and the walk that finds the face from any guess."""

from types import SimpleNamespace

import numpy as np
import pytest
import referee
from hypothesis import given, settings
from hypothesis import strategies as st

from dcgev_cvx import Pencil, SolverFailed, SparseFDA, SparseGEV
from dcgev_cvx.steps.polish import in_ball, in_shifted_ball, on_plane, polish, surrogate_at
from dcgev_cvx.steps.scaling import Metric

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


def test_a_point_on_the_plane_lies_on_it_to_the_last_digits():
    B, h, a = np.diag([1.0, 1e-14]), np.array([1.0, 1e-3]), np.array([1.0, 1e-6])
    x = on_plane(B, h, a)[0]
    assert a @ x == pytest.approx(1.0, rel=4e-16)
