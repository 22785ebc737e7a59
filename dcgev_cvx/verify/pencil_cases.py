"""Families of pencils (A, B), and the questions of (SGEV-P), which are a pencil and a k.

A family's docstring names the mistake that it detects, where there is a typical one. Entries are of size one
and drawn from an explicit generator. Pencils of (SGEV-P) are small enough to look at every support.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, cycle
from types import MappingProxyType
from typing import TypeAlias, TypeVar

import numpy as np

from .._numerics.checks import Matrix, Vector
from .levels import Instance, question

Random: TypeAlias = np.random.Generator
T = TypeVar("T")

# Families of A


def covariance(n: int, rng: Random) -> Matrix:
    """CᵀC/m of Gaussian data with 2n + 2 rows."""
    C = rng.standard_normal((2 * n + 2, n))
    return C.T @ C / len(C)


def planted(n: int, rng: Random) -> Matrix:
    """I + 2vvᵀ with v sparse and of mixed sign."""
    k = max(1, n // 3)
    v = np.zeros(n)
    v[rng.choice(n, size=k, replace=False)] = rng.choice([-1.0, 1.0], size=k) / np.sqrt(k)
    return np.eye(n) + 2.0 * np.outer(v, v)


def indefinite(n: int, rng: Random) -> Matrix:
    """A symmetric Gaussian matrix: eigenvalues of both signs."""
    M = rng.standard_normal((n, n)) / np.sqrt(n)
    return 0.5 * (M + M.T) + (0.3 if n == 1 else 0.0) * np.eye(n)


def negative(n: int, rng: Random) -> Matrix:
    """Negative definite: every valid shift τ is at least the largest modulus."""
    return -covariance(n, rng) - 0.2 * np.eye(n)


def large_negative(n: int, rng: Random) -> Matrix:
    """A covariance whose most negative eigenvalue has the largest modulus: without τ a power iteration follows it."""
    u = rng.standard_normal(n)
    return covariance(n, rng) - 4.0 * np.outer(u, u) / float(u @ u)


def rank_one(n: int, rng: Random) -> Matrix:
    """aaᵀ, the A of FDA."""
    a = rng.standard_normal(n) + 0.2
    return np.outer(a, a) / n


def diagonal(n: int, rng: Random) -> Matrix:
    """A diagonal matrix with entries of both signs, the first the largest."""
    d = rng.uniform(-1.0, 1.0, size=n)
    d[0] = 1.3
    return np.diag(d)


def graded(n: int, rng: Random) -> Matrix:
    """A covariance whose variables have standard deviations from 1 down to 1/30: absolute thresholds on |xᵢ| fail."""
    d = np.logspace(0.0, -1.5, n)
    return covariance(n, rng) * np.outer(d, d)


def exchangeable(n: int, rng: Random) -> Matrix:
    """(1 − r)I + r11ᵀ: every variable ties with every other."""
    return 0.6 * np.eye(n) + 0.4


def repeated(n: int, rng: Random) -> Matrix:
    """Two uncorrelated copies of a covariance: every eigenvalue occurs twice, so there is no leading one."""
    k = max(1, n // 2)
    A = 0.5 * np.eye(n)
    A[:k, :k] = half = covariance(k, rng)
    if n > 1:
        A[k : 2 * k, k : 2 * k] = half
    return A


def constant_variables(n: int, rng: Random) -> Matrix:
    """A covariance with a third of the variables constant, whose rows are 0: dividing by their variance is 0/0."""
    A = covariance(n, rng)
    constant = rng.permutation(n)[: n // 3]
    A[constant, :] = 0.0
    A[:, constant] = 0.0
    return A


def cca(n: int, rng: Random) -> tuple[Matrix, Matrix]:
    """(A, B) of CCA from Gaussian data with one shared factor: A has no diagonal blocks, B no others (Eq:CCA).

    A ridge of 0.05 keeps B well-conditioned. The spectrum is symmetric, so that A is indefinite and τ > 0.
    """
    p, m = max(1, n // 2), 3 * n + 4
    Z = rng.standard_normal((m, n)) + rng.standard_normal((m, 1)) * rng.uniform(-1.0, 1.0, size=n)
    S = Z.T @ Z / m
    A, B = S.copy(), S.copy()
    A[:p, :p] = A[p:, p:] = 0.0
    B[:p, p:] = 0.0
    B[p:, :p] = 0.0
    return A, B + 0.05 * np.eye(n)


# Families of B


def identity(n: int, rng: Random) -> Matrix:
    """I."""
    return np.eye(n)


def uneven(n: int, rng: Random) -> Matrix:
    """A diagonal B with entries between 1/10 and 10."""
    return np.diag(10.0 ** rng.uniform(-1.0, 1.0, size=n))


def dense(n: int, rng: Random) -> Matrix:
    """A well-conditioned B with every entry nonzero."""
    N = rng.standard_normal((n, 2 * n + 1))
    return N @ N.T / (2 * n + 1) + 0.1 * np.eye(n)


def two_values(n: int, rng: Random) -> Matrix:
    """A dense B with the eigenvalues 1 and 4 and no others: a secular equation has repeated poles."""
    return rotated(np.where(np.arange(n) % 2 == 0, 4.0, 1.0), rng)


def rotated_1e3(n: int, rng: Random) -> Matrix:
    """B with eigenvalues from 1 down to 1e-3 in a random basis: single precision loses x there."""
    return rotated(np.logspace(0.0, -3.0 if n > 1 else 0.0, n), rng)


def graded_1e8(n: int, rng: Random) -> Matrix:
    """cond(B) = 1e8 from variables of standard deviation 1 down to 1e-4: a fixed ridge or threshold fails."""
    d = np.logspace(0.0, -4.0 if n > 1 else 0.0, n)
    d = d[rng.permutation(n)]
    return dense(n, rng) * np.outer(d, d)


def rotated_1e8(n: int, rng: Random) -> Matrix:
    """cond(B) = 1e8 in a random basis: an inverse, a truncated pseudoinverse or B² fails, and so does slow descent.

    The eigenvalues are raised by what rounding the product may take away, so that B stays definite.
    """
    return rotated(np.logspace(0.0, -8.0 if n > 1 else 0.0, n) + 1e-15, rng)


def small_metric(n: int, rng: Random) -> Matrix:
    """About 0.01·I: unit vectors have ℓ1 norm 10 and more, where ‖x‖₁ ≤ k does not follow from ‖x‖₀ ≤ k."""
    return 0.01 * dense(n, rng)


def rotated(values: Vector, rng: Random) -> Matrix:
    """A symmetric matrix with these eigenvalues in a random basis."""
    Q, _ = np.linalg.qr(rng.standard_normal((len(values), len(values))))
    B = (Q * values) @ Q.T
    return 0.5 * (B + B.T)


OBJECTIVES: Mapping[str, Callable[[int, Random], Matrix]] = MappingProxyType(
    {
        f.__name__.replace("_", "-"): f
        for f in (covariance, planted, indefinite, negative, large_negative, rank_one, diagonal, graded, exchangeable,
                  repeated, constant_variables)
    }
)  # fmt: skip
METRICS: Mapping[str, Callable[[int, Random], Matrix]] = MappingProxyType(
    {"identity": identity, "uneven": uneven, "dense": dense, "two-values": two_values, "cond-1e3": rotated_1e3,
     "cond-1e8": graded_1e8, "small": small_metric}
)  # fmt: skip


def pencil(objective: str, metric: str, n: int, rng: Random) -> tuple[Matrix, Matrix]:
    """(A, B) of two named families; "cca" brings its own B. A is symmetric to the last bit."""
    if objective == "cca":
        return cca(n, rng) if n > 1 else (np.eye(1), np.eye(1))
    A = OBJECTIVES[objective](n, rng)
    return 0.5 * (A + A.T), METRICS[metric](n, rng)


def unit(B: Matrix, x: Vector) -> Vector:
    """x/‖x‖_B."""
    return x / np.sqrt(float(x @ B @ x))


def leading(A: Matrix, B: Matrix) -> Vector:
    """The generalized eigenvector of λmax(A, B), unit in the B norm."""
    from scipy.linalg import eigh

    return eigh(A, B, subset_by_index=[len(A) - 1, len(A) - 1])[1][:, 0]


def balanced(rng: Random, values: Sequence[T], count: int) -> list[T]:
    """Every value equally often, in random order: none is left out by chance."""
    return [values[int(i) % len(values)] for i in rng.permutation(count)]


# Questions of (SGEV-P)


def subset_cases(level: str, seed: int, count: int) -> list[Instance]:
    """Random pencils of all families at every share of k, then those that random draws seldom bring.

    n ≤ 11, or few supports, so that every support can be looked at.
    """
    makers: tuple[tuple[int, Callable[[str, Random, int], Iterator[Instance]], int], ...] = (
        (8, random_pencils, count),
        (9, misleading_pencils, max(3, count // 12)),
        (10, tight_pencils, max(4, count // 6)),
        (20, correlated_pencils, count // 20),
        (18, ill_conditioned_pencils, count // 30),
        (17, wide_pencils, 4),
        (19, zero_pencils, 2),
    )
    found = (make(level, random_stream(seed, stream, level), many) for stream, make, many in makers)
    return [case for cases in found for case in cases]


def random_stream(seed: int, family: int, level: str) -> Random:
    """A generator per family of cases, so that more cases of one family leave the others as they are."""
    return np.random.default_rng([seed, family, len(level)])


def random_pencils(level: str, rng: Random, count: int) -> Iterator[Instance]:
    """Every family of A, of B but the worst-conditioned, of n, and every place of k, equally often."""
    kinds = balanced(rng, (*OBJECTIVES, "cca"), count)
    metrics = balanced(rng, [name for name in METRICS if name != "cond-1e8"], count)
    sizes = balanced(rng, (1, 2, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 11), count)
    places = balanced(rng, ("one", "two", "half", "most", "all"), count)
    for kind, metric, n, place in zip(kinds, metrics, sizes, places, strict=True):
        yield subset_case(level, *pencil(kind, metric, n, rng), place, (kind, metric))


def ill_conditioned_pencils(level: str, rng: Random, count: int) -> Iterator[Instance]:
    """cond(B) = 1e8, few and the small n first: first-order conic solvers take seconds there."""
    sizes, places = cycle((2, 3, 4, 3, 5, 6, 7, 8, 9, 10)), cycle(("all", "most", "half", "two", "one"))
    for kind, n, place in zip(balanced(rng, tuple(OBJECTIVES), count), sizes, places, strict=False):
        yield subset_case(level, *pencil(kind, "cond-1e8", n, rng), place, (kind, "cond-1e8"))


def wide_pencils(level: str, rng: Random, count: int) -> Iterator[Instance]:
    """Many variables with k near 1 or n, where there are few supports; relaxations of more are slow."""
    for n in (13, 17, 24) if level == "bound" else (13, 24, 41, 60):
        for metric, place in (("identity", "one"), ("dense", "two"), ("uneven", "most"), ("dense", "all"))[:count]:
            kind = str(rng.choice(["covariance", "indefinite"]))
            yield subset_case(level, *pencil(kind, metric, n, rng), place, ("wide", metric))


def zero_pencils(level: str, rng: Random, count: int) -> Iterator[Instance]:
    """A = 0, where the optimum is 0 at every k: dividing by a norm of A is 0/0."""
    for n in (1, 4)[:count]:
        yield subset_case(level, np.zeros((n, n)), dense(n, rng), "two", ("zero-A", "dense"))


def subset_case(level: str, A: Matrix, B: Matrix, place: str, flags: tuple[str, ...]) -> Instance:
    """A pencil with a k named by its place between 1 and n."""
    n = len(A)
    k = {"one": 1, "two": min(2, n), "half": max(1, n // 2), "most": max(1, n - 1), "all": n}[place]
    return pencil_case(level, A, B, k, (*flags, f"k-{place}"), ", ".join((*flags, f"k-{place}")))


def pencil_case(level: str, A: Matrix, B: Matrix, k: int, flags: tuple[str, ...], words: str) -> Instance:
    """The question (A, B, k)."""
    return question(level, f"n = {len(A)}, k = {k}, {words}", flags, {"A": A, "B": B, "k": k})


def shuffled(A: Matrix, rng: Random) -> Matrix:
    """A with its variables in a random order and with random signs."""
    order, signs = rng.permutation(len(A)), rng.choice([-1.0, 1.0], size=len(A))
    return (A * np.outer(signs, signs))[np.ix_(order, order)]


def misleading_pencils(level: str, rng: Random, count: int) -> Iterator[Instance]:
    """Pencils whose best support greedy search does not find."""
    makers = (isolated_variable, three_blocks, isolated_variable, greedy_failure)
    yield from (case for i in range(count) if (case := makers[i % 4](level, rng)) is not None)


def isolated_variable(level: str, rng: Random) -> Instance:
    """Greedy search takes the single variable of largest variance first and never leaves it.

    The block of k correlated variables has the value 0.9k + 0.1, more than that variable together with any others.
    """
    n, k = int(rng.integers(5, 9)), int(rng.integers(2, 4))
    A = 0.3 * np.eye(n)
    A[:k, :k] = 0.9 + 0.1 * np.eye(k)
    A[k, k] = 1.05 + 0.3 * float(rng.random())
    noise = 0.02 * rng.standard_normal((n, n))
    A = shuffled(A + noise + noise.T, rng)
    B = np.eye(n) if rng.random() < 0.5 else 0.1 * dense(n, rng) + np.eye(n)
    return pencil_case(level, A, B, k, ("greedy-fails",), "isolated variable")


def three_blocks(level: str, rng: Random) -> Instance:
    """Three blocks: the largest variances lie in the first, the leading eigenvector in the third, the best support
    is the second. No single exchange leaves the first.
    """
    k = int(rng.integers(3, 5))
    first = 0.55 + (1.25 - 0.55 + 0.02 * float(rng.random())) * np.eye(k)
    blocks = (first, 0.85 + 0.15 * np.eye(k), 0.5 * (0.95 + 0.05 * np.eye(2 * k)))
    A = 0.01 * np.eye(4 * k)
    for start, block in zip((0, k, 2 * k), blocks, strict=True):
        A[start : start + len(block), start : start + len(block)] = block
    return pencil_case(level, shuffled(A, rng), np.eye(4 * k), k, ("greedy-fails",), "three blocks")


def greedy_failure(level: str, rng: Random) -> Instance | None:
    """A Gaussian A whose best support greedy search finds from none of its variables, by a margin.

    About one draw in fifteen; None if sixty draws bring none.
    """
    for _ in range(60):
        n, k = 10, int(rng.integers(3, 6))
        M = rng.standard_normal((n, n))
        A, B = 0.5 * (M + M.T), np.eye(n)
        best = enumerated(A, B, k)
        if best.value - max(greedy_from(A, B, k, i) for i in range(n)) > 1e-3 * best.radius:
            return pencil_case(level, A, B, k, ("greedy-fails",), "greedy search fails")
    return None


def greedy_from(A: Matrix, B: Matrix, k: int, start: int) -> float:
    """The value of the support that grows from one variable by the best addition each time."""
    chosen, value = [start], float(A[start, start] / B[start, start])
    while len(chosen) < k:
        rest = [i for i in range(len(A)) if i not in chosen]
        values = top_values(A, B, [[*chosen, i] for i in rest])
        chosen.append(rest[int(np.argmax(values))])
        value = float(np.max(values))
    return value


def tight_pencils(level: str, rng: Random, count: int) -> Iterator[Instance]:
    """vvᵀ (+ 0.3·I) with v k-sparse and B = bI or diagonal, at k, k − 1 and k + 1.

    For B = bI the optimum at k = ‖v‖₀ is λmax, so that a bound has no room below it.
    """
    for index in range(count):
        n = int(rng.integers(3, 9))
        k = int(rng.integers(1, n))
        v = np.zeros(n)
        v[rng.permutation(n)[:k]] = rng.choice([-1.0, 1.0], size=k) * rng.uniform(0.5, 1.0, size=k)
        A = np.outer(v, v) + (0.3 * np.eye(n) if index % 2 else 0.0)
        B = np.eye(n) * float(rng.choice([1.0, 0.01, 100.0])) if index % 3 else np.diag(rng.uniform(0.3, 3.0, size=n))
        yield pencil_case(level, A, B, (k, k, max(1, k - 1), min(n, k + 1))[index % 4], ("tight",), "tight")


def correlated_pencils(level: str, rng: Random, count: int) -> Iterator[Instance]:
    """(Bv)(Bv)ᵀ with v k-sparse and correlated variables in units between ½ and 2: λmax(A, B) is attained at v.

    No factor B = LLᵀ keeps v sparse: a bound for k-sparse vectors of L⁻¹AL⁻ᵀ falls below the truth.
    """
    for _ in range(count):
        n, k = int(rng.integers(3, 9)), int(rng.integers(1, 3))
        d = rng.uniform(0.5, 2.0, n)
        B = (0.1 * np.eye(n) + 0.9) * np.outer(d, d)
        v = np.zeros(n)
        v[rng.permutation(n)[:k]] = rng.uniform(0.5, 1.0, k)
        yield pencil_case(level, np.outer(B @ v, B @ v), B, k, ("tight", "dense"), "correlated")


# The exact optimum of (SGEV-P)


@dataclass(frozen=True)
class Optimum:
    """The best support of (SGEV-P) at k by enumeration, its value, and the size of the pencil's spectrum.

    radius is max |λ| of the whole pencil, the unit in which misses of a bound are measured: unlike the optimum itself
    it cannot be near zero by cancellation. It is 1 for A = 0, which has no unit of its own.
    """

    value: float
    support: tuple[int, ...]
    lambda_max: float
    radius: float


def optimum(instance: Instance) -> Optimum:
    """max λmax(A_S, B_S) over every support of size k (SGEV-P)."""
    return instance.once("optimum", lambda: enumerated(instance.data["A"], instance.B, int(instance.data["k"])))


def enumerated(A: Matrix, B: Matrix, k: int) -> Optimum:
    """Every support of size k, 12 870 at most, diagonalised in one batch of LAPACK."""
    supports = list(combinations(range(len(A)), k))
    tops = top_values(A, B, supports)
    best, values = int(np.argmax(tops)), spectra(A[None], B[None])[0]
    return Optimum(float(tops[best]), supports[best], float(values[-1]), float(np.max(np.abs(values))) or 1.0)


def top_values(A: Matrix, B: Matrix, supports: Sequence[Sequence[int]]) -> Vector:
    """λmax of the pencil on every support."""
    chosen = np.array(supports)
    rows, columns = chosen[:, :, None], chosen[:, None, :]
    return spectra(A[rows, columns], B[rows, columns])[:, -1]


def spectra(A: Matrix, B: Matrix) -> Matrix:
    """The eigenvalues of a batch of pencils, as those of L⁻¹AL⁻ᵀ with B = LLᵀ."""
    L = np.linalg.cholesky(B)
    W = np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, A), -1, -2))
    return np.asarray(np.linalg.eigvalsh(0.5 * (W + np.swapaxes(W, -1, -2))), dtype=np.float64)
