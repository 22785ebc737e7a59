"""Kinds of A and of B, and the questions of (SGEV-P), which are a pencil and a k.

The docstring of a kind names the mistake that it detects, where there is a typical one. Pencils of (SGEV-P) are small
enough, or their k is, to look at every support.
"""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from .._numerics.checks import Matrix, Vector
from .levels import LAYOUTS, Instance, Random, Row, Space, enumerated, flags_of, question, top_values

# Kinds of A, with entries of size one but for counts


def covariance(n: int, rng: Random) -> Matrix:
    """CᵀC/m of Gaussian data with 2n + 2 rows."""
    C = rng.standard_normal((2 * n + 2, n))
    return C.T @ C / len(C)


def short_gram(n: int, rng: Random) -> Matrix:
    """CᵀC of fewer rows than variables: singular."""
    C = rng.standard_normal(((n + 1) // 2, n))
    return C.T @ C / n


def planted(n: int, rng: Random) -> Matrix:
    """I + 2vvᵀ with v sparse and of mixed sign."""
    k = max(1, n // 3)
    v = np.zeros(n)
    v[rng.choice(n, size=k, replace=False)] = rng.choice([-1.0, 1.0], size=k) / np.sqrt(k)
    return np.eye(n) + 2.0 * np.outer(v, v)


def counts(n: int, rng: Random) -> Matrix:
    """XᵀX of counts: whole numbers, of hundreds, which a narrow integer type does not hold."""
    X = rng.integers(0, 12, size=(n + 4, n)).astype(np.float64)
    return X.T @ X


def indefinite(n: int, rng: Random) -> Matrix:
    """A symmetric Gaussian matrix: eigenvalues of both signs."""
    M = rng.standard_normal((n, n)) / np.sqrt(n)
    return 0.5 * (M + M.T) if n > 1 else np.array([[-0.7]])


def negative(n: int, rng: Random) -> Matrix:
    """Negative definite: every valid shift τ is at least the largest modulus."""
    return -covariance(n, rng) - 0.2 * np.eye(n)


def large_negative(n: int, rng: Random) -> Matrix:
    """A covariance whose most negative eigenvalue has the largest modulus: without τ a power iteration follows it."""
    u = rng.standard_normal(n)
    return covariance(n, rng) - 6.0 * np.outer(u, u) / float(u @ u)


def rank_one(n: int, rng: Random) -> Matrix:
    """aaᵀ, the A of FDA."""
    a = rng.standard_normal(n) + 0.2
    return np.outer(a, a) / n


def diagonal(n: int, rng: Random) -> Matrix:
    """A diagonal matrix with positive entries."""
    return np.diag(rng.uniform(0.2, 1.3, size=n))


def signed_diagonal(n: int, rng: Random) -> Matrix:
    """A diagonal matrix with entries of both signs, the first the least."""
    return np.diag(np.append(-0.9, rng.uniform(-0.8, 1.3, size=n - 1)))


def multiple(n: int, rng: Random) -> Matrix:
    """A multiple of I: every vector is an eigenvector."""
    return float(rng.uniform(0.5, 2.0)) * np.eye(n)


def graded(n: int, rng: Random) -> Matrix:
    """A covariance whose variables have standard deviations from 1 down to 1/30: absolute thresholds on |xᵢ| fail."""
    d = np.logspace(0.0, -1.5, n)
    return covariance(n, rng) * np.outer(d, d)


def exchangeable(n: int, rng: Random) -> Matrix:
    """(1 − r)I + r11ᵀ: every variable ties with every other, and every entry is positive."""
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
    A[constant, :] = A[:, constant] = 0.0
    return A


def zero_diagonal(n: int, rng: Random) -> Matrix:
    """A symmetric matrix whose diagonal and trace are 0."""
    A = indefinite(n, rng)
    np.fill_diagonal(A, 0.0 if n > 1 else -0.7)
    return A


def cross_covariance(n: int, rng: Random) -> Matrix:
    """The A of CCA: no diagonal blocks, a symmetric spectrum (Eq:CCA)."""
    p, A = max(1, n // 2), indefinite(n, rng)
    A[:p, :p] = A[p:, p:] = 0.0 if n > 1 else -0.7
    return A


def banded(n: int, rng: Random) -> Matrix:
    """A tridiagonal positive definite matrix."""
    off = rng.uniform(-0.45, 0.45, size=n - 1)
    return np.diag(rng.uniform(1.0, 1.5, size=n)) + np.diag(off, 1) + np.diag(off, -1)


def zero(n: int, rng: Random) -> Matrix:
    """0."""
    return np.zeros((n, n))


# Kinds of B, with diagonal entries of size one


def identity(n: int, rng: Random) -> Matrix:
    """I."""
    return np.eye(n)


def scaled_identity(n: int, rng: Random) -> Matrix:
    """βI with β ≠ 1."""
    return float(rng.choice([0.3, 0.7, 1.6, 3.0])) * np.eye(n)


def uneven(n: int, rng: Random) -> Matrix:
    """A diagonal B with entries between 1/10 and 10."""
    return np.diag(10.0 ** rng.uniform(-1.0, 1.0, size=n))


def correlation(n: int, rng: Random) -> Matrix:
    """A dense B with a unit diagonal: code that looks at the diagonal takes it for I."""
    B = dense(n, rng)
    d = np.sqrt(np.diagonal(B))
    B = B / np.outer(d, d)
    np.fill_diagonal(B, 1.0)
    return B


def nearly_diagonal(n: int, rng: Random) -> Matrix:
    """A diagonal B with entries of 1e-4 to 1e-2 beside it, more than rounding and less than a threshold may ask."""
    d = np.sqrt(np.diagonal(uneven(n, rng)))
    return off_diagonal(n, rng) * np.outer(d, d) + np.diag(d * d)


def nearly_identity(n: int, rng: Random) -> Matrix:
    """I and entries of 1e-4 to 1e-2 everywhere: not equal to I within any tolerance of rounding."""
    E = off_diagonal(n, rng)
    return np.eye(n) + E + np.diag(np.max(np.abs(E), axis=0, initial=1e-3) * rng.choice([-1.0, 1.0], size=n))


def blocks(n: int, rng: Random) -> Matrix:
    """Two dense blocks, the B of CCA; with odd n they differ in size."""
    p, B = max(1, n // 2), dense(n, rng)
    B[:p, p:] = B[p:, :p] = 0.0
    return B


def dense(n: int, rng: Random) -> Matrix:
    """A well-conditioned B with every entry nonzero."""
    N = rng.standard_normal((n, 2 * n + 1))
    return N @ N.T / (2 * n + 1) + 0.1 * np.eye(n)


def last_column(n: int, rng: Random) -> Matrix:
    """A diagonal B but for the last row and column: code that looks at one corner takes it for diagonal."""
    B = np.diag(rng.uniform(0.5, 2.0, size=n))
    B[-1, :-1] = B[:-1, -1] = rng.choice([-0.5, 0.5], size=n - 1) / np.sqrt(n)
    return B


def two_values(n: int, rng: Random) -> Matrix:
    """A dense B with the eigenvalues 1 and 4 and no others: a secular equation has repeated poles."""
    return rotated(np.where(np.arange(n) % 2 == 0, 4.0, 1.0), rng)


def rotated_1e3(n: int, rng: Random) -> Matrix:
    """B with eigenvalues from 1 down to 1e-3 in a random basis: single precision loses x there."""
    return rotated(np.logspace(0.0, -3.0 if n > 1 else 0.0, n), rng)


def graded_1e8(n: int, rng: Random) -> Matrix:
    """cond(B) = 1e8 from variables of standard deviation 1 down to 1e-4: a fixed ridge or threshold fails."""
    d = rng.permutation(np.logspace(0.0, -4.0 if n > 1 else 0.0, n))
    return dense(n, rng) * np.outer(d, d)


def rotated_1e8(n: int, rng: Random) -> Matrix:
    """cond(B) = 1e8 in a random basis: an inverse, a truncated pseudoinverse or B² fails, and so does slow descent.

    The eigenvalues are raised by what rounding the product may take away, so that B stays definite.
    """
    return rotated(np.logspace(0.0, -8.0 if n > 1 else 0.0, n) + 1e-15, rng)


def rotated(values: Vector, rng: Random) -> Matrix:
    """A symmetric matrix with these eigenvalues in a random basis."""
    Q, _ = np.linalg.qr(rng.standard_normal((len(values), len(values))))
    B = (Q * values) @ Q.T
    return 0.5 * (B + B.T)


def off_diagonal(n: int, rng: Random) -> Matrix:
    """A symmetric matrix without a diagonal, entries between 1e-4 and 1e-2, at most 1/2 in a row."""
    E = np.triu(rng.choice([-1.0, 1.0], (n, n)) * 10.0 ** rng.uniform(-4.0, -2.0, (n, n)), 1)
    return (E + E.T) * min(1.0, 20.0 / n)


KINDS: Mapping[str, Callable[[int, Random], Matrix]] = {
    f.__name__.replace("_", " "): f
    for f in (covariance, short_gram, planted, counts, rank_one, diagonal, multiple, graded, exchangeable, repeated,
              constant_variables, banded, zero, indefinite, negative, large_negative, signed_diagonal,
              zero_diagonal, cross_covariance)
}  # fmt: skip
INDEFINITE = ("indefinite", "negative", "large negative", "signed diagonal", "zero diagonal", "cross covariance")
METRICS: Mapping[str, Callable[[int, Random], Matrix]] = {
    "I": identity, "βI": scaled_identity, "diagonal": uneven, "unit diagonal": correlation,
    "nearly diagonal": nearly_diagonal, "nearly I": nearly_identity, "blocks": blocks, "dense": dense,
    "last column": last_column, "two eigenvalues": two_values, "cond 1e3": rotated_1e3, "cond 1e8": graded_1e8,
    "basis 1e8": rotated_1e8,
}  # fmt: skip


def pencil(kind: str, metric: str, n: int, rng: Random) -> tuple[Matrix, Matrix]:
    """(A, B) of two named kinds, symmetric to the last bit."""
    A, B = KINDS[kind](n, rng), METRICS[metric](n, rng)
    return 0.5 * (A + A.T), 0.5 * (B + B.T)


SPECIAL_METRICS: Mapping[str, tuple[str, ...]] = {
    f"B={kind}": tuple(f"size of B={size}" for size in ("1e-12", "1e-4", "1e4", "1e12"))
    for kind in ("I", "unit diagonal", "nearly I")
}
"""Kinds of B that another size would make something else."""


def sized(level: str, rng: Random) -> float:
    """A factor of the size that a level names, up to a factor of 2 either way; "1" is exact."""
    return 1.0 if level == "1" else float(level) * 2.0 ** float(rng.uniform(-1.0, 1.0))


def unit(B: Matrix, x: Vector) -> Vector:
    """x/‖x‖_B."""
    return x / np.sqrt(float(x @ B @ x))


def leading(A: Matrix, B: Matrix) -> Vector:
    """The generalized eigenvector of λmax(A, B), unit in the B norm."""
    from scipy.linalg import eigh

    return eigh(A, B, subset_by_index=[len(A) - 1, len(A) - 1])[1][:, 0]


# Questions of (SGEV-P)

SUBSET_SPACE = Space(
    {
        "n": {"1": (1,), "2": (2,), "3": (3,), "4, 6, 8": (4, 6, 8), "5, 7": (5, 7), "9, 11": (9, 11), "10": (10,),
              # here k is near 1 or n, so that there are few supports
              "13 … 24": (13, 14, 17, 24), "41, 60": (41, 60)},
        "A": tuple(KINDS),
        "size of A": ("1e-6", "1", "1e6"),
        "B": tuple(METRICS),
        "size of B": ("1e-12", "1e-4", "1", "1e4", "1e12"),
        "k": ("1", "2", "half", "n − 1", "n"),
        "layout": tuple(LAYOUTS),
    },
    {
        "n=1": ("k=2", "k=half", "k=n − 1", "k=n", *(f"B={kind}" for kind in METRICS if kind not in
                ("I", "βI", "diagonal"))),
        "n=2": ("k=half", "k=n − 1"),
        "n=3": ("k=half",),
        **{f"n={level}": ("k=half", "B=cond 1e8") for level in ("13 … 24", "41, 60")},
        **SPECIAL_METRICS,
    },
)  # fmt: skip
"""Every dimension of (SGEV-P)."""


def subset_of_row(level: str, row: Row, n: int, rng: Random) -> Instance:
    """A pencil and a k of the named levels."""
    A, B = pencil(row["A"], row["B"], n, rng)
    k = {"1": 1, "2": 2, "half": n // 2, "n − 1": n - 1, "n": n}[row["k"]]
    A, B = sized(row["size of A"], rng) * A, sized(row["size of B"], rng) * B
    return pencil_case(level, A, B, k, flags_of(row))


def hard_subsets(level: str, seed: int, count: int) -> Iterator[Instance]:
    """Pencils whose best support greedy search does not find, and correlated ones at which a bound has no room.

    Each family has a generator of its own, so that more cases of one leave the others as they are.
    """
    for stream, make in ((9, greedy_failure), (20, correlated_pencil)):
        rng = np.random.default_rng([seed, stream, len(level)])
        yield from filter(None, (make(level, rng) for _ in range(count)))


def pencil_case(level: str, A: Matrix, B: Matrix, k: int, flags: tuple[str, ...]) -> Instance:
    """The question (A, B, k)."""
    return question(level, f"n = {len(A)}, k = {k}, {', '.join(flags)}", flags, {"A": A, "B": B, "k": k})


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
            return pencil_case(level, A, B, k, ("greedy-fails",))
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


def correlated_pencil(level: str, rng: Random) -> Instance:
    """(Bv)(Bv)ᵀ with v k-sparse and correlated variables in units between ½ and 2: λmax(A, B) is attained at v.

    No factor B = LLᵀ keeps v sparse: a bound for k-sparse vectors of L⁻¹AL⁻ᵀ falls below the truth.
    """
    n, k = int(rng.integers(3, 9)), int(rng.integers(1, 3))
    d = rng.uniform(0.5, 2.0, n)
    B = (0.1 * np.eye(n) + 0.9) * np.outer(d, d)
    v = np.zeros(n)
    v[rng.permutation(n)[:k]] = rng.uniform(0.5, 1.0, k)
    return pencil_case(level, np.outer(B @ v, B @ v), B, k, ("tight", "correlated"))
