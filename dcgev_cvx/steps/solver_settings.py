"""The one table of solvers: options for each purpose, the package to install, the name of the time limit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
