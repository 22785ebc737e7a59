"""From ρ̃ to k: the largest useful ρ̃, the ρ̃ path, and the search for a vector of given cardinality."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal

import numpy as np

from .._numerics.checks import Vector, as_flag, as_generator, as_numbers, as_whole, one_of
from .._numerics.threads import one_thread
from ..algorithms import native_run, sparse_gev
from ..certificates import Certificate, Solution, certify, checked_k, renormalize, solution_of, value
from ..mm import MMResult, Status, Stop, expect_stop, minimize
from ..pencils import Gram, Pencil, expect_pencil
from ..programs import MACHINE_EPS, SparseGEV, card, log_scale
from ..steps.native import native_step
from .stationary import program_of, stationary_near
from .supports import EFFORTS, SMALL, Effort, best_support, greedy, in_units, spread

NEWTON_LIMIT = 400
"""Supports up to this size get their stationary point from Newton's method: a few dense systems."""
NEGLIGIBLE = 1e-7
"""A ρ_ε this small, as a share of λ·min Bᵢᵢxᵢ², leaves x stationary to the certificate's tolerance."""


MOST_POINTS = 10_000
"""Points of a path: each is a run."""


def rho_max(pencil: Pencil, x0: Vector | None = None, eps: float = MACHINE_EPS) -> float:
    """The smallest ρ̃ at which the first MM step from x0 collapses to zero, metric shift (beyond the paper).

    x = 0 minimises the surrogate exactly when |cᵢ| ≤ ½ρ_ε wᵢ for every i, c = (A + τB)y: the
    KKT rows at 0. So ρ_max = log(1 + 1/ε) · max 2|cᵢ|(|yᵢ| + ε), and at ρ̃ ≥ ρ_max the run is over.

    Parameters
    ----------
    pencil
        (A, B).
    x0
        The start, in Ω; the leading eigenvector by default. From another start the number is another one.
    eps
        ε of the penalty.

    Examples
    --------
    >>> from dcgev_cvx import datasets, dc_pca, rho_max
    >>> pencil = datasets.pitprops()
    >>> top = rho_max(pencil)
    >>> round(top, 3), dc_pca(pencil, rho=0.99 * top).status.name, dc_pca(pencil, rho=1.01 * top).status.name
    (50.016, 'SMALL_STEP', 'COLLAPSED')
    """
    program = SparseGEV(pencil, 0.0, eps, shift="metric")
    y = program.start(x0)
    scale = log_scale(program.eps)  # near 1/ε for a large ε, so that scale·ε is a number
    return float(np.max(2.0 * np.abs(program.linear(y)) * (scale * np.abs(y) + scale * program.eps)))


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
    """A ρ̃ path from sparse to dense; cardinalities that no ρ̃ on it reached are listed, not hidden."""

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
        if not self.reached:
            return ()
        return tuple(k for k in range(self.reached[0], self.reached[-1]) if k not in self.reached)

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


def path_points(
    pencil: Pencil, rhos: Sequence[float], *, eps: float = MACHINE_EPS, x0: Any = None, stop: Stop | None = None
) -> Iterator[PathPoint]:
    """The path point by point, so that a long one can be shown and kept as it grows.

    Every point starts at x0 (the leading eigenvector): at tiny ε zeros are absorbing, so a start at
    a sparser neighbour would never grow. What is shared is the pencil: factors, shift and start.
    """
    for rho in rhos:
        result = sparse_gev(pencil, rho=rho, eps=eps, x0=x0, engine="native", shift="metric", stop=stop)
        yield point_of(pencil, float(rho), result)


def point_of(pencil: Pencil, rho: float, result: MMResult) -> PathPoint:
    """A run as a point of a path."""
    k = card(result.x)
    found = value(pencil, renormalize(pencil, result.x)) if k else math.nan
    return PathPoint(rho, k, found, result.support, result)


def path(
    pencil: Pencil,
    rhos: Sequence[float] | None = None,
    *,
    points: int = 40,
    eps: float = MACHINE_EPS,
    x0: Any = None,
    stop: Stop | None = None,
) -> Path:
    """Algorithm 1 over a grid of ρ̃, geometric below rho_max unless given, sparse end first.

    Not every cardinality lies on the path: as ρ̃ falls, variables may enter in pairs (pit props has no
    ρ̃ with four). `Path.missing` lists what was not met; `solve` finds these k all the same.

    Parameters
    ----------
    pencil
        (A, B).
    rhos
        The values of ρ̃; None for `points` of them from rho_max down to a ten-thousandth of it.
    eps, x0, stop
        As in `sparse_gev`; the metric shift and the native engine are used.

    Examples
    --------
    >>> from dcgev_cvx import datasets, path
    >>> found = path(datasets.pitprops(), [30, 12, 9, 7.5])
    >>> found.reached, found.missing
    ((2, 3, 5, 6), (4,))
    """
    rule, top = expect_stop(stop), rho_max(pencil, x0, eps)
    count = as_whole(points, "points", high=MOST_POINTS)
    grid = np.geomspace(top, 1e-4 * top, count) if 1e-4 * top > 0.0 else np.zeros(1)
    ordered = sorted(as_numbers(grid if rhos is None else rhos, "rhos"), reverse=True)
    return Path(pencil, tuple(path_points(pencil, ordered, eps=eps, x0=x0, stop=rule)))


def on_path(pencil: Pencil, k: int, *, eps: float = MACHINE_EPS, tries: int = 24) -> bool:
    """Does some ρ̃ take Algorithm 1 (metric shift, from the leading eigenvector) to cardinality k? By bisection."""
    k, tries = checked_k(k, expect_pencil(pencil).n), as_whole(tries, "tries")
    low, high = 0.0, rho_max(pencil, None, eps)
    program = SparseGEV(pencil, 0.0, eps, shift="metric")
    stop, left = Stop(max_iter=300, step=1e-8), 3000
    for _ in range(tries):
        rho = 0.5 * (low + high)
        result = native_run(
            program.with_rho(rho),
            stop=stop,
            callback=lambda point: card(point.x) < k,  # zeros stay: it will not come back to k
        )
        found = card(result.x)
        if found == k:
            # the search extrapolates and may stop on its way: Algorithm 1 itself has the last word
            result = minimize(program.with_rho(rho), native_step(program), stop=Stop(max_iter=left), shrink=True)
            found, left = card(result.x), left - result.n_iter
        if found == k or left < 1:
            return found == k and result.status is not Status.OUT_OF_ITERATIONS
        low, high = (rho, high) if found > k else (low, rho)
    return False


def solve(
    pencil: Pencil,
    k: int,
    *,
    effort: Effort = "normal",
    random_state: int | np.random.Generator = 0,
    check_path: bool | None = None,
) -> Solution:
    """A k-sparse generalized eigenvector: one-shot cardinality from several starts, swaps, renormalization.

    One-shot cardinality picks ρ_ε anew at every MM step so that k coordinates survive, while ε falls
    from the size of x to almost nothing; the support it ends with is improved by exchanging variables,
    and the loadings are the leading eigenvector of the sub-pencil. It is a local optimum over the
    exchanges tried, not a proof: `exact.best_subset` proves.

    Parameters
    ----------
    pencil
        (A, B), A of any sign; A = CᵀC is never formed.
    k
        The number of nonzeros. Fewer come back only when more would lower the value, as for a
        diagonal A.
    effort
        "quick": one start, few levels of ε, exchanges. "normal": every support where there are at most 4000 (24 000
        if B is a matrix); elsewhere greedy selection too, climbs from random, kicked and crossed supports where
        exchanges are cheap, several starts and a slow schedule where B = I and n > 60, backward elimination where
        B is a matrix. "high": many starts and more kicks. Each contains the one before it and is never worse.
    random_state
        Seed or Generator of the random starts and kicks; the answer is a function of it.
    check_path
        Ask whether some ρ̃ takes Algorithm 1 to this k (`on_path`); by default only when n ≤ 60.

    Returns
    -------
    Solution
        x with unit B norm and exact zeros, its value from the data, and (rho, eps, certificate) of a
        program (SGEV-A) that has a stationary point on this support.

    Examples
    --------
    >>> from dcgev_cvx import datasets, solve
    >>> found = solve(datasets.pitprops(), 4)
    >>> round(found.value, 4), found.on_path
    (2.9375, False)
    """
    begin = perf_counter()
    k = checked_k(k, expect_pencil(pencil).n)
    one_of(effort, "effort", EFFORTS)
    unit, length, _ = in_units(pencil)
    generator = as_generator(random_state)
    with thin_products(unit):
        x = length * spread(unit, best_support(unit, k, effort, generator), k)
        found = matched_solution(pencil, x, "solve", begin)
    asked = pencil.n <= SMALL if check_path is None else as_flag(check_path, "check_path")
    return replace(found, on_path=on_path(unit, k)) if asked else found


def thin_products(pencil: Pencil) -> AbstractContextManager[None]:
    """One BLAS thread for the search on a factor C with B = I: nearly all it does is multiply C with a vector."""
    return one_thread if pencil.B is None and isinstance(pencil.A, Gram) else nullcontext()


@dataclass(frozen=True)
class Matched:
    """A program (SGEV-A) with a stationary point on a given support, and the certificate of that point."""

    program: SparseGEV
    certificate: Certificate


def matched_solution(pencil: Pencil, x: Vector, method: str, begin: float) -> Solution:
    """x with the program on whose stationary point its support lies, if there is one; timed from `begin`."""
    matched = matching_program(pencil, x)
    return solution_of(
        pencil,
        x,
        method,
        perf_counter() - begin,
        rho=matched.program.rho if matched else math.nan,
        eps=matched.program.eps if matched else math.nan,
        certificate=matched.certificate if matched else None,
    )


def matching_program(pencil: Pencil, x: Vector) -> Matched | None:
    """A program (SGEV-A) with a stationary point on the support of x, certified on the whole pencil; None if none is.

    For a small ρ̃ the eigenvector x of the sub-pencil moves to a stationary point with the same support, which
    Newton's method finds. Where it does not, or the support is too large for it, ρ̃ is made so small that x itself
    passes. A support of value xᵀAx ≤ 0 carries none but x = 0.
    """
    unit, length, energy = in_units(pencil)
    support, x = np.flatnonzero(x), x / length
    top = unit.A_quad(x)
    if top <= 0.0:
        return None
    points = [(x, NEGLIGIBLE * top * float(np.min(unit.B_diagonal[support] * x[support] ** 2)))]
    if len(support) <= NEWTON_LIMIT:
        z = np.zeros_like(x)
        z[support], rho_eps = stationary_near(unit.restrict(support), x[support])
        points.insert(0, (z, rho_eps))
    eps = length * MACHINE_EPS
    for z, rho_eps in points:
        if rho_eps > 0.0 and energy * rho_eps / eps <= 1e300:
            program = program_of(pencil, energy * rho_eps, eps)
            certificate = certify(program, length * z)
            if certificate.passes():
                return Matched(program, certificate)
    return None


__all__ = [
    "Effort",
    "Path",
    "PathPoint",
    "greedy",
    "on_path",
    "path",
    "path_points",
    "rho_max",
    "solve",
    "spread",
]
