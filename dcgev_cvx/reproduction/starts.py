"""Where the timed runs of DC-PCA on data begin: near the longest column, as GPower does."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..rivals.sparse_pca import longest_column

SAMPLE = 128
"""About so many columns are looked at first."""

DOMINANT = 0.5
"""A column that explains this share of the sample alone is taken for the first left singular vector."""

ENOUGH = 0.25
"""A start that explains this share of the variance is not improved."""


@dataclass(frozen=True)
class Start:
    """x⁽⁰⁾ and Ax⁽⁰⁾, and how often the data were read for them.

    Ax⁽⁰⁾ may be an estimate: what it would be if a long column were a singular vector.
    """

    x: Vector
    image: Vector
    passes: float = 0.0


def given_start(C: Matrix, x: Vector) -> Start:
    """A start that is known, with the image that a run needs."""
    return Start(x, (C @ x) @ C)


def krylov_start(C: Matrix, steps: int | None = None) -> Start:
    """The best direction in the span of a few MM steps at ρ̃ = 0 (power steps) from z, a long column of C.

    If the longest column z of a small sample explains half of that sample's variance, it is taken for the singular
    vector that it is near: x⁽⁰⁾ = Cᵀz/‖Cᵀz‖ and Ax⁽⁰⁾ = ‖Cᵀz‖Cᵀz; any point of Ω may be x⁽¹⁾. If not, z is the
    longest of all columns, where GPower starts too, and the leading eigenvector of A restricted to the span of
    Cᵀz₁, …, Cᵀz_j is read off a j × j matrix (Rayleigh–Ritz), at the price of the products that the power steps cost
    anyway; j = 1 where z explains a quarter of ‖C‖², fewer than `steps` where the span holds nearly all of the next
    step.

    By default at most 1.3 p^⅓ steps: the first two eigenvalues of a noise matrix are a share p^(−⅔) apart, and Krylov
    spaces tell them apart after a number of steps like the root of its inverse.
    """
    p, n = C.shape
    steps = max(1, round(1.3 * p ** (1.0 / 3.0))) if steps is None else steps
    few = C[:, :: max(1, n // SAMPLE)]
    looked = few.shape[1] / n
    z, squares = longest_column(few)
    share = z @ few
    if 0.0 < DOMINANT * squares <= float(share @ share):
        score = z @ C
        norm = math.sqrt(float(score @ score))
        return Start(score / norm, norm * score, looked + 1.0)
    z, squares = longest_column(C)
    score = z @ C
    norm = math.sqrt(float(score @ score))
    if norm == 0.0:
        return Start(score, score, looked + 2.0)
    if norm * norm >= ENOUGH * squares or steps == 1:
        return Start(score / norm, ((C @ score) / norm) @ C, looked + 4.0)
    Z, scores, products = np.empty((steps, p)), np.empty((steps, n)), np.empty((steps, p))
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
    x, Cx = mixture @ scores[:used], mixture @ products[:used]
    norm = float(np.linalg.norm(x))
    return Start(x / norm, (Cx / norm) @ C, looked + 2.0 + 2.0 * used)
