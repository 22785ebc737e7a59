"""CVXPY's solvers, called in one place: names checked, failures raised, nothing printed, problems compiled once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from time import perf_counter
from traceback import walk_tb
from types import MappingProxyType
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.settings import SOLVERS as KNOWN
from scipy.sparse import coo_array, csc_array, issparse

from .._numerics.checks import Vector, shown
from .._numerics.extras import check_cvxpy
from .._numerics.threads import quiet
from ..errors import InvalidParameter, SolverFailed, SolverMissing, nearest

check_cvxpy()

TIGHT: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "CLARABEL": {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10},
        "ECOS": {"abstol": 1e-10, "reltol": 1e-10, "feastol": 1e-10},
        # with Anderson acceleration SCS fails on small ill-conditioned steps
        "SCS": {"eps_abs": 1e-8, "eps_rel": 1e-8, "max_iters": 50_000, "acceleration_lookback": 0},
        "OSQP": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iter": 50_000, "polishing": False},
    }
)
"""Options that let the support of an MM step be read off the answer; `polish` does the rest."""

READS_ONLY = ("CLARABEL", "SCS", "OSQP")
"""Solvers that copy their data before they scale it; ECOS scales in place and back, which may lose a bit."""

INSTALL = {name: name.lower() for name in ("CLARABEL", "ECOS", "SCS", "OSQP", "MOSEK")} | {"GUROBI": "gurobipy"}


@dataclass(frozen=True)
class Solved:
    """The solver that answered, its own status, and the seconds by its own clock and by ours."""

    solver: str
    status: str
    solver_seconds: float
    seconds: float


@dataclass(frozen=True)
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
        """Solve with one named solver, the first by default; SolverFailed carries its message.

        Where the tight tolerances fail, the solver's own defaults are tried, since `polish` needs only the support.
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
    """One call of problem.solve(): an answer that the solver calls optimal, or SolverFailed.

    With unfinished=True an answer cut short by a limit is accepted too, for bounds that hold whatever the solver did.
    """
    begin = perf_counter()
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
    seconds = perf_counter() - begin
    accepted = (cp.OPTIMAL, cp.OPTIMAL_INACCURATE, *((cp.USER_LIMIT,) if unfinished else ()))
    if problem.status not in accepted:
        raise SolverFailed(f"{name} ended with the status '{problem.status}'.")
    stats: Any = problem.solver_stats
    own = getattr(stats, "solve_time", None) or seconds
    return Solved(name, str(problem.status), float(own), seconds)


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
        package = INSTALL.get(upper, upper.lower())
        raise SolverMissing(
            f"solver {upper} is not installed: pip install {package}. Installed: {', '.join(installed)}."
        )
    raise InvalidParameter(f"solver {shown(name)} is unknown; {nearest(name, every)}")


class CompiledProblem(cp.Problem):
    """A problem with parameters in its linear cost and its constraints, compiled once for many solves.

    CVXPY's standard form of it is min ½xᵀPx + q(θ)ᵀx over b(θ) − A(θ)x in fixed cones, with q, A and b affine in the
    parameters θ. P is kept, and A and b where they are fixed; the others are multiplied out, which gives the same
    data bit for bit. CVXPY multiplies out every matrix at each solve, which at n = 13 takes longer than the solver
    does. Where CVXPY's internals are not as expected, in an older or newer version, every solve is CVXPY's own.
    """

    def __init__(self, problem: cp.Problem) -> None:
        self._kept: dict[str, StandardForm] = {}
        super().__init__(problem.objective, problem.constraints)
        self._own = tuple(self.parameters())  # a walk through the whole expression, made once

    def get_problem_data(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, solver: Any, *args: Any, **kwargs: Any
    ) -> tuple[dict[str, Any], Any, Any]:
        """(data, chain, inverse data), as cp.Problem.get_problem_data returns them."""
        key = repr((solver, args, kwargs))
        if key not in self._kept:
            data, chain, inverse = super().get_problem_data(solver, *args, **kwargs)
            form = self._understood(data, chain, inverse)
            if form is not None:
                self._kept[key] = form
            return data, chain, inverse
        form = self._kept[key]
        return form.at(self._parameter_vector(form.data["param_prob"])), form.chain, form.inverse

    def _understood(self, data: dict[str, Any], chain: Any, inverse: Any) -> StandardForm | None:
        """The standard form, if its data are the maps that we take them for; None leaves the solves to CVXPY."""
        compiled: Any = data.get("param_prob")
        cost = "c" if "c" in data else "q"
        try:
            fixed = (compiled.P, *(getattr(compiled, name, None) for name in ("lb_tensor", "ub_tensor")))
            ours = set(compiled.param_id_to_col) - {-1} == {parameter.id for parameter in self._own}
            if not ours or not all(constant(tensor) for tensor in fixed):
                return None
            kept = ready_for(chain.solver.name(), data, data[cost].size)
            rows = None if constant(compiled.A) else RowMap.of(compiled.reduced_A)
            form = StandardForm(kept, chain, inverse, cost, cost_map(compiled), rows)
            # the maps are trusted only after they gave CVXPY's own data, bit for bit
            expected = form.at(self._parameter_vector(compiled))
            changed = (cost,) if rows is None else (cost, "A", "b")
            return form if all(same(expected[name], data[name]) for name in changed) else None
        except (AttributeError, KeyError, TypeError, ValueError, IndexError):
            return None

    def _parameter_vector(self, compiled: Any) -> Vector:
        """The parameters' values in the order of the compiled problem, and the 1 of its constant part."""
        vector = np.zeros(cost_map(compiled).shape[1])
        vector[-1] = 1.0
        for parameter in self._own:
            begin = compiled.param_id_to_col[parameter.id]
            vector[begin : begin + parameter.size] = parameter.value
        return vector


@dataclass(frozen=True)
class StandardForm:
    """What CVXPY made of the problem for one solver.

    cost is the key of the cost vector in the data, "c" or "q" by solver interface; slopes is the sparse matrix that
    maps (θ, 1) to (q, constant); rows gives A and b, and is None where they are fixed.
    """

    data: dict[str, Any]
    chain: Any
    inverse: Any
    cost: str
    slopes: Any
    rows: RowMap | None

    def at(self, parameters: Vector) -> dict[str, Any]:
        """The solver's data with the cost of these parameters; arrays are copied where a solver may write."""
        kept = self.data if self.chain.solver.name() in READS_ONLY else {k: own_copy(v) for k, v in self.data.items()}
        changed = {} if self.rows is None else self.rows.at(parameters)
        return kept | changed | {self.cost: cost_of(self.slopes, parameters)}


@dataclass(frozen=True)
class RowMap:
    """The affine map from (θ, 1) to A and b, which CVXPY keeps as the nonzeros of (−A, b) by columns."""

    slopes: Any
    indices: Any
    starts: Any
    shape: tuple[int, int]

    @classmethod
    def of(cls, reduced: Any) -> RowMap:
        """The map of a compiled problem."""
        indices, starts, (m, n) = reduced.problem_data_index
        return cls(reduced.reduced_mat, indices.astype(np.int32), starts[:-1].astype(np.int32), (int(m), int(n) - 1))

    def at(self, parameters: Vector) -> dict[str, Any]:
        """A and b by their names in the solver's data."""
        values, end = self.slopes @ parameters, self.starts[-1]
        b = np.zeros(self.shape[0])
        b[self.indices[end:]] = values[end:]
        return {"A": csc_array((-values[:end], self.indices[:end], self.starts), shape=self.shape), "b": b}


def same(ours: Any, given: Any) -> bool:
    """Are two arrays or sparse matrices equal, bit for bit and in the places of their entries?"""
    if not issparse(given):
        return np.array_equal(ours, given)
    return ours.shape == given.shape and all(
        np.array_equal(getattr(ours, part), getattr(given, part)) for part in ("data", "indices", "indptr")
    )


def constant(tensor: Any) -> bool:
    """Is a part of the compiled problem free of parameters? Their columns come first, the constant's last."""
    return tensor is None or tensor.tocsc()[:, :-1].count_nonzero() == 0


def cost_map(compiled: Any) -> Any:
    """The sparse matrix that maps (θ, 1) to the cost and its constant; before CVXPY 1.7.4 it is called c."""
    return compiled.q if hasattr(compiled, "q") else compiled.c


def cost_of(slopes: Any, parameters: Vector) -> Vector:
    """The cost vector; the last row of the map is the objective's constant."""
    return np.asarray(slopes @ parameters).reshape(-1)[:-1]


def ready_for(solver: str, data: dict[str, Any], size: int) -> dict[str, Any]:
    """The data to keep, P as triplets for CLARABEL: the form from which CVXPY takes its triangle at each solve."""
    if solver != "CLARABEL":
        return dict(data)
    return dict(data) | {"P": coo_array(data.get("P", (size, size)))}


def own_copy(entry: Any) -> Any:
    """A copy of an array or sparse matrix; anything else as it is."""
    return entry.copy() if isinstance(entry, np.ndarray) or issparse(entry) else entry
