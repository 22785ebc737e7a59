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
    """(u, u₁, …) and (v, v₁, …) at a point, and subgradients of the latter as the rows of a matrix.

    inner is the factor S of the subgradients of v₁, … that changes from point to point; see Factors.
    """

    u: Vector
    v: Vector
    slopes: Any
    inner: Any


@dataclass(frozen=True)
class Factors:
    """The subgradients of the vⱼ are D + WSM with S the slopes of their atoms, which alone depend on the point.

    For ‖Cx‖ with two rows S has two nonzeros, however long x is: few parameters make a problem that compiles fast.
    Where the user's parameters may change D, W and M, these are 0, I and I.
    """

    D: Any
    W: Any
    M: Any
    used: Index | None

    @classmethod
    def of(cls, tangent: Tangent, *, fixed: bool) -> Factors:
        """The factors of a tangent's rows but the first."""
        D, W = tangent.direct[1:], tangent.weights[1:]
        if not fixed:
            m, n = D.shape
            return cls(sparse.csr_array((m, n)), sparse.eye_array(m), sparse.eye_array(n, format="csr"), None)
        used = np.flatnonzero(abs(W).sum(axis=0))
        return cls(D, W[:, used], tangent.inner, used)

    def inner(self, slopes: Any, atoms: Any) -> Any:
        """S, from the subgradients of (v, v₁, …) and the slopes of all atoms."""
        if self.used is None:
            return slopes[1:]
        return atoms if len(self.used) == atoms.shape[0] else atoms[self.used]


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
        if self._seen is not None and not self.parameters:
            return
        for parameter in self.parameters:
            if parameter.value is None:
                name = parameter.name()
                raise InvalidParameter(f"parameter {name} has no value; every parameter needs one. Set {name}.value.")
        seen = b"".join(flat(parameter.value).tobytes() for parameter in self.parameters)
        if seen != self._seen:
            self._seen, self._tangent = seen, Tangent(self.v, self.variables)
            self._factors = Factors.of(self._tangent, fixed=not self.v.parameters())
            self._points: dict[bytes, Point] = {}
            self._last: tuple[Any, Answer] | None = None

    def point(self, x: Vector) -> Point:
        """The values and subgradients at x, or NoSubgradient."""
        self._refresh()
        key = x.tobytes()
        if key not in self._points:
            v, slopes, inner = self._slopes(x)
            with restored(self.variables), np.errstate(all="ignore"):
                put(self.variables, x)
                u = flat(self.u.value)
            while self._points and len(self._points) * (slopes.nnz + len(v)) > 10**6:
                self._points.pop(next(iter(self._points)))  # the oldest
            self._points[key] = Point(u, v, slopes, inner)
        return self._points[key]

    def _slopes(self, x: Vector) -> tuple[Vector, Any, Any]:
        """(v, v₁, …) at x, their subgradients, and S."""
        values, atoms = self._tangent.atoms_at(x)
        v, slopes = self._tangent.from_atoms(x, values, atoms)
        return v, slopes, self._factors.inner(slopes, atoms)

    def minimum(self, y: Vector, penalty: float, backend: Backend) -> Answer:
        """The minimiser of g(·, y) plus the penalty times the violations of the d.c. constraints."""
        at, key = self.point(y), (y.tobytes(), penalty, backend)
        if self._last is None or self._last[0] != key:
            self._last = key, self._covering(y, at).minimum(at, y, penalty, backend)
        return self._last[1]

    def _covering(self, y: Vector, at: Point) -> Surrogate:
        """The compiled surrogate; compiled anew only if S at y has nonzeros where it has none."""
        if self._surrogate is None:
            probes = self._probes(y) if len(at.v) > 1 else ()
            pattern = sum((abs(probe) for probe in probes), abs(at.inner))
            self._surrogate = Surrogate(self, self._factors, pattern)
        elif not self._surrogate.covers(at.inner):
            self._surrogate = Surrogate(self, self._factors, self._surrogate.pattern + abs(at.inner))
        return self._surrogate

    def _probes(self, y: Vector) -> Iterator[Any]:
        """S at two other points: an entry that is zero at y is seldom zero there."""
        for noise in np.random.default_rng(0).standard_normal((2, len(y))):
            try:
                yield self._slopes(y + noise)[2]
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
    """min u(x) − cᵀx + penalty·Σtⱼ over the convex constraints, uⱼ(x) − (Dx + WSMx + b)ⱼ ≤ tⱼ and t ≥ 0.

    It is compiled once. c, the nonzeros of S, b and the penalty are parameters. x stacks the variables.
    """

    rows: Index
    columns: Index

    def __init__(self, parts: Linearized, factors: Factors, pattern: Any) -> None:
        self.variables: Sequence[cp.Variable] = parts.variables
        self.pattern: Any = sparse.csr_array(pattern)
        self.pattern.eliminate_zeros()
        self.pattern.sort_indices()
        self.rows, self.columns = self.pattern.nonzero()
        x, m = stacked(parts.variables), factors.D.shape[0]
        self.c: cp.Parameter = cp.Parameter(x.size, name="c")
        self.S: cp.Parameter = cp.Parameter(len(self.rows), name="S")
        self.b: cp.Parameter = cp.Parameter(m, name="b")
        self.penalty: cp.Parameter = cp.Parameter(nonneg=True, name="penalty")
        cost: Any = parts.pairs[0][0] - self.c @ x
        domain = [limit for _, v in parts.pairs for limit in v.domain if limit.is_dcp() and limit.variables()]
        constraints = [*parts.constraints, *domain]
        if m:
            k = len(self.rows)
            scatter = sparse.csr_array((np.ones(k), (self.rows, np.arange(k))), (pattern.shape[0], k))
            slack = cp.Variable(m, nonneg=True, name="t")
            changing = factors.W @ scatter @ cp.multiply(self.S, factors.M[self.columns] @ x)
            tangents = factors.D @ x + changing + self.b
            cost += self.penalty * cp.sum(slack)
            constraints += [stacked(u for u, _ in parts.pairs[1:]) - tangents <= slack]
        self.problem: KeepsGap = KeepsGap(cp.Problem(cp.Minimize(cost), constraints))

    def entries(self, slopes: Any) -> Vector:
        """The entries of a matrix in the places where S has parameters."""
        return slopes.data if self.has_pattern(slopes) else flat(slopes[self.rows, self.columns])

    def has_pattern(self, slopes: Any) -> bool:
        """Are the entries of the matrix stored in the places and the order of the parameters?"""
        ours = self.pattern
        return np.array_equal(slopes.indptr, ours.indptr) and np.array_equal(slopes.indices, ours.indices)

    def covers(self, slopes: Any) -> bool:
        """Has S a parameter for every nonzero of the slopes?"""
        return self.has_pattern(slopes) or np.count_nonzero(self.entries(slopes)) == slopes.count_nonzero()

    def minimum(self, at: Point, y: Vector, penalty: float, backend: Backend) -> Answer:
        """The minimiser with the tangents at y, or Unbounded, or SolverFailed with the reason of each solver."""
        c = np.zeros(len(y))
        end = at.slopes.indptr[1]
        c[at.slopes.indices[:end]] = at.slopes.data[:end]  # the first row; scipy's own indexing takes longer
        # saved without CVXPY's checks of shape and sign, which take as long as a small solve
        self.c.save_value(c)
        self.S.save_value(self.entries(at.inner))
        self.b.save_value((at.v - at.slopes @ y)[1:])
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
