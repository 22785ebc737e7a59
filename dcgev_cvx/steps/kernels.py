"""Compiled coordinate descent: the weighted LASSO with a Gram matrix that is behind every native step."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..checks import Index, Matrix, Vector


@njit(cache=True)
def sweep(
    B: Matrix, ridge: float, scale: float, c: Vector, p: Vector, z: Vector, q: Vector, order: Index
) -> float:  # pragma: no cover
    """Minimise over each coordinate in turn; q = Bz is kept. Returns the largest move in the metric."""
    largest = 0.0
    for i in order:
        d = ridge + scale * B[i, i]
        r = c[i] - scale * q[i] + scale * B[i, i] * z[i]
        size = abs(r) - 0.5 * p[i]
        new = math.copysign(size, r) / d if size > 0.0 else 0.0
        delta = new - z[i]
        if delta != 0.0:
            z[i] = new
            row = B[i]
            for j in range(len(q)):
                q[j] += delta * row[j]
            largest = max(largest, abs(delta) * math.sqrt(d))
    return largest


@njit(cache=True)
def duality_gap(
    scale: float, c: Vector, p: Vector, z: Vector, q: Vector, dual_square: float
) -> float:  # pragma: no cover
    """P(z) − D(u) for P(z) = zᵀMz − 2cᵀz + pᵀ|z|, M = scale·B, and the dual point u with c − Mu = s(c − Mz).

    The dual is −uᵀMu s.t. |2(c − Mu)ᵢ| ≤ pᵢ; s ≤ 1 makes u feasible, and cᵀM⁻¹c = dual_square
    is all that uᵀMu = (1−s)²cᵀM⁻¹c + 2s(1−s)cᵀz + s²zᵀMz needs. The gap bounds ‖z − z*‖² in M.
    """
    s = 1.0
    zMz = cz = pz = 0.0
    for i in range(len(z)):
        r = 2.0 * abs(c[i] - scale * q[i])
        if r > p[i]:
            s = min(s, p[i] / r)
        zMz += scale * z[i] * q[i]
        cz += c[i] * z[i]
        pz += p[i] * abs(z[i])
    uMu = (1.0 - s) * (1.0 - s) * dual_square + 2.0 * s * (1.0 - s) * cz + s * s * zMz
    return zMz - 2.0 * cz + pz + uMu


@njit(cache=True)
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
    """Min ridge·zᵀz + scale·zᵀBz − 2cᵀz + pᵀ|z| from a warm z with q = Bz, both updated; returns the sweeps.

    A sweep over all coordinates finds the active set, sweeps over the nonzeros settle it. The loop
    ends when the duality gap is below tol²·dual_square (or, with a ridge, where that is not known,
    when a full sweep moves little), and in any case after max_sweeps.
    """
    everyone = np.arange(len(z))
    sweeps = 0
    while sweeps < max_sweeps:
        moved = first = sweep(B, ridge, scale, c, p, z, q, everyone)
        sweeps += 1
        active = np.nonzero(z)[0]
        while sweeps < max_sweeps and moved > 0.1 * first:
            moved = sweep(B, ridge, scale, c, p, z, q, active)
            sweeps += 1
        if first == 0.0 or first * first <= 1e-4 * tol * tol * dual_square:
            break
        if ridge == 0.0 and duality_gap(scale, c, p, z, q, dual_square) <= tol * tol * dual_square:
            break
    return sweeps
