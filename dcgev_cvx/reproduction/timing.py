"""The methods of Section 4.4 brought to k, and the time of one run at a fixed parameter (Figures 2 to 4).

`dc_pca` of `algorithms` computes f, g and a residual at each step. Here only the iteration itself is run, as GPower
is, so that a comparison of times is one of iterations. The iterates are those of `dc_pca`; the tests compare the two.
"""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import fmean, median
from time import perf_counter, process_time
from typing import Any, TypeAlias

import numpy as np

from .._numerics.checks import Matrix, Vector
from .._numerics.selection import keep_largest
from ..certificates import on_support, value
from ..penalties import LogPenalty
from ..pencils import Gram, Pencil
from ..programs import MACHINE_EPS
from ..rivals.gpower import ascend, gamma_max, unit
from ..rivals.sparse_pca import Run, factor, longest_column, search_penalty
from ..rivals.spca import penalized
from ..steps.closed import soft_threshold
from .report import Finding, agreement

HOW_TIMED = (
    "Time is the CPU time of one run at the parameter that was found, start included: the median of a few runs with "
    "one BLAS thread, in turn with the other methods, each after an untimed one (SPCA: a single run). GPower and "
    "DC-PCA are plain NumPy, SPCA's regression is scikit-learn's compiled one. GPower starts at the longest column; "
    "DC-PCA too if that explains a quarter of tr A, otherwise 1.3 p^⅓ power steps from it. Both stop when their "
    "objective rises by less than 1e-4 of xᵀAx, as GPower's authors do. DC-PCA's parameter is searched for the "
    "cardinality that GPower reached, within half a per cent; if it jumps over it, the largest loadings are kept."
)

SIMILAR = 0.995
"""A mean ratio of variances from here on counts as similar."""

clock: Callable[[], float] = {"nt": perf_counter}.get(os.name, process_time)
"""CPU time, which other work hardly disturbs; Windows counts it in steps of 16 ms, which is too coarse."""

Method: TypeAlias = tuple[Callable[[float], Run], float]
"""One run at a parameter, and the parameter from which on nothing is left."""

# DC-PCA on a data matrix C, A = CᵀC, in plain NumPy


def krylov_start(C: Matrix) -> Vector:
    """Near the leading eigenvector of CᵀC, from GPower's start z, the longest column of C.

    If z explains a quarter of ‖C‖², x⁽⁰⁾ ∝ Cᵀz. Otherwise x⁽⁰⁾ is the leading eigenvector of A restricted to the span
    of 1.3 p^⅓ power steps from Cᵀz, read off a small matrix (Rayleigh–Ritz). The first two eigenvalues of a noise
    matrix are a share p^(−⅔) apart, and Krylov spaces separate them after a number of steps that grows as the root of
    its inverse.
    """
    z, squares = longest_column(C)
    score = z @ C
    if score @ score >= 0.25 * squares:
        return unit(score)
    Z, scores = z[None], score[None]
    for _ in range(round(1.3 * len(C) ** (1.0 / 3.0)) - 1):
        z = C @ scores[-1]
        Z = np.vstack([Z, unit(z - (Z @ z) @ Z)])
        scores = np.vstack([scores, Z[-1] @ C])
    return unit(np.linalg.eigh(scores @ scores.T)[1][:, -1] @ scores)


def descend(C: Matrix, rho: float, x: Vector, *, tol: float = 1e-4, max_iter: int = 1000) -> Run:
    """xᵢ ∝ [|(CᵀCy)ᵢ| − ½ρ_ε/(|yᵢ| + ε)]₊ sign(CᵀCy)ᵢ at machine precision ε, from y = x (ALG-S).

    A zero of y stays zero (its weight 1/ε outweighs every |cᵢᵀCy| unless ρ̃ is of the size of rounding), so columns
    are dropped: a step costs the support only. Stops when the objective xᵀAx − ρ_ε Σ log(1 + |xᵢ|/ε) rises by at most
    `tol`·xᵀAx, the rule of GPower's authors. A collapse to 0 counts as converged.
    """
    price = LogPenalty().coefficient(rho, MACHINE_EPS)
    columns, D, y, Cy, room = np.arange(len(x)), C, x, C @ x, np.abs(x) + MACHINE_EPS
    before, converged, step = -math.inf, False, 0
    while step < max_iter and not converged:
        step += 1
        z = soft_threshold(Cy @ D, 0.5 * price / room)
        kept = z.nonzero()[0]
        if not len(kept):
            return Run(np.zeros(len(x)), step, True)
        if price > 0.0 and len(kept) < 0.65 * len(z):  # not at every loss: a copy costs as much as a step
            columns, D, z = columns[kept], D.T.take(kept, axis=0).T, z[kept]
        y = z / math.sqrt(float(z @ z))
        Cy, room = D @ y, np.abs(y) + MACHINE_EPS
        variance = float(Cy @ Cy)
        objective = variance - price * (float(np.log(room).sum()) - len(room) * math.log(MACHINE_EPS))
        converged = objective - before <= tol * variance
        before = objective
    found = np.zeros(len(x))
    found[columns] = y
    return Run(found, step, converged)


def rho_max(C: Matrix, x: Vector) -> float:
    """The ρ̃ at which the first step from x is 0."""
    slopes = np.abs((C @ x) @ C) * (np.abs(x) + MACHINE_EPS)
    return 2.0 * float(np.max(slopes)) / LogPenalty().coefficient(1.0, MACHINE_EPS)


# The three methods: one run at a parameter, brought to k, and timed


def spca(pencil: Pencil, k: int) -> Method:
    """SPCA as an elastic net on data, ridge λmax(A) (Eq:EN-SPCA)."""
    ridge = pencil.lambda_max
    correlation = np.sort(np.abs(pencil.A @ pencil.leading_vector))
    # at 2|cᵢ| of the k-th variable k survive the first regression: begin near it, not at far too large penalties
    high = 2.0 * min(float(correlation[-1]), 2.0 * float(correlation[-k]))
    return partial(penalized, pencil, ridge), high


def gpower(pencil: Pencil, k: int) -> Method:
    """GPower ℓ0 on data, with the stopping tolerance of its authors (Eq:journee)."""
    C = factor(pencil)
    return partial(ascend, C, tol=1e-4), gamma_max(C)


def dc_pca(pencil: Pencil, k: int, start: Vector | None = None) -> Method:
    """DC-PCA on data (ALG-S) from a given start, or near the longest column: then the start is part of the time."""
    C = factor(pencil)

    def begin() -> Vector:
        return krylov_start(C) if start is None else start

    return lambda rho: descend(C, rho, begin()), rho_max(C, begin())


METHODS: Mapping[str, Callable[[Pencil, int], Method]] = {"SPCA": spca, "GPower": gpower, "DC-PCA": dc_pca}
"""The three methods that the paper compares on large data."""


def brought_to(pencil: Pencil, method: Method, k: int, slack: int = 0) -> tuple[dict[str, Any], Callable[[], Run]]:
    """What a method found for k ± slack, and the run at the parameter for it, to be timed.

    `raw` is the variance with the method's own loadings, `variance` that of the best on its support, both in per cent
    of tr A.
    """
    run, high = method
    found, parameter = search_penalty(run, high, k, pencil.n, slack=slack)
    x = found.x
    if abs(np.count_nonzero(x) - k) > slack:
        x = keep_largest(x, k)
    support = np.flatnonzero(x)
    best = on_support(pencil, support)
    variance, raw = percent(pencil, value(pencil, best)), percent(pencil, value(pencil, x))
    answer = {"k": len(support), "variance": variance, "raw": raw, "steps": found.steps}
    return answer, partial(run, parameter)


def percent(pencil: Pencil, variance: float) -> float:
    """A variance in per cent of tr A, the total."""
    return 100.0 * variance / float(np.sum(pencil.A_diagonal))


def seconds_of(runs: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The median time of each method's runs, taken in turn: what disturbs one round disturbs every method.

    Each method is run once untimed before each timed run, since the method before it leaves other data in the
    caches. SPCA, by far the slowest, is run once.
    """
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(repeats):
        for name, run in runs.items():
            if name == "SPCA" and turn > 0:
                continue
            if name != "SPCA":
                run()
            begin = clock()
            run()
            seconds[name].append(clock() - begin)
    return {name: median(times) for name, times in seconds.items()}


def compared(pencil: Pencil, k: int, slack: int, repeats: int) -> dict[str, Any]:
    """Every method at k ± slack, DC-PCA at the cardinality that GPower reached, to half a per cent."""
    answers: dict[str, dict[str, Any]] = {}
    runs: dict[str, Callable[[], Run]] = {}
    for name, method in METHODS.items():
        if name == "DC-PCA":
            k = answers["GPower"]["k"]
            slack = k // 200
        answers[name], runs[name] = brought_to(pencil, method(pencil, k), k, slack)
    for name, seconds in seconds_of(runs, repeats).items():
        answers[name]["seconds"] = seconds
    return answers


def gaussian_pencil(p: int, n: int, seed: list[int]) -> Pencil:
    """A = CᵀC, not formed, of a p × n matrix C of standard normals (Section 4.4.2)."""
    return Pencil(Gram(np.random.default_rng(seed).standard_normal((p, n))))


# What the results say


def numbers_of(results: Sequence[Any], method: str, what: str) -> list[float]:
    """One number of a method from every result."""
    return [result[method][what] for result in results]


def ratios_to(results: Sequence[Any], rival: str, what: str = "variance") -> list[float]:
    """The variance of DC-PCA divided by a rival's, result by result."""
    return [result["DC-PCA"]["variance"] / result[rival][what] for result in results]


def time_findings(
    label: str, results: Sequence[Any], paper: Sequence[float], over_all_k: bool = False
) -> list[Finding]:
    """DC-PCA's time against GPower's and SPCA's, given the paper's seconds of SPCA, GPower and DC-PCA.

    Seconds depend on the machine, ratios of two methods in one run hardly do: the verdicts are on ratios. With
    `over_all_k` a time is the mean over all cardinalities between those measured (trapezoidal rule).
    """

    def mean_time(method: str) -> float:
        seconds, ks = (numbers_of(results, method, what) for what in ("seconds", "k"))
        if not over_all_k:
            return fmean(seconds)
        order = np.argsort(ks)
        return float(np.trapezoid(np.array(seconds)[order], np.array(ks)[order])) / (max(ks) - min(ks))

    def seconds(times: Sequence[float], unit: str) -> str:
        return f"{times[0] / times[1]:.3g} ({times[0]:.4g} {unit} / {times[1]:.4g} {unit})"

    spca, gpower, ours = (1e3 * mean_time(method) for method in METHODS)
    steps = [fmean(numbers_of(results, method, "steps")) for method in ("DC-PCA", "GPower")]
    variances = ratios_to(results, "GPower")
    similar = fmean(variances) >= SIMILAR
    return [
        Finding(
            f"{label}: time of DC-PCA / time of GPower at a fixed parameter",
            seconds((paper[2], paper[1]), "s"),
            seconds((ours, gpower), "ms"),
            agreement(round(ours / gpower, 2) <= max(1.0, round(paper[2] / paper[1], 2)) and similar),
            f"{steps[0]:.1f} steps, GPower {steps[1]:.1f}; ratio of variances at equal k: mean "
            f"{fmean(variances):.4f}, smallest {min(variances):.4f}; mean of {len(results)} runs",
        ),
        Finding(
            f"{label}: time of SPCA / time of DC-PCA",
            seconds((paper[0], paper[2]), "s"),
            seconds((spca, ours), "ms"),
            agreement(spca > ours),
            "agreement means that DC-PCA is faster; the elastic net here is scikit-learn's",
        ),
    ]
