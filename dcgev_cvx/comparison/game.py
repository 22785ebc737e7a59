"""One pencil, one k, one clock: what several players of a comparison need, computed once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..pencils import Pencil
from ..programs import smallest_tau

if TYPE_CHECKING:
    from ..exact import ExactSolution, Progress
    from ..mm import MMResult
    from ..relaxations import Relaxation

RHO_TRIES = 24
MM_STEPS = 1000


@dataclass(frozen=True)
class Game:
    """One pencil, one k, one clock; what several methods need is computed once.

    deadline is a time of perf_counter, infinite without a limit. Properties are cached: the SDP, the exact search
    and the search for ρ̃ run at most once, in the turn of the first method that needs them. reports holds what the
    exact search said on its way, which is all there is of it after an interrupt.
    """

    pencil: Pencil
    k: int
    deadline: float
    random_state: int
    force: bool
    reports: list[Progress] = field(default_factory=list["Progress"])

    @property
    def rest(self) -> float:
        """Seconds until the deadline, infinite without one."""
        return self.deadline - perf_counter()

    @property
    def left(self) -> float | None:
        """Seconds for one of several methods: half of the rest, None without a limit.

        Half, so that the first method that is slow leaves time to the others: vectors without a bound are no
        comparison. At least 0.05 s, since a time limit of zero is an error to some solvers.
        """
        return None if math.isinf(self.deadline) else max(0.05, 0.5 * self.rest)

    @property
    def until(self) -> float:
        """The time of perf_counter at which one of several methods is to end."""
        return perf_counter() + 0.5 * self.rest

    @cached_property
    def homogeneous(self) -> Relaxation:
        """The homogeneous SDP, whose bound and whose rounded vector are two rows."""
        from ..relaxations import homogeneous_sdp

        return homogeneous_sdp(self.pencil, self.k, time_limit=self.left, force=self.force)

    @cached_property
    def exact(self) -> ExactSolution:
        """Branch and bound: the last to play, with all the time that is left."""
        from ..exact import best_subset

        limit = None if math.isinf(self.deadline) else max(0.0, self.rest)
        return best_subset(self.pencil, self.k, time_limit=limit, progress=self.reports.append)

    @cached_property
    def engine(self) -> str:
        """Who searches for ρ̃: DC-PCA's closed form where there is one, else the native steps."""
        return "closed" if self.pencil.B is None and smallest_tau(self.pencil, "identity") == 0.0 else "native"

    @cached_property
    def best_run(self) -> tuple[float, MMResult | None]:
        """(ρ̃, run) where Algorithm 1 ends with k nonzeros, or with the nearest number below, by bisection."""
        until = self.until
        return rho_for(lambda rho: mm_run(self.pencil, rho, self.engine, until), self.pencil, self.k, until)

    def run(self, engine: str) -> tuple[float, MMResult]:
        """(ρ̃, run) of Algorithm 1 at the ρ̃ found, stopped when its time is over; the search's run is not redone."""
        rho, found = self.best_run
        if found is not None and engine == self.engine:
            return rho, found
        return rho, mm_run(self.pencil, rho, engine, self.until)


def mm_run(pencil: Pencil, rho: float, engine: str, deadline: float = math.inf) -> MMResult:
    """Algorithm 1 (metric shift), or DC-PCA's closed form.

    At most MM_STEPS steps: a run that has not converged by then, or by the deadline, is shown as such.
    """
    from ..algorithms import dc_pca, sparse_gev
    from ..mm import Stop

    stop = Stop(max_iter=MM_STEPS)

    def late(_: object) -> bool:
        return perf_counter() > deadline

    if engine == "closed":
        return dc_pca(pencil, rho=rho, stop=stop, callback=late)
    shift: Any = "metric"
    chosen: Any = engine
    return sparse_gev(pencil, rho=rho, shift=shift, engine=chosen, stop=stop, callback=late)


def rho_for(
    run: Callable[[float], MMResult], pencil: Pencil, k: int, deadline: float = math.inf
) -> tuple[float, MMResult | None]:
    """Bisection on ρ̃: cardinality falls, not always by one, as ρ̃ grows, and not every k is on the path.

    Parameters
    ----------
    run
        From ρ̃ to a finished MM run.
    deadline
        A time of perf_counter after which the best so far is returned.

    Returns
    -------
    (ρ̃, run)
        None for the run when no converged one had between 1 and k nonzeros.

    A run that was stopped by its iteration limit does not count, even if it has k nonzeros at that moment.
    """
    from ..search.paths import rho_max

    low, high = 0.0, rho_max(pencil)
    best: tuple[float, MMResult | None] = (high, None)
    nearest = 0
    for _ in range(RHO_TRIES if pencil.lambda_max > 0.0 else 0):  # else every run ends at x = 0
        if high - low <= 1e-4 * high or perf_counter() > deadline:
            break
        rho = 0.5 * (low + high)
        result = run(rho)
        found = len(result.support)
        # on its way to fewer nonzeros a run passes k: only where it stays does it count
        if result.converged and nearest < found <= k:
            best, nearest = (rho, result), found
        if nearest == k:
            break
        low, high = (rho, high) if found > k else (low, rho)
    return best
