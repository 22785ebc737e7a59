"""Lower bounds on the minimum of a d.c. program, from convex relaxations over a box that holds the feasible points.

    −v(x) ≥ −chord of v over the box;   xᵀQx + cᵀx = tr(QX) + cᵀx with [X, x; xᵀ, 1] ⪰ 0 (Shor).

Quadratic parts are lifted as Shor does, others get chords. The bound is computed from the relaxation's dual point.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.constraints.nonpos import Inequality

from .._numerics.checks import Index, Vector
from ..errors import SolverFailed
from .conic import powers_of_two
from .kinks import NoSubgradient
from .program import DCProgram
from .surrogate import ConvexPart
from .tangents import Tangent, stacked

LARGEST_BOX, LARGEST_LIFT, CORNERS = 300, 60, 8
"""Most variables for a box and for Shor's lifting; atoms of more entries than the last get a weaker chord."""
WIDE = 2.0**20
"""A box must lie inside one of this half width in lengths of x, within which its sides are proved."""


@dataclass(frozen=True)
class LowerBound:
    """A number below f at every feasible point; −∞ where none was found.

    `checked` where it was computed from data that were checked, not from the solver's word.
    """

    value: float
    method: str
    checked: bool

    def gap(self, f: float) -> float:
        """How far f may lie above the minimum, relative to the larger of |f| and |value|."""
        scale = max(abs(f), abs(self.value))
        return math.inf if math.isinf(scale) else max(0.0, f - self.value) / (scale or 1.0)


def lower_bound(program: DCProgram, below: float | None = None) -> LowerBound:
    """A lower bound on the minimum of f over the feasible points."""
    program.refresh()
    low, high = bounding_box(program, below)
    rows = [v for _, v in [(program.u, program.v), *program.dc_constraints]]
    lift = program.n <= LARGEST_LIFT and any(map(is_curved, rows))
    try:
        with np.errstate(all="ignore"):
            bound, checked = relaxed(program, low, high, lift=lift)
    except (SolverFailed, NoSubgradient) as failure:
        return LowerBound(-math.inf, f"none: {failure}", checked=False)
    chords = any(not v.is_affine() and not (lift and is_curved(v)) for v in rows)
    method = " and ".join(["Shor's SDP"] * lift + ["chords"] * chords) or "the convex program itself"
    return LowerBound(bound, f"{method} over a box" if np.isfinite(low + high).all() else method, checked)


def relaxed(program: DCProgram, low: Vector, high: Vector, *, lift: bool) -> tuple[float, bool]:
    """(the certified minimum of the relaxation, whether it is certified)."""
    x, n, boxed = stacked(program.variables), program.n, bool(np.isfinite(low + high).all())
    units, given = program.scaled()
    constraints: list[Any] = [*given, *program.domain]
    constraints += [x >= low, x <= high] if boxed else []
    # Z stands for zzᵀ with x = d·z, where z is of size one
    triangle = cp.Variable(n * (n + 1) // 2)
    Z = symmetric(triangle, n)
    widths = np.maximum(np.abs(low), np.abs(high)) if boxed else program.lengths(program.near())
    d = powers_of_two(np.where(widths > 0.0, widths, 1.0))
    z, variables = cp.multiply(1.0 / d, x), [*program.variables]
    if lift:
        column = cp.reshape(z, (n, 1), order="F")
        constraints.append(cp.bmat([[Z, column], [column.T, np.ones((1, 1))]]) >> 0)
        if boxed:
            constraints.append(cp.diag(Z) <= cp.multiply((low + high) / d, z) - low * high / d**2)
            variables.append(triangle)  # |z| ≤ √2, so that |Z| ≤ 2 at the points that count
            low, high = (np.append(side, np.full(triangle.size, end)) for side, end in ((low, -4.0), (high, 4.0)))
        for constraint in given:
            if isinstance(constraint, Inequality) and is_curved(constraint.expr):
                constraints.append(quadratic(program, constraint.expr, z, Z, d) <= 0)
    costs = list[Any]()
    for u, v in [(program.u, program.v), *program.dc_constraints]:
        if lift and is_curved(v):
            costs.append(
                quadratic(program, u - v, z, Z, d)
                if is_curved(u) or u.is_affine()
                else cp.vec(u, order="F") - quadratic(program, v, z, Z, d)
            )
        else:
            over, more = chord(Tangent(v, program.variables), x, low[:n], high[:n])
            constraints += more
            costs.append(cp.vec(u, order="F") - over)
    parts = np.split(units, np.cumsum([cost.size for cost in costs])[:-1])
    constraints += [cp.multiply(unit, cost) <= 0 for unit, cost in zip(parts[1:], costs[1:], strict=True)]
    part = ConvexPart([(units[0] * cp.sum(costs[0]), cp.Constant(0.0))], constraints, variables)
    bound, checked = part.certified_minimum(low, high)
    return float(bound / units[0]), checked


def is_curved(e: Any) -> bool:
    """Is e quadratic but not affine? CVXPY calls Huber's function quadratic, which is so in pieces only."""
    return e.is_quadratic() and not e.is_affine() and cp.huber not in e.atoms()


def symmetric(triangle: Any, n: int) -> Any:
    """The symmetric matrix with this upper triangle."""
    number = np.zeros((n, n), dtype=int)
    i, j = np.triu_indices(n)
    number[i, j] = number[j, i] = np.arange(len(i))
    return cp.reshape(triangle[number.ravel()], (n, n), order="F")


def quadratic(program: DCProgram, e: Any, z: Any, Z: Any, units: Vector) -> Any:
    """tr(QZ) + cᵀz + d for each entry zᵀQz + cᵀz + d of a quadratic expression in z, x in these units."""
    tangent, n = Tangent(e, program.variables), program.n
    d, c = tangent.at(np.zeros(n))
    slopes = [tangent.at(step)[1] - c for step in np.diag(units)]
    entries = []
    for i in range(e.size):
        Q = np.array([slope[[i]].toarray().ravel() * units for slope in slopes]) / 2.0
        entries.append(cp.trace(((Q + Q.T) / 2.0) @ Z) + (c[[i]].toarray().ravel() * units) @ z + d[i])
    return cp.hstack(entries)


def chord(tangent: Tangent, x: Any, low: Vector, high: Vector) -> tuple[Any, list[Any]]:
    """(an affine expression above v over the box, the constraints that make it so).

    Over the box a convex function lies below its concave envelope, the convex combinations of its values at the
    corners. Atoms that depend on the same few entries of x share one envelope.
    """
    depends, middle, a = (
        abs(tangent.dependence()).toarray() > 0.0,
        (low + high) / 2.0,
        list[Any]([cp.Constant(0.0)] * tangent.atoms),
    )
    if len(tangent.outer) and (few := depends[tangent.outer].any(axis=0)).sum() <= CORNERS:
        depends[tangent.outer] = few
    groups: dict[bytes, list[int]] = {}
    for i in tangent.outer:
        groups.setdefault(depends[i].tobytes(), []).append(int(i))
    constraints = list[Any]()
    for members in groups.values():
        entries = np.flatnonzero(depends[members[0]])
        if not np.isfinite(low[entries] + high[entries]).all():
            raise SolverFailed("the constraints do not bound the arguments of v. Add bounds on the variables.")
        few = len(entries) <= CORNERS
        half = (high - low)[entries] / 2.0
        if few:
            steps = np.array(list(product((-1.0, 1.0), repeat=len(entries)))) * half
        else:  # φ(x) ≤ Σ φ(m + k(xᵢ − mᵢ)eᵢ)/k by convexity, with chords of one variable on the right
            steps = len(entries) * np.concatenate([np.diag(half), -np.diag(half)])
        heights = np.array([values_at(tangent, middle, entries, step)[members] for step in steps])
        weights = cp.Variable(len(steps), nonneg=True)
        constraints += (
            [cp.sum(weights) == 1] if few else [weights[: len(entries)] + weights[len(entries) :] == 1.0 / len(entries)]
        )
        constraints.append(steps.T @ weights == x[entries] - middle[entries])
        for j, i in enumerate(members):
            a[i] = heights[:, j] @ weights
    return tangent.affine(x, cp.hstack(a) if a else None), constraints


def values_at(tangent: Tangent, middle: Vector, entries: Index, step: Vector) -> Vector:
    """The atoms of v where these entries are moved from the middle of the box."""
    x = np.where(np.isfinite(middle), middle, 0.0)
    x[entries] += step
    values = tangent.with_atoms(x)[tangent.n :]
    if not np.isfinite(values).all():
        raise SolverFailed("v has no chord over the box: it is infinite at a corner.")
    return values


def bounding_box(program: DCProgram, below: float | None = None) -> tuple[Vector, Vector]:
    """(least, greatest) of each variable over the convex constraints; infinite where they do not bound it.

    Where v is affine, points above the value `below` are left out.
    """
    n, (units, constraints) = program.n, program.scaled()
    low, high = np.full(n, -math.inf), np.full(n, math.inf)
    constraints = [*constraints, *program.domain]
    if below is not None and program.v.is_affine():
        constraints.append(units[0] * (program.u - program.v) <= units[0] * (below + 1e-9 * abs(below)))
    if n > LARGEST_BOX:
        return low, high
    part = ConvexPart(
        [(cp.Constant(0.0) * program.variables[0].flatten(order="F")[0], cp.Constant(0.0))],
        constraints,
        program.variables,
    )
    wide = WIDE * program.lengths(program.near())
    for i in range(n):
        for sign, side in ((1.0, low), (-1.0, high)):
            side[i] = sign * part.least(sign * np.eye(n)[i], wide)
    inside = (low > -wide) & (high < wide)
    return np.where(inside, low, -math.inf), np.where(inside, high, math.inf)
