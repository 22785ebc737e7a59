"""Accepted arrays are copied to float64; invalid values raise errors that show them."""

import numpy as np
import pytest

from dcgev_cvx._numerics import checks
from dcgev_cvx.errors import InvalidParameter, InvalidPencil


def test_as_real_copies_and_orders():
    data = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    copy = checks.as_real(data, "A", InvalidPencil)
    assert copy.dtype == np.float64
    assert copy.flags.c_contiguous
    assert not np.shares_memory(copy, data)
    assert np.array_equal(copy, data)


def test_the_first_bad_entry_is_named():
    data = np.ones((3, 3))
    data[1, 2] = np.nan
    data[2, 0] = np.inf
    with pytest.raises(InvalidPencil, match=r"A has 2 entries that are NaN or infinite, the first at \(1, 2\): nan"):
        checks.as_real(data, "A", InvalidPencil)


def test_masked_entries_are_counted():
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, True])
    with pytest.raises(InvalidParameter, match="x has 2 masked entries"):
        checks.as_vector(masked, 3, "x")


@pytest.mark.parametrize("value", [0, 1, 2.5, np.float32(3), np.int64(4), np.array(6.0)])
def test_as_number_takes_real_numbers(value):
    assert checks.as_number(value, "rho") == float(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1e-9, "rho = -1e-09 is out of range; it must be at least 0"),
        (float("nan"), "rho = nan is not finite"),
        (float("inf"), "rho = inf is not finite"),
        (None, "rho = None is not a real number"),
        ("many", "rho = 'many' is not a real number"),
        ("5", "rho = '5' is not a real number"),
        (1j, "is not a real number"),
        (np.complex128(1.0), "is not a real number"),
        (np.complex64(1.0), "is not a real number"),
        (True, "rho = True is not a real number"),
        (np.False_, "is not a real number"),
        (np.ones(1), "is not a real number"),
        ([1.0], "is not a real number"),
        ([1.0, 2.0], "is not a real number"),
        (np.ones(3), "is not a real number"),
        (10**400, "is not a real number"),
        (object(), "is not a real number"),
    ],
)
def test_as_number_names_what_is_wrong(value, text):
    with pytest.raises(InvalidParameter) as caught:
        checks.as_number(value, "rho")
    assert text in str(caught.value)


def test_strict_limits():
    with pytest.raises(InvalidParameter, match=r"eps = 0 is out of range; it must be greater than 0"):
        checks.as_number(0.0, "eps", strict=True)
    assert checks.as_number(5e-324, "eps", strict=True) == 5e-324


def test_a_column_is_a_vector_and_a_row_is_not():
    assert checks.as_vector(np.ones((4, 1)), 4, "x").shape == (4,)
    with pytest.raises(InvalidParameter, match=r"x must have length 4, got shape \(1, 4\)"):
        checks.as_vector(np.ones((1, 4)), 4, "x")


def test_names_are_counted():
    assert checks.checked_names(None, 3) is None
    assert checks.checked_names([1, "b", 2.5], 3) == ("1", "b", "2.5")
    with pytest.raises(InvalidPencil, match=r"names = .* must list 3 names, one per variable"):
        checks.checked_names(["a", "b"], 3)
