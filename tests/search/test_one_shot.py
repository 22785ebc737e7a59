"""MM steps that keep exactly k coordinates."""

import subprocess
import sys

import numpy as np
import pytest
from families import cca, factor, graded, pca

from dcgev_cvx import Gram, Pencil, SparseGEV
from dcgev_cvx.penalties import log_scale
from dcgev_cvx.search import one_shot as module
from dcgev_cvx.search.one_shot import STILL, factor_steps, one_shot, settle, survivors
from dcgev_cvx.steps.closed import soft_threshold_step

LEVELS = [10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001]


def steps_at(A, x, k, level, steps):
    """(x, ρ_ε, did x stop moving?) after steps (ALG-S) written out, ρ_ε being the (k+1)-th largest score."""
    rho = 0.0
    for _ in range(steps):
        c, room = A @ x, np.abs(x) + level * np.max(np.abs(x))
        rho = np.sort(2.0 * np.abs(c) * room)[-k - 1]
        z = np.sign(c) * np.maximum(np.abs(c) - 0.5 * rho / room, 0.0)
        before, x = x, z / np.linalg.norm(z)
        if np.linalg.norm(x - before) <= 3e-3:
            return x, rho, True
    return x, rho, False


def test_a_matrix_takes_forty_steps_at_each_level_with_the_smallest_shift():
    pencil = graded(0, 12, metric=False)
    A, x = pencil.A - min(0.0, np.linalg.eigvalsh(pencil.A)[0]) * np.eye(12), np.ones(12) / np.sqrt(12.0)
    for level in LEVELS:
        x, rho, _ = steps_at(A, x, 3, level, 40)
    found = one_shot(pencil, 3, np.full(12, 7.0))
    assert found[0] == pytest.approx(x, abs=1e-9)
    assert found[1] == pytest.approx(rho, rel=1e-9)


def test_a_factor_of_up_to_6k_columns_takes_all_steps_on_all_of_them():
    C, x = np.random.default_rng(3).standard_normal((5, 17)), np.ones(17) / np.sqrt(17.0)
    for level in LEVELS:
        x, rho, _ = steps_at(C.T @ C, x, 3, level, 40)
    found = factor_steps(Gram(C), 3, np.ones(17) / np.sqrt(17.0))
    assert found[0] == pytest.approx(x, abs=1e-9)
    assert found[1] == pytest.approx(rho, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_wider_factor_takes_two_steps_on_all_columns_and_the_others_on_3k(seed, monkeypatch):
    C, x = np.random.default_rng(seed).standard_normal((5, 18)), np.ones(18) / np.sqrt(18.0)
    A, pools = C.T @ C, []
    for level in LEVELS:
        x, rho, still = steps_at(A, x, 3, level, 2)
        if not still:
            score = np.abs(A @ x) * (np.abs(x) + level * np.max(np.abs(x)))
            pool = np.union1d(np.argsort(-score)[:9], np.flatnonzero(x))
            pools.append(len(pool))
            part, rho, _ = steps_at(A[np.ix_(pool, pool)], x[pool], 3, level, 38)
            x = np.zeros(18)
            x[pool] = part
    sizes, plain = [], module.settle
    monkeypatch.setattr(
        module, "settle", lambda product, y, *rest: sizes.append((len(y), rest[-1])) or plain(product, y, *rest)
    )
    found = factor_steps(Gram(C), 3, np.ones(18) / np.sqrt(18.0))
    assert [size for size in sizes if size != (18, 2)] == [(size, 38) for size in pools] != []
    assert found[0] == pytest.approx(x, abs=1e-9)
    assert found[1] == pytest.approx(rho, rel=1e-9)


def test_where_no_more_than_k_columns_have_a_score_there_is_no_pool():
    C = np.zeros((2, 20))
    C[0, 3], C[1, 5] = 1.0, 0.99
    x, rho = factor_steps(Gram(C), 2, np.ones(20))
    assert np.flatnonzero(x).tolist() == [3, 5]
    assert x[5] / x[3] == pytest.approx(0.99 ** (2 * 2 * len(LEVELS)), rel=1e-9)
    assert rho == 0.0


@pytest.mark.parametrize(("rows", "dtype"), [(100, np.float64), (101, np.float32)])
def test_a_factor_of_more_than_ten_thousand_numbers_is_searched_in_single_precision(rows, dtype, monkeypatch):
    types, plain = set(), module.settle
    monkeypatch.setattr(module, "settle", lambda product, x, *rest: types.add(x.dtype) or plain(product, x, *rest))
    x, _ = factor_steps(Gram(np.random.default_rng(0).standard_normal((rows, 100))), 5, np.ones(100))
    assert types == {np.dtype(dtype)}
    assert (x.dtype, np.linalg.norm(x)) == (np.float64, pytest.approx(1.0, rel=1e-14))


def test_with_a_metric_the_compiled_steps_get_the_levels_and_a_wider_stop(monkeypatch):
    pencil = graded(1, 8)
    values = np.linalg.eigvalsh(np.linalg.solve(pencil.cholesky, np.linalg.solve(pencil.cholesky, pencil.A).T))
    seen = []
    monkeypatch.setattr("dcgev_cvx.steps.kernels.one_shot_gev", lambda *given: seen.append(given) or 5.0)
    x, rho = one_shot(pencil, 3, np.ones(8))
    ((A, B, L, tau, k, start, levels, steps, still),) = seen
    assert all(np.array_equal(given, own) for given, own in ((A, pencil.A), (B, pencil.B), (L, pencil.cholesky)))
    assert tau == pytest.approx(-values[0], rel=1e-6)
    assert (k, levels.tolist(), steps, still, rho) == (3, LEVELS, 40, 0.03, 5.0)
    assert start == pytest.approx(np.ones(8) / np.sqrt(np.sum(pencil.B)), rel=1e-12)
    kept = np.argsort(-pencil.B_roots)[:3]
    assert np.flatnonzero(x).tolist() == np.sort(kept).tolist()


def test_a_factor_with_a_metric_needs_no_shift(monkeypatch):
    shifts = []
    monkeypatch.setattr(
        "dcgev_cvx.steps.kernels.one_shot_gev", lambda A, B, L, tau, *_: shifts.append((A.shape, tau)) or 0.0
    )
    one_shot(Pencil(Gram(np.ones((2, 5))), np.diag(np.arange(1.0, 6.0))), 3, np.ones(5))
    assert shifts == [((5, 5), 0.0)]


def test_all_variables_are_kept_as_they_are_without_a_penalty():
    x, rho = one_shot(Pencil(np.diag([1.0, 2.0]), np.diag([4.0, 4.0])), 2, np.array([3.0, 0.0]))
    assert (x.tolist(), rho) == ([0.5, 0.0], 0.0)


def test_where_all_scores_tie_x_stays():
    x = np.full(4, 0.5)
    z, rho = survivors(x, x, 2, 1.0)
    assert np.array_equal(z, x)
    assert rho == 1.0


def test_products_of_few_rows_of_a_large_factor_are_those_of_all():
    R, x = np.random.default_rng(0).standard_normal((1000, 100)), np.zeros(1000)
    x[[3, 50, 700]] = 1.0, -2.0, 3.0
    assert module.gram_product(R)(x) == pytest.approx(R @ (R.T @ x), rel=1e-9)


@pytest.mark.parametrize("make", [pca, cca])
@pytest.mark.parametrize("k", [1, 3, 6, 14])
def test_one_shot_keeps_k(make, k):
    pencil = make(1)
    x, rho = one_shot(pencil, k, pencil.leading_vector)
    assert 1 <= np.count_nonzero(x) <= k
    assert rho >= 0.0


def test_survivors_is_the_step_of_its_own_program():
    """The ρ_ε that keeps k makes (ALG-S) return the same vector."""

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
    rows, _ = one_shot(Pencil(A), k, x0)
    dense, _ = one_shot(Pencil(A.toarray()), k, x0)
    assert Pencil(A).A_quad(rows) == pytest.approx(Pencil(A).A_quad(dense), rel=0.03)
    assert np.count_nonzero(rows) == k


def test_single_precision_decides_the_support_only():
    """A factor of 10⁴ numbers is searched in double precision, a larger one in single precision."""
    A = factor(1, 40, 240)
    wider = np.vstack([A.C, np.zeros((5, 240))])  # the same A, but more numbers
    double, _ = one_shot(Pencil(A), 20, Pencil(A).leading_vector)
    single, _ = one_shot(Pencil(type(A)(wider)), 20, Pencil(A).leading_vector)
    assert A.C.size <= 10**4 < wider.size
    assert single.dtype == np.float64
    assert np.linalg.norm(single) == pytest.approx(1.0, rel=1e-14)
    assert np.array_equal(np.flatnonzero(single), np.flatnonzero(double))


def test_data_from_samples_need_no_compiler():
    """numba and its compilation stay out of PCA from wide data."""
    code = (
        "import sys, numpy as np; from dcgev_cvx import Gram, Pencil, solve; "
        "solve(Pencil(Gram(np.random.default_rng(0).standard_normal((20, 90)))), 5); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0


def test_a_level_ends_once_x_hardly_moves():
    pencil, seen = pca(0, 16), []

    def product(y):
        seen.append(y)
        return pencil.A_dot(y)

    x, _, still = settle(product, pencil.leading_vector, 4, 0.3, 40)
    moves = np.linalg.norm(np.diff([*seen, x], axis=0), axis=1)
    assert still
    assert len(moves) > 2
    assert moves[-1] <= STILL < moves[:-1].min()
    assert not settle(product, pencil.leading_vector, 4, 0.3, 2)[2]


def test_a_factor_in_another_unit_gives_the_same_x_and_a_penalty_in_that_unit():
    C, x = np.random.default_rng(0).standard_normal((8, 40)), np.ones(40)
    plain, rho = factor_steps(Gram(C), 4, x)
    scaled, other = factor_steps(Gram(2.0**20 * C), 4, x)
    assert np.array_equal(plain, scaled)
    assert other == 4.0**20 * rho > 0.0
