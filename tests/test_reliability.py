"""Statuses are right when solvers fail, and results are bit-for-bit reproducible across threads and processes."""

import hashlib
import os
import pickle
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
import referee
from threadpoolctl import threadpool_limits

from dcgev_cvx import (
    Backend,
    ExponentialPenalty,
    LogPenalty,
    Pencil,
    SolverFailed,
    SparseFDA,
    SparseGEV,
    Status,
    Stop,
    iterate,
    minimize,
    sparse_fda,
    sparse_gev,
)
from dcgev_cvx.steps import conic as convex
from dcgev_cvx.steps.closed import soft_threshold_step
from dcgev_cvx.steps.conic import FisherStep, LassoStep, LinearStep, MetricLassoStep, QCQPStep

SOLVERS = ["CLARABEL", "ECOS", "SCS"]


# ---- faults ---------------------------------------------------------------------------------------


class Faulty:
    """cp.Problem.solve with a fault: called on every solve, it tampers with what the genuine one left."""

    def __init__(self, fault, only=None, spare=()):
        self.fault, self.only, self.spare = fault, only, spare
        self.genuine = cp.Problem.solve
        self.calls = 0
        self.stale = None

    def __call__(self, problem, *args, **options):
        self.calls += 1
        value = self.genuine(problem, *args, **options)
        x = next(v for v in problem.variables() if v.name() in "xz")
        right = np.array(x.value)
        struck = self.only is None or self.calls == self.only
        if struck and options["solver"] not in self.spare:
            self.fault(self, problem, x, right)
        self.stale = right
        return value


def raising(error):
    def fault(self, problem, x, right):
        raise error

    return fault


def answering(answer):
    def fault(self, problem, x, right):
        x.save_value(answer(self, right))

    return fault


def claiming(status):
    def fault(self, problem, x, right):
        problem._status = status

    return fault


def noise(right):
    return np.random.default_rng(3).standard_normal(right.shape)


def inaccurate_and_wrong(self, problem, x, right):
    problem._status = cp.OPTIMAL_INACCURATE
    x.save_value(right + noise(right))


FAULTS = {
    "solver error": raising(cp.error.SolverError("numerical trouble")),
    "value error": raising(ValueError("row index exceeds matrix dimensions")),
    "type error": raising(TypeError("NoneType")),
    "empty exception": raising(RuntimeError()),
    "memory error": raising(MemoryError()),
    "none": answering(lambda self, right: None),
    "nan": answering(lambda self, right: np.full_like(right, np.nan)),
    "one nan": answering(lambda self, right: np.where(np.arange(len(right)) == 1, np.nan, right)),
    "inf": answering(lambda self, right: np.full_like(right, np.inf)),
    "off by 1e-3": answering(lambda self, right: right + 1e-3 * noise(right)),
    "off by 1e-1": answering(lambda self, right: right + 1e-1 * noise(right)),
    "random": answering(lambda self, right: noise(right)),
    "zeros": answering(lambda self, right: np.zeros_like(right)),
    "ones": answering(lambda self, right: np.ones_like(right)),
    "flipped": answering(lambda self, right: -right),
    "stale": answering(lambda self, right: noise(right) if self.stale is None else self.stale),
    "infeasible": answering(lambda self, right: 2.0 * right),
    "huge": answering(lambda self, right: 1e200 * noise(right)),
    "tiny": answering(lambda self, right: 1e-200 * noise(right)),
    "complex": answering(lambda self, right: right * (1 + 1e-3j)),
    "too short": answering(lambda self, right: right[:-1]),
    "infeasible status": claiming(cp.INFEASIBLE),
    "unbounded status": claiming(cp.UNBOUNDED),
    "user limit": claiming(cp.USER_LIMIT),
    "no status": claiming(None),
    "unheard-of status": claiming("perfect"),
    "inaccurate but right": claiming(cp.OPTIMAL_INACCURATE),
    "inaccurate and wrong": inaccurate_and_wrong,
}
HARMLESS = {"inaccurate but right", "off by 1e-3"}
"""Faults that the certificate forgives because the polished answer is right."""


def situations():
    A, B = referee.random_pencil(31, 5, cond=10.0)
    shifted = A - 2.0 * np.eye(5)
    return {
        "linear": lambda backend: (SparseGEV(Pencil(A, B), 0.6, 1e-2), LinearStep(backend)),
        "lasso": lambda backend: (SparseGEV(Pencil(shifted, B), 0.6, 1e-2), LassoStep(backend)),
        "qcqp": lambda backend: (SparseGEV(Pencil(shifted, B), 0.6, 2.2e-16), QCQPStep(backend)),
        "metric": lambda backend: (
            SparseGEV(Pencil(shifted, B), 0.6, 1e-2, shift="metric"),
            MetricLassoStep(backend),
        ),
        "fisher": lambda backend: (SparseFDA(A[0], B, 0.2, 1e-2), FisherStep(backend)),
    }


def judge(result, clean):
    """Converged means the clean answer to 1e-9; otherwise the failure is named and the history is the clean one."""
    if result.status is Status.SOLVER_FAILED:
        assert not result.converged
        assert result.message.startswith(f"step {len(result.history)}: ")
        assert len(result.message) > 12
    else:
        assert result.status is clean.status
        assert result.n_iter == clean.n_iter
        assert np.max(np.abs(result.x - clean.x)) <= 1e-9
    for mine, theirs in zip(result.history, clean.history, strict=False):
        assert np.max(np.abs(mine.x - theirs.x)) <= 1e-9


@pytest.mark.parametrize("form", situations())
@pytest.mark.parametrize("kind", FAULTS)
def test_status_follows_the_certificate(form, kind, monkeypatch):
    program, step = situations()[form](Backend("CLARABEL"))
    stop = Stop(max_iter=8, step=1e-6, stationarity=1e-4)
    clean = minimize(program, step, stop=stop)
    assert clean.n_iter >= 2
    for only in (None, 3):
        with monkeypatch.context() as patch:
            faulty = Faulty(FAULTS[kind], only)
            patch.setattr(cp.Problem, "solve", lambda self, *a, _f=faulty, **o: _f(self, *a, **o))
            result = minimize(program, step, stop=stop)
        assert faulty.calls
        judge(result, clean)
        if kind in HARMLESS:
            assert result.status is clean.status
        if only is None and kind in ("solver error", "none", "nan", "infeasible status", "no status", "random"):
            assert result.status is Status.SOLVER_FAILED
            assert len(result.history) == 1
    assert np.array_equal(minimize(program, step, stop=stop).x, clean.x)


@pytest.mark.parametrize("form", situations())
@pytest.mark.parametrize("error", [1e-3, 1e-4])
def test_a_wrong_polish_is_refused_too(form, error, monkeypatch):
    """The last word is the KKT residual of what is returned, whoever computed it."""
    program, step = situations()[form](Backend())
    genuine = convex.polish

    def wrong(sub, guess):
        x, mu = genuine(sub, guess)
        return x * (1.0 - error * np.arange(5) / 5), mu

    monkeypatch.setattr(convex, "polish", wrong)
    with pytest.raises(SolverFailed, match="CLARABEL's answer has a KKT residual of"):
        step(program, program.start())


@pytest.mark.parametrize("kind", ["solver error", "none", "nan", "random", "infeasible status", "inaccurate and wrong"])
def test_fallback_mends_a_fault_and_says_so(kind, monkeypatch):
    """Clarabel broken, ECOS whole: every step is ECOS's, the answer is the clean one, the result says who gave it."""
    A, B = referee.random_pencil(32, 5, cond=10.0)
    stop = Stop(max_iter=6)
    clean = sparse_gev(A, B, rho=0.5, eps=1e-2, stop=stop)
    faulty = Faulty(FAULTS[kind], spare=("ECOS",))
    monkeypatch.setattr(cp.Problem, "solve", lambda self, *a, **o: faulty(self, *a, **o))
    backend = Backend("CLARABEL", fallback=("ECOS", "SCS"))
    result = sparse_gev(A, B, rho=0.5, eps=1e-2, stop=stop, solver=backend)
    assert result.solvers == {"ECOS": result.n_iter}
    assert result.x == pytest.approx(clean.x, abs=1e-9)
    alone = sparse_gev(A, B, rho=0.5, eps=1e-2, stop=stop, solver=Backend("CLARABEL", fallback=("SCS",)))
    assert alone.status is Status.SOLVER_FAILED
    assert "CLARABEL" in alone.message
    assert "; then SCS" in alone.message


def test_one_failure_leaves_the_rest_to_the_first_solver(monkeypatch):
    A, B = referee.random_pencil(32, 5, cond=10.0)
    faulty = Faulty(FAULTS["random"], only=2, spare=("ECOS",))
    monkeypatch.setattr(cp.Problem, "solve", lambda self, *a, **o: faulty(self, *a, **o))
    result = sparse_gev(A, B, rho=0.5, eps=1e-2, stop=Stop(max_iter=6), solver=Backend("CLARABEL", fallback=("ECOS",)))
    assert result.solvers == {"CLARABEL": result.n_iter - 1, "ECOS": 1}


def test_an_interrupted_solve_leaves_the_step_usable(monkeypatch):
    program, step = situations()["lasso"](Backend())
    y = program.start()
    before = step(program, y).x
    with monkeypatch.context() as patch:
        patch.setattr(cp.Problem, "solve", lambda self, *a, **o: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            step(program, y)
    assert np.array_equal(step(program, y).x, before)


# ---- the same bits --------------------------------------------------------------------------------


def all_runs(solvers=tuple(SOLVERS)):
    """The last iterates of short runs through every form and solver, as bytes."""
    A, B = referee.random_pencil(33, 6, cond=50.0, indefinite=True)
    positive = A @ A
    stop = Stop(max_iter=4)
    found = []
    for solver in solvers:
        found += [
            sparse_gev(A, B, rho=0.3, solver=solver, stop=stop),
            sparse_gev(A, B, rho=0.3, solver=solver, shift="metric", stop=stop),
            sparse_gev(positive, B, rho=0.3, eps=1e-2, solver=solver, stop=stop),
            minimize(SparseGEV(Pencil(A, B), 0.3), QCQPStep(Backend(solver)), stop=stop),
            sparse_fda(A[0], B, nu=0.2, solver=solver, stop=stop),
        ]
    return b"".join(result.x.tobytes() + np.float64(result.f).tobytes() for result in found)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_same_bits_on_repetition_and_after_other_calls():
    first = all_runs()
    assert all_runs() == first
    for seed in range(3):
        A, B = referee.random_pencil(seed, 6, cond=1e3)
        for solver in SOLVERS:
            sparse_gev(A, B, rho=0.7, solver=solver, stop=Stop(max_iter=2))
    assert all_runs() == first


def test_one_program_gives_the_same_bits_after_any_history():
    program, _ = situations()["lasso"](Backend())
    points = [referee.start(seed, program.pencil.B, 5, zeros=seed % 3) for seed in range(6)]
    for solver in SOLVERS:
        step = LassoStep(Backend(solver))
        forward = {i: step(program, points[i]).x.tobytes() for i in range(6)}
        backward = {i: step(program, points[i]).x.tobytes() for i in reversed(range(6))}
        assert forward == backward


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "4242", "OPENBLAS_NUM_THREADS": "1"},
        {"PYTHONHASHSEED": "7", "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
    ],
)
def test_same_bits_in_a_new_process(environment):
    code = "import test_reliability as t; print(t.digest(t.all_runs()))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parent,
        env={**os.environ, **environment},
    )
    assert done.stdout.strip() == digest(all_runs())


def test_same_bits_with_one_and_with_two_threads():
    """At n = 150 a Cholesky factor, an eigenvector and a solve have other last bits with another number of them."""
    A, B = referee.random_pencil(5, 150, cond=100.0, indefinite=True)
    stop = Stop(max_iter=2)

    def runs():
        for shift in ("identity", "metric"):
            yield sparse_gev(A, B, rho=0.01, eps=1.0, shift=shift, engine="native", stop=stop)
        yield sparse_gev(A, rho=0.01, eps=1.0, engine="native", stop=stop)
        yield sparse_fda(A[0], B, nu=0.01, eps=1.0, engine="native", stop=stop)

    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            found.append([point.x.tobytes() for result in runs() for point in result.history])
    assert found[0] == found[1]


@pytest.mark.parametrize("solver", SOLVERS)
def test_eight_threads_on_one_program(solver):
    A, B = referee.random_pencil(34, 6, cond=20.0, indefinite=True)
    program = SparseGEV(Pencil(A, B), 0.4, 1e-4)
    step = LassoStep(Backend(solver))
    points = [referee.start(seed, B, 6, zeros=seed % 3) for seed in range(8)]
    expected = [step(program, y).x.tobytes() for y in points]
    ready = threading.Barrier(8)

    def work(offset):
        ready.wait()
        order = [(offset + i) % 8 for i in range(16)]
        return [(i, step(program, points[i]).x.tobytes()) for i in order]

    filters = list(warnings.filters)
    with ThreadPoolExecutor(8) as pool:
        answers = [pair for found in pool.map(work, range(8)) for pair in found]
    assert len(answers) == 128
    assert all(found == expected[i] for i, found in answers)
    assert warnings.filters == filters


@dataclass(frozen=True)
class PlainLog(LogPenalty):
    """The paper's logarithm with ρ itself before it: no factor that depends on the unit of ε."""

    def coefficient(self, rho, eps):
        return rho


def forms(A, B, backend):
    """(shift, step) pairs that fit a pencil."""
    low = np.linalg.eigvalsh(A)[0]
    yield "identity", QCQPStep(backend)
    yield "identity", LinearStep(backend) if low >= 0 else LassoStep(backend)
    yield "metric", MetricLassoStep(backend)
    if B is None:
        yield "identity", soft_threshold_step


def six(A, B, rho, eps, x0, shift, step, penalty=None, tau=None):
    program = SparseGEV(Pencil(A, B), rho, eps, tau, shift, penalty)
    return program.tau, [it.x for it in islice(iterate(program, step, x0), 6)]


CASES = [(None, False), (None, True), (20.0, False), (20.0, True)]


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("cond", "indefinite"), CASES)
@pytest.mark.parametrize("k", [-7, 1, 40])
def test_powers_of_two_in_a_and_rho_change_no_bit(solver, cond, indefinite, k):
    A, B = referee.random_pencil(35, 5, cond=cond, indefinite=indefinite)
    x0 = referee.start(35, B, 5, zeros=1)
    for shift, step in forms(A, B, Backend(solver)):
        tau, plain = six(A, B, 0.4, 1e-3, x0, shift, step)
        scaled_tau, scaled = six(A * 2.0**k, B, 0.4 * 2.0**k, 1e-3, x0, shift, step)
        assert scaled_tau == tau * 2.0**k
        assert all(np.array_equal(x, z) for x, z in zip(plain, scaled, strict=True))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("indefinite", [False, True])
@pytest.mark.parametrize("k", [-6, 1, 30])
@pytest.mark.parametrize("penalty", [PlainLog(), ExponentialPenalty()])
def test_powers_of_four_in_b_change_no_mantissa(solver, indefinite, k, penalty):
    """B by 4ᵏ, x and ε by 2⁻ᵏ (and ρ by 4⁻ᵏ, for A stays): the same bits with another exponent."""
    A, B = referee.random_pencil(36, 5, cond=20.0, indefinite=indefinite)
    x0 = referee.start(36, B, 5, zeros=1)
    unit = 2.0**-k
    for shift, step in forms(A, B, Backend(solver)):
        _, plain = six(A, B, 0.05, 0.5, x0, shift, step, penalty)
        _, scaled = six(A, B * 4.0**k, 0.05 * unit * unit, 0.5 * unit, x0 * unit, shift, step, penalty)
        assert all(np.array_equal(x * unit, z) for x, z in zip(plain, scaled, strict=True))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("cond", "indefinite"), CASES)
def test_sign_flips_change_no_bit(solver, cond, indefinite):
    A, B = referee.random_pencil(37, 5, cond=cond, indefinite=indefinite)
    x0 = referee.start(37, B, 5, zeros=1)
    signs = np.array([1.0, -1.0, -1.0, 1.0, -1.0])
    both = np.outer(signs, signs)
    for shift, step in forms(A, B, Backend(solver)):
        tau, plain = six(A, B, 0.4, 1e-3, x0, shift, step)
        _, flipped = six(
            A * both, None if B is None else B * both, 0.4, 1e-3, x0 * signs, shift, step, tau=tau * (1 + 1e-9)
        )
        _, plain = six(A, B, 0.4, 1e-3, x0, shift, step, tau=tau * (1 + 1e-9))
        assert all(np.array_equal(x * signs, z) for x, z in zip(plain, flipped, strict=True))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("cond", "indefinite"), CASES)
def test_permutations_change_nothing_to_1e_12(solver, cond, indefinite):
    A, B = referee.random_pencil(38, 6, cond=cond, indefinite=indefinite)
    x0 = referee.start(38, B, 6, zeros=1)
    order = np.random.default_rng(38).permutation(6)
    rows = np.ix_(order, order)
    for shift, step in forms(A, B, Backend(solver)):
        _, plain = six(A, B, 0.4, 1e-3, x0, shift, step)
        _, mixed = six(A[rows], None if B is None else B[rows], 0.4, 1e-3, x0[order], shift, step)
        for x, z in zip(plain, mixed, strict=True):
            assert np.max(np.abs(x[order] - z)) <= 1e-12


# ---- pickling and memory --------------------------------------------------------------------------


@pytest.mark.parametrize("form", situations())
def test_programs_and_results_reload_to_the_same_bits(form):
    program, step = situations()[form](Backend())
    stop = Stop(max_iter=4)
    result = minimize(program, step, stop=stop)
    copy = pickle.loads(pickle.dumps(result))
    assert np.array_equal(copy.x, result.x)
    assert copy.certificate == result.certificate
    assert copy.status is result.status
    assert [it.x.tobytes() for it in copy.history] == [it.x.tobytes() for it in result.history]
    reloaded, again = pickle.loads(pickle.dumps((program, step)))
    assert np.array_equal(minimize(reloaded, again, stop=stop).x, result.x)


@pytest.mark.slow
def test_a_long_run_does_not_grow():
    """500 steps and 15 programs after warming up: at most 1 MiB more."""
    code = """
import gc, numpy as np, referee
from dcgev_cvx import Pencil, SparseGEV
from dcgev_cvx.steps.conic import LassoStep
def resident():
    gc.collect()
    return int(open('/proc/self/statm').read().split()[1]) * 4096
A, B = referee.random_pencil(39, 6, cond=20.0, indefinite=True)
points = [referee.start(s, B, 6) for s in range(10)]
def steps(program, count):
    step = LassoStep()
    for i in range(count):
        step(program, points[i % 10])
program = SparseGEV(Pencil(A, B), 0.4)
steps(program, 200)
for _ in range(10):
    steps(SparseGEV(Pencil(A, B), 0.4), 2)
before = resident()
steps(program, 500)
for _ in range(15):
    steps(SparseGEV(Pencil(A, B), 0.4), 2)
print((resident() - before) / 2**20)
"""
    if not Path("/proc/self/statm").exists():
        return
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent
    )
    assert float(done.stdout) <= 1.0
