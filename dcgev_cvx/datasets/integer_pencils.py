"""Pencils whose entries are whole numbers times powers of two: the same bits on every platform and NumPy version.

Random numbers come from `random.Random(seed).random()`, the one sequence that Python promises to keep. Products of
whole numbers below 2⁵³ are exact in double precision, in whatever order BLAS adds them. Data are standardised and
rounded to 1/256 of a standard deviation first; what is left of platforms is an entry within 1e-13 of a tie.
"""

import math
import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .._numerics.checks import Matrix
from ..pencils import Pencil

SCORE = 256.0
"""Standardised data are rounded to multiples of 1/256."""


def draws(seed: int, rows: int, columns: int) -> Matrix:
    """Whole numbers of mean 0 and variance 8, nearly normal: 32 fair coins each, less 16."""
    source = random.Random(seed)
    bits = [int(source.random() * 2**32).bit_count() - 16 for _ in range(rows * columns)]
    return np.array(bits, dtype=np.float64).reshape(rows, columns)


def chosen(seed: int, n: int, k: int) -> list[int]:
    """k of n positions."""
    source = random.Random(seed)
    return sorted(sorted(range(n), key=lambda i: source.random())[:k])


def gram(X: Matrix, Y: Matrix | None = None) -> Matrix:
    """XᵀY divided by the power of two next above the number of rows."""
    return X.T @ (X if Y is None else Y) / 2.0 ** math.ceil(math.log2(len(X)))


def noise(n: int, samples: int, seed: int) -> Pencil:
    """The covariance of noise, of rank `samples` where that is less than n."""
    return Pencil(gram(draws(seed, samples, n)))


def one_factor(n: int, k: int, samples: int, seed: int) -> Pencil:
    """The covariance of noise and of one factor on k variables, three quarters as strong as the noise of each."""
    X, factor = 4.0 * draws(seed, samples, n), draws(seed + 1, samples, 1)
    X[:, chosen(seed + 2, n, k)] += 3.0 * factor
    return Pencil(gram(X))


def shared_factor(sizes: Sequence[int], k: int, samples: int, seed: int, ridge: float) -> Pencil:
    """CCA of views that share a factor on k variables each; the ridge is a share of the mean variance."""
    factor = draws(seed, samples, 1)
    views: list[Matrix] = []
    for g, size in enumerate(sizes):
        X = 4.0 * draws(seed + 10 * g + 1, samples, size)
        X[:, chosen(seed + 10 * g + 2, size, k)] += 3.0 * factor
        views.append(X)
    return across_views(views, ridge)


def across_views(views: Sequence[Matrix], ridge: float) -> Pencil:
    """CCA of any number of views: A = their cross-covariances, B = their own covariances and a ridge (Eq:CCA)."""
    sizes = [view.shape[1] for view in views]
    return split_views(gram(np.concatenate(views, axis=1)), sizes, ridge)


def split_views(S: Matrix, sizes: Sequence[int], ridge: float) -> Pencil:
    """The pencil of CCA from a joint covariance; the ridge is a share of a power of two near its mean diagonal."""
    view = np.repeat(np.arange(len(sizes)), sizes)
    within = view[:, None] == view
    unit = 2.0 ** round(math.log2(np.trace(S) / len(S)))
    return Pencil(
        np.where(within, 0.0, S), np.where(within, S, 0.0) + ridge * unit * np.eye(len(S)), blocks=tuple(sizes)
    )


def class_pencil(X: Matrix, second: NDArray[np.bool_], ridge: float) -> Pencil:
    """FDA: A = aaᵀ, a the difference of the class means, B = the scatter within classes and a ridge."""
    U, V = X[~second], X[second]
    u, v, p, q = U.sum(axis=0), V.sum(axis=0), len(U), len(V)
    a = (p * v - q * u) / 2.0 ** math.ceil(math.log2(p * q))
    scatter = p * q * (U.T @ U + V.T @ V) - q * np.outer(u, u) - p * np.outer(v, v)
    B = scatter / 2.0 ** math.ceil(math.log2(p * q * len(X)))
    return Pencil(np.outer(a, a), B + ridge * 2.0 ** round(math.log2(np.trace(B) / len(B))) * np.eye(len(B)))


def shifted_classes(n: int, k: int, samples: int, seed: int) -> Pencil:
    """FDA of two classes of noise whose means differ in k variables."""
    X, second = draws(seed, samples, n), np.arange(samples) % 2 == 1
    X[np.ix_(second, chosen(seed + 1, n, k))] += 3.0
    return class_pencil(X, second, 0.0)


def symmetric_noise(n: int, seed: int, *, metric: bool = False) -> Pencil:
    """An indefinite A of noise; with B = I, or B a covariance."""
    G = draws(seed, n, n)
    return Pencil(G + G.T, gram(draws(seed + 1, 2 * n, n)) + np.eye(n) if metric else None)


def nearly_singular(n: int, rank: int, power: int, seed: int) -> Pencil:
    """B = MᵀM + 2⁻ᵖI with fewer rows in M than variables, so that cond(B) is near 2ᵖ⁺⁵; A is a covariance."""
    return Pencil(gram(draws(seed, n, n)), gram(draws(seed + 1, rank, n)) + 2.0**-power * np.eye(n))


def paley(q: int) -> Pencil:
    """The Paley graph on a prime q = 1 mod 4: i ~ j where i − j is a square. All vertices, and all edges, are alike."""
    squares = {i * i % q for i in range(1, q)}
    return Pencil(np.array([[float((i - j) % q in squares) for j in range(q)] for i in range(q)]))


def cube(d: int) -> Pencil:
    """The graph of the d-dimensional cube: vertices that differ in one bit are neighbours."""
    n = 2**d
    return Pencil(np.array([[float((i ^ j).bit_count() == 1) for j in range(n)] for i in range(n)]))


def alike(groups: int, size: int) -> Pencil:
    """Groups of variables correlated by 1/2, all alike: the best support of every group has the same value."""
    group = np.repeat(np.arange(groups), size)
    return Pencil(0.5 * np.eye(groups * size) + 0.5 * (group[:, None] == group))


def whole_scores(X: Matrix) -> Matrix:
    """Standardised columns in whole numbers of 1/256 of a standard deviation; constant columns are left out."""
    deviation = X.std(axis=0)
    kept = deviation > 1e-12 * np.max(np.abs(X), axis=0)
    return np.rint(SCORE * ((X - X.mean(axis=0)) / np.where(kept, deviation, 1.0))[:, kept])


def correlations(S: Matrix) -> Matrix:
    """The correlations of a covariance matrix, rounded to 2⁻⁴⁰; variables without variance are left out."""
    kept = np.diagonal(S) > 0.0
    S = S[np.ix_(kept, kept)]
    d = np.sqrt(np.diagonal(S))
    return np.rint(S / d / d[:, None] * 2.0**40) / 2.0**40
