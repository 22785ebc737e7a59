"""Families of pencils on which the search is tested."""

import numpy as np
import referee

from dcgev_cvx import Gram, Pencil, cca_pencil


def pca(seed, n=14, samples=20):
    """The covariance of Gaussian samples."""
    X = np.random.default_rng(seed).standard_normal((samples, n))
    X -= X.mean(axis=0)
    return Pencil(X.T @ X / samples)


def cca(seed, h=7, m=60):
    """Two views of h variables that share two factors."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((m, 2))
    return cca_pencil(
        *(Z @ rng.standard_normal((2, h)) * 0.5 + rng.standard_normal((m, h)) for _ in range(2)), ridge=0.01
    )


def few_samples(seed, h=100, m=60, ridge=0.5):
    """Two views of h variables, five of each sharing a factor, fewer samples than variables."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((m, 1))
    X, Y = rng.standard_normal((m, h)), rng.standard_normal((m, h))
    X[:, :5] += 1.5 * z
    Y[:, :5] += 1.5 * z
    return cca_pencil(X, Y, ridge=ridge)


def factor(seed, rows=40, columns=150):
    """A = CᵀC of centred Gaussian data."""
    X = np.random.default_rng(seed).standard_normal((rows, columns))
    return Gram(X - X.mean(axis=0))


def conditioned(seed, n, cond):
    """An indefinite A and a B of given condition."""
    return Pencil(*referee.random_pencil(seed, n, cond=cond, indefinite=True))


def tied(seed, n):
    """Blocks of equal correlations, their variables shuffled: many supports have the same value."""
    S = np.kron(np.eye(n // 4), np.full((4, 4), 0.5)) + 0.5 * np.eye(n)
    order = np.random.default_rng(seed).permutation(n)
    return Pencil(S[np.ix_(order, order)])


def graded(seed, n=160, *, metric=True):
    """An indefinite A, and a B whose variables differ by a hundred in size."""
    rng = np.random.default_rng(seed)
    M, G = rng.standard_normal((n, n)), rng.standard_normal((2 * n, n)) * 10.0 ** rng.uniform(-1, 1, n)
    return Pencil(M + M.T, G.T @ G / n if metric else None)


def fisher(seed, n):
    """A = aaᵀ, and a B whose variables differ by ten thousand in size."""
    rng = np.random.default_rng(seed)
    G = rng.standard_normal((3 * n, n)) * 10.0 ** rng.uniform(-2, 2, n)
    return Pencil(Gram((rng.standard_normal(n) * np.sqrt(np.sum(G**2, axis=0)))[None, :]), G.T @ G)


def value_on(pencil, support):
    """λmax of the sub-pencil, by SciPy."""
    from scipy.linalg import eigh

    A, B = pencil.dense()
    rows = np.ix_(support, support)
    return float(eigh(A[rows], B[rows], eigvals_only=True)[-1])


def exchanged_values(pencil, support, every=1):
    """λmax after each exchange of every n-th member."""
    outside = np.setdiff1d(np.arange(pencil.n), support)
    for i in range(0, len(support), every):
        for j in outside:
            yield value_on(pencil, np.sort(np.append(np.delete(support, i), j)))


def random_pencil(seed, n=6, kind="dense"):
    """A of four samples in factor form, or of full rank; B well conditioned."""
    rng = np.random.default_rng(seed)
    C = rng.standard_normal((4 if kind == "gram" else 2 * n, n))
    N = rng.standard_normal((n, 2 * n))
    A = Gram(C) if kind == "gram" else C.T @ C
    return Pencil(A, N @ N.T / n + 0.1 * np.eye(n))


def views(seed=0, m=60, p=4, q=3):
    """X and Y that share two factors, and their pencil."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((m, 2))
    X = Z @ rng.standard_normal((2, p)) + rng.standard_normal((m, p))
    Y = Z @ rng.standard_normal((2, q)) + rng.standard_normal((m, q))
    return X, Y, cca_pencil(X, Y)
