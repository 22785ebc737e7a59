"""The ρ̃ path: Algorithm 1 over a grid of ρ̃, the largest useful ρ̃, and whether some ρ̃ gives k nonzeros."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._numerics.checks import Vector, as_callback, as_numbers, as_whole, says_stop
from .._numerics.selection import parameter_for_count
from ..algorithms import native_run, sparse_gev
from ..certificates import renormalize, value
from ..mm import MMResult, Status, Stop, expect_stop, minimize
from ..penalties import Penalty, card
from ..pencils import Pencil, expect_pencil
from ..programs import MACHINE_EPS, SparseGEV
from ..solutions import checked_k
from ..steps.native import native_step


def path(
    pencil: Pencil,
    rhos: Sequence[float] | None = None,
    *,
    points: int = 40,
    eps: float = MACHINE_EPS,
    x0: Any = None,
    penalty: Penalty | None = None,
    stop: Stop | None = None,
    callback: Callable[[PathPoint], Any] | None = None,
) -> Path:
    """Algorithm 1 over a grid of ρ̃, from sparse to dense.

    Not every cardinality lies on the path: as ρ̃ falls, variables may enter in pairs. On the pit props no ρ̃ gives four
    nonzeros from the leading eigenvector. `Path.missing` lists what was not met; `solve` finds these k all the same.

    Parameters
    ----------
    pencil : Pencil
        (A, B).
    rhos : sequence of float or None
        The values of ρ̃; None for `points` of them in geometric progression from `rho_max` to a ten-thousandth of it.
    points : int
        How many values of ρ̃ where none are given.
    eps : float
        ε of the penalty.
    x0 : array or None
        Where every run starts; None for the leading eigenvector.
    penalty : Penalty or None
        The penalty of `SparseGEV`; None for the paper's logarithm.
    stop : Stop or None
        When a run ends. The metric shift and the native engine are used.
    callback : callable or None
        Called with each point as soon as it is computed; the path ends when it returns True.

    Returns
    -------
    Path
        One point for each ρ̃, the largest ρ̃ first.

    Examples
    --------
    >>> from dcgev_cvx import datasets, path
    >>> found = path(datasets.pitprops(), [30, 12, 9, 7.5])
    >>> found.reached, found.missing
    ((2, 3, 5, 6), (4,))
    """
    rule, top = expect_stop(stop), rho_max(pencil, x0, eps, penalty)
    count = as_whole(points, "points", high=10_000)
    grid = np.geomspace(top, 1e-4 * top, count) if 1e-4 * top > 0.0 else np.zeros(1)
    ordered = sorted(as_numbers(grid if rhos is None else rhos, "rhos"), reverse=True)
    listener, found = as_callback(callback, "callback"), list[PathPoint]()
    for rho in ordered:
        # every run starts at x0: at tiny ε zeros are absorbing, and from a sparser neighbour nothing would come back
        result = sparse_gev(
            pencil, rho=rho, eps=eps, x0=x0, penalty=penalty, engine="native", shift="metric", stop=rule
        )
        found.append(point_of(pencil, float(rho), result))
        if listener is not None and says_stop(listener(found[-1])):
            break
    return Path(pencil, tuple(found))


def point_of(pencil: Pencil, rho: float, result: MMResult) -> PathPoint:
    """A run as a point of a path."""
    k = card(result.x)
    found = value(pencil, renormalize(pencil, result.x)) if k else math.nan
    return PathPoint(rho, k, found, result.support, result)


@dataclass(frozen=True)
class PathPoint:
    """One ρ̃ (or ν, for FDA) of a path: the d.c. run, and its renormalized value xᵀAx/xᵀBx (NaN when collapsed)."""

    rho: float
    k: int
    value: float
    support: tuple[int, ...]
    result: MMResult


@dataclass(frozen=True)
class Path:
    """The points of a ρ̃ path, from sparse to dense, and the cardinalities that were reached and missed.

    Parameters
    ----------
    pencil : Pencil
        (A, B).
    points : tuple of PathPoint
        One for each ρ̃.
    parameter : {"rho", "nu"}
        What runs along the path: ρ̃, or ν for FDA.

    Examples
    --------
    >>> from dcgev_cvx import datasets, path
    >>> found = path(datasets.pitprops(), [12, 7.5])
    >>> round(found.best(6).value, 3)
    3.771
    """

    pencil: Pencil
    points: tuple[PathPoint, ...]
    parameter: Literal["rho", "nu"] = "rho"

    @property
    def symbol(self) -> str:
        """The paper's letter for what runs along the path: ρ̃, or ν for FDA."""
        return {"rho": "ρ̃", "nu": "ν"}[self.parameter]

    @property
    def reached(self) -> tuple[int, ...]:
        """The cardinalities on the path."""
        return tuple(sorted({point.k for point in self.points if point.k > 0}))

    @property
    def missing(self) -> tuple[int, ...]:
        """The cardinalities between the smallest and the largest reached that no ρ̃ tried gave."""
        reached = set(self.reached)
        return tuple(k for k in range(min(reached, default=0), max(reached, default=0)) if k not in reached)

    def best(self, k: int) -> PathPoint | None:
        """The point of cardinality k with the largest value, if the path has one."""
        k = checked_k(k, self.pencil.n)
        found = [point for point in self.points if point.k == k]
        return max(found, key=lambda point: point.value) if found else None

    def to_rows(self) -> list[dict[str, Any]]:
        """Plain rows, for tables and JSON."""
        return [
            {
                self.parameter: p.rho,
                "k": p.k,
                "value": p.value,
                "status": p.result.status.name,
                "stationarity": p.result.certificate.stationarity,
                "iterations": p.result.n_iter,
                "support": list(p.support),
            }
            for p in self.points
        ]

    def __str__(self) -> str:
        lines = [f"{self.parameter:>12} {'k':>4} {'value':>12}  status"]
        lines += [f"{p.rho:12.5g} {p.k:4d} {p.value:12.6g}  {p.result.status.value}" for p in self.points]
        if self.missing:
            lines.append(f"no {self.symbol} tried gave k = {', '.join(map(str, self.missing))}")
        return "\n".join(lines)


def rho_max(
    pencil: Pencil, x0: Vector | None = None, eps: float = MACHINE_EPS, penalty: Penalty | None = None
) -> float:
    """The smallest ρ̃ at which the first MM step from x0 collapses to zero, metric shift (beyond the paper).

    x = 0 minimises the surrogate exactly when |cᵢ| ≤ ½ρ_ε wᵢ for every i, c = (A + τB)y: the
    KKT rows at 0. So ρ_max = log(1 + 1/ε) · max 2|cᵢ|(|yᵢ| + ε), and at ρ̃ ≥ ρ_max the run is over. With another
    penalty it is the largest 2|cᵢ| over the slope at ρ̃ = 1; entries that no price makes collapse are left out.

    Parameters
    ----------
    pencil : Pencil
        (A, B).
    x0 : array or None
        The start, in Ω; None for the leading eigenvector. From another start the number is another one.
    eps : float
        ε of the penalty.
    penalty : Penalty or None
        As in `path`.

    Returns
    -------
    float
        The smallest such ρ̃.

    Examples
    --------
    >>> from dcgev_cvx import datasets, dc_pca, rho_max
    >>> pencil = datasets.pitprops()
    >>> top = rho_max(pencil)
    >>> round(top, 3), dc_pca(pencil, rho=0.99 * top).status.name, dc_pca(pencil, rho=1.01 * top).status.name
    (50.016, 'SMALL_STEP', 'COLLAPSED')
    """
    program = SparseGEV(pencil, 1.0, eps, shift="metric", penalty=penalty)
    y = program.start(x0)
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = 2.0 * np.abs(program.linear(y)) / program.slopes(y)
    # not where the slope is 0, or where the price would make the slope at 0 overflow
    possible = needed <= 1e300 / (pencil.n * max(1.0, float(program.slopes(np.zeros(1))[0])))
    return float(np.max(needed[possible], initial=0.0))


def on_path(pencil: Pencil, k: int, penalty: Penalty | None = None) -> bool:
    """Does some ρ̃ take Algorithm 1 (metric shift, from the leading eigenvector) to cardinality k? By bisection."""
    k = checked_k(k, expect_pencil(pencil).n)
    program = SparseGEV(pencil, 0.0, shift="metric", penalty=penalty)
    left = 3000

    def count(rho: float) -> int | None:
        nonlocal left
        # zeros stay: a run with fewer than k nonzeros will not come back to k
        run = native_run(
            program.with_rho(rho), stop=Stop(max_iter=300, step=1e-8), callback=lambda point: card(point.x) < k
        )
        if card(run.x) != k:
            return card(run.x)
        # that run extrapolates and may stop on its way: Algorithm 1 itself decides
        run = minimize(program.with_rho(rho), native_step, stop=Stop(max_iter=left), shrink=True)
        left -= run.n_iter
        finished = run.status is not Status.OUT_OF_ITERATIONS
        return None if left < 1 or (card(run.x) == k and not finished) else card(run.x)

    return parameter_for_count(count, k, 0.0, rho_max(pencil, penalty=penalty), tries=24, width=0.0) is not None
