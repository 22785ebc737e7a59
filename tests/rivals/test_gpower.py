"""GPower's ascent."""

import numpy as np
from numpy.testing import assert_allclose
from small_problems import gaussian

from dcgev_cvx import Pencil, rivals
from dcgev_cvx.rivals.gpower import ascend, gamma_max


def test_gpower_ascends_and_ends_at_a_fixed_point():
    """At the limit z is the normalised gradient, and x the thresholded correlations (Eq:journee)."""
    C = np.random.default_rng(1).standard_normal((20, 60))
    run = ascend(C, 4.0, tol=0.0, max_iter=5000)
    z = C @ run.x
    z /= np.linalg.norm(z)
    s = C.T @ z
    x = np.where(s * s > 4.0, s, 0.0)
    assert run.converged
    assert_allclose(x / np.linalg.norm(x), run.x, atol=1e-7)


def test_gpower_objective_never_falls():
    C = np.random.default_rng(2).standard_normal((15, 50))
    gamma = 0.2 * gamma_max(C)

    def objective(z):
        s = C.T @ z
        return np.sum(np.maximum(s * s - gamma, 0))

    values = []
    for steps in range(1, 12):
        x = ascend(C, gamma, tol=-1.0, max_iter=steps).x
        z = C @ x
        values.append(objective(z / np.linalg.norm(z)))
    assert np.all(np.diff(values) >= -1e-9)


def test_gpower_at_gamma_max_has_no_column_left():
    C = np.random.default_rng(3).standard_normal((5, 8))
    assert not ascend(C, 1.0001 * gamma_max(C)).x.any()


def test_gpower_from_covariance_and_from_data_agree():
    data = gaussian(40, 12)
    dense = Pencil(data.dense()[0])
    for k in (3, 7):
        assert_allclose(rivals.gpower(data, k, start="leading").value, rivals.gpower(dense, k, start="leading").value)


def test_out_of_iterations_is_said():
    found = rivals.gpower(gaussian(20, 40), 10, max_iter=2, tol=0.0)
    assert found.method == "gpower-l0 (out of iterations)"
