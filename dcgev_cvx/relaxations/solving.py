"""How a relaxation is solved: on which data, by which solver, and what is accepted of its answer.

A solver is asked for two things only: a matrix X to round, and multipliers to build U from. Both are judged by
arithmetic on the data; the solver's status and objective are recorded and never used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import cvxpy as cp
import numpy as np

from .._numerics.checks import LARGEST_POWER, UNIT_ROUNDOFF, Matrix, Vector, as_flag, as_number, as_real
from .._numerics.spectra import power_of_two
from ..errors import InvalidParameter, InvalidPencil, SolverFailed
from ..pencils import Pencil, expect_pencil
from ..steps.backend import Backend, Solved, attempt
from ..steps.scaling import Scaling
from .bounds import Dual, check_sdp_size, smallest_B_eigenvalue

INTERIOR_POINT_LIMIT = 30
"""Up to this n Clarabel is the faster solver of these SDPs, beyond it SCS: an iteration factors order n²/2, or n."""
BEYOND = 1e30
"""Larger numbers are not an answer to a problem whose data are of size one."""
DEFAULTS: Mapping[str, Mapping[str, Any]] = MappingProxyType({"SCS": {"normalize": False, "max_iters": 5000}})
"""SCS's own rescaling slows it down on scaled data, up to the point of not ending."""
TIME_OPTION: Mapping[str, str] = MappingProxyType({"SCS": "time_limit_secs", "CLARABEL": "time_limit"})
"""What each solver calls its time limit."""


@dataclass(frozen=True)
class ScaledData:
    """A pencil as a solver is given it: |λ(A, B)| < 4, weights d ≤ 1 of the moduli, and a shift σ above λmax(A, B).

    `unit` is what the weights were divided by: Σ dᵢ|xᵢ| in the user's units is unit·Σ d̂ᵢ|x̂ᵢ|.
    """

    scaling: Scaling
    A: Matrix
    B: Matrix
    d: Vector
    unit: float
    shift: float

    @classmethod
    def of(cls, pencil: Pencil, d: Vector) -> ScaledData:
        """The data of a pencil, d being the weights of the moduli in the user's units."""
        scaling = Scaling.of_pencil(pencil)
        scaled = scaling.pencil(pencil)
        size = max(abs(scaled.lambda_max), abs(scaled.lambda_min))
        zoom = 4.0 / power_of_two(size)
        # a fifth above λmax: A − σB is then negative definite with room, whatever LAPACK rounded
        shift = zoom * (scaled.lambda_max + 0.2 * size)
        A, B = scaled.dense()
        w = scaling.vector(d)
        unit = float(np.max(w))
        return cls(replace(scaling, o=scaling.o / zoom), zoom * A, B, w / unit, unit, shift)

    @np.errstate(over="ignore", invalid="ignore")
    def multipliers(self, dual: Dual | None) -> tuple[Matrix, float]:
        """(U, b) in the user's units; 0, which proves λmax(A, B), without a dual matrix or where it overflows."""
        if dual is not None:
            U = self.scaling.multiplier_form(dual.U - np.diag(dual.b * dual.d**2))
            b = self.scaling.o * dual.b / (self.unit * self.unit)
            if math.isfinite(b) and np.all(np.isfinite(U)):
                return U, b
        return np.zeros_like(self.A), 0.0


def check_sdp(pencil: Any, time_limit: float | None, force: bool) -> None:
    """Raise InvalidParameter for an invalid pencil or time limit, or above SDP_LIMIT without force.

    InvalidPencil where X, which holds reciprocals of Bᵢᵢ, would leave floating point.
    """
    n = expect_pencil(pencil).n
    if time_limit is not None:
        as_number(time_limit, "time_limit", strict=True)
    if np.any(np.abs(np.log10(pencil.B_roots)) > LARGEST_POWER):
        low, high = float(np.min(pencil.B_diagonal)), float(np.max(pencil.B_diagonal))
        raise InvalidPencil(
            f"diag(B) lies between {low:.1e} and {high:.1e}: an SDP needs it between 1e-{2 * LARGEST_POWER} and "
            f"1e{2 * LARGEST_POWER}, for X holds its reciprocals. Rescale B."
        )
    if not as_flag(force, "force"):
        check_sdp_size(n)


def useful_radius(pencil: Pencil, radius: float) -> float:
    """The radius, but at most 2√(n/λmin(B)), from where on the budget is slack: 1e200 would make a solver fail."""
    lowest = max(smallest_B_eigenvalue(pencil), UNIT_ROUNDOFF * pencil.B_scale)
    return min(radius, 2.0 * math.sqrt(pencil.n / lowest))


def backend_for(n: int, solver: Backend | str | None) -> Backend:
    """The given solver, or Clarabel with SCS behind it for small n and SCS beyond."""
    if solver is None:
        return Backend("CLARABEL", fallback=("SCS",)) if n <= INTERIOR_POINT_LIMIT else Backend("SCS")
    return solver if isinstance(solver, Backend) else Backend(solver)


def solve_relaxation(problem: cp.Problem, backend: Backend, time_limit: float | None) -> Solved:
    """The first solver that answers, an answer cut short by the limit included; SolverFailed where none does.

    The caller's options are given to the first solver only, since a fallback would not understand them.
    """
    reasons: list[str] = []
    for name in backend.solvers:
        given = dict(backend.options) if name == backend.solver else {}
        options = given or dict(DEFAULTS.get(name, {}))
        if time_limit is not None and name in TIME_OPTION:
            options.setdefault(TIME_OPTION[name], float(time_limit))
        try:
            return attempt(problem, name, options, unfinished=True)
        except SolverFailed as failure:
            reasons.append(str(failure))
    raise SolverFailed("; then ".join(reasons))


def numbers_of(raw: Any) -> Matrix:
    """What a solver left as an array; an empty one for anything but real numbers up to BEYOND."""
    try:
        array = as_real(raw, "the answer", InvalidParameter)
    except InvalidParameter:
        return np.empty(0)
    return array if float(np.max(np.abs(array), initial=0.0)) <= BEYOND else np.empty(0)


def number_of(raw: Any) -> float:
    """A solver's number, NaN where it is not one: `dual_of` then finds no dual matrix."""
    array = numbers_of(raw)
    return float(array.item()) if array.size == 1 else math.nan


def matrix_of(raw: Any, n: int, solver: str) -> Matrix:
    """A solver's matrix made symmetric, which it is up to a tolerance only; SolverFailed where it is not a matrix."""
    array = numbers_of(raw)
    if array.shape != (n, n):
        raise SolverFailed(f"{solver} reported success but returned no finite {n}×{n} matrix.")
    return 0.5 * array + 0.5 * array.T
