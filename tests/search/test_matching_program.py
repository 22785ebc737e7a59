"""A program with a stationary point on a given support."""

from time import perf_counter

import numpy as np
import pytest
import referee
from families import factor

from dcgev_cvx import Pencil, solve
from dcgev_cvx.programs import MACHINE_EPS
from dcgev_cvx.search import matching_program
from dcgev_cvx.search.starts import in_units


def newton_steps(A, B, x, mu, rho_eps):
    """Newton's method written out: the residuals on the way, and the last x."""
    residuals, n, signs = [], len(x), np.sign(x)
    while True:
        F = np.append(2.0 * mu * B @ x - 2.0 * A @ x + rho_eps * signs / (np.abs(x) + MACHINE_EPS), x @ B @ x - 1.0)
        residuals.append(F)
        if np.max(np.abs(F[:n])) <= 1e-10 * np.max(np.abs(2.0 * mu * B @ x)):
            return residuals, x / np.sqrt(x @ B @ x)
        bent = 2.0 * (mu * B - A) - np.diag(rho_eps / (np.abs(x) + MACHINE_EPS) ** 2)
        move = np.linalg.solve(np.block([[bent, 2.0 * (B @ x)[:, None]], [2.0 * (B @ x), np.zeros(1)]]), F)
        x, mu = x - move[:n], mu - move[n]


@pytest.mark.parametrize("seed", range(3))
def test_newton_makes_the_steps_of_newton(seed, monkeypatch):
    A, B = referee.random_pencil(seed, 5, cond=10.0)
    pencil = Pencil(A, B)
    x0, mu = pencil.leading_vector, pencil.lambda_max
    rho_eps = 0.1 * mu * float(np.min(pencil.B_diagonal * x0**2))
    residuals, x = newton_steps(A, B, x0, mu, rho_eps)
    seen, solve_system = [], matching_program.dsysv
    monkeypatch.setattr(
        matching_program, "dsysv", lambda J, F, lower: seen.append(F.copy()) or solve_system(J, F, lower=lower)
    )
    assert matching_program.newton(pencil, x0, mu, rho_eps) == pytest.approx(x, rel=1e-10)
    assert len(seen) == len(residuals) - 1 > 1
    for found, expected in zip(seen, residuals, strict=False):
        assert found == pytest.approx(expected * [1.0, 1.0, 1.0, 1.0, 1.0, mu], rel=1e-5, abs=1e-9 * mu)


def test_newton_gives_up_after_twelve_steps_or_a_singular_system(monkeypatch):
    A, B = referee.random_pencil(1, 5, cond=10.0)
    calls = []
    for info, steps in ((0, 12), (1, 1)):
        calls.clear()
        monkeypatch.setattr(
            matching_program, "dsysv", lambda J, F, lower, info=info: calls.append(1) or (J, F, np.zeros(6), info)
        )
        pencil = Pencil(A, B)
        assert matching_program.newton(pencil, pencil.leading_vector, pencil.lambda_max, 0.01) is None
        assert len(calls) == steps


def test_newton_returns_a_vector_of_unit_length():
    assert matching_program.newton(Pencil(np.diag([3.0, 1.0])), np.array([2.0, 0.0]), 3.0, 0.0).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("failures", [0, 3, 11, 12])
def test_the_penalty_is_divided_by_eight_up_to_twelve_times(failures, monkeypatch):
    pencil, tried = Pencil(np.diag([3.0, 2.0]), np.diag([1.0, 0.5])), []

    def newton(given, x0, mu, rho_eps):
        tried.append((mu, rho_eps))
        return None if len(tried) <= failures else 2.0 * x0

    monkeypatch.setattr(matching_program, "newton", newton)
    x0 = np.array([0.5, 1.0])
    mu, first = 0.75 + 2.0, 0.2 * 2.75 * 0.25
    x, rho_eps = matching_program.stationary_near(pencil, x0)
    assert tried == [(mu, pytest.approx(first / 8.0**j, rel=1e-12)) for j in range(min(failures + 1, 12))]
    assert x.tolist() == ([1.0, 2.0] if failures < 12 else [0.5, 1.0])
    assert rho_eps == (pytest.approx(first / 8.0**failures, rel=1e-12) if failures < 12 else 0.0)


@pytest.mark.parametrize(("n", "called"), [(400, True), (401, False)])
def test_newton_is_used_for_up_to_four_hundred_variables(n, called, monkeypatch):
    calls = []
    monkeypatch.setattr(matching_program, "stationary_near", lambda part, x0: calls.append(part.n) or (x0, 0.0))
    matching_program.matching_program(Pencil(np.eye(n)), np.ones(n) / np.sqrt(n))
    assert calls == [n] * called


def test_the_time_is_taken_from_the_beginning():
    found = matching_program.matched_solution(Pencil(np.eye(2)), np.array([1.0, 0.0]), "given", perf_counter() - 100.0)
    assert 100.0 <= found.seconds < 105.0
    assert (found.eps, found.method) == (MACHINE_EPS, "given")


@pytest.mark.parametrize("size", [0.0, -1.0])
def test_a_support_without_a_positive_value_has_no_program(size):
    assert matching_program.matching_program(Pencil(size * np.eye(2)), np.array([1.0, 0.0])) is None
    assert matching_program.matching_program(Pencil(0.5 * np.eye(2)), np.array([1.0, 0.0])) is not None


@pytest.mark.parametrize("power", [-160, 160])
def test_the_program_is_in_the_units_of_the_pencil(power):
    """(sA, sB) has x/√s where (A, B) has x; ε goes with x, and ρ_ε with xᵀAx."""
    A, B = referee.random_pencil(2, 4, cond=10.0)
    plain, scaled = Pencil(A, B), Pencil(2.0**power * A, 2.0**power * B)
    x = plain.leading_vector
    program, _ = matching_program.matching_program(plain, x)
    other, certificate = matching_program.matching_program(scaled, 2.0 ** (-power / 2) * x)
    assert certificate.passes()
    unit, length, energy = in_units(scaled)
    own, _ = matching_program.matching_program(unit, 2.0 ** (-power / 2) * x / length)
    assert other.eps == length * MACHINE_EPS != program.eps
    assert other.rho_eps == pytest.approx(energy * own.rho_eps, rel=1e-12)


def test_a_penalty_whose_quotient_by_eps_is_no_number_is_left_out():
    """Newton's penalty is beyond 1e300·ε for 1e290; the ten-millionth of it that is tried next is so for 1e300."""
    A = np.array([[3.0, 1.0], [1.0, 1.0]])
    pencil = Pencil(1e290 * A)
    x = pencil.leading_vector
    program, _ = matching_program.matching_program(pencil, x)
    assert program.rho_eps == pytest.approx(1e-7 * pencil.lambda_max * np.min(x**2), rel=1e-6)
    assert matching_program.matching_program(Pencil(1e300 * A), x) is None


@pytest.mark.parametrize("seed", range(15))
def test_a_certificate_passes_or_is_not_given(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    A, B = referee.random_pencil(seed, n, cond=10.0 ** (seed % 7), indefinite=True)
    found = solve(Pencil(A, B), 1 + seed % n, check_path=False)
    assert (found.certificate is None) == np.isnan(found.rho)
    assert found.certificate is None or found.certificate.passes()


def test_matching_program_for_a_large_support(monkeypatch):
    """Beyond Newton's reach ρ̃ is so small that x itself is stationary."""
    pencil = Pencil(factor(0))
    x = solve(pencil, 30, effort="quick").x
    near = matching_program.matching_program(pencil, x)
    monkeypatch.setattr(matching_program, "NEWTON_LIMIT", 0)
    far = matching_program.matching_program(pencil, x)
    assert 0.0 < far[0].rho < near[0].rho
    assert near[1].passes()
    assert far[1].passes()


def test_the_penalty_starts_below_a_tenth_of_what_the_smallest_loading_bears():
    pencil = Pencil(np.array([[3.0, 1.0], [1.0, 1.0]]), np.diag([1.0, 2.0]))
    x0 = pencil.leading_vector
    x, rho_eps = matching_program.stationary_near(pencil, x0)
    assert 0.0 < rho_eps <= 0.2 * pencil.lambda_max * float(np.min(pencil.B_diagonal * x0**2)) * (1.0 + 1e-12)
    assert np.array_equal(np.sign(x), np.sign(x0))


def test_newton_converges_from_the_eigenvector_at_the_first_penalty():
    A, B = referee.random_pencil(1, 5, cond=10.0)
    pencil = Pencil(A, B)
    x0 = pencil.leading_vector
    x, rho_eps = matching_program.stationary_near(pencil, x0)
    assert rho_eps == 0.2 * pencil.A_quad(x0) * float(np.min(pencil.B_diagonal * x0**2))
    gradient = 2.0 * A @ x - rho_eps / x
    mu = gradient @ x / 2.0
    assert gradient == pytest.approx(2.0 * mu * B @ x, rel=1e-8, abs=1e-8 * mu)
    assert x @ B @ x == pytest.approx(1.0, rel=1e-12)


def test_without_a_penalty_from_newton_a_ten_millionth_of_the_smallest_loading_is_taken(monkeypatch):
    pencil = Pencil(np.array([[3.0, 1.0], [1.0, 1.0]]), np.diag([1.0, 2.0]))
    x = pencil.leading_vector
    monkeypatch.setattr(matching_program, "stationary_near", lambda part, x0: (x0, 0.0))
    program, certificate = matching_program.matching_program(pencil, x)
    assert program.rho_eps == pytest.approx(1e-7 * pencil.lambda_max * np.min(pencil.B_diagonal * x**2), rel=1e-6)
    assert certificate.passes()


def test_newton_returns_nothing_or_a_point_with_the_signs_of_the_start():
    signs = []
    for seed in range(10):
        A, B = referee.random_pencil(seed, 4, cond=10.0)
        pencil = Pencil(A, B)
        x0 = pencil.leading_vector
        for share in (0.3, 1.0, 2.0, 4.0):
            rho_eps = share * pencil.lambda_max * float(np.min(pencil.B_diagonal * x0**2))
            x = matching_program.newton(pencil, x0, pencil.lambda_max, rho_eps)
            signs.append(x is None)
            assert x is None or np.array_equal(np.sign(x), np.sign(x0))
    assert 0 < sum(signs) < len(signs)


def test_newton_does_not_depend_on_the_unit_of_A():
    A, B = referee.random_pencil(1, 5, cond=10.0)
    x0, rho_eps = Pencil(A, B).leading_vector, 0.01
    plain = matching_program.newton(Pencil(A, B), x0, Pencil(A, B).lambda_max, rho_eps)
    for unit in (2.0**-40, 2.0**40):
        scaled = Pencil(unit * A, B)
        assert np.array_equal(
            matching_program.newton(scaled, x0, unit * Pencil(A, B).lambda_max, unit * rho_eps), plain
        )


@pytest.mark.parametrize(("small", "returned"), [(1.4e-10, True), (1.6e-10, False)])
def test_newton_ends_at_a_ten_billionth_of_the_pull_of_the_constraint(small, returned):
    """The residual is 4x₂ beside 2μx₁ = 6; without a penalty a step would make x₂ zero."""
    x = matching_program.newton(Pencil(np.diag([3.0, 1.0])), np.array([1.0, small]), 3.0, 0.0)
    assert (x is not None and x.tolist() == [1.0, small]) == returned
