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
RUN_EPSILONS = (4.0, 1.0, 0.1, 1e-2, 1e-4, MACHINE_EPS)
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


def exact_step(program: Any, y: Vector, faces: dict[bytes, Spectrum]) -> Vector:
    """The minimiser of the surrogate: (ALG-S) for B = I and τ = 0, else on the face of y or by the active-set walk.

    Independent of the steps under test but for `polish`, whose answers are certified elsewhere.
    """
    c = program.linear(y)
    if not c.any():
        return np.zeros_like(y)
    if program.pencil.B is None and program.tau == 0.0:
        z = np.sign(c) * np.maximum(0.0, np.abs(c) - 0.5 * program.slopes(y))
        return z / max(float(np.linalg.norm(z)), 1e-300)
    same = on_same_face(program, y, c, faces)
    return polish(Subproblem.at(program, y), y).x if same is None else same


def on_same_face(program: Any, y: Vector, c: Vector, faces: dict[bytes, Spectrum]) -> Vector | None:
    """The minimiser if it has the support and signs of y, as it does near a limit; else None.

    On a face (H + μB)x = h with h = c − ½p∘sign(y) and H = τI or τB: with B = QΛQᵀ, kept for the face, x is known up
    to the number μ. None when a sign changes, a zero would have to come in, or μ is not found to the last digits.
    """
    p, on = program.slopes(y), y != 0.0
    if not on.any():
        return None
    signs = np.sign(y[on])
    key, metric = on.tobytes(), program.shift == "metric"
    if key not in faces:
        faces[key] = Spectrum.of(program.pencil.B, on)
    z, mu = faces[key].minimiser(c[on] - 0.5 * p[on] * signs, program.tau, metric=metric)
    if mu is None or np.any(z * signs <= 0.0):
        return None
    x = np.zeros_like(y)
    x[on] = z
    Bx = x if program.pencil.B is None else program.pencil.B @ x
    r = 2.0 * c - 2.0 * (program.tau * (Bx if metric else x) + mu * Bx)
    return x if np.all(np.abs(r[~on]) <= p[~on]) else None


@dataclass(frozen=True)
class Spectrum:
    """QΛQᵀ of B on a face."""

    values: Vector
    vectors: Matrix

    @staticmethod
    def of(B: Matrix | None, on: Any) -> Spectrum:
        """The spectrum of B on the variables that are on."""
        k = int(np.count_nonzero(on))
        return Spectrum(np.ones(k), np.eye(k)) if B is None else Spectrum(*np.linalg.eigh(B[np.ix_(on, on)]))

    def minimiser(self, h: Vector, tau: float, *, metric: bool) -> tuple[Vector, float | None]:
        """(x, μ) of min xᵀHx − 2hᵀx s.t. xᵀBx ≤ 1, H = τI or τB; μ is None where Newton's method does not settle.

        Newton on ‖x(μ)‖_B⁻¹, which is concave and rising in μ: from the left it comes to the root and not beyond.
        """
        t, values = self.vectors.T @ h, self.values
        start = tau * values if metric else np.full_like(values, tau)
        mu = 0.0
        if tau == 0.0 or metric:  # B⁻¹h alone is needed: its norm is τ + μ
            norm = float(np.sqrt(np.sum(t * t / values)))
            mu = max(0.0, norm - tau)
        elif float(np.sum(values * (t / start) ** 2)) > 1.0:
            for _ in range(60):
                w = t / (start + mu * values)
                square, slope = (
                    float(np.sum(values * w * w)),
                    float(np.sum((values * w) ** 2 / (start + mu * values))),
                )
                step = square * (np.sqrt(square) - 1.0) / slope
                mu = max(0.0, mu + step)
                if abs(step) <= 1e-15 * mu:
                    break
            else:
                return h, None
        below = start + mu * values
        return (self.vectors @ (t / below), mu) if np.all(below > 0.0) else (h, None)


def settles(instance: Instance, limit: int) -> bool:
    """Does Algorithm 1 settle in time in both splits, τI and τB? Either is a right way to the limit."""
    shifts = ("identity",) if instance.level == "pca" else ("metric", "identity")
    return all(printed_run(instance, limit, shift).settled for shift in shifts)


def printed_run(instance: Instance, limit: int, shift: Literal["identity", "metric"] = "identity") -> Run:
    """Algorithm 1 (or 2) as printed, with the least τ, until x moves by less than SETTLED.

    This is the yardstick of "reached in time", not a reference: any stationary point below the start passes.
    Kept with the instance, as several conditions ask for it.
    """
    key = f"run {limit} {shift}"
    if key not in instance.cache:
        instance.cache[key] = iterated(instance, limit, shift)
    return instance.cache[key]


def iterated(instance: Instance, limit: int, shift: Literal["identity", "metric"]) -> Run:
    """The iteration itself."""
    B = None if instance.level == "pca" else instance.B
    program = SparseGEV(Pencil(instance.data["A"], B), instance.data["rho"], instance.data["eps"], shift=shift)
    y, moves, faces = instance.data["x0"], list[float](), dict[bytes, Spectrum]()
    for count in range(1, limit + 1):
        x = exact_step(program, y, faces)
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
    kinds = ("covariance", "planted", "graded", "rank-one", "exchangeable", "twins") if pca else ALGORITHM_KINDS
    sizes = (*range(2, 17), 20, 34, 41, 60) if pca else (*range(2, 13), 20)
    metrics = ("identity",) if pca else ("dense", "uneven", "identity", "levels", "cond-1e3", "small")
    columns = (kinds, metrics, sizes, RUN_EPSILONS, RUN_SHARES, RUN_STARTS)
    drawn = zip(*(balanced(rng, column, count) for column in columns), strict=True)
    found = [first_good(lambda row=row: draw_run(level, rng, *row), QUICK_RUN) for row in drawn]
    special = [
        *slow_runs(level, seed, 2 + count // 40),
        *long_runs(level, seed, 2 + count // 60),
        *small_entries(level, seed, 2 + count // 30),
        *better_starts(level, seed, 3 + count // 20 if pca else 2 + count // 30),
        *sparse_starts(level, seed, 2 + count // 60),
    ]
    return [case for case in (*found, *special, *edge_runs(level, seed)) if case is not None]


ALGORITHM_KINDS = ("covariance", "indefinite", "pulled-down", "cca", "planted", "graded", "twins")


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
    run = printed_run(case, limit) if below_trivial(case) and settles(case, limit) else None
    if run is None or not run.settled or np.count_nonzero(run.x) < 2:
        return None
    return run if without_tie(case, run.x) else None


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
    rows = [("planted", "identity", 55, eps) for eps in (1.0, 0.1, 1e-2)]
    if level == "algorithm":
        rows = [(kind, metric, n, eps) for n in (24, 41) for kind, metric, eps in LARGE_KINDS]
    found = [
        first_good(lambda row=row: draw_run(level, rng, *row, 0.003, "near"), QUICK_RUN, least=8) for row in rows
    ]
    return [case for case in found if case is not None]


LARGE_KINDS = (("planted", "dense", 0.1), ("covariance", "levels", 1.0))
