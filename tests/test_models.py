"""The paper's problems print as the paper writes them, and say what they should on data with a known answer."""

import numpy as np
import pytest

from dcgev_cvx import models

RNG = np.random.default_rng(0)
N = 4
A = (lambda M: M + M.T)(RNG.standard_normal((N, N)))
B = np.eye(N) + 0.1
C, P, MEANS = A @ np.ones(N), np.ones(N), np.arange(1.0, N + 1.0)

PRINTED = {
    "qcqp": (models.qcqp(C, P, B, 2.0), "minimize τ‖x‖² − 2cᵀx + pᵀt", ["xᵀBx ≤ 1", "−t ⪯ x", "x ⪯ t"]),
    "qcqp, τ = 0": (models.qcqp(C, P, B), "minimize − 2cᵀx + pᵀt", ["xᵀBx ≤ 1", "−t ⪯ x", "x ⪯ t"]),
    "lasso": (models.lasso(C, P, B, 2.0), "minimize τ‖x‖² − 2cᵀx + pᵀ|x|", ["xᵀBx ≤ 1"]),
    "linear": (models.linear(C, P, B), "maximize cᵀx − ½pᵀ|x|", ["xᵀBx ≤ 1"]),
    "linear, B = I": (models.linear(C, P), "maximize cᵀx − ½pᵀ|x|", ["xᵀx ≤ 1"]),
    "metric_lasso": (models.metric_lasso(C, P, B), "minimize zᵀBz − 2cᵀz + pᵀ|z|", []),
    "fisher_step": (models.fisher_step(P, MEANS, B), "minimize xᵀBx + pᵀ|x|", ["aᵀx = 1"]),
    "fisher_l1": (models.fisher_l1(MEANS, B, 1.0), "minimize xᵀBx", ["aᵀx = 1", "‖x‖₁ ≤ radius"]),
    "fisher_l1_penalized": (models.fisher_l1_penalized(MEANS, B, 0.1), "minimize xᵀBx + ν‖x‖₁", ["aᵀx = 1"]),
    "literal_sdp": (models.literal_sdp(A, B, 1.0), "maximize tr(XA)", ["X ⪰ xxᵀ", "tr(XB) ≤ 1", "‖x‖₁ ≤ radius"]),
    "entrywise_sdp": (
        models.entrywise_sdp(A, B, 1.0),
        "maximize tr(XA)",
        ["X ⪰ 0", "tr(XB) ≤ 1", "1ᵀ|X|1 ≤ radius²"],
    ),
    "dspca": (models.dspca(A, B, 0.1), "maximize tr(XA) − ρ1ᵀ|X|1", ["X ⪰ 0", "tr(XB) ≤ 1"]),
}


@pytest.mark.parametrize("name", PRINTED)
def test_problems_print_in_the_papers_notation(name):
    problem, objective, constraints = PRINTED[name]
    first, *rest = str(problem).splitlines()
    assert first == objective
    assert [line.removeprefix("subject to").strip() for line in rest] == constraints


def test_the_l1_ball_prints_and_is_not_convex():
    """Eq:approx: a convex function is maximised, or an indefinite one."""
    problem = models.l1_ball(A, B, 1.0)
    lines = str(problem).replace("subject to", "").splitlines()
    assert [line.strip() for line in lines] == ["maximize xᵀAx", "xᵀBx ≤ 1", "‖x‖₁ ≤ radius"]
    assert not problem.is_dcp()
    x = problem.var_dict["x"]
    x.value = np.full(N, 0.1)
    assert problem.objective.value == pytest.approx(0.01 * A.sum())
    assert problem.constraints[1].residual == 0.0


@pytest.mark.parametrize("name", PRINTED)
def test_problems_are_disciplined_and_parametrized(name):
    problem = PRINTED[name][0]
    assert problem.is_dcp()
    assert problem.is_dpp()
