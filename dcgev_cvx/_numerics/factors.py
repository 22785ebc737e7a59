"""The Cholesky factor B = LLᵀ, and an estimate of B's smallest eigenvalue."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, eigvalsh, solve_triangular
from scipy.linalg.lapack import dpocon  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]

from ..errors import InvalidPencil
from .checks import UNIT_ROUNDOFF, Matrix, Vector, frozen, largest
from .spectra import power_of_four
from .threads import same_bits


@dataclass(frozen=True)
class Factor:
    """Lower L with B = LLᵀ.

    >>> import numpy as np
    >>> from dcgev_cvx._numerics.factors import Factor
    >>> Factor.of(np.diag([4.0, 9.0])).solve(np.array([4.0, 9.0]))
    array([1., 1.])
    """

    L: Matrix
    smallest: float
    """A cheap lower estimate of λmin(B), from LAPACK's condition estimate."""

    @classmethod
    def of(cls, B: Matrix) -> Factor:
        """The factor; InvalidPencil if B is not positive definite to working precision."""
        unit = power_of_four(largest(B))
        scaled = B / unit
        norm = float(np.abs(scaled).sum(axis=0).max())
        try:
            with same_bits(len(B)):
                L = cholesky(scaled, lower=True, check_finite=False)
        except LinAlgError:
            raise not_positive_definite(B) from None
        condition = float(dpocon(L, norm, uplo="L")[0])
        if condition <= len(B) * UNIT_ROUNDOFF:
            raise not_positive_definite(B)
        L *= math.sqrt(unit)
        return cls(frozen(L), 0.1 * unit * norm * condition)

    def solve(self, c: Matrix) -> Matrix:
        """B⁻¹c."""
        return cho_solve((self.L, True), c, check_finite=False)

    def whiten(self, v: Matrix) -> Matrix:
        """L⁻¹v."""
        return solve_triangular(self.L, v, lower=True, check_finite=False)

    def unwhiten(self, v: Matrix) -> Matrix:
        """L⁻ᵀv."""
        return solve_triangular(self.L, v, lower=True, trans=1, check_finite=False)


def not_positive_definite(B: Matrix) -> InvalidPencil:
    """The error with B's smallest eigenvalue and a ridge that makes B positive definite."""
    unit = power_of_four(largest(B))
    values: Vector = unit * eigvalsh(B / unit, check_finite=False)
    ridge = max(0.0, -float(values[0])) + 1e-8 * max(abs(float(values[-1])), abs(float(values[0])))
    return InvalidPencil(
        f"B is not positive definite to working precision: its smallest eigenvalue is {values[0]:.3g} "
        f"(largest {values[-1]:.3g}). Add a ridge, e.g. B + {ridge:.3g}·I."
    )
