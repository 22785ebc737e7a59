"""CVXPY's solvers, called in one place: names checked, failures raised, nothing printed, problems compiled once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from traceback import walk_tb
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.settings import SOLVERS as KNOWN
from scipy.sparse import csc_array

from .._numerics.checks import shown
from .._numerics.extras import check_cvxpy
from .._numerics.threads import quiet
from ..errors import InvalidParameter, SolverFailed, SolverMissing, nearest

check_cvxpy()


@dataclass(frozen=True)
class SolverSettings:
    """What the package passes to a solver where the user gives no options of their own."""

    package: str
    step: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Tolerances with which the support of an MM step can be read off the answer; `polish` does the rest."""
    bound: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Options for the semidefinite relaxations, whose bounds hold whatever the solver did."""
    start: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Tolerances for points that are only starts, as in phase one of a DCProgram; tight ones take longer."""
    time_limit: str | None = None
    """What the solver calls its limit in seconds."""


SOLVER_TABLE: Mapping[str, SolverSettings] = {
    "CLARABEL": SolverSettings(
        "clarabel",
        step={"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10},
        start={"tol_gap_abs": 1e-8, "tol_gap_rel": 1e-8, "tol_feas": 1e-8},
        time_limit="time_limit",
    ),
    "ECOS": SolverSettings("ecos", step={"abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10}),
    "SCS": SolverSettings(
        "scs",
        # with Anderson acceleration SCS fails on small ill-conditioned steps
        step={"eps_abs": 1e-8, "eps_rel": 1e-8, "max_iters": 50_000, "acceleration_lookback": 0},
        # SCS's own rescaling slows it down on scaled data, up to the point of not ending
        bound={"normalize": False, "max_iters": 5000},
        time_limit="time_limit_secs",
    ),
    "OSQP": SolverSettings("osqp", step={"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 50_000, "polishing": False}),
    "MOSEK": SolverSettings("mosek"),
    "GUROBI": SolverSettings("gurobipy"),
}


def settings_of(name: str) -> SolverSettings:
    """The settings of a solver; of one that is not in the table, its own defaults."""
    return SOLVER_TABLE.get(name, SolverSettings(name.lower()))


@dataclass(frozen=True)
class Solved:
    """The solver that answered, and its own status."""

    solver: str
    status: str


class Backend:
    """A solver with its options and an explicit list of others to try when it fails.

    A failure is an exception, or a status other than optimal; an answer that the solver calls inaccurate is passed
    on, for the step's own certificate to judge.

    Parameters
    ----------
    solver : str
        A name that CVXPY knows, in upper or lower case.
    options : mapping
        Passed to the solver unchanged, in place of the tight tolerances that are used otherwise.
    fallback : tuple of str
        Solvers to try in turn when the first fails; `MMResult.solvers` counts which solver took which steps.

    Examples
    --------
    >>> Backend("scs", fallback=("CLARABEL",)).solvers
    ('SCS', 'CLARABEL')
    >>> Backend("CLARABELL")
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: solver 'CLARABELL' is unknown; did you mean 'CLARABEL'?
    """

    def __init__(
        self, solver: str = "CLARABEL", options: Mapping[str, Any] | None = None, fallback: Sequence[str] = ()
    ) -> None:
        names = (fallback,) if isinstance(fallback, str) else fallback
        if options is not None and not isinstance(options, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidParameter(f"options = {shown(options)} must map a solver's option names to values.")
        if not isinstance(names, (tuple, list)):
            raise InvalidParameter(f"fallback = {shown(fallback)} must list names of solvers, such as ('SCS',).")
        self.solver = known_solver(solver)
        self.options: Mapping[str, Any] = dict(options or {})
        self.fallback = tuple(known_solver(name) for name in names)

    def __repr__(self) -> str:
        return f"Backend({self.solver!r}, options={self.options!r}, fallback={self.fallback!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Backend) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.solvers)

    @classmethod
    def of(cls, solver: str | Backend) -> Backend:
        """The backend itself, or one of a solver's name."""
        return solver if isinstance(solver, Backend) else cls(solver)

    def with_options(self, options: Mapping[str, Any]) -> Backend:
        """The same solvers, the first with other options."""
        return Backend(self.solver, options, self.fallback)

    @property
    def solvers(self) -> tuple[str, ...]:
        """The solver and its fallbacks, in the order in which they are tried."""
        return (self.solver, *self.fallback)

    def solve(self, problem: cp.Problem, solver: str | None = None) -> Solved:
        """Solve with one named solver, the first by default; SolverFailed carries its message.

        Where the tight tolerances fail, the solver's own defaults are tried, since `polish` needs only the support.
        """
        name = self.solver if solver is None else known_solver(solver)
        options = self.options if name == self.solver else {}
        tight = settings_of(name).step
        if options or not tight:
            return attempt(problem, name, options)
        try:
            return attempt(problem, name, tight)
        except SolverFailed:
            return attempt(problem, name, {})


def attempt(problem: cp.Problem, name: str, options: Mapping[str, Any], *, unfinished: bool = False) -> Solved:
    """One call of problem.solve(): an answer that the solver calls optimal, or SolverFailed.

    With unfinished=True an answer cut short by a limit is accepted too, for bounds that hold whatever the solver did.
    """
    try:
        with quiet:
            # no warm start: an answer must not depend on earlier calls
            problem.solve(solver=name, warm_start=False, **options)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as cause:  # a panic of a solver written in Rust is not an Exception
        if was_interrupted(cause):
            raise KeyboardInterrupt from cause
        reason = str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__
        raise SolverFailed(f"{name} failed: {reason}") from cause
    accepted = (cp.OPTIMAL, cp.OPTIMAL_INACCURATE, *((cp.USER_LIMIT,) if unfinished else ()))
    if problem.status not in accepted:
        raise SolverFailed(f"{name} ended with the status '{problem.status}'.")
    return Solved(name, str(problem.status))


def was_interrupted(cause: BaseException) -> bool:
    """Was it Ctrl-C? SCS catches the signal and returns a status; CVXPY drops it, but its frame still holds it."""
    answers = [frame.f_locals.get("solution") for frame, _ in walk_tb(cause.__traceback__)]
    return any(isinstance(a, dict) and a.get("info", {}).get("status") == "interrupted" for a in answers)


def foreign(problem: cp.Problem, **options: Any) -> None:
    """One call of problem.solve() for other packages (dccp, CVXPY's nonlinear interface), whatever their status."""
    try:
        with quiet:
            problem.solve(**options)
    except Exception as cause:
        reason = str(cause).strip().splitlines()[0] if str(cause).strip() else ""
        raise SolverFailed(f"{type(cause).__name__}: {reason}") from cause


@cache
def installed_solvers() -> tuple[str, ...]:
    """The solvers that CVXPY finds on this machine; cached, since CVXPY tries every import at each call."""
    return tuple(cp.installed_solvers())


def known_solver(name: object) -> str:
    """The name of an installed solver in capitals; otherwise an error says how to install it, or the nearest name."""
    if not isinstance(name, str):
        raise InvalidParameter(f"solver must be a name such as 'CLARABEL', got {shown(name)}.")
    upper = name.upper()
    installed = installed_solvers()
    if upper in installed:
        return upper
    every = {str(solver) for solver in (*KNOWN, *installed)}
    if upper in every:
        remedy = f"pip install {settings_of(upper).package}"
        raise SolverMissing(f"solver {upper} is not installed: {remedy}. Installed: {', '.join(installed)}.")
    raise InvalidParameter(f"solver {shown(name)} is unknown; {nearest(name, every)}")


class CompiledProblem(cp.Problem):
    """A problem with parameters in its linear cost and its constraints, compiled once for many solves.

    CVXPY keeps what it compiled, but computes all data of a solver anew from the parameters θ at each solve, which
    for a small problem takes longer than the solver does. Here P is kept and the others are multiplied out from
    (θ, 1), which gives the same data bit for bit. Where CVXPY's internals are not as expected, as for solvers with
    another standard form or in another version, every solve is CVXPY's own.

    What is read beyond CVXPY's public interface: data["param_prob"] of get_problem_data, and of it P, q (c before
    CVXPY 1.7.4), reduced_A.problem_data_index, reduced_A.reduced_mat and param_id_to_col. A test fails where they are
    gone; `python -m benchmarks speed` prints what they save.
    """

    def __init__(self, problem: cp.Problem) -> None:
        self._kept: dict[str, tuple[StandardForm, Any, Any]] = {}
        super().__init__(problem.objective, problem.constraints)
        self._own = tuple(self.parameters())  # a walk through the whole expression, made once

    def get_problem_data(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, solver: Any, *args: Any, **kwargs: Any
    ) -> tuple[dict[str, Any], Any, Any]:
        """(data, chain, inverse data), as cp.Problem.get_problem_data returns them."""
        key = repr((solver, args, kwargs))
        if key in self._kept:
            form, chain, inverse = self._kept[key]
            return form.at(self._own), chain, inverse
        data, chain, inverse = super().get_problem_data(solver, *args, **kwargs)
        with suppress(AttributeError, KeyError, TypeError, ValueError, IndexError):
            form = StandardForm.of(data)
            if form.gives(data, self._own):
                self._kept[key] = form, chain, inverse
        return data, chain, inverse


@dataclass(frozen=True)
class StandardForm:
    """min ½xᵀPx + c(θ)ᵀx over b(θ) − A(θ)x in fixed cones: what CVXPY makes of a problem for CLARABEL and SCS.

    cost and rows are sparse matrices that map (θ, 1) to (c, constant) and to the nonzeros of (−A, b) by columns.
    """

    data: dict[str, Any]
    columns: dict[int, int]
    cost: Any
    rows: Any
    indices: Any
    starts: Any

    @classmethod
    def of(cls, data: dict[str, Any]) -> StandardForm:
        """The form of a compiled problem, or an error where its parts have other names."""
        compiled: Any = data["param_prob"]
        if compiled.P is not None and compiled.P.tocsc()[:, :-1].count_nonzero():
            raise ValueError("a parameter stands in the quadratic cost")
        cost = compiled.q if hasattr(compiled, "q") else compiled.c  # its name before CVXPY 1.7.4
        indices, starts, _ = compiled.reduced_A.problem_data_index
        rows, columns = compiled.reduced_A.reduced_mat, dict(compiled.param_id_to_col)
        return cls(dict(data), columns, cost, rows, indices.astype(np.int32), starts[:-1].astype(np.int32))

    def at(self, parameters: Sequence[cp.Parameter]) -> dict[str, Any]:
        """The solver's data for the parameters' values."""
        theta = np.zeros(self.cost.shape[1])
        theta[-1] = 1.0
        for parameter in parameters:
            begin = self.columns[parameter.id]
            theta[begin : begin + parameter.size] = parameter.value
        cost = np.asarray(self.cost @ theta).reshape(-1)[:-1]
        values, end = self.rows @ theta, self.starts[-1]
        b = np.zeros(len(self.data["b"]))
        b[self.indices[end:]] = values[end:]
        A = csc_array((-values[:end], self.indices[:end], self.starts), shape=(len(b), len(cost)))
        return self.data | {"c": cost, "A": A, "b": b}

    def gives(self, data: dict[str, Any], parameters: Sequence[cp.Parameter]) -> bool:
        """Are the data for the parameters' present values exactly these, which CVXPY computed?"""
        ours = self.at(parameters)
        same = all(np.array_equal(ours[name], data[name]) for name in ("c", "b"))
        return same and all(
            np.array_equal(getattr(ours["A"], part), getattr(data["A"], part)) for part in ("data", "indices", "indptr")
        )
