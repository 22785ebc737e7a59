"""Where the timed runs of DC-PCA on data begin: near the longest column, as GPower does."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..checks import Matrix, Vector

DOMINANT = 0.5
"""A column that explains this share of the variance alone is taken for the first left singular vector."""

ENOUGH = 0.25
"""A start that explains this share of the variance is not improved."""


@dataclass(frozen=True)
class Start:
    """x⁽⁰⁾ and Ax⁽⁰⁾, the sum ‖C‖² of all squares, which comes with them, and how often the data were read.

    Ax⁽⁰⁾ may be an estimate: what it would be if the longest column were a singular vector.
    """

    x: Vector
    image: Vector
    squares: float
    passes: float = 0.0


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
        return Start(score / max(norm, np.finfo(float).tiny), norm * score, squares, 2.0)
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
