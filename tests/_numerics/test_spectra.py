"""Extreme eigenpairs, dense and by Lanczos, against SciPy's dense eigh."""

import numpy as np
import pytest
import referee
import scipy.linalg

from dcgev_cvx import Gram, Pencil
from dcgev_cvx._numerics import spectra


@pytest.mark.parametrize("n", [5, 320])
@pytest.mark.parametrize("general", [False, True])
def test_both_ends(n, general):
    A, B = referee.random_pencil(0, n, cond=50.0, indefinite=True)
    pencil = Pencil(A, B if general else None)
    values = scipy.linalg.eigh(A, B if general else None, eigvals_only=True)
    size = np.max(np.abs(values))
    assert pencil.lambda_max == pytest.approx(values[-1], abs=1e-9 * size)
    assert pencil.lambda_min == pytest.approx(values[0], abs=1e-9 * size)
    assert pencil.lambda_min_A == pytest.approx(np.linalg.eigvalsh(A)[0], abs=1e-9 * size)
    x = pencil.leading_vector
    assert pencil.B_norm(x) == pytest.approx(1.0, abs=1e-12)
    assert x[np.argmax(np.abs(x))] > 0
    assert pencil.A_quad(x) == pytest.approx(values[-1], abs=1e-9 * size)


@pytest.mark.parametrize("rows", [3, 40])
def test_factor(rows):
    """A = CᵀC, thin or not, with and without B."""
    rng = np.random.default_rng(rows)
    C = rng.standard_normal((rows, 20))
    _, B = referee.random_pencil(1, 20, cond=10.0)
    for metric in (None, B):
        pencil = Pencil(Gram(C), metric)
        values = scipy.linalg.eigh(C.T @ C, metric, eigvals_only=True)
        assert pencil.lambda_max == pytest.approx(values[-1], rel=1e-10)
        assert pencil.lambda_min == pytest.approx(values[0], abs=1e-9 * values[-1])
        assert pencil.A_quad(pencil.leading_vector) == pytest.approx(values[-1], rel=1e-10)


def test_zero_factor():
    pencil = Pencil(Gram(np.zeros((2, 5))))
    assert pencil.lambda_max == 0.0
    assert pencil.B_norm(pencil.leading_vector) == 1.0


def test_lanczos_that_fails_is_replaced(monkeypatch):
    """An identity matrix has no gap at all; whatever ARPACK says, the answer is right."""
    monkeypatch.setattr(spectra, "lanczos", lambda *args: None)
    A = np.diag(np.linspace(-1.0, 2.0, 320))
    pencil = Pencil(A)
    assert pencil.lambda_max == pytest.approx(2.0, abs=1e-12)
    assert pencil.lambda_min == pytest.approx(-1.0, abs=1e-12)
    assert Pencil(np.eye(320)).lambda_max == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("unit", [1.0, 1e150])
def test_semidefinite(unit):
    C = np.random.default_rng(0).standard_normal((3, 8))
    for A, answer in (
        (C.T @ C, True),
        (np.zeros((3, 3)), True),
        (np.diag([1.0, -1e-10]), False),
        (np.eye(2)[::-1], False),
    ):
        assert spectra.semidefinite(unit * A, float(np.max(np.abs(unit * A)))) == answer


@pytest.mark.parametrize("size", [1e-300, 0.3, 1.0, 5.0, 1e300])
def test_units_are_powers(size):
    two, four = spectra.power_of_two(size), spectra.power_of_four(size)
    assert two / 2 <= size < two or size == two / 2
    assert np.frexp(two)[0] == np.frexp(np.sqrt(four))[0] == 0.5
