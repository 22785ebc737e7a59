"""The surrogates of a d.c. program written in CVXPY: v and the vⱼ replaced by their tangents at y, compiled once.

    minimise u(x) − v(x)  subject to convex constraints and uⱼ(x) ≤ vⱼ(x),   with u, v, uⱼ, vⱼ convex.

The tangents' coefficients are parameters of one CVXPY problem, so that a step from another y sets numbers and solves.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import cvxpy as cp
import numpy as np
from scipy import sparse

from .._numerics.checks import Index, Vector
from ..errors import InvalidParameter, SolverFailed, Unbounded
from .backend import Backend, CompiledProblem, attempt
from .expressions import NoSubgradient, Tangent, entry_name, flat, put, restored, stacked


@dataclass(frozen=True)
class Point:
    """(u, u₁, …) and (v, v₁, …) at a point, and subgradients of the latter as the rows of a matrix."""

    u: Vector
    v: Vector
    slopes: Any


@dataclass(frozen=True)
class Answer:
    """The minimiser of a surrogate, the dual's bound on its minimum, their difference, and the solver's name.

    The bound is known from CLARABEL alone, and NaN from other solvers.
    """

    x: Vector
    lowest: float
    gap: float
    solver: str


class Linearized:
    """The surrogates g(·, y) of one program, with what is kept between them.

    Kept are the compiled problem, the points of a run and the last minimum. Points and minimum are dropped when the
    user gives a parameter another value.

    Parameters
    ----------
    pairs : sequence of (cp.Expression, cp.Expression)
        (u, v), then the pairs (uⱼ, vⱼ) of the d.c. constraints.
    constraints : sequence of cp.Constraint
        The convex constraints.
    variables : sequence of cp.Variable
        The variables, in the order in which x stacks them.
    """

    u: Any
    v: Any

    def __init__(
        self, pairs: Sequence[tuple[Any, Any]], constraints: Sequence[Any], variables: Sequence[cp.Variable]
    ) -> None:
        self.pairs, self.constraints, self.variables = pairs, constraints, variables
        self.u, self.v = (stacked(side) for side in zip(*pairs, strict=True))
        self.parameters: Collection[Any] = {
            p.id: p for part in (self.u, self.v, *constraints) for p in part.parameters()
        }.values()
        self._seen: bytes | None = None
        self._surrogate: Surrogate | None = None

    def _refresh(self) -> None:
        """Drop what was computed for other values of the user's parameters."""
        for parameter in self.parameters:
            if parameter.value is None:
                name = parameter.name()
                raise InvalidParameter(f"parameter {name} has no value; every parameter needs one. Set {name}.value.")
        seen = b"".join(flat(parameter.value).tobytes() for parameter in self.parameters)
        if seen != self._seen:
            self._seen, self._tangent = seen, Tangent(self.v, self.variables)
            self._points: dict[bytes, Point] = {}
            self._last: tuple[Any, Answer] | None = None

    def point(self, x: Vector) -> Point:
        """The values and subgradients at x, or NoSubgradient."""
        self._refresh()
        key = x.tobytes()
        if key not in self._points:
            v, slopes = self._tangent.at(x)
            with restored(self.variables), np.errstate(all="ignore"):
                put(self.variables, x)
                u = flat(self.u.value)
            while self._points and len(self._points) * (slopes.nnz + len(v)) > 10**6:
                self._points.pop(next(iter(self._points)))  # the oldest
            self._points[key] = Point(u, v, slopes)
        return self._points[key]

    def minimum(self, y: Vector, penalty: float, backend: Backend) -> Answer:
        """The minimiser of g(·, y) plus the penalty times the violations of the d.c. constraints."""
        at, key = self.point(y), (y.tobytes(), penalty, backend)
        if self._last is None or self._last[0] != key:
            self._last = key, self._covering(y, at).minimum(at, y, penalty, backend)
        return self._last[1]

    def _covering(self, y: Vector, at: Point) -> Surrogate:
        """The compiled surrogate; compiled anew only if the slopes at y have nonzeros where it has none."""
        slopes = at.slopes[1:]
        if self._surrogate is None:
            probes = self._probes(y) if slopes.shape[0] else ()
            self._surrogate = Surrogate(self, sum((abs(probe) for probe in probes), abs(slopes)))
        elif not self._surrogate.covers(slopes):
            self._surrogate = Surrogate(self, self._surrogate.pattern + abs(slopes))
        return self._surrogate

    def _probes(self, y: Vector) -> Iterator[Any]:
        """The slopes of the vⱼ at two other points: an entry that is zero at y is seldom zero there."""
        for noise in np.random.default_rng(0).standard_normal((2, len(y))):
            try:
                yield self._tangent.at(y + noise)[1][1:]
            except NoSubgradient:
                continue

    def convex_violation(self, x: Vector) -> float:
        """The largest violation of a convex constraint, or of an attribute of a variable such as nonneg."""
        with restored(self.variables), np.errstate(all="ignore"):
            put(self.variables, x)
            given = [float(np.max(constraint.violation(), initial=0.0)) for constraint in self.constraints]
            attributes = [float(np.max(np.abs(flat(w.project(w.value)) - flat(w.value)))) for w in self.variables]
        return max(*given, *attributes, 0.0)

    def projected_residual(self, x: Vector) -> float | None:
        """‖x − P(x − ∇f(x))‖, P the projection on the constraints, the vⱼ linearised; None where u is not smooth."""
        u = self.pairs[0][0]
        if not getattr(u, "is_smooth", lambda: False)():
            return None
        at, z = self.point(x), stacked(self.variables)
        gradient = (Tangent(u, self.variables).at(x)[1] - at.slopes[[0]]).toarray().ravel()
        tangents = [self.u[1:] <= at.v[1:] + at.slopes[1:] @ (z - x)] if len(self.pairs) > 1 else []
        nearest = cp.Problem(cp.Minimize(cp.sum_squares(z - (x - gradient))), [*self.constraints, *tangents])
        with restored(self.variables):
            attempt(nearest, "CLARABEL", {})
            return float(np.linalg.norm(flat(z.value) - x))


class KeepsGap(CompiledProblem):
    """A problem that keeps the duality gap of CLARABEL's last answer, and no values of dual variables."""

    duality_gap: float = math.nan

    def unpack_results(self, solution: Any, chain: Any, inverse_data: Any) -> None:
        """Keep the gap, then do what CVXPY does; of its time, the duals of many constraints take half."""
        if hasattr(solution, "obj_val_dual"):
            self.duality_gap = solution.obj_val - solution.obj_val_dual
            kept = {name: getattr(solution, name) for name in ("status", "solve_time", "iterations", "x", "obj_val")}
            solution = SimpleNamespace(**kept, z=None)
        super().unpack_results(solution, chain, inverse_data)


class Surrogate:
    """min u(x) − cᵀx + penalty·Σsⱼ over the convex constraints, uⱼ(x) − (Jx + b)ⱼ ≤ sⱼ and s ≥ 0, compiled once.

    c, the nonzeros of J, b and the penalty are parameters. x stacks the variables.
    """

    rows: Index
    columns: Index

    def __init__(self, parts: Linearized, pattern: Any) -> None:
        self.variables: Sequence[cp.Variable] = parts.variables
        self.pattern: Any = pattern
        self.rows, self.columns = pattern.nonzero()
        x, m = stacked(parts.variables), pattern.shape[0]
        self.c: cp.Parameter = cp.Parameter(x.size, name="c")
        self.J: cp.Parameter = cp.Parameter(len(self.rows), name="J")
        self.b: cp.Parameter = cp.Parameter(m, name="b")
        self.penalty: cp.Parameter = cp.Parameter(nonneg=True, name="penalty")
        cost: Any = parts.pairs[0][0] - self.c @ x
        domain = [limit for _, v in parts.pairs for limit in v.domain if limit.is_dcp() and limit.variables()]
        constraints = [*parts.constraints, *domain]
        if m:
            scatter = sparse.csr_array(
                (np.ones(len(self.rows)), (self.rows, np.arange(len(self.rows)))), (m, self.J.size)
            )
            slack = cp.Variable(m, nonneg=True, name="s")
            tangents = scatter @ cp.multiply(self.J, x[self.columns]) + self.b
            cost += self.penalty * cp.sum(slack)
            constraints += [stacked(u for u, _ in parts.pairs[1:]) - tangents <= slack]
        self.problem: KeepsGap = KeepsGap(cp.Problem(cp.Minimize(cost), constraints))

    def entries(self, slopes: Any) -> Vector:
        """The entries of a matrix in the places where J has parameters."""
        return flat(slopes[self.rows, self.columns])

    def covers(self, slopes: Any) -> bool:
        """Has J a parameter for every nonzero of the slopes?"""
        return np.count_nonzero(self.entries(slopes)) == slopes.count_nonzero()

    def minimum(self, at: Point, y: Vector, penalty: float, backend: Backend) -> Answer:
        """The minimiser with the tangents at y, or Unbounded, or SolverFailed with the reason of each solver."""
        c, slopes = at.slopes[[0]].toarray().ravel(), at.slopes[1:]
        # saved without CVXPY's checks of shape and sign, which take as long as a small solve
        self.c.save_value(c)
        self.J.save_value(self.entries(slopes))
        self.b.save_value(at.v[1:] - slopes @ y)
        self.penalty.save_value(penalty)
        reasons: list[str] = []
        for solver in backend.solvers:
            try:
                with restored(self.variables):
                    backend.solve(self.problem, solver)
                    x = np.concatenate([flat(variable.value) for variable in self.variables])
                value: Any = self.problem.value
                gap = self.problem.duality_gap
                return Answer(x, float(value) - gap - at.v[0] + float(c @ y), gap, solver)
            except SolverFailed as failure:
                reasons.append(str(failure))
                if "unbounded" in str(failure):
                    with suppress(SolverFailed):
                        self.check_bounded(y, failure)
        raise SolverFailed("; then ".join(reasons))

    def check_bounded(self, y: Vector, failure: SolverFailed) -> None:
        """Raise Unbounded with the variables that reach the sides of a large box around y, if any do."""
        x, side = stacked(self.variables), 1e4 * (1.0 + float(np.max(np.abs(y))))
        boxed = cp.Problem(self.problem.objective, [*self.problem.constraints, cp.abs(x - y) <= side])
        with restored(self.variables):
            attempt(boxed, "CLARABEL", {})
            moved = (flat(x.value) - y) / side
        far = [int(i) for i in np.argsort(-np.abs(moved))[:5] if abs(moved[i]) > 0.5]
        if far:
            signs = {i: "+" if moved[i] > 0 else "−" for i in far}
            directions = ", ".join(f"{entry_name(self.variables, i)} → {sign}∞" for i, sign in signs.items())
            raise Unbounded(
                f"the surrogate falls for ever as {directions}. Add constraints that bound it, or add the same "
                "convex term, such as cp.sum_squares(x), to u and to v."
            ) from failure
