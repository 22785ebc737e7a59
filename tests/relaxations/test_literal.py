"""The SDP of Section 3 as printed says λmax(A, B), whatever the radius."""

import numpy as np
import pytest

from dcgev_cvx import Pencil
from dcgev_cvx.datasets import pitprops
from dcgev_cvx.relaxations import literal_dual, literal_sdp


@pytest.mark.parametrize("radius", [0.1, 1.0, 2.0, 8.0])
def test_the_literal_sdp_says_lambda_max_whatever_the_radius(radius):
    rng = np.random.default_rng(0)
    G, H = rng.standard_normal((8, 8)), rng.standard_normal((8, 20))
    pencil = Pencil(G + G.T, H @ H.T / 20 + 0.1 * np.eye(8))
    primal, dual = literal_sdp(pencil, radius), literal_dual(pencil, radius)
    # strong duality, and both are the dense eigenvalue: the SDP of Section 3 does not see the radius
    assert primal.value == pytest.approx(pencil.lambda_max, rel=1e-6)
    assert dual.value == pytest.approx(pencil.lambda_max, rel=1e-6)
    assert primal.upper_bound == dual.upper_bound >= pencil.lambda_max
    assert primal.dimacs.worst < 1e-6
    assert dual.dimacs.worst < 1e-6


def test_two_points_prove_the_vacuity_without_a_solver():
    pencil = pitprops()
    v, top = pencil.leading_vector, pencil.lambda_max
    X = np.outer(v, v)  # with x = 0: feasible for every radius
    assert np.sum(X * pencil.A) == pytest.approx(top)
    assert np.trace(X) <= 1.0 + 1e-12
    assert np.linalg.eigvalsh(top * np.eye(13) - pencil.A)[0] >= -1e-12  # r = 0, β = 0, t = 0, μ = λmax
