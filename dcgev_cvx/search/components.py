"""Sparse components one after the other, A deflated by each before the next is sought (Section 4.4, Section 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Matrix, Vector, as_callback, as_number, frozen, listed, says_stop, shown
from ..algorithms import dc_pca, sparse_gev
from ..certificates import value
from ..errors import InvalidParameter
from ..penalties import Penalty
from ..pencils import Pencil
from ..programs import MACHINE_EPS
from ..solutions import Solution, solution_of
from . import explained_variance
from .deflation import Deflation, deflate, rule_of
from .solve import Effort, checked_plan, solve
from .starts import size_of
from .working_set import WorkingSet, affordable, working_set


def components(
    pencil: Pencil,
    ks: Sequence[int | Sequence[int]],
    *,
    deflation: Deflation = "orthogonalized-hotelling",
    effort: Effort = "normal",
    random_state: int = 0,
    callback: Callable[[Solution], Any] | None = None,
) -> Components:
    """Sparse components one after the other, A deflated by each before the next is sought (Section 4.4).

    Parameters
    ----------
    pencil : Pencil
        (A, B); with views (`cca_pencil`) both views of a component are deflated.
    ks : sequence
        One cardinality per component, or for views one tuple such as (kx, ky) per component.
    deflation : {"orthogonalized-hotelling", "hotelling", "projection", "schur"}
        The first is the paper's. For A = CᵀC with large n take one of the last two, which keep the factor; the others
        form an n × n matrix.
    effort : {"quick", "normal", "high"}
        As in `solve`, for each component.
    random_state : int
        As in `solve`, for each component.
    callback : callable or None
        Called with each Solution, its value against the undeflated A; the search ends when it returns True.

    Returns
    -------
    Components
        As many as were found before the callback said stop.

    Raises
    ------
    InvalidParameter
        For an empty ks, a cardinality out of range, an unknown deflation, more components than A has rank, or
        (Schur) a component that explains nothing.

    Examples
    --------
    >>> from dcgev_cvx import components, datasets
    >>> components(datasets.pitprops(), [])
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: ks is empty: give one cardinality per component, e.g. ks=[6, 2, 2].
    """
    wanted = listed(ks)
    if not wanted:
        empty = "ks is empty: give" if isinstance(ks, (list, tuple)) else f"ks = {shown(ks)} must list"
        raise InvalidParameter(f"{empty} one cardinality per component, e.g. ks=[6, 2, 2].")
    most = max(size_of(checked_plan(pencil, k)) for k in wanted)
    rule_of(deflation)
    listener = as_callback(callback, "callback")
    if (screened := working_set(pencil, most)) is not None:

        def tell(solution: Solution) -> Any:
            return None if listener is None else listener(screened.embed(solution))

        part = components(
            screened.pencil, wanted, deflation=deflation, effort=effort, random_state=random_state, callback=tell
        )
        return embedded(screened, part)

    def find(current: Pencil, j: int) -> Solution:
        return solve(current, wanted[j], effort=effort, random_state=random_state, check_path=False)

    return in_turn(pencil, len(wanted), find, deflation, listener)


def components_by_penalty(
    pencil: Pencil, count: int, rho: float, deflation: Deflation, penalty: Penalty | None = None
) -> Components:
    """Components by Algorithm 2; by Algorithm 1 where deflation makes A indefinite.

    Which variables are affordable is a statement about the cardinality, and about the penalty that stands for it.
    """
    price = as_number(rho, "rho")
    if penalty is None and (screened := affordable(pencil, price)) is not None:
        return embedded(screened, components_by_penalty(screened.pencil, count, rho, deflation))

    def find(current: Pencil, j: int) -> Solution:
        if current.semidefinite:
            method, result = "Algorithm 2 (dc_pca)", dc_pca(current, rho=rho, penalty=penalty)
        else:
            method, result = "Algorithm 1 (sparse_gev)", sparse_gev(current, rho=rho, engine="native", penalty=penalty)
        if not result.x.any():
            raise InvalidParameter(f"rho = {rho} gives x = 0 for component {j + 1}: lower rho.")
        seconds = sum(iterate.seconds for iterate in result.history)
        settings: Any = {"rho": rho, "eps": MACHINE_EPS, "certificate": result.certificate}
        return solution_of(current, result.x, method, seconds, **settings)

    return in_turn(pencil, count, find, deflation)


def in_turn(
    pencil: Pencil,
    count: int,
    find: Callable[[Pencil, int], Solution],
    deflation: Deflation,
    listener: Callable[[Solution], Any] | None = None,
) -> Components:
    """Component j by find(deflated pencil, j) for each j, or until the listener returns True."""
    current, V = pencil, np.zeros((pencil.n, 0))
    solutions: list[Solution] = []
    inner: list[float] = []
    for j in range(count):
        if j:
            # deflated before the search and not after it: the last component needs no deflation
            current = deflate(current, V[:, -1], deflation, V[:, :-1])
            # what is left but for rounding would be scaled up to look like a direction
            if current.A_scale <= 100.0 * pencil.n * UNIT_ROUNDOFF * pencil.A_scale:
                raise InvalidParameter(
                    f"Nothing is left of A after {j} component(s): it has rank {j} or less. Ask for at most {j}."
                )
        solution = find(current, j)
        inner.append(solution.value)
        solutions.append(replace(solution, value=value(pencil, solution.x)))
        V = np.column_stack([V, solution.x])
        if listener is not None and says_stop(listener(solutions[-1])):
            break
    return Components(pencil, tuple(solutions), frozen(V), tuple(inner), deflation)


def embedded(screened: WorkingSet, found: Components) -> Components:
    """The components of the sub-pencil on a working set as components of the whole.

    For vectors that are zero outside the working set, deflating the sub-pencil is deflating the whole.
    """
    solutions = tuple(map(screened.embed, found.solutions))
    V = np.column_stack([solution.x for solution in solutions])
    return Components(screened.whole, solutions, frozen(V), found.deflated_values, found.deflation)


@dataclass(frozen=True)
class Components:
    """Sparse components in the order in which they were found, each valued against the undeflated pencil.

    Sparse components are correlated: in the deflated pencil a component is worth only what the earlier ones did not
    explain.

    Parameters
    ----------
    pencil : Pencil
        (A, B), undeflated.
    solutions : tuple of Solution
        One for each component.
    V : array
        The components as columns, unit in the B norm.
    deflated_values : tuple of float
        The values in the deflated pencils in which they were found.
    deflation : str
        How A was deflated.

    Examples
    --------
    >>> from dcgev_cvx import components, datasets
    >>> found = components(datasets.pitprops(), [2, 2], effort="quick")
    >>> [solution.support for solution in found.solutions], found.V.shape
    ([(0, 1), (2, 3)], (13, 2))
    >>> [round(float(share), 3) for share in found.projector_trace()]
    [0.15, 0.295]
    """

    pencil: Pencil
    solutions: tuple[Solution, ...]
    V: Matrix
    deflated_values: tuple[float, ...]
    deflation: Deflation

    @property
    def values(self) -> tuple[float, ...]:
        """xᵀAx/xᵀBx of each component, A undeflated."""
        return tuple(solution.value for solution in self.solutions)

    @property
    def cardinalities(self) -> tuple[int, ...]:
        """The number of nonzeros of each component."""
        return tuple(solution.k for solution in self.solutions)

    def projector_trace(self) -> Vector:
        """tr(P_V A)/tr(A) of the first 1, 2, … components, the paper's measure; an error for CCA."""
        return self._cumulative(explained_variance.projector_trace)

    def adjusted(self) -> Vector:
        """Zou's adjusted variance of the first 1, 2, … components, as a share of the total."""
        return self._cumulative(explained_variance.adjusted)

    def plain_sum(self) -> Vector:
        """Σ xᵀAx/tr(A) of the first 1, 2, … components: counts shared variance more than once."""
        return self._cumulative(explained_variance.plain_sum)

    def _cumulative(self, measure: Callable[[Pencil, Matrix], float]) -> Vector:
        return np.array([measure(self.pencil, self.V[:, : j + 1]) for j in range(self.V.shape[1])])

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, for JSON; the shares of explained variance only where A is a variance."""
        found: dict[str, Any] = {
            "deflation": self.deflation,
            "components": [solution.to_dict() for solution in self.solutions],
            "deflated_values": list(self.deflated_values),
        }
        if explained_variance.is_variance(self.pencil):
            names = ("projector_trace", "adjusted", "plain_sum")
            found["explained"] = {name: getattr(self, name)().tolist() for name in names}
        return found

    def __str__(self) -> str:
        lines = [f"{j + 1}. {solution}" for j, solution in enumerate(self.solutions)]
        if explained_variance.is_variance(self.pencil):
            shares = (self.projector_trace()[-1], self.adjusted()[-1], self.plain_sum()[-1])
            lines.append("projector trace {:.2%}, adjusted {:.2%}, plain sum {:.2%}".format(*shares))
        return "\n".join(lines)
