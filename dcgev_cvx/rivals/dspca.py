"""DSPCA of d'Aspremont, El Ghaoui, Jordan and Lanckriet (2007): a semidefinite relaxation, rounded."""

import math
from time import perf_counter

import numpy as np

from ..pencils import Pencil
from ..solutions import Solution
from .sparse_pca import best_loadings, finished, pca_problem


def dspca(pencil: Pencil, k: int) -> Solution:
    """Solve max tr(AX) s.t. tr X ≤ 1, 1ᵀ|X|1 ≤ k, X ⪰ 0, and round the leading eigenvector of X (Section 3).

    ‖x‖₀ ≤ k gives ‖x‖₁² ≤ k, so the ℓ1 radius is √k. Rounding keeps the k largest entries of the eigenvector and
    takes the best loadings on them.

    Parameters
    ----------
    pencil : Pencil
        B = I and A ⪰ 0, n ≤ 250.
    k : int
        The cardinality.

    Returns
    -------
    Solution
        The rounded vector.

    Examples
    --------
    >>> from dcgev_cvx import datasets, rivals
    >>> rivals.dspca(datasets.pitprops(), 2).support
    (0, 1)
    """
    from ..relaxations import entrywise_sdp

    work, k = pca_problem(pencil, k, "dspca")
    begin = perf_counter()
    relaxed = entrywise_sdp(work, radius=math.sqrt(k))
    x = best_loadings(work, np.linalg.eigh(relaxed.X)[1][:, -1], k)
    return finished(pencil, x, k, "dspca", begin)
