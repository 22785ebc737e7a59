"""One pencil, one k, one time limit, and the computations that several methods of a comparison share."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from .._numerics.selection import parameter_for_count
from ..pencils import Pencil
from ..programs import smallest_tau

if TYPE_CHECKING:
    from ..exact import ExactSolution, Progress
    from ..mm import MMResult
    from ..relaxations import Relaxation

MM_STEPS = 1000
"""Most MM steps of one run: pit props needs 26, and a run that takes more is shown as not converged."""

HALVINGS = 24
"""Most runs of the bisection on ρ̃: down to 2⁻²⁴ of the largest ρ̃, where nothing is penalised."""


@dataclass(frozen=True)
class Context:
    """What a method of a comparison is given.

    deadline is a time of perf_counter, infinite without a limit. The cached properties are computed at most once, by
    the first method that needs them. progress collects the reports of the exact search, which remain after an
    interrupt.
    """

    pencil: Pencil
    k: int
    deadline: float
    random_state: int
    force: bool
    progress: list[Progress] = field(default_factory=list["Progress"])

    @property
    def remaining(self) -> float:
        """Seconds until the deadline, infinite without one."""
        return self.deadline - perf_counter()

    @property
    def time_limit(self) -> float | None:
        """Seconds for one of several methods: half of what remains, so that a slow method leaves time to the others.

        At least 0.05 s, since some solvers do not accept a time limit of zero; None without a limit.
        """
        return None if math.isinf(self.deadline) else max(0.05, 0.5 * self.remaining)

    @cached_property
    def psd(self) -> bool:
        """Is A ⪰ 0?"""
        return smallest_tau(self.pencil, "identity") == 0.0

    @cached_property
    def homogeneous(self) -> Relaxation:
        """The homogeneous SDP, whose bound and whose rounded vector are two rows."""
        from ..relaxations import homogeneous_sdp

        return homogeneous_sdp(self.pencil, self.k, time_limit=self.time_limit, force=self.force)

    @cached_property
    def exact(self) -> ExactSolution:
        """Branch and bound, with all the time that remains: it runs last."""
        from ..exact import best_subset

        limit = None if math.isinf(self.deadline) else max(0.0, self.remaining)
        return best_subset(self.pencil, self.k, time_limit=limit, progress=self.progress.append)

    @cached_property
    def fastest_engine(self) -> str:
        """The engine that searches for ρ̃: DC-PCA's closed form where B = I and A ⪰ 0, else the native steps."""
        return "closed" if self.pencil.B is None and self.psd else "native"

    @cached_property
    def best_run(self) -> tuple[float, MMResult | None]:
        """(ρ̃, run) where Algorithm 1 ends with k nonzeros, or with the nearest number below k."""
        return rho_for(self.pencil, self.k, self.fastest_engine, perf_counter() + 0.5 * self.remaining)

    def run(self, engine: str) -> tuple[float, MMResult]:
        """(ρ̃, run) of Algorithm 1 by an engine, at the ρ̃ of `best_run`."""
        rho, found = self.best_run
        if found is not None and engine == self.fastest_engine:
            return rho, found
        return rho, mm_run(self.pencil, rho, engine, perf_counter() + 0.5 * self.remaining)


def mm_run(pencil: Pencil, rho: float, engine: str, deadline: float) -> MMResult:
    """Algorithm 1 with the metric shift, or DC-PCA in closed form, until it converges or the deadline has passed."""
    from ..algorithms import dc_pca, sparse_gev
    from ..mm import Stop

    def late(_: object) -> bool:
        return perf_counter() > deadline

    stop = Stop(max_iter=MM_STEPS)
    if engine == "closed":
        return dc_pca(pencil, rho=rho, stop=stop, callback=late)
    return sparse_gev(pencil, rho=rho, shift="metric", engine=cast("Any", engine), stop=stop, callback=late)


def rho_for(pencil: Pencil, k: int, engine: str, deadline: float) -> tuple[float, MMResult | None]:
    """Bisection on ρ̃ for a converged run with k nonzeros, else with the nearest number below k, else None.

    The number of nonzeros falls as ρ̃ grows, not always by one: not every k is reached from the leading eigenvector.
    """
    from ..search.path import rho_max

    top = rho_max(pencil)
    runs: dict[float, MMResult] = {}

    def count(rho: float) -> int | None:
        if perf_counter() > deadline:
            return None
        runs[rho] = mm_run(pencil, rho, engine, deadline)
        found = len(runs[rho].support)
        # a run that is not finished may pass k on its way to fewer nonzeros
        return found if runs[rho].converged or found != k else k - 1

    if pencil.lambda_max > 0.0:  # else every run ends at x = 0
        parameter_for_count(count, k, 0.0, top, tries=HALVINGS, width=1e-4)
    below = [rho for rho, run in runs.items() if run.converged and 0 < len(run.support) <= k]
    best = max(below, key=lambda rho: len(runs[rho].support), default=None)
    return (top, None) if best is None else (best, runs[best])
