"""The ℓ1 relaxations of sparse FDA, two QPs (Section 6).

With A = aaᵀ the constraint xᵀBx ≤ 1 and the objective change places: min xᵀBx on the plane aᵀx = 1, which is
convex, so that the ℓ1 ball or penalty leaves a QP with nothing relaxed but the cardinality. The Fisher
ratio of the answer is 1/xᵀBx, and a lower bound L on xᵀBx bounds it by 1/L from above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import cvxpy as cp
import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Vector, as_number, as_vector, frozen
from .._numerics.limits import refuse_size
from .._numerics.spectra import power_of_two
from ..errors import Infeasible, SolverFailed
from ..pencils import Pencil
from ..steps.backend import Backend
from .base import backend_for, number_of, numbers_of, solve_relaxation
from .bounds import Gap, smallest_B_eigenvalue


@dataclass(frozen=True)
class FisherQP:
    """A convex QP of sparse FDA, solved: x with aᵀx = 1, its value from the data, and a lower bound from duality.

    The bound holds for any multipliers, so it does not depend on the solver; the gap between the two is what the
    solver left undone.

    x is the solver's vector moved onto the constraints, so value is attained; lower_bound is recomputed from
    the multipliers, less what rounding may have added to it. Useless multipliers leave 0, which bounds xᵀBx too.
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
        # a compiled problem holds its solver and does not travel between processes
        return {**vars(self), "problem": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

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


def fisher_l1(a: Any, B: Any, radius: float, *, solver: Backend | str | None = None) -> FisherQP:
    """min xᵀBx s.t. aᵀx = 1, ‖x‖₁ ≤ radius (Eq:sparsefda).

    Infeasible unless radius ≥ 1/‖a‖∞, because 1 = aᵀx ≤ ‖a‖∞‖x‖₁ (beyond the paper).

    Parameters
    ----------
    a, B
        The difference of the class means and the within-class scatter, as `pencils.fda_vectors` makes them.
    radius
        The ℓ1 budget, from 1/‖a‖∞ (one variable) to the ℓ1 norm of B⁻¹a/(aᵀB⁻¹a), from where on the answer is
        the dense Fisher direction.
    solver
        A name or a Backend; Clarabel by default.

    Raises
    ------
    Infeasible
        When radius < 1/‖a‖∞, with that number, or when a = 0.
    InvalidPencil
        When B is not positive definite.

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
    pencil, a = checked(a, B)
    radius = as_number(radius, "radius", strict=True)
    least = 1.0 / float(np.max(np.abs(a)))
    if radius < least:
        raise Infeasible(
            f"no x has aᵀx = 1 and ‖x‖₁ ≤ {radius:g}: the smallest ℓ1 radius is 1/‖a‖∞ = {least:.10g}. "
            f"Take radius ≥ {least:.10g}; a cardinality k is another quantity."
        )
    return solve_qp("ℓ1 FDA", pencil, a, radius, None, solver)


def fisher_l1_penalized(a: Any, B: Any, nu: float, *, solver: Backend | str | None = None) -> FisherQP:
    """min xᵀBx + ν‖x‖₁ s.t. aᵀx = 1 (Section 6, the penalized version of Eq:sparsefda).

    At ν = 0 it is the dense Fisher direction; as ν grows the ℓ1 norm falls toward its least value 1/‖a‖∞.
    Each ν > 0 solves `fisher_l1` at radius ‖x(ν)‖₁, and `search.fisher.LeastSquaresForm` says which LASSO it is.
    """
    pencil, a = checked(a, B)
    return solve_qp("penalized ℓ1 FDA", pencil, a, None, as_number(nu, "nu"), solver)


def checked(a: Any, B: Any) -> tuple[Pencil, Vector]:
    """The direction and the metric: B positive definite, a not zero."""
    metric = B if isinstance(B, Pencil) else Pencil(B if B is not None else np.eye(np.size(a)), B)
    a = as_vector(a, metric.n, "a")
    if not a.any():
        raise Infeasible("a = 0: no x has aᵀx = 1. The class means do not differ.")
    refuse_size(a, metric.B_diagonal)
    return metric, a


def solve_qp(
    name: str, pencil: Pencil, a: Vector, radius: float | None, nu: float | None, solver: Backend | str | None
) -> FisherQP:
    """Solve in units where ‖a‖∞ and the largest Bᵢᵢ are of size one; radius or nu is given, not both."""
    begin = perf_counter()
    size, scale = power_of_two(float(np.max(np.abs(a)))), power_of_two(pencil.B_scale)
    B = pencil.dense()[1] / scale
    x = cp.Variable(pencil.n, name="x")
    a_hat = cp.Constant(a / size, name="a")
    plane = a_hat @ x == 1
    quadratic, norm = cp.quad_form(x, cp.psd_wrap(cp.Constant(B, name="B"))), cp.norm1(x)
    if radius is not None:
        ball = norm <= cp.Parameter(nonneg=True, name="radius", value=radius * size)
        problem = cp.Problem(cp.Minimize(quadratic), [plane, ball])
    else:
        ball = None
        price = cp.Parameter(nonneg=True, name="nu", value=(nu or 0.0) * size / scale)
        problem = cp.Problem(cp.Minimize(quadratic + price * norm), [plane])
    solved = solve_relaxation(problem, backend_for(1, solver), None)
    found = numbers_of(x.value)
    if found.shape != (pencil.n,):
        raise SolverFailed(f"{solved.solver} reported success but returned no finite vector.")
    answer = feasible(found / size, a, radius)
    beta = 0.5 * (number_of(ball) if ball is not None else (nu or 0.0) * size / scale) * scale / size
    value = pencil.B_quad(answer) + (nu or 0.0) * float(np.sum(np.abs(answer)))
    bound = dual_bound(pencil, a, answer, max(0.0, beta), radius, value)
    seconds = perf_counter() - begin
    return FisherQP(name, frozen(answer), value, bound, problem, solved.solver, solved.status, seconds)


def feasible(x: Vector, a: Vector, radius: float | None) -> Vector:
    """X on the plane aᵀx = 1; pulled toward the vertex of the smallest ball when it sticks out of ‖x‖₁ ≤ radius.

    A share t of the vertex gives the norm (1 − t)‖x‖₁ + t/‖a‖∞ at most, by convexity, and the plane is kept.
    """
    ax = float(a @ x)
    x = x / ax if ax > 0.0 else vertex(a)
    excess = float(np.sum(np.abs(x))) - (math.inf if radius is None else radius)
    if radius is None or excess <= 0.0:
        return x
    corner = vertex(a)
    room = float(np.sum(np.abs(x))) - float(np.sum(np.abs(corner)))
    share = min(1.0, excess / room) if room > 0.0 else 1.0
    return (1.0 - share) * x + share * corner


def vertex(a: Vector) -> Vector:
    """eᵢ/aᵢ with the largest |aᵢ|: the feasible point of smallest ℓ1 norm."""
    i = int(np.argmax(np.abs(a)))
    x = np.zeros_like(a)
    x[i] = 1.0 / a[i]
    return x


@np.errstate(over="ignore", invalid="ignore", divide="ignore")  # multipliers may be anything
def dual_bound(pencil: Pencil, a: Vector, x: Vector, beta: float, radius: float | None, attained: float) -> float:
    """max over λ of 2λ − 2β·radius − (λa − s)ᵀB⁻¹(λa − s), |s| ≤ β: a lower bound for every s and β (Eq:sparsefda).

    Proof. xᵀBx ≥ 2cᵀx − cᵀB⁻¹c for every c; with c = λa − s, aᵀx = 1 and sᵀx ≤ β‖x‖₁ this is the bound, and
    β‖x‖₁ ≤ β·radius, or is paid for by the penalty when 2β ≤ ν. s = λa − Bx at the optimum.

    Why λ may be chosen freely: for fixed s the bound is a concave parabola in λ with its top at
    λ = (1 + sᵀB⁻¹a)/(aᵀB⁻¹a), where it equals λ(1 + sᵀB⁻¹a) − sᵀB⁻¹s − 2β·radius. The multiplier estimated from the
    support only serves to find a good s.

    Rounding. With z in place of B⁻¹c the first inequality reads xᵀBx ≥ 2xᵀBz − zᵀBz, and Bz = c − e with a small e.
    At the optimum ‖x‖_B² is at most the attained value, so that eᵀx ≤ ‖e‖·(attained/λmin(B))^½ is taken off.
    """
    Bx = pencil.B_dot(x)
    on = np.abs(x) > 1e-7 * float(np.max(np.abs(x)))
    # on the support |λaᵢ − (Bx)ᵢ| = β with the sign of xᵢ: the average over it recovers λ
    guess = (a[on] @ (Bx[on] + beta * np.sign(x[on]))) / (a[on] @ a[on])
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
    return bound if bound > 0.0 else 0.0  # so for NaN
