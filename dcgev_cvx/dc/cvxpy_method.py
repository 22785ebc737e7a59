"""`problem.solve(method="dc")`: a DCProgram behind CVXPY's own call."""

from __future__ import annotations

import math
from typing import Any, cast

import cvxpy as cp

from .._numerics.checks import as_flag
from ..errors import Infeasible, InvalidParameter, Unbounded
from ..mm import Iterate
from ..steps.backend import Backend
from .program import DCCertificate, DCProgram

SETTINGS = ("stop", "starts", "random_state", "n_jobs", "time_limit")
"""The settings of DCProgram.minimize that are passed on; all others are the solver's."""


def solve_by_dc(problem: cp.Problem, *, solver: Any = "CLARABEL", verbose: bool = False, **settings: Any) -> float:
    """Minimise or maximise a problem as a DCProgram; its value, status and variables are set.

    The status is the sentence of `Status`, such as "converged: d-stationary, f has no direction of descent". An
    unbounded or infeasible problem has CVXPY's status for it and an infinite value. Where a variable has no value to
    start from, one random start is made.

    Parameters
    ----------
    problem : cp.Problem
        A problem whose objective and constraints are sums of convex and concave terms.
    solver : str or Backend
        The convex solver.
    verbose : bool
        Print a line for each step.
    **settings
        stop, starts, random_state, n_jobs and time_limit as in `DCProgram.minimize`; others go to the solver.

    Returns
    -------
    float
        The objective at the point found; infinite where it is not feasible.
    """
    own = {name: settings.pop(name) for name in SETTINGS if name in settings}
    if settings:
        if isinstance(solver, Backend):
            raise InvalidParameter(
                f"{next(iter(settings))} must be an option of the Backend, such as Backend(solver, options)."
            )
        solver = Backend(solver, settings)
    program = DCProgram.from_problem(problem)
    if own.get("starts") is None and any(variable.value is None for variable in program.needed):
        own["starts"] = 1
    lowest = isinstance(problem.objective, cp.Minimize)
    try:
        result = program.minimize(solver=solver, callback=printed if as_flag(verbose, "verbose") else None, **own)
    except (Unbounded, Infeasible) as failure:
        if verbose:
            print(failure)
        unbounded = isinstance(failure, Unbounded)
        value = math.inf if lowest is not unbounded else -math.inf
        record(problem, cp.UNBOUNDED if unbounded else cp.INFEASIBLE, value)
        return value
    if verbose:
        print(result.table() if result.starts else result)
    certificate, found = cast("DCCertificate", result.certificate), cast("Any", problem.objective.value)
    feasible = certificate.word != "not feasible"
    value = float(found) if feasible else (math.inf if lowest else -math.inf)
    record(problem, result.status.value, value)
    return value


def printed(point: Iterate) -> None:
    """One line for an iterate."""
    print(f"step {point.l:>4}   f = {point.f:.10g}   g = {point.g:.10g}   {point.seconds:.3f} s   {point.solver}")


def record(problem: cp.Problem, status: str, value: float) -> None:
    """Set what `problem.status` and `problem.value` return, as dccp does; CVXPY has no public way."""
    for name, content in (("_status", status), ("_value", value)):
        setattr(problem, name, content)
