"""Bounds against enumeration and 50-digit arithmetic, with correct and faulty dual matrices; the time of proofs."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from itertools import combinations
from time import perf_counter

import numpy as np

from dcgev_cvx import Pencil
from dcgev_cvx.datasets import pitprops, planted_pca
from dcgev_cvx.exact import best_subset
from dcgev_cvx.relaxations import homogeneous_sdp
from dcgev_cvx.relaxations.bounds import homogeneous_bound, radius_bound, row_sum_bound, valid_radius

from .report import Measure, at_least, at_most

TRIALS = 20_000
CONFIRMED = 500
DIGITS = 50
FAULTS = ("random", "flipped", "NaN", "empty", "huge", "misshapen")


def run(repeats: int) -> Iterator[Measure]:
    yield from violations(TRIALS)
    yield confirmed(CONFIRMED)
    yield from pit_props(repeats)
    yield from proofs()


def random_pencil(rng: np.random.Generator, largest: int = 12) -> tuple[Pencil, int]:
    """PCA-like, CCA-like, indefinite or negative A; B the identity or dense, conditioned up to 1e6."""
    n = int(rng.integers(1, largest + 1))
    kind = rng.integers(4)
    G = rng.standard_normal((n, 2 * n)) * 10.0 ** rng.uniform(-3, 3)
    A = G @ G.T if kind == 0 else -G @ G.T if kind == 1 else 0.5 * (G[:, :n] + G[:, :n].T)
    if rng.random() < 0.4:
        return Pencil(A), int(rng.integers(1, n + 1))
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    B = Q @ np.diag(10.0 ** rng.uniform(-rng.integers(0, 7), 0, n)) @ Q.T
    B = 0.5 * (B + B.T) * 10.0 ** rng.uniform(-2, 2)
    return Pencil(A, B), int(rng.integers(1, n + 1))


def dual_for(rng: np.random.Generator, pencil: Pencil, k: int, honest: bool) -> object:
    """A sensible dual matrix (minus the sign pattern of a good vector), or a faulty one."""
    n = pencil.n
    v = pencil.leading_vector
    size = pencil.A_scale * 10.0 ** rng.uniform(-3, 0)
    U = -size * np.sign(np.outer(v, v)) + 0.1 * size * rng.standard_normal((n, n))
    if honest:
        return U
    kind = FAULTS[rng.integers(len(FAULTS))]
    if kind == "random":
        return pencil.A_scale * 10.0 ** rng.uniform(-6, 6) * rng.standard_normal((n, n))
    if kind == "flipped":
        return -U
    if kind == "NaN":
        U[rng.integers(n), rng.integers(n)] = rng.choice([np.nan, np.inf])
        return U
    return {"empty": np.empty((0, 0)), "huge": 1e250 * U, "misshapen": U[:, : n - 1]}[kind]


def optimum(pencil: Pencil, k: int) -> float:
    """The exact optimum by a plain loop over all supports; shares no code with the bounds or the search."""
    A, B = pencil.dense()
    best = -np.inf
    for support in combinations(range(pencil.n), k):
        rows = np.ix_(support, support)
        L = np.linalg.cholesky(B[rows])
        half = np.linalg.solve(L, A[rows])
        best = max(best, float(np.linalg.eigvalsh(np.linalg.solve(L, half.T))[-1]))
    return best


def violations(trials: int) -> Iterator[Measure]:
    """How often a bound fell below the optimum, which must never happen."""
    rng = np.random.default_rng(2024)
    begin, below, excess = perf_counter(), 0, []
    for trial in range(trials):
        pencil, k = random_pencil(rng, 12 if trial % 20 == 0 else 8)
        U = dual_for(rng, pencil, k, honest=trial % 2 == 0)
        truth = optimum(pencil, k)
        bounds = [
            homogeneous_bound(pencil, k, U, scale="diagonal" if trial % 3 else "identity"),
            radius_bound(pencil, valid_radius(pencil, k), U),
            row_sum_bound(pencil, k),
        ]
        # the oracle itself rounds: it may lie above the truth by a few units of its condition
        slack = 1e-14 * pencil.n * (pencil.A_scale / min(np.linalg.eigvalsh(pencil.dense()[1])) + abs(truth))
        below += sum(bound < truth - slack for bound in bounds)
        excess.append((min(bounds) - truth) / (abs(truth) + 1e-300))
    detail = (
        f"{trials} pencils, n ≤ 12, half the duals faulty ({', '.join(FAULTS)}), three bounds each; "
        f"median excess of the best {statistics.median(excess):.2g}; {perf_counter() - begin:.0f} s"
    )
    yield at_most("bounds below the enumerated optimum", float(below), "of " + str(3 * trials), 0.0, detail)


def confirmed(pencils: int) -> Measure:
    """Bounds at tight duals against λmax in 50 digits: the rounding margin must cover every last digit."""
    import mpmath

    rng = np.random.default_rng(7)
    below = 0
    with mpmath.workdps(DIGITS):
        for _ in range(pencils):
            pencil, k = random_pencil(rng, 6)
            U = dual_for(rng, pencil, k, honest=True)
            # k = n with U = 0 is the tightest case: the bound is λmax(A, B) itself
            bound = homogeneous_bound(pencil, pencil.n, None)
            below += mpmath.mpf(bound) < exact_lambda_max(pencil)
            below += mpmath.mpf(homogeneous_bound(pencil, k, U)) < exact_optimum(pencil, k)
    return at_most(f"bounds below the truth in {DIGITS}-digit arithmetic", float(below), f"of {2 * pencils}", 0.0)


def exact_lambda_max(pencil: Pencil) -> object:
    """λmax(A, B) with mpmath: Cholesky, then a symmetric eigenproblem."""
    import mpmath

    A, B = (mpmath.matrix(M.tolist()) for M in pencil.dense())
    L = mpmath.cholesky(B)
    inverse = L**-1
    C = inverse * A * inverse.T
    return max(mpmath.eigsy(0.5 * (C + C.T), eigvals_only=True))


def exact_optimum(pencil: Pencil, k: int) -> object:
    """The optimum of (SGEV-P) in the working precision of mpmath."""
    return max(exact_lambda_max(pencil.restrict(np.array(S))) for S in combinations(range(pencil.n), k))


def pit_props(repeats: int) -> Iterator[Measure]:
    """All thirteen cardinalities exactly, and how tight the homogeneous SDP is."""
    pencil = pitprops()
    seconds, worst, proved = [], 0.0, 0
    for _ in range(repeats):
        begin = perf_counter()
        found = [best_subset(pencil, k) for k in range(1, 14)]
        seconds.append(perf_counter() - begin)
        proved = sum(solution.optimal for solution in found)
    yield at_least("pit props, k = 1..13, proved optimal", float(proved), "of 13", 13.0)
    yield at_most("pit props, k = 1..13, all proofs", statistics.median(seconds), "s", 2.0)
    for k, solution in zip(range(1, 14), found, strict=True):
        worst = max(worst, homogeneous_sdp(pencil, k).upper_bound / solution.value - 1.0)
    yield at_most("pit props, homogeneous bound above the optimum", 100.0 * worst, "%", 3.0)


def null_pencil(n: int, rng: int = 0) -> Pencil:
    """The covariance of 4n Gaussian samples without structure: the hardest kind for a proof."""
    G = np.random.default_rng(rng).standard_normal((4 * n, n))
    return Pencil(G.T @ G / (4 * n))


def proofs() -> Iterator[Measure]:
    """Branch and bound on larger problems, and what a time limit gives."""
    cases = {
        "null n = 40, k = 5": (null_pencil(40), 5),
        "planted n = 100, k = 5, 400 samples": (planted_pca(100, 5, samples=400).pencil, 5),
    }
    for name, (pencil, k) in cases.items():
        found = best_subset(pencil, k, time_limit=60.0)
        detail = f"{found.status.value}, {found.nodes} nodes, {found.supports} supports"
        yield at_most(f"proof, {name}", found.seconds if found.optimal else float("inf"), "s", 60.0, detail)
    hard = best_subset(null_pencil(150), 12, time_limit=5.0)
    yield at_most("n = 150, k = 12 with a 5 s limit: seconds", hard.seconds, "s", 5.25, str(hard.gap))
