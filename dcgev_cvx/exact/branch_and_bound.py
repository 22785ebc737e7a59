"""Branch and bound over supports: the optimum with a proof, or an interval that contains it (SGEV-P).

1. Few supports in all: try every one of them (`enumeration`).
2. A first support: the start that was given, or what `solve` finds.
3. A tree of a few nodes with a bound that costs nothing to prepare: λmax, or Gershgorin's row sums.
4. The pairwise relaxation (`root`) removes variables, and its dual bounds every node of a second tree.
5. In both, take the open node with the largest bound; decide one free variable, which gives two children.
6. Close a child by its bound (`duals`), or try all its supports if these are few; keep it open otherwise.
7. Stop when no node is open, or at a limit. The optimum lies between the best value found and the largest of the
   bounds of open nodes and the threshold below which nodes were closed.
"""

import heapq
import math
from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from .._numerics.checks import Index, as_callback, as_vector, as_whole
from .._numerics.deadline import Deadline
from .._numerics.threads import one_thread
from ..budgets import Budget, Cardinality
from ..pencils import Pencil, expect_pencil
from .duals import FamilyBounds
from .enumeration import Incumbent, ScaledProblem, try_all
from .proof import LISTED, SearchTree
from .results import ExactSolution, ExactStatus, Progress, exact_from
from .root import CORE_ABOVE, NOBODY, RootRelaxation

Listener: TypeAlias = Callable[[Progress], object] | None

LEAF_WORK = 50_000
"""A node whose supports cost less than this, k² + 40 units of about 40 ns each, is enumerated: 2 ms."""
CHEAP_NODES = 30
"""Nodes of the first tree: it ends 15 of 74 real instances, some in a tenth of the time of the relaxation."""
HEAP_LIMIT = 20_000
"""Open nodes kept for best-first search; beyond, the search goes depth first and memory stays bounded."""
REPORT_SECONDS = 0.5
"""How often `progress` is called."""


class Node:
    """The supports that contain `included` and fill the budget from `free`; none exceeds `bound`.

    `branch` is the free variable to decide next.
    """

    def __init__(self, number: int, bound: float, included: Index, free: Index, branch: int) -> None:
        self.number, self.bound, self.included, self.free, self.branch = number, bound, included, free, branch


class BranchAndBound:
    """The state of one search on a scaled problem.

    Every support belongs to an open node, has been tried, or lies in a node that was closed by a bound ≤ threshold.
    `tried` is proved to be at least the value of every support that was tried.
    """

    def __init__(self, problem: ScaledProblem, deadline: Deadline, most_nodes: float, listener: Listener) -> None:
        self.problem, self.pencil, self.budget = problem, problem.pencil, problem.budget
        self.deadline, self.most_nodes, self.progress = deadline, most_nodes, listener
        self.best = Incumbent(self.pencil)
        self.root = RootRelaxation(FamilyBounds(np.asarray(self.pencil.A), self.pencil.B, self.budget), self.best)
        self.nodes = self.supports = self.opened = 0
        self.begin = self.reported = perf_counter()
        self.plant()

    def plant(self) -> None:
        """Begin a tree, with the dual and the variables of the root."""
        self.tree = SearchTree(self.root.screenings)
        self.tried = -math.inf
        self.heap: list[tuple[float, int, Node]] = []

    @property
    def upper(self) -> float:
        """No support has a larger value: closed nodes stay below the threshold, open ones below their bounds."""
        return max([self.best.threshold, self.tried, *(node.bound for *_, node in self.heap)])

    def run(self, start: Index | None) -> ExactStatus | None:
        """Steps 1 to 7, from the support given if there is one; which limit ended the search, None for none."""
        if self.small(self.budget):
            self.enumerate(0, NOBODY, self.root.kept)
            return None
        self.best.offer(first_support(self.pencil, self.budget, self.deadline) if start is None else start)
        self.root.bound_cheaply()
        upper, tree = math.inf, self.tree
        # a large problem needs the relaxation, of a core of its variables, before its nodes
        if self.pencil.n <= CORE_ABOVE:
            stopped = self.explore(min(CHEAP_NODES, self.most_nodes))
            if stopped is not ExactStatus.OUT_OF_NODES or self.nodes >= self.most_nodes:
                return stopped
            upper = self.upper
        self.root.relax(self.deadline)
        self.plant()
        stopped = self.explore(self.most_nodes)
        if self.upper > upper:
            self.tree, self.heap, self.tried = tree, [], upper
        return stopped

    def explore(self, most: float) -> ExactStatus | None:
        """Visit the root and decide open nodes, until there are none (None) or a limit is met."""
        self.visit(0, NOBODY, self.root.kept, math.inf)
        while self.heap:
            if self.deadline.passed:
                return ExactStatus.OUT_OF_TIME
            if self.nodes >= most:
                return ExactStatus.OUT_OF_NODES
            self.report()
            node = heapq.heappop(self.heap)[2]
            # the best value may have risen since the node was kept
            if node.bound > self.best.threshold:
                self.branch(node)
        return None

    def branch(self, node: Node) -> None:
        """Visit the two children, which partition the node's supports: the branching variable in, and out."""
        inside, outside = self.tree.split(node.number, node.branch)
        rest = node.free[node.free != node.branch]
        included = np.append(node.included, node.branch)
        labels = self.budget.labels
        full = np.bincount(labels[included], minlength=len(self.budget.counts)) == self.budget.counts
        self.visit(inside, included, rest[~full[labels[rest]]], node.bound)
        self.visit(outside, node.included, rest, node.bound)

    def visit(self, number: int, included: Index, free: Index, bound: float) -> None:
        """Close a node by enumeration or by a bound, or keep it open; `bound` is its parent's, valid for it too."""
        self.nodes += 1
        left = self.budget.restrict(free, included)
        if len(included) + left.total < self.budget.total:
            self.tree.explain(number, LISTED)  # there are no such supports
            return
        if self.small(left):
            self.enumerate(number, included, free)
            return
        own, vector = self.root.bounds.bound(self.root.dual, included, free)
        self.tree.explain(number, self.root.number(self.root.dual), own)
        bound = min(bound, own)
        if bound <= self.best.threshold:
            return
        guide = np.abs(vector[len(included) :])
        self.best.offer(np.sort(np.concatenate([included, free[left.largest(guide * self.pencil.B_roots[free])]])))
        # branch on the largest entry of the vector that attains the bound: deciding it changes most
        self.keep(Node(number, bound, included, free, int(free[np.argmax(guide)])))

    def keep(self, node: Node) -> None:
        """Keep a node open. The largest bound comes first, ties by age; beyond HEAP_LIMIT the last node kept."""
        self.opened += 1
        full = len(self.heap) >= HEAP_LIMIT
        heapq.heappush(self.heap, (-math.inf, -self.opened, node) if full else (-node.bound, self.opened, node))

    def small(self, left: Budget) -> bool:
        """Are there so few supports that they are tried one by one?"""
        return left.number == 1 or self.budget.total == 1 or left.number * (self.budget.total**2 + 40) <= LEAF_WORK

    def enumerate(self, number: int, included: Index, free: Index) -> None:
        """Try every support of a node."""
        count, bound = try_all(self.best, self.budget, included, free)
        self.supports += count
        self.tried = max(self.tried, bound)
        self.tree.explain(number, LISTED)

    def report(self) -> None:
        """Call `progress` every half second."""
        now = perf_counter()
        if self.progress is None or now - self.reported < REPORT_SECONDS:
            return
        self.reported = now
        unit = self.problem.scaling.o
        value, upper = unit * self.best.value, unit * self.upper
        self.progress(Progress(self.nodes, self.supports, value, upper, len(self.heap), now - self.begin))


def first_support(pencil: Pencil, budget: Budget, deadline: Deadline) -> Index:
    """What `solve` finds; for other groups than views, or out of time, the best variable and its largest partners."""
    views = np.repeat(np.arange(len(pencil.blocks or ())), pencil.blocks or ())
    if not deadline.passed and (len(budget.counts) == 1 or np.array_equal(budget.labels, views)):
        from ..search.solve import solve

        k = budget.counts[0] if len(budget.counts) == 1 else budget.counts
        x = solve(pencil, k, effort="quick", check_path=False).x
        return budget.largest(np.abs(x) * pencil.B_roots)
    i = int(np.argmax(pencil.A_diagonal / pencil.B_diagonal))
    row = np.abs(np.asarray(pencil.A)[i]) / pencil.B_roots
    row[i] = math.inf
    return budget.largest(row)


def best_subset(
    pencil: Pencil,
    k: Cardinality,
    *,
    time_limit: float | None = None,
    node_limit: int | None = None,
    start: Any = None,
    progress: Listener = None,
) -> ExactSolution:
    """Return the best k-sparse vector and a proof: max xᵀAx s.t. xᵀBx = 1, ‖x‖₀ ≤ k (SGEV-P).

    Branch and bound over supports, for any B, and for λmax(A, B) ≤ 0 too. When a limit ends the search first, the
    optimum lies in [value, upper_bound]. Without a time limit the result does not depend on the machine's load.

    Parameters
    ----------
    pencil : Pencil
        The pencil (A, B), n ≤ 5000. Up to n = 2500 a relaxation at the root sharpens the bounds.
    k : int or sequence of int
        The cardinality, 1 … n; for a pencil with views also one number for each, such as (kx, ky). Supports of
        exactly so many variables are searched: λmax only grows with the support.
    time_limit : float, optional
        Seconds. It is looked at between operations, so that it may be exceeded by the one that has begun: a step of
        the relaxation or the bound of a node, which are eigenvalue problems of order n at most (n = 2000: about two
        seconds), or the search for a first support (less than a second). At 0 the answer is the largest entries
        of one row of A, with the smaller of λmax and `bounds.row_sum_bound`.
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
    >>> pencil = datasets.planted_pca(60, 8, samples=90).pencil
    >>> found = best_subset(pencil, 8)
    >>> found.optimal
    True
    >>> stopped = best_subset(pencil, 8, time_limit=0)
    >>> stopped.status.name, stopped.value <= found.value <= stopped.upper_bound
    ('OUT_OF_TIME', True)
    """
    begin = perf_counter()
    problem = ScaledProblem(expect_pencil(pencil), k)
    deadline = Deadline.after(time_limit, "time_limit")
    most = math.inf if node_limit is None else as_whole(node_limit, "node_limit", low=0)
    first = None if start is None else as_vector(getattr(start, "x", start), pencil.n, "start")
    first = None if first is None else problem.budget.largest(np.abs(first) * pencil.B_roots)
    with one_thread:  # the order of nodes depends on last bits, and these on the number of threads
        search = BranchAndBound(problem, deadline, most, as_callback(progress, "progress"))
        stopped = search.run(first)
    counts = search.nodes, search.supports, pencil.n - len(search.root.kept)
    found = problem, search.best.support, search.upper, search.tree, search.root.duals
    return exact_from(*found, perf_counter() - begin, stopped, *counts)
