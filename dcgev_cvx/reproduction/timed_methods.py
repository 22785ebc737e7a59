"""The methods of Section 4 in one form: find the parameter that gives k, then time one run at that parameter."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from statistics import median
from time import perf_counter, process_time
from typing import Any, TypeAlias

import numpy as np

from .._numerics.checks import Vector
from .._numerics.selection import keep_largest, largest_first
from ..certificates import on_support, value
from ..pencils import Gram, Pencil
from ..rivals.gpower import ascend, gamma_max
from ..rivals.sparse_pca import Run, factor, search_penalty
from ..rivals.spca import penalized
from ..search.one_shot import Schedule, one_shot
from .dcpca_on_data import Start, descend, krylov_start, rho_max

TOL = 1e-4
"""The stopping tolerance of GPower's authors, used for DC-PCA as well: the relative rise of the objective."""

clock: Callable[[], float] = process_time if os.name == "posix" else perf_counter
"""CPU time, which other work hardly disturbs; Windows counts it in steps of 16 ms, which is too coarse."""


@dataclass(frozen=True)
class Answer:
    """What a method found for k: the variance with its own loadings (raw) and with the best on its support.

    `seconds` is the time of one run at a fixed parameter, start included, as in the paper, and `total` that of the
    search for the parameter. `exact` says whether some parameter gave k. `steps` and `passes` over the data are those
    of the timed run, `runs` those of the search.
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


@dataclass(frozen=True)
class Prepared:
    """A method that has found its parameter: the answer, not timed yet, and the run to be timed."""

    answer: Answer
    again: Callable[[], object]


def gpower(pencil: Pencil, k: int, slack: int = 0) -> Prepared:
    """GPower ℓ0 on data (Eq:journee)."""
    C = factor(pencil)
    return prepared(pencil, k, lambda gamma: ascend(C, gamma, tol=TOL), gamma_max(C, "l0"), slack)


def dc_pca(pencil: Pencil, k: int, slack: int = 0, start: Start | None = None) -> Prepared:
    """DC-PCA on data (ALG-S) from a given start, or near the longest column: then the start is part of the time."""
    C = factor(pencil)

    def begin() -> Start:
        return krylov_start(C) if start is None else start

    return prepared(pencil, k, lambda rho: descend(C, rho, begin(), tol=TOL), rho_max(begin()), slack)


def spca(pencil: Pencil, k: int, slack: int = 0) -> Prepared:
    """SPCA as an elastic net on data, ridge λmax(A) (Eq:EN-SPCA)."""
    ridge = pencil.lambda_max
    correlation = np.sort(np.abs(pencil.A @ pencil.leading_vector))
    # at 2|cᵢ| of the k-th variable k survive the first regression: begin near it, not at far too large penalties
    high = 2.0 * min(float(correlation[-1]), 2.0 * float(correlation[-k]))
    return prepared(pencil, k, lambda lasso: penalized(pencil, ridge, lasso), high, slack)


def dc_one_shot(pencil: Pencil, k: int, slack: int = 0) -> Prepared:
    """d.c. steps that keep exactly k coordinates each: no parameter and no search (beyond the paper)."""
    C = factor(pencil)
    # a short ε-continuation: only the support is used, its best loadings are computed afterwards
    schedule = Schedule((30.0, 10.0, 3.0, 1.0, 0.3), 6)

    def run() -> Vector:
        return one_shot(pencil, k, krylov_start(C).x, schedule)[0]

    x = run()
    best, steps = on_support(pencil, np.flatnonzero(x)), len(schedule.levels) * schedule.steps
    count = int(np.count_nonzero(x))
    return Prepared(Answer(count, value(pencil, best), value(pencil, x), 0.0, 0.0, True, steps, runs=0), run)


Method: TypeAlias = Callable[[Pencil, int, int], Prepared]
METHODS: Mapping[str, Method] = {"SPCA": spca, "GPower": gpower, "DC-PCA": dc_pca, "d.c. one-shot": dc_one_shot}
"""The three methods that the paper compares on large data, and one that it does not have."""

PAPER = ("SPCA", "GPower", "DC-PCA")


def prepared(pencil: Pencil, k: int, run: Callable[[float], Run], high: float, slack: int) -> Prepared:
    """Search the parameter, and keep the run at that parameter to be timed."""
    begin = clock()
    found = search_penalty(run, high, k, pencil.n, slack=slack)
    total = clock() - begin
    near = abs(int(np.count_nonzero(found.run.x)) - k) <= slack
    x = found.run.x if near else keep_largest(found.run.x, k)
    count = int(np.count_nonzero(x))
    best = on_support(pencil, np.sort(largest_first(np.abs(x), count))) if count else pencil.leading_vector
    raw = value(pencil, x) if count else 0.0
    steps, passes = found.run.steps, found.run.passes
    answer = Answer(count, value(pencil, best), raw, 0.0, total, found.exact, steps, found.runs, passes)
    return Prepared(answer, lambda: run(found.parameter))


def timed(methods: Mapping[str, Prepared], repeats: int = 1, patience: float = 0.0) -> dict[str, Answer]:
    """The median of a few runs of each method, taken in turn: what disturbs one round disturbs every method.

    There are at least `repeats` rounds, and more, up to 60, until `patience` seconds have passed: runs of a
    millisecond would otherwise all fall into one disturbance. Each method is also run once untimed before each timed
    run, since the method before it leaves other data in the caches. SPCA, by far the slowest, is run once.
    """
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    first = perf_counter()
    for turn in range(max(repeats, 60)):
        if turn >= repeats and perf_counter() - first >= patience:
            break
        for name, method in methods.items():
            if name == "SPCA" and turn > 0:
                continue
            if name != "SPCA":
                method.again()
            begin = clock()
            method.again()
            seconds[name].append(clock() - begin)
    answers: dict[str, Answer] = {}
    for name, method in methods.items():
        found, time = method.answer, median(seconds[name])
        answers[name] = replace(found, seconds=time, total=found.total if found.runs else time)
    return answers


def compared(pencil: Pencil, k: int, slack: int, repeats: int, *, spca: bool) -> dict[str, Any]:
    """Every method near cardinality k, the d.c. methods at the one that GPower reached, to half a per cent."""
    found: dict[str, Prepared] = {}
    for name, method in METHODS.items():
        if name in ("SPCA", "GPower"):
            if name != "SPCA" or spca:
                found[name] = method(pencil, k, slack)
        else:
            reached = found["GPower"].answer.k
            found[name] = method(pencil, reached, reached // 200)
    answers = timed(found, repeats, patience=0.1 * (repeats - 1))
    return {"trace": trace(pencil), "methods": {name: asdict(answer) for name, answer in answers.items()}}


def gaussian_pencil(p: int, n: int, seed: list[int]) -> Pencil:
    """A = CᵀC, not formed, of a p × n matrix C of standard normals (Section 4.4.2)."""
    return Pencil(Gram(np.random.default_rng(seed).standard_normal((p, n))))


def trace(pencil: Pencil) -> float:
    """tr A, the total variance."""
    return float(np.sum(pencil.A_diagonal))
