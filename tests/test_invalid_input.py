"""Unusual input gives the same answer, invalid input raises one of our errors, and neither changes global state."""

import copy
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
)
from dcgev_cvx.certificates import value
from dcgev_cvx.relaxations import bounds
from dcgev_cvx.search import explained_variance
from dcgev_cvx.search.path import on_path
from dcgev_cvx.solutions import solution_of
from dcgev_cvx.steps.closed import power_step, soft_threshold_step
from dcgev_cvx.steps.conic import QCQPStep
from dcgev_cvx.steps.native import native_step

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


@pytest.mark.parametrize("place", ["B", "C", "fda a", "certify"])  # each way in which data come in
@pytest.mark.parametrize("kind", ODD)
def test_odd_containers_give_the_same_bits(place, kind):
    data, call = PLACES[place]
    odd = ODD[kind](data)
    before = snapshot(odd)
    if place == "C" and scipy.sparse.issparse(odd):  # stays sparse, and is multiplied in another order
        assert np.allclose(call(odd), plain_answer(place), rtol=1e-12)
    else:
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
    "masked": lambda M: np.ma.array(M, mask=M.flat[0] == M),
    "strings": lambda M: M.astype(str),
    "words": replaced("one"),
    "dates": lambda M: M.astype("datetime64[D]"),
    "none": lambda M: None,
    "a number": lambda M: 3.0,
    "a string": lambda M: "matrix",
    "a dict": lambda M: {"matrix": M},
    "a set": lambda M: {1.0, 2.0},
    "a generator": lambda M: (row for row in M),
    "empty": lambda M: np.empty((0, 0)),
    "empty list": lambda M: [],
    "three axes": lambda M: np.zeros((3, 3, 3)),
    "ragged": lambda M: [[1.0, 2.0], [3.0]],
    "too long": lambda M: np.ones((5, 5)) if M.ndim == 2 else np.ones(5),
    "missing": lambda M: pd.DataFrame(M).astype(object).replace({float(M.flat[0]): pd.NA}),
    "numbers as text objects": objects(lambda v: str(int(v))),
    "too large to be dense": lambda M: scipy.sparse.coo_array(([1.0], ([0], [0])), shape=(10**7, 10**7)),
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
    if (place, kind) == ("C", "too large to be dense"):
        return  # a sparse factor is not made dense
    bad = MALFORMED[kind](data)
    if place in FINE_IN.get(kind, set()):
        assert np.all(np.isfinite(call(bad)))
        return
    before = None if kind == "a generator" else snapshot(bad)
    with pytest.raises(DCGEVError) as caught:
        call(bad)
    assert len(str(caught.value)) > 10
    if isinstance(bad, np.ndarray) and bad.dtype.kind == "f":
        assert np.array_equal(bad, before, equal_nan=True)


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        (np.ones((2, 3)), r"A must be a square matrix of at least one variable, got shape \(2, 3\)"),
        (np.ones(3), r"A must be a square matrix of at least one variable, got shape \(3,\)"),
        (np.empty((0, 0)), r"at least one variable, got shape \(0, 0\)"),
        (np.array([[1.0, 2.0], [2.5, 1.0]]), r"max \|A - Aᵀ\| = 0.5 where max \|A\| = 2.5"),
        (np.array([[1.0, 1.7e308], [-1.7e308, 1.0]]), r"A is not symmetric: max \|A - Aᵀ\|"),
        (
            np.array([[1.0, np.nan], [np.nan, 1.0]]),
            "A has 2 entries that are NaN or infinite, in column",
        ),
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
        (np.ones((3, 2)), r"B must be a square matrix of at least one variable, got shape \(3, 2\)"),
    ],
)
def test_messages_about_b(matrix, text):
    with pytest.raises(InvalidPencil, match=text):
        Pencil(A, matrix)


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
def test_extreme_sizes_are_accepted(size):
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


FINE_SETTINGS = {("tau", "None")}
"""None asks for the smallest τ."""


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
        ("abc", "x0 = 'abc' is not an array of real numbers"),
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


def test_more_messages():
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


# ---- public functions and classes, one argument replaced by something invalid ------------------------------------

PENCIL, PCA = Pencil(A, B), Pencil(A)
PROGRAM = SparseGEV(PCA, 0.3, 1e-2)
X = np.random.default_rng(0).standard_normal((12, 3))
LABELS = np.repeat([0, 1], 6)

WRONG = {
    "none": None,
    "nan": np.nan,
    "minus one": -1,
    "half": 0.5,
    "text": "abc",
    "empty": [],
    "list of text": ["a"],
    "complex": 1j,
    "matrix": np.ones((7, 7)),
    "frame": pd.DataFrame({"a": ["x", "y"]}),
    "zero-dimensional": np.array(np.nan),
    "object": object(),
    "sparse": scipy.sparse.coo_array(([1.0], ([0], [0])), shape=(10**7, 10**7)),
    "function": lambda *args: None,
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
    dcgev_cvx.deflate: {"pencil": PCA, "x": a, "deflation": "projection", "earlier": None},
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
    dcgev_cvx.fisher_solve: {"a": a, "B": B, "k": 2, "names": None},
    exact.best_subset: {
        "pencil": PCA,
        "k": 2,
        "time_limit": 1.0,
        "node_limit": 9,
        "start": None,
        "progress": None,
    },
    exact.brute_force: {"pencil": PCA, "k": 2},
    exact.gev: {"pencil": PCA},
    bounds.homogeneous_bound: {"pencil": PCA, "k": 2, "U": A, "scale": "diagonal"},
    bounds.radius_bound: {"pencil": PCA, "radius": 1.0, "U": A},
    bounds.penalized_bound: {"pencil": PCA, "rho": 0.1, "U": A},
    bounds.largest_valid_k: {"pencil": PCA, "radius": 1.0},
    bounds.cheap_bound: {"pencil": PCA, "k": 2},
    explained_variance.projector_trace: {"pencil": PCA, "V": np.eye(3)[:, :2]},
    relaxations.homogeneous_sdp: {"pencil": PCA, "k": 2, "scale": "diagonal", "time_limit": 1.0, "force": False},
    relaxations.entrywise_sdp: {"pencil": PCA, "radius": 1.0, "k": None, "solver": None, "time_limit": 1.0},
    relaxations.literal_sdp: {"pencil": PCA, "radius": 1.0, "time_limit": 1.0},
    relaxations.pairwise_sdp: {"pencil": PCA, "k": 2, "time_limit": 1.0, "force": False},
    relaxations.literal_dual: {"pencil": PCA, "radius": 1.0},
    relaxations.radius_for: {"pencil": PCA, "k": 2, "rule": "paper"},
    relaxations.fisher_l1_penalized: {"a": a, "B": B, "nu": 0.1},
    rivals.spca_components: {"pencil": PCA, "lassos": [0.5], "ridge": 0.1},
    rivals.gpower: {"pencil": PCA, "k": 2, "start": "column", "tol": 1e-6, "max_iter": 50},
    datasets.planted_pca: {"n": 6, "k": 2, "strength": 2.0, "samples": None, "rng": 0},
    datasets.indefinite: {"n": 4, "dense_metric": False, "rng": 0},
    dcgev_cvx.fda_pencil: {"X": X, "y": LABELS, "ridge": 0.1},
}
ANY = {"U"}  # a dual matrix may be anything at all
TAKEN = {  # (argument, value) that are in order somewhere
    *((name, "none") for name in ("B", "tau", "penalty", "x0", "stop", "callback", "accelerate", "rhos", "earlier")),
    *((name, "none") for name in ("methods", "time_limit", "progress", "names", "start", "node_limit")),
    *((name, "none") for name in ("blocks", "solver", "level", "check_path", "k", "samples", "random_state")),
    *((name, "none") for name in ("options", "tol")),
    *((name, "function") for name in ("callback", "progress", "step", "stop")),
    *((name, "half") for name in ("rho", "eps", "tau", "nu", "radius", "tol", "step", "decrease", "stationarity")),
    *((name, "half") for name in ("ridge", "strength", "time_limit", "level")),
    *((name, "empty") for name in ("fallback", "history")),
    *((name, "matrix") for name in ("A", "X", "Y", "T")),
    ("known", "empty"),
    ("start", "none"),
    ("X", "sparse"),
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


@pytest.mark.parametrize("call", CALLS, ids=lambda call: getattr(call, "__qualname__", type(call).__name__))
def test_one_wrong_argument_at_a_time(call):
    good = CALLS[call]
    assert verdict(call, good) == "accepted"
    for name in [name for name in good if name not in ANY]:
        for kind, wrong in WRONG.items():
            found = verdict(call, {**good, name: wrong})
            if (name, kind) not in TAKEN:
                assert found == "refused", (name, kind)
            else:
                assert found in ("refused", "accepted"), (name, kind)


KINDS = {float: (decimal.Decimal, fractions.Fraction, np.longdouble, np.array), int: (np.int8, np.uint64)}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__qualname__)
def test_decimals_fractions_and_numpy_scalars_are_accepted(call):
    good = CALLS[call]
    for name, number in good.items():
        for kind in KINDS.get(type(number), ()):
            assert verdict(call, {**good, name: kind(number)}) == "accepted", (name, kind)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: dcgev_cvx.path(PCA, 3.0), r"rhos = 3.0 must list numbers of at least 0"),
        (lambda: dcgev_cvx.path(PCA, points=-1), "points = -1 must be a whole number of at least 1"),
        (lambda: dcgev_cvx.minimize(PROGRAM, soft_threshold_step, stop=5), "stop must be a Stop such as .*; got 5"),
        (lambda: dcgev_cvx.minimize(A, soft_threshold_step), "got ndarray"),
        (lambda: dcgev_cvx.minimize(PROGRAM, 5), "step must be a function.*got 5"),
        (lambda: certify(A, x0), "got ndarray"),
        (lambda: dcgev_cvx.components(A, [2]), "pencil must be a Pencil, got ndarray"),
        (lambda: exact.best_subset(PCA, 2, start=np.ones(7)), "start must have length 3"),
        (lambda: dcgev_cvx.compare(PCA, 2, methods=5), "no method was given"),
        (lambda: Pencil(A, names=5), "names = 5 must list 3 names"),
        (lambda: SparseGEV(PCA, 0.1, penalty=3), "penalty must be LogPenalty.*; got 3"),
        (lambda: dcgev_cvx.card_eps(a, -0.1), "eps = -0.1 is out of range"),
        (lambda: SparseGEV(PCA, 0.1, eps=1e-320), "eps = .* is out of range; it must be at least 1e-300"),
        (lambda: SparseGEV(PCA, 1e300), r"rho = 1e\+300 is too large"),
        (
            lambda: SparseGEV(Pencil(A * 1e-310), 0.0),
            r"max \|A\| = 4e-310 leaves the range of doubles. Divide A by 4e-310",
        ),
        (lambda: Pencil(A * 1e306), r"max \|A\| = 4e\+306 leaves the range of doubles. Divide A by 4e\+306"),
        (lambda: Pencil(A, A * 1e306), r"max \|B\| = 4e\+306 leaves the range of doubles. Divide B by 4e\+306"),
        (lambda: sparse_fda(a, np.eye(3), nu=0.1, x0=[4e20, 0.0, -1e20]), "x0 lies outside Ω: aᵀx0 = 0, not 1"),
        (lambda: sparse_fda(a, np.eye(3), nu=0.1, x0=[1e308, 1e308, -1e308]), "x0 lies outside Ω: aᵀx0 = "),
        (lambda: dcgev_cvx.Backend("x" * 10_000), "solver 'x{50,59} … is unknown"),
        (lambda: sparse_fda(a * 1e90, B * 1e-100, nu=0.1), r"Fisher ratios near 1e\+28"),
        (lambda: Pencil(A * 1e200, B * 1e-200), r"eigenvalues outside 1e-300 … 1e300"),
        (lambda: dcgev_cvx.Backend("SCS", options=5), "options = 5 must map"),
        (lambda: dcgev_cvx.DCPCA().fit([[np.nan, 1.0], [2.0, 3.0]]), "NaN"),
        (
            lambda: Pencil([[1.0, "2"], ["2", 1.0]]),
            r"A = \[\[1.0, '2'\], .* is not an array of real numbers: its dtype is <U32",
        ),
        (
            lambda: Pencil(np.array([[1.0, "2"], ["2", 1.0]], object)),
            r"A has 2 column\(s\) that are not numbers: 0, 1. Drop them or encode them",
        ),
        (
            lambda: Pencil(scipy.sparse.eye_array(10**5)),
            "A as a dense matrix is 100000×100000 and takes 80,000",
        ),
        (lambda: sparse_gev(A, rho=True), "rho = True is not a real number"),
        (lambda: sparse_gev(A, rho=np.ones(1)), r"rho = array\(\[1.\]\) is not a real number"),
        (lambda: dcgev_cvx.pca_pencil(pd.DataFrame({"z": [1j, 2j]})), r"1 column\(s\) that are not numbers: 'z'"),
        (lambda: dcgev_cvx.fda_pencil(X, "aaaaaabbbbbb"), "y = 'aaaaaabbbbbb' must be a sequence of class labels"),
        (lambda: dcgev_cvx.fda_pencil(X, LABELS.reshape(6, 2)), "must be a sequence of class labels, one per sample"),
        (lambda: dcgev_cvx.fda_pencil(X, np.ma.array(LABELS, mask=LABELS == 1)), "y has 6 missing labels"),
        (lambda: dcgev_cvx.fda_pencil(X, {0, 1}), "must be a sequence of class labels"),
        (lambda: dcgev_cvx.deflate(PCA, a, "hotelling", a[:2]), r"earlier must be \d+ × r, one column per component"),
        (lambda: dcgev_cvx.path(PCA, pd.DataFrame(A)), "rhos = .* must list numbers of at least 0"),
        (lambda: dcgev_cvx.components(PCA, {2, 1}), r"ks = \{1, 2\} must list one cardinality per component"),
        (lambda: Pencil(A, names=np.ones((3, 3))), "names = .* must list 3 names"),
        (lambda: datasets.planted_pca(6, 2, strength=2.0**63, samples=20), "strength = .* is out of range"),
        (lambda: relaxations.fisher_l1_penalized([5e-324, 0.0], None, 1.0), "4.94e-324: its square leaves the range"),
        (lambda: rivals.gpower(PCA, 2, tol=1e308), r"tol = 1e\+308 is out of range"),
        (lambda: plotting.plot_loadings(PCA, scipy.sparse.dok_array(A)), r"x must have length 3, got shape \(3, 3\)"),
        (lambda: DCPCA(k=[[1], [1, 2]]).fit(X), r"k = \[1\] must be a whole number"),
        (lambda: DCPCA(2, k=[1, [1, 2]]).fit(X), r"k = \[1, 2\] must be a whole number"),
        (lambda: dcgev_cvx.DCCCA().fit(X, X[:, :2]).score(X, None), "y is None: a score compares two views"),
        (lambda: dcgev_cvx.Backend("SCS").solve(None, []), "solver must be a name such as 'CLARABEL', got"),
        (lambda: Pencil(None), "A = None is not an array of real numbers"),
        (lambda: SparseGEV(PCA, 1e300, eps=1e-200), r"rho = 1e\+300 is too large at eps = 1e-200: .* raise eps"),
        (lambda: exact.brute_force(Pencil(Gram(np.ones((1, 16000)))), 8000), "has about 1e4814 supports, more than"),
        (lambda: datasets.planted_pca(rng=np.random.RandomState(0)), "rng = RandomState"),
        (lambda: datasets.planted_pca(rng="0"), "rng = '0' must be a whole number of at least 0"),
    ],
)
def test_messages(call, text):
    with pytest.raises(DCGEVError, match=text):
        call()


def test_small_integers_do_not_overflow():
    one, two = (datasets.planted_cca(kind(100), kind(100), kind(3), rng=1) for kind in (int, np.int8))
    assert np.array_equal(one.pencil.A, two.pencil.A)


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


@pytest.mark.parametrize("radius", [1e-300, 1e9, 1e150])
@pytest.mark.parametrize("sdp", [relaxations.entrywise_sdp, relaxations.literal_dual, relaxations.penalized_sdp])
def test_very_small_and_very_large_budgets_and_prices(sdp, radius):
    found = sdp(PCA, radius)
    assert 0.0 <= found.upper_bound <= PCA.lambda_max * (1.0 + 1e-9)
    assert found.value <= PCA.lambda_max * (1.0 + 1e-4)


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
def test_bounds_at_extreme_sizes(size):
    plain, scaled = (relaxations.homogeneous_sdp(Pencil(A * s), 2).upper_bound / s for s in (1.0, size))
    assert scaled == pytest.approx(plain, rel=1e-6)


@pytest.mark.parametrize("out", [None, 5, "x", np.zeros(2), np.nan])
def test_steps_that_return_something_else(out):
    result = dcgev_cvx.minimize(PROGRAM, lambda program, y: out)
    assert result.status.name == "SOLVER_FAILED"
    assert not result.converged
    assert result.message.startswith("step 1: the step returned ")


def test_a_panic_of_a_solver_is_a_failure(monkeypatch):
    import cvxpy as cp

    class Panic(BaseException):
        """As solvers in Rust raise it."""

    def panics(*args, **kwargs):
        raise Panic("Eigval error")

    monkeypatch.setattr(cp.Problem, "solve", panics)
    with pytest.raises(SolverFailed, match="Eigval error"):
        relaxations.homogeneous_sdp(PCA, 2)


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
        minimize(program, native_step, shrink="yes")


STEPS_BY_HAND = {
    "closed": lambda y: soft_threshold_step(SparseGEV(Pencil(np.diag([2.0, 1.0])), rho=0.1), y),
    "power": lambda y: power_step(SparseGEV(Pencil(np.diag([2.0, 1.0])), rho=0.0), y),
    "native": lambda y: native_step(BY_HAND, y),
    "cvxpy": lambda y: QCQPStep()(BY_HAND, y),
    "fisher": lambda y: native_step(SparseFDA([1.0, 1.0], np.eye(2), nu=0.1), y),
}
BY_HAND = SparseGEV(Pencil(np.diag([2.0, 1.0]), np.diag([1.0, 3.0])), rho=0.1, shift="metric")


@pytest.mark.parametrize("name", STEPS_BY_HAND)
@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.5], r"y must have length 2, got shape \(1,\)"),
        (np.array([0.5, np.nan]), "y has 1 entries that are NaN or infinite"),
        (np.array([0.5, 1j]), "y is complex"),
        (None, "y = None is not an array of real numbers"),
        ("ab", "y = 'ab' is not an array of real numbers"),
        ({0.5, 0.6}, "y = .* is not an array of real numbers"),
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
