"""Small pencils for tests, and their optimum by a plain loop that shares no code with the package."""

from itertools import combinations

import numpy as np

from dcgev_cvx import Gram, Pencil


def optimum(pencil, k):
    """max λmax(A_SS, B_SS) over |S| = k: whitened eigenvalues, one support after the other."""
    A, B = pencil.dense()
    best = -np.inf
    for S in combinations(range(pencil.n), k):
        L = np.linalg.inv(np.linalg.cholesky(B[np.ix_(S, S)]))
        best = max(best, np.linalg.eigvalsh(L @ A[np.ix_(S, S)] @ L.T)[-1])
    return best


def null(n, rng=0):
    """The covariance of 4n Gaussian samples without structure."""
    G = np.random.default_rng(rng).standard_normal((4 * n, n))
    return Pencil(G.T @ G / (4 * n))


def gaussian(p, n, seed=0):
    """A = CᵀC with a Gaussian C of p rows."""
    return Pencil(Gram(np.random.default_rng(seed).standard_normal((p, n))))


def random_pencil(rng, largest=8):
    """(pencil, k): A positive, negative or indefinite, of any size; B the identity, or conditioned up to 1e6."""
    n = int(rng.integers(1, largest + 1))
    G = rng.standard_normal((n, 2 * n)) * 10.0 ** rng.uniform(-3, 3)
    A = [G @ G.T, -G @ G.T, 0.5 * (G[:, :n] + G[:, :n].T)][rng.integers(3)]
    if rng.random() < 0.4:
        return Pencil(A), int(rng.integers(1, n + 1))
    Q, _ = np.linalg.qr(rng.standard_normal((n, n)))
    B = Q @ np.diag(10.0 ** rng.uniform(-rng.integers(0, 7), 0, n)) @ Q.T
    return Pencil(A, 0.5 * (B + B.T)), int(rng.integers(1, n + 1))


def random_cca():
    """Two views of seven variables that share two factors."""
    rng, m = np.random.default_rng(1), 60
    Z = rng.standard_normal((m, 2))
    X = Z @ rng.standard_normal((2, 7)) * 0.5 + rng.standard_normal((m, 7))
    Y = Z @ rng.standard_normal((2, 7)) * 0.5 + rng.standard_normal((m, 7))
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    A, B = np.zeros((14, 14)), np.zeros((14, 14))
    A[:7, 7:], A[7:, :7] = X.T @ Y / m, Y.T @ X / m
    B[:7, :7], B[7:, 7:] = X.T @ X / m + 0.01 * np.eye(7), Y.T @ Y / m + 0.01 * np.eye(7)
    return Pencil(A, B)


def cca(n=40, seed=0):
    """(A, B) of two views of n/2 variables, of which two each share a factor."""
    rng = np.random.default_rng(seed)
    h = n // 2
    Z = rng.standard_normal((3 * n, 1))
    X = rng.standard_normal((3 * n, n))
    X[:, [0, 1, h, h + 1]] += Z
    S = np.cov(X.T)
    A, B = S.copy(), S.copy()
    A[:h, :h] = A[h:, h:] = 0.0
    B[:h, h:] = 0.0
    B[h:, :h] = 0.0
    return A, B
