"""What an exact search returns: a vector, an upper bound, and in words how far the two were brought together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Index, Vector, frozen
from ..certificates import on_support, value
from ..pencils import Gram, Pencil
from ..relaxations.bounds import Gap


class ExactStatus(Enum):
    """How a search ended, as a sentence.

    OPTIMAL is claimed only if the interval closed to 1e-9, rounding margins included, or to rounding alone. ROUNDING
    means that the search visited everything, yet B is so ill-conditioned that the margins alone exceed that: the
    support is very likely the best one, and the interval says how much is proved.
    """

    OPTIMAL = "proved optimal"
    ROUNDING = "searched to the end; rounding of an ill-conditioned B leaves a gap above 1e-9"
    OUT_OF_TIME = "stopped by the time limit: the optimum lies between value and upper_bound"
    OUT_OF_NODES = "stopped by the node limit: the optimum lies between value and upper_bound"


@dataclass(frozen=True)
class ExactSolution:
    """The best support found and the proof of how good it is (SGEV-P).

    value        xᵀAx/xᵀBx of x, from the data
    upper_bound  no k-sparse vector has a larger value, rounding included
    optimal      the two agree to 1e-9, or to the rounding of A's entries where the optimum is zero beside them
    nodes        nodes of the search tree, supports the number of supports tried one by one

    x has unit B norm and exact zeros outside the support. supports is 0 when bounds alone closed every node.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.exact import best_subset
    >>> found = best_subset(datasets.pitprops(), 4)
    >>> found.status.value, round(found.value, 4)
    ('proved optimal', 2.9375)
    >>> [found.names[i] for i in found.support]
    ['topdiam', 'length', 'bowdist', 'whorls']
    """

    x: Vector
    support: tuple[int, ...]
    value: float
    upper_bound: float
    optimal: bool
    status: ExactStatus
    nodes: int
    supports: int
    seconds: float
    names: tuple[str, ...] | None = None

    @property
    def gap(self) -> Gap:
        """The interval that holds the optimum."""
        return Gap(self.value, self.upper_bound)

    def __str__(self) -> str:
        names = ", ".join(self.names[i] if self.names else f"x{i + 1}" for i in self.support[:12])
        return (
            f"{self.status.value}: value {self.value:.8g}, upper bound {self.upper_bound:.8g} "
            f"(gap {100.0 * self.gap.relative:.2g} %)\n"
            f"  {len(self.support)} nonzeros: {names}{' …' if len(self.support) > 12 else ''}\n"
            f"  {self.nodes} nodes and {self.supports} supports in {self.seconds:.2f} s"
        )


@dataclass(frozen=True)
class Progress:
    """A line of progress: the incumbent, the bound, the gap between them.

    Given to the `progress` callback of `best_subset` about twice a second; incumbent and bound are in the user's
    units and close in on the optimum from below and from above.
    """

    nodes: int
    supports: int
    incumbent: float
    bound: float
    open_nodes: int
    seconds: float

    @property
    def gap(self) -> Gap:
        """The interval so far."""
        return Gap(self.incumbent, self.bound)

    def __str__(self) -> str:
        return (
            f"{self.seconds:7.1f} s  incumbent {self.incumbent:.6g}  bound {self.bound:.6g}  "
            f"gap {100.0 * self.gap.relative:.3g} %  {self.nodes} nodes, {self.open_nodes} open"
        )


def rounding(pencil: Pencil, k: int) -> float:
    """8(k + 3)²u·max|Aᵢⱼ|/√(BᵢᵢBⱼⱼ): what rounding leaves between value and bound in a well-conditioned metric.

    It matters where the optimum is zero beside the entries of A, and no relative gap can close.
    """
    s = pencil.B_roots
    rows = pencil.A_diagonal / s if isinstance(pencil.A, Gram) else np.max(np.abs(pencil.A) / s, axis=1)
    return 8.0 * (k + 3) ** 2 * UNIT_ROUNDOFF * float(np.max(rows / s))


def exact_from(
    pencil: Pencil,
    support: Index,
    upper: float,
    stopped: ExactStatus | None,
    *,
    nodes: int,
    supports: int,
    seconds: float,
) -> ExactSolution:
    """The record of a search: optimal when it was not stopped and the interval is closed.

    The bound is at least the attained value, which is rounded too. A search that was stopped counts as optimal all
    the same when its interval is closed.
    """
    x = frozen(on_support(pencil, support))
    attained = value(pencil, x)
    upper = max(upper, attained)
    closed = Gap(attained, upper).closed or upper - attained <= rounding(pencil, len(support))
    ended = ExactStatus.OPTIMAL if closed else ExactStatus.ROUNDING
    return ExactSolution(
        x=x,
        support=tuple(int(i) for i in support),
        value=attained,
        upper_bound=upper,
        optimal=closed,
        status=ended if stopped is None or closed else stopped,
        nodes=nodes,
        supports=supports,
        seconds=seconds,
        names=pencil.names,
    )
