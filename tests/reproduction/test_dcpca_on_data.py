"""DC-PCA in plain NumPy, as Tables 2 and 4 time it: the steps of ALG-S and their start."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dcgev_cvx import Gram, Pencil, dc_pca
from dcgev_cvx.reproduction.dcpca_on_data import descend, krylov_start, rho_max
from dcgev_cvx.reproduction.tables34 import planted
from dcgev_cvx.rivals.gpower import combined
from dcgev_cvx.rivals.sparse_pca import longest_column


def gaussian(p, n, seed):
    return np.random.default_rng(seed).standard_normal((p, n))


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5])
def test_the_timed_loop_is_dc_pca(share):
    """Same start, same ρ̃: the bare loop with shrinking ends where the certified driver ends (ALG-S)."""
    C = gaussian(20, 60, [1, 2])
    pencil = Pencil(Gram(C))
    start = krylov_start(C)
    rho = share * rho_max(C, start)
    bare = descend(C, rho, start, tol=0.0, max_iter=3000)
    certified = dc_pca(pencil, rho=rho, x0=start)
    assert bare.converged
    assert np.array_equal(bare.x != 0.0, certified.x != 0.0)
    assert_allclose(bare.x, certified.x, atol=1e-6)


def test_a_run_that_is_out_of_steps_has_not_converged():
    C = gaussian(20, 60, [1, 2])
    start = krylov_start(C)
    found = descend(C, 0.05 * rho_max(C, start), start, max_iter=2)
    assert (found.steps, found.converged) == (2, False)


def test_the_start_is_the_longest_column_if_that_explains_a_quarter():
    """Otherwise a few Krylov steps come near the largest eigenvalue."""
    dominant, noise = planted(20, 60, 0.9, 0), gaussian(50, 60, [1])
    for C in (dominant, noise):
        assert_allclose(np.linalg.norm(krylov_start(C)), 1.0)
    column = longest_column(dominant)[0] @ dominant
    assert_allclose(krylov_start(dominant), column / np.linalg.norm(column))
    column = longest_column(noise)[0] @ noise
    top = Pencil(Gram(noise)).lambda_max
    near, far = (np.sum((noise @ x) ** 2) / (x @ x) for x in (krylov_start(noise), column))
    assert near > 0.85 * top > 0.8 * top > far


def test_a_run_collapses_at_its_largest_rho():
    C = gaussian(10, 30, [3])
    start = krylov_start(C)
    assert not descend(C, 1.0001 * rho_max(C, start), start).x.any()
    assert descend(C, 0.95 * rho_max(C, start), start).x.any()


def test_without_a_penalty_the_iteration_is_the_power_method():
    C = gaussian(8, 12, [4])
    found = descend(C, 0.0, krylov_start(C), tol=0.0, max_iter=5000).x
    assert_allclose(np.sum((C @ found) ** 2), Pencil(Gram(C)).lambda_max, rtol=1e-8)
    zero = np.zeros((2, 5))
    assert not descend(zero, 0.0, krylov_start(zero)).x.any()
    assert rho_max(zero, krylov_start(zero)) == 0.0


def test_a_zero_loading_has_no_sign():
    C = gaussian(30, 200, [5])
    start = krylov_start(C)
    x = descend(C, 0.1 * rho_max(C, start), start).x
    assert np.count_nonzero(x) < 200
    assert not np.signbit(x[x == 0.0]).any()


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_longest_column_is_the_first_among_equals(order):
    C = np.array([[0.0, 0.6, 0.8, 1.0], [0.5, 0.8, 0.6, 0.0]], order=order)
    C[:, 3] *= 1.0 + 2e-16  # longer by rounding alone
    z, squares = longest_column(C)
    assert_allclose(z, [0.6, 0.8], rtol=1e-15)
    assert_allclose(squares, 3.25, rtol=1e-15)
    C[:, 3] *= 1.001
    assert_allclose(longest_column(C)[0], [1.0, 0.0], rtol=1e-15)
    assert not longest_column(np.zeros((2, 3)))[0].any()


@pytest.mark.parametrize("count", [1, 10, 40])
def test_a_product_with_few_columns_touches_few(count):
    C = gaussian(5, 50, [9])
    t = np.zeros(50)
    t[:count] = 1.0 + np.arange(count)
    found, share = combined(C, t)
    assert_allclose(found, C @ t, rtol=1e-12)
    assert share == (1.0 if count == 40 else count / 50)
