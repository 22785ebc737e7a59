"""The table of all exchanges: what each is worth, for many supports at once, from one inverse for each."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from .._numerics.checks import Index, Matrix, Vector
from ..certificates import on_support
from ..pencils import Gram, Pencil

TABLE = 1e7
"""Multiplications of the largest table of all exchanges, 10 ms; beyond, only the likeliest variables are tried."""
CHUNK = 1 << 18
"""Numbers computed at a time, 2 MB: fast as long as they stay in the cache."""


def table_work(pencil: Pencil, k: int) -> float:
    """About how many multiplications a table of all exchanges takes, the eigenvalue problem included.

    Fifty for each of the kn entries, k more for the product with the inverse, p more for the rows of A = CᵀC; in a
    product of matrices four cost as much as one elsewhere.
    """
    rows = len(pencil.A.C) if isinstance(pencil.A, Gram) else 0
    return k * pencil.n * (50.0 + 0.25 * max(k, rows))


def exchange_gains(pencil: Pencil, supports: Index, columns: Index, x: Matrix, value: Any) -> Matrix:
    """λmax(S − i + j) − λmax(S) for all i in S and j outside: the sign as it is, the size estimated.

    With λ = λmax(S), H = A − λB and G = Σ_{m>1} vₘvₘᵀ/(λ − λₘ) over the other eigenvectors of the sub-pencil, let
    uⱼ = xᵀH_Sj, dᵢ = Gᵢᵢ, rᵢⱼ = (GH_Sj)ᵢ and sⱼ = Hⱼⱼ + H_jSGH_Sj. Then S − i + j is worth λ + δ with

        (xᵢ²sⱼ + uⱼ²dᵢ − 2xᵢuⱼrᵢⱼ) + δ(sⱼdᵢ − rᵢⱼ²) = 0,   H, G and u taken at λ + δ.

    Taken at λ, the first bracket is positive exactly where the exchange raises λmax, and δ is an estimate, infinite
    where no positive δ solves the equation. One inverse serves all k(n − k) exchanges.

    Proof. For t > λ the sub-pencil of A − tB is negative definite. Bordered by the column of j and the constraint
    zᵢ = 0 it takes a positive value exactly when the 2 × 2 Schur complement [s r; r d] at t, the leading
    eigenvector's u²/(t − λ), ux/(t − λ) and x²/(t − λ) included, is positive definite (Haynsworth). d > 0, so
    the determinant decides; times δ = t − λ it is the left side.

    Parameters
    ----------
    pencil
        (A, B).
    supports, columns
        The m supports S, m × k, and the l variables j.
    x, value
        The leading eigenvectors, unit in the B norm, m × k, and the m values λ.

    Returns
    -------
    m × k × l numbers, 0 where the exchange raises nothing; those of members j are without meaning.
    """
    value = value[:, None, None]
    A, B = sub_pencils(pencil, supports)
    H, B_cross = cross_blocks(pencil, supports, columns)
    z, a = x, pencil.A_diagonal[columns]
    if B is not None and B_cross is not None:  # all variables in units of the metric
        root, roots = pencil.B_roots[supports], pencil.B_roots[columns]
        scale = root[:, :, None] * root[:, None, :]
        A, B, z, a = A / scale, B / scale, x * root, a / roots**2
        H = (H - value * B_cross) / (root[:, :, None] * roots)
    G = other_pairs(A, B, z, value)
    r = G @ H
    s = (a - value[:, 0] + np.einsum("mij,mij->mj", H, r))[:, None, :]
    d, u, z = np.diagonal(G, axis1=1, axis2=2)[:, :, None], z[:, None, :] @ H, z[:, :, None]
    own, other = z * z * s, u * u * d
    rises, falls = own + other - 2.0 * z * u * r, r * r - s * d
    # zero but for rounding where neither i nor j is coupled to x: the second bracket decides
    unclear = np.abs(rises) <= 1e-14 * (np.abs(own) + other)
    rises[unclear] = np.where(falls[unclear] < 0.0, 1.0, 0.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        gains = rises / falls
    gains[falls <= 0.0] = math.inf
    gains[rises <= 0.0] = 0.0
    return gains


def other_pairs(A: Matrix, B: Matrix | None, z: Matrix, value: Any) -> Matrix:
    """G = Σ_{m>1} vₘvₘᵀ/(λ − λₘ) over all eigenvectors but the leading z, for a stack of pencils with Bᵢᵢ = 1.

    It is the leading block of [λB − A, Bz; zᵀB, 0]⁻¹, which inverts λB − A where zᵀBv = 0.
    """
    k = z.shape[1]
    metric = np.eye(k) if B is None else B
    K = np.zeros((len(A), k + 1, k + 1))
    K[:, :k, :k] = value * metric - A
    size = np.maximum(np.max(np.abs(K), axis=(1, 2), keepdims=True), np.abs(value))
    size[size == 0.0] = 1.0
    # where another eigenvalue equals λ, G is to be large and not infinite
    K[:, :k, :k] += 1e-10 * size * metric
    K[:, :k, k] = K[:, k, :k] = size[:, 0] * (metric @ z[:, :, None])[:, :, 0]
    return np.asarray(np.linalg.inv(K)[:, :k, :k], dtype=np.float64)


def pair_value(p: Any, q: Any, a: Vector, b: Vector, r: Vector, s: Vector) -> Vector:
    """The larger root λ of (p − λq)(r − λs) = (a − λb)²: λmax of a 2 × 2 pencil, entry by entry.

    Expanded: (qs − b²)λ² − (ps + qr − 2ab)λ + (pr − a²) = 0. qs > b² as B is positive definite; the floor
    keeps a dependent pair from dividing by zero.
    """
    A = np.maximum(q * s - b * b, 1e-14 * q * s)
    half = 0.5 * (p * s + q * r) - a * b
    return (half + np.sqrt(np.maximum(half * half - A * (p * r - a * a), 0.0))) / A


def pair_values(pencil: Pencil, x: Vector) -> Vector:
    """For each variable the value of the pair of it and x, which has unit B norm."""
    return pair_value(pencil.A_quad(x), 1.0, pencil.A_dot(x), pencil.B_dot(x), pencil.A_diagonal, pencil.B_diagonal)


def leading(pencil: Pencil, supports: Index) -> tuple[Vector, Matrix]:
    """λmax of the sub-pencil on each row of a table of supports and its eigenvector, unit in the B norm."""
    if len(supports) == 1:
        x = on_support(pencil, supports[0])
        return np.array([pencil.A_quad(x)]), x[supports]
    A, B = sub_pencils(pencil, supports)
    if B is None:
        values, vectors = np.linalg.eigh(A)
        return values[:, -1], vectors[:, :, -1]
    inverse = np.linalg.inv(np.linalg.cholesky(B))
    turned = np.swapaxes(inverse, 1, 2)
    values, vectors = np.linalg.eigh(inverse @ A @ turned)
    return values[:, -1], np.asarray((turned @ vectors[:, :, -1:])[:, :, 0], dtype=np.float64)


def support_values(pencil: Pencil, supports: Index) -> Vector:
    """λmax of the sub-pencil on each row of an m × k table of supports, with m·k² numbers of memory."""
    A, B = sub_pencils(pencil, supports)
    if B is not None:
        L = np.linalg.cholesky(B)
        A = np.linalg.solve(L, np.swapaxes(np.linalg.solve(L, A), 1, 2))
    return np.asarray(np.linalg.eigvalsh(A)[:, -1], dtype=np.float64)


def tables_of(supports: Iterator[tuple[int, ...]], k: int) -> Iterator[Index]:
    """Supports of size k as the rows of tables with at most CHUNK numbers in their sub-pencils."""
    while rows := list(islice(supports, max(1, CHUNK // k**2))):
        yield np.array(rows)


def sub_pencils(pencil: Pencil, supports: Index) -> tuple[Matrix, Matrix | None]:
    """A and B on each row of a table of supports; None for B = I."""
    rows, columns = supports[:, :, None], supports[:, None, :]
    if isinstance(pencil.A, Gram):
        W = pencil.A.C.T[supports]
        A = W @ np.swapaxes(W, 1, 2)
    else:
        A = pencil.A[rows, columns]
    return A, None if pencil.B is None else pencil.B[rows, columns]


def cross_blocks(pencil: Pencil, supports: Index, columns: Index) -> tuple[Matrix, Matrix | None]:
    """A and B between each row of a table of supports and the columns; None for B = I."""
    at = supports if len(columns) == pencil.n else (supports[:, :, None], columns)
    A = pencil.A.C.T[supports] @ pencil.A.C[:, columns] if isinstance(pencil.A, Gram) else pencil.A[at]
    return A, None if pencil.B is None else pencil.B[at]
