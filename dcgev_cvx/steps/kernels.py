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
            largest = max(largest, abs(float(delta)) * math.sqrt(d))
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
        if first == 0.0:
            break
        if ridge > 0.0 and first * first <= 1e-4 * tol * tol * dual_square:
            break
        if ridge == 0.0 and duality_gap(scale, c, p, z, q, dual_square) <= tol * tol * dual_square:
            break
    return sweeps


@njit(cache=True)
def dual_square_of(L: Matrix, c: Vector) -> float:  # pragma: no cover
    """cᵀB⁻¹c = ‖L⁻¹c‖² with B = LLᵀ, by forward substitution."""
    h = c.copy()
    total = 0.0
    for i in range(len(c)):
        for j in range(i):
            h[i] -= L[i, j] * h[j]
        h[i] /= L[i, i]
        total += h[i] * h[i]
    return total


@njit(cache=True)
def lasso_for_k(
    B: Matrix, L: Matrix, c: Vector, w: Vector, k: int, z: Vector, q: Vector, tol: float, max_sweeps: int
) -> float:  # pragma: no cover
    """The slope ρ at which argmin zᵀBz − 2cᵀz + ρ Σ wᵢ|zᵢ| has k nonzeros, by bisection; z and q = Bz updated.

    Where no ρ gives exactly k (coordinates may leave in pairs) the last ρ with more is kept.
    """
    low, high = 0.0, 0.0
    for i in range(len(c)):
        high = max(high, 2.0 * abs(c[i]) / w[i])
    size = dual_square_of(L, c)
    rho = 0.5 * high
    for _ in range(40):
        weighted_lasso(B, 0.0, 1.0, c, rho * w, z, q, size, tol, max_sweeps)
        count = np.count_nonzero(z)
        if count == k or high - low <= 1e-9 * high:
            break
        low, high = (rho, high) if count > k else (low, rho)
        rho = 0.5 * (low + high)
    if np.count_nonzero(z) < k:
        rho = low
        weighted_lasso(B, 0.0, 1.0, c, rho * w, z, q, size, tol, max_sweeps)
    return rho


@njit(cache=True)
def one_shot_pca(
    A: Matrix, tau: float, k: int, x: Vector, levels: Vector, steps: int, tol: float
) -> float:  # pragma: no cover
    """One-shot cardinality with B = I and k < n: the (ALG-S) step whose ρ_ε is the (k+1)-th largest survival score.

    xᵢ survives when 2|cᵢ|(|xᵢ| + ε) > ρ_ε, c = (A + τI)x; ε falls through the levels, relative to
    max|x|. x is updated; the last ρ_ε is returned.
    """
    n = len(x)
    rho = 0.0
    for level in levels:
        for _ in range(steps):
            c = np.dot(A, x) + tau * x
            eps = level * np.max(np.abs(x))
            room = np.abs(x) + eps
            rho = np.sort(2.0 * np.abs(c) * room)[n - k - 1]
            z = np.sign(c) * np.maximum(0.0, np.abs(c) - 0.5 * rho / room)
            norm = math.sqrt(np.dot(z, z))
            if norm == 0.0:
                return rho
            z /= norm
            moved = np.max(np.abs(z - x))
            x[:] = z
            if moved <= tol:
                break
    return rho


@njit(cache=True)
def one_shot_gev(
    A: Matrix, B: Matrix, L: Matrix, tau: float, k: int, x: Vector, levels: Vector, steps: int, tol: float
) -> float:  # pragma: no cover
    """One-shot cardinality for any B and k < n: the metric-shift step whose LASSO keeps k coordinates, ε falling."""
    rho = 0.0
    z = x.copy()
    q = np.dot(B, z)
    for level in levels:
        for _ in range(steps):
            c = np.dot(A, x) + tau * np.dot(B, x)
            w = 1.0 / (np.abs(x) + level * np.max(np.abs(x)))
            rho = lasso_for_k(B, L, c, w, k, z, q, 1e-4, 200)
            norm = math.sqrt(max(0.0, np.dot(z, q)))
            if norm == 0.0:
                return rho
            moved = np.max(np.abs(z / norm - x)) / np.max(np.abs(x))
            x[:] = z / norm
            if moved <= tol:
                break
    return rho
