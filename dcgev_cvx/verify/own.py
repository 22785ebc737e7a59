"""Our own solvers in the call shapes of the kit, to be put on trial like anybody's.

They pass, and the tests say so; they are also templates for a wrapper around a solver of one's own.
"""

from __future__ import annotations

from typing import Any

from .._numerics.checks import Vector
from ..algorithms import dc_pca, sparse_fda, sparse_gev
from ..mm import Stop
from ..pencils import Pencil
from ..programs import SparseFDA, SparseGEV

RUN = Stop(max_iter=3000, step=1e-9, stationarity=1e-6)


def qcqp_step(A: Any, B: Any, y: Any, rho: float, eps: float, tau: float) -> Vector:
    """One step of (ALG) through CVXPY, polished."""
    from ..steps.conic import QCQPStep

    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    return QCQPStep()(program, program.start(y)).x


def native_step(A: Any, B: Any, y: Any, rho: float, eps: float, tau: float) -> Vector:
    """One step of (ALG) by the compiled engine."""
    from ..steps.native import IdentityStep

    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    return IdentityStep()(program, program.start(y)).x


def fisher_step(a: Any, B: Any, y: Any, nu: float, eps: float) -> Vector:
    """One step of Eq:fdaiterative through CVXPY, polished."""
    from ..steps.conic import FisherStep

    program = SparseFDA(a, B, nu, eps)
    return FisherStep()(program, program.start(y)).x


def algorithm_1(A: Any, B: Any, rho: float, eps: float, x0: Any) -> Vector:
    """Algorithm 1 in B's metric through CVXPY."""
    return sparse_gev(A, B, rho=rho, eps=eps, x0=x0, shift="metric", stop=RUN).x


def algorithm_2(A: Any, rho: float, eps: float, x0: Any) -> Vector:
    """Algorithm 2 in closed form."""
    return dc_pca(A, rho=rho, eps=eps, x0=x0, stop=RUN).x


def fda_step_of_run(a: Any, B: Any, y: Any, nu: float, eps: float) -> Vector:
    """The first iterate of the sparse FDA run."""
    return sparse_fda(a, B, nu=nu, eps=eps, x0=y, stop=Stop(max_iter=1)).x
