"""The package's own solvers in the call shapes of the kit."""

from __future__ import annotations

from dcgev_cvx import Pencil, SparseFDA, SparseGEV, Stop, dc_pca, sparse_fda, sparse_gev
from dcgev_cvx.steps import native
from dcgev_cvx.steps.conic import FisherStep, QCQPStep
from dcgev_cvx.verify.levels import LEVELS

RUN = Stop(max_iter=3000, step=1e-9, stationarity=1e-6)


def qcqp_step(A, B, y, rho, eps, tau):
    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    return QCQPStep()(program, program.start(y)).x


def native_step(A, B, y, rho, eps, tau):
    program = SparseGEV(Pencil(A, B), rho, eps, tau)
    return native.native_step(program, program.start(y)).x


def fisher_step(a, B, y, nu, eps):
    program = SparseFDA(a, B, nu, eps)
    return FisherStep()(program, program.start(y)).x


def algorithm_1(A, B, rho, eps, x0):
    return sparse_gev(A, B, rho=rho, eps=eps, x0=x0, shift="metric", stop=RUN).x


def algorithm_2(A, rho, eps, x0):
    return dc_pca(A, rho=rho, eps=eps, x0=x0, stop=RUN).x


def fda_step_of_run(a, B, y, nu, eps):
    """The first iterate of the sparse FDA run."""
    return sparse_fda(a, B, nu=nu, eps=eps, x0=y, stop=Stop(max_iter=1)).x


def arguments_of(case):
    """Writable copies of a question's arguments, in the order of its level."""
    data = (case.data[name] for name in LEVELS[case.level].arguments)
    return [value.copy() if hasattr(value, "copy") else value for value in data]
