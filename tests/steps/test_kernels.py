"""Coordinate descent on the weighted LASSO: its gap, its bounds, its search for k."""

import numpy as np
import pytest
import referee

from dcgev_cvx.steps.kernels import duality_gap, lasso_for_k, weighted_lasso


def lasso(seed, n=12):
    rng = np.random.default_rng(seed)
    _, B = referee.random_pencil(seed, n, cond=30.0)
    c = rng.standard_normal(n)
    p = rng.uniform(0.1, 1.5, n)
    return B, c, p, float(c @ np.linalg.solve(B, c))


@pytest.mark.parametrize("seed", range(10))
def test_the_gap_bounds_the_distance(seed):
    """P(z) − D(u) ≥ ‖z − z*‖²_B at any z, and the kernel's last z meets the gap it was asked for."""
    B, c, p, square = lasso(seed)
    best = np.zeros_like(c)
    weighted_lasso(B, 0.0, 1.0, c, p, best, B @ best, square, 1e-12, 100_000)
    z = best + 0.1 * np.random.default_rng(seed).standard_normal(len(c))
    gap = duality_gap(1.0, c, p, z, B @ z, square)
    assert gap >= (z - best) @ B @ (z - best) - 1e-12
    z = np.zeros_like(c)
    weighted_lasso(B, 0.0, 1.0, c, p, z, B @ z, square, 1e-3, 100_000)
    assert duality_gap(1.0, c, p, z, B @ z, square) <= 1e-6 * square


def test_the_kernel_is_bounded():
    """A tolerance that cannot be met ends at the given number of sweeps, with finite numbers."""
    B, c, p, square = lasso(0)
    z = np.zeros_like(c)
    assert weighted_lasso(B, 0.0, 1.0, c, p, z, B @ z, square, 0.0, 7) <= 7
    assert np.all(np.isfinite(z))


@pytest.mark.parametrize("k", [1, 4, 11])
def test_a_slope_for_every_cardinality(k):
    """lasso_for_k leaves exactly k coordinates, and its z is the LASSO's minimiser at the slope it returns."""
    B, c, _, square = lasso(k)
    w = np.random.default_rng(k).uniform(0.5, 2.0, len(c))
    z = np.zeros_like(c)
    q = B @ z
    rho = lasso_for_k(B, np.linalg.cholesky(B), c, w, k, z, q, 1e-6)
    assert np.count_nonzero(z) == k
    again = np.zeros_like(c)
    weighted_lasso(B, 0.0, 1.0, c, rho * w, again, B @ again, square, 1e-9, 100_000)
    assert np.max(np.abs(z - again)) <= 1e-4
    assert np.allclose(q, B @ z)
