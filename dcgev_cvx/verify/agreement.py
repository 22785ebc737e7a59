"""Who agrees with whom: one MM step, and one program, through everything that is installed (Section 3.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from time import perf_counter
from typing import Any

import numpy as np

from .._numerics.checks import Vector
from ..errors import DCGEVError
from ..pencils import Pencil
from ..programs import SparseGEV
from .instances import Instance, question
from .measures import Surrogate, excess, proximal_residual, share, surrogate, tangent
from .reference import reference

THRESHOLDS = (1e-3, 1e-6, 1e-9)
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Row:
    """One method's answer: its distance from the reference, its value above the least, its residual, its time.

    distance is in the B norm, excess relative to the size of the surrogate, kkt the proximal residual; nonzeros are
    counted at three thresholds. failure is set, and the numbers are not, when a method could not take part.
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

    Solvers are called plainly, one CVXPY problem each, at their default accuracy; only the slopes are cut where
    they cannot matter, without which tiny ε would end most of them. What is not installed is listed, not skipped
    silently.
    """
    program = SparseGEV(pencil, rho, eps)
    case = instance_of(program)
    rows = [measured(who, case, solve) for who, solve in step_methods(program, case)]
    missing = [name for name, module in (("dccp", "dccp"), ("UNO", "unopy")) if find_spec(module) is None]
    return [*rows, *whole_programs(program, case)], missing


def instance_of(program: SparseGEV) -> Instance:
    """The step from the leading eigenvector as an instance of the kit."""
    A, B = program.pencil.dense()
    data = {"A": A, "B": B, "y": program.start(), "rho": program.rho, "eps": program.eps, "tau": program.tau}
    return question("step", "agreement", (), data)


def step_methods(program: SparseGEV, case: Instance) -> Iterator[tuple[str, Callable[[], Vector]]]:
    """(name, call) of everything that can take one step.

    The reference is a row of its own, so that its residual can be seen beside the others.
    """
    from ..steps.backend import installed_solvers
    from ..steps.closed import soft_threshold_step
    from ..steps.conic import QCQPStep

    y = case.data["y"]
    yield "reference", lambda: reference(case).x
    yield "QCQPStep", lambda: QCQPStep()(program, y).x
    if program.pencil.B is None:
        yield "closed form", lambda: soft_threshold_step(program, y).x
    native = native_step()
    if native is not None and program.shift == "identity" and (program.tau == 0.0 or program.pencil.B is None):
        metric = SparseGEV(program.pencil, program.rho, program.eps, program.tau, shift="metric")
        yield "native engine", lambda: native(metric, y).x
    for name in (name for name in installed_solvers() if name != "UNO"):  # UNO is for whole programs
        yield name, lambda name=name: plain_solve(surrogate(case), program, y, name)


def native_step() -> Any:
    """The compiled step, or None where it is not installed."""
    try:
        from ..steps.native import MetricStep
    except ImportError:
        return None
    return MetricStep()


def plain_solve(problem: Surrogate, program: SparseGEV, y: Vector, solver: str) -> Vector:
    """The step as anyone would write it in CVXPY, slopes cut where they cannot matter, default accuracy.

    Written anew and not shared with steps.convex: the table is about solvers, not about our code.
    """
    import cvxpy as cp

    from ..steps.backend import attempt

    x = cp.Variable(len(y))
    p = np.minimum(problem.p, 1.01 * program.largest_slopes(problem.c, y))
    cost = -2 * (problem.c @ x) + p @ cp.abs(x)
    if program.tau > 0.0:
        cost = cost + program.tau * cp.sum_squares(x)
    R = np.linalg.cholesky(problem.B).T
    attempt(cp.Problem(cp.Minimize(cost), [cp.norm2(R @ x) <= 1]), solver, {})
    return np.asarray(x.value, dtype=np.float64)


def measured(who: str, case: Instance, solve: Callable[[], Vector]) -> Row:
    """One method timed once after a first call, and judged from the data.

    The first call compiles and is not timed.
    """
    try:
        solve()
        begin = perf_counter()
        x = solve()
        seconds = perf_counter() - begin
    except DCGEVError as failure:
        return Row(who, failure=str(failure))
    problem, best = surrogate(case), reference(case).x
    above = excess(problem, x, best, TOLERANCE)
    return Row(
        who, problem.norm(x - best), above, proximal_residual(problem, x, TOLERANCE), counted(problem, x), seconds
    )


def counted(problem: Surrogate, x: Vector) -> tuple[int, ...]:
    """The nonzeros beyond each threshold."""
    sizes = np.abs(x) * problem.root
    return tuple(int(np.count_nonzero(sizes > t * problem.norm(x))) for t in THRESHOLDS)


def whole_programs(program: SparseGEV, case: Instance) -> Iterator[Row]:
    """Our run's limit, and the same program given to dccp (and to UNO through CVXPY) from the same start."""
    from ..mm import minimize
    from ..steps.backend import installed_solvers
    from ..steps.conic import QCQPStep

    begin = perf_counter()
    ours = minimize(program, QCQPStep())
    yield whole_row("Algorithm 1", program, case, ours.x, ours.x, perf_counter() - begin)
    methods: list[tuple[str, dict[str, Any]]] = []
    if find_spec("dccp") is not None:
        methods.append(("dccp", {"method": "dccp", "solver": "CLARABEL", "max_iter": 200}))
    if "UNO" in installed_solvers():
        methods.append(("UNO", {"nlp": True, "solver": "UNO", "logger": "SILENT"}))
    for who, options in methods:
        begin = perf_counter()
        try:
            x = whole_solve(program, case, who, options)
        except DCGEVError as failure:
            yield Row(who, failure=str(failure))
            continue
        yield whole_row(who, program, case, x, ours.x, perf_counter() - begin)


def whole_row(who: str, program: SparseGEV, case: Instance, x: Vector, limit: Vector, seconds: float) -> Row:
    """A whole run judged by its stationarity, and measured from our limit up to sign.

    f is even, so that x and −x are the same answer.
    """
    problem = tangent(case, x)
    distance = min(problem.norm(x - limit), problem.norm(x + limit))
    above = share(max(0.0, program.f(x) - program.f(limit)), program.size(limit))
    return Row(f"{who}*", distance, above, proximal_residual(problem, x, 1e-6), counted(problem, x), seconds)


def whole_solve(program: SparseGEV, case: Instance, who: str, options: dict[str, Any]) -> Vector:
    """(SGEV-A) with t ≥ |x|, handed to a method for nonconvex programs.

    |x| is replaced by t ≥ |x| in the concave logarithm, which DCCP and nonlinear solvers accept; at a minimiser t =
    |x|.
    """
    import cvxpy as cp

    from ..errors import SolverFailed
    from ..steps.backend import foreign

    if who == "dccp":
        __import__("dccp")
    n, B = program.pencil.n, case.B
    x, t = cp.Variable(n), cp.Variable(n, nonneg=True)
    lift = program.tau
    A = case.data["A"] + lift * np.eye(n)
    cost = program.rho_eps * cp.sum(cp.log(t + program.eps)) - cp.quad_form(x, cp.psd_wrap(A))
    cost = cost + lift * cp.sum_squares(x) if lift > 0.0 else cost
    problem = cp.Problem(cp.Minimize(cost), [cp.norm2(np.linalg.cholesky(B).T @ x) <= 1, x <= t, -x <= t])
    x.value = np.array(case.data["y"])
    t.value = np.abs(x.value)
    foreign(problem, **options)
    found: Any = x.value
    if found is None:
        raise SolverFailed(f"ended with the status '{problem.status}'.")
    return np.asarray(found, dtype=np.float64)
