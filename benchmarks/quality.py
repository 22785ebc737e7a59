"""How good the answers are: against exhaustive search on small problems, against peers on large ones."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import Any

import numpy as np

from dcgev_cvx import Gram, Pencil, solve
from dcgev_cvx.checks import Vector
from dcgev_cvx.postprocess import renormalize, value
from dcgev_cvx.swaps import support_values

from .report import Measure, Skipped, at_least, at_most, installed

PROBLEMS = 100


def run(repeats: int) -> Iterator[Measure | Skipped]:
    """Every measure of the section."""
    for name, make in (("PCA 20×14", pca_of), ("CCA 7+7", cca_of)):
        yield from against_enumeration(name, make)
    yield from large_pca(62, 2000, 200, 0.495)
    yield from large_pca(500, 5000, 500, 0.525)
    yield from many_variables()


def pca_of(seed: int) -> Pencil:
    """The covariance of 20 Gaussian samples of 14 variables."""
    X = np.random.default_rng(seed).standard_normal((20, 14))
    X -= X.mean(axis=0)
    return Pencil(X.T @ X / 20)


def cca_of(seed: int) -> Pencil:
    """Two views of seven variables sharing two factors, 60 samples."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((60, 2))
    views = [Z @ rng.standard_normal((2, 7)) * 0.5 + rng.standard_normal((60, 7)) for _ in range(2)]
    S = np.cov(np.hstack(views).T, bias=True)
    A, B = S.copy(), S.copy()
    A[:7, :7] = A[7:, 7:] = 0.0
    B[:7, 7:] = 0.0
    B[7:, :7] = 0.0
    return Pencil(A, B + 0.01 * np.eye(14))


def against_enumeration(name: str, make: Callable[[int], Pencil]) -> Iterator[Measure]:
    """solve(k) over the best of all supports, k = 2 … 8."""
    ratios: list[float] = []
    begin = perf_counter()
    spent = 0.0
    for seed, k in itertools.product(range(PROBLEMS), range(2, 9)):
        pencil = make(seed)
        best = float(np.max(support_values(pencil, np.array(list(itertools.combinations(range(14), k))))))
        before = perf_counter()
        ratios.append(solve(pencil, k, check_path=False).value / best)
        spent += perf_counter() - before
    found = np.array(ratios)
    detail = f"{len(found)} problems, {1e3 * spent / len(found):.1f} ms each, {perf_counter() - begin:.0f} s in all"
    yield at_least(f"{name}, mean share of the optimum", float(found.mean()), "", 0.999, detail)
    yield at_least(f"{name}, solved exactly", 100.0 * float(np.mean(found > 1.0 - 1e-9)), "%", 95.0)
    yield at_least(f"{name}, worst share", float(found.min()), "", 0.97)


def large_pca(rows: int, columns: int, k: int, least: float) -> Iterator[Measure | Skipped]:
    """The first sparse component of Gaussian data at 10 % nonzeros, as a share of the dense variance."""
    X = np.random.default_rng(0).standard_normal((rows, columns))
    X -= X.mean(axis=0)
    top = float(np.linalg.norm(X, 2)) ** 2
    pencil = Pencil(Gram(X))

    def ours() -> Vector:
        return solve(Pencil(Gram(X)), k).x

    ours()
    share, seconds = judged(pencil, ours, top)
    yield at_least(f"{rows}×{columns}, k = {k}: solve", share, "of λmax", least)
    yield at_most(f"{rows}×{columns}, k = {k}: solve", seconds, "s", 2.0)
    for peer, call in peers(X, k).items():
        if isinstance(call, Skipped):
            yield call
            continue
        theirs, slow = judged(pencil, call, top, k)
        yield at_least(f"{rows}×{columns}: {peer} / solve, time", slow / seconds, "×", 100.0, f"{slow:.1f} s")
        yield at_least(f"{rows}×{columns}: solve over {peer}, variance", share / theirs, "×", 1.0, f"{theirs:.4f}")


def judged(pencil: Pencil, call: Callable[[], Vector], top: float, k: int | None = None) -> tuple[float, float]:
    """(share of λmax after renormalization, seconds); a peer's vector is cut to its k largest entries."""
    begin = perf_counter()
    x = np.array(call())
    seconds = perf_counter() - begin
    if k is not None:
        x[np.argsort(np.abs(x))[:-k]] = 0.0
    return value(pencil, renormalize(pencil, x)) / top, seconds


def peers(X: np.ndarray[Any, Any], k: int) -> dict[str, Callable[[], Vector] | Skipped]:
    """Each peer at its documented setting, its penalty chosen beforehand for about k nonzeros."""
    found: dict[str, Callable[[], Vector] | Skipped] = {}
    if installed("scikit-learn"):
        found["scikit-learn SparsePCA"] = lambda: sklearn_component(X)
    if len(X) >= 200:
        return found
    if installed("abess"):
        found["abess (covariance)"] = lambda: abess_component(X, k)
    else:
        found["abess"] = Skipped("abess", "pip install '.[bench]'")
    return found


def sklearn_component(X: np.ndarray[Any, Any]) -> Vector:
    """One component of scikit-learn's SparsePCA at its default penalty."""
    from sklearn.decomposition import SparsePCA

    return np.asarray(SparsePCA(n_components=1, alpha=1.0, random_state=0).fit(X).components_[0])


def abess_component(X: np.ndarray[Any, Any], k: int) -> Vector:
    """abess's SparsePCA in its covariance form, which it needs when there are more variables than samples."""
    from abess.decomposition import SparsePCA

    model = SparsePCA(support_size=k).fit(Sigma=X.T @ X / len(X))
    return np.asarray(model.coef_).ravel()


def many_variables() -> Iterator[Measure]:
    """Sparse CCA, 100 samples of 500 + 500 variables, the first five of each sharing one factor, ridge 0.5."""
    rng = np.random.default_rng(0)

    def draw(samples: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        z = rng.standard_normal((samples, 1))
        X, Y = rng.standard_normal((samples, 500)), rng.standard_normal((samples, 500))
        X[:, :5] += z
        Y[:, :5] += z
        return X, Y

    train, test = draw(100), draw(2000)
    S = np.cov(np.hstack(train).T, bias=True)
    A, B = S.copy(), S.copy()
    A[:500, :500] = A[500:, 500:] = 0.0
    B[:500, 500:] = 0.0
    B[500:, :500] = 0.0
    solve(Pencil(A, B + 0.5 * np.eye(1000)), 10)
    begin = perf_counter()
    found = solve(Pencil(A, B + 0.5 * np.eye(1000)), 10)
    seconds = perf_counter() - begin
    right = len({*range(5), *range(500, 505)} & set(found.support))
    correlation = float(np.corrcoef(test[0] @ found.x[:500], test[1] @ found.x[500:])[0, 1])
    yield at_least("CCA 100×(500+500): planted variables found", right, "of 10", 10)
    yield at_least("CCA 100×(500+500): test correlation", correlation, "", 0.825)
    yield at_most("CCA 100×(500+500): solve", seconds, "s", 3.0)
