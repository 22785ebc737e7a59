"""Exchange search: exchange one variable of a support for another while λmax of the sub-pencil rises.

A support that no exchange improves is far better than an arbitrary stationary point of the d.c. program, of which
at tiny ε nearly every support carries one. It is a local optimum and no proof. `ExchangeTable` computes the gain of
every exchange; `FactorPool` estimates some, for a factor so large that a table would cost too much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

import numpy as np

from .._numerics.checks import Index, Matrix, Vector
from .._numerics.selection import largest_first
from ..pencils import Gram, Pencil
from .exchange_factor import FactorPool
from .exchange_table import CHUNK, TABLE, exchange_gains, leading, pair_values, table_work


def exchanges_for(pencil: Pencil, k: int, groups: Index | None = None) -> Exchanges:
    """The exchange search for supports of k variables; with a label per variable only within groups of one label."""
    large = pencil.B is None and isinstance(pencil.A, Gram) and table_work(pencil, k) > TABLE
    return FactorPool(pencil, k) if large and groups is None else ExchangeTable(pencil, k, groups)


@dataclass
class ExchangeTable:
    """Exchanges by tables of gains, best exchange first; `groups` are labels as in `exchanges_for`."""

    pencil: Pencil
    k: int
    groups: Index | None = None
    work: float = 0.0
    seen: set[bytes] = field(default_factory=set[bytes])

    exhaustive: ClassVar[bool] = True

    @property
    def exchange_work(self) -> float:
        """Multiplications of one exchange."""
        return table_work(self.pencil, self.k)

    def improve(self, supports: Index) -> tuple[Index, Vector]:
        """The local optima that exchanges reach from the rows of an m × k table, and their values."""
        # where only the outsiders that suit a support are tried, each support has its own table
        size = 1 if self.exchange_work > TABLE else max(1, CHUNK // (self.k * self.pencil.n))
        parts = [self.improve_together(supports[at : at + size]) for at in range(0, len(supports), size)]
        return np.concatenate([ends for ends, _ in parts]), np.concatenate([values for _, values in parts])

    def improve_together(self, supports: Index) -> tuple[Index, Vector]:
        """The same for a few supports, whose tables are computed together."""
        supports = supports[self.unseen(supports)]
        values, x = leading(self.pencil, supports)
        ends, end_values = [supports[:0]], [values[:0]]
        while len(supports):
            after, after_values, after_x = self.exchanged(supports, values, x)
            # λmax is accurate to some units in its last place: without a margin two tied supports would alternate
            rises = after_values > values + 1e-12 * np.abs(values)
            ends.append(supports[~rises])
            end_values.append(values[~rises])
            new = np.flatnonzero(rises)[self.unseen(after[rises])]
            supports, values, x = after[new], after_values[new], after_x[new]
        return np.concatenate(ends), np.concatenate(end_values)

    def unseen(self, supports: Index) -> list[int]:
        """The rows that were not met before, noted for the next time."""
        rows = {support.tobytes(): row for row, support in enumerate(supports)}
        new = [row for key, row in rows.items() if key not in self.seen]
        self.seen.update(rows)
        return new

    def exchanged(self, supports: Index, values: Vector, x: Matrix) -> tuple[Index, Vector, Matrix]:
        """Each support after its best exchange, or as it is where none raises λmax, with the new leading pairs."""
        columns = np.arange(self.pencil.n)
        if self.exchange_work > TABLE:
            columns = self.promising(supports[0], x[0])
        gains = self.gains(supports, values, x, columns)
        if len(supports) == 1:
            return self.several(supports, values, x, gains[0], columns)
        flat, at = gains.reshape(len(supports), -1), np.arange(len(supports))
        best = np.argmax(flat, axis=1)
        i, j = np.divmod(best, len(columns))
        after = supports.copy()
        after[at, i] = np.where(flat[at, best] > 0.0, columns[j], after[at, i])
        after.sort(axis=1)
        return after, *leading(self.pencil, after)

    def several(
        self, supports: Index, values: Vector, x: Matrix, gains: Matrix, columns: Index
    ) -> tuple[Index, Vector, Matrix]:
        """The best exchange of a single support, then the best two, four, … together while λmax rises.

        A large support needs many exchanges, and λmax costs less than a table.
        """
        best, flat, count = (supports, values, x), gains.ravel(), 1
        order = largest_first(flat, 4 * self.k)
        pairs = disjoint(np.divmod(order[flat[order] > 0.0], len(columns)))
        while count // 2 < len(pairs):
            after = supports.copy()
            after[0, pairs[:count, 0]] = columns[pairs[:count, 1]]
            after.sort(axis=1)
            found = leading(self.pencil, after)
            if not found[0][0] > best[1][0]:
                break
            best, count = (after, *found), 2 * count
        return best

    def promising(self, support: Index, x: Vector) -> Index:
        """As many outsiders as fit into a table, at least k: those that form the best pairs with x."""
        z = np.zeros(self.pencil.n)
        z[support] = x
        gain = pair_values(self.pencil, z)
        gain[support] = -math.inf
        few = max(self.k, int(self.pencil.n * TABLE / self.exchange_work))
        return largest_first(gain, min(few, self.pencil.n - self.k))

    def gains(self, supports: Index, values: Vector, x: Matrix, columns: Index) -> Matrix:
        """`exchange_gains` for each support, with 0 for members and for variables of another group."""
        self.work += len(supports) * self.exchange_work * len(columns) / self.pencil.n
        gains = exchange_gains(self.pencil, supports, columns, x, values)
        inside = np.zeros((len(supports), self.pencil.n), dtype=bool)
        np.put_along_axis(inside, supports, values=True, axis=1)
        np.copyto(gains, 0.0, where=inside[:, None, columns])
        if self.groups is not None:
            np.copyto(gains, 0.0, where=self.groups[supports][:, :, None] != self.groups[columns])
        return gains


def disjoint(pairs: tuple[Index, Index]) -> Index:
    """The pairs (i, j) in their order, without those of which i or j has occurred before, as rows."""
    kept, used = dict[int, int](), set[int]()
    for i, j in np.transpose(pairs).tolist():
        if i not in kept and j not in used:
            kept[i] = j
            used.add(j)
    return np.array(list(kept.items()), dtype=np.intp).reshape(-1, 2)


Exchanges: TypeAlias = ExchangeTable | FactorPool
