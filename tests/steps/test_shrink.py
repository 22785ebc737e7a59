"""Shrinking changes the time that a run takes, not what it is."""

from itertools import islice

import numpy as np
import pytest
import referee
from small_problems import cca

from dcgev_cvx import Gram, Pencil, SparseFDA, SparseGEV, Stop, certify, dc_pca, iterate, minimize
from dcgev_cvx.steps.native import native_step
from dcgev_cvx.steps.shrink import Restriction


@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_shrinking_is_the_same_run(shift):
    """Iterate by iterate, on a smaller and smaller program."""
    A, B = cca()
    program = SparseGEV(Pencil(A, B), 0.3, shift=shift)
    plain = list(islice(iterate(program, native_step), 12))
    small = minimize(program, native_step, stop=Stop(max_iter=11), shrink=True).history
    for a, b in zip(plain, small, strict=True):
        assert b.f == pytest.approx(a.f, rel=1e-12)
        assert b.f == pytest.approx(program.f(b.x), rel=1e-13)
        assert program.pencil.B_norm(a.x - b.x) <= 1e-9
        assert b.g == pytest.approx(a.g, rel=1e-12)
    assert small[-1].work < 0.3 < small[1].work == 1.0


def test_a_shrunk_run_ends_as_the_whole_one_does():
    """Status, count, callback and certificate are those of the whole program; each iterate is seen once."""
    A, B = cca()
    program = SparseGEV(Pencil(A, B, names=[f"v{i}" for i in range(40)]), 0.3, shift="metric")
    seen = []
    whole = minimize(program, native_step)
    small = minimize(program, native_step, callback=seen.append, shrink=True)
    assert small.status is whole.status
    assert [point.l for point in seen] == list(range(small.n_iter + 1))
    assert program.pencil.B_norm(small.x - whole.x) <= 1e-6
    assert small.support == whole.support
    assert small.program is program
    assert small.certificate == certify(program, small.x, small.history)
    assert all(len(point.x) == 40 and not point.x.flags.writeable for point in small.history)
    assert minimize(program, native_step, stop=Stop(max_iter=5), shrink=True).n_iter == 5
    cut = minimize(program, native_step, callback=lambda point: point.l == 6, shrink=True)
    assert (cut.n_iter, cut.status.name) == (6, "STOPPED")


def test_shrinking_data():
    """A = CᵀC: the work is counted by the columns still in play."""
    C = np.random.default_rng(0).standard_normal((30, 300))
    C[:, :5] *= 4.0
    full = dc_pca(Gram(C), rho=900.0)
    fast = dc_pca(Gram(C), rho=900.0, engine="native")
    assert fast.certificate.passes()
    assert fast.support == full.support
    assert np.max(np.abs(fast.x - full.x)) <= 1e-6
    assert fast.passes < 0.3 * full.passes


def test_zeros_stay_at_tiny_eps_only():
    A, B = cca()
    pencil = Pencil(A, B)
    y = pencil.leading_vector
    assert SparseGEV(pencil, 0.3).zeros_stay(y)
    assert not SparseGEV(pencil, 0.3, 1.0).zeros_stay(y)
    assert not SparseGEV(pencil, 0.0).zeros_stay(y)
    fda, free = SparseFDA(A[0], B, 1.0), SparseFDA(A[0], B, 1.0, 1.0)
    assert fda.zeros_stay(fda.start())
    assert not free.zeros_stay(free.start())


def test_at_large_eps_a_zero_comes_back():
    """Where zeros do not stay no variable is dropped: coordinates return as they do without shrinking."""
    A, B = cca()
    program = SparseGEV(Pencil(A, B), 1e-3, 1.0, shift="metric")
    y = referee.start(0, B, 40, zeros=35)
    assert not Restriction.whole(program, 40).can_shrink(y)
    run = minimize(program, native_step, y, stop=Stop(max_iter=1), shrink=True)
    assert np.count_nonzero(run.x) > 5
    assert program.pencil.B_norm(run.x - native_step(program, y).x) == 0.0


@pytest.mark.parametrize(("a", "correlation", "slope"), [(1.0, 0.0, 1.0), (30.0, -0.9, 0.1)])
def test_a_zero_of_fda_that_comes_back_is_not_said_to_stay(a, correlation, slope):
    """The slope at 0 is below the pull on the second variable, 2t·a₂ − 2(Bx)₂ with t = xᵀBx, and then above it."""
    B, y, eps = np.array([[1.0, correlation], [correlation, 1.0]]), np.array([1.0 / a, 0.0]), 1e-6
    weak, strong = (SparseFDA([a, a], B, size * eps * np.log1p(1.0 / eps), eps) for size in (slope, 1e3))
    assert not weak.zeros_stay(y)
    assert native_step(weak, y).x[1] != 0.0
    assert strong.zeros_stay(y)
    assert native_step(strong, y).x[1] == 0.0


def test_the_zero_point_is_not_shrunk_to_no_variables():
    program = SparseGEV(Pencil(np.eye(4)), 0.3)
    whole = Restriction.whole(program, 4)
    assert program.zeros_stay(np.zeros(4))
    assert not whole.can_shrink(np.zeros(4))
    assert whole.shrunk(np.eye(4)[0]).support.tolist() == [0]
