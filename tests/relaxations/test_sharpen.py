"""A solver that was stopped early: its bound is improved, and holds."""

import pytest
from small_problems import random_cca

from dcgev_cvx import Backend
from dcgev_cvx.datasets import pitprops
from dcgev_cvx.exact import brute_force
from dcgev_cvx.relaxations import entrywise_sdp, homogeneous_sdp, radius_for


@pytest.mark.parametrize("iterations", [20, 50, 100])
def test_a_solver_stopped_early_gives_a_worse_bound_never_a_wrong_one(iterations):
    for pencil, k in ((pitprops(), 6), (random_cca(), 4)):
        truth = brute_force(pencil, k).value
        sloppy = Backend("SCS", {"max_iters": iterations})
        for relaxed in (
            homogeneous_sdp(pencil, k, solver=sloppy),
            entrywise_sdp(pencil, radius_for(pencil, k, "valid"), solver=sloppy),
        ):
            assert truth <= relaxed.upper_bound <= pencil.lambda_max * (1.0 + 1e-9)


def test_sharpening_pays():
    relaxed = homogeneous_sdp(pitprops(), 6, solver=Backend("SCS", {"max_iters": 50}))
    assert relaxed.upper_bound < 4.0
