"""Coordinate descent for the weighted LASSO with a Gram matrix.

Compiled by numba where it is installed; without it the same code runs in NumPy, slower on large problems. The
functions work in place on z and q = Bz and use neither threads nor fast-math, so that an answer is the same on every
run.
"""

import math

import numpy as np

from .._numerics.checks import Index, Matrix, Vector
from .._numerics.compiled import COMPILED, compiled

if COMPILED:

    @compiled
    def add_multiple(y: Vector, t: float, row: Vector) -> None:  # pragma: no cover
        """y += t·row, without a temporary array."""
        for i in range(len(y)):
            y[i] += t * row[i]

else:

    def add_multiple(y: Vector, t: float, row: Vector) -> None:
        """y += t·row."""
        y += t * row


@compiled
def sweep(
    B: Matrix, ridge: float, scale: float, c: Vector, p: Vector, z: Vector, q: Vector, order: Index
) -> float:  # pragma: no cover
    """Minimise over each coordinate of `order` in turn; q = Bz is kept. Returns the largest move in the metric.

    With r = cᵢ − scale·(Bz)ᵢ + scale·Bᵢᵢzᵢ the minimiser over zᵢ is S(r, ½pᵢ)/(ridge + scale·Bᵢᵢ).
    """
    largest = 0.0
    for i in order:
        d = ridge + scale * B[i, i]
        r = c[i] - scale * q[i] + scale * B[i, i] * z[i]
        size = abs(r) - 0.5 * p[i]
        new = math.copysign(size, r) / d if size > 0.0 else 0.0
        delta = float(new - z[i])
        if delta != 0.0:
            z[i] = new
            add_multiple(q, delta, B[i])
            largest = max(largest, abs(delta) * math.sqrt(d))
    return largest


@compiled
def duality_gap(
    scale: float, c: Vector, p: Vector, z: Vector, q: Vector, dual_square: float
) -> float:  # pragma: no cover
    """P(z) − D(u) for P(z) = zᵀMz − 2cᵀz + pᵀ|z|, M = scale·B, and the dual point u with c − Mu = s(c − Mz).

    The dual is −uᵀMu s.t. |2(c − Mu)ᵢ| ≤ pᵢ; s ≤ 1 makes u feasible, and uᵀMu follows from cᵀM⁻¹c = dual_square. The
    gap bounds ‖z − z*‖² in M, since P is strongly convex and D(u) ≤ P(z*).
    """
    r = 2.0 * np.abs(c - scale * q)
    over = r > p
    s = min(1.0, np.min(p[over] / r[over])) if over.any() else 1.0
    zMz, cz = scale * np.sum(z * q), np.sum(c * z)
    uMu = (1.0 - s) * (1.0 - s) * dual_square + 2.0 * s * (1.0 - s) * cz + s * s * zMz
    return zMz - 2.0 * cz + np.sum(p * np.abs(z)) + uMu


@compiled
def weighted_lasso(
    B: Matrix,
    ridge: float,
    scale: float,
    c: Vector,
    p: Vector,
    z: Vector,
    q: Vector,
    dual_square: float,
    tol: float,
    max_sweeps: int,
) -> int:  # pragma: no cover
    """min ridge·zᵀz + scale·zᵀBz − 2cᵀz + pᵀ|z| from a warm z with q = Bz, both updated; returns the sweeps.

    A sweep over all coordinates finds the active set, sweeps over the nonzeros settle it. The loop ends when the
    duality gap is below tol²·dual_square, dual_square = cᵀ(scale·B)⁻¹c, or, with a ridge, where that is not known,
    when a full sweep moves little.
    """
    order = np.arange(len(z))
    target = tol * tol * dual_square
    sweeps = 0
    while sweeps < max_sweeps:
        moved = first = sweep(B, ridge, scale, c, p, z, q, order)
        sweeps += 1
        # the support rarely changes here: sweeps over the nonzeros are cheaper by n over their number
        active = np.nonzero(z)[0]
        while sweeps < max_sweeps and moved > 0.1 * first:
            moved = sweep(B, ridge, scale, c, p, z, q, active)
            sweeps += 1
        # a sweep that moves little may still be far away: so with a ridge a hundredth of the distance is asked for
        if first == 0.0 or (ridge > 0.0 and first * first <= 1e-4 * target):
            break
        # the gap needs cᵀM⁻¹c, which with a ridge would cost a factorisation of its own
        if ridge == 0.0 and duality_gap(scale, c, p, z, q, dual_square) <= target:
            break
    return sweeps
