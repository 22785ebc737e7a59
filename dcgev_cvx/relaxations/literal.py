"""The SDP of Section 3 and its dual (Appendix A) exactly as printed; both give λmax(A, B), whatever the radius.

They are here because the paper prints them, and because running them is the quickest way to see that x and X are tied
by X ⪰ xxᵀ alone, which x = 0 always satisfies.
"""

from __future__ import annotations

import math
from time import perf_counter

import cvxpy as cp
import numpy as np

from .. import models
from .._numerics.checks import Matrix, as_number
from ..errors import SolverFailed
from ..pencils import Pencil
from ..steps.backend import Backend, Solved
from .bounds import dense_bound
from .relaxation import Answer, Dimacs, Relaxation
from .solving import ScaledData, backend_for, check_sdp, matrix_of, number_of, solve_relaxation, useful_radius


def literal_sdp(
    pencil: Pencil,
    radius: float,
    *,
    solver: Backend | str | None = None,
    time_limit: float | None = None,
    force: bool = False,
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
        Seconds for the solver.
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
    begin = perf_counter()
    radius, data = prepared(pencil, radius, time_limit, force)
    scaled_radius = useful_radius(pencil, radius) / data.unit
    problem = models.literal_sdp(data.A, data.B, scaled_radius, data.d)
    done = solve_relaxation(problem, backend_for(pencil.n, solver), time_limit)
    schur, trace, norm = problem.constraints
    slack, n = matrix_of(schur.dual_value, pencil.n + 1, done.solver), pencil.n
    X, mu = matrix_of(problem.var_dict["X"].value, n, done.solver), number_of(trace.dual_value)
    dual = mu + number_of(norm.dual_value) * scaled_radius + float(slack[n, n])
    answer = judged(data, X, slack[:n, :n], mu, dual, done)
    original = models.literal_sdp(pencil.dense()[0], pencil.B, radius)
    return concluded("literal SDP", pencil, original, answer, radius, begin)


def literal_dual(
    pencil: Pencil,
    radius: float,
    *,
    solver: Backend | str | None = None,
    time_limit: float | None = None,
    force: bool = False,
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
        Seconds for the solver.
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
    begin = perf_counter()
    radius, data = prepared(pencil, radius, time_limit, force)
    problem = models.literal_dual(data.A, data.B, useful_radius(pencil, radius) / data.unit, data.d)
    done = solve_relaxation(problem, backend_for(pencil.n, solver), time_limit)
    X = matrix_of(problem.constraints[0].dual_value, pencil.n + 1, done.solver)[: pencil.n, : pencil.n]
    mu, value = number_of(problem.var_dict["μ"].value), number_of(problem.value)
    if math.isnan(mu + value):
        raise SolverFailed(f"{done.solver} reported success but returned no number.")
    answer = judged(data, X, mu * data.B - data.A, mu, value, done)
    original = models.literal_dual(pencil.dense()[0], pencil.B, radius)
    return concluded("literal dual", pencil, original, answer, radius, begin)


def prepared(pencil: Pencil, radius: float, time_limit: float | None, force: bool) -> tuple[float, ScaledData]:
    """The checked radius and the data that the solver is given."""
    check_sdp(pencil, time_limit, force)
    return as_number(radius, "radius", strict=True), ScaledData.of(pencil, np.ones(pencil.n))


def judged(data: ScaledData, X: Matrix, S: Matrix, mu: float, dual: float, done: Solved) -> Answer:
    """The pair (X, S) with what it misses of tr(XB) ≤ 1 and A + S = μB; its dual matrix U is 0."""
    value = float(np.sum(data.A * X))
    dimacs = Dimacs.of(
        data.A,
        X,
        S,
        objectives=(value, dual),
        violation=max(0.0, float(np.sum(data.B * X)) - 1.0),
        residual=data.A + S - mu * data.B,
    )
    scaling = data.scaling
    return Answer(scaling.matrix(X), np.zeros_like(X), 0.0, scaling.o * value, dimacs, done)


def concluded(
    name: str, pencil: Pencil, problem: cp.Problem, answer: Answer, radius: float, begin: float
) -> Relaxation:
    """The record of a literal relaxation: its bound is λmax(A, B)₊, valid for every k."""
    n = pencil.n
    k = int(min(float(n), max(1.0, radius)))
    bound = max(0.0, dense_bound(pencil))
    return answer.relaxation(name, pencil, problem, upper_bound=bound, k=k, valid_k=n, begin=begin)
