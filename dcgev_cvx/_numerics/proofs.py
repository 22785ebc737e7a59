"""Proofs of λ ≥ λmax(M, B): a Cholesky factorisation of λB − M, shifted down by all that rounding can have done.

LAPACK's eigenvalues come without a bound on their error; a factorisation that succeeds is a proof.
"""

import math

import numpy as np
from scipy.linalg import LinAlgError, eigh

from .checks import UNIT_ROUNDOFF, Matrix
from .factors import Factor
from .spectra import DENSE_LIMIT, Pair, generalized_extreme, power_of_two

GROWTH = 4.0
"""Factor by which the margin grows after a failed attempt, so that it ends at most four times too large."""
ATTEMPTS = 60
"""Margins tried before the bound is +inf: the last is 1e35 times the first."""
TINY = float(np.finfo(np.float64).tiny)
"""The smallest normal number: products that underflow are charged 8u of it, eight subnormal units."""


def lambda_max_bound(M: Matrix, B: Matrix | None, size: Matrix | None = None, lead: Pair | None = None) -> float:
    """A number λ ≥ λmax(M, B), proved by Cholesky; +inf where no proof was found.

    Proof. λ ≥ λmax(M, B) means λB − M ⪰ 0. Let S = fl(λB − M) and let fl-Cholesky of H = S − cI succeed. Then
    H + E ⪰ 0 with ‖E‖ ≤ γ/(1 − γ)·tr H, γ = (n+1)u (Higham 2002, Theorem 10.3; Demmel; Rump 2006), so that
    λB − M ⪰ (c − ‖E‖ − ‖δ‖)I with δ the rounding of S itself and of M. c is twice what is needed. Rows and columns
    are first scaled by powers of two, which rounds nothing, so that B has a diagonal near one.

    `size` bounds the moduli of the summands behind M's entries (|Mᵢⱼ| when None), since cancellation may hide how
    much rounding a computed M contains. `lead` is λmax(M, B) with its vector where they are known: it decides how
    soon the proof succeeds, not whether it holds. A B that is singular to working precision gives +inf.
    """
    n = len(M)
    p = np.ones(n) if B is None else np.exp2(-np.round(0.5 * np.log2(np.diagonal(B))))
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows here has no λmax in floating point
        outer = p[:, None] * p
        largest = float(np.max(np.abs(M) * outer))
    if largest == 0.0 and not M.any():
        return 0.0
    if not math.isfinite(largest):
        return math.inf
    unit = power_of_two(largest)
    M = M * outer / unit
    # products behind M may have left the normal numbers
    size = np.abs(M) if size is None else (size + TINY) * outer / unit
    top = largest_eigenvalue(M, None if B is None else B * outer) if lead is None else lead[0] / unit
    if not math.isfinite(top):
        return math.inf
    # where LAPACK's own error is likely to end; too small a start costs an attempt, too large a one costs digits
    margin = 4.0 * n * UNIT_ROUNDOFF * max(abs(top), float(np.max(np.abs(M))))
    square = 1.0 if B is None else 0.0 if lead is None else float(np.sum((lead[1] / p) ** 2))
    B = np.eye(n) if B is None else B * outer
    off = float(lowering(top, np.maximum(top * np.diagonal(B) - np.diagonal(M), 0.0), B, size)[0])
    margin = max(margin, 1.25 * square * off)
    for _ in range(ATTEMPTS):
        if is_definite(top + margin, M, B, size):
            return times(top + margin, unit)
        margin *= GROWTH
    return math.inf


def largest_eigenvalue(M: Matrix, B: Matrix | None) -> float:
    """λmax(M, B) in floating point, NaN if LAPACK fails: the guess from which the proof starts."""
    try:
        if B is None or len(M) > DENSE_LIMIT:
            return leading_pair(M, B)[0]
        # all eigenvalues: LAPACK's search for one alone gives up on multiples of the identity
        return float(eigh(M, B, eigvals_only=True, check_finite=False)[-1])
    except (LinAlgError, ValueError):
        return math.nan


def leading_pair(M: Matrix, B: Matrix | None = None) -> Pair:
    """λmax(M, B) and its vector of unit B norm in floating point: a guide for searches, not a proof."""
    if B is not None and len(M) <= DENSE_LIMIT:
        values, vectors = eigh(M, B, check_finite=False)
        return float(values[-1]), vectors[:, -1]
    factor = None if B is None else Factor.of(B)
    return generalized_extreme(lambda v: M @ v, lambda: M, factor, len(M), "upper")


def is_definite(lam: float, M: Matrix, B: Matrix, size: Matrix) -> bool:
    """Is λB − M ⪰ 0 proved, for one matrix M or for every one of a stack? False says only that no proof was found.

    S = fl(λB − M) is lowered by `lowering` and factored; `lambda_max_bound` has the proof.
    """
    S = lam * B - M
    diagonal = np.einsum("...ii->...i", S)  # a view: what is taken off it is taken off S
    if not np.all(diagonal > 0.0):
        return False
    diagonal -= lowering(lam, diagonal, B, size)
    try:
        np.linalg.cholesky(S)
    except LinAlgError:
        return False
    return True


def lowering(lam: float, diagonal: Matrix, B: Matrix, size: Matrix) -> Matrix:
    """The amount by which λB − M is lowered before it is factored, one number per matrix.

    Twice the rounding of λB − M (row sums) plus the error (n + 3)u·tr S of the factorisation.
    """
    rounded = 8.0 * UNIT_ROUNDOFF * np.max(np.sum(abs(lam) * np.abs(B) + size, axis=-1), axis=-1, keepdims=True)
    trace = np.sum(diagonal, axis=-1, keepdims=True)
    return 2.0 * ((diagonal.shape[-1] + 3) * UNIT_ROUNDOFF * trace + rounded)


def up(value: float) -> float:
    """The next number above: no exact sum or product that was rounded to `value` exceeds it."""
    return math.nextafter(value, math.inf)


def times(value: float, unit: float) -> float:
    """value·unit, rounded up where a power of two times a bound leaves the normal numbers.

    >>> from dcgev_cvx._numerics.proofs import times
    >>> times(3.0, 0.5), times(1.25, 2.0**-1074) == 2.0**-1073
    (1.5, True)
    """
    product = value * unit
    return product if product / unit == value else up(product)
