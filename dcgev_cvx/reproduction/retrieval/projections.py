"""New documents in the space of the components: only the training documents of the supports are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..._numerics.checks import Index, Matrix, as_whole, frozen, listed, shown
from ...errors import InvalidParameter
from .components import Component
from .views import KernelView, expect_view


@dataclass(frozen=True)
class Projection:
    """One language: q ↦ (similarities of q to the documents)·weights, weights documents × d."""

    view: KernelView
    documents: Index
    weights: Matrix

    @property
    def evaluations(self) -> int:
        """Kernel evaluations per query: the training documents with a nonzero loading in any component."""
        return len(self.documents)

    def __call__(self, bags: Any) -> Matrix:
        """The scores of new documents, one row each."""
        return self.view.similarities(bags, self.documents) @ self.weights

    def first(self, d: int) -> Projection:
        """The first d coordinates, looking only at the documents that they need."""
        weights = self.weights[:, : as_whole(d, "d", high=self.weights.shape[1])]
        needed = np.any(weights != 0.0, axis=1)
        return Projection(self.view, self.documents[needed], weights[needed])


def projection(view: KernelView, W: Matrix) -> Projection:
    """The projection on the columns of an N × d matrix of loadings."""
    documents = np.flatnonzero(np.any(W != 0.0, axis=1))
    return Projection(view, documents, frozen(W[documents].copy()))


def plain_projection(view: KernelView, components: Sequence[Component], side: int) -> Projection:
    """Vᵀq with the loadings as they are: the paper's words, taken literally (Section 5.1)."""
    return projection(view, stacked(view, components, side))


def deflated_projection(view: KernelView, components: Sequence[Component], side: int) -> Projection:
    """The scores that deflation defines: component j sees q less what the scores 1, …, j − 1 know of it.

    On the training documents these scores are the Gram–Schmidt vectors of the columns of KV: KV = TR
    with R upper triangular, so that new documents have VR⁻¹diag(R). The kernel evaluations are those
    of the plain projection. This is how Shawe-Taylor and Cristianini (2004) project new points
    after deflation.
    """
    V = stacked(view, components, side)
    R = np.linalg.qr(view.K @ V, mode="r")
    coordinates = solve_triangular(R, np.diag(np.diagonal(R)), check_finite=False)
    plain = projection(view, V)
    return Projection(view, plain.documents, frozen(plain.weights @ (coordinates / np.sqrt(view.n))))


def stacked(view: KernelView, components: Sequence[Component], side: int) -> Matrix:
    """V_E (side 0) or V_F (side 1), N × d."""
    n, found = expect_view(view, "view").n, listed(components)
    if not found or not all(isinstance(component, Component) for component in found):
        raise InvalidParameter(f"components = {shown(components)} must be what sparse_cca returns.")
    which = as_whole(side, "side", low=0, high=1)
    return np.column_stack([component.vectors(n, n)[which] for component in found])
