"""Table 1 and Figure 1: six methods on the pit props, with the paper's deflation and named measures of variance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from .. import datasets, rivals
from .._numerics.checks import Matrix, Vector
from ..algorithms import dc_pca
from ..pencils import Pencil
from ..programs import smallest_tau
from ..rivals.sparse_pca import Run, best_loadings, search_penalty
from ..search.deflation import deflate, directions, orthonormal
from ..search.paths import rho_max
from .methods import loadings

PATTERNS: Mapping[str, tuple[int, ...]] = MappingProxyType(
    {
        "SCoTLASS": (6, 2, 2, 1, 1, 1),
        "SPCA": (7, 4, 4, 1, 1, 1),
        "DSPCA": (6, 2, 3, 1, 1, 1),
        "GSPCA": (6, 2, 2, 1, 1, 1),
        "GPower": (6, 2, 2, 1, 1, 1),
        "DC-PCA": (6, 2, 2, 1, 1, 1),
    }
)
"""The cardinalities of the six components by method, as printed (SCoTLASS is not in the paper's table)."""

PENALTIES = (0.06, 0.16, 0.1, 0.5, 0.5, 0.5)
"""λ₁ of the six components of SPCA on the pit props, as its authors chose them (λ = 0)."""

PRINTED: Mapping[str, tuple[tuple[float, ...], ...]] = MappingProxyType(
    {
        "SPCA": (
            (-0.48, -0.48, 0, 0, 0.18, 0, -0.25, -0.34, -0.42, -0.40, 0, 0, 0),
            (0, 0, 0.79, 0.62, 0, 0, 0, -0.02, 0, 0, 0, 0.01, 0),
            (0, 0, 0, 0, 0.64, 0.59, 0.49, 0, 0, 0, 0, 0, -0.02),
        ),
        "DSPCA": (
            (-0.56, -0.58, 0, 0, 0, 0, -0.26, -0.10, -0.37, -0.36, 0, 0, 0),
            (0, 0, 0.71, 0.71, 0, 0, 0, 0, 0, 0, 0, 0, 0),
            (0, 0, 0, 0, 0, -0.79, -0.61, 0, 0, 0, 0, 0, 0.01),
        ),
        "GSPCA": (
            (0.44, 0.45, 0, 0, 0, 0, 0.38, 0.34, 0.40, 0.42, 0, 0, 0),
            (0, 0, 0.71, 0.71, 0, 0, 0, 0, 0, 0, 0, 0, 0),
            (0, 0, 0, 0, 0, 0.82, 0.58, 0, 0, 0, 0, 0, 0),
        ),
        "GPower": (
            (0.44, 0.45, 0, 0, 0, 0, 0.38, 0.34, 0.40, 0.42, 0, 0, 0),
            (0, 0, 0.71, 0.71, 0, 0, 0, 0, 0, 0, 0, 0, 0),
            (0, 0, 0, 0, 0, 0.82, 0.58, 0, 0, 0, 0, 0, 0),
        ),
        "DC-PCA": (
            (0.45, 0.46, 0, 0, 0, 0, 0.37, 0.33, 0.40, 0.42, 0, 0, 0),
            (0, 0, 0.71, 0.71, 0, 0, 0, 0, 0, 0, 0, 0, 0),
            (0, 0, 0, 0, 0, 0.82, 0.58, 0, 0, 0, 0, 0, 0),
        ),
    }
)
"""The loadings of Table 1."""


def dc_pca_at(pencil: Pencil, k: int) -> Vector:
    """DC-PCA with ρ̃ searched for k, then the best loadings on that support (Algorithm 2).

    Where no ρ̃ gives k, the k largest loadings of the nearest denser run are kept, as for the rivals.
    """

    def run(rho: float) -> Run:
        result = dc_pca(pencil, rho=rho)
        return Run(np.array(result.x), result.n_iter, result.converged)

    return best_loadings(pencil, search_penalty(run, rho_max(pencil), k, pencil.n).run.x, k)


FINDERS: Mapping[str, Callable[[Pencil, int], Vector]] = MappingProxyType(
    {
        "SCoTLASS": lambda pencil, k: rivals.scotlass(pencil, k).x,
        "SPCA": lambda pencil, k: rivals.spca(pencil, k).x,
        "DSPCA": lambda pencil, k: rivals.dspca(pencil, k).x,
        "GSPCA": lambda pencil, k: rivals.gspca(pencil, k).x,
        "GPower": lambda pencil, k: rivals.gpower(pencil, k, start="leading").x,
        "DC-PCA": dc_pca_at,
    }
)


def components_cell(method: str, ks: list[int]) -> dict[str, Any]:
    """The components of one method and the share of variance of the first 1, 2, … by three measures.

    SPCA fits all at once, as its authors did; the others find one after the other.

    All three measures are kept, since which one the paper used differs between its rows.
    """
    from ..search import explained

    pencil = datasets.pitprops()
    if method == "SPCA":
        V = rivals.spca_components(pencil, PENALTIES)
    else:
        V = deflated_components(pencil, ks, FINDERS[method])
    measures = {"projector": explained.projector_trace, "adjusted": explained.adjusted, "sum": explained.plain_sum}
    return {
        "loadings": [loadings(v) for v in V.T],
        **{name: [measure(pencil, V[:, : j + 1]) for j in range(V.shape[1])] for name, measure in measures.items()},
    }


def deflated_components(pencil: Pencil, ks: list[int], find: Callable[[Pencil, int], Vector]) -> Matrix:
    """One component after the other with orthogonalized Hotelling deflation, as the paper did.

    What each method finds decides what is deflated, so that differences of the first component grow in the later
    ones.
    """
    current, found, V = pencil, np.zeros((pencil.n, 0)), np.zeros((pencil.n, 0))
    for k in ks:
        x = find(semidefinite(current), k)
        V = np.column_stack([V, x])
        current = deflate(current, x, "orthogonalized-hotelling", found)
        found = np.column_stack([found, orthonormal(pencil, directions(pencil, x), found)])
    return V


def semidefinite(pencil: Pencil) -> Pencil:
    """A + τI ⪰ 0: Hotelling's deflation leaves a negative eigenvalue; a shift changes no order on the sphere.

    xᵀ(A + τI)x = xᵀAx + τ on the unit sphere: the same order of supports, and methods that need A ⪰ 0 accept it.
    """
    tau = smallest_tau(pencil, "identity")
    return (
        pencil if tau == 0.0 else Pencil(np.asarray(pencil.A) + 1.0001 * tau * np.eye(pencil.n), names=pencil.names)
    )


def curve_cell(method: str, ks: list[int]) -> list[list[float]]:
    """(k, xᵀAx/tr A) of the first component for each cardinality.

    tr A = 13 = n for a correlation matrix, hence the division by n.
    """
    pencil = datasets.pitprops()
    return [[k, pencil.A_quad(FINDERS[method](pencil, k)) / pencil.n] for k in ks]


def exact_cell(ks: list[int]) -> list[list[float]]:
    """(k, share of variance) of the proved optimum.

    What no method can exceed: the gap to it is the price of a heuristic.
    """
    from ..exact import best_subset

    pencil = datasets.pitprops()
    return [[k, best_subset(pencil, k).value / pencil.n] for k in ks]


def sweep_cell(points: int) -> list[list[float]]:
    """(ρ̃, cardinality, share of variance of x as it is) of DC-PCA along a grid of ρ̃ (Figure 1d).

    A linear grid below rho_max, each run from the leading eigenvector and not from its neighbour.
    """
    pencil = datasets.pitprops()
    rows: list[list[float]] = []
    for rho in np.linspace(0.0, rho_max(pencil), points + 1)[:-1]:
        x = dc_pca(pencil, rho=float(rho)).x
        rows.append([float(rho), int(np.count_nonzero(x)), pencil.A_quad(x) / pencil.n])
    return rows


def printed_variance(method: str, extra: tuple[int, ...]) -> dict[str, float]:
    """The shares of the printed loadings, completed by the single variables of components four to six.

    With the loadings as printed, to two digits: the shares carry that rounding.
    """
    from ..search import explained

    pencil = datasets.pitprops()
    V = np.vstack([np.array(PRINTED[method]), np.eye(pencil.n)[list(extra)]]).T
    return {"projector": explained.projector_trace(pencil, V), "adjusted": explained.adjusted(pencil, V)}
