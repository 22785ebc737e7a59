"""Shrinking and extrapolation change the time a run takes, not what it is."""

import subprocess
import sys

import numpy as np
import pytest
from small_problems import cca

from dcgev_cvx import (
    Pencil,
    SparseGEV,
    certify,
    minimize,
    sparse_fda,
    sparse_gev,
)
from dcgev_cvx.steps.accelerate import Accelerated, anderson_combination
from dcgev_cvx.steps.closed import soft_threshold_step
from dcgev_cvx.steps.native import native_step


@pytest.mark.parametrize("eps", [1.0, 1e-2, 2.2e-16])
@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_extrapolation_descends_and_certifies(eps, shift):
    """f never rises, every step's sandwich holds at its own origin, and the end is as stationary, sooner."""
    A, B = cca(seed=1)
    program = SparseGEV(Pencil(A, B), 0.05, eps, shift=shift)
    plain = minimize(program, native_step)
    quick = minimize(program, Accelerated(native_step))
    assert quick.converged
    assert quick.certificate.passes()
    assert quick.certificate.sandwich == 0.0
    assert all(b.f <= a.f + 1e-12 * abs(a.f) for a, b in zip(quick.history, quick.history[1:], strict=False))
    assert quick.n_iter < plain.n_iter
    assert quick.f <= plain.f + 1e-6 * abs(plain.f)
    assert any(it.origin is not None for it in quick.history)


def test_a_short_run_needs_no_compiler():
    """Importing numba takes longer than a run on few variables."""
    code = "import sys; from dcgev_cvx import datasets, dc_pca; dc_pca(datasets.pitprops(), rho=4.84, engine='native')"
    subprocess.run([sys.executable, "-c", f"{code}; assert 'numba' not in sys.modules"], check=True)


def test_a_false_origin_is_seen():
    """An extrapolation that raised f would be found by the certificate, from the data."""
    A, B = cca(seed=2)
    program = SparseGEV(Pencil(A, B), 0.05, shift="metric")
    run = minimize(program, Accelerated(native_step))
    from dataclasses import replace

    index = next(i for i, it in enumerate(run.history) if it.origin is not None)
    forged = list(run.history)
    forged[index] = replace(forged[index], origin=0.1 * forged[index].origin)
    assert certify(program, run.x, forged).sandwich > 1e-6


@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_engines_meet(shift):
    """The same stationary point by CVXPY and natively, where the run is not at a fork."""
    A, B = cca(seed=3)
    slow = sparse_gev(A, B, rho=0.4, shift=shift)
    fast = sparse_gev(A, B, rho=0.4, shift=shift, engine="native")
    assert slow.converged
    assert fast.converged
    assert slow.support == fast.support
    assert np.max(np.abs(slow.x - fast.x)) <= 1e-6


def test_fda_natively():
    _, B = cca(seed=4)
    a = np.random.default_rng(4).standard_normal(40)
    slow = sparse_fda(a, B, nu=0.01)
    fast = sparse_fda(a, B, nu=0.01, engine="native")
    assert slow.converged
    assert fast.converged
    assert fast.certificate.passes()
    assert fast.f <= slow.f + 1e-6 * abs(slow.f)


def test_pca_natively(pitprops):
    fast = sparse_gev(pitprops, rho=4.84, engine="native")
    slow = minimize(fast.program, soft_threshold_step)
    assert fast.support == slow.support
    assert np.max(np.abs(fast.x - slow.x)) <= 1e-6
    assert fast.n_iter < slow.n_iter


def test_two_images_are_enough_to_combine():
    images, moves = np.array([[1.0, 1.0], [1.5, 1.4]]), np.array([[1.0, 0.8], [0.5, 0.4]])
    assert anderson_combination(images, moves) == pytest.approx([2.0, 1.8])  # a geometric series, summed
    assert anderson_combination(images[:1], moves[:1]) is None


def test_a_combination_has_the_smallest_move_among_those_whose_weights_sum_to_one():
    """Two coordinates and three images: one combination does not move at all."""
    images = np.array([[1.0, 3.0], [2.0, 4.0], [2.5, 4.25]])
    moves = np.array([[1.0, 0.5], [0.5, 0.75], [0.25, -0.125]])
    weights = np.linalg.solve(np.vstack([moves.T, np.ones(3)]), [0.0, 0.0, 1.0])
    assert anderson_combination(images, moves) == pytest.approx(weights @ images, rel=1e-12)
