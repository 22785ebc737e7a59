"""Accepted arrays are copied to float64; invalid values raise errors that show them."""

import datetime

import numpy as np
import pytest

from dcgev_cvx import Pencil, pca_pencil
from dcgev_cvx._numerics import checks
from dcgev_cvx.errors import InvalidParameter, InvalidPencil


def test_as_real_copies_and_orders():
    data = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    copy = checks.as_real(data, "A", InvalidPencil)
    assert copy.dtype == np.float64
    assert copy.flags.c_contiguous
    assert not np.shares_memory(copy, data)
    assert np.array_equal(copy, data)


def test_bad_entries_are_counted_and_placed():
    data = np.ones((3, 3))
    data[1, 2] = np.nan
    data[2, 0] = np.inf
    with pytest.raises(InvalidPencil, match=r"A has 2 entries that are NaN or infinite, in column\(s\) 0, 2:"):
        checks.as_real(data, "A", InvalidPencil)
    with pytest.raises(InvalidParameter, match=r"x has 1 entries that are NaN or infinite, the first at 2:"):
        checks.as_real(data[1], "x", InvalidParameter)


def test_masked_entries_are_counted():
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, True])
    with pytest.raises(InvalidParameter, match="x has 2 masked entries"):
        checks.as_vector(masked, 3, "x")


FRAMES = {
    "pandas": lambda columns: pytest.importorskip("pandas").DataFrame(columns),
    "pandas of Arrow": lambda columns: (
        pytest.importorskip("pandas")
        .DataFrame(columns)
        .convert_dtypes(dtype_backend="pyarrow" if pytest.importorskip("pyarrow") else None)
    ),
    "polars": lambda columns: pytest.importorskip("polars").DataFrame(columns),
    "pyarrow": lambda columns: pytest.importorskip("pyarrow").table(columns),
}
DAY = datetime.date(2026, 1, 1)


@pytest.mark.parametrize("library", FRAMES)
def test_frames_of_every_library_are_read_alike(library):
    frame = FRAMES[library]
    numbers = {"u": [1, 2, 3], "v": [0.5, 1.5, 2.5], "w": [True, False, True]}
    pencil = pca_pencil(frame(numbers))
    assert pencil.names == ("u", "v", "w")
    np.testing.assert_allclose(pencil.A, pca_pencil(np.array([*numbers.values()], dtype=float).T).A)
    for entries in (
        [DAY, DAY, DAY],
        [datetime.datetime(2026, 1, day) for day in (1, 2, 3)],
        [datetime.timedelta(day) for day in (1, 2, 3)],
        ["a", "b", "c"],
        ["1", "2", "3"],
    ):
        with pytest.raises(InvalidParameter, match=r"X has 1 column\(s\) that are not numbers: 't'"):
            pca_pencil(frame(numbers | {"t": entries}))
    with pytest.raises(InvalidParameter, match=r"NaN or infinite, in column\(s\) 'gap'"):
        pca_pencil(frame(numbers | {"gap": [1, None, 3]}))
    A = frame({"a": [2.0, 1.0], "b": [1.0, 2.0]})
    assert Pencil(A).names == ("a", "b")
    assert Pencil(A).lambda_max == pytest.approx(3.0)


@pytest.mark.parametrize("entry", [np.datetime64(3, "ns"), np.timedelta64(3, "D"), np.complex64(1 + 2j), "1", b"1"])
def test_objects_that_numpy_would_convert_are_refused(entry):
    data = np.array([[1.0, 2.0], [3.0, None]], dtype=object)
    data[1, 1] = entry
    with pytest.raises(InvalidParameter, match=r"1 column\(s\) that are not numbers: 1"):
        checks.as_real(data, "X", InvalidParameter)


def test_what_other_libraries_raise_becomes_an_error_of_the_package():
    class Tensor:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("call detach() first")

    class Entry:
        def __float__(self):
            raise RuntimeError("no number")

    for data in (Tensor(), np.array([Entry()], dtype=object)):
        with pytest.raises(InvalidParameter, match=r"X .*(detach|not an array of real numbers)"):
            checks.as_real(data, "X", InvalidParameter)


def test_repeated_names_stay_apart_from_names_like_them():
    assert checks.checked_names(["v", "v.1", "v", "v"], 4) == ("v", "v.1", "v.2", "v.3")


def test_labels_of_xarray_are_compared_like_those_of_pandas():
    array = pytest.importorskip("xarray").DataArray
    A, B = (array(np.eye(2), dims=("i", "j"), coords={"i": list(c), "j": list(c)}) for c in ("ab", "ba"))
    assert Pencil(A).names == ("a", "b")
    with pytest.raises(InvalidPencil, match="the columns of A and the columns of B have the same labels in another"):
        Pencil(A, B)
    with pytest.raises(InvalidPencil, match="the columns of A and its rows have the same labels in another order"):
        Pencil(A[::-1])


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
