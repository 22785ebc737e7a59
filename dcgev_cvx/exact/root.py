"""What is known before branching: a first support, the pairwise relaxation, and the variables that it removes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal

import numpy as np

from .._numerics.checks import Index, Vector
from .._numerics.proofs import lambda_max_bound
from .._numerics.selection import largest_first
from ..certificates import on_support
from ..pencils import Pencil
from ..relaxations.pair_splitting import PairSplitting
from ..relaxations.pairwise import PairDual, charges
from ..search.exchange_table import support_values
from .screening import Screening, extended, promising

PRUNE_TOL = 1e-10
"""A node is closed when its bound exceeds the best value by no more than this share: ties stay open otherwise."""
CHECK_STEPS = 25
"""Steps of the relaxation between two proved bounds, which cost about as much as two steps."""
MAX_STEPS = 1000
"""The relaxation ends here at the latest; it converges in 100 to 200 steps where it is exact."""
PROGRESS = 0.15
"""It ends when twice in a row a check closes less than this share of the gap: a node costs less than such a check."""
CORE_ABOVE, CORE = 500, 300
"""Above this n the relaxation is first solved on a core of the most promising variables: a step grows as n³."""
RELAXED_LIMIT = 2_500
"""The largest n for which it is tried: it needs about ten n × n matrices, 500 MB, and a step takes some seconds."""


@dataclass(frozen=True)
class Root:
    """The supports that are left: `dual` belongs to the variables `kept`, and no support among them exceeds `bound`.

    Supports with another variable are proved to stay below `screened_below`. `support` is the best one known, of all.
    """

    kept: Index
    dual: PairDual | None
    bound: float
    support: Index
    screened_below: float = -math.inf


def first_support(scaled: Pencil, k: int, seconds: float, effort: Literal["quick", "normal"]) -> Index:
    """The support of what `solve` finds; with little time the leading vector's k largest."""
    x = scaled.leading_vector
    # `solve` looks at no clock: a tenth of a second a variable is more than its quick setting takes
    if seconds >= max(1.0, 0.1 * scaled.n):
        from ..search.solve import solve

        x = solve(scaled, k, effort=effort, check_path=False).x
    return largest(scaled, x, k)


def largest(pencil: Pencil, x: Vector, k: int) -> Index:
    """The positions of the k largest |xᵢ|√Bᵢᵢ."""
    return np.sort(largest_first(np.abs(x) * pencil.B_roots, k))


def threshold(value: float) -> float:
    """What a support must exceed to count as better than the best value known."""
    return value + PRUNE_TOL * abs(value)


def relaxed(scaled: Pencil, k: int, support: Index, bound: float, deadline: float) -> Root:
    """The relaxation on all variables, of a large problem on those that the relaxation of a core does not remove."""
    root = Root(np.arange(scaled.n), None, bound, support)
    if scaled.n > CORE_ABOVE:
        root = reduced(scaled, k, root, deadline)
    return descended(scaled, k, root, deadline)


def reduced(scaled: Pencil, k: int, root: Root, deadline: float) -> Root:
    """Screening by the dual of the core, extended to all variables; the root as given where that is not possible."""
    lam = threshold(value_of(scaled, root.support))
    core = (
        promising(scaled, k, lam, root.support, CORE) if scaled.n - CORE >= k and perf_counter() < deadline else None
    )
    if core is None:
        return root
    inner = descended(scaled, k, replace(root, kept=core), deadline, screen=False)
    lam = threshold(value_of(scaled, inner.support))
    dual = None if inner.dual is None else extended(scaled, k, lam, core, inner.dual)
    if dual is None or perf_counter() > deadline:
        return replace(root, support=inner.support)
    A = np.asarray(scaled.A)
    weights = np.zeros(scaled.n)
    weights[core] = 1.0 + dual.a[core][:, core].T @ on_support(scaled, inner.support)[core] ** 2
    kept = Screening(A, scaled.B, k, dual, lam).kept(weights)
    return Root(kept, dual[kept], root.bound, inner.support, lam)


def descended(scaled: Pencil, k: int, root: Root, deadline: float, *, screen: bool = True) -> Root:
    """The relaxation on the variables that are left, and fewer of them after every check."""
    part = scaled.restrict(root.kept)
    x = on_support(scaled, root.support)[root.kept]
    splitting = PairSplitting(np.array(part.A), part.B, k, x)
    best, slow = math.inf, 0
    while splitting.steps < MAX_STEPS and slow < 2 and perf_counter() < deadline:
        splitting.run(CHECK_STEPS, deadline)
        root, bound = checked(scaled, k, root, splitting, best, screen)
        value = value_of(scaled, root.support)
        if root.bound <= threshold(value) or len(root.kept) <= k:
            break
        slow = slow + 1 if bound - value > (1.0 - PROGRESS) * (best - value) else 0
        best = min(best, bound)
    return root


def checked(
    scaled: Pencil, k: int, root: Root, splitting: PairSplitting, best: float, screen: bool
) -> tuple[Root, float]:
    """The root with what the state of the splitting proves and suggests, and its bound; the best one was `best`."""
    dual, A, B = splitting.dual, splitting.A, splitting.B
    if dual is None:
        return root, math.inf
    r = np.diag(charges(dual.a, 0, k))
    bound = lambda_max_bound(A + dual.U + r, B, np.abs(A) + np.abs(dual.U) + r)
    rounded = root.kept[np.sort(largest_first(np.diagonal(splitting.X).copy(), k))]
    support = max(root.support, rounded, key=lambda S: value_of(scaled, S))
    root = replace(root, dual=dual if bound <= best else root.dual, bound=min(bound, root.bound), support=support)
    lam = threshold(value_of(scaled, support))
    if not screen or root.bound <= lam:
        return root, bound
    weights = np.diagonal(splitting.X) + 1e-6 * np.mean(splitting.Y, axis=0)
    kept = Screening(A, B, k, dual, lam).kept(weights)
    splitting.restrict(kept)
    root = replace(root, kept=root.kept[kept], dual=root.dual and root.dual[kept], screened_below=lam)
    return root, bound


def value_of(pencil: Pencil, support: Index) -> float:
    """λmax on a support."""
    return float(support_values(pencil, support[None, :])[0])
