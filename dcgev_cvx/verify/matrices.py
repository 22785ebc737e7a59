"""Families of matrices, each the home of a class of mistakes; every one drawn from an explicit generator.

Entries are of size one, and each family is named by what it is, with the mistake that it brings to light in its
docstring where there is a typical one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from .._numerics.checks import Matrix, Vector

Random: TypeAlias = np.random.Generator
Make: TypeAlias = Callable[[int, Random], Matrix]


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
    """Negative definite: every shift τ is at least the largest modulus."""
    return -covariance(n, rng) - 0.2 * np.eye(n)


def pulled_down(n: int, rng: Random) -> Matrix:
    """A covariance with one large negative eigenvalue: without τ the iteration follows the wrong end.

    Its most negative eigenvalue has the largest modulus, so a power iteration on A instead of A + τI converges to it.
    """
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
    """A covariance whose variables have standard deviations from 1 down to 1/30.

    Variables of very different variance: absolute thresholds on |xᵢ| show.
    """
    d = np.logspace(0.0, -1.5, n)
    return covariance(n, rng) * np.outer(d, d)


def exchangeable(n: int, rng: Random) -> Matrix:
    """(1 − r)I + r11ᵀ: every variable ties with every other.

    The leading eigenvector is constant, and every support of a size is as good as any other: ties in all comparisons.
    """
    return 0.6 * np.eye(n) + 0.4


def twins(n: int, rng: Random) -> Matrix:
    """Two uncorrelated copies of a covariance: every eigenvalue occurs twice, and no eigenvector is the leading one.

    Where an eigenvector is taken for the answer, or equal eigenvalues are divided by their difference, it shows.
    """
    k = max(1, n // 2)
    A = 0.5 * np.eye(n)
    A[:k, :k] = half = covariance(k, rng)
    if n > 1:
        A[k : 2 * k, k : 2 * k] = half
    return A


def idle(n: int, rng: Random) -> Matrix:
    """A covariance with a third of the variables constant: their rows and columns are 0.

    Where variables are divided by their standard deviation, or those without one left out (τy still pulls them), it
    shows.
    """
    A = covariance(n, rng)
    still = rng.permutation(n)[: n // 3]
    A[still, :] = 0.0
    A[:, still] = 0.0
    return A


def two_views(n: int, rng: Random) -> tuple[Matrix, Matrix]:
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


def levels(n: int, rng: Random) -> Matrix:
    """A dense B with the eigenvalues 1 and 4 and no others: a secular equation sums over repeated ones."""
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    B = (Q * np.where(np.arange(n) % 2 == 0, 4.0, 1.0)) @ Q.T
    return 0.5 * (B + B.T)


def skewed(n: int, rng: Random) -> Matrix:
    """B with eigenvalues from 1 down to 1e-3 in a random basis: single precision loses x there.

    The basis is random, so that no scaling of the variables repairs the condition number; `steep` is the family
    where one would.
    """
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    B = (Q * np.logspace(0.0, -3.0 if n > 1 else 0.0, n)) @ Q.T
    return 0.5 * (B + B.T)


def steep(n: int, rng: Random) -> Matrix:
    """cond(B) = 1e8 from variables of standard deviation 1 down to 1e-4: a fixed ridge or threshold shows."""
    d = np.logspace(0.0, -4.0 if n > 1 else 0.0, n)
    d = d[rng.permutation(n)]
    return dense(n, rng) * np.outer(d, d)


def hardest(n: int, rng: Random) -> Matrix:
    """cond(B) = 1e8 in a random basis: an inverse, a truncated pseudoinverse or B² shows, and so does slow descent.

    Eigenvalues are moved up by what rounding the product may take away, so that B stays definite.
    """
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    B = (Q * (np.logspace(0.0, -8.0 if n > 1 else 0.0, n) + 1e-15)) @ Q.T
    return 0.5 * (B + B.T)


def small_metric(n: int, rng: Random) -> Matrix:
    """0.01·I, or nearly: unit vectors have ℓ1 norm 10 and more.

    Where ‖x‖₁ ≤ k is taken for a consequence of ‖x‖₀ ≤ k, a bound fails here: unit vectors are ten times as long.
    """
    return 0.01 * dense(n, rng)


OBJECTIVES: Mapping[str, Make] = MappingProxyType(
    {
        "covariance": covariance,
        "planted": planted,
        "indefinite": indefinite,
        "negative": negative,
        "pulled-down": pulled_down,
        "rank-one": rank_one,
        "diagonal": diagonal,
        "graded": graded,
        "exchangeable": exchangeable,
        "twins": twins,
        "idle": idle,
    }
)
METRICS: Mapping[str, Make] = MappingProxyType(
    {
        "identity": identity,
        "uneven": uneven,
        "dense": dense,
        "levels": levels,
        "cond-1e3": skewed,
        "cond-1e8": steep,
        "small": small_metric,
    }
)


def pencil(objective: str, metric: str, n: int, rng: Random) -> tuple[Matrix, Matrix]:
    """(A, B) of two named families; "cca" brings its own B.

    A is symmetrised to the last bit, as solvers may check.
    """
    if objective == "cca":
        return two_views(n, rng) if n > 1 else (np.eye(1), np.eye(1))
    A = OBJECTIVES[objective](n, rng)
    return 0.5 * (A + A.T), METRICS[metric](n, rng)


def unit(B: Matrix, x: Vector) -> Vector:
    """x/‖x‖_B."""
    return x / np.sqrt(float(x @ B @ x))


def leading(A: Matrix, B: Matrix) -> Vector:
    """The generalized eigenvector of λmax(A, B), unit in the B norm."""
    from scipy.linalg import eigh

    return eigh(A, B, subset_by_index=[len(A) - 1, len(A) - 1])[1][:, 0]


def lowest(A: Matrix) -> float:
    """λmin(A)."""
    return float(np.linalg.eigvalsh(A)[0])
