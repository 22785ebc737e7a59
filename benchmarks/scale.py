"""How time and memory grow: large pencils, passes over the data, and the shift and start that come before."""

from __future__ import annotations

import resource
import tracemalloc
from collections.abc import Iterator

import numpy as np
import scipy.linalg

from dcgev_cvx import Gram, Pencil, SparseGEV, Stop, components, dc_pca, pca_pencil, solve, sparse_gev
from dcgev_cvx.algorithms import native_run
from dcgev_cvx.datasets import word_counts as word_count_data
from dcgev_cvx.search.path import rho_max

from .engine import cca_pencil_of
from .report import Measure, Skipped, at_least, at_most, installed, timed


def run(repeats: int) -> Iterator[Measure | Skipped]:
    """Every measure of the section."""
    yield from against_eigh(2000)
    for rows, columns in ((500, 5000), (1000, 10000)):
        yield passes_over_data(rows, columns)
    yield from growth((250, 500, 1000, 2000, 4000, 8000))
    yield retrieval_size()
    yield from wide_data()
    yield from word_counts(1_000_000, 100_000)


def against_eigh(n: int) -> Iterator[Measure]:
    """A whole native run, pencil, shift and start included, against one dense eigh(A, B)."""
    known = cca_pencil_of(n)
    A, B = known.dense()
    rho = 0.002 * rho_max(known)
    dense = timed(lambda: scipy.linalg.eigh(A, B), 1)
    whole = timed(lambda: sparse_gev(A, B, rho=rho, engine="native"), 1)
    part = timed(lambda: sparse_gev(known, rho=rho, engine="native", shift="metric"), 3)
    yield at_most(f"CCA n = {n}, whole run / eigh", whole / dense, "×", 0.5, f"eigh {dense:.2f} s, run {whole:.2f} s")
    yield at_most(f"CCA n = {n}, MM part / eigh", part / dense, "×", 0.05, f"MM {part:.3f} s")


def passes_over_data(rows: int, columns: int) -> Measure:
    """DC-PCA at a ρ̃ that keeps about 100 variables, in units of one C@x and one Cᵀ@u."""
    C = np.random.default_rng(0).standard_normal((rows, columns))
    pencil = Pencil(Gram(C))
    x = pencil.leading_vector
    C = pencil.A_factor()
    one = timed(lambda: C.T @ (C @ x), 15)
    low, high = 0.0, rho_max(pencil)
    for _ in range(30):
        rho = 0.5 * (low + high)
        kept = len(dc_pca(pencil, rho=rho, engine="native", stop=Stop(max_iter=200)).support)
        if 90 <= kept <= 110:
            break
        low, high = (rho, high) if kept > 100 else (low, rho)
    result = dc_pca(pencil, rho=rho, engine="native")
    seconds = timed(lambda: dc_pca(pencil, rho=rho, engine="native"), 5)
    detail = (
        f"{len(result.support)} variables, {result.n_iter} steps, {result.passes:.1f} passes counted, {seconds:.3f} s"
    )
    return at_most(f"DC-PCA {rows}×{columns}", seconds / one, "passes", 30.0, detail)


def growth(sizes: tuple[int, ...]) -> Iterator[Measure]:
    """Seconds per MM iteration in units of one product Ax, and the memory of a run in units of the data."""
    rows = [row_of_growth(n) for n in sizes]
    for n, (steps, seconds, product, memory) in zip(sizes, rows, strict=True):
        detail = f"{1e3 * seconds:.2f} ms per step, {steps} steps; one product {1e3 * product:.2f} ms"
        yield Measure(f"CCA n = {n}, time per step", seconds / product, "products", detail=detail)
        yield at_most(f"CCA n = {n}, memory of the run", memory, "of the data", 1.0)
    (_, first, small, _), (_, last, large, _) = rows[0], rows[-1]
    name = f"n = {sizes[0]} to {sizes[-1]}: growth of a step / of a product"
    yield at_most(name, (last / first) / (large / small), "×", 1.0)


def row_of_growth(n: int) -> tuple[int, float, float, float]:
    """(steps, seconds per step, seconds of a product, bytes of the run over bytes of the data)."""
    pencil = cca_pencil_of(n, samples=500)
    rho = 0.002 * rho_max(pencil)
    program = SparseGEV(pencil, rho, shift="metric")
    x = program.start()
    steps = native_run(program, x).n_iter
    seconds = timed(lambda: native_run(program, x), 3) / steps
    product = timed(lambda: pencil.A_dot(pencil.leading_vector), 15)
    tracemalloc.start()
    native_run(program, x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return steps, seconds, product, peak / sum(matrix.nbytes for matrix in pencil.dense())


def retrieval_size() -> Measure:
    """One sparse canonical pair of two 1800 × 1800 kernel matrices."""
    pencil = cca_pencil_of(3600, samples=900)
    seconds = timed(lambda: solve(pencil, 400, effort="quick"), 1)
    return at_most("CCA 1800 + 1800, solve(k = 400)", seconds, "s", 30.0)


def wide_data() -> Iterator[Measure]:
    """127 × 16063: solve(k = 50) without a matrix of 16063²."""
    rng = np.random.default_rng(0)
    C = rng.standard_normal((127, 16063))
    C[:, :50] += 0.5 * rng.standard_normal((127, 1))
    seconds = timed(lambda: solve(Pencil(Gram(C)), 50), 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield at_most("127×16063, solve(k = 50)", seconds, "s", 3.0)
    yield Measure("peak memory of the whole section", peak, "MiB")


def word_counts(documents: int, words: int) -> Iterator[Measure | Skipped]:
    """Five sparse components of word counts that stay sparse, against scikit-learn's TruncatedSVD."""
    X, topics = word_count_data(documents, words)
    size = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20
    tracemalloc.start()
    found = components(pca_pencil(X), [10] * 5)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    seconds = timed(lambda: components(pca_pencil(X), [10] * 5), 1)
    name = f"word counts {documents}×{words}, {X.nnz:.1e} nonzeros, five components"
    right = len({s.support for s in found.solutions} & {tuple(topic) for topic in topics.tolist()})
    yield at_least(f"{name}: planted topics found", right, "of 5", 5)
    yield at_most(f"{name}: time", seconds, "s", 60.0)
    yield at_most(f"{name}: memory beside the data / data", peak / size, "×", 1.0, f"data {size:.0f} MB")
    if not installed("scikit-learn"):
        yield Skipped("TruncatedSVD", "pip install scikit-learn")
        return
    from sklearn.decomposition import TruncatedSVD

    dense = timed(lambda: TruncatedSVD(5, random_state=0).fit(X), 1)
    yield at_most(f"{name}: time / TruncatedSVD(5)", seconds / dense, "×", 1.0, f"TruncatedSVD {dense:.1f} s")
