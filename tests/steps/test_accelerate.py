"""Shrinking and extrapolation change the time a run takes, not what it is."""

import subprocess
import sys
from itertools import islice

import numpy as np
import pytest
import referee

from dcgev_cvx import (
    Gram,
    Pencil,
    SparseFDA,
    SparseGEV,
    Stop,
    certify,
    dc_pca,
    iterate,
    minimize,
    sparse_fda,
    sparse_gev,
)
from dcgev_cvx.programs import L1Penalty
from dcgev_cvx.steps.accelerate import Accelerated, Repeated
from dcgev_cvx.steps.closed import soft_threshold_step
from dcgev_cvx.steps.native import native_step
from dcgev_cvx.steps.shrink import Restriction, absorbing


def cca(n=40, seed=0):
    rng = np.random.default_rng(seed)
    h = n // 2
    Z = rng.standard_normal((3 * n, 1))
    X = rng.standard_normal((3 * n, n))
    X[:, [0, 1, h, h + 1]] += Z
    S = np.cov(X.T)
    A, B = S.copy(), S.copy()
    A[:h, :h] = A[h:, h:] = 0.0
    B[:h, h:] = 0.0
    B[h:, :h] = 0.0
    return A, B


@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_shrinking_is_the_same_run(shift):
    """Iterate by iterate, on a smaller and smaller program."""
    A, B = cca()
    program = SparseGEV(Pencil(A, B), 0.3, shift=shift)
    plain = list(islice(iterate(program, native_step), 12))
    small = minimize(program, native_step, stop=Stop(max_iter=11), shrink=True).history
    shares = []
    for a, b in zip(plain, small, strict=True):
        assert b.f == pytest.approx(a.f, rel=1e-12)
        assert b.f == pytest.approx(program.f(b.x), rel=1e-13)
        assert program.pencil.B_norm(a.x - b.x) <= 1e-9
        assert b.g == pytest.approx(a.g, rel=1e-12)
        shares.append(b.work)
    assert shares[-1] < 0.1 < shares[1] == 1.0


def test_a_shrunk_run_ends_as_the_whole_one_does():
    """Status, count, callback and certificate are those of the whole program; each iterate is told once."""
    A, B = cca()
    program = SparseGEV(Pencil(A, B, names=[f"v{i}" for i in range(40)]), 0.3, shift="metric")
    seen = []
    whole = minimize(program, native_step)
    small = minimize(program, native_step, callback=lambda point: seen.append(point), shrink=True)
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


def test_a_part_of_a_pencil():
    """Restricted matrices are those of the data, as a product while that is smaller; nothing is writeable."""
    C = np.random.default_rng(0).standard_normal((20, 50))
    wide, narrow = np.arange(0, 50, 2), np.array([1, 4, 7])
    pencil = Pencil(Gram(C), names=[f"v{i}" for i in range(50)])
    assert isinstance(pencil.restrict(wide).A, Gram)
    small = pencil.restrict(narrow)
    assert isinstance(small.A, np.ndarray)
    for support in (wide, narrow):
        part = pencil.restrict(support)
        assert np.allclose(part.dense()[0], (C.T @ C)[np.ix_(support, support)], rtol=1e-13)
        assert part.names == tuple(f"v{i}" for i in support)
    assert not small.A.flags.writeable
    A, B = cca()
    part = Pencil(A, B).restrict(narrow)
    assert np.allclose(part.cholesky @ part.cholesky.T, B[np.ix_(narrow, narrow)], rtol=1e-13)


def test_shrinking_data():
    """A = CᵀC: the passes over the data are counted by the columns still in play."""
    C = np.random.default_rng(0).standard_normal((30, 300))
    C[:, :5] *= 4.0
    full = dc_pca(Gram(C), rho=900.0)
    fast = dc_pca(Gram(C), rho=900.0, engine="native")
    assert fast.converged
    assert fast.certificate.passes()
    assert fast.support == full.support
    assert np.max(np.abs(fast.x - full.x)) <= 1e-6
    assert fast.passes < 0.3 * full.passes


def test_zeros_absorb_at_tiny_eps_only():
    A, B = cca()
    pencil = Pencil(A, B)
    y = pencil.leading_vector
    assert absorbing(SparseGEV(pencil, 0.3), y)
    assert not absorbing(SparseGEV(pencil, 0.3, 1.0), y)
    assert not absorbing(SparseGEV(pencil, 0.0), y)
    fda = SparseFDA(A[0], B, 1.0)
    assert absorbing(fda, fda.start())
    assert not absorbing(SparseFDA(A[0], B, 1.0, 1.0), fda.start())


def test_at_large_eps_a_zero_comes_back():
    """Where zeros are not absorbing no variable is dropped: coordinates return as they do without shrinking."""
    A, B = cca()
    program = SparseGEV(Pencil(A, B), 1e-3, 1.0, shift="metric")
    y = referee.start(0, B, 40, zeros=35)
    face = Restriction.whole(program)
    assert face.shrunk(y) is face
    run = minimize(program, native_step, y, stop=Stop(max_iter=1), shrink=True)
    assert np.count_nonzero(run.x) > 5
    assert program.pencil.B_norm(run.x - native_step(program, y).x) == 0.0


@pytest.mark.parametrize("eps", [1.0, 1e-2, 2.2e-16])
@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_extrapolation_descends_and_certifies(eps, shift):
    """f never rises, every step's sandwich holds at its own origin, and the end is as stationary, sooner."""
    A, B = cca(seed=1)
    program = SparseGEV(Pencil(A, B), 0.05, eps, shift=shift)
    plain = minimize(program, native_step)
    quick = minimize(program, Accelerated(native_step))
    assert quick.converged
    assert quick.certificate.passes()
    assert quick.certificate.sandwich == 0.0
    assert all(b.f <= a.f + 1e-12 * abs(a.f) for a, b in zip(quick.history, quick.history[1:], strict=False))
    assert quick.n_iter < plain.n_iter
    assert quick.f <= plain.f + 1e-6 * abs(plain.f)
    assert any(it.origin is not None for it in quick.history)


@pytest.mark.parametrize(("rho", "eps"), [(0.3, 1e-4), (4.84, 2.2e-16), (1.0, 1.0), (0.0, 1e-2)])
def test_repetition_is_the_same_steps(pitprops, rho, eps):
    """x after 1, 1 + 2, 1 + 2 + 4, … plain steps, the origin one step before it, and the certificate of any run."""
    program = SparseGEV(pitprops, rho, eps)
    plain = list(islice(iterate(program, soft_threshold_step), 64))
    quick = list(islice(iterate(program, Repeated(soft_threshold_step, least=1)), 6))
    for j, point in enumerate(quick):
        l = 2**j - 1  # noqa: E741
        assert np.max(np.abs(point.x - plain[l].x)) <= 1e-9
        assert point.work == (2 ** (j - 1) if j else 0)
        if j > 1:
            assert np.max(np.abs(point.origin - plain[l - 1].x)) <= 1e-9
    assert certify(program, quick[-1].x, quick).sandwich == 0.0


def test_a_short_run_needs_no_compiler():
    """Importing numba takes longer than a run on few variables."""
    code = (
        "import sys; from dcgev_cvx import datasets, dc_pca; dc_pca(datasets.pitprops(), rho=4.84, engine='native')"
    )
    subprocess.run([sys.executable, "-c", f"{code}; assert 'numba' not in sys.modules"], check=True)


def test_repetition_with_a_shift_and_of_no_other_step():
    """An indefinite A too, whose x may lie inside Ω; with B, with data or with another penalty the step is plain."""
    A, B = cca()
    program = SparseGEV(Pencil(A), 0.05, 1e-2)
    assert program.tau > 0.0
    plain = list(islice(iterate(program, soft_threshold_step), 8))
    quick = list(islice(iterate(program, Repeated(soft_threshold_step, least=1)), 4))
    assert np.max(np.abs(quick[3].x - plain[7].x)) <= 1e-12
    C = np.random.default_rng(0).standard_normal((20, 30))
    for other in (
        SparseGEV(Pencil(A, B), 0.05, shift="metric"),
        SparseGEV(Pencil(Gram(C)), 1.0),
        SparseGEV(Pencil(C.T @ C), 1.0, penalty=L1Penalty()),
    ):
        step = Repeated(native_step, least=1)
        assert all(it.work == 1.0 and it.origin is None for it in list(islice(iterate(other, step), 5))[1:])


@pytest.mark.parametrize("scale", [1e-140, 1e-6, 1.0, 1e6, 1e140])
def test_repetition_in_any_unit(pitprops, scale):
    """The kernel squares nothing that may overflow; a collapse is left for the step to tell."""
    program = SparseGEV(Pencil(scale * pitprops.A), 4.84 * scale)
    quick = minimize(program, Repeated(soft_threshold_step, least=1))
    assert quick.support == minimize(SparseGEV(pitprops, 4.84), soft_threshold_step).support
    gone = minimize(SparseGEV(Pencil(scale * pitprops.A), 1e3 * scale), Repeated(soft_threshold_step, least=1))
    assert gone.status.name == "COLLAPSED"


def test_a_false_origin_is_seen():
    """An extrapolation that raised f would be found by the certificate, from the data."""
    A, B = cca(seed=2)
    program = SparseGEV(Pencil(A, B), 0.05, shift="metric")
    run = minimize(program, Accelerated(native_step))
    from dataclasses import replace

    index = next(i for i, it in enumerate(run.history) if it.origin is not None)
    forged = list(run.history)
    forged[index] = replace(forged[index], origin=0.1 * forged[index].origin)
    assert certify(program, run.x, forged).sandwich > 1e-6


@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_engines_meet(shift):
    """The same stationary point by CVXPY and natively, where the run is not at a fork."""
    A, B = cca(seed=3)
    slow = sparse_gev(A, B, rho=0.4, shift=shift)
    fast = sparse_gev(A, B, rho=0.4, shift=shift, engine="native")
    assert slow.converged
    assert fast.converged
    assert slow.support == fast.support
    assert np.max(np.abs(slow.x - fast.x)) <= 1e-6


def test_fda_natively():
    _, B = cca(seed=4)
    a = np.random.default_rng(4).standard_normal(40)
    slow = sparse_fda(a, B, nu=0.01)
    fast = sparse_fda(a, B, nu=0.01, engine="native")
    assert slow.converged
    assert fast.converged
    assert fast.certificate.passes()
    assert fast.f <= slow.f + 1e-6 * abs(slow.f)


def test_pca_natively(pitprops):
    fast = sparse_gev(pitprops, rho=4.84, engine="native")
    slow = minimize(fast.program, soft_threshold_step)
    assert fast.support == slow.support
    assert np.max(np.abs(fast.x - slow.x)) <= 1e-6
    assert fast.n_iter < slow.n_iter
