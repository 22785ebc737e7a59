"""From ρ̃ to k: the path, its end, and the search for a given cardinality."""

import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest
import referee
from hypothesis import given, settings
from hypothesis import strategies as st

from dcgev_cvx import Gram, InvalidParameter, Pencil, SparseGEV, path, rho_max, solve, sparse_gev
from dcgev_cvx.pencils import cca_pencil
from dcgev_cvx.search import oneshot, paths, supports, swaps
from dcgev_cvx.search.exchanges import exchange_rows
from dcgev_cvx.search.gains import pair_value, swap_gains
from dcgev_cvx.search.oneshot import SCHEDULES, one_shot, survivors
from dcgev_cvx.search.paths import on_path
from dcgev_cvx.search.swaps import Climbs, best_swap, eigenvector_on, eliminated, support_values, swap_search
from dcgev_cvx.search.view_counts import solve_views

PITPROPS_BEST = [
    1.0000, 1.9540, 2.4753, 2.9375, 3.4062, 3.7710, 3.9962, 4.0686, 4.1386, 4.1726, 4.2083, 4.2182, 4.2186,
]  # fmt: skip


def pca(seed, n=14, samples=20):
    X = np.random.default_rng(seed).standard_normal((samples, n))
    X -= X.mean(axis=0)
    return Pencil(X.T @ X / samples)


def cca(seed, h=7, m=60):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((m, 2))
    X, Y = (Z @ rng.standard_normal((2, h)) * 0.5 + rng.standard_normal((m, h)) for _ in range(2))
    D = np.hstack([X, Y])
    S = np.cov(D.T, bias=True)
    A, B = S.copy(), S.copy()
    A[:h, :h] = A[h:, h:] = 0.0
    B[:h, h:] = 0.0
    B[h:, :h] = 0.0
    return Pencil(A, B + 0.01 * np.eye(2 * h))


@pytest.mark.parametrize("eps", [1.0, 1e-3, 2.2e-16])
@pytest.mark.parametrize("make", [pca, cca])
def test_rho_max_is_where_the_first_step_collapses(make, eps):
    pencil = make(0)
    top = rho_max(pencil, eps=eps)
    above = sparse_gev(pencil, rho=top * (1 + 1e-9), eps=eps, shift="metric", engine="native")
    below = sparse_gev(pencil, rho=top * (1 - 1e-6), eps=eps, shift="metric", engine="native")
    assert above.status.name == "COLLAPSED"
    assert above.n_iter == 1
    assert np.count_nonzero(below.history[1].x) >= 1


def test_path_of_pitprops(pitprops):
    """No ρ̃ gives k = 4; the values rise with k, and what is not reached is listed."""
    found = path(pitprops, points=120)
    assert 4 in found.missing
    assert {2, 3, 5, 6, 7}.issubset(found.reached)
    assert found.best(4) is None
    assert found.best(6).value == pytest.approx(3.7710, abs=1e-4)
    assert all(p.result.certificate.passes() or p.k == 0 for p in found.points)
    rhos = [p.rho for p in found.points]
    assert rhos == sorted(rhos, reverse=True)
    assert "no ρ̃ tried gave k = 4" in str(found)
    assert found.to_rows()[3]["support"] == list(found.points[3].support)


def test_path_takes_what_it_is_given(pitprops):
    assert [p.rho for p in path(pitprops, [0.5, 4.84]).points] == [4.84, 0.5]
    with pytest.raises(InvalidParameter, match="must list numbers"):
        path(pitprops, [])
    with pytest.raises(InvalidParameter, match=r"rhos\[\d\] = -1"):
        path(pitprops, [-1.0])


def test_on_path(pitprops):
    assert on_path(pitprops, 6)
    assert not on_path(pitprops, 4)


@pytest.mark.parametrize("k", range(1, 14))
def test_pitprops_is_solved_exactly(k, pitprops):
    found = solve(pitprops, k)
    assert found.value == pytest.approx(PITPROPS_BEST[k - 1], abs=6e-5)
    assert found.k == k == len(found.support)
    assert found.on_path is (k != 4)
    assert found.certificate.passes()
    assert found.rho >= 0.0
    assert pitprops.B_norm(found.x) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("make", [pca, cca])
@pytest.mark.parametrize("seed", range(5))
def test_small_random_problems_against_enumeration(make, seed):
    pencil = make(seed)
    A, B = pencil.dense()
    for k in (2, 4, 7):
        best, _ = referee.best_subset(A, B, k)
        found = solve(pencil, k, check_path=False)
        assert found.value >= 0.999 * best
        assert found.value <= best * (1 + 1e-9)
        assert found.k == k


@settings(max_examples=20)
@given(st.integers(0, 30), st.integers(2, 6))
def test_solve_follows_permutations_signs_and_scales(seed, k):
    rng = np.random.default_rng(seed)
    pencil = cca(seed, h=4)
    A, B = pencil.dense()
    plain = solve(pencil, k, check_path=False)
    order = rng.permutation(8)
    signs = rng.choice([-1.0, 1.0], 8)
    changed = Pencil(
        5.0 * (signs[:, None] * A * signs)[np.ix_(order, order)],
        2.0 * (signs[:, None] * B * signs)[np.ix_(order, order)],
    )
    other = solve(changed, k, check_path=False)
    assert other.value == pytest.approx(2.5 * plain.value, rel=1e-9)


def test_solve_is_repeatable(pitprops):
    for state in (0, 7):
        first, second = (solve(pitprops, 9, random_state=state) for _ in range(2))
        assert np.array_equal(first.x, second.x)


def test_solve_on_a_factor_never_forms_the_matrix(monkeypatch):
    small = Gram.toarray
    monkeypatch.setattr(Gram, "toarray", lambda self: small(self) if self.shape[0] < 100 else pytest.fail("formed"))
    C = np.random.default_rng(0).standard_normal((30, 500))
    C[:, :6] += 2.0 * np.random.default_rng(1).standard_normal((30, 1))
    found = solve(Pencil(Gram(C)), 6)
    assert found.support == (0, 1, 2, 3, 4, 5)
    assert found.certificate.passes()


def test_data_and_covariance_give_the_same(pitprops):
    C = np.linalg.cholesky(pitprops.A).T
    for k in (3, 6):
        assert solve(Pencil(Gram(C)), k).value == pytest.approx(solve(pitprops, k).value, rel=1e-9)


def test_planted_cca_in_many_variables():
    """100 samples of 60 + 60 variables, five of each share a factor: exactly these ten, with a ridge of 5."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((100, 1))
    D = rng.standard_normal((100, 120))
    D[:, [0, 1, 2, 3, 4, 60, 61, 62, 63, 64]] += z
    S = np.cov(D.T, bias=True)
    A, B = S.copy(), S.copy()
    A[:60, :60] = A[60:, 60:] = 0.0
    B[:60, 60:] = 0.0
    B[60:, :60] = 0.0
    found = solve(Pencil(A, B + 5.0 * np.eye(120)), 10)
    assert found.support == (0, 1, 2, 3, 4, 60, 61, 62, 63, 64)


@pytest.mark.parametrize("effort", ["quick", "normal", "high"])
def test_more_effort_is_not_worse(effort):
    pencil = pca(3, n=12)
    values = {e: solve(pencil, 5, effort=e, check_path=False).value for e in ("quick", effort)}
    assert values[effort] >= values["quick"] * (1 - 1e-12)


def test_diagonal_pencil_has_one_nonzero():
    """The best k-sparse vector of a diagonal A has a single entry: fewer than k, and says so."""
    found = solve(Pencil(np.diag([3.0, 2.0, 1.0])), 2)
    assert found.value == pytest.approx(3.0)
    assert found.k <= 2


def test_negative_definite_and_zero_a():
    assert solve(Pencil(-np.diag([1.0, 2.0, 3.0])), 2).value == pytest.approx(-1.0)
    assert solve(Pencil(np.zeros((3, 3))), 2).value == pytest.approx(0.0)
    assert solve(Pencil([[2.0]], [[4.0]]), 1).value == pytest.approx(0.5)


@pytest.mark.parametrize("k", [0, -1, 14, 2.0, "3", True, None])
def test_bad_cardinalities(k, pitprops):
    with pytest.raises(InvalidParameter, match="between 1 and n = 13"):
        solve(pitprops, k)


def test_bad_effort(pitprops):
    with pytest.raises(InvalidParameter, match="effort = 'utmost' is unknown"):
        solve(pitprops, 3, effort="utmost")


@pytest.mark.parametrize("make", [pca, cca])
@pytest.mark.parametrize("k", [1, 3, 6, 14])
def test_one_shot_keeps_k(make, k):
    pencil = make(1)
    x, rho = one_shot(pencil, k, pencil.leading_vector, SCHEDULES["quick"])
    assert 1 <= np.count_nonzero(x) <= k
    assert rho >= 0.0


def test_support_values_are_eigenvalues():
    pencil = cca(2, h=4)
    A, B = pencil.dense()
    supports = np.array([[0, 3, 5], [1, 2, 7]])
    for value, support in zip(support_values(pencil, supports), supports, strict=True):
        rows = np.ix_(support, support)
        import scipy.linalg

        assert value == pytest.approx(scipy.linalg.eigh(A[rows], B[rows], eigvals_only=True)[-1], rel=1e-10)


def test_pair_value_is_the_larger_root():
    import scipy.linalg

    top = scipy.linalg.eigh([[1.0, 0.3], [0.3, -2.0]], [[2.0, 0.1], [0.1, 1.0]], eigvals_only=True)[-1]
    args = (1.0, 2.0, np.array([0.3]), np.array([0.1]), np.array([-2.0]), np.array([1.0]))
    assert pair_value(*args)[0] == pytest.approx(top, rel=1e-12)


def test_swaps_end_at_a_local_optimum():
    """No single exchange improves the result, and the value never falls."""
    pencil = pca(4)
    x, _ = one_shot(pencil, 5, pencil.leading_vector, SCHEDULES["quick"])
    before, _ = eigenvector_on(pencil, np.flatnonzero(x))
    z, _ = swap_search(pencil, x)
    support = np.flatnonzero(z)
    value, v = eigenvector_on(pencil, support)
    assert value >= before
    assert best_swap(pencil, support, v, value) is None
    for i in support:
        for j in np.setdiff1d(np.arange(14), support):
            other = np.sort(np.append(support[support != i], j))
            assert eigenvector_on(pencil, other)[0] <= value * (1 + 1e-9)


def test_passing_k_is_not_being_on_the_path():
    """A run that has k nonzeros only on its way to collapse does not put k on the path."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((8, 8))
    M = rng.standard_normal((20, 8))
    assert solve(Pencil(A + A.T, M.T @ M / 20), 1).on_path is False


@pytest.mark.parametrize("seed", range(15))
def test_a_certificate_passes_or_is_not_given(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    A, B = referee.random_pencil(seed, n, cond=10.0 ** (seed % 7), indefinite=True)
    found = solve(Pencil(A, B), 1 + seed % n, check_path=False)
    assert (found.certificate is None) == np.isnan(found.rho)
    assert found.certificate is None or found.certificate.passes()


@pytest.mark.parametrize("state", [-1, 1.5, "a", None, True])
def test_bad_random_states(state, pitprops):
    with pytest.raises(InvalidParameter, match="random_state"):
        solve(pitprops, 3, random_state=state)


def test_a_matrix_is_not_a_pencil():
    with pytest.raises(InvalidParameter, match="must be a Pencil, got ndarray"):
        solve(np.eye(3), 1)


def test_shared_eigenvalues_give_k_nonzeros():
    """A = 2I: every vector is optimal, so k nonzeros are given; a diagonal A with one largest entry gives one."""
    for k in (1, 2, 3):
        found = solve(Pencil(2.0 * np.eye(3)), k)
        assert found.k == k
        assert found.value == pytest.approx(2.0)


def few_samples(seed, h=100, m=60, ridge=0.5):
    """Two views of h variables, five of each sharing a factor, fewer samples than variables."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((m, 1))
    X, Y = rng.standard_normal((m, h)), rng.standard_normal((m, h))
    X[:, :5] += 1.5 * z
    Y[:, :5] += 1.5 * z
    return cca_pencil(X, Y, ridge=ridge)


def factor(seed, rows=40, columns=150):
    X = np.random.default_rng(seed).standard_normal((rows, columns))
    return Gram(X - X.mean(axis=0))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "make",
    [
        lambda seed: Pencil(factor(seed)),
        lambda seed: Pencil(factor(seed, 30, 90).toarray()),
        lambda seed: cca(seed, h=35, m=200),
        few_samples,
        lambda seed: pca(seed, n=20),
    ],
)
def test_efforts_are_nested(make, seed):
    pencil = make(seed)
    quick, normal, high = (solve(pencil, 8, effort=e, check_path=False).value for e in ("quick", "normal", "high"))
    assert quick <= normal * (1 + 1e-12)
    assert normal <= high * (1 + 1e-12)


@pytest.mark.parametrize("make", [pca, cca])
@pytest.mark.parametrize("k", [3, 6])
def test_the_search_alone_is_good(make, k, monkeypatch):
    """Without looking at every support: exact on these, and never above the optimum."""
    monkeypatch.setattr(supports, "EVERY", 0)
    for seed in range(4):
        pencil = make(seed)
        best, _ = referee.best_subset(*pencil.dense(), k)
        found = solve(pencil, k, check_path=False).value
        assert 0.999 * best <= found <= best * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_ill_conditioned_problems_are_enumerated(seed):
    A, B = referee.random_pencil(seed, 10, cond=1e6, indefinite=True)
    for k in (2, 5, 9, 10):
        assert solve(Pencil(A, B), k, check_path=False).value == pytest.approx(
            referee.best_subset(A, B, k)[0], rel=1e-7
        )


def test_survivors_is_the_step_of_its_own_program():
    """The ρ_ε that keeps k makes (ALG-S) return the same vector."""
    from dcgev_cvx.programs import log_scale
    from dcgev_cvx.steps.closed import soft_threshold_step

    pencil = pca(2)
    x = pencil.leading_vector
    z, rho_eps = survivors(pencil.A_dot(x), x, 5, 0.3)
    eps = 0.3 * float(np.max(np.abs(x)))
    step = soft_threshold_step(SparseGEV(pencil, rho_eps * log_scale(eps), eps), x)
    assert np.count_nonzero(z) == 5
    assert z == pytest.approx(step.x, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [5, 40])
def test_a_factor_is_searched_as_its_matrix(seed, k):
    """The pools, the products and the compiled kernel agree where nothing ties."""
    A = factor(seed)
    x0 = Pencil(A).leading_vector
    rows, _ = one_shot(Pencil(A), k, x0, SCHEDULES["quick"])
    dense, _ = one_shot(Pencil(A.toarray()), k, x0, SCHEDULES["quick"])
    assert Pencil(A).A_quad(rows) == pytest.approx(Pencil(A).A_quad(dense), rel=0.03)
    assert np.count_nonzero(rows) == k


def test_single_precision_decides_the_support_only(monkeypatch):
    A = factor(1)
    double, _ = one_shot(Pencil(A), 20, Pencil(A).leading_vector, SCHEDULES["normal"])
    monkeypatch.setattr(oneshot, "SINGLE", 0)
    single, _ = one_shot(Pencil(A), 20, Pencil(A).leading_vector, SCHEDULES["normal"])
    assert single.dtype == np.float64
    assert np.array_equal(np.flatnonzero(single), np.flatnonzero(double))


@pytest.mark.parametrize("seed", range(3))
def test_exchanges_on_rows_rise_and_keep_k(seed):
    A = factor(seed)
    pencil = Pencil(A)
    start = np.zeros(150)
    start[:12] = 1.0
    z, made = exchange_rows(A.C.T, pencil.A_diagonal, start, 500)
    before, _ = eigenvector_on(pencil, np.arange(12))
    after, _ = eigenvector_on(pencil, np.flatnonzero(z))
    assert made > 5
    assert np.count_nonzero(z) == 12
    assert after > 1.5 * before
    assert pencil.A_quad(z) == pytest.approx(after, rel=1e-3)
    assert exchange_rows(A.C.T, pencil.A_diagonal, start, 3)[1] == 3


@pytest.mark.parametrize("seed", range(4))
def test_with_few_samples_the_largest_value_is_sought_and_a_large_ridge_finds_what_was_planted(seed):
    """With a small ridge other variables correlate more on these samples than the ten that share the factor."""
    planted = (*range(5), *range(100, 105))
    small, large = few_samples(seed, ridge=0.1), few_samples(seed, ridge=5.0)
    assert solve(small, 10).value > support_values(small, np.array([planted]))[0]
    assert solve(large, 10).support == planted
    assert solve_views(large, (5, 5)).support == planted


def test_matching_program_for_a_large_support(monkeypatch):
    """Beyond Newton's reach ρ̃ is so small that x itself is stationary."""
    pencil = Pencil(factor(0))
    x = solve(pencil, 30, effort="quick").x
    near = paths.matching_program(pencil, x)
    monkeypatch.setattr(paths, "NEWTON_LIMIT", 0)
    far = paths.matching_program(pencil, x)
    assert 0.0 < far.program.rho < near.program.rho
    assert near.certificate.passes()
    assert far.certificate.passes()


@pytest.mark.parametrize("power", [-280, -100, 100, 280])
def test_units(power):
    """Powers of two in A, powers of four in B: the same support, the value scaled, a program that certifies."""
    for pencil in (pca(3, n=8), cca(3, h=4), Pencil(factor(3, 10, 70))):
        plain = solve(pencil, 3)
        a, b = 2.0**power, 4.0 ** (power // 2)
        A = Gram(pencil.A.C * 2.0 ** (power // 2)) if isinstance(pencil.A, Gram) else pencil.A * a
        scaled = solve(Pencil(A, None if pencil.B is None else pencil.B * b), 3)
        assert scaled.support == plain.support
        assert scaled.value == pytest.approx(plain.value * (a if pencil.B is None else a / b), rel=1e-9)
        assert scaled.certificate.passes()
        assert scaled.on_path == plain.on_path


def test_data_from_samples_need_no_compiler():
    """numba and its compilation stay out of PCA from wide data."""
    code = (
        "import sys, numpy as np; from dcgev_cvx import Gram, Pencil, solve; "
        "solve(Pencil(Gram(np.random.default_rng(0).standard_normal((20, 90)))), 5); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


DEGENERATE = {
    "zero": np.zeros((5, 90)),
    "one column": np.outer(np.ones(5), np.eye(90)[3]),
    "rank one": np.random.default_rng(0).standard_normal((1, 90)),
    "all equal": np.ones((4, 90)),
    "every column nine times": np.repeat(np.random.default_rng(1).standard_normal((6, 10)), 9, axis=1),
    "whole numbers": np.random.default_rng(2).integers(-1, 2, (8, 90)).astype(float),
    "identity": np.eye(90),
    "more rows than columns": np.random.default_rng(3).standard_normal((200, 90)),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("k", [2, 50, 89, 90])
def test_degenerate_factors(name, k):
    """Ties, zeros and low rank: at most k nonzeros, and the value is that of the support."""
    C = DEGENERATE[name]
    found = solve(Pencil(Gram(C)), k, effort="quick" if k > 2 else "normal")
    assert found.k == k or (name == "one column" and found.k == 1)
    assert found.value == pytest.approx(np.linalg.norm(C[:, list(found.support)], 2) ** 2, rel=1e-9, abs=1e-12)


def tied(seed, n):
    """Blocks of equal correlations, their variables shuffled: many supports have the same value."""
    S = np.kron(np.eye(n // 4), np.full((4, 4), 0.5)) + 0.5 * np.eye(n)
    order = np.random.default_rng(seed).permutation(n)
    return Pencil(S[np.ix_(order, order)])


def conditioned(seed, n, cond):
    return Pencil(*referee.random_pencil(seed, n, cond=cond, indefinite=True))


@settings(max_examples=40)
@given(
    st.integers(0, 1000), st.integers(1, 9), st.sampled_from([1.0, 1e2, 1e4, 1e6]), st.sampled_from([0.0, 1.0, 1e-5])
)
def test_exchange_gains_are_positive_exactly_where_an_exchange_raises_the_value(seed, k, cond, shift):
    rng = np.random.default_rng(seed)
    A, B = referee.random_pencil(seed, 10, cond=cond, indefinite=True)
    d = 10.0 ** rng.uniform(-2, 2, 10)
    pencil = Pencil(d[:, None] * (A - shift * np.eye(10)) * d, d[:, None] * B * d)
    support = np.sort(rng.permutation(10)[:k])
    outside = np.setdiff1d(np.arange(10), support)
    value, x = eigenvector_on(pencil, support)
    gains = swap_gains(pencil, support, x, value, np.arange(k), outside)
    for i in range(k):
        for j in range(10 - k):
            after = eigenvector_on(pencil, np.sort(np.append(np.delete(support, i), outside[j])))[0]
            if abs(after - value) > 1e-6 * abs(value):
                assert (gains[i, j] > 0.0) == (after > value)


def test_exchanges_of_uncoupled_variables_are_seen():
    """Diagonal A: x has one nonzero, and neither the bracket of x nor that of j tells anything."""
    pencil = Pencil(np.diag([3.0, 1.0, 2.0, 5.0, 4.0]))
    value, x = eigenvector_on(pencil, np.array([0, 1]))
    gains = swap_gains(pencil, np.array([0, 1]), x, value, np.arange(2), np.array([2, 3, 4]))
    assert (gains > 0.0).tolist() == [[False, True, True], [False, True, True]]
    assert swap_search(pencil, x)[0].nonzero()[0].tolist() == [3]
    assert not swap_gains(
        Pencil(np.zeros((3, 3))), np.arange(1), np.eye(3)[0], 0.0, np.arange(1), np.arange(1, 3)
    ).any()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [tied, lambda seed, n: conditioned(seed, n, 1e4), lambda seed, n: pca(seed, n)])
def test_climbs_end_where_no_exchange_helps(make, seed):
    pencil = make(seed, 16)
    rng = np.random.default_rng(seed)
    starts = np.sort(np.array([rng.permutation(16)[:5] for _ in range(20)]), axis=1)
    climbs = Climbs(pencil)
    climbs.climb(np.vstack([starts, starts[:3]]))
    for start in starts:
        top = np.frombuffer(climbs.end(start.tobytes()), dtype=np.intp)
        value, x = eigenvector_on(pencil, top)
        assert value >= eigenvector_on(pencil, start)[0] * (1 - 1e-12)
        assert best_swap(pencil, top, x, value) is None
    best = climbs.best(1)[0]
    assert eigenvector_on(pencil, best)[0] == pytest.approx(max(climbs.values.values()), rel=1e-9)
    ends = [f"{climbs.values[climbs.end(start.tobytes())]:.9g}" for start in starts]
    assert climbs.lonely(starts) == sum(ends.count(end) == 1 for end in ends)
    assert len(climbs.best(100)) == len(climbs.tops)


@pytest.mark.parametrize("seed", range(3))
def test_climbs_within_groups_stay_there(seed):
    pencil, groups = conditioned(seed, 12, 1e2), np.arange(12) % 3
    climbs, starts = Climbs(pencil, groups), np.array([[0, 1, 2, 3], [2, 5, 8, 11], [0, 4, 7, 10]])
    climbs.climb(starts)
    for start in starts:
        end = np.frombuffer(climbs.end(start.tobytes()), dtype=np.intp)
        assert sorted(groups[end]) == sorted(groups[start])
    assert len(climbs.values) > len(starts)


def test_climbs_never_go_in_circles(monkeypatch):
    """Where an estimate promises what is not there, a climb ends instead of following it."""
    monkeypatch.setattr(swaps, "exchange_gains", lambda A, B, C, *_: np.ones(C.shape))
    pencil = pca(0, 9)
    climbs = Climbs(pencil)
    starts = np.array(list(combinations(range(9), 3)))
    climbs.climb(starts)
    assert all(climbs.values[high] > climbs.values[low] for low, high in climbs.after.items())
    assert climbs.tops | set(climbs.after) == set(climbs.values)


def test_guards_of_climbs_leave_tops():
    pencil = conditioned(1, 12, 1e4)
    climbs = Climbs(pencil)
    climbs.climb(np.array([[0, 1, 2, 3], [5, 6, 7, 8]]), max_swaps=1)
    assert climbs.lonely(np.array([[0, 1, 2, 3], [5, 6, 7, 8]])) == 2
    assert climbs.lonely(np.array([[0, 1, 2, 3], [0, 1, 2, 3]])) == 0


@pytest.mark.parametrize("cond", [1e4, 1e6])
@pytest.mark.parametrize("seed", range(4))
def test_the_search_alone_is_exact_in_an_ill_conditioned_metric(seed, cond, monkeypatch):
    monkeypatch.setattr(supports, "EVERY", 0)
    pencil = conditioned(seed, 13, cond)
    for k in (3, 6, 9):
        best, _ = referee.best_subset(*pencil.dense(), k)
        assert solve(pencil, k, check_path=False).value == pytest.approx(best, rel=1e-6)


def test_a_lone_optimum_in_an_ill_conditioned_metric_is_found():
    """Six of 17 variables, cond(B) = 1e8: the second best top is worth a third of the best, and easier to come to."""
    rng = np.random.default_rng(17020)
    Q = np.linalg.qr(rng.standard_normal((17, 17)))[0]
    X = rng.standard_normal((22, 17))
    pencil = Pencil(np.cov(X.T, bias=True), (Q * np.geomspace(1e-8, 1.0, 17)) @ Q.T)
    best, _ = referee.best_subset(*pencil.dense(), 6)
    assert solve(pencil, 6, check_path=False).value == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_units_of_the_variables_do_not_matter(seed):
    """(DAD, DBD) has the same supports; D over six decades."""
    A, B = conditioned(seed, 20, 1e2).dense()
    d = 10.0 ** np.random.default_rng(seed).uniform(-3, 3, 20)
    plain = solve(Pencil(A, B), 6, check_path=False)
    scaled = solve(Pencil(d[:, None] * A * d, d[:, None] * B * d), 6, check_path=False)
    assert scaled.support == plain.support
    assert scaled.value == pytest.approx(plain.value, rel=1e-9)


@pytest.mark.parametrize("seed", [0, 1])
def test_eight_friends_among_three_hundred(seed):
    """λmax of eight vertices of a graph is at most 7, and 7 only where all know one another."""
    graph = np.triu(np.random.default_rng(seed).random((300, 300)) < 0.3, 1).astype(float)
    assert solve(Pencil(graph + graph.T), 8).value == pytest.approx(7.0, rel=1e-12)


@pytest.mark.parametrize(
    ("n", "sign", "support"),
    [
        (300, 0, [27, 106, 141, 159, 187, 213, 245, 287]),
        (80, -1, [21, 29, 35, 41, 43, 46, 47, 67, 69, 77]),
    ],
)
def test_supports_that_exchanges_from_few_starts_miss(n, sign, support):
    """A random symmetric matrix, and minus a random covariance; the supports are known to be good, not the best."""
    M = np.random.default_rng(1).standard_normal((n - 10 * sign, n))
    pencil = Pencil(M + M.T if sign == 0 else sign * M.T @ M)
    found = solve(pencil, len(support))
    assert found.value >= support_values(pencil, np.array([support]))[0] * (1.0 - 1e-9 * np.sign(found.value))


def test_the_leading_eigenvector_is_not_the_only_start_on_a_large_factor():
    """As a share of the dense variance; from the leading eigenvector alone it is 0.480."""
    C = np.random.default_rng(1).standard_normal((62, 2000))
    pencil = Pencil(Gram(C - C.mean(axis=0)))
    assert solve(pencil, 200).value >= 0.494 * pencil.lambda_max


@pytest.mark.parametrize("metric", [True, False])
def test_climbs_on_a_factor_are_those_on_its_matrix(metric):
    rng = np.random.default_rng(2)
    C, B = rng.standard_normal((7, 30)), conditioned(2, 30, 1e2).dense()[1] if metric else None
    starts = np.array([np.sort(rng.permutation(30)[:5]) for _ in range(6)])
    factor, matrix = Climbs(Pencil(Gram(C), B)), Climbs(Pencil(C.T @ C, B))
    for climbs in (factor, matrix):
        climbs.climb(starts)
    assert factor.tops == matrix.tops
    assert all(factor.values[key] == pytest.approx(matrix.values[key]) for key in matrix.tops)


def test_crossed_tops_keep_what_both_have_and_the_numbers_of_the_groups():
    plan = ((np.arange(0, 10), 3), (np.arange(10, 20), 2))
    tops = [np.array([0, 1, 2, 10, 11]), np.array([0, 3, 4, 11, 12]), np.array([0, 5, 6, 11, 13])]
    generator = np.random.default_rng(0)
    children = [supports.crossed(tops, plan, generator) for _ in range(30)]
    assert len({child.tobytes() for child in children}) > 10
    for child in children:
        assert {0, 11} <= set(child.tolist()) <= set(np.concatenate(tops).tolist())
        assert np.count_nonzero(child < 10) == 3
        assert len(child) == 5


def test_elimination_keeps_what_carries_the_value():
    """With noise far below the planted pencil the planted variables are left, for any k; k = n is all of them."""
    A, B = referee.random_pencil(3, 5, cond=1e3)
    rng = np.random.default_rng(0)
    big = np.diag(rng.uniform(1e-6, 1e-5, 90))
    big[20:25, 20:25] = A
    metric = np.eye(90)
    metric[20:25, 20:25] = B
    pencil = Pencil(big, metric)
    assert eliminated(pencil, 5).tolist() == [20, 21, 22, 23, 24]
    assert set(range(20, 25)) <= set(eliminated(pencil, 30).tolist())
    assert len(eliminated(pencil, 90)) == 90


def test_no_lasso_where_it_would_take_long(monkeypatch):
    """Many variables of many in a matrix metric: no one-shot steps at all."""
    monkeypatch.setattr(supports, "one_shot", lambda *_: pytest.fail("a LASSO"))
    pencil = conditioned(0, 130, 1e6)
    found = solve(pencil, 65, check_path=False)
    assert found.k == 65
    assert found.value <= pencil.lambda_max
    assert solve(pencil, 65, effort="quick", check_path=False).value <= found.value * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("h", "ks"), [(6, (2, 3)), (7, (3, 1)), (5, (5, 2))])
def test_views_are_solved_exactly(seed, h, ks):
    pencil = cca_pencil(*np.hsplit(np.random.default_rng(seed).standard_normal((30, 2 * h)), 2), ridge=0.01)
    table = [
        [*left, *(h + j for j in right)]
        for left in combinations(range(h), ks[0])
        for right in combinations(range(h), ks[1])
    ]
    best = float(np.max(support_values(pencil, np.array(table))))
    found = solve_views(pencil, ks)
    assert found.value == pytest.approx(best, rel=1e-9)
    assert (sum(i < h for i in found.support), sum(i >= h for i in found.support)) == ks


def population(left, right):
    """CCA of known covariances: the first four variables of a view against five of the other, correlation 0.8."""
    h = len(left)
    u, v = np.zeros(h), np.zeros(h)
    u[:4], v[3:8] = 1.0, [1.0, -1.0, 1.0, 1.0, -1.0]
    u, v = u / np.sqrt(u @ left @ u), v / np.sqrt(v @ right @ v)
    A, B = np.zeros((2 * h, 2 * h)), np.zeros((2 * h, 2 * h))
    A[:h, h:] = 0.8 * np.outer(left @ u, right @ v)
    B[:h, :h], B[h:, h:] = left, right
    return Pencil(A + A.T, B, blocks=(h, h))


@pytest.mark.parametrize("name", ["identity", "equal correlations", "equal blocks", "one block", "decay in blocks"])
def test_known_covariances_with_equal_eigenvalues_are_solved(name):
    def equal(size, r):
        return np.kron(np.eye(40 // size), np.full((size, size), r)) + (1.0 - r) * np.eye(40)

    decay = np.kron(np.eye(4), 0.7 ** np.abs(np.subtract.outer(np.arange(10), np.arange(10))))
    left, right = {
        "identity": (np.eye(40), np.eye(40)),
        "equal correlations": (equal(8, 0.5), equal(8, 0.3)),
        "equal blocks": (equal(8, 0.5), equal(8, 0.5)),
        "one block": (equal(40, 0.5), equal(40, 0.3)),
        "decay in blocks": (decay, decay),
    }[name]
    pencil = population(left, right)
    assert solve(pencil, 9, check_path=False).value == pytest.approx(0.8, rel=1e-9)


def test_one_blas_thread_ends_with_the_outermost_context_even_after_an_error():
    from threadpoolctl import threadpool_info

    from dcgev_cvx._numerics.threads import one_thread

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    with one_thread, one_thread:
        assert set(threads()) == {1}
    with pytest.raises(ZeroDivisionError), one_thread:
        divmod(1, 0)
    assert threads() == before


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_greedy_and_spread_do_not_overflow(scale):
    """Products of three entries leave floating point: the units are taken out first."""
    rng = np.random.default_rng(0)
    G = rng.standard_normal((9, 20))
    plain = Pencil(G @ G.T, G @ G.T + np.eye(9))
    pencil = Pencil(scale * plain.A, scale * plain.B)
    root = np.sqrt(scale)
    assert root * paths.greedy(pencil, 4) == pytest.approx(paths.greedy(plain, 4), rel=1e-9)
    flat = Pencil(scale * np.eye(4), scale * np.eye(4))
    assert np.count_nonzero(paths.spread(flat, np.array([1.0, 0.0, 0.0, 0.0]) / root, 3)) == 3
