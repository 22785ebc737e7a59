"""GSPCA of Moghaddam, Weiss and Avidan: greedy forward and backward search over supports, and the exact optimum."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Literal, TypeAlias

import numpy as np
from scipy.linalg import eigh

from .._numerics.checks import Index, Matrix, Vector, one_of
from ..certificates import Solution, on_support
from ..pencils import Pencil
from .base import finished, pca_problem

Search: TypeAlias = Literal["both", "forward", "backward", "exact"]

HALVINGS = 40
"""Steps of the root search in the interlacing interval: a relative width of 1e-12."""


def gspca(pencil: Pencil, k: int, *, search: Search = "both") -> Solution:
    """The largest λmax(A_SS) over |S| = k: grow S from one variable, shrink it from all, keep the better (SGEV-P).

    Each pass takes the variable whose entry (exit) leaves the largest λmax; "exact" proves the
    optimum by branch and bound. The greedy passes stop at k by themselves and prove nothing.

    Parameters
    ----------
    search
        "forward", "backward", "both" (the better of the two) or "exact", which uses `best_subset` and may take
        long for large n.

    A greedy pass costs an eigenvalue decomposition a step; candidates are scored together by the secular equation.
    """
    work, k = pca_problem(pencil, k, "gspca")
    one_of(search, "search", ("both", "forward", "backward", "exact"))
    begin = perf_counter()
    if search == "exact":
        return exact(pencil, work, k, begin)
    A, _ = work.dense()
    found: list[Index] = []
    if search in ("both", "forward"):
        found.append(take(forward(A), k))
    if search in ("both", "backward"):
        found.append(take(backward(A), k))
    x = max((on_support(work, np.sort(S)) for S in found), key=work.A_quad)
    return finished(pencil, x, k, f"gspca-{search}", begin)


def exact(pencil: Pencil, work: Pencil, k: int, begin: float) -> Solution:
    """The optimum of (SGEV-P) by branch and bound over supports.

    A search that ended without proof is labelled as one that ran out of iterations.
    """
    from ..exact import best_subset

    proved = best_subset(work, k)
    return finished(pencil, np.asarray(proved.x), k, "gspca-exact", begin, converged=proved.optimal)


def take(path: Iterator[Index], k: int) -> Index:
    """The support of k variables on a greedy path."""
    return next(support for support in path if len(support) == k)


def forward(A: Matrix) -> Iterator[Index]:
    """Supports of 1, 2, …, n variables: add argmax λmax(A_{S∪i}), every candidate's root found at once.

    The first variable is the one of largest variance; the eigenvectors of A_SS are computed once a step and shared
    by all candidates.
    """
    n = len(A)
    S = np.array([np.argmax(np.diagonal(A))])
    yield S
    while len(S) < n:
        rest = np.setdiff1d(np.arange(n), S)
        values, V = eigh(A[np.ix_(S, S)], check_finite=False)
        coupling = V.T @ A[np.ix_(S, rest)]
        S = np.append(S, rest[np.argmax(bordered(values, coupling, np.diagonal(A)[rest]))])
        yield S


def backward(A: Matrix) -> Iterator[Index]:
    """Supports of n, n − 1, …, 1 variables: drop argmax λmax(A_{S∖i}).

    Starting from all variables, it needs a decomposition of order n, n − 1, …: O(n⁴) in all, for small n.
    """
    S = np.arange(len(A))
    yield S
    while len(S) > 1:
        values, V = eigh(A[np.ix_(S, S)], check_finite=False)
        S = np.delete(S, int(np.argmax(minors(values, V))))
        yield S


def bordered(values: Vector, coupling: Matrix, corners: Vector) -> Vector:
    """λmax of [[Λ, bⱼ], [bⱼᵀ, αⱼ]] for every column b of the coupling: the root of λ − α = Σ bᵢ²/(λ − λᵢ).

    Between the roots that keep only the top eigenvalue and that move all eigenvalues to the top.

    Derivation: det of the bordered matrix minus λ vanishes where α − λ = Σ bᵢ²/(λᵢ − λ); to the right of the top
    eigenvalue the difference of both sides is increasing in λ, so bisection is safe.
    """
    top, squares = values[-1], coupling * coupling
    middle, half = 0.5 * (corners + top), 0.5 * (corners - top)
    low = middle + np.sqrt(half * half + squares[-1])
    high = middle + np.sqrt(half * half + squares.sum(axis=0))
    for _ in range(HALVINGS):
        at = 0.5 * (low + high)
        gaps = np.maximum(at[None, :] - values[:, None], np.finfo(float).tiny)
        above = at - corners >= (squares / gaps).sum(axis=0)
        low, high = np.where(above, low, at), np.where(above, at, high)
    return 0.5 * (low + high)


def minors(values: Vector, V: Matrix) -> Vector:
    """λmax of VΛVᵀ without row and column i, for every i: the root of Σ vᵢⱼ²/(λⱼ − λ) = 0 in [λ₂, λ₁].

    Interlacing puts the largest eigenvalue of the minor between λ₂ and λ₁ of the whole, and on that interval the sum
    Σ vᵢⱼ²/(λⱼ − λ), which is (M − λI)⁻¹ᵢᵢ, is increasing: it vanishes where the minor is singular, by Cramer's rule.
    """
    squares = V * V
    low = np.full(len(V), values[-2])
    high = np.full(len(V), values[-1])
    for _ in range(HALVINGS):
        at = 0.5 * (low + high)
        gaps = values[None, :] - at[:, None]
        # at an eigenvalue itself the sum is infinite; its sign is all that bisection needs
        safe = np.where(gaps == 0.0, -np.finfo(float).tiny, gaps)
        with np.errstate(over="ignore"):
            above = (squares / safe).sum(axis=1) >= 0.0
        low, high = np.where(above, low, at), np.where(above, at, high)
    return 0.5 * (low + high)
