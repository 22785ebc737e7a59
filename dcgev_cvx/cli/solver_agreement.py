"""How far the installed solvers agree: one MM step, and one whole program, through each of them (Section 3.3)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np

from .. import models
from .._numerics.checks import Vector
from ..errors import DCGEVError, SolverFailed
from ..mm import minimize
from ..pencils import Pencil
from ..programs import SparseGEV
from ..steps.backend import attempt, foreign, installed_solvers
from ..steps.closed import soft_threshold_step
from ..steps.conic import QCQPStep
from ..steps.native import native_step
from ..verify.equations import excess, proximal_residual, share, tangent
from ..verify.levels import Instance, question
from ..verify.reference_answers import Surrogate, certified, reference, surrogate


@dataclass(frozen=True)
class Row:
    """One method's answer: its distance from the reference, its value above the least, its residual, its time.

    distance is in the B norm, excess relative to the size of the surrogate, kkt the proximal residual; nonzeros are
    counted above 1e-3, 1e-6 and 1e-9 of ‖x‖_B. failure is set, and the numbers are not, when a method gave no answer.
    """

    who: str
    distance: float = 0.0
    excess: float = 0.0
    kkt: float = 0.0
    nonzeros: tuple[int, ...] = ()
    seconds: float = 0.0
    failure: str = ""


def agreement(pencil: Pencil, rho: float, eps: float) -> tuple[list[Row], list[str]]:
    """(rows, what is not installed) for the step from the leading eigenvector, then for the whole program.

    CVXPY's solvers are called at their default accuracy. Only the slopes are cut where they cannot matter, because
    most solvers fail on those of tiny ε.
    """
    program = SparseGEV(pencil, rho, eps)
    A, B = pencil.dense()
    data = {"A": A, "B": B, "y": program.start(), "rho": program.rho, "eps": program.eps, "tau": program.tau}
    case = question("step", "agreement", (), data)
    limit = minimize(program, QCQPStep()).x

    def step_errors(x: Vector) -> tuple[Any, ...]:
        step, best, tol = surrogate(case), reference(case).x, 1e-9
        measures = step.norm(x - best), excess(step, x, best, tol), proximal_residual(step, x, tol)
        return *measures, nonzeros(step, x)

    def run_errors(x: Vector) -> tuple[Any, ...]:
        step = tangent(case, x)
        distance = min(step.norm(x - limit), step.norm(x + limit))  # f is even
        above = share(max(0.0, program.f(x) - program.f(limit)), program.size(limit))
        return distance, above, proximal_residual(step, x, 1e-6), nonzeros(step, x)

    rows = [judged(who, solve, step_errors, compiles=True) for who, solve in step_methods(program, case)]
    rows += [judged(f"{who}*", solve, run_errors) for who, solve in whole_methods(program, case)]
    missing = [name for name, module in (("dccp", "dccp"), ("UNO", "unopy")) if find_spec(module) is None]
    return rows, missing


def judged(
    who: str, solve: Callable[[], Vector], errors: Callable[[Vector], tuple[Any, ...]], *, compiles: bool = False
) -> Row:
    """One method judged from the data, and timed, after a first call if that may compile."""
    try:
        if compiles:
            solve()
        begin = perf_counter()
        x = solve()
        seconds = perf_counter() - begin
    except DCGEVError as failure:
        return Row(who, failure=str(failure))
    return Row(who, *errors(x), seconds=seconds)


def nonzeros(step: Surrogate, x: Vector) -> tuple[int, ...]:
    """The number of entries above each threshold."""
    return tuple(int(np.count_nonzero(np.abs(x) * step.root > t * step.norm(x))) for t in (1e-3, 1e-6, 1e-9))


def step_methods(program: SparseGEV, case: Instance) -> Iterator[tuple[str, Callable[[], Vector]]]:
    """(name, call) of everything that can take one step; the reference is a row of its own."""
    y = case.data["y"]
    yield "reference", lambda: certified(case).x
    yield "QCQPStep", lambda: QCQPStep()(program, y).x
    if program.pencil.B is None:
        yield "closed form", lambda: soft_threshold_step(program, y).x
    yield "native engine", lambda: native_step(program, y).x
    for name in (name for name in installed_solvers() if name != "UNO"):  # UNO is for whole programs
        yield name, lambda name=name: plain_solve(surrogate(case), program, y, name)


def plain_solve(step: Surrogate, program: SparseGEV, y: Vector, solver: str) -> Vector:
    """The paper's model of the step by one solver, at its default accuracy and without refinement."""
    p = np.minimum(step.p, 1.01 * program.largest_slopes(step.c, y))
    tau = program.tau
    problem = models.lasso(step.c, p, step.B, tau) if tau > 0.0 else models.linear(step.c, p, step.B)
    attempt(problem, solver, {})
    return np.asarray(problem.var_dict["x"].value, dtype=np.float64)


def whole_methods(program: SparseGEV, case: Instance) -> Iterator[tuple[str, Callable[[], Vector]]]:
    """(name, call) of Algorithm 1, and of dccp and UNO (through CVXPY) where they are installed."""
    yield "Algorithm 1", lambda: minimize(program, QCQPStep()).x
    if find_spec("dccp") is not None:
        import_module("dccp")  # registers its method
        yield "dccp", lambda: whole_solve(program, case, method="dccp", solver="CLARABEL", max_iter=200)
    if "UNO" in installed_solvers():
        yield "UNO", lambda: whole_solve(program, case, nlp=True, solver="UNO", logger="SILENT")


def whole_solve(program: SparseGEV, case: Instance, **options: Any) -> Vector:
    """(SGEV-A) by a method for nonconvex programs, from y."""
    problem = models.log_penalized(case.data["A"], case.B, program.rho_eps, program.eps, program.tau)
    x: Any = problem.var_dict["x"]
    x.value = np.array(case.data["y"])
    problem.var_dict["t"].value = np.abs(case.data["y"])
    foreign(problem, **options)
    found: Any = x.value
    if found is None:
        raise SolverFailed(f"ended with the status '{problem.status}'.")
    return np.asarray(found, dtype=np.float64)
