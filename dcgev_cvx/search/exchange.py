"""Exchange search: exchange one variable of a support for another while λmax of the sub-pencil rises.

A support that no exchange improves is far better than an arbitrary stationary point of the d.c. program, of which
at tiny ε nearly every support carries one. It is a local optimum and no proof. Three data structures say what an
exchange is worth; `exchanges_for` chooses one, and the callers see `improve` alone:

==================  ==========================  =====================================================
structure           pencil                      one exchange
==================  ==========================  =====================================================
`ExchangeTable`     any                         the gain of every exchange, from one k × k inverse
`RankOneTableau`    A = aaᵀ, B a matrix (FDA)   the value of every exchange, from one n × n tableau
`FactorPool`        A = CᵀC, B = I, large       estimates for a few members and outsiders at a time
==================  ==========================  =====================================================
"""

from __future__ import annotations

from typing import ClassVar, Protocol

from .._numerics.checks import Index, Vector
from ..pencils import Gram, Pencil
from .exchange_factor import FactorPool
from .exchange_rank_one import RankOneTableau
from .exchange_table import TABLE, ExchangeTable, table_work


class Exchanges(Protocol):
    """Local search over the supports of k variables of one pencil."""

    work: float
    """Multiplications so far."""
    exhaustive: ClassVar[bool]
    """Whether every exchange is looked at before a support counts as one that none improves."""

    @property
    def exchange_work(self) -> float:
        """About how many multiplications one exchange takes."""
        ...

    def improve(self, supports: Index) -> tuple[Index, Vector]:
        """The local optima that exchanges reach from the rows of an m × k table, and their values.

        A search that meets a support seen before ends there, as its end is known: then fewer rows come back.
        """
        ...


def exchanges_for(pencil: Pencil, k: int, groups: Index | None = None) -> Exchanges:
    """The exchange search for supports of k variables; with a label per variable only within groups of one label."""
    if groups is None and isinstance(pencil.A, Gram):
        if pencil.B is not None and len(pencil.A.C) == 1:
            return RankOneTableau(pencil, k)
        if pencil.B is None and table_work(pencil, k) > TABLE:
            return FactorPool(pencil, k)
    return ExchangeTable(pencil, k, groups)
