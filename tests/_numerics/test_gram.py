"""Factors that are never made dense agree with the same data as an array."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from dcgev_cvx import Gram, Pencil, errors, pca_pencil
from dcgev_cvx._numerics import gram
from dcgev_cvx._numerics.gram import RowBlocks, implicit_factor


def counts(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).poisson(0.4, (rows, columns)).astype(float)


def in_a_file(X, folder):
    mapped = np.memmap(folder / "data", dtype=float, mode="w+", shape=X.shape)
    mapped[:] = X
    return mapped


def as_dask(X, folder):
    return pytest.importorskip("dask.array").from_array(X, chunks=(3, 4))


KINDS = {
    "csr": lambda X, folder: sp.csr_array(X),
    "csc matrix": lambda X, folder: sp.csc_matrix(X),
    "coo": lambda X, folder: sp.coo_array(X),
    "memmap": in_a_file,
    "dask": as_dask,
    "operator": lambda X, folder: aslinearoperator(X),
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that every sum has several terms."""
    monkeypatch.setattr(gram, "BLOCK", 20)


@pytest.mark.parametrize("shape", [(11, 7), (5, 9)])
@pytest.mark.parametrize("kind", KINDS)
def test_products_are_those_of_the_array(kind, shape, tmp_path):
    X = counts(*shape)
    factor, rng, S = implicit_factor(KINDS[kind](X, tmp_path)), np.random.default_rng(1), np.array([1, 4, 6])
    assert factor is not None
    assert factor.shape == shape
    x, u = rng.standard_normal((shape[1], 2)), rng.standard_normal((shape[0], 2))
    for z, w in ((x, u), (x[:, 0], u[:, 0])):
        np.testing.assert_allclose(factor.dot(z), X @ z, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(factor.transposed_dot(w), X.T @ w, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(factor.squares(), (X**2).sum(axis=0), rtol=1e-13)
    np.testing.assert_allclose(factor.gram(S), X[:, S].T @ X[:, S], rtol=1e-13)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("shape", [(11, 7), (5, 9)])
@pytest.mark.parametrize("kind", ["csr", "csc matrix", "memmap", "dask"])
def test_pca_of_implicit_data_is_pca_of_the_array(kind, shape, center, scale, tmp_path):
    X = counts(*shape) + np.eye(*shape)
    plain = pca_pencil(X, center=center, scale=scale)
    pencil = pca_pencil(KINDS[kind](X, tmp_path), center=center, scale=scale)
    x = np.random.default_rng(2).standard_normal(shape[1])
    np.testing.assert_allclose(pencil.dense()[0], plain.dense()[0], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(pencil.A_dot(x), plain.A_dot(x), rtol=1e-12, atol=1e-12)
    assert pencil.A_quad(x) == pytest.approx(plain.A_quad(x), rel=1e-12)
    assert pencil.A_inner(x, x) == pytest.approx(plain.A_quad(x), rel=1e-12)
    assert pencil.lambda_max == pytest.approx(plain.lambda_max, rel=1e-12)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.booleans(), st.floats(-1e8, 1e8))
def test_sums_of_squares_about_the_mean_do_not_cancel(seed, sparse, mean):
    X = mean + np.random.default_rng(seed).standard_normal((31, 3))
    rows = RowBlocks.of(sp.csr_array(X) if sparse else X, "X", errors.InvalidPencil)
    np.testing.assert_allclose(rows.mean, X.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(rows.about_mean, 31 * X.var(axis=0), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_narrow_numbers_are_multiplied_in_double_precision(dtype):
    X = np.zeros((30, 12))
    X[:2, :2] = [[100.0, 101.0], [99.0, 100.0]]
    factor, S = implicit_factor(sp.csr_array(X.astype(dtype))), np.array([0, 1])
    assert np.array_equal(factor.gram(S), X[:, S].T @ X[:, S])
    np.testing.assert_allclose(factor.squares(), (X**2).sum(axis=0), rtol=1e-14)


def test_duplicates_and_stored_zeros_count_as_they_should():
    twice = sp.csr_array((np.array([1.0, 2.0, 0.0, 4.0]), np.array([0, 0, 1, 1]), np.array([0, 3, 4])), shape=(2, 2))
    before = twice.data.copy()
    np.testing.assert_allclose(pca_pencil(twice, center=False).dense()[0], [[4.5, 0.0], [0.0, 8.0]])
    assert np.array_equal(twice.data, before)


def test_the_array_can_be_had_while_it_is_small_and_pickles(monkeypatch):
    X = counts(5, 9)
    gram = pickle.loads(pickle.dumps(Gram(sp.csr_array(X))))
    assert np.array_equal(gram.C, X)
    assert repr(gram) == "Gram(C of shape 5×9, not formed)"
    monkeypatch.setattr("dcgev_cvx._numerics.checks.MAX_BYTES", 8)
    with pytest.raises(errors.InvalidPencil, match="C as a dense matrix is 5×9 and takes 360 bytes"):
        _ = Gram(sp.csr_array(X)).C
    with pytest.raises(errors.InvalidPencil, match="A is 9×9 and takes 648 bytes"):
        Pencil(Gram(sp.csr_array(X))).dense()


def test_nothing_of_the_size_of_the_data_is_formed(monkeypatch):
    monkeypatch.setattr(gram, "BLOCK", 1 << 16)
    X = sp.random_array((20_000, 20_000), density=1e-4, rng=np.random.default_rng(0), format="csr")
    tracemalloc.start()
    pencil = pca_pencil(X)
    pencil.A_dot(np.ones(20_000))
    pencil.A_sub(np.arange(50))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6  # the data as an array take 3.2e9


def nan_in(X):
    X[2, 3] = np.nan
    return X


REFUSED = {
    "NaN in a sparse matrix": (
        lambda: sp.csr_array(nan_in(counts(5, 9))),
        r"NaN or infinite, in column\(s\) 3:",
    ),
    "complex": (lambda: sp.csr_array(1j * counts(5, 9)), "dtype complex128, which is not real"),
    "empty": (lambda: sp.csr_array((0, 3)), r"non-empty matrix, got shape \(0, 3\)"),
    "huge": (lambda: sp.csr_array(1e200 * counts(5, 9)), "whose squares cannot be summed: rescale"),
    "no rmatvec": (lambda: LinearOperator((5, 9), matvec=lambda v: np.zeros(5)), "without rmatvec: pass rmatvec"),
    "operator of NaN": (lambda: aslinearoperator(nan_in(counts(5, 9))), "returns NaN or infinite"),
}


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("case", REFUSED)
def test_factors_that_cannot_be_used(case):
    make, message = REFUSED[case]
    with pytest.raises(errors.InvalidPencil, match=message):
        Gram(make())


def test_dask_arrays_that_cannot_be_used():
    da = pytest.importorskip("dask.array")
    X = da.from_array(counts(6, 4), chunks=(2, 4))
    with pytest.raises(errors.InvalidPencil, match=r"unknown chunk sizes: call C.compute_chunk_sizes\(\)"):
        Gram(X[X[:, 0] > 0])
    with pytest.raises(errors.InvalidParameter, match="X has dtype object"):
        pca_pencil(X.astype(object))
    with pytest.raises(errors.InvalidParameter, match="X has entries that are NaN"):
        pca_pencil(da.from_array(nan_in(counts(6, 4)), chunks=(2, 4)))
    with pytest.raises(errors.InvalidParameter, match="X is a Dask array of sparse blocks: make them dense"):
        pca_pencil(X.map_blocks(sp.csr_matrix))


def test_workers_give_the_same_bits():
    distributed = pytest.importorskip("distributed")
    da = pytest.importorskip("dask.array")
    X = da.from_array(counts(40, 6), chunks=(7, 3))
    alone = pca_pencil(X).A
    with distributed.Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None):
        assert np.array_equal(pca_pencil(X).A, alone)


def test_arrays_in_memory_are_not_implicit():
    assert implicit_factor(counts(5, 9)) is None
    assert isinstance(implicit_factor(sp.csr_array(counts(5, 9))), RowBlocks)
