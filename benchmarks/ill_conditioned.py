"""Claims at cond(B) from 1e8 to 1e14, checked in 60-digit arithmetic: "converged", unit norms, and values.

A claim is refuted when the recomputed certificate of a run called converged exceeds 1e-6 by more than 1 %, when the B
norm of a Solution is not one to 1e-8, or when its value is wrong in the twelfth digit.

python -m benchmarks ill_conditioned          3,000 trials of seed 1
python -m benchmarks.ill_conditioned 7 300    seed and number
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import mpmath
import numpy as np

from dcgev_cvx import MMResult, Pencil, Solution, SparseGEV, Stop, renormalize, solve, sparse_gev
from dcgev_cvx.errors import DCGEVError
from dcgev_cvx.solutions import solution_of

from .report import Measure, at_most

SEED, TRIALS = 1, 3000
DIGITS = 60
TOL, NORM_TOL, VALUE_TOL = 1.01e-6, 1e-8, 1e-12


def run(repeats: int) -> Iterator[Measure]:
    yield from measures(SEED, TRIALS)


def measures(seed: int, trials: int) -> Iterator[Measure]:
    counts: Counter[str] = Counter()
    worst: Counter[str] = Counter()
    for i in range(trials):
        for claim, error, allowed in claims(np.random.default_rng([seed, i]), counts):
            counts[claim] += 1
            worst[claim] = max(worst[claim], error)
            if not error <= allowed:
                counts["refuted"] += 1
                print(f"  refuted: trial {i}: {claim} {error:.2e}", flush=True)
    detail = ", ".join(f"{count} {name}" for name, count in counts.items() if name != "refuted")
    detail += "; worst " + ", ".join(f"{name} {error:.1e}" for name, error in worst.items())
    yield at_most(f"claims refuted in {trials} trials, cond(B) 1e8 to 1e14", float(counts["refuted"]), "", 0.0, detail)


def random_pencil(rng: np.random.Generator) -> Pencil:
    """B with a given condition number, its small eigenvalues spread or alone; A of PCA, CCA or neither."""
    n = int(rng.integers(2, 9))
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    digits = rng.uniform(8, 14)
    powers = rng.uniform(-digits, 0, n) if rng.random() < 0.5 else np.zeros(n)
    powers[0], powers[-1] = 0.0, -digits
    B = (Q * 10.0**powers) @ Q.T * 10.0 ** rng.uniform(-3, 3)
    G = rng.standard_normal((n, n))
    A = G @ G.T if rng.random() < 0.5 else G + G.T
    if rng.random() < 0.3:  # large along B, as covariances are
        A = B @ (G @ G.T) @ B / np.max(np.abs(B))
    return Pencil(0.5 * (A + A.T), 0.5 * (B + B.T))


def claims(rng: np.random.Generator, counts: Counter[str]) -> Iterator[tuple[str, float, float]]:
    """Every claim of one run and one search, with its error in exact arithmetic and what is allowed."""
    try:
        pencil = random_pencil(rng)
    except DCGEVError:
        counts["pencils not accepted"] += 1
        return
    rho = float(rng.choice([0.0, 1e-6, 1e-2, 0.1])) * pencil.lambda_max
    engine: Any = "native" if rng.random() < 0.9 else "cvxpy"
    result = sparse_gev(pencil, rho=max(rho, 0.0), engine=engine, stop=Stop(max_iter=300))
    counts[f"runs {'' if result.converged else 'not '}converged"] += 1
    if result.converged:
        yield "certificate", exact_certificate(result), TOL
    k = int(rng.integers(1, pencil.n + 1))
    support = rng.permutation(pencil.n)[:k]
    x = renormalize(pencil, np.where(np.isin(np.arange(pencil.n), support), 1.0, 0.0))
    # a whole search takes a second: for one trial in fifty
    found = solve(pencil, k, effort="quick") if rng.random() < 0.02 else solution_of(pencil, x, "one support", 0.0)
    norm, value = exact_solution(pencil, found)
    yield "norm", norm, NORM_TOL
    yield "value", value, VALUE_TOL


def exact_certificate(result: MMResult) -> float:
    """The largest of feasibility, stationarity and complementarity, with Ax, Bx and μ in 60 digits."""
    program: Any = result.program
    assert isinstance(program, SparseGEV)
    A, B = (mpmath.matrix(M.tolist()) for M in program.pencil.dense())
    root = [mpmath.sqrt(B[i, i]) for i in range(program.pencil.n)]
    length = mpmath.sqrt(form(B, result.x))
    x = np.array([v if abs(v) * root[i] > 1e-9 * length else 0.0 for i, v in enumerate(result.x)])
    Ax, Bx, b = A * column(x), B * column(x), form(B, x)
    p = [mpmath.mpf(float(v)) for v in program.slopes(x)]
    n = range(program.pencil.n)
    mu = max(mpmath.mpf(0), -sum(-2 * Ax[i] * x[i] + p[i] * abs(x[i]) for i in n) / (2 * b)) if b else mpmath.mpf(0)

    def residual(mu: Any) -> Any:
        scale = max(max(2 * abs(Ax[i]) / root[i] for i in n), max(2 * mu * abs(Bx[i]) / root[i] for i in n))
        r = [-2 * Ax[i] + 2 * mu * Bx[i] for i in n]
        raw = [abs(r[i] + p[i] * np.sign(x[i])) if x[i] else max(0, abs(r[i]) - p[i]) for i in n]
        worst = max(raw[i] / root[i] for i in n)
        slackness = abs(mu * (1 - b))
        return max(worst / scale if worst else 0, slackness / (mu + scale * mpmath.sqrt(b)) if slackness else 0)

    violation = max(0, form(B, result.x) - 1)
    return float(max(violation, min(residual(mu), residual(mpmath.mpf(0))) if b < 1 - 1e-12 else residual(mu)))


def exact_solution(pencil: Pencil, found: Solution) -> tuple[float, float]:
    """| ‖x‖_B − 1 | and the relative error of the value."""
    A, B = (mpmath.matrix(M.tolist()) for M in pencil.dense())
    a, b = form(A, found.x), form(B, found.x)
    size = max(abs(a), mpmath.mpf(pencil.A_scale) * sum(abs(v) for v in found.x) ** 2 * mpmath.mpf(2) ** -52)
    return float(abs(mpmath.sqrt(b) - 1)), float(abs(found.value - a / b) / (size / b)) if a else 0.0


def column(x: Any) -> Any:
    return mpmath.matrix([float(v) for v in x])


def form(M: Any, x: Any) -> Any:
    return (column(x).T * M * column(x))[0]


def main() -> int:
    seed, trials = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (SEED, TRIALS)
    made = list(measures(seed, trials))
    for measure in made:
        print(measure)
    return 1 if any(measure.met is False for measure in made) else 0


mpmath.mp.dps = DIGITS

if __name__ == "__main__":
    raise SystemExit(main())
