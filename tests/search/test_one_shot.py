"""MM steps that keep exactly k coordinates."""

import subprocess
import sys

import numpy as np
import pytest
from families import pca

from dcgev_cvx import Gram, Pencil, SparseGEV
from dcgev_cvx.penalties import log_scale
from dcgev_cvx.search.one_shot import one_shot, survivors
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


@pytest.mark.parametrize("shape", [(20, 14), (30, 90)])
def test_one_shot_is_the_step_of_the_paper_at_each_level(shape):
    C = np.random.default_rng(4).standard_normal(shape)
    for pencil in (Pencil(C.T @ C), Pencil(Gram(C))):
        x, rho = pencil.leading_vector, 0.0
        for level in LEVELS:
            x, rho, _ = steps_at(C.T @ C, x, 5, level, 40)
        found, found_rho = one_shot(pencil, 5, pencil.leading_vector)
        assert found == pytest.approx(x, abs=1e-9)
        assert found_rho == pytest.approx(rho, rel=1e-9)


def test_all_variables_are_kept_as_they_are_without_a_penalty():
    x, rho = one_shot(Pencil(np.diag([1.0, 2.0])), 2, np.array([3.0, 0.0]))
    assert (x.tolist(), rho) == ([1.0, 0.0], 0.0)


def test_where_all_scores_tie_x_stays():
    x = np.full(4, 0.5)
    z, rho = survivors(x, x, 2, 1.0)
    assert np.array_equal(z, x)
    assert rho == 1.0


@pytest.mark.parametrize("k", [1, 3, 6, 14])
def test_one_shot_keeps_k(k):
    pencil = pca(1)
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


def test_data_from_samples_need_no_compiler():
    """numba and its compilation stay out of PCA from wide data."""
    code = (
        "import sys, numpy as np; from dcgev_cvx import Gram, Pencil, solve; "
        "solve(Pencil(Gram(np.random.default_rng(0).standard_normal((20, 90)))), 5); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
