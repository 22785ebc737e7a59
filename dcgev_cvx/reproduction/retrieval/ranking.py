"""How high the translation of a query ranks: average AROC as the paper defines it, and recall at 1 (Section 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._numerics.checks import Matrix, Vector, as_real
from ...errors import InvalidParameter


@dataclass(frozen=True)
class Scores:
    """aroc: 1 best, ½ chance, averaged over the queries; recall: the share whose translation comes first."""

    aroc: float
    recall: float


def score(queries: Matrix, targets: Matrix) -> Scores:
    """Rank targets by their Euclidean distance from each query; target i is the translation of query i.

    With one relevant document the area under the ROC curve is the share of the others that rank
    below it; ties count half.

    >>> import numpy as np
    >>> from dcgev_cvx.reproduction.retrieval import score
    >>> score(np.eye(3), np.eye(3)), score(np.eye(3), np.ones((3, 3)))
    (Scores(aroc=1.0, recall=1.0), Scores(aroc=0.5, recall=0.0))
    """
    queries, targets = (
        as_real(table, what, InvalidParameter) for table, what in ((queries, "queries"), (targets, "targets"))
    )
    if queries.ndim != 2 or queries.shape != targets.shape or len(queries) < 2:
        raise InvalidParameter(
            f"queries {queries.shape} and targets {targets.shape} must be tables of one shape, two rows at least."
        )
    above = ranks_above(queries, targets)
    return Scores(float(1.0 - np.mean(above) / (len(targets) - 1)), float(np.mean(above == 0.0)))


def ranks_above(queries: Matrix, targets: Matrix) -> Vector:
    """For each query the number of targets nearer than its own, ties counted half."""
    from scipy.spatial.distance import cdist

    distance = cdist(queries, targets, "sqeuclidean")
    own = np.diagonal(distance)[:, None]
    return np.sum(distance < own, axis=1) + 0.5 * (np.sum(distance == own, axis=1) - 1)
