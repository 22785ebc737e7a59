"""SCoTLASS of Jolliffe, Trendafilov and Uddin in its penalised form, by the paper's MM iteration."""

from __future__ import annotations

from time import perf_counter
from typing import Literal, TypeAlias

import numpy as np

from .._numerics.checks import as_flag, as_number, as_whole, one_of
from ..certificates import Solution, renormalize
from ..mm import Stop, minimize
from ..pencils import Pencil
from ..programs import L1Penalty, SparseGEV
from ..steps.closed import soft_threshold_step
from .base import Run, finished, pca_problem, search, trimmed

Engine: TypeAlias = Literal["closed", "driver"]


def scotlass(
    pencil: Pencil,
    k: int,
    *,
    engine: Engine = "closed",
    renormalized: bool = False,
    tol: float = 1e-8,
    max_iter: int = 1000,
) -> Solution:
    """SCoTLASS: max xᵀAx − ρ‖x‖₁ s.t. ‖x‖² ≤ 1, by xᵢ ∝ [|(Ax)ᵢ| − ρ/2]₊ sign (Ax)ᵢ (Eq:scotl).

    k is reached by halving the interval of ρ; where the cardinality jumps over k, the k largest
    loadings are kept. engine="driver" runs the same program through the certified MM driver.
    Starts at the leading eigenvector; stops when ‖x⁺ − x‖ ≤ tol.

    The original constrains ‖x‖₁ ≤ t; the penalised form has the same stationary points for matching ρ and t.

    Parameters
    ----------
    renormalized
        Off by default: these are the method's own loadings, which the penalty shrinks.
    tol, max_iter
        When to stop a run; one that ran out says so in its Solution's method.

    Examples
    --------
    Its loadings are shrunk; renormalized on their support they are worth more:

    >>> from dcgev_cvx import datasets, rivals
    >>> pencil = datasets.pitprops()
    >>> round(rivals.scotlass(pencil, 3).value, 3), round(rivals.scotlass(pencil, 3, renormalized=True).value, 3)
    (2.021, 2.475)
    """
    work, k = pca_problem(pencil, k, "scotlass")
    one_of(engine, "engine", ("closed", "driver"))
    as_flag(renormalized, "renormalized")
    tol, max_iter = as_number(tol, "tol", high=1.0), as_whole(max_iter, "max_iter")
    begin = perf_counter()
    once = closed if engine == "closed" else driven
    found = search(lambda rho: once(work, rho, tol, max_iter), rho_max(work), k, work.n)
    x = trimmed(found.run.x if found.run.x.any() else work.leading_vector, k)
    x = renormalize(work, x) if renormalized else x
    return finished(pencil, x, k, "scotlass", begin, converged=found.run.converged, on_path=found.exact)


def closed(pencil: Pencil, rho: float, tol: float, max_iter: int) -> Run:
    """The iteration of Eq:scotl in three lines; x = 0 where every |(Ax)ᵢ| ≤ ρ/2.

    Independent of the package's MM driver on purpose: the two are compared in the tests.
    """
    x = pencil.leading_vector
    for step in range(1, max_iter + 1):
        c = pencil.A @ x
        z = np.sign(c) * np.maximum(0.0, np.abs(c) - 0.5 * rho)
        norm = float(np.linalg.norm(z))
        if norm == 0.0:
            return Run(z, step, True)
        before, x = x, z / norm
        if float(np.linalg.norm(x - before)) <= tol:
            return Run(x, step, True)
    return Run(x, max_iter, False)


def driven(pencil: Pencil, rho: float, tol: float, max_iter: int) -> Run:
    """The same program through mm.minimize with the ℓ1 penalty, whose majoriser is itself."""
    program = SparseGEV(pencil, rho, penalty=L1Penalty())
    result = minimize(program, soft_threshold_step, stop=Stop(max_iter=max_iter, step=tol))
    return Run(np.array(result.x), result.n_iter, result.converged or not result.x.any())


def rho_max(pencil: Pencil) -> float:
    """2·max |(Ax)ᵢ| at the start: from there the first step is 0.

    The interval of the search ends there; a run from another start might need more.
    """
    return 2.0 * float(np.max(np.abs(pencil.A @ pencil.leading_vector)))
