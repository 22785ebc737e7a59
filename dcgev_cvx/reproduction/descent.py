"""DC-PCA on data with nothing but the printed iteration: what Tables 2 and 4 time (ALG-S).

The driver of `dc_pca` computes f, g and a residual at each step, which is right for a certified run and would be
what one measures in a race. Here the bare iteration is run in plain NumPy, as GPower is here, with the same iterates;
the tests compare the two.
"""

from __future__ import annotations

import math

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..programs import MACHINE_EPS, rho_eps
from ..rivals.sparse_pca import Run
from .starts import Start

SHRINK = 0.65
"""Columns are dropped when this share of them is left: each copy costs as much as a step."""

LOG_EPS = math.log(MACHINE_EPS)


def descend(C: Matrix, rho: float, start: Start, *, tol: float = 1e-4, max_iter: int = 1000) -> Run:
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
    tol, max_iter
        The stop rule of GPower's authors, so that both methods are stopped alike.

    Returns
    -------
    Run
        x with its zeros, the number of steps, and whether the rule was met (a collapse to 0 counts as met).
    """
    n, price = C.shape[1], rho_eps(rho, MACHINE_EPS)
    entries = C.ravel(order="K")
    shrink = 0.5 * price / MACHINE_EPS > float(entries @ entries)
    # with a penalty the first steps drop columns, and n logarithms would tell nothing
    objective = float(start.x @ start.image) if price == 0.0 else -math.inf
    columns, D, c = np.arange(n), C, start.image
    y, room = start.x, np.abs(start.x) + MACHINE_EPS
    passes, settled, steps = start.passes + 1.0, False, 0
    while steps < max_iter and not settled:
        steps += 1
        z = thresholded(np.abs(c), room, price)
        kept = z.nonzero()[0]
        if not len(kept):
            return Run(np.zeros(n), steps, True, passes)
        if shrink and len(kept) < SHRINK * len(z):
            columns, D, z, c = columns[kept], D.T.take(kept, axis=0).T, z[kept], c[kept]
        y = z / math.sqrt(float(z @ z))
        room = y + MACHINE_EPS
        np.copysign(y, c, out=y)
        Cy = D @ y
        passes += len(y) / n
        variance, before = float(Cy @ Cy), objective
        objective = variance - penalty(room, price)
        settled = objective - before <= tol * variance
        if not settled:
            c = Cy @ D
            passes += len(y) / n
    x = np.zeros(n)
    x[columns] = y + 0.0  # no -0.0
    return Run(x, steps, settled, passes)


def thresholded(size: Vector, room: Vector, price: float) -> Vector:
    """[|cᵢ| − ½ρ_ε/(|yᵢ| + ε)]₊: the printed step before its scaling (ALG-S)."""
    z = (0.5 * price) / room
    np.subtract(size, z, out=z)
    return np.maximum(z, 0.0, out=z)


def penalty(room: Vector, price: float) -> float:
    """ρ_ε Σ log(1 + |xᵢ|/ε) from |xᵢ| + ε (Eq:log)."""
    return price * (log_sum(room) - len(room) * LOG_EPS) if price > 0.0 else 0.0


def log_sum(room: Vector, block: int = 16) -> float:
    """Σ log of numbers between ε and 2: sixteen are multiplied before a logarithm is taken, ε¹⁶ is no underflow."""
    cut = len(room) // block * block
    if cut < 32 * block:
        return float(np.add.reduce(np.log(room)))
    products = np.multiply.reduce(room[:cut].reshape(block, -1), axis=0)
    return float(np.add.reduce(np.log(products))) + float(np.add.reduce(np.log(room[cut:])))


def rho_max(start: Start) -> float:
    """The ρ̃ at which the first step is 0."""
    log = 1.0 / rho_eps(1.0, MACHINE_EPS)
    return log * 2.0 * float(np.max(np.abs(start.image) * (np.abs(start.x) + MACHINE_EPS)))
