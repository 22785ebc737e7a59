"""dccp, and CVXPY's nonlinear solver UNO, on any problem written in CVXPY; both are optional packages."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from .._numerics.checks import shown
from ..errors import SolverFailed


def reached_by_others(problem: Any) -> dict[str, str]:
    """What dccp and UNO reach on any problem, from the values of its variables: f and the largest violation.

    Parameters
    ----------
    problem : cp.Problem
        The problem; its variables keep their values.

    Returns
    -------
    dict of str to str
        By package: the objective and the largest violation of a constraint, or why there are none.

    Examples
    --------
    >>> import cvxpy as cp
    >>> from dcgev_cvx.comparison.other_solvers import reached_by_others
    >>> x = cp.Variable(2, value=[0.2, 0.1])
    >>> sorted(reached_by_others(cp.Problem(cp.Maximize(cp.norm(x)), [cp.abs(x) <= 1])))
    ['UNO', 'dccp']
    """
    from ..steps.backend import foreign
    from ..dc.tangents import restored

    options = {
        "dccp": {"method": "dccp", "solver": "CLARABEL"},
        "UNO": {"nlp": True, "solver": "UNO", "logger": "SILENT"},
    }
    found: dict[str, str] = {}
    for name, module in (("dccp", "dccp"), ("UNO", "unopy")):
        if find_spec(module) is None:
            found[name] = "not installed"
            continue
        import_module(module)  # dccp registers its method
        with restored(problem.variables()):
            try:
                foreign(problem, **options[name])
                worst = max((float(np.max(c.violation(), initial=0.0)) for c in problem.constraints), default=0.0)
                found[name] = f"{float(np.sum(problem.objective.value)):.6g}, violation {worst:.0e}"
            except (SolverFailed, ValueError, TypeError) as cause:  # values may be missing after a failure
                found[name] = f"no answer: {shown(str(cause))}"
    return found
