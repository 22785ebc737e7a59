"""Sparse CCA from few samples: the default ridge of DCCCA against a small and a very large one, on new samples.

The settings were chosen on these and ten other families at seeds 700–706, none at the seeds here. Each family has five
nonzeros a view and ten draws; the score is the correlation on 1000 new samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from dcgev_cvx import DCCCA, datasets
from dcgev_cvx._numerics.checks import Matrix

from .report import Measure, at_least

SEEDS, NEW = range(520, 530), 1000
Views: TypeAlias = tuple[Matrix, Matrix]
Draw: TypeAlias = Callable[[np.random.Generator, int], Views]


def run(repeats: int) -> Iterator[Measure]:
    """For each family how far the default is above the better of the two ridges; at most .02 below is asked."""
    for name, (samples, draw) in FAMILIES.items():
        scores = [fitted_scores(*draw(np.random.default_rng(seed), samples + NEW)) for seed in SEEDS]
        small, large, auto = np.mean(scores, axis=0)
        detail = f"auto {auto:.3f}, ridge 0.1 {small:.3f}, ridge 1000 {large:.3f}"
        yield at_least(f"{name}, {samples} samples", float(auto - max(small, large)), "", -0.02, detail)


def fitted_scores(X: Matrix, Y: Matrix) -> list[float]:
    """The correlations on new samples with ridge 0.1, 1000 and "auto"."""
    models = [DCCCA(kx=5, ky=5, ridge=ridge, effort="quick") for ridge in (0.1, 1000.0, "auto")]
    return [model.fit(X[:-NEW], Y[:-NEW]).score(X[-NEW:], Y[-NEW:]) for model in models]


def neighbours(rng: np.random.Generator, m: int, n: int, correlation: float) -> Matrix:
    """m samples of n normal variables, each correlated with the one before it."""
    V = rng.standard_normal((m, n))
    for j in range(1, n):
        V[:, j] = correlation * V[:, j - 1] + np.sqrt(1.0 - correlation**2) * V[:, j]
    return V


def shared_factor(correlation: float, sizes: tuple[int, int], strength: float) -> Draw:
    """Five variables of each view share one factor; neighbours are correlated."""

    def draw(rng: np.random.Generator, m: int) -> Views:
        z = strength * rng.standard_normal((m, 1))
        X, Y = (neighbours(rng, m, n, correlation) for n in sizes)
        for V in (X, Y):
            V[:, rng.permutation(V.shape[1])[:5]] += z
        return X, Y

    return draw


def common_noise(correlation: float) -> Draw:
    """All variables of a view are equally correlated; five of each view share a factor."""

    def draw(rng: np.random.Generator, m: int) -> Views:
        z = rng.standard_normal((m, 1))
        X, Y = (rng.standard_normal((m, n)) for n in (70, 50))
        for V in (X, Y):
            V *= np.sqrt(1.0 - correlation)
            V += np.sqrt(correlation) * rng.standard_normal((m, 1))
            V[:, :5] += 0.9 * z
        return X, Y

    return draw


def poisson_counts(rng: np.random.Generator, m: int) -> Views:
    """Counts, five of each view with a common rate."""
    z = rng.standard_normal((m, 1))
    rates = [np.ones((m, n)) for n in (60, 40)]
    for rate in rates:
        rate[:, :5] = np.exp(0.6 * z)
    X, Y = (rng.poisson(1.6 * rate).astype(np.float64) for rate in rates)
    return X, Y


def suppressed(rng: np.random.Generator, m: int) -> Views:
    """In each view a factor behind strong noise, and a variable that measures the noise."""
    z = rng.standard_normal(m)
    X, Y = rng.standard_normal((m, 60)), rng.standard_normal((m, 60))
    for V in (X, Y):
        noise = 1.5 * rng.standard_normal(m)
        V[:, 3], V[:, 7] = z + noise, noise + 0.2 * V[:, 7]
    return X, Y


def unequal_units(rng: np.random.Generator, m: int) -> Views:
    """Unequal loadings, and variables in units of very different size."""
    z, loadings = rng.standard_normal((m, 1)), np.array([1.5, 1.0, 0.7, 0.5, 0.3])
    X, Y = rng.standard_normal((m, 100)), rng.standard_normal((m, 30))
    X[:, :5] += z * loadings
    Y[:, :5] += z * loadings[::-1]
    return X * rng.lognormal(0.0, 1.0, 100), Y * rng.lognormal(0.0, 1.0, 30)


def several_factors(rng: np.random.Generator, m: int) -> Views:
    """Six factors with sparse loadings."""
    Z = rng.standard_normal((m, 6))
    X, Y = (
        Z @ (rng.standard_normal((6, 100)) * (rng.random((6, 100)) < 0.3)) + 1.5 * rng.standard_normal((m, 100))
        for _ in range(2)
    )
    return X, Y


FAMILIES: dict[str, tuple[int, Draw]] = {
    "genes and lipids": (28, lambda rng, m: datasets.genes_and_lipids(m, rng=rng)),
    "one factor": (50, shared_factor(0.0, (80, 60), 1.0)),
    "one factor, wide": (40, shared_factor(0.0, (300, 20), 1.0)),
    "weak factor": (100, shared_factor(0.0, (150, 150), 0.6)),
    "correlated neighbours": (60, shared_factor(0.9, (80, 60), 1.0)),
    "alternating neighbours": (60, shared_factor(-0.8, (50, 70), 1.0)),
    "enough samples": (400, shared_factor(0.5, (30, 30), 1.0)),
    "common noise": (50, common_noise(0.4)),
    "strong common noise": (80, common_noise(0.8)),
    "counts": (70, poisson_counts),
    "suppressed": (200, suppressed),
    "unequal units": (40, unequal_units),
    "several factors": (30, several_factors),
}
