"""A k-sparse generalized eigenvector: construct supports, exchange variables, restart (SGEV-P).

1. Look at every support if that takes at most a twentieth of the budget.
2. Construct supports by one-shot MM from the leading eigenvector, backward elimination and forward selection, each if
   its work fits into the budget; if none does, take the largest entries of the leading eigenvector. To these come the
   largest entries of some columns of A, those with the largest sums, of as many as can be looked at.
3. From each, exchange one variable for another while λmax rises (`exchange`).
4. Restart in rounds: exchange from the best supports so far, perturbed or crossed, and from random ones. Where only
   some exchanges can be looked at, exchange from one-shot MM of columns of A and of random directions instead.
5. Stop after `patience` rounds without a better support, and as many more as it took to find the best; or when the
   budget is used up. A round does not count if more than an eighth of its starts end at local optima not met before:
   there are then many more of them.

Work is counted in multiplications, one or two 10⁹ in a second, so that the answer does not depend on the machine. An
effort is a budget and a patience. It begins where the one before it ended, so that more effort is never worse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, islice, product
from time import perf_counter
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from .._numerics.checks import Index, Vector, as_flag, as_generator, one_of
from .._numerics.threads import one_thread
from ..certificates import Solution, checked_k, on_support
from ..pencils import Gram, Pencil, expect_pencil
from .constructions import (
    Plan,
    backward_elimination,
    best_variable,
    column_supports,
    fitted,
    forward_selection,
    group_labels,
    highest,
    in_units,
    spread,
)
from .exchange import Exchanges, exchanges_for
from .exchange_rank_one import RankOneTableau
from .exchange_table import CHUNK, support_values
from .matching_program import matched_solution
from .one_shot import one_shot
from .path import on_path
from .working_set import working_set

Effort: TypeAlias = Literal["quick", "normal", "high"]


class Limits(NamedTuple):
    """What an effort may spend: multiplications in all, and rounds of restarts without a better support."""

    work: float
    patience: int


EFFORTS: dict[Effort, Limits] = {"quick": Limits(2e8, 1), "normal": Limits(2e9, 3), "high": Limits(4e10, 20)}
"""About 0.2 s, 1 s and 40 s at most, and far less on small problems, where patience ends the search."""
ROUND = 32
"""Restarts of a round: treated together, as arrays, they take a fifth of the time that they take one by one."""
TOPS = 8
"""Supports to be perturbed and crossed: with two the restarts repeat themselves, with many they start low."""


def solve(
    pencil: Pencil,
    k: int,
    *,
    effort: Effort = "normal",
    random_state: int | np.random.Generator = 0,
    check_path: bool | None = None,
) -> Solution:
    """A k-sparse generalized eigenvector of a large value xᵀAx/xᵀBx.

    The search constructs supports, one of them by one-shot MM, exchanges variables while λmax rises, and restarts
    from the best supports; `dcgev_cvx.search.solve` states it in full. The loadings are the leading eigenvector of
    the sub-pencil. Unless `Solution.method` says that all supports were looked at, the result is a local optimum
    over exchanges and carries no proof; `exact.best_subset` proves.

    Parameters
    ----------
    pencil : Pencil
        (A, B), A of any sign; A = CᵀC is never formed. If C is not an array in memory (see `Gram`), the search is on
        the variables of the largest variance, and `Solution.method` says whether that is proved to be enough.
    k : int
        The number of nonzeros. Fewer come back only when more would lower the value, as for a diagonal A.
    effort : {"quick", "normal", "high"}
        How long to search: about 0.2, 1 and 40 seconds at most, far less on small problems. Each begins where the one
        before it ends and is never worse.
    random_state : int or numpy.random.Generator
        Seed or Generator of the restarts; the answer is a function of it.
    check_path : bool or None
        Ask whether some ρ̃ takes Algorithm 1 from the leading eigenvector to this k (`on_path`); None for n ≤ 60.

    Returns
    -------
    Solution
        x with unit B norm and exact zeros, its value from the data, what was done in words, and (rho, eps,
        certificate) of a program (SGEV-A) that has a stationary point on this support.

    Examples
    --------
    No ρ̃ takes Algorithm 1 from the leading eigenvector to four nonzeros:

    >>> from dcgev_cvx import datasets, solve
    >>> found = solve(datasets.pitprops(), 4)
    >>> round(found.value, 4), found.on_path, found.method
    (2.9375, False, 'all 715 supports')
    """
    begin = perf_counter()
    k = checked_k(k, expect_pencil(pencil).n)
    one_of(effort, "effort", EFFORTS)
    if (screened := working_set(pencil, k)) is not None:
        part = solve(screened.pencil, k, effort=effort, random_state=random_state, check_path=False)
        method = f"{screened.verdict(part)}; {part.method}"
        return matched_solution(pencil, screened.embed(part).x, method, begin)
    unit, length, _ = in_units(pencil)
    generator = as_generator(random_state)
    with thin_products(unit):
        support, method = best_support(unit, ((np.arange(unit.n), k),), effort, generator)
        x = length * spread(unit, on_support(unit, support), k)
        found = matched_solution(pencil, x, method, begin)
    asked = pencil.n <= 60 if check_path is None else as_flag(check_path, "check_path")
    return replace(found, on_path=on_path(unit, k)) if asked else found


def thin_products(pencil: Pencil) -> AbstractContextManager[None]:
    """One BLAS thread for the search on a factor C with B = I: nearly all it does is multiply C with a vector."""
    return one_thread if pencil.B is None and isinstance(pencil.A, Gram) else nullcontext()


def best_support(
    pencil: Pencil, plan: Plan, effort: Effort, generator: np.random.Generator, given: Sequence[Index] = ()
) -> tuple[Index, str]:
    """The best support that the effort finds for a pencil of ordinary size, and what was done, in words.

    `given` are supports to start from, besides those of step 2.
    """
    k, count = sum(k for _, k in plan), math.prod(math.comb(len(rows), k) for rows, k in plan)
    if k == 1 or count == 1:
        return (best_variable(pencil), f"all {count} variables") if k == 1 else (np.arange(pencil.n), "all variables")
    if count * (1000 + 5 * k**3) <= EFFORTS[effort].work / 20.0 and effort != "quick":
        return best_of_all(pencil, plan), f"all {count} supports"
    search = Search(pencil, plan, exchanges_for(pencil, k, group_labels(plan)), generator)
    search.improve("given supports", given)
    for stage, (work, patience) in EFFORTS.items():
        search.construct(work)
        search.restart(work, patience)
        if stage == effort:
            break
    return search.ranked[0], search.method


def best_of_all(pencil: Pencil, plan: Plan) -> Index:
    """The support of the largest value of all, the first of those that tie."""
    parts = product(*(combinations(rows.tolist(), k) for rows, k in plan))
    everything = (sum(part, ()) for part in parts)
    size = max(1, CHUNK // sum(k for _, k in plan) ** 2)
    best, top = np.empty(0, dtype=np.intp), -math.inf
    while chunk := list(islice(everything, size)):
        supports = np.array(chunk)
        values = support_values(pencil, supports)
        at = int(np.argmax(values))
        if values[at] > top:
            best, top = supports[at], float(values[at])
    return best


@dataclass
class Search:
    """Steps 2 to 5 on one pencil: the best supports so far, and how many starts of each kind were made."""

    pencil: Pencil
    plan: Plan
    exchanges: Exchanges
    generator: np.random.Generator
    tops: dict[bytes, float] = field(default_factory=dict[bytes, float])
    starts: dict[str, int] = field(default_factory=dict[str, int])
    scanned: int = 0

    @property
    def k(self) -> int:
        """The number of variables."""
        return sum(k for _, k in self.plan)

    @property
    def ranked(self) -> list[Index]:
        """The supports kept, the best first."""
        order = sorted(self.tops, key=lambda key: (-self.tops[key], key))
        return [np.frombuffer(key, dtype=np.intp) for key in order]

    @property
    def method(self) -> str:
        """What was done, in words."""
        count = sum(self.starts.values())
        done = "one-shot MM and exchanges" if "one-shot MM" in self.starts else "exchanges"
        return f"{done} from {count} start{'s' * (count > 1)}"

    def improve(self, kind: str, supports: Sequence[Index]) -> int:
        """Exchange from supports of one kind, and keep the best TOPS of all; how many ends are new."""
        ends: Index = np.empty((0, self.k), dtype=np.intp)
        if len(supports):
            self.starts[kind] = self.starts.get(kind, 0) + len(supports)
            ends, values = self.exchanges.improve(np.array([fitted(self.pencil, S, self.plan) for S in supports]))
            self.tops |= {end.tobytes(): float(value) for end, value in zip(ends, values, strict=True)}
            self.tops = {S.tobytes(): self.tops[S.tobytes()] for S in self.ranked[:TOPS]}
        return len(ends)

    def construct(self, budget: float) -> None:
        """Step 2, for the constructions that were not made yet."""
        for name, (work, make) in self.constructions().items():
            if name not in self.starts and self.exchanges.work + work <= budget:
                self.exchanges.work += work
                self.improve(name, [make()])
        if not self.tops:
            sizes = np.abs(self.pencil.leading_vector) * self.pencil.B_roots
            self.improve("the leading eigenvector cut", [highest(sizes, self.plan)])
        self.scan(budget)

    def constructions(self) -> dict[str, tuple[float, Callable[[], Index]]]:
        """The constructions by name, with their work and how to make them."""
        pencil, k, n = self.pencil, self.k, self.pencil.n
        found = {"one-shot MM": (self.one_shot_work, lambda: self.one_shot_support(pencil.leading_vector))}
        if isinstance(self.exchanges, RankOneTableau):
            fit, nothing = self.exchanges.fitted, np.empty(0, dtype=np.intp)
            found["backward elimination"] = ((n - k) * float(n * n), lambda: fit(np.arange(n)))
            found["forward selection"] = (k * float(n * n), lambda: fit(nothing))
        else:
            found["backward elimination"] = (0.5 * n**3, lambda: backward_elimination(pencil, k))
            found["forward selection"] = (0.5 * k**4 + k * pencil.A_entries, lambda: forward_selection(pencil, k))
        return found

    @property
    def one_shot_work(self) -> float:
        """Multiplications of one-shot MM: some twenty products, or with a matrix B a LASSO for each of many ρ_ε."""
        return 20.0 * self.pencil.A_entries if self.pencil.B is None else 5e3 * self.k * self.pencil.n

    def scan(self, budget: float) -> None:
        """Exchange from columns of A, those of a large diagonal first; a quarter of the budget chooses them.

        Not for A = CᵀC with k or fewer rows: any k columns of C then span all of them, and no group stands out.
        """
        if isinstance(self.pencil.A, Gram) and self.pencil.A.rows <= self.k:
            return
        columns = self.column_order[self.scanned : self.scanned + int(0.25 * budget / self.column_work)]
        count = min(TOPS, self.affordable(budget - len(columns) * self.column_work))
        if count and len(columns) and not isinstance(self.exchanges, RankOneTableau):
            self.scanned += len(columns)
            self.exchanges.work += len(columns) * self.column_work
            self.improve("columns of A", column_supports(self.pencil, self.plan, columns, count))

    def affordable(self, budget: float) -> int:
        """How many starts may be made within the budget, if each takes k exchanges."""
        return max(0, int((budget - self.exchanges.work) / (self.k * self.exchanges.exchange_work)))

    @cached_property
    def column_order(self) -> Index:
        """The variables by Aᵢᵢ/Bᵢᵢ, in random order where these are equal but for rounding."""
        diagonal = self.pencil.A_diagonal / self.pencil.B_diagonal
        ratio = diagonal / (float(np.max(np.abs(diagonal))) or 1.0)
        return np.lexsort((self.generator.random(self.pencil.n), -ratio.astype(np.float32)))

    @property
    def column_work(self) -> float:
        """Multiplications of a column's k largest entries: eight for each, a tenth of the products of a factor."""
        rows = self.pencil.A.rows if isinstance(self.pencil.A, Gram) else 0
        return self.pencil.n * (8.0 + 0.1 * rows)

    def one_shot_support(self, x0: Vector) -> Index:
        """The support that one-shot MM reaches from x0."""
        return np.flatnonzero(one_shot(self.pencil, self.k, x0)[0])

    def restart(self, budget: float, patience: int) -> None:
        """Steps 4 and 5."""
        idle = last = 0
        while idle < patience + last and self.exchanges.work < budget:
            before = max(self.tops.values())
            count = max(1, min(ROUND, self.affordable(budget))) if self.exchanges.exhaustive else 1
            new = self.improve("restarts", [self.next_start(i) for i in range(count)])
            idle += 8 * new <= count or not self.exchanges.exhaustive
            last = idle if max(self.tops.values()) > before + 1e-12 * abs(before) else last

    def next_start(self, i: int) -> Index:
        """The i-th start of a round: two of five perturb a support, two cross two supports, one is random.

        To perturb is to exchange two or three members at random; to cross is to keep what two supports share and to
        fill up with what one of them has.
        """
        if not self.exchanges.exhaustive:
            self.exchanges.work += self.one_shot_work
            return self.one_shot_support(self.next_direction())
        tops = self.ranked
        count = min((1, 2, 1, 2, 0)[i % 5], len(tops))
        parents = [tops[t] for t in self.generator.permutation(len(tops))[:count]]
        votes = self.generator.random(self.pencil.n)
        for parent in parents:
            votes[parent] += 1.0
        if count == 1:
            votes[self.generator.permutation(parents[0])[: self.generator.integers(2, 4)]] = -1.0
        return highest(votes, self.plan)

    def next_direction(self) -> Vector:
        """By turns the next column of A, those of a large diagonal first, and a random direction."""
        pencil, count = self.pencil, self.starts.get("restarts", 0)
        direction = self.generator.standard_normal(pencil.n) / pencil.B_roots
        column = pencil.A_dot(np.eye(1, pencil.n, self.column_order[count // 2 % pencil.n])[0])
        return column if count % 2 == 0 and column.any() else direction
