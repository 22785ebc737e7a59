"""Reference answers: certified in extended precision, agreeing between methods, equal to formulas known by hand."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.linalg import eigh

from dcgev_cvx.errors import SolverFailed
from dcgev_cvx.pencils import Pencil
from dcgev_cvx.programs import SparseGEV
from dcgev_cvx.steps.polish import polish, surrogate_at
from dcgev_cvx.verify.instances import flipped, permuted, question, scaled_objective, scaled_variables
from dcgev_cvx.verify.measures import excess, objective, proximal_residual, surrogate, tangent
from dcgev_cvx.verify.printed import on_same_face, printed_run
from dcgev_cvx.verify.reference import enumerated, reference
from dcgev_cvx.verify.suite import suite
from dcgev_cvx.verify.tolerances import condition


@pytest.mark.parametrize("level", ["step", "fda"])
def test_every_reference_is_certified(level):
    for case in suite(level, 5, "quick").battery:
        ref = reference(case)
        assert ref.kkt < 1e-12
        assert ref.agreement < (1e-10 if condition(case) <= 1e4 else 1e-9)


def test_one_variable_by_hand():
    for case in (c for c in suite("step", 0, "quick").battery if c.n == 1):
        A, B, y, tau = case.data["A"][0, 0], case.data["B"][0, 0], case.data["y"][0], case.data["tau"]
        c, p = (A + tau) * y, case.coefficient / (abs(y) + case.data["eps"])
        z = math.copysign(max(0.0, abs(c) - p / 2), c)
        limit = 1 / math.sqrt(B)
        x = max(-limit, min(limit, z / tau)) if tau > 0 else math.copysign(limit, z) * (z != 0)
        assert reference(case).x[0] == pytest.approx(x, rel=1e-12, abs=1e-300)


def test_the_soft_threshold_by_hand():
    for case in suite("step", 0, "quick").battery:
        if not np.array_equal(case.B, np.eye(case.n)):
            continue
        problem = surrogate(case)
        z = np.sign(problem.c) * np.maximum(0.0, np.abs(problem.c) - 0.5 * problem.p)
        radius = max(case.data["tau"], float(np.linalg.norm(z)))
        np.testing.assert_allclose(reference(case).x, z / radius if radius else z, atol=1e-13)


def test_the_step_in_fifty_digits():
    mild = [c for c in suite("step", 0, "quick").battery if c.n == 3 and condition(c) < 1e3 and c.data["tau"] > 0]
    case = next(c for c in mild if reference(c).mu > 0)
    x, mu = reference(case).x, reference(case).mu
    with mpmath.workdps(50):
        on = [i for i in range(3) if x[i] != 0]
        problem = surrogate(case)
        worst = max(
            abs(
                2 * mpmath.mpf(case.data["tau"]) * mpmath.mpf(x[i])
                - 2 * mpmath.mpf(problem.c[i])
                + 2 * mpmath.mpf(mu) * sum(mpmath.mpf(case.B[i, j]) * mpmath.mpf(x[j]) for j in range(3))
                + mpmath.mpf(problem.p[i]) * int(np.sign(x[i]))
            )
            for i in on
        )
        assert worst < 1e-13 * max(1.0, float(np.max(np.abs(problem.c))))


def test_a_reference_that_is_not_certified_is_refused(monkeypatch):
    from dcgev_cvx.verify import reference as module

    case = suite("step", 0, "quick").battery[40].changed("again")
    monkeypatch.setattr(module, "walked", lambda instance: (np.full(instance.n, 0.1), 0.5))
    monkeypatch.setattr(module, "refined", lambda instance, x, mu: (x.astype(np.longdouble), np.longdouble(mu)))
    with pytest.raises(SolverFailed, match="not certified"):
        reference(case)


@pytest.mark.parametrize("level", ["step", "fda"])
def test_the_transformations_move_the_minimiser_as_they_say(level):
    rng = np.random.default_rng(0)
    found = suite(level, 0, "quick").pairs["the same call twice"]
    for base in (pair.base for pair in found):
        x = reference(base).x
        order, signs = rng.permutation(base.n), rng.choice([-1.0, 1.0], size=base.n)
        np.testing.assert_allclose(reference(permuted(base, order)).x, x[order], atol=1e-10)
        np.testing.assert_allclose(reference(flipped(base, signs)).x, signs * x, atol=1e-10)
        np.testing.assert_allclose(reference(scaled_objective(base, 1e6)).x, x, atol=1e-10)
        np.testing.assert_allclose(reference(scaled_variables(base, 1e3)).x * 1e3, x, atol=1e-10)


def test_the_proximal_residual_is_continuous_in_dust_and_linear_in_errors():
    case = next(
        c for c in suite("step", 0, "quick").battery if c.n > 3 and 1 < np.count_nonzero(reference(c).x) < c.n
    )
    problem, x = surrogate(case), reference(case).x
    assert proximal_residual(problem, x, 1e-9) < 1e-9
    dusty = np.where(x == 0, 1e-10 / problem.root, x)
    assert proximal_residual(problem, dusty, 1e-9) < 1e-9
    errors = [proximal_residual(problem, x * (1 - d), 1e-9) for d in (1e-6, 1e-5, 1e-4)]
    assert errors[0] < errors[1] < errors[2] < 1e-2
    assert errors[2] > 1e-6


def test_the_excess_is_zero_at_the_minimiser_and_positive_elsewhere():
    rng = np.random.default_rng(1)
    for case in suite("step", 1, "quick").battery[20:80]:
        problem, x = surrogate(case), reference(case).x
        other = problem.pulled(x + 0.1 * rng.standard_normal(case.n) / problem.root)
        assert excess(problem, x, x, 1e-9) <= 1e-8
        assert problem.value(other) >= problem.value(x) - 1e-9 * problem.size(x)


def test_the_optimum_by_enumeration_matches_the_eigensolver():
    for case in suite("bound", 0, "quick").battery[::7]:
        A, B, k = case.data["A"], case.B, case.data["k"]
        best = enumerated(A, B, k)
        s = list(best.support)
        value = eigh(A[np.ix_(s, s)], B[np.ix_(s, s)], eigvals_only=True)[-1]
        assert best.value == pytest.approx(value, rel=1e-6, abs=1e-12 * best.radius)
        assert best.value <= best.lambda_max + 1e-9 * best.radius


@pytest.mark.parametrize("level", ["pca"])
def test_no_trivial_point_passes_for_the_end_of_a_run(level):
    for case in suite(level, 0, "quick").battery:
        if {"collapse", "one-variable"} & set(case.flags):
            continue
        x0 = case.data["x0"]
        # a trivial point is told from an answer: it lies above the start, or it is not stationary
        for corner in (np.zeros(case.n), *np.eye(case.n)):
            above = objective(case, x0) < objective(case, corner)
            assert above or proximal_residual(tangent(case, corner), corner, 1e-9) > 1e-3
        run = printed_run(case, 500)
        assert np.count_nonzero(run.x) >= 2
        assert proximal_residual(tangent(case, run.x), run.x, 1e-9) < 1e-6


def test_a_question_is_copied_and_read_only():
    A = np.eye(2)
    case = question("bound", "two", (), {"A": A, "B": np.eye(2), "k": 1})
    A[0, 0] = 7.0
    assert case.data["A"][0, 0] == 1.0
    assert not case.data["A"].flags.writeable
    assert all(a.flags.writeable for a in case.arguments() if isinstance(a, np.ndarray))


@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_the_step_on_a_face_is_the_walk(shift):
    """One system with B's spectrum against the active-set walk, along runs of Algorithm 1."""
    steps = 0
    for case in suite("algorithm", 0, "quick").battery[::4]:
        program = SparseGEV(Pencil(case.data["A"], case.B), case.data["rho"], case.data["eps"], shift=shift)
        y, faces = case.data["x0"], {}
        for _ in range(6):
            c = program.linear(y)
            if not c.any():
                break
            surrogate = surrogate_at(program, y)
            walked = surrogate.scaling.vector(polish(surrogate, y / surrogate.scaling.u).x)
            same = on_same_face(program, y, c, faces)
            if same is not None:
                assert program.pencil.B_norm(same - walked) < 1e-12
                steps += 1
            y = walked
    assert steps > 20


def test_an_answer_just_inside_the_boundary_costs_nothing_in_value():
    """‖x‖_B = 1 − δ costs 2μδ; within the accuracy the value is that of the boundary, beyond it is not."""
    cases = [c for c in suite("step", 0, "quick").battery if "cancelling" in c.flags]
    assert cases
    for case in cases:
        problem, best = surrogate(case), reference(case).x
        assert problem.norm(best) == pytest.approx(1.0)
        assert excess(problem, best * (1 - 1e-6), best, 1e-5) < 1e-12
        assert excess(problem, best * (1 - 1e-3), best, 1e-5) > 1e-5


def test_dust_beside_a_small_answer_is_cut():
    """x near 0 has entries below the accuracy; cutting at a smaller size keeps them and drops what is dust."""
    data = {"A": np.diag([-0.3, 0.7]), "B": np.eye(2), "y": np.array([0.02, -0.001]), "rho": 0.0, "eps": 1e-8}
    rho = 0.999 * 2 * 0.5 * 0.02 * (0.02 + 1e-8) * math.log1p(1e8)
    step = question("step", "small x", (), {**data, "tau": 0.8, "rho": rho})
    best = reference(step).x
    assert 0 < np.max(np.abs(best)) < 1e-3
    assert best[1] == 0.0
    assert excess(surrogate(step), best + np.array([0.0, 1e-10]), best, 1e-3) < 1e-12
