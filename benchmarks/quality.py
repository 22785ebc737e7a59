"""How good the answers are: against exhaustive search on small problems, against peers on large ones."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable, Iterator
from importlib import import_module
from time import perf_counter, process_time
from typing import TypeAlias

import numpy as np

from dcgev_cvx import Gram, Pencil, solve
from dcgev_cvx._numerics.checks import Matrix, Vector
from dcgev_cvx._numerics.selection import keep_largest
from dcgev_cvx.builders import cca_pencil
from dcgev_cvx.certificates import renormalize, value
from dcgev_cvx.search.exchange import ExchangeSearch, support_values
from dcgev_cvx.search.solve import EFFORTS, Limits
from dcgev_cvx.search.starts import column_supports

from .report import Measure, Skipped, at_least, at_most, installed, timed

PROBLEMS = 100
OLD_SEEDS, NEW_SEEDS = range(10), range(100, 120)
"""Seeds that were looked at while `solve` was written, and seeds that no setting was chosen on."""
MODULES = {"scikit-learn": "sklearn.decomposition", "abess": "abess.decomposition", "sparsepca": "sparsepca"}
Peer: TypeAlias = Callable[[], Vector]


def run(repeats: int) -> Iterator[Measure | Skipped]:
    """Every measure of the section."""
    for seeds in (range(PROBLEMS), NEW_SEEDS):
        for name, make in (("PCA 20×14", pca_of), ("CCA 7+7", cca_of)):
            yield from against_enumeration(f"{name}, {seed_range(seeds)}", make, seeds, range(2, 9))
    for seeds in (OLD_SEEDS, NEW_SEEDS):
        for name, make in (("PCA 20×18", wider_pca), ("CCA 9+9", wider_cca)):
            yield from against_enumeration(f"{name}, {seed_range(seeds)}", make, seeds, range(7, 10))
    yield from ill_conditioned_metrics()
    yield from spectra()
    yield from standardised_data()
    yield from large_pca(62, 2000, 200, 0.495, repeats)
    yield from large_pca(500, 5000, 500, 0.525, repeats)
    yield from many_genes(repeats)
    yield from many_variables(repeats)


def seed_range(seeds: range) -> str:
    """The seeds as a label."""
    return f"seeds {seeds[0]}–{seeds[-1]}"


def pca_of(seed: int, n: int = 14) -> Pencil:
    """The covariance of 20 Gaussian samples of n variables."""
    X = np.random.default_rng(seed).standard_normal((20, n))
    X -= X.mean(axis=0)
    return Pencil(X.T @ X / 20)


def cca_of(seed: int, h: int = 7) -> Pencil:
    """Two views of h variables sharing two factors, 60 samples."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((60, 2))
    views = [Z @ rng.standard_normal((2, h)) * 0.5 + rng.standard_normal((60, h)) for _ in range(2)]
    return cca_pencil(*views, ridge=0.01)


def wider_pca(seed: int) -> Pencil:
    """The same with 18 variables."""
    return pca_of(seed, 18)


def wider_cca(seed: int) -> Pencil:
    """The same with 9 + 9 variables."""
    return cca_of(seed, 9)


def against_enumeration(name: str, make: Callable[[int], Pencil], seeds: range, ks: range) -> Iterator[Measure]:
    """solve(k) over the best of all supports."""
    ratios: list[float] = []
    begin = perf_counter()
    spent = 0.0
    for seed, k in itertools.product(seeds, ks):
        pencil = make(seed)
        best = best_of_supports(pencil, k)
        before = perf_counter()
        ratios.append(solve(pencil, k, check_path=False).value / best)
        spent += perf_counter() - before
    found = np.array(ratios)
    detail = f"{len(found)} problems, {1e3 * spent / len(found):.1f} ms each, {perf_counter() - begin:.0f} s in all"
    yield at_least(f"{name}: mean share of the optimum", float(found.mean()), "", 0.999, detail)
    yield at_least(f"{name}: solved exactly", 100.0 * float(np.mean(found > 1.0 - 1e-9)), "%", 95.0)
    yield at_least(f"{name}: worst share", float(found.min()), "", 0.97)


def best_of_supports(pencil: Pencil, k: int) -> float:
    """The optimum by exhaustive search, some thousand supports at a time."""
    supports = np.array(list(itertools.combinations(range(pencil.n), k)))
    parts = np.array_split(supports, 1 + len(supports) // 5000)
    return max(float(np.max(support_values(pencil, part))) for part in parts)


def longer(pencil: Pencil, k: int, times: int) -> float:
    """The value of a search with a patience and a budget so many times those of normal effort, on another seed."""
    normal = EFFORTS["normal"]
    EFFORTS["normal"] = Limits(times * normal.work, times * normal.patience)
    try:
        return solve(pencil, k, random_state=1, check_path=False).value
    finally:
        EFFORTS["normal"] = normal


def ill_conditioned_metrics() -> Iterator[Measure]:
    """Wishart A and B with cond(B) = 1e6, where large values come from many variables together; n = 64, k = 8."""
    shares: list[list[float]] = []
    for seed in NEW_SEEDS[:10]:
        rng = np.random.default_rng(seed)
        Q = np.linalg.qr(rng.standard_normal((64, 64)))[0]
        pencil = Pencil(np.cov(rng.standard_normal((74, 64)).T, bias=True), (Q * np.geomspace(1e-6, 1.0, 64)) @ Q.T)
        values = [solve(pencil, 8, effort=effort, check_path=False).value for effort in ("quick", "normal")]
        best = max(*values, longer(pencil, 8, 5))
        shares.append([found / best for found in values])
    for effort, share in zip(("quick", "normal"), np.mean(shares, axis=0), strict=True):
        yield at_least(f"cond(B) = 1e6, n = 64, k = 8, {effort}: mean share of a 5× longer search", share, "", 0.99)


def spectra() -> Iterator[Measure]:
    """60 smooth spectra at 401 wavelengths, whose neighbours are nearly equal; k = 20."""
    shortfalls: list[float] = []
    for seed in NEW_SEEDS[:5]:
        rng, at = np.random.default_rng(seed), np.linspace(0.0, 1.0, 401)
        peaks = np.exp(-0.5 * ((at - rng.uniform(0, 1, (12, 1))) / rng.uniform(0.01, 0.08, (12, 1))) ** 2)
        X = rng.standard_normal((60, 12)) @ peaks + 0.002 * rng.standard_normal((60, 401))
        pencil = Pencil(Gram(X - X.mean(axis=0)))
        found, best = solve(pencil, 20).value, longer(pencil, 20, 100)
        shortfalls.append(max(0.0, 1.0 - found / best))
    worst = f"largest {max(shortfalls):.1e}"
    yield at_most("spectra, n = 401: median below a 100× longer search", float(np.median(shortfalls)), "", 1e-4, worst)


def standardised_data() -> Iterator[Measure]:
    """Small groups in 60 samples of standardised variables, against exchanges from the best dozen columns of A."""
    ratios: list[float] = []
    for seed, n, k in itertools.product(NEW_SEEDS[:4], (456, 2000, 6830), (3, 10, 20)):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, n))
        for group in rng.permutation(n)[:160].reshape(20, 8):
            X[:, group] = rng.standard_normal((60, 1)) + rng.uniform(0.1, 0.8) * X[:, group]
        X -= X.mean(axis=0)
        pencil = Pencil(Gram(X / np.linalg.norm(X, axis=0)))
        starts = column_supports(pencil, ((np.arange(n), k),), np.arange(n), 12)
        scan = ExchangeSearch(pencil, k).improve(np.array(starts))[1]
        ratios.append(solve(pencil, k).value / float(np.max(scan)))
    yield at_least("standardised, n = 456–6830, k = 3–20: least over a scan", min(ratios), "×", 1.0 - 1e-9)


def large_pca(rows: int, columns: int, k: int, least: float, repeats: int) -> Iterator[Measure | Skipped]:
    """The first sparse component of Gaussian data at 10 % nonzeros, as a share of the dense variance.

    Each peer is run once; every vector is cut to its k largest entries and renormalized by the same referee.
    """
    X = np.random.default_rng(0).standard_normal((rows, columns))
    X -= X.mean(axis=0)
    top = float(np.linalg.norm(X, 2)) ** 2
    size = f"{rows}×{columns}, k = {k}"
    seconds = timed(lambda: solve(Pencil(Gram(X)), k), repeats)
    share = solve(Pencil(Gram(X)), k).value / top
    yield at_least(f"{size}: solve", share, "of λmax", least)
    yield at_most(f"{size}: solve, start included", seconds, "s", 2.0)
    for peer, call in peers(X, k).items():
        if isinstance(call, Skipped):
            yield call
            continue
        begin = perf_counter()
        x = np.array(call())
        slow = perf_counter() - begin
        x = keep_largest(x, k)
        theirs = value(Pencil(Gram(X)), renormalize(Pencil(Gram(X)), x)) / top
        yield at_least(f"{size}: time of {peer} over solve", slow / seconds, "×", 100.0, f"{slow:.1f} s")
        yield at_least(f"{size}: variance of solve over {peer}", share / theirs, "×", 1.0, f"{theirs:.4f} of λmax")


def peers(X: Matrix, k: int) -> dict[str, Peer | Skipped]:
    """The peers of a size: scikit-learn for both, abess in covariance form for n = 2000, A-ManPG for n = 5000."""
    wide: tuple[str, str, Peer] = ("abess", "abess (covariance)", lambda: abess_component(X, k))
    wider: tuple[str, str, Peer] = ("sparsepca", "A-ManPG", lambda: amanpg_component(X))
    first: tuple[str, str, Peer] = ("scikit-learn", "scikit-learn's SparsePCA", lambda: sklearn_component(X))
    found: dict[str, Peer | Skipped] = {}
    for package, name, call in (first, wide if X.shape[1] <= 2000 else wider):
        found[name] = call if installed(package) else Skipped(name, f"pip install {package}")
        if installed(package):
            import_module(MODULES[package])  # loading is not part of anyone's time
    return found


def sklearn_component(X: Matrix) -> Vector:
    """One component of scikit-learn's SparsePCA at its default penalty."""
    from sklearn.decomposition import SparsePCA

    return np.asarray(SparsePCA(n_components=1, alpha=1.0, random_state=0).fit(X).components_[0])


def abess_component(X: Matrix, k: int) -> Vector:
    """abess's SparsePCA in its covariance form; a ridge of 1e-8 keeps rounding from making Sigma indefinite."""
    from abess.decomposition import SparsePCA

    model = SparsePCA(support_size=k).fit(Sigma=X.T @ X / len(X) + 1e-8 * np.eye(X.shape[1]))
    return np.asarray(model.coef_).ravel()


def amanpg_component(X: Matrix) -> Vector:
    """A-ManPG by its authors (PyPI: sparsepca), λ₂ = ∞ and λ₁ = 230, which leaves about 800 nonzeros on 500×5000.

    Of 230, 250, 260 and 270 it is the best once the 500 largest loadings are kept. The start is the leading right
    singular vector, the one that its documentation names.
    """
    from sparsepca import spca

    start = np.linalg.svd(X, full_matrices=False)[2][:1].T
    found = spca(X, np.array([[230.0]]), np.inf, x0=start, y0=start, k=1, normalize=False)
    return np.asarray(found["loadings"]).ravel()


def many_genes(repeats: int) -> Iterator[Measure]:
    """127×16063 data with 50 planted variables: time, and the memory beside the data; no n × n matrix is formed."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((127, 16063))
    X[:, :50] += rng.standard_normal((127, 1))
    X -= X.mean(axis=0)
    pencil = Pencil(Gram(X))
    seconds = timed(lambda: solve(Pencil(Gram(X)), 50), repeats)
    tracemalloc.start()
    right = len(set(range(50)) & set(solve(pencil, 50).support))
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    yield at_least("127×16063, k = 50: planted variables found", right, "of 50", 50)
    yield at_most("127×16063, k = 50: solve", seconds, "s", 3.0)
    yield at_most("127×16063, k = 50: peak memory of solve", peak, "MB", 500.0)


def two_views(seed: int) -> tuple[tuple[Matrix, Matrix], tuple[Matrix, Matrix]]:
    """Training and test views, 100 and 2000 samples of 500 + 500 variables, five of each share one factor."""
    rng = np.random.default_rng(seed)

    def draw(samples: int) -> tuple[Matrix, Matrix]:
        z = rng.standard_normal((samples, 1))
        X, Y = rng.standard_normal((samples, 500)), rng.standard_normal((samples, 500))
        X[:, :5] += z
        Y[:, :5] += z
        return X, Y

    return draw(100), draw(2000)


def held_out_correlation(test: tuple[Matrix, Matrix], wx: Vector, wy: Vector) -> float:
    """The correlation of the two scores on the test samples."""
    return float(np.corrcoef(test[0] @ wx, test[1] @ wy)[0, 1])


def many_variables(repeats: int) -> Iterator[Measure | Skipped]:
    """Sparse CCA with k = 10: the value against that of the ten planted variables, and what the ridge decides.

    With fewer samples than variables and a ridge of 0.5 the support with the largest value on the samples is not the
    planted one, and `solve` is right to prefer it: that is a matter of the covariances' estimate, not of the search.
    With a ridge of 5, ten times the noise, the planted variables are the optimum.
    """
    planted = [*range(5), *range(500, 505)]
    train, test = two_views(0)
    for ridge, seeds in ((0.5, OLD_SEEDS), (5.0, OLD_SEEDS), (5.0, NEW_SEEDS)):
        name = f"CCA 100×(500+500), ridge {ridge:g}, {seed_range(seeds)}"
        pencils = [cca_pencil(*two_views(seed)[0], ridge=ridge) for seed in seeds]
        found = [solve(pencil, 10) for pencil in pencils]
        best = [support_values(pencil, np.array([planted]))[0] for pencil in pencils]
        share = min(f.value / b for f, b in zip(found, best, strict=True))
        yield at_least(f"{name}: worst value over that of the ten planted", share, "×", 1.0 - 1e-9)
        if ridge > 1.0:
            hits = sum(list(f.support) == planted for f in found)
            yield at_least(f"{name}: exactly the ten", hits, f"of {len(found)}", len(found))
    for ridge in ("auto", 5.0):
        pencil = cca_pencil(*train, ridge=ridge)
        begin = process_time()
        right = len({*planted} & {*solve(pencil, 10).support})
        yield at_most(f"CCA 100×(500+500), ridge {ridge}: CPU of solve", process_time() - begin, "s", 1.0)
        yield at_least(f"CCA 100×(500+500), ridge {ridge}: planted variables", right, "of 10", 10)
    x = solve(pencil, 10).x
    yield at_least("CCA 100×(500+500): test correlation", held_out_correlation(test, x[:500], x[500:]), "", 0.825)
    if not installed("cca-zoo"):
        yield Skipped("cca-zoo", "pip install cca-zoo")
        return
    wx, wy = zoo_weights(train)
    right = np.count_nonzero(wx[:5]) + np.count_nonzero(wy[:5])
    detail = f"{timed(lambda: zoo_weights(train), 1):.2f} s, {right} of 10 planted"
    theirs = held_out_correlation(test, wx, wy)
    yield Measure("CCA 100×(500+500): test correlation of cca-zoo's SpanCCA", theirs, "", detail=detail)


def zoo_weights(train: tuple[Matrix, Matrix]) -> tuple[Vector, Vector]:
    """cca-zoo's SpanCCA with five weights kept in each view, the setting that names the cardinality."""
    from cca_zoo.sparse import SpanCCA

    wx, wy = (np.asarray(weights)[:, 0] for weights in SpanCCA(span=5, random_state=0).fit(list(train)).weights_)
    return wx, wy
