"""Bounds and screening against enumeration and 50 digits, with correct and faulty duals; proofs of larger problems."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from itertools import combinations
from time import perf_counter, process_time

import numpy as np

from dcgev_cvx import Pencil
from dcgev_cvx._numerics.deadline import Deadline
from dcgev_cvx.datasets import pitprops, planted_pca
from dcgev_cvx.exact import best_subset
from dcgev_cvx.exact.duals import FamilyBounds, Screening, stored
from dcgev_cvx.exact.enumeration import ScaledProblem
from dcgev_cvx.relaxations import homogeneous_sdp
from dcgev_cvx.relaxations.bounds import homogeneous_bound, radius_bound, row_sum_bound, valid_radius
from dcgev_cvx.relaxations.pair_splitting import PairSplitting
from dcgev_cvx.relaxations.pairwise import PairDual, pair_dual, pairwise_bound

from .report import Measure, at_least, at_most

TRIALS = 20_000
CONFIRMED = 500
DIGITS = 50
FAULTS = ("random", "flipped", "NaN", "empty", "huge", "misshapen")


def run(repeats: int) -> Iterator[Measure]:
    yield from violations(TRIALS)
    yield from wrong_proofs(TRIALS)
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


def values_of(pencil: Pencil, k: int) -> dict[tuple[int, ...], float]:
    """λmax on every support by a plain loop; shares no code with the bounds or the search."""
    (A, B), values = pencil.dense(), {}
    for support in combinations(range(pencil.n), k):
        rows = np.ix_(support, support)
        L = np.linalg.cholesky(B[rows])
        half = np.linalg.solve(L, A[rows])
        values[support] = float(np.linalg.eigvalsh(np.linalg.solve(L, half.T))[-1])
    return values


def optimum(pencil: Pencil, k: int) -> float:
    """The exact optimum."""
    return max(values_of(pencil, k).values())


def rounding(pencil: Pencil, truth: float) -> float:
    """What the enumeration itself may be off by: a few units of its condition."""
    return 1e-14 * pencil.n * (pencil.A_scale / min(np.linalg.eigvalsh(pencil.dense()[1])) + abs(truth))


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
        below += sum(bound < truth - rounding(pencil, truth) for bound in bounds)
        excess.append((min(bounds) - truth) / (abs(truth) + 1e-300))
    detail = (
        f"{trials} pencils, n ≤ 12, half the duals faulty ({', '.join(FAULTS)}), three bounds each; "
        f"median excess of the best {statistics.median(excess):.2g}; {perf_counter() - begin:.0f} s"
    )
    yield at_most("bounds below the enumerated optimum", float(below), "of " + str(3 * trials), 0.0, detail)


def pair_dual_for(rng: np.random.Generator, pencil: Pencil, k: int, honest: bool) -> PairDual | None:
    """A sensible dual of the pairwise relaxation, or one spoilt by noise, signs, scale or chance.

    One in four comes from the relaxation after a few steps; the others cancel a share of A and charge it unevenly.
    """
    n, h = pencil.n, 10.0 ** rng.uniform(-1, 1, pencil.n)
    U = -rng.uniform() * np.asarray(pencil.A)
    dual = pair_dual(U, np.abs(U) * h / h[:, None] * (1.0 + 1e-12), n)
    if rng.random() < 0.25:
        splitting = PairSplitting(np.array(pencil.A), pencil.B, k, pencil.leading_vector)
        splitting.run(int(rng.integers(1, 16)))
        dual = splitting.dual
    if honest or dual is None:
        return dual
    noise = 10.0 ** rng.uniform(-3, 1) * rng.standard_normal((2, n, n))
    spoilt = (
        (dual.U + noise[0], dual.a + noise[1]),
        (-dual.U, dual.a),
        (1e3 * dual.U, 1e-3 * dual.a),
        (noise[0], dual.a.T),
        (noise[0], noise[1]),
    )
    return pair_dual(*spoilt[rng.integers(len(spoilt))], n)


def wrong_proofs(trials: int) -> Iterator[Measure]:
    """How often the pairwise bound, a node's bound or screening was wrong, which must never happen."""
    rng = np.random.default_rng(2026)
    begin, below, nodes, lost, removed, excess = perf_counter(), 0, 0, 0, 0, []
    for trial in range(trials):
        pencil, k = random_pencil(rng, 9 if trial % 20 == 0 else 6)
        while k < 2:  # one variable makes no pair
            pencil, k = random_pencil(rng, 6)
        values = values_of(pencil, k)
        truth = max(values.values())
        slack = rounding(pencil, truth)
        problem = ScaledProblem(pencil, k)
        scaled, unit = problem.pencil, problem.scaling.o
        dual = pair_dual_for(rng, scaled, k, honest=trial % 2 == 0)
        if dual is None:
            continue
        bound = unit * pairwise_bound(scaled, k, dual.U, dual.a)
        below += bound < truth - slack
        excess.append((bound - truth) / (abs(truth) + 1e-300))
        order = rng.permutation(pencil.n)
        included = order[: rng.integers(0, k)]
        free = order[len(included) : rng.integers(k, pencil.n + 1)]
        best = max(v for S, v in values.items() if set(included) <= set(S) <= {*included, *free})
        bounds, printed = (
            FamilyBounds(np.asarray(scaled.A), scaled.B, problem.budget),
            stored(dual, np.arange(pencil.n)),
        )
        nodes += unit * bounds.bound(printed, included, free)[0] < best - slack
        if k < pencil.n:
            lam = truth + rng.choice([-0.02, 1e-6, 0.1, 1.0]) * np.ptp(list(values.values()))
            test = Screening(bounds, printed, lam / unit)
            kept = set(test.kept(rng.uniform(size=pencil.n), Deadline()).tolist())
            removed += pencil.n - len(kept)
            lost += any(v > lam + slack and not set(S) <= kept for S, v in values.items())
    detail = f"{trials} pencils, n ≤ 9, half the duals spoilt; median excess {statistics.median(excess):.2g}"
    yield at_most("pairwise bounds below the enumerated optimum", float(below), f"of {len(excess)}", 0.0, detail)
    yield at_most("bounds of nodes below their best support", float(nodes), f"of {len(excess)}", 0.0)
    detail = f"{removed} variables removed; {perf_counter() - begin:.0f} s"
    yield at_most("supports above λ that lost a variable to screening", float(lost), f"of {len(excess)}", 0.0, detail)


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


def null_pencil(n: int, samples: int = 4, rng: int = 0) -> Pencil:
    """The covariance of Gaussian samples without structure, so many for each variable: the hardest for a proof."""
    G = np.random.default_rng(rng).standard_normal((samples * n, n))
    return Pencil(G.T @ G / (samples * n))


def arrhythmia_like(n: int = 274, samples: int = 452, rng: int = 0) -> Pencil:
    """Correlations with the spectrum of the arrhythmia data of UCI: 20, 18, 14, 12, 9.6, 8.8, … and a long tail.

    Factors of that strength load on overlapping groups of variables, as the channels of an electrocardiogram do.
    """
    generator = np.random.default_rng(rng)
    spectrum = np.array([20.3, 18.3, 13.6, 12.1, 9.6, 8.8, 7.3, 6.9, 5.8, 5.7, 4.9, 4.5, 4.4, 4.2, 3.8, 3.7, 3.4, 3.3])
    X = 0.9 * generator.standard_normal((samples, n))
    for strength in spectrum:
        group = generator.permutation(n)[: int(4.0 * strength)]
        loadings = np.zeros(n)
        loadings[group] = generator.uniform(0.3, 1.0, len(group)) * generator.choice([-1.0, 1.0], len(group))
        X += np.outer(generator.standard_normal(samples), loadings)
    return Pencil(np.corrcoef(X, rowvar=False))


def proofs() -> Iterator[Measure]:
    """Branch and bound on larger problems: how many are proved, with the processor's seconds for each."""
    cases = {
        "planted n = 200, k = 10": (planted_pca(200, 10, samples=400).pencil, 10),
        "planted n = 300, k = 10, θ = 1.5": (planted_pca(300, 10, samples=600, strength=1.5).pencil, 10),
        "planted n = 2000, k = 10, θ = 10": (planted_pca(2000, 10, samples=4000, strength=10.0).pencil, 10),
        "arrhythmia-like n = 274, k = 10": (arrhythmia_like(), 10),
        "null n = 60, k = 6, 120 samples": (null_pencil(60, 2), 6),
        "null n = 200, k = 4, 400 samples": (null_pencil(200, 2), 4),
        "null n = 80, k = 8, 320 samples": (null_pencil(80), 8),
    }
    for name, (pencil, k) in cases.items():
        begin = process_time()
        found = best_subset(pencil, k)
        spent = process_time() - begin
        work = f"{found.nodes} nodes, {found.supports} supports, {found.screened} screened"
        gap = 100.0 * found.gap.relative
        yield at_most(f"gap, {name}", gap, "%", 1e-7, f"{spent:.1f} CPU s, {work}")
