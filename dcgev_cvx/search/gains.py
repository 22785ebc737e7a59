"""What an exchange of two variables is worth: for all pairs at once, from one inverse (beyond the paper)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._numerics.checks import Index, Matrix, Vector
from ..pencils import Gram, Pencil

TIE = 1e-10
"""Eigenvalues this close, relative to the largest, count as equal."""


def swap_gains(pencil: Pencil, support: Index, x: Vector, value: float, drop: Index, add: Index) -> Matrix:
    """`exchange_gains` for i = support[drop] and j = add."""
    sub = pencil.A_sub(support), pencil.B_sub(support), *cross_block(pencil, support, add)
    return exchange_gains(*sub, pencil.A_diagonal[add], pencil.B_diagonal[add], x[support], np.float64(value))[drop]


def exchange_gains(
    A: Matrix, B: Matrix, A_cross: Matrix, B_cross: Matrix, a: Vector, b: Vector, x: Vector, value: Any
) -> Matrix:
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
    A, B
        The sub-pencil on S, k × k, or a stack of them.
    A_cross, B_cross, a, b
        Rows S and columns j, k × l, and the diagonals at j.
    x, value
        The leading eigenvector, unit in the B norm, and λ.

    Returns
    -------
    k × l numbers, 0 where the exchange raises nothing.
    """
    value = value[..., None, None]
    root = np.sqrt(np.diagonal(B, axis1=-2, axis2=-1))  # all variables in units of the metric
    H = (A_cross - value * B_cross) / (root[..., :, None] * np.sqrt(b)[..., None, :])
    return gains_from(other_pairs(A, B, root, x * root, value), H, x * root, a / b - value[..., 0])


def gains_from(G: Matrix, H: Matrix, z: Vector, h: Vector) -> Matrix:
    """`exchange_gains` from G, H_Sj, the leading z and Hⱼⱼ, in units of the metric."""
    r = G @ H
    s = (h + np.einsum("...ij,...ij->...j", H, r))[..., None, :]
    d, u, z = np.diagonal(G, axis1=-2, axis2=-1)[..., :, None], z[..., None, :] @ H, z[..., :, None]
    own, other = z * z * s, u * u * d
    rises, falls = own + other - 2.0 * z * u * r, r * r - s * d
    # zero but for rounding where neither i nor j is coupled to x: the second bracket decides
    rises = np.where(np.abs(rises) <= 1e-14 * (np.abs(own) + other), np.where(falls < 0.0, 1.0, 0.0), rises)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        return np.where(rises > 0.0, np.where(falls > 0.0, rises / falls, np.inf), 0.0)


def other_pairs(A: Matrix, B: Matrix, root: Vector, z: Vector, value: Any) -> Matrix:
    """G = Σ_{m>1} vₘvₘᵀ/(λ − λₘ) over all eigenvectors of a pencil but the leading z: a block of `bordered_inverse`.

    Pencil and z in units of √Bᵢᵢ, which are `root`; a stack of pencils is treated at once.
    """
    k, scale = A.shape[-1], root[..., :, None] * root[..., None, :]
    return bordered_inverse(A / scale, B / scale, z, value)[..., :k, :k]


def bordered_inverse(A: Matrix, B: Matrix, z: Vector, value: Any) -> Matrix:
    """[λB − A, Bz; zᵀB, 0]⁻¹ for the leading pair (λ, z) of a pencil with Bᵢᵢ = 1, or of each of a stack.

    Its leading block is G: it inverts λB − A where zᵀBv = 0. The border is in units of the pencil.
    """
    k = A.shape[-1]
    K = np.zeros((*A.shape[:-2], k + 1, k + 1))
    K[..., :k, :k] = value * B - A
    size = np.maximum(np.max(np.abs(K), axis=(-1, -2), keepdims=True), np.abs(value))
    size[size == 0.0] = 1.0
    # where another eigenvalue equals λ, G is to be large and not infinite
    K[..., :k, :k] += TIE * size * B
    K[..., :k, k] = K[..., k, :k] = size[..., 0] * (B @ z[..., None])[..., 0]
    return np.asarray(np.linalg.inv(K), dtype=np.float64)


def products(pencil: Pencil, x: Vector) -> tuple[Vector, Vector, Vector, Vector]:
    """Ax, Bx and the diagonals of A and B: what a pair of x and a unit vector is made of."""
    return pencil.A_dot(x), pencil.B_dot(x), pencil.A_diagonal, pencil.B_diagonal


def without(pencil: Pencil, support: Index, x: Vector, value: float) -> tuple[Vector, Vector, Vector]:
    """uᵀAu, uᵀBu and their quotient for u = x − xᵢeᵢ, for each i of the support."""
    Ax, Bx, a, b = (v[support] for v in products(pencil, x))
    xi = x[support]
    kept_A, kept_B = value - 2.0 * xi * Ax + xi**2 * a, 1.0 - 2.0 * xi * Bx + xi**2 * b
    return kept_A, kept_B, kept_A / np.maximum(kept_B, 1e-14)


def pair_value(p: Vector | float, q: Vector | float, a: Vector, b: Vector, r: Vector, s: Vector) -> Vector:
    """The larger root λ of (p − λq)(r − λs) = (a − λb)²: λmax of a 2 × 2 pencil, entry by entry.

    Expanded: (qs − b²)λ² − (ps + qr − 2ab)λ + (pr − a²) = 0. qs > b² as B is positive definite; the floor
    keeps a dependent pair from dividing by zero.
    """
    A = np.maximum(q * s - b * b, 1e-14 * q * s)
    half = 0.5 * (p * s + q * r) - a * b
    root = np.sqrt(np.maximum(half * half - A * (p * r - a * a), 0.0))
    alone = np.asarray(A <= 0.0)  # the first vector is zero: what is left is the second
    return np.where(alone, r / s, (half + root) / np.where(alone, 1.0, A))


def cross_block(pencil: Pencil, rows: Index, columns: Index) -> tuple[Matrix, Matrix]:
    """A and B between two small sets of variables."""
    if isinstance(pencil.A, Gram):
        A = pencil.A.C[:, rows].T @ pencil.A.C[:, columns]
    else:
        A = pencil.A[np.ix_(rows, columns)]
    B = np.zeros((len(rows), len(columns))) if pencil.B is None else pencil.B[np.ix_(rows, columns)]
    return A, B


def shortlists(
    pencil: Pencil, support: Index, outside: Index, x: Vector, value: float, most: int, few: int
) -> tuple[Index, Index]:
    """(places in the support, variables outside) among which exchanges are sought: all of them where that is cheap.

    That is where looking at them takes no more than `most` multiplications. Elsewhere the `few` members that cost
    least to drop, by the value of x without them, and the `few` outsiders that gain most, by the 2 × 2 value of x
    and them.
    """
    if len(support) ** 2 * len(outside) <= most:
        return np.arange(len(support)), outside
    gain = pair_value(value, 1.0, *(v[outside] for v in products(pencil, x)))
    i = np.argsort(-without(pencil, support, x, value)[2], kind="stable")[:few]
    return i, outside[np.argsort(-gain, kind="stable")[:few]]
