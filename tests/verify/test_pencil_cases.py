"""Pencils small enough to look at every support."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

from dcgev_cvx.verify.levels import enumerated
from dcgev_cvx.verify.pencil_cases import KINDS, METRICS, pencil
from dcgev_cvx.verify.suite import suite


def test_the_optimum_by_enumeration_matches_the_eigensolver():
    for case in suite("bound", 0, "quick").cases[::7]:
        A, B, k = case.data["A"], case.B, case.data["k"]
        best = enumerated(A, B, k)
        s = list(best.support)
        value = eigh(A[np.ix_(s, s)], B[np.ix_(s, s)], eigvals_only=True)[-1]
        assert best.value == pytest.approx(value, rel=1e-6, abs=1e-12 * best.radius)
        assert best.value <= best.lambda_max + 1e-9 * best.radius


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("objective", KINDS)
def test_every_family_gives_a_symmetric_pencil_with_a_definite_metric(objective, metric):
    for n in (1, 2, 7):
        A, B = pencil(objective, metric, n, np.random.default_rng(n))
        assert A.shape == B.shape == (n, n)
        np.testing.assert_array_equal(A, A.T)
        np.testing.assert_allclose(B, B.T, rtol=0.0, atol=0.0)
        assert np.linalg.eigvalsh(B)[0] > 0.0
