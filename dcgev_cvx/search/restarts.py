"""Steps 2 to 5 of `solve`: construct supports, exchange variables, and restart from the best supports so far."""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from .._numerics.checks import Index, Vector
from ..pencils import Gram, Pencil
from .constructions import Plan, backward_elimination, column_supports, fitted, forward_selection, highest, size_of
from .exchange import Exchanges, exchanges_for
from .one_shot import one_shot

ROUND = 32
"""Restarts of a round: treated together, as arrays, they take a fifth of the time that they take one by one."""
TOPS = 8
"""Supports to be perturbed and crossed: with two the restarts repeat themselves, with many they start low."""


class Search:
    """Steps 2 to 5 on one pencil: the best supports so far, and how many starts of each kind were made."""

    def __init__(self, pencil: Pencil, plan: Plan, generator: np.random.Generator) -> None:
        self.pencil: Pencil = pencil
        self.plan: Plan = plan
        self.generator: np.random.Generator = generator
        self.k: int = size_of(plan)
        groups = None if len(plan) == 1 else np.repeat(np.arange(len(plan)), [len(rows) for rows, _ in plan])
        self.exchanges: Exchanges = exchanges_for(pencil, self.k, groups)
        self.tops: dict[bytes, float] = {}
        self.starts: Counter[str] = Counter()
        self.scanned: int = 0
        self.idle: int = 0
        self.idle_before: int = 0

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
        self.starts[kind] += len(supports)
        ends, values = self.exchanges.improve(np.array([fitted(self.pencil, S, self.plan) for S in supports]))
        self.tops |= {end.tobytes(): float(value) for end, value in zip(ends, values, strict=True)}
        self.tops = {S.tobytes(): self.tops[S.tobytes()] for S in self.ranked[:TOPS]}
        return len(ends)

    def construct(self, budget: float) -> None:
        """Step 2, for the constructions that were not made yet."""
        pencil, k, n = self.pencil, self.k, self.pencil.n
        if "one-shot MM" not in self.starts and self.exchanges.work + self.one_shot_work <= budget:
            self.exchanges.work += self.one_shot_work
            self.improve("one-shot MM", [self.one_shot_support(pencil.leading_vector)])
        for name, make, work in (
            ("backward elimination", backward_elimination, 0.5 * n**3),
            ("forward selection", forward_selection, 0.5 * k**4 + k * pencil.A_entries),
        ):
            if name not in self.starts and work <= 0.1 * budget:
                self.exchanges.work += work
                self.improve(name, [make(pencil, k)])
        if not self.tops:
            loadings = np.abs(pencil.leading_vector) * pencil.B_roots
            self.improve("the leading eigenvector cut", [highest(loadings, self.plan)])
        self.scan(budget)

    @property
    def one_shot_work(self) -> float:
        """Multiplications of one-shot MM: some twenty products, or with a matrix B a LASSO for each of many ρ_ε."""
        return 20.0 * self.pencil.A_entries if self.pencil.B is None else 2e4 * self.k * self.pencil.n

    def scan(self, budget: float) -> None:
        """Exchange from columns of A, those of a large diagonal first; a quarter of the budget chooses them.

        Not for A = CᵀC with k or fewer rows: any k columns of C then span all of them, and no group stands out.
        """
        if isinstance(self.pencil.A, Gram) and self.pencil.A.rows <= self.k:
            return
        columns = self.column_order[self.scanned : self.scanned + int(0.25 * budget / self.column_work)]
        if not len(columns) or not self.affordable(budget - len(columns) * self.column_work):
            return
        self.scanned += len(columns)
        self.exchanges.work += len(columns) * self.column_work
        # with eight columns, one of 36 standardised problems (seeds 100 to 103) ended below a dozen
        starts = column_supports(self.pencil, self.plan, columns, 12)
        while starts and (count := self.affordable(budget)):  # in parts: most starts take far fewer than k exchanges
            self.improve("columns of A", starts[:count])
            starts = starts[count:]

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
        while self.idle < patience + self.idle_before and self.exchanges.work < budget:
            before = max(self.tops.values())
            count = max(1, min(ROUND, self.affordable(budget))) if self.exchanges.exhaustive else 1
            new = self.improve("restarts", [self.next_start(i) for i in range(count)])
            self.idle += 8 * new <= count or not self.exchanges.exhaustive
            if max(self.tops.values()) > before + 1e-12 * abs(before):
                self.idle_before = self.idle

    def next_start(self, i: int) -> Index:
        """The i-th start of a round: two of five perturb a support, two cross two supports, one is random.

        To perturb is to exchange two to five members at random; to cross is to keep what two supports share and to
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
            # with three at most, more ill-conditioned problems end below a longer search
            leaving = self.generator.integers(2, 1 + min(5, max(3, self.k // 2 + 1)))
            votes[self.generator.permutation(parents[0])[:leaving]] = -1.0
        return highest(votes, self.plan)

    def next_direction(self) -> Vector:
        """By turns the next column of A, those of a large diagonal first, and a random direction."""
        pencil, count = self.pencil, self.starts["restarts"]
        direction = self.generator.standard_normal(pencil.n)
        column = pencil.A_dot(np.eye(1, pencil.n, self.column_order[count // 2 % pencil.n])[0])
        return column if count % 2 == 0 and column.any() else direction
