"""The approximate greedy path of d'Aspremont, Bach and El Ghaoui (2008): one eigenvector per variable added."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

import numpy as np

from .._numerics.checks import Index
from ..certificates import Solution, on_support
from ..pencils import Pencil
from .base import finished, pca_problem


def greedy(pencil: Pencil, k: int) -> Solution:
    """Add argmax (cᵢᵀz)², z the leading eigenvector of Σ_{i∈S} cᵢcᵢᵀ: λmax(S ∪ i) ≥ λmax(S) + (cᵢᵀz)².

    The bound is a subgradient inequality of the convex λmax, so a step costs one eigenvector
    and one product with A. Stops at k by itself; proves nothing.

    Proof: λmax is convex, so λmax(M + cᵢcᵢᵀ) ≥ λmax(M) + zᵀcᵢcᵢᵀz with z the leading eigenvector of M = Σ_S cᵢcᵢᵀ,
    and M has the same nonzero eigenvalues as A_SS. Compare `gspca`, which computes λmax of every candidate instead
    of the bound.
    """
    work, k = pca_problem(pencil, k, "greedy")
    begin = perf_counter()
    support = next(S for S in path(work) if len(S) == k)
    return finished(pencil, on_support(work, np.sort(support)), k, "greedy", begin)


def path(pencil: Pencil) -> Iterator[Index]:
    """Supports of 1, 2, …, n variables. With z = Cx/√λ the score (cᵢᵀz)² is (Ax)ᵢ²/λ.

    Supports are nested, so one pass yields the whole path of cardinalities.
    """
    support = [int(np.argmax(pencil.A.diagonal()))]
    yield np.array(support)
    while len(support) < pencil.n:
        score = np.abs(pencil.A @ on_support(pencil, np.array(support)))
        score[support] = -1.0
        support.append(int(np.argmax(score)))
        yield np.array(support)
