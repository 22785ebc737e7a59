"""CVXPY's solvers by name, their failures, and problems that are compiled once."""

import warnings

import cvxpy as cp
import numpy as np
import pytest

from dcgev_cvx import Backend, InvalidParameter, SolverFailed, SolverMissing, SparseFDA, SparseGEV, datasets
from dcgev_cvx._numerics.threads import quiet
from dcgev_cvx.steps.backend import SOLVER_TABLE, CompiledProblem, installed_solvers, known_solver
from dcgev_cvx.steps.conic import FisherStep, LassoStep, LinearStep, MetricLassoStep, QCQPStep, compiled_problem
from dcgev_cvx.steps.polish import surrogate_at


def tiny():
    x = cp.Variable(2)
    return x, cp.Problem(cp.Minimize(cp.sum_squares(x - np.array([1.0, 2.0]))), [x >= 1.5])


@pytest.mark.parametrize("solver", ["CLARABEL", "ECOS", "SCS", "OSQP", "clarabel", "Scs"])
def test_every_citizen_solves(solver):
    x, problem = tiny()
    solved = Backend(solver).solve(problem)
    assert x.value == pytest.approx([1.5, 2.0], abs=1e-6)
    assert solved.solver == solver.upper()
    assert solved.status == "optimal"


@pytest.mark.parametrize(
    ("name", "hint"),
    [("CLARABLE", "did you mean 'CLARABEL'?"), ("ecoss", "did you mean 'ECOS'?"), ("qqqq", "known: ")],
)
def test_unknown_names_get_the_nearest(name, hint):
    with pytest.raises(InvalidParameter) as caught:
        Backend(name)
    assert f"solver {name!r} is unknown" in str(caught.value)
    assert hint in str(caught.value)
    with pytest.raises(InvalidParameter):
        Backend("SCS", fallback=(name,))


@pytest.mark.parametrize("name", [None, 3, b"SCS", ["SCS"], cp])
def test_a_solver_is_a_name(name):
    with pytest.raises(InvalidParameter, match="solver must be a name such as 'CLARABEL'"):
        known_solver(name)


def test_missing_solvers_say_how_to_install_them(monkeypatch):
    monkeypatch.setattr("dcgev_cvx.steps.backend.installed_solvers", lambda: ("CLARABEL", "SCS"))
    for name, package in ((name, settings.package) for name, settings in SOLVER_TABLE.items()):
        if name not in ("CLARABEL", "SCS"):
            with pytest.raises(
                SolverMissing, match=rf"solver {name} is not installed: pip install {package}\. .*CLARABEL, SCS"
            ):
                Backend(name.lower())
    with pytest.raises(SolverMissing, match="pip install xpress"):
        Backend("XPRESS")


def test_core_solvers_are_installed():
    assert {name for name, settings in SOLVER_TABLE.items() if settings.step} - {"ECOS"} <= set(
        installed_solvers()
    )  # ECOS has no wheel for every Python


def test_fallbacks_are_a_tuple_of_names():
    assert Backend("scs", fallback="ecos").solvers == ("SCS", "ECOS")
    assert Backend("scs", fallback=("ecos", "Clarabel")).solvers == ("SCS", "ECOS", "CLARABEL")
    assert Backend("scs", fallback=["ecos"]).fallback == ("ECOS",)


def test_infeasible_and_unbounded_are_failures():
    x = cp.Variable()
    with pytest.raises(SolverFailed, match="CLARABEL ended with the status 'infeasible'"):
        Backend().solve(cp.Problem(cp.Minimize(x), [x >= 1, x <= 0]))
    with pytest.raises(SolverFailed, match="CLARABEL ended with the status 'unbounded'"):
        Backend().solve(cp.Problem(cp.Minimize(x)))


def test_foreign_exceptions_become_ours():
    x = cp.Variable(integer=True)
    with pytest.raises(SolverFailed, match="CLARABEL failed: ") as caught:
        Backend().solve(cp.Problem(cp.Minimize(x**2)))
    assert caught.value.__cause__ is not None
    y = cp.Variable(2)
    with pytest.raises(SolverFailed, match="OSQP failed: "):
        Backend("OSQP").solve(cp.Problem(cp.Minimize(cp.sum(y)), [cp.norm2(y) <= 1]))


def test_ctrl_c_is_not_swallowed(monkeypatch):
    def interrupt(*_args, **_kwargs):
        raise KeyboardInterrupt

    _, problem = tiny()
    monkeypatch.setattr(cp.Problem, "solve", interrupt)
    before = list(warnings.filters)
    with pytest.raises(KeyboardInterrupt):
        Backend().solve(problem)
    assert warnings.filters == before


def test_options_of_the_user_are_used_as_they_are(monkeypatch):
    """In place of our tight tolerances."""
    calls = []
    monkeypatch.setattr(cp.Problem, "solve", lambda self, **options: calls.append(options))
    _, problem = tiny()
    with pytest.raises(SolverFailed):
        Backend("SCS", {"eps_abs": 1e-3, "max_iters": 77}).solve(problem)
    assert calls == [{"solver": "SCS", "warm_start": False, "eps_abs": 1e-3, "max_iters": 77}]


def test_an_unknown_option_is_a_failure_that_names_the_solver():
    _, problem = tiny()
    with pytest.raises(SolverFailed, match="CLARABEL failed: "):
        Backend("CLARABEL", {"no_such_option": 1}).solve(problem)


def test_ctrl_c_inside_scs_is_passed_on(monkeypatch):
    """SCS catches SIGINT itself and returns a status, which CVXPY calls a failure: nobody would stop."""
    scs = pytest.importorskip("scs")
    inner = scs.solve

    def interrupted(*args, **settings):
        found = inner(*args, **settings)
        return found | {"info": found["info"] | {"status": "interrupted", "status_val": -5}}

    monkeypatch.setattr(scs, "solve", interrupted)
    x = cp.Variable(2)
    with pytest.raises(KeyboardInterrupt):
        Backend("SCS", fallback=("CLARABEL",)).solve(cp.Problem(cp.Minimize(cp.norm1(x)), [x >= 1]))


# ---- problems that are compiled once -----------------------------------------------------------------

PENCIL = datasets.indefinite(6, dense_metric=True)
CASES = [
    (QCQPStep, SparseGEV(PENCIL, 0.5, 1e-2)),
    (LassoStep, SparseGEV(PENCIL, 0.5, 1e-2)),
    (LinearStep, SparseGEV(datasets.pitprops(), 1.0, 1e-3)),
    (MetricLassoStep, SparseGEV(PENCIL, 0.5, 1e-2, shift="metric")),
    (FisherStep, SparseFDA(np.linspace(-1.0, 1.5, 6), PENCIL.B, 0.1, 1e-2)),
]


def kept_problem(step, program):
    """The compiled problem behind a step."""
    step(program, program.start())
    return compiled_problem(step, program.pencil, surrogate_at(program, program.start()))


def forms_of(solver, problem):
    """The standard forms that a problem keeps for one solver."""
    return [form for form, chain, _ in problem._kept.values() if chain.solver.name() == solver]


def same(left, right):
    if hasattr(left, "toarray"):
        return (left != right).nnz == 0
    return np.array_equal(left, right) if isinstance(left, np.ndarray) else True


PAIRS = [(solver, *case) for solver in ("CLARABEL", "SCS", "ECOS") for case in CASES]
PAIRS += [("OSQP", *case) for case in CASES if case[0] in (MetricLassoStep, FisherStep)]


@pytest.mark.parametrize(("solver", "form", "program"), PAIRS, ids=lambda part: getattr(part, "__name__", None))
def test_data_are_those_that_cvxpy_computes(form, program, solver):
    step = form(Backend(solver))
    problem = kept_problem(step, program)
    rng = np.random.default_rng(0)
    for parameter in problem.parameters():
        parameter.value = np.abs(rng.standard_normal(program.pencil.n))
    first, again = problem.get_problem_data(solver), problem.get_problem_data(solver)
    for parameter in problem.parameters():
        parameter.value = np.abs(rng.standard_normal(program.pencil.n))
    ours, _, _ = problem.get_problem_data(solver)
    theirs, _, _ = cp.Problem.get_problem_data(problem, solver)
    assert again[1] is first[1], "the problem was compiled again"
    assert bool(forms_of(solver, problem)) == (solver in ("CLARABEL", "SCS"))
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert same(ours[name], theirs[name]), name


@pytest.mark.parametrize(("form", "program"), CASES, ids=lambda part: getattr(part, "__name__", None))
@pytest.mark.parametrize("solver", ["CLARABEL", "SCS"])
def test_the_fast_path_is_taken_on_this_version_of_cvxpy(solver, form, program):
    """What is read of CVXPY's internals falls back without a word: here it would be heard."""
    assert forms_of(solver, kept_problem(form(Backend(solver)), program))


@pytest.mark.parametrize("solver", ["CLARABEL", "SCS", "ECOS"])
def test_solving_does_not_wear_what_is_kept(solver):
    program = CASES[0][1]
    step = QCQPStep(Backend(solver))
    y = program.start()
    first = step(program, y).x
    kept = [form.data["P"] for form in forms_of(solver, kept_problem(step, program))]
    before = [P.copy() for P in kept]
    for _ in range(20):
        step(program, 0.5 * y)
    assert np.array_equal(step(program, y).x, first)
    assert bool(kept) == (solver != "ECOS")  # whose standard form is another one
    assert all((other != P).nnz == 0 for P, other in zip(kept, before, strict=True))


@pytest.mark.parametrize("solver", ["CLARABEL", "SCS", "ECOS", "OSQP"])
def test_parameters_in_the_constraints_give_cvxpys_own_data(solver):
    known_solver(solver)
    x, (b, w, q) = cp.Variable(3), (cp.Parameter(3) for _ in range(3))
    cost, constraints = cp.Minimize(cp.sum_squares(x) + q @ x), [cp.multiply(w, x) >= b, w[:2] @ x[1:] == 1.0]
    problem = CompiledProblem(cp.Problem(cost, constraints))
    for scale in (1.0, 0.0, -2.0):
        for parameter, value in ((b, [-1.0, 0.5, -2.0]), (w, [1.0, 2.0, 3.0]), (q, [0.3, -0.1, 0.0])):
            parameter.value = scale * np.array(value)
        ours, given = problem.get_problem_data(solver)[0], cp.Problem(cost, constraints).get_problem_data(solver)[0]
        for name in set(ours) & set("AbcqFGhP"):
            expected, found = (e.toarray() if hasattr(e, "toarray") else e for e in (given[name], ours[name]))
            assert np.array_equal(expected, found), name
    assert bool(problem._kept) == (solver in ("CLARABEL", "SCS"))


def test_a_parameter_in_the_quadratic_cost_is_left_to_cvxpy():
    x, p = cp.Variable(2), cp.Parameter(nonneg=True)
    problem = CompiledProblem(cp.Problem(cp.Minimize(p * cp.sum_squares(x) - cp.sum(x))))
    for p.value in (1.0, 2.0, 4.0):
        problem.solve(solver="CLARABEL")
        assert x.value == pytest.approx(np.full(2, 0.5 / p.value), abs=1e-6)
    assert not problem._kept


def test_options_are_not_mixed_up():
    problem = CompiledProblem(QCQPStep().problem(CASES[0][1]))
    for parameter in problem.parameters():
        parameter.value = np.ones(6)
    with quiet:  # one iteration is too few, and CVXPY says so
        problem.solve(solver="SCS", max_iters=1, warm_start=False)
        short = problem.solver_stats.num_iters
        problem.solve(solver="SCS", warm_start=False)
    assert problem.solver_stats.num_iters > short == 1


@pytest.mark.parametrize("hidden", ["param_prob", "reduced_A", "q c", "param_id_to_col"])
def test_other_internals_leave_the_solve_to_cvxpy(hidden, monkeypatch):
    """An older or newer CVXPY may lack what is read here: then every solve is CVXPY's own, and right."""
    original = cp.Problem.get_problem_data

    def without(self, *args, **kwargs):
        data, chain, inverse = original(self, *args, **kwargs)
        if hidden == "param_prob":
            return {k: v for k, v in data.items() if k != hidden}, chain, inverse
        return {**data, "param_prob": Without(data["param_prob"], hidden.split())}, chain, inverse

    monkeypatch.setattr(cp.Problem, "get_problem_data", without)
    problem = CompiledProblem(QCQPStep().problem(CASES[0][1]))
    problem.get_problem_data("CLARABEL")
    assert not problem._kept
    data, _, _ = problem.get_problem_data("CLARABEL")
    assert "A" in data


class Without:
    """An object that lacks some attributes of another."""

    def __init__(self, original, hidden):
        self.original, self.hidden = original, hidden

    def __getattr__(self, name):
        if name in self.hidden:
            raise AttributeError(name)
        return getattr(self.original, name)
