"""Branch and bound over supports: the optimum with a proof, or an interval that contains it (SGEV-P).

1. Few supports in all: try every one of them (`enumeration`).
2. A first support: the start that was given, or what `solve` finds.
3. The root: one homogeneous SDP, whose dual matrix U bounds every node of the tree, and whose X is rounded.
4. Take the open node with the largest bound; decide one free variable, which gives two children.
5. Close a child by its bounds (`node_bounds`), or try all its supports if these are few; keep it open otherwise.
6. Stop when no node is open, or at a limit. The optimum lies between the best value found and the largest of the
   bounds of open nodes and the threshold below which nodes were closed.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from time import perf_counter
from typing import Any

import numpy as np

from .._numerics.checks import Index, Vector, as_callback, as_number, as_vector, as_whole
from .._numerics.proofs import times
from .._numerics.selection import largest_first
from ..certificates import checked_k
from ..errors import InvalidParameter, SolverFailed
from ..pencils import Pencil, expect_pencil
from ..relaxations.bounds import SDP_LIMIT, Dual, cheap_bound, dual_of
from ..search.exchange_table import support_values
from .enumeration import finite, scaled_pencil, try_all
from .node_bounds import Node, NodeBounds
from .results import ExactSolution, ExactStatus, Progress, exact_from

PRUNE_TOL = 1e-10
"""A node is closed when its bound exceeds the best value by no more than this share: ties stay open otherwise."""
LEAF_WORK = 40_000.0
"""A node whose supports cost less than this many units of `work` is enumerated: about what its bounds would cost."""
ROOT_WORK = 4_000_000.0
"""The same at the root, about 0.2 s, where enumeration saves the SDP."""
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
    solver: Any = None,
    progress: Callable[[Progress], object] | None = None,
) -> ExactSolution:
    """Return the best k-sparse vector and a proof: max xᵀAx s.t. xᵀBx = 1, ‖x‖₀ ≤ k (SGEV-P).

    Branch and bound over supports, for any B, and for λmax(A, B) ≤ 0 too. When a limit ends the search first, the
    optimum lies in [value, upper_bound].

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B), n ≤ 5000. Up to n = 250 an SDP at the root sharpens the bounds.
    k : int
        The cardinality, 1 … n. Supports of exactly k are searched: λmax only grows with the support.
    time_limit : float, optional
        Seconds. A node that would end after the limit, judging by the last ones, is not begun. At 0 the answer is
        what the leading vector suggests, with the bound of `bounds.cheap_bound`; these two are always computed.
    node_limit : int, optional
        The largest number of nodes. Unlike a time limit it makes a stopped search reproducible.
    start : array_like or object with an attribute x, optional
        Its k largest |xᵢ|√Bᵢᵢ are the first support; `solve` finds one otherwise.
    solver : str or Backend, optional
        The solver of the root SDP.
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
    limits = Limits.of(begin, time_limit, node_limit)
    first = None if start is None else as_vector(getattr(start, "x", start), pencil.n, "start")
    listener, backend = as_callback(progress, "progress"), root_backend(pencil.n, solver)
    scaled, unit = scaled_pencil(pencil, k)
    if work(pencil.n, k, k) <= ROOT_WORK:
        return enumerated(pencil, scaled, unit, k, limits)
    support = first_support(scaled, k, limits) if first is None else largest(pencil, first, k)
    dual, root, rounded = root_dual(scaled, k, limits, backend)
    search = Search(scaled, k, dual, limits, unit, root, listener)
    for candidate in (support, rounded):
        if candidate is not None:
            search.offer(candidate)
    stopped = search.run()
    upper, seconds = times(search.upper, unit), perf_counter() - begin
    return exact_from(
        pencil, search.support, upper, stopped, nodes=search.nodes, supports=search.supports, seconds=seconds
    )


@dataclass(frozen=True)
class Limits:
    """When to stop: a time of perf_counter and a number of nodes."""

    begin: float
    deadline: float
    nodes: float

    @classmethod
    def of(cls, begin: float, time_limit: float | None, node_limit: int | None) -> Limits:
        """The limits as given, checked; None is no limit."""
        seconds = math.inf if time_limit is None else as_number(time_limit, "time_limit")
        nodes = math.inf if node_limit is None else as_whole(node_limit, "node_limit", low=0)
        return cls(begin, begin + seconds, nodes)

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - perf_counter()


def root_backend(n: int, solver: Any) -> Any:
    """The Backend of the root SDP, checked before it is needed; None for the default, without importing CVXPY."""
    if solver is None:
        return None
    from ..relaxations.solving import backend_for

    return backend_for(n, solver)


def work(free: int, m: int, k: int) -> float:
    """The cost of trying every support, k² + 40 units each of about 40 ns; infinite where the count is huge."""
    return math.comb(free, m) * float(k * k + 40) if free < 2000 or m < 3 else math.inf


def enumerated(pencil: Pencil, scaled: Pencil, unit: float, k: int, limits: Limits) -> ExactSolution:
    """All supports; out of time, the best so far, or the leading vector's support, with the cheap bound."""
    tried = try_all(scaled, np.empty(0, dtype=np.intp), np.arange(pencil.n), k, limits.deadline)
    if tried.finished:
        support, upper = tried.support, times(finite(scaled, k, tried.bound), unit)
    else:
        upper = cheap_bound(pencil, k)
        support = tried.support if len(tried.support) == k else largest(pencil, pencil.leading_vector, k)
    stopped, seconds = None if tried.finished else ExactStatus.OUT_OF_TIME, perf_counter() - limits.begin
    return exact_from(pencil, support, upper, stopped, supports=tried.count, seconds=seconds)


def first_support(scaled: Pencil, k: int, limits: Limits) -> Index:
    """The support of what `solve` finds at its quick setting; with little time the leading vector's k largest."""
    x = scaled.leading_vector
    # `solve` looks at no clock: a tenth of a second a variable is more than its quick setting takes
    if limits.left >= max(1.0, 0.1 * scaled.n):
        from ..search.solve import solve

        x = solve(scaled, k, effort="quick", check_path=False).x
    return largest(scaled, x, k)


def largest(pencil: Pencil, x: Vector, k: int) -> Index:
    """The positions of the k largest |xᵢ|√Bᵢᵢ."""
    return np.sort(largest_first(np.abs(x) * pencil.B_roots, k))


def root_dual(scaled: Pencil, k: int, limits: Limits, solver: Any) -> tuple[Dual | None, float, Index | None]:
    """(the SDP's dual, the proved bound at the root, the rounded support); without the SDP where it does not fit.

    The SDP gets 40 % of the time that is left, for the search can do without it: a failure costs the sharper bounds
    and nothing else.
    """
    cheap = cheap_bound(scaled, k)
    # loading CVXPY and compiling the SDP may take a second each
    if scaled.n > SDP_LIMIT or limits.left < 2.0:
        return None, cheap, None
    from ..relaxations import homogeneous_sdp

    seconds = None if math.isinf(limits.left) else 0.4 * limits.left
    try:
        relaxed = homogeneous_sdp(scaled, k, solver=solver, time_limit=seconds)
    except SolverFailed:
        return None, cheap, None
    dual = dual_of(relaxed.U, scaled.B_roots, relaxed.b)
    support = np.array(relaxed.rounded.support)
    return dual, min(cheap, relaxed.upper_bound), support if len(support) == k else None


@dataclass
class Search:
    """The state of one branch and bound on a scaled pencil.

    Invariants: `value` is attained by `support`; every support of size k belongs to an open node, has been
    tried, or lies in a node that was closed by a bound ≤ threshold. `tried` is proved to be at least the value of
    every support that was tried; bounds of nodes are proved too, so that rounding is accounted for throughout.
    """

    pencil: Pencil
    k: int
    dual: Dual | None
    limits: Limits
    unit: float
    root: float
    progress: Callable[[Progress], object] | None = None
    value: float = -math.inf
    support: Index = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    tried: float = -math.inf
    nodes: int = 0
    supports: int = 0
    cost: float = 0.0
    heap: list[tuple[float, int, Node]] = field(default_factory=list)
    stack: list[Node] = field(default_factory=list)
    ticket: count[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.bounds: NodeBounds = NodeBounds(self.pencil.dense()[0], self.pencil.B, self.k, self.dual)
        self.reported: float = self.limits.begin

    @property
    def threshold(self) -> float:
        """A node whose supports cannot exceed this is closed."""
        return self.value + PRUNE_TOL * abs(self.value)

    @property
    def upper(self) -> float:
        """No support has a larger value: closed nodes stay below the threshold, open ones below their bounds."""
        bounds = [-self.heap[0][0]] if self.heap else []
        bounds += [node.bound for node in self.stack]
        return min(self.root, max([self.threshold, self.tried, *bounds]))

    def run(self) -> ExactStatus | None:
        """Search until no node is open (None) or a limit is met; best first, the depth-first stack before it."""
        self.visit_in_time(np.empty(0, dtype=np.intp), np.arange(self.pencil.n), self.root)
        while self.heap or self.stack:
            if self.limits.left <= self.cost:
                return ExactStatus.OUT_OF_TIME
            if self.nodes >= self.limits.nodes:
                return ExactStatus.OUT_OF_NODES
            self.report()
            node = self.stack.pop() if self.stack else heapq.heappop(self.heap)[2]
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
        if self.limits.left <= self.cost:
            self.keep(Node(bound, included, free, int(free[0]) if len(free) else -1))
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
        # one support is left, or so few that trying them is cheaper than bounding them
        if m in (0, len(free)) or work(len(free), m, self.k) <= LEAF_WORK:
            self.enumerate(included, free, m)
            return
        dual = self.bounds.dual_bound(included, free)
        bound = bound if dual is None else min(bound, dual[0])
        if bound <= self.threshold or self.bounds.dominated(self.threshold, included, free):
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
        """Keep a node open; the ticket breaks ties by age, so that the search is the same on every run."""
        if len(self.heap) >= HEAP_LIMIT:
            self.stack.append(node)
        else:
            heapq.heappush(self.heap, (-node.bound, next(self.ticket), node))

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
        value = float(support_values(self.pencil, support[None, :])[0])
        if value > self.value:
            self.value, self.support = value, support

    def report(self) -> None:
        """Call `progress` every half second."""
        now = perf_counter()
        if self.progress is None or now - self.reported < REPORT_SECONDS:
            return
        self.reported = now
        value, upper, opened = self.unit * self.value, self.unit * self.upper, len(self.heap) + len(self.stack)
        self.progress(Progress(self.nodes, self.supports, value, upper, opened, now - self.limits.begin))
