"""Proofs of λ ≥ λmax(M, B), checked in rational arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
import referee

from dcgev_cvx._numerics import proofs
from dcgev_cvx._numerics.proofs import is_definite, lambda_max_bound, leading_pair, lowering, times, up


def exactly_semidefinite(lam, M, B):
    """Is λB − M ⪰ 0? By elimination in fractions, without rounding."""
    S = [
        [Fraction(lam) * Fraction(b) - Fraction(m) for m, b in zip(*rows, strict=True)]
        for rows in zip(M, B, strict=True)
    ]
    for i in range(len(S)):
        if S[i][i] < 0 or (S[i][i] == 0 and any(S[i][i:])):
            return False
        for j in range(i + 1, len(S)):
            share = S[j][i] / S[i][i] if S[i][i] else Fraction(0)
            S[j] = [a - share * b for a, b in zip(S[j], S[i], strict=True)]
    return True


@pytest.mark.parametrize("seed", range(20))
def test_a_bound_holds_exactly_and_is_no_more_than_rounding_above(seed):
    A, B = referee.random_pencil(seed, 5, cond=10.0 ** (seed % 6), indefinite=seed % 2 == 1)
    bound = lambda_max_bound(A, B)
    assert exactly_semidefinite(bound, A, B)
    top = leading_pair(A, B)[0]
    assert bound <= top + 1e-9 * (abs(top) + np.abs(A).max() / np.linalg.eigvalsh(B)[0])
    below = top - 1e-9 * abs(top)
    assert not exactly_semidefinite(below, A, B)
    assert not is_definite(below, A, B, np.abs(A))


def test_what_has_no_bound_is_bounded_by_infinity_and_zero_by_zero():
    assert lambda_max_bound(np.full((2, 2), 1e300), 1e-300 * np.eye(2)) == math.inf
    assert lambda_max_bound(np.zeros((3, 3)), None) == 0.0


def test_powers_of_two_are_multiplied_upwards():
    assert times(3.0, 0.5) == 1.5
    assert times(1.25, 2.0**-1074) == 2.0**-1073


def test_the_margin_is_what_the_proof_charges():
    B, size = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 3.0], [3.0, 0.25]])
    u = 2.0**-52
    rows = max(4.0 * 2.5 + 4.0, 4.0 * 1.5 + 3.25)
    assert lowering(-4.0, np.array([7.0, 3.0]), B, size) == pytest.approx(
        [2.0 * (5 * u * 10.0 + 8.0 * u * rows)], rel=1e-15, abs=0.0
    )
    assert up(1.0) == 1.0 + u
    assert up(-1.0) > -1.0


def test_the_sizes_behind_a_sum_are_charged():
    M = np.array([[1.0, 0.0], [0.0, -1.0]])
    assert lambda_max_bound(M, None, np.full((2, 2), 1e8)) >= 1.0 + 1e8 * 2.0**-52
    assert lambda_max_bound(M, None) <= 1.0 + 1e-13


def test_a_known_pair_gives_the_same_bound():
    for seed in range(5):
        A, B = referee.random_pencil(seed, 5, cond=100.0)
        lead = leading_pair(A, B)
        bound = lambda_max_bound(A, B, lead=lead)
        assert exactly_semidefinite(bound, A, B)
        assert bound == pytest.approx(lambda_max_bound(A, B), rel=1e-9)


def test_the_matrix_is_lowered_by_twice_what_rounding_can_do():
    """(n + 3)u·tr S for the factorisation, 8u·(largest row sum of |λ||B| + size) for λB − M, both twice."""
    B, size, diagonal = np.array([[2.0, -1.0], [-1.0, 4.0]]), np.array([[3.0, 1.0], [1.0, 5.0]]), np.array([7.0, 9.0])
    u = np.finfo(float).eps
    expected = 2.0 * (5 * u * 16.0 + 8.0 * u * max(3.0 * 3.0 + 4.0, 3.0 * 5.0 + 6.0))
    assert lowering(-3.0, diagonal, B, size) == pytest.approx(expected, rel=1e-14, abs=0.0)
    stack = np.stack([diagonal, 2.0 * diagonal]), np.stack([B, 3.0 * B]), np.stack([size, 5.0 * size])
    alone = [lowering(-3.0, *parts)[0] for parts in zip(*stack, strict=True)]
    assert lowering(-3.0, *stack).tolist() == [[one] for one in alone]


@pytest.mark.parametrize("n", [299, 300, 301])
@pytest.mark.parametrize("general", [False, True])
def test_a_leading_pair_on_both_sides_of_the_dense_limit(n, general):
    d = np.linspace(1.0, 2.0, n)
    d[7] = 5.0
    value, v = leading_pair(np.diag(d), np.diag(np.full(n, 4.0)) if general else None)
    assert value == pytest.approx(5.0 / (4.0 if general else 1.0), rel=1e-9)
    assert abs(v[7]) == pytest.approx(0.5 if general else 1.0, rel=1e-6)


def test_nothing_is_proved_of_a_matrix_with_a_nonpositive_diagonal_entry():
    eye = np.eye(2)
    assert is_definite(2.0, eye, eye, eye)
    assert not is_definite(0.5, eye, eye, eye)
    assert not is_definite(1.0, np.diag([0.0, 1.0]), eye, eye)
    assert not is_definite(2.0, np.stack([eye, 3.0 * eye]), np.stack([eye, eye]), np.stack([eye, 3.0 * eye]))


U = 2.0**-52


def test_the_margin_is_a_few_units_and_no_more_than_the_proof_needs():
    """4n units, or 1.25 times what the matrix is lowered by, whichever is larger."""
    assert 1.0 + 32.0 * U < lambda_max_bound(np.eye(2), None) <= 1.0 + 41.0 * U
    assert 1.0 + 32.0 * U < lambda_max_bound(np.eye(20), None) <= 1.0 + 81.0 * U
    M = -np.eye(40)
    M[0, 0] = 1.0
    needed = 2.0 * (43 * 39 * 2.0 + 8.0 * 2.0) * U
    assert 1.0 + needed < lambda_max_bound(M, None) <= 1.0 + 1.26 * needed
    lead = 1.0 / 0.475, np.eye(40)[0] / math.sqrt(0.475)
    assert 1.0 + needed < 0.475 * lambda_max_bound(M, 0.475 * np.eye(40), lead=lead) <= 1.0 + 1.27 * needed


def test_the_bound_scales_with_the_units_bit_for_bit():
    A, B = referee.random_pencil(3, 5, cond=30.0)
    d = np.exp2([3.0, -7.0, 0.0, 11.0, -2.0])
    size = 2.0 * np.abs(A)
    size[0, 4] = size[4, 0] = 1e6
    plain = lambda_max_bound(A, B, size)
    assert plain > lambda_max_bound(A, B)
    outer = np.outer(d, d)
    assert lambda_max_bound(2.0**40 * A * outer, 2.0**-30 * B * outer, 2.0**40 * size * outer) == 2.0**70 * plain


def test_numbers_at_the_ends_of_the_range_have_bounds():
    assert lambda_max_bound(2.0**1023 * np.eye(2), None) == 2.0**1023 * lambda_max_bound(np.eye(2), None)
    assert lambda_max_bound(1e-300 * np.eye(2), 1e300 * np.eye(2)) > 0.0
    small = 2.0**-1070 * np.eye(2)
    assert lambda_max_bound(small, None, small) >= 2.0**-1070 + 8.0 * 2.0**-1074


def test_a_margin_that_fails_grows_fourfold_to_1e35_times_the_first(monkeypatch):
    asked = []
    monkeypatch.setattr(proofs, "is_definite", lambda lam, *_: asked.append(lam))
    assert lambda_max_bound(np.eye(20), None) == math.inf
    first = (asked[1] - asked[0]) / 3.0
    assert (asked[2] - asked[1]) / first == pytest.approx(12.0)
    assert 1e35 < asked[-1] / first < 1e36
