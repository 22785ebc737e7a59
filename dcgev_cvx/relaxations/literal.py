"""The SDP of Section 3 and its dual (Appendix A) exactly as printed; both give λmax(A, B), whatever the radius.

They are here because the paper prints them, and because running them is the quickest way to see that x and X are tied
by X ⪰ xxᵀ alone, which x = 0 always satisfies.
"""

import math

import cvxpy as cp
import numpy as np

from .. import models
from .._numerics.checks import Matrix, as_number
from ..budgets import Budget
from ..errors import SolverFailed
from ..pencils import Pencil
from .bounds import dense_bound
from .relaxation import Relaxation
from .solving import (
    Limit,
    Reader,
    ScaledData,
    SdpModel,
    SolverChoice,
    from_primal,
    matrix_of,
    solved_sdp,
    solver_number,
)


def literal_sdp(
    pencil: Pencil, radius: float, *, solver: SolverChoice = None, time_limit: float | None = None, force: bool = False
) -> Relaxation:
    """Solve max tr(XA) s.t. tr(XB) ≤ 1, ‖x‖₁ ≤ radius, X ⪰ xxᵀ, as printed (Eq:Sparse-sdp-GEV).

    Its value is max(0, λmax(A, B)) for every radius > 0: (X, x) = (vvᵀ, 0) is feasible, v the leading
    eigenvector. The ℓ1 constraint does not touch X; 1ᵀ|X|1 ≤ radius² does (see `entrywise_sdp`).

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B), n ≤ 250 unless forced.
    radius : float
        The ℓ1 budget of x, > 0; the value does not depend on it.
    solver : str or Backend, optional
        By default Clarabel up to n = 30, SCS beyond.
    time_limit : float, optional
        Seconds for Clarabel or SCS; other solvers are not limited.
    force : bool
        Build the SDP beyond n = 250.

    Returns
    -------
    Relaxation
        The value, the bound λmax(A, B)₊ and a rounded vector with ⌊radius⌋ nonzeros.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations import literal_sdp
    >>> pencil = datasets.pitprops()
    >>> abs(literal_sdp(pencil, 0.1).value - pencil.lambda_max) < 1e-5
    True
    """
    data = ScaledData.of(pencil, time_limit, force)
    return solved_literally("literal SDP", data, radius, solver, models.literal_sdp, from_primal)


def literal_dual(
    pencil: Pencil, radius: float, *, solver: SolverChoice = None, time_limit: float | None = None, force: bool = False
) -> Relaxation:
    """Solve min t + β·radius + μ s.t. [[μB − A, −r/2], [−rᵀ/2, t]] ⪰ 0, |r| ≤ β (Eq:appendix-dual).

    (r, β, t, μ) = (0, 0, 0, max(0, λmax(A, B))) is feasible: with the primal's (vvᵀ, 0) this proves that the literal
    SDP says nothing of sparsity. X is the multiplier of the matrix inequality.

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B), n ≤ 250 unless forced.
    radius : float
        The ℓ1 budget of x in the primal, > 0; the value does not depend on it.
    solver : str or Backend, optional
        By default Clarabel up to n = 30, SCS beyond.
    time_limit : float, optional
        Seconds for Clarabel or SCS; other solvers are not limited.
    force : bool
        Build the SDP beyond n = 250.

    Returns
    -------
    Relaxation
        The value, the bound λmax(A, B)₊ and a rounded vector with ⌊radius⌋ nonzeros.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations import literal_dual
    >>> pencil = datasets.pitprops()
    >>> abs(literal_dual(pencil, 0.1).value - pencil.lambda_max) < 1e-5
    True
    """
    data = ScaledData.of(pencil, time_limit, force)
    return solved_literally("literal dual", data, radius, solver, models.literal_dual, from_dual)


def from_dual(problem: cp.Problem, data: ScaledData, solver: str) -> tuple[Matrix, Matrix, float]:
    """X is the multiplier of the matrix inequality, μ a variable, and S = μB − A."""
    n = len(data.A)
    X, mu = matrix_of(problem.constraints[0].dual_value, n + 1, solver), solver_number(problem.var_dict["μ"].value)
    if math.isnan(mu):
        raise SolverFailed(f"{solver} reported success but returned no number.")
    return X[:n, :n], mu * data.B - data.A, mu


def solved_literally(
    name: str, data: ScaledData, radius: float, solver: SolverChoice, model: SdpModel, read: Reader
) -> Relaxation:
    """Solve one of the two; U is 0, and the bound λmax(A, B)₊ is valid for every k."""
    radius, n = as_number(radius, "radius", strict=True), data.pencil.n
    return solved_sdp(
        name,
        data,
        solver,
        model,
        (float(data.radius(np.array(radius))), radius),
        lambda _, __: max(0.0, dense_bound(data.pencil)),
        Limit(np.zeros(n, dtype=np.intp)),
        rounding=Budget.whole(n, int(min(float(n), max(1.0, radius)))),
        valid_for=Budget.whole(n, n),
        read=read,
    )
