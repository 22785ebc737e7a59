"""What the rivals share: the penalty that gives k, and a factor of A."""

import numpy as np
from numpy.testing import assert_allclose

from dcgev_cvx import Pencil
from dcgev_cvx.rivals.sparse_pca import Run, best_loadings, search_penalty


def test_search_says_when_a_cardinality_is_jumped_over():
    def staircase(t):
        return Run(np.r_[np.ones(5 if t < 0.5 else 2), np.zeros(3 if t >= 0.5 else 0)], 1, True)

    missed, _ = search_penalty(staircase, 1.0, 4, 5)
    assert np.count_nonzero(missed.x) == 5
    hit, penalty = search_penalty(staircase, 1.0, 2, 5)
    assert np.count_nonzero(hit.x) == 2
    assert penalty >= 0.5
    assert search_penalty(staircase, 1.0, 5, 5)[1] == 0.0


def test_best_loadings_are_the_leading_eigenvector(pitprops):
    x = best_loadings(pitprops, np.arange(13.0), 4)
    A = np.asarray(pitprops.A)[9:, 9:]
    assert_allclose(pitprops.A_quad(x), np.linalg.eigvalsh(A)[-1])


def test_factor_of_a_covariance(pitprops):
    C = pitprops.A_factor()
    assert_allclose(C.T @ C, np.asarray(pitprops.A), atol=1e-12)
    assert not Pencil(np.zeros((3, 3))).A_factor().any()
