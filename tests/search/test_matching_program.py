"""A program with a stationary point on a given support."""

import numpy as np
import pytest
import referee
from families import factor

from dcgev_cvx import InvalidParameter, Pencil, solve
from dcgev_cvx.penalties import MCP, SCAD, L1Penalty, LogPenalty, LqPenalty
from dcgev_cvx.programs import MACHINE_EPS
from dcgev_cvx.search import matching_program
from dcgev_cvx.search.starts import in_units


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


@pytest.mark.parametrize("penalty", [None, LogPenalty(), MCP(), MCP(0.2), SCAD(), LqPenalty(), L1Penalty()])
def test_the_program_of_an_answer_has_the_penalty_that_was_asked_for(penalty, pitprops):
    found, plain = solve(pitprops, 6, penalty=penalty), solve(pitprops, 6)
    assert (found.support, found.value) == (plain.support, plain.value)
    assert (found.certificate is None) == np.isnan(found.rho)
    if found.certificate is not None:
        assert found.certificate.passes()
        assert found.rho > 0.0
    if penalty in (None, LogPenalty()):
        assert found.rho == pytest.approx(plain.rho)
    elif penalty in (MCP(), LqPenalty()):
        assert found.rho != pytest.approx(plain.rho)


def test_what_is_no_penalty_raises(pitprops):
    with pytest.raises(InvalidParameter, match="penalty must be LogPenalty"):
        solve(pitprops, 3, penalty="log")
