"""The search of `solve`: construct supports, exchange variables, restart from the best supports so far."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from .._numerics.checks import Index, Vector
from ..pencils import Pencil
from .exchange import ExchangeSearch
from .one_shot import one_shot
from .starts import Plan, column_supports, fitted, highest, size_of

ROUND = 32
"""Restarts of a round: treated together, as arrays, they take a fifth of the time that they take one by one."""
TOPS = 8
"""Supports to be perturbed and crossed: with two the restarts repeat themselves, with many they start low."""
SCAN = 0.05
"""The share of the budget with which columns of A are chosen; with a quarter, 127 × 16063 takes twice as long."""


class SupportSearch:
    """The best supports so far of one pencil, and how many starts of each kind were made."""

    def __init__(self, pencil: Pencil, plan: Plan, generator: np.random.Generator) -> None:
        self.pencil: Pencil = pencil
        self.plan: Plan = plan
        self.generator: np.random.Generator = generator
        self.k: int = size_of(plan)
        groups = None if len(plan) == 1 else np.repeat(np.arange(len(plan)), [len(rows) for rows, _ in plan])
        self.exchanges: ExchangeSearch = ExchangeSearch(pencil, self.k, groups)
        self.tops: dict[bytes, float] = {}
        self.starts: Counter[str] = Counter()
        self.constructed: float = 0.0
        self.scanned: int = 0
        self.drawn: int = 0
        self.idle: int = 0

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
        """Exchange from supports of one kind, and keep the best TOPS of all; how many local optima are new."""
        self.starts[kind] += len(supports)
        ends, values = self.exchanges.improve(np.array([fitted(self.pencil, S, self.plan) for S in supports]))
        self.tops |= {end.tobytes(): float(value) for end, value in zip(ends, values, strict=True)}
        self.tops = {S.tobytes(): self.tops[S.tobytes()] for S in self.ranked[:TOPS]}
        return len(ends)

    def construct(self, budget: float) -> None:
        """Exchange from constructed supports: those that the budget allows and that were not made yet."""
        pencil = self.pencil
        if pencil.B is None and "one-shot MM" not in self.starts and self.work + self.one_shot_work <= budget:
            self.improve("one-shot MM", [self.one_shot_support(pencil.leading_vector)])
        if not self.tops:
            loadings = np.abs(pencil.leading_vector) * pencil.B_roots
            self.improve("the leading eigenvector cut", [highest(loadings, self.plan)])
        self.scan(budget)

    @property
    def work(self) -> float:
        """Multiplications so far."""
        return self.constructed + self.exchanges.work

    @property
    def one_shot_work(self) -> float:
        """Multiplications of one-shot MM: its products cost as much as twenty elsewhere."""
        return 20.0 * self.pencil.A_entries

    def one_shot_support(self, x0: Vector) -> Index:
        """The support that one-shot MM reaches from x0."""
        self.constructed += self.one_shot_work
        return np.flatnonzero(one_shot(self.pencil, self.k, x0)[0])

    def scan(self, budget: float) -> None:
        """Exchange from the best of some columns of A, those of a large diagonal first.

        Not for A = CᵀC with k or fewer rows: any k columns of C then span all of them, and no group stands out.
        """
        if self.pencil.A_rank <= self.k:
            return
        work = self.pencil.n * (8.0 + 0.1 * self.pencil.A_terms)  # a column and its k largest entries
        columns = self.column_order[self.scanned : self.scanned + int(SCAN * budget / work)]
        if len(columns):
            self.scanned += len(columns)
            self.constructed += len(columns) * work
            starts = column_supports(self.pencil, self.plan, columns, 12)
            while starts and self.work < budget:
                count = self.affordable(budget)
                self.improve("columns of A", starts[:count])
                starts = starts[count:]

    def affordable(self, budget: float) -> int:
        """How many starts may be made at once, one at least, if each takes k exchanges."""
        return max(1, min(ROUND, int((budget - self.work) / (self.k * self.exchanges.table_work))))

    @cached_property
    def column_order(self) -> Index:
        """The variables by Aᵢᵢ/Bᵢᵢ, in random order where these are equal but for rounding."""
        diagonal = self.pencil.A_diagonal / self.pencil.B_diagonal
        ratio = diagonal / (float(np.max(np.abs(diagonal))) or 1.0)
        return np.lexsort((self.generator.random(self.pencil.n), -ratio.astype(np.float32)))

    def restart(self, budget: float, patience: int) -> None:
        """Exchange from new starts, a round at a time, until `patience` rounds in a row find no better support.

        A round does not count if more than an eighth of its starts end at local optima not met before: there are then
        many more of them. Where a table of all exchanges costs too much and B = I, a round is one-shot MM from one
        direction.
        """
        while self.idle < patience and self.work < budget:
            before = max(self.tops.values())
            if self.exchanges.exact or self.pencil.B is not None:
                starts = [self.next_start() for _ in range(self.affordable(budget))]
            else:
                starts = [self.one_shot_support(self.next_direction())]
            new = self.improve("restarts", starts)
            if max(self.tops.values()) > before + 1e-12 * abs(before):
                self.idle = 0
            elif len(starts) == 1 or 8 * new <= len(starts):
                self.idle += 1

    def next_start(self) -> Index:
        """A support to exchange from.

        Two of five perturb one of the best supports, exchanging two to five members at random; two cross two of them,
        keeping what they share and filling up with what one of them has; one is random.
        """
        tops = self.ranked
        count = min((1, 2, 1, 2, 0)[self.drawn % 5], len(tops))
        self.drawn += 1
        parents = [tops[t] for t in self.generator.permutation(len(tops))[:count]]
        votes = self.generator.random(self.pencil.n)
        for parent in parents:
            votes[parent] += 1.0
        if count == 1:
            leaving = self.generator.integers(2, 1 + min(5, max(3, self.k // 2 + 1)))
            votes[self.generator.permutation(parents[0])[:leaving]] = -1.0
        return highest(votes, self.plan)

    def next_direction(self) -> Vector:
        """By turns the next column of A, those of a large diagonal first, and a random direction."""
        pencil, count = self.pencil, self.starts["restarts"]
        direction = self.generator.standard_normal(pencil.n)
        column = pencil.A_dot(np.eye(1, pencil.n, self.column_order[count // 2 % pencil.n])[0])
        return column if count % 2 == 0 and column.any() else direction
