"""Conic problems of size one for CLARABEL, and lower bounds on their minima that trust no solver.

minimise ½xᵀPx + qᵀx + offset  subject to  b − Ax ∈ K,   K a product of cones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from .._numerics.checks import Index, Vector
from ..errors import InvalidParameter, SolverFailed

clarabel: Any = import_module("clarabel")  # its stubs name nothing

ROUNDS = 4
"""Rounds of equilibration: each divides rows and columns by the roots of their largest entries."""


@dataclass(frozen=True)
class Cones:
    """The cones in the order of the rows, as CVXPY's `ConeDims` lists them."""

    zero: int
    nonneg: int
    soc: tuple[int, ...] = ()
    psd: tuple[int, ...] = ()
    exp: int = 0

    @classmethod
    def of(cls, dims: Any) -> Cones:
        """The cones of a problem that CVXPY compiled."""
        return cls(dims.zero, dims.nonneg, tuple(dims.soc), tuple(dims.psd), dims.exp)

    @cached_property
    def sizes(self) -> list[int]:
        """The rows of each block that is scaled as a whole: single ones for equations and inequalities."""
        triangles = [n * (n + 1) // 2 for n in self.psd]
        return [1] * (self.zero + self.nonneg) + [*self.soc, *triangles] + [3] * self.exp

    @cached_property
    def starts(self) -> Index:
        """Where each block begins."""
        return np.cumsum([0, *self.sizes[:-1]]) if self.sizes else np.zeros(0, dtype=np.intp)

    @cached_property
    def block(self) -> Index:
        """The block of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def named(self) -> list[Any]:
        """The cones for CLARABEL."""
        some = [clarabel.ZeroConeT(self.zero)] * (self.zero > 0)
        some += [clarabel.NonnegativeConeT(self.nonneg)] * (self.nonneg > 0)
        some += [*map(clarabel.SecondOrderConeT, self.soc), *map(clarabel.PSDTriangleConeT, self.psd)]
        return some + [clarabel.ExponentialConeT()] * self.exp


@dataclass(frozen=True)
class Conic:
    """A conic problem; P is the whole symmetric matrix, and both matrices are stored by columns."""

    P: Any
    q: Vector
    A: Any
    b: Vector
    cones: Cones
    offset: float = 0.0

    def around(self, origin: Vector) -> Conic:
        """The problem in x − origin: where that is small, b is, and a solver's tolerance means more."""
        Px = self.P @ origin
        return replace(
            self,
            q=self.q + Px,
            b=self.b - self.A @ origin,
            offset=self.offset + float((self.q + 0.5 * Px) @ origin),
        )


@dataclass(frozen=True)
class ConicScaling:
    """x = β·C∘x̂, rows divided by R, objective = o·ô: numbers of size one, by powers of two, which round nothing."""

    rows: Vector
    columns: Vector
    beta: float
    o: float

    @classmethod
    def of(cls, problem: Conic, lengths: Vector, right: Vector) -> ConicScaling:
        """Units in which the largest entries of rows and columns are near 1.

        `lengths` are the units of the variables up to a common factor, NaN for CVXPY's own, which are found here. The
        factor β is found from the right sides of the rows as they were before the origin was moved.
        """
        b, cones = np.abs(problem.b), problem.cones
        m, n = problem.A.shape
        own = np.isnan(lengths)
        r, c = np.ones(m), powers_of_two(np.where(own, 1.0, lengths))
        size, row_of, column_of = np.abs(problem.A.data), problem.A.indices, columns_of(problem.A)
        for _ in range(ROUNDS if len(size) else 0):
            entries = r[row_of] * size * c[column_of]
            largest = np.zeros(m)
            np.maximum.at(largest, row_of, entries)
            whole = np.maximum.reduceat(largest, cones.starts)[cones.block]
            widest = np.zeros(n)
            np.maximum.at(widest, column_of, entries)
            r /= powers_of_two(np.sqrt(np.where(whole > 0.0, whole, 1.0)))
            c /= powers_of_two(np.sqrt(np.where(own & (widest > 0.0), widest, 1.0)))
        scaled = r * b
        given = r * np.abs(right)
        given = given[given > 1e-9 * np.max(given, initial=0.0)]
        beta = float(powers_of_two(np.array([np.median(given) if len(given) else 1.0]))[0])
        if m:
            high = np.maximum.reduceat(np.clip(scaled / beta, 1.0, FAR), cones.starts)[cones.block]
            r /= powers_of_two(high)  # rows far away count less, within limits
        linear, square = np.abs(beta * c * problem.q), np.abs(products(problem.P, beta * c, beta * c))
        o = max(float(np.max(linear, initial=0.0)), float(np.max(square, initial=0.0)))
        return cls(r, c, beta, float(powers_of_two(np.array([o if o > 0.0 else 1.0]))[0]))

    def scaled(self, problem: Conic) -> Conic:
        """The problem in these units, with offset 0."""
        x = self.beta * self.columns
        return Conic(
            P=with_data(problem.P, products(problem.P, x, x) / self.o),
            q=x * problem.q / self.o,
            A=with_data(problem.A, products(problem.A, self.rows, self.columns)),
            b=self.rows * problem.b / self.beta,
            cones=problem.cones,
        )

    def vector(self, x: Vector) -> Vector:
        """x from x̂."""
        return self.beta * self.columns * x


TIGHT_FIRST: tuple[Mapping[str, float], ...] = (
    {
        "tol_gap_abs": 1e-12,
        "tol_gap_rel": 1e-12,
        "tol_feas": 1e-12,
        "reduced_tol_gap_abs": 1e-8,
        "reduced_tol_gap_rel": 1e-8,
        "reduced_tol_feas": 1e-8,
    },
    {},
)
"""CLARABEL's options, in the order in which they are tried: what is tight fails now and then."""

ENOUGH = 1e-7
"""An answer is used although its solver went no further, where it is as close as this; bounds are computed anyway."""


@dataclass(frozen=True)
class ConicAnswer:
    """CLARABEL's answer in the problem's units; the scaled problem and its dual point for `lower_bound`."""

    x: Vector
    value: float
    problem: Conic
    scaling: ConicScaling
    scaled_x: Vector
    scaled_z: Vector

    def lower_bound(self, reach: Vector) -> float:
        """A number below the minimum over all points within `reach` of x; infinite where x is an epigraph's variable.

        Let z be the dual point, moved into the dual cone K*, and r = Px + q + Aᵀz. Then for every feasible w

            ½wᵀPw + qᵀw  ≥  rᵀw − ½xᵀPx − bᵀz  ≥  rᵀx − Σ|rᵢ|·reachᵢ − ½xᵀPx − bᵀz.

        So the bound holds whatever the solver did; a bad z makes it low, not wrong. First r is made small, to rounding
        in CVXPY's epigraph variables, of which no reach is known: z is moved along the equations and scaled block by
        block, which keeps it in K*.
        """
        problem, x = self.problem, self.scaled_x
        reach = reach / (self.scaling.beta * self.scaling.columns)
        z = into_dual_cone(self.scaled_z, problem.cones)
        free = ~np.isfinite(reach)
        z = without_residual(problem, x, z)
        Px = problem.P @ x
        terms = abs(problem.P) @ np.abs(x) + np.abs(problem.q) + abs(problem.A.T) @ np.abs(z)
        r = np.abs(Px + problem.q + problem.A.T @ z) + 1e-15 * terms
        paid = float(r @ np.where(free, FAR * (1.0 + np.abs(x)), reach))
        direct = float((Px + problem.q + problem.A.T @ z) @ x) - 0.5 * float(x @ Px) - float(problem.b @ z)
        rounding = 1e-15 * float(np.abs(problem.b) @ np.abs(z) + terms @ np.abs(x))
        bound = direct - paid - rounding
        return self.scaling.o * bound + self.offset if math.isfinite(bound) else -math.inf

    offset: float = 0.0


FAR = 1e3
"""How far CVXPY's own variables may lie from their values, in units of size one; their residual is near rounding."""


def solve_conic(
    problem: Conic, lengths: Vector, right: Vector, options: Mapping[str, Any] | None = None
) -> ConicAnswer:
    """CLARABEL's answer; SolverFailed, with a `ray` where the objective falls for ever along one."""
    scaling = ConicScaling.of(problem, lengths, right)
    small = scaling.scaled(problem)
    reason = ""
    for settings in TIGHT_FIRST if options is None else (options,):
        chosen = clarabel.DefaultSettings()
        chosen.verbose = False
        for name, number in settings.items():
            if not hasattr(chosen, name):
                raise InvalidParameter(f"{name!r} is no option of CLARABEL; its options are those of DefaultSettings.")
            setattr(chosen, name, number)
        try:
            found: Any = clarabel.DefaultSolver(
                upper_triangle(small.P), small.q, small.A, small.b, small.cones.named, chosen
            ).solve()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as cause:  # a panic of a solver written in Rust is not an Exception
            raise SolverFailed(f"CLARABEL failed: {cause}") from cause
        status = str(found.status)
        x, z = np.array(found.x), np.array(found.z)
        error = max(abs(found.obj_val - found.obj_val_dual), found.r_prim, found.r_dual)
        if status in ("Solved", "AlmostSolved") or (status == "InsufficientProgress" and error <= ENOUGH):
            value = scaling.o * found.obj_val + problem.offset
            return ConicAnswer(scaling.vector(x), value, small, scaling, x, z, problem.offset)
        if "Infeasible" in status:
            kind = "infeasible" if "Primal" in status else "unbounded"
            failure = SolverFailed(f"CLARABEL ended with the status '{kind}'.")
            failure.ray = scaling.vector(x) if kind == "unbounded" else None  # pyright: ignore[reportAttributeAccessIssue]
            raise failure
        reason = f"CLARABEL ended with the status '{status}'."
    raise SolverFailed(reason)


def into_dual_cone(z: Vector, cones: Cones) -> Vector:
    """A point of the dual cone near z; not a number where that is not known."""
    z, k = z.copy(), cones.zero + cones.nonneg
    z[cones.zero : k] = np.maximum(z[cones.zero : k], 0.0)
    for size in cones.soc:
        z[k] = max(z[k], float(np.linalg.norm(z[k + 1 : k + size])) * (1.0 + 4e-16))
        k += size
    for n in cones.psd:
        columns, rows = np.tril_indices(n)  # the upper triangle, column by column
        size, diagonal = len(rows), rows == columns
        Z = np.zeros((n, n))
        Z[rows, columns] = z[k : k + size] * np.where(diagonal, 1.0, math.sqrt(0.5))
        least = float(np.linalg.eigvalsh(Z, UPLO="U")[0]) - 1e-15 * n * float(np.abs(Z).max())
        z[k : k + size][diagonal] += max(0.0, -least)
        k += size
    for _ in range(cones.exp):
        u, v, w = z[k : k + 3]
        # K* = {u < 0, −u·exp(v/u − 1) ≤ w} or {u = 0, v ≥ 0, w ≥ 0}
        with np.errstate(all="ignore"):
            needed = -u * math.exp(min(v / u - 1.0, 700.0)) if u < 0.0 else (0.0 if u == 0.0 and v >= 0.0 else math.nan)
        z[k + 2] = max(w, needed * (1.0 + 1e-14))
        z[k] = u if needed == needed else math.nan
        k += 3
    return z


def without_residual(problem: Conic, x: Vector, z: Vector) -> Vector:
    """z moved along the equations and scaled block by block, so that Px + q + Aᵀz vanishes as far as possible."""
    cones, A = problem.cones, problem.A
    if not np.isfinite(z).all() or not len(z):
        return z
    r = problem.P @ x + problem.q + A.T @ z
    moves = np.where(np.arange(len(z)) < cones.zero, 1.0, z)
    into_blocks = sparse.csc_array((moves, (np.arange(len(z)), cones.block)), shape=(len(z), len(cones.sizes)))
    through = sparse.csc_array(A.T @ into_blocks)
    normal = sparse.csc_array(through @ through.T)
    slight = 1e-13 * float(normal.diagonal().max(initial=0.0))
    if slight == 0.0:
        return z
    factor = splu(normal + slight * sparse.eye_array(len(r), format="csc"))
    steps = np.zeros(len(cones.sizes))
    for _ in range(3):
        steps += through.T @ factor.solve(-r - through @ steps)
    # a block of a cone must not be scaled below 0
    return z + into_blocks @ np.where(np.arange(len(steps)) < cones.zero, steps, np.maximum(steps, -0.5))


def columns_of(matrix: Any) -> Index:
    """The column of each entry of a matrix that is stored by columns."""
    return np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))


def products(matrix: Any, rows: Vector, columns: Vector) -> Vector:
    """The entries of a matrix stored by columns, times the factors of their rows and columns."""
    return rows[matrix.indices] * matrix.data * columns[columns_of(matrix)]


def upper_triangle(matrix: Any) -> Any:
    """The upper triangle of a square matrix that is stored by columns."""
    if not len(matrix.data):
        return matrix
    kept = matrix.indices <= columns_of(matrix)
    ends = np.concatenate([[0], np.cumsum(kept)])[matrix.indptr]
    return sparse.csc_array((matrix.data[kept], matrix.indices[kept], ends), shape=matrix.shape)


def with_data(matrix: Any, data: Vector) -> Any:
    """A matrix with the same pattern and these entries."""
    return sparse.csc_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def powers_of_two(values: Vector) -> Vector:
    """The powers of two nearest to positive numbers, in the logarithm."""
    return np.ldexp(1.0, np.rint(np.log2(values)).astype(int))
