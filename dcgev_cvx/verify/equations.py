"""The equations an answer must satisfy at each level: violation and limit, or nothing where they do not apply.

Each measure returns (violation, limit), both free of units, and is zero at an exact answer. Limits grow with the
condition number of B where rounding alone would break them, and are wider for single precision; they never depend
on the solver.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Vector
from .instances import LEVELS, Instance
from .measures import ascent, excess, objective, proximal_residual, share, spread, surrogate, tangent
from .reference import curvature, optimum, reference
from .tolerances import (
    BOUND,
    BOUND_ULPS,
    CONDITIONS_SHARE,
    MINIMISER_SHARE,
    SINGLE,
    SINGLE_ULP,
    UNIT_NORM,
    VACUOUS,
    Tolerances,
    condition,
    rounding,
    scaled_condition,
)

Measured: TypeAlias = "tuple[float, float] | None"


@dataclass(frozen=True)
class Asked:
    """How exactly an answer is judged: the tolerances, and what single precision has to do with it.

    single    the data are float32, and the answer may be computed in that precision
    rounded   the answer has the dtype float32, and is forgiven what rounding x can do, and no more
    """

    tol: Tolerances
    single: bool = False
    rounded: bool = False

    def rounds(self, instance: Instance) -> float:
        """What rounding x to float32 is forgiven: four units in its last place, which B may magnify."""
        return 4.0 * SINGLE_ULP * scaled_condition(instance) if self.single or self.rounded else 0.0

    def floor(self, instance: Instance) -> float:
        """What single precision is forgiven: rounding the answer, or a whole computation."""
        return max(self.rounds(instance), SINGLE if self.single else 0.0)

    def accuracy(self, instance: Instance) -> float:
        """The limit on x and its conditions: the profile's own, not below what rounding leaves there."""
        return max(self.tol.at(instance), self.floor(instance))

    def feasibility(self, instance: Instance) -> float:
        """The limit on leaving Ω."""
        return max(self.tol.feasibility, rounding(instance), self.floor(instance))

    def value(self, instance: Instance) -> float:
        """The limit on the surrogate's value; ‖x‖_B itself is uncertain by B's condition number."""
        size = surrogate(instance).size(reference(instance).x)
        single = max(self.rounds(instance), 1e-2 * SINGLE if self.single else 0.0)
        return max(self.tol.value(size), UNIT_ROUNDOFF * condition(instance), single)

    def distance(self, instance: Instance) -> float:
        """The limit on ‖x − x*‖_B: three times the accuracy, or √(gap/κ) by strong convexity."""
        if self.tol.gap == 0.0:
            return MINIMISER_SHARE * self.accuracy(instance)
        problem, ref = surrogate(instance), reference(instance)
        kappa = curvature(problem, ref.mu) * problem.length(ref.x) ** 2
        allowed = np.sqrt(self.tol.gap * (1.0 + problem.size(ref.x)) / kappa) if kappa > 0.0 else np.inf
        return max(float(allowed), self.floor(instance))


@dataclass(frozen=True)
class Equation:
    """A named condition with the paper's tag and one sentence of meaning."""

    name: str
    tag: str
    meaning: str
    measure: Callable[[Instance, Vector, Asked], Measured]

    def judge(self, instance: Instance, x: Vector, asked: Asked) -> Measured:
        """(violation, limit), or None where it does not apply; what overflows is infinitely off.

        NaN, which an answer of 1e200 can cause, counts as infinitely wrong rather than as right.
        """
        measured = self.measure(instance, x, asked)
        if measured is None:
            return None
        violation, limit = measured
        return (violation if violation == violation else np.inf), limit


def feasible_step(instance: Instance, x: Vector, asked: Asked) -> Measured:
    """xᵀBx ≤ 1, or aᵀx = 1."""
    return surrogate(instance).violation(x), asked.feasibility(instance)


def conditions(instance: Instance, x: Vector, asked: Asked) -> Measured:
    """How far one proximal step moves x, μ recovered from x.

    The conditions are those of the convex step, so they are necessary and sufficient: an answer that meets them is
    the minimiser, whatever the method.
    """
    limit = asked.accuracy(instance)
    return proximal_residual(surrogate(instance), x, limit), CONDITIONS_SHARE * min(limit, asked.distance(instance))


def best_value(instance: Instance, x: Vector, asked: Asked) -> Measured:
    """The surrogate's value above the reference's.

    An error δ in x costs δ² in the value, so this is the equation that a sloppy but right solver meets first, and
    the one that decides where ties leave x open.
    """
    return excess(surrogate(instance), x, reference(instance).x, asked.accuracy(instance)), asked.value(instance)


def minimiser(instance: Instance, x: Vector, asked: Asked) -> Measured:
    """‖x − x*‖_B where complementarity is strict; elsewhere the value decides.

    size is ‖x*‖_B, at least 0.1 for the ball: at x* = 0 an absolute error is meant.
    """
    ref = reference(instance)
    if not ref.nondegenerate:
        return None
    problem = surrogate(instance)
    size = problem.length(ref.x) if instance.level == "fda" else max(problem.norm(ref.x), 0.1)
    return problem.norm(x - ref.x) / size, asked.distance(instance)


def step_descent(instance: Instance, x: Vector, asked: Asked) -> Measured:
    """f(x) ≤ f(y): the step does not climb.

    f is compared and not g, since descent of f is what the method promises, whichever majoriser led there.
    """
    y, limit = instance.data["y"], asked.accuracy(instance)
    if instance.level == "fda":
        return fda_descent(instance, x, limit)
    clean = surrogate(instance).snapped(x, limit)
    f = min(objective(instance, x), objective(instance, clean))
    return share(max(0.0, f - objective(instance, y)), max(spread(instance, y), spread(instance, x))), limit


def fda_descent(instance: Instance, x: Vector, limit: float) -> Measured:
    """xᵀBx + ν_ε Σ log(ε + |xᵢ|) does not rise."""
    eps, nu, B = instance.data["eps"], instance.coefficient, instance.B

    def f(v: Vector) -> float:
        return float(v @ B @ v) + nu * float(np.sum(np.log1p(np.abs(v) / eps)))

    y = instance.data["y"]
    clean = surrogate(instance).snapped(x, limit)
    return share(max(0.0, min(f(x), f(clean)) - f(y)), max(f(y), f(x))), limit


def stays(instance: Instance, x: Vector, asked: Asked) -> Measured:
    """The step from a fixed point returns it."""
    if "fixed-point" not in instance.flags or not reference(instance).nondegenerate:
        return None
    return surrogate(instance).norm(x - instance.data["y"]), asked.distance(instance)


def feasible_run(instance: Instance, x: Vector, asked: Asked) -> Measured:
    """xᵀBx ≤ 1."""
    return max(0.0, float(x @ instance.B @ x) - 1.0), asked.feasibility(instance)


def no_ascent(instance: Instance, x: Vector, asked: Asked) -> Measured:
    """f(x) ≤ f(x⁽⁰⁾)."""
    limit = asked.accuracy(instance)
    return ascent(instance, x, limit), limit


def stationary(instance: Instance, x: Vector, asked: Asked) -> Measured:
    """The optimality conditions of (SGEV-A) at x.

    Any stationary point will do. Together with "no ascent" and a start below all trivial points this still excludes 0
    and the coordinate vectors.
    """
    limit = asked.accuracy(instance)
    return proximal_residual(tangent(instance, x), x, limit), limit


def valid_bound(instance: Instance, x: Vector, asked: Asked) -> Measured:
    """The exact optimum does not exceed the bound.

    Both numbers come from a factor of B, and so are known to cond(B) units in the last place.
    """
    best = optimum(instance)
    limit = SINGLE if asked.single else max(BOUND, BOUND_ULPS * UNIT_ROUNDOFF * condition(instance))
    return share(max(0.0, best.value - float(x[0])), best.radius), limit


def telling_bound(instance: Instance, x: Vector, asked: Asked) -> Measured:
    """bound/max |λ| ≤ 10·n·cond(B): what the crudest norms of A and B⁻¹ give, and more; +∞ says nothing.

    |Aᵢⱼ| ≤ max |λ|·λmax(B), so that n·max |Aᵢⱼ|/λmin(B) ≤ n·cond(B)·max |λ|. A valid bound above λmax(A, B) is right.
    """
    best = optimum(instance)
    if best.radius == 0.0:
        return None
    return max(0.0, float(x[0])) / best.radius, VACUOUS * instance.n * condition(instance)


def few_nonzeros(instance: Instance, x: Vector, asked: Asked) -> Measured:
    """‖x‖₀ ≤ k, counted exactly: dust is a nonzero.

    Exact: 1e-17 is a nonzero. A vector that needs a threshold to be sparse is not sparse.
    """
    return max(0.0, float(np.count_nonzero(x) - instance.data["k"])), 0.0


def unit_norm(instance: Instance, x: Vector, asked: Asked) -> Measured:
    """xᵀBx = 1."""
    return abs(float(x @ instance.B @ x) - 1.0), max(UNIT_NORM, asked.floor(instance), rounding(instance))


STEP = (
    Equation("feasibility", "ALG", "xᵀBx ≤ 1", feasible_step),
    Equation("optimality conditions", "ALG", "2τx − 2c + p∘∂|x| + 2μBx ∋ 0 with μ ≥ 0 recovered from x", conditions),
    Equation("optimal value", "Eq:min-step", "g(x, y) is the least over Ω", best_value),
    Equation("minimiser", "ALG", "x is the argmin, where complementarity is strict", minimiser),
    Equation("descent", "Eq:sandwich", "f(x) ≤ g(x, y) ≤ f(y)", step_descent),
    Equation("fixed point", "Eq:min-step", "the step from a limit returns the limit", stays),
)
FDA = (
    Equation("feasibility", "Eq:fdaiterative", "aᵀx = 1", feasible_step),
    Equation("optimality conditions", "Eq:fdaiterative", "2Bx + p∘∂|x| + 2μa ∋ 0", conditions),
    Equation("optimal value", "Eq:fdaiterative", "xᵀBx + pᵀ|x| is the least on aᵀx = 1", best_value),
    Equation("minimiser", "Eq:fdaiterative", "x is the argmin, where complementarity is strict", minimiser),
    Equation("descent", "Eq:fdastudent", "xᵀBx + ν_ε Σ log(ε + |xᵢ|) does not rise", step_descent),
)
RUN = (
    Equation("feasibility", "SGEV-A", "xᵀBx ≤ 1", feasible_run),
    Equation("no ascent", "Eq:sandwich", "f(x) ≤ f(x⁽⁰⁾)", no_ascent),
    Equation("stationarity", "SGEV-A", "−2Ax + ρ_ε w(x)∘∂|x| + 2μBx ∋ 0, μ(1 − xᵀBx) = 0", stationary),
)
SUBSET_BOUND = (
    Equation("validity", "SGEV-P", "bound ≥ the optimum over every support of size k", valid_bound),
    Equation("not vacuous", "GEV-P", "bound ≤ 10·n·cond(B)·max |λ(A, B)|, which any norm gives", telling_bound),
)
SUBSET_VECTOR = (
    Equation("cardinality", "SGEV-P", "‖x‖₀ ≤ k, exactly", few_nonzeros),
    Equation("unit norm", "SGEV-P", "xᵀBx = 1", unit_norm),
)
EQUATIONS: Mapping[str, tuple[Equation, ...]] = MappingProxyType(
    {
        "step": STEP,
        "fda": FDA,
        "algorithm": RUN,
        "pca": RUN,
        "bound": SUBSET_BOUND,
        "cardinality": SUBSET_VECTOR,
    }
)
assert set(EQUATIONS) == set(LEVELS)


@dataclass(frozen=True)
class Miss:
    """The equation an answer misses by most, with its violation and limit."""

    equation: Equation
    violation: float
    limit: float

    @property
    def ratio(self) -> float:
        """How many times the limit."""
        return over(self.violation, self.limit)


def over(violation: float, limit: float) -> float:
    """violation/limit, where a limit of 0 forgives nothing."""
    return violation / limit if limit > 0.0 else (0.0 if violation == 0.0 else np.inf)


def worst(instance: Instance, x: Vector, asked: Asked) -> Miss:
    """The equation that is missed by the largest multiple of its limit (or nearest to it, when all hold).

    Equations that do not apply to the instance are left out; at least one always applies.
    """
    found = [
        Miss(equation, *measured)
        for equation in EQUATIONS[instance.level]
        if (measured := equation.judge(instance, x, asked)) is not None
    ]
    return max(found, key=lambda miss: miss.ratio)
