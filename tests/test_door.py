"""Odd and malformed input: the right answer or our error with its number, and nothing changed behind the caller."""

import copy
import dataclasses
import decimal
import fractions
import functools
import math
import random
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import scipy.special  # adds a warning filter of its own when it is first imported

import dcgev_cvx
from dcgev_cvx import (
    DCPCA,
    DCGEVError,
    Gram,
    Infeasible,
    InvalidParameter,
    InvalidPencil,
    Pencil,
    SolverFailed,
    SparseFDA,
    SparseGEV,
    Stop,
    certify,
    datasets,
    dc_pca,
    exact,
    minimize,
    plotting,
    relaxations,
    renormalize,
    rivals,
    sparse_fda,
    sparse_gev,
    teach,
    verify,
)
from dcgev_cvx import reproduction as experiments
from dcgev_cvx.certificates import solution_of, value
from dcgev_cvx.relaxations import bounds
from dcgev_cvx.reproduction import retrieval, vocabulary
from dcgev_cvx.reproduction.cal500 import planted_songs
from dcgev_cvx.reproduction.laws import laws_of_canada
from dcgev_cvx.reproduction.manpages import manpages
from dcgev_cvx.reproduction.planted_text import planted_translations
from dcgev_cvx.search import deflation, explained
from dcgev_cvx.search.paths import on_path
from dcgev_cvx.steps.closed import power_step, soft_threshold_step
from dcgev_cvx.steps.conic import QCQPStep
from dcgev_cvx.steps.native import NativeFisherStep, native_step

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


class Sparse:
    """Says that it is a matrix, and is none."""

    shape = (3, 3)

    def toarray(self):
        raise RuntimeError("no matrix")


class Stubborn:
    """Raises when asked for anything it has not, as a proxy without its object does."""

    def __getattr__(self, name):
        raise RuntimeError(name)


def nested(depth):
    found = []
    for _ in range(depth):
        found = [found]
    return found


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
    "numbers as text objects": objects(lambda v: str(int(v))),
    "numbers as byte objects": objects(lambda v: b"%d" % int(v)),
    "complex64 objects": objects(np.complex64),
    "beyond float64": lambda M: np.full(M.shape, np.longdouble("1e4000")),
    "too large to be dense": lambda M: scipy.sparse.coo_array(([1.0], ([0], [0])), shape=(10**7, 10**7)),
    "a toarray that fails": lambda M: Sparse(),
    "dates among objects": objects(lambda v: np.datetime64(int(v), "ns")),
    "durations among objects": objects(lambda v: np.timedelta64(int(v), "ns")),
    "stubborn": lambda M: Stubborn(),
    "near overflow": lambda M: np.full((3, 3), 1e308),
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
    before = None if kind in ("a generator", "a function", "stubborn") else snapshot(bad)
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


# ---- every public callable, one argument replaced by something wrong -------------------------------------------

PENCIL, PCA = Pencil(A, B), Pencil(A)
PROGRAM = SparseGEV(PCA, 0.3, 1e-2)
X = np.random.default_rng(0).standard_normal((12, 3))
LABELS = np.repeat([0, 1], 6)
CORPUS = planted_translations(40, 4, 5, 10)
VIEWS = retrieval.kernel_views(CORPUS)
(COMPONENT,) = retrieval.sparse_cca(*VIEWS, 1, zeros=0.5)
LOOSE = dataclasses.replace(COMPONENT, rows=((99,), (99,)), loadings=((1.0,), (1.0,)))
PROJECTION = retrieval.plain_projection(VIEWS[0], [COMPONENT], 0)


def forever():
    """A list without an end."""
    while True:
        yield 1


class Hostile:
    """An object that raises whenever it is looked at."""

    def __array__(self, *args, **kwargs):
        raise RuntimeError("hostile")

    def __float__(self):
        raise RuntimeError("hostile")

    def __repr__(self):
        raise RuntimeError("hostile")

    def __iter__(self):
        raise RuntimeError("hostile")


WRONG = {
    "none": None,
    "nan": np.nan,
    "minus one": -1,
    "half": 0.5,
    "huge": 10**400,
    "beyond repr": 10**5000,
    "text": "abc",
    "empty": [],
    "list of text": ["a"],
    "complex": 1j,
    "matrix": np.ones((7, 7)),
    "np.matrix": np_matrix(np.eye(3)),
    "frame": pd.DataFrame({"a": ["x", "y"]}),
    "zero-dimensional": np.array(np.nan),
    "object": object(),
    "sparse": scipy.sparse.coo_array(([1.0], ([0], [0])), shape=(10**7, 10**7)),
    "half a character": "\ud800",
    "hostile": Hostile(),
    "function": lambda *args: None,
    "a class": int,
    "a duration": np.timedelta64(2, "ns"),
    "a date": np.datetime64(2, "ns"),
    "masked": np.ma.masked,
    "durations": np.array([1, 1], "m8[ns]"),
    "nested": nested(5000),
    "stubborn": Stubborn(),
}
CALLS = {  # callable and good arguments; the values in ANY and TAKEN are fine for those arguments
    dcgev_cvx.Backend: {"solver": "SCS", "options": {}, "fallback": ()},
    Pencil: {"A": A, "B": B, "names": None, "blocks": None},
    SparseGEV: {"pencil": PCA, "rho": 0.3, "eps": 0.1, "tau": None, "shift": "metric", "penalty": None},
    SparseFDA: {"a": a, "B": B, "nu": 0.1, "eps": 0.1, "penalty": None},
    Stop: {"max_iter": 5, "step": 1e-9, "decrease": 0.0, "stationarity": 1e-6},
    certify: {"program": PROGRAM, "x": x0, "history": (), "tol": 1e-9},
    dcgev_cvx.minimize: {
        "program": PROGRAM,
        "step": soft_threshold_step,
        "x0": None,
        "stop": SHORT,
        "callback": None,
    },
    dcgev_cvx.iterate: {"program": PROGRAM, "step": soft_threshold_step, "x0": None},
    sparse_gev: {"A": A, "B": B, "rho": 0.3, "engine": "native", "stop": SHORT, "accelerate": None, "callback": None},
    dc_pca: {"A": A, "rho": 0.3, "engine": "closed", "stop": SHORT, "x0": None},
    sparse_fda: {"a": a, "B": B, "nu": 0.1, "engine": "native", "stop": SHORT},
    dcgev_cvx.path: {"pencil": PENCIL, "rhos": [0.5], "points": 3, "eps": 0.1, "stop": SHORT},
    dcgev_cvx.rho_max: {"pencil": PENCIL, "x0": None, "eps": 0.1},
    dcgev_cvx.solve: {"pencil": PCA, "k": 2, "effort": "quick", "random_state": 0, "check_path": False},
    dcgev_cvx.components: {"pencil": PCA, "ks": [2], "deflation": "schur", "effort": "quick", "callback": None},
    dcgev_cvx.deflate: {"pencil": PCA, "x": a, "deflation": "projection", "found": None},
    renormalize: {"pencil": PCA, "x": a},
    dcgev_cvx.compare: {
        "pencil": PCA,
        "k": 2,
        "methods": ["no-sdp"],
        "time_limit": 1.0,
        "random_state": 0,
        "force": False,
        "progress": None,
    },
    dcgev_cvx.pca_pencil: {"X": X, "center": True, "scale": False},
    dcgev_cvx.cca_pencil: {"X": X, "Y": X[:, :2] + 1.0, "ridge": 0.1},
    dcgev_cvx.fda_vectors: {"X": X, "y": LABELS, "ridge": 0.1},
    dcgev_cvx.fisher_solve: {"a": a, "B": B, "k": 2, "path": None, "names": None},
    exact.best_subset: {
        "pencil": PCA,
        "k": 2,
        "time_limit": 1.0,
        "node_limit": 9,
        "start": None,
        "solver": None,
        "progress": None,
    },
    exact.brute_force: {"pencil": PCA, "k": 2},
    exact.gev: {"pencil": PCA},
    bounds.homogeneous_bound: {"pencil": PCA, "k": 2, "U": A, "scale": "diagonal", "level": None},
    bounds.radius_bound: {"pencil": PCA, "radius": 1.0, "U": A, "level": None},
    bounds.penalized_bound: {"pencil": PCA, "rho": 0.1, "U": A},
    bounds.largest_valid_k: {"pencil": PCA, "radius": 1.0},
    bounds.cheap_bound: {"pencil": PCA, "k": 2},
    explained.projector_trace: {"pencil": PCA, "V": np.eye(3)[:, :2]},
    relaxations.homogeneous_sdp: {"pencil": PCA, "k": 2, "scale": "diagonal", "time_limit": 1.0, "force": False},
    relaxations.entrywise_sdp: {"pencil": PCA, "radius": 1.0, "k": None, "solver": None, "time_limit": 1.0},
    relaxations.literal_sdp: {"pencil": PCA, "radius": 1.0, "time_limit": 1.0},
    relaxations.literal_dual: {"pencil": PCA, "radius": 1.0},
    relaxations.radius_for: {"pencil": PCA, "k": 2, "rule": "paper"},
    relaxations.fisher_l1_penalized: {"a": a, "B": B, "nu": 0.1},
    rivals.spca_components: {"pencil": PCA, "lassos": [0.5], "ridge": 0.1, "tol": 1e-3, "max_iter": 50},
    verify.parametrize_with_checks: {"level": "step", "seed": 0, "time_limit": 1.0},
    rivals.gpower: {"pencil": PCA, "k": 2, "kind": "l0", "start": "column", "tol": 1e-6, "max_iter": 50},
    datasets.planted_pca: {"n": 6, "k": 2, "strength": 2.0, "samples": None, "rng": 0},
    datasets.indefinite: {"n": 4, "dense_metric": False, "rng": 0},
    retrieval.score: {"queries": X, "targets": X},
    retrieval.unit_rows: {"T": X},
    retrieval.sparse_pairs: {"X": X, "Y": X[:, :2] + 1.0, "d": 1, "ks": (1, 1), "known": (), "callback": None},
    retrieval.Component.from_dict: {"content": COMPONENT.to_dict()},
    COMPONENT.vectors: {"p": 40, "q": 40},
    PROJECTION.__call__: {"bags": CORPUS.E},
    PROJECTION.first: {"d": 1},
    PROJECTION.view.similarities: {"bags": CORPUS.E, "documents": np.array([0])},
    CORPUS.take: {"rows": [0, 1]},
    CORPUS.split: {"train": 10, "queries": 10, "seed": 0},
    deflation.hotelling: {"pencil": PCA, "W": np.eye(3)[:, :1]},
    deflation.projection: {"pencil": PCA, "W": np.eye(3)[:, :1]},
    deflation.schur: {"pencil": PCA, "W": np.eye(3)[:, :1]},
    dcgev_cvx.fda_pencil: {"X": X, "y": LABELS, "ridge": 0.1},
    planted_songs: {"songs": 20, "features": 4, "words": 5, "noisy": 1, "factors": 3, "listeners": 2},
    planted_translations: {"documents": 20, "topics": 3, "words": 3, "noise": 2},
    laws_of_canada: {"folder": ".", "least_words": 10},
}
ANY = {"U"}  # a dual matrix may be anything at all
TAKEN = {  # (argument, value) that are in order somewhere
    *((name, "none") for name in ("B", "tau", "penalty", "x0", "stop", "callback", "accelerate", "rhos", "found")),
    *((name, "none") for name in ("methods", "time_limit", "progress", "path", "names", "start", "node_limit")),
    *((name, "none") for name in ("blocks", "solver", "level", "check_path", "k", "samples", "random_state")),
    *((name, "function") for name in ("callback", "progress", "step")),
    *((name, "a class") for name in ("callback", "progress")),
    *((name, "half") for name in ("rho", "eps", "tau", "nu", "radius", "tol", "step", "decrease", "stationarity")),
    *((name, "half") for name in ("ridge", "strength", "time_limit", "level")),
    *((name, "empty") for name in ("fallback", "history")),
    *((name, "np.matrix") for name in ("A", "B", "X", "Y", "V", "queries", "targets", "T", "found", "names", "W")),
    *((name, "matrix") for name in ("A", "X", "Y", "T")),
    ("max_iter", "huge"),
    ("node_limit", "huge"),
    ("node_limit", "beyond repr"),
    ("max_iter", "beyond repr"),
    ("random_state", "huge"),
    ("random_state", "beyond repr"),
    ("seed", "huge"),
    ("seed", "beyond repr"),
    ("known", "empty"),
    ("rng", "huge"),
    ("rng", "beyond repr"),
    ("start", "none"),
}


def verdict(call, arguments):
    """Accepted, refused in one short line of ours, or what else came out."""
    try:
        call(**arguments)
    except DCGEVError as error:
        text = str(error)
        return "refused" if "\n" not in text and len(text) < 500 else f"a long text: {text[:200]}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "accepted"


NEVER_GOOD = {laws_of_canada}  # the laws are not here


@pytest.mark.parametrize("call", CALLS, ids=lambda call: getattr(call, "__qualname__", type(call).__name__))
def test_one_wrong_argument_at_a_time(call):
    good = CALLS[call]
    assert verdict(call, good) == ("refused" if call in NEVER_GOOD else "accepted")
    for name in [name for name in good if name not in ANY]:
        for kind, wrong in WRONG.items():
            found = verdict(call, {**good, name: wrong})
            if (name, kind) not in TAKEN:
                assert found == "refused", (name, kind)
            elif kind != "a class":  # a caller's own function may raise what it likes
                assert found in ("refused", "accepted"), (name, kind)


KINDS = {float: (decimal.Decimal, fractions.Fraction, np.longdouble, np.array), int: (np.int8, np.uint64)}


@pytest.mark.parametrize(
    "call", [call for call in CALLS if call not in NEVER_GOOD], ids=lambda call: call.__qualname__
)
def test_numbers_of_other_kinds_are_taken(call):
    good = CALLS[call]
    for name, number in good.items():
        for kind in KINDS.get(type(number), ()):
            assert verdict(call, {**good, name: kind(number)}) == "accepted", (name, kind)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: dcgev_cvx.path(PCA, 3.0), r"rhos = 3.0 must list numbers of at least 0"),
        (lambda: dcgev_cvx.path(PCA, points=-1), "points = -1 must be a whole number of at least 1"),
        (lambda: dcgev_cvx.minimize(PROGRAM, soft_threshold_step, stop=5), "stop = 5 is no stop rule"),
        (lambda: dcgev_cvx.minimize(A, soft_threshold_step), "a program is wanted, got ndarray"),
        (lambda: dcgev_cvx.minimize(PROGRAM, 5), "step = 5 is none"),
        (lambda: certify(A, x0), "a program is wanted, got ndarray"),
        (lambda: dcgev_cvx.components(A, [2]), "pencil must be a Pencil, got ndarray"),
        (lambda: exact.best_subset(PCA, 2, start=np.ones(7)), "start must have length 3"),
        (lambda: dcgev_cvx.compare(PCA, 2, methods=5), "no method was given"),
        (lambda: Pencil(A, names=5), "names = 5 must list 3 names"),
        (lambda: SparseGEV(PCA, 0.1, penalty=3), "penalty = 3 is none"),
        (lambda: dcgev_cvx.card_eps(a, -0.1), "eps = -0.1 is out of range"),
        (lambda: SparseGEV(PCA, 0.1, eps=1e-320), "eps = .* is out of range; it must be at least 1e-300"),
        (lambda: SparseGEV(PCA, 1e300), r"rho = 1e\+300 is too large"),
        (lambda: SparseGEV(Pencil(A * 1e-310), 0.0), r"max \|A\| = 4e-310 is too small .* Divide A and rho by 4e"),
        (lambda: Pencil(A * 1e306), r"max \|A\| = 4e\+306: sums of it overflow. Divide A by 4e\+306"),
        (lambda: Pencil(A, A * 1e306), r"max \|B\| = 4e\+306: sums of it overflow. Divide B by 4e\+306"),
        (lambda: Pencil(np.broadcast_to(1.0, (10**6, 10**6))), r"A of shape \(1000000, 1000000\) does not fit in"),
        (lambda: Pencil(A, blocks=np.array([1, 2], "m8[ns]")), "blocks = .* must be whole numbers"),
        (lambda: sparse_fda(a, np.eye(3), nu=0.1, x0=[4e20, 0.0, -1e20]), "x0 lies outside Ω: aᵀx0 = 0, not 1"),
        (lambda: sparse_fda(a, np.eye(3), nu=0.1, x0=[1e308, 1e308, -1e308]), "x0 lies outside Ω: aᵀx0 = "),
        (lambda: dcgev_cvx.Backend("x" * 10_000), "solver 'x{50,59} … is unknown"),
        (lambda: SparseGEV(PCA, 0.1, tau=1e200), r"tau = 1e\+200 is too large"),
        (lambda: sparse_fda(a * 1e90, B * 1e-100, nu=0.1), r"Fisher ratios aᵢ²/Bᵢᵢ near 1e\+28"),
        (lambda: Pencil(A * 1e200, B * 1e-200), r"eigenvalues near 1e\+400"),
        (lambda: dcgev_cvx.Backend("SCS", options=5), "options = 5 must map"),
        (lambda: dcgev_cvx.DCPCA(random_state=np_matrix(np.eye(2))).fit(X), "random_state = matrix"),
        (lambda: dcgev_cvx.DCPCA().fit([[np.nan, 1.0], [2.0, 3.0]]), "NaN"),
        (lambda: Pencil([[1.0, "2"], ["2", 1.0]]), "A has dtype <U32, which is not numeric"),
        (lambda: Pencil(np.array([[1.0, "2"], ["2", 1.0]], object)), r"not real numbers, the first at \(0, 1\): '2'"),
        (
            lambda: Pencil(np.array([[np.complex64(2j)]], object)),
            r"not real numbers, the first at \(0, 0\): np",
        ),
        (
            lambda: Pencil(scipy.sparse.eye_array(10**5)),
            "A as a dense matrix is 100000×100000 and takes 80,000",
        ),
        (lambda: Pencil(Sparse()), "A is not a matrix of numbers: no matrix"),
        (lambda: Pencil(A, names=forever()), "names = <generator object forever.* must list 3 names"),
        (lambda: sparse_gev(A, rho=True), "rho = True is not a real number"),
        (lambda: sparse_gev(A, rho=np.complex64(1 + 2j)), r"rho = np.complex64\(1\+2j\) is not a real number"),
        (lambda: sparse_gev(A, rho=np.ones(1)), r"rho = array\(\[1.\]\) is not a real number"),
        (
            lambda: dcgev_cvx.pca_pencil(np.array([[10**400, 1], [2, 3]], object)),
            r"1 column\(s\) that are not numbers: 0",
        ),
        (lambda: dcgev_cvx.pca_pencil(pd.DataFrame({"z": [1j, 2j]})), r"1 column\(s\) that are not numbers: 'z'"),
        (lambda: dcgev_cvx.fda_pencil(X, "aaaaaabbbbbb"), "y = 'aaaaaabbbbbb' must be a sequence of class labels"),
        (lambda: dcgev_cvx.fda_pencil(X, LABELS.reshape(6, 2)), "must be a sequence of class labels, one per sample"),
        (lambda: dcgev_cvx.fda_pencil(X, np.ma.array(LABELS, mask=LABELS == 1)), "y has 6 missing labels"),
        (lambda: dcgev_cvx.fda_pencil(X, {0, 1}), "must be a sequence of class labels"),
        (lambda: dcgev_cvx.fda_pencil(X, forever()), "must be a sequence of class labels"),
        (
            lambda: deflation.schur(PCA, np.ones((3, 1))),
            r"W must be B-orthonormal, WᵀBW = I, .* = 2\.",
        ),
        (lambda: CORPUS.take([40]), r"rows = \[40\] must list whole numbers between 0 and 39"),
        (lambda: CORPUS.take(np.ones(40, bool)), "must list whole numbers between 0 and 39"),
        (lambda: CORPUS.split(np.int8(100), np.int8(100)), "100 training and 100 query documents were asked for"),
        (lambda: CORPUS.save("no/where.npz"), "no/where.npz cannot be written: No such file or directory"),
        (lambda: dcgev_cvx.deflate(PCA, a, "hotelling", a), r"found must be B-orthonormal"),
        (lambda: dcgev_cvx.path(PCA, pd.DataFrame(A)), "rhos = .* must list numbers of at least 0"),
        (lambda: dcgev_cvx.components(PCA, {2, 1}), r"ks = \{1, 2\} must list one cardinality per component"),
        (lambda: Pencil(A, names=np.ones((3, 3))), "names = .* must list 3 names"),
        (lambda: CORPUS.save(""), "path = '' must be the path of a file"),
        (lambda: CORPUS.save("x" * 10_000), "path = 'x{50,59} … must be the path of a file"),
        (lambda: manpages(root="x" * 10_000), "root = 'x{50,59} … must be the path of a file"),
        (lambda: datasets.planted_pca(6, 2, strength=2.0**63, samples=20), r"of size 4.6e\+18 beside 1 is"),
        (lambda: relaxations.fisher_l1_penalized([5e-324, 0.0], None, 1.0), "4.94e-324: its square leaves the range"),
        (lambda: verify.parametrize_with_checks("step", remote=A), "remote = .* must be True or False"),
        (lambda: verify.parametrize_with_checks("step", tol=10**400), "tol = 1000.* must be a profile's name"),
        (lambda: verify.parametrize_with_checks("step", effort=Hostile()), "effort = <Hostile> is unknown"),
        (lambda: verify.ProcessSolver(forever(), "step"), "command = <generator .* must name a program"),
        (lambda: verify.ProcessSolver([b"true"], "step"), r"command = \[b'true'\] must name a program"),
        (lambda: verify.ProcessSolver(["a\0b"], "step"), r"'a\\x00b' could not be started: embedded null byte"),
        (lambda: rivals.gpower(PCA, 2, tol=1e308), r"tol = 1e\+308 is out of range"),
        (lambda: plotting.Sheet(2, 2, (0, 0, 0, 0))(3), "paint = 3 must be a function that draws"),
        (lambda: plotting.plot_majoriser(PROGRAM, a * 1e300), r"y has entries of size 4.0e\+300: nothing is drawn"),
        (lambda: plotting.plot_loadings(PCA, a * 1e300), "x has entries of size"),
        (lambda: plotting.plot_loadings(PCA, scipy.sparse.dok_array(A)), r"x must have length 3, got shape \(3, 3\)"),
        (lambda: vocabulary.average(np.array([0.5, 2.0]), [0]), "scores = .* must lie between 0 and 1"),
        (lambda: vocabulary.average(np.array([1e308, 1e308]), [0, 1]), "scores = .* must lie between 0 and 1"),
        (lambda: DCPCA(k=[[1], [1, 2]]).fit(X), "k = .* must have 1 entries"),
        (lambda: DCPCA(2, k=[1, [1, 2]]).fit(X), r"k = \[1, 2\] must be a whole number"),
        (lambda: DCPCA().fit(Hostile()), "hostile"),
        (lambda: dcgev_cvx.DCCCA().fit(X, X[:, :2]).score(X, None), "y is None: a score compares two views"),
        (lambda: dcgev_cvx.DCCCA().fit(X, Sparse()), "y is not a matrix of numbers: no matrix"),
        (lambda: dcgev_cvx.DCFDA(k=Hostile(), nu=0.1).fit(X, LABELS), "k = <Hostile> and nu = 0.1 were both given"),
        (lambda: dcgev_cvx.DCFDA(2).fit(X, np.ma.masked), "y has 1|X has 12 rows|must be a sequence"),
        (lambda: dcgev_cvx.DCFDA(2).fit(X, Stubborn()), "y|shape"),
        (lambda: dcgev_cvx.Backend("SCS").solve(None, []), "solver must be a name such as 'CLARABEL', got"),
        (lambda: Pencil(None), "A = None is not an array of numbers"),
        (lambda: DCPCA().fit(Stubborn()), "X cannot be used: dtype"),
        (
            lambda: experiments.reproduce(["table1"], watch=3),
            "watch = 3 must have the functions begun, done",
        ),
        (lambda: experiments.reproduce(["table1"], data=A), "data must be a Mapping, got ndarray"),
        (lambda: experiments.reproduce(["table1"], crew=()), "crew must be a Crew, got tuple"),
        (lambda: CORPUS.save(7), "path = 7 must be the path of a file"),
        (lambda: PROJECTION(CORPUS.E[:, :3]), "must be a sparse matrix of 30 columns"),
        (lambda: PROJECTION.first(2), "d = 2 must be a whole number of at least 1 and at most 1"),
        (lambda: COMPONENT.vectors(1, 1), r"rows\[0\] = .* must list whole numbers between 0 and 0"),
        (lambda: retrieval.sparse_cca(*VIEWS, 1, known=[LOOSE]), r"rows\[0\] = \(99,\) must list whole numbers"),
        (lambda: retrieval.Component.from_dict({"rows": 1}), r"\{'rows': 1\} is not what Component.to_dict writes"),
        (lambda: datasets.planted_pca(rng=np.random.RandomState(0)), "random_state = RandomState"),
        (lambda: teach.task("taus"), "exercise = 'taus' is unknown; did you mean 'tau'?"),
        (lambda: teach.hint(Hostile()), "exercise = <Hostile> is unknown"),
        (lambda: teach.check(10**5000, 1.0), "exercise = <int> is unknown"),
        (lambda: datasets.planted_pca(rng="0"), "random_state = '0' must be a whole number of at least 0"),
    ],
)
def test_messages_at_other_doors(call, text):
    with pytest.raises(DCGEVError, match=text):
        call()


def test_small_integers_do_not_overflow():
    one, two = (datasets.planted_cca(kind(100), kind(100), kind(3), rng=1) for kind in (int, np.int8))
    assert np.array_equal(one.pencil.A, two.pencil.A)
    one, two = (planted_translations(kind(40), kind(20), kind(10), kind(5)) for kind in (int, np.uint8))
    assert one.words == two.words
    one, two = (planted_songs(kind(9), kind(4), kind(99), kind(1), listeners=kind(4)) for kind in (int, np.int8))
    assert np.array_equal(one.tags, two.tags)


def test_lists_and_frames_are_data_for_every_view():
    plain = retrieval.sparse_pairs(X, X[:, :2] + 1.0, 1, (1, 1))
    listed = retrieval.sparse_pairs(X.tolist(), pd.DataFrame(X[:, :2] + 1.0), 1, [1, 1])
    assert [component.rows for component in listed] == [component.rows for component in plain]


def test_labels_of_any_kind_are_the_same_classes():
    plain = dcgev_cvx.fda_pencil(X, LABELS, ridge=0.1)
    tuples = [("class", int(label)) for label in LABELS]
    for y in (
        LABELS.tolist(),
        LABELS[:, None],
        pd.Series(LABELS),
        pd.DataFrame(LABELS),
        iter(LABELS.tolist()),
        tuples,
    ):
        assert np.array_equal(dcgev_cvx.fda_pencil(X, y, ridge=0.1).B, plain.B)


@pytest.mark.parametrize("radius", [1e-300, 1e9, 1e200, 1e308])
@pytest.mark.parametrize("sdp", [relaxations.entrywise_sdp, relaxations.literal_dual, relaxations.penalized_sdp])
def test_budgets_and_prices_beyond_use(sdp, radius):
    found = sdp(PCA, radius)
    assert 0.0 <= found.upper_bound <= PCA.lambda_max * (1.0 + 1e-9)
    assert found.value <= PCA.lambda_max * (1.0 + 1e-4)


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
def test_bounds_at_extreme_sizes(size):
    plain, scaled = (relaxations.homogeneous_sdp(Pencil(A * s), 2).upper_bound / s for s in (1.0, size))
    assert scaled == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize("out", [None, 5, "x", np.zeros(3), np.nan])
def test_steps_that_return_something_else(out):
    result = dcgev_cvx.minimize(PROGRAM, lambda program, y: out)
    assert result.status.name == "SOLVER_FAILED"
    assert not result.converged
    assert "no StepOutput" in result.message


def test_a_panic_of_a_solver_is_a_failure(monkeypatch):
    import cvxpy as cp

    class Panic(BaseException):
        """As solvers in Rust raise it."""

    def panics(*args, **kwargs):
        raise Panic("Eigval error")

    monkeypatch.setattr(cp.Problem, "solve", panics)
    with pytest.raises(SolverFailed, match="Eigval error"):
        relaxations.homogeneous_sdp(PCA, 2)


def test_a_command_with_an_open_quote_is_refused():
    with pytest.raises(InvalidParameter, match="cannot be taken apart: No closing quotation"):
        verify.ProcessSolver("node 'impl.js", "pca")


def test_what_is_masked_is_not_data():
    X = np.ma.masked_greater(np.random.default_rng(0).standard_normal((12, 4)), 1.0)
    with pytest.raises(InvalidParameter, match=r"X has \d+ masked entries"):
        DCPCA(n_components=1, k=2).fit(X)


@pytest.mark.parametrize("k", [0, 14, "3", math.nan])
def test_on_path_wants_a_cardinality(k):
    with pytest.raises(InvalidParameter, match="k"):
        on_path(datasets.pitprops(), k)


def test_shrink_is_a_yes_or_no():
    program = SparseGEV(datasets.pitprops(), 1.0)
    with pytest.raises(InvalidParameter, match="shrink"):
        minimize(program, native_step(program), shrink="yes")


STEPS_BY_HAND = {
    "closed": lambda y: soft_threshold_step(SparseGEV(Pencil(np.diag([2.0, 1.0])), rho=0.1), y),
    "power": lambda y: power_step(SparseGEV(Pencil(np.diag([2.0, 1.0])), rho=0.0), y),
    "native": lambda y: native_step(BY_HAND)(BY_HAND, y),
    "cvxpy": lambda y: QCQPStep()(BY_HAND, y),
    "fisher": lambda y: NativeFisherStep()(SparseFDA([1.0, 1.0], np.eye(2), nu=0.1), y),
}
BY_HAND = SparseGEV(Pencil(np.diag([2.0, 1.0]), np.diag([1.0, 3.0])), rho=0.1, shift="metric")


@pytest.mark.parametrize("name", STEPS_BY_HAND)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.5], r"y must have length 2, got shape \(1,\)"),
        (np.array([0.5, np.nan]), "y has 1 entries that are NaN or infinite"),
        (np.array([0.5, 1j]), "y is complex"),
        (None, "y = None is not an array of numbers"),
        ("ab", "not numeric"),
        ({0.5, 0.6}, "y = .* is not an array of numbers"),
    ],
)
def test_a_step_taken_by_hand_checks_its_point(name, y, message):
    with pytest.raises(InvalidParameter, match=message):
        STEPS_BY_HAND[name](y)


@pytest.mark.parametrize("name", STEPS_BY_HAND)
def test_a_step_taken_by_hand_takes_lists_and_leaves_arrays_alone(name):
    y = np.array([0.5, 0.5])
    np.testing.assert_array_equal(STEPS_BY_HAND[name]([0.5, 0.5]).x, STEPS_BY_HAND[name](y).x)
    np.testing.assert_array_equal(y, [0.5, 0.5])
