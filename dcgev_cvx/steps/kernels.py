"""Coordinate descent for the weighted LASSO with a Gram matrix, and the one-shot search for k nonzeros.

Compiled by numba where it is installed; without it the same code runs in NumPy, slower on large problems. The
functions work in place on z and q = Bz and use neither threads nor fast-math, so that an answer is the same on every
run.
"""

import math

import numpy as np

from .._numerics.checks import Index, Matrix, Vector
from .._numerics.compiled import COMPILED, compiled

SWEEPS_PER_RHO = 200
"""The most sweeps of one LASSO inside the search for its slope, where few digits are needed."""
RHO_HALVINGS = 40
"""The most values of ρ that the search for k nonzeros tries."""

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


@compiled
def product(A: Matrix, x: Vector) -> Vector:  # pragma: no cover
    """Ax for a symmetric A, row by row over the nonzeros of x: MM iterates are sparse, and so is the work."""
    y = np.zeros(len(x))
    for j in np.nonzero(x)[0]:
        add_multiple(y, x[j], A[j])
    return y


@compiled
def dual_square_of(L: Matrix, c: Vector) -> float:  # pragma: no cover
    """cᵀB⁻¹c = ‖L⁻¹c‖² with B = LLᵀ, by forward substitution."""
    h = c.copy()
    for i in range(len(c)):
        h[i] = (h[i] - np.sum(L[i, :i] * h[:i])) / L[i, i]
    return np.sum(h * h)


@compiled
def lasso_for_k(
    B: Matrix, L: Matrix, c: Vector, w: Vector, k: int, z: Vector, q: Vector, tol: float
) -> float:  # pragma: no cover
    """The slope ρ at which argmin zᵀBz − 2cᵀz + ρ Σ wᵢ|zᵢ| has k nonzeros, by bisection; z and q = Bz updated.

    At ρ = 2·max |cᵢ|/wᵢ the minimiser is 0; below, the number of nonzeros rises as ρ falls, though not always by one.
    Where no ρ gives exactly k, the last ρ with more is kept.
    """
    low, high, dual_square = 0.0, np.max(2.0 * np.abs(c) / w), dual_square_of(L, c)
    rho, count = 0.5 * high, 0
    for _ in range(RHO_HALVINGS):
        weighted_lasso(B, 0.0, 1.0, c, rho * w, z, q, dual_square, tol, SWEEPS_PER_RHO)
        count = np.count_nonzero(z)
        # a bracket this narrow holds two coordinates that leave together: no ρ gives k
        if count == k or high - low <= 1e-9 * high:
            break
        if count > k:
            low = rho
        else:
            high = rho
        rho = 0.5 * (low + high)
    if count < k:
        rho = low
        weighted_lasso(B, 0.0, 1.0, c, rho * w, z, q, dual_square, tol, SWEEPS_PER_RHO)
    return rho


@compiled
def one_shot_gev(
    A: Matrix, B: Matrix, L: Matrix, tau: float, k: int, x: Vector, levels: Vector, steps: int, tol: float
) -> float:  # pragma: no cover
    """One-shot cardinality for any B and k < n: the metric-shift step whose LASSO keeps k coordinates, ε falling.

    The LASSO is warm-started from the last z and solved to 1e-4 of its natural size only: what matters is which
    coordinates survive, and the loadings are recomputed on the support afterwards. x is updated, the last ρ returned.
    """
    z, rho = x.copy(), 0.0
    q = product(B, z)
    for level in levels:
        for _ in range(steps):
            c = product(A, x) + tau * product(B, x)
            top = np.max(np.abs(x))
            rho = lasso_for_k(B, L, c, 1.0 / (np.abs(x) + level * top), k, z, q, 1e-4)
            square = np.sum(z * q)
            if square <= 0.0:
                return rho
            new = z / math.sqrt(square)
            moved = np.max(np.abs(new - x))
            x[:] = new
            if moved <= tol * top:
                break
    return rho
