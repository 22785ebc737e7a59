"""Players that are asked only if they are installed: dccp, and CVXPY's nonlinear programs with UNO (Eq:approx).

They solve a continuous problem, the ℓ1 ball with a radius that no k-sparse vector leaves, and their answer is cut to
its k largest entries: a fair use of general tools, which know nothing of cardinality. Whatever they raise
becomes the status of their row.
"""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from typing import Any

import numpy as np

from .._numerics.checks import Vector
from .._numerics.spectra import power_of_two
from ..errors import SolverFailed, SolverMissing
from ..pencils import Pencil
from ..relaxations.bounds import valid_radius

GUESTS = {"dccp": "dccp", "uno": "unopy"}
"""Method → the package it needs."""

LIMIT = 300
"""The largest n they are asked for."""


def absent(name: str) -> str | None:
    """Why a guest does not play, or None.

    The reason holds the command that installs the package.
    """
    return (
        None
        if find_spec(GUESTS[name]) is not None
        else f"left out: needs {GUESTS[name]} (pip install {GUESTS[name]})"
    )


def ball_problem(pencil: Pencil, k: int, *, root: bool) -> tuple[Any, Any]:
    """max xᵀAx s.t. ‖x‖_B ≤ 1, ‖x‖₁ ≤ √(k/λmin(B)), from the leading eigenvector (Eq:approx with a valid radius).

    root=True writes the objective as ‖A^½x‖², the convex form that dccp wants; it needs A ⪰ 0.

    Returns (problem, x), the start already in x.value. Units: A and B are divided by powers of two, so that the
    tools' absolute tolerances mean the same for every pencil.
    """
    import cvxpy as cp

    A, B = pencil.dense()
    a, b = power_of_two(pencil.A_scale), power_of_two(pencil.B_scale)
    x = cp.Variable(pencil.n, name="x")
    x.value = np.sqrt(b) * pencil.leading_vector
    factor = np.linalg.cholesky(B / b).T
    radius = float(np.sqrt(b)) * valid_radius(pencil, k)
    objective: Any = cp.sum_squares(square_root(A / a) @ x) if root else cp.quad_form(x, cp.Constant(A / a))
    limits: list[Any] = [cp.sum_squares(factor @ x) <= 1, cp.norm1(x) <= radius]
    return cp.Problem(cp.Maximize(objective), limits), x


def square_root(A: Any) -> Any:
    """A^½ of a positive semidefinite matrix.

    Negative eigenvalues, which are rounding in a positive semidefinite A, count as zero.
    """
    values, vectors = np.linalg.eigh(A)
    return (np.sqrt(np.maximum(values, 0.0)) * vectors).T


def by_dccp(pencil: Pencil, k: int) -> Vector:
    """dccp's answer, every subproblem solved by Clarabel."""
    from dccp.problem import dccp  # pyright: ignore[reportMissingImports]

    problem, x = ball_problem(pencil, k, root=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            dccp(problem, solver="CLARABEL")
    except Exception as cause:  # whatever it raises is its row's status
        raise SolverFailed(f"dccp failed: {cause}") from cause
    return answer(x, "dccp")


def by_uno(pencil: Pencil, k: int) -> Vector:
    """The answer of CVXPY's nlp=True with UNO."""
    from ..steps.backend import attempt, installed_solvers

    if "UNO" not in installed_solvers():
        raise SolverMissing("this CVXPY does not know UNO: pip install -U cvxpy unopy.")
    problem, x = ball_problem(pencil, k, root=False)
    attempt(problem, "UNO", {"nlp": True, "logger": "SILENT"})
    return answer(x, "UNO")


def answer(x: Any, who: str) -> Vector:
    """The variable's value, if it is a vector that is not zero.

    Zero is refused too: it has no direction to renormalise.
    """
    found = None if x.value is None else np.asarray(x.value, dtype=np.float64)
    if found is None or not np.all(np.isfinite(found)) or not found.any():
        raise SolverFailed(f"{who} returned no vector.")
    return found
