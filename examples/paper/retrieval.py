"""Cross-language retrieval by CCA and sparse CCA on kernels of documents (Section 5.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from dcgev_cvx.datasets import Corpus
from dcgev_cvx.search.sparse_pairs import RIDGE, Component, DeflatedViews, sparse_pairs


@dataclass(frozen=True)
class KernelView:
    """One language: K = EEᵀ of the training documents, its columns centred, and what new documents need."""

    bags: Any
    K: np.ndarray
    mean: np.ndarray

    @property
    def n(self) -> int:
        """N, the number of training documents, which is the number of variables."""
        return len(self.mean)

    def similarities(self, bags: Any, documents: np.ndarray) -> np.ndarray:
        """New documents × the given training documents, centred as K is; no other document is used."""
        return (bags @ self.bags[documents].T).toarray() - self.mean[documents]


def kernel_views(training: Corpus) -> tuple[KernelView, KernelView]:
    """EEᵀ and FFᵀ, columns centred, as two N-dimensional views of N documents."""
    kernels = [(bags, (bags @ bags.T).toarray()) for bags in (training.E, training.F)]
    first, second = (KernelView(bags, K - K.mean(axis=0), K.mean(axis=0)) for bags, K in kernels)
    return first, second


def sparse_cca(
    first: KernelView, second: KernelView, d: int, *, zeros: float = 0.88, ridge: float = RIDGE
) -> list[Component]:
    """d sparse components of two kernels, a share of at least `zeros` zero loadings in each (Section 5.1).

    At zeros = 0.88 a component uses 12 % of the training documents in each language. The ridge is a share of a
    kernel's mean variance.

    Examples
    --------
    >>> from dcgev_cvx.datasets import planted_translations
    >>> from retrieval import kernel_views, sparse_cca
    >>> views = kernel_views(planted_translations(documents=40, rng=0))
    >>> [(len(c.rows[0]), c.stationarity < 1e-8) for c in sparse_cca(*views, 2, zeros=0.8)]
    [(8, True), (8, True)]
    """
    k = max(1, math.floor((1.0 - zeros) * first.n + 1e-9))
    return sparse_pairs(first.K, second.K, d, k, ridge=ridge)


def dense_cca(first: KernelView, second: KernelView, d: int, *, ridge: float = RIDGE) -> tuple[Projection, ...]:
    """The first d canonical pairs of the two kernels, every loading nonzero, as one projection per language (Eq:CCA).

    All pairs are computed at once, in O(N³).
    """
    pairs = DeflatedViews(first.K, second.K, ridge).dense
    everything = np.arange(first.n)
    return Projection(first, everything, pairs.U[:, :d]), Projection(second, everything, pairs.V[:, :d])


@dataclass(frozen=True)
class Projection:
    """One language: new documents ↦ (their similarities to `documents`) · weights, weights documents × d."""

    view: KernelView
    documents: np.ndarray
    weights: np.ndarray

    @property
    def evaluations(self) -> int:
        """Kernel evaluations per query: the training documents with a nonzero loading in any component."""
        return len(self.documents)

    def __call__(self, bags: Any) -> np.ndarray:
        """The scores of new documents, one row each."""
        return self.view.similarities(bags, self.documents) @ self.weights

    def first(self, d: int) -> Projection:
        """The first d coordinates, with only the documents that they need."""
        weights = self.weights[:, :d]
        needed = np.any(weights != 0.0, axis=1)
        return Projection(self.view, self.documents[needed], weights[needed])


def plain_projection(view: KernelView, components: Sequence[Component], side: int) -> Projection:
    """Vᵀq with the loadings as they are, as the paper writes it (Section 5.1); side 0 is V_E, side 1 V_F."""
    W = np.column_stack([component.vectors(view.n, view.n)[side] for component in components])
    return Projection(view, np.arange(view.n), W).first(len(components))


def deflated_projection(view: KernelView, components: Sequence[Component], side: int) -> Projection:
    """The scores that deflation defines: component j sees q less what the scores 1, …, j − 1 explain of it.

    On the training documents these scores are the Gram–Schmidt vectors of the columns of KV: KV = TR with R upper
    triangular, so that new documents have VR⁻¹diag(R). The kernel evaluations are those of the plain projection. This
    is how Shawe-Taylor and Cristianini (2004) project new points after deflation.
    """
    plain = plain_projection(view, components, side)
    R = np.linalg.qr(view.K[:, plain.documents] @ plain.weights, mode="r")
    coordinates = solve_triangular(R, np.diag(np.diagonal(R)), check_finite=False)
    return Projection(view, plain.documents, plain.weights @ (coordinates / np.sqrt(view.n)))
