"""The methods that look for a vector with at most k nonzeros: each fills an empty Row.

The value of every vector is computed anew from the data, so that no method is trusted. dccp and CVXPY's nonlinear
solver UNO are optional packages and know nothing of cardinality: they solve the problem with an ℓ1 ball.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .._numerics.checks import Vector
from .._numerics.selection import keep_largest
from .._numerics.threads import quiet
from ..certificates import on_support, renormalize, value
from ..errors import SolverFailed, SolverMissing
from ..relaxations.bounds import valid_radius
from .context import Context
from .rows import Row


def mm_run(context: Context, row: Row, engine: str) -> Row:
    """A d.c. run at the ρ̃ that leaves k nonzeros: Algorithm 1 by an engine, or DC-PCA in closed form.

    The value is that of the best loadings on the support; the KKT residual is that of x before it was renormalized,
    since renormalizing leaves the stationary point of the d.c. program on purpose.
    """
    rho, result = context.run(engine)
    stopped = result.status.name == "STOPPED"  # by the clock, the only callback there is
    status = f"ρ̃ = {rho:.4g}: {'stopped by the time limit' if stopped else result.status.value}"
    count = len(result.support)
    if not count or (stopped and count > context.k):  # renormalizing many variables would take longer still
        return replace(row, status=status, ok=False)
    if result.converged and count != context.k:
        nonzeros = f"{count} nonzero{'s' * (count != 1)}"
        status = f"no ρ̃ found gives k = {context.k}; the nearest run (ρ̃ = {rho:.4g}) has {nonzeros}"
    row = with_vector(context, row, renormalize(context.pencil, result.x), status)
    ok = row.ok and result.converged and count == context.k
    return replace(row, stationarity=result.certificate.stationarity, iterations=result.n_iter, ok=ok)


def solve(context: Context, row: Row) -> Row:
    """solve(pencil, k); the status says what it did."""
    from ..search.solve import solve

    found = solve(context.pencil, context.k, random_state=context.random_state, check_path=False)
    row = with_vector(context, row, found.x, found.method)
    return row if found.certificate is None else replace(row, stationarity=found.certificate.stationarity)


def greedy(context: Context, row: Row) -> Row:
    """Forward selection, the baseline."""
    from ..search.constructions import forward_selection

    x = on_support(context.pencil, forward_selection(context.pencil, context.k))
    return with_vector(context, row, x, "forward selection; no proof")


def rounded(context: Context, row: Row) -> Row:
    """The vector read off the homogeneous SDP's solution."""
    relaxed = context.homogeneous
    status = f"{relaxed.rank_in_words}; leading eigenvector, k largest entries, renormalized"
    return with_vector(context, replace(row, seconds=relaxed.seconds), relaxed.rounded.x, status)


def dccp(context: Context, row: Row) -> Row:
    """dccp on the ℓ1 ball, for A ⪰ 0, every subproblem solved by Clarabel."""
    from dccp.problem import dccp  # pyright: ignore[reportMissingImports]

    def solve(problem: Any) -> None:
        try:
            with quiet:
                dccp(problem, solver="CLARABEL")
        except Exception as cause:  # whatever it raises is its row's status
            raise SolverFailed(f"dccp failed: {cause}") from cause

    return on_l1_ball(context, row, solve, "dccp")


def uno(context: Context, row: Row) -> Row:
    """CVXPY's nonlinear solver UNO on the ℓ1 ball."""
    from ..steps.backend import attempt, installed_solvers

    if "UNO" not in installed_solvers():
        raise SolverMissing("this CVXPY does not know UNO: pip install -U cvxpy unopy.")
    return on_l1_ball(context, row, lambda p: attempt(p, "UNO", {"nlp": True, "logger": "SILENT"}), "UNO")


def on_l1_ball(context: Context, row: Row, solve: Callable[[Any], object], name: str) -> Row:
    """A general solver's answer on the ℓ1 ball, which holds every k-sparse vector: its k largest entries (Eq:approx).

    The problem is in numbers of size one; the solver starts at the leading eigenvector.
    """
    from ..models import l1_ball
    from ..steps.scaling import Scaling

    pencil = context.pencil
    scaling, (A, B) = Scaling.of_pencil(pencil), pencil.dense()
    unit = float(np.max(scaling.u))  # of ‖x‖₁ and the radius
    radius = valid_radius(pencil, context.k) / unit
    problem = l1_ball(scaling.objective_form(A), scaling.form(B), radius, scaling.u / unit)
    x: Any = problem.var_dict["x"]
    x.value = pencil.leading_vector / scaling.u
    solve(problem)
    answer: Any = x.value
    found = np.zeros(pencil.n) if answer is None else scaling.vector(np.asarray(answer, dtype=np.float64))
    if not np.all(np.isfinite(found)) or not found.any():
        raise SolverFailed(f"{name} returned no vector.")
    status = "on the ℓ1 ball of radius √(k/λmin(B)), k largest entries, renormalized; no proof"
    return with_vector(context, row, renormalize(pencil, k_largest(context, found)), status)


def exact(context: Context, row: Row) -> Row:
    """The best vector of branch and bound."""
    found = context.exact
    status = f"{found.status.value} ({found.nodes} nodes, {found.supports} supports)"
    return with_vector(context, replace(row, seconds=found.seconds, ok=found.optimal), found.x, status)


def k_largest(context: Context, x: Vector) -> Vector:
    """x with all but its k largest entries, measured by |xᵢ|√Bᵢᵢ, set to zero."""
    return keep_largest(x, context.k, np.abs(x) * context.pencil.B_roots)


def with_vector(context: Context, row: Row, x: Vector, status: str) -> Row:
    """The row of a vector; with more than k nonzeros it says nothing about k."""
    pencil, support = context.pencil, np.flatnonzero(x)
    count, valid = len(support), len(support) <= context.k
    if not valid:
        status = f"has {count} nonzeros, more than {context.k}: not a lower value. {status}"
    row = replace(row, value=value(pencil, np.asarray(x)), status=status, valid=valid, ok=row.ok and valid)
    return replace(row, cardinality=count, support=tuple(pencil.name(int(i)) for i in support))
