"""DC-PCA with a tighter majoriser: −xᵀAx is linearised, the penalty is kept as it is (ours, beyond the paper).

ALG-S linearises both parts of f = −xᵀAx + ρ_ε Σ log(1 + |xᵢ|/ε), and its weights 1/(|yᵢ| + ε) move a loading towards
0 a little at a time. With the first part alone linearised at y, c = Ay,

    g̃(x, y) = yᵀAy − 2cᵀx + ρ_ε Σ log(1 + |xᵢ|/ε),    f(x) ≤ g̃(x, y) ≤ g(x, y),

still falls apart into scalar problems on ‖x‖ ≤ 1, so that a step decides at once which loadings pay. Where it stays,
ALG-S stays too.
"""

from __future__ import annotations

import math

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..programs import MACHINE_EPS, rho_eps
from ..rivals.sparse_pca import Run, combined
from .descent import penalty
from .starts import Start

FAR = 0.8
"""Where few columns pay, one that does not reach this share of the threshold is dropped for good."""

SHRINK = 0.35
"""Columns are dropped when this share of them is left: each copy costs as much as a step."""

LOG_ONE = 1.0 / rho_eps(1.0, MACHINE_EPS)
"""log(1 + 1/ε) = ρ̃/ρ_ε."""


def descend_one_sided(C: Matrix, rho: float, start: Start, *, tol: float = 1e-4, max_iter: int = 1000) -> Run:
    """x ← argmin g̃(x, y) on ‖x‖ ≤ 1 with the multiplier of y, scaled to ‖x‖ = 1, at machine precision ε.

    The objective is F(x) = xᵀAx − ρ_ε Σ log(1 + |xᵢ|/ε). By Cauchy and Schwarz xᵀAx ≥ (cᵀx)²/yᵀAy, with equality at
    y: this lower bound is known before the product Cx is, and F does not fall where it is at least F(y). Where it is
    less, as the multiplier of y need not be that of x, the run ends at y. It also ends by `still`.

    Parameters
    ----------
    C
        p × n data, A = CᵀC.
    rho
        ρ̃ ≥ 0. It leaves fewer loadings than in ALG-S, where one that does not pay may stay.
    start
        From `krylov_start` or `given_start`.
    tol, max_iter
        The stop rule of GPower's authors, so that both methods are stopped alike.

    Returns
    -------
    Run
        x with its zeros, the number of steps, and whether the rule was met (a collapse to 0 counts as met).
    """
    n, price = C.shape[1], rho_eps(rho, MACHINE_EPS)
    columns, D, c = np.arange(n), C, start.image
    variance = mu = float(start.x @ c)
    here, objective, rise = (columns, start.x), -math.inf, math.inf
    passes, settled, steps = start.passes, False, 0
    while steps < max_iter:
        steps += 1
        cut, size = threshold(mu, price), np.abs(c)
        pays = size > cut
        count = np.count_nonzero(pays)
        if not count:
            return Run(np.zeros(n), steps, True, passes)
        if count < SHRINK * len(c):
            near = (size > FAR * cut).nonzero()[0]
            if len(near) < SHRINK * len(c):
                columns, D, c, size, pays = columns[near], D.T.take(near, axis=0).T, c[near], size[near], pays[near]
        x, cost = minimiser(c, size * pays, mu, price)
        lower = float(c @ x) ** 2 / variance - cost
        settled = lower < objective
        if settled:
            break
        here, before, rise = (columns, x), rise, lower - objective
        settled = still(rise, before, tol * variance)
        if settled:
            break
        Cx, share = combined(D, x)
        passes += share * len(x) / n
        variance = float(Cx @ Cx)
        objective = variance - cost
        before, rise = rise, objective - lower
        settled = still(rise, before, tol * variance)
        if settled:
            break
        mu, c = variance - 0.5 * price * count, Cx @ D
        passes += len(x) / n
    x = np.zeros(n)
    x[here[0]] = here[1] + 0.0  # no -0.0
    return Run(x, steps, settled, passes)


def still(rise: float, before: float, enough: float) -> bool:
    """Was the last step, two half steps, no more than `enough`, or will all be that is to come if they shrink on?

    rise + before is the step; rise²/(before − rise) is what a geometric series with these two terms has left.
    """
    return rise + before <= enough or (before < math.inf and rise * rise <= enough * (before - rise))


def minimiser(c: Vector, paying: Vector, mu: float, price: float) -> tuple[Vector, float]:
    """The unit vector along argmin −2cᵀx + μ‖x‖² + ρ_ε Σ log(1 + |xᵢ|/ε), and its penalty; paying is |c|, or 0.

    A loading that pays is where the derivative is 0, 2μx² − 2|c|x + ρ_ε = 0 up to ε: x = (|c| + √(c² − 2μρ_ε))/(2μ).
    """
    x = paying * paying
    x -= 2.0 * mu * price
    np.maximum(x, 0.0, out=x)
    np.sqrt(x, out=x)
    x += paying
    x *= 1.0 / math.sqrt(float(x @ x))
    cost = penalty(x + MACHINE_EPS, price)
    return np.copysign(x, c, out=x), cost


def threshold(mu: float, price: float) -> float:
    """The |c| from which on a loading pays: 2|c|x − μx² ≥ ρ_ε log(1 + x/ε) at x = (|c| + √(c² − 2μρ_ε))/(2μ).

    With |c| = μx + ρ_ε/(2x) this reads μx² = ρ_ε (log(1 + x/ε) − 1). The logarithm hardly moves with x: each of
    the four substitutions leaves about a seventieth of the error. Infinite where μ ≤ 0: there F(y) < 0 = F(0).
    """
    if price == 0.0:
        return 0.0
    if mu <= 0.0:
        return math.inf
    x = 1.0
    for _ in range(4):
        # never below the fold of the parabola, where c² = 2μρ_ε
        x = math.sqrt(price * max(math.log1p(x / MACHINE_EPS) - 1.0, 0.5) / mu)
    return mu * x + 0.5 * price / x


def one_sided_max(start: Start) -> float:
    """The ρ̃ at which the first step is 0: the largest |c| of the start is at its threshold."""
    top, mu = float(np.max(np.abs(start.image))), float(start.x @ start.image)
    if mu <= 0.0:
        return 0.0
    x, log = top / mu, LOG_ONE
    for _ in range(4):
        log = math.log1p(x / MACHINE_EPS)
        x = top / (mu * (1.0 + 0.5 / (log - 1.0)))
    return LOG_ONE * mu * x * x / (log - 1.0)
