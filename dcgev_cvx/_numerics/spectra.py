"""Extreme eigenpairs of symmetric matrices and pencils: dense for small n, Lanczos beyond.

An eigenvalue is computed, not proved: `_numerics.proofs` proves bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh

from .checks import UNIT_ROUNDOFF, Matrix, Vector
from .threads import same_bits

if TYPE_CHECKING:
    from .factors import Factor

End: TypeAlias = Literal["lower", "upper"]
Operator: TypeAlias = Callable[[Vector], Vector]
Pair: TypeAlias = tuple[float, Vector]
"""An eigenvalue and its vector."""

DENSE_LIMIT = 300
"""Up to this n LAPACK finds an eigenpair in milliseconds, faster than Lanczos."""
LANCZOS_TOL = 1e-12
"""The relative tolerance given to ARPACK; accepted pairs have a residual below 1e-9."""


def power_of_two(size: float) -> float:
    """The smallest power of two above a size, as a unit that rounds nothing: size/2 < r/2 ≤ size < r (1 for 0).

    >>> from dcgev_cvx._numerics.spectra import power_of_two
    >>> power_of_two(3.0), power_of_two(4.0), power_of_two(0.3), power_of_two(0.0)
    (4.0, 8.0, 0.5, 1.0)
    """
    # 2¹⁰²³ is the largest of them
    return math.ldexp(1.0, min(1023, math.frexp(size)[1])) if size > 0 else 1.0


def power_of_four(size: float) -> float:
    """A power of four within a factor of four of a size: its square root is a power of two (1 for 0)."""
    return math.ldexp(1.0, min(1022, 2 * (math.frexp(size)[1] // 2))) if size > 0 else 1.0


def positive(x: Vector) -> Vector:
    """±x with its largest entry positive: LAPACK and ARPACK differ in the sign of an eigenvector."""
    return x if x[np.argmax(np.abs(x))] >= 0 else -x


def generalized_extreme(
    product: Operator, dense: Callable[[], Matrix], factor: Factor | None, n: int, end: End
) -> Pair:
    """An eigenpair of (A, B) at one end of the spectrum, from L⁻¹AL⁻ᵀv = λv with B = LLᵀ and x = L⁻ᵀv (GEV-P).

    `product` and `dense` give Ax and A, scaled so that L⁻¹AL⁻ᵀ is of size one; `dense` is called only if needed.
    """
    if factor is None:
        return symmetric_extreme(product, dense, n, end)
    value, v = symmetric_extreme(
        lambda v: factor.whiten(product(factor.unwhiten(v))), lambda: factor.whiten(factor.whiten(dense()).T), n, end
    )
    return value, factor.unwhiten(v)


def symmetric_extreme(product: Operator, dense: Callable[[], Matrix], n: int, end: End) -> Pair:
    """An extreme eigenpair of a symmetric operator of size one; LAPACK when n is small or when Lanczos fails."""
    if n > DENSE_LIMIT:
        pair = lanczos(product, n, "SA" if end == "lower" else "LA")
        if pair is not None:
            return pair
    with same_bits(n):
        M = dense()
        return one_pair(0.5 * (M + M.T), 0 if end == "lower" else n - 1)


def one_pair(M: Matrix, i: int) -> Pair:
    """The i-th eigenpair of a symmetric matrix, counted from the smallest eigenvalue.

    LAPACK's search for one pair fails, or returns none, on a multiple of the identity up to rounding; all pairs are
    computed then.
    """
    try:
        values, vectors = eigh(M, subset_by_index=[i, i], check_finite=False)
    except LinAlgError:
        values, vectors = np.empty(0), M
    if len(values):
        return float(values[0]), vectors[:, 0]
    values, vectors = eigh(M, check_finite=False)
    return float(values[i]), vectors[:, i]


def lanczos(product: Operator, n: int, which: str) -> Pair | None:
    """An eigenpair by ARPACK from a fixed random start; None if 20 restarts of 40 vectors do not converge."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    operator: Any = LinearOperator((n, n), matvec=product, dtype=np.float64)  # pyright: ignore[reportCallIssue]
    start = np.random.default_rng(0).standard_normal(n)
    settings: Any = {"k": 1, "which": which, "v0": start, "tol": LANCZOS_TOL, "maxiter": 20, "ncv": 40}
    try:
        values, vectors = eigsh(operator, **settings)
    except ArpackError:
        return None
    value, v = float(values[0]), vectors[:, 0]
    residual = float(np.linalg.norm(product(v) - value * v))
    return (value, v) if residual <= 1e-9 * max(1.0, abs(value)) else None


def semidefinite(A: Matrix, scale: float) -> bool:
    """Is A ⪰ 0 up to rounding? Decided by a Cholesky factorisation of A + 4nu·max|A|·I.

    The shift covers the rounding of a computed covariance of rank below n; λmin below about −4nu·max|A| fails.
    """
    unit, shift = power_of_two(scale), 4.0 * len(A) * UNIT_ROUNDOFF
    # the largest entry of a positive semidefinite matrix stands on its diagonal: not so for CCA
    if scale > float(np.max(np.diagonal(A))) + shift * unit:
        return False
    shifted = A / unit
    shifted[np.diag_indices_from(shifted)] += shift
    try:
        with same_bits(len(A)):
            cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True
