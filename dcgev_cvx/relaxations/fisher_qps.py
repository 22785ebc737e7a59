"""The ℓ1 relaxations of sparse FDA, two QPs, each with a proved lower bound (Section 6).

With A = aaᵀ the constraint xᵀBx ≤ 1 and the objective change places: min xᵀBx on the plane aᵀx = 1. This is convex,
so that the ℓ1 ball or penalty leaves a QP with nothing relaxed but the cardinality. The Fisher ratio of the answer
is 1/xᵀBx, and a lower bound L on xᵀBx bounds it by 1/L from above.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import cvxpy as cp
import numpy as np

from .. import models
from .._numerics.checks import UNIT_ROUNDOFF, Vector, as_number, frozen
from ..errors import Infeasible, SolverFailed
from ..penalties import L1Penalty
from ..pencils import Pencil
from ..programs import SparseFDA
from ..steps.scaling import Scaling
from .bounds import Gap, smallest_B_eigenvalue
from .solving import SolverChoice, solve_model, solver_number, solver_numbers


@dataclass(frozen=True)
class FisherQP:
    """A convex QP of sparse FDA, solved: x with aᵀx = 1, its value from the data, and a proved lower bound.

    Parameters
    ----------
    name : str
        Which QP it is.
    x : ndarray
        The solver's vector, moved onto the constraints.
    value : float
        The objective at x.
    lower_bound : float
        Proved by duality for any multipliers, rounding included; 0 where the solver's are useless.
    problem : cvxpy.Problem
        The model of `dcgev_cvx.models` with the user's own data, to be printed or solved in class. The package solves
        the same model on scaled data. None after unpickling.
    solver : str
        The solver that answered.
    status : str
        What the solver claimed.
    seconds : float
        The time for everything.

    Examples
    --------
    >>> from dcgev_cvx.relaxations import fisher_l1
    >>> print(fisher_l1([1.0, 0.5], [[1.0, 0.0], [0.0, 1.0]], radius=1.2).problem)
    minimize xᵀBx
    subject to aᵀx = 1
               ‖x‖₁ ≤ radius
    """

    name: str
    x: Vector
    value: float
    lower_bound: float
    problem: cp.Problem
    solver: str
    status: str
    seconds: float

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "problem": None}

    @property
    def gap(self) -> Gap:
        """Between the lower bound and the value: the optimum lies inside."""
        return Gap(self.lower_bound, self.value)

    def __str__(self) -> str:
        nonzeros = int(np.sum(np.abs(self.x) > 1e-6 * np.max(np.abs(self.x))))
        return (
            f"{self.name}: value {self.value:.8g}, proved lower bound {self.lower_bound:.8g} "
            f"({self.solver}: {self.status}), {nonzeros} of {len(self.x)} entries above 1e-6 of the largest"
        )


def fisher_l1(a: Any, B: Any, radius: float, *, solver: SolverChoice = None) -> FisherQP:
    """Solve min xᵀBx s.t. aᵀx = 1, ‖x‖₁ ≤ radius (Eq:sparsefda).

    Infeasible unless radius ≥ 1/‖a‖∞, because 1 = aᵀx ≤ ‖a‖∞‖x‖₁ (beyond the paper).

    Parameters
    ----------
    a : array_like
        The difference of the class means, from `fda_vectors`.
    B : array_like, Pencil or None
        The within-class scatter, positive definite; None is the identity.
    radius : float
        The ℓ1 budget, from 1/‖a‖∞ (one variable) to the ℓ1 norm of B⁻¹a/(aᵀB⁻¹a), from where on the answer is
        the dense Fisher direction.
    solver : str or Backend, optional
        Clarabel by default.

    Returns
    -------
    FisherQP
        The vector, its value and the lower bound.

    Raises
    ------
    Infeasible
        If radius < 1/‖a‖∞, or a = 0.
    InvalidPencil
        If B is not positive definite.

    Examples
    --------
    >>> from dcgev_cvx.relaxations import fisher_l1
    >>> found = fisher_l1([1.0, 0.5], [[1.0, 0.0], [0.0, 1.0]], radius=1.0)
    >>> [round(float(t), 5) + 0.0 for t in found.x], round(found.value, 5)
    ([1.0, 0.0], 1.0)
    >>> fisher_l1([1.0, 0.5], [[1.0, 0.0], [0.0, 1.0]], radius=0.5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dcgev_cvx.errors.Infeasible: no x has aᵀx = 1 and ‖x‖₁ ≤ 0.5: the smallest ℓ1 radius is 1/‖a‖∞ = 1...
    """
    program = SparseFDA(a, B, 0.0, penalty=L1Penalty())
    radius = as_number(radius, "radius", strict=True)
    least = 1.0 / float(np.max(np.abs(program.a)))
    if radius < least:
        raise Infeasible(
            f"no x has aᵀx = 1 and ‖x‖₁ ≤ {radius:g}: the smallest ℓ1 radius is 1/‖a‖∞ = {least:.10g}. "
            f"Take radius ≥ {least:.10g}; a cardinality k is another quantity."
        )
    return solved("ℓ1 FDA", program, models.fisher_l1, radius, solver)


def fisher_l1_penalized(a: Any, B: Any, nu: float, *, solver: SolverChoice = None) -> FisherQP:
    """Solve min xᵀBx + ν‖x‖₁ s.t. aᵀx = 1 (Section 6, the penalized version of Eq:sparsefda).

    Each ν > 0 solves `fisher_l1` at radius ‖x(ν)‖₁, and `search.fisher.LeastSquaresForm` says which LASSO it is.

    Parameters
    ----------
    a : array_like
        The difference of the class means, from `fda_vectors`.
    B : array_like, Pencil or None
        The within-class scatter, positive definite; None is the identity.
    nu : float
        The price ν ≥ 0; at 0 the answer is the dense Fisher direction, and ‖x‖₁ falls toward 1/‖a‖∞ as ν grows.
    solver : str or Backend, optional
        Clarabel by default.

    Returns
    -------
    FisherQP
        The vector, its value and the lower bound.

    Examples
    --------
    >>> from dcgev_cvx.relaxations import fisher_l1_penalized
    >>> found = fisher_l1_penalized([1.0, 0.5], [[1.0, 0.0], [0.0, 1.0]], nu=0.0)
    >>> found.x.round(4) + 0.0, round(found.value, 4)
    (array([0.8, 0.4]), 0.8)
    """
    program = SparseFDA(a, B, nu, penalty=L1Penalty())
    return solved("penalized ℓ1 FDA", program, models.fisher_l1_penalized, None, solver)


def solved(
    name: str, program: SparseFDA, model: Callable[..., cp.Problem], radius: float | None, solver: SolverChoice
) -> FisherQP:
    """Solve a QP on scaled data; the value and the bound are computed from the user's."""
    begin, pencil = perf_counter(), program.pencil
    scaling = Scaling.of_program(program).uniform()
    unit = float(scaling.u[0])  # of every variable, and so of the ℓ1 norm
    scaled = model(
        scaling.vector(program.a),
        scaling.objective_form(pencil.dense()[1]),
        program.nu * (unit / scaling.o) if radius is None else radius / unit,
    )
    done = solve_model(scaled, 1, solver)
    found = solver_numbers(scaled.var_dict["x"].value)
    if found.shape != program.a.shape:
        raise SolverFailed(f"{done.solver} reported success but returned no finite vector.")
    x = onto_constraints(scaling.vector(found), program.a, radius)
    # the multiplier of ‖x‖₁ ≤ radius is 2β, in units of the objective over those of x
    price = program.nu if radius is None else solver_number(scaled.constraints[1].dual_value) * scaling.o / unit
    value = pencil.B_quad(x) + program.nu * float(np.sum(np.abs(x)))
    bound = dual_bound(pencil, program.a, x, max(0.0, 0.5 * price), radius, value)
    original = model(program.a, pencil.B, program.nu if radius is None else radius)
    return FisherQP(name, frozen(x), value, bound, original, done.solver, done.status, perf_counter() - begin)


def onto_constraints(x: Vector, a: Vector, radius: float | None) -> Vector:
    """x on the plane aᵀx = 1; where ‖x‖₁ > radius, pulled toward eᵢ/aᵢ with the largest |aᵢ|, whose norm is least.

    A share t of that vertex gives the norm (1 − t)‖x‖₁ + t/‖a‖∞ at most, by convexity, and the plane is kept.
    """
    ax, i = float(a @ x), int(np.argmax(np.abs(a)))
    vertex = np.zeros_like(a)
    vertex[i] = 1.0 / a[i]
    x = x / ax if ax > 0.0 else vertex
    norm = float(np.sum(np.abs(x)))
    if radius is None or norm <= radius:
        return x
    room = norm - abs(float(vertex[i]))
    share = min(1.0, (norm - radius) / room) if room > 0.0 else 1.0
    return (1.0 - share) * x + share * vertex


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # multipliers may be anything
def dual_bound(pencil: Pencil, a: Vector, x: Vector, beta: float, radius: float | None, attained: float) -> float:
    """max over λ of 2λ − 2β·radius − (λa − s)ᵀB⁻¹(λa − s), |s| ≤ β: a lower bound for every s and β (Eq:sparsefda).

    Proof. xᵀBx ≥ 2cᵀx − cᵀB⁻¹c for every c; with c = λa − s, aᵀx = 1 and sᵀx ≤ β‖x‖₁ this is the bound, and
    β‖x‖₁ ≤ β·radius, or is paid for by the penalty when 2β ≤ ν. s = λa − Bx at the optimum. For fixed s the bound is
    a concave parabola in λ with its top at λ = (1 + sᵀB⁻¹a)/(aᵀB⁻¹a).

    Rounding. With z in place of B⁻¹c the first inequality reads xᵀBx ≥ 2xᵀBz − zᵀBz, and Bz = c − e with a small e.
    At the optimum ‖x‖_B² is at most the attained value, so that eᵀx ≤ ‖e‖·(attained/λmin(B))^½ is taken off.
    """
    Bx = pencil.B_dot(x)
    # at the optimum λaᵢ − (Bx)ᵢ = β sign xᵢ where xᵢ ≠ 0; times xᵢ and summed, with aᵀx = 1, this gives λ
    guess = x @ Bx + beta * np.sum(np.abs(x))
    # any s in the box gives a bound; this one is optimal where x is
    s = np.clip(guess * a - Bx, -beta, beta)
    Ba = pencil.B_solve(a)
    lam = (1.0 + s @ Ba) / (a @ Ba)
    c = lam * a - s
    z = pencil.B_solve(c)
    B, lowest = pencil.dense()[1], smallest_B_eigenvalue(pencil)
    moduli, unit = np.abs(B) @ np.abs(z), 2.0 * (pencil.n + 8) * UNIT_ROUNDOFF
    e = np.abs(c - B @ z) + unit * (moduli + np.abs(lam * a) + beta)
    price = 0.0 if radius is None else 2.0 * beta * radius
    # twice the attained value, which was rounded too
    lost = 2.0 * np.linalg.norm(e) * np.sqrt(2.0 * attained / lowest) if lowest > 0.0 else math.inf
    lost += unit * (2.0 * abs(lam) + price + np.abs(z) @ moduli)
    bound = float(2.0 * lam - price - z @ (B @ z) - lost)
    return bound if bound > 0.0 else 0.0  # also for NaN
