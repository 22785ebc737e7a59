"""The approximate greedy path of d'Aspremont, Bach and El Ghaoui (2008): one eigenvector per variable added."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np

from .._numerics.checks import Index
from ..certificates import Solution, on_support
from ..pencils import Pencil
from .sparse_pca import finished, pca_problem


def greedy(pencil: Pencil, k: int) -> Solution:
    """Add argmax (cᵢᵀz)² until there are k variables, z the leading eigenvector of Σ_{i∈S} cᵢcᵢᵀ.

    λmax is convex, so λmax(M + cᵢcᵢᵀ) ≥ λmax(M) + (cᵢᵀz)² with z the leading eigenvector of M = Σ_S cᵢcᵢᵀ, and M has
    the same nonzero eigenvalues as A_SS. A step costs one eigenvector and one product with A. Compare `gspca`, which
    computes λmax of every candidate instead of this bound.

    Parameters
    ----------
    pencil : Pencil
        B = I and A ⪰ 0.
    k : int
        The cardinality.

    Returns
    -------
    Solution
        The leading eigenvector on the support of size k.

    Examples
    --------
    >>> from dcgev_cvx import datasets, rivals
    >>> rivals.greedy(datasets.pitprops(), 3).support
    (0, 1, 8)
    """
    work, k = pca_problem(pencil, k, "greedy")
    begin = perf_counter()
    support = next(S for S in path(work) if len(S) == k)
    return finished(pencil, on_support(work, np.sort(support)), k, "greedy", begin)


def path(pencil: Pencil) -> Iterator[Index]:
    """Nested supports of 1, 2, …, n variables. With z = Cx/√λ the score (cᵢᵀz)² is (Ax)ᵢ²/λ."""
    support = [int(np.argmax(pencil.A_diagonal))]
    yield np.array(support)
    while len(support) < pencil.n:
        score = np.abs(pencil.A @ on_support(pencil, np.array(support)))
        score[support] = -1.0
        support.append(int(np.argmax(score)))
        yield np.array(support)
