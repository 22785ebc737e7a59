"""Questions about whole runs of Algorithms 1 and 2, and the iteration that decides which of them are useful.

At tiny ε x = eᵢ/√Bᵢᵢ is stationary unless ρ̃ is large, and so is 0. So a case is kept only if its start lies below
all of these, its limit has at least two nonzeros without a tie, and the paper's iteration with exact steps (Section
3.2) reaches it in a stated number of steps. That iteration is not a reference: any stationary point below the start
passes.
"""

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..programs import MACHINE_EPS
from .equations import objective, proximal_residual, spread, tangent
from .levels import LAYOUTS, Instance, Random, Row, Space, flags_of, question
from .pencil_cases import INDEFINITE, KINDS, METRICS, SPECIAL_METRICS, leading, pencil, sized, unit
from .reference_answers import Surrogate, feature_sign_search
from .step_cases import pattern, shifted

QUICK_RUN = 120
"""The steps in which the exact iteration settles on a case, unless it is one of the slow ones."""
SETTLED = 1e-9
"""A run is settled when its last step moved x by no more, in the B norm."""
RUN_SPACE = Space(
    {
        "n": {"1": (1,), "2": (2,), "3": (3,), "4, 6, 8": (4, 6, 8), "5, 7, 9": (5, 7, 9), "10, 12": (10, 12),
              "11, 13": (11, 13), "16 … 33": (16, 17, 20, 24, 31, 32, 33),
              "48 … 66": (41, 48, 55, 60, 63, 64, 65, 66), "97, 129": (97, 129)},
        "A": tuple(KINDS),
        "size of A": ("1e-6", "1", "1e6"),
        "B": tuple(kind for kind in METRICS if "1e8" not in kind),
        "size of B": ("1e-4", "1", "1e4"),
        # as a share of max |λ(A, B)|
        "ρ": {"0": (0.0, 0.0), "1e-4": (1e-5, 1e-3), "1e-3": (1e-3, 0.01), "0.01 … 0.03": (0.01, 0.03),
              "0.03 … 0.1": (0.03, 0.1), "0.1 … 0.3": (0.1, 0.3), "collapse": (20.0, 100.0)},
        "ε": {"30 … 100": (30.0, 100.0), "1 … 30": (1.01, 30.0), "1": (1.0, 1.0), "0.1 … 1": (0.1, 0.99),
              "1e-2": (1e-2, 0.1), "1e-3": (1e-3, 1e-2), "1e-4": (1e-4, 1e-3), "1e-6": (1e-6, 1e-4),
              "1e-8": (1e-8, 1e-6), "1e-12": (1e-12, 1e-8), "rounding": (MACHINE_EPS, MACHINE_EPS)},
        "x0": ("eigenvector", "near it", "dense", "positive", "third zero", "one nonzero"),
        "norm of x0": ("1e-3", "0.05", "0.6", "1"),
        "layout": tuple(LAYOUTS),
    },
    {
        "n=1": ("x0=third zero", "x0=near it", "x0=dense", *(f"B={kind}" for kind in METRICS if kind not in
                ("I", "βI", "diagonal"))),
        "A=zero": ("x0=eigenvector", "x0=near it", "ρ=0"),
        # the limit has zeros, and a run only tends to it or nothing holds them
        **{f"A={kind}": ("ρ=0",) for kind in ("negative", "diagonal", "planted", "constant variables")},
        **SPECIAL_METRICS,
    },
    frozenset(("ρ=collapse",)),
)  # fmt: skip
"""Every dimension of a run of Algorithm 1."""
PCA_SPACE = Space(
    {
        **{name: levels for name, levels in RUN_SPACE.dimensions.items() if name not in ("B", "size of B")},
        "A": tuple(kind for kind in KINDS if kind not in INDEFINITE),
        "size of A": ("1e-6", "1", "1e6", "1e40"),  # 1e40 is infinite in single precision
    },
    RUN_SPACE.apart,
    RUN_SPACE.hiding,
)
"""Algorithm 2: no B, and A ⪰ 0."""


def run_of_row(level: str, row: Row, n: int, rng: Random) -> Instance | None:
    """A run of the named levels: the first of a few draws that is useful, otherwise one that can be judged."""
    spare = None
    for _ in range(3):
        case = draw_run(level, row, n, rng)
        if useful_run(case):
            return case
        spare = spare or (case if judgeable_run(case) else None)
    return spare


def draw_run(level: str, row: Row, n: int, rng: Random) -> Instance:
    """One run of the named levels."""
    factor = sized(row["size of A"], rng)
    A, B = pencil(row["A"], row.get("B", "I"), n, rng)
    A, B = factor * A, sized(row["size of B"], rng) * B if "B" in row else B
    top = leading(A, B) if A.any() else pattern("dense", A, B, rng)
    noise = unit(B, rng.standard_normal(n) / np.sqrt(np.diagonal(B)))
    start = top + {"near it": 0.3, "dense": 0.8, "third zero": 0.1}.get(row["x0"], 0.0) * noise
    start[np.argsort(np.abs(top))[: n // 3]] *= 0.0 if row["x0"] == "third zero" else 1.0
    start = pattern(row["x0"], A, B, rng) if row["x0"] in ("one nonzero", "positive") else start
    radius = float(np.max(np.abs(np.linalg.eigvals(np.linalg.solve(B, A))))) or factor
    rho, eps = RUN_SPACE.draw("ρ", row["ρ"], rng) * radius, RUN_SPACE.draw("ε", row["ε"], rng)
    return run_case(level, A, B, rho, eps, float(row["norm of x0"]) * unit(B, start), flags_of(row))


def run_case(level: str, A: Matrix, B: Matrix, rho: float, eps: float, x0: Vector, flags: tuple[str, ...]) -> Instance:
    """A run as the level asks for it."""
    data: dict[str, Any] = {"A": A, "rho": rho, "eps": eps, "x0": x0, **({"B": B} if level == "algorithm" else {})}
    return question(level, f"n = {len(x0)}, {', '.join(flags)}", flags, data)


def run_start(B: Matrix, top: Vector, start: str, rng: Random) -> Vector:
    """A start near the leading eigenvector, or dense and far."""
    return unit(B, top + {"near": 0.3, "dense": 0.8}[start] * unit(B, rng.standard_normal(len(top))))


# Which cases are useful


def useful_run(case: Instance) -> bool:
    """Does the exact run settle in time at two nonzeros or more without a tie, from below the trivial points?"""
    if not (below_trivial(case) and settles(case)):
        return False
    x = run_end(case)
    return bool(np.count_nonzero(x) >= 2) and without_tie(case, x)


def judgeable_run(case: Instance) -> bool:
    """Does the exact run settle in time at 0, or at a point without a tie?"""
    if not settles(case):
        return False
    x = run_end(case)
    return without_tie(case, x) if x.any() else case.coefficient > 0.0 or not case.data["A"].any()


def below_trivial(case: Instance) -> bool:
    """Does the start lie clearly below 0 and every eᵢ/√Bᵢᵢ, so that answering one of these is an ascent?"""
    x0 = case.data["x0"]
    corners = [np.zeros(case.n), *(e / np.sqrt(case.B[i, i]) for i, e in enumerate(np.eye(case.n)))]
    return objective(case, x0) < min(objective(case, x) for x in corners) - 0.01 * spread(case, x0)


def without_tie(case: Instance, x: Vector) -> bool:
    """Is the limit stationary, with zeros held by 2 % of the scale and entries of 2e-3 or more?"""
    problem = tangent(case, x)
    scale = float(np.max(np.abs(2.0 * (problem.H @ x)) / problem.root))
    rows = np.abs(2.0 * problem.rows(x, float(x @ case.data["A"] @ x)))
    held, on = np.all((problem.p - rows)[x == 0.0] >= 0.02 * scale * problem.root[x == 0.0]), x != 0.0
    large = np.all((np.abs(x) * problem.root)[on] >= 2e-3)
    return bool(held and large) and proximal_residual(problem, x, 1e-9) <= 1e-7


# The exact iteration


def settles(instance: Instance) -> bool:
    """Does the iteration settle in time with τI and with τB? Either is a right way to the limit."""
    kinds = {False, instance.level == "algorithm"}
    return all(math.isfinite(exact_run(instance, QUICK_RUN, metric)[1]) for metric in kinds)


def run_end(case: Instance) -> Vector:
    """Where the exact iteration is after QUICK_RUN steps."""
    return exact_run(case, QUICK_RUN)[0]


def exact_run(instance: Instance, limit: int, metric: bool = False) -> tuple[Vector, float]:
    """(the end, the steps to it, infinite if x still moved) of Algorithm 1 or 2 with exact steps and the least τ."""
    return instance.once(f"run {limit} {metric}", lambda: iterated(instance, limit, metric))


def iterated(instance: Instance, limit: int, metric: bool) -> tuple[Vector, float]:
    """The iteration itself, with τI or, where metric is true, with τB, until x moves by less than SETTLED."""
    step, y = exact_step(instance, metric), instance.data["x0"]
    for count in range(1, limit + 1):
        x = step(y)
        d, y = x - y, x
        if float(d @ instance.B @ d) <= SETTLED**2:
            return y, count
    return y, math.inf


def exact_step(instance: Instance, metric: bool) -> Callable[[Vector], Vector]:
    """y ↦ argmin g(·, y): soft thresholding for B = I, otherwise by feature-sign search from the support of y."""
    A, B = instance.data["A"], instance.B
    if instance.level == "pca":
        tau = shifted(A)
        return lambda y: soft_threshold_step(A @ y + tau * y, instance.slopes(y), tau)
    L = np.linalg.cholesky(B)
    whitened = np.linalg.solve(L, np.linalg.solve(L, A).T)
    H = shifted(whitened) * B if metric else shifted(A) * np.eye(len(A))
    spectra: dict[bytes, Any] = {}

    def step(y: Vector) -> Vector:
        return feature_sign_search(Surrogate(H, A @ y + H @ y, instance.slopes(y), B, None, spectra), y)[0]

    return step


def soft_threshold_step(c: Vector, p: Vector, tau: float) -> Vector:
    """(ALG-S), and its sibling for τ > 0."""
    z = np.sign(c) * np.maximum(0.0, np.abs(c) - 0.5 * p)
    return z / max(tau, float(np.linalg.norm(z)), 1e-300)


# Runs that random draws seldom bring


def hard_runs(level: str, seed: int, count: int) -> Iterator[Instance]:
    """Slow runs, small entries, and sparse starts."""
    yield from long_runs(level, seed, count)
    for stream, make in ((14, small_entries), (16, sparse_start)):
        rng = np.random.default_rng([seed, stream, len(level)])
        yield from (make(level, rng) for _ in range(count))


def long_runs(level: str, seed: int, count: int) -> Iterator[Instance]:
    """Runs where 200 steps are not enough and 450 are: the residual is above 3e-5, then below 3e-6."""
    rng = np.random.default_rng([seed, 13])
    drawn = (long_run(level, rng) for _ in range(20 * count))
    return islice((c for c in drawn if residual_after(c, 200) > 3e-5 and residual_after(c, 450) < 3e-6), count)


def long_run(level: str, rng: Random) -> Instance:
    """A covariance slowed to a rate of about 0.973, from a dense start; Algorithm 1 with a dense B and ρ̃ = 0.

    A ⪰ 0, so that τ = 0 is allowed and both splits take the same steps.
    """
    n, eps, metric = int(rng.integers(3, 7)), float(rng.choice([1.0, 0.1])), "I" if level == "pca" else "dense"
    A, B = pencil("covariance", metric, n, rng)
    A = slowed(A, B, float(rng.uniform(0.97, 0.977)))
    top = leading(A, B)
    rho = float(rng.choice([0.0, 0.0, 1e-3])) * float(top @ A @ top) if level == "pca" else 0.0
    return run_case(level, A, B, rho, eps, run_start(B, top, "dense", rng), ("slow", metric))


def residual_after(case: Instance, steps: int) -> float:
    """The stationarity residual after so many steps of the exact iteration."""
    x, _ = exact_run(case, steps)
    return proximal_residual(tangent(case, x), x, SETTLED)


def small_entries(level: str, rng: Random) -> Instance:
    """ρ̃ = 0 and a leading eigenvector with entries from 1 down to 1e-4, all of which count.

    A = 0.4B + 1.6(Bv)(Bv)ᵀ has the eigenvalues 2 and 0.4, so that a run is short and its limit ±v.
    """
    n, eps = int(rng.integers(4, 9)), float(rng.choice([4.0, 1.0, 0.1, 1e-2, 1e-4, MACHINE_EPS]))
    metric = "I" if level == "pca" else str(rng.choice(["I", "dense"]))
    B = pencil("covariance", metric, n, rng)[1]
    v = unit(B, rng.permutation(np.logspace(0.0, -4.0, n) * rng.choice([-1.0, 1.0], n)))
    A = 0.4 * B + 1.6 * np.outer(B @ v, B @ v)
    return run_case(level, 0.5 * (A + A.T), B, 0.0, eps, run_start(B, v, "near", rng), ("small-entries", metric))


def slowed(A: Matrix, B: Matrix, rate: float) -> Matrix:
    """A + σB (σ ≥ 0) whose power iteration contracts by about `rate` = (λ₂ + σ)/(λ₁ + σ), eigenvectors unchanged."""
    from scipy.linalg import eigvalsh

    second, first = eigvalsh(A, B)[-2:]
    return A + max(0.0, (rate * first - second) / (1.0 - rate)) * B


def sparse_start(level: str, rng: Random) -> Instance:
    """A start at a sparse limit: filling its zeros, or another start, ends at a larger f.

    A has a block vvᵀ with eigenvalue 1, other variables of variance d = 0.2, and a coupling c = 0.03 between them.
    One more variable gains c²/(1 − d) = 0.0011 and costs about 0.93ρ̃; filled with 1e-3 it is kept, since c exceeds
    its threshold ρ_ε/(2·1e-3) = 13.9ρ̃. So for ρ̃ = 0.0018 each filled variable costs more than it gains. Algorithm 1
    has the variables in units between 0.8 and 1.25.
    """
    n, k = int(rng.integers(6, 10)), int(rng.integers(2, 4))
    v = np.append(rng.choice([-1.0, 1.0], k) * rng.uniform(0.8, 1.2, k), np.zeros(n - k))
    v /= float(np.linalg.norm(v))
    A = 0.2 * np.diag((v == 0.0).astype(np.float64)) + np.outer(v, v)
    couple = 0.03 * np.where(v == 0.0, rng.choice([-1.0, 1.0], n), 0.0)
    A += np.outer(couple, v) + np.outer(v, couple)
    d = np.ones(n) if level == "pca" else rng.uniform(0.8, 1.25, n)
    order = rng.permutation(n)
    A, d, v = (A * np.outer(d, d))[np.ix_(order, order)], d[order], v[order]
    return run_case(level, A, np.diag(d * d), 0.0018, MACHINE_EPS, v / d, ("better-start", "sparse"))
