"""Local search over supports: exchange one variable at a time while λmax of the sub-pencil rises.

A support that no exchange of two variables improves is far better than an arbitrary stationary point of the
d.c. program, of which at tiny ε nearly every support carries one; and it is still no proof of optimality.
"""

from __future__ import annotations

import numpy as np

from .checks import Index, Matrix, Vector
from .exchanges import climb, exchange_rows
from .pencils import Gram, Pencil
from .postprocess import on_support
from .spectra import positive

EXHAUSTIVE = 400
"""Up to this many exchanges are all evaluated exactly; beyond, the most promising by a 2 × 2 estimate."""
SHORTLIST = 12
DIRECT = 100
"""Supports up to this size are scored in one batch; larger ones one at a time, until one is better."""
POWER_STEPS = 40
THIN = 60
"""Beyond this many variables the exchanges of A = CᵀC with B = I are evaluated by power steps."""


def eigenvector_on(pencil: Pencil, support: Index) -> tuple[float, Vector]:
    """(λ, x) of the sub-pencil on the support, at least one position; x embedded with unit B norm.

    For a pencil of ordinary size: small supports are decomposed as they are, without scaling.
    """
    if len(support) > DIRECT:
        x = on_support(pencil, support)
        return pencil.A_quad(x), x
    A = pencil.A_sub(support)
    if pencil.B is None:
        v = np.linalg.eigh(A)[1][:, -1]
    else:
        L = np.linalg.cholesky(pencil.B_sub(support))
        half = np.linalg.solve(L, A)
        v = np.linalg.solve(L.T, np.linalg.eigh(np.linalg.solve(L, half.T))[1][:, -1])
    x = np.zeros(pencil.n)
    x[support] = positive(np.asarray(v, dtype=np.float64))
    x /= pencil.B_norm(x)
    return pencil.A_quad(x), x


def refined(pencil: Pencil, x: Vector) -> Vector:
    """The leading eigenvector on the support of x, which is near it: by power steps where these settle it.

    After exchanges on a large factor x is good to a few digits already; an eigenvalue problem from scratch
    would take longer than the rest of them.
    """
    support = np.flatnonzero(x)
    if pencil.B is None and isinstance(pencil.A, Gram) and len(support) > DIRECT:
        W = pencil.A.C.T[support]
        z, v, value = climb(W, x[support], POWER_STEPS)
        if np.linalg.norm(W @ v - value * z) <= 1e-10 * value:
            found = np.zeros_like(x)
            found[support] = positive(z)
            return found
    return eigenvector_on(pencil, support)[1]


def swap_search(pencil: Pencil, x: Vector, max_swaps: int = 200) -> tuple[Vector, int]:
    """Exchange the pair (i out, j in) that raises λmax most until no exchange on the shortlist does.

    Returns the vector and the number of exchanges made. On small problems every exchange is evaluated
    exactly, so that the result is optimal among all supports that differ in one variable; on large ones
    the candidates are those with the best 2 × 2 estimates.

    Parameters
    ----------
    x
        A nonzero vector; only its support matters, as loadings are recomputed.
    max_swaps
        A guard; each exchange raises the value by more than 1e-12 of itself.

    Examples
    --------
    From the last two variables two exchanges lead to a pair that no single exchange improves, worth 1.813; the
    best pair, variables 0 and 1, is worth 1.954 and shares none with it. One start is not enough:

    >>> import numpy as np
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.swaps import swap_search
    >>> pencil = datasets.pitprops()
    >>> x, exchanges = swap_search(pencil, np.eye(13)[12] + np.eye(13)[11])
    >>> np.flatnonzero(x), round(pencil.A_quad(x), 3), exchanges
    (array([5, 6]), 1.813, 2)
    """
    support = np.flatnonzero(x)
    if pencil.B is None and isinstance(pencil.A, Gram) and pencil.n > THIN:
        return exchange_rows(pencil.A.C.T, pencil.A_diagonal, x, max_swaps)
    value, x = eigenvector_on(pencil, support)
    for count in range(max_swaps):
        better = best_swap(pencil, support, x, value)
        if better is None:
            return x, count
        value, support, x = better
    return x, max_swaps


def best_swap(pencil: Pencil, support: Index, x: Vector, value: float) -> tuple[float, Index, Vector] | None:
    """The best exchange found from a support, or None when none of those tried raises the value.

    Small supports: all candidates are scored at once and the winner is recomputed. Large ones: the first on the
    shortlist that raises the value is taken, as each evaluation costs an eigenvalue problem.
    """
    outside = np.setdiff1d(np.arange(pencil.n), support, assume_unique=True)
    if not len(outside) or not len(support):
        return None
    estimate, drop, add = swap_estimates(pencil, support, outside, x, value)
    threshold = value + 1e-12 * abs(value)
    everyone = estimate.size == len(support) * len(outside) and len(support) <= 40
    order = np.argsort(estimate, axis=None)[::-1][: None if everyone else SHORTLIST]
    i, j = np.unravel_index(order, estimate.shape)
    candidates = np.tile(support, (len(order), 1))
    candidates[np.arange(len(order)), np.searchsorted(support, drop[i])] = add[j]
    if len(support) <= DIRECT:
        values = support_values(pencil, candidates)
        candidates = candidates[[int(np.argmax(values))]] if np.max(values) > threshold else candidates[:0]
    for candidate in np.sort(candidates, axis=1):
        found, z = eigenvector_on(pencil, candidate)
        if found > threshold:
            return found, candidate, z
    return None


def support_values(pencil: Pencil, supports: Index) -> Vector:
    """λmax of the sub-pencil on each row of an m × k table of supports, all at once.

    Parameters
    ----------
    supports
        m × k positions; within a row they are distinct and in any order.

    Memory is m·k² numbers (and m·p·k for a factor); callers chunk.
    """
    rows, columns = supports[:, :, None], supports[:, None, :]
    if isinstance(pencil.A, Gram):
        parts = np.swapaxes(pencil.A.C.T[supports], 1, 2)
        A = np.swapaxes(parts, 1, 2) @ parts
    else:
        A = pencil.A[rows, columns]
    if pencil.B is not None:
        L = np.linalg.cholesky(pencil.B[rows, columns])
        half = np.linalg.solve(L, A)
        A = np.linalg.solve(L, np.swapaxes(half, 1, 2))
    return np.asarray(np.linalg.eigvalsh(A)[:, -1], dtype=np.float64)


def swap_estimates(
    pencil: Pencil, support: Index, outside: Index, x: Vector, value: float
) -> tuple[Matrix, Index, Index]:
    """Rayleigh–Ritz values on span{x − xᵢeᵢ, eⱼ} for pairs (i, j): a lower bound of λmax after the exchange.

    The largest root λ of (uᵀAu − λuᵀBu)(Aⱼⱼ − λBⱼⱼ) = (uᵀAeⱼ − λuᵀBeⱼ)², u = x − xᵢeᵢ. When there are
    many pairs, the variables that cost least to drop and gain most when added.

    A lower bound because span{u, eⱼ} is a subspace of the vectors on the new support: the true λmax is at least
    this. It is sharp when the remaining loadings change little.
    """
    Ax, Bx = pencil.A_dot(x), pencil.B_dot(x)
    a, b = pencil.A_diagonal, pencil.B_diagonal
    xi = x[support]
    kept_A = value - 2.0 * xi * Ax[support] + xi**2 * a[support]
    kept_B = 1.0 - 2.0 * xi * Bx[support] + xi**2 * b[support]
    few = EXHAUSTIVE if len(support) * len(outside) <= EXHAUSTIVE else 24
    i = np.argsort(kept_A / np.maximum(kept_B, 1e-14))[::-1][:few]
    gain = pair_value(value, 1.0, Ax[outside], Bx[outside], a[outside], b[outside])
    j = np.argsort(gain)[::-1][:few]
    drop, add = support[i], outside[j]
    cross_A, cross_B = cross_block(pencil, drop, add)
    estimate = pair_value(
        kept_A[i][:, None],
        kept_B[i][:, None],
        Ax[add] - cross_A * x[drop][:, None],
        Bx[add] - cross_B * x[drop][:, None],
        a[add],
        b[add],
    )
    return np.atleast_2d(estimate), drop, add


def pair_value(p: Vector | float, q: Vector | float, a: Vector, b: Vector, r: Vector, s: Vector) -> Vector:
    """The larger root λ of (p − λq)(r − λs) = (a − λb)²: λmax of a 2 × 2 pencil, entry by entry.

    Expanded: (qs − b²)λ² − (ps + qr − 2ab)λ + (pr − a²) = 0. qs > b² as B is positive definite; the floor
    keeps a dependent pair from dividing by zero.
    """
    A = np.maximum(q * s - b * b, 1e-14 * q * s)
    half = 0.5 * (p * s + q * r) - a * b
    root = np.sqrt(np.maximum(half * half - A * (p * r - a * a), 0.0))
    alone = np.asarray(A <= 0.0)  # the first vector is zero: what is left is the second
    return np.where(alone, r / s, (half + root) / np.where(alone, 1.0, A))


def cross_block(pencil: Pencil, rows: Index, columns: Index) -> tuple[Matrix, Matrix]:
    """A and B between two small sets of variables."""
    if isinstance(pencil.A, Gram):
        A = pencil.A.C[:, rows].T @ pencil.A.C[:, columns]
    else:
        A = pencil.A[np.ix_(rows, columns)]
    B = np.zeros((len(rows), len(columns))) if pencil.B is None else pencil.B[np.ix_(rows, columns)]
    return A, B
