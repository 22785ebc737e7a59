"""The methods of a comparison that look for an upper bound: from a Context and an empty Row to a Row.

Every bound is proved from the data and a dual matrix; a solver's own value is never shown.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from ..relaxations.bounds import cheap_bound
from .context import Context
from .rows import Row

if TYPE_CHECKING:
    from ..relaxations import Relaxation


def literal(context: Context, row: Row) -> Row:
    """The SDP of Section 3 as printed, whose bound is λmax(A, B) for every k."""
    from ..relaxations import literal_sdp

    relaxed = literal_sdp(context.pencil, float(context.k), time_limit=context.time_limit, force=context.force)
    always = "λmax(A,B)" if context.pencil.lambda_max >= 0.0 else "0, as λmax(A,B) < 0 and X = 0 is allowed"
    return with_bound(context, row, relaxed, f"valid, and always {always}: it ignores k")


def entrywise_paper(context: Context, row: Row) -> Row:
    """The entrywise SDP with the paper's budget k², which is loose for B = I and may be too small for other B."""
    relaxed, _ = entrywise(context, "paper")
    wrong = "not a valid bound: k·λmin(B) < 1, so ‖x‖₁ ≤ k can cut off the optimum"
    return with_bound(context, row, relaxed, "valid here, k·λmin(B) ≥ 1" if relaxed.valid_k >= context.k else wrong)


def entrywise_valid(context: Context, row: Row) -> Row:
    """The entrywise SDP with the budget k/λmin(B): valid for every B, loose where B is ill-conditioned."""
    relaxed, radius = entrywise(context, "valid")
    return with_bound(context, row, relaxed, f"valid, radius² = {radius * radius:.4g}")


def entrywise(context: Context, budget: Literal["paper", "valid"]) -> tuple[Relaxation, float]:
    """The entrywise SDP with one of its budgets, and the radius of that budget."""
    from ..relaxations import entrywise_sdp, radius_for

    radius = radius_for(context.pencil, context.k, budget)
    limit, force = context.time_limit, context.force
    return entrywise_sdp(context.pencil, radius, k=context.k, time_limit=limit, force=force), radius


def homogeneous(context: Context, row: Row) -> Row:
    """The homogeneous SDP."""
    relaxed = context.homogeneous
    return with_bound(context, row, relaxed, f"valid for every B; {relaxed.rank_in_words}")


def no_sdp(context: Context, row: Row) -> Row:
    """The better of λmax(A, B) and sums of k entries of a row."""
    bound = cheap_bound(context.pencil, context.k)
    status = "valid: the better of λmax(A,B) and k-row sums"
    return replace(row, value=bound, status=status, valid=math.isfinite(bound), ok=math.isfinite(bound))


def exact_bound(context: Context, row: Row) -> Row:
    """The bound of branch and bound, which holds also when the search was stopped."""
    found = context.exact
    row = replace(row, status=found.status.value, ok=found.optimal, seconds=found.seconds)
    return replace(row, value=found.upper_bound, valid=True)


def with_bound(context: Context, row: Row, relaxed: Relaxation, status: str) -> Row:
    """The row of a relaxation's proved bound; one that holds for smaller k only is not valid."""
    valid = relaxed.valid_k >= context.k
    status += f"; {relaxed.solver}: {relaxed.status}, worst DIMACS error {relaxed.dimacs.worst:.0e}"
    row = replace(row, status=status, ok=valid, seconds=relaxed.seconds)
    return replace(row, value=relaxed.upper_bound, valid=valid)
