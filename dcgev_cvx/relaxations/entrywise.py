"""Relaxations that tie sparsity to X by its moduli: the paper's 1ᵀ|X|1 ≤ k², valid budgets, the homogeneous one.

All three SDPs have the same dual up to two constants (c, r): minimise λmax(A + U + c·b·D², B) + r·b over
symmetric U with |Uᵢⱼ| ≤ b·dᵢdⱼ. (c, r) = (0, radius²) for a fixed budget, (k, 0) for the homogeneous one, and
b = ρ fixed for the penalty. The proof is Lagrange's: the multiplier b of the budget turns b·Σ dᵢdⱼ|Xᵢⱼ| into
max over such U of −tr(UX), and max tr(X(A + U + …)) over tr(XB) = 1, X ⪰ 0 is an eigenvalue.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal, TypeAlias

import cvxpy as cp
import numpy as np
from scipy.linalg import eigvalsh

from .._numerics.checks import Matrix, Vector, as_number, one_of
from .._numerics.spectra import power_of_two
from ..certificates import checked_k
from ..errors import InvalidPencil
from ..pencils import Pencil, expect_pencil
from ..steps.backend import Backend, Solved
from .base import (
    Answer,
    Relaxation,
    backend_for,
    matrix_of,
    number_of,
    refuse_sdp,
    relaxation_of,
    solve_relaxation,
    useful_radius,
)
from .bounds import (
    Dual,
    Scale,
    Units,
    dual_of,
    homogeneous_bound,
    largest_valid_k,
    penalized_bound,
    radius_bound,
    scale_vector,
    valid_radius,
)
from .sharpen import DualFunction, sharpen

Rule: TypeAlias = Literal["paper", "valid"]


def radius_for(pencil: Pencil, k: int, rule: Rule) -> float:
    """The ℓ1 budget by name: "paper" = k (Section 3), "valid" = √(k/λmin(B)) (beyond the paper).

    Parameters
    ----------
    pencil, k
        The problem whose cardinality is to be replaced by an ℓ1 ball.
    rule
        "paper": ‖x‖₁ ≤ k. For B = I it holds with room to spare, as ‖x‖₁ ≤ √k, so its bound is weak; for
        k·λmin(B) < 1 it may cut the optimum off, and is then no bound at all. "valid": the smallest radius
        that is proved to hold on all of (SGEV-P).

    Raises
    ------
    InvalidParameter
        For a k outside 1 … n or an unknown rule.
    InvalidPencil
        For "valid" where λmin(B) > 0 cannot be proved in floating point: then no radius is known to hold.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations import radius_for
    >>> pencil = datasets.pitprops()
    >>> radius_for(pencil, 4, "paper"), round(radius_for(pencil, 4, "valid"), 9)
    (4.0, 2.0)
    """
    k = checked_k(k, expect_pencil(pencil).n)
    if one_of(rule, "rule", ("paper", "valid")) == "paper":
        return float(k)
    radius = valid_radius(pencil, k)
    if math.isinf(radius):
        raise InvalidPencil(
            f"no ℓ1 radius is proved to hold at k = {k}: λmin(B) > 0 cannot be proved in floating point, B being "
            f"singular to working precision (its condition number is near {condition(pencil):.0e}). Add a ridge, or "
            "use homogeneous_sdp, which needs no radius."
        )
    return radius


def condition(pencil: Pencil) -> float:
    """λmax(B)/λmin(B) as LAPACK has it, for B in the units of its diagonal; for messages."""
    B = pencil.dense()[1] / np.outer(pencil.B_roots, pencil.B_roots)
    return float(np.linalg.cond(B))


@dataclass(frozen=True)
class Model:
    """An SDP in X̂ with weights ŵ on its moduli, in the units of a pencil.

    Its dual is min h(U, b) = λmax(Â + U + c·b·Ŵ², B̂) + r·b over |Uᵢⱼ| ≤ b·ŵᵢŵⱼ; `price` fixes b. The objective
    may be written σ + tr(X(Â − σB̂)) with `shift` σ, which is the same where tr(XB̂) = 1.
    """

    units: Units
    problem: cp.Problem
    X: cp.Variable
    psd: cp.Constraint
    trace: cp.Constraint
    budget: cp.Constraint | None
    w: Vector
    c: float
    r: float
    price: float = math.nan
    shift: float = 0.0

    def dual(self, solved: Solved) -> tuple[Dual | None, Matrix, float]:
        """(U and b from the multipliers, the slack S, μ): stationarity says U = μB̂ − Â − S off the diagonal.

        At the optimum Â + U + c·b·Ŵ² + S = μB̂ with S ⪰ 0. The diagonal of U is not read off: it has a best
        value, −b·ŵᵢ². Where SCS's S is only nearly right, U is too, and `dual_of` cuts it into the box.
        """
        S = matrix_of(self.psd.dual_value, len(self.w), solved.solver)
        mu = number_of(self.trace) + self.shift
        b = self.price if self.budget is None else number_of(self.budget)
        return dual_of(mu * self.units.B - self.units.A - S, self.w, max(0.0, b), tight=self.c > 0.0), S, mu

    def answer(self, solved: Solved, S: Matrix, mu: float, dual: Dual | None) -> Answer:
        """What the solver's pair (X, S) is worth, recomputed.

        Violations are those of X as the solver left it: the budget's relative to its size, the trace's to one.
        The residual compares the multipliers with stationarity and is infinite when there is no dual matrix.
        """
        X = matrix_of(self.X.value, len(self.w), solved.solver)
        A, B = self.units.A, self.units.B
        moduli = float(self.w @ np.abs(X) @ self.w)
        if dual is None:
            residual, b = np.full_like(A, np.inf), math.inf
        else:
            residual, b = DualFunction(A, B, self.c, self.r).matrix(dual) + S - mu * B, dual.b
        fine = self.price * moduli if self.budget is None else 0.0
        excess = 0.0 if self.budget is None else moduli - self.c * float(self.w**2 @ np.diagonal(X)) - self.r
        trace = float(np.sum(B * X)) - 1.0
        # tr(XB) = 1 in the homogeneous form, ≤ 1 in the others
        missed = abs(trace) if self.c > 0.0 else max(0.0, trace)
        violation = math.hypot(max(0.0, excess) / max(1.0, self.r), missed)
        value = float(np.sum(A * X)) - self.shift * trace - fine
        return Answer(X, S, value, mu + self.r * b, violation, residual, solved)


def moduli(X: cp.Variable, w: Vector) -> cp.Expression:
    """Σ_{i≠j} wᵢwⱼ|Xᵢⱼ|, the upper triangle counted twice: X is symmetric.

    Half the absolute values and half the epigraph variables of cp.sum(cp.abs(X)): the SDP's size is set by them.
    """
    if len(w) == 1:
        return cp.Constant(0.0)
    rows, columns = np.triu_indices(len(w), 1)
    upper = cp.vec(cp.upper_tri(X), order="F")
    return cp.Constant(2.0 * w[rows] * w[columns], name="2·wwᵀ") @ cp.abs(upper)


def spread(X: cp.Variable, w: Vector) -> cp.Expression:
    """Σ wᵢ²Xᵢᵢ."""
    return cp.Constant(w * w, name="w²") @ cp.diag(X)


def symbols(units: Units, shift: float = 0.0) -> tuple[cp.Variable, cp.Constraint, cp.Expression, cp.Expression]:
    """X, X ⪰ 0, σ + tr(X(A − σB)), tr(XB).

    The shift σ changes nothing where tr(XB) = 1 and moves the spectrum of A − σB to one side, which saves SCS
    iterations.
    """
    n = len(units.s)
    X = cp.Variable((n, n), symmetric=True, name="X")
    name = "A" if shift == 0.0 else f"(A - {shift:.3g} B)"
    A, B = cp.Constant(units.A - shift * units.B, name=name), cp.Constant(units.B, name="B")
    objective: Any = cp.trace(A @ X)
    product: Any = cp.trace(B @ X)
    return X, X >> 0, objective if shift == 0.0 else objective + shift, product


def zoomed(units: Units) -> tuple[Units, float]:
    """The units in which |λ(A, B)| ≤ 4, and a shift σ a little above λmax: both save SCS iterations.

    a is adapted so that values in the user's units stay a·value; s is unchanged.
    """
    values = eigvalsh(units.A, units.B, check_finite=False)
    size = max(abs(float(values[0])), abs(float(values[-1])))
    zoom = 4.0 / power_of_two(size)
    # a fifth above λmax: A − σB is then negative definite with room, whatever LAPACK rounded
    shift = zoom * (float(values[-1]) + 0.2 * size)
    return Units(zoom * units.A, units.B, units.a / zoom, units.s), shift


def entrywise_sdp(
    pencil: Pencil,
    radius: float,
    *,
    k: int | None = None,
    solver: Backend | str | None = None,
    time_limit: float | None = None,
    force: bool = False,
) -> Relaxation:
    """max tr(XA) s.t. tr(XB) ≤ 1, 1ᵀ|X|1 ≤ radius², X ⪰ 0: the paper's tractable form (Section 3).

    It relaxes max xᵀAx s.t. xᵀBx ≤ 1, ‖x‖₁ ≤ radius, and bounds (SGEV-P) for k ≤ `valid_k` only. Take
    radius from `radius_for(pencil, k, "paper")` = k or `radius_for(pencil, k, "valid")` = √(k/λmin(B)).
    k is the number of nonzeros of the rounded vector, `valid_k` when it is not given.

    Parameters
    ----------
    pencil
        (A, B). Up to n = 250 unless forced.
    radius
        The ℓ1 budget, > 0. Below 1/max√Bᵢᵢ not even one coordinate vector of unit B norm fits; above
        √(n/λmin(B)) the budget is slack and the value is λmax(A, B)₊.
    k
        Cardinality of the rounded vector, which is no part of the SDP.
    solver
        A name or a Backend; by default Clarabel up to n = 30, SCS beyond.
    time_limit
        Seconds for the solver. An answer cut short still gives a valid bound.
    force
        Build the SDP beyond n = 250.

    Raises
    ------
    InvalidParameter
        For radius ≤ 0, a k out of range, or n above the limit without force.
    SolverFailed
        When no solver of the backend returns a matrix.

    Examples
    --------
    The paper's radius k = 2 allows much more than two nonzeros; √2 is what two nonzeros need:

    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations import entrywise_sdp
    >>> pencil = datasets.pitprops()
    >>> round(entrywise_sdp(pencil, 2.0).upper_bound, 3), round(entrywise_sdp(pencil, 2.0**0.5).upper_bound, 3)
    (3.017, 1.954)
    """
    begin = perf_counter()
    radius = as_number(radius, "radius", strict=True)
    refuse_sdp(pencil, time_limit, force)
    valid_k = largest_valid_k(pencil, radius)
    units, _ = zoomed(Units.of(pencil))
    X, psd, objective, product = symbols(units)
    w = 1.0 / units.s
    unit = float(np.max(w))  # the largest weight becomes one
    r = (useful_radius(pencil, radius) / unit) ** 2
    square = cp.Parameter(nonneg=True, name="radius²", value=r)
    trace, budget = product <= 1, moduli(X, w / unit) + spread(X, w / unit) <= square
    problem = cp.Problem(cp.Maximize(objective), [psd, trace, budget])
    model = Model(units, problem, X, psd, trace, budget, w / unit, c=0.0, r=r)
    solved = solve_relaxation(problem, backend_for(pencil.n, solver), time_limit)
    answer, U, b = sharpened(model, solved, unit, ending(begin, time_limit))
    nonzeros = max(1, valid_k) if k is None else checked_k(k, pencil.n)
    return relaxation_of(
        f"entrywise SDP (radius {radius:.4g})",
        pencil,
        units,
        answer,
        problem,
        upper_bound=radius_bound(pencil, radius, U, level=b),
        U=U,
        b=b,
        k=nonzeros,
        valid_k=valid_k,
        begin=begin,
    )


def homogeneous_sdp(
    pencil: Pencil,
    k: int,
    *,
    scale: Scale | Vector = "diagonal",
    solver: Backend | str | None = None,
    time_limit: float | None = None,
    force: bool = False,
) -> Relaxation:
    """max tr(XA) s.t. tr(XB) = 1, Σ dᵢdⱼ|Xᵢⱼ| ≤ k Σ dᵢ²Xᵢᵢ, X ⪰ 0 (beyond the paper).

    A k-sparse x has (Σ dᵢ|xᵢ|)² ≤ k Σ dᵢ²xᵢ² for every positive d, so xxᵀ is feasible: a relaxation
    of (SGEV-P) for every B, and a much tighter one. scale="diagonal" takes d = diag(B)^½, which makes
    the value independent of the variables' units.

    Both sides of the budget are homogeneous of degree one in X, so that no radius and no λmin(B) enter. With
    tr(XB) = 1 instead of ≤ 1 the value may be negative, as (SGEV-P)'s may. At k = n the budget is slack
    (Cauchy and Schwarz on n entries) and the value is λmax(A, B); at k = 1 it forces Xᵢⱼ = 0 off the
    diagonal and the value is max Aᵢᵢ/Bᵢᵢ, exact.

    Parameters
    ----------
    pencil, k
        The problem, n up to 250 unless forced.
    scale
        The weights d: "diagonal", "identity", or a positive vector. Every choice is valid; the first is
        free of units.
    solver, time_limit, force
        As in `entrywise_sdp`, and the same errors.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations import homogeneous_sdp
    >>> relaxed = homogeneous_sdp(datasets.pitprops(), 6)
    >>> round(relaxed.rounded.value, 4), round(relaxed.upper_bound, 4)
    (3.771, 3.8137)
    """
    begin = perf_counter()
    refuse_sdp(pencil, time_limit, force)
    k = checked_k(k, pencil.n)
    d = scale_vector(pencil, scale)
    units, shift = zoomed(Units.of(pencil))
    X, psd, objective, product = symbols(units, shift)
    w = d / units.s
    unit = float(np.max(w))
    cardinality = cp.Parameter(nonneg=True, name="k", value=float(k))
    # homogeneous on both sides: scaling the weights by their largest changes nothing
    size = spread(X, w / unit)
    trace, budget = product == 1, moduli(X, w / unit) + size <= cardinality * size
    problem = cp.Problem(cp.Maximize(objective), [psd, trace, budget])
    model = Model(units, problem, X, psd, trace, budget, w / unit, c=float(k), r=0.0, shift=shift)
    solved = solve_relaxation(problem, backend_for(pencil.n, solver), time_limit)
    answer, U, b = sharpened(model, solved, unit, ending(begin, time_limit))
    return relaxation_of(
        "homogeneous SDP",
        pencil,
        units,
        answer,
        problem,
        upper_bound=homogeneous_bound(pencil, k, U, scale=d, level=b),
        U=U,
        b=b,
        k=k,
        valid_k=k,
        begin=begin,
    )


def penalized_sdp(
    pencil: Pencil,
    rho: float,
    *,
    k: int | None = None,
    solver: Backend | str | None = None,
    time_limit: float | None = None,
    force: bool = False,
) -> Relaxation:
    """max tr(XA) − ρ1ᵀ|X|1 s.t. tr(XB) ≤ 1, X ⪰ 0: DSPCA's penalised form (d'Aspremont et al. 2007; Section 4).

    value and upper_bound are those of max xᵀAx − ρ‖x‖₁²; upper_bound + ρk/λmin(B) bounds (SGEV-P) at k.

    That last bound holds because a k-sparse x with xᵀBx = 1 has ‖x‖₁² ≤ k/λmin(B); valid_k is 0, since upper_bound
    alone bounds (SGEV-P) at no k. At ρ = 0 the value is λmax(A, B)₊, and it falls to 0 as ρ grows.

    Parameters
    ----------
    rho
        The price ρ ≥ 0 of 1ᵀ|X|1, in the units of A.
    k
        Cardinality of the rounded vector; by default the number of diagonal entries of X that stand out.
    solver, time_limit, force
        As in `entrywise_sdp`.
    """
    begin = perf_counter()
    rho = as_number(rho, "rho")
    refuse_sdp(pencil, time_limit, force)
    units, _ = zoomed(Units.of(pencil))
    X, psd, objective, product = symbols(units)
    w = 1.0 / units.s
    unit = float(np.max(w))
    # from 2·max|Aᵢⱼ| on X = 0 is the optimum: a solver need not be given more
    price = min(rho, 2.0 * pencil.A_scale) * unit * unit / units.a
    charge = cp.Parameter(nonneg=True, name="rho", value=price)
    trace = product <= 1
    total = moduli(X, w / unit) + spread(X, w / unit)
    problem = cp.Problem(cp.Maximize(objective - charge * total), [psd, trace])
    model = Model(units, problem, X, psd, trace, None, w / unit, c=0.0, r=0.0, price=price)
    solved = solve_relaxation(problem, backend_for(pencil.n, solver), time_limit)
    answer, U, _ = sharpened(model, solved, unit, ending(begin, time_limit))
    return relaxation_of(
        f"penalised SDP (rho {rho:.4g})",
        pencil,
        units,
        answer,
        problem,
        upper_bound=penalized_bound(pencil, rho, U),
        U=U,
        b=rho,
        k=max(1, largest_entries(answer.X)) if k is None else checked_k(k, pencil.n),
        valid_k=0,
        begin=begin,
    )


def largest_entries(X: Matrix) -> int:
    """How many diagonal entries of X stand out: above 1e-3 of the largest.

    Xᵢᵢ is the square of a loading when X has rank one: 1e-3 in Xᵢᵢ is 3 % of the largest loading.
    """
    diagonal = np.diagonal(X)
    return int(np.sum(diagonal > 1e-3 * np.max(diagonal)))


def ending(begin: float, time_limit: float | None) -> float:
    """When the improvement of U has to stop: at the time limit."""
    return math.inf if time_limit is None else begin + float(time_limit)


@np.errstate(over="ignore", invalid="ignore")  # multipliers may be anything
def sharpened(model: Model, solved: Solved, unit: float, deadline: float) -> tuple[Answer, Matrix, float]:
    """The solver's answer with its U and b in the user's units, improved where the solve was sloppy.

    The improvement works in the model's units, where the weights are at most one; U goes back multiplied by
    a·ssᵀ and b by a/unit². Without a usable dual matrix U = 0, which proves λmax(A, B).
    """
    units = model.units
    dual, S, mu = model.dual(solved)
    answer = model.answer(solved, S, mu, dual)
    if dual is None:
        return answer, np.zeros_like(S), 0.0
    h = DualFunction(units.A, units.B, model.c, model.r)
    better = sharpen(h, dual, answer.primal, fixed=model.budget is None, deadline=deadline)
    U, b = units.dual(better.U - np.diag(better.b * better.d**2)), units.a * better.b / (unit * unit)
    # what overflows in the user's units proves nothing there
    usable = math.isfinite(b) and bool(np.all(np.isfinite(U)))
    return answer, U if usable else np.zeros_like(S), b if usable else 0.0
