"""dccp, and CVXPY's nonlinear solver UNO, on any problem written in CVXPY; both are optional packages."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

import numpy as np

from .._numerics.checks import shown
from ..errors import SolverFailed

SOLVERS: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "dccp": ("dccp", {"method": "dccp", "solver": "CLARABEL"}),
        "UNO": ("unopy", {"nlp": True, "solver": "UNO", "logger": "SILENT"}),
    }
)
"""By name: the package to install, and the options of cp.Problem.solve."""


def solve_with(name: str, problem: Any) -> None:
    """Solve from the values of the problem's variables; SolverFailed carries what was raised."""
    from ..steps.backend import foreign

    package, options = SOLVERS[name]
    import_module(package)  # dccp registers its method
    foreign(problem, **options)


def reached_by_others(problem: Any) -> dict[str, str]:
    """What dccp and UNO reach on any problem, from the values of its variables: f and the largest violation.

    Parameters
    ----------
    problem : cvxpy.Problem
        The problem; its variables keep their values.

    Returns
    -------
    dict of str to str
        By package: the objective and the largest violation of a constraint, or why there are none.

    Examples
    --------
    >>> from dcgev_cvx import models
    >>> from dcgev_cvx.comparison.other_solvers import reached_by_others
    >>> problem = models.l1_ball([[2.0, 1.0], [1.0, 2.0]], None, radius=1.2)
    >>> problem.var_dict["x"].value = [0.2, 0.1]
    >>> sorted(reached_by_others(problem))
    ['UNO', 'dccp']
    """
    from ..dc.tangents import restored

    found: dict[str, str] = {}
    for name, (package, _) in SOLVERS.items():
        if find_spec(package) is None:
            found[name] = "not installed"
            continue
        with restored(problem.variables()):
            try:
                solve_with(name, problem)
                worst = max((float(np.max(c.violation(), initial=0.0)) for c in problem.constraints), default=0.0)
                found[name] = f"{float(np.sum(problem.objective.value)):.6g}, violation {worst:.0e}"
            except (SolverFailed, ValueError, TypeError) as cause:  # values may be missing after a failure
                found[name] = f"no answer: {shown(str(cause))}"
    return found
