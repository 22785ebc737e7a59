"""Algorithm 1, Algorithm 2 and the FDA iteration as users call them."""

import numpy as np
import pytest
import referee

from dcgev_cvx import (
    MCP,
    Backend,
    Gram,
    InvalidParameter,
    Pencil,
    SparseFDA,
    SparseGEV,
    Status,
    Stop,
    datasets,
    dc_pca,
    minimize,
    renormalize,
    sparse_fda,
    sparse_gev,
)
from dcgev_cvx.steps.conic import FisherStep, LassoStep, LinearStep, MetricLassoStep

SOLVERS = ["CLARABEL", "ECOS", "SCS"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_algorithm_1_runs_both_branches(solver):
    backend = Backend(solver)
    for indefinite, step in ((False, LinearStep(backend)), (True, LassoStep(backend))):
        A, B = referee.random_pencil(1, 6, cond=10.0, indefinite=indefinite)
        stop = Stop(max_iter=30)
        result = sparse_gev(A, B, rho=0.5, eps=1e-2, solver=solver, stop=stop)
        by_hand = minimize(SparseGEV(Pencil(A, B), 0.5, 1e-2), step, stop=stop)
        assert np.array_equal(result.x, by_hand.x)
        assert result.solvers == {solver: result.n_iter}


def test_the_metric_shift_and_fda_have_their_steps():
    A, B = referee.random_pencil(2, 5, cond=10.0, indefinite=True)
    metric = sparse_gev(A, B, rho=0.5, eps=1e-2, shift="metric")
    program = SparseGEV(Pencil(A, B), 0.5, 1e-2, shift="metric")
    assert np.array_equal(metric.x, minimize(program, MetricLassoStep()).x)
    a = np.ones(5)
    fda = sparse_fda(a, B, nu=0.1, eps=1e-2)
    assert np.array_equal(fda.x, minimize(SparseFDA(a, B, 0.1, 1e-2), FisherStep()).x)


@pytest.mark.parametrize("eps", [1.0, 1e-2, 1e-4, 1e-8, 2.2e-16])
def test_algorithm_2_is_algorithm_1_with_the_identity(eps, pitprops):
    closed = dc_pca(pitprops, rho=1.0, eps=eps)
    convex = dc_pca(pitprops, rho=1.0, eps=eps, engine="cvxpy")
    assert closed.converged
    assert closed.n_iter == pytest.approx(convex.n_iter, abs=3)
    assert closed.x == pytest.approx(convex.x, abs=1e-6)
    assert closed.support == convex.support


@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_a_limit_with_two_nonzeros_or_more_is_stationary(shift):
    found = 0
    for seed in range(4):
        A, B = referee.random_pencil(seed, 6, cond=10.0, indefinite=True)
        result = sparse_gev(A, B, rho=0.3, eps=1e-2, shift=shift)
        assert result.status is not Status.SOLVER_FAILED
        if result.converged and len(result.support) >= 2:
            found += 1
            assert referee.stationarity(A, B, result.x, rho=0.3, eps=1e-2) <= 1e-5
            assert result.certificate.sandwich <= 1e-12
    assert found >= 2


@pytest.mark.parametrize("shift", ["identity", "metric"])
@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_negative_definite_and_zero_a_have_a_clear_outcome(shift, rho):
    A, B = referee.random_pencil(3, 4, cond=5.0)
    down = sparse_gev(-A - np.eye(4), B, rho=rho, eps=1e-2, shift=shift, stop=Stop(max_iter=100))
    assert down.status in (Status.COLLAPSED, Status.SMALL_STEP, Status.SMALL_DECREASE, Status.OUT_OF_ITERATIONS)
    assert np.linalg.norm(down.x) <= 0.1 or not down.converged
    flat = sparse_gev(np.zeros((4, 4)), B, rho=rho, shift=shift)
    assert flat.status is (Status.COLLAPSED if rho else Status.SMALL_STEP)


@pytest.mark.parametrize("value", [2.0, 0.0, -2.0])
def test_one_variable(value):
    result = sparse_gev([[value]], [[4.0]], rho=0.01, eps=1e-2)
    if value > 0:
        assert result.converged
        assert abs(result.x[0]) == pytest.approx(0.5)
    else:
        assert result.status is Status.COLLAPSED
    assert sparse_fda([2.0], [[3.0]], nu=0.1).x == pytest.approx([0.5])


@pytest.mark.parametrize("size", [1e-6, 1e6])
@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_units_do_not_matter(size, shift):
    A, B = referee.random_pencil(4, 6, cond=20.0, indefinite=True)
    plain = sparse_gev(A, B, rho=0.4, eps=1e-2, shift=shift)
    scaled = sparse_gev(A * size, B, rho=0.4 * size, eps=1e-2, shift=shift)
    assert scaled.status is plain.status
    assert scaled.x == pytest.approx(plain.x, abs=1e-7)
    metric = sparse_gev(A, B * size, rho=0.0, shift=shift, x0=plain.x / size**0.5)
    assert metric.converged
    assert metric.program.pencil.B_norm(metric.x) == pytest.approx(1.0)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cond", [1e4, 1e6, 1e8])
def test_ill_conditioned_b_runs_to_the_end(solver, cond):
    A, B = referee.random_pencil(0, 6, cond=cond)
    for shift in ("identity", "metric"):
        result = sparse_gev(A, B, rho=0.5, eps=1e-2, solver=solver, shift=shift, stop=Stop(max_iter=12))
        assert result.status not in (Status.SOLVER_FAILED, Status.ASCENT, Status.STALLED)


def test_a_factor_runs_like_its_matrix():
    C = np.random.default_rng(1).standard_normal((5, 12))
    by_factor, by_matrix = (dc_pca(A, rho=2.0, eps=1e-2) for A in (Gram(C), C.T @ C))
    assert by_factor.x == pytest.approx(by_matrix.x, abs=1e-7)
    convex = sparse_gev(Gram(C), rho=2.0, eps=1e-2, solver="ECOS")
    assert convex.x == pytest.approx(by_matrix.x, abs=1e-6)


def test_planted_answer_is_found_by_the_d_c_algorithm_on_small_problems():
    """On 9 random 7-dimensional pencils the renormalised answer never exceeds, and often is, the best subset."""
    hits = 0
    for seed in range(9):
        A, B = referee.random_pencil(seed, 7, cond=5.0)
        pencil = Pencil(A, B)
        result = sparse_gev(pencil, rho=1.5, eps=1e-4, shift="metric", engine="native")
        x = renormalize(pencil, result.x)
        best, _ = referee.best_subset(A, B, len(result.support))
        assert pencil.A_quad(x) <= best * (1 + 1e-9)
        hits += pencil.A_quad(x) >= best * (1 - 1e-9)
    assert hits >= 4


def test_fallback_is_taken_and_reported():
    """OSQP cannot take a cone: every step moves on to the next of the list, and the result says who answered."""
    A, B = referee.random_pencil(5, 5, cond=10.0)
    result = sparse_gev(A, B, rho=0.3, eps=1e-2, solver=Backend("OSQP", fallback=("ECOS", "SCS")))
    assert result.converged
    assert result.solvers == {"ECOS": result.n_iter}
    alone = sparse_gev(A, B, rho=0.3, eps=1e-2, solver="OSQP")
    assert alone.status is Status.SOLVER_FAILED
    assert "OSQP failed" in alone.message
    assert len(alone.history) == 1
    assert sparse_gev(A, B, rho=0.3, eps=1e-2, solver="OSQP", shift="metric").converged


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda A: sparse_gev(A, rho=1.0, engine="gpu"), "engine = 'gpu' is unknown"),
        (lambda A: dc_pca(A, rho=1.0, engine="gpu"), "engine = 'gpu' is unknown"),
        (lambda A: sparse_fda(np.ones(2), A, nu=1.0, engine="gpu"), "engine = 'gpu' is unknown"),
        (lambda A: dc_pca(-A, rho=1.0), "dc_pca needs A ⪰ 0, but λmin(A) = -1"),
        (lambda A: dc_pca(Pencil(A, A), rho=1.0), "dc_pca is the case B = I"),
        (lambda A: sparse_gev(Pencil(A), A, rho=1.0), "B was given twice"),
        (lambda A: sparse_gev(A, rho=1.0, solver="CLARABLE"), "did you mean 'CLARABEL'?"),
        (lambda A: sparse_gev(A, rho=1.0, solver=7), "solver must be a name"),
    ],
)
def test_bad_calls(call, text):
    with pytest.raises(InvalidParameter) as caught:
        call(np.eye(2))
    assert text in str(caught.value)


@pytest.mark.parametrize(("low", "solver"), [(1e-6, "CLARABEL"), (1e-9, "SCS"), (1e-12, "CLARABEL")])
def test_almost_semidefinite_a(low, solver):
    """A rounded covariance has a tiny negative eigenvalue and so a tiny τ: nothing is divided by it."""
    rng = np.random.default_rng(3)
    Q, _ = np.linalg.qr(rng.standard_normal((6, 6)))
    A = (Q * np.array([-low, 1.0, 2.0, 3.0, 4.0, 5.0])) @ Q.T
    assert sparse_gev(0.5 * (A + A.T), rho=0.5, solver=solver).converged


@pytest.mark.parametrize("engine", ["cvxpy", "native"])
def test_a_shift_beside_which_no_step_moves_ends_as_stalled(engine):
    result = sparse_gev(datasets.indefinite(6), rho=0.1, tau=1e200, engine=engine)
    assert result.status is Status.STALLED
    assert not result.converged


@pytest.mark.parametrize("engine", ["cvxpy", "native"])
def test_any_concave_penalty_can_be_passed(engine, pitprops):
    """The run of the program with that penalty, for all three algorithms."""
    penalty, B = MCP(0.5), np.diag(np.linspace(1.0, 2.0, 13))
    pca = dc_pca(pitprops, rho=0.4, penalty=penalty, engine=engine)
    assert pca.converged
    assert len(pca.support) == 6
    assert pca.f == pytest.approx(dc_pca(pitprops, rho=0.4, penalty=penalty).f, rel=1e-9)
    gev = sparse_gev(pitprops.A, B, rho=0.4, penalty=penalty, engine=engine)
    assert gev.program.penalty is penalty
    assert gev.converged
    fda = sparse_fda(pitprops.A[0], B, nu=0.4, penalty=penalty, engine=engine)
    assert fda.converged
    assert fda.program.penalty is penalty
