"""The MM step as a CVXPY problem, in each of the paper's forms; compiled once per program shape.

Every problem is written in the units of `Subproblem`, with c and p as parameters of the linear
cost and nowhere else, so that CVXPY compiles it once for a whole run or path. The solver's answer
is polished on its support and returned only if its KKT residual, recomputed from the data, is small.

Five forms are kept, although they have the same minimiser, because the paper prints them and because solvers that
agree on five formulations are worth more trust than on one. Compiled problems belong to a thread and to a pencil:
CVXPY problems must not be shared between threads, and they are dropped with their pencil.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

import cvxpy as cp
import numpy as np

from .._numerics.checks import Vector, as_point
from .._numerics.spectra import power_of_two
from ..certificates import step_residuals
from ..errors import InvalidParameter, SolverFailed
from ..pencils import Pencil
from ..programs import Program, SparseFDA, SparseGEV
from .backend import Backend
from .base import StepOutput, without_pull
from .compile_once import LinearCostProblem
from .polish import Subproblem, feasible, polish

Form: TypeAlias = Literal["qcqp", "lasso", "linear", "metric", "fisher"]

TRUST = 0.05
"""The farthest a solver's answer may lie from the minimiser, in the B norm, to be worth polishing …"""
TIE = 1e-6
"""… unless the surrogate is as low there, to this share of its terms: at a tie, minimisers lie far apart."""
RESIDUAL_TOL = 1e-8
"""The KKT residual above which a step counts as failed; polished answers stay orders below it."""


@dataclass(frozen=True)
class Compiled:
    """A parametrised problem: c and p stand in the linear cost and nowhere else.

    zoom is the factor on the objective where that has a quadratic part; a linear one, None, may be scaled freely.
    """

    problem: cp.Problem
    x: cp.Variable
    c: cp.Parameter
    p: cp.Parameter
    zoom: float | None
    scale: Vector


class _Shelf(threading.local):
    """The compiled problems of one thread, each kept as long as its pencil lives."""

    def __init__(self) -> None:
        self.kept: WeakKeyDictionary[Pencil, dict[tuple[object, ...], Compiled]] = WeakKeyDictionary()


_shelf = _Shelf()


def compiled(
    form: Form, program: SparseGEV | SparseFDA, build: Callable[[Subproblem], Compiled], zoom: float = 1.0
) -> Compiled:
    """The problem of this form for this program, built at most once per thread; ρ̃ and ε do not enter it.

    Along a path only ρ̃ and ε change, which enter through p: the whole path costs one compilation.
    """
    # besides the units, what the problem holds of the program: τ and its shift, or FDA's a in the constraint
    own = program.a.tobytes() if isinstance(program, SparseFDA) else (program.tau, program.shift)
    shape = (form, program.units, own, zoom)
    shelf = _shelf.kept.setdefault(program.pencil, {})
    if shape not in shelf:
        shelf[shape] = build(Subproblem.at(program, np.zeros(program.pencil.n)))
    return shelf[shape]


@dataclass(frozen=True)
class QCQPStep:
    """One MM step as a QCQP in (x, y) (ALG, Eq:qcqp-0).

    min τ‖x‖² − 2cᵀx + pᵀy  s.t.  xᵀBx ≤ 1,  −y ⪯ x ⪯ y.

    y bounds |x|, so that the ℓ1 norm is linear; at the optimum y = |x| wherever p > 0. There are 2n variables and 2n
    linear constraints besides the ball.

    Examples
    --------
    >>> from dcgev_cvx import SparseGEV, datasets
    >>> from dcgev_cvx.steps.conic import LinearStep, QCQPStep
    >>> program = SparseGEV(datasets.pitprops(), rho=4.84)
    >>> y = program.start()
    >>> first, second = QCQPStep()(program, y), LinearStep()(program, y)
    >>> float(abs(first.x - second.x).max()) < 1e-10
    True
    """

    backend: Backend = field(default_factory=Backend)

    def problem(self, program: Program) -> cp.Problem:
        """The compiled problem, to be printed."""
        return self._compiled(program).problem

    def _compiled(self, program: Program) -> Compiled:
        gev = expect_gev(program, "QCQPStep")

        def build(sub: Subproblem) -> Compiled:
            x, c, p = symbols(sub)
            y = cp.Variable(gev.pencil.n, name="y")
            square = x if gev.shift == "identity" else root_times(sub, x)
            cost = -2 * (c @ x) + p @ y
            objective = sub.tau * cp.sum_squares(square) + cost if sub.tau > 0 else cost
            problem = LinearCostProblem(cp.Minimize(objective), [ball(sub, x), x <= y, -y <= x])
            return Compiled(problem, x, c, p, 1.0 if sub.tau > 0 else None, scale_of(sub))

        return compiled("qcqp", gev, build)

    def __call__(self, program: Program, y: Vector) -> StepOutput:
        """argmin g(·, y) over Ω."""
        return solve_and_polish(self.backend, self._compiled(program), program, y)


@dataclass(frozen=True)
class LassoStep:
    """One MM step as a weighted LASSO in a ball, τ ≠ 0 (Eq:weighted, Eq:weighted-nonzero-algo).

    min ‖x − (τ⁻¹A + I)y‖² + τ⁻¹ pᵀ|x|  s.t.  xᵀBx ≤ 1, the square expanded so that
    y enters the linear cost alone.

    From the QCQP by completing the square: τ‖x‖² − 2cᵀx = τ‖x − c/τ‖² − ‖c‖²/τ with c/τ = (τ⁻¹A + I)y.
    """

    backend: Backend = field(default_factory=Backend)

    def problem(self, program: Program) -> cp.Problem:
        """The compiled problem, to be printed."""
        return self._compiled(program).problem

    def _compiled(self, program: Program) -> Compiled:
        def build(sub: Subproblem) -> Compiled:
            x, c, p = symbols(sub)
            # τ times the printed objective: a τ near zero must not blow up what the solver sees
            objective = sub.tau * cp.sum_squares(x) - 2 * (c @ x) + p @ cp.abs(x)
            return Compiled(LinearCostProblem(cp.Minimize(objective), [ball(sub, x)]), x, c, p, 1.0, scale_of(sub))

        gev = expect_gev(program, "LassoStep")
        if gev.shift != "identity" or gev.tau == 0.0:
            raise InvalidParameter(
                f'LassoStep divides by τ and needs shift="identity" with τ > 0; this program has '
                f"shift={gev.shift!r}, tau = {gev.tau:g}. Use LinearStep (τ = 0) or MetricLassoStep."
            )
        return compiled("lasso", gev, build)

    def __call__(self, program: Program, y: Vector) -> StepOutput:
        """argmin g(·, y) over Ω."""
        return solve_and_polish(self.backend, self._compiled(program), program, y)


@dataclass(frozen=True)
class LinearStep:
    """One MM step with a linear objective, τ = 0 (Eq:weighted-algo): max cᵀx − ½pᵀ|x| s.t. xᵀBx ≤ 1.

    From the QCQP at τ = 0, with the sign turned and halved. The objective is homogeneous and not strictly concave;
    the ball makes the maximiser unique when the maximum is positive (the midpoint of two could be scaled up).
    """

    backend: Backend = field(default_factory=Backend)

    def problem(self, program: Program) -> cp.Problem:
        """The compiled problem, to be printed."""
        return self._compiled(program).problem

    def _compiled(self, program: Program) -> Compiled:
        def build(sub: Subproblem) -> Compiled:
            x, c, p = symbols(sub)
            objective = c @ x - 0.5 * (p @ cp.abs(x))
            return Compiled(LinearCostProblem(cp.Maximize(objective), [ball(sub, x)]), x, c, p, None, scale_of(sub))

        gev = expect_gev(program, "LinearStep")
        if gev.tau != 0.0:
            raise InvalidParameter(
                f"LinearStep is the branch τ = 0 of Algorithm 1; this program has tau = {gev.tau:g}. "
                "Use LassoStep or QCQPStep."
            )
        return compiled("linear", gev, build)

    def __call__(self, program: Program, y: Vector) -> StepOutput:
        """argmin g(·, y) over Ω."""
        return solve_and_polish(self.backend, self._compiled(program), program, y)


@dataclass(frozen=True)
class MetricLassoStep:
    """One MM step of the metric shift as a weighted LASSO with Gram matrix B (beyond the paper).

    z = argmin zᵀBz − 2cᵀz + pᵀ|z|, then x = z / max(τ, ‖z‖_B). A QP: OSQP solves it too.

    Unconstrained, hence a QP. z may be far larger than one, which is why it is solved in units of (cᵀB⁻¹c)^½.
    """

    backend: Backend = field(default_factory=Backend)

    def problem(self, program: Program) -> cp.Problem:
        """The compiled problem, to be printed."""
        return self._compiled(program).problem

    def _compiled(self, program: Program) -> Compiled:
        def build(sub: Subproblem) -> Compiled:
            z, c, p = symbols(sub, "z")
            objective = cp.sum_squares(root_times(sub, z)) - 2 * (c @ z) + p @ cp.abs(z)
            return Compiled(LinearCostProblem(cp.Minimize(objective)), z, c, p, None, scale_of(sub))

        gev = expect_gev(program, "MetricLassoStep")
        if gev.shift == "identity" and gev.tau > 0.0:
            raise InvalidParameter('MetricLassoStep needs shift="metric" (or τ = 0): build the program with it.')
        return compiled("metric", gev, build)

    def __call__(self, program: Program, y: Vector) -> StepOutput:
        """argmin g(·, y) over Ω."""
        return solve_and_polish(self.backend, self._compiled(program), program, y, lasso=True)


@dataclass(frozen=True)
class FisherStep:
    """One MM step of sparse FDA as a QP (Eq:fdaiterative): min xᵀBx + pᵀ|x| s.t. aᵀx = 1.

    c = 0 here: the linear cost is the penalty alone, and the plane carries the data.
    """

    backend: Backend = field(default_factory=Backend)

    def problem(self, program: Program) -> cp.Problem:
        """The compiled problem, to be printed."""
        return self._compiled(program).problem

    def _compiled(self, program: Program) -> Compiled:
        if not isinstance(program, SparseFDA):
            raise InvalidParameter(f"FisherStep minimises a SparseFDA program, not {type(program).__name__}.")

        def build(sub: Subproblem) -> Compiled:
            x, c, p = symbols(sub)
            # below 1e-18 of the penalty nothing of xᵀBx is seen by a solver, and the polish restores it
            objective = max(zoom, 2.0**-60) * cp.sum_squares(root_times(sub, x)) + p @ cp.abs(x)
            constraint = (program.a * sub.unit * scale_of(sub)) @ x == 1
            return Compiled(LinearCostProblem(cp.Minimize(objective), [constraint]), x, c, p, zoom, scale_of(sub))

        zoom = fisher_zoom(program)
        return compiled("fisher", program, build, zoom)

    def __call__(self, program: Program, y: Vector) -> StepOutput:
        """argmin g(·, y) over Ω."""
        return solve_and_polish(self.backend, self._compiled(program), program, y)


def solve_and_polish(
    backend: Backend, form: Compiled, program: Program, y: Vector, *, lasso: bool = False
) -> StepOutput:
    """Set c and p, solve, polish, and return the answer only if its certificate passes; else the next solver.

    lasso=True says that the problem's variable is z = (τ + μ)x and not x itself (beyond the paper).

    Parameters
    ----------
    backend
        The solvers to try, in order.
    form
        The compiled problem; its parameters are set here and its old values erased after a failure.

    Returns
    -------
    StepOutput
        correction is the distance between the solver's answer and the polished one, relative to the size of
        the variable: what the solver was off.

    Raises
    ------
    SolverFailed
        When every solver failed, or claimed success more than TRUST = 0.05 away from the minimiser, or left a
        residual above 1e-8; the reasons of all are joined.
    """
    begin = perf_counter()
    y = as_point(y, program.pencil.n, "y")
    sub = Subproblem.at(program, y)
    if isinstance(program, SparseGEV) and not sub.c.any():
        return without_pull(program, y)
    # a linear objective, and the LASSO's z, may be scaled freely: bring it to size one, if that has a reciprocal
    zoom = form.zoom or 1.0 / max(2.0**-1000, power_of_two(sub.largest_norm))
    # saved without CVXPY's checks of shape and sign, which take as long as the solver: both hold by construction
    form.c.save_value(zoom * sub.c * form.scale)
    form.p.save_value(zoom * sub.p * form.scale)
    reasons: list[str] = []
    for solver in backend.solvers:
        try:
            backend.solve(form.problem, solver)
            raw = form.scale * answer_of(form.x, solver)
            size = sub.norm(raw)
            guess = raw / max(zoom * sub.tau, size) if lasso and size > 0.0 else raw
            result = polish(sub, sub.unit * guess)
            stretch = zoom * (sub.tau + result.mu / sub.objective) if lasso else 1.0
            miss = sub.norm(raw - stretch * result.x / sub.unit)
            correction = miss / (zoom * sub.largest_norm if lasso else max(1.0, size))
            if not correction <= TRUST and (lasso or not as_low(sub, raw, result.x / sub.unit)):
                raise SolverFailed(f"{solver} claimed success {correction:.2g} away from the minimiser.")
            residual = judge(program, y, result.x, solver)
        except SolverFailed as failure:
            reasons.append(str(failure))
            # CVXPY reads old values, NaN among them, when it compiles for the next solver
            for variable in form.problem.variables():
                variable.save_value(None)
            continue
        value, seconds = program.g(result.x, y), perf_counter() - begin
        return StepOutput(result.x, value, result.mu, seconds, residual, correction, solver)
    raise SolverFailed("; then ".join(reasons))


def answer_of(x: cp.Variable, solver: str) -> Vector:
    """The solver's numbers, if they are numbers.

    A status of success is no evidence: NaN, complex, misshapen or huge values raise SolverFailed whatever it says.
    """
    value: Any = x.value
    if value is None:
        raise SolverFailed(f"{solver} reported success but returned no values.")
    answer = np.array(value)
    # every number of a subproblem is of size one, so 1e100 is no answer
    if answer.dtype.kind != "f" or answer.shape != x.shape or not np.all(np.abs(answer) < 1e100):
        raise SolverFailed(f"{solver} reported success but returned NaN, huge, complex or misshapen values.")
    return answer.astype(np.float64)


def fisher_zoom(program: SparseFDA) -> float:
    """1, or the power of two that brings the penalty to size one where it is a million times xᵀBx or more."""
    unit, objective = program.units
    price = program.nu_eps * float(program.penalty.weights(np.array([unit]), program.eps)[0]) * (unit / objective)
    return 1.0 if price <= 1e6 else 1.0 / power_of_two(price)


def as_low(sub: Subproblem, raw: Vector, x: Vector) -> bool:
    """Does a solver's answer lie in Ω, the surrogate there no higher than at the minimiser x to its accuracy?"""
    terms = np.abs(raw) @ (2.0 * np.abs(sub.c) + sub.p)
    inside = sub.norm(raw - feasible(sub, raw)) <= TIE
    return bool(inside and sub.value(raw) - sub.value(x) <= TIE * terms)


def judge(program: Program, y: Vector, x: Vector, solver: str) -> float:
    """The KKT residual of a polished answer, or SolverFailed when it refutes the solver.

    The polished answer would pass however bad the solver's was, since polishing repairs nearly everything; TRUST
    keeps a broken solver from hiding behind it.
    """
    residual, slackness = step_residuals(program, y, x)
    worst = max(residual, slackness, program.violation(x))
    if not worst <= RESIDUAL_TOL:
        raise SolverFailed(f"{solver}'s answer has a KKT residual of {worst:.2g}.")
    return residual


def symbols(sub: Subproblem, name: str = "x") -> tuple[cp.Variable, cp.Parameter, cp.Parameter]:
    """The variable and the two parameters of every form."""
    n = sub.program.pencil.n
    return cp.Variable(n, name=name), cp.Parameter(n, name="c"), cp.Parameter(n, nonneg=True, name="p")


def scale_of(sub: Subproblem) -> Vector:
    """Powers of two near 1/√Bᵢᵢ: the solver's variable is x over these, so that graded variables look alike to it.

    Not with τ‖x‖² in the objective, which is well scaled as it stands.
    """
    program = sub.program
    if isinstance(program, SparseGEV) and program.shift == "identity" and program.tau > 0.0:
        return np.ones(program.pencil.n)
    return np.ldexp(1.0, 1 - np.frexp(sub.root)[1])


def root_times(sub: Subproblem, x: cp.Variable) -> Any:
    """Rx with B = RᵀR, so that ‖Rx‖² = xᵀBx, for the solver's scaled variable."""
    factor = sub.program.pencil.cholesky
    weight = math.sqrt(sub.metric) * scale_of(sub)
    if factor is None:
        return x if np.all(weight == 1.0) else cp.multiply(weight, x)
    return (factor.T * weight) @ x


def ball(sub: Subproblem, x: cp.Variable) -> Any:
    """xᵀBx ≤ 1 as the cone ‖Rx‖ ≤ 1.

    A second-order cone rather than a quadratic: solvers without quadratic constraints take it too.
    """
    return cp.norm2(root_times(sub, x)) <= 1


def expect_gev(program: Any, step: str) -> SparseGEV:
    """The program, if it is one that this step minimises."""
    if not isinstance(program, SparseGEV):
        raise InvalidParameter(f"{step} minimises a SparseGEV program, not {type(program).__name__}.")
    return program
