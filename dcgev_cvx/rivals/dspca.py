"""DSPCA of d'Aspremont, El Ghaoui, Jordan and Lanckriet: a semidefinite relaxation, rounded."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from .._numerics.checks import as_flag
from ..certificates import Solution, renormalize
from ..pencils import Pencil
from .base import finished, pca_problem, trimmed


def dspca(pencil: Pencil, k: int, *, renormalized: bool = True, solver: Any = None) -> Solution:
    """DSPCA: max tr(AX) s.t. tr X ≤ 1, 1ᵀ|X|1 ≤ k, X ⪰ 0; x from the leading eigenvector of X (Section 3).

    ‖x‖₀ ≤ k gives ‖x‖₁² ≤ k, so the ℓ1 radius is √k. Rounding keeps the k largest entries of
    the eigenvector and, with `renormalized`, the best loadings there. Stops with its solver;
    the value is that of the rounded vector, the relaxation's own is an upper bound.

    Parameters
    ----------
    renormalized
        The best loadings on the support (default), or the eigenvector's own entries cut to k.
    solver
        Of the SDP, a name or a Backend; Clarabel up to n = 30 and SCS beyond by default. n > 250 is refused.

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
    options = {} if solver is None else {"solver": solver}
    relaxed = entrywise_sdp(work, radius=float(np.sqrt(k)), **options)
    x = trimmed(np.linalg.eigh(relaxed.X)[1][:, -1], k)
    return finished(pencil, renormalize(work, x) if renormalized else x, k, "dspca", begin)
