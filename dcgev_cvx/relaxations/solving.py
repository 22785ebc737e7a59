"""How an SDP relaxation is solved: on which data, by which solver, and what is made of its answer.

A solver is asked for two things only: a matrix X to round, and multipliers to build U from. Both are judged by
arithmetic on the data; the solver's status and objective are recorded and never used.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, TypeAlias

import cvxpy as cp
import numpy as np

from .._numerics.checks import LARGEST_POWER, UNIT_ROUNDOFF, Index, Matrix, Vector, as_flag, as_number, as_real, frozen
from .._numerics.spectra import power_of_two
from ..budgets import Budget
from ..errors import InvalidParameter, InvalidPencil, SolverFailed
from ..pencils import Pencil, expect_pencil
from ..steps.backend import Backend, Solved, attempt, settings_of
from ..steps.scaling import Scaling
from .bounds import check_sdp_size, smallest_B_eigenvalue
from .dual_matrices import Dual, dual_of
from .relaxation import Dimacs, Relaxation, round_off

INTERIOR_POINT_LIMIT = 30
"""Up to this n Clarabel is the faster solver of these SDPs, beyond it SCS: an iteration factors order n²/2, or n."""
BEYOND = 1e30
"""Larger numbers are not an answer to a problem whose data are of size one."""

Reader: TypeAlias = Callable[[cp.Problem, "ScaledData", str], tuple[Matrix, Matrix, float]]
"""From a solved problem to X, the slack S ⪰ 0 and μ of the stationarity A + U + c·b·D² + S = μB."""
SdpModel: TypeAlias = Callable[[Matrix, Matrix | None, Any, Vector | None], cp.Problem]
"""A relaxation of `dcgev_cvx.models`, from A, B, its radius, k or ρ, and the weights d."""
SolverChoice: TypeAlias = Backend | str | None
"""Which solver: None for Clarabel up to n = 30 and SCS beyond."""


@dataclass(frozen=True)
class ScaledData:
    """A pencil as a solver is given it: |λ(A, B)| < 4, weights d ≤ 1 of the moduli, and a shift σ above λmax(A, B).

    `unit` is what the weights were divided by: Σ dᵢ|xᵢ| in the user's units is unit·Σ d̂ᵢ|x̂ᵢ|. `begin` is a time of
    perf_counter.
    """

    pencil: Pencil
    scaling: Scaling
    A: Matrix
    B: Matrix
    weights: Vector | None
    d: Vector
    unit: float
    shift: float
    begin: float
    time_limit: float | None

    @classmethod
    def of(cls, pencil: Pencil, time_limit: float | None, force: bool, weights: Vector | None = None) -> ScaledData:
        """The data of a pencil for an SDP, checked; the weights are in the user's units, 1 by default."""
        begin = perf_counter()
        check_sdp(pencil, time_limit, force)
        scaling = Scaling.of_pencil(pencil)
        scaled = scaling.pencil(pencil)
        size = max(abs(scaled.lambda_max), abs(scaled.lambda_min))
        zoom = 4.0 / power_of_two(size)
        # a fifth above λmax: A − σB is then negative definite with room, whatever LAPACK rounded
        shift = zoom * (scaled.lambda_max + 0.2 * size)
        A, B = scaled.dense()
        w = scaling.u if weights is None else scaling.vector(weights)
        unit = float(np.max(w))
        scaling = replace(scaling, o=scaling.o / zoom)
        return cls(pencil, scaling, zoom * A, B, weights, w / unit, unit, shift, begin, time_limit)

    def radius(self, radius: Vector) -> Vector:
        """Scaled radii, at most 2√(n/λmin(B)), from where on they are slack: 1e200 would make a solver fail."""
        lowest = max(smallest_B_eigenvalue(self.pencil), UNIT_ROUNDOFF * self.pencil.B_scale)
        return np.minimum(radius, 2.0 * math.sqrt(self.pencil.n / lowest)) / self.unit

    @np.errstate(over="ignore", invalid="ignore")
    def multiplier(self, dual: Dual | None) -> Matrix:
        """U in the user's units; 0, which proves λmax(A, B), without a dual matrix or where it overflows."""
        if dual is None:
            return np.zeros_like(self.A)
        U = self.scaling.multiplier_form(dual.U + np.diag(dual.diagonal))
        return U if np.all(np.isfinite(U)) else np.zeros_like(U)


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


def solve_model(problem: cp.Problem, n: int, solver: SolverChoice, time_limit: float | None = None) -> Solved:
    """The first solver that answers, an answer cut short by the limit included; SolverFailed where none does.

    By default Clarabel with SCS behind it for small n, SCS beyond. The caller's options are given to the first solver
    only, since a fallback would not understand them.
    """
    if solver is None:
        solver = Backend("CLARABEL", fallback=("SCS",)) if n <= INTERIOR_POINT_LIMIT else Backend("SCS")
    backend = solver if isinstance(solver, Backend) else Backend(solver)
    reasons: list[str] = []
    for name in backend.solvers:
        given = dict(backend.options) if name == backend.solver else {}
        options = given or dict(settings_of(name).bound)
        limit = settings_of(name).time_limit
        if time_limit is not None and limit is not None:
            options.setdefault(limit, float(time_limit))
        try:
            return attempt(problem, name, options, unfinished=True)
        except SolverFailed as failure:
            reasons.append(str(failure))
    raise SolverFailed("; then ".join(reasons))


def from_primal(problem: cp.Problem, data: ScaledData, solver: str) -> tuple[Matrix, Matrix, float]:
    """X is a variable; S and μ are the multipliers of the first two constraints, X ⪰ 0 or X ⪰ xxᵀ, and tr(XB)."""
    X = matrix_of(problem.var_dict["X"].value, len(data.A), solver)
    S = matrix_of(problem.constraints[0].dual_value, problem.constraints[0].shape[0], solver)
    return X, S[: len(X), : len(X)], solver_number(problem.constraints[1].dual_value)


@dataclass(frozen=True)
class Limit:
    """What keeps the moduli M_gh = Σ_{i∈g, j∈h} dᵢdⱼ|Xᵢⱼ| small, g and h being groups, in scaled units.

    M_gh² ≤ k_g T_g·k_h T_h, T_g = Σ_{i∈g} dᵢ²Xᵢᵢ, for a budget (k_g); M_gh ≤ r_g·r_h for radii; neither where the
    moduli have a price in the objective.
    """

    labels: Index
    budget: Budget | None = None
    radii: Vector | None = None

    def most(self, spread: Vector) -> Matrix | None:
        """The largest M_gh allowed where dᵢ²Xᵢᵢ is `spread`; None for no limit."""
        if self.budget is None:
            return None if self.radii is None else np.outer(self.radii, self.radii)
        roots = np.sqrt(np.maximum(self.budget.counts * np.bincount(self.labels, spread), 0.0))
        return np.outer(roots, roots)


@np.errstate(over="ignore", invalid="ignore")  # multipliers may be anything
def solved_sdp(
    name: str,
    data: ScaledData,
    solver: SolverChoice,
    model: SdpModel,
    parameter: tuple[Any, Any],
    bound: Callable[[Matrix, Matrix], float],
    limit: Limit,
    *,
    rounding: Budget | None,
    valid_for: Budget,
    price: float = 0.0,
    read: Reader = from_primal,
) -> Relaxation:
    """Solve a model on scaled data, build U from its multipliers, and prove the bound that U and X give.

    `parameter` is the model's radius, k or ρ, scaled and as the user gave it. b are the multipliers of the limit, or
    the price of the moduli in the objective. A homogeneous model has tr(XB) = 1 and is given A − σB, which saves SCS
    iterations since its spectrum has one sign: tr(XA) is tr(X(A − σB)) + σ.

    Stationarity gives U = μB − A − S off the diagonal; on it the best value is −b·dᵢ². Where a solver's S is only
    nearly right, so is U, and `dual_of` cuts it to |Uᵢⱼ| ≤ b·dᵢdⱼ.
    """
    pencil, A, B, d, labels = data.pencil, data.A, data.B, data.d, limit.labels
    shift = 0.0 if limit.budget is None else data.shift
    problem = model(A - shift * B, B, parameter[0], d)
    done = solve_model(problem, pencil.n, solver, data.time_limit)
    X, S, mu = read(problem, data, done.solver)
    mu += shift
    squares = np.maximum(np.diagonal(X), 0.0)
    most, moduli = limit.most(d**2 * squares), sums_by_group(np.abs(X) * np.outer(d, d), labels)
    b = np.full((1, 1), price) if most is None else multipliers(problem.constraints[2].dual_value, len(most))
    dual = dual_of(mu * B - A - S, d, labels, b, tight=limit.budget is not None)
    U = data.multiplier(dual)
    excess = float(np.sum(B * X)) - 1.0
    value = float(np.sum(A * X)) - shift * excess - price * float(np.sum(moduli))
    over = (
        0.0 if most is None else float(np.linalg.norm(np.maximum(moduli - most, 0.0))) / max(1.0, float(np.max(most)))
    )
    paid = 0.0 if most is None or limit.budget is not None else float(np.sum(b * most))
    residual = np.full_like(A, np.inf)
    if dual is not None:
        charges = dual.diagonal if limit.budget is None else dual.charges(limit.budget, squares)
        residual = A + dual.U + np.diag(charges) + S - mu * B
    dimacs = Dimacs.of(
        A,
        X,
        S,
        objectives=(value, mu + paid),
        violation=math.hypot(over, max(0.0, excess) if limit.budget is None else abs(excess)),
        residual=residual,
    )
    found = data.scaling.matrix(X)
    return Relaxation(
        name=name,
        value=data.scaling.o * value,
        upper_bound=bound(U, found),
        X=frozen(found),
        U=frozen(U),
        problem=model(pencil.dense()[0], pencil.B, parameter[1], data.weights),
        solver=done.solver,
        status=done.status,
        rounded=round_off(pencil, found, rounding, name, data.begin),
        dimacs=dimacs,
        valid_for=valid_for,
        seconds=perf_counter() - data.begin,
    )


def sums_by_group(M: Matrix, labels: Index) -> Matrix:
    """The sum of M over the rows of each group and the columns of each."""
    inside = np.equal.outer(np.arange(int(np.max(labels)) + 1), labels).astype(np.float64)
    return inside @ M @ inside.T


def multipliers(raw: Any, m: int) -> Matrix:
    """A solver's multipliers of the limits of all groups g ≤ h as a symmetric matrix, 0 where they are not numbers."""
    array, b = solver_numbers(raw), np.zeros((m, m))
    if array.size == m * (m + 1) // 2:
        b[np.triu_indices(m)] = np.maximum(array.ravel(), 0.0)
    return np.maximum(b, b.T)


def solver_numbers(raw: Any) -> Matrix:
    """What a solver left as an array; an empty one for anything but real numbers up to BEYOND."""
    try:
        array = as_real(raw, "the answer", InvalidParameter)
    except InvalidParameter:
        return np.empty(0)
    return array if float(np.max(np.abs(array), initial=0.0)) <= BEYOND else np.empty(0)


def solver_number(raw: Any) -> float:
    """A solver's number, NaN where it is not one: `dual_of` then finds no dual matrix."""
    array = solver_numbers(raw)
    return float(array.item()) if array.size == 1 else math.nan


def matrix_of(raw: Any, n: int, solver: str) -> Matrix:
    """A solver's matrix made symmetric, which it is up to a tolerance only; SolverFailed where it is not a matrix."""
    array = solver_numbers(raw)
    if array.shape != (n, n):
        raise SolverFailed(f"{solver} reported success but returned no finite {n}×{n} matrix.")
    return 0.5 * array + 0.5 * array.T
