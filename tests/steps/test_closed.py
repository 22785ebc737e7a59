"""The two steps that need no solver."""

import numpy as np
import pytest
import referee
from hypothesis import given
from hypothesis import strategies as st

from dcgev_cvx import Gram, InvalidParameter, Pencil, SparseFDA, SparseGEV
from dcgev_cvx.steps.closed import power_step, soft_threshold, soft_threshold_step

epsilons = st.sampled_from([1.0, 1e-2, 1e-4, 1e-8, 2.2e-16])


@given(st.integers(0, 1000), st.integers(1, 8), epsilons, st.floats(0, 10), st.booleans(), st.integers(-100, 100))
def test_soft_threshold_solves_the_step(seed, n, eps, rho, indefinite, exponent):
    A = referee.random_pencil(seed, n, indefinite=indefinite)[0] * 10.0**exponent
    program = SparseGEV(Pencil(A), rho * 10.0**exponent, eps)
    y = referee.start(seed, None, n, zeros=seed % n)
    out = soft_threshold_step(program, y)
    kkt = referee.step_kkt(A, None, y, out.x, rho=program.rho, eps=eps, tau=program.tau)
    assert kkt <= 1e-14
    assert out.residual <= 1e-14
    assert out.value == program.g(out.x, y)
    assert program.violation(out.x) <= 1e-15
    assert out.solver == ("closed form" if program.linear(y).any() else "none")
    assert out.correction == 0.0
    # the KKT system times xᵀ: μ = cᵀx − τ − ½pᵀ|x| on the sphere, 0 inside
    c, p = program.linear(y), program.slopes(y)
    on_sphere = np.linalg.norm(out.x) > 1 - 1e-9
    mu = c @ out.x - program.tau - 0.5 * p @ np.abs(out.x) if on_sphere else 0.0
    assert out.mu == pytest.approx(mu, abs=1e-12 * float(np.max(np.abs(c))) + 1e-300)


@given(st.integers(0, 1000), st.integers(2, 8), epsilons, st.floats(0, 3))
def test_soft_threshold_is_the_printed_formula(seed, n, eps, rho):
    """xᵢ = [|(Ay)ᵢ| − ½ρ_ε wᵢ]₊ sign (Ay)ᵢ / ‖·‖₂ where the right side is not 0/0."""
    A = referee.random_pencil(seed, n)[0]
    y = referee.start(seed, None, n)
    p = np.asarray(referee.slopes(y, rho, eps), dtype=float)
    z = np.sign(A @ y) * np.maximum(0.0, np.abs(A @ y) - 0.5 * p)
    x = soft_threshold_step(SparseGEV(Pencil(A), rho, eps, 0.0), y).x
    expected = z / np.linalg.norm(z) if z.any() else z
    assert x == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(st.integers(0, 1000), st.integers(1, 8), st.sampled_from([None, 10.0, 1e4, 1e8]))
def test_power_step_is_the_power_method(seed, n, cond):
    A, B = referee.random_pencil(seed, n, cond=cond)
    y = referee.start(seed, B, n, zeros=seed % n)
    out = power_step(SparseGEV(Pencil(A, B), 0.0), y)
    assert referee.step_kkt(A, B, y, out.x, rho=0.0, eps=1.0) <= (1e-12 if cond != 1e8 else 1e-8)
    z = np.linalg.solve(referee.metric(B, n), A @ y)
    assert out.mu == pytest.approx(np.sqrt(z @ A @ y), rel=1e-6)


def test_both_work_on_a_factor():
    C = np.random.default_rng(0).standard_normal((3, 9))
    y = referee.start(0, None, 9)
    for step, rho in ((soft_threshold_step, 0.5), (power_step, 0.0)):
        by_factor = step(SparseGEV(Pencil(Gram(C)), rho, 1e-2), y).x
        by_matrix = step(SparseGEV(Pencil(C.T @ C), rho, 1e-2), y).x
        assert by_factor == pytest.approx(by_matrix, abs=1e-13)


def test_collapse_is_zero_and_not_nan():
    program = SparseGEV(Pencil(np.eye(3)), 50.0)
    out = soft_threshold_step(program, np.full(3, 1e-3))
    assert not out.x.any()
    assert out.mu == 0.0
    assert out.residual == 0.0


def test_nothing_pulls_from_the_origin():
    y = np.zeros(3)
    assert not soft_threshold_step(SparseGEV(Pencil(np.eye(3)), 1.0), y).x.any()
    y = np.array([0.0, 1.0, 0.0])
    zero = SparseGEV(Pencil(np.zeros((3, 3))), 0.0)
    for step in (soft_threshold_step, power_step):
        assert np.array_equal(step(zero, y).x, y)
        assert step(zero, y).x is not y
    assert not soft_threshold_step(SparseGEV(Pencil(np.zeros((3, 3))), 1.0), y).x.any()


@pytest.mark.parametrize("exponent", [-150, -20, 20, 150])
def test_extreme_sizes(exponent):
    A = referee.random_pencil(1, 5)[0] * 10.0**exponent
    y = referee.start(1, None, 5)
    for step, rho in ((soft_threshold_step, 0.3 * 10.0**exponent), (power_step, 0.0)):
        x = step(SparseGEV(Pencil(A), rho, 1e-2), y).x
        assert np.linalg.norm(x) == pytest.approx(1.0, abs=1e-15)


def test_they_say_when_they_do_not_apply():
    other = SparseGEV(Pencil(np.eye(2), np.eye(2)), 1.0)
    with pytest.raises(InvalidParameter, match="soft_threshold_step needs a SparseGEV program with B = I"):
        soft_threshold_step(other, np.ones(2))
    with pytest.raises(InvalidParameter, match="power_step is the case ρ̃ = 0, τ = 0"):
        power_step(other, np.ones(2))
    with pytest.raises(InvalidParameter, match="power_step is the case"):
        power_step(SparseGEV(Pencil(-np.eye(2)), 0.0), np.ones(2))
    fda = SparseFDA(np.ones(2), np.eye(2), 1.0)
    for step in (soft_threshold_step, power_step):
        with pytest.raises(InvalidParameter):
            step(fda, np.ones(2))


def test_a_threshold_leaves_no_negative_zero():
    assert not np.signbit(soft_threshold(np.array([-1.0, -3.0]), np.array([2.0, 2.0]))).tolist()[0]
