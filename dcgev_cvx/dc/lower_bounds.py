"""Lower bounds on the minimum of a d.c. program, from convex relaxations over a box that holds the feasible points.

    −v(x) ≥ −chord of v over the box;   xᵀQx + cᵀx = tr(QX) + cᵀx with [X, x; xᵀ, 1] ⪰ 0 (Shor).

Quadratic parts are lifted as Shor does, others get chords. The bound is computed from the relaxation's dual point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.constraints.nonpos import Inequality

from .._numerics.checks import Index, Matrix, Vector
from ..errors import SolverFailed
from .program import DCProgram
from .surrogate import ConvexPart
from .tangents import NoSubgradient, Tangent, stacked

LARGEST_BOX, LARGEST_LIFT, CORNERS = 300, 60, 6
"""Most variables for a box and for Shor's lifting; atoms of more arguments than the last get a weaker chord."""
WIDE = 1e6
"""A box must lie inside one of this half width, within which its sides are proved."""


@dataclass(frozen=True)
class LowerBound:
    """A number below f at every feasible point; −∞ where none was found.

    `checked` where it was computed from data that were checked, not from the solver's word.
    """

    value: float
    method: str
    checked: bool

    def gap(self, f: float) -> float:
        """How far f may lie above the minimum, relative to |f| or 1."""
        return max(0.0, f - self.value) / max(1.0, abs(f))


def lower_bound(program: DCProgram, below: float | None = None) -> LowerBound:
    """A lower bound on the minimum of f over the feasible points."""
    program.refresh()
    low, high = bounding_box(program, below)
    rows = [(program.u, program.v), *program.dc_constraints]
    lifted = [j for j, pair in enumerate(rows) if all(e.is_quadratic() for e in pair)]
    curved = any(not rows[j][1].is_affine() for j in lifted)
    lift = curved and program.n <= LARGEST_LIFT
    try:
        bound, checked = relaxed(program, low, high, lifted if lift else [])
    except (SolverFailed, NoSubgradient) as failure:
        return LowerBound(-math.inf, f"none: {failure}", checked=False)
    method = " and ".join(["Shor's SDP"] * lift + ["chords"] * (len(lifted) * lift < len(rows)))
    return LowerBound(bound, f"{method} over a box" if np.isfinite(low + high).all() else method, checked)


def relaxed(program: DCProgram, low: Vector, high: Vector, lifted: Sequence[int]) -> tuple[float, bool]:
    """(the certified minimum of the relaxation, whether it is certified)."""
    x = stacked(program.variables)
    sides = [k for k in (low, high) if np.isfinite(k).all()]
    constraints: list[Any] = [*program.constraints, *program.domain]
    constraints += [x >= low, x <= high] if len(sides) == 2 else []
    rows, lift = [(program.u, program.v), *program.dc_constraints], list[Any]()
    variables = [*program.variables]
    if lifted:
        X = cp.Variable((program.n, program.n), symmetric=True)
        M = cp.bmat(
            [[X, cp.reshape(x, (program.n, 1), order="F")], [cp.reshape(x, (1, program.n), order="F"), np.ones((1, 1))]]
        )
        constraints.append(M >> 0)
        if len(sides) == 2:
            constraints.append(cp.diag(X) <= cp.multiply(low + high, x) - low * high)
        lift = [X]
        for constraint in program.constraints:
            if (
                isinstance(constraint, Inequality)
                and constraint.expr.is_quadratic()
                and not constraint.expr.is_affine()
            ):
                constraints.append(quadratic(program, constraint.expr, x, X) <= 0)
    costs = list[Any]()
    for j, (u, v) in enumerate(rows):
        if j in lifted:
            costs.append(quadratic(program, u - v, x, lift[0]))
        else:
            over, more = chord(Tangent(v, program.variables), x, low, high)
            constraints += more
            costs.append(cp.vec(u, order="F") - over)
    constraints += [cost <= 0 for cost in costs[1:]]
    part = ConvexPart([(cp.sum(costs[0]), cp.Constant(0.0))], constraints, variables)
    return part.certified_minimum(low, high)


def quadratic(program: DCProgram, e: Any, x: Any, X: Any) -> Any:
    """tr(QX) + cᵀx + d for each entry xᵀQx + cᵀx + d of a quadratic expression."""
    tangent, n = Tangent(e, program.variables), program.n
    d, c = tangent.at(np.zeros(n))
    slopes = [tangent.at(step)[1] - c for step in np.eye(n)]
    entries = []
    for i in range(e.size):
        Q = np.array([slope[[i]].toarray().ravel() for slope in slopes]) / 2.0
        entries.append(cp.trace(((Q + Q.T) / 2.0) @ X) + c[[i]].toarray().ravel() @ x + d[i])
    return cp.hstack(entries)


def chord(tangent: Tangent, x: Any, low: Vector, high: Vector) -> tuple[Any, list[Any]]:
    """(an expression above a convex one over the box, the constraints that make it so)."""
    if not tangent.arguments:
        return tangent.affine(x, None), []
    with np.errstate(invalid="ignore"):
        M = tangent.map.toarray()
        below, above = np.where(M > 0.0, M, 0.0), np.where(M < 0.0, M, 0.0)
        left, right = (
            zero_times(below, p) + zero_times(above, q) + tangent.shift for p, q in ((low, high), (high, low))
        )
    a, w = cp.Variable(tangent.atoms), tangent.map @ x + tangent.shift
    constraints: list[Any] = []
    for entries, arguments, value, sign, separable in tangent.parts():
        for i, at in zip(entries, arguments, strict=True):
            if not np.isfinite(left[at]).all() or not np.isfinite(right[at]).all():
                raise SolverFailed("the constraints do not bound the arguments of v. Add bounds on the variables.")
            over, more = above_atom(
                lambda z, f=value, s=sign, k=i - entries[0]: s * f(z)[k], w, at, left, right, separable
            )
            constraints += [sign * a[i] <= over, *more]
    return tangent.affine(x, a), constraints


def zero_times(M: Matrix, sides: Vector) -> Vector:
    """M·sides, with 0·∞ = 0."""
    return np.where(M != 0.0, M * sides, 0.0).sum(axis=1)


def above_atom(
    value: Callable[[Vector], float], w: Any, at: Index, left: Vector, right: Vector, separable: bool
) -> tuple[Any, list[Any]]:
    """An affine expression above a convex function of the arguments w[at], or its concave envelope at the corners."""
    k, middle = len(at), (left + right) / 2.0

    def moved(entry: Any, to: Any) -> float:
        z = middle.copy()
        z[entry] = to
        found = value(z)
        if not math.isfinite(found):
            raise SolverFailed("v has no chord over the box: it is infinite at a corner.")
        return found

    if k <= CORNERS and not separable:
        corners = np.array(list(product(*zip(left[at], right[at], strict=True))))
        weights = cp.Variable(len(corners), nonneg=True)
        heights = []
        for corner in corners:
            z = middle.copy()
            z[at] = corner
            heights.append(value(z))
        if not np.isfinite(heights).all():
            raise SolverFailed("v has no chord over the box: it is infinite at a corner.")
        return np.array(heights) @ weights, [cp.sum(weights) == 1, corners.T @ weights == w[at]]
    # φ(w) ≤ Σ φ(m + k(wᵢ − mᵢ)eᵢ)/k by convexity, and φ(w) = φ(m) + Σ (φ(m + (wᵢ − mᵢ)eᵢ) − φ(m)) where it is a sum
    centre, far, share = value(middle), 1.0 if separable else float(k), 1.0 if separable else 1.0 / k
    total: Any = centre
    for entry in at:
        half = (right[entry] - left[entry]) / 2.0
        if half > 0.0:
            ends = [moved(entry, middle[entry] + far * s * half) - centre for s in (-1.0, 1.0)]
            total = total + share * (ends[0] + (ends[1] - ends[0]) * (w[entry] - left[entry]) / (2.0 * half))
    return total, []


def bounding_box(program: DCProgram, below: float | None = None) -> tuple[Vector, Vector]:
    """(least, greatest) of each variable over the convex constraints; infinite where they do not bound it.

    Where v is affine, points above the value `below` are left out.
    """
    n = program.n
    low, high = np.full(n, -math.inf), np.full(n, math.inf)
    constraints = [*program.constraints, *program.domain]
    if below is not None and program.v.is_affine():
        constraints.append(program.u - program.v <= below + 1e-9 * abs(below))
    if n > LARGEST_BOX:
        return low, high
    part = ConvexPart(
        [(cp.Constant(0.0) * program.variables[0].flatten(order="F")[0], cp.Constant(0.0))],
        constraints,
        program.variables,
    )
    for i in range(n):
        for sign, side in ((1.0, low), (-1.0, high)):
            side[i] = sign * part.least(sign * np.eye(n)[i], WIDE)
    inside = (low > -WIDE) & (high < WIDE)
    return np.where(inside, low, -math.inf), np.where(inside, high, math.inf)
