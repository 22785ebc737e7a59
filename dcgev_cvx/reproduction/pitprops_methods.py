"""Table 1 and Figure 1: six methods on the pit props, with the paper's deflation and three measures of variance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .. import datasets, rivals
from .._numerics.checks import Matrix, Vector
from .._numerics.spectra import positive
from ..algorithms import dc_pca
from ..exact import best_subset
from ..pencils import Pencil
from ..programs import smallest_tau
from ..rivals.sparse_pca import Run, best_loadings, search_penalty
from ..search import explained_variance as explained
from ..search.deflation import deflate, directions, orthonormal
from ..search.path import rho_max

CARDINALITIES: Mapping[str, tuple[int, ...]] = {
    "SCoTLASS": (6, 2, 2, 1, 1, 1),
    "SPCA": (7, 4, 4, 1, 1, 1),
    "DSPCA": (6, 2, 3, 1, 1, 1),
    "GSPCA": (6, 2, 2, 1, 1, 1),
    "GPower": (6, 2, 2, 1, 1, 1),
    "DC-PCA": (6, 2, 2, 1, 1, 1),
}
"""The cardinalities of the six components by method, as printed (SCoTLASS is not in the paper's table)."""


def dc_pca_at(pencil: Pencil, k: int) -> Vector:
    """DC-PCA with ρ̃ searched for k, then the best loadings on that support (Algorithm 2).

    Where no ρ̃ gives k, the k largest loadings of the nearest denser run are kept, as for the other methods.
    """

    def run(rho: float) -> Run:
        result = dc_pca(pencil, rho=rho)
        return Run(np.array(result.x), result.n_iter, result.converged)

    return best_loadings(pencil, search_penalty(run, rho_max(pencil), k, pencil.n).run.x, k)


def component_by(method: str, pencil: Pencil, k: int) -> Vector:
    """The first component with k nonzeros by one method; GPower and DC-PCA start at the leading eigenvector."""
    if method == "DC-PCA":
        return dc_pca_at(pencil, k)
    options = {"start": "leading"} if method == "GPower" else {}
    return rivals.RIVALS[method.lower()](pencil, k, **options).x


def components_task(method: str, ks: list[int]) -> dict[str, Any]:
    """The components of one method, and the share of variance of the first 1, 2, … by three measures.

    SPCA fits all at once with its authors' penalties λ₁ (λ = 0); the others find one after the other.
    """
    pencil = datasets.pitprops()
    if method == "SPCA":
        V = rivals.spca_components(pencil, (0.06, 0.16, 0.1, 0.5, 0.5, 0.5))
    else:
        V = deflated_components(method, pencil, ks)
    counts = range(1, V.shape[1] + 1)
    return {
        "loadings": [positive(v).tolist() for v in V.T],
        "projector": [explained.projector_trace(pencil, V[:, :j]) for j in counts],
        "adjusted": [explained.adjusted(pencil, V[:, :j]) for j in counts],
        "sum": [explained.plain_sum(pencil, V[:, :j]) for j in counts],
    }


def deflated_components(method: str, pencil: Pencil, ks: list[int]) -> Matrix:
    """One component after the other with orthogonalized Hotelling deflation, as in the paper."""
    current, found, V = pencil, np.zeros((pencil.n, 0)), np.zeros((pencil.n, 0))
    for k in ks:
        x = component_by(method, semidefinite(current), k)
        V = np.column_stack([V, x])
        current = deflate(current, x, "orthogonalized-hotelling", found)
        found = np.column_stack([found, orthonormal(pencil, directions(pencil, x), found)])
    return V


def semidefinite(pencil: Pencil) -> Pencil:
    """A + τI ⪰ 0: Hotelling's deflation leaves a negative eigenvalue, which some methods do not accept.

    xᵀ(A + τI)x = xᵀAx + τ on the unit sphere: the order of the supports is the same.
    """
    tau = smallest_tau(pencil, "identity")
    if tau == 0.0:
        return pencil
    return Pencil(np.asarray(pencil.A) + 1.0001 * tau * np.eye(pencil.n), names=pencil.names)


def curve_task(method: str, ks: list[int]) -> list[list[float]]:
    """(k, xᵀAx/tr A) of the first component for each cardinality; tr A = n for a correlation matrix."""
    pencil = datasets.pitprops()
    return [[k, pencil.A_quad(component_by(method, pencil, k)) / pencil.n] for k in ks]


def exact_task(ks: list[int]) -> list[list[float]]:
    """(k, share of variance) of the proved optimum."""
    pencil = datasets.pitprops()
    return [[k, best_subset(pencil, k).value / pencil.n] for k in ks]


def path_task(points: int) -> list[list[float]]:
    """(ρ̃, cardinality, xᵀAx/tr A) of DC-PCA from the leading eigenvector on a linear grid of ρ̃ (Figure 1d)."""
    pencil = datasets.pitprops()
    rows: list[list[float]] = []
    for rho in np.linspace(0.0, rho_max(pencil), points + 1)[:-1]:
        x = dc_pca(pencil, rho=float(rho)).x
        rows.append([float(rho), int(np.count_nonzero(x)), pencil.A_quad(x) / pencil.n])
    return rows
