"""The paper's problems print as the paper writes them, and say what they should on data with a known answer."""

import ast
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

from dcgev_cvx import Pencil, SparseFDA, SparseGEV, models, relaxations
from dcgev_cvx._numerics.threads import quiet
from dcgev_cvx.steps.backend import SOLVER_TABLE
from dcgev_cvx.steps.conic import FisherStep, LassoStep, LinearStep, MetricLassoStep, QCQPStep

RNG = np.random.default_rng(0)
N = 4
A = (lambda M: M + M.T)(RNG.standard_normal((N, N)))
B = np.eye(N) + 0.1
C, P, MEANS = A @ np.ones(N), np.ones(N), np.arange(1.0, N + 1.0)

PRINTED = {
    "qcqp": (models.qcqp(C, P, B, 2.0), "minimize τ‖x‖² − 2cᵀx + pᵀt", ["xᵀBx ≤ 1", "−t ⪯ x", "x ⪯ t"]),
    "qcqp, τ = 0": (models.qcqp(C, P, B), "minimize − 2cᵀx + pᵀt", ["xᵀBx ≤ 1", "−t ⪯ x", "x ⪯ t"]),
    "lasso": (models.lasso(C, P, B, 2.0), "minimize τ‖x‖² − 2cᵀx + pᵀ|x|", ["xᵀBx ≤ 1"]),
    "linear": (models.linear(C, P, B), "maximize cᵀx − ½pᵀ|x|", ["xᵀBx ≤ 1"]),
    "linear, B = I": (models.linear(C, P), "maximize cᵀx − ½pᵀ|x|", ["xᵀx ≤ 1"]),
    "metric_lasso": (models.metric_lasso(C, P, B), "minimize zᵀBz − 2cᵀz + pᵀ|z|", []),
    "fisher_step": (models.fisher_step(P, MEANS, B), "minimize xᵀBx + pᵀ|x|", ["aᵀx = 1"]),
    "fisher_l1": (models.fisher_l1(MEANS, B, 1.0), "minimize xᵀBx", ["aᵀx = 1", "‖x‖₁ ≤ radius"]),
    "fisher_l1_penalized": (models.fisher_l1_penalized(MEANS, B, 0.1), "minimize xᵀBx + ν‖x‖₁", ["aᵀx = 1"]),
    "literal_sdp": (models.literal_sdp(A, B, 1.0), "maximize tr(XA)", ["X ⪰ xxᵀ", "tr(XB) ≤ 1", "‖x‖₁ ≤ radius"]),
    "entrywise_sdp": (
        models.entrywise_sdp(A, B, 1.0),
        "maximize tr(XA)",
        ["X ⪰ 0", "tr(XB) ≤ 1", "1ᵀ|X|1 ≤ radius²"],
    ),
    "literal_dual": (
        models.literal_dual(A, B, 1.0),
        "minimize t + β·radius + μ",
        ["[[μB − A, −r/2], [−rᵀ/2, t]] ⪰ 0", "|r| ⪯ β"],
    ),
    "homogeneous_sdp": (
        models.homogeneous_sdp(A, B, 2),
        "maximize tr(XA)",
        ["X ⪰ 0", "tr(XB) = 1", "Σ dᵢdⱼ|Xᵢⱼ| ≤ k Σ dᵢ²Xᵢᵢ"],
    ),
    "pairwise_sdp": (
        models.pairwise_sdp(A, B, 2),
        "maximize tr(XA)",
        ["X ⪰ 0", "tr(XB) = 1", "Xᵢⱼ² ≤ YᵢⱼYⱼᵢ", "Yᵢⱼ ≤ Xᵢᵢ", "Σ Yᵢⱼ ≤ (k−1)Xᵢᵢ"],
    ),
    "dspca": (models.dspca(A, B, 0.1), "maximize tr(XA) − ρ1ᵀ|X|1", ["X ⪰ 0", "tr(XB) ≤ 1"]),
}


@pytest.mark.parametrize("name", PRINTED)
def test_problems_print_in_the_papers_notation(name):
    problem, objective, constraints = PRINTED[name]
    first, *rest = str(problem).splitlines()
    assert first == objective
    assert [line.removeprefix("subject to").strip() for line in rest] == constraints


def test_the_l1_ball_prints_and_is_not_convex():
    """Eq:approx: a convex function is maximised, or an indefinite one."""
    problem = models.l1_ball(A, B, 1.0)
    lines = str(problem).replace("subject to", "").splitlines()
    assert [line.strip() for line in lines] == ["maximize xᵀAx", "xᵀBx ≤ 1", "‖x‖₁ ≤ radius"]
    assert not problem.is_dcp()
    x = problem.var_dict["x"]
    x.value = np.full(N, 0.1)
    assert problem.objective.value == pytest.approx(0.01 * A.sum())
    assert problem.constraints[1].residual == 0.0


def test_the_log_penalized_program_prints_and_has_the_value_of_the_paper():
    """(SGEV-A): f does not depend on τ, and t = |x| at a minimiser."""
    tau = 1.1 * max(0.0, -np.linalg.eigvalsh(A)[0])
    problem = models.log_penalized(A, B, 0.3, 0.1, tau)
    first, *rest = str(problem).splitlines()
    assert first == "minimize τ‖x‖² + ρ_ε Σ log(ε + tᵢ) − xᵀ(A + τI)x"
    assert [line.removeprefix("subject to").strip() for line in rest] == ["xᵀBx ≤ 1", "−t ⪯ x", "x ⪯ t"]
    assert not problem.is_dcp()
    x = np.array([0.3, -0.2, 0.0, 0.1])
    problem.var_dict["x"].value, problem.var_dict["t"].value = x, np.abs(x)
    program = SparseGEV(Pencil(A, B), 0.3 * np.log1p(1 / 0.1), 0.1, tau)
    assert problem.objective.value == pytest.approx(program.f(x))


@pytest.mark.parametrize("name", PRINTED)
def test_problems_are_disciplined_and_parametrized(name):
    problem = PRINTED[name][0]
    assert problem.is_dcp()
    assert problem.is_dpp()


def sdp_data(seed, metric):
    """A symmetric A and B = I or a dense B with eigenvalues of size one; the pencil of both."""
    rng = np.random.default_rng(seed)
    G, H = rng.standard_normal((6, 6)), rng.standard_normal((6, 18))
    A, B = 0.5 * (G + G.T), H @ H.T / 18 + 0.2 * np.eye(6) if metric == "dense" else None
    return A, B, Pencil(A, B)


SDPS = {
    "literal_sdp": (lambda A, B: models.literal_sdp(A, B, 1.5), lambda p: relaxations.literal_sdp(p, 1.5)),
    "literal_dual": (lambda A, B: models.literal_dual(A, B, 1.5), lambda p: relaxations.literal_dual(p, 1.5)),
    "entrywise_sdp": (lambda A, B: models.entrywise_sdp(A, B, 1.5), lambda p: relaxations.entrywise_sdp(p, 1.5)),
    "homogeneous_sdp": (
        lambda A, B: models.homogeneous_sdp(A, B, 2, None if B is None else np.sqrt(np.diagonal(B))),
        lambda p: relaxations.homogeneous_sdp(p, 2),
    ),
    "dspca": (lambda A, B: models.dspca(A, B, 0.3), lambda p: relaxations.penalized_sdp(p, 0.3)),
}


@pytest.mark.parametrize("metric", ["identity", "dense"])
@pytest.mark.parametrize("name", SDPS)
def test_sdps_solved_as_they_stand_have_the_values_of_the_relaxations(name, metric):
    model, relaxation = SDPS[name]
    for seed in range(20):
        A, B, pencil = sdp_data(seed, metric)
        relaxed = relaxation(pencil)
        assert model(A, B).solve(solver="CLARABEL") == pytest.approx(relaxed.value, abs=1e-6)
        assert relaxed.upper_bound == pytest.approx(relaxed.value, abs=1e-5)


@pytest.mark.parametrize("metric", ["identity", "dense"])
def test_fisher_qps_solved_as_they_stand_have_the_values_of_the_relaxations(metric):
    for seed in range(20):
        _, B, _ = sdp_data(seed, metric)
        a = np.random.default_rng(100 + seed).standard_normal(6)
        radius = 1.5 / np.max(np.abs(a))
        for model, found in (
            (models.fisher_l1(a, B, radius), relaxations.fisher_l1(a, B, radius)),
            (models.fisher_l1_penalized(a, B, 0.3), relaxations.fisher_l1_penalized(a, B, 0.3)),
        ):
            assert model.solve(solver="CLARABEL") == pytest.approx(found.value, abs=1e-6)
            assert found.lower_bound == pytest.approx(found.value, abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_half_the_moduli_state_the_same_problem_as_all_of_them(weighted):
    """`moduli` counts the upper triangle twice, which is faster; the plain form has the same values."""
    for seed in range(5):
        A, B, _ = sdp_data(seed, "dense")
        d = np.random.default_rng(seed).uniform(0.5, 2.0, len(A)) if weighted else np.ones(len(A))
        X = cp.Variable(A.shape, symmetric=True)
        total, spread = d @ cp.abs(X) @ d, (d * d) @ cp.diag(X)
        objective, unit = cp.trace(A @ X), cp.trace(B @ X)
        plain = {
            "homogeneous": cp.Problem(cp.Maximize(objective), [X >> 0, unit == 1, total <= 2 * spread]),
            "entrywise": cp.Problem(cp.Maximize(objective), [X >> 0, unit <= 1, total <= 1.5**2]),
            "dspca": cp.Problem(cp.Maximize(objective - 0.3 * total), [X >> 0, unit <= 1]),
        }
        ours = {
            "homogeneous": models.homogeneous_sdp(A, B, 2, d),
            "entrywise": models.entrywise_sdp(A, B, 1.5, d),
            "dspca": models.dspca(A, B, 0.3, d),
        }
        for name, problem in plain.items():
            assert ours[name].solve(solver="CLARABEL") == pytest.approx(problem.solve(solver="CLARABEL"), abs=1e-6)


# What the package solves is what models.py says: the same answer, but for the solver's accuracy


def step_programs(seed):
    """Well-scaled programs for every form of the step: B = I and dense B, τ = 0 and τ > 0."""
    rng = np.random.default_rng(seed)
    M, N = rng.standard_normal((2, 6, 12))
    A, dense = M @ M.T / 6.0, N @ N.T / 12.0 + 0.3 * np.eye(6)
    for metric in (None, dense):
        plain, shifted = Pencil(A, metric), Pencil(A - 2.0 * np.eye(6), metric)
        yield from ((step, SparseGEV(plain, 0.3, 0.1)) for step in (QCQPStep(), LinearStep(), MetricLassoStep()))
        yield from ((step, SparseGEV(shifted, 0.3, 0.1)) for step in (QCQPStep(), LassoStep()))
        yield MetricLassoStep(), SparseGEV(shifted, 0.3, 0.1, shift="metric")
        yield FisherStep(), SparseFDA(rng.standard_normal(6), np.eye(6) if metric is None else metric, 0.3, 0.1)


@pytest.mark.parametrize("seed", range(20))
def test_models_solved_as_they_stand_are_the_steps_of_the_package(seed):
    for step, program in step_programs(seed):
        problem = step.problem(program)
        with quiet:  # near its limit Clarabel may call an accurate answer inaccurate
            problem.solve(solver="CLARABEL", **SOLVER_TABLE["CLARABEL"].step)
        x = problem.var_dict[step.variable].value
        if step.variable == "z":
            x = x / max(program.tau, program.pencil.B_norm(x))
        assert step(program, program.start()).x == pytest.approx(x, abs=1e-5)


def test_problems_are_built_in_models_and_nowhere_else():
    """`cp.Problem(…)`, and the class of models.py, are called in models.py alone (the user's in dc/)."""
    root = Path(__file__).parents[1] / "dcgev_cvx"  # in the repository: an installed package holds the labs too
    for path in root.rglob("*.py"):
        if path.name in ("models.py", "surrogate.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func).split(".")[-1] not in ("Problem", "Model"), f"{path}:{node.lineno}"


@pytest.mark.parametrize(("k", "expected"), [(1, 3.0), (2, 4.0), (3, 5.0)])
def test_the_pairwise_relaxation_is_exact_where_every_support_of_a_size_is_as_good(k, expected):
    """A = 2I + 11ᵀ: every support of size k has the value 2 + k."""
    problem = models.pairwise_sdp(2.0 * np.eye(4) + 1.0, None, k)
    assert problem.solve(solver="CLARABEL") == pytest.approx(expected, abs=1e-6)


def test_the_multiplier_of_the_dual_is_not_negative():
    assert models.literal_dual(-np.eye(3), None, 1.0).solve(solver="CLARABEL") == pytest.approx(0.0, abs=1e-6)


def test_the_box_of_the_literal_dual_has_the_weights():
    """|rᵢ| ≤ βdᵢ: its value does not depend on d, since r = 0 is optimal."""
    problem = models.literal_dual(np.diag([2.0, 1.0]), None, 1.0, np.array([0.5, 4.0]))
    named = {variable.name(): variable for variable in problem.variables()}
    named["β"].value, named["r"].value = 2.0, np.array([[1.0], [-8.0]])
    assert np.max(problem.constraints[1].residual) == 0.0
    named["r"].value = np.array([[1.1], [-8.0]])
    assert np.max(problem.constraints[1].residual) == pytest.approx(0.1)


def test_a_radius_is_nonnegative_and_the_metric_shift_is_in_the_objective():
    problem = models.fisher_l1(np.array([1.0, 2.0]), np.eye(2), 3.0)
    assert all(parameter.is_nonneg() for parameter in problem.parameters() if parameter.name() == "radius")
    c, B = np.array([0.3, 0.1]), np.diag([2.0, 8.0])
    problem = models.qcqp(c, np.zeros(2), B, tau=4.0, shift="metric")
    assert all(parameter.is_nonneg() for parameter in problem.parameters() if parameter.name() == "p")
    problem.solve(solver="CLARABEL")
    assert problem.variables()[0].value == pytest.approx(c / (4.0 * np.diag(B)), abs=1e-5)


def test_the_matrix_of_the_literal_dual_is_symmetric():
    problem = models.literal_dual(np.diag([2.0, 1.0]), None, 1.0)
    for variable in problem.variables():
        variable.value = np.ones(variable.shape)
    corner = problem.constraints[0].args[0].value
    assert corner == pytest.approx(np.array([[-1.0, 0.0, -0.5], [0.0, 0.0, -0.5], [-0.5, -0.5, 1.0]]))


def test_the_multipliers_of_the_literal_dual_are_nonnegative():
    problem = models.literal_dual(np.diag([2.0, 1.0]), None, 1.0)
    assert {variable.name() for variable in problem.variables() if variable.is_nonneg()} == {"β", "μ"}


@pytest.mark.parametrize(("tau", "shift"), [(0.0, ""), (0.5, "τ‖x‖² + ")])
def test_the_log_penalized_program_without_a_shift_has_no_term_for_it(tau, shift):
    first, *_ = str(models.log_penalized(A @ A, B, 0.3, 0.1, tau)).splitlines()
    assert first == f"minimize {shift}ρ_ε Σ log(ε + tᵢ) − xᵀ(A + τI)x"


def test_a_metric_that_is_negative_by_rounding_is_taken_as_semidefinite():
    nearly = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-9]])
    assert np.linalg.eigvalsh(nearly)[0] < -1e-10
    assert models.quad(cp.Variable(2), nearly).is_convex()


def test_one_variable_has_no_pairs():
    assert models.pairs(cp.Variable((1, 1)), cp.Variable((1, 1))) == []
    assert len(models.pairs(cp.Variable((2, 2)), cp.Variable((2, 2)))) == 1
