"""GSPCA of Moghaddam, Weiss and Avidan (2006): greedy search over supports, forward and backward."""

from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any, Literal

import numpy as np
from scipy.linalg import eigh

from .._numerics.checks import Index, Matrix, Vector, one_of
from ..certificates import on_support
from ..pencils import Pencil
from ..solutions import Solution
from .sparse_pca import finished, pca_problem

PENALTY_HALVINGS = 40
"""Steps of the root search in the interlacing interval: a relative width of 1e-12."""


def gspca(pencil: Pencil, k: int, *, passes: Literal["both", "forward"] = "both") -> Solution:
    """Grow a support from one variable, shrink it from all, and keep the better one of size k (SGEV-P).

    Each pass takes the variable whose entry or exit leaves the largest λmax(A_SS); a step costs one eigenvalue
    decomposition, and candidates are scored together by the secular equation. Its authors' exact variant is
    `exact.best_subset`.

    Parameters
    ----------
    pencil : Pencil
        B = I and A ⪰ 0.
    k : int
        The cardinality.
    passes : {"both", "forward"}
        The forward pass alone costs O(k⁴), both together O(n⁴).

    Returns
    -------
    Solution
        The leading eigenvector on the support that was found.

    Examples
    --------
    >>> from dcgev_cvx import datasets, rivals
    >>> rivals.gspca(datasets.pitprops(), 3).support
    (0, 1, 8)
    """
    work, k = pca_problem(pencil, k, "gspca")
    begin = perf_counter()
    A, _ = work.dense()
    chosen = (forward, backward) if one_of(passes, "passes", ("both", "forward")) == "both" else (forward,)
    supports = [next(S for S in steps(A) if len(S) == k) for steps in chosen]
    x = max((on_support(work, np.sort(S)) for S in supports), key=work.A_quad)
    return finished(pencil, x, k, "gspca", begin)


def forward(A: Matrix) -> Iterator[Index]:
    """Supports of 1, 2, …, n variables: from the largest variance on, add argmax λmax(A_{S∪i})."""
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
    """Supports of n, n − 1, …, 1 variables: drop argmax λmax(A_{S∖i}); O(n⁴) in all."""
    S = np.arange(len(A))
    yield S
    while len(S) > 1:
        values, V = eigh(A[np.ix_(S, S)], check_finite=False)
        S = np.delete(S, int(np.argmax(minors(values, V))))
        yield S


def bordered(values: Vector, coupling: Matrix, corners: Vector) -> Vector:
    """λmax of [[Λ, bⱼ], [bⱼᵀ, αⱼ]] for every column b of the coupling: the root of λ − α = Σ bᵢ²/(λ − λᵢ).

    To the right of the top eigenvalue the difference of both sides increases in λ. The root lies between those that
    keep only the top eigenvalue and that move all eigenvalues to the top.
    """
    top, squares = values[-1], coupling * coupling
    middle, half = 0.5 * (corners + top), 0.5 * (corners - top)

    def above(at: Vector) -> Any:
        gaps = np.maximum(at[None, :] - values[:, None], np.finfo(float).tiny)
        return at - corners >= (squares / gaps).sum(axis=0)

    return bisected(
        middle + np.hypot(half, coupling[-1]), middle + np.hypot(half, np.linalg.norm(coupling, axis=0)), above
    )


def minors(values: Vector, V: Matrix) -> Vector:
    """λmax of VΛVᵀ without row and column i, for every i: the root of Σ vᵢⱼ²/(λⱼ − λ) = 0 in [λ₂, λ₁].

    Interlacing puts it there, and on that interval the sum, which is (M − λI)⁻¹ᵢᵢ, increases: it vanishes where the
    minor is singular, by Cramer's rule.
    """
    squares = V * V

    def above(at: Vector) -> Any:
        gaps = values[None, :] - at[:, None]
        # at an eigenvalue itself the sum is infinite; its sign is all that bisection needs
        safe = np.where(gaps == 0.0, -np.finfo(float).tiny, gaps)
        with np.errstate(over="ignore"):
            return (squares / safe).sum(axis=1) >= 0.0

    return bisected(np.full(len(V), values[-2]), np.full(len(V), values[-1]), above)


def bisected(low: Vector, high: Vector, above: Callable[[Vector], Any]) -> Vector:
    """The roots of many increasing functions, above(t) being where each is ≥ 0; by halving, for ends may be roots."""
    for _ in range(PENALTY_HALVINGS):
        at = 0.5 * (low + high)
        up = above(at)
        low, high = np.where(up, low, at), np.where(up, at, high)
    return 0.5 * (low + high)
