"""The MM step as a CVXPY problem, in each of the paper's forms.

A step takes a model of `models` on scaled data, compiled once for a whole run or path, has it solved, refines the
answer to the exact minimiser, and returns it only if its KKT residual, recomputed from the data, is small. The five
forms have the same minimiser: the paper prints four of them, and solvers that agree on five are worth more trust.
"""

import threading
from dataclasses import dataclass, field
from time import perf_counter
from typing import ClassVar, Literal
from weakref import WeakKeyDictionary

import cvxpy as cp
import numpy as np

from .. import models
from .._numerics.checks import Vector, as_point
from ..certificates import step_residuals
from ..errors import InvalidParameter, SolverFailed
from ..pencils import Pencil
from ..programs import Program, SparseGEV, expect_program
from .backend import Backend, CompiledProblem
from .polish import StepSurrogate, polish, surrogate_at
from .scaling import Scaling
from .step import StepOutput, without_pull

TRUST = 0.05
"""The farthest a solver's answer may lie from the minimiser, in the B norm, to be worth refining …"""
TIE = 1e-6
"""… unless the surrogate is as low there, to this share of its terms: at a tie, minimisers lie far apart."""
RESIDUAL_TOL = 1e-8
"""The KKT residual above which a step counts as failed; refined answers stay orders below it."""


@dataclass(frozen=True)
class ConicStep:
    """x = argmin g(·, y) over Ω by CVXPY: what the five steps below, each with its model, have in common."""

    backend: Backend = field(default_factory=Backend)

    variable: ClassVar[Literal["x", "z"]] = "x"
    """The model's variable is x itself, or z = (τ + μ)x."""

    def model(self, s: StepSurrogate) -> cp.Problem:
        """The problem of `models` on the data of a step."""
        raise NotImplementedError

    def __call__(self, program: Program, y: Vector) -> StepOutput:
        """argmin g(·, y) over Ω: the compiled model with c and p of y, solved, refined and certified.

        Where a solver fails, returns an answer more than TRUST away from the minimiser, or one that leaves a residual
        above RESIDUAL_TOL, the next one is tried; SolverFailed joins their reasons.
        """
        begin = perf_counter()
        y = as_point(y, expect_program(program).pencil.n, "y")
        s = surrogate_at(program, y)
        if isinstance(program, SparseGEV) and not s.c.any():
            return without_pull(program, y)
        if s.a is None and (s.tau == 0.0 or self.variable == "z"):
            s = s.rescaled()  # no τ is compiled into the problem: the objective may have any size
        problem = compiled_problem(self, program.pencil, s)
        reasons: list[str] = []
        for solver in self.backend.solvers:
            try:
                self.backend.solve(problem, solver)
                answer = answer_of(problem.var_dict[self.variable], solver)
                x, mu, correction = refined(s, answer, self.variable, solver)
                x, mu = s.scaling.vector(x), mu * s.scaling.o
                residual = certified_residual(program, y, x, solver)
                return StepOutput(x, program.g(x, y), mu, perf_counter() - begin, residual, correction, solver)
            except SolverFailed as failure:
                reasons.append(str(failure))
                # CVXPY reads old values, NaN among them, when it compiles for the next solver
                for variable in problem.variables():
                    variable.save_value(None)
        raise SolverFailed("; then ".join(reasons))

    def problem(self, program: Program) -> cp.Problem:
        """The first step of a run in the user's own data, to be printed or solved by hand."""
        start = expect_program(program).start()
        return self.model(surrogate_at(program, start, Scaling(np.ones_like(start), 1.0)))


class QCQPStep(ConicStep):
    """One MM step as a QCQP in (x, t) (ALG, Eq:qcqp-0); see `models.qcqp`.

    Parameters
    ----------
    backend : Backend
        The solver, its options and its fallbacks.

    Examples
    --------
    >>> from dcgev_cvx import SparseGEV, datasets
    >>> from dcgev_cvx.steps.conic import LinearStep, QCQPStep
    >>> program = SparseGEV(datasets.pitprops(), rho=4.84)
    >>> print(QCQPStep().problem(program))
    minimize − 2cᵀx + pᵀt
    subject to xᵀx ≤ 1
               −t ⪯ x
               x ⪯ t
    >>> first, second = (step(program, program.start()) for step in (QCQPStep(), LinearStep()))
    >>> float(abs(first.x - second.x).max()) < 1e-10
    True
    """

    def model(self, s: StepSurrogate) -> cp.Problem:
        """(ALG) on the data of a step."""
        check_ball(s, "QCQPStep")
        return models.qcqp(s.c, s.p, s.B.matrix(), s.tau, "metric" if s.metric_shift else "identity")


class LassoStep(ConicStep):
    """One MM step as a LASSO in a ball, τ ≠ 0 (Eq:weighted, Eq:weighted-nonzero-algo); see `models.lasso`."""

    def model(self, s: StepSurrogate) -> cp.Problem:
        """Eq:weighted on the data of a step."""
        check_ball(s, "LassoStep")
        if s.metric_shift or s.tau == 0.0:
            given = "the metric shift" if s.metric_shift else "τ = 0"
            raise InvalidParameter(
                f'LassoStep needs shift="identity" with τ > 0, since Eq:weighted divides by τ; this program has '
                f"{given}. Use LinearStep for τ = 0, MetricLassoStep for the metric shift."
            )
        return models.lasso(s.c, s.p, s.B.matrix(), s.tau)


class LinearStep(ConicStep):
    """One MM step with a linear objective, τ = 0 (Eq:weighted-algo); see `models.linear`.

    The objective is not strictly concave; the ball makes the maximiser unique when the maximum is positive.
    """

    def model(self, s: StepSurrogate) -> cp.Problem:
        """Eq:weighted-algo on the data of a step."""
        check_ball(s, "LinearStep")
        if s.tau != 0.0:
            raise InvalidParameter(
                "LinearStep is the branch τ = 0 of Algorithm 1; here τ > 0. Use LassoStep or QCQPStep."
            )
        return models.linear(s.c, s.p, s.B.matrix())


class MetricLassoStep(ConicStep):
    """One MM step of the metric shift, or of τ = 0, as a LASSO in z (beyond the paper); see `models.metric_lasso`.

    x = z / max(τ, ‖z‖_B). There is no constraint left, so that QP solvers such as OSQP can be used.
    """

    variable = "z"

    def model(self, s: StepSurrogate) -> cp.Problem:
        """The LASSO in the metric of B on the data of a step."""
        check_ball(s, "MetricLassoStep")
        if s.tau > 0.0 and not s.metric_shift:
            raise InvalidParameter('MetricLassoStep needs τ = 0 or shift="metric": build the program with that shift.')
        return models.metric_lasso(s.c, s.p, s.B.matrix())


class FisherStep(ConicStep):
    """One MM step of sparse FDA as a QP (Eq:fdaiterative); see `models.fisher_step`."""

    def model(self, s: StepSurrogate) -> cp.Problem:
        """Eq:fdaiterative on the data of a step."""
        if s.a is None:
            raise InvalidParameter("FisherStep minimises a SparseFDA program, not a SparseGEV.")
        return models.fisher_step(s.p, s.a, s.B.matrix())


def check_ball(s: StepSurrogate, step: str) -> None:
    """Raise unless it is a step of SparseGEV."""
    if s.a is not None:
        raise InvalidParameter(f"{step} minimises a SparseGEV program, not a SparseFDA.")


class _Kept(threading.local):
    """The compiled problems of one thread: CVXPY problems must not be shared between threads."""

    def __init__(self) -> None:
        self.problems: WeakKeyDictionary[Pencil, dict[tuple[object, ...], cp.Problem]] = WeakKeyDictionary()


_kept = _Kept()


def compiled_problem(step: ConicStep, pencil: Pencil, s: StepSurrogate) -> cp.Problem:
    """The step's problem with its c and p, through which ρ̃, ν, ε and y enter; built once per thread and pencil."""
    fixed = (s.metric_shift, s.tau * (step.variable == "x")) if s.a is None else (s.a.tobytes(), s.scaling.o)
    key = (type(step), s.scaling.u.tobytes(), fixed)
    problems = _kept.problems.setdefault(pencil, {})
    if key not in problems:
        problems[key] = CompiledProblem(step.model(s))
    for name, parameter in problems[key].param_dict.items():
        # without CVXPY's checks of shape and sign, which take as long as the solver
        parameter.save_value(s.c if name == "c" else s.p)
    return problems[key]


def answer_of(x: cp.Variable, solver: str) -> Vector:
    """The solver's answer, if it consists of finite numbers; its status is not trusted."""
    answer = np.array(np.nan if x.value is None else x.value)
    # every number of a scaled problem is of size one, so 1e100 is no answer
    if answer.dtype.kind != "f" or answer.shape != x.shape or not np.all(np.abs(answer) < 1e100):
        raise SolverFailed(f"{solver} reported success but returned NaN, huge, complex, misshapen or no values.")
    return answer.astype(np.float64)


def refined(s: StepSurrogate, answer: Vector, variable: str, solver: str) -> tuple[Vector, float, float]:
    """(x, μ, correction): the minimiser near an answer x or z, and how far away that was, relative to its size.

    z gives x = z/max(τ, ‖z‖_B), and lies at (τ + μ)x.
    """
    norm = s.B.norm(answer)
    if variable == "z":
        x, mu = polish(s, answer / max(s.tau, norm) if norm > 0.0 else answer)
        correction = s.B.norm(answer - (s.tau + mu) * x) / s.size
    else:
        x, mu = polish(s, answer)
        correction = s.B.norm(answer - x) / max(s.length(x), norm)
    if not correction <= TRUST and not (variable == "x" and as_low(s, answer, x)):
        raise SolverFailed(f"{solver} claimed success {correction:.2g} away from the minimiser.")
    return x, mu, correction


def as_low(s: StepSurrogate, answer: Vector, x: Vector) -> bool:
    """Does an answer lie in Ω, the surrogate there no higher than at the minimiser x to the solver's accuracy?"""
    terms = np.abs(answer) @ (2.0 * np.abs(s.c) + s.p)
    inside = s.B.norm(answer - s.project(answer)) <= TIE
    return bool(inside and s.value(answer) - s.value(x) <= TIE * terms)


def certified_residual(program: Program, y: Vector, x: Vector, solver: str) -> float:
    """The KKT residual of a refined answer, recomputed from the data; SolverFailed if it is large."""
    residual, slackness = step_residuals(program, y, x)
    worst = max(residual, slackness, program.violation(x))
    if not worst <= RESIDUAL_TOL:
        raise SolverFailed(f"{solver}'s answer has a KKT residual of {worst:.2g}.")
    return residual
