"""The surrogates of a d.c. program written in CVXPY: v and the vⱼ replaced by their tangents at y, compiled once.

    minimise u(x) − v(x)  subject to convex constraints and uⱼ(x) ≤ vⱼ(x),   with u, v, uⱼ, vⱼ convex.

The tangents' coefficients are parameters of one CVXPY problem, so that a step from another y sets numbers and solves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np

from .._numerics.checks import Vector
from ..errors import InvalidParameter, SolverFailed, Unbounded
from ..steps.backend import Backend, CompiledProblem, attempt
from .tangents import Tangent, flat, put, restored, stacked


@dataclass(frozen=True)
class Point:
    """(u, u₁, …) and (v, v₁, …) at a point, subgradients of the latter as rows, and the slopes S of their atoms."""

    u: Vector
    v: Vector
    slopes: Any
    S: Vector


@dataclass(frozen=True)
class Answer:
    """The minimiser of a surrogate, the dual's bound on its minimum, their difference, and the solver's name.

    The bound is known from CLARABEL alone, and NaN from other solvers.
    """

    x: Vector
    lowest: float
    gap: float
    solver: str


class Surrogate:
    """g(·, y) for every y: min u(x) − cᵀx + penalty·Σtⱼ over the convex constraints, uⱼ(x) − tangentⱼ(x) ≤ tⱼ, t ≥ 0.

    The tangents of the vⱼ are Dx + K(S∘Lx) + b, see `Tangent`. c, S, b and the penalty are parameters of a problem
    that is compiled once. For ‖Cx‖ with two rows S has two entries, however long x is, and few parameters make a
    problem that compiles fast. Where a parameter of the user's stands in v or vⱼ, another value of it changes D, K
    and L, and the problem is compiled anew.

    Parameters
    ----------
    pairs : sequence of (cp.Expression, cp.Expression)
        (u, v), then the pairs (uⱼ, vⱼ) of the d.c. constraints.
    constraints : sequence of cp.Constraint
        The convex constraints.
    variables : sequence of cp.Variable
        The variables, in the order in which x stacks them.
    """

    def __init__(
        self, pairs: Sequence[tuple[Any, Any]], constraints: Sequence[Any], variables: Sequence[cp.Variable]
    ) -> None:
        self.pairs: Sequence[tuple[Any, Any]] = pairs
        self.constraints: Sequence[Any] = constraints
        self.variables: Sequence[cp.Variable] = variables
        self._u, self._v = (stacked(side) for side in zip(*pairs, strict=True))
        parts = (self._u, self._v, *constraints)
        self._parameters: list[Any] = list({p.id: p for part in parts for p in part.parameters()}.values())
        self._values: list[bytes] | None = None
        self._problem: KeepsGap | None = None

    def point(self, x: Vector) -> Point:
        """The values and subgradients at x, or NoSubgradient."""
        self._refresh()
        key = x.tobytes()
        if key not in self._points:
            v, slopes, S = self._tangent.at(x)
            with restored(self.variables), np.errstate(all="ignore"):
                put(self.variables, x)
                u = flat(self._u.value)
            if len(self._points) * (slopes.nnz + len(v)) > 10**6:
                self._points.clear()
            self._points[key] = Point(u, v, slopes, S)
        return self._points[key]

    def _refresh(self) -> None:
        """Drop what was computed for other values of the user's parameters."""
        for parameter in self._parameters:
            if parameter.value is None:
                name = parameter.name()
                raise InvalidParameter(f"parameter {name} has no value; every parameter needs one. Set {name}.value.")
        values = [flat(parameter.value).tobytes() for parameter in self._parameters]
        if values != self._values:
            self._values, self._points, self._last = values, dict[bytes, Point](), None
            self._tangent = Tangent(self._v, self.variables)
            if self._v.parameters():
                self._problem = None

    def minimum(self, y: Vector, penalty: float, backend: Backend) -> Answer:
        """The minimiser of g(·, y) plus the penalty times the violations of the d.c. constraints.

        Raises Unbounded, or SolverFailed with the reason of each solver.
        """
        at, key = self.point(y), (y.tobytes(), penalty, backend)
        if self._last is None or self._last[0] != key:
            self._last = key, self._solved(at, y, penalty, backend)
        return self._last[1]

    def _solved(self, at: Point, y: Vector, penalty: float, backend: Backend) -> Answer:
        problem = self._problem = self._problem or self._compiled()
        c = np.eye(1, len(at.v))[0] @ at.slopes
        numbers = {"c": c, "S": at.S[self._used], "b": (at.v - at.slopes @ y)[1:], "penalty": penalty}
        for name, parameter in self._own.items():
            # saved without CVXPY's checks of shape and sign, which take as long as a small solve
            parameter.save_value(numbers[name])
        reasons: list[str] = []
        for solver in backend.solvers:
            try:
                with restored(self.variables):
                    backend.solve(problem, solver)
                    x = np.concatenate([flat(variable.value) for variable in self.variables])
                value: Any = problem.value
                return Answer(
                    x, float(value) - problem.duality_gap - at.v[0] + float(c @ y), problem.duality_gap, solver
                )
            except SolverFailed as failure:
                reasons.append(str(failure))
                if "unbounded" in str(failure):
                    with suppress(SolverFailed):
                        self._check_bounded(problem, y, failure)
        raise SolverFailed("; then ".join(reasons))

    def _compiled(self) -> KeepsGap:
        """The problem, with c, S, b and the penalty in `_own`."""
        x, tangent, own = stacked(self.variables), self._tangent, dict[str, Any]()
        D, K = tangent.D[1:], tangent.K[1:]
        self._used = np.unique(K.nonzero()[1])  # other slopes belong to v itself and are part of c
        own["c"] = cp.Parameter(x.size)
        cost: Any = self.pairs[0][0] - own["c"] @ x
        domain = [limit for _, v in self.pairs for limit in v.domain if limit.is_dcp() and limit.variables()]
        constraints = [*self.constraints, *domain]
        if len(self.pairs) > 1:
            own["b"], own["penalty"] = cp.Parameter(D.shape[0]), cp.Parameter(nonneg=True)
            tangents: Any = D @ x + own["b"]
            if len(self._used):
                own["S"] = cp.Parameter(len(self._used))
                tangents += K[:, self._used] @ cp.multiply(own["S"], tangent.L[self._used] @ x)
            t = cp.Variable(D.shape[0], nonneg=True)
            cost += own["penalty"] * cp.sum(t)
            constraints += [stacked(u for u, _ in self.pairs[1:]) - tangents <= t]
        self._own = own
        return KeepsGap(cp.Problem(cp.Minimize(cost), constraints))

    def _check_bounded(self, problem: cp.Problem, y: Vector, failure: SolverFailed) -> None:
        """Raise Unbounded with the variables that reach the sides of a large box around y, if any do."""
        x, side = stacked(self.variables), 1e4 * (1.0 + float(np.max(np.abs(y))))
        boxed = cp.Problem(problem.objective, [*problem.constraints, cp.abs(x - y) <= side])
        with restored(self.variables):
            attempt(boxed, "CLARABEL", {})
            moved = (flat(x.value) - y) / side
        far = [int(i) for i in np.argsort(-np.abs(moved))[:5] if abs(moved[i]) > 0.5]
        if far:
            directions = ", ".join(f"{entry_name(self.variables, i)} → {'+' if moved[i] > 0 else '−'}∞" for i in far)
            raise Unbounded(
                f"the surrogate falls for ever as {directions}. Add constraints that bound it, or add the same "
                "convex term, such as cp.sum_squares(x), to u and to v."
            ) from failure

    def projected_residual(self, x: Vector) -> float | None:
        """‖x − P(x − ∇f(x))‖, P the projection on the constraints, the vⱼ linearised; None where u is not smooth."""
        u = self.pairs[0][0]
        if not getattr(u, "is_smooth", u.is_quadratic)():  # CVXPY 1.7 recognises quadratic expressions only
            return None
        at, z = self.point(x), stacked(self.variables)
        gradient = (Tangent(u, self.variables).at(x)[1] - at.slopes[[0]]).toarray().ravel()
        tangents = [self._u[1:] <= at.v[1:] + at.slopes[1:] @ (z - x)] if len(self.pairs) > 1 else []
        nearest = cp.Problem(cp.Minimize(cp.sum_squares(z - (x - gradient))), [*self.constraints, *tangents])
        with restored(self.variables):
            attempt(nearest, "CLARABEL", {})
            return float(np.linalg.norm(flat(z.value) - x))


class KeepsGap(CompiledProblem):
    """A problem that keeps the duality gap of CLARABEL's last answer."""

    duality_gap: float = math.nan

    def unpack_results(self, solution: Any, chain: Any, inverse_data: Any) -> None:
        """Keep the gap, then do what CVXPY does."""
        self.duality_gap = getattr(solution, "obj_val", math.nan) - getattr(solution, "obj_val_dual", math.nan)
        super().unpack_results(solution, chain, inverse_data)


def entry_name(variables: Sequence[cp.Variable], i: int) -> str:
    """The name of entry i of the stacked variables, such as x[0] or X[1, 2]."""
    ends = np.cumsum([variable.size for variable in variables])
    k = int(np.searchsorted(ends, i, side="right"))
    variable = variables[k]
    where = np.unravel_index(i - int(ends[k]) + variable.size, variable.shape, order="F")
    return f"{variable.name()}[{', '.join(map(str, where))}]" if where else variable.name()
