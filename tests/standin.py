"""A finder that stands in for paths.solve where a test is about something else: exhaustive for small problems."""

from __future__ import annotations

import itertools
import math

import numpy as np

from dcgev_cvx.certificates import on_support
from dcgev_cvx.solutions import checked_k, solution_of


def support_values(pencil, supports):
    """λmax(A_SS, B_SS) of many supports of one size."""
    A, B = pencil.dense()
    rows, columns = supports[:, :, None], supports[:, None, :]
    L = np.linalg.cholesky(B[rows, columns])
    half = np.linalg.solve(L, A[rows, columns])
    return np.linalg.eigvalsh(np.linalg.solve(L, half.transpose(0, 2, 1)))[:, -1]


def solve(pencil, k, *, effort="normal", random_state=0, check_path=None):
    k = checked_k(k, pencil.n)
    if math.comb(pencil.n, k) <= 5000:
        supports = np.array(list(itertools.combinations(range(pencil.n), k)))
        best = on_support(pencil, supports[np.argmax(support_values(pencil, supports))])
    else:
        best = pencil.leading_vector
        while np.count_nonzero(best) > k:
            support = np.flatnonzero(best)
            keep = np.sort(support[np.argsort(-np.abs(best[support]))[: max(k, int(0.8 * len(support)))]])
            best = on_support(pencil, keep)
    return solution_of(pencil, best, "stand-in", 0.0)
