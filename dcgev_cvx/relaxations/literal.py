"""The SDP of Section 3 and its dual (Appendix A), exactly as printed; both say λmax(A, B), whatever the radius.

They are here because the paper prints them, and because running them is the quickest way to see that
x and X are tied by X ⪰ xxᵀ alone, which x = 0 always satisfies.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import cvxpy as cp
import numpy as np

from .._numerics.checks import Matrix, as_number
from ..errors import SolverFailed
from ..pencils import Pencil
from ..steps.backend import Backend, Solved
from .base import (
    Answer,
    Relaxation,
    backend_for,
    matrix_of,
    number_of,
    numbers_of,
    refuse_sdp,
    relaxation_of,
    solve_relaxation,
    useful_radius,
)
from .bounds import Units, dense_bound


def literal_sdp(
    pencil: Pencil,
    radius: float,
    *,
    solver: Backend | str | None = None,
    time_limit: float | None = None,
    force: bool = False,
) -> Relaxation:
    """max tr(XA) s.t. tr(XB) ≤ 1, ‖x‖₁ ≤ radius, X ⪰ xxᵀ, as printed (Eq:Sparse-sdp-GEV).

    Its value is max(0, λmax(A, B)) for every radius > 0: (X, x) = (vvᵀ, 0) is feasible, v the leading
    eigenvector. The ℓ1 constraint does not touch X; only 1ᵀ|X|1 ≤ radius² does (see `entrywise_sdp`).

    Parameters
    ----------
    radius
        The ℓ1 budget of x, > 0; the value does not depend on it.
    solver, time_limit, force
        As in `entrywise_sdp`.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations import literal_sdp
    >>> pencil = datasets.pitprops()
    >>> abs(literal_sdp(pencil, 0.1).value - pencil.lambda_max) < 1e-5
    True
    """
    begin = perf_counter()
    refuse_sdp(pencil, time_limit, force)
    n, units, budget = pencil.n, Units.of(pencil), radius_of(pencil, radius)
    # Z = [[X, x], [xᵀ, 1]] ⪰ 0 is X ⪰ xxᵀ by Schur's complement
    Z = cp.Variable((n + 1, n + 1), symmetric=True, name="Z")
    X, x = Z[:n, :n], Z[:n, n]
    psd = Z >> 0
    trace: Any = cp.trace(cp.Constant(units.B, name="B") @ X) <= 1
    norm = cp.Constant(1.0 / units.s, name="1/s") @ cp.abs(x) <= budget
    objective = cp.Maximize(cp.trace(cp.Constant(units.A, name="A") @ X))
    problem = cp.Problem(objective, [psd, trace, norm, Z[n, n] == 1])
    solved = solve_relaxation(problem, backend_for(n, solver), time_limit)
    slack = matrix_of(psd.dual_value, n + 1, solved.solver)
    dual = number_of(trace) + number_of(norm) * scalar(budget.value, solved.solver) + float(slack[n, n])
    Xhat = matrix_of(Z.value, n + 1, solved.solver)[:n, :n]
    answer = judged(units, Xhat, slack[:n, :n], number_of(trace), dual, solved)
    return concluded("literal SDP", pencil, units, answer, problem, radius, begin)


def literal_dual(
    pencil: Pencil,
    radius: float,
    *,
    solver: Backend | str | None = None,
    time_limit: float | None = None,
    force: bool = False,
) -> Relaxation:
    """min t + β·radius + μ s.t. [[μB − A, −r/2], [−rᵀ/2, t]] ⪰ 0, |r| ≤ β (Eq:appendix-dual).

    (r, β, t, μ) = (0, 0, 0, max(0, λmax(A, B))) is feasible: with the primal's vvᵀ this is the whole
    proof that the literal SDP says nothing of sparsity. X is the multiplier of the matrix inequality.

    Its optimal r and β vanish: the ℓ1 budget has no price, which is the same statement seen from the dual.
    Parameters and errors are those of `literal_sdp`.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.relaxations import literal_dual
    >>> pencil = datasets.pitprops()
    >>> abs(literal_dual(pencil, 0.1).value - pencil.lambda_max) < 1e-5
    True
    """
    begin = perf_counter()
    refuse_sdp(pencil, time_limit, force)
    n, units, budget = pencil.n, Units.of(pencil), radius_of(pencil, radius)
    r, t = cp.Variable((n, 1), name="r"), cp.Variable((1, 1), name="t")
    beta, mu = cp.Variable(nonneg=True, name="beta"), cp.Variable(nonneg=True, name="mu")
    corner = mu * cp.Constant(units.B, name="B") - cp.Constant(units.A, name="A")
    block = cp.bmat([[corner, -0.5 * r], [-0.5 * r.T, t]])
    psd = 0.5 * (block + block.T) >> 0
    box = cp.abs(r[:, 0]) <= beta * cp.Constant(1.0 / units.s, name="1/s")
    problem = cp.Problem(cp.Minimize(t[0, 0] + budget * beta + mu), [psd, box])
    solved = solve_relaxation(problem, backend_for(n, solver), time_limit)
    Xhat = matrix_of(psd.dual_value, n + 1, solved.solver)[:n, :n]
    multiplier, value = scalar(mu.value, solved.solver), scalar(problem.value, solved.solver)
    answer = judged(units, Xhat, multiplier * units.B - units.A, multiplier, value, solved)
    return concluded("literal dual", pencil, units, answer, problem, radius, begin)


def radius_of(pencil: Pencil, radius: float) -> cp.Parameter:
    """The ℓ1 budget as a parameter of the problem, cut where it is slack."""
    value = useful_radius(pencil, as_number(radius, "radius", strict=True))
    return cp.Parameter(nonneg=True, name="radius", value=value)


def scalar(raw: Any, solver: str) -> float:
    """A solver's number, or SolverFailed."""
    array = numbers_of(raw)
    if array.size != 1:
        raise SolverFailed(f"{solver} reported success but returned no number.")
    return float(array.item())


def judged(units: Units, X: Matrix, S: Matrix, mu: float, dual: float, solved: Solved) -> Answer:
    """The pair (X, S) with what it misses: tr(XB) ≤ 1 and A + S = μB.

    The block −r/2 and the corner t of the multiplier are not looked at: the bound needs neither.
    """
    return Answer(
        X=X,
        S=S,
        primal=float(np.sum(units.A * X)),
        dual=dual,
        violation=max(0.0, float(np.sum(units.B * X)) - 1.0),
        residual=units.A + S - mu * units.B,
        solved=solved,
    )


def concluded(
    name: str,
    pencil: Pencil,
    units: Units,
    answer: Answer,
    problem: cp.Problem,
    radius: float,
    begin: float,
) -> Relaxation:
    """A literal relaxation's record: its dual matrix is 0, its bound λmax(A, B)₊, valid for every k.

    The rounded vector has as many nonzeros as the radius, taken as the paper's k, has whole units.
    """
    n = pencil.n
    return relaxation_of(
        name,
        pencil,
        units,
        answer,
        problem,
        upper_bound=max(0.0, dense_bound(pencil)),
        U=np.zeros((n, n)),
        b=0.0,
        k=int(min(float(n), max(1.0, float(radius)))),
        valid_k=n,
        begin=begin,
    )
