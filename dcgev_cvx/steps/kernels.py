"""Compiled coordinate descent: the weighted LASSO with a Gram matrix that is behind every native step.

The functions are compiled by numba at their first call and cached on disk. They work in place on z and q = Bz,
take no Python objects, and use neither threads nor fast-math, so that an answer is the same on every run.
"""

from __future__ import annotations

import math

import numpy as np

from .._numerics.checks import Index, Matrix, Vector
from .._numerics.compiled import compiled

MAX_SWEEPS = 200
"""Sweeps of one LASSO inside the search for its slope: the last digits come later."""


@compiled
def sweep(
    B: Matrix, ridge: float, scale: float, c: Vector, p: Vector, z: Vector, q: Vector, order: Index
) -> float:  # pragma: no cover
    """Minimise over each coordinate in turn; q = Bz is kept. Returns the largest move in the metric.

    The minimiser over zᵢ with the others fixed: with r = cᵢ − scale·(Bz)ᵢ + scale·Bᵢᵢzᵢ it is S(r, ½pᵢ)/(ridge +
    scale·Bᵢᵢ). Updating q costs one row of B, and only if zᵢ moved.

    `order` names the coordinates to visit: all of them, or the nonzeros alone.
    """
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


@compiled
def duality_gap(
    scale: float, c: Vector, p: Vector, z: Vector, q: Vector, dual_square: float
) -> float:  # pragma: no cover
    """P(z) − D(u) for P(z) = zᵀMz − 2cᵀz + pᵀ|z|, M = scale·B, and the dual point u with c − Mu = s(c − Mz).

    The dual is −uᵀMu s.t. |2(c − Mu)ᵢ| ≤ pᵢ; s ≤ 1 makes u feasible, and cᵀM⁻¹c = dual_square
    is all that uᵀMu = (1−s)²cᵀM⁻¹c + 2s(1−s)cᵀz + s²zᵀMz needs. The gap bounds ‖z − z*‖² in M.

    Proof of the last claim: P is strongly convex, P(z) − P(z*) ≥ (z − z*)ᵀM(z − z*), and D(u) ≤ P(z*).
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

    A sweep over all coordinates finds the active set, sweeps over the nonzeros settle it. The loop
    ends when the duality gap is below tol²·dual_square (or, with a ridge, where that is not known,
    when a full sweep moves little), and in any case after max_sweeps.

    Parameters
    ----------
    ridge, scale
        ≥ 0, not both zero: the Gram matrix is ridge·I + scale·B.
    c, p
        The linear term and the slopes pᵢ ≥ 0; an infinite slope is not allowed, a huge one is.
    z, q
        The start and Bz; on return the minimiser and its product.
    dual_square
        cᵀ(scale·B)⁻¹c, the natural size of the objective.
    tol
        Accuracy of z relative to (dual_square)^½, in the metric.
    """
    order = np.arange(len(z))
    active = np.empty(len(z), np.int64)
    target = tol * tol * dual_square
    sweeps = 0
    while sweeps < max_sweeps:
        moved = first = sweep(B, ridge, scale, c, p, z, q, order)
        sweeps += 1
        count = 0
        for i in order:
            if z[i] != 0.0:
                active[count] = i
                count += 1
        # the support rarely changes here: sweeps over the nonzeros are cheaper by n over their number
        while sweeps < max_sweeps and moved > 0.1 * first:
            moved = sweep(B, ridge, scale, c, p, z, q, active[:count])
            sweeps += 1
        # a sweep that moves little may still be far away: so with a ridge a hundredth of the distance is asked for
        if first == 0.0 or (ridge > 0.0 and first * first <= 1e-4 * target):
            break
        # the gap needs cᵀM⁻¹c, which with a ridge would cost a factorisation of its own
        if ridge == 0.0 and duality_gap(scale, c, p, z, q, dual_square) <= target:
            break
    return sweeps


@compiled
def product(A: Matrix, x: Vector, y: Vector) -> None:  # pragma: no cover
    """y = Ax for a symmetric A, row by row over the nonzeros of x.

    Costs n operations for each nonzero of x: MM iterates are sparse, and so is the work.

    A need not be checked for symmetry: callers pass matrices of a Pencil, which are symmetric to the last bit.
    """
    for i in range(len(y)):
        y[i] = 0.0
    for j in range(len(x)):
        # row by row, since B and A are stored so and are symmetric
        t = x[j]
        if t != 0.0:
            row = A[j]
            for i in range(len(y)):
                y[i] += t * row[i]


@compiled
def soft_thresholds(
    A: Matrix, y: Vector, price: float, eps: float, tau: float, steps: int
) -> Vector:  # pragma: no cover
    """So many steps xᵢ ← S((Ax + τx)ᵢ, ½·price/(|xᵢ| + ε)), scaled by max(τ, ‖·‖), from y (ALG-S).

    Fewer, when x stands still, when it would become 0, or when three in ten of its nonzeros are gone, so that the
    caller can drop them.
    """
    x, c = y.copy(), np.empty(len(y))
    begun = 0
    for i in range(len(y)):
        if y[i] != 0.0:
            begun += 1
    for _ in range(steps):
        product(A, x, c)
        largest = 0.0
        for i in range(len(x)):
            r = c[i] + tau * x[i]
            size = abs(r) - 0.5 * price / (abs(x[i]) + eps)
            c[i] = math.copysign(size, r) if size > 0.0 else 0.0
            largest = max(largest, abs(c[i]))
        if not 0.0 < largest < np.inf:
            break
        # scaled before it is squared: A may be of size 1e±150
        square = 0.0
        for i in range(len(x)):
            square += (c[i] / largest) ** 2
        radius = max(tau, largest * math.sqrt(square))
        left, moved = 0, 0
        for i in range(len(x)):
            new = c[i] / radius
            if new != x[i]:
                moved += 1
            if new != 0.0:
                left += 1
            x[i] = new
        if moved == 0 or 10 * left < 7 * begun:
            break
    return x


@compiled
def largest_modulus(x: Vector) -> float:  # pragma: no cover
    """max |xᵢ|.

    The unit of ε in the one-shot schedules; 0 for x = 0.
    """
    top = 0.0
    for t in x:
        top = max(top, abs(t))
    return top


@compiled
def rank_value(values: Vector, rank: int) -> float:  # pragma: no cover
    """The value with exactly `rank` entries above it (ties aside), by quickselect on a copy.

    Rank 0 is the maximum, rank k the (k+1)-th largest. Linear time on average; the pivot is the middle entry, so
    that sorted input is no bad case, and no random numbers are used.
    """
    v = values.copy()
    low, high = 0, len(v) - 1
    while low < high:
        pivot = v[(low + high) // 2]
        i, j = low, high
        while i <= j:
            # descending order: the larger entries go to the left
            while v[i] > pivot:
                i += 1
            while v[j] < pivot:
                j -= 1
            if i <= j:
                v[i], v[j] = v[j], v[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return v[rank]


@compiled
def dual_square_of(L: Matrix, c: Vector) -> float:  # pragma: no cover
    """cᵀB⁻¹c = ‖L⁻¹c‖² with B = LLᵀ, by forward substitution.

    It is (largest ‖z‖_B)², the scale against which the LASSO's duality gap is judged.
    """
    h = c.copy()
    total = 0.0
    for i in range(len(c)):
        for j in range(i):
            h[i] -= L[i, j] * h[j]
        h[i] /= L[i, i]
        total += h[i] * h[i]
    return total


@compiled
def lasso_at(
    B: Matrix, c: Vector, w: Vector, rho: float, p: Vector, z: Vector, q: Vector, size: float, tol: float
) -> int:  # pragma: no cover
    """argmin zᵀBz − 2cᵀz + ρ Σ wᵢ|zᵢ| into z, and how many of its entries are nonzero.

    z and q are both the start and the answer, so that neighbouring ρ cost a few sweeps each.
    """
    for i in range(len(w)):
        p[i] = rho * w[i]
    weighted_lasso(B, 0.0, 1.0, c, p, z, q, size, tol, MAX_SWEEPS)
    count = 0
    for t in z:
        if t != 0.0:
            count += 1
    return count


@compiled
def lasso_for_k(
    B: Matrix, L: Matrix, c: Vector, w: Vector, k: int, z: Vector, q: Vector, tol: float
) -> float:  # pragma: no cover
    """The slope ρ at which argmin zᵀBz − 2cᵀz + ρ Σ wᵢ|zᵢ| has k nonzeros, by bisection; z and q = Bz updated.

    Where no ρ gives exactly k (coordinates may leave in pairs) the last ρ with more is kept.

    At ρ = 2·max|cᵢ|/wᵢ the minimiser is 0; below, the number of nonzeros rises as ρ falls, though not always
    by one and not always monotonically. Forty halvings bound the search.

    Parameters
    ----------
    w
        The weights of the moduli; ρ scales them.
    k
        The number of nonzeros that is wanted, 1 ≤ k < n.
    tol
        Accuracy of each LASSO; the count of nonzeros needs little.
    """
    low, high = 0.0, 0.0
    for i in range(len(c)):
        high = max(high, 2.0 * abs(c[i]) / w[i])
    size = dual_square_of(L, c)
    p = np.empty(len(c))
    rho = 0.5 * high
    count = 0
    for _ in range(40):
        count = lasso_at(B, c, w, rho, p, z, q, size, tol)
        # a bracket this narrow holds two coordinates that leave together: no ρ gives k
        if count == k or high - low <= 1e-9 * high:
            break
        if count > k:
            low = rho
        else:
            high = rho
        rho = 0.5 * (low + high)
    if count < k:
        # the last ρ that left more than k; the caller trims
        rho = low
        lasso_at(B, c, w, rho, p, z, q, size, tol)
    return rho


@compiled
def one_shot_pca(
    A: Matrix, tau: float, k: int, x: Vector, levels: Vector, steps: int, tol: float
) -> float:  # pragma: no cover
    """One-shot cardinality with B = I and k < n: (ALG-S) with ρ_ε the (k+1)-th largest survival score.

    xᵢ survives when 2|cᵢ|(|xᵢ| + ε) > ρ_ε, c = (A + τI)x; ε falls through the levels, relative to
    max|x|. x is updated; the last ρ_ε is returned.

    Ties: coordinates whose score equals ρ_ε are dropped, so that fewer than k may survive.

    Parameters
    ----------
    A
        Dense and contiguous, n × n; τ with A + τI ⪰ 0.
    x
        The start, of unit length; on return the last iterate.
    levels, steps, tol
        ε/max|x| from loose to tight, the most steps at each, and the largest move of a coordinate at which a
        level ends early.
    """
    n = len(x)
    c, score, rho = np.empty(n), np.empty(n), 0.0
    for level in levels:
        for _ in range(steps):
            product(A, x, c)
            eps = level * largest_modulus(x)
            for i in range(n):
                c[i] += tau * x[i]
                score[i] = 2.0 * abs(c[i]) * (abs(x[i]) + eps)
            rho = rank_value(score, k)
            square = 0.0
            for i in range(n):
                size = abs(c[i]) - 0.5 * rho / (abs(x[i]) + eps)
                # strictly above: the coordinate whose score is ρ_ε itself has size 0
                c[i] = math.copysign(size, c[i]) if score[i] > rho else 0.0
                square += c[i] * c[i]
            if square == 0.0:
                return rho
            moved, norm = 0.0, math.sqrt(square)
            for i in range(n):
                moved = max(moved, abs(c[i] / norm - x[i]))
                x[i] = c[i] / norm
            if moved <= tol:
                break
    return rho


@compiled
def one_shot_gev(
    A: Matrix, B: Matrix, L: Matrix, tau: float, k: int, x: Vector, levels: Vector, steps: int, tol: float
) -> float:  # pragma: no cover
    """One-shot cardinality for any B and k < n: the metric-shift step whose LASSO keeps k coordinates, ε falling.

    The LASSO is warm-started from the last z; the scale of z carries over since only x = z/‖z‖_B is normalised.

    Parameters
    ----------
    L
        The lower Cholesky factor of B, for cᵀB⁻¹c alone.
    x
        The start, of unit B norm; on return the last iterate.

    The LASSO is solved to 1e-4 of its natural size only: what matters is which coordinates survive, and the
    loadings are recomputed on the support afterwards. Where the LASSO is left with nothing, z = 0 and x stays.
    """
    n = len(x)
    c, w, q, z, rho = np.empty(n), np.empty(n), np.empty(n), x.copy(), 0.0
    product(B, z, q)
    for level in levels:
        for _ in range(steps):
            product(B, x, w)
            product(A, x, c)
            top = largest_modulus(x)
            for i in range(n):
                c[i] += tau * w[i]
                w[i] = 1.0 / (abs(x[i]) + level * top)
            rho = lasso_for_k(B, L, c, w, k, z, q, 1e-4)
            square = 0.0
            for i in range(n):
                square += z[i] * q[i]
            if square <= 0.0:
                return rho
            moved, norm = 0.0, math.sqrt(square)
            for i in range(n):
                moved = max(moved, abs(z[i] / norm - x[i]))
                x[i] = z[i] / norm
            if moved <= tol * top:
                break
    return rho
