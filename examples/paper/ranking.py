"""How well queries find their translations (Section 5.1)."""

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist


class Scores(NamedTuple):
    """aroc: 1 best, ½ chance, averaged over the queries; recall: the share whose translation comes first."""

    aroc: float
    recall: float


def score(queries: np.ndarray, targets: np.ndarray) -> Scores:
    """Rank targets by their Euclidean distance from each query; target i is the translation of query i.

    With one relevant document the area under the ROC curve is the share of the others that rank below it; ties count
    half.

    Examples
    --------
    >>> import numpy as np
    >>> from ranking import score
    >>> score(np.eye(3), np.eye(3)), score(np.eye(3), np.ones((3, 3)))
    (Scores(aroc=1.0, recall=1.0), Scores(aroc=0.5, recall=0.0))
    """
    distance = cdist(queries, targets, "sqeuclidean")
    correct = np.diagonal(distance)[:, None]
    above = np.sum(distance < correct, axis=1) + 0.5 * (np.sum(distance == correct, axis=1) - 1)
    return Scores(float(1.0 - np.mean(above) / (len(targets) - 1)), float(np.mean(above == 0.0)))


def quality(projections: list, queries) -> list[float]:
    """(average AROC, recall at 1) of English queries for French documents, in per cent."""
    return [100.0 * share for share in score(projections[0](queries.E), projections[1](queries.F))]
