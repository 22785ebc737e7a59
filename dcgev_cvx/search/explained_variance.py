"""How much sparse components explain: three measures, in the metric of B.

For uncorrelated orthogonal components, such as eigenvectors, they agree. Sparse components overlap: the plain sum
counts the overlap twice, the adjusted variance gives it to the earlier component, and the projector trace asks what
the span as a whole can reconstruct. So a figure needs the name of its measure. The total is tr(B⁻¹A), the sum of
all generalized eigenvalues: tr(A) when B = I.

Examples
--------
>>> import numpy as np
>>> from dcgev_cvx import Pencil
>>> from dcgev_cvx.search import explained_variance as explained
>>> pencil = Pencil(np.diag([3.0, 1.0]))
>>> twice = np.array([[1.0, 1.0], [0.0, 0.0]])  # the same component twice
>>> [round(f(pencil, twice), 6) for f in (explained.projector_trace, explained.adjusted, explained.plain_sum)]
[0.75, 0.75, 1.5]
"""

import numpy as np

from .._numerics.checks import Matrix, as_real
from ..errors import InvalidParameter
from ..pencils import Pencil, expect_pencil


def projector_trace(pencil: Pencil, V: Matrix) -> float:
    """tr(P_V A)/tr(A), P_V the projector on the span of the loadings: the paper's 77.1 % (Section 4.4.1).

    In the metric of B: tr(WᵀAW)/tr(B⁻¹A) with W a B-orthonormal basis of the span of V (n × r, a component per
    column, in any scaling). It is what a least-squares reconstruction from the components keeps, between 0 and 1.
    """
    V = checked_loadings(pencil, V)
    whitened = V if pencil.cholesky is None else pencil.cholesky.T @ V
    _, sizes, T = np.linalg.svd(whitened, full_matrices=False)
    kept = sizes > 1e-12 * sizes[0]
    # W = L⁻ᵀU = V·T·diag(1/sizes): no solve with L is needed
    W = V @ (T[kept].T / sizes[kept])
    return float(np.trace(W.T @ (pencil.A @ W))) / total_variance(pencil)


def adjusted(pencil: Pencil, V: Matrix) -> float:
    """Σ Rⱼⱼ²/tr(A), where the scores XV = QR: what earlier components explain already is left out (Zou et al. 2006).

    R is the triangular factor of VᵀAV = RᵀR, columns of V scaled to unit B norm, in the given order; Rⱼⱼ² is the
    squared norm of what Gram–Schmidt leaves of the j-th score.
    """
    # a square root by eigenvalues: Cholesky would stop where the scores are dependent
    values, vectors = np.linalg.eigh(score_covariance(pencil, V))
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    R = np.linalg.qr(root, mode="r")
    return float(np.sum(np.diagonal(R) ** 2)) / total_variance(pencil)


def plain_sum(pencil: Pencil, V: Matrix) -> float:
    """Σ vⱼᵀAvⱼ/tr(A) over unit columns: counts what components share once for each of them, and may exceed 1."""
    return float(np.trace(score_covariance(pencil, V))) / total_variance(pencil)


def is_variance(pencil: Pencil) -> bool:
    """Is A positive semidefinite and not zero, so that shares of tr(A) mean something? In CCA it is not."""
    scale = expect_pencil(pencil).A_scale
    return scale > 0.0 and pencil.lambda_min_A >= -1e-10 * pencil.n * scale


def total_variance(pencil: Pencil) -> float:
    """tr(B⁻¹A), or an error when A is not a variance."""
    if not is_variance(pencil):
        raise InvalidParameter(
            f"Explained variance needs A ⪰ 0 and A ≠ 0, but λmin(A) = {pencil.lambda_min_A:.3g} (a CCA pencil has "
            "no variance to explain: look at the values, which are correlations)."
        )
    return pencil.trace


def checked_loadings(pencil: Pencil, V: Matrix, what: str = "V") -> Matrix:
    """An n × r matrix without zero columns; one vector counts as one column."""
    expect_pencil(pencil)
    loadings = as_real(V, what, InvalidParameter)
    loadings = loadings[:, None] if loadings.ndim == 1 else loadings
    if loadings.ndim != 2 or loadings.shape[0] != pencil.n or loadings.shape[1] == 0:
        raise InvalidParameter(f"{what} must be {pencil.n} × r, one column per component, got shape {loadings.shape}.")
    if not np.all(np.any(loadings, axis=0)):
        zero = int(np.argmin(np.any(loadings, axis=0)))
        raise InvalidParameter(f"{what} has a zero column ({zero}): not a direction.")
    return loadings


def score_covariance(pencil: Pencil, V: Matrix) -> Matrix:
    """VᵀAV with columns of V scaled to unit B norm, symmetric to the last bit."""
    V = checked_loadings(pencil, V)
    V = V / np.max(np.abs(V), axis=0)  # squares of 1e200 overflow, those of 1e-200 vanish
    V = V / np.array([pencil.B_norm(v) for v in V.T])
    M = V.T @ (pencil.A @ V)
    return 0.5 * (M + M.T)
