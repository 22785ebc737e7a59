"""DSPCA of d'Aspremont, El Ghaoui, Jordan and Lanckriet (2007): a semidefinite relaxation, rounded."""

from __future__ import annotations

import math
from time import perf_counter
from typing import Any

import numpy as np

from .._numerics.checks import as_flag
from .._numerics.selection import keep_largest
from ..certificates import Solution, renormalize
from ..pencils import Pencil
from .sparse_pca import finished, pca_problem


def dspca(pencil: Pencil, k: int, *, renormalized: bool = True, solver: Any = None) -> Solution:
    """Solve max tr(AX) s.t. tr X ≤ 1, 1ᵀ|X|1 ≤ k, X ⪰ 0, and round the leading eigenvector of X (Section 3).

    ‖x‖₀ ≤ k gives ‖x‖₁² ≤ k, so the ℓ1 radius is √k. Rounding keeps the k largest entries of the eigenvector. The
    value is that of the rounded vector.

    Parameters
    ----------
    pencil : Pencil
        B = I and A ⪰ 0, n ≤ 250.
    k : int
        The cardinality.
    renormalized : bool
        Whether to return the best loadings on the support instead of the eigenvector's own entries cut to k.
    solver : str or Backend, optional
        The SDP's; by default Clarabel up to n = 30 and SCS beyond.

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
    as_flag(renormalized, "renormalized")
    begin = perf_counter()
    relaxed = entrywise_sdp(work, radius=math.sqrt(k), solver=solver)
    x = keep_largest(np.linalg.eigh(relaxed.X)[1][:, -1], k)
    return finished(pencil, renormalize(work, x) if renormalized else x, k, "dspca", begin)
