"""SCoTLASS of Jolliffe, Trendafilov and Uddin (2003) in its penalised form, by the paper's MM iteration."""

from time import perf_counter

import numpy as np

from .._numerics.checks import as_flag
from .._numerics.selection import keep_largest
from ..certificates import renormalize
from ..pencils import Pencil
from ..solutions import Solution
from ..steps.closed import soft_threshold
from .sparse_pca import Run, finished, pca_problem, search_penalty


def scotlass(pencil: Pencil, k: int, *, renormalized: bool = False) -> Solution:
    """Maximise xᵀAx − ρ‖x‖₁ s.t. ‖x‖² ≤ 1 by xᵢ ∝ [|(Ax)ᵢ| − ρ/2]₊ sign (Ax)ᵢ (Eq:scotl).

    The original constrains ‖x‖₁ ≤ t; the penalised form has the same stationary points for matching ρ and t. k is
    reached by halving the interval of ρ; where the cardinality jumps over k, the k largest loadings are kept. Starts
    at the leading eigenvector.

    Parameters
    ----------
    pencil : Pencil
        B = I and A ⪰ 0.
    k : int
        The cardinality.
    renormalized : bool
        Whether to return the best loadings on the support instead of the method's own, which the penalty shrinks.

    Returns
    -------
    Solution
        The loadings on the support that was found.

    Examples
    --------
    Its loadings are shrunk; renormalized on their support they are worth more:

    >>> from dcgev_cvx import datasets, rivals
    >>> pencil = datasets.pitprops()
    >>> round(rivals.scotlass(pencil, 3).value, 3), round(rivals.scotlass(pencil, 3, renormalized=True).value, 3)
    (2.021, 2.475)
    """
    work, k = pca_problem(pencil, k, "scotlass")
    as_flag(renormalized, "renormalized")
    begin = perf_counter()
    run, _ = search_penalty(lambda rho: scotlass_run(work, rho), scotlass_rho_max(work), k, work.n)
    x = keep_largest(run.x if run.x.any() else work.leading_vector, k)
    x = renormalize(work, x) if renormalized else x
    return finished(pencil, x, k, "scotlass", begin, run)


def scotlass_run(pencil: Pencil, rho: float, tol: float = 1e-8, max_iter: int = 1000) -> Run:
    """The iteration of Eq:scotl at one ρ until ‖x⁺ − x‖ ≤ tol; x = 0 where every |(Ax)ᵢ| ≤ ρ/2."""
    x = pencil.leading_vector
    for step in range(1, max_iter + 1):
        z = soft_threshold(pencil.A_dot(x), 0.5 * rho)
        norm = float(np.linalg.norm(z))
        if norm == 0.0:
            return Run(z, step, True)
        before, x = x, z / norm
        if float(np.linalg.norm(x - before)) <= tol:
            return Run(x, step, True)
    return Run(x, max_iter, False)


def scotlass_rho_max(pencil: Pencil) -> float:
    """2·max |(Ax)ᵢ| at the start: from there on the first step is 0."""
    return 2.0 * float(np.max(np.abs(pencil.A_dot(pencil.leading_vector))))
