"""Small data sets with known answers: the pit props of Jeffers (1967), and pencils with a planted sparse vector.

Population matrices (samples=None) have a known optimum; sample covariances have a known truth, which the optimum of
(SGEV-P) approaches as the number of samples grows.
"""

from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from .._numerics.checks import Matrix, Vector, as_flag, as_generator, as_number, as_whole, frozen
from ..errors import InvalidParameter
from ..pencils import Pencil
from ..solutions import checked_k


def pitprops() -> Pencil:
    """The correlations of 13 measurements on 180 pit props of Corsican pine, the benchmark of sparse PCA.

    Only the correlations were published, not the 180 samples. The optimum of (SGEV-P) is known for every k
    (`exact.best_subset`).

    Returns
    -------
    Pencil
        The 13 × 13 matrix A with the variables' names; tr A = 13 and λmax = 4.2186.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> pencil = datasets.pitprops()
    >>> pencil.n, pencil.names[:3], round(pencil.lambda_max, 4)
    (13, ('topdiam', 'length', 'moist'), 4.2186)
    """
    text = (files("dcgev_cvx.datasets") / "pitprops.csv").read_text(encoding="utf-8")
    names, *rows = (line.split(",")[1:] for line in text.splitlines())
    return Pencil(np.array(rows, dtype=np.float64), names=tuple(names))


@dataclass(frozen=True)
class Planted:
    """A pencil and the sparse vector planted in it.

    Parameters
    ----------
    pencil : Pencil
        The matrices (A, B).
    x : array of shape (n,)
        The planted vector, of unit B norm.
    value : float
        xᵀAx. For a sample covariance this is not the optimum: another k-sparse vector may do a little better.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> datasets.planted_pca(10, 3).support
    (0, 2, 8)
    """

    pencil: Pencil
    x: Vector
    value: float

    @property
    def support(self) -> tuple[int, ...]:
        """The positions at which the planted vector is nonzero."""
        return tuple(np.flatnonzero(self.x).tolist())


def planted_pca(
    n: int = 50, k: int = 5, *, strength: float = 2.0, samples: int | None = None, rng: int | np.random.Generator = 0
) -> Planted:
    """A = I + θ·vvᵀ with v k-sparse: the optimum of (SGEV-P) at k is v, with value 1 + θ.

    Proof: xᵀAx = 1 + θ(vᵀx)² ≤ 1 + θ for unit x and θ ≥ 0, with equality at ±v.

    Parameters
    ----------
    n : int
        The number of variables.
    k : int
        The number of nonzeros of v, which have equal size and random signs.
    strength : float
        θ, the gap between the leading eigenvalue 1 + θ and all others, which are 1.
    samples : int, optional
        None for the population matrix, or the number of Gaussian draws whose covariance is A.
    rng : int or numpy.random.Generator
        A seed or a generator.

    Returns
    -------
    Planted
        The pencil (A, I) and v.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> planted = datasets.planted_pca(10, 3)
    >>> len(planted.support), round(planted.value, 12)
    (3, 3.0)
    """
    generator, strength = as_generator(rng, "rng"), as_number(strength, "strength", high=1e12)
    v = sparse_unit(n, k, generator)
    A = np.eye(len(v)) + strength * np.outer(v, v)
    if samples is not None:
        A = sample_covariance(A, samples, generator)
    return planted_record(Pencil(A), v)


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
    """Two views with one canonical pair, k-sparse in each, and (A, B) as in Eq:CCA.

    Proof of the value: with Σxx = Σyy = I and Σxy = ρuvᵀ the canonical correlations are the singular values of Σxy,
    namely ρ and zeros, and x = (u, v)/√2 attains ρ.

    Parameters
    ----------
    p : int
        The number of variables of the first view.
    q : int
        The number of variables of the second view.
    k : int
        The number of nonzeros in each view.
    correlation : float
        The canonical correlation, in [0, 1); at 1 the joint covariance would be singular.
    samples : int, optional
        None for the population matrices, or the number of Gaussian draws whose covariances they are.
    ridge : float
        Added to the diagonal of B.
    rng : int or numpy.random.Generator
        A seed or a generator.

    Returns
    -------
    Planted
        The pencil of p + q variables and x; its value is the correlation when samples is None and ridge is 0.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> planted = datasets.planted_cca(4, 5, 2)
    >>> planted.pencil.n, len(planted.support), round(planted.value, 12)
    (9, 4, 0.8)
    """
    generator, ridge = as_generator(rng, "rng"), as_number(ridge, "ridge")
    if as_number(correlation, "correlation") >= 1.0:
        raise InvalidParameter(f"correlation = {correlation:g} is out of range: it must lie in [0, 1).")
    u, v = sparse_unit(p, k, generator), sparse_unit(q, k, generator)
    cross = correlation * np.outer(u, v)
    covariance = np.block([[np.eye(len(u)), cross], [cross.T, np.eye(len(v))]])
    if samples is not None:
        covariance = sample_covariance(covariance, samples, generator)
    view = np.arange(len(covariance)) < len(u)
    within = view[:, None] == view
    B = np.where(within, covariance, 0.0) + ridge * np.eye(len(covariance))
    return planted_record(Pencil(np.where(within, 0.0, covariance), B, blocks=(len(u), len(v))), np.concatenate([u, v]))


def two_gaussians(
    n: int = 20, k: int = 3, *, samples: int = 200, shift: float = 1.5, rng: int | np.random.Generator = 0
) -> tuple[Matrix, Vector, tuple[int, ...]]:
    """Two Gaussian classes whose means differ in k variables only.

    Parameters
    ----------
    n : int
        The number of variables.
    k : int
        How many of them separate the classes.
    samples : int
        The size of both classes together; the second has one more when the number is odd.
    shift : float
        The difference of the means in each of the k variables, in standard deviations.
    rng : int or numpy.random.Generator
        A seed or a generator.

    Returns
    -------
    tuple
        X (samples × n), y with the labels 0 and 1, and the k variables.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> X, y, support = datasets.two_gaussians(6, 2, samples=10)
    >>> X.shape, int(y.sum()), len(support)
    ((10, 6), 5, 2)
    """
    generator, shift = as_generator(rng, "rng"), as_number(shift, "shift", low=-1e100, high=1e100)
    samples, n = as_whole(samples, "samples", low=2), as_whole(n, "n")
    support = np.sort(generator.choice(n, size=checked_k(k, n), replace=False))
    y = np.repeat([0.0, 1.0], [samples // 2, samples - samples // 2])
    X = generator.standard_normal((samples, n))
    X[np.ix_(y == 1.0, support)] += shift
    return X, y, tuple(support.tolist())


def genes_and_lipids(samples: int = 40, *, rng: int | np.random.Generator = 0) -> tuple[Matrix, Matrix]:
    """Two views made like the nutrimouse data: 120 expressions of genes and 21 shares of fatty acids in mice.

    Genotype (two) and diet (five) act through four factors on some variables of both views; two further factors act
    on all genes. The fatty acids are shares of their sum in per cent. No number of the real data is in it.

    Parameters
    ----------
    samples : int
        The number of mice; the real data have 40.
    rng : int or numpy.random.Generator
        A seed or a generator. It determines the factors' loadings too: split one draw into training and test.

    Returns
    -------
    tuple
        X (samples × 120) and Y (samples × 21).

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> X, Y = datasets.genes_and_lipids(10)
    >>> X.shape, Y.shape, Y.sum(axis=1).round(9).tolist() == [100.0] * 10
    ((10, 120), (10, 21), True)
    """
    generator, samples = as_generator(rng, "rng"), as_whole(samples, "samples", low=2)
    diets = generator.standard_normal((5, 3))
    cause = np.column_stack([generator.choice([-1.0, 1.0], samples), diets[generator.integers(0, 5, samples)]])
    cause += 0.4 * generator.standard_normal((samples, 4))

    def respond(size: int, share: float) -> Matrix:
        loadings = generator.standard_normal((4, size)) * (generator.random((4, size)) < share)
        return 0.5 * cause @ loadings

    X = respond(120, 0.15) + 0.5 * generator.standard_normal((samples, 2)) @ generator.standard_normal((2, 120))
    X += 0.6 * generator.standard_normal((samples, 120))
    logarithms = respond(21, 0.4) + generator.standard_normal(21) + 0.35 * generator.standard_normal((samples, 21))
    amounts = np.exp(logarithms)
    return X, 100.0 * amounts / amounts.sum(axis=1, keepdims=True)


def indefinite(n: int = 10, *, dense_metric: bool = False, rng: int | np.random.Generator = 0) -> Pencil:
    """A random symmetric A with eigenvalues of both signs, so that Algorithm 1 needs τ > 0.

    Parameters
    ----------
    n : int
        The number of variables.
    dense_metric : bool
        Whether B is a well-conditioned dense matrix; otherwise it is the identity.
    rng : int or numpy.random.Generator
        A seed or a generator.

    Returns
    -------
    Pencil
        The pencil (A, B).

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> pencil = datasets.indefinite(5)
    >>> pencil.lambda_min < 0.0 < pencil.lambda_max
    True
    """
    generator, n, dense_metric = as_generator(rng, "rng"), as_whole(n, "n"), as_flag(dense_metric, "dense_metric")
    M = generator.standard_normal((n, n))
    N = generator.standard_normal((n, 2 * n))
    return Pencil(0.5 * (M + M.T), N @ N.T / (2 * n) + 0.1 * np.eye(n) if dense_metric else None)


def sparse_unit(n: int, k: int, generator: np.random.Generator) -> Vector:
    """A unit vector with k entries of equal size and random sign at random positions."""
    v = np.zeros(as_whole(n, "n"))
    k = checked_k(k, n)
    v[generator.choice(n, size=k, replace=False)] = generator.choice([-1.0, 1.0], size=k) / np.sqrt(k)
    return v


def sample_covariance(covariance: Matrix, samples: int, generator: np.random.Generator) -> Matrix:
    """The covariance of centred Gaussian draws, divided by their number."""
    count = as_whole(samples, "samples")
    X = generator.standard_normal((count, len(covariance))) @ np.linalg.cholesky(covariance).T
    X -= X.mean(axis=0)
    return X.T @ X / count


def planted_record(pencil: Pencil, v: Vector) -> Planted:
    """The record, with the planted vector brought to unit B norm."""
    x = v / pencil.B_norm(v)
    return Planted(pencil, frozen(x), pencil.A_quad(x))
