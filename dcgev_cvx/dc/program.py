"""Any d.c. program written in CVXPY, minimised by the same MM as the paper's: replace v by its tangent and solve.

    minimise u(x) − v(x)  subject to convex constraints and uⱼ(x) ≤ vⱼ(x),   with u, v, uⱼ, vⱼ convex.

A step from y minimises the surrogate g(·, y), in which v and vⱼ are replaced by their tangents at y. Tangents lie
below, so that g lies above f = u − v and touches it at y. CVXPY compiles the surrogate once; only the tangents
change from step to step, and they are parameters. Algorithm 1 is the case

    u = τ‖x‖²,   v = xᵀ(A + τI)x − ρ_ε Σ log(tᵢ + ε),   xᵀBx ≤ 1,   |x| ≤ t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from time import perf_counter
from typing import Any

import cvxpy as cp
import numpy as np

from .._numerics.checks import Vector, as_callback, as_vector, shown
from ..certificates import Certificate, ratio
from ..errors import Infeasible, InvalidParameter, SolverFailed, Unbounded
from ..mm import Callback, Iterate, MMResult, Stop, expect_stop
from ..steps.backend import Backend
from ..steps.step import StepOutput
from .splitting import as_convex, split, split_constraints, variables_of
from .surrogate import Answer, Point, Surrogate, entry_name
from .tangents import NoSubgradient, flat, put, restored

FEASIBLE = 1e-6
"""A point that violates no constraint by more counts as feasible; conic solvers reach about 1e-8."""


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
        from .phase_one import run

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
        with restored(self.variables), np.errstate(all="ignore"):
            put(self.variables, x)
            given = [float(np.max(constraint.violation(), initial=0.0)) for constraint in self.constraints]
            attributes = [float(np.max(np.abs(flat(w.project(w.value)) - flat(w.value)))) for w in self.variables]
        return max(*given, *attributes, 0.0)

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
        return self._surrogate.projected_residual(x)

    # The surrogate at y, and the values that the variables have

    def point(self, x: Vector) -> Point:
        """The values of u, v, uⱼ, vⱼ at x and subgradients of v and vⱼ, or NoSubgradient."""
        return self._surrogate.point(x)

    def minimum(self, y: Vector, backend: Backend) -> Answer:
        """The minimiser of g(·, y) over the convex constraints."""
        return self._surrogate.minimum(y, self.penalty, backend)

    @cached_property
    def _surrogate(self) -> Surrogate:
        return Surrogate([(self.u, self.v), *self.dc_constraints], self.constraints, self.variables)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but the compiled problem."""
        return {name: value for name, value in vars(self).items() if name != "_surrogate"}

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
        vars(other).update(vars(self), _surrogate=self._surrogate, penalty=penalty)
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
