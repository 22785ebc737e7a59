"""DC-PCA brought to k as its rivals are, so that the methods can be compared at every cardinality."""

from time import perf_counter

import numpy as np

from ..algorithms import dc_pca
from ..pencils import Pencil
from ..search.path import rho_max
from ..solutions import Solution
from .sparse_pca import Run, best_loadings, finished, pca_problem, search_penalty


def trimmed_dc_pca(pencil: Pencil, k: int) -> Solution:
    """DC-PCA with ρ̃ searched for k by halving, then the best loadings on that support (Algorithm 2).

    Where no ρ̃ gives k from the leading eigenvector, the k largest loadings of the nearest denser run are kept, as for
    the rivals. `solve` does not depend on ρ̃ and is the method to use.

    Parameters
    ----------
    pencil : Pencil
        B = I and A ⪰ 0.
    k : int
        The cardinality.

    Returns
    -------
    Solution
        The leading eigenvector on the support that was found.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.rivals import trimmed_dc_pca
    >>> trimmed_dc_pca(datasets.pitprops(), 6).support
    (0, 1, 6, 7, 8, 9)
    """
    work, k = pca_problem(pencil, k, "trimmed_dc_pca")
    begin = perf_counter()

    def run_at(rho: float) -> Run:
        found = dc_pca(work, rho=rho)
        return Run(np.array(found.x), found.n_iter, found.converged)

    found, _ = search_penalty(run_at, rho_max(work), k, work.n)
    return finished(pencil, best_loadings(work, found.x, k), k, "dc-pca, trimmed", begin, found)
