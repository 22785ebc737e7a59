"""Branch and bound over supports: the optimum with a proof, or an interval when time is short (SGEV-P).

A node fixes variables that are in and variables that are out. It is closed when a proved bound on its
supports does not exceed the incumbent (by more than 1e-10 of it), or when its supports are few enough to be
tried one by one. The bound of the whole search is the largest bound of an open node, or the threshold of
the closed ones: at every moment the optimum lies between the incumbent and that number.
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

from .._numerics.checks import Index, Vector, as_listener, as_number, as_vector, as_whole, attribute
from .._numerics.limits import SDP_LIMIT
from .._numerics.proofs import times
from ..certificates import Solution, checked_k, solution_of
from ..errors import InvalidParameter, SolverFailed
from ..pencils import Pencil, expect_pencil
from ..relaxations.bounds import Dual, cheap_bound, dual_of
from ..search.swaps import support_values
from .enumeration import finite, scaled_pencil, try_all
from .nodes import Node, NodeBounds
from .results import ExactSolution, ExactStatus, Progress, exact_from

PRUNE_TOL = 1e-10
"""A node is closed when its bound exceeds the incumbent by no more than this share of it."""
LEAF_WORK = 40_000.0
"""A node whose supports cost less than this many units (k² and a constant each) is enumerated."""
ROOT_WORK = 4_000_000.0
"""The same at the root, where enumeration saves the SDP."""
HEAP_LIMIT = 20_000
"""Open nodes kept for best-first search; beyond, the search dives depth-first and memory stays bounded."""
DENSE_LIMIT = 5_000
"""Beyond this n the matrix alone is 200 MB, and every node works on most of it."""
"""Beyond this n the root does without the SDP, which `relaxations` would have to be forced to build."""
REPORT_SECONDS = 0.5


def gev(pencil: Pencil) -> Solution:
    """The dense optimum λmax(A, B) and its eigenvector, no sparsity asked (GEV-P).

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.exact import gev
    >>> dense = gev(datasets.pitprops())
    >>> dense.k, round(dense.value, 4)
    (13, 4.2186)
    """
    begin = perf_counter()
    return solution_of(
        pencil, expect_pencil(pencil).leading_vector, "generalized eigenvector", perf_counter() - begin
    )


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
    """The best k-sparse vector with the proof that none is better: max xᵀAx s.t. xᵀBx = 1, ‖x‖₀ ≤ k (SGEV-P).

    Branch and bound, best first, over included, excluded and free variables; works for any B and for
    λmax(A, B) ≤ 0 too. Node bounds are those of `exact.nodes`; few supports are simply all tried. When
    time_limit (seconds) or node_limit ends the search first, [value, upper_bound] still holds the
    optimum. start is a vector to begin from (`solve` finds one otherwise), solver the SDP's, and progress
    is called every half second.

    Parameters
    ----------
    pencil
        (A, B) with n ≤ 5000; an SDP at the root is used up to n = 250.
    k
        The cardinality, 1 … n. Supports of exactly k are searched: λmax only grows with the support.
    time_limit
        Seconds, ≥ 0; at 0 the answer is what the leading vector suggests, with the cheap bound. These two are
        computed whatever the limit is: some tenths of a second for a thousand variables. A node that would end after
        the limit, by the time that the last ones took, is not begun.
    node_limit
        The most nodes to visit, ≥ 0; unlike time it makes a stopped search reproducible.
    start
        A vector or anything with an x; its k largest |xᵢ|√Bᵢᵢ are the first incumbent.
    solver
        For the root SDP, a name or a Backend.
    progress
        Called with a `Progress`; what it returns is not looked at.

    Raises
    ------
    InvalidParameter
        For k, the limits or the start out of range, or n > 5000.

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
    x = attribute(start, "x")
    first = None if start is None else as_vector(start if x is None else x, pencil.n, "start")
    listener, backend = as_listener(progress, "progress"), root_backend(pencil.n, solver)
    scaled, unit = scaled_pencil(pencil, k)
    if work(pencil.n, k, k) <= ROOT_WORK:
        return enumerated(pencil, scaled, unit, k, limits)
    return searched(pencil, scaled, unit, k, limits, first, backend, listener)


@dataclass(frozen=True)
class Limits:
    """When to stop."""

    begin: float
    deadline: float
    nodes: float

    @classmethod
    def of(cls, begin: float, time_limit: float | None, node_limit: int | None) -> Limits:
        """The limits as given, checked.

        None is no limit; a negative or non-finite one is an InvalidParameter.
        """
        seconds = math.inf if time_limit is None else as_number(time_limit, "time_limit")
        nodes = math.inf if node_limit is None else as_whole(node_limit, "node_limit", low=0)
        return cls(begin, begin + seconds, nodes)

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - perf_counter()


def root_backend(n: int, solver: Any) -> Any:
    """The root SDP's Backend, checked before it is needed; None for the default, without importing a solver."""
    if solver is None:
        return None
    from ..relaxations.base import backend_for

    return backend_for(n, solver)


def work(free: int, m: int, k: int) -> float:
    """What it costs to try every support: each counts k² + 40, about 40 ns a unit.

    Infinite where the binomial coefficient itself would be too large a number to be worth computing.
    """
    return math.comb(free, m) * float(k * k + 40) if free < 2000 or m < 3 else math.inf


def enumerated(pencil: Pencil, scaled: Pencil, unit: float, k: int, limits: Limits) -> ExactSolution:
    """All supports, when they are few.

    Out of time, the best so far (or the leading vector's support) is returned with the cheap bound.
    """
    tried = try_all(scaled, np.empty(0, dtype=np.intp), np.arange(pencil.n), k, limits.deadline)
    seconds = perf_counter() - limits.begin
    if tried.finished:
        upper = times(finite(scaled, k, tried.bound), unit)
        return exact_from(pencil, tried.support, upper, None, nodes=0, supports=tried.count, seconds=seconds)
    support = tried.support if len(tried.support) == k else largest(pencil, pencil.leading_vector, k)
    return exact_from(
        pencil,
        support,
        cheap_bound(pencil, k),
        ExactStatus.OUT_OF_TIME,
        nodes=0,
        supports=tried.count,
        seconds=perf_counter() - limits.begin,
    )


def searched(
    pencil: Pencil,
    scaled: Pencil,
    unit: float,
    k: int,
    limits: Limits,
    start: Vector | None,
    solver: Any,
    progress: Callable[[Progress], object] | None,
) -> ExactSolution:
    """Start, root relaxation, branch and bound."""
    incumbent = first_support(pencil, scaled, k, start, limits)
    dual, root, rounded = root_dual(scaled, k, limits, solver)
    search = Search(scaled, k, dual, limits, unit, root, progress)
    search.offer(incumbent)
    if rounded is not None:
        search.offer(rounded)
    stopped = search.run()
    return exact_from(
        pencil,
        search.support,
        times(search.upper, unit),
        stopped,
        nodes=search.nodes,
        supports=search.supports,
        seconds=perf_counter() - limits.begin,
    )


def first_support(pencil: Pencil, scaled: Pencil, k: int, start: Vector | None, limits: Limits) -> Index:
    """The support of the start, or of what `solve` finds; with little time the leading vector's k largest entries.

    `solve` is given the scaled pencil and its quick setting: a good incumbent closes many nodes at once, a
    perfect one is not worth waiting for.
    """
    if start is not None:
        return largest(pencil, start, k)
    simple = largest(scaled, scaled.leading_vector, k)
    # `solve` looks at no clock: a tenth of a second a variable is more than its quick setting takes
    if limits.left < max(1.0, 0.1 * pencil.n):
        return simple
    from ..search.paths import solve

    # with fewer than k nonzeros the others make no difference, but a support has k members
    return largest(scaled, solve(scaled, k, effort="quick", check_path=False).x, k)


def largest(pencil: Pencil, x: Vector, k: int) -> Index:
    """Where the k largest |xᵢ|√Bᵢᵢ stand."""
    score = np.abs(x) * np.sqrt(pencil.B_diagonal)
    return np.sort(np.argsort(-score, kind="stable")[:k])


def root_dual(scaled: Pencil, k: int, limits: Limits, solver: Any) -> tuple[Dual | None, float, Index | None]:
    """(the SDP's dual, the proved bound at the root, the rounded support); without the SDP where it does not fit.

    The SDP gets 40 % of the time that is left. A solver's failure costs the sharper bounds and
    nothing else. Its U is kept at the relaxation's own b, with D = diag(B)^½, ready for every node.
    """
    cheap = cheap_bound(scaled, k)
    # loading CVXPY and compiling the SDP may take a second each
    if scaled.n > SDP_LIMIT or limits.left < 2.0:
        return None, cheap, None
    from ..relaxations import homogeneous_sdp

    # the rest of the time belongs to the search, which can do without the SDP
    seconds = None if math.isinf(limits.left) else 0.4 * limits.left
    try:
        relaxed = homogeneous_sdp(scaled, k, solver=solver, time_limit=seconds)
    except SolverFailed:
        return None, cheap, None
    d = np.sqrt(scaled.B_diagonal)
    dual = dual_of(relaxed.U, d, relaxed.b)
    support = np.array(relaxed.rounded.support)
    return dual, min(cheap, relaxed.upper_bound), support if len(support) == k else None


@dataclass
class Search:
    """The state of one branch and bound, in units where the pencil's entries are of size one.

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
        self.bounds = NodeBounds(self.pencil.dense()[0], self.pencil.B, self.k, self.dual)
        self.reported = self.limits.begin

    @property
    def threshold(self) -> float:
        """A node whose supports cannot exceed this is closed.

        A hair above the incumbent: without it, ties and rounding would keep equal supports open to the end.
        """
        return self.value + PRUNE_TOL * abs(self.value)

    @property
    def upper(self) -> float:
        """No support has a larger value: closed nodes stay below the threshold, open ones below their bounds.

        The root's own proved bound caps it, so that it never gets worse than before the search.
        """
        bounds = [-self.heap[0][0]] if self.heap else []
        bounds += [node.bound for node in self.stack]
        return min(self.root, max([self.threshold, self.tried, *bounds]))

    def run(self) -> ExactStatus | None:
        """Search until nothing is open (None) or a limit is met.

        The order is best first, which lowers the bound fastest; the diving stack comes first while it
        holds anything, so that memory stays bounded.
        """
        self.visit_in_time(np.empty(0, dtype=np.intp), np.arange(self.pencil.n), self.root)
        while self.heap or self.stack:
            stopped = self.out_of()
            if stopped is not None:
                return stopped
            self.report()
            node = self.stack.pop() if self.stack else heapq.heappop(self.heap)[2]
            # the incumbent may have risen since the node was kept
            if self.closed(node.bound):
                continue
            for included, free in node.children:
                self.visit_in_time(included, free, node.bound)
        return None

    def out_of(self) -> ExactStatus | None:
        """The limit that is met, or would be by the next node, if one is."""
        if self.limits.left <= self.cost:
            return ExactStatus.OUT_OF_TIME
        return ExactStatus.OUT_OF_NODES if self.nodes >= self.limits.nodes else None

    def visit_in_time(self, included: Index, free: Index, bound: float) -> None:
        """Visit a node, or keep it as it is, with the bound it inherits, where there is no time for it.

        What a node costs is what the last ones did, the one before the last counted half, and so on.
        """
        if self.limits.left <= self.cost:
            self.keep(Node(bound, included, free, int(free[0]) if len(free) else -1))
            return
        begin = perf_counter()
        self.visit(included, free, bound)
        self.cost = max(0.5 * self.cost, perf_counter() - begin)

    def visit(self, included: Index, free: Index, bound: float) -> None:
        """Bound a node and keep it open, or close it by enumeration or by a bound.

        A child inherits its parent's bound, which is valid for it, and improves on it. The variable to branch on is
        the free one with the largest entry in the vector that attains the bound: deciding it changes most.
        """
        m = self.k - len(included)
        if len(free) < m:
            return
        self.nodes += 1
        # one support is left, or so few that trying them is cheaper than bounding them
        if m in (0, len(free)) or work(len(free), m, self.k) <= LEAF_WORK:
            self.enumerate(included, free, m)
            return
        allowed = np.concatenate([included, free])
        priced = self.bounds.priced(included, free)
        bound = bound if priced is None else min(bound, priced[0])
        if self.closed(bound) or self.bounds.dominated(self.threshold, included, free):
            return
        plain, vector = self.bounds.interlacing(allowed)
        bound = min(bound, plain)
        if self.closed(bound):
            return
        # every node offers a support: good incumbents come from good bounds
        self.offer(self.completed(included, free, vector))
        guide = vector if priced is None else priced[1]
        branch = free[int(np.argmax(np.abs(guide[len(included) :])))]
        self.keep(Node(bound, included, free, int(branch)))

    def closed(self, bound: float) -> bool:
        """Can no support of a node with this proved bound be better than the incumbent?"""
        return bound <= self.threshold

    def keep(self, node: Node) -> None:
        """Keep a node open: on the heap, or on the diving stack when the heap is full.

        The ticket breaks ties in the heap by age, so that the search is the same on every run.
        """
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
        """The node's support that the leading vector suggests: I and its k − p largest entries on F.

        It costs one small eigenvalue problem and often is the optimum long before it is proved.
        """
        tail = np.abs(vector[len(included) :]) * np.sqrt(self.pencil.B_diagonal[free])
        chosen = free[np.argsort(-tail, kind="stable")[: self.k - len(included)]]
        return np.sort(np.concatenate([included, chosen]))

    def offer(self, support: Index) -> None:
        """Take a support as the incumbent if it is better."""
        value = float(support_values(self.pencil, support[None, :])[0])
        if value > self.value:
            self.value, self.support = value, support

    def report(self) -> None:
        """A line of progress every half second."""
        now = perf_counter()
        if self.progress is None or now - self.reported < REPORT_SECONDS:
            return
        self.reported = now
        open_nodes = len(self.heap) + len(self.stack)
        elapsed = now - self.limits.begin
        self.progress(
            Progress(self.nodes, self.supports, self.unit * self.value, self.unit * self.upper, open_nodes, elapsed)
        )
