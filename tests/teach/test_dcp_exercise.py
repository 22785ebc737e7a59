"""The exercise `dcp`: what CVXPY rejects is named by its term or its constraint."""

import cvxpy as cp
import numpy as np
import pytest

from dcgev_cvx import teach


def problem(A, B, y, rho, eps, tau, constraint=lambda x, B: cp.quad_form(x, B) <= 1, sense=cp.Minimize):
    x = cp.Variable(len(A), name="x")
    weights = rho / np.log1p(1 / eps) / (np.abs(y) + eps)
    objective = tau * cp.sum_squares(x) - 2 * (A @ y + tau * y) @ x + weights @ cp.abs(x)
    return cp.Problem(sense(objective if sense is cp.Minimize else -objective), [constraint(x, B)])


def test_the_right_problem_passes_in_several_forms():
    assert teach.check("dcp", problem)
    assert teach.check("dcp", lambda *a: problem(*a, sense=cp.Maximize))
    assert teach.check(
        "dcp", lambda *a: problem(*a, constraint=lambda x, B: cp.norm(np.linalg.cholesky(B).T @ x) <= 1)
    )


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
