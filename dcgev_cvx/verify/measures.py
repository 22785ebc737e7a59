"""How far an answer is from satisfying its equation: numbers without units, computed from the data alone.

The optimality conditions are measured by the proximal residual: how far one proximal step would
move x. Unlike the printed rows it is continuous: 1e-9 where 0 belongs costs 1e-9 and not 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._numerics.checks import Matrix, Vector
from .instances import Instance


@dataclass(frozen=True, eq=False)
class Surrogate:
    """min xᵀHx − 2cᵀx + pᵀ|x| s.t. xᵀBx ≤ 1, or s.t. aᵀx = 1 where a is given (ALG, Eq:fdaiterative).

    It is written from the paper's formula and the instance's arguments alone, and shares no code with the steps it
    judges.
    """

    H: Matrix
    c: Vector
    p: Vector
    B: Matrix
    a: Vector | None = None

    @property
    def root(self) -> Vector:
        """√Bᵢᵢ, the unit in which coordinate i is measured."""
        return np.sqrt(np.diagonal(self.B))

    def value(self, x: Vector) -> float:
        """xᵀHx − 2cᵀx + pᵀ|x|."""
        return float(x @ self.H @ x) - 2.0 * float(self.c @ x) + float(self.p @ np.abs(x))

    def size(self, x: Vector) -> float:
        """The moduli of the value's terms at x, and at least what one coordinate can reach alone.

        The scale of relative values. The second term keeps it from vanishing at x = 0, where every excess would be
        infinite.
        """
        terms = abs(float(x @ self.H @ x)) + 2.0 * float(np.abs(self.c) @ np.abs(x)) + float(self.p @ np.abs(x))
        return max(terms, 0.2 * float(np.max(np.abs(self.c) / self.root)))

    def norm(self, x: Vector) -> float:
        """‖x‖_B."""
        return math.sqrt(max(0.0, float(x @ self.B @ x)))

    def length(self, x: Vector) -> float:
        """The size of Ω: 1 for the ball, ‖x‖_B for the hyperplane, where x has no other scale."""
        return 1.0 if self.a is None else self.norm(x)

    def snapped(self, x: Vector, tol: float) -> Vector:
        """x without its dust: entries with |xᵢ|√Bᵢᵢ ≤ tol·length count as zero, as announced (beyond the paper).

        Snapping is offered, not imposed: where it helps an answer it is used, where it does not it is not.
        """
        return np.where(np.abs(x) * self.root <= tol * self.length(x), 0.0, x)

    def pulled(self, x: Vector) -> Vector:
        """x moved along its ray into Ω, so that no answer gains by leaving it."""
        if self.a is None:
            return x / max(1.0, self.norm(x))
        ax = float(self.a @ x)
        return x / ax if ax != 0.0 else x

    def violation(self, x: Vector) -> float:
        """max(0, xᵀBx − 1), or |aᵀx − 1|."""
        return abs(float(self.a @ x) - 1.0) if self.a is not None else max(0.0, float(x @ self.B @ x) - 1.0)


def surrogate(instance: Instance) -> Surrogate:
    """The convex program of one MM step, from the instance's arguments (ALG, Eq:fdaiterative)."""
    if "surrogate" not in instance.cache:
        instance.cache["surrogate"] = built_surrogate(instance)
    return instance.cache["surrogate"]


def built_surrogate(instance: Instance) -> Surrogate:
    """H = τI, c = (A + τI)y, p = ρ_ε w(y); for FDA H = B, c = 0."""
    data, B = instance.data, instance.B
    y = data["y"]
    p = instance.coefficient / (np.abs(y) + data["eps"])
    if instance.level == "fda":
        return Surrogate(B, np.zeros_like(y), p, B, data["a"])
    return Surrogate(data["tau"] * np.eye(len(y)), data["A"] @ y + data["tau"] * y, p, B)


def tangent(instance: Instance, x: Vector) -> Surrogate:
    """The program whose optimality conditions at x are the stationarity of f there: H = −A, c = 0, p = ρ_ε w(x).

    At a stationary point of f = ρ_ε Σ log(ε + |xᵢ|) − xᵀAx the derivative of the penalty at |xᵢ| is ρ_ε/(ε + |xᵢ|),
    which is p.
    """
    p = instance.coefficient / (np.abs(x) + instance.data["eps"])
    return Surrogate(-instance.data["A"], np.zeros_like(x), p, instance.B)


def proximal_residual(problem: Surrogate, x: Vector, tol: float) -> float:
    """How far x is from its own proximal step, the worst coordinate; μ is recovered from x (ALG).

    With r = ∇q + 2μ·normal, everything divided by √Bᵢᵢ and by the largest term that must
    cancel: |ξ − soft(ξ − r, p)|. A constraint that is slack while μ > 0 counts as well.

    Why it is continuous: soft thresholding is. A coordinate of 1e-9 whose slope is 1e6 moves by 1e-9, to zero, and
    not by 1e6; the row-wise residual |r + p sign x| would say 1e6.

    The conditions ask for some μ: it is recovered from x as it is and from x without its dust, which at tiny ε has
    a slope of its own, and is 0 where x lies inside Ω. The smallest residual counts.
    """
    gradient = 2.0 * (problem.H @ x - problem.c)
    normal = problem.B @ x if problem.a is None else problem.a
    slack = 1.0 - float(x @ problem.B @ x) if problem.a is None else 0.0
    choices = {multiplier(problem, x), multiplier(problem, problem.snapped(x, tol))}
    choices |= {0.0} if problem.a is None and slack > 0.0 else set()
    return min(residual_with(problem, x, gradient, normal, m, slack) for m in choices)


def multiplier(problem: Surrogate, x: Vector) -> float:
    """μ from the optimality conditions multiplied by xᵀ; at least 0 for the ball."""
    normal = problem.B @ x if problem.a is None else problem.a
    weight = float(normal @ x)
    if weight == 0.0:
        return 0.0
    pull = 2.0 * float((problem.H @ x - problem.c) @ x) + float(problem.p @ np.abs(x))
    mu = -0.5 * pull / weight
    return mu if problem.a is not None else max(0.0, mu)


def residual_with(problem: Surrogate, x: Vector, gradient: Vector, normal: Vector, mu: float, slack: float) -> float:
    """The proximal residual for a given multiplier.

    The last term is complementarity: a positive μ with a slack constraint counts by the smaller of the two, so that
    either may be zero.
    """
    root = problem.root
    terms = (2.0 * (problem.H @ x), 2.0 * problem.c, 2.0 * mu * normal)
    scale = max(float(np.max(np.abs(term) / root)) for term in terms)
    xi = root * x / max(problem.length(x), 1e-300)
    if scale == 0.0:  # nothing but the penalty is left, and its least is at 0
        return float(np.max(np.abs(xi)[problem.p > 0.0], initial=0.0))
    forward = xi - (gradient + 2.0 * mu * normal) / (root * scale)
    threshold = problem.p / (root * scale)
    moved = np.abs(xi - np.sign(forward) * np.maximum(0.0, np.abs(forward) - threshold))
    return max(float(np.max(moved)), min(mu / scale, max(0.0, slack)))


CUTS = 10.0 ** -np.arange(6.0)
"""Where dust is cut, over the tolerance."""


def excess(problem: Surrogate, x: Vector, best: Vector, tol: float) -> float:
    """(q(x) − q(x*))/size, x pulled into Ω, out to its boundary and without its dust where that helps; never below 0.

    Pulling first: outside Ω the value can be below the least. Inside, an error of δ along the ray costs 2μδ and not
    δ²: x is moved out by tol at most. Dust is cut at tol or at any smaller size: an x near 0 has entries below tol
    that are none.
    """
    inside = [problem.pulled(problem.snapped(x, cut)) for cut in (0.0, *(tol * CUTS))]
    outward = [
        v * min(1.0 + tol, 1.0 / norm) for v in inside if problem.a is None and (norm := problem.norm(v)) > 0.0
    ]
    value = min(problem.value(candidate) for candidate in (*inside, *outward))
    return share(max(0.0, value - problem.value(best)), problem.size(best))


def objective(instance: Instance, x: Vector) -> float:
    """f(x) = ρ_ε Σ log(ε + |xᵢ|) − xᵀAx (Eq:f).

    Written out again here, and not imported, so that a mistake in the package's own f cannot excuse itself.
    """
    penalty = float(np.sum(np.log(instance.data["eps"] + np.abs(x))))
    return instance.coefficient * penalty - float(x @ instance.data["A"] @ x)


def ascent(instance: Instance, x: Vector, tol: float) -> float:
    """(f(x) − f(x⁽⁰⁾))₊ over the size of f measured from f(0); x without its dust where that helps (Eq:sandwich).

    Measured from f(0), because f itself is arbitrary up to ρ_ε n log ε, which at tiny ε dwarfs everything.
    """
    x0 = instance.data["x0"]
    clean = tangent(instance, x).snapped(x, tol)
    f = min(objective(instance, x), objective(instance, clean))
    return share(max(0.0, f - objective(instance, x0)), spread(instance, x0))


def spread(instance: Instance, x: Vector) -> float:
    """|xᵀAx| + ρ_ε Σ log(1 + |xᵢ|/ε): the size of f measured from f(0).

    The penalty measured from its value at 0: log(ε + t) − log ε = log(1 + t/ε).
    """
    logs = float(np.sum(np.log1p(np.abs(x) / instance.data["eps"])))
    return abs(float(x @ instance.data["A"] @ x)) + instance.coefficient * logs


def share(part: float, whole: float) -> float:
    """part/whole; 0 when the part is 0, infinite rather than NaN."""
    if part == 0.0:
        return 0.0
    value = part / whole if whole > 0.0 else math.inf
    return value if value == value else math.inf
