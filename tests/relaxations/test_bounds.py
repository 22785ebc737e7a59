"""Bounds are theorems: against plain enumeration, wild and broken duals, and 50-digit arithmetic."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from itertools import combinations, product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_problems import optimum, random_pencil

from dcgev_cvx import Gram, InvalidParameter, Pencil
from dcgev_cvx._numerics.proofs import is_definite, lambda_max_bound, leading_pair
from dcgev_cvx.datasets import pitprops
from dcgev_cvx.exact import brute_force
from dcgev_cvx.relaxations.bounds import (
    Gap,
    cheap_bound,
    check_sdp_size,
    dense_bound,
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


TRIALS = pytest.mark.parametrize("trials", [120, pytest.param(2000, marks=pytest.mark.slow)])


@TRIALS
def test_no_bound_falls_below_the_optimum_whatever_the_dual(trials):
    rng = np.random.default_rng(0)
    for trial in range(trials):
        pencil, k = random_pencil(rng)
        U, truth = wild(rng, pencil), optimum(pencil, k)
        floor = truth - oracle_slack(pencil, truth)
        scale = "diagonal" if trial % 2 else rng.uniform(0.1, 10.0, pencil.n)
        assert homogeneous_bound(pencil, k, U, scale=scale) >= floor
        assert radius_bound(pencil, valid_radius(pencil, k), U) >= floor
        assert row_sum_bound(pencil, k) >= floor
        assert cheap_bound(pencil, k) >= floor


def random_views(rng):
    """(pencil, k): two or three views, B block diagonal and conditioned up to 1e6, k with a number for each."""
    sizes = rng.integers(1, 4, rng.integers(2, 4))
    n, B = int(np.sum(sizes)), np.zeros((np.sum(sizes), np.sum(sizes)))
    for start, size in zip(np.cumsum(sizes) - sizes, sizes, strict=True):
        Q = np.linalg.qr(rng.standard_normal((size, size)))[0]
        part = (Q * 10.0 ** rng.uniform(-rng.integers(0, 7), 0, size)) @ Q.T
        B[start : start + size, start : start + size] = 0.5 * (part + part.T)
    G = rng.standard_normal((n, n)) * 10.0 ** rng.uniform(-3, 3)
    A = [G @ G.T, -G @ G.T, G + G.T][rng.integers(3)]
    return Pencil(A, B, blocks=sizes.tolist()), tuple(int(rng.integers(1, size + 1)) for size in sizes)


def optimum_of_views(pencil, k):
    """max λmax(A_SS, B_SS) over the supports with k_g variables of every view, one after the other."""
    parts = [combinations(view.tolist(), m) for view, m in zip(pencil.views, k, strict=True)]
    return max(optimum(pencil.restrict(np.array(sum(S, ()))), sum(k)) for S in product(*parts))


@TRIALS
def test_no_bound_for_views_falls_below_the_optimum_whatever_the_dual(trials):
    rng = np.random.default_rng(6)
    for trial in range(trials):
        pencil, k = random_views(rng)
        U, truth = wild(rng, pencil), optimum_of_views(pencil, k)
        floor = truth - oracle_slack(pencil, truth)
        scale = "diagonal" if trial % 2 else rng.uniform(0.1, 10.0, pencil.n)
        X = wild(rng, pencil) if trial % 3 else None
        found = homogeneous_bound(pencil, k, U, scale=scale, X=X)
        assert found >= floor
        assert radius_bound(pencil, valid_radius(pencil, k), U) >= floor
        assert floor <= row_sum_bound(pencil, k) <= row_sum_bound(pencil, sum(k)) * (1.0 + 1e-12) + 1e-12 * abs(truth)
        assert cheap_bound(pencil, k) >= floor
        assert largest_valid_k(pencil, valid_radius(pencil, k)) == k


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


def test_row_sums_are_the_smallest_there_are():
    rng = np.random.default_rng(3)
    finite = 0
    for _ in range(100):
        pencil, k = random_pencil(rng, 12)
        found = row_sum_bound(pencil, k)
        size = np.max(np.abs(pencil.A) / np.outer(pencil.B_roots, pencil.B_roots))
        if np.isfinite(found):
            assert dominant_rows(pencil, k, found)
            assert not dominant_rows(pencil, k, found - 1e-7 * size)
            finite += 1
        else:  # doubled steps find none either
            low = np.max(pencil.A_diagonal / pencil.B_diagonal)
            assert not any(dominant_rows(pencil, k, low + size * 2.0**i) for i in range(50))
    assert finite > 30


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
        assert holds_exactly(radius_bound(pencil, radius, -np.ones((n, n))), pencil, k)


@pytest.mark.parametrize("radius", [1e-300, 1e-170, 1e-10])
def test_a_budget_that_underflows_is_not_free(radius):
    """On ‖x‖₁ ≤ radius the best is A₁₁·radius², whatever U and level make of λmax(A + U)."""
    pencil = Pencil(np.full((2, 2), 1e100))
    bound = radius_bound(pencil, radius, np.array([[-2e100, -1e100], [-1e100, -2e100]]))
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


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("A", "B"), [([1e299, 1.0], [1e-15, 1.0]), ([1.0, 1e298], [1.0, 1e-14])])
def test_eigenvalues_beyond_floating_point_are_bounded_by_infinity_in_silence(A, B):
    pencil = Pencil(np.diag(A), np.diag(B))
    assert dense_bound(pencil) == cheap_bound(pencil, 1) == homogeneous_bound(pencil, 1, np.ones((2, 2))) == np.inf


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
    with pytest.raises(InvalidParameter, match="scale must be positive, but its smallest entry is 0"):
        scale_vector(Pencil(np.eye(2)), np.array([1.0, 0.0]))
    with pytest.raises(
        InvalidParameter, match=r"radius = \(1.0, 2.0\) must be one number, or one for each of the 1 view"
    ):
        radius_bound(pencil, (1.0, 2.0))
    with pytest.raises(InvalidParameter, match="an SDP with n = 251 has 31626 variables"):
        check_sdp_size(251)


def test_the_referee_does_not_import_cvxpy():
    code = "import sys, dcgev_cvx.relaxations.bounds, dcgev_cvx.exact; sys.exit('cvxpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_the_penalized_bound_is_zero_only_where_the_price_outweighs_every_entry(size):
    pencil = Pencil(size * np.ones((3, 3)))
    assert penalized_bound(pencil, 0.5 * size, -0.5 * size * np.ones((3, 3))) == pytest.approx(1.5 * size)
    assert penalized_bound(pencil, 2.0 * size) == 0.0


@pytest.mark.parametrize("k", [1, 2, 4])
def test_a_fixed_radius_is_charged_once(k):
    """A = 11ᵀ is worth k where ‖x‖₁² ≤ k, and U = −A proves it: the diagonal of U is no further cost."""
    pencil = Pencil(np.ones((5, 5)))
    assert radius_bound(pencil, np.sqrt(k), -np.ones((5, 5))) == pytest.approx(k)
