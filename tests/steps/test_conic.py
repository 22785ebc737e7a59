"""Each form of the MM step: printable, compiled once, right to the last digits through every solver."""

import cvxpy as cp
import numpy as np
import pytest
import referee

from dcgev_cvx import (
    Backend,
    InvalidParameter,
    Pencil,
    SolverFailed,
    SparseFDA,
    SparseGEV,
    Stop,
    minimize,
    sparse_gev,
)
from dcgev_cvx.steps import conic
from dcgev_cvx.steps.conic import FisherStep, LassoStep, LinearStep, MetricLassoStep, QCQPStep

SOLVERS = ["CLARABEL", "ECOS", "SCS"]
EPSILONS = [1.0, 1e-2, 1e-4, 1e-8, 2.2e-16]


def steps_for(program, backend=None):
    """Every CVXPY form that applies to a program."""
    backend = Backend() if backend is None else backend
    forms = [QCQPStep(backend)]
    if program.tau == 0.0:
        forms += [LinearStep(backend), MetricLassoStep(backend)]
    elif program.shift == "identity":
        forms += [LassoStep(backend)]
    else:
        forms += [MetricLassoStep(backend)]
    return forms


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(("cond", "tol"), [(None, 1e-12), (1e2, 1e-12), (1e4, 1e-12), (1e6, 1e-8), (1e8, 1e-8)])
@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_kkt_residual_recomputed_from_the_data(solver, cond, tol, shift):
    worst = 0.0
    for seed, eps in enumerate(EPSILONS):
        for indefinite in (False, True):
            n = 3 + 2 * seed
            A, B = referee.random_pencil(seed + 10, n, cond=cond, indefinite=indefinite)
            program = SparseGEV(Pencil(A, B), 0.7, eps, shift=shift)
            y = referee.start(seed, B, n, zeros=seed % 3)
            for step in steps_for(program, Backend(solver)):
                x = step(program, y).x
                worst = max(worst, referee.step_kkt(A, B, y, x, rho=0.7, eps=eps, tau=program.tau, shift=shift))
    assert worst <= tol


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("cond", [10.0, 1e4])
def test_kkt_residual_in_fifty_digits(solver, cond):
    A, B = referee.random_pencil(7, 6, cond=cond, indefinite=True)
    program = SparseGEV(Pencil(A, B), 0.7, 1e-4)
    y = referee.start(7, B, 6)
    x = LassoStep(Backend(solver))(program, y).x
    exact = referee.step_kkt_50_digits(A, B, y, x, rho=0.7, eps=1e-4, tau=program.tau)
    assert exact <= 1e-12
    longdouble = referee.step_kkt(A, B, y, x, rho=0.7, eps=1e-4, tau=program.tau)
    assert exact <= longdouble + 1e-15


@pytest.mark.parametrize("solver", [*SOLVERS, "OSQP"])
@pytest.mark.parametrize("cond", [2.0, 1e2, 1e4])
def test_fisher_step(solver, cond):
    for seed, eps in enumerate(EPSILONS):
        B = referee.random_pencil(seed, 5, cond=cond)[1]
        a = np.random.default_rng(seed).standard_normal(5)
        program = SparseFDA(a, B, 0.3, eps)
        y = program.start()
        x = FisherStep(Backend(solver))(program, y).x
        assert referee.fisher_kkt(a, B, y, x, nu=0.3, eps=eps) <= 1e-12 * max(1.0, cond / 100)


@pytest.mark.parametrize("solver", ["OSQP", *SOLVERS])
def test_metric_lasso_is_a_qp(solver):
    for seed, eps in enumerate(EPSILONS):
        A, B = referee.random_pencil(seed, 6, cond=30.0, indefinite=True)
        program = SparseGEV(Pencil(A, B), 0.5, eps, shift="metric")
        y = referee.start(seed, B, 6, zeros=1)
        x = MetricLassoStep(Backend(solver))(program, y).x
        assert referee.step_kkt(A, B, y, x, rho=0.5, eps=eps, tau=program.tau, shift="metric") <= 1e-12


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_variable(solver):
    for value in (3.0, 0.0, -3.0):
        for rho in (0.0, 0.5, 50.0):
            for B in (None, np.array([[4.0]])):
                A = np.array([[value]])
                program = SparseGEV(Pencil(A, B), rho, 1e-4)
                y = np.array([0.5])
                for step in steps_for(program, Backend(solver)):
                    x = step(program, y).x
                    assert referee.step_kkt(A, B, y, x, rho=rho, eps=1e-4, tau=program.tau) <= 1e-12
        fda = SparseFDA([2.0], [[3.0]], 0.5)
        assert FisherStep(Backend(solver))(fda, fda.start()).x == pytest.approx([0.5], rel=1e-15)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("a", "b"),
    [(1e6, 1.0), (1e-6, 1.0), (1.0, 1e6), (1.0, 1e-6), (1e150, 1.0), (1e-150, 1.0), (1.0, 1e100), (1.0, 1e-100)],
)
@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_scales(solver, a, b, shift):
    """A·a with ρ̃·a, and B·b with x and ε by b^(−½): the same step in other units."""
    A, B = referee.random_pencil(11, 6, cond=20.0, indefinite=True)
    y = referee.start(11, B, 6, zeros=1)
    size = b**-0.5
    plain = SparseGEV(Pencil(A, B), 0.7, 1e-3, shift=shift)
    # ρ̃ multiplies a penalty that does not scale, A multiplies x²
    rho_eps = plain.rho_eps * a / b
    scaled = SparseGEV(Pencil(A * a, B * b), 1.0, 1e-3 * size, shift=shift)
    scaled = scaled.with_rho(rho_eps / scaled.rho_eps)
    if shift == "identity" or plain.tau == 0.0:
        assert scaled.tau == pytest.approx(plain.tau * a, rel=1e-9)
    for one, two in zip(steps_for(plain, Backend(solver)), steps_for(scaled, Backend(solver)), strict=True):
        assert two(scaled, y * size).x / size == pytest.approx(one(plain, y).x, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_no_failure_at_machine_eps(solver):
    """A few hundred steps along runs at ε = 2.2e-16, each with its KKT residual."""
    steps = 0
    for seed in range(8):
        n = 4 + 2 * seed
        cond = [None, 1e2, 1e4, 1e6][seed % 4]
        A, B = referee.random_pencil(seed, n, cond=cond, indefinite=seed % 2 == 1)
        for rho in (0.1, 1.0, 10.0):
            program = SparseGEV(Pencil(A, B), rho, 2.2e-16, shift=["identity", "metric"][seed // 4])
            y = referee.start(seed, B, n)
            for step in steps_for(program, Backend(solver)):
                for _ in range(6):
                    x = step(program, y).x
                    kkt = referee.step_kkt(A, B, y, x, rho=rho, eps=2.2e-16, tau=program.tau, shift=program.shift)
                    assert kkt <= (1e-8 if cond == 1e6 else 1e-12)
                    steps += 1
                    y = x if x.any() else referee.start(seed + steps, B, n, zeros=n // 2)
    assert steps >= 300


@pytest.mark.parametrize("solver", SOLVERS)
def test_exact_ties(solver):
    """|cᵢ| = ½pᵢ to the last bit: the coordinate that just survives or just does not."""
    A = np.diag([4.0, 2.0, 1.0, 1.0])
    y = np.array([0.5, 0.5, 0.5, 0.5])
    program = SparseGEV(Pencil(A), 1.0, 0.5)
    tied = program.with_rho(2.0 * 0.5 * 1.0 * 1.0 / program.rho_eps)
    for step in steps_for(tied, Backend(solver)):
        x = step(tied, y).x
        assert referee.step_kkt(A, None, y, x, rho=tied.rho, eps=0.5) <= 1e-12
        assert np.count_nonzero(x) in (2, 3, 4)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("sign", [1.0, 0.0, -1.0])
def test_positive_zero_and_negative_definite_a(solver, sign):
    A, B = referee.random_pencil(2, 5, cond=10.0)
    A = sign * A
    y = referee.start(2, B, 5)
    for rho in (0.0, 0.5):
        for shift in ("identity", "metric"):
            program = SparseGEV(Pencil(A, B), rho, 1e-4, shift=shift)
            for step in steps_for(program, Backend(solver)):
                x = step(program, y).x
                kkt = referee.step_kkt(A, B, y, x, rho=rho, eps=1e-4, tau=program.tau, shift=shift)
                assert kkt <= 1e-12


@pytest.mark.parametrize("solver", SOLVERS)
def test_starts_with_exact_zeros_and_the_zero_start(solver):
    A, B = referee.random_pencil(4, 7, cond=10.0)
    for eps in EPSILONS:
        program = SparseGEV(Pencil(A, B), 0.5, eps)
        y = referee.start(4, B, 7, zeros=5)
        for step in steps_for(program, Backend(solver)):
            assert referee.step_kkt(A, B, y, step(program, y).x, rho=0.5, eps=eps) <= 1e-12
            assert not step(program, np.zeros(7)).x.any()


def test_output_is_computed_from_the_data():
    A, B = referee.random_pencil(6, 6, cond=10.0, indefinite=True)
    program = SparseGEV(Pencil(A, B), 0.5, 1e-2)
    y = referee.start(6, B, 6)
    out = QCQPStep(Backend("SCS"))(program, y)
    assert out.value == program.g(out.x, y)
    assert out.solver == "SCS"
    assert 0.0 <= out.correction < 1e-3
    assert out.residual <= 1e-12
    assert out.seconds > 0.0
    assert out.mu >= 0.0


# ---- the problems themselves ----------------------------------------------------------------------


def programs():
    A, B = referee.random_pencil(8, 4, cond=10.0)
    yield QCQPStep(), SparseGEV(Pencil(A - 2 * np.eye(4), B), 0.5)
    yield QCQPStep(), SparseGEV(Pencil(A, B), 0.5)
    yield QCQPStep(), SparseGEV(Pencil(A - 2 * np.eye(4), B), 0.5, shift="metric")
    yield LassoStep(), SparseGEV(Pencil(A - 2 * np.eye(4), B), 0.5)
    yield LinearStep(), SparseGEV(Pencil(A), 0.5)
    yield MetricLassoStep(), SparseGEV(Pencil(A, B), 0.5, shift="metric")
    yield FisherStep(), SparseFDA(np.ones(4), B, 0.5)


@pytest.mark.parametrize(("step", "program"), list(programs()), ids=lambda v: type(v).__name__)
def test_problems_are_printable_and_parametrised(step, program):
    problem = step.problem(program)
    assert isinstance(problem, cp.Problem)
    assert problem.is_dcp(dpp=True)
    assert {parameter.name() for parameter in problem.parameters()} <= {"c", "p"}
    text = str(problem)
    assert "minimize" in text or "maximize" in text
    for constraint in problem.constraints:
        assert not constraint.parameters()


@pytest.mark.parametrize(("step", "program"), list(programs()), ids=lambda v: type(v).__name__)
def test_the_printed_problem_is_the_step_itself(step, program):
    """In the user's data, from the program's start, with nothing of ours around it."""
    problem = step.problem(program)
    problem.solve(solver="CLARABEL")
    x = problem.var_dict[step.variable].value
    if step.variable == "z":
        x = x / max(program.tau, program.pencil.B_norm(x))
    assert step(program, program.start()).x == pytest.approx(x, abs=1e-4)  # Clarabel's own accuracy


def test_steps_say_when_they_do_not_apply():
    A, B = referee.random_pencil(8, 4, cond=10.0)
    plain, shifted = SparseGEV(Pencil(A, B), 0.5), SparseGEV(Pencil(A - 2 * np.eye(4), B), 0.5)
    metric, fda = SparseGEV(Pencil(A - 2 * np.eye(4), B), 0.5, shift="metric"), SparseFDA(np.ones(4), B, 0.5)
    y = referee.start(0, B, 4)
    for step, program, text in [
        (LassoStep(), plain, 'LassoStep needs shift="identity" with τ > 0'),
        (LassoStep(), metric, 'LassoStep needs shift="identity" with τ > 0'),
        (LinearStep(), shifted, "LinearStep is the branch τ = 0"),
        (MetricLassoStep(), shifted, 'MetricLassoStep needs τ = 0 or shift="metric"'),
        (FisherStep(), plain, "FisherStep minimises a SparseFDA program, not a SparseGEV"),
        (QCQPStep(), fda, "QCQPStep minimises a SparseGEV program, not a SparseFDA"),
        (LassoStep(), fda, "LassoStep minimises a SparseGEV program"),
        (LinearStep(), fda, "LinearStep minimises a SparseGEV program"),
        (MetricLassoStep(), fda, "MetricLassoStep minimises a SparseGEV program"),
    ]:
        with pytest.raises(InvalidParameter) as caught:
            step(program, y)
        assert text in str(caught.value)


# ---- compiled once --------------------------------------------------------------------------------


@pytest.fixture
def counts(monkeypatch):
    """How many problems were written down, and how often CVXPY worked out how to solve one."""
    seen = {"built": 0, "chains": 0}
    built, chain = conic.CompiledProblem, cp.Problem._construct_chain

    def counted_build(*args, **kwargs):
        seen["built"] += 1
        return built(*args, **kwargs)

    def counted_chain(self, *args, **kwargs):
        seen["chains"] += 1
        return chain(self, *args, **kwargs)

    monkeypatch.setattr(conic, "CompiledProblem", counted_build)
    monkeypatch.setattr(cp.Problem, "_construct_chain", counted_chain)
    return seen


@pytest.mark.parametrize("step", [QCQPStep(), LinearStep(), MetricLassoStep()], ids=lambda s: type(s).__name__)
def test_a_whole_path_compiles_once(counts, step):
    A, B = referee.random_pencil(20, 6, cond=10.0)
    program = SparseGEV(Pencil(A, B), 0.0)
    for eps in (1.0, 1e-4, 2.2e-16):
        for rho in np.linspace(0.0, 3.0, 6):
            minimize(program.with_rho(float(rho), eps), step, stop=Stop(max_iter=4))
    assert counts == {"built": 1, "chains": 1}


def test_programs_of_one_pencil_share_their_problem(counts):
    A, B = referee.random_pencil(21, 6, cond=10.0, indefinite=True)
    pencil = Pencil(A, B)
    for rho in (0.1, 0.2, 0.3):
        minimize(SparseGEV(pencil, rho), LassoStep(), stop=Stop(max_iter=3))
    assert counts == {"built": 1, "chains": 1}
    other = SparseGEV(pencil, 0.1, tau=3 * SparseGEV(pencil, 0.1).tau)
    minimize(other, LassoStep(), stop=Stop(max_iter=3))
    assert counts["built"] == 2


def test_fisher_path_compiles_once(counts):
    program = SparseFDA(np.ones(5), referee.random_pencil(22, 5, cond=10.0)[1], 0.0)
    for nu in np.linspace(0.0, 1.0, 5):
        minimize(program.with_nu(float(nu)), FisherStep(), stop=Stop(max_iter=3))
    assert counts == {"built": 1, "chains": 1}


def test_two_fisher_programs_on_one_pencil_do_not_share_their_constraint():
    """a stands in the constraint: another program's problem must not be used."""
    pencil = Pencil(np.eye(3), referee.random_pencil(23, 3, cond=4.0)[1])
    for a in (np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]), np.array([-1.0, 3.0, 3.0])):
        program = SparseFDA(a, pencil, 0.2, 1e-2)
        x = FisherStep()(program, program.start()).x
        assert referee.fisher_kkt(a, pencil.B, program.start(), x, nu=0.2, eps=1e-2) <= 1e-12


def test_compiled_problems_are_dropped_with_their_pencil():
    def run():
        pencil = Pencil(referee.random_pencil(24, 4)[0])
        sparse_gev(pencil, rho=0.5, stop=Stop(max_iter=2))
        assert pencil in conic._kept.problems

    import gc

    gc.collect()
    before = len(conic._kept.problems)
    run()
    gc.collect()
    assert len(conic._kept.problems) <= before


@pytest.mark.parametrize("solver", ["CLARABEL", "ECOS", "SCS"])
@pytest.mark.parametrize("form", [QCQPStep, LinearStep])
def test_at_a_tie_a_solver_is_not_accused(form, solver):
    """2c = p exactly: the surrogate is 0 on a whole segment from the origin, and any point of it is an answer."""
    for scale in (1.0, 3.0, 19.0):
        program = SparseGEV(Pencil([[scale]]), 1.5 * scale * np.log(2.0), 1.0)
        out = form(Backend(solver))(program, np.array([0.5]))
        assert program.g(out.x, np.array([0.5])) == pytest.approx(program.g(np.zeros(1), np.array([0.5])), rel=1e-12)


@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_a_start_whose_square_is_no_number(shift):
    """From y = 5e-324 the answer is as small; the LASSO, which cannot be brought to size one, says that it failed."""
    program = SparseGEV(Pencil([[1.0, 2.0], [2.0, 1.0]], [[2.0, 1.0], [1.0, 2.0]]), 0.1, 1.0, shift=shift)
    y = np.array([5e-324, 0.0])
    for step in (QCQPStep(), LassoStep() if shift == "identity" else QCQPStep()):
        assert np.abs(step(program, y).x).max() <= 1e-300
    with pytest.raises(SolverFailed, match="claimed success"):
        MetricLassoStep()(SparseGEV(program.pencil, 0.1, 1.0, shift="metric"), y)


@pytest.mark.parametrize("solver", [*SOLVERS, "OSQP"])
@pytest.mark.parametrize("nu", [1e8, 1e12, 1e60, 1e190])
def test_fisher_where_the_penalty_drowns_the_scatter(solver, nu):
    """The objective is brought to size one before a solver sees it; from nu = 1e7 on, one after the other failed."""
    for seed in range(4):
        B = referee.random_pencil(seed, 6, cond=50.0)[1]
        a = np.random.default_rng(seed).standard_normal(6)
        program = SparseFDA(a, B, nu, 1e-4)
        y = program.start()
        i = int(np.argmin(program.slopes(y) / np.abs(a)))
        assert FisherStep(Backend(solver))(program, y).x.tolist() == (np.eye(6)[i] / a).tolist()


@pytest.mark.parametrize(
    ("form", "shift"), [(LassoStep, "identity"), (QCQPStep, "metric"), (MetricLassoStep, "metric")]
)
def test_multiplier_and_time_are_in_the_user_s_units(form, shift):
    """The KKT system times xᵀ, with xᵀBx = 1: μ = cᵀx − τxᵀMx − ½pᵀ|x|."""
    A, B = referee.random_pencil(6, 5, cond=10.0, indefinite=True)
    program = SparseGEV(Pencil(1e3 * A, 1e-2 * B), 3e4, 0.1, shift=shift)
    y = program.start()
    out = form()(program, y)
    square = 1.0 if shift == "metric" else out.x @ out.x
    mu = program.linear(y) @ out.x - program.tau * square - 0.5 * program.slopes(y) @ np.abs(out.x)
    assert program.pencil.B_norm(out.x) == pytest.approx(1.0)
    assert out.mu == pytest.approx(mu, rel=1e-9)
    assert 0.0 < out.seconds < 10.0
