"""The methods of Section 4 under one shape: find k on data, then time one run at the parameter that was found."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from statistics import median
from time import perf_counter, process_time
from types import MappingProxyType
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..certificates import on_support, value
from ..errors import InvalidParameter
from ..pencils import Gram, Pencil
from ..rivals.gpower import ascend, gamma_max
from ..rivals.sparse_pca import Run, factor, largest, search_penalty, trimmed
from ..rivals.spca import penalized
from ..search.oneshot import Schedule, one_shot
from .descent import descend, rho_max
from .onesided import descend_one_sided, one_sided_max
from .starts import given_start, krylov_start

TOL = 1e-4
"""The stopping tolerance of GPower's authors, used for DC-PCA as well: the rise of the objective."""

clock: Callable[[], float] = process_time if os.name == "posix" else perf_counter
"""CPU time, which other work on the machine hardly disturbs; Windows counts it in steps of 16 ms, too coarse."""

ROUNDS = 60
"""The most rounds of timed runs."""

SCHEDULE = Schedule((30.0, 10.0, 3.0, 1.0, 0.3), 6)
"""A short ε-continuation for one-shot cardinality: only the support is wanted, the loadings are recomputed."""


@dataclass(frozen=True)
class Answer:
    """What a method made of k: variance with its own loadings (raw) and with the best on its support.

    seconds is one run at a fixed parameter, start included, which is what the paper times;
    total is the search for the parameter.

    exact says whether some parameter gave k exactly (within the slack that was allowed); steps and passes over the
    data are those of the timed run, runs those of the search.
    """

    k: int
    variance: float
    raw: float
    seconds: float
    total: float
    exact: bool
    steps: int
    runs: int
    passes: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Prepared:
    """A method that has found its parameter: the answer, not timed yet, and the run to be timed."""

    answer: Answer
    again: Callable[[], object]


def gpower(pencil: Pencil, k: int, slack: int = 0) -> Prepared:
    """GPower ℓ0 on data (Eq:journee)."""
    C = factor(pencil)
    return prepared(pencil, k, lambda gamma: ascend(C, gamma, tol=TOL), gamma_max(C, "l0"), slack)


def dc_pca(pencil: Pencil, k: int, slack: int = 0) -> Prepared:
    """DC-PCA on data as it is printed, started near the longest column (ALG-S)."""
    C = factor(pencil)
    return prepared(pencil, k, lambda rho: descend(C, rho, krylov_start(C), tol=TOL), rho_max(krylov_start(C)), slack)


def dc_pca_one_sided(pencil: Pencil, k: int, slack: int = 0) -> Prepared:
    """The same with the tighter majoriser (beyond the paper)."""
    C = factor(pencil)
    high = one_sided_max(krylov_start(C))
    return prepared(pencil, k, lambda rho: descend_one_sided(C, rho, krylov_start(C), tol=TOL), high, slack)


def dc_pca_leading(pencil: Pencil, k: int, slack: int = 0) -> Prepared:
    """DC-PCA on data from the leading eigenvector, which is given and not timed (ALG-S)."""
    C = factor(pencil)
    start = given_start(C, pencil.leading_vector)
    return prepared(pencil, k, lambda rho: descend(C, rho, start, tol=TOL), rho_max(start), slack)


def spca(pencil: Pencil, k: int, slack: int = 0) -> Prepared:
    """SPCA as an elastic net on data, ridge λmax(A) (Eq:EN-SPCA).

    Beginning the search near the right size saves runs at penalties that are far too large.
    """
    ridge = pencil.lambda_max
    correlation = np.sort(np.abs(pencil.A @ pencil.leading_vector))
    # 2|cᵢ| of the k-th variable is where k would survive the first regression: the search begins there
    high = 2.0 * min(float(correlation[-1]), 2.0 * float(correlation[-k]))
    return prepared(pencil, k, lambda lasso: penalized(pencil, ridge, lasso), high, slack)


def dc_one_shot(pencil: Pencil, k: int, slack: int = 0) -> Prepared:
    """d.c. steps that keep k coordinates each: no parameter and no search (beyond the paper).

    k is met exactly, whatever the slack.
    """
    C = factor(pencil)

    def run() -> Vector:
        return one_shot(pencil, k, krylov_start(C).x, SCHEDULE)[0]

    x = run()
    best, steps = on_support(pencil, np.flatnonzero(x)), len(SCHEDULE.levels) * SCHEDULE.steps
    answer = Answer(
        int(np.count_nonzero(x)), value(pencil, best), value(pencil, x), 0.0, 0.0, exact=True, steps=steps, runs=0
    )
    return Prepared(answer, run)


ONE_SIDED = "DC-PCA, one-sided"

METHODS: Mapping[str, Callable[[Pencil, int, int], Prepared]] = MappingProxyType(
    {
        "SPCA": spca,
        "GPower": gpower,
        "DC-PCA": dc_pca,
        ONE_SIDED: dc_pca_one_sided,
        "d.c. one-shot": dc_one_shot,
    }
)
"""The three methods that the paper compares on large data, and two that it does not have."""

PAPER = ("SPCA", "GPower", "DC-PCA")


def prepared(pencil: Pencil, k: int, run: Callable[[float], Run], high: float, slack: int) -> Prepared:
    """Search the parameter, and keep the run at it to be timed."""
    begin = clock()
    found = search_penalty(run, high, k, pencil.n, slack=slack)
    total = clock() - begin
    near = abs(int(np.count_nonzero(found.run.x)) - k) <= slack
    x = found.run.x if near else trimmed(found.run.x, k)
    count = int(np.count_nonzero(x))
    best = on_support(pencil, largest(np.abs(x), count)) if count else pencil.leading_vector
    raw = value(pencil, x) if count else 0.0
    steps, passes = found.run.steps, found.run.passes
    answer = Answer(count, value(pencil, best), raw, 0.0, total, found.exact, steps, found.runs, passes)
    return Prepared(answer, lambda: run(found.parameter))


def timed(methods: Mapping[str, Prepared], repeats: int = 1, patience: float = 0.0) -> dict[str, Answer]:
    """The median of a few runs of each method, taken in turn: what disturbs one round disturbs all of them.

    Each is run once more before, untimed. SPCA, which takes as long as all the others together many times over, is
    run once.

    Parameters
    ----------
    repeats
        Rounds that are taken in any case.
    patience
        Rounds go on until so many seconds have passed, at most ROUNDS of them: runs of a millisecond would otherwise
        all fall into one disturbance.
    """
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    first = perf_counter()
    for turn in range(max(repeats, ROUNDS)):
        if turn >= repeats and perf_counter() - first >= patience:
            break
        for name, method in methods.items():
            if name == "SPCA" and turn > 0:
                continue
            if name != "SPCA":
                method.again()  # what the method before left of caches and memory is not its doing
            begin = clock()
            method.again()
            seconds[name].append(clock() - begin)
    return {name: with_time(method.answer, median(seconds[name])) for name, method in methods.items()}


def with_time(answer: Answer, seconds: float) -> Answer:
    """The answer with the time of its run, which is all there is where nothing was searched."""
    return replace(answer, seconds=seconds, total=answer.total if answer.runs else seconds)


def compared(pencil: Pencil, k: int, slack: int, repeats: int, *, spca: bool) -> dict[str, Any]:
    """Every method at one cardinality, the d.c. methods at the one that GPower came to, to half a per cent.

    Variances are compared, and at another cardinality the variance is another.
    """
    found: dict[str, Prepared] = {}
    for name, method in METHODS.items():
        if name in PAPER[:2]:
            if name != "SPCA" or spca:
                found[name] = method(pencil, k, slack)
        else:
            theirs = found["GPower"].answer.k
            found[name] = method(pencil, theirs, theirs // 200)
    answers = timed(found, repeats, patience=0.1 * (repeats - 1))
    return {"trace": trace(pencil), "methods": {name: answer.to_dict() for name, answer in answers.items()}}


def gaussian(p: int, n: int, seed: list[int]) -> Matrix:
    """A p × n matrix of standard normals, as in Section 4.4.2.

    seed is a list, so that (seed, size, instance) give independent streams.
    """
    return np.random.default_rng(seed).standard_normal((p, n))


def gaussian_pencil(p: int, n: int, seed: list[int]) -> Pencil:
    """A = CᵀC of a Gaussian C, not formed."""
    return Pencil(Gram(gaussian(p, n, seed)))


def trace(pencil: Pencil) -> float:
    """tr A, the total variance."""
    return pencil.A.trace() if isinstance(pencil.A, Gram) else float(np.trace(pencil.A))


def loadings(x: Vector) -> list[float]:
    """x as plain numbers, its largest entry positive."""
    if not np.any(x):
        raise InvalidParameter("x = 0 has no loadings.")
    return [float(entry) for entry in (x if x[np.argmax(np.abs(x))] > 0 else -x)]
