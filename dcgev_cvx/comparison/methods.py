"""The methods of a comparison: each fills an empty ComparisonRow from a Context, with a vector or with an upper bound.

The value of every vector is computed anew from the data, and every bound is proved from the data and a dual matrix:
no method and no solver is trusted. dccp and CVXPY's nonlinear solver UNO are optional packages and know nothing of
cardinality: they solve the problem with an ℓ1 ball.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from .._numerics.checks import Vector
from .._numerics.deadline import Deadline
from .._numerics.selection import keep_largest, parameter_for_count
from .._numerics.text_tables import count
from ..budgets import Budget
from ..certificates import on_support, renormalize, value
from ..errors import SolverFailed
from ..pencils import Pencil
from ..programs import smallest_tau
from ..relaxations.bounds import cheap_bound, radius_for
from .rows import ComparisonRow, counts_of

if TYPE_CHECKING:
    from ..exact import ExactSolution
    from ..mm import MMResult
    from ..relaxations import Relaxation

MM_STEPS = 1000
"""Most MM steps of one run: pit props needs 26, and a run that takes more is shown as not converged."""
RHO_RUNS = 24
"""Most runs of the bisection on ρ̃: down to 2⁻²⁴ of the largest ρ̃, where nothing is penalised."""


@dataclass(frozen=True)
class Context:
    """One pencil, one k, one deadline, and what several methods share, computed by the first that needs it."""

    pencil: Pencil
    budget: Budget
    deadline: Deadline
    random_state: int
    force: bool

    @property
    def total(self) -> int:
        """The nonzeros that a vector may have in all views together."""
        return self.budget.total

    @property
    def time_limit(self) -> float | None:
        """Seconds for one of several methods: half of what is left, so that a slow method leaves time to the others.

        At least 0.05 s, since some solvers do not accept a time limit of zero; None without a limit.
        """
        left = self.deadline.left
        return None if left is None else max(0.05, 0.5 * left)

    @property
    def share(self) -> Deadline:
        """The same as a deadline, for methods that look at one."""
        return Deadline.after(self.time_limit, "time_limit")

    @cached_property
    def psd(self) -> bool:
        """Is A ⪰ 0?"""
        return smallest_tau(self.pencil, "identity") == 0.0

    @cached_property
    def homogeneous(self) -> Relaxation:
        """The homogeneous SDP, whose bound and whose rounded vector are two rows."""
        from ..relaxations import homogeneous_sdp

        return homogeneous_sdp(self.pencil, self.budget, time_limit=self.time_limit, force=self.force)

    @cached_property
    def exact(self) -> ExactSolution:
        """Branch and bound, with all the time that remains: it runs last."""
        from ..exact import best_subset

        return best_subset(self.pencil, self.budget, time_limit=self.deadline.left)

    @cached_property
    def best_run(self) -> tuple[float, str, MMResult | None]:
        """(ρ̃, engine, run) where Algorithm 1 ends with k nonzeros, or with the nearest number below k.

        The engine is the fastest: DC-PCA's closed form where B = I and A ⪰ 0, else the native steps.
        """
        engine = "closed" if self.pencil.B is None and self.psd else "native"
        rho, run = rho_for(self.pencil, self.total, engine, self.share)
        return rho, engine, run


# vectors


def dc_row(context: Context, row: ComparisonRow, engine: str) -> ComparisonRow:
    """A d.c. run at the ρ̃ that leaves k nonzeros: Algorithm 1 by an engine, or DC-PCA in closed form.

    The value is that of the best loadings on the support; the KKT residual is that of x before it was renormalized,
    since renormalizing leaves the stationary point of the d.c. program on purpose.
    """
    rho, searched, result = context.best_run
    if result is None or searched != engine:
        result = mm_run(context.pencil, rho, engine, context.share)
    stopped = result.status.name == "STOPPED"  # by the clock, the only callback there is
    status = f"ρ̃ = {rho:.4g}: {'stopped by the time limit' if stopped else result.status.value}"
    found = len(result.support)
    if not found or (stopped and found > context.total):  # renormalizing many variables would take longer still
        return replace(row, status=status, ok=False)
    if result.converged and found != context.total:
        nearest = f"the nearest run (ρ̃ = {rho:.4g}) has {count(found, 'nonzero')}"
        status = f"no ρ̃ found gives k = {context.total}; {nearest}"
    row = with_vector(context, row, renormalize(context.pencil, result.x), status)
    ok = row.ok and result.converged and found == context.total
    return replace(row, stationarity=result.certificate.stationarity, iterations=result.n_iter, ok=ok)


def mm_run(pencil: Pencil, rho: float, engine: str, deadline: Deadline) -> MMResult:
    """Algorithm 1 with the metric shift, or DC-PCA in closed form, until it converges or the deadline has passed."""
    from ..algorithms import dc_pca, sparse_gev
    from ..mm import Stop

    def late(_: object) -> bool:
        return deadline.passed

    stop = Stop(max_iter=MM_STEPS)
    if engine == "closed":
        return dc_pca(pencil, rho=rho, stop=stop, callback=late)
    return sparse_gev(pencil, rho=rho, shift="metric", engine=cast("Any", engine), stop=stop, callback=late)


def rho_for(pencil: Pencil, k: int, engine: str, deadline: Deadline) -> tuple[float, MMResult | None]:
    """Bisection on ρ̃ for a converged run with k nonzeros, else with the nearest number below k, else None.

    The number of nonzeros falls as ρ̃ grows, not always by one: not every k is reached from the leading eigenvector.
    """
    from ..search.path import rho_max

    top = rho_max(pencil)
    runs: dict[float, MMResult] = {}

    def nonzeros(rho: float) -> int | None:
        if deadline.passed:
            return None
        runs[rho] = mm_run(pencil, rho, engine, deadline)
        found = len(runs[rho].support)
        # a run that is not finished may pass k on its way to fewer nonzeros
        return found if runs[rho].converged or found != k else k - 1

    if pencil.lambda_max > 0.0:  # else every run ends at x = 0
        parameter_for_count(nonzeros, k, 0.0, top, tries=RHO_RUNS, width=1e-4)
    below = [rho for rho, run in runs.items() if run.converged and 0 < len(run.support) <= k]
    best = max(below, key=lambda rho: len(runs[rho].support), default=None)
    return (top, None) if best is None else (best, runs[best])


def solve_row(context: Context, row: ComparisonRow) -> ComparisonRow:
    """solve(pencil, k), whose status says what it did."""
    from ..search.solve import solve

    found = solve(context.pencil, counts_of(context.budget), random_state=context.random_state, check_path=False)
    row = with_vector(context, row, found.x, found.method)
    return row if found.certificate is None else replace(row, stationarity=found.certificate.stationarity)


def greedy_row(context: Context, row: ComparisonRow) -> ComparisonRow:
    """Forward selection, the baseline."""
    from ..search.starts import forward_selection

    x = on_support(context.pencil, forward_selection(context.pencil, context.total))
    return with_vector(context, row, x, "forward selection; no proof")


def rounded_row(context: Context, row: ComparisonRow) -> ComparisonRow:
    """The vector read off the homogeneous SDP's solution."""
    relaxed = context.homogeneous
    status = f"{relaxed.rank_in_words}; leading eigenvector, k largest entries, renormalized"
    return with_vector(context, replace(row, seconds=relaxed.seconds), relaxed.rounded.x, status)


def l1_ball_row(context: Context, row: ComparisonRow, solver: str) -> ComparisonRow:
    """dccp's or UNO's answer on the ℓ1 ball, which holds every k-sparse vector: its k largest entries (Eq:approx).

    The problem is in numbers of size one; the solver starts at the leading eigenvector.
    """
    from ..models import l1_ball
    from ..steps.scaling import Scaling
    from .other_solvers import solve_with

    pencil = context.pencil
    scaling, (A, B) = Scaling.of_pencil(pencil), pencil.dense()
    unit = float(np.max(scaling.u))  # of ‖x‖₁ and the radius
    radius = radius_for(pencil, context.total, "valid") / unit
    problem = l1_ball(scaling.objective_form(A), scaling.form(B), radius, scaling.u / unit)
    x: Any = problem.var_dict["x"]
    x.value = pencil.leading_vector / scaling.u
    solve_with(solver, problem)
    answer: Any = x.value
    found = np.zeros(pencil.n) if answer is None else scaling.vector(np.asarray(answer, dtype=np.float64))
    if not np.all(np.isfinite(found)) or not found.any():
        raise SolverFailed(f"{solver} returned no vector.")
    largest = keep_largest(found, context.total, np.abs(found) * pencil.B_roots)
    status = "on the ℓ1 ball of radius √(k/λmin(B)), k largest entries, renormalized; no proof"
    return with_vector(context, row, renormalize(pencil, largest), status)


def rival_row(context: Context, row: ComparisonRow, name: str, passes: str = "") -> ComparisonRow:
    """A rival of the paper, or DC-PCA brought to k as the rivals are."""
    from .. import rivals

    options = {"passes": passes} if passes else {}
    found = getattr(rivals, name)(context.pencil, context.budget.total, **options)
    return with_vector(context, row, found.x, f"{found.method}; no proof")


def exact_row(context: Context, row: ComparisonRow) -> ComparisonRow:
    """The best vector of branch and bound."""
    found = context.exact
    status = f"{found.status.value} ({found.nodes} nodes, {found.supports} supports)"
    return with_vector(context, replace(row, seconds=found.seconds, ok=found.optimal), found.x, status)


def with_vector(context: Context, row: ComparisonRow, x: Vector, status: str) -> ComparisonRow:
    """The row of a vector; with more nonzeros than k, in all or in a view, it says nothing about k."""
    pencil, support = context.pencil, np.flatnonzero(x)
    valid = context.budget.admits(support)
    if not valid:
        counts = [int(np.count_nonzero(x[group])) for group in context.budget.groups]
        found = f"{' + '.join(map(str, counts))} nonzeros, more than {context.budget}"
        status = f"has {found}: not a lower value. {status}"
    row = replace(row, value=value(pencil, np.asarray(x)), status=status, valid=valid, ok=row.ok and valid)
    return replace(row, cardinality=len(support), support=tuple(pencil.name(int(i)) for i in support))


# bounds


def literal_row(context: Context, row: ComparisonRow) -> ComparisonRow:
    """The SDP of Section 3 as printed, whose bound is λmax(A, B) for every k."""
    from ..relaxations import literal_sdp

    relaxed = literal_sdp(context.pencil, float(context.total), time_limit=context.time_limit, force=context.force)
    always = "λmax(A,B)" if context.pencil.lambda_max >= 0.0 else "0, as λmax(A,B) < 0 and X = 0 is allowed"
    return with_bound(context, row, relaxed, f"valid, and always {always}: it ignores k")


def entrywise_row(context: Context, row: ComparisonRow, budget: Literal["paper", "valid"]) -> ComparisonRow:
    """The entrywise SDP with the paper's budget k², or with k/λmin(B), which is valid for every B.

    The first is loose for B = I and may be too small for other B; the second is loose where B is ill-conditioned.
    """
    from ..relaxations import entrywise_sdp

    radius = radius_for(context.pencil, context.budget, budget)
    limit, force = context.time_limit, context.force
    relaxed = entrywise_sdp(context.pencil, radius, k=context.budget, time_limit=limit, force=force)
    if budget == "valid":
        squares = " + ".join(f"{r * r:.4g}" for r in (radius if isinstance(radius, tuple) else (radius,)))
        return with_bound(context, row, relaxed, f"valid, radius² = {squares}")
    asked = context.budget
    wrong = "not a valid bound: k·λmin(B) < 1, so ‖x‖₁ ≤ k can cut off the optimum"
    return with_bound(context, row, relaxed, "valid here, k·λmin(B) ≥ 1" if relaxed.valid_for.covers(asked) else wrong)


def homogeneous_row(context: Context, row: ComparisonRow) -> ComparisonRow:
    """The homogeneous SDP."""
    return with_bound(context, row, context.homogeneous, f"valid for every B; {context.homogeneous.rank_in_words}")


def pairwise_row(context: Context, row: ComparisonRow) -> ComparisonRow:
    """The pairwise SDP, which is at least as tight as the homogeneous one."""
    from ..relaxations import pairwise_sdp

    relaxed = pairwise_sdp(context.pencil, context.budget, time_limit=context.time_limit, force=context.force)
    return with_bound(context, row, relaxed, f"valid for every B; {relaxed.rank_in_words}")


def no_sdp_row(context: Context, row: ComparisonRow) -> ComparisonRow:
    """The better of λmax(A, B) and sums of k entries of a row."""
    bound = cheap_bound(context.pencil, context.budget)
    status = "valid: the better of λmax(A,B) and k-row sums"
    return replace(row, value=bound, status=status, valid=math.isfinite(bound), ok=math.isfinite(bound))


def exact_bound_row(context: Context, row: ComparisonRow) -> ComparisonRow:
    """The bound of branch and bound, which holds also when the search was stopped."""
    found = context.exact
    row = replace(row, status=found.status.value, ok=found.optimal, seconds=found.seconds)
    return replace(row, value=found.upper_bound, valid=math.isfinite(found.upper_bound))


def with_bound(context: Context, row: ComparisonRow, relaxed: Relaxation, status: str) -> ComparisonRow:
    """The row of a relaxation's proved bound; one that is infinite or holds for smaller k only is not valid."""
    valid = relaxed.valid_for.covers(context.budget) and math.isfinite(relaxed.upper_bound)
    status += f"; {relaxed.solver}: {relaxed.status}, worst DIMACS error {relaxed.dimacs.worst:.0e}"
    return replace(row, status=status, ok=valid, seconds=relaxed.seconds, value=relaxed.upper_bound, valid=valid)
