"""Runs that random draws do not bring: slow ones, entries of many sizes, starts that matter, edges, large ones."""

from __future__ import annotations

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..programs import MACHINE_EPS
from .instances import Instance
from .matrices import Random, leading, pencil, unit
from .measures import objective, proximal_residual, spread, tangent
from .printed import SETTLED, printed_run
from .run_cases import QUICK_RUN, below_trivial, draw_run, first_good, run_case, run_start, telling, without_tie

LONG_RUN = 420
EARLY, LATE = 200, 450
"""Long runs are far from stationary after EARLY steps of the printed iteration, and stationary after LATE."""
SMALL_ENTRY_EPSILONS = (4.0, 1.0, 0.1, 1e-2, 1e-4, MACHINE_EPS)
LARGE_KINDS = (("planted", "dense", 0.1), ("covariance", "levels", 1.0))


def slow_runs(level: str, seed: int, count: int) -> list[Instance | None]:
    """Runs that need 130 steps and more: what stops early is far from stationary there.

    The rate r lies in [0.9, 0.97]: the limit is r/(1 − r), ten to thirty, times the last step away, so that a loose
    stop shows.
    """
    rng = np.random.default_rng([seed, 5, len(level)])

    def draw() -> Instance:
        n = int(rng.integers(3, 7))
        metric = "identity" if level == "pca" else str(rng.choice(["identity", "dense"]))
        A, B = pencil("covariance", metric, n, rng)
        A = slowed(A, B, float(rng.uniform(0.925, 0.95)))
        eps, share = float(rng.choice([1.0, 0.1])), float(rng.choice([0.0, 0.002, 0.005]))
        top = leading(A, B)
        x0 = run_start(B, top, "dense", rng)
        return run_case(level, A, B, share * float(top @ A @ top), eps, x0, ("slow", metric, f"eps={eps:.0e}"))

    found = [first_good(draw, LONG_RUN, least=130, rates=(0.9, 0.97)) for _ in range(3 * count)]
    return [case for case in found if case is not None][:count]


def long_runs(level: str, seed: int, count: int) -> list[Instance]:
    """Runs where 200 steps are not enough and 450 are: the residual is above 3e-5, then below 3e-6."""
    rng = np.random.default_rng([seed, 13])
    found: list[Instance] = []
    for _ in range(20 * count):
        case = long_run(level, rng) if len(found) < count else None
        if case is not None and residual_after(case, EARLY) > 3e-5 and residual_after(case, LATE) < 3e-6:
            found.append(case)
    return found


def long_run(level: str, rng: Random) -> Instance:
    """A covariance slowed to a rate of about 0.973, from a dense start; Algorithm 1 with a dense B and ρ̃ = 0.

    A ⪰ 0, so that τ = 0 is allowed and both splits take the same steps.
    """
    n, eps, metric = int(rng.integers(3, 7)), float(rng.choice([1.0, 0.1])), "identity" if level == "pca" else "dense"
    A, B = pencil("covariance", metric, n, rng)
    A = slowed(A, B, float(rng.uniform(0.97, 0.977)))
    top = leading(A, B)
    rho = float(rng.choice([0.0, 0.0, 1e-3])) * float(top @ A @ top) if level == "pca" else 0.0
    return run_case(level, A, B, rho, eps, run_start(B, top, "dense", rng), ("slow", metric, f"eps={eps:.0e}"))


def residual_after(case: Instance, steps: int) -> float:
    """The stationarity residual after so many steps of the printed iteration."""
    x = printed_run(case, steps).x
    return proximal_residual(tangent(case, x), x, SETTLED)


def small_entries(level: str, seed: int, count: int) -> list[Instance]:
    """ρ̃ = 0 and a leading eigenvector with entries from 1 down to 1e-4, none of which is dust.

    A = 0.4B + 1.6(Bv)(Bv)ᵀ has the eigenvalues 2 and 0.4, so that a run is short and its limit ±v.
    """
    rng = np.random.default_rng([seed, 14, len(level)])
    cases: list[Instance] = []
    for _ in range(count):
        n, eps = int(rng.integers(4, 9)), float(rng.choice(SMALL_ENTRY_EPSILONS))
        metric = "identity" if level == "pca" else str(rng.choice(["identity", "dense"]))
        B = pencil("covariance", metric, n, rng)[1]
        v = unit(B, rng.permutation(np.logspace(0.0, -4.0, n) * rng.choice([-1.0, 1.0], n)))
        A = 0.4 * B + 1.6 * np.outer(B @ v, B @ v)
        flags = ("small-entries", metric, f"eps={eps:.0e}", "rho-0")
        cases.append(run_case(level, 0.5 * (A + A.T), B, 0.0, eps, run_start(B, v, "near", rng), flags))
    return cases


def slowed(A: Matrix, B: Matrix, rate: float) -> Matrix:
    """A + σB (σ ≥ 0) whose power iteration contracts by about `rate`: (λ₂ + σ)/(λ₁ + σ).

    Adding σB leaves eigenvectors as they are and moves all eigenvalues by σ, which makes their ratio approach 1.
    """
    from scipy.linalg import eigvalsh

    second, first = eigvalsh(A, B)[-2:]
    return A + max(0.0, (rate * first - second) / (1.0 - rate)) * B


def better_starts(level: str, seed: int, count: int) -> list[Instance | None]:
    """Starts that lie below where the leading eigenvector and the constant vector lead: who ignores x0 ascends."""
    rng = np.random.default_rng([seed, 6, len(level)])
    return [
        next((case for _ in range(60) if (case := better_start(level, rng)) is not None), None) for _ in range(count)
    ]


def better_start(level: str, rng: Random) -> Instance | None:
    """The best of several limits, slightly moved, if it is clearly better than the usual starts' limits.

    A run must use its x0. The case is kept only if the usual starts end clearly above it.
    """
    n = int(rng.integers(5, 9))
    metric = "identity" if level == "pca" else str(rng.choice(["identity", "dense"]))
    A, B = pencil("covariance", metric, n, rng)
    top, eps = leading(A, B), float(rng.choice([1e-2, 1e-4, MACHINE_EPS]))
    rho = float(rng.uniform(0.1, 0.25)) * float(top @ A @ top)
    flags = ("better-start", metric, f"eps={eps:.0e}")

    def case(x0: Vector) -> Instance:
        return run_case(level, A, B, rho, eps, x0, flags)

    starts = [unit(B, np.where(rng.random(n) < 0.5, rng.standard_normal(n), 0.0) + 1e-9) for _ in range(4)]
    ends = [
        run.x for start in starts if (run := printed_run(case(start), 80)).settled and np.count_nonzero(run.x) >= 2
    ]
    usual = [printed_run(case(start), 80).x for start in (top, unit(B, np.ones(n)))]
    if not ends:
        return None
    best = min(ends, key=lambda x: objective(case(x), x))
    moved = case(unit(B, best * (1.0 + 0.02 * rng.standard_normal(n))))
    worst_usual = min(objective(moved, x) for x in usual)
    margin = 0.02 * spread(moved, moved.data["x0"])
    good = objective(moved, moved.data["x0"]) < worst_usual - margin and below_trivial(moved)
    run = printed_run(moved, QUICK_RUN)
    return moved if good and run.settled and np.count_nonzero(run.x) >= 2 and without_tie(moved, run.x) else None


def sparse_starts(level: str, seed: int, count: int) -> list[Instance]:
    """Starts at a sparse limit whose zeros are worth keeping: who fills them, or starts densely, ends above.

    A has a block vvᵀ with eigenvalue 1, other variables of variance d = 0.2, and a coupling c = 0.03 between them.
    One more variable gains c²/(1 − d) = 0.0011 and costs about 0.93ρ̃; filled with 1e-3 it is kept, since c exceeds
    its threshold ρ_ε/(2·1e-3) = 13.9ρ̃. So for ρ̃ = 0.0018 each filled variable costs more than it gains.
    """
    rng = np.random.default_rng([seed, 16, len(level)])
    return [sparse_start(level, rng) for _ in range(count)]


def sparse_start(level: str, rng: Random) -> Instance:
    """One of them; Algorithm 1 has the variables in units between 0.8 and 1.25."""
    n, k = int(rng.integers(6, 10)), int(rng.integers(2, 4))
    v = np.append(rng.choice([-1.0, 1.0], k) * rng.uniform(0.8, 1.2, k), np.zeros(n - k))
    v /= float(np.linalg.norm(v))
    A = 0.2 * np.diag((v == 0.0).astype(np.float64)) + np.outer(v, v)
    couple = 0.03 * np.where(v == 0.0, rng.choice([-1.0, 1.0], n), 0.0)
    A += np.outer(couple, v) + np.outer(v, couple)
    d = np.ones(n) if level == "pca" else rng.uniform(0.8, 1.25, n)
    order = rng.permutation(n)
    A, d, v = (A * np.outer(d, d))[np.ix_(order, order)], d[order], v[order]
    return run_case(level, A, np.diag(d * d), 0.0018, MACHINE_EPS, v / d, ("better-start", "sparse", "eps=2e-16"))


def edge_runs(level: str, seed: int) -> list[Instance]:
    """One variable, a penalty above collapse, and for Algorithm 1 a negative definite A: 0 is the answer there.

    Collapse is a right answer with a name: where the penalty outweighs every direction x = 0 is the limit.
    """
    rng = np.random.default_rng([seed, 7, len(level)])
    B = np.array([[1.0 if level == "pca" else 2.5]])
    cases = [run_case(level, np.array([[1.7]]), B, 0.1, 0.1, 1.0 / np.sqrt(B[0]), ("one-variable",))]
    A, B = pencil("covariance", "identity" if level == "pca" else "dense", 4, rng)
    top = leading(A, B)
    for eps in (0.1, MACHINE_EPS):
        rho = 20.0 * float(top @ A @ top) * (1.0 if eps > 1e-8 else 3.0)
        cases.append(run_case(level, A, B, rho, eps, top, ("collapse", f"eps={eps:.0e}")))
    if level == "algorithm":
        A, B = pencil("negative", "dense", 4, rng)
        x0 = 0.7 * unit(B, rng.standard_normal(4))
        cases.append(run_case(level, A, B, 0.2, 0.1, x0, ("collapse", "negative", "eps=1e-01")))
    return [*cases, *large_runs(level, rng)]


def large_runs(level: str, rng: Random) -> list[Instance]:
    """Many variables: the families in which a limit without a tie is found in a few draws."""
    if level == "pca":
        found = [factor_run(n, eps, rng) for n, eps in ((55, 1e-3), (66, 0.1), (129, 1e-2))]
        return [case for case in found if telling(case, QUICK_RUN) is not None]
    rows = [(kind, metric, n, eps) for n in (24, 41) for kind, metric, eps in LARGE_KINDS]
    found = [
        first_good(lambda row=row: draw_run(level, rng, *row, 0.003, "near"), QUICK_RUN, least=8) for row in rows
    ]
    return [case for case in found if case is not None]


def factor_run(n: int, eps: float, rng: Random) -> Instance:
    """½I + 2vvᵀ with entries of v between ½ and 3/2 times a common size, a third of them 0.

    A limit of equal entries would not depend on ρ̃, and a penalty that is off for many variables alone would pass.
    """
    v = rng.choice([-1.0, 1.0], n) * rng.uniform(0.5, 1.5, n)
    v[rng.permutation(n)[: n // 3]] = 0.0
    v = unit(np.eye(n), v)
    A = 0.5 * np.eye(n) + 2.0 * np.outer(v, v)
    x0 = run_start(np.eye(n), v, "near", rng)
    return run_case("pca", A, np.eye(n), 0.01, eps, x0, ("factor", f"eps={eps:.0e}"))
