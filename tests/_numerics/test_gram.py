"""Whatever A is made of, a pencil answers as with the array."""

import pickle
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.linalg import aslinearoperator

from dcgev_cvx import Gram, Pencil, deflate, errors, pca_pencil
from dcgev_cvx._numerics.gram import SparseFactor, spread


def counts(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).poisson(0.4, (rows, columns)).astype(float)


def as_dask(X):
    return pytest.importorskip("dask.array").from_array(X, chunks=(3, 4))


KINDS = {"array": np.array, "csr": sp.csr_array, "csc matrix": sp.csc_matrix, "coo": sp.coo_array, "Dask": as_dask}
SHAPES = [(11, 7), (5, 9)]


def pencils_of_one_A(kind, shape, center):
    """(The pencil of data of a kind, the pencil of the same A as a matrix)."""
    X = counts(*shape)
    C = (X - X.mean(axis=0) if center else X) / np.sqrt(shape[0])
    whole = KINDS[kind](X) if center else KINDS[kind](C)
    return pca_pencil(whole) if center else Pencil(Gram(whole)), Pencil(C.T @ C)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_question_has_the_answer_of_the_matrix(kind, shape, center):
    pencil, plain = pencils_of_one_A(kind, shape, center)
    rng, n = np.random.default_rng(1), shape[1]
    S, table = np.array([1, 4, 6]), np.array([[1, 4, 6], [0, 2, 3]])
    x, y, X, u = (
        rng.standard_normal(n),
        rng.standard_normal(n),
        rng.standard_normal((n, 2)),
        2.0 ** rng.integers(-3, 3, n),
    )
    W = np.linalg.qr(X)[0]
    for ask in (
        lambda p: p.A_dot(x),
        lambda p: p.A_dot(X),
        lambda p: p.A_inner(x, y),
        lambda p: p.A_quad(x),
        lambda p: p.A_sub(S),
        lambda p: p.A_sub(table),
        lambda p: p.A_block(S),
        lambda p: p.A_block(table),
        lambda p: p.A_block(S, np.array([0, 5])),
        lambda p: p.A_block(table, np.array([0, 5])),
        lambda p: p.A_diagonal,
        lambda p: p.A_scale,
        lambda p: p.A_size(u),
        lambda p: np.linalg.multi_dot([*p.A_products(S, S), np.eye(3)]),
        lambda p: p.A_factor().T @ p.A_factor(),
        lambda p: p.dense()[0],
        lambda p: p.lambda_max,
        lambda p: p.leading_vector,
        lambda p: p.trace,
        lambda p: p.restrict(S).dense()[0],
        lambda p: p.restrict(np.arange(n - 1)).dense()[0],
        lambda p: p.rescaled(u, 4.0).dense()[0],
        lambda p: p.rescaled(u, 4.0).A_diagonal,
        lambda p: p.deflated(W, W).dense()[0],
        lambda p: p.deflated(W, W).A_dot(x),
        lambda p: p.deflated(W, W).A_diagonal,
        lambda p: deflate(p, x, "schur").A_diagonal,
        lambda p: deflate(p, x, "hotelling").dense()[0],
    ):
        np.testing.assert_allclose(ask(pencil), ask(plain), rtol=1e-12, atol=1e-12)
    assert pencil.semidefinite
    assert pencil.transposed().lambda_max == pytest.approx(plain.lambda_max, rel=1e-12)


@pytest.mark.parametrize("kind", ["csr", "Dask"])
def test_sparse_and_dask_data_stay_what_they_are_through_deflation(kind):
    pencil, _ = pencils_of_one_A(kind, (5, 9), True)
    for deflation in ("projection", "schur"):
        pencil = deflate(pencil, np.eye(9)[np.argmax(pencil.A_diagonal)], deflation)
        assert not pencil.in_memory


@pytest.mark.parametrize("mean", [0.0, 1e6])
def test_the_error_of_forming_A_is_bounded(mean):
    """Also where a large mean cancels: against sums in extended precision."""
    X = counts(40, 6) + mean
    gram = Gram(SparseFactor(sp.csr_array(X), np.ones((40, 1)), np.full((6, 1), mean)))
    Z = X.astype(np.longdouble) - mean
    e = gram.error()
    assert np.all(np.abs(gram.toarray() - Z.T @ Z) <= np.outer(e, e))


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ["csr", "Dask"])
def test_pca_of_large_data_is_pca_of_the_array(kind, shape, center, scale):
    X = counts(*shape) + np.eye(*shape)
    plain, pencil = (pca_pencil(data, center=center, scale=scale) for data in (X, KINDS[kind](X)))
    np.testing.assert_allclose(pencil.dense()[0], plain.dense()[0], rtol=1e-12, atol=1e-13)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10**6), st.booleans(), st.floats(-1e8, 1e8))
def test_sums_of_squares_about_the_mean_do_not_cancel(seed, sparse, mean):
    X = mean + np.random.default_rng(seed).standard_normal((31, 3))
    found, deviation = spread(sp.csr_array(X) if sparse else X)
    np.testing.assert_allclose(found, X.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(deviation, X.std(axis=0), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.int8, np.float32])
def test_narrow_numbers_are_multiplied_in_double_precision(dtype):
    X = np.zeros((30, 12))
    X[:2, :2] = [[100.0, 101.0], [99.0, 100.0]]
    gram = Gram(sp.csr_array(X.astype(dtype)))
    assert np.array_equal(gram.sub(np.arange(2)), X[:, :2].T @ X[:, :2])
    np.testing.assert_allclose(gram.diagonal(), (X**2).sum(axis=0), rtol=1e-14)


def test_a_sparse_matrix_is_copied_and_its_duplicates_and_stored_zeros_count_as_they_should():
    twice = sp.csr_array((np.array([1.0, 2.0, 0.0, 4.0]), np.array([0, 0, 1, 1]), np.array([0, 3, 4])), shape=(2, 2))
    before = twice.data.copy()
    gram = Gram(twice)
    assert np.array_equal(twice.data, before)
    twice.data[:] = 7.0
    np.testing.assert_allclose(gram.toarray(), [[9.0, 0.0], [0.0, 16.0]])


def test_the_array_can_be_had_while_it_is_small_and_pickles(monkeypatch):
    X = counts(5, 9)
    gram = pickle.loads(pickle.dumps(Gram(sp.csr_array(X))))
    assert np.array_equal(gram.C, X)
    assert repr(gram) == "Gram(C of shape 5×9, sparse)"
    monkeypatch.setattr("dcgev_cvx._numerics.checks.MAX_BYTES", 8)
    with pytest.raises(errors.InvalidPencil, match="C as a dense matrix is 5×9 and takes 360 bytes"):
        _ = Gram(sp.csr_array(X)).C
    with pytest.raises(errors.InvalidPencil, match="A is 9×9 and takes 648 bytes"):
        Pencil(Gram(sp.csr_array(X))).dense()


def test_nothing_of_the_size_of_the_dense_data_is_formed():
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
    "a linear operator": (lambda: aslinearoperator(counts(5, 9)), "LinearOperator"),
}


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
    with pytest.raises(errors.InvalidParameter, match="X is a Dask array of csr_matrix blocks: make them plain"):
        pca_pencil(X.map_blocks(sp.csr_matrix))


def test_workers_give_the_same_bits():
    distributed = pytest.importorskip("distributed")
    da = pytest.importorskip("dask.array")
    X = da.from_array(counts(40, 6), chunks=(7, 3))
    alone = pca_pencil(X).A
    with distributed.Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None):
        assert np.array_equal(pca_pencil(X).A, alone)
