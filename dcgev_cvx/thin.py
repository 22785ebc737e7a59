"""Compiled searches for A = CᵀC with B = I, through the rows of R = Cᵀ: one-shot cardinality and exchanges.

The rows of R are variables, p numbers each, so that a support is a small matrix W = R_S and everything about it
costs k·p operations: λmax(A_SS) = ‖W‖², its eigenvector is the left singular vector of W, and Ax = R(Wᵀx_S) is
one pass over the data. Both searches do most of their work on a pool of promising rows and go over all rows
only to choose the next pool.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from .checks import Index, Matrix, Vector
from .steps.kernels import largest_modulus, rank_value

POOL = 3
"""The pool of a level of ε holds this many times k rows."""
FULL = 2
"""Steps at the beginning of each level that look at all rows."""
FEW = 24
"""Members that may leave and outsiders that may enter in one pool of exchanges."""
TRIES = 4
"""Exchanges of a pool that are evaluated before it counts as used up."""
CLIMB = 2
"""Power steps that evaluate an exchange: its value is attained, whether or not they have converged."""


@njit(cache=True)
def combination(R: Matrix, x: Vector) -> Vector:  # pragma: no cover
    """Cx = Rᵀx, the sum of the rows where x is nonzero."""
    u = np.zeros(R.shape[1], R.dtype)
    for j in range(len(x)):
        if x[j] != 0.0:
            row = R[j]
            for i in range(len(u)):
                u[i] += x[j] * row[i]
    return u


@njit(cache=True, fastmath={"reassoc", "contract"})
def products(R: Matrix, v: Vector) -> Vector:  # pragma: no cover
    """Rv, row by row in the precision of R.

    Sums may be reordered, which lets the compiler use vector instructions; the order is the same on every call.
    No BLAS, whose threads cost more than they save on matrices of this size.
    """
    c = np.empty(len(R), R.dtype)
    for j in range(len(R)):
        row, total = R[j], v[0] * 0.0
        for i in range(len(v)):
            total += row[i] * v[i]
        c[j] = total
    return c


@njit(cache=True)
def rows_of(R: Matrix, chosen: Index) -> Matrix:  # pragma: no cover
    """A copy of some rows."""
    W = np.empty((len(chosen), R.shape[1]), R.dtype)
    for f in range(len(chosen)):
        W[f] = R[chosen[f]]
    return W


@njit(cache=True)
def survive(c: Vector, k: int, x: Vector, eps: float) -> tuple[float, float]:  # pragma: no cover
    """One step (ALG-S) from x with c = Ax, ρ_ε the (k+1)-th largest survival score; (ρ_ε, the largest move).

    x is updated in place, at most k of it nonzero. Where every score ties nothing survives: x stays, no move.
    """
    n = len(x)
    score, z, square = np.empty(n), np.empty(n), 0.0
    for i in range(n):
        score[i] = 2.0 * abs(c[i]) * (abs(x[i]) + eps)
    rho = rank_value(score, k)
    for i in range(n):
        size = abs(c[i]) - 0.5 * rho / (abs(x[i]) + eps)
        z[i] = math.copysign(size, c[i]) if score[i] > rho else 0.0
        square += z[i] * z[i]
    norm, moved = math.sqrt(square), 0.0
    for i in range(n if norm > 0.0 else 0):
        moved = max(moved, abs(z[i] / norm - x[i]))
        x[i] = z[i] / norm
    return rho, moved


@njit(cache=True)
def settle(
    R: Matrix, k: int, x: Vector, level: float, steps: int, tol: float
) -> tuple[float, float]:  # pragma: no cover
    """At most `steps` one-shot steps at one level of ε on the rows given; (ρ_ε, the last move)."""
    rho, moved = 0.0, math.inf
    for _ in range(steps):
        c = products(R, combination(R, x))
        rho, moved = survive(c, k, x, level * largest_modulus(x))
        if moved <= tol:
            break
    return rho, moved


@njit(cache=True)
def one_shot_factor(
    R: Matrix, k: int, x: Vector, levels: Vector, steps: int, tol: float
) -> float:  # pragma: no cover
    """One-shot cardinality for A = RRᵀ and k < n, ε falling; x of unit length is updated, the last ρ_ε returned.

    Each level begins with steps over all rows; the others are steps of the same program restricted to the POOL·k
    rows with the highest scores, which contain all k that survived. R may be of single precision: what is
    decided here is a support, and its value is computed elsewhere.
    """
    rho = 0.0
    whole = 2 * POOL * k > len(x)
    for level in levels:
        rho, moved = settle(R, k, x, level, steps if whole else FULL, tol)
        if whole or moved <= tol:
            continue
        pool = promising(R, x, level, POOL * k)
        part = x[pool]
        rho, moved = settle(rows_of(R, pool), k, part, level, steps - FULL, tol)
        x[:] = 0.0
        x[pool] = part
    return rho


@njit(cache=True)
def promising(R: Matrix, x: Vector, level: float, count: int) -> Index:  # pragma: no cover
    """The rows with the `count` highest survival scores at x, and those where x is nonzero; in ascending order."""
    c, eps = products(R, combination(R, x)), level * largest_modulus(x)
    score = np.empty(len(x))
    for i in range(len(x)):
        score[i] = abs(c[i]) * (abs(x[i]) + eps)
    bar = rank_value(score, count)
    return np.flatnonzero((score > bar) | (x != 0.0))


@njit(cache=True)
def largest(values: Vector, count: int) -> Index:  # pragma: no cover
    """The positions of the `count` largest values, in descending order; ties go to the lower position."""
    count = min(count, len(values))
    at, top, filled = np.empty(count, np.int64), np.full(count, -math.inf), 0
    for i in range(len(values)):
        if filled < count or values[i] > top[count - 1]:
            j = min(filled, count - 1)
            while j > 0 and top[j - 1] < values[i]:
                top[j], at[j] = top[j - 1], at[j - 1]
                j -= 1
            top[j], at[j] = values[i], i
            filled = min(filled + 1, count)
    return at


@njit(cache=True, fastmath={"reassoc", "contract"})
def square(x: Vector) -> float:  # pragma: no cover
    """xᵀx."""
    total = 0.0
    for t in x:
        total += t * t
    return total


@njit(cache=True)
def climb(W: Matrix, x: Vector, steps: int) -> tuple[float, Vector]:  # pragma: no cover
    """(‖Wᵀx‖², Wᵀx) after power steps x ← WWᵀx/‖·‖, x updated in place."""
    v = combination(W, x)
    for _ in range(steps):
        y = products(W, v)
        norm = math.sqrt(square(y))
        if norm == 0.0:
            break
        for r in range(len(x)):
            x[r] = y[r] / norm
        v = combination(W, x)
    return square(v), v


@njit(cache=True)
def ritz(value: float, a: float, s: float) -> float:  # pragma: no cover
    """The larger eigenvalue of the 2 × 2 matrix [value a; a s]."""
    half = 0.5 * (value - s)
    return 0.5 * (value + s) + math.sqrt(half * half + a * a)


@njit(cache=True)
def exchange_pool(
    R: Matrix, s: Vector, members: Index, x: Vector, value: float, v: Vector
) -> tuple[Index, Index]:  # pragma: no cover
    """(places of members, outsiders): those that cost least to drop and gain most when added, by one pass.

    Without member i the rest of x is worth (λ − 2xᵢ(Ax)ᵢ + xᵢ²Aᵢᵢ)/(1 − xᵢ²); with outsider j at its side x
    is worth the larger eigenvalue of [λ (Ax)ⱼ; (Ax)ⱼ Aⱼⱼ].
    """
    a = products(R, v)
    kept, gain = np.empty(len(members)), np.empty(len(a))
    for j in range(len(a)):
        gain[j] = ritz(value, a[j], s[j])
    for r in range(len(members)):
        i, t = members[r], x[r]
        kept[r] = (value - 2.0 * t * a[i] + t * t * s[i]) / max(1.0 - t * t, 1e-14)
        gain[i] = -math.inf
    return largest(kept, FEW), largest(gain, min(FEW, len(a) - len(members)))


@njit(cache=True)
def exchange_table(
    R: Matrix, s: Vector, members: Index, x: Vector, value: float, v: Vector, rows: Index, adds: Index, G: Matrix
) -> Matrix:  # pragma: no cover
    """Rayleigh–Ritz values on span{x − xᵢeᵢ, eⱼ} for each pair of a pool: lower bounds of λmax after the exchange.

    G holds Aᵢⱼ between the members and the outsiders of the pool.
    """
    table = np.empty((len(rows), len(adds)))
    a, b = products(rows_of(R, adds), v), products(rows_of(R, members[rows]), v)
    for f in range(len(rows)):
        i, t = members[rows[f]], x[rows[f]]
        rest = max(1.0 - t * t, 1e-14)
        kept = (value - 2.0 * t * b[f] + t * t * s[i]) / rest
        for g in range(len(adds)):
            table[f, g] = ritz(kept, (a[g] - G[f, g] * t) / math.sqrt(rest), float(s[adds[g]]))
    return table


@njit(cache=True)
def exchange_once(
    R: Matrix, W: Matrix, members: Index, x: Vector, value: float, v: Vector, rows: Index, adds: Index, table: Matrix
) -> tuple[int, int, float, Vector]:  # pragma: no cover
    """The first of the TRIES best pairs that raises the value, carried out: (its place in the table, value, Cx).

    W, members, adds and x are updated; (−1, −1, …) and no change when none raises it by more than 1e-12 of itself.
    """
    for flat in largest(table.reshape(-1), TRIES):
        f, g = flat // len(adds), flat % len(adds)
        r, j = rows[f], adds[g]
        old, y = W[r].copy(), x.copy()
        W[r] = R[j]
        # the newcomer begins with what a power step would give it
        y[r] = products(R[j : j + 1], v)[0] / value
        y /= math.sqrt(square(y))
        found, w = climb(W, y, CLIMB)
        if found > value * (1.0 + 1e-12):
            members[r], adds[g] = j, members[r]
            x[:] = y
            return f, g, found, w
        W[r] = old
    return -1, -1, value, v


@njit(cache=True)
def exchange_factor(
    R: Matrix, s: Vector, members: Index, x: Vector, max_swaps: int
) -> tuple[float, int]:  # pragma: no cover
    """Exchanges that raise ‖R_Sᵀx‖² until no pair of a fresh pool does; (value, exchanges made).

    Parameters
    ----------
    s
        The diagonal of A: squared norms of the rows.
    members, x
        The support and the loadings on it, ‖x‖ = 1 and Cx ≠ 0; both are updated.
    """
    W, done = rows_of(R, members), 0
    value, v = climb(W, x, 6 * CLIMB)
    while done < max_swaps:
        rows, adds = exchange_pool(R, s, members, x, value, v)
        G = np.empty((len(rows), len(adds)))
        for f in range(len(rows)):
            G[f] = products(rows_of(R, adds), W[rows[f]])
        before = done
        while done < max_swaps:
            table = exchange_table(R, s, members, x, value, v, rows, adds, G)
            f, g, value, v = exchange_once(R, W, members, x, value, v, rows, adds, table)
            if f < 0:
                break
            G[f] = products(rows_of(R, adds), W[rows[f]])
            G[:, g] = products(rows_of(W, rows), R[adds[g]])
            done += 1
        if done == before:
            break
    return value, done
