"""The shortcut past CVXPY's recompilation gives the solver the very same numbers."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse import coo_array

from dcgev_cvx import Backend, SparseFDA, SparseGEV, datasets
from dcgev_cvx._numerics.threads import quiet
from dcgev_cvx.steps.backend import LinearCostProblem
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


def test_a_parameter_elsewhere_is_left_to_cvxpy():
    x, b = cp.Variable(2), cp.Parameter(2)
    problem = LinearCostProblem(cp.Problem(cp.Minimize(cp.sum_squares(x)), [x >= b]))
    for value in (1.0, 2.0, 3.0):
        b.value = np.full(2, value)
        problem.solve(solver="CLARABEL")
        assert x.value == pytest.approx(np.full(2, value), abs=1e-6)


def test_options_are_not_mixed_up():
    problem = LinearCostProblem(QCQPStep().problem(CASES[0][1]))
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
    problem = LinearCostProblem(QCQPStep().problem(CASES[0][1]))
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
