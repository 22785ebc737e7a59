"""Coordinate descent on the weighted LASSO: its gap and its bounds."""

import numpy as np
import pytest
import referee

from dcgev_cvx.steps.kernels import duality_gap, weighted_lasso


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
