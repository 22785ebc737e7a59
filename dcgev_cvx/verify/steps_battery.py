"""The battery of single steps: (ALG) and Eq:fdaiterative, drawn evenly from every family (Section 3.3, Section 6).

Each column of the design (kind of A, kind of B, n, ε, ρ̃, start, shift) takes each of its values equally often, in
independent random orders: with a few hundred cases every pair of values is likely to occur, which is where mistakes
hide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..programs import MACHINE_EPS, log_scale
from .instances import Instance, question
from .matrices import METRICS, OBJECTIVES, Random, dense, hardest, leading, lowest, pencil, unit
from .reference import reference

T = TypeVar("T")

SIZES = (1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)
LARGE_SIZES = (*range(17, 67), 97, 129)
"""Every size up to 66, since a kernel may be wrong for one size alone, and two beyond the next block sizes."""
EPSILONS = (30.0, 4.0, 1.0, 0.1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-12, MACHINE_EPS)
SHARES = (0.0, 3e-4, 0.003, 0.03, 0.1, 0.25, 0.5, 0.8, 0.999, 1.001, 3.0)
"""ρ̃ as a share of the ρ̃ at which the step collapses to x = 0."""
STARTS = ("eigen", "random", "zeros", "interior", "deep", "constant", "basis", "dusty", "below")
SHIFTS = ("least", "more", "much")


def balanced(rng: Random, values: Sequence[T], count: int) -> list[T]:
    """Every value equally often, in random order.

    A shuffled repetition of the values rather than independent draws: none is left out by chance.
    """
    order = rng.permutation(count)
    return [values[int(i) % len(values)] for i in order]


def sizes(rng: Random, count: int) -> list[int]:
    """So many sizes in random order: every large one once in 300, the small ones equally often."""
    large = LARGE_SIZES * max(1, count // 300)
    found = [*balanced(rng, SIZES, count - len(large)), *large]
    return [found[int(i)] for i in rng.permutation(count)]


def step_battery(seed: int, count: int) -> list[Instance]:
    """Random steps over all families, then the special ones.

    The seed's stream is split by family (1 for random, 2 for special cases), so that more of one kind does not
    change the other.
    """
    rng = np.random.default_rng([seed, 1])
    columns = (EPSILONS, SHARES, STARTS, SHIFTS)
    kinds, metrics = balanced(rng, (*OBJECTIVES, "cca"), count), balanced(rng, tuple(METRICS), count)
    rest = (balanced(rng, column, count) for column in columns)
    cases = [random_step(rng, *row) for row in zip(kinds, metrics, sizes(rng, count), *rest, strict=True)]
    return [*cases, *special_steps(seed, max(2, count // 60))]


def random_step(
    rng: Random, kind: str, metric: str, n: int, eps: float, level: float, start: str, shift: str
) -> Instance:
    """One step of the named families.

    A size that occurs once is asked where x ≠ 0: at 0 no fault of that size shows.

    Where c = (A + τI)y cancels to rounding the shift is enlarged, because then no two programs agree on c itself.
    """
    A, B = pencil(kind, metric, n, rng)
    y = start_vector(A, B, start, rng)
    tau, level = shifted(A, shift), level if n <= max(SIZES) else min(level, 0.5)
    if float(np.max(np.abs(A @ y + tau * y))) < 1e-3 * float(np.max(np.abs(A))) * float(np.max(np.abs(y))):
        shift, tau = "more", shifted(A, "more")  # c cancels to rounding: nobody could compute it
    flags = (kind, "cca" if kind == "cca" else metric, f"eps={eps:.0e}", start, f"tau-{shift}", f"rho-{level:g}")
    return step_case(A, B, y, level, eps, tau, flags)


def step_case(
    A: Matrix, B: Matrix, y: Vector, level: float, eps: float, tau: float, flags: tuple[str, ...]
) -> Instance:
    """A step whose ρ̃ is a share of the one at which it collapses.

    Shares rather than absolute ρ̃ make the cases equally hard for all A: 0.5 leaves some coordinates, 1.001 none.
    """
    rho = level * collapse(A, y, eps, tau)
    name = f"n = {len(y)}, {', '.join(flags)}"
    return question("step", name, flags, {"A": A, "B": B, "y": y, "rho": rho, "eps": eps, "tau": tau})


def collapse(A: Matrix, y: Vector, eps: float, tau: float) -> float:
    """The ρ̃ from which on x = 0 minimises the step: every 2|cᵢ| ≤ ρ_ε wᵢ (beyond the paper).

    Proof: 0 minimises g(·, y) exactly when 2c ∈ p∘[−1, 1], and pᵢ = ρ_ε/(|yᵢ| + ε).
    """
    c = A @ y + tau * y
    return float(np.max(2.0 * np.abs(c) * (np.abs(y) + eps))) * log_scale(eps)


def shifted(A: Matrix, shift: str) -> float:
    """τ: the least that is valid, more, or so much that it outweighs A.

    "least" is what (ALG) asks for, widened by 1e-9 so that rounding does not make it invalid; "more" and "much" are
    just as right and must give the minimiser of their own surrogate.
    """
    size = float(np.max(np.abs(A)))
    low = lowest(A)
    least = 0.0 if low >= -1e-10 * size else -low * (1.0 + 1e-9)
    return {"least": least, "more": 1.5 * least + 0.4 * size, "much": least + 8.0 * size}[shift]


def start_vector(A: Matrix, B: Matrix, start: str, rng: Random) -> Vector:
    """The previous iterate y, a point of Ω of the named kind.

    "dusty" has entries of 1e-9, which are nonzeros with a weight of their own; "below" has all signs negative;
    "deep" lies near the origin, where a step that normalises y first goes wrong.
    """
    n = len(A)
    g = rng.standard_normal(n)
    if start == "eigen":
        return leading(A, B)
    if start == "zeros" and n > 1:
        g[rng.permutation(n)[: n // 2]] = 0.0
    if start == "dusty" and n > 1:
        g[rng.permutation(n)[: n // 2]] *= 1e-9
    if start == "constant":
        g = np.ones(n)
    if start == "basis":
        g = np.eye(n)[int(rng.integers(n))]
    if start == "below":
        g = -np.abs(g)
    return {"interior": 0.3, "deep": 0.02}.get(start, 1.0) * unit(B, g)


def special_steps(seed: int, count: int) -> Iterator[Instance]:
    """What random draws seldom hit: interior optima, near ties, fixed points, tiny ρ̃ at tiny ε, no pull at all."""
    makers: tuple[Callable[[Random], Instance | None], ...] = (
        interior_step,
        nearly_active,
        near_tie,
        fixed_point,
        tiny_weights,
        tiny_entries,
        zero_weights,
        no_pull,
        no_objective,
        single,
        cancelling,
        hard_basis,
    )
    for index, maker in enumerate(makers):
        rng = np.random.default_rng([seed, 2, index])
        for _ in range(2 * count):
            case = maker(rng)
            if case is not None:
                yield case


def interior_step(rng: Random) -> Instance:
    """τ > 0 and a small c: the minimiser lies inside Ω and must not be normalised.

    Normalising is right in most steps, which is why forgetting that it is not always right is a common mistake.
    """
    n = int(rng.integers(2, 9))
    A, B = pencil(str(rng.choice(["indefinite", "negative", "cca"])), str(rng.choice(["identity", "dense"])), n, rng)
    tau = 3.0 * max(-lowest(A), float(np.max(np.abs(A))))
    y = float(rng.uniform(0.1, 0.6)) * unit(B, rng.standard_normal(n))
    eps = float(rng.choice([1.0, 0.1, 1e-2]))
    return step_case(A, B, y, float(rng.uniform(0.01, 0.3)), eps, tau, ("interior-optimum", f"eps={eps:.0e}"))


def nearly_active(rng: Random) -> Instance | None:
    """The minimiser without the constraint is a little shorter or longer than 1: μ = 0 is just right, or just wrong.

    The free minimiser is z(τ) = soft(c, p/2)/τ with c = Ay + τy. Its length falls to ‖y‖_B < 1 as τ grows, so that
    bisection finds the τ of a given length. None if the length is below it for every τ.
    """
    n, eps = int(rng.integers(2, 9)), float(rng.choice([1.0, 0.1]))
    A, B = pencil("covariance", str(rng.choice(["identity", "dense", "dense", "uneven"])), n, rng)
    y, length = 0.5 * unit(B, rng.standard_normal(n)), float(rng.choice([0.9997, 0.997, 1.003, 1.03]))
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
    flags = ("nearly-active", f"eps={eps:.0e}")
    data = {"A": A, "B": B, "y": y, "rho": rho, "eps": eps, "tau": float(high)}
    return question("step", f"n = {n}, {', '.join(flags)}, free length {length:g}", flags, data)


def near_tie(rng: Random) -> Instance | None:
    """ρ̃ just beside a value at which a coordinate leaves the support: the smallest entry is small but not zero.

    By bisection on ρ̃ for the point where the first coordinate leaves, then a little before it.
    """
    n = int(rng.integers(3, 8))
    A, B = pencil("covariance", str(rng.choice(["identity", "dense"])), n, rng)
    y, tau, eps = unit(B, rng.standard_normal(n)), float(rng.choice([0.0, 0.5])), 0.1
    low, high = 0.0, 0.9

    def at(level: float) -> Instance:
        return step_case(A, B, y, level, eps, tau, ("near-tie", "eps=1e-01"))

    full = np.count_nonzero(reference(at(low)).x)
    for _ in range(14):
        middle = 0.5 * (low + high)
        if np.count_nonzero(reference(at(middle)).x) == full:
            low = middle
        else:
            high = middle
    return at(low * (1.0 - float(rng.choice([1e-3, 1e-2]))))


def fixed_point(rng: Random) -> Instance:
    """y is the limit of the iteration: the step must return y (Eq:fixed).

    Made by iterating the certified step itself, at most 300 times.
    """
    n = int(rng.integers(2, 8))
    A, B = pencil(str(rng.choice(["covariance", "planted"])), str(rng.choice(["identity", "dense"])), n, rng)
    y, eps, tau = leading(A, B), float(rng.choice([0.1, 1e-2])), 0.2
    case = step_case(A, B, y, 0.2, eps, tau, ("fixed-point", f"eps={eps:.0e}"))
    for _ in range(300):
        x = reference(case).x
        case = case.changed("", y=x)
        if float(np.max(np.abs(x - y))) <= 1e-14:
            break
        y = x
    flags = ("fixed-point", f"eps={eps:.0e}")
    return question("step", f"n = {n}, {', '.join(flags)}", flags, dict(case.data))


def tiny_weights(rng: Random) -> Instance:
    """ε = machine precision and a tiny ρ̃: a clipped ε, or a capped weight, lets zeros of y come back.

    At the smallest of these ρ̃ the slope of a zero, ρ_ε/ε, is only some tens of times A's size: neither a clipped ε
    nor a capped weight goes unnoticed.
    """
    n = int(rng.integers(3, 8))
    A, B = pencil("covariance", str(rng.choice(["identity", "dense"])), n, rng)
    y = start_vector(A, B, "zeros", rng)
    rho = float(rng.choice([3e-13, 3e-13, 1e-9, 1e-5])) * float(np.max(np.abs(A)))
    data: dict[str, Any] = {"A": A, "B": B, "y": y, "rho": rho, "eps": MACHINE_EPS, "tau": 0.3}
    return question("step", f"n = {n}, tiny ρ̃ at tiny ε", ("tiny-weights", "eps=2e-16", "zeros"), data)


def tiny_entries(rng: Random) -> Instance:
    """Entries of y of 1e-9 beside ε = machine precision, and a ρ̃ at which they come back: they are not 0.

    Their weight is 1e9 and not 1/ε, and ρ_ε·1e9 is a third of what would hold them at 0.
    """
    n = int(rng.integers(3, 8))
    A, B = pencil("covariance", str(rng.choice(["identity", "dense"])), n, rng)
    y, tau = start_vector(A, B, "dusty", rng), 0.3
    small = np.abs(y) < 1e-7 * np.max(np.abs(y))
    reach = 2.0 * np.abs(A @ y + tau * y) * (np.abs(y) + MACHINE_EPS)
    rho = 0.3 * float(np.median(reach[small])) * log_scale(MACHINE_EPS)
    data: dict[str, Any] = {"A": A, "B": B, "y": y, "rho": rho, "eps": MACHINE_EPS, "tau": tau}
    return question("step", f"n = {n}, entries of 1e-9 come back", ("tiny-weights", "eps=2e-16", "dusty"), data)


def zero_weights(rng: Random) -> Instance:
    """Zeros in y at a large ε: their weight is 1/ε, which some of them survive.

    With weights 1/ε of size one a zero may come back, and a solver that drops zeros for good is caught.
    """
    n = int(rng.integers(3, 9))
    A, B = pencil(str(rng.choice(["covariance", "indefinite"])), str(rng.choice(["identity", "dense"])), n, rng)
    y = start_vector(A, B, "zeros", rng)
    tau, eps = shifted(A, "more"), float(rng.choice([1.0, 0.3]))
    return step_case(A, B, y, float(rng.uniform(0.05, 0.5)), eps, tau, ("zero-weights", "eps=1e+00", "zeros"))


def no_pull(rng: Random) -> Instance:
    """y = 0: nothing pulls x from the origin, and 0 is the minimiser.

    c = 0, so that formulas which divide by ‖c‖ or ‖z‖ return NaN.
    """
    n = int(rng.integers(1, 5))
    A, B = pencil("indefinite", "dense", n, rng)
    data = {"A": A, "B": B, "y": np.zeros(n), "rho": 0.3, "eps": 0.1, "tau": shifted(A, "more")}
    return question("step", f"n = {n}, y = 0", ("no-pull", "eps=1e-01"), data)


def no_objective(rng: Random) -> Instance:
    """A = 0: with τ > 0 the step is soft thresholding of y, x = soft(y, p/(2τ)); with τ = 0 it is x = 0.

    A program that scales by max |A|, or takes A = 0 for a fixed point, goes wrong.
    """
    n, tau = int(rng.integers(1, 6)), float(rng.choice([0.0, 0.7, 0.7]))
    B = METRICS[str(rng.choice(["identity", "dense"]))](n, rng)
    y, eps = float(rng.uniform(0.3, 1.0)) * unit(B, rng.standard_normal(n)), float(rng.choice([1.0, 0.1]))
    if tau > 0.0:
        return step_case(np.zeros((n, n)), B, y, 0.2, eps, tau, ("no-objective", f"eps={eps:.0e}"))
    data = {"A": np.zeros((n, n)), "B": B, "y": y, "rho": 0.3, "eps": eps, "tau": tau}
    return question("step", f"n = {n}, A = 0, τ = 0", ("no-objective", f"eps={eps:.0e}"), data)


def single(rng: Random) -> Instance:
    """One variable: x = soft(c, p/2) over max(τ, …), known by hand."""
    A, B = np.array([[float(rng.uniform(-1.0, 2.0))]]), np.array([[float(rng.uniform(0.2, 4.0))]])
    y = np.array([float(rng.choice([-1.0, 0.4])) / np.sqrt(B[0, 0])])
    level, eps = float(rng.choice([0.0, 0.2, 0.9, 2.0])), float(rng.choice([1.0, 1e-2, MACHINE_EPS]))
    return step_case(A, B, y, level, eps, shifted(A, "more"), ("one-variable", f"eps={eps:.0e}"))


def cancelling(rng: Random) -> Instance:
    """A variance of 1e5 in a direction that y does not have: c = Ay is small beside A, and float32 loses it.

    uᵀy = 0 to rounding, so that double precision knows c to eleven digits; data or sums in single precision know
    two. A solver sees c and p alone, which are of size one.
    """
    n = int(rng.integers(3, 8))
    A, B = pencil("covariance", str(rng.choice(["identity", "dense", "uneven"])), n, rng)
    u = unit(np.eye(n), rng.standard_normal(n))
    A = A + 1e5 * np.outer(u, u)
    y = rng.standard_normal(n)
    y = unit(B, y - u * float(u @ y))
    eps, tau = float(rng.choice([1.0, 0.1])), float(rng.choice([0.0, 0.5]))
    flags = ("cancelling", f"eps={eps:.0e}")
    return step_case(0.5 * (A + A.T), B, y, float(rng.uniform(0.05, 0.4)), eps, tau, flags)


def hard_basis(rng: Random) -> Instance:
    """cond(B) = 1e8 in a random basis, which no units repair; for solvers that claim a closed form's accuracy."""
    n = int(rng.integers(2, 8))
    A, B = pencil("covariance", "identity", n, rng)[0], hardest(n, rng)
    y, eps = unit(B, rng.standard_normal(n)), float(rng.choice([1.0, 0.1, 1e-2]))
    flags = ("basis-1e8", "cond-1e8", f"eps={eps:.0e}")
    return step_case(A, B, y, float(rng.uniform(0.0, 0.5)), eps, float(rng.choice([0.0, 0.3])), flags)


def fda_battery(seed: int, count: int) -> list[Instance]:
    """Steps of sparse FDA over all metrics, starts and ε, then tiny weights (Eq:fdaiterative)."""
    rng = np.random.default_rng([seed, 3])
    levels = (0.0, 0.01, 0.1, 0.5, 2.0, 20.0)
    starts = ("fisher", "random", "zeros", "basis", "dusty", "constant")
    metrics = balanced(rng, tuple(METRICS), count)
    rest = (balanced(rng, column, count) for column in (EPSILONS, levels, starts))
    drawn = zip(metrics, sizes(rng, count), *rest, strict=True)
    tiny, blind = np.random.default_rng([seed, 12]), np.random.default_rng([seed, 15])
    many = max(4, count // 30)
    return [
        *(fda_case(rng, *row) for row in drawn),
        *(fda_tiny_weights(tiny) for _ in range(many)),
        *(fda_without_difference(blind, index) for index in range(2 * many)),
    ]


def fda_case(rng: Random, metric: str, n: int, eps: float, level: float, start: str) -> Instance:
    """One step of sparse FDA from a feasible y; ν in units of the dense optimum 1/(aᵀB⁻¹a).

    Entries of a below 0.05 are raised to 0.3, so that no variable is useless by chance; y is put on the plane aᵀx =
    1.
    """
    B = METRICS[metric](n, rng)
    a = rng.standard_normal(n)
    a[np.abs(a) < 0.05] = 0.3
    fisher = np.linalg.solve(B, a)
    value = 1.0 / float(a @ fisher)
    y = fisher * value if start == "fisher" else through(a, start_vector(B, B, start, rng))
    nu = level * value * log_scale(eps) / n
    flags = (metric, f"eps={eps:.0e}", start, f"nu-{level:g}")
    return question("fda", f"n = {n}, {', '.join(flags)}", flags, {"a": a, "B": B, "y": y, "nu": nu, "eps": eps})


def fda_without_difference(rng: Random, index: int) -> Instance:
    """None, a third of a, or all but one are 0: such a variable separates no means, and still has a place through B.

    With ν = 0 the minimiser is B⁻¹a/(aᵀB⁻¹a), whose entries there are not 0: dropping them is wrong. In half of the
    cases what is left of a is one number, as where means differ by the same in every variable.
    """
    n, eps = int(rng.integers(3, 10)), float(rng.choice([1.0, 0.1, 1e-2]))
    B = METRICS[str(rng.choice(["dense", "levels", "cond-1e3"]))](n, rng)
    a = rng.choice([-1.0, 1.0], n) * rng.uniform(0.5, 2.0, n) if index % 2 else np.full(n, 1.3)
    a[rng.permutation(n)[: (0, max(1, n // 3), n - 1)[index % 3]]] = 0.0
    fisher = np.linalg.solve(B, a) / float(a @ np.linalg.solve(B, a))
    nu = (0.05, 0.0)[index // 6 % 2] * float(fisher @ B @ fisher) * log_scale(eps) / n
    flags = ("zero-difference", f"eps={eps:.0e}")
    data = {"a": a, "B": B, "y": fisher, "nu": nu, "eps": eps}
    return question("fda", f"n = {n}, {', '.join(flags)}", flags, data)


def fda_tiny_weights(rng: Random) -> Instance:
    """ε = machine precision and a ν at which the slope of a zero is 20 times what it must hold, or much more.

    A clipped ε lowers that slope by the clip, and zeros of y come back.
    """
    n = int(rng.integers(3, 8))
    B, a = (
        METRICS[str(rng.choice(["identity", "dense"]))](n, rng),
        rng.choice([-1.0, 1.0], n) * rng.uniform(0.5, 2.0, n),
    )
    y = through(a, start_vector(B, B, "zeros", rng))
    pull = 2.0 * float(np.max(np.abs(a))) / float(a @ np.linalg.solve(B, a))
    nu = float(rng.choice([20.0, 1e3, 1e6])) * pull * MACHINE_EPS * log_scale(MACHINE_EPS)
    flags = ("tiny-weights", "eps=2e-16", "zeros")
    return question(
        "fda", f"n = {n}, tiny ν at tiny ε", flags, {"a": a, "B": B, "y": y, "nu": nu, "eps": MACHINE_EPS}
    )


def through(a: Vector, y: Vector) -> Vector:
    """The multiple of y on aᵀx = 1; where aᵀy is nearly 0, y's sign is first turned to a's.

    y on the plane aᵀx = 1; dividing by an aᵀy near zero would make y huge and the case about rounding.
    """
    ay = float(a @ y)
    if abs(ay) < 0.1 * float(np.abs(a) @ np.abs(y)):
        y = np.abs(y) * np.sign(a)
        ay = float(a @ y)
    return y / ay


__all__ = ["EPSILONS", "balanced", "dense", "fda_battery", "shifted", "step_battery"]
