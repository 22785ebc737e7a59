"""The exercise `dcp`: write the MM step (ALG) as a problem that CVXPY accepts."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector, shown
from ..certificates import snap
from ..errors import DCGEVError
from ..programs import SparseGEV
from .faults import Family, faults_of
from .guarded_calls import Unusable, called, returned_vector
from .step_exercises import PRICES, WEIGHTS, judge_steps, step_points
from .verdicts import Verdict

TERMS = {"CONVEX", "AFFINE", "CONSTANT"}


def repaired(
    A: Matrix,
    B: Matrix,
    y: Vector,
    rho: float,
    eps: float,
    tau: float,
    *,
    factor: float = 1.0,
    shift: float = 1.0,
    square: float = 1.0,
    ball: str = "B",
    price: str = "rho_eps",
    weights: str = "w",
) -> Any:
    """The problem (ALG) with options."""
    from ..models import qcqp

    c = factor * (A @ y + shift * tau * y)
    p = PRICES[price](rho, eps) * WEIGHTS[weights](y, eps)
    if not np.all(p >= 0.0):
        raise Unusable("a negative price")
    return qcqp(c, p, B if ball == "B" else None, square * tau)


@cache
def dcp_points() -> list[tuple[SparseGEV, Vector]]:
    """Four points whose steps lie on the boundary of Ω and inside it, B ≠ I and τ > 0."""
    return [step_points(True, 0.7)[i] for i in (0, 4, 8, 11)]


def dcp_row(answer: Any, i: int) -> Vector:
    """The solution of the student's problem at test point i."""
    program, y = dcp_points()[i]
    return solution(program, called(answer, *program.pencil.dense(), y, program.rho, program.eps, program.tau))


def solution(program: SparseGEV, problem: Any) -> Vector:
    """The solution x of a problem that CVXPY accepts; else Unusable says what it lacks."""
    import cvxpy as cp

    from ..steps.backend import Backend

    if not isinstance(problem, cp.Problem):
        raise Unusable(f"Your function must return a cp.Problem, got {shown(problem)}.")
    found = [variable for variable in problem.variables() if variable.name() == "x"]
    if not found:
        raise Unusable('No variable of the problem is called x: write cp.Variable(n, name="x").')
    check_dcp(problem)
    try:
        Backend().solve(problem)
    except DCGEVError as failure:
        raise Unusable(f"The problem could not be solved: {failure}") from None
    return snap(program, returned_vector(found[0].value, program.pencil.n, "the solution x"), 1e-6)


def check_dcp(problem: Any) -> None:
    """Raise Unusable with the constraint or the term that keeps a problem from being DCP."""
    import cvxpy as cp
    from cvxpy.atoms.affine.add_expr import AddExpression
    from cvxpy.constraints.zero import Equality, Zero

    if not problem.constraints:
        raise Unusable("The problem has no constraint. Which set is Ω?")
    for constraint in problem.constraints:
        if not constraint.is_dcp():
            equality = isinstance(constraint, (Equality, Zero))
            advice = "xᵀBx = 1 is not convex: which inequality suffices?" if equality else "Which side is convex?"
            raise Unusable(f"The constraint {one_line(constraint)} is not convex. {advice}")
    maximised = isinstance(problem.objective, cp.Maximize)
    expression = -problem.objective.expr if maximised else problem.objective.expr
    terms = expression.args if isinstance(expression, AddExpression) else [expression]
    bad = [f"{one_line(term)} ({term.curvature.lower()})" for term in terms if term.curvature not in TERMS]
    if bad:
        raise Unusable(f"Not DCP. Every term to be minimised must be convex; these are not: {'; '.join(bad)}.")


def one_line(term: Any, most: int = 40) -> str:
    """The beginning of a term as CVXPY prints it."""
    words = " ".join(str(term).split())
    return words if len(words) <= most else f"{words[:most]} …"


def judge_dcp(found: Matrix) -> Verdict:
    """Are the solutions the MM steps? To 1e-4, since they come from a conic solver."""
    return judge_steps(dcp_points(), found, "it is DCP, and its solution is the MM step", tol=1e-4)


DCP = Family(partial(partial, repaired), dcp_row, 4, faults_of("dcp", "penalty"), tol=1e-4)
