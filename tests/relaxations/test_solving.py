"""Solvers that return wrong numbers, or none: the bound holds, or SolverFailed is raised."""

import numpy as np
import pytest
from lying_solver import EVERY_FAULT, FAULTS, ODD, SDPS, lie
from small_problems import random_cca

from dcgev_cvx import Backend, InvalidPencil, Pencil, SolverFailed
from dcgev_cvx.datasets import pitprops, planted_pca
from dcgev_cvx.exact import brute_force
from dcgev_cvx.relaxations import entrywise_sdp, homogeneous_sdp, radius_for
from dcgev_cvx.relaxations.bounds import valid_radius


@pytest.mark.parametrize("fault", ["nan", "none", "shape", "flip"])
def test_a_lying_solver_is_refused_or_outlived(monkeypatch, fault):
    def spoil(problem):
        constraint = problem.constraints[0]
        S = constraint.dual_value
        bad = {"nan": np.full_like(S, np.nan), "none": None, "shape": S[:2, :2], "flip": -7.0 * S}[fault]
        constraint.dual_variables[0].save_value(bad)

    lie(monkeypatch, spoil)
    pencil = pitprops()
    if fault == "flip":
        assert brute_force(pencil, 4).value <= homogeneous_sdp(pencil, 4).upper_bound
    else:
        with pytest.raises(SolverFailed, match="no finite 13×13 matrix"):
            homogeneous_sdp(pencil, 4)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("fault", EVERY_FAULT)
@pytest.mark.parametrize("sdp", SDPS)
def test_every_number_of_a_solver_may_be_wrong(monkeypatch, sdp, fault):
    """All multipliers, all variables, and each of them alone: a bound that holds, or SolverFailed; no other error."""
    k, pencil = 2, Pencil(1e120 * random_cca().A, random_cca().B)
    truth = brute_force(pencil, k).value
    victims = [slice(None), slice(1), slice(1, 2), slice(2, 3), slice(3, None)]

    def spoil(problem):
        numbers = [*(v for c in problem.constraints for v in c.dual_variables), *problem.variables()]
        for variable in numbers[victims[0]]:
            variable._value = (FAULTS | ODD)[fault](variable.value)

    lie(monkeypatch, spoil)
    while victims:
        try:
            found = SDPS[sdp](pencil, k)
        except SolverFailed:
            continue
        finally:
            victims.pop(0)
        price = 0.1 * valid_radius(pencil, k) ** 2 if sdp == "penalised" else 0.0
        assert found.upper_bound + price >= truth * (1.0 - 1e-12)
        assert str(found)
        assert found.dimacs.worst >= 0.0


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-304, 1e-300, 1e300])
def test_a_metric_whose_reciprocals_leave_floating_point_is_refused(size):
    pencil = Pencil(size * np.array([[2.0, 1.0], [1.0, 3.0]]), size * np.eye(2))
    for sdp in SDPS.values():
        with pytest.raises(InvalidPencil, match=r"(Rescale B|no ℓ1 radius)"):
            sdp(pencil, 1)


def test_scs_and_clarabel_agree_and_the_first_is_chosen_by_size():
    pencil = planted_pca(35, 4, samples=100).pencil
    relaxed = homogeneous_sdp(pencil, 4)
    assert relaxed.solver == "SCS"
    assert homogeneous_sdp(pitprops(), 4).solver == "CLARABEL"
    other = homogeneous_sdp(pencil, 4, solver="CLARABEL")
    assert relaxed.upper_bound == pytest.approx(other.upper_bound, rel=1e-4)
    assert relaxed.upper_bound - relaxed.value == pytest.approx(0.0, abs=1e-4 * relaxed.value)


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
    assert homogeneous_sdp(pitprops(), 6, solver=Backend("SCS", {"max_iters": 50})).upper_bound < 4.0
