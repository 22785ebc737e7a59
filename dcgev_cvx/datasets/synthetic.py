"""Pencils whose sparse solution is known because it was planted.

Every function takes `rng`, a seed or a NumPy generator, and is deterministic in it. Population matrices
(samples=None) have a known optimum; sample covariances have a known truth, which the optimum of (SGEV-P) approaches
as samples grow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._numerics.checks import Matrix, Vector, as_flag, as_generator, as_number, as_whole, check_bytes, frozen
from ..certificates import checked_k
from ..errors import InvalidParameter
from ..pencils import Pencil


@dataclass(frozen=True)
class Planted:
    """A pencil, the sparse vector planted in it (unit in the B norm) and the value xᵀAx it attains there.

    With samples, value is what the planted vector attains in the sample, not the optimum there: another
    k-sparse vector may do a little better.
    """

    pencil: Pencil
    x: Vector
    value: float

    @property
    def support(self) -> tuple[int, ...]:
        """Where the planted vector is nonzero."""
        return tuple(int(i) for i in np.flatnonzero(self.x))


def planted_pca(
    n: int = 50,
    k: int = 5,
    *,
    strength: float = 2.0,
    samples: int | None = None,
    rng: int | np.random.Generator = 0,
) -> Planted:
    """A = I + θ·vvᵀ with v k-sparse: the optimum of (SGEV-P) at k is v, with value 1 + θ.

    With `samples`, A is the covariance of that many Gaussian draws and v the truth behind them.

    Parameters
    ----------
    n, k
        Variables, and nonzeros of v, 1 ≤ k ≤ n; they have equal size and random signs.
    strength
        θ, the gap between the leading eigenvalue 1 + θ and all others, which are 1.
    samples
        None for the population matrix, or the number of Gaussian draws.
    rng
        A seed or a generator.

    Proof of the optimum: xᵀAx = 1 + θ(vᵀx)² ≤ 1 + θ for unit x and θ ≥ 0, with equality at ±v, which is k-sparse.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> planted = datasets.planted_pca(10, 3)
    >>> len(planted.support), round(planted.value, 12)
    (3, 3.0)
    """
    generator, strength = as_generator(rng), as_number(strength, "strength", high=1e100)
    v = sparse_unit(n, k, generator)
    A = np.eye(n) + strength * np.outer(v, v)
    if samples is not None:
        A = sample_covariance(A, samples, generator)
    return planted(Pencil(A), v)


def planted_cca(
    p: int = 20,
    q: int = 20,
    k: int = 3,
    *,
    correlation: float = 0.8,
    samples: int | None = None,
    ridge: float = 0.0,
    rng: int | np.random.Generator = 0,
) -> Planted:
    """Two views with one canonical pair, k-sparse in each; (A, B) as in Eq:CCA, value = the correlation.

    With `samples`, the covariances are those of that many Gaussian draws (plus a ridge).

    Parameters
    ----------
    p, q, k
        Variables of the two views, and the nonzeros in each.
    correlation
        The canonical correlation, in [0, 1); at 1 the joint covariance would be singular.
    samples, ridge, rng
        As in `planted_pca` and `cca_pencil`.

    Proof of the value: with Σxx = Σyy = I and Σxy = ρuvᵀ the canonical correlations are the singular values of Σxy,
    namely ρ and zeros, and x = (u, v)/√2 attains ρ.

    Raises
    ------
    InvalidParameter
        For a correlation outside [0, 1) or k larger than a view.
    """
    correlation = as_number(correlation, "correlation")
    if correlation >= 1.0:
        raise InvalidParameter(f"correlation = {correlation} must lie in [0, 1).")
    generator, ridge = as_generator(rng), as_number(ridge, "ridge")
    p, q = as_whole(p, "p"), as_whole(q, "q")
    as_size(p + q, "p + q")
    u, v = sparse_unit(p, k, generator), sparse_unit(q, k, generator)
    covariance = np.eye(p + q)
    covariance[:p, p:] = correlation * np.outer(u, v)
    covariance[p:, :p] = covariance[:p, p:].T
    if samples is not None:
        covariance = sample_covariance(covariance, samples, generator)
    A, B = covariance.copy(), covariance.copy()
    A[:p, :p] = A[p:, p:] = 0.0
    B[:p, p:] = 0.0
    B[p:, :p] = 0.0
    return planted(Pencil(A, B + ridge * np.eye(p + q)), np.concatenate([u, v]))


def two_gaussians(
    n: int = 20, k: int = 3, *, samples: int = 200, shift: float = 1.5, rng: int | np.random.Generator = 0
) -> tuple[Matrix, Vector, tuple[int, ...]]:
    """(X, y, support): two Gaussian classes labelled 0 and 1 whose means differ in k variables only.

    Parameters
    ----------
    n, k
        Variables, and how many of them tell the classes apart.
    samples
        In both classes together; the second has one more when the number is odd.
    shift
        The difference of the means in each of the k variables, in standard deviations.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> X, y, support = datasets.two_gaussians(6, 2, samples=10)
    >>> X.shape, int(y.sum()), len(support)
    ((10, 6), 5, 2)
    """
    generator, shift = as_generator(rng), as_number(shift, "shift", low=-1e100, high=1e100)
    samples, n = as_whole(samples, "samples", low=2, high=10**6), as_whole(n, "n")
    as_size(max(samples, n), "n or samples")
    support = np.sort(generator.choice(n, size=checked_k(k, n), replace=False))
    y = np.repeat([0.0, 1.0], [samples // 2, samples - samples // 2])
    X = generator.standard_normal((samples, n))
    X[np.ix_(y == 1.0, support)] += shift
    return X, y, tuple(int(i) for i in support)


def indefinite(n: int = 10, *, dense_metric: bool = False, rng: int | np.random.Generator = 0) -> Pencil:
    """A random symmetric A with eigenvalues of both signs; B the identity or a well-conditioned dense matrix.

    For what covariances cannot show: τ > 0 in Algorithm 1, and values below zero. With n = 1 there is one
    eigenvalue, and its sign is the draw's.
    """
    generator, dense_metric = as_generator(rng), as_flag(dense_metric, "dense_metric")
    n = as_size(n, "n")
    M = generator.standard_normal((n, n))
    N = generator.standard_normal((n, 2 * n))
    return Pencil(0.5 * (M + M.T), N @ N.T / (2 * n) + 0.1 * np.eye(n) if dense_metric else None)


def as_size(n: int, what: str) -> int:
    """A number of variables whose n × n matrix can be formed."""
    n = as_whole(n, what, high=10**6)
    check_bytes((n, n), "A", f"Take a smaller {what}.")
    return n


def sparse_unit(n: int, k: int, generator: np.random.Generator) -> Vector:
    """A unit vector with k entries of equal size and random sign at random places."""
    n = as_size(n, "n")
    k, v = checked_k(k, n), np.zeros(n)
    v[generator.choice(n, size=k, replace=False)] = generator.choice([-1.0, 1.0], size=k) / np.sqrt(k)
    return v


def sample_covariance(covariance: Matrix, samples: int, generator: np.random.Generator) -> Matrix:
    """The covariance (divided by the number of samples) of centred Gaussian draws.

    Divided by m as everywhere in the package; for samples ≤ n it is singular, which PCA does not mind.
    """
    count = as_whole(samples, "samples", high=10**9)
    check_bytes((count, len(covariance)), "the sample", "Draw fewer samples.")
    try:
        L = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError as cause:
        size = float(np.max(covariance))
        raise InvalidParameter(f"a covariance of size {size:.1e} beside 1 is singular: lower strength.") from cause
    X = generator.standard_normal((count, len(covariance))) @ L.T
    X -= X.mean(axis=0)
    return X.T @ X / count


def planted(pencil: Pencil, v: Vector) -> Planted:
    """The record, with the planted vector brought to unit B norm."""
    x = v / pencil.B_norm(v)
    return Planted(pencil, frozen(x), pencil.A_quad(x))
