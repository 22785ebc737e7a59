"""A document as its similarities to the training documents: the rows of EEᵀ and FFᵀ (Section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..._numerics.checks import Index, Matrix, Vector, as_indices, expect, frozen, shown
from ...errors import InvalidParameter
from ..corpora import Corpus


@dataclass(frozen=True)
class KernelView:
    """One language: K = EEᵀ of the training documents, its columns centred, and what new documents need."""

    bags: Any
    K: Matrix
    mean: Vector

    @property
    def n(self) -> int:
        """N, the number of training documents, which is the number of variables."""
        return len(self.mean)

    def similarities(self, bags: Any, documents: Index) -> Matrix:
        """Q: new documents × the given training documents, centred as K is; no other document is touched.

        Raises InvalidParameter unless the bags are a sparse matrix over the training documents' words.
        """
        documents = as_indices(documents, self.n, "documents")
        words = self.bags.shape[1]
        if not issparse(bags) or bags.shape[1:] != (words,):
            raise InvalidParameter(f"bags = {shown(bags)} must be a sparse matrix of {words} columns, one per word.")
        return (bags @ self.bags[documents].T).toarray() - self.mean[documents]


def kernel_views(training: Corpus) -> tuple[KernelView, KernelView]:
    """EEᵀ and FFᵀ, columns centred, as two N-dimensional views of N documents."""
    corpus = expect(training, Corpus, "training", "see datasets.aligned_corpus")
    return kernel_view(corpus.E, "first"), kernel_view(corpus.F, "second")


def kernel_view(bags: Any, which: str) -> KernelView:
    """K = EEᵀ and its column means."""
    K = (bags @ bags.T).toarray().astype(np.float64)
    mean = K.mean(axis=0)
    centred = K - mean
    if not np.any(centred):
        raise InvalidParameter(f"all training documents are alike in the {which} language: nothing to correlate.")
    return KernelView(bags, frozen(centred), frozen(mean))


def expect_view(view: Any, what: str) -> KernelView:
    """The view, if it is one."""
    return expect(view, KernelView, what, "see kernel_views")
