"""The root of the search tree: bounds without a relaxation, the pairwise relaxation, and the variables it removes."""

import math

import numpy as np
from scipy.linalg import LinAlgError

from .._numerics.checks import Index, Vector
from .._numerics.deadline import Deadline
from ..certificates import on_support
from ..relaxations.bounds import row_sum_bound
from ..relaxations.pair_splitting import CHECK_STEPS, MAX_STEPS, PairSplitting
from .duals import FamilyBounds, Screening, StoredDual, allowances, extended, row_sums, stored
from .enumeration import Incumbent

PROGRESS = 0.05
"""The relaxation ends when twice in a row a check closes less than this of the gap. At 0.15 it ended too early for
noise and for CCA: instances that the tree did not close in a minute now take seconds."""
CORE_ABOVE, CORE = 500, 300
"""Above this n the relaxation is first solved on a core of the most promising variables: a step grows as n³."""
RELAXED_LIMIT = 2_500
"""The largest n at which it is tried on all variables: about ten n × n matrices, 500 MB, and seconds a step."""
NOBODY = np.empty(0, dtype=np.intp)


class RootRelaxation:
    """The supports that are left: they lie within `kept`, and `dual`, None for U = 0, proves the smallest bound.

    `screenings` are the steps that led there: the number of a dual, and the variables that it removed.
    """

    def __init__(self, bounds: FamilyBounds, best: Incumbent) -> None:
        self.bounds, self.best = bounds, best
        self.kept = np.arange(len(bounds.A))
        self.bound: float = math.inf
        self.dual: StoredDual | None = None
        self.duals: list[StoredDual] = []
        self.screenings: list[tuple[int, Index]] = []

    def number(self, dual: StoredDual | None) -> int:
        """The number of a dual in `duals`, from 1 in the order of their use; 0 for U = 0."""
        if dual is None:
            return 0
        if dual not in self.duals:
            self.duals.append(dual)
        return 1 + self.duals.index(dual)

    def bound_cheaply(self) -> None:
        """The smaller of two bounds that need no relaxation: λmax(A, B), and Gershgorin's row sums."""
        pencil = self.best.pencil
        self.bound, _ = self.bounds.bound(None, NOBODY, self.kept)
        level = row_sum_bound(pencil, self.bounds.budget)
        if level < self.bound:
            dual = row_sums(self.bounds.A, pencil.dense()[1], level)
            self.take(dual, self.bounds.bound(dual, NOBODY, self.kept)[0])

    def take(self, dual: StoredDual | None, bound: float) -> None:
        """Keep a dual if its bound is the best so far."""
        if bound < self.bound:
            self.bound, self.dual = bound, dual

    def relax(self, deadline: Deadline) -> None:
        """Solve the relaxation on the variables that are left, and leave fewer of them after every check."""
        if len(self.kept) > CORE_ABOVE:
            self.relax_core(deadline)
        if len(self.kept) > RELAXED_LIMIT:
            return
        descent = Descent(self.bounds, self.best, self.kept)
        while self.bound > self.best.threshold and (dual := descent.next_dual(deadline)) is not None:
            self.take(dual, descent.bound)
            if self.bound > self.best.threshold and self.screen(dual, descent.weights, deadline):
                descent.restrict(self.kept)
        if self.dual is not None and self.dual.core is None and self.dual not in self.duals:
            self.dual = self.dual.restrict(self.kept)  # a proof file needs no more

    def relax_core(self, deadline: Deadline) -> None:
        """Remove variables by the dual of a core, extended to all variables, where the rows outside can pay."""
        A, best, k = self.bounds.A, self.best, self.bounds.budget.total
        B = best.pencil.dense()[1]
        if len(A) - CORE < k:
            return
        room = allowances(best.threshold, A, B, k, self.kept)
        room[best.support] = -math.inf
        if np.count_nonzero(room <= 0.0) > CORE:
            return
        core = np.sort(np.argsort(room, kind="stable")[:CORE])
        descent, inner = Descent(self.bounds, best, core), None
        while descent.bound > best.threshold and (dual := descent.next_dual(deadline)) is not None:
            inner = dual if descent.bound == descent.lowest else inner
        whole = None if inner is None else extended(A, B, k, best.threshold, inner)
        if inner is not None and whole is not None:
            weights = np.zeros(len(A))
            weights[core] = 1.0 + inner.a.T @ on_support(best.pencil, best.support)[core] ** 2
            self.screen(whole, weights, deadline)

    def screen(self, dual: StoredDual, weights: Vector, deadline: Deadline) -> bool:
        """Remove variables by a dual on those that are left; were there any?"""
        left = dual.variables[Screening(self.bounds, dual, self.best.threshold).kept(weights, deadline)]
        if len(left) == len(self.kept):
            return False
        self.screenings.append((self.number(dual), np.setdiff1d(self.kept, left)))
        self.kept = left
        return True


class Descent:
    """The relaxation on some variables, solved step by step while its bound falls."""

    def __init__(self, bounds: FamilyBounds, best: Incumbent, variables: Index) -> None:
        self.bounds, self.best, self.variables = bounds, best, variables
        rows = np.ix_(variables, variables)
        B = None if bounds.B is None else bounds.B[rows]
        x = on_support(best.pencil, best.support)[variables]
        self.splitting = PairSplitting(bounds.A[rows], B, bounds.budget.restrict(variables), x)
        self.bound = self.lowest = math.inf
        self.slow = 0

    def next_dual(self, deadline: Deadline) -> StoredDual | None:
        """The dual after CHECK_STEPS more steps of ADMM, and its `bound`; None at the end."""
        splitting, best = self.splitting, self.best
        done = self.slow == 2 or splitting.steps >= MAX_STEPS or len(self.variables) == len(best.support)
        if done or deadline.passed:
            return None
        try:
            splitting.run(CHECK_STEPS, deadline)
        except LinAlgError:
            return None
        if (multipliers := splitting.dual) is None:
            return None
        dual = stored(multipliers, self.variables)
        self.bound, _ = self.bounds.bound(dual, NOBODY, self.variables)
        best.offer(self.variables[splitting.budget.largest(np.diagonal(splitting.X))])
        self.slow = self.slow + 1 if self.bound - best.value > (1.0 - PROGRESS) * (self.lowest - best.value) else 0
        self.lowest = min(self.lowest, self.bound)
        return dual

    @property
    def weights(self) -> Vector:
        """How much the relaxation wants every variable."""
        return np.diagonal(self.splitting.X) + 1e-6 * np.mean(self.splitting.Y, axis=0)

    def restrict(self, kept: Index) -> None:
        """Go on with these variables only."""
        self.splitting.restrict(np.searchsorted(self.variables, kept))
        self.variables = kept
