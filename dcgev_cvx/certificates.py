"""The referee: what can be proved about a vector from the data alone. Never imports a solver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from ._numerics.checks import UNIT_ROUNDOFF, Vector, as_number, as_point, as_vector, attribute, shown
from ._numerics.spectra import power_of_two
from .errors import InvalidParameter
from .programs import Program, expect_program

SNAP_TOL = 1e-9
"""Entries with |xᵢ|√Bᵢᵢ below this share of ‖x‖_B count as zero when stationarity is judged (beyond the paper)."""


class Move(Protocol):
    """What the sandwich inequality needs of an iterate."""

    @property
    def x(self) -> Vector:
        """The point."""
        ...

    @property
    def f(self) -> float:
        """F there."""
        ...

    @property
    def origin(self) -> Vector | None:
        """Where the surrogate touches f, when not at the previous iterate."""
        ...


@dataclass(frozen=True)
class Certificate:
    """Four numbers computed from the data; zero is perfect, each is free of the problem's scale.

    feasibility      violation of Ω
    stationarity     KKT residual of the d.c. program at x
    complementarity  multiplier times slack of the constraint
    sandwich         worst violation of f(x⁺) ≤ g(x⁺, x) ≤ f(x) along the history (0 without one)

    snapped counts the entries that were taken as zero when stationarity was judged: one entry of
    1e-9 where 0 belongs would otherwise make the residual of order one, since the slope at zero is
    ρ_ε/ε. What is reported is about the snapped point, and the rule is announced (SNAP_TOL).
    """

    feasibility: float
    stationarity: float
    complementarity: float
    sandwich: float
    snapped: int

    def passes(self, tol: float = 1e-6) -> bool:
        """Is x a stationary point to the tolerance, reached without ascent? It says nothing of optimality."""
        tol = as_number(tol, "tol")
        numbers = (self.feasibility, self.stationarity, self.complementarity)
        return all(number <= tol for number in numbers) and self.sandwich <= 1e-9

    def __str__(self) -> str:
        return (
            f"feasibility {self.feasibility:.1e}, stationarity {self.stationarity:.1e}, "
            f"complementarity {self.complementarity:.1e}, sandwich {self.sandwich:.1e}"
            f"{f', {self.snapped} entries taken as zero' if self.snapped else ''}"
        )


def snap(program: Program, x: Vector, tol: float = SNAP_TOL) -> Vector:
    """x with its dust set to zero: entries with |xᵢ|√Bᵢᵢ ≤ tol·‖x‖_B."""
    z = of_size_one(x)
    return np.where(np.abs(z) * program.pencil.B_roots <= tol * program.pencil.B_norm(z), 0.0, x)


def of_size_one(x: Vector) -> Vector:
    """x over a power of two, so that no square of it overflows, and not all of them underflow."""
    return x / power_of_two(float(np.max(np.abs(x))))


@np.errstate(over="ignore", invalid="ignore")  # far outside Ω nothing is a number, and nothing passes
def certify(program: Program, x: Vector, history: Sequence[Move] = (), *, tol: float = SNAP_TOL) -> Certificate:
    """Feasibility, stationarity, complementarity of x and the sandwich along its history (Eq:sandwich).

    x is stationary for f over Ω when 0 ∈ ∇(smooth part) + ρ_ε w∘∂|x| + 2μ·normal with μ ≥ 0 and
    μ·slack = 0. With μ recovered from x itself (the system times xᵀ) the residual is |rᵢ + pᵢ sign xᵢ|
    on the support and max(0, |rᵢ| − pᵢ) off it. At tiny ε the second is nearly always 0: nearly
    every support carries a stationary point, so passing says "stationary", never "optimal".

    Parameters
    ----------
    program
        What x should be stationary for.
    x
        Any vector: a solver's answer, yours, or a guess.
    history
        Iterates (anything with x and origin) whose descent is to be audited.
    tol
        Entries with |xᵢ|√Bᵢᵢ ≤ tol·‖x‖_B are judged as zeros.

    Examples
    --------
    >>> from dcgev_cvx import SparseGEV, certify, datasets, sparse_gev
    >>> pencil = datasets.pitprops()
    >>> program = SparseGEV(pencil, rho=4.84)
    >>> certify(program, sparse_gev(pencil, rho=4.84).x).passes()
    True
    >>> certify(program, 0.9 * sparse_gev(pencil, rho=4.84).x).passes()
    False
    """
    x = as_vector(x, expect_program(program).pencil.n, "x")
    refuse_history(history, program.pencil.n)
    kept = snap(program, x, as_number(tol, "tol"))
    stationarity, complementarity = kkt_residuals(program, kept, (program.gradient(kept),), program.slopes(kept))
    return Certificate(
        feasibility=program.violation(x),
        stationarity=stationarity,
        complementarity=complementarity,
        sandwich=sandwich_violation(program, history),
        snapped=int(np.count_nonzero(x) - np.count_nonzero(kept)),
    )


def refuse_history(history: Any, n: int) -> None:
    """Refuse what is no sequence of iterates in n variables."""
    wrong = not isinstance(history, (list, tuple)) or not all(is_move(point, n) for point in history)  # pyright: ignore[reportUnknownVariableType]
    if wrong:
        raise InvalidParameter(
            f"history = {shown(history)} must hold iterates of length {n}, as MMResult.history does."
        )


def is_move(point: Any, n: int) -> bool:
    """Has a point an x of length n, and an origin that is None or another?"""
    x, origin = attribute(point, "x"), attribute(point, "origin")
    return isinstance(x, np.ndarray) and x.shape == (n,) and (origin is None or np.shape(origin) == (n,))


def step_residuals(program: Program, y: Vector, x: Vector) -> tuple[float, float]:
    """(KKT residual, complementarity) of x as the minimiser of g(·, y) over Ω (ALG, Eq:fdaiterative)."""
    x, y = (as_point(point, program.pencil.n, what) for point, what in ((x, "x"), (y, "y")))
    return kkt_residuals(program, x, (2.0 * program.H_dot(x), -2.0 * program.linear(y)), program.slopes(y))


def kkt_residuals(program: Program, x: Vector, terms: Sequence[Vector], p: Vector) -> tuple[float, float]:
    """(KKT residual, complementarity) of x for min q(x) + pᵀ|x| over Ω, ∇q the sum of the terms; without units.

    With r = ∇q + 2μ·normal: |rᵢ + pᵢ sign xᵢ| on the support, max(0, |rᵢ| − pᵢ) off
    it, divided by √Bᵢᵢ and by the largest of the terms that must cancel.
    """
    gradient = sum(terms[1:], terms[0])
    mu = program.multiplier(x, gradient, p)
    root, normal, norm = program.pencil.B_roots, program.normal(x), program.pencil.B_norm(x)
    slack, largest = program.slack(x), max(float((np.abs(term) / root).max()) for term in terms)

    def residuals(mu: float) -> tuple[float, float]:
        pull = 2.0 * mu * normal
        r = gradient + pull
        raw = np.where(x != 0.0, np.abs(r + p * np.sign(x)), np.maximum(0.0, np.abs(r) - p))
        scale = max(largest, float((np.abs(pull) / root).max()))
        return ratio(float((raw / root).max()), scale), ratio(abs(mu * slack), abs(mu) + scale * norm)

    # inside Ω the multiplier is zero; near its boundary the recovered one may fit better
    found = residuals(mu)
    return min(found, residuals(0.0), key=max) if slack > 1e-12 and mu != 0.0 else found


def ratio(part: float, whole: float) -> float:
    """part/whole, 0 when the part is 0, and infinite rather than NaN."""
    if part == 0.0:
        return 0.0
    value = part / whole if whole > 0.0 else float("inf")
    return value if value == value else float("inf")


@np.errstate(over="ignore", invalid="ignore")
def sandwich_violation(program: Program, history: Sequence[Move]) -> float:
    """max over the history of f(x⁺) − g(x⁺, x) and g(x⁺, x) − f(x), relative to the size of f's terms (Eq:sandwich).

    f and g are computed anew from the data; what the history says of them is not used.
    """
    return max((violation_on_face(program, face) for face in faces(history)), default=0.0)


def faces(history: Sequence[Move]) -> Iterator[Sequence[Move]]:
    """The history in pieces that share their ends, a new one whenever the nonzeros have become half as many."""
    cards = [np.count_nonzero(point.x) for point in history]
    begin = 0
    for end in range(1, len(history)):
        if 2 * cards[end] <= cards[begin] or end == len(history) - 1:
            yield history[begin : end + 1]
            begin = end


def violation_on_face(program: Program, history: Sequence[Move]) -> float:
    """The sandwich on the variables that are nonzero somewhere: the others add the same to f and to g."""
    points = [point.x for point in history]
    origins = [before.x if after.origin is None else after.origin for before, after in pairwise(history)]
    support = np.flatnonzero(np.any([*points, *origins], axis=0))
    part = program.restrict(support, 3 * len(history)) if 0 < len(support) < program.pencil.n else program
    if part is not program:
        points, origins = [x[support] for x in points], [y[support] for y in origins]
    dropped = 2.0 * (program.pencil.n - part.pencil.n) * abs(program.at_zero()[0])
    values = [part.f(x) for x in points]
    worst = 0.0
    for before, y in enumerate(origins):
        after = before + 1
        f_y = values[before] if history[after].origin is None else part.f(y)
        g_between = part.g(points[after], y)
        rises = (values[after] - g_between, g_between - f_y, f_y - values[before])
        if not all(rise <= 0.0 for rise in rises):  # what is no number is no descent
            size = dropped + max(part.size(points[before]), part.size(points[after]))
            worst = max(worst, ratio(float(np.max(rises)) - rounding(part, size, points[after]), size))
    return worst


def rounding(program: Program, size: float, x: Vector) -> float:
    """What the sums behind f and g may lose to rounding: 8(n + a) units in the last place of their size.

    a = (Σ √Bᵢᵢ|xᵢ|)²/xᵀBx bounds the cancellation in the xᵀBx by which a step is scaled into Ω; it
    exceeds n only for an ill-conditioned B.
    """
    pencil, z = program.pencil, of_size_one(x)
    moduli = float(pencil.B_roots @ np.abs(z))
    return 8.0 * (pencil.n + ratio(moduli * moduli, pencil.B_quad(z))) * UNIT_ROUNDOFF * size
