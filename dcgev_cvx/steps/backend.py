"""The only door to CVXPY's solvers: names checked, failures named, nothing printed, nothing remembered."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from time import perf_counter
from traceback import walk_tb
from types import MappingProxyType
from typing import Any

import cvxpy as cp
from cvxpy.settings import SOLVERS as KNOWN

from .._numerics.checks import shown
from ..errors import InvalidParameter, SolverFailed, SolverMissing, nearest

TIGHT: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "CLARABEL": {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10},
        "ECOS": {"abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10},
        # Anderson acceleration leads SCS astray on small ill-conditioned steps
        "SCS": {"eps_abs": 1e-8, "eps_rel": 1e-8, "max_iters": 50_000, "acceleration_lookback": 0},
        "OSQP": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 50_000, "polishing": False},
    }
)
"""Options that let the support of an MM step be read off the answer; the polish does the rest."""

INSTALL = {
    "CLARABEL": "clarabel",
    "ECOS": "ecos",
    "SCS": "scs",
    "OSQP": "osqp",
    "MOSEK": "mosek",
    "GUROBI": "gurobipy",
}


@dataclass(frozen=True)
class Solved:
    """Who answered, what it said of its own answer, and how long it took by its own clock and by ours."""

    solver: str
    status: str
    solver_seconds: float
    seconds: float


@dataclass(frozen=True)
class Backend:
    """A solver with its options and an explicit list of others to try when it fails.

    A failure is an exception, or a status other than optimal; `optimal_inaccurate` is handed
    on, for the step's own certificate to judge.

    Parameters
    ----------
    solver
        A name that CVXPY knows, in any case.
    options
        Handed to the solver as they are, instead of our tight tolerances.
    fallback
        Solvers to try in turn when the first fails; a result says who solved what (`MMResult.solvers`).

    Examples
    --------
    >>> Backend("scs", fallback=("CLARABEL",)).solvers
    ('SCS', 'CLARABEL')
    >>> Backend("CLARABELL")
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: solver 'CLARABELL' is unknown; did you mean 'CLARABEL'?
    """

    solver: str = "CLARABEL"
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    fallback: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.fallback, str):
            object.__setattr__(self, "fallback", (self.fallback,))
        if not isinstance(self.options, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidParameter(f"options = {shown(self.options)} must map a solver's option names to values.")
        if not isinstance(self.fallback, (tuple, list)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidParameter(f"fallback = {shown(self.fallback)} must list names of solvers, such as ('SCS',).")
        object.__setattr__(self, "solver", known_solver(self.solver))
        object.__setattr__(self, "fallback", tuple(known_solver(name) for name in self.fallback))

    @property
    def solvers(self) -> tuple[str, ...]:
        """The solver and its fallbacks, in the order in which they are tried."""
        return (self.solver, *self.fallback)

    def solve(self, problem: cp.Problem, solver: str | None = None) -> Solved:
        """Solve with one named solver (the first by default); SolverFailed says what it answered.

        Where our tight tolerances fail, the solver's own defaults are tried: the polish needs
        only the support. Options given by the user are used as they are.
        """
        name = self.solver if solver is None else known_solver(solver)
        given = dict(self.options) if name == self.solver else {}
        attempts = [given] if given else [dict(TIGHT[name]), {}] if name in TIGHT else [{}]
        failure = SolverFailed(f"{name} was not called.")
        for options in attempts:
            try:
                return attempt(problem, name, options)
            except SolverFailed as caught:
                failure = caught
        raise failure


def attempt(problem: cp.Problem, name: str, options: Mapping[str, Any], *, unfinished: bool = False) -> Solved:
    """One call of problem.solve(): an answer that claims to be optimal, or SolverFailed.

    unfinished=True hands on what a solver had when its time or iterations ran out: for bounds that trust no solver.
    """
    begin = perf_counter()
    try:
        with quiet():
            # no warm start: an answer must not depend on earlier calls (beyond the paper)
            problem.solve(solver=name, warm_start=False, **options)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as cause:  # a panic in a solver written in Rust is no Exception
        if was_interrupted(cause):
            raise KeyboardInterrupt from cause
        reason = str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__
        raise SolverFailed(f"{name} failed: {reason}") from cause
    seconds = perf_counter() - begin
    accepted = (cp.OPTIMAL, cp.OPTIMAL_INACCURATE, *((cp.USER_LIMIT,) if unfinished else ()))
    if problem.status not in accepted:
        raise SolverFailed(f"{name} ended with the status '{problem.status}'.")
    stats: Any = problem.solver_stats
    own = getattr(stats, "solve_time", None) or seconds
    return Solved(name, str(problem.status), float(own), seconds)


def was_interrupted(cause: BaseException) -> bool:
    """Was it Ctrl-C? SCS catches the signal itself and returns a status, which CVXPY calls a failure.

    CVXPY drops that status, but the frame in which it failed still holds SCS's answer.
    """
    answers = [frame.f_locals.get("solution") for frame, _ in walk_tb(cause.__traceback__)]
    return any(isinstance(a, dict) and a.get("info", {}).get("status") == "interrupted" for a in answers)


def foreign(problem: cp.Problem, **options: Any) -> None:
    """One call of problem.solve() for methods that are guests here (dccp, CVXPY's nonlinear door).

    Whatever status they end with is theirs; the values they leave are for a certificate to judge.
    """
    try:
        with quiet():
            problem.solve(**options)
    except Exception as cause:
        reason = str(cause).strip().splitlines()[0] if str(cause).strip() else ""
        raise SolverFailed(f"{type(cause).__name__}: {reason}") from cause


@cache
def installed_solvers() -> tuple[str, ...]:
    """The names CVXPY can use on this machine; asked for once, for CVXPY tries every import anew at each call."""
    return tuple(cp.installed_solvers())


def known_solver(name: object) -> str:
    """The canonical name of an installed solver; otherwise how to get it, or the nearest match."""
    if not isinstance(name, str):
        raise InvalidParameter(f"solver must be a name such as 'CLARABEL', got {shown(name)}.")
    upper = name.upper()
    installed = installed_solvers()
    if upper in installed:
        return upper
    every = {str(solver) for solver in (*KNOWN, *installed)}
    if upper in every:
        package = INSTALL.get(upper, upper.lower())
        raise SolverMissing(
            f"solver {upper} is not installed: pip install {package}. Installed: {', '.join(installed)}."
        )
    raise InvalidParameter(f"solver {shown(name)} is unknown; {nearest(name, every)}")


class _Quiet:
    """CVXPY's own warnings are turned off while any thread solves, and the filters put back by the last one out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._filters: warnings.catch_warnings[None] | None = None

    def enter(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._filters = warnings.catch_warnings()
                self._filters.__enter__()
                warnings.simplefilter("ignore")
            self._inside += 1

    def leave(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0 and self._filters is not None:
                self._filters.__exit__(None, None, None)
                self._filters = None


_quiet = _Quiet()


@contextmanager
def quiet() -> Generator[None]:
    """Silence for the length of one solve: what a warning would say is in the status."""
    _quiet.enter()
    try:
        yield
    finally:
        _quiet.leave()
