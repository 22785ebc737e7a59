"""From ρ̃ to k: the largest useful ρ̃, the ρ̃ path, and the search for a vector of given cardinality."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal, TypeAlias

import numpy as np

from .algorithms import native_run, sparse_gev
from .checks import Index, Matrix, Vector, as_generator, as_number
from .errors import InvalidParameter
from .fisher import fisher_solve
from .mm import MMResult, Status, Stop, minimize
from .oneshot import SCHEDULES, one_shot, trimmed
from .penalties import MACHINE_EPS, card, log_scale
from .pencils import Gram, Pencil, expect_pencil
from .postprocess import renormalize, value
from .programs import SparseGEV
from .solutions import Solution, checked_k, solution_of
from .spectra import two_views
from .steps.native import native_step
from .swaps import eigenvector_on, pair_value, swap_search

Effort: TypeAlias = Literal["quick", "normal", "high"]

SMALL = 60
"""Up to this many variables every search is cheap: many starts, exhaustive swaps, kicks."""


def rho_max(pencil: Pencil, x0: Vector | None = None, eps: float = MACHINE_EPS) -> float:
    """The smallest ρ̃ at which the first MM step from x0 collapses to zero, metric shift (beyond the paper).

    x = 0 minimises the surrogate exactly when |cᵢ| ≤ ½ρ_ε wᵢ for every i, c = (A + τB)y: the
    KKT rows at 0. So ρ_max = log(1 + 1/ε) · max 2|cᵢ|(|yᵢ| + ε), and at ρ̃ ≥ ρ_max the run is over.
    """
    program = SparseGEV(pencil, 0.0, eps, shift="metric")
    y = program.start(x0)
    return log_scale(eps) * float(np.max(2.0 * np.abs(program.linear(y)) * (np.abs(y) + eps)))


@dataclass(frozen=True)
class PathPoint:
    """One ρ̃ of a path: the d.c. run, and its renormalized value xᵀAx/xᵀBx (NaN when collapsed)."""

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
        found = [point for point in self.points if point.k == k]
        return max(found, key=lambda point: point.value) if found else None

    def to_rows(self) -> list[dict[str, Any]]:
        """Plain rows, for tables and JSON."""
        return [
            {
                "rho": p.rho,
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
        lines = [f"{'rho':>12} {'k':>4} {'value':>12}  status"]
        lines += [f"{p.rho:12.5g} {p.k:4d} {p.value:12.6g}  {p.result.status.value}" for p in self.points]
        if self.missing:
            lines.append(f"no ρ̃ tried gave k = {', '.join(map(str, self.missing))}")
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
        k = card(result.x)
        found = value(pencil, renormalize(pencil, result.x)) if k else math.nan
        yield PathPoint(float(rho), k, found, result.support, result)


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
    """
    top = rho_max(pencil, x0, eps)
    grid = [float(rho) for rho in np.geomspace(top, 1e-4 * top, points)] if top > 0.0 else [0.0]
    values = [as_number(rho, "rho") for rho in (grid if rhos is None else rhos)]
    if not values:
        raise InvalidParameter("the path needs at least one rho.")
    ordered = sorted(values, reverse=True)
    return Path(pencil, tuple(path_points(pencil, ordered, eps=eps, x0=x0, stop=stop)))


def on_path(pencil: Pencil, k: int, *, eps: float = MACHINE_EPS, tries: int = 24) -> bool:
    """Does some ρ̃ take Algorithm 1 (metric shift, from the leading eigenvector) to cardinality k? By bisection."""
    low, high = 0.0, rho_max(pencil, None, eps)
    program = SparseGEV(pencil, 0.0, eps, shift="metric")
    stop = Stop(max_iter=300, step=1e-8)
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
            result = minimize(program.with_rho(rho), native_step(program), stop=Stop(max_iter=5000), shrink=True)
            found = card(result.x)
        if found == k:
            return result.status is not Status.OUT_OF_ITERATIONS
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
        "quick": one start, few levels of ε, swaps. "normal": on up to 60 variables many starts,
        swaps and kicks; beyond, the leading eigenvector with a slow schedule and swaps, but a quick
        one without swaps for the two views of CCA (see `overfits`). "high": everything, everywhere.
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
    if not isinstance(effort, str) or effort not in SCHEDULES:
        raise InvalidParameter(f'effort = {effort!r} is unknown; it is "quick", "normal" or "high".')
    generator = as_generator(random_state)
    x = best_of(pencil, candidates(pencil, k, effort, generator), effort, generator)
    x = spread(pencil, x, k)
    matched = matching_program(pencil, x)
    asked = pencil.n <= SMALL if check_path is None else check_path
    return solution_of(
        pencil,
        x,
        "solve",
        perf_counter() - begin,
        rho=matched.program.rho if matched else math.nan,
        eps=matched.program.eps if matched else math.nan,
        on_path=on_path(pencil, k) if asked else None,
        certificate=matched.result.certificate if matched else None,
    )


def candidates(pencil: Pencil, k: int, effort: Effort, generator: np.random.Generator) -> list[Vector]:
    """k-sparse vectors from every start that the effort allows, each filled up to k nonzeros."""
    if k == 1:
        return [best_single(pencil)]
    patient = effort == "high" or (effort == "normal" and not overfits(pencil))
    found = [one_shot(pencil, k, pencil.leading_vector, SCHEDULES[effort if patient else "quick"])[0]]
    if k < pencil.n and patient:
        found.append(trimmed(pencil, pencil.leading_vector, k))
        if k <= SMALL:
            found.append(greedy(pencil, k))
        if isinstance(pencil.A, Gram) and len(pencil.A.C) == 1 and pencil.A.C.any():
            found.append(np.array(fisher_solve(pencil.A.C[0], pencil.B_sub(np.arange(pencil.n)), k).x))
        if effort == "high" or pencil.n <= SMALL:
            found += [one_shot(pencil, k, x0, SCHEDULES["quick"])[0] for x0 in starts(pencil, effort, generator)]
    return [filled(pencil, x, k) for x in found if np.any(x)]


def starts(pencil: Pencil, effort: Effort, generator: np.random.Generator) -> Iterator[Vector]:
    """Neighbours of the leading eigenvector, the best columns of A, and random directions."""
    large = pencil.n > SMALL
    columns, random = (6, 8) if effort == "normal" else (4, 8) if large else (14, 40)
    if not large:
        from scipy.linalg import eigh

        A, B = pencil.dense()
        vectors: Matrix = np.asarray(eigh(A, B)[1])
        yield from vectors.T[-2:-6:-1]
    ratio = pencil.A_diagonal / pencil.B_diagonal
    for i in np.argsort(ratio)[::-1][:columns]:
        unit = np.zeros(pencil.n)
        unit[i] = 1.0
        column = pencil.B_solve(pencil.A_dot(unit))
        yield column if np.any(column) else unit
    for _ in range(random):
        yield generator.standard_normal(pencil.n) / np.sqrt(pencil.B_diagonal)


def best_of(pencil: Pencil, found: list[Vector], effort: Effort, generator: np.random.Generator) -> Vector:
    """The best vector after swaps from the most promising candidates, and kicks on small problems."""
    unique = list({tuple(np.flatnonzero(x)): x for x in found}.values())
    if len(unique) > 1:
        unique.sort(key=lambda x: eigenvector_on(pencil, np.flatnonzero(x))[0], reverse=True)
    swaps = 0 if effort == "normal" and overfits(pencil) else 200
    searches = {"quick": 1, "normal": 4, "high": 12}[effort]
    best = max((swap_search(pencil, x, swaps)[0] for x in unique[:searches]), key=pencil.A_quad)
    kicks = {"quick": 0, "normal": 12, "high": 100}[effort] if pencil.n <= SMALL else 0
    for _ in range(kicks):
        tried, _ = swap_search(pencil, kicked(pencil, best, generator))
        best = tried if pencil.A_quad(tried) > pencil.A_quad(best) * (1.0 + 1e-12) else best
    _, x = eigenvector_on(pencil, np.flatnonzero(best))
    return x


def spread(pencil: Pencil, x: Vector, k: int) -> Vector:
    """x with k nonzeros where its eigenvalue is shared by other variables, so that more of them cost nothing."""
    missing = k - np.count_nonzero(x)
    if missing <= 0:
        return x
    z = x.copy()
    room = np.flatnonzero(x == 0.0)
    gain = pair_value(pencil.A_quad(x), 1.0, pencil.A_dot(x), pencil.B_dot(x), pencil.A_diagonal, pencil.B_diagonal)
    best = room[np.argsort(-gain[room], kind="stable")[:missing]]
    z[best] = float(np.max(np.abs(x))) * np.sqrt(pencil.B_scale / pencil.B_diagonal[best])
    old, new = value(pencil, x), value(pencil, z)
    return z / pencil.B_norm(z) if new >= old - 1e-12 * abs(old) else x


def overfits(pencil: Pencil) -> bool:
    """Two views with many variables: CCA from data.

    There the exchanges that raise the in-sample correlation further mostly chase noise (the more
    variables than samples, the more), so that "normal" rests at the one-shot limit and "high" goes on.
    """
    return pencil.n > SMALL and not isinstance(pencil.A, Gram) and two_views(pencil.A, pencil.B)


def kicked(pencil: Pencil, x: Vector, generator: np.random.Generator) -> Vector:
    """x with two or three of its variables exchanged at random: a way out of a local optimum."""
    support, outside = np.flatnonzero(x), np.flatnonzero(x == 0.0)
    moves = min(int(generator.integers(2, 4)), len(support), len(outside))
    z = x.copy()
    if moves:
        z[generator.choice(support, moves, replace=False)] = 0.0
        z[generator.choice(outside, moves, replace=False)] = 1.0
    return z


def best_single(pencil: Pencil) -> Vector:
    """The optimum for k = 1: the variable with the largest Aᵢᵢ/Bᵢᵢ, the first of those equal but for rounding."""
    ratio = pencil.A_diagonal / pencil.B_diagonal
    top = float(np.max(ratio))
    i = int(np.flatnonzero(ratio >= top - 1e-12 * abs(top))[0])
    x = np.zeros(pencil.n)
    x[i] = 1.0 / math.sqrt(pencil.B_diagonal[i])
    return x


def greedy(pencil: Pencil, k: int) -> Vector:
    """Forward selection: add the variable whose 2 × 2 Rayleigh–Ritz value with the current x is largest."""
    return filled(pencil, best_single(pencil), k)


def filled(pencil: Pencil, x: Vector, k: int) -> Vector:
    """x grown to k nonzeros, one variable at a time by its gain; x itself when it has k."""
    support: Index = np.flatnonzero(x)
    while len(support) < k:
        current, x = eigenvector_on(pencil, support)
        Ax, Bx = pencil.A_dot(x), pencil.B_dot(x)
        gain = pair_value(current, 1.0, Ax, Bx, pencil.A_diagonal, pencil.B_diagonal)
        gain[support] = -math.inf
        support = np.sort(np.append(support, int(np.argmax(gain))))
        x = eigenvector_on(pencil, support)[1] if len(support) == k else x
    return x


@dataclass(frozen=True)
class Matched:
    """A program (SGEV-A) and a converged run of it whose limit has a given support."""

    program: SparseGEV
    result: MMResult


def matching_program(pencil: Pencil, x: Vector, eps: float = MACHINE_EPS) -> Matched | None:
    """A program (SGEV-A) with a stationary point on the support of x, and the run that certifies it; None if none is.

    With B = I a coordinate stays when 2|(Ax)ᵢ|(|xᵢ| + ε) > ρ_ε on the whole run, so a ρ_ε well below the
    smallest of these scores keeps the support; it is lowered until a run converges there. A support of value
    xᵀAx ≤ 0 carries none but x = 0.
    """
    support = np.flatnonzero(x)
    if pencil.A_quad(x) <= 0.0:
        return None
    scores = 2.0 * np.abs(pencil.A_dot(x)[support]) * (np.abs(x[support]) + eps)
    rho = 0.5 * log_scale(eps) * float(np.min(scores))
    base = SparseGEV(pencil, 0.0, eps, shift="metric")
    for _ in range(6):
        program = base.with_rho(rho)
        result = native_run(program, x, stop=Stop(max_iter=500))
        if result.converged and np.array_equal(np.flatnonzero(result.x), support):
            return Matched(program, result)
        rho *= 0.1
    return None


__all__ = ["Path", "PathPoint", "on_path", "path", "path_points", "rho_max", "solve"]
