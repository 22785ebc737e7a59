"""From nearly the minimiser of a step to the minimiser itself: an active-set method (beyond the paper).

A solver's answer shows nearly which coordinates are nonzero, and with which sign. Given support and signs the step is
a linear system with at most one scalar unknown; the few coordinates that the solver got wrong are then exchanged one
by one. Each change lowers a strictly convex function over finitely many sign patterns, so that the method ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Index, Vector
from ..errors import SolverFailed
from .surrogate import Surrogate

KKT_TOL = 1e-13
"""A row off the support may exceed its slope by this share of the largest term: such a tie stays out."""


@dataclass(frozen=True)
class Polished:
    """A minimiser, its multiplier, and how many sign patterns were tried."""

    x: Vector
    mu: float
    patterns: int


def polish(surrogate: Surrogate, guess: Vector, max_patterns: int | None = None) -> Polished:
    """The exact minimiser, from a guess of which only support and signs matter; all in scaled units.

    Minimise on the current sign pattern. If a sign comes out wrong, go to the best sign change on the way; if a row
    off the support violates its bound, add the worst one; else stop. After 2n + 20 patterns, or the number given,
    SolverFailed is raised.
    """
    limit = 2 * len(guess) + 20 if max_patterns is None else max_patterns
    x, signs = first_pattern(surrogate, guess)
    for count in range(1, limit + 1):
        x, signs, mu, done = improved(surrogate, x, signs)
        if done:
            return Polished(x, mu, count)
    raise SolverFailed(
        f"No sign pattern satisfied the optimality conditions after {limit} attempts: "
        "the solver's answer is too far from the minimiser. Try another solver."
    )


def first_pattern(surrogate: Surrogate, x: Vector) -> tuple[Vector, Vector]:
    """A feasible point and the signs of its support: xᵢ belongs to it when |xᵢ| outweighs its dual slack.

    At a minimiser one of |xᵢ| and pᵢ − |rᵢ| is zero; near one, the smaller of the two is the one that should be.
    """
    x = surrogate.project(x)
    gradient, roots = surrogate.gradient(x), surrogate.B.roots
    r = gradient + 2.0 * surrogate.multiplier(x, gradient) * surrogate.normal(x)
    scale = max(float((np.abs(gradient) / roots).max()), 1e-300)
    with np.errstate(all="ignore"):  # a slack that is infinite, or no number, is as good as a large one
        slack = (surrogate.p - np.abs(r)) / roots / scale
        keep = np.abs(x) * roots > surrogate.length(x) * np.maximum(slack, 1e-12)
    signs = surrogate.first_signs(np.where(keep, np.sign(x), 0.0))
    return surrogate.project(np.where(signs != 0.0, x, 0.0)), signs


def improved(surrogate: Surrogate, x: Vector, signs: Vector) -> tuple[Vector, Vector, float, bool]:
    """(x, signs, μ, done): the minimiser on a sign pattern, or a lower point on the way, and the next pattern.

    done means that the KKT conditions hold to KKT_TOL of the largest term, or to what rounding allows.
    """
    support = np.flatnonzero(signs)
    new, mu = surrogate.on_support(support, signs[support])
    if (new * signs[support] <= 0.0).any():
        x = lowest_sign_change(surrogate, x, support, new)
        return x, np.sign(x), mu, False
    x = np.zeros_like(x)
    x[support] = new
    r, roots = surrogate.gradient(x) + 2.0 * mu * surrogate.normal(x), surrogate.B.roots
    size = float((np.abs(surrogate.c) / roots).max()) + abs(mu)
    noise = 8.0 * UNIT_ROUNDOFF * (size + (abs(mu) + surrogate.curvature) * float(roots @ np.abs(x)))
    excess = np.where(signs == 0.0, (np.abs(r) - surrogate.p) / roots, -np.inf)
    worst = int(excess.argmax())
    if excess[worst] <= max(KKT_TOL * size, noise):
        return x, signs, mu, True
    signs = signs.copy()
    signs[worst] = -np.sign(r[worst])
    return x, signs, mu, False


def lowest_sign_change(surrogate: Surrogate, x: Vector, support: Index, new: Vector) -> Vector:
    """The lowest point among the sign changes on the way from x to a pattern's minimiser, the end included.

    Along the segment the smooth part is one parabola and |x| is piecewise linear: all candidates at once.
    """
    old = x[support]
    d = np.zeros_like(x)
    d[support] = new - old
    with np.errstate(divide="ignore", invalid="ignore"):
        t = -old / d[support]
    t = np.append(np.unique(t[(t > 0.0) & (t < 1.0)]), 1.0)
    points = old + t[:, None] * d[support]
    # a coordinate that crosses zero at t is exactly zero there, where its two terms cancel
    points[np.abs(points) <= 8.0 * UNIT_ROUNDOFF * np.abs(old)] = 0.0
    points[-1] = new
    gradient = surrogate.gradient(x)
    curvature = 0.5 * float((surrogate.gradient(x + d) - gradient) @ d)
    values = t * float(gradient @ d) + t * t * curvature + np.abs(points) @ surrogate.p[support]
    best = np.zeros_like(x)
    best[support] = points[int(np.argmin(values))]
    return surrogate.project(best)
