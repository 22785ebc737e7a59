"""Odd and malformed input: the right answer or our error with its number, and nothing changed behind the caller."""

import copy
import decimal
import fractions
import functools
import random
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from dcgev_cvx import (
    DCGEVError,
    Gram,
    Infeasible,
    InvalidParameter,
    InvalidPencil,
    Pencil,
    SparseFDA,
    SparseGEV,
    Stop,
    certify,
    dc_pca,
    renormalize,
    sparse_fda,
    sparse_gev,
)
from dcgev_cvx.postprocess import value
from dcgev_cvx.solutions import solution_of

A = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
B = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
C = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]])
a = np.array([1.0, 2.0, 4.0])
x0 = np.array([0.0, 1.0, 0.0])
SHORT = Stop(max_iter=5)


def global_state():
    return (
        np.geterr(),
        list(warnings.filters),
        random.getstate(),
        [str(part) for part in np.random.get_state()],  # noqa: NPY002 - the point is that nobody touches it
        np.get_printoptions(),
        decimal.getcontext().prec,
    )


@pytest.fixture(autouse=True)
def nothing_changes_behind_our_back():
    before = global_state()
    yield
    assert global_state() == before


class Own(np.ndarray):
    """A subclass whose arithmetic is wrong: nobody may rely on it."""

    def __matmul__(self, other):
        raise AssertionError("used the subclass's own product")


def read_only(M):
    M = M.copy()
    M.flags.writeable = False
    return M


def strided(M):
    big = np.full([2 * s for s in M.shape], np.nan)
    big[tuple(slice(None, None, 2) for _ in M.shape)] = M
    return big[tuple(slice(None, None, 2) for _ in M.shape)]


def negative_stride(M):
    flip = tuple(slice(None, None, -1) for _ in M.shape)
    return M[flip].copy()[flip]


def np_matrix(M):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.matrix(M.reshape(len(M), -1))


def objects(convert):
    def make(M):
        out = np.empty(M.shape, dtype=object)
        for index, entry in np.ndenumerate(M):
            out[index] = convert(entry)
        return out

    return make


def as_dtype(dtype):
    return lambda M: M.astype(dtype)


# every entry of the data above is a small whole number, so each of these holds it exactly
ODD = {
    "list": lambda M: M.tolist(),
    "tuple": lambda M: tuple(map(tuple, M.tolist())) if M.ndim == 2 else tuple(M.tolist()),
    "list of rows": lambda M: list(M),
    **{
        d: as_dtype(d)
        for d in ["int8", "uint8", "int16", "int32", "int64", "float16", "float32", "longdouble", ">f8", ">i4"]
    },
    "object floats": objects(float),
    "object ints": objects(int),
    "fractions": objects(lambda v: fractions.Fraction(int(v))),
    "decimals": objects(lambda v: decimal.Decimal(int(v))),
    "fortran": np.asfortranarray,
    "read-only": read_only,
    "strided": strided,
    "negative stride": negative_stride,
    "subclass": lambda M: M.view(Own),
    "unmasked": np.ma.array,
    "matrix": np_matrix,
    "frame": pd.DataFrame,
    "int frame": lambda M: pd.DataFrame(M.astype(int)),
    "csr": lambda M: scipy.sparse.csr_array(M.reshape(len(M), -1)),
    "csc matrix": lambda M: scipy.sparse.csc_matrix(M.reshape(len(M), -1)),
    "coo": lambda M: scipy.sparse.coo_array(M.reshape(len(M), -1)),
}
PLACES = {
    "A": (A, lambda M: sparse_gev(M, B, rho=0.3, eps=1e-2, stop=SHORT).x),
    "B": (B, lambda M: sparse_gev(A, M, rho=0.3, eps=1e-2, stop=SHORT).x),
    "pca": (A, lambda M: dc_pca(M, rho=0.3, eps=1e-2, stop=SHORT).x),
    "C": (C, lambda M: dc_pca(Gram(M), rho=0.3, eps=1e-2, stop=SHORT).x),
    "fda B": (B, lambda M: sparse_fda(a, M, nu=0.1, eps=1e-2, stop=SHORT).x),
    "fda a": (a, lambda v: sparse_fda(v, B, nu=0.1, eps=1e-2, stop=SHORT).x),
    "x0": (x0, lambda v: sparse_gev(A, rho=0.3, eps=1e-2, x0=v, stop=SHORT).x),
    "certify": (x0, lambda v: np.array([certify(SparseGEV(Pencil(A), 0.3, 1e-2), v).stationarity])),
    "renormalize": (x0, lambda v: renormalize(Pencil(A), v)),
}


@functools.cache
def plain_answer(place):
    data, call = PLACES[place]
    return call(data)


def snapshot(data):
    return copy.deepcopy(data)


def same(one, two):
    if scipy.sparse.issparse(one):
        one, two = one.toarray(), two.toarray()
    return type(one) is type(two) and np.array_equal(np.asarray(one), np.asarray(two))


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ODD)
def test_odd_containers_give_the_same_bits(place, kind):
    data, call = PLACES[place]
    odd = ODD[kind](data)
    before = snapshot(odd)
    assert np.array_equal(call(odd), plain_answer(place))
    assert same(odd, before)


@pytest.mark.parametrize("place", ["A", "B", "pca", "fda B"])
def test_booleans_are_numbers(place):
    call = PLACES[place][1]
    assert np.array_equal(call(np.eye(3, dtype=bool)), call(np.eye(3)))


@pytest.mark.parametrize("place", PLACES)
def test_memory_maps(place, tmp_path):
    data, call = PLACES[place]
    np.save(tmp_path / "data.npy", data)
    mapped = np.load(tmp_path / "data.npy", mmap_mode="r")
    assert np.array_equal(call(mapped), plain_answer(place))
    assert np.array_equal(mapped, data)


def replaced(value):
    def make(M):
        M = M.astype(object if isinstance(value, (str, int)) else None).copy()
        M.flat[1] = value
        return M

    return make


MALFORMED = {
    "nan": replaced(np.nan),
    "inf": replaced(np.inf),
    "-inf": replaced(-np.inf),
    "complex": lambda M: M + 1j,
    "complex with no imaginary part": lambda M: M.astype(complex),
    "complex objects": objects(complex),
    "masked": lambda M: np.ma.array(M, mask=M.flat[0] == M),
    "strings": lambda M: M.astype(str),
    "bytes": lambda M: M.astype("S8"),
    "words": replaced("one"),
    "too large an integer": replaced(10**400),
    "dates": lambda M: M.astype("datetime64[D]"),
    "durations": lambda M: M.astype("timedelta64[D]"),
    "record": lambda M: np.zeros(M.shape, dtype=[("p", float), ("q", float)]),
    "none": lambda M: None,
    "a number": lambda M: 3.0,
    "a string": lambda M: "matrix",
    "a dict": lambda M: {"matrix": M},
    "a set": lambda M: {1.0, 2.0},
    "a function": lambda M: np.eye,
    "a generator": lambda M: (row for row in M),
    "empty": lambda M: np.empty((0, 0)),
    "empty list": lambda M: [],
    "three axes": lambda M: np.zeros((3, 3, 3)),
    "ragged": lambda M: [[1.0, 2.0], [3.0]],
    "too long": lambda M: np.ones((5, 5)) if M.ndim == 2 else np.ones(5),
    "missing": lambda M: pd.DataFrame(M).astype(object).replace({float(M.flat[0]): pd.NA}),
    "a sparse complex": lambda M: scipy.sparse.csr_array(M.reshape(len(M), -1) * 1j),
}
FINE_IN = {
    "too long": {"pca", "C"},  # another size of problem
    "none": {"B", "fda B", "x0"},  # the identity, the default start
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", MALFORMED)
def test_malformed_data_raise_our_error(place, kind):
    data, call = PLACES[place]
    bad = MALFORMED[kind](data)
    if place in FINE_IN.get(kind, set()):
        assert np.all(np.isfinite(call(bad)))
        return
    before = None if kind in ("a generator", "a function") else snapshot(bad)
    with pytest.raises(DCGEVError) as caught:
        call(bad)
    assert len(str(caught.value)) > 10
    if isinstance(bad, np.ndarray) and bad.dtype.kind == "f":
        assert np.array_equal(bad, before, equal_nan=True)


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        (np.ones((2, 3)), r"A must be a square matrix, got shape \(2, 3\)"),
        (np.ones(3), r"A must be a square matrix, got shape \(3,\)"),
        (np.empty((0, 0)), r"A is empty \(0×0\)"),
        (np.array([[1.0, 2.0], [2.5, 1.0]]), r"max \|A - Aᵀ\| = 0.5 where max \|A\| = 2.5"),
        (np.array([[1.0, 1.7e308], [-1.7e308, 1.0]]), r"A is not symmetric: max \|A - Aᵀ\|"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), r"2 entries that are NaN or infinite, the first at \(0, 1\): nan"),
    ],
)
def test_messages_about_a(matrix, text):
    with pytest.raises(InvalidPencil, match=text):
        Pencil(matrix)


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        (np.diag([1.0, 2.0, -0.5]), "smallest eigenvalue is -0.5"),
        (np.diag([1.0, 2.0, 0.0]), "smallest eigenvalue is 0"),
        (np.zeros((3, 3)), "smallest eigenvalue is 0"),
        (np.ones((3, 3)), "B is not positive definite to working precision"),
        (-np.eye(3), "smallest eigenvalue is -1"),
        (np.diag([1e200, 1.0, 1.0]), "B is not positive definite to working precision"),
        (np.eye(2), "A is 3×3 but B is 2×2: the shapes must agree"),
        (np.ones((3, 2)), r"B must be a square matrix, got shape \(3, 2\)"),
    ],
)
def test_messages_about_b(matrix, text):
    with pytest.raises(InvalidPencil, match=text):
        Pencil(A, matrix)


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
def test_extreme_sizes_pass_the_door(size):
    assert Pencil(A * size).lambda_max == pytest.approx(Pencil(A).lambda_max * size, rel=1e-12)
    assert dc_pca(A * size, rho=0.3 * size, eps=1e-2, stop=SHORT).x == pytest.approx(
        dc_pca(A, rho=0.3, eps=1e-2, stop=SHORT).x, abs=1e-12
    )


NOT_NUMBERS = [
    np.nan,
    np.inf,
    -np.inf,
    -1.0,
    -1e-300,
    None,
    "much",
    1j,
    [1.0, 2.0],
    np.ones(2),
    object(),
    10**400,
    {},
]
SETTINGS = {
    "rho": lambda v: sparse_gev(A, B, rho=v),
    "rho of dc_pca": lambda v: dc_pca(A, rho=v),
    "eps": lambda v: sparse_gev(A, B, rho=1.0, eps=v),
    "eps of dc_pca": lambda v: dc_pca(A, rho=1.0, eps=v),
    "nu": lambda v: sparse_fda(a, B, nu=v),
    "eps of sparse_fda": lambda v: sparse_fda(a, B, nu=1.0, eps=v),
    "tau": lambda v: SparseGEV(Pencil(A), 1.0, tau=v),
    "step": lambda v: Stop(step=v),
    "decrease": lambda v: Stop(decrease=v),
    "stationarity": lambda v: Stop(stationarity=v),
    "max_iter": lambda v: Stop(max_iter=v),
}


FINE_SETTINGS = {("tau", "None"), ("max_iter", repr(10**400))}
"""None asks for the smallest τ; an integer of any size bounds the iterations."""


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("bad", NOT_NUMBERS, ids=lambda v: repr(v)[:12])
def test_settings_that_are_not_numbers(setting, bad):
    if (setting, repr(bad)) in FINE_SETTINGS:
        SETTINGS[setting](bad)
        return
    with pytest.raises(InvalidParameter) as caught:
        SETTINGS[setting](bad)
    assert setting.split()[0] in str(caught.value)


@pytest.mark.parametrize("setting", ["eps", "eps of dc_pca", "eps of sparse_fda", "max_iter"])
def test_zero_is_not_enough(setting):
    with pytest.raises(InvalidParameter, match="= 0"):
        SETTINGS[setting](0)


@pytest.mark.parametrize(
    ("start", "text"),
    [
        ([2.0, 0.0, 0.0], "x0ᵀBx0 = 4 > 1. Divide x0 by 2"),
        ([1.0, 1.0], r"x0 must have length 3, got shape \(2,\)"),
        ([[1.0, 0.0, 0.0]], r"x0 must have length 3, got shape \(1, 3\)"),
        ([np.nan, 0.0, 0.0], "x0 has 1 entries that are NaN"),
        ([1e200, 0.0, 0.0], "x0 lies outside Ω"),
        ([1.0 + 1e-6, 0.0, 0.0], "x0 lies outside Ω"),
        ("abc", "x0 has dtype"),
    ],
)
def test_starts_outside(start, text):
    with pytest.raises(InvalidParameter, match=text):
        sparse_gev(A, rho=1.0, x0=start)
    with pytest.raises(InvalidParameter, match=text):
        dc_pca(A, rho=1.0, x0=start)


@pytest.mark.parametrize("start", [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.25, 0.25, 0.0], [-1.0, 0.0, 0.0]])
def test_fisher_starts_outside(start):
    with pytest.raises(InvalidParameter, match="x0 lies outside Ω: aᵀx0 = "):
        sparse_fda(a, B, nu=1.0, x0=start)


@pytest.mark.parametrize("solver", ["CLARABLE", "clarabel ", "", "GUROBI", "MOSEK", None, 3, ["SCS"], object()])
def test_solver_names(solver):
    with pytest.raises(DCGEVError, match="solver"):
        sparse_gev(A, rho=1.0, solver=solver)


def test_other_doors():
    with pytest.raises(Infeasible, match="a = 0"):
        sparse_fda(np.zeros(3), B, nu=1.0)
    with pytest.raises(InvalidParameter, match=r"tau = 0.5 is too small"):
        sparse_gev(-A, B, rho=1.0, tau=0.5)
    with pytest.raises(InvalidParameter, match="shift = 'none' is unknown"):
        sparse_gev(A, rho=1.0, shift="none")
    with pytest.raises(InvalidParameter, match="x must have length 3"):
        certify(SparseGEV(Pencil(A), 1.0), np.ones(4))
    with pytest.raises(InvalidParameter, match="x must have length 3"):
        solution_of(Pencil(A), np.ones(4), "by hand", 0.0)
    with pytest.raises(InvalidPencil, match="A is 4×4 but B is 3×3"):
        SparseFDA(np.ones(4), B, 1.0)
    with pytest.raises(InvalidParameter, match=r"a must have length 3, got shape \(4,\)"):
        SparseFDA(np.ones(4), Pencil(A, B), 1.0)
    with pytest.raises(InvalidPencil, match="C must be a non-empty"):
        Gram(np.empty((0, 3)))
    with pytest.raises(InvalidPencil, match="C must be a non-empty"):
        Gram(np.ones(3))
    assert value(Pencil(A), np.array([1.0, 0.0, 0.0])) == 4.0


def test_there_are_enough_of_them():
    places = len(PLACES)
    assert places * (len(ODD) + len(MALFORMED)) + len(SETTINGS) * len(NOT_NUMBERS) >= 250
