"""The battery of whole runs: Algorithms 1 and 2 from starts that tell a right solver from a wrong one (Section 3.2).

x = eᵢ/√Bᵢᵢ is stationary whatever ρ̃ and ε are, and so is 0 at tiny ε. So a case is kept only if
its start lies below all of these, its limit has at least two nonzeros without a tie, and the
printed iteration reaches it in a stated number of steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..checks import Matrix, Vector
from ..penalties import MACHINE_EPS
from ..pencils import Pencil
from ..programs import SparseGEV
from ..steps.polish import Subproblem, polish
from .instances import Instance, question
from .matrices import Random, leading, pencil, unit
from .measures import objective, proximal_residual, spread, tangent
from .steps_battery import balanced

QUICK_RUN, LONG_RUN = 120, 420
EARLY, LATE = 200, 450
"""Long runs are far from stationary after EARLY steps of the printed iteration, and stationary after LATE."""
SETTLED = 1e-9
TRIES = 12
RUN_EPSILONS = (1.0, 0.1, 1e-2, 1e-4, MACHINE_EPS)
RUN_SHARES = (0.0, 0.003, 0.01, 0.03, 0.08)
"""ρ̃ as a share of λmax(A, B)."""
RUN_STARTS = ("eigen", "near", "zeros", "interior", "dense")


@dataclass(frozen=True)
class Run:
    """The printed iteration from a start: where it ended, in how many steps, how fast at the end.

    rate is the factor by which the last steps shrank: near 1 the run is slow, and a loose stop rule ends far from
    the limit.
    """

    x: Vector
    steps: int
    rate: float
    settled: bool


def exact_step(program: Any, y: Vector) -> Vector:
    """The minimiser of the surrogate: (ALG-S) for B = I and τ = 0, else the active-set walk from y.

    Independent of the steps under test but for `polish`, whose answers are certified elsewhere.
    """
    c = program.linear(y)
    if not c.any():
        return np.zeros_like(y)
    if program.pencil.B is None and program.tau == 0.0:
        z = np.sign(c) * np.maximum(0.0, np.abs(c) - 0.5 * program.slopes(y))
        return z / max(float(np.linalg.norm(z)), 1e-300)
    same = on_same_face(program, y, c) if program.tau == 0.0 else None
    return polish(Subproblem.at(program, y), y).x if same is None else same


def on_same_face(program: Any, y: Vector, c: Vector) -> Vector | None:
    """The minimiser for τ = 0 if it has the support and signs of y, as it does near a limit; else None.

    One linear system instead of a walk; returns None when a sign changes or a zero would have to come in.
    """
    on, p = np.flatnonzero(y), program.slopes(y)
    signs = np.sign(y[on])
    B = program.pencil.B
    z = np.linalg.solve(B[np.ix_(on, on)], c[on] - 0.5 * p[on] * signs)
    norm = float(np.sqrt(max(0.0, float(z @ B[np.ix_(on, on)] @ z))))
    if norm == 0.0 or np.any(z * signs <= 0.0):
        return None
    x = np.zeros_like(y)
    x[on] = z / norm
    off = y == 0.0
    return x if np.all(np.abs(2.0 * c - 2.0 * norm * (B @ x))[off] <= p[off]) else None


def settles(instance: Instance, limit: int) -> bool:
    """Does Algorithm 1 settle in time in both splits, τI and τB? Either is a right way to the limit."""
    shifts = ("identity",) if instance.level == "pca" else ("identity", "metric")
    return all(printed_run(instance, limit, shift).settled for shift in shifts)


def printed_run(instance: Instance, limit: int, shift: Literal["identity", "metric"] = "identity") -> Run:
    """Algorithm 1 (or 2) as printed, with the least τ, until x moves by less than SETTLED.

    This is the yardstick of "reached in time", not a reference: any stationary point below the start passes.
    """
    B = None if instance.level == "pca" else instance.B
    program = SparseGEV(Pencil(instance.data["A"], B), instance.data["rho"], instance.data["eps"], shift=shift)
    y, moves = instance.data["x0"], list[float]()
    for count in range(1, limit + 1):
        x = exact_step(program, y)
        moves.append(program.pencil.B_norm(x - y))
        y = x
        if moves[-1] <= SETTLED:
            return Run(y, count, rate_of(moves), settled=True)
    return Run(y, limit, rate_of(moves), settled=False)


def rate_of(moves: list[float]) -> float:
    """The factor by which the last steps shrank."""
    tail = [move for move in moves if move > SETTLED][-20:]
    return (tail[-1] / tail[0]) ** (1.0 / (len(tail) - 1)) if len(tail) > 1 else 0.0


def run_battery(level: str, seed: int, count: int) -> list[Instance]:
    """Runs over all families, then slow ones, better starts and collapsing ones.

    The columns of the design are crossed as in the battery of steps. Draws that are no use are redrawn TRIES times
    and then dropped, so that the number of cases varies a little between seeds.
    """
    rng = np.random.default_rng([seed, 4, len(level)])
    pca = level == "pca"
    kinds = ("covariance", "planted", "graded", "rank-one", "exchangeable") if pca else ALGORITHM_KINDS
    sizes = (2, 3, 3, 4, 5, 6, 7, 8, 9, 13, 20, 34, 60) if pca else (2, 3, 3, 4, 5, 6, 6, 7, 8, 13, 20)
    metrics = ("identity",) if pca else ("dense", "uneven", "identity", "dense", "cond-1e3", "small")
    columns = (kinds, metrics, sizes, RUN_EPSILONS, RUN_SHARES, RUN_STARTS)
    drawn = zip(*(balanced(rng, column, count) for column in columns), strict=True)
    found = [first_good(lambda row=row: draw_run(level, rng, *row), QUICK_RUN) for row in drawn]
    special = [
        *slow_runs(level, seed, 2 + count // 40),
        *(long_runs(seed, 2 + count // 60) if pca else ()),
        *small_entries(level, seed, 2 + count // 30),
        *better_starts(level, seed, 3 + count // 20 if pca else 2 + count // 30),
    ]
    return [case for case in (*found, *special, *edge_runs(level, seed)) if case is not None]


ALGORITHM_KINDS = ("covariance", "indefinite", "pulled-down", "cca", "planted", "graded")


def first_good(
    draw: Callable[[], Instance], limit: int, least: int = 1, rates: tuple[float, float] = (0.0, 1.0)
) -> Any:
    """The first draw that passes the conditions of a useful case, or None after TRIES.

    Cases without a limit of two nonzeros, with ties, or with a start above a trivial point are redrawn: they could
    not tell a right solver from one that returns a coordinate vector.
    """
    for _ in range(TRIES):
        case = draw()
        run = telling(case, limit)
        if run is not None and run.steps >= least and rates[0] <= run.rate <= rates[1]:
            return case
    return None


def telling(case: Instance, limit: int) -> Run | None:
    """The printed run, if it settles in time at two nonzeros or more without a tie, from below the trivial points."""
    run = printed_run(case, limit) if below_trivial(case) else None
    if run is None or not run.settled or np.count_nonzero(run.x) < 2:
        return None
    return run if without_tie(case, run.x) and settles(case, limit) else None


def draw_run(
    level: str, rng: Random, kind: str, metric: str, n: int, eps: float, level_rho: float, start: str
) -> Instance:
    """One run of the named families."""
    A, B = pencil(kind, metric, n, rng)
    top = leading(A, B)
    rho = level_rho * float(top @ A @ top)
    flags = (kind, "cca" if kind == "cca" else metric, f"eps={eps:.0e}", start, f"rho-{level_rho:g}")
    return run_case(level, A, B, rho, eps, run_start(B, top, start, rng), flags)


def run_case(
    level: str, A: Matrix, B: Matrix, rho: float, eps: float, x0: Vector, flags: tuple[str, ...]
) -> Instance:
    """A run as the level asks for it."""
    data: dict[str, Any] = {"A": A, "rho": rho, "eps": eps, "x0": x0}
    if level == "algorithm":
        data["B"] = B
    return question(level, f"n = {len(x0)}, {', '.join(flags)}", flags, data)


def run_start(B: Matrix, top: Vector, start: str, rng: Random) -> Vector:
    """A start near the leading eigenvector, with zeros, inside Ω, or dense and far.

    "interior" scales the start by 0.6, since Ω is the ball and not the sphere; "zeros" keeps two thirds of the
    entries.
    """
    n = len(top)
    noise = unit(B, rng.standard_normal(n))
    if start == "zeros":
        keep = np.argsort(-np.abs(top))[: max(2, (2 * n) // 3)]
        return unit(B, np.where(np.isin(np.arange(n), keep), top + 0.1 * noise, 0.0))
    mixed = top + {"near": 0.3, "dense": 0.8}.get(start, 0.0) * noise
    return unit(B, mixed) * (0.6 if start == "interior" else 1.0)


def below_trivial(case: Instance) -> bool:
    """Does the start lie clearly below 0 and every eᵢ/√Bᵢᵢ, so that answering one of these is an ascent?

    0 and eᵢ/√Bᵢᵢ are stationary whatever ρ̃ is, so stationarity alone would let a solver pass that always answers e₁.
    """
    x0 = case.data["x0"]
    corners = [objective(case, np.zeros_like(x0))]
    corners += [objective(case, e / np.sqrt(case.B[i, i])) for i, e in enumerate(np.eye(case.n))]
    return objective(case, x0) < min(corners) - 0.01 * spread(case, x0)


def without_tie(case: Instance, x: Vector) -> bool:
    """Is the limit stationary, with every zero held by a margin and no entry near zero?

    A zero held by less than 2 % of the scale, or an entry below 2e-3, is too near a tie for solvers with a tolerance.
    """
    problem = tangent(case, x)
    r = np.abs(2.0 * (problem.H @ x) + 2.0 * float(x @ case.data["A"] @ x) * (problem.B @ x)) / problem.root
    spare = problem.p / problem.root - r
    on = x != 0.0
    scale = float(np.max(np.abs(2.0 * (problem.H @ x)) / problem.root))
    held = bool(np.all(spare[~on] >= 0.02 * scale))
    large = bool(np.all((np.abs(x) * problem.root)[on] >= 2e-3))
    return held and large and proximal_residual(problem, x, 1e-9) <= 1e-7


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


def long_runs(seed: int, count: int) -> list[Instance]:
    """Algorithm 2 where 200 steps are not enough and 450 are: the residual is above 3e-5, then below 3e-6."""
    rng = np.random.default_rng([seed, 13])
    found: list[Instance] = []
    for _ in range(20 * count):
        case = long_run(rng)
        if len(found) < count and residual_after(case, EARLY) > 3e-5 and residual_after(case, LATE) < 3e-6:
            found.append(case)
    return found


def long_run(rng: Random) -> Instance:
    """A covariance slowed to a rate of about 0.973, from a dense start."""
    n, eps = int(rng.integers(3, 7)), float(rng.choice([1.0, 0.1]))
    A, B = pencil("covariance", "identity", n, rng)
    A = slowed(A, B, float(rng.uniform(0.97, 0.977)))
    top = leading(A, B)
    rho = float(rng.choice([0.0, 0.0, 1e-3])) * float(top @ A @ top)
    return run_case("pca", A, B, rho, eps, run_start(B, top, "dense", rng), ("slow", "identity", f"eps={eps:.0e}"))


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
        n, eps = int(rng.integers(4, 9)), float(rng.choice(RUN_EPSILONS))
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
    metric = "identity" if level == "pca" else "uneven"
    for eps in (1.0, 0.1, 1e-2) if level == "pca" else (0.1,):
        large = first_good(
            lambda e=eps: draw_run(level, rng, "planted", metric, 55, e, 0.003, "near"), QUICK_RUN, least=8
        )
        cases += [large] if large is not None else []
    return cases
