"""Every rival against a known answer: printed loadings, exact optima, brute force over supports."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from small_problems import gaussian, optimum

from dcgev_cvx import Gram, Pencil, datasets, rivals
from dcgev_cvx.errors import InvalidParameter

EXACT = (1.0, 1.9540, 2.4753, 2.9375, 3.4062, 3.7710, 3.9962, 4.0686, 4.1386, 4.1726, 4.2083, 4.2182, 4.2186)
FAST = [name for name in rivals.RIVALS if name != "dspca"]


@pytest.mark.parametrize("name", rivals.RIVALS)
def test_one_call_shape_and_unit_answer(pitprops, name):
    found = rivals.RIVALS[name](pitprops, 5)
    assert found.k == 5
    assert len(found.support) == 5
    assert_allclose(np.linalg.norm(found.x), 1.0, rtol=1e-12)
    assert_allclose(found.value, found.x @ np.asarray(pitprops.A) @ found.x, rtol=1e-12)
    assert found.value <= EXACT[4] + 1e-4
    assert found.method.startswith(name)
    assert found.seconds > 0.0
    assert found.names == pitprops.names


@pytest.mark.parametrize("name", rivals.RIVALS)
def test_first_row_of_table_1(pitprops, name):
    """GSPCA and GPower print these loadings; DSPCA has the same support."""
    found = rivals.RIVALS[name](pitprops, 6)
    if name in ("gspca", "gpower", "dspca"):
        assert found.support == (0, 1, 6, 7, 8, 9)
        printed = (0.44, 0.45, 0.38, 0.34, 0.40, 0.42)
        assert_allclose(np.abs(found.x[list(found.support)]), printed, atol=0.01)


@pytest.mark.parametrize("name", ["gspca", "gpower"])
def test_exact_optimum_on_pit_props_at_every_cardinality(pitprops, name):
    values = [rivals.RIVALS[name](pitprops, k).value for k in range(1, 14)]
    assert_allclose(values, EXACT, atol=5.1e-5)


@pytest.mark.parametrize("name", FAST)
@pytest.mark.parametrize("k", [1, 4, 11, 12])
def test_bounded_by_brute_force_on_random_data(name, k):
    pencil = gaussian(6, 12, seed=k)
    found = rivals.RIVALS[name](pencil, k)
    assert found.k == k
    assert found.value <= optimum(pencil, k) * (1.0 + 1e-10)


@pytest.mark.parametrize("name", FAST)
def test_k_equal_n_is_the_dense_component(name):
    pencil = gaussian(15, 8)
    found = rivals.RIVALS[name](pencil, 8)
    assert found.k == 8
    assert_allclose(found.value, pencil.lambda_max, rtol=5e-3 if name == "spca" else 1e-7)


@pytest.mark.parametrize("name", FAST)
def test_planted_support_is_found(name):
    planted = datasets.planted_pca(30, 4, strength=8.0, rng=3)
    assert rivals.RIVALS[name](planted.pencil, 4).support == planted.support


@pytest.mark.parametrize("name", FAST)
def test_zero_matrix_and_single_variable(name):
    assert rivals.RIVALS[name](Pencil(np.zeros((4, 4))), 2).value == 0.0
    assert_allclose(rivals.RIVALS[name](Pencil([[2.0]]), 1).value, 2.0)


@pytest.mark.parametrize("name", rivals.RIVALS)
@pytest.mark.parametrize("scale", [1e-140, 1e-80, 1e80, 1e140])
def test_units_change_nothing(name, scale):
    """Squares of A's entries would overflow or vanish: the rivals work in a unit of their own."""
    C = np.random.default_rng(1).standard_normal((4, 6))
    unit = 2.0 ** round(math.log2(scale))
    plain, scaled = rivals.RIVALS[name](Pencil(Gram(C)), 3), rivals.RIVALS[name](Pencil(Gram(unit * C)), 3)
    assert plain.support == scaled.support
    assert_allclose(scaled.x, plain.x, atol=1e-6)
    assert_allclose(scaled.value / unit / unit, plain.value, rtol=1e-6)


@pytest.mark.parametrize("name", rivals.RIVALS)
def test_k_nonzeros_where_the_eigenvalue_is_shared_and_fewer_where_more_would_cost(name):
    rival = rivals.RIVALS[name]
    assert rival(Pencil(np.eye(4)), 3).k == 3
    assert rival(Pencil(np.zeros((4, 4))), 3).k == 3
    found = rival(Pencil(np.diag([3.0, 2.0, 1.0])), 2)
    assert (found.support, found.value) == ((0,), 3.0)


@pytest.mark.parametrize("name", rivals.RIVALS)
def test_bad_input(pitprops, name):
    rival = rivals.RIVALS[name]
    with pytest.raises(InvalidParameter, match="k = 14 is out of range"):
        rival(pitprops, 14)
    with pytest.raises(InvalidParameter, match="must be a whole number"):
        rival(pitprops, 2.5)
    with pytest.raises(InvalidParameter, match="B = I"):
        rival(Pencil(np.eye(2), 2.0 * np.eye(2)), 1)
    with pytest.raises(InvalidParameter, match=r"λmin\(A\) = -1"):
        rival(Pencil(np.diag([1.0, -1.0])), 1)
    with pytest.raises(InvalidParameter, match="must be a Pencil"):
        rival(np.eye(3), 1)


@pytest.mark.parametrize(
    ("name", "option", "text"),
    [
        ("gpower", {"start": "zero"}, "start = 'zero' is unknown"),
        ("spca", {"ridge": 0.0}, "ridge = 0 is out of range"),
        ("spca", {"ridge": math.nan}, "ridge = nan is not finite"),
    ],
)
def test_bad_options(pitprops, name, option, text):
    with pytest.raises(InvalidParameter, match=text):
        rivals.RIVALS[name](pitprops, 3, **option)


def test_inputs_are_not_modified():
    C = np.random.default_rng(0).standard_normal((8, 10))
    kept = C.copy()
    pencil = Pencil(Gram(C))
    for name in FAST:
        rivals.RIVALS[name](pencil, 3)
    assert np.array_equal(C, kept)
