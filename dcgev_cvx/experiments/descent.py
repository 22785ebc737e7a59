"""DC-PCA on data with nothing but the iteration: what Tables 2 and 4 time (ALG-S).

The driver of `dc_pca` computes f, g and a residual at each step, which is right for a certified run and would be
what one measures in a race. Here the bare iteration is run in plain NumPy, as GPower is here, with the same iterates;
the tests compare the two. `accelerate` goes beyond the paper: its steps end at stationary points of the same program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..checks import Index, Matrix, Vector
from ..penalties import MACHINE_EPS, rho_eps
from ..rivals.base import Run

SHRINK = 0.65
"""Columns are dropped when this share of them is left: each copy costs as much as a step."""

DOMINANT = 0.5
"""A column that explains this share of the variance alone is taken for the first left singular vector."""

ENOUGH = 0.25
"""A start that explains this share of the variance is not improved."""

LOG_EPS = math.log(MACHINE_EPS)


@dataclass(frozen=True)
class Start:
    """x⁽⁰⁾ and Ax⁽⁰⁾, the sum ‖C‖² of all squares, which comes with them, and how often the data were read.

    estimated says that Ax⁽⁰⁾ is what it would be if the longest column were a singular vector.
    """

    x: Vector
    image: Vector
    squares: float
    passes: float = 0.0
    estimated: bool = False


class Point(NamedTuple):
    """A point on the columns that are left, with what the next step and the stop rule need of it.

    room is |y| + ε: the weights of the next step are its inverse.
    """

    columns: Index
    D: Matrix
    y: Vector
    room: Vector
    Cy: Vector
    variance: float
    objective: float


def descend(
    C: Matrix, rho: float, start: Start, *, accelerate: bool = False, tol: float = 1e-4, max_iter: int = 1000
) -> Run:
    """xᵢ ∝ [|(CᵀCy)ᵢ| − ½ρ_ε/(|yᵢ| + ε)]₊ sign(CᵀCy)ᵢ at machine precision ε (ALG-S).

    The iterates are those of `dc_pca`. A zero of y is absorbing (its weight 1/ε outweighs every
    |cᵢᵀCy| ≤ ‖cᵢ‖‖C‖), so its column is never touched again: a step costs the support only.
    Stops when the objective xᵀAx − ρ_ε Σ log(1 + |xᵢ|/ε) rises by at most `tol`·xᵀAx.

    Parameters
    ----------
    C
        p × n data, A = CᵀC.
    rho
        ρ̃ ≥ 0.
    start
        From `krylov_start` or `given_start`.
    accelerate
        After the first step, which is left out where the start's image is estimated, `balanced` is tried in the
        place of the printed step, and kept unless the objective would fall.
    tol, max_iter
        The stop rule of GPower's authors, so that both methods are stopped alike.

    Returns
    -------
    Run
        x with its zeros, the number of steps, and whether the rule was met (a collapse to 0 counts as met).
    """
    n, price = C.shape[1], rho_eps(rho, MACHINE_EPS)
    shrink = 0.5 * price / MACHINE_EPS > start.squares
    here = Point(np.arange(n), C, start.x, np.abs(start.x) + MACHINE_EPS, start.x, 0.0, -math.inf)
    if price == 0.0:  # with a penalty the first steps drop columns, and n logarithms would tell nothing
        here = here._replace(objective=float(start.x @ start.image))
    c, passes, settled, steps = start.image, start.passes, False, 0
    while steps < max_iter and not settled:
        steps += 1
        size = np.abs(c)
        z = thresholded(size, here.room, price)
        square = float(z @ z)
        if square == 0.0:
            return Run(np.zeros(n), steps, True, passes)
        there = None
        if accelerate and (steps > 1 or start.estimated):
            there = reached(here, *balanced(size, z, 2.0 * price * math.sqrt(square)), c, price, shrink=shrink)
            passes += len(there.y) / n
            there = there if there.objective >= here.objective else None
        if there is None:
            there = reached(here, z, (z > 0.0).nonzero()[0], c, price, shrink=shrink)
            passes += len(there.y) / n
        settled, here = there.objective - here.objective <= tol * there.variance, there
        if not settled:
            c = here.Cy @ here.D
            passes += len(here.y) / n
    x = np.zeros(n)
    x[here.columns] = here.y + 0.0  # no -0.0
    return Run(x, steps, settled, passes)


def thresholded(size: Vector, room: Vector, price: float) -> Vector:
    """[|cᵢ| − ½ρ_ε/(|yᵢ| + ε)]₊: the printed step before its scaling (ALG-S)."""
    z = (0.5 * price) / room
    np.subtract(size, z, out=z)
    return np.maximum(z, 0.0, out=z)


def balanced(size: Vector, z: Vector, cut: float) -> tuple[Vector, Index]:
    """Where the printed step would end if it were repeated with Ay and its norm held, before scaling (ours).

    With c = Ay and μ = ‖z‖ held, x ← (|c| − ½ρ_ε/x)/μ has the fixed point x = (|c| + √(c² − 2μρ_ε))/(2μ), and
    none where c² < 2μρ_ε: there x sinks to 0, slowly, a step at a time. A point that this step does not move is one
    that the printed step does not move either. z itself where nothing would be left. cut is 2μρ_ε; the second
    result is where the first is not zero.
    """
    root = size * size
    root -= cut
    kept = (np.minimum(root, z) > 0.0).nonzero()[0]
    if not len(kept):
        return z, z.nonzero()[0]
    x = np.zeros_like(z)
    x[kept] = np.sqrt(root[kept]) + size[kept]
    return x, kept


def reached(here: Point, z: Vector, kept: Index, c: Vector, price: float, *, shrink: bool) -> Point:
    """The unit vector along z ≥ 0 with the signs of c; where few are kept, on the columns where it is not zero."""
    columns, D = here.columns, here.D
    if shrink and len(kept) < SHRINK * len(z):
        columns, D, z, c = columns[kept], D.T.take(kept, axis=0).T, z[kept], c[kept]
    y = z / math.sqrt(float(z @ z))
    room = y + MACHINE_EPS
    penalty = price * (log_sum(room) - len(y) * LOG_EPS) if price > 0.0 else 0.0
    np.copysign(y, c, out=y)
    Cy = D @ y
    variance = float(Cy @ Cy)
    return Point(columns, D, y, room, Cy, variance, variance - penalty)


def log_sum(room: Vector, block: int = 16) -> float:
    """Σ log of numbers between ε and 2: sixteen are multiplied before a logarithm is taken, ε¹⁶ is no underflow."""
    cut = len(room) // block * block
    if cut < 32 * block:
        return float(np.add.reduce(np.log(room)))
    products = np.multiply.reduce(room[:cut].reshape(block, -1), axis=0)
    return float(np.add.reduce(np.log(products))) + float(np.add.reduce(np.log(room[cut:])))


def given_start(C: Matrix, x: Vector) -> Start:
    """A start that is known, with the image and the sum of squares that a run needs."""
    return Start(x, (C @ x) @ C, float(np.einsum("ij,ij->", C, C)))


def krylov_start(C: Matrix, steps: int | None = None) -> Start:
    """The best direction in the span of a few MM steps at ρ̃ = 0 (power steps) from z, the longest column of C.

    z is where GPower starts too. If it explains half of the variance, ‖Cᵀz‖² ≥ ½‖C‖², it is taken for the singular
    vector that it is near: x⁽⁰⁾ = Cᵀz/‖Cᵀz‖ and Ax⁽⁰⁾ = ‖Cᵀz‖Cᵀz, the data being read no more often than for the
    first step of GPower; any point of Ω may be x⁽¹⁾. If not, the leading eigenvector of A restricted to the span of
    Cᵀz₁, …, Cᵀz_j is read off a j × j matrix (Rayleigh–Ritz), at the price of the products that the power steps cost
    anyway; j = 1 where z explains a quarter, fewer than `steps` where the span holds nearly all of the next step.

    By default at most 1.3 p^⅓ steps: the first two eigenvalues of a noise matrix are a share p^(−⅔) apart, and Krylov
    spaces tell them apart after a number of steps like the root of its inverse.
    """
    steps = max(1, round(1.3 * C.shape[0] ** (1.0 / 3.0))) if steps is None else steps
    lengths = np.einsum("ij,ij->j", C, C)
    squares, longest = float(np.add.reduce(lengths)), int(lengths.argmax())
    z = C[:, longest] / max(math.sqrt(float(lengths[longest])), np.finfo(float).tiny)
    score = z @ C
    explained = float(score @ score)
    if explained >= DOMINANT * squares:
        norm = math.sqrt(explained)
        return Start(score / max(norm, np.finfo(float).tiny), norm * score, squares, 2.0, estimated=True)
    Z, scores, products = np.empty((steps, C.shape[0])), np.empty((steps, C.shape[1])), np.empty((steps, C.shape[0]))
    used = 0
    while True:
        Z[used], scores[used] = z, score
        product = products[used] = C @ score
        used += 1
        rest = product - (Z[:used] @ product) @ Z[:used]
        size = float(np.linalg.norm(rest))
        if used == steps or explained >= ENOUGH * squares or size <= 0.2 * float(np.linalg.norm(product)):
            break
        z = rest / size
        score = z @ C
    mixture = np.linalg.eigh(Z[:used] @ products[:used].T)[1][:, -1]
    x, Cx = mixture @ scores[:used], mixture @ products[:used]
    norm = float(np.linalg.norm(x))
    return Start(x / norm, (Cx / norm) @ C, squares, 2.0 + 2.0 * used)


def rho_max(start: Start) -> float:
    """The ρ̃ at which the first step is 0."""
    log = 1.0 / rho_eps(1.0, MACHINE_EPS)
    return log * 2.0 * float(np.max(np.abs(start.image) * (np.abs(start.x) + MACHINE_EPS)))
