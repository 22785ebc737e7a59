"""dccp, and CVXPY's nonlinear solver UNO, on the problem with an ℓ1 ball (Eq:approx); both are optional packages.

They are general tools, which know nothing of cardinality: their problem has an ℓ1 radius that every k-sparse vector
respects, and `lower_methods` keeps the k largest entries of their answer. Whatever they raise becomes the status of
their row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._numerics.checks import Vector
from .._numerics.threads import quiet
from ..errors import SolverFailed, SolverMissing
from ..pencils import Pencil
from ..relaxations.bounds import valid_radius


def by_dccp(pencil: Pencil, k: int) -> Vector:
    """dccp's answer, every subproblem solved by Clarabel; it needs A ⪰ 0."""
    from dccp.problem import dccp  # pyright: ignore[reportMissingImports]

    def solve(problem: Any) -> None:
        try:
            with quiet:
                dccp(problem, solver="CLARABEL")
        except Exception as cause:  # whatever it raises is its row's status
            raise SolverFailed(f"dccp failed: {cause}") from cause

    return solved(pencil, k, solve, "dccp")


def by_uno(pencil: Pencil, k: int) -> Vector:
    """The answer of CVXPY's nlp=True with UNO."""
    from ..steps.backend import attempt, installed_solvers

    if "UNO" not in installed_solvers():
        raise SolverMissing("this CVXPY does not know UNO: pip install -U cvxpy unopy.")
    return solved(pencil, k, lambda problem: attempt(problem, "UNO", {"nlp": True, "logger": "SILENT"}), "UNO")


def solved(pencil: Pencil, k: int, solve: Callable[[Any], object], name: str) -> Vector:
    """x of max xᵀAx s.t. xᵀBx ≤ 1, ‖x‖₁ ≤ √(k/λmin(B)), in numbers of size one and from the leading eigenvector."""
    from ..models import l1_ball
    from ..steps.scaling import Scaling

    scaling, (A, B) = Scaling.of_pencil(pencil), pencil.dense()
    unit = float(np.max(scaling.u))  # of ‖x‖₁ and the radius
    radius = valid_radius(pencil, k) / unit
    problem = l1_ball(scaling.objective_form(A), scaling.form(B), radius, scaling.u / unit)
    x: Any = problem.var_dict["x"]
    x.value = pencil.leading_vector / scaling.u
    solve(problem)
    answer: Any = x.value
    found = np.zeros(pencil.n) if answer is None else scaling.vector(np.asarray(answer, dtype=np.float64))
    if not np.all(np.isfinite(found)) or not found.any():
        raise SolverFailed(f"{name} returned no vector.")
    return found
