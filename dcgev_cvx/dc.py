"""Any d.c. program written in CVXPY, minimised by the same MM as the paper's: replace v by its tangent and solve.

    minimise u(x) − v(x)  subject to convex constraints and uⱼ(x) ≤ vⱼ(x),   with u, v, uⱼ, vⱼ convex.

A step from y minimises the surrogate g(·, y), in which v and vⱼ are replaced by their tangents at y. Tangents lie
below, so that g lies above f = u − v and touches it at y. CVXPY compiles the surrogate once; only the tangents
change from step to step, and they are parameters. Algorithm 1 is the case

    u = τ‖x‖²,   v = xᵀ(A + τI)x − ρ_ε Σ log(tᵢ + ε),   xᵀBx ≤ 1,   |x| ≤ t.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from time import perf_counter
from typing import Any

import cvxpy as cp
import numpy as np

from ._numerics.checks import Vector, as_callback, as_vector, says_stop, shown
from .certificates import Certificate, ratio
from .errors import Infeasible, InvalidParameter, SolverFailed, Unbounded
from .mm import Callback, Iterate, MMResult, Status, Stop, expect_stop, minimize, result_of
from .steps.backend import Backend
from .steps.expressions import NoSubgradient, as_convex, entry_name, flat, put, split, split_constraints, variables_of
from .steps.linearized import Answer, Linearized, Point
from .steps.step import StepOutput

FEASIBLE = 1e-6
"""A point that violates no constraint by more counts as feasible; conic solvers reach about 1e-8."""
FIRST_PENALTY, GROWTH = 3e-3, 1.3
"""The first penalty, relative to the sizes of objective and constraints, and its growth from step to step.

The objective leads at first. The pairs (1e-2, 1.5), (1e-3, 1.5), (3e-3, 1.3) and (1e-3, 1.2) were tried on seeds 0
to 5 of the benchmark's circle packing, filter design and boolean least squares. The first two ended at worse
stationary points in one of these problems each; (1e-3, 1.2) took nearly twice as many steps as (3e-3, 1.3).
"""
SLOW, PENALTIES, HIGHEST = 60, 100, 1e9
"""After this many penalties the growth is 4; the most penalties tried; and the highest, where the size of f is 1."""

PHASE_ONE = {"CLARABEL": {"tol_gap_abs": 1e-8, "tol_gap_rel": 1e-8, "tol_feas": 1e-8}}
"""Tolerances of phase one, which are CVXPY's own: its points are only starts. Tight ones take more iterations."""


class DCProgram:
    """A d.c. program: minimise u(x) − v(x) subject to constraints, with u and v convex CVXPY expressions.

    Parameters
    ----------
    u : cp.Expression
        Real, scalar and convex by CVXPY's rules.
    v : cp.Expression
        Real, scalar and convex by CVXPY's rules.
    constraints : sequence of cp.Constraint
        Each one convex by CVXPY's rules, or an inequality or equality whose sides are sums of convex and concave
        terms, such as cp.norm(x) >= 1.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from dcgev_cvx import DCProgram
    >>> x = cp.Variable(name="x", value=0.5)
    >>> result = DCProgram(x**4, 3 * x**2 + x, [x >= 0, x <= 2]).minimize()
    >>> result.converged, round(result.f, 4), round(float(x.value), 3)
    (True, -3.5139, 1.301)
    """

    u: Any
    v: Any
    constraints: list[Any]
    dc_constraints: list[tuple[Any, Any]]

    def __init__(self, u: Any, v: Any, constraints: Sequence[Any] = ()) -> None:
        self.u, self.v = as_convex(u, "u"), as_convex(v, "v")
        self.constraints, self.dc_constraints = split_constraints(constraints)
        self.variables: list[cp.Variable] = variables_of([self.u, self.v, *constraints])
        self.n: int = sum(variable.size for variable in self.variables)
        self.penalty: float = 0.0
        self._linearized = self._parts()

    @classmethod
    def from_problem(cls, problem: cp.Problem) -> DCProgram:
        """The d.c. program of a CVXPY problem whose objective and constraints are sums of convex and concave terms.

        Problems that follow the rules of DCCP are of this kind. f is the objective of a minimisation, and minus
        the objective of a maximisation.

        Parameters
        ----------
        problem : cp.Problem
            The problem; the program has the same variables.

        Returns
        -------
        DCProgram
            The problem with its objective and constraints split.

        Examples
        --------
        >>> import cvxpy as cp
        >>> from dcgev_cvx import DCProgram
        >>> x = cp.Variable(2, value=[0.2, 0.1])
        >>> problem = cp.Problem(cp.Maximize(cp.norm(x)), [cp.abs(x) <= 1])
        >>> result = DCProgram.from_problem(problem).minimize()
        >>> round(result.f, 6), round(float(problem.objective.value), 6)
        (-1.414214, 1.414214)
        """
        if not isinstance(problem, cp.Problem):
            raise InvalidParameter(f"problem must be a cvxpy.Problem; got {shown(problem)}.")
        objective: Any = problem.objective
        cost = objective.expr if isinstance(objective, cp.Minimize) else -objective.expr
        return cls(*split(cost), problem.constraints)

    def minimize(
        self, *, solver: Any = "CLARABEL", stop: Stop | None = None, callback: Callback | None = None
    ) -> MMResult:
        """Run MM from the variables' values until the stop rule and the certificate agree.

        The last iterate is left in the variables. From a start outside the constraints, phase one looks for a
        feasible point: each step minimises the surrogate plus a penalty on the violations, which grows
        until they vanish. Variables that stand in no vⱼ and not in v need no value to start from.

        Parameters
        ----------
        solver : str or Backend
            A CVXPY solver's name, or a Backend with options and fallbacks.
        stop : Stop, optional
            When to stop; Stop(step=1e-8, decrease=1e-6) by default, since a conic solver leaves about eight digits.
        callback : callable, optional
            Called with each Iterate after phase one; returning True stops the run.

        Returns
        -------
        MMResult
            Its certificate bounds f(x) − min g(·, x), which is 0 exactly where x is stationary.

        Raises
        ------
        InvalidParameter
            A variable of v has no value, or v has no subgradient there.
        Infeasible
            The convex constraints have no common point.
        Unbounded
            The surrogate has no minimiser; the message names a direction in which it falls for ever.

        Examples
        --------
        >>> import cvxpy as cp
        >>> from dcgev_cvx import DCProgram
        >>> x = cp.Variable(value=0.1)
        >>> result = DCProgram(x**2, cp.abs(x)).minimize()
        >>> result.converged, round(float(x.value), 6)
        (True, 0.5)
        """
        step = TangentStep(solver if isinstance(solver, Backend) else Backend(solver))
        rule = expect_stop(Stop(step=1e-8, decrease=1e-6) if stop is None else stop)
        result = run(self, step, rule, as_callback(callback, "callback"))
        put(self.variables, result.x)
        return result

    def certify(self, x: Any, history: Sequence[Iterate] = ()) -> DCCertificate:
        """The certificate of a point: x is stationary exactly when it minimises g(·, x).

        Parameters
        ----------
        x : array_like
            The stacked variables, as in MMResult.x.
        history : sequence of Iterate
            The iterates whose descent is checked.

        Returns
        -------
        DCCertificate
            Feasibility, stationarity, the duality gap of its bound, and the descent along the history.

        Examples
        --------
        >>> import cvxpy as cp
        >>> from dcgev_cvx import DCProgram
        >>> x = cp.Variable()
        >>> program = DCProgram(x**2, 2 * cp.abs(x))
        >>> program.certify([1.0]).passes(), program.certify([0.5]).passes()
        (True, False)
        """
        x = as_vector(x, self.n, "x")
        size, (gap, duality_gap) = self.size(x), self.stationarity_gap(x)
        return DCCertificate(
            feasibility=self.violation(x),
            stationarity=ratio(gap, size),
            complementarity=ratio(duality_gap, size),
            sandwich=max((self.rise(before, after) for before, after in pairwise(history)), default=0.0),
            snapped=0,
            gap=gap,
            x=x,
            program=self,
        )

    # What the driver asks of a program

    def start(self, x0: Any = None) -> Vector:
        """The variables' values, or x0; Infeasible where a constraint is violated that no penalty weighs."""
        x = self.values()[0] if x0 is None else as_vector(x0, self.n, "x0")
        worst = self.convex_violation(x) if self.penalty > 0.0 else self.violation(x)
        if not worst <= FEASIBLE:
            raise Infeasible(
                f"the start violates a constraint by {worst:.2g}. Call program.minimize(), which looks for a "
                "feasible point first, or start inside the constraints."
            )
        return x

    def f(self, x: Vector) -> float:
        """u(x) − v(x), plus the penalty times the sum of the violations of uⱼ(x) ≤ vⱼ(x)."""
        at = self.point(x)
        return self._objective(at.u - at.v)

    def g(self, x: Vector, y: Vector) -> float:
        """f(x) with v and vⱼ replaced by their tangents at y: it majorises f and touches it at y."""
        at, tangent = self.point(x), self.point(y)
        return self._objective(at.u - tangent.v - tangent.slopes @ (x - y))

    def _objective(self, difference: Vector) -> float:
        return float(difference[0] + self.penalty * np.maximum(difference[1:], 0.0).sum())

    def violation(self, x: Vector) -> float:
        """The largest violation of a constraint."""
        return max(self.dc_violation(x), self.convex_violation(x))

    def convex_violation(self, x: Vector) -> float:
        """The largest violation of a convex constraint, or of an attribute of a variable such as nonneg."""
        return self._linearized.convex_violation(x)

    def dc_violation(self, x: Vector) -> float:
        """The largest of uⱼ(x) − vⱼ(x), or 0."""
        at = self.point(x)
        return float(np.max(at.u[1:] - at.v[1:], initial=0.0))

    def size(self, x: Vector) -> float:
        """|u(x)| + |v(x)|, or 1 where that is less: conic solvers are accurate to a share of this."""
        return max(1.0, float(self.sizes(x)[0]))

    def sizes(self, x: Vector) -> Vector:
        """|u(x)| + |v(x)|, |u₁(x)| + |v₁(x)|, …, with 1 for what is 0 or unknown."""
        at = self.point(x)
        found = np.nan_to_num(np.abs(at.u) + np.abs(at.v), nan=1.0, posinf=1.0)
        return np.where(found > 0.0, found, 1.0)

    def rounding(self, size: float, x: Vector) -> float:
        """What f and g may lose to rounding inside CVXPY's expressions."""
        return 1e-12 * size

    def norm(self, x: Vector) -> float:
        """‖x‖."""
        return float(np.linalg.norm(x))

    def collapsed(self, x: Vector) -> bool:
        """False: 0 is a point like any other."""
        return False

    def name(self, i: int) -> str:
        """The name of entry i of the stacked variables, such as x[0] or X[1, 2]."""
        return entry_name(self.variables, i)

    def rise(self, before: Iterate, after: Iterate) -> float:
        """By how much a step breaks f(x⁺) ≤ g(x⁺, y) ≤ f(y), relative to the size of f (Eq:sandwich)."""
        x, y = after.x, before.x
        f, g, size = self.f(x), self.g(x, y), max(self.size(x), self.size(y))
        return ratio(max(0.0, f - g - self.rounding(size, x), g - self.f(y) - self.rounding(size, x)), size)

    def stationarity_gap(self, x: Vector) -> tuple[float, float]:
        """(f(x) − min g(·, x), the duality gap to which the minimum is known): infinite where no solver finds it."""
        try:
            answer = self.minimum(x, Backend())
        except (SolverFailed, Unbounded):
            return math.inf, math.inf
        # min g ≤ g(x, x) = f(x): where the bound lies above f(x), the solver failed by this much
        return abs(self.f(x) - answer.lowest), abs(answer.gap)

    def projected_residual(self, x: Vector) -> float | None:
        """‖x − P(x − ∇f(x))‖ with P the projection on the constraints; None where u is not smooth."""
        return self._linearized.projected_residual(x)

    # The surrogate at y, and the values that the variables have

    def point(self, x: Vector) -> Point:
        """The values of u, v, uⱼ, vⱼ at x and subgradients of v and vⱼ, or NoSubgradient."""
        return self._linearized.point(x)

    def minimum(self, y: Vector, backend: Backend) -> Answer:
        """The minimiser of g(·, y) over the convex constraints."""
        return self._linearized.minimum(y, self.penalty, backend)

    def _parts(self) -> Linearized:
        return Linearized([(self.u, self.v), *self.dc_constraints], self.constraints, self.variables)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but the compiled problem."""
        return {name: value for name, value in vars(self).items() if name != "_linearized"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._linearized = self._parts()

    def inside(self, x: Vector, y: Vector, back: float) -> Vector:
        """x, or a point a little way back towards y where v has no subgradient at x, as on the edge of its domain."""
        for share in (0.0, back, 0.1):
            try:
                self.point(z := x + share * (y - x))
            except NoSubgradient:
                continue
            return z
        return y

    def with_penalty(self, penalty: float) -> DCProgram:
        """The same program with another weight on the violations of uⱼ ≤ vⱼ; it shares what is compiled."""
        other = object.__new__(DCProgram)
        vars(other).update({**vars(self), "penalty": penalty})
        return other

    def values(self) -> tuple[Vector, bool]:
        """(the variables' values, stacked, with 0 for those that need none; whether every variable had one)."""
        needed = {w.id for _, v in [(0, self.v), *self.dc_constraints] for w in v.variables()}
        for variable in self.variables:
            if variable.value is None and variable.id in needed:
                raise InvalidParameter(
                    f"variable {variable.name()} stands in v and has no value to start from. Set {variable.name()}"
                    ".value, for example to rng.standard_normal(shape)."
                )
        known = all(w.value is not None for w in self.variables)
        x = np.concatenate([np.zeros(w.size) if w.value is None else flat(w.value) for w in self.variables])
        try:
            self.point(x)
        except NoSubgradient as failure:
            raise InvalidParameter(f"{failure} Start from a point inside the domain of v.") from failure
        return x, known


@dataclass(frozen=True)
class TangentStep:
    """One MM step of a DCProgram: the minimiser of g(·, y), or y itself where the solver finds nothing lower.

    Parameters
    ----------
    backend : Backend
        The solver, its options and its fallbacks.

    Examples
    --------
    >>> from itertools import islice
    >>> import cvxpy as cp
    >>> from dcgev_cvx import DCProgram, iterate
    >>> from dcgev_cvx.dc import TangentStep
    >>> x = cp.Variable(value=1.0)
    >>> [round(point.f, 4) for point in islice(iterate(DCProgram(x**4, 2 * x**2), TangentStep()), 4)]
    [-1.0, -1.0, -1.0, -1.0]
    """

    backend: Backend = field(default_factory=Backend)

    def __call__(self, program: DCProgram, y: Vector) -> StepOutput:
        """argmin g(·, y)."""
        begin = perf_counter()
        answer = program.minimum(y, self.backend)
        x = program.inside(answer.x, y, back=1e-3)
        value, here = program.g(x, y), program.f(y)
        lower = value < here and program.f(x) <= here  # f(x) ≤ g(x, y) but for rounding
        x, value = (x, value) if lower else (y.copy(), here)
        return StepOutput(x, value, program.penalty, perf_counter() - begin, 0.0, 0.0, answer.solver)


@dataclass(frozen=True)
class DCCertificate(Certificate):
    """What can be said about a point of a general d.c. program; zero is perfect, nothing depends on the scale of f.

    feasibility      largest violation of a constraint
    stationarity     f(x) − min g(·, x), relative to |u(x)| + |v(x)| or to 1, with the dual's bound on the minimum
    complementarity  the duality gap of that bound, relative to the same
    sandwich         worst violation of f(x⁺) ≤ g(x⁺, y) ≤ f(y) along the history

    gap is f(x) − min g(·, x) itself. A point that passes is stationary to the tolerance; it need not be optimal.
    """

    gap: float
    x: Vector = field(repr=False, compare=False)
    program: DCProgram = field(repr=False, compare=False)

    @cached_property
    def residual(self) -> float | None:
        """‖x − P(x − ∇f(x))‖ with P the projection on the convex constraints; None where that says nothing."""
        return self.program.projected_residual(self.x)


def run(program: DCProgram, step: TangentStep, stop: Stop, callback: Callback | None) -> MMResult:
    """Phase one while a constraint is violated, then the driver at a fixed penalty.

    Where the driver leaves the constraints, the penalty was too small: the next one starts from the last feasible
    point. The same where the surrogate is unbounded.
    """
    y, complete = program.values()
    if program.dc_constraints and not {*program.u.variables(), *program.v.variables()}:
        return feasible_point(program.with_penalty(1.0), step, y, stop, callback)
    feasible = complete and program.violation(y) <= FEASIBLE
    taken, unbounded = 0, None
    for weighted in penalised(program, y):
        try:
            if not feasible:
                y, taken = phase_one_step(weighted, step, y), taken + 1
                feasible = weighted.dc_violation(y) <= FEASIBLE
            if feasible:
                result = minimize(weighted, step, y, stop=stop, callback=while_feasible(weighted, callback))
                if weighted.dc_violation(result.x) <= FEASIBLE:
                    return replace(result, message=result.message or f"phase one took {taken} steps" * (taken > 0))
                y = result.history[-2].x
            unbounded = None
        except Unbounded as failure:
            unbounded = failure
        except SolverFailed as failure:
            return ended_at(program, y, Status.SOLVER_FAILED, f"phase one, step {taken + 1}: {failure}")
    if unbounded is not None:
        raise unbounded
    worst = program.dc_violation(y)
    message = f"the largest violation is {worst:.2g} after {taken} steps of phase one. Try other starts."
    return ended_at(program, y, Status.NO_FEASIBLE_POINT, message)


def feasible_point(
    program: DCProgram, step: TangentStep, y: Vector, stop: Stop, callback: Callback | None
) -> MMResult:
    """MM on the sum of the violations, for a program whose objective is constant."""
    ready = program.convex_violation(y) <= FEASIBLE and off_kinks(program, y) is y
    start = y if ready else phase_one_step(program, step, y)
    result = minimize(program, step, start, stop=replace(stop, decrease=0.0), callback=callback)
    worst = program.dc_violation(result.x)
    if worst <= FEASIBLE:
        return result
    message = f"the largest violation is {worst:.2g} after {result.n_iter} steps. Try other starts."
    return replace(result, status=Status.NO_FEASIBLE_POINT, converged=False, message=message)


def penalised(program: DCProgram, y: Vector) -> Iterator[DCProgram]:
    """The program with growing penalties; the program itself when it has no d.c. constraint."""
    if not program.dc_constraints:
        yield program
        return
    size, *others = program.sizes(y)
    penalty, highest = (
        factor / float(np.mean(others)) for factor in (FIRST_PENALTY * size, HIGHEST * max(1.0, size))
    )
    for count in range(PENALTIES):
        if penalty <= highest:
            yield program.with_penalty(penalty)
        penalty *= GROWTH if count < SLOW else 4.0


def phase_one_step(program: DCProgram, step: TangentStep, y: Vector) -> Vector:
    """The minimiser of the penalised surrogate, wherever y lies."""
    y, backend = off_kinks(program, y), step.backend
    if type(backend) is Backend and not backend.options:
        backend = replace(backend, options=PHASE_ONE.get(backend.solver, {}))
    try:
        # y may violate the constraints: at most this little of it is mixed in
        x = program.inside(program.minimum(y, backend).x, y, back=1e-9)
    except SolverFailed as failure:
        if "infeasible" in str(failure):
            raise Infeasible("the convex constraints have no common point. Relax some of them.") from failure
        raise
    worst = program.convex_violation(x)
    if not worst <= FEASIBLE:
        raise SolverFailed(f"the solver's answer violates a convex constraint by {worst:.2g}.")
    return x


def off_kinks(program: DCProgram, y: Vector) -> Vector:
    """y, or a point nearby where the tangent of a violated vⱼ is level, as that of ‖x‖ is at 0: it leads nowhere."""
    at, reach = program.point(y), 1e3 * (1.0 + float(np.max(np.abs(y))))
    violations = at.u[1:] - at.v[1:]
    if not np.any((violations > FEASIBLE) & (reach * abs(at.slopes).sum(axis=1)[1:] < violations)):
        return y
    seed = int(np.float64(program.penalty).view(np.int64))  # another direction at each penalty
    noise = np.random.default_rng(seed).standard_normal(program.n)
    return program.inside(y + 1e-3 * (1.0 + np.abs(y)) * noise, y, back=0.5)


def while_feasible(program: DCProgram, callback: Callback | None) -> Callback:
    """The user's callback, and a stop where the d.c. constraints are left."""

    def stops(point: Iterate) -> bool:
        return program.dc_violation(point.x) > FEASIBLE or (callback is not None and says_stop(callback(point)))

    return stops


def ended_at(program: DCProgram, x: Vector, status: Status, message: str) -> MMResult:
    """The result of a run that ended in phase one, at x."""
    value = program.f(x)
    return result_of(program, [Iterate(0, x, value, value, program.penalty, 0.0)], status, message)
