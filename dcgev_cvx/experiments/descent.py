"""DC-PCA on data with nothing but the iteration: what Tables 2 and 4 time (ALG-S).

The driver of `dc_pca` computes f, g and a residual at each step, which is right for a certified run and would be
what one measures in a race. Here the bare iteration is run, with the same iterates; the tests compare the two. It
comes twice, in plain NumPy as GPower is here, and compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..checks import Matrix, Vector
from ..penalties import MACHINE_EPS, rho_eps
from ..rivals.base import Run

SHRINK = 0.8
"""Columns are dropped when this share of them is left: each copy costs as much as a step."""

SMALL = 60_000
"""Up to this many numbers in the active columns a compiled loop beats calls to BLAS."""

Threshold = Callable[[Vector, Vector, float, float], tuple[Vector, float]]


@dataclass(frozen=True)
class Start:
    """x⁽⁰⁾ with the product Cx⁽⁰⁾ and the sum ‖C‖² of all squares, which come with it."""

    x: Vector
    Cx: Vector
    squares: float


def descend(
    C: Matrix, rho: float, start: Start, *, compiled: bool = False, tol: float = 1e-4, max_iter: int = 1000
) -> Run:
    """xᵢ ∝ [|(CᵀCy)ᵢ| − ½ρ_ε/(|yᵢ| + ε)]₊ sign(CᵀCy)ᵢ at machine precision ε (ALG-S).

    The iterates are those of `dc_pca`. A zero of y is absorbing (its weight 1/ε outweighs every
    |cᵢᵀCy| ≤ ‖cᵢ‖‖C‖), so its column is never touched again: a step costs the support only.
    Stops, like GPower, when the objective xᵀAx − ρ_ε Σ log(1 + |xᵢ|/ε) rises by at most `tol`·xᵀAx.

    Parameters
    ----------
    C
        p × n data, A = CᵀC.
    rho
        ρ̃ ≥ 0.
    start
        From `krylov_start`, product included: the first step costs one product less.
    compiled
        Plain NumPy by default; else the loop over the variables, and once few are left the whole iteration, is
        compiled.
    tol, max_iter
        The stop rule of GPower's authors, so that both methods are stopped alike.

    Returns
    -------
    Run
        x with its zeros, the number of steps, and whether the rule was met (a collapse to 0 counts as met).
    """
    price = rho_eps(rho, MACHINE_EPS)
    threshold, settle = loops(compiled)
    absorbing = 0.5 * price / MACHINE_EPS > start.squares
    columns, D, y, Cy = np.arange(C.shape[1]), C, start.x, start.Cx
    before, steps, settled, left = -math.inf, 0, False, int(np.count_nonzero(y))
    while steps < max_iter and not settled and left:
        if settle is not None and absorbing and D.size <= SMALL:
            y = y.copy()
            steps, settled = settle(np.ascontiguousarray(D.T), y, price, MACHINE_EPS, tol, before, steps, max_iter)
            break
        steps += 1
        Cy = D @ y if steps > 1 else Cy
        variance = float(Cy @ Cy)
        y, penalty = threshold(Cy @ D, y, price, MACHINE_EPS)
        objective = variance - price * penalty
        settled, before = objective - before <= tol * variance, objective
        left = int(np.count_nonzero(y))
        if absorbing and left < SHRINK * len(y):
            kept = y.nonzero()[0]
            columns, D, y = columns[kept], D.T[kept].T, y[kept]
    x = np.zeros(C.shape[1])
    x[columns] = y + 0.0  # no -0.0
    return Run(x, steps, settled or not y.any())


def loops(compiled: bool) -> tuple[Threshold, Callable[..., tuple[int, bool]] | None]:
    """The loop over the variables, and the whole iteration where it is compiled."""
    if not compiled:
        return thresholded, None
    from . import descent_kernels

    return descent_kernels.thresholded, descent_kernels.settle


def thresholded(c: Vector, y: Vector, price: float, eps: float) -> tuple[Vector, float]:
    """(the next iterate, Σ log(1 + |yᵢ|/ε)); 0 when nothing is left (ALG-S)."""
    room = np.abs(y) + eps
    z = np.abs(c) - (0.5 * price) / room
    np.maximum(z, 0.0, out=z)
    norm = math.sqrt(float(z @ z))
    if norm > 0.0:
        z /= norm
    np.log(room, out=room)
    return np.copysign(z, c, out=z), float(np.add.reduce(room)) - len(y) * math.log(eps)


def given_start(C: Matrix, x: Vector) -> Start:
    """A start that is known, with the product and the sum of squares that a run needs."""
    return Start(x, C @ x, float(np.einsum("ij,ij->", C, C)))


def krylov_start(C: Matrix, steps: int = 6) -> Start:
    """The best direction in the span of a few MM steps at ρ̃ = 0 (power steps) from the longest column of C.

    An approximate leading eigenvector at the price of as many iterations (Rayleigh–Ritz); fewer
    when the span already holds nearly all of the next power step.

    Rayleigh–Ritz: the leading eigenvector of A restricted to the span of Cᵀz₁, …, Cᵀz_j is read off a j × j matrix.
    It costs the products that the power steps cost anyway.
    """
    squares = np.einsum("ij,ij->j", C, C)
    z = C[:, int(np.argmax(squares))]
    Z, scores, products = np.zeros((steps, C.shape[0])), np.zeros((steps, C.shape[1])), np.zeros((steps, C.shape[0]))
    used = 0
    for j in range(steps):
        rest = z - Z[:j].T @ (Z[:j] @ z)
        size = float(np.linalg.norm(rest))
        if size <= 0.2 * float(np.linalg.norm(z)):
            break
        Z[j] = rest / size
        scores[j] = Z[j] @ C
        z = products[j] = C @ scores[j]
        used = j + 1
    mixture = np.linalg.eigh(Z[:used] @ products[:used].T)[1][:, -1]
    x = mixture @ scores[:used]
    norm = max(float(np.linalg.norm(x)), np.finfo(float).tiny)
    return Start(x / norm, mixture @ products[:used] / norm, float(squares.sum()))


def rho_max(C: Matrix, start: Start) -> float:
    """The ρ̃ at which the first step is 0."""
    log = 1.0 / rho_eps(1.0, MACHINE_EPS)
    return log * 2.0 * float(np.max(np.abs(start.Cx @ C) * (np.abs(start.x) + MACHINE_EPS)))
