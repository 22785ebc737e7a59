"""Questions about one MM step: (ALG) and Eq:fdaiterative, drawn evenly from every family (Section 3.3, Section 6).

Each dimension (kind of A, kind of B, n, ε, ρ̃, y, τ) takes each of its values equally often, in independent random
orders: with a few hundred cases every pair of values is likely to occur.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..programs import MACHINE_EPS, log_scale
from .levels import Instance, question
from .pencil_cases import METRICS, OBJECTIVES, Random, balanced, leading, pencil, rotated_1e8, unit
from .reference_answers import reference

EPSILONS = (30.0, 4.0, 1.0, 0.1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-12, MACHINE_EPS)
SMALL_SIZES = (1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)


def step_cases(seed: int, count: int) -> list[Instance]:
    """Random steps over all families, then those that random draws seldom bring."""
    rng = np.random.default_rng([seed, 1])
    kinds, metrics = balanced(rng, (*OBJECTIVES, "cca"), count), balanced(rng, tuple(METRICS), count)
    shares = (0.0, 3e-4, 0.003, 0.03, 0.1, 0.25, 0.5, 0.8, 0.999, 1.001, 3.0)
    starts = ("eigen", "random", "zeros", "interior", "near-zero", "constant", "basis", "tiny", "all-negative")
    rest = (balanced(rng, column, count) for column in (EPSILONS, shares, starts, ("least", "more", "much")))
    cases = [random_step(rng, *row) for row in zip(kinds, metrics, sizes(rng, count), *rest, strict=True)]
    return [*cases, *special_steps(seed, max(2, count // 60))]


def sizes(rng: Random, count: int) -> list[int]:
    """Values of n in random order: every large one once in 300 cases, the small ones equally often.

    Every size up to 66 occurs, since a kernel may be wrong for one size alone, and two beyond the next block sizes.
    """
    large = (*range(17, 67), 97, 129) * max(1, count // 300)
    found = [*balanced(rng, SMALL_SIZES, count - len(large)), *large]
    return [found[int(i)] for i in rng.permutation(count)]


def random_step(
    rng: Random, kind: str, metric: str, n: int, eps: float, share: float, start: str, shift: str
) -> Instance:
    """One step of the named families.

    A size that occurs once is asked where x ≠ 0, since no fault of that size shows at 0. Where c = (A + τI)y cancels
    to rounding the shift is enlarged, because then no two programs agree on c itself.
    """
    A, B = pencil(kind, metric, n, rng)
    y = start_vector(A, B, start, rng)
    share = share if n <= max(SMALL_SIZES) else min(share, 0.5)
    tau = shifted(A, shift)
    if float(np.max(np.abs(A @ y + tau * y))) < 1e-3 * float(np.max(np.abs(A))) * float(np.max(np.abs(y))):
        shift, tau = "more", shifted(A, "more")
    flags = (kind, "cca" if kind == "cca" else metric, eps_flag(eps), start, f"tau-{shift}", f"rho-{share:g}")
    return step_case(A, B, y, share, eps, tau, flags)


def step_case(
    A: Matrix, B: Matrix, y: Vector, share: float, eps: float, tau: float, flags: tuple[str, ...]
) -> Instance:
    """A step whose ρ̃ is a share of the one at which it collapses: 0.5 leaves some coordinates, 1.001 none."""
    data = {"A": A, "B": B, "y": y, "rho": share * collapse(A, y, eps, tau), "eps": eps, "tau": tau}
    return step_question(data, flags, ", ".join(flags))


def step_question(data: dict[str, Any], flags: tuple[str, ...], words: str) -> Instance:
    """The question with these arguments, of level fda where there is an a."""
    return question("fda" if "a" in data else "step", f"n = {len(data['y'])}, {words}", flags, data)


def eps_flag(eps: float) -> str:
    """The flag of an ε."""
    return f"eps={eps:.0e}"


def collapse(A: Matrix, y: Vector, eps: float, tau: float) -> float:
    """The ρ̃ from which on x = 0 minimises the step: every 2|cᵢ| ≤ ρ_ε wᵢ (beyond the paper).

    Proof: 0 minimises g(·, y) exactly when 2c ∈ p∘[−1, 1], and pᵢ = ρ_ε/(|yᵢ| + ε).
    """
    return float(np.max(2.0 * np.abs(A @ y + tau * y) * (np.abs(y) + eps))) * log_scale(eps)


def lowest(A: Matrix) -> float:
    """λmin(A)."""
    return float(np.linalg.eigvalsh(A)[0])


def shifted(A: Matrix, shift: str) -> float:
    """τ: the least that is valid (widened by 1e-9 for rounding), more, or so much that it outweighs A."""
    size, low = float(np.max(np.abs(A))), lowest(A)
    least = 0.0 if low >= -1e-10 * size else -low * (1.0 + 1e-9)
    return {"least": least, "more": 1.5 * least + 0.4 * size, "much": least + 8.0 * size}[shift]


def start_vector(A: Matrix, B: Matrix, start: str, rng: Random) -> Vector:
    """The previous iterate y, a point of Ω of the named kind.

    "tiny" has entries of 1e-9, which are nonzeros with a weight of their own; "near-zero" lies near the origin, where
    a step that normalises y first goes wrong.
    """
    n = len(A)
    g = rng.standard_normal(n)
    if start == "eigen":
        return leading(A, B)
    if start in ("zeros", "tiny") and n > 1:
        half = rng.permutation(n)[: n // 2]
        g[half] = 0.0 if start == "zeros" else 1e-9 * g[half]
    if start == "constant":
        g = np.ones(n)
    if start == "basis":
        g = np.eye(n)[int(rng.integers(n))]
    if start == "all-negative":
        g = -np.abs(g)
    return {"interior": 0.3, "near-zero": 0.02}.get(start, 1.0) * unit(B, g)


# Steps that random draws seldom bring


def special_steps(seed: int, count: int) -> Iterator[Instance]:
    """Interior optima, near ties, fixed points, tiny ρ̃ at tiny ε, c = 0, and more; a generator for each kind."""
    makers: tuple[Callable[[Random], Instance | None], ...] = (
        interior_step, nearly_active, near_tie, fixed_point, tiny_weights, tiny_entries, zero_weights, zero_y,
        zero_matrix, single, cancelling, hard_basis,
    )  # fmt: skip
    for index, maker in enumerate(makers):
        rng = np.random.default_rng([seed, 2, index])
        yield from (case for _ in range(2 * count) if (case := maker(rng)) is not None)


def draw(rng: Random, *values: float) -> float:
    """One of some numbers."""
    return float(rng.choice(values))


def small_pencil(
    rng: Random, most: int, kinds: Sequence[str], metrics: Sequence[str], least: int = 2
) -> tuple[int, Matrix, Matrix]:
    """(n, A, B) with least ≤ n < most and the families drawn."""
    n = int(rng.integers(least, most))
    kind, metric = (names[0] if len(names) == 1 else str(rng.choice(names)) for names in (kinds, metrics))
    return n, *pencil(kind, metric, n, rng)


def interior_step(rng: Random) -> Instance:
    """τ > 0 and a small c: the minimiser lies inside Ω and must not be normalised."""
    n, A, B = small_pencil(rng, 9, ["indefinite", "negative", "cca"], ["identity", "dense"])
    tau = 3.0 * max(-lowest(A), float(np.max(np.abs(A))))
    y = float(rng.uniform(0.1, 0.6)) * unit(B, rng.standard_normal(n))
    eps = draw(rng, 1.0, 0.1, 1e-2)
    return step_case(A, B, y, float(rng.uniform(0.01, 0.3)), eps, tau, ("interior-optimum", eps_flag(eps)))


def nearly_active(rng: Random) -> Instance | None:
    """The minimiser without the constraint is a little shorter or longer than 1: μ = 0 is just right, or just wrong.

    That minimiser is z(τ) = soft(c, p/2)/τ with c = Ay + τy. Its length falls to ‖y‖_B < 1 as τ grows, so that
    bisection finds the τ of a given length. None if the length is below it for every τ.
    """
    n, eps = int(rng.integers(2, 9)), draw(rng, 1.0, 0.1)
    A, B = pencil("covariance", str(rng.choice(["identity", "dense", "dense", "uneven"])), n, rng)
    y, length = 0.5 * unit(B, rng.standard_normal(n)), draw(rng, 0.9997, 0.997, 1.003, 1.03)
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
    data = {"A": A, "B": B, "y": y, "rho": rho, "eps": eps, "tau": float(high)}
    flags = ("nearly-active", eps_flag(eps))
    return step_question(data, flags, f"{', '.join(flags)}, free length {length:g}")


def near_tie(rng: Random) -> Instance:
    """ρ̃ just below the value at which the first coordinate leaves the support, found by bisection."""
    n, A, B = small_pencil(rng, 8, ["covariance"], ["identity", "dense"], least=3)
    y, tau = unit(B, rng.standard_normal(n)), draw(rng, 0.0, 0.5)
    low, high = 0.0, 0.9

    def at(share: float) -> Instance:
        return step_case(A, B, y, share, 0.1, tau, ("near-tie", "eps=1e-01"))

    full = np.count_nonzero(reference(at(low)).x)
    for _ in range(14):
        middle = 0.5 * (low + high)
        same = np.count_nonzero(reference(at(middle)).x) == full
        low, high = (middle, high) if same else (low, middle)
    return at(low * (1.0 - draw(rng, 1e-3, 1e-2)))


def fixed_point(rng: Random) -> Instance:
    """y is the limit of the iteration, made by at most 300 certified steps: the step must return y (Eq:fixed)."""
    _, A, B = small_pencil(rng, 8, ["covariance", "planted"], ["identity", "dense"])
    y, eps = leading(A, B), draw(rng, 0.1, 1e-2)
    case = step_case(A, B, y, 0.2, eps, 0.2, ("fixed-point", eps_flag(eps)))
    flags, words = case.flags, ", ".join(case.flags)
    for _ in range(300):
        x = reference(case).x
        case = case.changed("", y=x)
        if float(np.max(np.abs(x - y))) <= 1e-14:
            break
        y = x
    return step_question(dict(case.data), flags, words)


def tiny_weights(rng: Random) -> Instance:
    """ε = machine precision and a tiny ρ̃: a clipped ε, or a capped weight, lets zeros of y come back.

    At the smallest of these ρ̃ the slope of a zero, ρ_ε/ε, is only some tens of times A's size.
    """
    _, A, B = small_pencil(rng, 8, ["covariance"], ["identity", "dense"], least=3)
    y = start_vector(A, B, "zeros", rng)
    rho = draw(rng, 3e-13, 3e-13, 1e-9, 1e-5) * float(np.max(np.abs(A)))
    data = {"A": A, "B": B, "y": y, "rho": rho, "eps": MACHINE_EPS, "tau": 0.3}
    return step_question(data, ("tiny-weights", "eps=2e-16", "zeros"), "tiny ρ̃ at tiny ε")


def tiny_entries(rng: Random) -> Instance:
    """Entries of y of 1e-9 beside ε = machine precision, and a ρ̃ at which they come back: they are not 0.

    Their weight is 1e9 and not 1/ε, and ρ_ε·1e9 is a third of what would hold them at 0.
    """
    _, A, B = small_pencil(rng, 8, ["covariance"], ["identity", "dense"], least=3)
    y, tau = start_vector(A, B, "tiny", rng), 0.3
    small = np.abs(y) < 1e-7 * np.max(np.abs(y))
    reach = 2.0 * np.abs(A @ y + tau * y) * (np.abs(y) + MACHINE_EPS)
    rho = 0.3 * float(np.median(reach[small])) * log_scale(MACHINE_EPS)
    data = {"A": A, "B": B, "y": y, "rho": rho, "eps": MACHINE_EPS, "tau": tau}
    return step_question(data, ("tiny-weights", "eps=2e-16", "tiny"), "entries of 1e-9 come back")


def zero_weights(rng: Random) -> Instance:
    """Zeros in y at a large ε: with their weight 1/ε some come back, and a solver that drops zeros is wrong."""
    _, A, B = small_pencil(rng, 9, ["covariance", "indefinite"], ["identity", "dense"], least=3)
    y = start_vector(A, B, "zeros", rng)
    tau, eps = shifted(A, "more"), draw(rng, 1.0, 0.3)
    return step_case(A, B, y, float(rng.uniform(0.05, 0.5)), eps, tau, ("zero-weights", "eps=1e+00", "zeros"))


def zero_y(rng: Random) -> Instance:
    """y = 0: c = 0 and x = 0, where formulas that divide by ‖c‖ or ‖z‖ return NaN."""
    n, A, B = small_pencil(rng, 5, ["indefinite"], ["dense"], least=1)
    data = {"A": A, "B": B, "y": np.zeros(n), "rho": 0.3, "eps": 0.1, "tau": shifted(A, "more")}
    return step_question(data, ("zero-y", "eps=1e-01"), "y = 0")


def zero_matrix(rng: Random) -> Instance:
    """A = 0: with τ > 0 the step is x = soft(y, p/(2τ)), with τ = 0 it is x = 0; scaling by max |A| goes wrong."""
    n, tau = int(rng.integers(1, 6)), draw(rng, 0.0, 0.7, 0.7)
    A, B = np.zeros((n, n)), METRICS[str(rng.choice(["identity", "dense"]))](n, rng)
    y, eps = float(rng.uniform(0.3, 1.0)) * unit(B, rng.standard_normal(n)), draw(rng, 1.0, 0.1)
    flags = ("zero-A", eps_flag(eps))
    if tau > 0.0:
        return step_case(A, B, y, 0.2, eps, tau, flags)
    return step_question({"A": A, "B": B, "y": y, "rho": 0.3, "eps": eps, "tau": tau}, flags, "A = 0, τ = 0")


def single(rng: Random) -> Instance:
    """One variable, whose minimiser is known by hand."""
    A, B = np.array([[float(rng.uniform(-1.0, 2.0))]]), np.array([[float(rng.uniform(0.2, 4.0))]])
    y = np.array([draw(rng, -1.0, 0.4) / np.sqrt(B[0, 0])])
    share, eps = draw(rng, 0.0, 0.2, 0.9, 2.0), draw(rng, 1.0, 1e-2, MACHINE_EPS)
    return step_case(A, B, y, share, eps, shifted(A, "more"), ("one-variable", eps_flag(eps)))


def cancelling(rng: Random) -> Instance:
    """A variance of 1e5 in a direction that y does not have: c = Ay is small beside A, and float32 loses it.

    uᵀy = 0 to rounding, so that double precision knows c to eleven digits, single precision to two.
    """
    n, A, B = small_pencil(rng, 8, ["covariance"], ["identity", "dense", "uneven"], least=3)
    u = unit(np.eye(n), rng.standard_normal(n))
    A = A + 1e5 * np.outer(u, u)
    y = rng.standard_normal(n)
    y = unit(B, y - u * float(u @ y))
    eps, tau = draw(rng, 1.0, 0.1), draw(rng, 0.0, 0.5)
    return step_case(0.5 * (A + A.T), B, y, float(rng.uniform(0.05, 0.4)), eps, tau, ("cancelling", eps_flag(eps)))


def hard_basis(rng: Random) -> Instance:
    """cond(B) = 1e8 in a random basis, which no units repair; for solvers that claim a closed form's accuracy."""
    n = int(rng.integers(2, 8))
    A, B = pencil("covariance", "identity", n, rng)[0], rotated_1e8(n, rng)
    y, eps = unit(B, rng.standard_normal(n)), draw(rng, 1.0, 0.1, 1e-2)
    share, tau = float(rng.uniform(0.0, 0.5)), draw(rng, 0.0, 0.3)
    return step_case(A, B, y, share, eps, tau, ("basis-1e8", "cond-1e8", eps_flag(eps)))


# Steps of sparse FDA


def fda_cases(seed: int, count: int) -> list[Instance]:
    """Steps of sparse FDA over all metrics, y and ε, then tiny weights and equal class means (Eq:fdaiterative)."""
    rng = np.random.default_rng([seed, 3])
    prices = (0.0, 0.01, 0.1, 0.5, 2.0, 20.0)
    starts = ("fisher", "random", "zeros", "basis", "tiny", "constant")
    metrics = balanced(rng, tuple(METRICS), count)
    rest = (balanced(rng, column, count) for column in (EPSILONS, prices, starts))
    drawn = [fda_case(rng, *row) for row in zip(metrics, sizes(rng, count), *rest, strict=True)]
    tiny, equal, many = np.random.default_rng([seed, 12]), np.random.default_rng([seed, 15]), max(4, count // 30)
    drawn += [fda_tiny_weights(tiny) for _ in range(many)]
    return [*drawn, *(fda_equal_means(equal, index) for index in range(2 * many))]


def fda_case(rng: Random, metric: str, n: int, eps: float, price: float, start: str) -> Instance:
    """One step of sparse FDA from a feasible y; ν in units of the dense optimum 1/(aᵀB⁻¹a).

    Entries of a below 0.05 are raised to 0.3, so that no variable is useless by chance.
    """
    B, a = METRICS[metric](n, rng), rng.standard_normal(n)
    a[np.abs(a) < 0.05] = 0.3
    fisher = np.linalg.solve(B, a)
    value = 1.0 / float(a @ fisher)
    y = fisher * value if start == "fisher" else through(a, start_vector(B, B, start, rng))
    flags = (metric, eps_flag(eps), start, f"nu-{price:g}")
    data = {"a": a, "B": B, "y": y, "nu": price * value * log_scale(eps) / n, "eps": eps}
    return step_question(data, flags, ", ".join(flags))


def fda_equal_means(rng: Random, index: int) -> Instance:
    """None, a third of a, or all but one are 0: such a variable separates no means, and still enters through B.

    With ν = 0 the minimiser is B⁻¹a/(aᵀB⁻¹a), whose entries there are not 0: dropping them is wrong. In half of the
    cases the other entries of a are equal.
    """
    n, eps = int(rng.integers(3, 10)), draw(rng, 1.0, 0.1, 1e-2)
    B = METRICS[str(rng.choice(["dense", "two-values", "cond-1e3"]))](n, rng)
    a = rng.choice([-1.0, 1.0], n) * rng.uniform(0.5, 2.0, n) if index % 2 else np.full(n, 1.3)
    a[rng.permutation(n)[: (0, max(1, n // 3), n - 1)[index % 3]]] = 0.0
    fisher = np.linalg.solve(B, a) / float(a @ np.linalg.solve(B, a))
    nu = (0.05, 0.0)[index // 6 % 2] * float(fisher @ B @ fisher) * log_scale(eps) / n
    flags = ("equal-means", eps_flag(eps))
    return step_question({"a": a, "B": B, "y": fisher, "nu": nu, "eps": eps}, flags, ", ".join(flags))


def fda_tiny_weights(rng: Random) -> Instance:
    """ε = machine precision and a ν at which the slope of a zero is 20 times what it must hold, or much more.

    A clipped ε lowers that slope, and zeros of y come back.
    """
    n = int(rng.integers(3, 8))
    B = METRICS[str(rng.choice(["identity", "dense"]))](n, rng)
    a = rng.choice([-1.0, 1.0], n) * rng.uniform(0.5, 2.0, n)
    y = through(a, start_vector(B, B, "zeros", rng))
    pull = 2.0 * float(np.max(np.abs(a))) / float(a @ np.linalg.solve(B, a))
    nu = draw(rng, 20.0, 1e3, 1e6) * pull * MACHINE_EPS * log_scale(MACHINE_EPS)
    data = {"a": a, "B": B, "y": y, "nu": nu, "eps": MACHINE_EPS}
    return step_question(data, ("tiny-weights", "eps=2e-16", "zeros"), "tiny ν at tiny ε")


def through(a: Vector, y: Vector) -> Vector:
    """The multiple of y on aᵀx = 1; where aᵀy is nearly 0, which would make y huge, y first gets the signs of a."""
    if abs(float(a @ y)) < 0.1 * float(np.abs(a) @ np.abs(y)):
        y = np.abs(y) * np.sign(a)
    return y / float(a @ y)
