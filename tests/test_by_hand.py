"""The algorithms written by hand with CVXPY and NumPy reach what the package reaches."""

import runpy
from pathlib import Path

import numpy as np
import pytest

from dcgev_cvx import datasets, dc_pca, fda_vectors, sparse_fda, sparse_gev

EXAMPLES = Path(__file__).parent.parent / "examples"


def by_hand(name):
    path = EXAMPLES / f"{name}_by_hand.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 20
    return runpy.run_path(str(path))["y"]


@pytest.mark.parametrize(
    ("name", "run", "apart"), [("algorithm1", sparse_gev, 1e-4), ("algorithm2", dc_pca, 1e-7)], ids=["1", "2"]
)
def test_algorithms_1_and_2(name, run, apart):
    y, result = by_hand(name), run(datasets.pitprops(), rho=4.84)
    A = datasets.pitprops().A
    assert tuple(np.flatnonzero(y)) == result.support
    assert y * np.sign(y @ result.x) == pytest.approx(result.x, abs=apart)
    assert y @ A @ y == pytest.approx(result.x @ A @ result.x, rel=1e-5)


def test_sparse_fda():
    X, labels, planted = datasets.two_gaussians(12, 3, samples=200)
    a, B = fda_vectors(X, labels)
    y, result = by_hand("sparse_fda"), sparse_fda(a, B, nu=0.5)
    assert tuple(np.flatnonzero(y)) == result.support == planted
    assert y @ B @ y == pytest.approx(result.x @ B @ result.x, rel=1e-5)
