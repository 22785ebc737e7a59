"""What is known before branching: a first support, the pairwise relaxation, and the variables that it removes."""

import math
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Literal

import numpy as np

from .._numerics.checks import Index, Vector
from .._numerics.selection import largest_first
from ..certificates import on_support
from ..pencils import Gram, Pencil
from ..relaxations.bounds import dense_bound, row_sum_bound
from ..relaxations.pair_splitting import CHECK_STEPS, PairSplitting
from ..relaxations.pairwise import PairDual
from ..search.exchange import support_values
from .screening import Screening, extended, promising

PRUNE_TOL = 1e-10
"""A node is closed when its bound exceeds the best value by no more than this share: ties stay open otherwise."""
PROGRESS = 0.15
"""The relaxation ends when twice in a row a check closes less than this of the gap: a node costs less."""
CORE_ABOVE, CORE = 500, 300
"""Above this n the relaxation is first solved on a core of the most promising variables: a step grows as n³."""
RELAXED_LIMIT = 2_500
"""The largest n for which it is tried: it needs about ten n × n matrices, 500 MB, and a step takes some seconds."""
QUICK_LIMIT = 1_000
"""Up to this n λmax is computed and bounded in less than a tenth of a second."""


@dataclass(frozen=True)
class Root:
    """The supports that are left: `dual` belongs to the variables `kept`, and no support among them exceeds `bound`.

    `support` is the best one known, of all.
    """

    kept: Index
    dual: PairDual | None
    bound: float
    support: Index


def quick_bound(pencil: Pencil, k: int, seconds: float) -> float:
    """`cheap_bound`; of a large problem only its faster part, where there is no time for the other.

    That is λmax for a wide factor, else the row sums, which take a tenth of the time of λmax. With a B both take
    longer, and +inf is returned where there is no time for either.
    """
    begin, small, n = perf_counter(), pencil.n <= QUICK_LIMIT, pencil.n
    if pencil.B is None and isinstance(pencil.A, Gram) and len(pencil.A.C) < pencil.n and not small:
        return dense_bound(pencil)
    # with a B row sums take about 1.2e-7 n² seconds and λmax 8e-11 n³; a limit may be exceeded by half a second
    in_time = pencil.B is None or small or seconds + 0.4 > 1.2e-7 * n**2
    bound = row_sum_bound(pencil, k) if in_time else math.inf
    spent = perf_counter() - begin
    in_time = seconds - spent + 0.4 > 8e-11 * n**3 if math.isinf(bound) else seconds > 12.0 * spent
    return min(bound, dense_bound(pencil)) if small or in_time else bound


def first_support(pencil: Pencil, k: int, seconds: float, effort: Literal["quick", "normal"]) -> Index:
    """The support of what `solve` finds; with little time what the leading vector or one row of A suggests."""
    # `solve` looks at no clock: at n = 3000 its quick setting takes 0.5 s, its normal one 1 s
    if seconds >= (1.0 if effort == "quick" else 2.0) * (1.0 + 5e-4 * pencil.n):
        from ..search.solve import solve

        return largest(pencil, solve(pencil, k, effort=effort, check_path=False).x, k)
    return largest(pencil, pencil.leading_vector, k) if pencil.n <= QUICK_LIMIT else best_row(pencil, k)


def best_row(pencil: Pencil, k: int) -> Index:
    """The variable that is best alone, and the k − 1 largest entries of its row."""
    i = int(np.argmax(pencil.A_diagonal / pencil.B_diagonal))
    row = np.abs(pencil.A_dot(np.eye(1, pencil.n, i)[0])) / pencil.B_roots
    row[i] = math.inf
    return np.sort(largest_first(row, k))


def largest(pencil: Pencil, x: Vector, k: int) -> Index:
    """The positions of the k largest |xᵢ|√Bᵢᵢ."""
    return np.sort(largest_first(np.abs(x) * pencil.B_roots, k))


def threshold(value: float) -> float:
    """What a support must exceed to count as better than the best value known, −inf for none."""
    return value + PRUNE_TOL * abs(value) if math.isfinite(value) else value


def relaxed(scaled: Pencil, k: int, support: Index, bound: float, deadline: float) -> Root:
    """The relaxation on all variables, of a large problem on those that the relaxation of a core does not remove."""
    root = Root(np.arange(scaled.n), None, bound, support)
    if scaled.n > CORE_ABOVE:
        root = reduced(scaled, k, root, deadline)
    # a check that would end after the deadline is not begun: a step takes about 1.6e-10 n³ seconds
    late = perf_counter() + CHECK_STEPS * 1.6e-10 * len(root.kept) ** 3 > deadline
    return root if late else descended(scaled, k, root, deadline)


def reduced(scaled: Pencil, k: int, root: Root, deadline: float) -> Root:
    """Screening by the dual of the core, extended to all variables; the root as given where that is not possible."""
    lam = threshold(value_of(scaled, root.support))
    in_time = scaled.n - CORE >= k and perf_counter() < deadline
    core = promising(scaled, k, lam, root.support, CORE) if in_time else None
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
    kept = Screening(A, scaled.B, k, dual, lam).kept(weights, deadline)
    return Root(kept, dual[kept], root.bound, inner.support)


def descended(scaled: Pencil, k: int, root: Root, deadline: float, *, screen: bool = True) -> Root:
    """The relaxation on the variables that are left, and fewer of them after every check."""
    part = scaled.restrict(root.kept)
    splitting = PairSplitting(np.array(part.A), part.B, k, on_support(scaled, root.support)[root.kept])
    best, slow = math.inf, 0
    for dual, bound in splitting.bounds(deadline):
        rounded = root.kept[np.sort(largest_first(np.diagonal(splitting.X).copy(), k))]
        support = max(root.support, rounded, key=lambda S: value_of(scaled, S))
        value = value_of(scaled, support)
        root = replace(root, dual=dual if bound <= best else root.dual, bound=min(bound, root.bound), support=support)
        if root.bound <= threshold(value):
            break
        if screen and dual is not None:
            weights = np.diagonal(splitting.X) + 1e-6 * np.mean(splitting.Y, axis=0)
            kept = Screening(splitting.A, splitting.B, k, dual, threshold(value)).kept(weights)
            splitting.restrict(kept)
            root = replace(root, kept=root.kept[kept], dual=root.dual and root.dual[kept])
        slow = slow + 1 if bound - value > (1.0 - PROGRESS) * (best - value) else 0
        best = min(best, bound)
        if slow == 2 or len(root.kept) <= k:
            break
    return root


def value_of(pencil: Pencil, support: Index) -> float:
    """λmax on a support."""
    return float(support_values(pencil, support[None, :])[0])
