"""Cross-language retrieval by CCA and sparse CCA on kernels of documents, and on words (Section 5.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from .._numerics.checks import Index, Matrix, Vector, as_number, frozen
from .._numerics.extras import require
from .._numerics.selection import largest_first
from ..errors import InvalidParameter
from .corpora import Corpus
from .sparse_pairs import RIDGE, Component, DeflatedViews, check_count, sparse_pairs


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
        """New documents × the given training documents, centred as K is; no other document is used."""
        return (bags @ self.bags[documents].T).toarray() - self.mean[documents]


def kernel_views(training: Corpus) -> tuple[KernelView, KernelView]:
    """EEᵀ and FFᵀ, columns centred, as two N-dimensional views of N documents."""
    return kernel_view(training.E), kernel_view(training.F)


def kernel_view(bags: Any) -> KernelView:
    """K = EEᵀ, its columns centred, and their means."""
    K = (bags @ bags.T).toarray()
    mean = K.mean(axis=0)
    if not np.any(K - mean):
        raise InvalidParameter("all training documents are alike in one language: nothing to correlate.")
    return KernelView(bags, frozen(K - mean), frozen(mean))


def sparse_cca(
    first: KernelView,
    second: KernelView,
    d: int,
    *,
    zeros: float = 0.88,
    ridge: float = RIDGE,
    known: Sequence[Component] = (),
    callback: Callable[[Component], Any] | None = None,
) -> tuple[Component, ...]:
    """d sparse components of two kernels, a share of at least `zeros` zero loadings in each (Section 5.1).

    At zeros = 0.88 a component uses 12 % of the training documents in each language. The other parameters are those
    of `sparse_pairs`.

    Examples
    --------
    >>> from dcgev_cvx.reproduction.retrieval import kernel_views, sparse_cca
    >>> from dcgev_cvx.reproduction.translated_texts import planted_translations
    >>> views = kernel_views(planted_translations(documents=40, rng=0))
    >>> [(len(c.rows[0]), c.stationarity < 1e-8) for c in sparse_cca(*views, 2, zeros=0.8)]
    [(8, True), (8, True)]
    """
    share = as_number(zeros, "zeros")
    if share >= 1.0:
        raise InvalidParameter(f"zeros = {share:g} must lie below 1: it is the share of zero loadings.")
    k = max(1, math.floor((1.0 - share) * first.n + 1e-9))
    return sparse_pairs(first.K, second.K, d, (k, k), ridge=ridge, known=known, callback=callback)


def dense_cca(first: KernelView, second: KernelView, d: int, *, ridge: float = RIDGE) -> tuple[Projection, ...]:
    """The first d canonical pairs of the two kernels, every loading nonzero, as one projection per language (Eq:CCA).

    All pairs are computed at once, in O(N³).
    """
    pairs = DeflatedViews(first.K, second.K, as_number(ridge, "ridge", strict=True)).dense
    check_count(d, pairs.rank)
    everything = np.arange(first.n)
    return Projection(first, everything, pairs.U[:, :d]), Projection(second, everything, pairs.V[:, :d])


def lsi(training: Corpus, queries: Corpus, d: int, seed: int = 0) -> tuple[Matrix, Matrix]:
    """Latent semantic indexing across languages (Littman et al. 1998): scores of the queries and their targets.

    The SVD of the training documents [E F] with both languages in one bag gives d directions; a document in one
    language is projected with zeros for the other. Rank the rows after scaling them to unit length.
    """
    from scipy.sparse import csr_matrix, hstack

    check_count(d, min(training.n_documents, training.E.shape[1] + training.F.shape[1]) - 1)
    svd = require("sklearn.decomposition", "reproduce").TruncatedSVD(d, random_state=seed)
    svd.fit(hstack([training.E, training.F]).tocsr())
    n, p, q = queries.n_documents, queries.E.shape[1], queries.F.shape[1]
    first = svd.transform(hstack([queries.E, csr_matrix((n, q))]).tocsr())
    return first, svd.transform(hstack([csr_matrix((n, p)), queries.F]).tocsr())


@dataclass(frozen=True)
class Projection:
    """One language: new documents ↦ (their similarities to `documents`) · weights, weights documents × d."""

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
    return Projection(view, plain.documents, frozen(plain.weights @ (coordinates / np.sqrt(view.n))))


class Scores(NamedTuple):
    """aroc: 1 best, ½ chance, averaged over the queries; recall: the share whose translation comes first."""

    aroc: float
    recall: float


def score(queries: Matrix, targets: Matrix) -> Scores:
    """Rank targets by their Euclidean distance from each query; target i is the translation of query i.

    With one relevant document the area under the ROC curve is the share of the others that rank below it; ties count
    half.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx.reproduction.retrieval import score
    >>> score(np.eye(3), np.eye(3)), score(np.eye(3), np.ones((3, 3)))
    (Scores(aroc=1.0, recall=1.0), Scores(aroc=0.5, recall=0.0))
    """
    from scipy.spatial.distance import cdist

    if queries.shape != targets.shape or len(queries) < 2:
        raise InvalidParameter(
            f"queries {queries.shape} and targets {targets.shape} must be tables of one shape, two rows at least."
        )
    distance = cdist(queries, targets, "sqeuclidean")
    correct = np.diagonal(distance)[:, None]
    above = np.sum(distance < correct, axis=1) + 0.5 * (np.sum(distance == correct, axis=1) - 1)
    return Scores(float(1.0 - np.mean(above) / (len(targets) - 1)), float(np.mean(above == 0.0)))


def word_components(corpus: Corpus, d: int = 5, k: int = 6) -> list[tuple[str, str, str]]:
    """d sparse canonical pairs on words instead of documents: (component and correlation, words of E, words of F).

    The views are columns of E and F, centred: the 800 words of largest variance in each language among those in at
    most a quarter of the documents. A component has at most k words in each language, the largest loading first; a
    minus marks those with a negative loading. The ridge is a tenth of the mean variance.
    """
    columns = [varied(bags, 800) for bags in (corpus.E, corpus.F)]
    X, Y = (bags[:, chosen].toarray() for bags, chosen in zip((corpus.E, corpus.F), columns, strict=True))
    found = sparse_pairs(X - X.mean(axis=0), Y - Y.mean(axis=0), d, (k, k), ridge=0.1)
    table: list[tuple[str, str, str]] = []
    for number, component in enumerate(found, 1):
        sign = np.sign(max(component.loadings[0], key=abs))
        sides: list[str] = []
        for names, chosen, rows, loadings in zip(
            corpus.words, columns, component.rows, component.loadings, strict=True
        ):
            largest = sorted(zip(loadings, rows, strict=True), key=lambda entry: -abs(entry[0]))
            sides.append(", ".join(f"{'−' * bool(sign * x < 0.0)}{names[chosen[row]]}" for x, row in largest))
        table.append((f"{number} ({component.correlation:.3f})", sides[0], sides[1]))
    return table


def varied(bags: Any, count: int) -> Index:
    """The columns with the largest variance p(1 − p), 0 < p ≤ ¼, at most `count`, in their order.

    Words in more than a quarter of the documents say little about any.
    """
    share = np.asarray(bags.mean(axis=0)).ravel()
    variance = np.where(share <= 0.25, share * (1.0 - share), 0.0)
    best = largest_first(variance, count)
    best = best[variance[best] > 0.0]
    if len(best) < 2:
        raise InvalidParameter(f"{len(best)} word(s) occur in at most 25 % of the documents: too few, add documents.")
    return np.sort(best)
