"""PCA, CCA and FDA pencils against NumPy, SciPy and scikit-learn; bad data are named."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh

from dcgev_cvx import (
    DCGEVError,
    Gram,
    InvalidParameter,
    InvalidPencil,
    Pencil,
    cca_pencil,
    fda_pencil,
    fda_vectors,
    least_squares_form,
    pca_pencil,
)
from dcgev_cvx._numerics import checks

common = settings(derandomize=True, deadline=None, max_examples=25)
seeds = st.integers(0, 10_000)


def data(seed, m=30, n=6):
    return np.random.default_rng(seed).standard_normal((m, n)) * np.arange(1, n + 1)


# --- PCA


def test_pca_is_the_covariance_divided_by_m():
    X = data(0)
    A, B = pca_pencil(X).dense()
    np.testing.assert_allclose(A, np.cov(X.T, bias=True), atol=1e-13)
    assert np.array_equal(B, np.eye(6))


def test_pca_scaled_is_the_correlation():
    np.testing.assert_allclose(pca_pencil(data(0), scale=True).A, np.corrcoef(data(0).T), atol=1e-13)


def test_pca_uncentred_is_the_second_moment():
    X = data(0) + 5
    np.testing.assert_allclose(pca_pencil(X, center=False).A, X.T @ X / 30, rtol=1e-13)


@pytest.mark.parametrize("scale", [False, True])
def test_pca_keeps_the_factor_when_that_is_smaller(scale):
    X = data(1, 5, 12)
    pencil = pca_pencil(X, scale=scale)
    assert isinstance(pencil.A, Gram)
    assert pencil.A.C.shape == (5, 12)
    expected = np.corrcoef(X.T) if scale else np.cov(X.T, bias=True)
    np.testing.assert_allclose(pencil.A.toarray(), expected, atol=1e-12)


@pytest.mark.parametrize(("m", "factor"), [(11, True), (12, False), (13, False)])
def test_pca_forms_the_smaller_of_the_two(m, factor):
    assert isinstance(pca_pencil(data(1, m, 12)).A, Gram) is factor


def test_pca_never_forms_a_wide_covariance():
    pencil = pca_pencil(np.random.default_rng(0).standard_normal((20, 30_000)))
    assert pencil.n == 30_000
    assert pencil.lambda_max > 0


def test_pca_takes_frames_and_sparse_matrices():
    X = data(2)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    assert pca_pencil(frame).names == tuple("abcdef")
    np.testing.assert_array_equal(pca_pencil(frame).A, pca_pencil(X).A)
    for kind in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        np.testing.assert_allclose(pca_pencil(kind(X)).A, pca_pencil(X).A, atol=1e-14)


def test_a_constant_column_is_harmless_without_scaling_and_named_with_it():
    frame = pd.DataFrame(data(3), columns=list("abcdef")).assign(c=0.1)
    assert pca_pencil(frame).A[2, 2] == pytest.approx(0.0, abs=1e-30)
    with pytest.raises(InvalidParameter, match=r"constant column\(s\): 'c'.*scale=False"):
        pca_pencil(frame, scale=True)


def test_data_without_variance():
    with pytest.raises(InvalidParameter, match="every column is constant"):
        pca_pencil(np.ones((5, 3)))


@common
@given(seeds, st.booleans(), st.sampled_from([(30, 5), (4, 9)]))
def test_pca_permutes_flips_and_scales(seed, scale, shape):
    X = data(seed, *shape)
    rng = np.random.default_rng(seed)
    order, signs = rng.permutation(shape[1]), rng.choice([-1.0, 1.0], shape[1])
    A = pca_pencil(X, scale=scale).dense()[0]
    np.testing.assert_allclose(pca_pencil(X[:, order], scale=scale).dense()[0], A[np.ix_(order, order)], atol=1e-11)
    flipped = pca_pencil(X * signs, scale=scale).dense()[0]
    np.testing.assert_allclose(flipped, A * np.outer(signs, signs), atol=1e-11)
    bigger = pca_pencil(4.0 * X, scale=scale).dense()[0]
    np.testing.assert_allclose(bigger, A if scale else 16.0 * A, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(pca_pencil(X + 100.0, scale=scale).dense()[0], A, atol=1e-9)


def test_inputs_are_not_modified():
    X, y = data(4), np.repeat([0, 1], 15)
    X.flags.writeable = False
    copy = X.copy()
    pca_pencil(X, scale=True), cca_pencil(X, X[:, :2] ** 2), fda_pencil(X, y)
    assert np.array_equal(X, copy)


# --- CCA


def test_cca_value_is_the_canonical_correlation():
    rng = np.random.default_rng(5)
    Z = rng.standard_normal((80, 1))
    X, Y = Z + rng.standard_normal((80, 4)), Z + rng.standard_normal((80, 3))
    pencil = cca_pencil(X, Y)
    Qx, Qy = (np.linalg.qr(V - V.mean(0))[0] for V in (X, Y))
    assert pencil.lambda_max == pytest.approx(np.linalg.svd(Qx.T @ Qy)[1][0], abs=1e-12)
    x = pencil.leading_vector
    assert np.corrcoef(X @ x[:4], Y @ x[4:])[0, 1] == pytest.approx(pencil.lambda_max, abs=1e-12)
    assert pencil.blocks == (4, 3)
    assert pencil.names == ("x1", "x2", "x3", "x4", "y1", "y2", "y3")


def test_cca_blocks_are_the_covariances_plus_ridge():
    X, Y = data(6), data(7, 30, 3)
    A, B = cca_pencil(X, Y, ridge=0.5).dense()
    joint = np.cov(np.hstack([X, Y]).T, bias=True)
    np.testing.assert_allclose(A[:6, 6:], joint[:6, 6:], atol=1e-12)
    assert not A[:6, :6].any()
    assert not A[6:, 6:].any()
    np.testing.assert_allclose(B[:6, :6], joint[:6, :6] + 0.5 * np.eye(6), atol=1e-12)
    assert not B[:6, 6:].any()


def test_cca_with_more_variables_than_samples():
    X, Y = data(8, 20, 50), data(9, 20, 40)
    assert 0.9 < cca_pencil(X, Y, ridge=0.1).lambda_max < 1.0
    with pytest.raises(InvalidPencil, match="20 samples cannot span 50 variables"):
        cca_pencil(X, Y)


def test_blocks_survive_pickling_and_are_checked():
    pencil = cca_pencil(data(6), data(7, 30, 3))
    assert pickle.loads(pickle.dumps(pencil)).blocks == (6, 3)
    with pytest.raises(InvalidPencil, match=r"blocks = \(2, 2\).*add up to n = 3"):
        Pencil(np.eye(3), blocks=(2, 2))
    with pytest.raises(InvalidPencil, match="not block diagonal"):
        Pencil(np.eye(2), np.array([[2.0, 1.0], [1.0, 2.0]]), blocks=(1, 1))


# --- FDA


def test_two_classes_as_in_the_paper():
    X, y = data(10), np.repeat(["b", "a"], 15)
    a, B = fda_vectors(X, y, ridge=0.2)
    one, two = X[y == "a"], X[y == "b"]
    np.testing.assert_allclose(a, one.mean(0) - two.mean(0), atol=1e-14)
    np.testing.assert_allclose(B, np.cov(one.T, bias=True) + np.cov(two.T, bias=True) + 0.2 * np.eye(6), atol=1e-12)
    pencil = fda_pencil(X, y, ridge=0.2)
    np.testing.assert_allclose(pencil.A.toarray(), np.outer(a, a), atol=1e-13)
    assert pencil.lambda_max == pytest.approx(a @ np.linalg.solve(B, a))


def test_many_classes_give_the_directions_of_scikit_learn():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X = data(11, 60, 4)
    y = np.repeat([3, 1, 2], [30, 20, 10])
    X[y == 1] += 2
    X[y == 2, 0] -= 3
    pencil = fda_pencil(X, y)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    _, V = eigh(*pencil.dense())
    for mine, other in zip(V[:, ::-1].T[:2], theirs.scalings_.T[:2], strict=True):
        assert abs(mine @ other) / np.linalg.norm(mine) / np.linalg.norm(other) == pytest.approx(1.0, abs=1e-9)
    values = eigh(*pencil.dense(), eigvals_only=True)
    assert np.count_nonzero(values > 1e-10 * values[-1]) == 2


def test_total_covariance_is_between_plus_within():
    X, y = data(12, 60, 5), np.arange(60) % 4
    A, B = fda_pencil(X, y).dense()
    np.testing.assert_allclose(A + B, np.cov(X.T, bias=True), atol=1e-12)


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1],
        [-1.5, 2.5],
        ["no", "yes"],
        [True, False],
        [(1, 2), (0, 0)],
        [None.__class__, int],
        ["a", 3],
        [np.datetime64("2020"), np.datetime64("2021")],
    ],
)
def test_class_labels_of_any_type(labels):
    X = data(13, 10, 2)
    expected = abs(fda_vectors(X, [0] * 5 + [1] * 5)[0])
    np.testing.assert_allclose(abs(fda_vectors(X, [labels[0]] * 5 + [labels[1]] * 5)[0]), expected)


def test_labels_as_series_and_column():
    X, y = data(14), np.repeat([0, 1], 15)
    for form in (pd.Series(y), pd.Categorical(y), y[:, None], list(y), tuple(y)):
        np.testing.assert_array_equal(fda_vectors(X, form)[0], fda_vectors(X, y)[0])


@common
@given(seeds)
def test_fda_value_is_unmoved_by_linear_maps_and_class_names(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((40, 4)), np.arange(40) % 3
    M = rng.standard_normal((4, 4)) + 3 * np.eye(4)
    top = fda_pencil(X, y).lambda_max
    assert fda_pencil(X @ M, y).lambda_max == pytest.approx(top, rel=1e-7)
    assert fda_pencil(X, (y + 1) % 3).lambda_max == pytest.approx(top, rel=1e-9)


# --- bad data


def frame_with(**columns):
    return pd.DataFrame({"a": np.arange(6.0), "b": np.arange(6.0) ** 2, **columns})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pca_pencil(frame_with(c=list("uvwxyz"))), r"1 column\(s\) that are not numbers: 'c'"),
        (lambda: pca_pencil(frame_with(c=pd.Categorical(list("uvwxyz")))), "not numbers: 'c'"),
        (lambda: pca_pencil(frame_with(c=pd.date_range("2020", periods=6))), "not numbers: 'c'"),
        (lambda: pca_pencil(np.array([[1, "x"], [2, "y"]], dtype=object)), r"not numbers: 1\. "),
        (lambda: pca_pencil(np.array([["1", "2"], ["3", "4"]])), "not numeric"),
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
        (lambda: fda_pencil(np.vstack([data(0)] * 2), np.repeat([0, 1], 30)), "class means coincide"),
        (lambda: fda_vectors(data(0), np.arange(30) % 3), "3 classes where two are needed"),
    ],
)
def test_bad_data_are_named(call, message):
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
def test_a_singular_metric_names_the_culprit_and_a_ridge_that_does(X, message, size):
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


def test_too_large_a_matrix_is_refused_with_its_bytes():
    wide = sp.csr_array((10, 2**28))
    with pytest.raises(InvalidParameter, match=r"takes 21,474,836,480 bytes"):
        pca_pencil(wide)
    with pytest.raises(InvalidParameter, match=r"B is 20002×20002 and takes 3,200,640,032 bytes"):
        cca_pencil(np.random.default_rng(0).standard_normal((3, 20_000)), data(0, 3, 2), ridge=1.0)
    assert checks.MAX_BYTES == 2 * 1024**3


# --- the door: whatever is passed, the answer is a pencil or one of our errors, without a warning


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
def test_any_table_is_taken_or_refused_by_us(position):
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
def test_any_labels_are_taken_or_refused_by_us(position):
    odd = odd_labels()[position]
    answer_or_our_error(lambda: fda_pencil(data(31, 12, 3), odd))


@pytest.mark.parametrize("blocks", ["x", 3, [], np.ones(3), [1.5, 1.5], [np.nan], [4], [0, 3], [-1, 4], [1, 1]])
def test_blocks_are_whole_numbers_that_add_up(blocks):
    with pytest.raises(InvalidPencil, match="must be whole numbers of at least 1 that add up to n = 3"):
        Pencil(np.eye(3), blocks=blocks)
