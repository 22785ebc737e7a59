"""The exercises whose answer is a function: `majoriser`, `threshold`, `dcp` and `descent`.

Of each: the right answer, which can be made wrong by options, the values of an answer at the test points, and the
verdict on them.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from textwrap import shorten
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector, frozen, shown
from ..certificates import snap
from ..errors import DCGEVError
from ..penalties import ExponentialPenalty
from ..pencils import Pencil
from ..programs import SparseGEV
from .guarded_calls import Unusable, called, returned_number, returned_vector
from .verdicts import Verdict, all_of, judge_step, judge_trial, random_point, text, trial_points

NOTHING: Mapping[str, Any] = {}
"""What is wrong with the right answer."""
SMALL = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, -0.4], [0.5, -0.4, 1.0]])


# `majoriser`: f with the exponential penalty, whose majoriser no page prints


def surrogate(
    A: Matrix, x: Vector, y: Vector, rho: float, eps: float, tau: float, wrong: Mapping[str, Any] = NOTHING
) -> float:
    """τ‖x‖² − 2xᵀMy + yᵀMy + ρ Σ [tangent of 1 − exp(−|xᵢ|/ε) in |xᵢ|], M = A + τI."""
    x, y = (y, x) if wrong.get("swapped") else (x, y)
    M = A + wrong.get("shift", 1.0) * tau * np.eye(len(A))
    smooth = wrong.get("square", 1.0) * tau * x @ x
    smooth += wrong.get("constant", 1.0) * y @ M @ y - wrong.get("factor", 2.0) * x @ M @ y
    if wrong.get("quadratic") == "kept":
        smooth = -x @ A @ x
    value, slope, rise = 1.0 - np.exp(-np.abs(y) / eps), np.exp(-np.abs(y) / eps) / eps, np.abs(x) - np.abs(y)
    penalties = {
        "tangent": value + slope * rise,
        "kept": 1.0 - np.exp(-np.abs(x) / eps),
        "none": np.zeros_like(x),
        "signed": value + slope * np.sign(y) * (x - y),
        "no constant": slope * np.abs(x),
        "no 1/eps": value + eps * slope * rise,
        "wrong sign": value - slope * rise,
        "logarithm": value + rise / (np.abs(y) + eps),
    }
    return float(smooth + rho * np.sum(penalties[wrong.get("penalty", "tangent")]))


@cache
def majoriser_trials() -> list[tuple[SparseGEV, tuple[Vector, ...]]]:
    """Programs with trial points: one variable, A ⪰ 0, and an indefinite A that needs its τ."""
    # with A ⪰ 0 any τ ≥ 0 will do, so a g without τ shows itself only where A is indefinite and the price is small
    indefinite = np.array([[1.0, 0.5, 0.0], [0.5, -2.0, 0.3], [0.0, 0.3, 0.5]])
    data = ((np.ones((1, 1)), 0.5, 0.3, 2.0), (SMALL, 2.0, 0.2, 0.7), (indefinite, 0.01, 0.5, None))
    programs = [SparseGEV(Pencil(A), rho, eps, tau, penalty=ExponentialPenalty()) for A, rho, eps, tau in data]
    return [(program, points) for program in programs for points in trial_points(program, 60)]


def read_majoriser(answer: Any) -> Iterator[list[float]]:
    """g(·, y) at the points of each trial."""
    for program, points in majoriser_trials():
        A, _ = program.pencil.dense()
        values = [called(answer, A, x, points[0], program.rho, program.eps, program.tau) for x in points]
        yield [returned_number(value, "the value of g") for value in values]


def judge_majoriser(*values: list[float]) -> Verdict:
    """Does g touch, lie above, and is it convex?"""
    trials = zip(majoriser_trials(), values, strict=True)
    verdicts = (judge_trial(program, points, row) for (program, points), row in trials)
    return all_of(verdicts, "it touches, lies above and is convex on three programs")


# The steps of `threshold` and `dcp`: the test points, and p = ρ_ε w with its misreadings


@cache
def step_points(B: bool = False, tau: float = 0.0) -> list[tuple[SparseGEV, Vector]]:
    """Programs, the last of which collapses, each with a few points of Ω."""
    metric = np.array([[1.0, 0.3, 0.0], [0.3, 1.5, 0.2], [0.0, 0.2, 0.8]]) if B else None
    settings = ((0.5, 0.1), (2.0, 1e-3), (0.0, 0.9), (1e4, 0.5))
    programs = [SparseGEV(Pencil(SMALL, metric), rho, eps, tau) for rho, eps in settings]
    generators = [np.random.default_rng(seed) for seed in range(4)]
    return [(p, y) for p in programs for y in (frozen(p.start()), *(random_point(p, g) for g in generators))]


@np.errstate(divide="ignore")  # one of the misreadings is 1/|yᵢ|
def prices(y: Vector, rho: float, eps: float, wrong: Mapping[str, Any]) -> Vector:
    """The price p = ρ_ε w of each |xᵢ|, or what is taken for it."""
    factor = {
        "rho_eps": rho / np.log1p(1.0 / eps),
        "rho": rho,
        "log(1/eps)": rho / np.log(1.0 / eps),
        "times": rho * np.log1p(1.0 / eps),
        "none": 0.0,
    }[wrong.get("price", "rho_eps")]
    w = {
        "w": 1.0 / (np.abs(y) + eps),
        "one": np.ones_like(y),
        "no eps": 1.0 / np.abs(y),
        "inverse": np.abs(y) + eps,
        "signed": 1.0 / (y + eps),
        "log": np.log(np.abs(y) + eps),
    }[wrong.get("weights", "w")]
    return factor * w


def judge_steps(
    points: Sequence[tuple[SparseGEV, Vector]], found: Sequence[Vector], words: str, tol: float = 1e-7
) -> Verdict:
    """The first vector that is not the minimiser of its step, or success in these words."""

    def verdict(program: SparseGEV, y: Vector, x: Vector) -> Verdict:
        if np.isfinite(x).all():
            return judge_step(program, y, x, tol)
        return Verdict(False, f"x has NaN or infinite entries from y = {text(y)}, ρ̃ = {program.rho:g}.")

    return all_of((verdict(program, y, x) for (program, y), x in zip(points, found, strict=True)), words)


# `threshold`: the step in closed form (ALG-S)


def closed_step(A: Matrix, y: Vector, rho: float, eps: float, wrong: Mapping[str, Any] = NOTHING) -> Vector:
    """xᵢ ∝ [|(Ay)ᵢ| − ½ρ_ε wᵢ]₊ sign (Ay)ᵢ, and 0 when nothing is left (ALG-S)."""
    sources = {"Ay": A @ y, "y": y, "unit": A @ y / np.linalg.norm(A @ y), "minus": -A @ y}
    c = sources[wrong.get("source", "Ay")]
    threshold = wrong.get("half", 0.5) * prices(y, rho, eps, wrong)
    rest = np.abs(c) - threshold
    z = {
        "soft": np.sign(c) * np.maximum(0.0, rest),
        "hard": np.where(rest > 0.0, c, 0.0),
        "unclipped": np.sign(c) * rest,
        "unsigned": np.maximum(0.0, rest),
        "subtracted": c - threshold,
        "one-sided": np.maximum(0.0, c - threshold),
    }[wrong.get("shrink", "soft")]
    norm, empty, length = wrong.get("norm", "unit"), wrong.get("empty", "zero"), np.linalg.norm(z)
    if norm != "none" and not z.any() and empty != "nan":
        return y if empty == "y" else z
    return z / {"unit": length, "ball": max(1.0, length), "square": z @ z, "sum": np.abs(z).sum(), "none": 1.0}[norm]


def read_threshold(answer: Any) -> Iterator[Vector]:
    """The step from each test point."""
    for program, y in step_points():
        yield returned_vector(called(answer, program.pencil.dense()[0], y, program.rho, program.eps), len(y), "x")


def judge_threshold(*steps: Vector) -> Verdict:
    """Are the vectors the minimisers of (ALG) with B = I and τ = 0?"""
    return judge_steps(step_points(), steps, "the minimiser of (ALG) in every case, the collapse among them")


# `dcp`: the step (ALG) as a problem that CVXPY accepts


def step_problem(
    A: Matrix, B: Matrix, y: Vector, rho: float, eps: float, tau: float, wrong: Mapping[str, Any] = NOTHING
) -> Any:
    """The problem (ALG)."""
    from ..models import qcqp

    c = wrong.get("factor", 1.0) * (A @ y + wrong.get("shift", 1.0) * tau * y)
    ball = None if wrong.get("ball") == "I" else B
    return qcqp(c, prices(y, rho, eps, wrong), ball, wrong.get("square", 1.0) * tau)


def dcp_points() -> list[tuple[SparseGEV, Vector]]:
    """Four points whose steps lie on the boundary of Ω and inside it, B ≠ I and τ > 0."""
    return [step_points(True, 0.7)[i] for i in (0, 4, 8, 11)]


def read_dcp(answer: Any) -> Iterator[Vector]:
    """The solution of the student's problem at each test point."""
    for program, y in dcp_points():
        problem = called(answer, *program.pencil.dense(), y, program.rho, program.eps, program.tau)
        yield snap(program, solution(problem, program.pencil.n), 1e-6)


def solution(problem: Any, n: int) -> Vector:
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
    return returned_vector(found[0].value, n, "the solution x")


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
    bad = [f"{one_line(term)} ({term.curvature.lower()})" for term in terms if not term.is_convex()]
    if bad:
        raise Unusable(f"Not DCP. Every term to be minimised must be convex; these are not: {'; '.join(bad)}.")


def one_line(term: Any) -> str:
    """The beginning of a term as CVXPY prints it."""
    return shorten(str(term), 40, placeholder=" …")


def judge_dcp(*steps: Vector) -> Verdict:
    """Are the solutions the MM steps? To 1e-4, since they come from a conic solver."""
    return judge_steps(dcp_points(), steps, "it is DCP, and its solution is the MM step", tol=1e-4)


# `descent`: a direction of descent of f(x) = Σ xᵢ² − |xᵢ|, which has kinks


DESCENT_POINTS = ([0.25], [0.0], [0.5], [-2.0], [0.5, 0.0], [0.0, 0.0, -0.5], [-0.5, 0.5], [0.3, -0.5])
"""Stationary ones, kinks, and others; at 0 every entry has a subgradient that makes it critical."""


def slope_along(x: Vector, d: Vector) -> float:
    """f′(x; d) = Σ 2xᵢdᵢ − sign(xᵢ)dᵢ, and −|dᵢ| instead where xᵢ = 0."""
    return float(np.sum(np.where(x == 0.0, -np.abs(d), (2.0 * x - np.sign(x)) * d)))


def descent_direction(x: Vector, wrong: Mapping[str, Any] = NOTHING) -> Vector:
    """−(2x − sign x), with ±1 as the sign of a zero; 0 where all |xᵢ| = ½."""
    zero = {"one": 1.0, "none": 0.0}[wrong.get("at zero", "one")]
    s = np.where(x == 0.0, zero, np.sign(x))
    gradient = {"both": 2.0 * x - s, "u": 2.0 * x, "added": 2.0 * x + s, "half": x - s}[wrong.get("gradient", "both")]
    return wrong.get("sign", -1.0) * gradient


def read_descent(answer: Any) -> Iterator[Vector]:
    """The direction at each test point."""
    for point in DESCENT_POINTS:
        x = frozen(np.array(point))
        yield returned_vector(called(answer, x), len(x), "the direction")


def judge_descent(*directions: Vector) -> Verdict:
    """Does f fall along each direction, and is it 0 only where no direction of descent exists?"""

    def verdict(x: Vector, d: Vector) -> Verdict:
        stationary = bool(np.all(np.abs(x) == 0.5))
        if stationary:
            return Verdict(not d.any(), f"x = {text(x)} is a minimum, so no direction descends; return zeros.")
        if not np.isfinite(d).all() or not d.any():
            return Verdict(False, f"At x = {text(x)} there is a direction of descent, and you returned {text(d)}.")
        slope = slope_along(x, d)
        return Verdict(slope < 0.0, f"At x = {text(x)} the slope of f along {text(d)} is {slope:.3g}, not negative.")

    points = (np.array(point) for point in DESCENT_POINTS)
    verdicts = (verdict(x, d) for x, d in zip(points, directions, strict=True))
    return all_of(verdicts, "f falls along every direction, and 0 is returned only at minima")
