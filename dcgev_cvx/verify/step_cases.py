"""Questions about one MM step, (ALG) and Eq:fdaiterative: the space of cases, and hard cases made one by one.

Levels that name a range are drawn from it anew for every case, so that no threshold inside it stays unasked.
"""

from collections.abc import Iterator
from itertools import islice, product
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..penalties import log_scale
from ..programs import MACHINE_EPS
from .levels import LAYOUTS, Instance, Random, Row, Space, flags_of, question
from .pencil_cases import INDEFINITE, KINDS, METRICS, SPECIAL_METRICS, leading, pencil, sized, unit
from .reference_answers import reference

STEP_SPACE = Space(
    {
        "n": {"1": (1,), "2": (2,), "3": (3,), "4, 6, 8": (4, 6, 8), "5, 7, 9": (5, 7, 9),
              "10 … 16": range(10, 17, 2), "11 … 15": range(11, 17, 2), "18 … 32": range(18, 33, 2),
              "17 … 31": range(17, 33, 2), "33 … 66": range(33, 67), "97, 129": (97, 129)},
        "A": tuple(KINDS),
        "size of A": ("1e-6", "1e-2", "1", "1e2", "1e6"),
        "B": tuple(METRICS),
        "size of B": ("1e-12", "1e-4", "1", "1e4", "1e12"),
        # as a share of the ρ̃ at which the step collapses to 0
        "ρ": {"0": (0.0, 0.0), "1e-9": (1e-10, 1e-8), "1e-3": (1e-4, 1e-2), "0.01 … 0.1": (0.01, 0.1),
              "0.1 … 0.3": (0.1, 0.3), "0.3 … 0.6": (0.3, 0.6), "0.6 … 0.9": (0.6, 0.9), "0.9 … 1": (0.9, 0.999),
              "above 1": (1.001, 3.0), "far above 1": (10.0, 1e4),
              # as a multiple of the ρ̃ that holds the smallest entries of y at 0: a weight that is off there is seen
              "zeros free": (0.1, 0.5), "zeros mixed": (0.5, 3.0), "zeros held": (3.0, 30.0)},
        # by the lower end of its decade, from 100 to machine precision without a gap
        "ε": {"30 … 100": (30.0, 100.0), "1 … 30": (1.01, 30.0), "1": (1.0, 1.0), "0.1 … 1": (0.1, 0.99),
              "1e-2": (1e-2, 0.1), "1e-3": (1e-3, 1e-2), "1e-4": (1e-4, 1e-3), "1e-5": (1e-5, 1e-4),
              "1e-6": (1e-6, 1e-5), "1e-7": (1e-7, 1e-6), "1e-8": (1e-8, 1e-7), "1e-10": (1e-10, 1e-8),
              "1e-12": (1e-12, 1e-10), "1e-14": (1e-14, 1e-12), "rounding": (MACHINE_EPS, MACHINE_EPS)},
        # beyond the least τ that is valid, in units of max |A|
        "τ": {"0": (0.0, 0.0), "least": (0.0, 0.0), "tiny": (1e-7, 1e-5), "moderate": (0.02, 2.0),
              "large": (5.0, 50.0), "huge": (1e3, 1e5)},
        "y": ("dense", "positive", "negative", "third zero", "first zero", "one nonzero", "two nonzeros",
              "tiny entries", "equal magnitudes", "eigenvector"),
        "norm of y": ("0", "1e-8", "1e-4", "0.02", "0.3", "0.9", "1"),
        "layout": tuple(LAYOUTS),
    },
    {
        "τ=0": (*(f"A={kind}" for kind in INDEFINITE), "A=zero"),
        "τ=least": tuple(f"A={kind}" for kind in KINDS if kind not in INDEFINITE),
        "n=1": ("y=third zero", "y=first zero", "y=two nonzeros", "y=tiny entries", "y=equal magnitudes", "y=dense",
                "ρ=zeros free", "ρ=zeros mixed", "ρ=zeros held", *(f"B={kind}" for kind in METRICS if kind not in
                ("I", "βI", "diagonal"))),
        "n=2": ("y=two nonzeros",),
        "A=zero": ("y=eigenvector",),
        **SPECIAL_METRICS,
    },
    frozenset(("ρ=above 1", "ρ=far above 1", "norm of y=0")),
)  # fmt: skip
"""Every dimension of (ALG): what code may ask about its arguments."""
FDA_SPACE = Space(
    {
        "n": STEP_SPACE.dimensions["n"],
        "a": ("dense", "positive", "negative", "one nonzero", "third zero", "equal", "graded"),
        "size of a": ("1e-3", "1", "1e3"),
        "B": tuple(METRICS),
        "size of B": ("1e-12", "1e-4", "1", "1e4", "1e12"),
        "ν": ("0", "1e-6", "1e-3", "0.03", "0.3", "2", "20", "zeros free", "zeros mixed", "zeros held"),
        "ε": STEP_SPACE.dimensions["ε"],
        "y": ("fisher", *(p for p in STEP_SPACE.dimensions["y"] if p != "eigenvector")),
        "layout": tuple(LAYOUTS),
    },
    {
        "n=1": ("a=one nonzero", "a=third zero", "a=equal", "a=graded", *STEP_SPACE.apart["n=1"],
                "ν=zeros free", "ν=zeros mixed", "ν=zeros held"),
        "n=2": ("a=third zero", *STEP_SPACE.apart["n=2"]),
        **SPECIAL_METRICS,
    },
)  # fmt: skip


def step_of_row(row: Row, n: int, rng: Random) -> Instance:
    """A step of the named levels."""
    factor = sized(row["size of A"], rng)
    A, B = pencil(row["A"], row["B"], n, rng)
    A, B = factor * A, sized(row["size of B"], rng) * B
    y = float(row["norm of y"]) * unit(B, pattern(row["y"], A, B, rng))
    tau = shift_of(row["τ"], A, factor, rng)
    if row["norm of y"] != "0" and cancels(A, y, tau):
        tau = tau + 0.3 * factor
    eps = STEP_SPACE.draw("ε", row["ε"], rng)
    rho = penalty_of(row["ρ"], 2.0 * np.abs(A @ y + tau * y), y, eps, rng)
    if rho == 0.0 and row["ρ"] != "0":
        rho = 0.3 * factor
    return step_question({"A": A, "B": B, "y": y, "rho": rho, "eps": eps, "tau": tau}, flags_of(row))


def fda_of_row(row: Row, n: int, rng: Random) -> Instance:
    """A step of sparse FDA of the named levels, from a y with aᵀy = 1."""
    B = sized(row["size of B"], rng) * pencil("zero", row["B"], n, rng)[1]
    a = sized(row["size of a"], rng) * means(row["a"], n, rng)
    fisher = np.linalg.solve(B, a).astype(np.float64)
    value = 1.0 / float(a @ fisher)
    y: Vector = value * fisher if row["y"] == "fisher" else through(a, pattern(row["y"], B, B, rng))
    eps = STEP_SPACE.draw("ε", row["ε"], rng)
    if row["ν"].startswith("zeros"):
        nu = penalty_of(row["ν"], 2.0 * value * np.abs(a) + 1e-300, y, eps, rng)
    else:
        nu = float(row["ν"]) * 2.0 ** float(rng.uniform(-1.0, 1.0)) * value * log_scale(eps) / n
    return step_question({"a": a, "B": B, "y": y, "nu": nu, "eps": eps}, flags_of(row))


def penalty_of(level: str, pull: Vector, y: Vector, eps: float, rng: Random) -> float:
    """ρ̃ of a level: a share of what takes every entry to 0, or a multiple of what holds the smallest entries of y.

    Entry i stays at 0 as long as ρ_ε/(|yᵢ| + ε) exceeds pullᵢ, which is 2|cᵢ| for B = I (beyond the paper).
    """
    reach = pull * (np.abs(y) + eps) * log_scale(eps)
    drawn = STEP_SPACE.draw("ρ", level, rng)
    if not level.startswith("zeros"):
        return drawn * float(np.max(reach))
    size = np.abs(y)
    least = float(np.min(size) / np.max(size, initial=1e-300))
    small = size <= max(1e-3, 1.01 * least) * np.max(size)
    return drawn * float(np.median(reach[small]))


def shift_of(level: str, A: Matrix, factor: float, rng: Random) -> float:
    """τ: the least that is valid (widened by 1e-9 for rounding) and what the level adds to it."""
    return shifted(A) + STEP_SPACE.draw("τ", level, rng) * (float(np.max(np.abs(A))) or factor)


def cancels(A: Matrix, y: Vector, tau: float) -> bool:
    """Is c = (A + τI)y lost to rounding, so that no two programs agree on it?"""
    return float(np.max(np.abs(A @ y + tau * y))) < 1e-3 * float(np.max(np.abs(A))) * float(np.max(np.abs(y)))


def pattern(kind: str, A: Matrix, B: Matrix, rng: Random) -> Vector:
    """A vector of the named kind, of any length; "tiny entries" are nonzeros with a weight of their own."""
    n = len(A)
    g = rng.standard_normal(n) / np.sqrt(np.diagonal(B))
    order = rng.permutation(n)
    if kind == "eigenvector":
        return leading(A, B)
    if kind in ("positive", "negative"):
        return np.abs(g) if kind == "positive" else -np.abs(g)
    if kind == "equal magnitudes":
        return np.sign(g)
    off = {"third zero": order[: max(1, n // 3)], "first zero": [0], "one nonzero": order[1:],
           "two nonzeros": order[2:], "tiny entries": order[: n // 2]}.get(kind, [])  # fmt: skip
    g[off] *= float(rng.choice([1e-9, 1e-5])) if kind == "tiny entries" else 0.0
    return g


def means(kind: str, n: int, rng: Random) -> Vector:
    """The difference of class means, a, of the named kind: no entry is tiny by chance."""
    a = rng.choice([-1.0, 1.0], n) * rng.uniform(0.4, 2.0, n)
    if kind in ("positive", "negative", "equal"):
        a = {"positive": np.abs(a), "negative": -np.abs(a), "equal": np.full(n, 1.3)}[kind]
    if kind == "graded":
        a *= np.logspace(0.0, -2.0, n)
    a[rng.permutation(n)[: {"third zero": n // 3, "one nonzero": n - 1}.get(kind, 0)]] = 0.0
    return a


def step_question(data: dict[str, Any], flags: tuple[str, ...]) -> Instance:
    """The question with these arguments, of level fda where there is an a."""
    return question("fda" if "a" in data else "step", f"n = {len(data['y'])}, {', '.join(flags)}", flags, data)


def step_case(A: Matrix, B: Matrix, y: Vector, share: float, eps: float, tau: float, *flags: str) -> Instance:
    """A step whose ρ̃ is a share of the one at which it collapses: 0.5 leaves some coordinates, 1.001 none."""
    rho = share * collapse(A, y, eps, tau)
    return step_question({"A": A, "B": B, "y": y, "rho": rho, "eps": eps, "tau": tau}, flags)


def fda_case(B: Matrix, eps: float, rng: Random, flags: tuple[str, ...]) -> Instance:
    """A step of sparse FDA with dense a, from near the minimiser without a penalty, and with a moderate ν."""
    a = means("dense", len(B), rng)
    fisher = np.linalg.solve(B, a) / float(a @ np.linalg.solve(B, a))
    y = fisher * (1.0 + 0.2 * rng.standard_normal(len(B)))
    nu = 0.1 * float(fisher @ B @ fisher)
    return step_question({"a": a, "B": B, "y": y / float(a @ y), "nu": nu, "eps": eps}, flags)


def collapse(A: Matrix, y: Vector, eps: float, tau: float) -> float:
    """The ρ̃ from which on x = 0 minimises the step: every 2|cᵢ| ≤ ρ_ε wᵢ (beyond the paper).

    Proof: 0 minimises g(·, y) exactly when 2c ∈ p∘[−1, 1], and pᵢ = ρ_ε/(|yᵢ| + ε).
    """
    return float(np.max(2.0 * np.abs(A @ y + tau * y) * (np.abs(y) + eps))) * log_scale(eps)


def shifted(A: Matrix) -> float:
    """The least τ that makes A + τI positive semidefinite, widened by 1e-9 for rounding."""
    low = float(np.linalg.eigvalsh(A)[0])
    return 0.0 if low >= -1e-10 * float(np.max(np.abs(A))) else -low * (1.0 + 1e-9)


# Plain steps, and hard ones made one by one


def extra_steps(level: str, seed: int, count: int) -> Iterator[Instance]:
    """Plain steps, and at the level step so many hard ones of each kind."""
    yield from plain_steps(level, seed)
    if level == "step":
        yield from hard_steps(seed, count)


def plain_steps(level: str, seed: int) -> Iterator[Instance]:
    """Typical steps in every branch of the paper: B = I, diagonal or dense, τ = 0 or not, few or many entries left.

    Most code treats these apart, and an error that also needs an ordinary ρ̃ is a triple that pairs need not bring.
    """
    rng = np.random.default_rng([seed, 3])
    shares, epsilons = ("0.01 … 0.1", "0.1 … 0.3", "0.3 … 0.6"), ("0.1 … 1", "1e-2", "1e-4")
    for metric, eps in product(("I", "diagonal", "dense"), epsilons):
        if level == "fda":
            row = {"a": "dense", "size of a": "1", "B": metric, "size of B": "1", "ε": eps, "y": "dense"}
            yield from (fda_of_row({**row, "ν": nu}, int(rng.integers(3, 13)), rng) for nu in ("0.3", "2", "20"))
            continue
        row = {"A": "covariance", "size of A": "1", "B": metric, "size of B": "1", "ε": eps, "y": "dense"}
        for tau, rho in product(("0", "moderate"), shares):
            yield step_of_row({**row, "norm of y": "1", "τ": tau, "ρ": rho}, int(rng.integers(3, 13)), rng)


def hard_steps(seed: int, count: int) -> Iterator[Instance]:
    """Optima near the boundary, near ties, A = 0 = τ, cancellation, twins, B near I, a large ρ̃; each kind by itself."""
    rng, lengths = np.random.default_rng([seed, 2]), (0.9997, 0.997, 1.003, 1.03)
    for number in range(count):
        drawn = (nearly_active(lengths[number % 4], rng) for _ in range(20))
        yield from islice(filter(None, drawn), 1)
    for index, maker in enumerate((near_tie, nothing_left, cancelling, twins, barely_identity, large_penalty), 1):
        rng = np.random.default_rng([seed, 2, index])
        yield from (maker(rng) for _ in range(count))


def nearly_active(length: float, rng: Random) -> Instance | None:
    """The minimiser without the constraint is a little shorter or longer than 1: μ = 0 is just right, or just wrong.

    That minimiser is z(τ) = soft(c, p/2)/τ with c = Ay + τy. Its length falls to ‖y‖_B < 1 as τ grows, so that
    bisection finds the τ of a given length. None if the length is below it for every τ.
    """
    n, eps = int(rng.integers(2, 9)), float(rng.choice([1.0, 0.1]))
    A, B = pencil("covariance", str(rng.choice(["I", "dense", "unit diagonal", "diagonal"])), n, rng)
    y = 0.5 * unit(B, rng.standard_normal(n))
    rho = 0.2 * collapse(A, y, eps, 0.0)

    def free(tau: float) -> float:
        c = A @ y + tau * y
        z = np.maximum(0.0, np.abs(c) - 0.5 * rho / log_scale(eps) / (np.abs(y) + eps)) * np.sign(c) / tau
        return float(np.sqrt(z @ B @ z))

    low, high = 1e-3, 1e3
    if not free(high) < length < free(low):
        return None
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if free(middle) > length else (low, middle)
    return step_question({"A": A, "B": B, "y": y, "rho": rho, "eps": eps, "tau": float(high)}, ("nearly-active",))


def near_tie(rng: Random) -> Instance:
    """ρ̃ just below the value at which the first coordinate leaves the support, found by bisection."""
    n = int(rng.integers(3, 8))
    A, B = pencil("covariance", str(rng.choice(["I", "dense"])), n, rng)
    y, tau = unit(B, rng.standard_normal(n)), float(rng.choice([0.0, 0.5]))
    low, high = 0.0, 0.9

    def at(share: float) -> Instance:
        return step_case(A, B, y, share, 0.1, tau, "near-tie")

    full = np.count_nonzero(reference(at(low)).x)
    for _ in range(14):
        middle = 0.5 * (low + high)
        same = np.count_nonzero(reference(at(middle)).x) == full
        low, high = (middle, high) if same else (low, middle)
    return at(low * (1.0 - float(rng.choice([1e-3, 1e-2]))))


def nothing_left(rng: Random) -> Instance:
    """A = 0 and τ = 0: c = 0 and x = 0, where dividing by a norm of A or of c is 0/0."""
    n = int(rng.integers(1, 6))
    B = METRICS[str(rng.choice(["I", "dense"]))](n, rng)
    y = float(rng.uniform(0.3, 1.0)) * unit(B, rng.standard_normal(n))
    data = {"A": np.zeros((n, n)), "B": B, "y": y, "rho": 0.3, "eps": float(rng.choice([1.0, 0.1])), "tau": 0.0}
    return step_question(data, ("zero-A",))


def cancelling(rng: Random) -> Instance:
    """A variance of 1e5 in a direction that y does not have: c = Ay is small beside A, and float32 loses it.

    uᵀy = 0 to rounding, so that double precision knows c to eleven digits, single precision to two.
    """
    n = int(rng.integers(3, 8))
    A, B = pencil("covariance", str(rng.choice(["I", "dense", "diagonal"])), n, rng)
    u = unit(np.eye(n), rng.standard_normal(n))
    A = A + 1e5 * np.outer(u, u)
    y = rng.standard_normal(n)
    y = unit(B, y - u * float(u @ y))
    eps, tau = float(rng.choice([1.0, 0.1])), float(rng.choice([0.0, 0.5]))
    return step_case(0.5 * (A + A.T), B, y, float(rng.uniform(0.05, 0.4)), eps, tau, "cancelling")


def twins(rng: Random) -> Instance:
    """Two variables that are equal in A, B and y, and both nonzero in the answer: code that keeps one of them fails."""
    n = int(rng.integers(2, 6))
    order = np.append(0, np.arange(n))
    A, y = pencil("covariance", "I", n, rng)[0][np.ix_(order, order)], rng.uniform(0.5, 1.0, n)[order]
    y = unit(np.eye(n + 1), y)
    return step_case(A, np.eye(n + 1), np.sign(A @ y) * y, 0.05, 1.0, float(rng.choice([0.0, 0.5])), "twins")


def barely_identity(rng: Random) -> Instance:
    """B = I + 2e-5·ssᵀ with s = sign(y): equal to I within 1e-4, and ‖x‖_B differs from ‖x‖ by more than is allowed."""
    n = int(rng.integers(6, 13))
    y, A = rng.uniform(0.5, 1.0, n), pencil("exchangeable", "I", n, rng)[0]
    s = rng.choice([-1.0, 1.0], n)
    B = np.eye(n) + 2e-5 * np.outer(s, s)
    return step_case(A * np.outer(s, s), B, unit(B, s * y), 0.1, 1.0, float(rng.choice([0.0, 0.5])), "barely-I")


def large_penalty(rng: Random) -> Instance:
    """ρ̃ above every Aᵢᵢ and below the value at which the answer is 0, which correlated variables make larger."""
    n = int(rng.integers(6, 13))
    A, B = pencil("exchangeable", str(rng.choice(["I", "diagonal"])), n, rng)
    return step_case(A, B, unit(B, rng.uniform(0.5, 1.0, n)), float(rng.uniform(0.6, 0.95)), 1.0, 0.0, "large-ρ")


def through(a: Vector, y: Vector) -> Vector:
    """The multiple of y on aᵀx = 1; where aᵀy is nearly 0, which would make y huge, y first gets the signs of a.

    Where y is large only where a is not, its largest entry first changes places with the one at the largest of a.
    """
    i, j = np.argmax(np.abs(a)), np.argmax(np.abs(y))
    if float(np.abs(a) @ np.abs(y)) < 1e-2 * abs(float(a[i] * y[j])):
        order = np.arange(len(y))
        order[[i, j]] = j, i
        y = y[order]
    if abs(float(a @ y)) < 0.1 * float(np.abs(a) @ np.abs(y)) or not a[y != 0.0].any():
        y = np.abs(y) * np.sign(a)
    y = y if y.any() else np.where(np.abs(a) == np.max(np.abs(a)), a, 0.0)
    return y / float(a @ y)
