"""Canonical pairs of two views by whitening and one singular value decomposition (Eq:CCA)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular, svd

from ..._numerics.checks import UNIT_ROUNDOFF, Matrix, Vector
from ...errors import InvalidPencil


@dataclass(frozen=True)
class Pairs:
    """U and V with UᵀBxU = VᵀByV = I and UᵀCV = diag(values), largest first."""

    U: Matrix
    V: Matrix
    values: Vector

    @property
    def rank(self) -> int:
        """The number of pairs whose correlation is not rounding."""
        return int(np.count_nonzero(self.values > len(self.values) * UNIT_ROUNDOFF * max(1.0, self.values[0])))


def canonical_pairs(Bx: Matrix, By: Matrix, C: Matrix) -> Pairs:
    """Every canonical pair of (C, Bx, By): max uᵀCv s.t. uᵀBxu = vᵀByv = 1, and so on (Eq:CCA)."""
    Lx, Ly = lower_factor(Bx), lower_factor(By)
    half = solve_triangular(Lx, C, lower=True, check_finite=False)
    whitened = solve_triangular(Ly, half.T, lower=True, check_finite=False).T
    P, values, Qt = svd(whitened, full_matrices=False, check_finite=False)
    U = solve_triangular(Lx, P, lower=True, trans=1, check_finite=False)
    V = solve_triangular(Ly, Qt.T, lower=True, trans=1, check_finite=False)
    return Pairs(U, V, values)


def lower_factor(B: Matrix) -> Matrix:
    """L with B = LLᵀ."""
    try:
        return cholesky(B, lower=True, check_finite=False)
    except LinAlgError as cause:
        raise InvalidPencil("a view's covariance is not positive definite: give a ridge above 0.") from cause


def ridged(S: Matrix, amount: float) -> Matrix:
    """S + amount·I."""
    B = np.array(S)
    B[np.diag_indices_from(B)] += amount
    return B
