"""A CVXPY solver by name on every model: each in a process of its own, its answers judged from the data here."""

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.settings import SOLVERS as KNOWN

from .._numerics.checks import shown
from ..errors import InvalidParameter, MissingPackage, SolverFailed, nearest
from .answers import text_of
from .levels import plain
from .model_cases import ModelCase
from .model_duals import SDPS, dimacs_errors, dual_bound
from .protocol import IMPORTING, Conversation, NotInTime

TOLERANCE = 1e-5
"""The same for all solvers: what the least accurate of them, SCS and OSQP, claim as CVXPY calls them."""
CLAIMS: Mapping[str, float] = {
    "CLARABEL": 1e-8, "COPT": 1e-6, "CVXOPT": 1e-6, "DAQP": 1e-6, "ECOS": 1e-8, "GUROBI": 1e-6, "HIGHS": 1e-7,
    "MOSEK": 1e-8, "OSQP": 1e-5, "PIQP": 1e-8, "PROXQP": 1e-8, "QOCO": 1e-7, "SCIP": 1e-6, "SCS": 1e-5, "SDPA": 1e-7,
    "XPRESS": 1e-6,
}  # fmt: skip
"""The largest of a solver's tolerances on residuals and on the gap, at its defaults as CVXPY calls it."""
LOSSES, LOSSES_OF_A_MODEL = 6, 2
"""A solver that has crashed or hung so many times is not asked again, at all or for this model."""
PACKAGES: Mapping[str, str] = {
    "CLARABEL": "clarabel", "COPT": "coptpy", "CUCLARABEL": "cuclarabel", "CVXOPT": "cvxopt", "DAQP": "daqp",
    "ECOS": "ecos", "GLPK": "cvxopt", "GUROBI": "gurobipy", "HIGHS": "highspy", "MOSEK": "mosek", "OSQP": "osqp",
    "PIQP": "piqp", "PROXQP": "proxsuite", "QOCO": "qoco", "SCIP": "pyscipopt", "SCS": "scs", "SDPA": "sdpa-python",
    "XPRESS": "xpress", "MPAX": "mpax", "CPLEX": "cplex", "CBC": "cylp",
}  # fmt: skip
"""The package to install, by solver."""
NOT_TRIED = ("GLPK", "SCIPY", "ECOS_BB", "GLPK_MI", "UNO", "IPOPT", "KNITRO", "COPTNLP", "DIFFCP", "PDLP", "CBC")
"""Of the installed solvers, those for linear, integer or nonlinear programs alone, and another name of ECOS."""
ONE_THREAD: Mapping[str, str] = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
UNANSWERED = ("not supported", "not licensed", "not asked")


@dataclass(frozen=True)
class Row:
    """What a solver made of one case.

    Parameters
    ----------
    solver, model, n, variant : optional
        The solver and the case.
    outcome : str
        "right"; "wrong": it said optimal and is not, or the opposite; "duals wrong": x is right, the multipliers are
        not; "inaccurate": off, and it said so; "failed", "crashed", "timed out"; "not supported", "not licensed", "not
        asked".
    error, dual_error : float
        The largest relative violation or error of the value; the gap to the bound that the multipliers prove.
    seconds : float
        The time of the solve.
    said : str
        The status, or what was raised.
    what : str
        What is wrong.
    dimacs : mapping
        err1 … err6 of an SDP.
    """

    solver: str
    model: str
    n: int
    variant: str
    outcome: str
    error: float = 0.0
    dual_error: float = 0.0
    seconds: float = 0.0
    said: str = ""
    what: str = ""
    dimacs: Mapping[str, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data; infinity is null."""
        found = {key: None if isinstance(v, float) and not math.isfinite(v) else v for key, v in asdict(self).items()}
        return {key: value for key, value in found.items() if value not in ("", None)}


def known_solver(name: str) -> str:
    """An installed solver's name, or MODULE:OBJECT; an error names the nearest one, or the package to install."""
    if ":" in name:
        return name
    upper, installed = name.upper(), sorted(set(cp.installed_solvers()))
    if upper in installed:
        return upper
    if upper in PACKAGES:
        package = PACKAGES[upper]
        raise MissingPackage(f"{upper} is not installed: pip install {package}. Installed: {', '.join(installed)}.")
    hint = nearest(upper, sorted({*PACKAGES, *KNOWN}))
    hint = f"{hint[0].upper()}{hint[1:]}" if hint.startswith("did") else ""
    words = " ".join(filter(None, (f"CVXPY has no solver {shown(name)}.", hint)))
    raise InvalidParameter(f"{words} Installed: {', '.join(installed)}.")


def default_solvers() -> list[str]:
    """The installed solvers for the models' kinds of problem."""
    return [name for name in sorted(set(cp.installed_solvers())) if name not in NOT_TRIED]


class SolverProcess(Conversation):
    """A CVXPY solver in a process of its own."""

    spoken = False

    def __init__(self, solver: str, options: Mapping[str, Any], time_limit: float) -> None:
        program = [sys.executable, "-P", "-m", "dcgev_cvx.verify.solver_program"]
        super().__init__(program, time_limit, ONE_THREAD)
        hello = {"solver": solver, "options": dict(options), "package": PACKAGES.get(solver)}
        try:
            greeting = self.exchange(hello, max(time_limit, IMPORTING))
        except BaseException:
            self.close()
            raise
        if "invalid" in greeting:
            self.close()
            raise InvalidParameter(text_of(greeting["invalid"]))
        self.version = text_of(greeting.get("version"))

    def solve(self, case: ModelCase, number: int) -> dict[str, Any]:
        """What the solver made of a case."""
        before = None if case.after is None else {name: plain(value) for name, value in case.after.items()}
        data = {name: plain(value) for name, value in case.data.items()}
        answer = self.exchange({"id": number, "model": case.model, "data": data, "before": before})
        if answer.get("id") != number:
            raise SolverFailed("the answer belongs to another question.")
        return answer


def tried(
    solver: str,
    cases: Sequence[ModelCase],
    *,
    options: Mapping[str, Any] | None = None,
    time_limit: float = 10.0,
    tol: float = TOLERANCE,
    progress: Callable[[str, int], None] | None = None,
) -> Iterator[tuple[ModelCase, Row]]:
    """Every case with what the solver made of it, then the first cases again in the opposite order.

    After a crash or a hang the next case is asked in a new process; see `LOSSES` for when none is.
    """
    process, lost = None, Counter[str]()
    firsts = list({case.model: case for case in reversed(cases) if not case.variant}.values())
    asked = [*cases, *(replace(case, variant="after all others") for case in firsts)]
    try:
        for number, case in enumerate(asked):
            if progress is not None:
                progress(solver, number)
            about = (solver, case.model, case.n, case.variant)
            if lost.total() >= LOSSES or lost[case.model] >= LOSSES_OF_A_MODEL:
                yield case, Row(*about, "not asked", said="it crashed or hung before")
                continue
            try:
                process = process or SolverProcess(solver, options or {}, time_limit)
                yield case, judged(about, case, process.solve(case, number), tol)
            except SolverFailed as failure:
                lost[case.model] += 1
                outcome = "timed out" if isinstance(failure, NotInTime) else "crashed"
                yield case, Row(*about, outcome, math.inf, said=text_of(str(failure)))
                if process is not None:
                    process.close()
                process = None
    finally:
        if process is not None:
            process.close()


# Judging


def judged(about: tuple[str, str, int, str], case: ModelCase, answer: Mapping[str, Any], tol: float) -> Row:
    """The outcome of a case, all of it computed from the data and the numbers that were sent."""
    failure, status = answer.get("failure"), text_of(answer.get("status"))
    if failure is not None:
        known = failure if failure in (*UNANSWERED, "failed") else "failed"
        return Row(*about, known, said=text_of(answer.get("said")))
    time: Any = answer.get("seconds")
    seconds = float(time) if isinstance(time, (int, float)) else 0.0
    sure = not status.endswith("_inaccurate")
    if case.status != "optimal":
        right = status.startswith(case.status) or status == "infeasible_or_unbounded"
        outcome = "right" if right else "wrong" if status == "optimal" else "failed" if sure else "inaccurate"
        return Row(
            *about,
            outcome,
            seconds=seconds,
            said=status,
            what="" if right else f"the problem is {case.status}: {case.proof}",
        )
    if not status.startswith("optimal"):
        wrong = sure and status in ("infeasible", "unbounded")
        outcome = "wrong" if wrong else "failed"
        return Row(*about, outcome, math.inf, seconds=seconds, said=status, what=f"the optimum is {case.high:.8g}")
    problem = case.problem()
    if not filled(problem, answer):
        return Row(*about, "wrong" if sure else "failed", math.inf, seconds=seconds, said=status, what="no numbers")
    duals = [constraint.dual_value for constraint in problem.constraints]
    with np.errstate(all="ignore"):  # CVXPY divides by a norm of 0
        error, what = error_of(case, problem)
        gap = dual_error(case, problem, duals)
    outcome = "right" if error <= allowed(case.n, tol) else "wrong" if sure else "inaccurate"
    if outcome == "right" and math.isfinite(gap) and gap > 10.0 * allowed(case.n, tol) and sure:
        outcome, what = "duals wrong", f"the multipliers prove a bound that is off by {gap:.1e}"
    errors = None
    if case.model in SDPS and all(dual is not None for dual in duals):
        errors = dimacs_errors(case.model, case.data, problem.var_dict["X"].value, duals)
    return Row(*about, outcome, error, gap, seconds, status, "" if outcome == "right" else what, errors)


def allowed(n: int, tol: float) -> float:
    """Ten times what is claimed, and twice for each variable: a bound on ‖x‖₁ adds up the errors of 2n rows."""
    return tol * (10.0 + 2.0 * n)


def filled(problem: Any, answer: Mapping[str, Any]) -> bool:
    """Put the numbers into the problem; are there as many as there must be, and all finite?"""
    variables, duals = answer.get("variables"), answer.get("duals")
    for variable in problem.variables():
        numbers = array_of(variables.get(variable.name()) if isinstance(variables, dict) else None, variable.shape)
        if numbers is None:
            return False
        variable.save_value(numbers)
    given = duals if isinstance(duals, list) and len(duals) == len(problem.constraints) else []
    for constraint, numbers in zip(problem.constraints, given, strict=False):
        dual = constraint.dual_variables[0]
        dual.save_value(array_of(numbers, dual.shape))
    return True


def array_of(numbers: Any, shape: tuple[int, ...]) -> Any:
    """Finite numbers in a list as an array of a shape, or None."""
    if not isinstance(numbers, list) or len(numbers) != math.prod(shape):
        return None
    if any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in numbers):
        return None
    return np.array(numbers, dtype=np.float64).reshape(shape)


def error_of(case: ModelCase, problem: Any) -> tuple[float, str]:
    """(the largest relative violation or error of the value, what it is)."""
    reached: Any = problem.objective.value
    value = float(np.ravel(reached)[0])
    off = max(0.0, case.low - value, value - case.high) / case.size
    found = [(off, f"the value is {value:.8g}, the optimum lies between {case.low:.10g} and {case.high:.10g}")]
    for constraint in problem.constraints:
        violation = float(np.max(constraint.violation(), initial=0.0))
        size = 1.0 + max(float(np.max(np.abs(part.value), initial=0.0)) for part in constraint.args)
        found.append((violation / size, f"{label_of(constraint)} is violated by {violation:.1e}"))
    return max((error if error == error else math.inf, what) for error, what in found)


def label_of(constraint: Any) -> str:
    """The constraint as the paper writes it."""
    return str(getattr(constraint, "label", None) or type(constraint).__name__)


def dual_error(case: ModelCase, problem: Any, duals: Sequence[Any]) -> float:
    """The gap of the value to the bound that the multipliers prove: 0 without a formula, ∞ without multipliers."""
    if any(dual is None for dual in duals):
        return math.inf
    bound = dual_bound(case.model, case.data, duals)
    if math.isnan(bound):
        return 0.0
    sense = -1.0 if isinstance(problem.objective, cp.Maximize) else 1.0
    reached: Any = problem.objective.value
    value = float(np.ravel(reached)[0])
    return max(0.0, sense * (value - bound)) / case.size
