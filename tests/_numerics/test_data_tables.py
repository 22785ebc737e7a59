"""Data that cannot be used raise an error that names the columns, the labels or a ridge that would do."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dcgev_cvx import (
    DCGEVError,
    InvalidParameter,
    InvalidPencil,
    cca_pencil,
    fda_pencil,
    fda_vectors,
    least_squares_form,
    pca_pencil,
)
from dcgev_cvx._numerics import checks
from dcgev_cvx._numerics.data_tables import in_row_order, read_table
from dcgev_cvx._numerics.gram import spread


def data(seed, m=30, n=6):
    return np.random.default_rng(seed).standard_normal((m, n)) * np.arange(1, n + 1)


def frame_with(**columns):
    return pd.DataFrame({"a": np.arange(6.0), "b": np.arange(6.0) ** 2, **columns})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pca_pencil(frame_with(c=list("uvwxyz"))), r"1 column\(s\) that are not numbers: 'c'"),
        (lambda: pca_pencil(frame_with(c=pd.Categorical(list("uvwxyz")))), "not numbers: 'c'"),
        (lambda: pca_pencil(frame_with(c=pd.date_range("2020", periods=6))), "not numbers: 'c'"),
        (lambda: pca_pencil(np.array([[1, "x"], [2, "y"]], dtype=object)), r"not numbers: 1\. "),
        (lambda: pca_pencil(np.array([["1", "2"], ["3", "4"]])), "not an array of real numbers"),
        (lambda: pca_pencil(frame_with(c=[1, 2, np.nan, 4, np.inf, 6])), r"2 entries .* column\(s\) 'c'"),
        (lambda: pca_pencil(frame_with(c=pd.array([1, None, 3, 4, 5, 6], "Int64"))), r"1 entries .* 'c'"),
        (lambda: pca_pencil(sp.csr_array([[1.0, np.nan], [0, 2]])), r"NaN or infinite, in column\(s\) 1"),
        (lambda: pca_pencil(np.ones(5)), r"samples × variables table, got shape \(5,\)"),
        (lambda: pca_pencil(np.ones((5, 0))), r"got shape \(5, 0\)"),
        (lambda: pca_pencil(np.ones((1, 5))), "n_samples = 1 but at least 2"),
        (lambda: pca_pencil(np.ones((2, 2), dtype=complex)), "complex"),
        (lambda: cca_pencil(data(0), data(0)[:20]), "X has 30 rows but Y has 20"),
        (lambda: cca_pencil(data(0), data(1), ridge=-1), r"ridge = -1 is out of range"),
        (lambda: cca_pencil(data(0), data(1), ridge=np.nan), "ridge"),
        (lambda: fda_pencil(data(0), np.zeros(30)), r"one class only \(\[0.0\]\)"),
        (lambda: fda_pencil(data(0), [0] * 29 + [1]), r"1 class\(es\) have one member only: 1"),
        (lambda: fda_pencil(data(0), [0, 1]), "X has 30 rows but y has 2 labels"),
        (lambda: fda_pencil(data(0), [None, 1.0] * 15), "15 missing labels"),
        (lambda: fda_pencil(data(0), [np.nan, 1.0] * 15), "15 missing labels"),
        (
            lambda: fda_pencil(data(0), ["a", 1] * 15),
            "class labels of one type that can be sorted: '<' not supported",
        ),
        (lambda: fda_pencil(data(0), [[], []] * 15), "class labels of one type that can be sorted: unhashable"),
        (lambda: fda_pencil(np.vstack([data(0)] * 2), np.repeat([0, 1], 30)), "class means coincide"),
        (lambda: fda_vectors(data(0), np.arange(30) % 3), "3 classes where two are needed"),
    ],
)
def test_errors_name_what_cannot_be_used(call, message):
    with pytest.raises((InvalidParameter, InvalidPencil), match=message):
        call()


def suggested(error):
    return float(re.search(r"ridge=([\d.e+-]+) would do", str(error.value)).group(1))


def singular_cases():
    X = data(20, 40, 4)
    constant = X.copy()
    constant[:, 2] = 7.0
    twice = np.column_stack([X, -3.0 * X[:, 1]])
    dependent = np.column_stack([X, X[:, 0] + X[:, 1]])
    return [
        (constant, r"column\(s\) 2 have no variance"),
        (twice, "columns 1 and 4 are the same up to scale"),
        (dependent, "depend on others"),
        (data(21, 6, 9), "6 samples cannot span 9 variables"),
    ]


@pytest.mark.parametrize(("X", "message"), singular_cases())
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_singular_matrix_is_explained_with_a_ridge_that_does(X, message, size):
    X = X * size
    Y = data(22, len(X), 2) * size
    y = np.arange(len(X)) % 2
    for build in (lambda ridge: cca_pencil(X, Y, ridge=ridge), lambda ridge: fda_pencil(X, y, ridge=ridge)):
        with pytest.raises(InvalidPencil, match=message) as error:
            build(0.0)
        ridge = suggested(error)
        assert build(ridge).B is not None
        with pytest.raises(InvalidPencil, match="is too small; ridge=") as error:
            build(ridge * 1e-12)
        assert build(suggested(error)).B is not None


def test_duplicate_names_are_reported_by_name():
    frame = pd.DataFrame(data(20, 40, 3), columns=["u", "v", "w"]).assign(copy=lambda f: 2 * f.u)
    with pytest.raises(InvalidPencil, match="columns 'u' and 'copy' are the same up to scale"):
        cca_pencil(frame, data(22, 40, 2))


def test_too_large_a_matrix_raises_with_its_bytes():
    wide = sp.csr_array((10, 2**28))
    with pytest.raises(InvalidParameter, match=r"takes 21,474,836,480 bytes"):
        read_table(wide)
    with pytest.raises(InvalidParameter, match=r"B is 20002×20002 and takes 3,200,640,032 bytes"):
        cca_pencil(np.random.default_rng(0).standard_normal((3, 20_000)), data(0, 3, 2), ridge=1.0)
    assert checks.MAX_BYTES == 2 * 1024**3


# --- whatever is passed, the answer is a pencil or one of our errors, without a warning


def odd_tables():
    X = data(30, 12, 4)
    return [
        *(None, "abc", 3, [], [[]], [[1, 2], [3]], {}, object(), np.array(1.0), iter(X)),
        *(np.zeros((0, 3)), np.zeros((3, 0)), np.zeros((2, 2, 2)), np.zeros((12, 4)), np.ones((12, 4)), X[:1], X[:2]),
        *(X * scale for scale in (1e200, 1e-200, 1e130, 1e-130, 1e100, 1e-100)),
        *(X.astype(kind) for kind in (object, "f4", int, bool, complex, str)),
        *(
            X[:, ::-1],
            X[::-1],
            np.asfortranarray(X),
            X.tolist(),
            tuple(map(tuple, X)),
            memoryview(X),
            X + 1e15,
            X[:, :1],
        ),
        *(np.ma.masked_array(X), np.ma.masked_array(X, mask=X > 1)),
        *(pd.DataFrame(X), pd.DataFrame(X).astype("Float64"), pd.DataFrame(X > 0), pd.Series(X[:, 0])),
        *(pd.DataFrame(X, columns=["a", "a", "b", "b"]), pd.DataFrame({"a": [1, 2, 3], "b": ["x", None, 3]})),
        *(sp.coo_array(X), sp.dok_array(X), sp.csr_array((12, 4))),
        *(
            np.full((12, 4), np.nan),
            np.full((12, 4), np.inf),
            np.zeros((12, 4), "m8[D]"),
            np.recarray((3,), [("a", float)]),
        ),
    ]


def odd_labels():
    y = np.arange(12) % 2
    return [
        *(None, "abc", 3, [], y[:3], [[0, 1]] * 6, [{}] * 12, [np.array([1, 2])] * 12, iter(y), range(12)),
        *([pd.NA] * 6 + [1] * 6, pd.array([1, None] * 6, dtype="Int64"), np.nan * y, [0] * 12, [0] * 11 + [1]),
        *(
            y.reshape(-1, 1),
            y.reshape(1, -1),
            pd.Series(y),
            pd.Categorical(y),
            y.astype(str),
            y.astype(bytes),
            y + 0j,
        ),
    ]


def answer_or_our_error(build):
    try:
        made = build()
    except DCGEVError as error:
        assert len(str(error)) > 20  # noqa: PT017
    else:
        assert made is not None


@pytest.mark.parametrize("position", range(len(odd_tables())))
def test_any_table_is_accepted_or_raises_our_error(position):
    X, y = data(31, 12, 3), np.arange(12) % 2
    for build in (
        lambda odd: pca_pencil(odd),
        lambda odd: pca_pencil(odd, scale=True),
        lambda odd: pca_pencil(odd, center=False),
        lambda odd: cca_pencil(odd, X),
        lambda odd: cca_pencil(X, odd, ridge=0.1),
        lambda odd: fda_pencil(odd, y),
        lambda odd: fda_vectors(odd, y, ridge=0.1),
        lambda odd: least_squares_form(odd, y),
    ):
        odd = odd_tables()[position]
        answer_or_our_error(lambda: build(odd))  # noqa: B023


@pytest.mark.parametrize("position", range(len(odd_labels())))
def test_any_labels_are_accepted_or_raise_our_error(position):
    odd = odd_labels()[position]
    answer_or_our_error(lambda: fda_pencil(data(31, 12, 3), odd))


def test_a_constant_column_has_no_deviation():
    """The mean of three copies of 0.1 is not 0.1 in floating point."""
    mean, deviation = spread(np.array([[0.1, 1.0], [0.1, 3.0], [0.1, 5.0]]))
    assert deviation[0] == 0.0
    assert deviation[1] == pytest.approx(np.sqrt(8.0 / 3.0))
    np.testing.assert_allclose(mean, [0.1, 3.0])


def test_labelled_arrays_of_xarray_are_matched():
    class Labelled(np.ndarray):
        dims, indexes = ("s",), {"s": ["b", "a"]}

    first = np.zeros(2).view(Labelled)
    second = np.array([1.0, 2.0]).view(Labelled)
    second.indexes = {"s": ["a", "b"]}
    assert in_row_order(first, second, "X", "Y").tolist() == [2.0, 1.0]
