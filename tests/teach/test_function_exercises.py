"""The exercises whose answer is a function: any right form passes, and what is wrong is named."""

import cvxpy as cp
import numpy as np
import pytest

from dcgev_cvx import Pencil, SparseGEV, teach
from dcgev_cvx.steps.conic import LinearStep
from dcgev_cvx.teach.function_exercises import closed_step, surrogate

# `majoriser`: any majoriser is right, not only the one in the solution


def larger_shift(A, x, y, rho, eps, tau):
    return surrogate(A, x, y, rho, eps, 3.0 * tau + 1.0)


def test_a_majoriser_may_lie_higher_than_needed():
    assert teach.check("majoriser", larger_shift)
    assert teach.check("majoriser", lambda A, x, y, *s: surrogate(A, x, y, *s) + (x - y) @ (x - y))


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_part_of_tau_is_not_enough(share):
    verdict = teach.check("majoriser", lambda A, x, y, rho, eps, tau: surrogate(A, x, y, rho, eps, share * tau))
    assert not verdict
    assert "It cuts f" in verdict.why


# `threshold`


def test_a_step_by_cvxpy_is_right_too():
    def step(A, y, rho, eps):
        return LinearStep()(SparseGEV(Pencil(A), rho, eps, 0.0), y).x

    assert teach.check("threshold", step)


def test_a_column_and_a_list_are_accepted():
    assert teach.check("threshold", lambda *a: closed_step(*a)[:, None])
    assert teach.check("threshold", lambda *a: closed_step(*a).tolist())


def test_twice_the_step_leaves_the_ball():
    assert "xᵀBx = 4 > 1" in teach.check("threshold", lambda *a: 2.0 * closed_step(*a)).why
    assert np.allclose(closed_step(np.eye(2), np.array([1.0, 0.0]), 0.0, 0.1), [1.0, 0.0])


# `dcp`: what CVXPY rejects is named by its term or its constraint


def problem(A, B, y, rho, eps, tau, constraint=lambda x, B: cp.quad_form(x, B) <= 1, sense=cp.Minimize):
    x = cp.Variable(len(A), name="x")
    weights = rho / np.log1p(1 / eps) / (np.abs(y) + eps)
    objective = tau * cp.sum_squares(x) - 2 * (A @ y + tau * y) @ x + weights @ cp.abs(x)
    return cp.Problem(sense(objective if sense is cp.Minimize else -objective), [constraint(x, B)])


def test_the_right_problem_passes_in_several_forms():
    assert teach.check("dcp", problem)
    assert teach.check("dcp", lambda *a: problem(*a, sense=cp.Maximize))
    assert teach.check("dcp", lambda *a: problem(*a, constraint=lambda x, B: cp.norm(np.linalg.cholesky(B).T @ x) <= 1))


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (lambda x, B: cp.quad_form(x, B) == 1, "xᵀBx = 1 is not convex: which inequality suffices?"),
        (lambda x, B: cp.quad_form(x, B) >= 1, "Which side is convex?"),
        (lambda x, B: cp.sum_squares(x) <= 1, "The constraint is xᵀx ≤ 1"),
        (lambda x, B: cp.quad_form(x, B) <= 4, "> 1 from y ="),
    ],
)
def test_a_wrong_constraint_is_named(constraint, words):
    verdict = teach.check("dcp", lambda *a: problem(*a, constraint=constraint))
    assert not verdict
    assert words in verdict.why


def concave(A, B, y, rho, eps, tau):
    x = cp.Variable(len(A), name="x")
    return cp.Problem(cp.Minimize(cp.norm1(x) - cp.quad_form(x, A)), [cp.quad_form(x, B) <= 1])


def nameless(A, B, y, rho, eps, tau):
    return cp.Problem(cp.Minimize(cp.norm1(cp.Variable(len(A)))))


def free(A, B, y, rho, eps, tau):
    return cp.Problem(cp.Minimize(cp.norm1(cp.Variable(len(A), name="x"))))


def unbounded(A, B, y, rho, eps, tau):
    x = cp.Variable(len(A), name="x")
    return cp.Problem(cp.Minimize(cp.sum(x)), [x[0] <= 1])


def lasso(A, B, y, rho, eps, tau):
    x = cp.Variable(len(A), name="x")
    return cp.Problem(cp.Minimize(cp.norm1(x) + cp.sum_squares(x - y)), [cp.quad_form(x, B) <= 1])


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (concave, "must be convex; these are not: -(QuadForm(x"),
        (nameless, "is called x"),
        (free, "has no constraint"),
        (unbounded, "could not be solved"),
        (lasso, "KKT row"),
        (lambda *a: 3.0, "must return a cp.Problem, got 3.0"),
    ],
)
def test_other_problems_are_told_what_they_lack(answer, words):
    assert words in teach.check("dcp", answer).why
