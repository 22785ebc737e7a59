"""DC-PCA on a data matrix C, A = CᵀC, in plain NumPy: the iteration that Tables 2 and 4 time (ALG-S).

`dc_pca` computes f, g and a residual at each step. Here only the iteration itself is run, as GPower is, so that a
comparison of times is one of iterations. The iterates are those of `dc_pca`; the tests compare the two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..programs import MACHINE_EPS, rho_eps
from ..rivals.sparse_pca import Run, longest_column


@dataclass(frozen=True)
class Start:
    """x⁽⁰⁾ and Ax⁽⁰⁾, and how often the data were read to find them; Ax⁽⁰⁾ may be an estimate."""

    x: Vector
    image: Vector
    passes: float = 0.0


def given_start(C: Matrix, x: Vector) -> Start:
    """The start at a known x."""
    return Start(x, (C @ x) @ C)


def krylov_start(C: Matrix, steps: int | None = None) -> Start:
    """The best direction in the span of a few MM steps at ρ̃ = 0 (power steps) from z, a long column of C.

    If the longest column z of a sample of about 128 columns explains half of that sample's variance, it is taken for
    the singular vector that it is near: x⁽⁰⁾ = Cᵀz/‖Cᵀz‖ and Ax⁽⁰⁾ = ‖Cᵀz‖Cᵀz. Otherwise z is the longest of all
    columns, where GPower starts too, and x⁽⁰⁾ is the leading eigenvector of A restricted to the span of
    Cᵀz₁, …, Cᵀz_j, read off a j × j matrix (Rayleigh–Ritz). j = 1 where z explains a quarter of ‖C‖², and less than
    `steps` where the span holds nearly all of the next step.

    By default at most 1.3 p^⅓ steps: the first two eigenvalues of a noise matrix are a share p^(−⅔) apart, and Krylov
    spaces separate them after a number of steps that grows as the root of its inverse.
    """
    p, n = C.shape
    steps = max(1, round(1.3 * p ** (1.0 / 3.0))) if steps is None else steps
    sample = C[:, :: max(1, n // 128)]
    looked = sample.shape[1] / n
    z, squares = longest_column(sample)
    share = z @ sample
    if 0.0 < 0.5 * squares <= float(share @ share):
        score = z @ C
        norm = math.sqrt(float(score @ score))
        return Start(score / norm, norm * score, looked + 1.0)
    z, squares = longest_column(C)
    score = z @ C
    norm = math.sqrt(float(score @ score))
    if norm == 0.0:
        return Start(score, score, looked + 2.0)
    if norm * norm >= 0.25 * squares or steps == 1:
        return Start(score / norm, ((C @ score) / norm) @ C, looked + 4.0)
    x, Cx, used = ritz_vector(C, z, score, steps)
    norm = float(np.linalg.norm(x))
    return Start(x / norm, (Cx / norm) @ C, looked + 2.0 + 2.0 * used)


def ritz_vector(C: Matrix, z: Vector, score: Vector, steps: int) -> tuple[Vector, Vector, int]:
    """(x, Cx, j): the leading direction in the span of Cᵀz₁, …, Cᵀz_j, j ≤ steps, from z₁ = z and Cᵀz."""
    Z, scores, products = (np.empty((steps, length)) for length in (C.shape[0], C.shape[1], C.shape[0]))
    used = 0
    while True:
        Z[used], scores[used] = z, score
        product = products[used] = C @ score
        used += 1
        rest = product - (Z[:used] @ product) @ Z[:used]
        size = float(np.linalg.norm(rest))
        if used == steps or size <= 0.2 * float(np.linalg.norm(product)):
            break
        z = rest / size
        score = z @ C
    mixture = np.linalg.eigh(Z[:used] @ products[:used].T)[1][:, -1]
    return mixture @ scores[:used], mixture @ products[:used], used


def descend(C: Matrix, rho: float, start: Start, *, tol: float = 1e-4, max_iter: int = 1000) -> Run:
    """xᵢ ∝ [|(CᵀCy)ᵢ| − ½ρ_ε/(|yᵢ| + ε)]₊ sign(CᵀCy)ᵢ at machine precision ε (ALG-S).

    A zero of y stays zero (its weight 1/ε outweighs every |cᵢᵀCy| ≤ ‖cᵢ‖‖C‖), so its column is dropped: a step costs
    the support only. Stops when the objective xᵀAx − ρ_ε Σ log(1 + |xᵢ|/ε) rises by at most `tol`·xᵀAx, the rule of
    GPower's authors. A collapse to 0 counts as converged.
    """
    n, price = C.shape[1], rho_eps(rho, MACHINE_EPS)
    entries = C.ravel(order="K")
    shrink = 0.5 * price / MACHINE_EPS > float(entries @ entries)
    # with a penalty the first steps drop columns, and n logarithms would be wasted
    objective = float(start.x @ start.image) if price == 0.0 else -math.inf
    columns, D, c = np.arange(n), C, start.image
    y, room = start.x, np.abs(start.x) + MACHINE_EPS
    passes, settled, steps = start.passes + 1.0, False, 0
    while steps < max_iter and not settled:
        steps += 1
        z = np.maximum(np.abs(c) - (0.5 * price) / room, 0.0)
        kept = z.nonzero()[0]
        if not len(kept):
            return Run(np.zeros(n), steps, True, passes)
        if shrink and len(kept) < 0.65 * len(z):  # not at every loss: a copy costs as much as a step
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


def penalty(room: Vector, price: float) -> float:
    """ρ_ε Σ log(1 + |xᵢ|/ε) from |xᵢ| + ε (Eq:log)."""
    return price * (float(np.log(room).sum()) - len(room) * math.log(MACHINE_EPS)) if price > 0.0 else 0.0


def rho_max(start: Start) -> float:
    """The ρ̃ at which the first step is 0."""
    log = 1.0 / rho_eps(1.0, MACHINE_EPS)
    return log * 2.0 * float(np.max(np.abs(start.image) * (np.abs(start.x) + MACHINE_EPS)))
