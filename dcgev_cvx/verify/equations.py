"""The equations that an answer must satisfy at each level, as a violation and the limit that is allowed.

Both numbers are free of units and computed from the data alone; the violation of an exact answer is zero. Limits grow
with the condition number of B where rounding alone would break them, and are wider for answers of dtype float32.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Vector
from .levels import Instance, Tolerances, condition, optimum, rounding, scaled_condition
from .reference_answers import Surrogate, curvature, reference, surrogate

Measured: TypeAlias = "tuple[float, float] | None"


@dataclass(frozen=True)
class Limits:
    """How far an answer may be off: the tolerances; rounded: x has the dtype float32, and may be rounded to it."""

    tol: Tolerances
    rounded: bool = False

    def floor(self, instance: Instance) -> float:
        """Four units in the last place of float32, which B may magnify; 0 for double precision."""
        return 4.0 * 2.0**-24 * scaled_condition(instance) if self.rounded else 0.0

    def accuracy(self, instance: Instance) -> float:
        """The limit on x and its conditions: the profile's, not below what rounding leaves there."""
        return max(self.tol.accuracy, rounding(instance), self.floor(instance))

    def feasibility(self, instance: Instance) -> float:
        """The limit on leaving Ω; conic solvers stop at 1e-8, which cond(B) = 1e3 can make 1e-6."""
        allowed = 1e-5 if self.tol.gap > 0.0 else self.tol.accuracy
        return max(allowed, rounding(instance), self.floor(instance))

    def value(self, instance: Instance) -> float:
        """The limit on the surrogate's value, relative to its size; ‖x‖_B itself is uncertain by cond(B).

        A gap is relative to 1 + size. An error δ in x costs δ² in the value, so 1e-3·δ is far from tight; summing in
        double precision loses 1e-12.
        """
        size, allowed = surrogate(instance).size(reference(instance).x), 1e-3 * self.tol.accuracy + 1e-12
        if self.tol.gap > 0.0:
            allowed = self.tol.gap * (1.0 + 1.0 / size) if size > 0.0 else 1.0
        return max(allowed, UNIT_ROUNDOFF * condition(instance), self.floor(instance))

    def distance(self, instance: Instance) -> float:
        """The limit on ‖x − x*‖_B: three times the accuracy, or √(gap/κ) by strong convexity."""
        if self.tol.gap == 0.0:
            return 3.0 * self.accuracy(instance)
        problem, ref = surrogate(instance), reference(instance)
        kappa = curvature(problem, ref.mu) * problem.length(ref.x) ** 2
        allowed = math.sqrt(self.tol.gap * (1.0 + problem.size(ref.x)) / kappa) if kappa > 0.0 else math.inf
        return max(allowed, self.floor(instance))


@dataclass(frozen=True)
class Equation:
    """A named condition with the paper's tag and one sentence of meaning."""

    name: str
    tag: str
    meaning: str
    measure: Callable[[Instance, Vector, Limits], Measured]

    def judge(self, instance: Instance, x: Vector, limits: Limits) -> Measured:
        """(violation, limit), or None where it does not apply; NaN, as overflow can cause, counts as infinite."""
        measured = self.measure(instance, x, limits)
        return measured if measured is None or measured[0] == measured[0] else (math.inf, measured[1])


# One MM step


def feasible(instance: Instance, x: Vector, limits: Limits) -> Measured:
    """max(0, xᵀBx − 1), or |aᵀx − 1| for FDA; the residuals of conic solvers are relative to 1 + max |xᵢ|."""
    a = instance.data.get("a")
    violation = max(0.0, float(x @ instance.B @ x) - 1.0) if a is None else abs(float(a @ x) - 1.0)
    scale = 1.0 + float(np.max(np.abs(x))) if limits.tol.gap > 0.0 else 1.0
    return violation, scale * limits.feasibility(instance)


def conditions(instance: Instance, x: Vector, limits: Limits) -> Measured:
    """How far one proximal step moves x; the conditions are those of a convex program, hence sufficient.

    The limit is five times that of x, which under a gap follows from the gap: the rows are 2-Lipschitz in x in their
    units, and μ is recovered from x.
    """
    accuracy = limits.accuracy(instance)
    allowed = 5.0 * (limits.distance(instance) if limits.tol.gap > 0.0 else accuracy)
    return proximal_residual(surrogate(instance), x, accuracy), allowed


def best_value(instance: Instance, x: Vector, limits: Limits) -> Measured:
    """The surrogate's value above the reference's: decides where ties leave x open."""
    return excess(surrogate(instance), x, reference(instance).x, limits.accuracy(instance)), limits.value(instance)


def minimiser(instance: Instance, x: Vector, limits: Limits) -> Measured:
    """‖x − x*‖_B over ‖x*‖_B (at least 0.1 for the ball) where complementarity is strict."""
    ref, problem = reference(instance), surrogate(instance)
    if not ref.nondegenerate:
        return None
    size = problem.length(ref.x) if problem.a is not None else max(problem.norm(ref.x), 0.1)
    return problem.norm(x - ref.x) / size, limits.distance(instance)


def step_descent(instance: Instance, x: Vector, limits: Limits) -> Measured:
    """f(x) ≤ f(y), whichever majoriser led there."""
    y, limit = instance.data["y"], limits.accuracy(instance)
    rise = ascent(instance, snapped(surrogate(instance), x, limit), x, y)
    size = max(spread(instance, y), spread(instance, x))
    return share(rise, size), max(limit, share(limits.tol.gap * (1.0 + size), size))


# A whole run


def no_ascent(instance: Instance, x: Vector, limits: Limits) -> Measured:
    """f(x) ≤ f(x⁽⁰⁾), over the size of f measured from f(0): f itself has the arbitrary constant ρ_ε n log ε."""
    x0, limit = instance.data["x0"], limits.accuracy(instance)
    return share(ascent(instance, snapped(tangent(instance, x), x, limit), x, x0), spread(instance, x0)), limit


def stationary(instance: Instance, x: Vector, limits: Limits) -> Measured:
    """The optimality conditions of (SGEV-A) at x; every stationary point passes."""
    limit = limits.accuracy(instance)
    return proximal_residual(tangent(instance, x), x, limit), limit


# Bounds and k-sparse vectors


def valid_bound(instance: Instance, x: Vector, limits: Limits) -> Measured:
    """The exact optimum above the bound, over max |λ|.

    Rounding is about 1e-14, the error of a conic solver's value 1e-7; whitening by a factor of B may lose 20 units in
    the last place times cond(B).
    """
    best = optimum(instance)
    limit = max(1e-9, 20.0 * UNIT_ROUNDOFF * condition(instance))
    return share(max(0.0, best.value - float(x[0])), best.radius), limit


def informative_bound(instance: Instance, x: Vector, limits: Limits) -> Measured:
    """bound/max |λ| ≤ 10·n·cond(B).

    |Aᵢⱼ| ≤ max |λ|·λmax(B), so that even n·max |Aᵢⱼ|/λmin(B) is at most n·cond(B)·max |λ|.
    """
    return max(0.0, float(x[0])) / optimum(instance).radius, 10.0 * instance.n * condition(instance)


def few_nonzeros(instance: Instance, x: Vector, limits: Limits) -> Measured:
    """‖x‖₀ ≤ k, counted exactly: 1e-17 is a nonzero."""
    return max(0.0, float(np.count_nonzero(x) - instance.data["k"])), 0.0


def unit_norm(instance: Instance, x: Vector, limits: Limits) -> Measured:
    """xᵀBx = 1, to 1e-6."""
    return abs(float(x @ instance.B @ x) - 1.0), max(1e-6, limits.floor(instance), rounding(instance))


RUN = (
    Equation("feasibility", "SGEV-A", "xᵀBx ≤ 1", feasible),
    Equation("no ascent", "Eq:sandwich", "f(x) ≤ f(x⁽⁰⁾)", no_ascent),
    Equation("stationarity", "SGEV-A", "−2Ax + ρ_ε w(x)∘∂|x| + 2μBx ∋ 0, μ(1 − xᵀBx) = 0", stationary),
)
EQUATIONS: Mapping[str, tuple[Equation, ...]] = {
    "step": (
        Equation("feasibility", "ALG", "xᵀBx ≤ 1", feasible),
        Equation("optimality conditions", "ALG", "2τx − 2c + p∘∂|x| + 2μBx ∋ 0 for a μ ≥ 0", conditions),
        Equation("optimal value", "Eq:min-step", "g(x, y) is the least over Ω", best_value),
        Equation("minimiser", "ALG", "x is the argmin, where complementarity is strict", minimiser),
        Equation("descent", "Eq:sandwich", "f(x) ≤ g(x, y) ≤ f(y)", step_descent),
    ),
    "fda": (
        Equation("feasibility", "Eq:fdaiterative", "aᵀx = 1", feasible),
        Equation("optimality conditions", "Eq:fdaiterative", "2Bx + p∘∂|x| + 2μa ∋ 0", conditions),
        Equation("optimal value", "Eq:fdaiterative", "xᵀBx + pᵀ|x| is the least on aᵀx = 1", best_value),
        Equation("minimiser", "Eq:fdaiterative", "x is the argmin, where complementarity is strict", minimiser),
        Equation("descent", "Eq:fdastudent", "xᵀBx + ν_ε Σ log(ε + |xᵢ|) does not rise", step_descent),
    ),
    "algorithm": RUN,
    "pca": RUN,
    "bound": (
        Equation("validity", "SGEV-P", "bound ≥ the optimum over every support of size k", valid_bound),
        Equation("not vacuous", "GEV-P", "bound ≤ 10·n·cond(B)·max |λ(A, B)|", informative_bound),
    ),
    "cardinality": (
        Equation("cardinality", "SGEV-P", "‖x‖₀ ≤ k, exactly", few_nonzeros),
        Equation("unit norm", "SGEV-P", "xᵀBx = 1", unit_norm),
    ),
}


def worst(instance: Instance, x: Vector, limits: Limits) -> tuple[str, float, float]:
    """(name, violation, limit) of the equation that is missed most, or comes nearest to it when all hold."""
    judged = ((equation.name, equation.judge(instance, x, limits)) for equation in EQUATIONS[instance.level])
    missed = [(name, *found) for name, found in judged if found is not None]  # at least one always applies
    return max(missed, key=lambda miss: share(miss[1], miss[2]))


# How the violations are measured


def tangent(instance: Instance, x: Vector) -> Surrogate:
    """The program whose optimality conditions at x are the stationarity of f there: H = −A, c = 0, p = ρ_ε w(x)."""
    return Surrogate(-instance.data["A"], np.zeros_like(x), instance.slopes(x), instance.B)


def proximal_residual(problem: Surrogate, x: Vector, tol: float) -> float:
    """How far one proximal step moves x, the worst coordinate; μ is recovered from x (ALG).

    With r = ∇q + 2μ·normal, all over √Bᵢᵢ and the largest term that must cancel: |ξ − soft(ξ − r, p)|.
    Soft thresholding is continuous: an entry of 1e-9 whose slope is 1e6 moves by 1e-9, to zero, where the row-wise
    residual |r + p sign x| would be 1e6. Some μ must satisfy the conditions: it is recovered from x, and from x
    without entries below tol, which at tiny ε have a slope of their own, and is 0 where x lies inside Ω.
    """
    choices = {multiplier(problem, x), multiplier(problem, snapped(problem, x, tol))}
    choices |= {0.0} if problem.a is None and problem.room(x) > 0.0 else set()
    return min(residual_with(problem, x, mu) for mu in choices)


def multiplier(problem: Surrogate, x: Vector) -> float:
    """μ from the optimality conditions multiplied by xᵀ; at least 0 for the ball."""
    weight = float(problem.normal(x) @ x)
    if weight == 0.0:
        return 0.0
    pull = 2.0 * float((problem.H @ x - problem.c) @ x) + float(problem.p @ np.abs(x))
    return -0.5 * pull / weight if problem.a is not None else max(0.0, -0.5 * pull / weight)


def residual_with(problem: Surrogate, x: Vector, mu: float) -> float:
    """The proximal residual for a given μ; μ > 0 and a slack constraint count by the smaller of the two."""
    root, slack = problem.root, float(problem.room(x)) if problem.a is None else 0.0
    terms = (2.0 * (problem.H @ x), 2.0 * problem.c, 2.0 * mu * problem.normal(x))
    scale = max(float(np.max(np.abs(term) / root)) for term in terms)
    xi = root * x / problem.length(x)
    if scale == 0.0 or problem.only_zero:
        acts = (problem.p > 0.0) | (np.diagonal(problem.H) > 0.0)
        return float(np.max(np.abs(xi)[acts], initial=0.0))
    forward = xi - 2.0 * problem.rows(x, mu) / (root * scale)
    moved = np.abs(xi - np.sign(forward) * np.maximum(0.0, np.abs(forward) - problem.p / (root * scale)))
    return max(float(np.max(moved)), min(mu / scale, max(0.0, slack)))


def excess(problem: Surrogate, x: Vector, best: Vector, tol: float) -> float:
    """(q(x) − q(x*))/size at the best of a few points that count as x within tol; never below 0.

    x is scaled into Ω, since the value can be lower outside, or out to its boundary by tol at most: inside, an error
    of δ in the norm costs 2μδ and not δ². Entries below tol, or below a smaller size, are set to 0.
    """
    cuts = (snapped(problem, x, cut) for cut in (0.0, *(tol * 10.0 ** -np.arange(6.0))))
    inside = [pulled(problem, v) for v in cuts]
    norms = [(v, problem.norm(v)) for v in inside if problem.a is None]
    outward = [v * min(1.0 + tol, 1.0 / norm) for v, norm in norms if norm > 0.0]
    value = min(problem.value(point) for point in (*inside, *outward))
    return share(max(0.0, value - problem.value(best)), problem.size(best))


def snapped(problem: Surrogate, x: Vector, tol: float) -> Vector:
    """x with the entries |xᵢ|√Bᵢᵢ ≤ tol·length set to zero (beyond the paper)."""
    return np.where(np.abs(x) * problem.root <= tol * problem.length(x), 0.0, x)


def pulled(problem: Surrogate, x: Vector) -> Vector:
    """x scaled into Ω."""
    if problem.a is None:
        return x / max(1.0, problem.norm(x))
    ax = float(problem.a @ x)
    return x / ax if ax != 0.0 else x


def objective(instance: Instance, x: Vector) -> float:
    """f(x) − f(0) = ρ_ε Σ log(1 + |xᵢ|/ε) − xᵀAx (Eq:f), written anew.

    A mistake in the package's f cannot hide here. Measured from f(0), it has no constant in which a small difference
    would be lost. For FDA f(x) = xᵀBx + ν_ε Σ log(1 + |xᵢ|/ε) (Eq:fdastudent).
    """
    square, penalty = terms(instance, x)
    return penalty + square


def spread(instance: Instance, x: Vector) -> float:
    """|xᵀAx| + ρ_ε Σ log(1 + |xᵢ|/ε): the size of f measured from f(0); xᵀBx in place of xᵀAx for FDA."""
    square, penalty = terms(instance, x)
    return abs(square) + penalty


def terms(instance: Instance, x: Vector) -> tuple[float, float]:
    """(−xᵀAx, or xᵀBx for FDA; the penalty)."""
    square = float(x @ instance.B @ x) if instance.level == "fda" else -float(x @ instance.data["A"] @ x)
    return square, instance.charge(x)


def ascent(instance: Instance, clean: Vector, x: Vector, start: Vector) -> float:
    """(f(x) − f(start))₊, x without its tiny entries where that helps (Eq:sandwich)."""
    return max(0.0, min(objective(instance, x), objective(instance, clean)) - objective(instance, start))


def share(part: float, whole: float) -> float:
    """part/whole; 0 when the part is 0, and infinite when the whole is 0 otherwise."""
    return part / whole if whole > 0.0 else 0.0 if part == 0.0 else math.inf
