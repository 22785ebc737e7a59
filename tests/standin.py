"""A finder that stands in for paths.solve where a test is about something else: exhaustive for small problems."""

from __future__ import annotations

import itertools
import math

import numpy as np

from dcgev_cvx.postprocess import on_support, value
from dcgev_cvx.solutions import checked_k, solution_of


def solve(pencil, k, *, effort="normal", random_state=0):
    k = checked_k(k, pencil.n)
    if math.comb(pencil.n, k) <= 5000:
        supports = itertools.combinations(range(pencil.n), k)
        best = max((on_support(pencil, np.array(S)) for S in supports), key=lambda x: value(pencil, x))
    else:
        best = pencil.leading_vector
        while np.count_nonzero(best) > k:
            support = np.flatnonzero(best)
            keep = np.sort(support[np.argsort(-np.abs(best[support]))[: max(k, int(0.8 * len(support)))]])
            best = on_support(pencil, keep)
    return solution_of(pencil, best, "stand-in", 0.0)
