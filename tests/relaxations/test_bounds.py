"""Bounds are theorems: against plain enumeration, wild and broken duals, and 50-digit arithmetic."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_problems import optimum, random_pencil

from dcgev_cvx import Gram, InvalidParameter, InvalidPencil, Pencil
from dcgev_cvx._numerics import proofs
from dcgev_cvx._numerics.proofs import is_definite, lambda_max_bound, leading_pair, times
from dcgev_cvx.datasets import pitprops
from dcgev_cvx.exact import brute_force
from dcgev_cvx.relaxations import bounds
from dcgev_cvx.relaxations.bounds import (
    SDP_LIMIT,
    Dual,
    Gap,
    charged,
    cheap_bound,
    check_sdp_size,
    dense_bound,
    dual_of,
    entries,
    homogeneous_bound,
    largest_valid_k,
    penalized_bound,
    radius_bound,
    row_sum_bound,
    scale_vector,
    smallest_B_eigenvalue,
    valid_radius,
)


def wild(rng, pencil):
    n, size = pencil.n, pencil.A_scale * 10.0 ** rng.uniform(-4, 4)
    U = size * rng.standard_normal((n, n))
    broken = U.copy()
    broken[rng.integers(n), rng.integers(n)] = np.nan
    v = pencil.leading_vector
    sensible = -size * np.sign(np.outer(v, v))
    choices = [U, sensible, -sensible, sensible, sensible, broken, np.empty((0, 0)), 1e250 * U, U[:, :-1], None, "U"]
    return choices[rng.integers(len(choices))]


def oracle_slack(pencil, truth):
    lowest = np.linalg.eigvalsh(pencil.dense()[1])[0]
    return 1e-14 * pencil.n * (pencil.A_scale / lowest + abs(truth))


def test_no_bound_falls_below_the_optimum_whatever_the_dual():
    rng = np.random.default_rng(0)
    for trial in range(1000):
        pencil, k = random_pencil(rng)
        U, truth = wild(rng, pencil), optimum(pencil, k)
        floor = truth - oracle_slack(pencil, truth)
        scale = "diagonal" if trial % 2 else rng.uniform(0.1, 10.0, pencil.n)
        level = None if trial % 3 else pencil.A_scale * rng.uniform()
        assert homogeneous_bound(pencil, k, U, scale=scale, level=level) >= floor
        assert radius_bound(pencil, valid_radius(pencil, k), U, level=level) >= floor
        assert row_sum_bound(pencil, k) >= floor
        assert cheap_bound(pencil, k) >= floor


def mp_lambda_max(pencil):
    A, B = (mpmath.matrix(M.tolist()) for M in pencil.dense())
    inverse = mpmath.cholesky(B) ** -1
    C = inverse * A * inverse.T
    return max(mpmath.eigsy((C + C.T) / 2, eigvals_only=True))


def test_the_margin_covers_the_last_digit_in_50_digit_arithmetic():
    rng = np.random.default_rng(1)
    with mpmath.workdps(50):
        for _ in range(60):
            pencil, _ = random_pencil(rng, 6)
            bound, truth = dense_bound(pencil), mp_lambda_max(pencil)
            assert mpmath.mpf(bound) >= truth
            # and it is no more than a margin: n·u·norms
            assert float(bound - truth) <= 1e-10 * (abs(float(truth)) + pencil.A_scale / smallest_B_eigenvalue(pencil))


def test_a_number_below_lambda_max_is_never_proved():
    rng = np.random.default_rng(2)
    for _ in range(200):
        pencil, _ = random_pencil(rng)
        A, B = pencil.dense()
        top = leading_pair(A, B)[0]
        assert not is_definite(top - 1e-9 * abs(top) - 1e-300, A, B, np.abs(A))
        assert lambda_max_bound(A, B) >= top - oracle_slack(pencil, top)


def test_garbage_gives_lambda_max_and_never_a_guess():
    pencil = pitprops()
    dense = dense_bound(pencil)
    for U in (None, np.full((13, 13), np.nan), np.empty(0), np.eye(12), "dual", object(), np.full((13, 13), 1e200)):
        assert homogeneous_bound(pencil, 3, U) == dense
        assert radius_bound(pencil, 3.0, U) == dense


def test_a_gram_is_bounded_through_its_smaller_side():
    C = np.random.default_rng(3).standard_normal((5, 30))
    assert dense_bound(Pencil(Gram(C))) == pytest.approx(np.linalg.norm(C, 2) ** 2, rel=1e-11)
    assert dense_bound(Pencil(Gram(C))) >= np.linalg.norm(C, 2) ** 2
    assert homogeneous_bound(Pencil(Gram(C)), 3) == pytest.approx(np.linalg.norm(C, 2) ** 2, rel=1e-10)


def test_multiples_of_the_identity_up_to_rounding():
    Q, _ = np.linalg.qr(np.random.default_rng(4).standard_normal((8, 8)))
    B = Q @ np.diag(np.full(8, 56.0)) @ Q.T
    assert smallest_B_eigenvalue(Pencil(np.eye(8), 0.5 * (B + B.T))) == pytest.approx(56.0)
    for seed in range(100):  # LAPACK's search for a single pair gives up on some of these
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 12))
        Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
        A = rng.uniform(0.1, 100.0) * (Q @ Q.T)
        pencil = Pencil(0.5 * (A + A.T))
        assert dense_bound(pencil) >= pencil.lambda_max == pytest.approx(A[0, 0])


def test_bounds_may_be_negative():
    pencil = Pencil(-np.eye(4) - 0.1)
    assert -1.0 <= homogeneous_bound(pencil, 2) <= -1.0 + 1e-12
    assert row_sum_bound(pencil, 1) == pytest.approx(-1.1)
    assert radius_bound(pencil, 1.0) == 0.0


def test_row_sums_are_exact_for_pairs_of_equal_diagonal_and_give_up_honestly():
    assert row_sum_bound(pitprops(), 2) == pytest.approx(1.954)
    B = 0.05 * np.eye(6) + 0.95
    assert row_sum_bound(Pencil(np.eye(6), B), 4) == np.inf
    assert cheap_bound(Pencil(np.eye(6), B), 4) == dense_bound(Pencil(np.eye(6), B))


def test_a_zero_matrix_is_bounded_by_zero():
    for B in (None, [[2.0, 1.0], [1.0, 2.0]]):
        pencil = Pencil(np.zeros((2, 2)), B)
        assert dense_bound(pencil) == row_sum_bound(pencil, 2) == cheap_bound(pencil, 1) == 0.0


def dominant_rows(pencil, k, lam):
    A, B = pencil.dense()
    d = 1.0 / np.sqrt(np.diagonal(B))
    S = (lam * B - A) * np.outer(d, d)
    off = np.sort(np.abs(S - np.diag(np.diagonal(S))), axis=1)[:, ::-1][:, : k - 1]
    return bool(np.all(np.diagonal(S) > np.sum(off, axis=1)))


def test_row_sums_are_the_smallest_there_are_and_take_few_passes(monkeypatch):
    passes = []
    plain = bounds.dominance
    monkeypatch.setattr(bounds, "dominance", lambda *a: passes.append(1) or plain(*a))
    rng = np.random.default_rng(3)
    finite = 0
    for _ in range(300):
        pencil, k = random_pencil(rng, 12)
        passes.clear()
        found = row_sum_bound(pencil, k)
        size = np.max(np.abs(pencil.A) / np.outer(pencil.B_roots, pencil.B_roots))
        if np.isfinite(found):
            assert dominant_rows(pencil, k, found)
            assert not dominant_rows(pencil, k, found - 1e-7 * size)
            finite += 1
        else:  # doubled steps find none either
            low = np.max(pencil.A_diagonal / pencil.B_diagonal)
            assert not any(dominant_rows(pencil, k, low + size * 2.0**i) for i in range(50))
        assert len(passes) <= 12
    assert finite > 100


def test_the_dense_bound_takes_few_factorisations(monkeypatch):
    tries = []
    plain = proofs.is_definite
    monkeypatch.setattr(proofs, "is_definite", lambda *a: tries.append(a[0]) or plain(*a))
    rng = np.random.default_rng(4)
    for B in (None, rng.standard_normal((900, 320))):
        G = rng.standard_normal((320, 320))
        pencil = Pencil(G + G.T, None if B is None else B.T @ B / 900.0)
        tries.clear()
        bound = dense_bound(pencil)
        assert len(tries) <= 2
        assert pencil.lambda_max <= bound <= pencil.lambda_max * (1.0 + 1e-9)


def test_the_valid_radius_and_the_k_it_is_valid_for():
    pencil = Pencil(np.eye(3), 0.01 * np.eye(3))
    assert valid_radius(pencil, 1) == pytest.approx(10.0)
    assert largest_valid_k(pencil, 1.0) == 0
    assert largest_valid_k(pencil, valid_radius(pencil, 2)) == 2
    assert [largest_valid_k(pitprops(), np.sqrt(k)) for k in (1, 5, 13)] == [1, 5, 13]


def holds_exactly(bound, pencil, k):
    """Is bound·B − A ⪰ 0 on every support of size k, in rational arithmetic?"""
    A, B = (np.vectorize(Fraction, otypes=[object])(M) for M in pencil.dense())
    if isinstance(pencil.A, Gram):
        C = np.vectorize(Fraction, otypes=[object])(pencil.A.C)
        A = C.T @ C
    t = Fraction(bound)
    return all(semidefinite([[t * B[i][j] - A[i][j] for j in S] for i in S]) for S in combinations(range(pencil.n), k))


def semidefinite(S):
    """S ⪰ 0 by elimination, without rounding."""
    for i, row in enumerate(S):
        if row[i] < 0 or (row[i] == 0 and any(row[i:])):
            return False
        for lower in S[i + 1 :] if row[i] else []:
            share = lower[i] / row[i]
            lower[:] = [v - share * w for v, w in zip(lower, row, strict=True)]
    return True


@pytest.mark.parametrize("n", [3, 5, 7])
def test_a_radius_that_is_forgiven_for_k_still_bounds_k(n):
    """A = 11ᵀ is worth k on k variables, all of it at the edge of the budget: rounding of the radius cuts nothing."""
    pencil = Pencil(np.ones((n, n)))
    for k in range(1, n + 1):
        radius = np.sqrt(k) * (1.0 - 30.0 * n * np.finfo(float).eps)
        assert largest_valid_k(pencil, radius) == k
        assert holds_exactly(radius_bound(pencil, radius, -np.ones((n, n)), level=1.0), pencil, k)


@pytest.mark.parametrize("radius", [1e-300, 1e-170, 1e-10])
def test_a_budget_that_underflows_is_not_free(radius):
    """On ‖x‖₁ ≤ radius the best is A₁₁·radius², whatever U and level make of λmax(A + U)."""
    pencil = Pencil(np.full((2, 2), 1e100))
    bound = radius_bound(pencil, radius, -np.full((2, 2), 1e100), level=2e100)
    assert Fraction(bound) >= Fraction(1e100) * Fraction(radius) ** 2


@pytest.mark.parametrize("size", [1e-300, 1e-302, 1e-304])
def test_bounds_hold_where_numbers_lose_their_digits(size):
    for seed in range(8):
        G = np.random.default_rng(seed).standard_normal((4, 4))
        pencil = Pencil(size * (G @ G.T))
        assert holds_exactly(dense_bound(pencil), pencil, 4)
        assert holds_exactly(cheap_bound(pencil, 2), pencil, 2)
        assert holds_exactly(brute_force(pencil, 2).upper_bound, pencil, 2)


@pytest.mark.parametrize("seed", [18, 25, 31, 37, 44, 54, 72])
def test_products_below_the_normal_numbers_are_paid_for(seed):
    """CᵀC keeps few digits there, and so does the charge k·b·D² of a dual matrix: both violated the bound."""
    rng = np.random.default_rng(seed)
    s = 10.0 ** rng.uniform(-7.2, 0.0, 3)
    s[0] = 1.0
    gram = Pencil(Gram((1.0 + rng.standard_normal((40, 3))) * s * 1e-150), np.diag(s**2))
    assert holds_exactly(dense_bound(gram), gram, 3)
    assert holds_exactly(brute_force(gram, 3).upper_bound, gram, 3)
    G = rng.standard_normal((3, 3))
    pencil, U = Pencil(1e-304 * (G + G.T)), np.full((3, 3), -3e-313)
    for _ in range(40):
        scale = 10.0 ** rng.uniform(-2, 2, 3)
        assert holds_exactly(homogeneous_bound(pencil, 3, U, scale=scale), pencil, 3)


def test_the_price_of_a_dual_never_rounds_below_its_entries():
    d = 1e130 * np.array([1.0, 1.7, 2.3])
    U = 1e-60 * np.array([[0.0, 1.1, -2.3], [1.1, 0.0, 0.7], [-2.3, 0.7, 0.0]])
    dual = dual_of(U, d)
    for i, j in combinations(range(3), 2):
        assert abs(Fraction(U[i, j])) <= Fraction(dual.b) * Fraction(d[i]) * Fraction(d[j])
    assert dual_of(np.zeros((3, 3)), d).b == 0.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("A", "B"), [([1e299, 1.0], [1e-15, 1.0]), ([1.0, 1e298], [1.0, 1e-14])])
def test_eigenvalues_beyond_floating_point_are_bounded_by_infinity_in_silence(A, B):
    pencil = Pencil(np.diag(A), np.diag(B))
    assert dense_bound(pencil) == cheap_bound(pencil, 1) == homogeneous_bound(pencil, 1, np.ones((2, 2))) == np.inf


def test_times_rounds_up_and_only_where_it_rounds():
    assert times(1.5, 2.0**-3) == 0.1875
    assert times(1.25, 2.0**-1074) == 2.0**-1073
    assert times(-1.25, 2.0**-1074) == 0.0
    assert times(4.0, 2.0**1023) == np.inf
    assert times(-4.0, 2.0**1023) == -np.finfo(float).max


def test_penalized_bound_holds_for_its_own_program():
    rng = np.random.default_rng(5)
    pencil = pitprops()
    for rho in (0.0, 0.1, 1.0):
        for _ in range(50):
            x = rng.standard_normal(13) * (rng.random(13) < 0.4)
            if x.any():
                x /= np.linalg.norm(x)
                bound = penalized_bound(pencil, rho, rng.standard_normal((13, 13)))
                assert pencil.A_quad(x) - rho * np.abs(x).sum() ** 2 <= bound


@settings(derandomize=True, deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.integers(-60, 60), st.integers(-40, 40))
def test_scaling_by_powers_of_two_scales_the_bound_exactly(seed, a, b):
    rng = np.random.default_rng(seed)
    pencil, k = random_pencil(rng, 5)
    U = pencil.A_scale * rng.standard_normal((pencil.n, pencil.n))
    A, B = pencil.dense()
    plain = homogeneous_bound(Pencil(A, B), k, U)
    scaled = homogeneous_bound(Pencil(A * 2.0**a, B * 4.0**b), k, U * 2.0**a)
    assert scaled == plain * 2.0**a / 4.0**b


def test_the_gap():
    assert Gap(1.0, 2.0).relative == 0.5
    assert Gap(2.0, 1.0).absolute == 0.0
    assert Gap(1.0, 1.0 + 1e-10).closed
    assert Gap(1.0 + 1e-10, 1.0).closed
    assert not Gap(5.0, 3.0).closed  # a value above a proved bound is wrong, not optimal
    assert not any(Gap(low, np.inf).closed for low in (-np.inf, 0.0, np.inf))
    assert Gap(-np.inf, np.inf).relative == np.inf
    assert Gap(0.0, 0.0).closed
    assert "gap 50 %" in str(Gap(1.0, 2.0))


def test_errors_name_the_number():
    pencil = pitprops()
    with pytest.raises(InvalidParameter, match="k = 14 is out of range"):
        homogeneous_bound(pencil, 14)
    with pytest.raises(InvalidParameter, match="scale = 'metric' is unknown"):
        scale_vector(pencil, "metric")
    with pytest.raises(InvalidParameter, match="smallest entry is -1"):
        homogeneous_bound(pencil, 2, None, scale=-np.ones(13))
    with pytest.raises(InvalidParameter, match=r"scale lies between 1e-200 and 1: .*1e-140"):
        homogeneous_bound(pencil, 2, None, scale=np.where(np.arange(13) == 0, 1e-200, 1.0))
    with pytest.raises(InvalidParameter, match="radius = 0 is out of range"):
        radius_bound(pencil, 0.0)


def test_the_cost_of_an_sdp_that_is_too_large_is_estimated():
    check_sdp_size(SDP_LIMIT)
    with pytest.raises(InvalidParameter, match=r"2001000 variables .* about 19\.2 GB and 133 min with SCS"):
        check_sdp_size(2000)


def test_a_dual_is_cut_and_symmetrised():
    dual = dual_of([[9.0, 2.0], [0.0, 9.0]], np.ones(2), 0.5)
    assert dual.U.tolist() == [[0.0, 0.5], [0.5, 0.0]]
    assert dual.b == pytest.approx(0.5)


def test_the_referee_does_not_import_cvxpy():
    code = "import sys, dcgev_cvx.relaxations.bounds, dcgev_cvx.exact; sys.exit('cvxpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_rounding_of_a_radius_is_forgiven_in_proportion_to_n():
    pencil, u = Pencil(np.eye(8)), 2.0**-52
    assert largest_valid_k(pencil, 2.0 * (1.0 - 28.0 * 8 * u)) == 4
    assert largest_valid_k(pencil, 2.0 * (1.0 - 40.0 * 8 * u)) == 3


def test_the_penalized_bound_takes_the_better_of_its_two_duals():
    pencil = Pencil(np.ones((3, 3)))
    assert penalized_bound(pencil, 0.5, -0.5 * np.ones((3, 3))) == pytest.approx(1.5)  # λmax of ½·ones
    assert penalized_bound(pencil, 0.5, np.ones((3, 3))) == pytest.approx(2.5)  # U = 0 off the diagonal


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_the_penalized_bound_is_zero_only_where_the_price_outweighs_every_entry(size):
    pencil = Pencil(size * np.ones((3, 3)))
    assert penalized_bound(pencil, 0.5 * size, -0.5 * size * np.ones((3, 3))) == pytest.approx(1.5 * size)
    assert penalized_bound(pencil, 2.0 * size) == 0.0


def test_the_price_of_a_dual_is_that_of_its_entries_beside_the_diagonal():
    U = [[9.0, 1.0], [1.0, -9.0]]
    assert dual_of(U, np.ones(2)).b == pytest.approx(1.0)
    assert dual_of(U, np.ones(2), tight=False).b == pytest.approx(9.0)
    assert dual_of(U, np.ones(2), 4.0, tight=False).b == pytest.approx(4.0)
    assert dual_of(1e307 * np.ones((20, 20)), 1e140 * np.ones(20)) is None  # n·b·d² overflows
    assert dual_of(1e307 * np.ones((3, 3)), 1e-140 * np.ones(3)) is None  # and b itself


def test_different_units_do_not_hide_the_smallest_eigenvalue_of_B():
    c = 2.0**-50
    pencil = Pencil(np.diag([1.0, c]), [[1.0, 2.0**-26], [2.0**-26, c]])
    assert 0.2 * 0.75 * c <= smallest_B_eigenvalue(pencil) <= 0.75 * c * (1.0 + 1e-9)  # det/trace, to ten digits


def test_the_weights_by_name():
    pencil = Pencil(np.eye(2), np.diag([4.0, 9.0]))
    assert scale_vector(pencil, "diagonal").tolist() == [2.0, 3.0]
    assert scale_vector(pencil, "identity").tolist() == [1.0, 1.0]


@pytest.mark.parametrize("k", [1, 2, 4])
def test_a_fixed_radius_is_charged_once(k):
    """A = 11ᵀ is worth k where ‖x‖₁² ≤ k, and U = −A proves it: the diagonal of U is no further cost."""
    pencil = Pencil(np.ones((5, 5)))
    assert radius_bound(pencil, np.sqrt(k), -np.ones((5, 5))) == pytest.approx(k)


def test_a_gap_is_a_share_of_its_larger_end():
    assert bounds.Gap(1.0, 4.0).relative == bounds.Gap(-4.0, -1.0).relative == 0.75
    assert bounds.Gap(-1.0, 1.0).relative == 2.0
    assert not bounds.Gap(1e-12, 1.0).closed


def test_equal_ends_leave_no_gap():
    assert [Gap(end, end).relative for end in (0.0, 3.0, -3.0)] == [0.0, 0.0, 0.0]


def test_a_scale_of_zero_is_refused():
    with pytest.raises(InvalidParameter, match="scale must be positive, but its smallest entry is 0"):
        scale_vector(Pencil(np.eye(2)), np.array([1.0, 0.0]))


def test_the_row_sums_with_a_metric_are_raised_by_no_more_than_the_units_that_are_taken_off():
    """B = 4I, A = 4I: every row has λ − 1 left, and 16(k + 2) units of |λ| + 1 are taken off."""
    for k in (1, 2):
        units = (row_sum_bound(Pencil(4.0 * np.eye(3), 4.0 * np.eye(3)), k) - 1.0) / 2.0**-52
        assert 32.0 * (k + 2) <= units <= 32.0 * (k + 2) + 8.0


def test_the_diagonal_of_a_penalized_dual_takes_off_no_more_than_the_price(monkeypatch):
    prices = []
    monkeypatch.setattr(bounds, "charged_bound", lambda pencil, k, dual: prices.append(dual.b) or 1.0)
    assert penalized_bound(Pencil(np.eye(2)), 0.3, np.full((2, 2), 0.3)) == 1.0
    assert len(prices) == 2
    assert all(0.3 * (1.0 - 1e-15) <= price < 0.3 for price in prices)


@pytest.mark.parametrize("rows", [2, 40])
def test_the_sums_behind_a_factor_are_charged_by_its_rows(rows):
    C = np.random.default_rng(0).standard_normal((rows, 3))
    A, size = entries(Pencil(Gram(C)))
    norms = np.linalg.norm(C, axis=0)
    assert pytest.approx(C.T @ C) == A
    assert size == pytest.approx(max(1.0, rows / 4.0) * np.outer(norms, norms))


def test_a_dual_costs_its_largest_entry_and_a_few_units():
    dual = dual_of(np.array([[9.0, 0.3], [0.3, 9.0]]), np.array([1.0, 2.0]))
    assert 0.15 < dual.b <= 0.15 * (1.0 + 20.0 * 2.0**-52)
    wide = dual_of(np.array([[9.0, 0.3], [0.3, 9.0]]), np.array([1.0, 2.0]), tight=False)
    assert 9.0 < wide.b <= 9.0 * (1.0 + 20.0 * 2.0**-52)


def test_a_charge_is_one_less_on_the_diagonal_for_the_dual_s_own():
    dual = Dual(np.array([[0.0, 0.5], [0.5, 0.0]]), 0.25, np.array([1.0, 2.0]))
    assert charged(np.eye(2), 3.0, dual).tolist() == [[1.5, 0.5], [0.5, 3.0]]


@pytest.mark.parametrize(("spread", "proofs_made"), [(16.0, 1), (64.0, 2)])
def test_units_are_taken_out_of_the_metric_where_they_differ_by_more_than_four(spread, proofs_made, monkeypatch):
    asked = []
    monkeypatch.setattr(bounds, "lambda_max_bound", lambda M, B: asked.append(M) or float(np.linalg.eigvalsh(M)[-1]))
    assert smallest_B_eigenvalue(Pencil(np.eye(2), np.diag([1.0, spread]))) == 1.0
    assert len(asked) == proofs_made


@pytest.mark.parametrize(("k", "top"), [(1, 1.0), (2, 1.5)])
def test_the_row_sums_are_raised_by_the_units_of_their_own_rounding(k, top):
    """32(k + 2) units of the sum and of the largest entry, 3."""
    bound = row_sum_bound(Pencil([[1.0, 0.5], [0.5, -3.0]]), k)
    assert bound == top + 32.0 * (k + 2) * 2.0**-52 * (top + 3.0)


def test_a_level_above_every_entry_is_paid_by_the_diagonal():
    """A = 2I and U = −I: λmax(A + U) = 1 and a budget of radius² = 1/4."""
    assert radius_bound(Pencil(2.0 * np.eye(2)), 0.5, np.zeros((2, 2)), level=1.0) == pytest.approx(1.25)


def test_a_radius_is_rounded_up_and_its_budget_pays_twice_what_is_forgiven(monkeypatch):
    u = 2.0**-52
    assert valid_radius(Pencil(np.eye(4)), 4) == 2.0 * (1.0 + 4.0 * u)
    monkeypatch.setattr(bounds, "smallest_B_eigenvalue", lambda _: 0.0)
    assert valid_radius(Pencil(np.eye(4)), 4) == np.inf
    monkeypatch.setattr(bounds, "charged_bound", lambda *_: -1.0)
    budget = radius_bound(Pencil(9.0 * np.eye(2)), 1.0, np.zeros((2, 2)), level=1.0)
    assert 1.0 + 2 * 64 * 2 * u < budget <= 1.0 + (2 * 64 * 2 + 4) * u


def test_a_radius_by_the_rule_of_the_paper_or_by_one_that_holds(monkeypatch):
    pencil = Pencil(np.eye(2), np.diag([4.0, 1e6]))
    assert bounds.radius_for(pencil, 2, "paper") == 2.0
    assert bounds.radius_for(pencil, 2, "valid") == pytest.approx(np.sqrt(2.0 / 4.0))
    monkeypatch.setattr(bounds, "valid_radius", lambda *_: np.inf)
    with pytest.raises(InvalidPencil, match=r"its condition number is near 1e\+00"):  # in the variables' own units
        bounds.radius_for(pencil, 2, "valid")


def test_a_scaled_eigenvalue_is_rounded_down(monkeypatch):
    replies = iter([-0.5, -1.0])
    monkeypatch.setattr(bounds, "lambda_max_bound", lambda M, B: next(replies))
    assert smallest_B_eigenvalue(Pencil(np.eye(2), np.diag([1.0, 64.0]))) == np.nextafter(1.0, 0.0)


def test_the_ends_of_the_range_are_scales():
    d = np.array([1e140, 1e-140])
    assert scale_vector(Pencil(np.eye(2)), d).tolist() == d.tolist()


@pytest.mark.parametrize(("entry", "cut"), [(1.5, 1.5), (-1.5, -1.5), (5.0, 2.0), (-5.0, -2.0)])
def test_a_dual_is_cut_in_the_units_of_its_scale(entry, cut):
    assert dual_of([[0.0, entry], [entry, 0.0]], np.array([1.0, 2.0]), level=1.0).U[0, 1] == cut


def test_a_dual_whose_charges_are_no_numbers_is_none():
    """4·n·b·d² must be one."""
    off = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert dual_of(2.2e307 * off, np.ones(2)) is not None
    assert dual_of(2.3e307 * off, np.ones(2)) is None
    assert dual_of(off, np.array([1.0, 1e5]), level=1e300) is None


def test_a_charged_bound_knows_the_sizes_of_its_summands(monkeypatch):
    """A + U + (c − 1)·b·D², and for its rounding |A| + |U| + (c + 1)·b·D²."""
    asked = []
    monkeypatch.setattr(bounds, "lambda_max_bound", lambda M, B, size: asked.extend([M, size]) or 0.0)
    dual = Dual(np.array([[0.0, -0.5], [-0.5, 0.0]]), 0.25, np.array([1.0, 2.0]))
    bounds.charged_bound(Pencil([[1.0, -2.0], [-2.0, 3.0]]), 3.0, dual)
    assert asked[0].tolist() == [[1.5, -2.5], [-2.5, 5.0]]
    assert asked[1].tolist() == [[2.0, 2.5], [2.5, 7.0]]


def test_dominance_takes_the_largest_of_a_row_from_a_partition_without_order(monkeypatch):
    def reversed_sides(M, kth, axis):
        order = np.argsort(M, axis=axis)
        return np.hstack([order[:, :kth][:, ::-1], order[:, [kth]], order[:, kth + 1 :][:, ::-1]])

    monkeypatch.setattr(np, "argpartition", reversed_sides)
    rng, n, k = np.random.default_rng(2), 9, 4
    G, H = rng.standard_normal((n, n)), rng.standard_normal((n, n))
    A, B = G + G.T, np.eye(n) + 0.01 * (H + H.T)
    left, slope = bounds.dominance(3.0, A, B, k)
    for i in range(n):
        row = sorted((j for j in range(n) if j != i), key=lambda j: -abs(3.0 * B[i, j] - A[i, j]))[: k - 1]
        S = 3.0 * B - A
        assert left[i] == pytest.approx(S[i, i] - sum(abs(S[i, j]) for j in row))
        assert slope[i] == pytest.approx(B[i, i] - sum(np.sign(S[i, j]) * B[i, j] for j in row))


def test_tolerances_and_limits_are_those_of_the_text():
    u = 2.0**-52
    assert Gap(1.0, 1.0 + 0.9e-9).closed
    assert not Gap(1.0, 1.0 + 1.1e-9).closed
    assert largest_valid_k(Pencil(np.eye(2)), 1.0 - 60.0 * u) == 1  # 64nu of radius² are forgiven
    assert largest_valid_k(Pencil(np.eye(2)), 1.0 - 70.0 * u) == 0
    check_sdp_size(250)
    with pytest.raises(InvalidParameter, match="an SDP with n = 251 has 31626 variables"):
        check_sdp_size(251)
