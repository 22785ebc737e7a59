"""General d.c. programs: descent, certificates, phase one, the paper's programs, and errors that name the cause."""

import pickle
from itertools import islice, pairwise

import cvxpy as cp
import numpy as np
import pytest
import referee
from cvxpy.reductions.dcp2cone.dcp2cone import Dcp2Cone
from random_programs import random_program

from dcgev_cvx import (
    Backend,
    DCProgram,
    Infeasible,
    InvalidParameter,
    Pencil,
    SolverFailed,
    SparseFDA,
    SparseGEV,
    Status,
    Stop,
    Unbounded,
    datasets,
    fda_vectors,
    iterate,
    minimize,
)
from dcgev_cvx.dc import FEASIBLE, TangentStep
from dcgev_cvx.dc.kinks import put
from dcgev_cvx.steps.conic import FisherStep, LassoStep, LinearStep

# ---- descent and certificates ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_descend_to_stationary_points(seed):
    program = random_program(seed)
    result = program.minimize()
    values = [point.f for point in result.history]
    assert all(after <= before for before, after in pairwise(values))
    assert result.certificate.sandwich == 0.0
    assert result.certificate.feasibility <= FEASIBLE
    assert result.converged
    assert result.certificate.stationarity <= 1e-6
    assert result.certificate.gap <= 1e-6 * result.program.size(result.x)


@pytest.mark.parametrize("seed", range(10))
def test_the_surrogate_majorises_and_touches(seed):
    program, rng = random_program(seed), np.random.default_rng(seed)
    program = program.with_penalty(0.7, program.start()) if program.dc_constraints else program
    for _ in range(5):
        x, y = rng.uniform(-1, 1, (2, program.n))
        assert program.g(y, y) == pytest.approx(program.f(y), abs=1e-12)
        assert program.g(x, y) >= program.f(x) - 1e-12


@pytest.mark.parametrize("seed", range(0, 10, 2))
def test_the_gap_is_zero_at_stationary_points_only(seed):
    program = random_program(seed)
    result = program.minimize()
    away = np.clip(result.x + 0.1, -1, 1)
    assert result.certificate.passes()
    certificate = program.certify(away)
    lowest = min(program.g(z, away) for z in np.random.default_rng(0).uniform(-1, 1, (200, program.n)))
    assert certificate.gap >= program.f(away) - lowest - 1e-9


def test_a_wrong_history_fails_the_sandwich():
    program = random_program(2)
    history = program.minimize().history
    assert program.certify(history[-1].x, history).sandwich == 0.0
    assert program.certify(history[0].x, history[::-1]).sandwich > 1e-9


def test_the_certificate_says_what_was_measured():
    program = random_program(0)
    text = str(program.minimize().certificate)
    assert text.startswith("d-stationary: feasibility ")
    assert "stationarity" in text
    assert "optimal" not in text
    assert not program.certify(np.full(program.n, 5.0)).passes()


def test_compiled_exactly_once_for_a_run_and_all_later_ones(monkeypatch):
    calls = []
    original = Dcp2Cone.apply
    monkeypatch.setattr(Dcp2Cone, "apply", lambda self, problem: calls.append(1) or original(self, problem))
    for seed in (0, 1):  # without and with a d.c. constraint
        calls.clear()
        program = random_program(seed)
        result = program.minimize()
        assert len(result.history) > 2
        program.variables[0].value = np.full(program.n, 0.3)
        program.minimize()
        assert len(calls) == 1


def test_runs_are_bit_for_bit_reproducible():
    one, two = random_program(3).minimize(), random_program(3).minimize()
    assert np.array_equal(one.x, two.x)
    assert [point.f for point in one.history] == [point.f for point in two.history]


def test_results_pickle():
    result = random_program(1).minimize()
    other = pickle.loads(pickle.dumps(result))
    assert np.array_equal(other.x, result.x)
    assert other.certificate == result.certificate
    assert other.program.f(other.x) == result.f


# ---- the driver -----------------------------------------------------------------------------------


def test_iterate_and_minimize_of_the_driver_serve_a_program():
    program = random_program(0)
    start = program.start()
    points = list(islice(iterate(program, TangentStep()), 4))
    assert np.array_equal(points[0].x, start)
    run = minimize(program, TangentStep(), start, stop=Stop(max_iter=3, step=0.0))
    assert [p.f for p in run.history] == [p.f for p in points]


def test_the_variables_hold_the_last_iterate_and_start_the_next_run():
    x, Y = cp.Variable(2, name="x", value=[0.1, 0.4]), cp.Variable((2, 2), name="Y")
    program = DCProgram(cp.sum_squares(Y) + cp.sum_squares(x), 3 * cp.norm1(x), [Y >= 1, cp.sum(Y) == cp.sum(x) + 6])
    result = program.minimize()
    assert np.allclose(result.x, np.concatenate([np.ravel(w.value, order="F") for w in program.variables]))
    assert program.name(0) == "Y[0, 0]" or program.name(0) == "x[0]"
    assert "x[1]" in [program.name(i) for i in range(program.n)]
    assert program.minimize().n_iter <= 2


def test_a_stop_rule_a_callback_and_a_solver_are_passed_on():
    program = random_program(0)
    short = program.minimize(stop=Stop(max_iter=1, step=0.0))
    assert short.status is Status.OUT_OF_ITERATIONS
    program = random_program(0)
    assert program.minimize(callback=lambda point: point.l == 1).status is Status.STOPPED
    program = random_program(0)
    result = program.minimize(solver=Backend("SCS"))
    assert set(result.solvers) == {"SCS"}
    assert result.f == pytest.approx(random_program(0).minimize().f, abs=1e-4)


def test_user_parameters_may_change_between_runs():
    x, weight = cp.Variable(value=1.0), cp.Parameter(nonneg=True)
    program = DCProgram(x**2, weight * cp.abs(x))
    for value in (1.0, 3.0):
        weight.value = value
        program.minimize()
        assert x.value == pytest.approx(value / 2, abs=1e-5)


PLACES = {
    "u": lambda x, p: DCProgram(p * cp.sum_squares(x), cp.norm1(x)),
    "v": lambda x, p: DCProgram(cp.sum_squares(x), p * cp.norm1(x)),
    "a convex constraint": lambda x, p: DCProgram(cp.sum_squares(x), cp.norm1(x), [cp.norm(x) <= p]),
    "a d.c. constraint": lambda x, p: DCProgram(cp.sum_squares(x), cp.norm1(x), [cp.norm(x) >= p]),
    "u, without DPP": lambda x, p: DCProgram(p * (p * cp.sum_squares(x)), cp.norm1(x)),
}


@pytest.mark.parametrize("make", PLACES.values(), ids=PLACES)
def test_parameters_anywhere_are_read_at_each_use(make):
    x, p = cp.Variable(3, name="x", value=[0.4, 0.3, 0.2]), cp.Parameter(nonneg=True, name="p")
    program = make(x, p)
    for use in (program.minimize, lambda: program.certify([0.4, 0.3, 0.2]), lambda: program.start([0.4, 0.3, 0.2])):
        with pytest.raises(InvalidParameter, match=r"parameter p has no value; .* Set p\.value"):
            use()
    for value in (2.0, 0.5):
        p.value = value
        once = make(x, cp.Parameter(nonneg=True, value=value))
        y = np.array([0.4, 0.3, 0.2])
        assert program.g(y / 2, y) == once.g(y / 2, y)
        assert program.certify(y).gap == pytest.approx(once.certify(y).gap, abs=1e-8)
        assert program.minimize().converged


def test_an_interrupt_leaves_the_start_in_the_variables():
    class Interrupted(Backend):
        def solve(self, problem, solver=None):
            super().solve(problem, solver)
            raise KeyboardInterrupt

    program = random_program(0)
    start = program.variables[0].value.copy()
    with pytest.raises(KeyboardInterrupt):
        program.minimize(solver=Interrupted())
    assert np.array_equal(program.variables[0].value, start)


def test_a_solver_that_fails_later_keeps_the_history_and_leaves_the_last_iterate():
    class Flaky(Backend):
        def solve(self, problem, solver=None):
            calls.append(1)
            if len(calls) > 3:
                raise SolverFailed("no more answers")
            return super().solve(problem, solver)

    calls = []
    program = random_program(0)
    result = program.minimize(solver=Flaky())
    assert result.status is Status.SOLVER_FAILED
    assert result.n_iter == len(result.history) - 1 >= 1
    assert np.array_equal(program.variables[0].value, result.x)
    assert result.f < result.history[0].f


def test_a_failed_solver_is_a_status_that_keeps_the_history():
    class Broken(Backend):
        def solve(self, problem, solver=None):
            raise SolverFailed("no answer today")

    result = random_program(0).minimize(solver=Broken())
    assert result.status is Status.SOLVER_FAILED
    assert "no answer today" in result.message
    assert len(result.history) == 1


# ---- d.c. constraints -----------------------------------------------------------------------------


def circles(n=4):
    centres = cp.Variable((n, 2), name="centre")
    apart = [cp.norm(centres[i] - centres[j]) >= 2 for i in range(n) for j in range(i)]
    return cp.Problem(cp.Minimize(cp.max(cp.abs(centres)) + 1), apart), centres


@pytest.mark.parametrize("failures", [{2}, {2, 3}], ids=["one", "two in a row"])
def test_phase_one_goes_on_with_the_next_penalty_after_one_failure_of_the_solver(failures):
    class Flaky(Backend):
        def solve(self, problem, solver=None):
            calls.append(1)
            if len(calls) in failures:
                raise SolverFailed("no answer today")
            return super().solve(problem, solver)

    calls = []
    problem, centres = circles()
    centres.value = np.random.default_rng(1).standard_normal((4, 2))
    result = DCProgram.from_problem(problem).minimize(solver=Flaky())
    assert result.converged == (len(failures) == 1)
    assert (result.status is Status.SOLVER_FAILED) == (len(failures) == 2)
    assert ("no answer today" in result.message) == (len(failures) == 2)


@pytest.mark.parametrize("spread", [3.0, 10.0])
def test_every_iterate_is_feasible_from_a_feasible_start(spread):
    problem, centres = circles()
    centres.value = spread * np.array([[1.0, 0.1], [-1.0, 0.0], [0.0, 1.2], [0.1, -1.0]])
    program = DCProgram.from_problem(problem)
    seen = []
    result = program.minimize(callback=lambda point: seen.append(program.dc_violation(point.x)))
    assert result.converged
    assert result.message == ""
    assert max(seen) <= FEASIBLE
    assert result.f == pytest.approx(2.0, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_phase_one_finds_a_feasible_point(seed):
    problem, centres = circles()
    centres.value = np.random.default_rng(seed).standard_normal((4, 2))
    result = DCProgram.from_problem(problem).minimize()
    assert result.converged
    assert result.message.startswith("phase one took ")
    assert result.certificate.feasibility <= FEASIBLE
    assert 2.0 - 1e-6 <= result.f <= 2.3


FROM_ZERO = {
    "outside a ball": lambda x: cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.norm(x) >= 1]),
    "on a sphere": lambda x: cp.Problem(cp.Minimize(0), [cp.norm(x) == 1]),
    "boolean": lambda x: cp.Problem(cp.Minimize(cp.sum(x)), [cp.square(x) == 1]),
}


@pytest.mark.parametrize("make", FROM_ZERO.values(), ids=FROM_ZERO)
def test_phase_one_leaves_a_kink_whose_slope_is_zero(make):
    """At 0 CVXPY's subgradient of ‖x‖ is 0, and the tangent of ‖x‖ ≥ 1 would say 0 ≥ 1."""
    x = cp.Variable(3, value=np.zeros(3))
    result = DCProgram.from_problem(make(x)).minimize()
    assert result.converged
    assert result.certificate.feasibility <= FEASIBLE


def test_nothing_feasible_is_a_status_and_no_slack_is_hidden():
    x = cp.Variable(2, value=[0.5, 0.0])
    result = DCProgram(cp.sum(x), 0.0, [cp.norm(x) <= 1, cp.norm(x) >= 2]).minimize()
    assert result.status is Status.NO_FEASIBLE_POINT
    assert not result.converged
    assert result.certificate.feasibility > 0.1
    assert "largest violation is " in result.message
    assert "Try other starts" in result.message


@pytest.mark.parametrize("seed", range(3))
def test_a_constant_objective_asks_for_a_feasible_point(seed):
    rng = np.random.default_rng(seed)
    x = cp.Variable(4, value=rng.standard_normal(4))
    A = rng.standard_normal((12, 4))
    problem = cp.Problem(cp.Minimize(0), [cp.abs(A @ x) == np.abs(A @ (x.value + 0.1))])
    result = DCProgram.from_problem(problem).minimize()
    assert result.converged
    assert result.certificate.feasibility <= FEASIBLE
    unreachable = DCProgram.from_problem(cp.Problem(cp.Minimize(0), [cp.norm(x) <= 1, cp.norm(x) >= 2])).minimize()
    assert unreachable.status is Status.NO_FEASIBLE_POINT


def test_boolean_values_by_an_equality():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((12, 8))
    planted = rng.choice([-1.0, 1.0], 8)
    x = cp.Variable(8, value=rng.standard_normal(8))
    DCProgram(cp.sum_squares(A @ x - A @ planted), 0.0, [cp.square(x) == 1]).minimize()
    assert np.allclose(x.value, planted, atol=1e-6)


@pytest.mark.parametrize("start", [-1.0, 0.0, 0.1, 0.5, 2.0])
def test_an_objective_of_mixed_curvature_reaches_the_interior_minimum(start):
    """dccp#35: x⁴ − 3x² − x on [0, 2] ended on the boundary; the minimum lies at 1.30."""
    x = cp.Variable(1, value=[start])
    problem = cp.Problem(cp.Minimize(x**4 - 3 * x**2 - x), [x >= 0, x <= 2])
    result = DCProgram.from_problem(problem).minimize()
    assert result.converged
    assert x.value[0] == pytest.approx(1.3008, abs=1e-3)


@pytest.mark.parametrize("start", [-1.0, 0.0, 0.1, 0.5, 2.0])
@pytest.mark.parametrize("given", [True, False])
def test_a_variable_defined_by_a_nonconvex_equality(start, given):
    """dccp#63: x⁴ − t with t = x² + x did not converge; the minimum is −1.0548 at 0.8846."""
    x, t = cp.Variable(1, value=[start]), cp.Variable(1)
    t.value = [start**2 + start] if given else None
    result = DCProgram.from_problem(cp.Problem(cp.Minimize(x**4 - t), [t == x**2 + x])).minimize()
    assert result.converged
    assert result.f == pytest.approx(-1.05478, abs=1e-5)
    assert x.value[0] == pytest.approx(0.8846, abs=1e-3)


# ---- domains --------------------------------------------------------------------------------------


def test_a_concave_objective_at_the_boundary_of_its_domain():
    """√x has an infinite slope at 0, where its minimum lies: the steps end just inside."""
    x = cp.Variable(1, value=[3.0])
    result = DCProgram.from_problem(cp.Problem(cp.Minimize(cp.sqrt(x)), [x >= -1])).minimize()
    assert result.converged
    assert 0.0 <= x.value[0] <= 1e-10


def test_an_objective_that_falls_for_ever_inside_the_domain_does_not_converge():
    x = cp.Variable(value=2.0)
    result = DCProgram(x, -cp.log(x), [x <= 5]).minimize()
    assert not result.converged
    assert x.value > 0


DOMAINS = {
    "not a convex set by CVXPY's rules": lambda x: cp.sum(x) - cp.max(cp.abs(x)) ** 1.5,
    "of a constant": lambda x: cp.sum_squares(x) - cp.sum(cp.kl_div(x + 2, 1)),
    "norm_inf": lambda x: cp.sum_squares(x) - cp.norm_inf(x),
}


@pytest.mark.parametrize("make", DOMAINS.values(), ids=DOMAINS)
def test_domains_and_atoms_that_cvxpy_states_oddly(make):
    x = cp.Variable(3, value=[0.3, -0.2, 0.1])
    result = DCProgram.from_problem(cp.Problem(cp.Minimize(make(x)), [cp.abs(x) <= 1])).minimize()
    assert result.converged


def test_phase_one_leaves_a_point_where_a_tangent_is_nearly_level():
    s = cp.Variable(value=1e-9)
    problem = cp.Problem(cp.Minimize(s), [cp.square(s) >= 0.1, s >= 0, s <= 1])
    result = DCProgram.from_problem(problem).minimize()
    assert result.converged
    assert s.value == pytest.approx(np.sqrt(0.1), abs=1e-6)


def test_a_bound_that_a_solver_got_wrong_is_no_certificate():
    """Near 0 the slopes of Σlog xᵢ exceed 1e15; Clarabel's "minimum" of g then lies above g(x, x) = f(x)."""
    x = cp.Variable(3, pos=True, value=[0.1, 0.2, 0.3])
    result = DCProgram(cp.sum_squares(x), -cp.sum(cp.log(x))).minimize()
    assert not result.converged
    assert result.certificate.stationarity > 1e-3


# ---- the paper's programs -------------------------------------------------------------------------


def gev_in_cvxpy(program: SparseGEV) -> DCProgram:
    """Algorithm 1 as u − v."""
    A, B = program.pencil.dense()
    n, tau = len(A), program.tau
    x, t = cp.Variable(n, name="x"), cp.Variable(n, name="t")
    u = tau * cp.sum_squares(x)
    v = cp.quad_form(x, cp.psd_wrap(A + tau * np.eye(n))) - program.rho_eps * cp.sum(cp.log(t + program.eps))
    return DCProgram(u, v, [cp.quad_form(x, B) <= 1, cp.abs(x) <= t])


def fda_in_cvxpy(program: SparseFDA) -> DCProgram:
    """Sparse FDA as u − v."""
    B = program.pencil.dense()[1]
    x, t = cp.Variable(len(B), name="x"), cp.Variable(len(B), name="t")
    v = -program.nu_eps * cp.sum(cp.log(t + program.eps))
    return DCProgram(cp.quad_form(x, B), v, [program.a @ x == 1, cp.abs(x) <= t])


def papers_programs(eps):
    X, y, _ = datasets.two_gaussians(8, 3, samples=200)
    yield SparseGEV(datasets.pitprops(), 4.84, eps)
    yield SparseGEV(Pencil(*referee.random_pencil(3, 8, indefinite=True)), 0.3, eps)
    yield SparseFDA(*fda_vectors(X, y), 0.5, eps)


@pytest.mark.parametrize("eps", [1e-2, 1e-4, 1e-5])
@pytest.mark.parametrize("which", [0, 1, 2], ids=["pit props, τ = 0", "indefinite A, B ≠ I, τ > 0", "FDA"])
def test_the_papers_steps_iterate_by_iterate(eps, which):
    """From each iterate of ours the step of u − v leads to the next one, to a conic solver's accuracy."""
    ours = list(papers_programs(eps))[which]
    program = (gev_in_cvxpy if which < 2 else fda_in_cvxpy)(ours)
    names = [w.name() for w in program.variables]
    step = TangentStep()
    for before, after in pairwise(islice(iterate(ours, (LinearStep, LassoStep, FisherStep)[which]()), 16)):
        y = np.concatenate([before.x if name == "x" else np.abs(before.x) for name in names])
        assert program.f(y) == pytest.approx(before.f, rel=1e-12)
        out = step(program, y)
        put(program.variables, out.x)
        x = next(w.value for w in program.variables if w.name() == "x")
        assert np.allclose(x, after.x, atol=3e-5)
        assert out.value == pytest.approx(after.g, abs=1e-7)


def test_a_whole_run_of_algorithm_1_as_u_minus_v():
    ours = SparseGEV(datasets.pitprops(), 4.84, 1e-4)
    program = gev_in_cvxpy(ours)
    x, t = sorted(program.variables, key=lambda w: w.name() == "t")
    x.value = ours.start()
    t.value = np.abs(x.value)
    result = program.minimize()
    expected = minimize(ours, LinearStep())
    assert result.converged
    assert result.f == pytest.approx(expected.f, abs=1e-4)
    assert np.allclose(x.value, expected.x, atol=1e-3)


# ---- invalid input --------------------------------------------------------------------------------


def one():
    return cp.Variable(name="x", value=0.5)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: DCProgram(cp.log(one()), 0), "u = .* must be convex .* its curvature is concave"),
        (lambda: DCProgram(0, cp.sqrt(one())), "v = .* must be convex .* its curvature is concave"),
        (lambda: DCProgram(cp.Variable(3) ** 2, 0), "u must be a real, scalar CVXPY expression"),
        (lambda: DCProgram("x", 0), "u must be a real, scalar CVXPY expression; got 'x'"),
        (lambda: DCProgram(one(), 0, [one() * cp.Variable() >= 1]), "neither convex nor concave"),
        (lambda: DCProgram(one(), 0, [0.5]), "constraints must be CVXPY constraints"),
        (lambda: DCProgram(one(), 0, one() >= 0), r"constraints must be a list; .* Write \[0.0 <= x\]"),
        (lambda: DCProgram(1, 0), "the program has no variables"),
        (lambda: DCProgram(cp.Variable(name="b", boolean=True), 0), r"variable b is integer; .* cp.square\(x\) == 1"),
        (lambda: DCProgram(cp.Variable(name="i", integer=True), 0), "variable i is integer"),
        (lambda: DCProgram(cp.abs(cp.Variable(name="z", complex=True)), 0), "variable z is complex"),
        (lambda: DCProgram.from_problem("problem"), "problem must be a cvxpy.Problem"),
        (lambda: DCProgram(one(), 0).minimize(solver="CLARABELL"), "did you mean 'CLARABEL'"),
        (lambda: DCProgram(one() ** 2, 0).minimize(stop=3), "stop must be a Stop"),
        (lambda: DCProgram(one() ** 2, 0).minimize(callback=3), "callback"),
        (lambda: DCProgram(one() ** 2, cp.norm(cp.Variable(2, name="w"))).minimize(), "variable w .* has no value"),
        (lambda: DCProgram(one(), -cp.log(one() - 1), []).minimize(), "no subgradient at .* inside the domain of v"),
        (lambda: DCProgram(one() ** 2, 0).certify([1.0, 2.0]), "x must have length 1"),
    ],
)
def test_invalid_input_raises_with_the_remedy(make, text):
    with pytest.raises(InvalidParameter, match=text):
        make()


def test_an_unbounded_surrogate_names_the_direction():
    x, y = cp.Variable(2, name="x", value=[1.0, 2.0]), cp.Variable(name="y", value=0.0)
    with pytest.raises(Unbounded, match=r"as x\[0\] → \+∞. Add constraints"):
        DCProgram(x[1] ** 2 + y**2, cp.square(x[0])).minimize()


def test_an_unbounded_surrogate_names_the_direction_at_any_penalty():
    x = cp.Variable(2, name="x", value=[0.1, -0.1])
    with pytest.raises(Unbounded, match=r"x\[0\] → \+∞"):
        DCProgram(cp.norm(x), 2 * cp.norm(x), [x[0] >= 0, cp.norm(x - 3) >= 1]).minimize()


def test_constraints_without_a_common_point():
    x = cp.Variable(name="x", value=0.5)
    with pytest.raises(Infeasible, match="the convex constraints have no common point"):
        DCProgram(x**2, cp.abs(x), [x >= 1, x <= 0]).minimize()


def test_a_start_outside_the_constraints_is_for_minimize_only():
    x = cp.Variable(name="x", value=0.5)
    program = DCProgram(x**2, cp.abs(x), [x >= 1])
    with pytest.raises(Infeasible, match=r"violates a constraint by .* Call program.minimize"):
        iterate(program, TangentStep())
    assert program.minimize().converged


def test_variables_outside_v_need_no_start():
    x, t = cp.Variable(3, value=[0.3, 0.1, -0.2]), cp.Variable(3)
    result = DCProgram(cp.sum(t), cp.norm(x), [cp.abs(x) <= t, t <= 1]).minimize()
    assert result.converged
    assert result.message.startswith("phase one took 1 step")


def test_sum_largest_of_all_entries_compiles() -> None:
    """CVXPY does not compile it while its variables have values."""
    x = cp.Variable(2, value=[0.3, 0.2])
    result = DCProgram(cp.sum_largest(x, 2) + cp.sum_squares(x), cp.norm1(x)).minimize()
    assert result.converged
    assert result.f == pytest.approx(-2.0, abs=1e-6)


def test_other_starts_are_tried_where_the_values_lead_to_no_feasible_point() -> None:
    """From −2 the tangent of the constraint, which holds for x ≥ 0.9, leads nowhere."""
    x = cp.Variable(value=-2.0)
    bump = cp.maximum(0.1 * (-x - 1.0), 10 * (x - 0.5))
    result = DCProgram(cp.square(x), 0 * x, [bump >= 4, cp.abs(x) <= 2]).minimize()
    assert result.converged
    assert result.f == pytest.approx(0.81, abs=1e-5)
