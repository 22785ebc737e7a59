"""MM steps that keep exactly k coordinates."""

import subprocess
import sys

import numpy as np
import pytest
from families import cca, factor, pca

from dcgev_cvx import Gram, Pencil, SparseGEV
from dcgev_cvx.programs import log_scale
from dcgev_cvx.search.one_shot import STILL, factor_steps, one_shot, settle, survivors
from dcgev_cvx.steps.closed import soft_threshold_step


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
