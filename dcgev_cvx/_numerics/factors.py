"""The Cholesky factor B = LLᵀ, block by block where B is block diagonal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, eigvalsh, solve_triangular
from scipy.linalg.lapack import dpocon  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]

from ..errors import InvalidPencil
from .checks import UNIT_ROUNDOFF, Matrix, Vector, frozen, largest
from .spectra import power_of_four
from .threads import same_bits


@dataclass(frozen=True)
class Factor:
    """Lower L with B = LLᵀ, stored as diagonal blocks: two views of equal size cost a quarter of one matrix.

    >>> import numpy as np
    >>> from dcgev_cvx._numerics.factors import Factor
    >>> Factor.of(np.diag([4.0, 9.0])).solve(np.array([4.0, 9.0]))
    array([1., 1.])
    """

    blocks: tuple[tuple[slice, Matrix], ...]
    smallest: float
    """A cheap lower estimate of λmin(B), from LAPACK's condition estimate."""

    @classmethod
    def of(cls, B: Matrix) -> Factor:
        """The factor; InvalidPencil if B is not positive definite to working precision."""
        unit = power_of_four(largest(B))
        blocks: list[tuple[slice, Matrix]] = []
        norm = inverse = 0.0
        for block in diagonal_blocks(B):
            part = B[block, block] / unit
            size = float(np.abs(part).sum(axis=0).max())
            try:
                with same_bits(len(part)):
                    L = cholesky(part, lower=True, check_finite=False)
            except LinAlgError:
                raise not_positive_definite(B) from None
            condition = float(dpocon(L, size, uplo="L")[0])
            if condition == 0.0:
                raise not_positive_definite(B)
            norm, inverse = max(norm, size), max(inverse, 1.0 / (size * condition))
            L *= math.sqrt(unit)
            blocks.append((block, frozen(L)))
        if len(B) * UNIT_ROUNDOFF * norm * inverse >= 1.0:
            raise not_positive_definite(B)
        return cls(tuple(blocks), 0.1 * unit / inverse)

    def solve(self, c: Matrix) -> Matrix:
        """B⁻¹c."""
        z = np.empty_like(c)
        for block, L in self.blocks:
            z[block] = cho_solve((L, True), c[block], check_finite=False)
        return z

    def whiten(self, v: Matrix) -> Matrix:
        """L⁻¹v."""
        return self._triangular(v, 0)

    def unwhiten(self, v: Matrix) -> Matrix:
        """L⁻ᵀv."""
        return self._triangular(v, 1)

    def _triangular(self, v: Matrix, trans: int) -> Matrix:
        z = np.empty_like(v)
        for block, L in self.blocks:
            z[block] = solve_triangular(L, v[block], lower=True, trans=trans, check_finite=False)
        return z

    def lower(self) -> Matrix:
        """L itself, n × n."""
        n = self.blocks[-1][0].stop
        L = np.zeros((n, n))
        for block, part in self.blocks:
            L[block, block] = part
        return L


def diagonal_blocks(B: Matrix) -> Iterator[slice]:
    """Consecutive blocks outside of which B is zero, small ones joined; a dense B is one block."""
    n = len(B)
    # a nonzero in the corner connects the first variable to the last
    reach = np.full(n, n - 1) if B[0, -1] != 0.0 else n - 1 - np.argmax(B[:, ::-1] != 0.0, axis=1)
    ends = 1 + np.flatnonzero(np.maximum.accumulate(reach) <= np.arange(n))
    kept = [0]
    for end in ends:
        if end - kept[-1] >= n / 8 or end == n:
            kept.append(int(end))
    return (slice(start, stop) for start, stop in pairwise(kept))


def not_positive_definite(B: Matrix) -> InvalidPencil:
    """The error with B's smallest eigenvalue and a ridge that makes B positive definite."""
    unit = power_of_four(largest(B))
    values: Vector = unit * eigvalsh(B / unit, check_finite=False)
    ridge = max(0.0, -float(values[0])) + 1e-8 * max(abs(float(values[-1])), abs(float(values[0])))
    return InvalidPencil(
        f"B is not positive definite to working precision: its smallest eigenvalue is {values[0]:.3g} "
        f"(largest {values[-1]:.3g}). Add a ridge, e.g. B + {ridge:.3g}·I."
    )
