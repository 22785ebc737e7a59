"""GPower of Journée, Nesterov, Richtárik and Sepulchre (2010): sparse PCA as the ascent of a convex function."""

from time import perf_counter
from typing import Literal

import numpy as np

from .._numerics.checks import Matrix, Vector, as_number, as_whole, one_of
from ..pencils import Pencil
from ..solutions import Solution
from .sparse_pca import Run, best_loadings, finished, longest_column, pca_problem, search_penalty

FEW_COLUMNS = 0.25
"""Up to this share of the columns is gathered for a product; beyond it gathering costs more than it saves."""


def gpower(
    pencil: Pencil, k: int, *, start: Literal["column", "leading"] = "column", tol: float = 1e-6, max_iter: int = 1000
) -> Solution:
    """Ascend Σ [(cᵢᵀz)² − γ]₊ s.t. ‖z‖ = 1, A = CᵀC, and take the best loadings on the support (Eq:journee).

    The objective is convex in z, so its linearisation is a lower bound, and maximising that over the sphere, which is
    normalising the gradient, can only raise it. k is reached by halving the interval of γ; where no γ gives k, the k
    largest loadings of the nearest support are kept.

    Parameters
    ----------
    pencil : Pencil
        B = I and A ⪰ 0.
    k : int
        The cardinality.
    start : {"column", "leading"}
        The longest column, as its authors do, or the leading eigenvector. GPower is a local method: it matters.
    tol : float
        Stop when the objective rises by no more than this share of itself.
    max_iter : int
        The largest number of steps of one run.

    Returns
    -------
    Solution
        The best loadings on the support that was found.

    Examples
    --------
    >>> from dcgev_cvx import datasets, rivals
    >>> found = rivals.gpower(datasets.pitprops(), 3)
    >>> found.support, round(found.value, 3)
    ((0, 1, 8), 2.475)
    """
    work, k = pca_problem(pencil, k, "gpower")
    one_of(start, "start", ("column", "leading"))
    tol, max_iter = as_number(tol, "tol", high=1.0), as_whole(max_iter, "max_iter")
    begin = perf_counter()
    C = work.A_factor()
    z = longest_column(C)[0] if start == "column" else unit_columns(C @ work.leading_vector)
    run, _ = search_penalty(lambda gamma: ascend(C, gamma, z, tol, max_iter), gamma_max(C), k, work.n)
    return finished(pencil, best_loadings(work, run.x, k), k, "gpower-l0", begin, run)


def ascend(C: Matrix, gamma: float, z: Vector | None = None, tol: float = 1e-6, max_iter: int = 1000) -> Run:
    """The gradient scheme at one γ: z ← Σ [sign((cᵢᵀz)² − γ)]₊ cᵢᵀz cᵢ, normalised, from the longest column.

    x is [sign((cᵢᵀz)² − γ)]₊ cᵢᵀz over its norm, or 0 when γ outweighs every column.
    """
    z = longest_column(C)[0] if z is None else z
    t = np.zeros(C.shape[1])
    before = -np.inf
    for step in range(1, max_iter + 1):
        s = z @ C
        t = s * (s * s > gamma)  # half the gradient with respect to s
        value = float(t @ t) - gamma * np.count_nonzero(t)
        if value - before <= tol * value:
            return Run(unit_columns(t), step, True)
        z, before = unit_columns(combined_loadings(C, t)), value
    return Run(unit_columns(t), max_iter, False)


def gamma_max(C: Matrix) -> float:
    """max ‖cᵢ‖²: as |cᵢᵀz| ≤ ‖cᵢ‖, nothing is active from there on."""
    return float(np.max(np.vecdot(C.T, C.T)))


def combined_loadings(C: Matrix, t: Vector) -> Vector:
    """Ct from the columns where t is not 0, if these are few."""
    active = t.nonzero()[0]
    return t[active] @ C.T.take(active, axis=0) if len(active) < FEW_COLUMNS * len(t) else C @ t


def unit_columns(x: Vector) -> Vector:
    """x/‖x‖, or 0; without -0.0."""
    norm = float(np.linalg.norm(x))
    return x / norm + 0.0 if norm > 0.0 else np.zeros_like(x)
