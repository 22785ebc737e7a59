"""The native steps are the CVXPY steps: the same point, to the last digits, whatever the data."""

from itertools import islice

import cvxpy as cp
import numpy as np
import pytest
import referee

from dcgev_cvx import DCProgram, InvalidParameter, Pencil, SparseFDA, SparseGEV, iterate
from dcgev_cvx.steps import native
from dcgev_cvx.steps.conic import FisherStep, LassoStep, LinearStep, MetricLassoStep, QCQPStep
from dcgev_cvx.steps.native import native_step

EPSILONS = [1.0, 1e-2, 1e-4, 1e-8, 2.2e-16]


def program_of(seed, n, eps, shift, *, cond=10.0, rho=None):
    A, B = referee.random_pencil(seed, n, cond=cond, indefinite=True)
    base = SparseGEV(Pencil(A, B), 0.0, eps, shift=shift)
    if rho is not None:
        return base.with_rho(rho)
    y = referee.start(seed, B, n)
    score = 2.0 * np.abs(base.linear(y)) * (np.abs(y) + eps)
    return base.with_rho(float(np.median(score)) * np.log1p(1.0 / eps))


@pytest.mark.parametrize("eps", EPSILONS)
@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_ten_steps_side_by_side(eps, shift):
    """Native and CVXPY agree at each of ten iterates to 1e-8 in the B norm."""
    program = program_of(3, 8, eps, shift)
    twin = LassoStep() if shift == "identity" else MetricLassoStep()
    x0 = referee.start(3, program.pencil.B, 8, zeros=1)
    ours = islice(iterate(program, native_step, x0), 11)
    theirs = islice(iterate(program, twin, x0), 11)
    for a, b in zip(ours, theirs, strict=True):
        assert program.pencil.B_norm(a.x - b.x) <= 1e-8
        assert np.array_equal(a.x == 0, b.x == 0)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_one_step_at_any_condition(seed, shift):
    """cond(B) up to 1e8 and ε at machine precision, from a start with zeros: residual by the tests' own referee."""
    cond = 10.0 ** (seed % 9)
    n = 3 + 2 * seed
    program = program_of(seed, n, 2.2e-16 if seed % 2 else 1e-3, shift, cond=cond)
    y = referee.start(seed + 50, program.pencil.B, n, zeros=n // 4)
    out = native_step(program, y)
    A, B = program.pencil.dense()
    tol = 1e-12 if cond <= 1e4 else 1e-8
    kkt = referee.step_kkt(A, B, y, out.x, rho=program.rho, eps=program.eps, tau=program.tau, shift=shift)
    assert kkt <= tol
    assert program.pencil.B_norm(out.x - QCQPStep()(program, y).x) <= 1e-8
    assert out.solver == "native"


@pytest.mark.parametrize("shift", ["identity", "metric"])
@pytest.mark.parametrize("seed", range(6))
def test_the_kernel_alone_leads_to_the_same_point(seed, shift, monkeypatch):
    """Without the old face as a guess, coordinate descent must find the face by itself."""
    program = program_of(seed, 20, [1.0, 1e-2, 2.2e-16][seed % 3], shift, cond=100.0)
    y = referee.start(seed, program.pencil.B, 20)
    warm = native_step(program, y)
    monkeypatch.setattr(native, "WARM_SUPPORT", -1)
    cold = native_step(program, y)
    assert program.pencil.B_norm(warm.x - cold.x) <= 1e-10


@pytest.mark.parametrize("seed", range(6))
def test_fisher(seed, monkeypatch):
    """Sparse FDA: native, from the old face and from the kernel, equals the QP."""
    rng = np.random.default_rng(seed)
    n = 4 + 3 * seed
    _, B = referee.random_pencil(seed, n, cond=50.0)
    program = SparseFDA(rng.standard_normal(n), B, 0.0, [1.0, 1e-3, 2.2e-16][seed % 3])
    y = program.start()
    program = program.with_nu(5.0 * program.pencil.B_quad(y))
    expected = FisherStep()(program, y).x
    size = program.pencil.B_norm(expected)
    for limit in (400, -1):
        monkeypatch.setattr(native, "WARM_SUPPORT", limit)
        found = native_step(program, y).x
        assert program.pencil.B_norm(found - expected) <= 1e-8 * size


@pytest.mark.parametrize("size", [1e-8, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("ax", [0.0, 1.0])
def test_fisher_from_a_point_off_the_plane(size, ax):
    """argmin g(·, y) is asked for from any y, on the plane aᵀy = 1 or not."""
    for seed in range(10):
        B = referee.random_pencil(seed, 6, cond=50.0)[1]
        rng = np.random.default_rng(seed)
        a, y = rng.standard_normal((2, 6))
        y = size * (y + a * (ax - a @ y) / (a @ a))  # aᵀy = 0 but for rounding, or the size itself
        program = SparseFDA(a, B, 0.7, 1e-6)
        x = native_step(program, y).x
        assert referee.fisher_kkt(a, B, y, x, nu=0.7, eps=1e-6) <= 1e-12


@pytest.mark.parametrize("far", [1e5, 1e10, 1e14])
def test_fisher_from_a_point_far_out_on_the_plane(far):
    """Where a is 0, aᵀy = 1 does not bound y, and the minimiser may be many orders of magnitude smaller."""
    for seed in range(20):
        B = 1e10 * referee.random_pencil(seed, 6, cond=1e3)[1]
        rng = np.random.default_rng(seed)
        a, y = np.eye(6)[seed % 6] * 1e-3, far * rng.standard_normal(6)
        y[seed % 6] = 1e3
        program = SparseFDA(a, B, 1e9, 50.0)
        x = native_step(program, y).x
        assert referee.fisher_kkt(a, B, y, x, nu=1e9, eps=50.0) <= 1e-12


def test_positive_semidefinite_a_needs_no_shift():
    """τ = 0: the native step of both shifts is the linear step."""
    A, B = referee.random_pencil(5, 7, cond=20.0)
    y = referee.start(5, B, 7)
    for shift in ("identity", "metric"):
        program = SparseGEV(Pencil(A, B), 0.5, 1e-2, shift=shift)
        assert program.tau == 0.0
        assert program.pencil.B_norm(native_step(program, y).x - LinearStep()(program, y).x) <= 1e-9


def test_a_program_of_another_kind_is_refused():
    x = cp.Variable(2)
    program = DCProgram(cp.sum_squares(x), cp.norm1(x))
    for step in (native_step, LinearStep()):
        with pytest.raises(InvalidParameter, match="got DCProgram"):
            step(program, np.ones(2))
