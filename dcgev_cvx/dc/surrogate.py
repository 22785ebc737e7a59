"""The surrogates of a d.c. program written in CVXPY: v and the vⱼ replaced by tangents, as conic problems.

    minimise u(x) − v(x)  subject to convex constraints and uⱼ(x) ≤ vⱼ(x),   with u, v, uⱼ, vⱼ convex.

CVXPY compiles what is convex once. A step adds the tangents as rows of numbers and gives the problem to CLARABEL.
Other solvers get `linearized`, which is the definition of the surrogate in CVXPY's own terms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import cvxpy as cp
import numpy as np
from cvxpy.constraints.nonpos import Inequality
from cvxpy.constraints.zero import Equality
from scipy import sparse

from .._numerics.checks import Vector
from .._numerics.threads import quiet
from ..errors import InvalidParameter, SolverFailed
from ..steps.backend import Backend, attempt
from .conic import Cones, Conic, ConicAnswer, columns_of, powers_of_two, solve_conic
from .cvxpy_internals import affine_map, flat, offset
from .kinks import Kink, NoSubgradient
from .tangents import Chooser, Tangent, is_plain, stacked, without_values


@dataclass(frozen=True)
class Point:
    """(u, u₁, …) and (v, v₁, …) at a point, and subgradients of the latter as rows."""

    u: Vector
    v: Vector
    slopes: Any


@dataclass(frozen=True)
class Answer:
    """The minimiser of a surrogate, its value, and a lower bound on the minimum.

    `checked` where the bound is computed from data that are checked, for all points within the reach.
    """

    x: Vector
    value: float
    solver: str
    conic: ConicAnswer | None = None
    reach: Vector | None = None
    unit: float = 1.0

    @property
    def checked(self) -> bool:
        """Is `lowest` more than the solver's word?"""
        return self.conic is not None

    @cached_property
    def lowest(self) -> float:
        """A number below the minimum."""
        return (
            self.value if self.conic is None or self.reach is None else self.conic.lower_bound(self.reach) / self.unit
        )


@dataclass(frozen=True)
class Scales:
    """The lengths of x, the sizes of the d.c. constraints, and for how many lengths a bound should hold."""

    lengths: Vector
    sizes: Vector
    reach: float


class Surrogate:
    """g(·, y) for every y: min u(x) − tangent(x) + Σ weightⱼ·tⱼ over Ω with uⱼ(x) − tangentⱼ(x) ≤ tⱼ, t ≥ 0.

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
        self.domain: list[Any] = [limit for _, v in pairs for limit in v.domain if limit.is_dcp() and limit.variables()]
        parts = (self._u, self._v, *constraints)
        self._parameters: list[Any] = list({p.id: p for part in parts for p in part.parameters()}.values())
        self._values: list[bytes] | None = None
        self.version: int = 0
        self.units: Vector = np.ones(self._u.size)
        self.scaled_constraints: list[Any] = []
        self.measured: bool = False
        self._compiled: ConvexPart | None = None

    def point(self, x: Vector) -> Point:
        """The values and subgradients at x, or NoSubgradient."""
        self.refresh()
        key = x.tobytes()
        if key not in self._points:
            v, slopes = self.tangent.at(x)
            if len(self._points) * (slopes.nnz + len(v)) > 10**6:
                self._points.clear()
            self._points[key] = Point(self.left(x), v, slopes)
        return self._points[key]

    def values(self, x: Vector) -> tuple[Vector, Vector]:
        """(u, u₁, …) and (v, v₁, …) at x."""
        return self.left(x), self.tangent.value(x)

    def left(self, x: Vector) -> Vector:
        """(u, u₁, …) at x, not a number outside the domain."""
        try:
            return self._left.value(x)
        except NoSubgradient:
            return np.full(self._u.size, math.nan)

    def piece(self, x: Vector, kinks: Sequence[Kink], choose: Chooser, there: Vector) -> Point:
        """The values at x and the slopes of affine functions below v and vⱼ, chosen where kinks meet at x."""
        return Point(self.point(x).u, *self.tangent.piece(x, kinks, choose, there))

    def refresh(self) -> None:
        """Drop what was computed for other values of the user's parameters."""
        for parameter in self._parameters:
            if parameter.value is None:
                name = parameter.name()
                raise InvalidParameter(f"parameter {name} has no value; every parameter needs one. Set {name}.value.")
        values = [flat(parameter.value).tobytes() for parameter in self._parameters]
        if values != self._values:
            self._values, self._points, self.version = values, dict[bytes, Point](), self.version + 1
            if not all(np.isfinite(flat(parameter.value)).all() for parameter in self._parameters):
                name = next(p.name() for p in self._parameters if not np.isfinite(flat(p.value)).all())
                raise InvalidParameter(f"parameter {name} has values that are NaN or infinite. Set {name}.value anew.")
            self.tangent: Tangent = Tangent(self._v, self.variables)
            self._left: Tangent = Tangent(self._u, self.variables)  # values only
            self._compiled, self.measured = None, False

    def minimum(self, at: Point, y: Vector, weights: Vector, scales: Scales, backend: Backend) -> Answer:
        """The minimiser of u − tangent of v at y + Σ weightⱼ·(violation of uⱼ ≤ tangent of vⱼ).

        Raises SolverFailed with the reason of each solver.
        """
        if backend.solvers == ("CLARABEL",) and type(backend) is Backend:
            part, o, r = self._compiled or self._compile(), float(self.units[0]), self.units[1:]
            if part.usable:
                slopes: Any = sparse.csr_array(at.slopes)
                data = slopes.data * np.repeat(self.units, np.diff(slopes.indptr))
                slopes = sparse.csr_array((data, slopes.indices, slopes.indptr), shape=slopes.shape)
                scaled = Point(at.u * self.units, at.v * self.units, slopes)
                sizes = Scales(scales.lengths, scales.sizes * r, scales.reach)
                return part.minimum(scaled, y, o * weights / r, sizes, o, backend.options or None)
        return self._linearized_minimum(at, y, weights, backend)

    def measure(self, sizes: Vector, constraint_sizes: Sequence[Vector]) -> None:
        """Fix the units, powers of two, in which objective and constraints are of size one before CVXPY sees them."""
        self.units = powers_of_two(1.0 / sizes)
        self.scaled_constraints = [
            constraint_in_units(constraint, size)
            for constraint, size in zip(self.constraints, constraint_sizes, strict=True)
        ]
        self.measured = True

    def in_units(self) -> list[Any]:
        """(u, u₁, …) in their units."""
        ends = np.cumsum([0, *(u.size for u, _ in self.pairs)])
        return [in_units(self.units[a:b], u) for (u, _), a, b in zip(self.pairs, ends, ends[1:], strict=False)]

    def _compile(self) -> ConvexPart:
        pairs = [(u, cp.Constant(0.0)) for u in self.in_units()]
        self._compiled = ConvexPart(pairs, [*self.scaled_constraints, *self.domain], self.variables)
        return self._compiled

    def _linearized_minimum(self, at: Point, y: Vector, weights: Vector, backend: Backend) -> Answer:
        problem = self.linearized(at, y, weights)
        reasons: list[str] = []
        for solver in backend.solvers:
            try:
                with without_values(self.variables):
                    backend.solve(problem, solver)
                    x = np.concatenate([flat(variable.value) for variable in self.variables])
                value = float(np.sum(cast("Any", problem.value)))
                return Answer(x, value, solver)
            except SolverFailed as failure:
                reasons.append(str(failure))
        raise SolverFailed("; then ".join(reasons))

    def linearized(self, at: Point, y: Vector, weights: Vector) -> cp.Problem:
        """The surrogate as CVXPY writes it: the definition."""
        x = stacked(self.variables)
        tangents = at.v + at.slopes @ (x - y)
        cost, constraints = self.pairs[0][0] - tangents[0], [*self.constraints, *self.domain]
        if len(weights):
            t = cp.Variable(len(weights), nonneg=True)
            cost += weights @ t
            constraints += [self._u[1:] - tangents[1:] <= t]
        return cp.Problem(cp.Minimize(cost), constraints)

    def is_empty(self) -> bool:
        """Does a solver prove that the convex constraints have no common point?"""
        if not self.measured:
            self.scaled_constraints = [*self.constraints]
        with without_values(self.variables):
            try:
                attempt(cp.Problem(cp.Minimize(0), [*self.scaled_constraints, *self.domain]), "CLARABEL", {})
            except SolverFailed as failure:
                return f"'{cp.INFEASIBLE}'" in str(failure)
        return False


class ConvexPart:
    """min u(x) over the convex constraints and wⱼ ≥ uⱼ(x), compiled once; tangents are added as rows of numbers.

    Where x and w stand among CVXPY's own variables is read from the cost of fingerprint·(x, w).
    """

    def __init__(
        self, pairs: Sequence[tuple[Any, Any]], constraints: Sequence[Any], variables: Sequence[cp.Variable]
    ) -> None:
        left = [u for u, _ in pairs[1:]]
        curved = [j for j, u in enumerate(left) if not is_plain(u)]
        sizes = np.cumsum([0, *(u.size for u in left)])
        self.n: int = sum(variable.size for variable in variables)
        self.m = int(sizes[-1])
        self._curved = np.concatenate([np.arange(sizes[j], sizes[j + 1]) for j in curved] or [np.zeros(0, int)])
        affine = [e for e in left if is_plain(e)]
        self._flat = np.setdiff1d(np.arange(self.m), self._curved)
        self._M, self._s = affine_map(affine, variables)
        x = stacked(variables)
        constraints = [*constraints]
        if any(is_reduced(w) for w in variables):
            plain = cp.Variable(self.n)  # CVXPY replaces variables with these attributes by smaller ones
            constraints.append(plain == x)
            x = plain
        known: list[Any] = [x]
        if curved:
            w = cp.Variable(len(self._curved))
            constraints.append(stacked([left[j] for j in curved]) <= w)
            known.append(w)
        c = cp.Parameter(self.n + len(self._curved))
        problem = cp.Problem(cp.Minimize(pairs[0][0] + c @ cp.hstack(known)), constraints)
        marks = 1.0 + np.arange(c.size)
        data, constants = list[Any](), list[float | None]()
        with without_values(variables), quiet:  # CVXPY warns of the user's parameters where compiling takes long
            for mark in (0.0 * marks, marks):
                c.value = mark
                part, _, inverse = problem.get_problem_data("CLARABEL")
                data.append(part)
                constants.append(offset(inverse))
        q = data[0]["c"]
        seen = np.rint(data[1]["c"] - q)
        places = np.flatnonzero(seen)
        dims = data[0]["dims"]
        bounded = not len(getattr(dims, "p3d", ())) and not len(getattr(dims, "pnd", ()))
        # power cones have no bound here: CVXPY solves such surrogates by itself
        self.usable: bool = bounded and constants[0] is not None and np.array_equal(np.sort(seen[places]), marks)
        if not self.usable:
            return
        columns = places[np.argsort(seen[places])]
        self._x, self._w = columns[: self.n], columns[self.n :]
        A, self._cones = sparse.csc_array(data[0]["A"]), Cones.of(dims)
        P = data[0].get("P")
        self._q, self._offset = q, float(constants[0] or 0.0)
        size = len(q) + self.m
        self._P = sparse.csc_array((size, size)) if P is None else grown(P, size)
        self._A, self._b = A, data[0]["b"]
        # the entries of A below which a step adds its tangents: uⱼ(x) − slopesⱼᵀx − tⱼ ≤ valueⱼ and t ≥ 0
        top, t, M = self._cones.zero + self._cones.nonneg, len(q) + np.arange(self.m), sparse.coo_array(self._M)
        rows, curved, positive = np.where(A.indices < top, A.indices, A.indices + 2 * self.m), self._curved, t - len(q)
        self._rows = np.concatenate([rows, top + curved, top + self._flat[M.row], top + self.m + positive])
        self._columns = np.concatenate([columns_of(A), self._w, self._x[M.col], t])
        self._numbers = np.concatenate([A.data, np.ones(len(curved)), M.data, -np.ones(self.m)])

    def minimum(self, at: Point, y: Vector, weights: Vector, scales: Scales, unit: float, options: Any) -> Answer:
        """The minimiser of the surrogate with these tangents; `unit` is the objective's."""
        problem, N = self.problem(at, y, weights, powers_of_two(scales.sizes)), len(self._q)
        origin = np.zeros(N + self.m)
        origin[self._x] = y
        try:
            lengths = np.full(N + self.m, math.nan)
            lengths[self._x] = shortened(scales.lengths, problem.q[self._x], problem.P.diagonal()[self._x])
            found: ConicAnswer = solve_conic(problem.around(origin), lengths, problem.b, options)
        except SolverFailed as failure:
            if (ray := getattr(failure, "ray", None)) is not None:
                failure.direction = ray[self._x]  # pyright: ignore[reportAttributeAccessIssue]
            raise
        bounded = np.full(N + self.m, math.inf)
        bounded[self._x] = scales.reach * scales.lengths
        return Answer(y + found.x[self._x], found.value / unit, "CLARABEL", found, bounded, unit)

    def certified_minimum(self, low: Vector, high: Vector) -> tuple[float, bool]:
        """(a number below the minimum, whether it is proved), where x lies in a box."""
        if not self.usable:
            raise SolverFailed("the relaxation has power cones, for which no bound is computed.")
        known = low.size == self.n and bool(np.isfinite(low).all() and np.isfinite(high).all())
        problem = Conic(self._P, self._q, self._A, self._b, self._cones, self._offset)
        found = solve_conic(problem, np.full(len(self._q), math.nan), problem.b)
        reach = np.full(len(self._q), math.inf)
        if known:
            reach[self._x] = np.maximum(found.x[self._x] - low, high - found.x[self._x]) + 1e-9 * (high - low)
        return found.lower_bound(reach), known

    def least(self, direction: Vector, within: Vector) -> float:
        """A number below directionᵀx over all points of the constraints for which no entry exceeds `within`."""
        if not self.usable:
            return -math.inf
        q = self._q.copy()
        q[self._x] = direction
        problem = Conic(self._P, q, self._A, self._b, self._cones)
        try:
            found = solve_conic(problem, np.full(len(q), math.nan), problem.b)
        except SolverFailed:
            return -math.inf
        reach = np.full(len(q), math.inf)
        reach[self._x] = within + np.abs(found.x[self._x])
        return found.lower_bound(reach)

    def problem(self, at: Point, y: Vector, weights: Vector, units: Vector) -> Conic:
        """The surrogate as a conic problem in CVXPY's variables and t, which is measured in the constraints' units."""
        N, m, top = len(self._q), self.m, self._cones.zero + self._cones.nonneg
        slopes: Any = sparse.csr_array(at.slopes)
        values: Any = at.v - slopes @ y
        q, first = np.concatenate([self._q, weights * units]), slopes.indptr[1]
        np.subtract.at(q, self._x[slopes.indices[:first]], slopes.data[:first])
        if not m:
            return Conic(self._P, q, self._A, self._b, self._cones, self._offset - values[0])
        # with wⱼ for a curved uⱼ, and Mⱼx + sⱼ for an affine one
        t = np.arange(m)
        row_of = np.repeat(np.arange(m), np.diff(slopes.indptr[1:]))
        rows = np.concatenate([self._rows, top + row_of, top + t])
        columns = np.concatenate([self._columns, self._x[slopes.indices[first:]], N + t])
        numbers = np.concatenate([self._numbers, -slopes.data[first:], -units])
        right: Any = values[1:].copy()
        right[self._flat] -= self._s
        A = sparse.csc_array((numbers, (rows, columns)), shape=(len(self._b) + 2 * m, N + m))
        b = np.concatenate([self._b[:top], right, np.zeros(m), self._b[top:]])
        cones = replace(self._cones, nonneg=self._cones.nonneg + 2 * m)
        return Conic(self._P, q, A, b, cones, self._offset - values[0])


def in_units(units: Vector, e: Any) -> Any:
    """An expression with its entries multiplied by these numbers."""
    return cp.multiply(np.reshape(np.broadcast_to(units, e.size), e.shape, order="F"), e)


def constraint_in_units(constraint: Any, sizes: Vector) -> Any:
    """An inequality or equality with both sides divided by powers of two near the sizes; another one as it is."""
    if not isinstance(constraint, Inequality | Equality):
        return constraint
    units = powers_of_two(1.0 / sizes)
    if any(argument.size != len(units) for argument in constraint.args):
        units = units.min()
    return constraint.copy([in_units(units, argument) for argument in constraint.args])


def is_reduced(variable: cp.Variable) -> bool:
    """Has the variable fewer degrees of freedom than entries?"""
    names = ("symmetric", "PSD", "NSD", "diag", "sparsity")
    return any(variable.attributes.get(name) not in (None, False) for name in names)


def shortened(lengths: Vector, q: Vector, squares: Vector) -> Vector:
    """Shorter lengths where the cost is steep, as at the edge of the domain of v, where slopes are nearly infinite."""
    costs = np.abs(q) * lengths
    some = np.concatenate([costs, squares * lengths**2])
    some = some[some > 0.0]
    if not len(some):
        return lengths
    usual = 8.0 * float(np.quantile(some, 0.25))
    return lengths * np.clip(usual / np.maximum(costs, 1e-300), 2.0**-24, 1.0)


def grown(matrix: Any, size: int) -> Any:
    """A square sparse matrix with columns and rows of zeros appended."""
    whole = sparse.csc_array(matrix)
    whole.resize((size, size))
    return whole


def entry_name(variables: Sequence[cp.Variable], i: int) -> str:
    """The name of entry i of the stacked variables, such as x[0] or X[1, 2]."""
    ends = np.cumsum([variable.size for variable in variables])
    k = int(np.searchsorted(ends, i, side="right"))
    variable = variables[k]
    where = np.unravel_index(i - int(ends[k]) + variable.size, variable.shape, order="F")
    return f"{variable.name()}[{', '.join(map(str, where))}]" if where else variable.name()
