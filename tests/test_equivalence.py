"""Ten steps side by side, iterate by iterate: every form of the MM step is the same map."""

from itertools import islice

import numpy as np
import pytest
import referee
import scipy.linalg

from dcgev_cvx import Backend, Pencil, SparseGEV, Stop, iterate, sparse_gev
from dcgev_cvx.steps.closed import power_step, soft_threshold_step
from dcgev_cvx.steps.conic import LassoStep, LinearStep, MetricLassoStep, QCQPStep

SOLVERS = ["CLARABEL", "ECOS", "SCS"]
EPSILONS = [1.0, 1e-2, 1e-4, 1e-8, 2.2e-16]
TOL = 1e-9


def ten(program, step, x0):
    return [it.x for it in islice(iterate(program, step, x0), 11)]


def agree(program, x0, steps, tol=TOL):
    """Every run within tol of the first, in the B norm, at each of ten iterates; returns the first."""
    runs = [ten(program, step, x0) for step in steps]
    for run in runs[1:]:
        for index, (x, z) in enumerate(zip(runs[0], run, strict=True)):
            assert program.pencil.B_norm(x - z) <= tol, f"iterate {index}"
            assert np.array_equal(x == 0, z == 0), f"support of iterate {index}"
    return runs[0]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("eps", EPSILONS)
def test_pca(solver, eps, pitprops):
    """B = I, τ = 0: (ALG-S) = (Eq:weighted-algo) = (ALG) = the metric LASSO."""
    backend = Backend(solver)
    program = SparseGEV(pitprops, 1.0, eps, 0.0)
    steps = [soft_threshold_step, LinearStep(backend), QCQPStep(backend), MetricLassoStep(backend)]
    agree(program, None, steps)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("eps", EPSILONS)
def test_shifted_pca(solver, eps):
    """B = I, τ > 0: the closed form divides by max(τ, ‖·‖); both shifts are one."""
    backend = Backend(solver)
    A = referee.random_pencil(1, 6, indefinite=True)[0]
    x0 = referee.start(1, None, 6, zeros=1)
    program = SparseGEV(Pencil(A), 0.6, eps)
    first = agree(program, x0, [soft_threshold_step, LassoStep(backend), QCQPStep(backend)])
    metric = SparseGEV(Pencil(A), 0.6, eps, program.tau, "metric")
    second = agree(metric, x0, [soft_threshold_step, MetricLassoStep(backend), QCQPStep(backend)])
    assert all(np.linalg.norm(x - z) <= TOL for x, z in zip(first, second, strict=True))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("eps", EPSILONS)
def test_positive_a_general_b(solver, eps):
    """τ = 0 and B dense: (Eq:weighted-algo) = (ALG) = the metric LASSO, and the tests' own solver."""
    backend = Backend(solver)
    A, B = referee.random_pencil(2, 6, cond=20.0)
    x0 = referee.start(2, B, 6)
    program = SparseGEV(Pencil(A, B), 0.8, eps)
    assert program.tau == 0.0
    run = agree(program, x0, [LinearStep(backend), QCQPStep(backend), MetricLassoStep(backend)])
    expected = referee.step_by_bisection(A, B, run[3], rho=0.8, eps=eps)
    assert program.pencil.B_norm(run[4] - expected) <= TOL


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("eps", EPSILONS)
def test_indefinite_a_general_b(solver, eps):
    """τ > 0 and B dense: (Eq:weighted) = (ALG), and the tests' own solver; the metric shift likewise."""
    backend = Backend(solver)
    A, B = referee.random_pencil(3, 6, cond=20.0, indefinite=True)
    x0 = referee.start(3, B, 6)
    for shift, other in (("identity", LassoStep(backend)), ("metric", MetricLassoStep(backend))):
        program = SparseGEV(Pencil(A, B), 0.8, eps, shift=shift)
        run = agree(program, x0, [QCQPStep(backend), other])
        expected = referee.step_by_bisection(A, B, run[3], rho=0.8, eps=eps, tau=program.tau, shift=shift)
        assert program.pencil.B_norm(run[4] - expected) <= TOL


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cond", [None, 10.0, 1e4])
def test_no_penalty_is_the_power_method(solver, cond):
    """ρ̃ = 0, τ = 0 (Eq:power-generalize): x⁽ˡ⁺¹⁾ ∝ B⁻¹Ax⁽ˡ⁾."""
    backend = Backend(solver)
    A, B = referee.random_pencil(4, 6, cond=cond)
    x0 = referee.start(4, B, 6)
    program = SparseGEV(Pencil(A, B), 0.0)
    run = agree(program, x0, [power_step, LinearStep(backend), QCQPStep(backend), MetricLassoStep(backend)])
    metric = referee.metric(B, 6)
    y = x0
    for x in run[1:]:
        z = np.linalg.solve(metric, A @ y)
        y = z / np.sqrt(z @ metric @ z)
        assert program.pencil.B_norm(x - y) <= 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shift", ["identity", "metric"])
@pytest.mark.parametrize("cond", [None, 10.0, 100.0])
def test_algorithm_1_without_penalty_meets_eigh(solver, shift, cond):
    A, B = referee.random_pencil(5, 6, cond=cond, indefinite=shift == "metric")
    values, vectors = scipy.linalg.eigh(A, B)
    stop = Stop(max_iter=3000, step=1e-12, stationarity=1e-9)
    result = sparse_gev(A, B, rho=0.0, x0=referee.start(5, B, 6), shift=shift, solver=solver, stop=stop)
    assert result.converged
    top = vectors[:, -1]
    assert -result.f == pytest.approx(values[-1], rel=1e-9)
    assert min(np.max(np.abs(result.x - top)), np.max(np.abs(result.x + top))) <= 1e-7


def test_a_start_orthogonal_to_the_leading_vector_stays_there():
    """An exception to Corollary 6: from the second eigenvector the power method does not leave."""
    A = np.diag([3.0, 2.0, 1.0])
    result = sparse_gev(A, rho=0.0, x0=[0.0, 1.0, 0.0])
    assert result.converged
    assert -result.f == pytest.approx(2.0)
