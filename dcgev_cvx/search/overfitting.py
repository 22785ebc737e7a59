"""Sparse CCA from fewer samples than variables: how it is known from the pencil, and what is then chosen by instead.

The support with the largest in-sample correlation is then one that fits noise (beyond the paper).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._numerics.checks import Index, Matrix
from ..pencils import Gram, Pencil

FEW = 60
"""Up to this many variables nothing is asked: the search is exhaustive enough and the value is what is wanted."""


def overfits(pencil: Pencil) -> bool:
    """Is this sparse CCA on more than FEW variables, from fewer samples than variables?

    A + B is then the joint covariance of both views plus a ridge, and as the samples do not span the space, many
    directions share one eigenvalue, the ridge; deflation moves a few of them. A covariance of enough samples has
    no eigenvalue three times. One that is known may have, but for a reason of its own: groups of variables that
    are uncorrelated with all others, each with the same eigenvalue, or variables that the others' covariances
    do not tell apart, as in a block of equal correlations. So each group is asked by itself, each such variable once.

    A known covariance LLᵀ + σ²I of r factors and equal noise is taken for a sample, and nothing in the pencil could
    say otherwise: r + 1 centred samples with the rows of Lᵀ for their span, and the ridge σ², give the same matrices.
    """
    if pencil.n <= FEW or isinstance(pencil.A, Gram) or pencil.B is None or not has_views(pencil.A, pencil.B):
        return False
    S, tol = pencil.A + pencil.B, 1e-11 * pencil.B_scale
    shared = shared_smallest(S, tol)
    if shared is None:
        return False
    # mostly all variables are told apart, and no group has to be asked again
    rest = [told_apart(S, rows, shared) for rows in connected(S)]
    return len(rest[0]) == pencil.n or any(unspanned(S, rows, tol) for rows in rest)


def unspanned(S: Matrix, rows: Index, tol: float) -> bool:
    """Do three directions share an eigenvalue of S on these rows, though all variables are told apart?

    Those that are not are dropped and the rest is asked again.
    """
    shared = shared_smallest(S[np.ix_(rows, rows)], tol) if len(rows) > 2 else None
    if shared is None:
        return False
    kept = told_apart(S, rows, shared)
    return len(kept) == len(rows) or unspanned(S, kept, tol)


def shared_smallest(S: Matrix, tol: float) -> float | None:
    """One of the smallest eigenvalues of a positive definite S that three directions share, if there is one.

    By inverse iteration with twelve vectors, shifted closer twice: three Cholesky factorisations instead of a
    spectrum. A shared eigenvalue is found several times at once; two that differ are told apart long
    before they are accurate.
    """
    V = np.random.default_rng(0).standard_normal((len(S), min(12, len(S))))
    shift = 0.0
    for _ in range(3):
        try:
            factor = cho_factor(S - shift * np.eye(len(S)), lower=True, overwrite_a=True, check_finite=False)
        except LinAlgError:
            return None
        for _ in range(30):
            V = np.linalg.qr(cho_solve(factor, V, check_finite=False))[0]
        low = np.linalg.eigvalsh(V.T @ (S @ V))
        threes = np.flatnonzero(low[2:] - low[:-2] <= tol)
        if len(threes):
            return float(low[threes[0]])
        shift = float(low[0] - 2.0 * (low[-1] - low[0]))
    return None


def connected(S: Matrix) -> list[Index]:
    """The groups of variables between which S is zero."""
    if S[0].all():
        return [np.arange(len(S))]
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(csr_array(S != 0.0), directed=False)
    return [np.flatnonzero(label == group) for group in range(count)]


def told_apart(S: Matrix, rows: Index, shared: float) -> Index:
    """The rows without those whose column of R = S − σI is zero or a multiple of the column of an earlier one.

    From samples R = CᵀC, and these are constants and duplicates among the columns of C. Proportional columns have
    RᵢᵢRⱼⱼ = Rᵢⱼ², so that only such pairs are compared.
    """
    R = S[np.ix_(rows, rows)] - shared * np.eye(len(rows))
    diagonal, size = np.diagonal(R), np.linalg.norm(R, axis=1)
    dropped = size <= 1e-9 * np.diagonal(S)[rows]
    likely = np.triu(np.abs(R * R - np.outer(diagonal, diagonal)) <= 1e-9 * np.outer(size, size), 1)
    for i in range(len(rows)):
        others = np.flatnonzero(likely[i] & ~dropped)
        if not dropped[i] and len(others):
            apart = np.outer(R[others, i], R[i]) - R[i, i] * R[others]
            dropped[others[np.linalg.norm(apart, axis=1) <= 1e-9 * size[i] * size[others]]] = True
    return rows[~dropped]


def has_views(A: Matrix, B: Matrix) -> bool:
    """Do the variables fall into two groups, in any order, A zero within them and B zero between them (Eq:CCA)?"""
    other = A[0] != 0.0
    own = ~other
    crossed = A[np.ix_(own, own)].any() or A[np.ix_(other, other)].any() or B[np.ix_(own, other)].any()
    return bool(other.any() and not crossed)


def diagonal_metric(pencil: Pencil) -> Pencil:
    """(D⁻¹AD⁻¹, I) with D² = diag(B): the pencil without the covariances within a view.

    With fewer samples than variables these covariances are mostly noise, and the exchanges that raise the in-sample
    correlation mostly fit it. Sparse CCA by penalized matrix decomposition (Witten, Tibshirani and Hastie
    2009) drops them altogether; here they only have no say in which variables are chosen.
    """
    root = 1.0 / np.sqrt(pencil.B_diagonal)
    A = pencil.dense()[0]
    return Pencil(root[:, None] * A * root, blocks=pencil.blocks)
