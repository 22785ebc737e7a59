"""What an exact search returns: a vector, a proved upper bound, and how the search ended."""

from dataclasses import dataclass, field
from enum import Enum

from .._numerics.checks import UNIT_ROUNDOFF, Index, Vector, frozen
from .._numerics.proofs import times
from .._numerics.text_tables import count
from ..certificates import on_support, value
from ..pencils import Pencil
from ..relaxations.bounds import Gap
from .duals import StoredDual
from .enumeration import ScaledProblem
from .proof import Proof, SearchTree


class ExactStatus(Enum):
    """How an exact search ended, as a sentence.

    OPTIMAL means that value and upper bound agree to 1e-9, rounding margins included, or to rounding alone. ROUNDING
    means that every support was tried or excluded, yet B is so ill-conditioned that the margins alone exceed that.

    Examples
    --------
    >>> from dcgev_cvx.exact import ExactStatus
    >>> ExactStatus.OPTIMAL.value
    'proved optimal'
    """

    OPTIMAL = "proved optimal"
    ROUNDING = "searched to the end; rounding of an ill-conditioned B leaves a gap above 1e-9"
    OUT_OF_TIME = "stopped by the time limit: the optimum lies between value and upper_bound"
    OUT_OF_NODES = "stopped by the node limit: the optimum lies between value and upper_bound"


@dataclass(frozen=True)
class ExactSolution:
    """The best support found and the proof of how good it is (SGEV-P).

    Parameters
    ----------
    x : ndarray
        The vector, unit in the B norm, with exact zeros outside the support.
    support : tuple of int
        The positions of the variables that were chosen.
    value : float
        xᵀAx/xᵀBx, computed from the data.
    upper_bound : float
        No k-sparse vector has a larger value, rounding included.
    status : ExactStatus
        How the search ended.
    nodes : int
        Nodes of the search tree; 0 where every support was tried.
    supports : int
        Supports tried one by one; 0 where bounds alone closed every node.
    seconds : float
        The time it took.
    proof : Proof
        Why no support exceeds the upper bound; `proof.save(path)` writes it to a file that others can check.
    screened : int
        Variables removed before branching: no support that contains one of them exceeds value + 1e-10·|value|, by the
        pairwise bound (`relaxations.pairwise`).
    names : tuple of str, optional
        The variables' names, from the pencil.

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
    status: ExactStatus
    nodes: int
    supports: int
    seconds: float
    proof: Proof = field(repr=False, compare=False)
    screened: int = 0
    names: tuple[str, ...] | None = None

    @property
    def optimal(self) -> bool:
        """Do value and bound agree to 1e-9, or to the rounding of A's entries where the optimum is zero beside them?"""
        return self.status is ExactStatus.OPTIMAL

    @property
    def gap(self) -> Gap:
        """The interval that holds the optimum."""
        return Gap(self.value, self.upper_bound)

    def __str__(self) -> str:
        removed = f"; {self.screened} variables proved to be in no better support" if self.screened else ""
        names = ", ".join(self.names[i] if self.names else f"x{i + 1}" for i in self.support[:12])
        return (
            f"{self.status.value}: value {self.value:.8g}, upper bound {self.upper_bound:.8g} "
            f"(gap {100.0 * self.gap.relative:.2g} %)\n"
            f"  {count(len(self.support), 'nonzero')}: {names}{' …' if len(self.support) > 12 else ''}\n"
            f"  {self.nodes} nodes and {self.supports} supports in {self.seconds:.2f} s{removed}"
        )


@dataclass(frozen=True)
class Progress:
    """The state of a running search, given to the `progress` callback of `best_subset`.

    Parameters
    ----------
    nodes : int
        Nodes visited.
    supports : int
        Supports tried one by one.
    incumbent : float
        The best value so far.
    bound : float
        The proved upper bound so far.
    open_nodes : int
        Nodes that are still open.
    seconds : float
        Time since the start.

    Examples
    --------
    >>> from dcgev_cvx.exact import Progress
    >>> Progress(nodes=12, supports=30, incumbent=2.0, bound=2.5, open_nodes=3, seconds=0.5)
    Progress(nodes=12, supports=30, incumbent=2.0, bound=2.5, open_nodes=3, seconds=0.5)
    """

    nodes: int
    supports: int
    incumbent: float
    bound: float
    open_nodes: int
    seconds: float


def exact_from(
    problem: ScaledProblem,
    support: Index,
    level: float,
    tree: SearchTree,
    duals: list[StoredDual],
    seconds: float,
    stopped: ExactStatus | None = None,
    nodes: int = 0,
    supports: int = 0,
    screened: int = 0,
) -> ExactSolution:
    """The record of a search that proved a level, optimal where its interval is closed, even if a limit stopped it."""
    pencil = problem.given
    x = frozen(on_support(pencil, support))
    attained = value(pencil, x)
    upper = max(times(level, problem.scaling.o), attained)  # the value is rounded too
    closed = Gap(attained, upper).closed or upper - attained <= rounding(pencil, len(support))
    status = ExactStatus.OPTIMAL if closed else stopped or ExactStatus.ROUNDING
    chosen, proof = tuple(support.tolist()), Proof(problem, x, upper, duals, list(tree.steps(level)))
    return ExactSolution(x, chosen, attained, upper, status, nodes, supports, seconds, proof, screened, pencil.names)


def rounding(pencil: Pencil, k: int) -> float:
    """8(k + 3)²u·max|Aᵢⱼ|/√(BᵢᵢBⱼⱼ): what rounding leaves between value and bound in a well-conditioned metric.

    It matters where the optimum is zero beside the entries of A, and no relative gap can close.
    """
    return 8.0 * (k + 3) ** 2 * UNIT_ROUNDOFF * pencil.A_size(1.0 / pencil.B_roots)
