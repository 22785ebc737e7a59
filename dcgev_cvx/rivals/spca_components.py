"""SPCA of Zou, Hastie and Tibshirani for several components at once, as its authors ran it on the pit props."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._numerics.checks import Matrix, as_number, as_numbers, as_whole
from ..errors import InvalidParameter
from ..pencils import Pencil
from .base import factor, pca_problem
from .spca import elastic_net


def spca_components(
    pencil: Pencil, lassos: Sequence[float], *, ridge: float = 1e-6, tol: float = 1e-3, max_iter: int = 200
) -> Matrix:
    """min Σⱼ ‖Cαⱼ − Cβⱼ‖² + λ‖βⱼ‖² + λ₁ⱼ‖βⱼ‖₁ over β and over α with αᵀα = I, in turn; βⱼ/‖βⱼ‖ (Eq:EN-SPCA).

    For fixed α each βⱼ is an elastic net, for fixed β the best α is UVᵀ with Aβ = UDVᵀ (Procrustes). Starts at the
    leading eigenvectors and stops when no entry of β/‖β‖ moves by more than `tol`. Unlike one component after
    another, α stays orthonormal, which keeps it near the ordinary components.

    Parameters
    ----------
    lassos
        λ₁ⱼ ≥ 0, one per component and at most n: larger ones leave fewer loadings.
    ridge
        λ > 0; next to nothing where there are more samples than variables, as its authors advise.
    tol, max_iter
        The stop rule of the alternation and its limit.

    Returns
    -------
    Matrix
        n × len(lassos); a column is 0 where its penalty outweighs everything.

    Examples
    --------
    >>> from dcgev_cvx import datasets, rivals
    >>> V = rivals.spca_components(datasets.pitprops(), (0.06, 0.16, 0.1, 0.5, 0.5, 0.5))
    >>> (V != 0).sum(axis=0)
    array([7, 4, 4, 1, 1, 1])
    """
    penalties = as_numbers(lassos, "lassos")
    if len(penalties) > pca_problem(pencil, 1, "spca")[0].n:
        raise InvalidParameter(
            f"lassos has {len(penalties)} penalties: 1 to n = {pencil.n} components can be asked for."
        )
    weight = as_number(ridge, "ridge", strict=True)
    tol, max_iter = as_number(tol, "tol", high=1.0), as_whole(max_iter, "max_iter")
    C = np.asfortranarray(factor(pencil))
    alpha = np.linalg.svd(C, full_matrices=True)[2][: len(penalties)].T
    beta = np.zeros((pencil.n, len(penalties)))
    x = beta
    for _ in range(max_iter):
        for j, lasso in enumerate(penalties):
            beta[:, j] = elastic_net(C, C @ alpha[:, j], weight, lasso, beta[:, j].copy())
        before, x = x, unit_columns(beta)
        if float(np.max(np.abs(x - before))) <= tol:
            break
        U, _, Vt = np.linalg.svd(C.T @ (C @ beta), full_matrices=False)
        alpha = U @ Vt
    return x


def unit_columns(V: Matrix) -> Matrix:
    """Every column over its norm; 0 stays 0."""
    norms = np.linalg.norm(V, axis=0)
    return V / np.where(norms > 0.0, norms, 1.0)
