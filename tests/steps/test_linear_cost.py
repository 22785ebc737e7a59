"""The shortcut past CVXPY's recompilation gives the solver the very same numbers."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse import coo_array

from dcgev_cvx import Backend, SparseFDA, SparseGEV, datasets
from dcgev_cvx._numerics.threads import quiet
from dcgev_cvx.steps.backend import CompiledProblem
from dcgev_cvx.steps.conic import FisherStep, LassoStep, LinearStep, MetricLassoStep, QCQPStep, compiled
from dcgev_cvx.steps.polish import surrogate_at

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
    return compiled(step, program.pencil, surrogate_at(program, program.start()))


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
    assert again[1] is first[1], "the standard form was not kept"
    n = len(theirs["c"]) if "c" in theirs else len(theirs["q"])
    theirs.setdefault("P", coo_array((n, n)))  # CVXPY fills in this zero when it calls Clarabel
    assert ours.keys() | {"P"} == theirs.keys()
    for name in ours:
        assert same(ours[name], theirs[name]), name


@pytest.mark.parametrize("solver", ["CLARABEL", "SCS", "ECOS"])
def test_solving_does_not_wear_the_kept_matrices(solver):
    program = CASES[0][1]
    step = QCQPStep(Backend(solver))
    y = program.start()
    first = step(program, y).x
    for _ in range(20):
        step(program, 0.5 * y)
    form = next(form for form in kept_problem(step, program)._kept.values() if form.chain.solver.name() == solver)
    matrix = form.data["G"] if form.data.get("A") is None else form.data["A"]  # ECOS has no equations here
    before = matrix.copy()
    assert np.array_equal(step(program, y).x, first)
    assert (matrix != before).nnz == 0


@pytest.mark.parametrize("solver", ["CLARABEL", "SCS", "ECOS", "OSQP"])
def test_parameters_in_the_constraints_give_cvxpys_own_data(solver):
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


@pytest.mark.parametrize("hidden", ["param_prob", "A", "q c", "param_id_to_col"])
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
