"""GPower of Journée, Nesterov, Richtárik and Sepulchre: sparse PCA as the ascent of a convex function."""

from __future__ import annotations

from time import perf_counter
from typing import Literal, TypeAlias

import numpy as np

from .._numerics.checks import Matrix, Vector, as_number, as_whole, one_of
from ..certificates import Solution
from ..pencils import Pencil
from .base import Run, best_loadings, combined, factor, finished, longest_column, pca_problem, search

Kind: TypeAlias = Literal["l0", "l1"]
Start: TypeAlias = Literal["column", "leading"]


def gpower(
    pencil: Pencil, k: int, *, kind: Kind = "l0", start: Start = "column", tol: float = 1e-6, max_iter: int = 1000
) -> Solution:
    """GPower: max Σ [(cᵢᵀz)² − γ]₊ s.t. ‖z‖ = 1, A = CᵀC, then the best loadings on that support (Eq:journee).

    kind="l1" ascends Σ [|cᵢᵀz| − γ]₊² instead. k is reached by halving the interval of γ;
    where no γ gives k, the k largest loadings of the nearest support are kept. Starts at the
    longest column, as its authors do, or with start="leading" at the leading eigenvector.
    Stops when the objective rises by no more than `tol` of itself.

    Why it ascends: the objective is convex in z, so its linearisation at z is a lower bound, and maximising that
    over the sphere, which is normalising the gradient, can only raise it. Each step is one product with C and one
    with Cᵀ, the second on the active columns alone.

    Parameters
    ----------
    kind
        "l0" keeps the columns with (cᵢᵀz)² > γ as they are, "l1" shrinks |cᵢᵀz| by γ.
    start
        "column" or "leading"; GPower is a local method, and the start matters.

    Raises
    ------
    InvalidParameter
        For an unknown kind or start, and as `pca_problem` does.

    Examples
    --------
    >>> from dcgev_cvx import datasets, rivals
    >>> found = rivals.gpower(datasets.pitprops(), 3)
    >>> found.support, round(found.value, 3)
    ((0, 1, 8), 2.475)
    """
    work, k = pca_problem(pencil, k, "gpower")
    one_of(kind, "kind", ("l0", "l1"))
    one_of(start, "start", ("column", "leading"))
    tol, max_iter = as_number(tol, "tol", high=1.0), as_whole(max_iter, "max_iter")
    begin = perf_counter()
    C = factor(work)
    z = longest_column(C)[0] if start == "column" else unit(C @ work.leading_vector)

    def run(gamma: float) -> Run:
        return ascend(C, gamma, kind, z, tol=tol, max_iter=max_iter)

    found = search(run, gamma_max(C, kind), k, work.n)
    x = best_loadings(work, found.run.x, k)
    return finished(pencil, x, k, f"gpower-{kind}", begin, converged=found.run.converged, on_path=found.exact)


def ascend(
    C: Matrix, gamma: float, kind: Kind = "l0", z: Vector | None = None, *, tol: float = 1e-6, max_iter: int = 1000
) -> Run:
    """The gradient scheme at one γ: z ← Σ [sign((cᵢᵀz)² − γ)]₊ cᵢᵀz cᵢ, normalised, from the longest column.

    x is not post-processed: [sign((cᵢᵀz)² − γ)]₊ cᵢᵀz over its norm, or 0 when γ outweighs every column.
    """
    passes = 1.0 if z is None else 0.0
    z = longest_column(C)[0] if z is None else z
    t = np.zeros(C.shape[1])
    before = -np.inf
    for step in range(1, max_iter + 1):
        t, value = thresholded(z @ C, gamma, kind)
        passes += 1.0
        if value - before <= tol * value:
            return Run(unit(t), step, True, passes)
        direction, share = combined(C, t)
        z, before = unit(direction), value
        passes += share
    return Run(unit(t), max_iter, False, passes)


def thresholded(s: Vector, gamma: float, kind: Kind) -> tuple[Vector, float]:
    """The gradient's coefficients and the objective at z, s = Cᵀz.

    value is Σ [sᵢ² − γ]₊ or Σ [|sᵢ| − γ]₊²; t is half its gradient with respect to s.
    """
    if kind == "l0":
        active = s * s > gamma
        t = s * active
        return t, float(t @ t) - gamma * np.count_nonzero(active)
    t = np.sign(s) * np.maximum(0.0, np.abs(s) - gamma)
    return t, float(t @ t)


def gamma_max(C: Matrix, kind: Kind) -> float:
    """The γ at which every column is too short: max ‖cᵢ‖² (ℓ0) or max ‖cᵢ‖ (ℓ1).

    |cᵢᵀz| ≤ ‖cᵢ‖ for a unit z, so from there on nothing is active, wherever z is.
    """
    longest = float(np.max(np.vecdot(C.T, C.T)))
    return longest if kind == "l0" else float(np.sqrt(longest))


def unit(x: Vector) -> Vector:
    """x/‖x‖, or 0; without -0.0."""
    norm = float(np.linalg.norm(x))
    return x / norm + 0.0 if norm > 0.0 else np.zeros_like(x)
