"""What sparse CCA is measured against: regularised dense CCA, and latent semantic indexing (Section 5.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._numerics.checks import Matrix, as_number, as_real, as_whole, expect
from ...errors import InvalidParameter
from ..corpora import Corpus
from .components import LARGEST_RIDGE, RIDGE, refuse_rank
from .deflated import DeflatedViews
from .projections import Projection, projection
from .views import KernelView, expect_view


def dense_cca(
    first: KernelView, second: KernelView, d: int, *, ridge: float = RIDGE
) -> tuple[Projection, Projection]:
    """The first d canonical pairs of the two kernels, every loading nonzero (Eq:CCA).

    Returns one projection a language; a projection takes a sparse matrix of new documents to its d scores.
    ridge as in `sparse_cca`. The one cubic computation of Section 5.1: all pairs at once.
    """
    K, L = expect_view(first, "first").K, expect_view(second, "second").K
    pairs = DeflatedViews(K, L, as_number(ridge, "ridge", strict=True, high=LARGEST_RIDGE)).dense
    refuse_rank(d, pairs.rank)
    return projection(first, pairs.U[:, :d]), projection(second, pairs.V[:, :d])


def lsi(training: Corpus, queries: Corpus, d: int, seed: int = 0) -> tuple[Matrix, Matrix]:
    """Latent semantic indexing across languages (Littman et al. 1998): scores of the queries and their targets.

    The SVD of the training documents [E F] with both languages in one bag gives d directions; a
    document in one language alone is folded in with zeros for the other. Rank the rows scaled to unit length.
    """
    from scipy.sparse import csr_matrix, hstack
    from sklearn.decomposition import TruncatedSVD

    for what, corpus in (("training", training), ("queries", queries)):
        expect(corpus, Corpus, what, "see datasets.aligned_corpus")
    seed = as_whole(seed, "seed", low=0, high=2**32 - 1)
    refuse_rank(d, min(training.n_documents, training.E.shape[1] + training.F.shape[1]) - 1)
    model: Any = TruncatedSVD(d, random_state=seed).fit(hstack([training.E, training.F]).tocsr())
    n, p, q = queries.n_documents, queries.E.shape[1], queries.F.shape[1]
    first = model.transform(hstack([queries.E, csr_matrix((n, q))]).tocsr())
    second = model.transform(hstack([csr_matrix((n, p)), queries.F]).tocsr())
    return first, second


def unit_rows(T: Matrix) -> Matrix:
    """Rows of length one; a row of zeros stays."""
    T = as_real(T, "T", InvalidParameter)
    if T.ndim != 2 or not T.size:
        raise InvalidParameter(f"T must be a table of rows, got shape {T.shape}.")
    top = np.max(np.abs(T), axis=1, keepdims=True)
    T = T / np.where(top > 0.0, top, 1.0)  # squares of 1e200 overflow
    length = np.linalg.norm(T, axis=1, keepdims=True)
    return T / np.where(length > 0.0, length, 1.0)
