"""Branch and bound over supports: the optimum with a proof, or an interval that contains it (SGEV-P).

1. Few supports in all: try every one of them (`enumeration`).
2. A first support: the start that was given, or what `solve` finds.
3. A tree with cheap bounds only, for so few nodes that the relaxation would cost more.
4. The pairwise relaxation (`root`): its dual bounds every node of a second tree, and removes variables.
5. Take the open node with the largest bound; decide one free variable, which gives two children.
6. Close a child by its bounds (`node_bounds`), or try all its supports if these are few; keep it open otherwise.
7. Stop when no node is open, or at a limit. The optimum lies between the best value found and the largest of the
   bounds of open nodes and the threshold below which nodes were closed.
"""

import heapq
import math
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from .._numerics.checks import Index, Vector, as_callback, as_number, as_vector, as_whole
from .._numerics.proofs import times
from .._numerics.selection import largest_first
from ..errors import InvalidParameter
from ..pencils import Pencil, expect_pencil
from ..solutions import checked_k
from .enumeration import scaled_pencil, try_all
from .node_bounds import Node, NodeBounds
from .results import ExactSolution, ExactStatus, Progress, exact_from
from .root import CORE_ABOVE, RELAXED_LIMIT, first_support, largest, quick_bound, relaxed, threshold, value_of

Listener: TypeAlias = Callable[[Progress], object] | None

LEAF_WORK = 200_000.0
"""A node whose supports cost less than this many units of `work`, 10 ms, is enumerated."""
CHEAP_NODES = 30
"""Nodes of the first tree: a strong signal takes about 2k + 1 of them, the relaxation as long as hundreds."""
HEAP_LIMIT = 20_000
"""Open nodes kept for best-first search; beyond, the search goes depth first and memory stays bounded."""
DENSE_LIMIT = 5_000
"""Beyond this n the matrix alone is 200 MB, and every node works on most of it."""
REPORT_SECONDS = 0.5
"""How often `progress` is called."""


def best_subset(
    pencil: Pencil,
    k: int,
    *,
    time_limit: float | None = None,
    node_limit: int | None = None,
    start: Any = None,
    progress: Listener = None,
) -> ExactSolution:
    """Return the best k-sparse vector and a proof: max xᵀAx s.t. xᵀBx = 1, ‖x‖₀ ≤ k (SGEV-P).

    Branch and bound over supports, for any B, and for λmax(A, B) ≤ 0 too. When a limit ends the search first, the
    optimum lies in [value, upper_bound].

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B), n ≤ 5000. Up to n = 2500 a relaxation at the root sharpens the bounds.
    k : int
        The cardinality, 1 … n. Supports of exactly k are searched: λmax only grows with the support.
    time_limit : float, optional
        Seconds. A node that would end after the limit, judging by the last ones, is not begun. At 0 the answer is
        the k largest entries of one row of A, with the bound of `bounds.row_sum_bound`; for a pencil with a B and
        n > 1000 the bound is infinite if it would take longer than the limit.
    node_limit : int, optional
        The largest number of nodes. Unlike a time limit it makes a stopped search reproducible.
    start : array_like or object with an attribute x, optional
        Its k largest |xᵢ|√Bᵢᵢ are the first support; `solve` finds one otherwise.
    progress : callable, optional
        Called with a `Progress` about twice a second.

    Returns
    -------
    ExactSolution
        The vector, its value, the proved upper bound and how the search ended.

    Raises
    ------
    InvalidParameter
        If k, a limit or the start is invalid, or n > 5000.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.exact import best_subset
    >>> pencil = datasets.pitprops()
    >>> best_subset(pencil, 6).optimal
    True
    >>> stopped = best_subset(pencil, 6, time_limit=0)
    >>> stopped.status.name, stopped.value <= 3.7710 <= stopped.upper_bound
    ('OUT_OF_TIME', True)
    """
    begin = perf_counter()
    k = checked_k(k, expect_pencil(pencil).n)
    if pencil.n > DENSE_LIMIT:
        raise InvalidParameter(
            f"n = {pencil.n}: the search needs A as {pencil.n}×{pencil.n} numbers ({8e-9 * pencil.n**2:.1f} GB) "
            f"and is meant for n ≤ {DENSE_LIMIT}. bounds.cheap_bound bounds any n, restrict() makes a smaller pencil."
        )
    deadline = begin + (math.inf if time_limit is None else as_number(time_limit, "time_limit"))
    most = math.inf if node_limit is None else as_whole(node_limit, "node_limit", low=0)
    first = None if start is None else as_vector(getattr(start, "x", start), pencil.n, "start")
    listener = as_callback(progress, "progress")
    scaled, unit = scaled_pencil(pencil, k)
    search = _Search(scaled, k, unit, deadline, most, listener)
    stopped = search.from_start(None if first is None else largest(pencil, first, k))
    counts = search.nodes, search.supports, search.screened
    return exact_from(pencil, search.support, times(search.upper, unit), perf_counter() - begin, stopped, *counts)


def work(free: int, m: int, k: int) -> float:
    """The cost of trying every support, k² + 40 units each of about 40 ns; infinite where counting takes long.

    It may be an integer above all floats.
    """
    return math.comb(free, m) * (k * k + 40) if free < 2000 or m < 3 else math.inf


class _Search:
    """The state of one branch and bound on a scaled pencil; `begin` and `deadline` are times of perf_counter.

    Invariants: `value` is attained by `support`; every support of size k belongs to an open node, has been
    tried, or lies in a node that was closed by a bound ≤ threshold. `tried` is proved to be at least the value of
    every support that was tried; bounds of nodes are proved too, so that rounding is accounted for throughout.
    """

    def __init__(
        self, pencil: Pencil, k: int, unit: float, deadline: float, most_nodes: float, progress: Listener = None
    ) -> None:
        self.pencil, self.k, self.unit, self.progress = pencil, k, unit, progress
        self.deadline, self.most_nodes = deadline, most_nodes
        self.value, self.tried, self.support = -math.inf, -math.inf, np.empty(0, dtype=np.intp)
        self.nodes = self.supports = self.screened = self.kept = 0
        self.heap: list[tuple[float, int, Node]] = []
        self.begin = self.reported = perf_counter()
        self.root = quick_bound(pencil, k, self.left)
        # the seconds that a node takes: much as the problem's own bound, or λmax if that had only its faster part
        self.cost = max(perf_counter() - self.begin, 5e-11 * pencil.n**3)
        self.bounds = NodeBounds(np.asarray(pencil.A), pencil.B, k)

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - perf_counter()

    @property
    def threshold(self) -> float:
        """A node whose supports cannot exceed this is closed."""
        return threshold(self.value)

    @property
    def upper(self) -> float:
        """No support has a larger value: closed nodes stay below the threshold, open ones below their bounds."""
        return min(self.root, max([self.threshold, self.tried, *(node.bound for *_, node in self.heap)]))

    def from_start(self, first: Index | None) -> ExactStatus | None:
        """Steps 1 to 7, from the support given if there is one; which limit ended the search, None for none."""
        pencil, k, nobody, everyone = self.pencil, self.k, np.empty(0, dtype=np.intp), np.arange(self.pencil.n)
        if self.left > 0.0 and work(pencil.n, k, k) <= LEAF_WORK:
            self.enumerate(nobody, everyone, k)
            return None
        self.offer(first_support(pencil, k, self.left, "quick") if first is None else first)
        # no cheap tree where the relaxation has a core of the variables and nodes have all, no other beyond its limit
        cheap = CHEAP_NODES if pencil.n <= CORE_ABOVE else 0 if pencil.n <= RELAXED_LIMIT else math.inf
        if cheap:
            self.open(everyone)
        else:
            self.keep(Node(self.root, nobody, everyone, 0))
        stopped = self.run(cheap)
        if stopped is ExactStatus.OUT_OF_NODES and self.nodes < self.most_nodes:
            self.relax(first_support(pencil, k, self.left, "normal") if first is None else self.support)
            stopped = self.run()
        return stopped

    def relax(self, support: Index) -> None:
        """Begin the tree again, with the dual of the relaxation and without the variables that it removes.

        The relaxation gets 40 % of the time that is left: the search can do without it.
        """
        self.offer(support)
        root = relaxed(self.pencil, self.k, self.support, self.upper, perf_counter() + 0.4 * self.left)
        self.offer(root.support)
        # a support with a variable that was removed does not exceed the threshold
        self.root = min(self.upper, max(self.threshold, root.bound))
        self.screened = self.pencil.n - len(root.kept)
        self.bounds = replace(self.bounds, dual=root.dual, kept=root.kept)
        self.heap = []
        self.open(root.kept)

    def open(self, variables: Index) -> None:
        """The root of a tree: every support among the variables."""
        self.visit_in_time(np.empty(0, dtype=np.intp), variables, self.root)

    def run(self, nodes: float = math.inf) -> ExactStatus | None:
        """Search until no node is open (None) or a limit is met."""
        while self.heap:
            if self.left <= self.cost:
                return ExactStatus.OUT_OF_TIME
            if self.nodes >= min(nodes, self.most_nodes):
                return ExactStatus.OUT_OF_NODES
            self.report()
            node = heapq.heappop(self.heap)[2]
            # the best value may have risen since the node was kept
            if node.bound <= self.threshold:
                continue
            for included, free in node.children:
                self.visit_in_time(included, free, node.bound)
        return None

    def visit_in_time(self, included: Index, free: Index, bound: float) -> None:
        """Visit a node, or keep it open with the bound it inherits where there is no time for it.

        The expected cost is that of the last node, or half of what was expected of it.
        """
        if self.left <= self.cost:
            self.keep(Node(bound, included, free, 0))  # whatever the branch: the search ends before it is taken
            return
        begin = perf_counter()
        self.visit(included, free, bound)
        self.cost = max(0.5 * self.cost, perf_counter() - begin)

    def visit(self, included: Index, free: Index, bound: float) -> None:
        """Close a node by enumeration or by a bound, or keep it open; `bound` is its parent's, valid for it too."""
        m = self.k - len(included)
        if len(free) < m:
            return
        self.nodes += 1
        # one support is left, or so few that they are tried
        if m in (0, len(free)) or work(len(free), m, self.k) <= LEAF_WORK:
            self.enumerate(included, free, m)
            return
        dual = self.bounds.dual_bound(included, free)
        bound = bound if dual is None else min(bound, dual[0])
        if bound <= self.threshold:
            return
        plain, vector = self.bounds.interlacing(np.concatenate([included, free]))
        bound = min(bound, plain)
        if bound <= self.threshold:
            return
        self.offer(self.completed(included, free, vector))
        # branch on the largest entry of the vector that attains the bound: deciding it changes most
        guide = vector if dual is None else dual[1]
        branch = free[int(np.argmax(np.abs(guide[len(included) :])))]
        self.keep(Node(bound, included, free, int(branch)))

    def keep(self, node: Node) -> None:
        """Keep a node open. The largest bound comes first, ties by age; beyond HEAP_LIMIT the last node kept."""
        self.kept += 1
        full = len(self.heap) >= HEAP_LIMIT
        heapq.heappush(self.heap, (-math.inf, -self.kept, node) if full else (-node.bound, self.kept, node))

    def enumerate(self, included: Index, free: Index, m: int) -> None:
        """Try every support of a node."""
        tried = try_all(self.pencil, included, free, m, floor=self.threshold)
        self.supports += tried.count
        self.tried = max(self.tried, tried.bound)
        if tried.value > self.value:
            self.value, self.support = tried.value, tried.support

    def completed(self, included: Index, free: Index, vector: Vector) -> Index:
        """The node's support that the leading vector suggests: I and its k − p largest entries on F."""
        tail = np.abs(vector[len(included) :]) * self.pencil.B_roots[free]
        chosen = free[largest_first(tail, self.k - len(included))]
        return np.sort(np.concatenate([included, chosen]))

    def offer(self, support: Index) -> None:
        """Keep a support if it is the best so far."""
        value = value_of(self.pencil, support)
        if value > self.value:
            self.value, self.support = value, support

    def report(self) -> None:
        """Call `progress` every half second."""
        now = perf_counter()
        if self.progress is None or now - self.reported < REPORT_SECONDS:
            return
        self.reported = now
        value, upper = self.unit * self.value, self.unit * self.upper
        self.progress(Progress(self.nodes, self.supports, value, upper, len(self.heap), now - self.begin))
