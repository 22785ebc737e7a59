"""λ ≥ λmax(M, B) as a theorem: a Cholesky factorisation of λB − M, shifted down by all that rounding can have done.

What LAPACK says of an eigenvalue is good to its own rounding error, which nobody bounds; a factorisation that runs to
its end is a proof. `bounds` and the exact search rest on this module alone. Never imports a solver.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import LinAlgError, cholesky, eigh, solve_triangular

from .checks import UNIT_ROUNDOFF, Matrix, Vector
from .spectra import DENSE_LIMIT, power_of_two, symmetric_extreme

GROWTH = 4.0
"""By how much the margin grows after a failed attempt."""
ATTEMPTS = 60
"""Margins tried before a proof is given up: the last is some 1e35 times the first."""
TINY = float(np.finfo(np.float64).tiny)
"""The smallest normal number: what is charged per unit of it, 8u, is eight units of the numbers below."""


def lambda_max_bound(
    M: Matrix, B: Matrix | None, size: Matrix | None = None, lead: tuple[float, Vector] | None = None
) -> float:
    """A number λ ≥ λmax(M, B), proved by Cholesky; +inf where no proof was found.

    λ ≥ λmax(M, B) says λB − M ⪰ 0. Let S = fl(λB − M) and let fl-Cholesky of H = S − cI end.
    Then H + E ⪰ 0 with ‖E‖ ≤ γ/(1 − γ)·tr H, γ = (n+1)u (Higham 2002, Theorem 10.3; Demmel; Rump 2006),
    so λB − M ⪰ (c − ‖E‖ − ‖δ‖)I with ‖δ‖ the rounding of S itself and of M, whose summands are
    at most `size` in modulus. c is twice what is needed. Rows and columns are first scaled
    by powers of two so that B has a unit diagonal, which rounds nothing.

    Parameters
    ----------
    M
        Symmetric, n × n, as computed.
    B
        Positive definite, or None for the identity.
    size
        A bound on the moduli of the summands behind M's entries, |Mᵢⱼ| when None: M = A + U + c·b·D² was rounded
        when it was formed, and cancellation may have hidden how much.
    lead
        λmax(M, B) and its vector where they are known: they decide how soon the proof succeeds, not whether it holds.

    Returns
    -------
    float
        λmax as LAPACK has it plus a margin: what the proof takes off in the direction of the leading vector x,
        1.25c‖x‖², or 4n units in the last place where x is not known, and four times more at each failed attempt.
        After 60 attempts (a B that is singular to working precision) +inf, a valid bound. 0 for M = 0.
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
    """λmax(M, B) in floating point, NaN if LAPACK fails: a guess for the proof to start from.

    Nothing is claimed of it: too small a guess costs further attempts of the proof, too large a one a looser bound.
    """
    try:
        if B is None or len(M) > DENSE_LIMIT:
            return leading_pair(M, B)[0]
        # all eigenvalues: LAPACK's search for one alone gives up on multiples of the identity
        return float(eigh(M, B, eigvals_only=True, check_finite=False)[-1])
    except (LinAlgError, ValueError):
        return math.nan


def leading_pair(M: Matrix, B: Matrix | None = None) -> tuple[float, Vector]:
    """λmax(M, B) and its vector in floating point.

    The vector has unit B norm; its sign is LAPACK's. Used to steer (branching, subgradients, rounding),
    never to prove. Beyond DENSE_LIMIT variables by Lanczos, where that succeeds.
    """
    n = len(M)
    if B is None:
        return symmetric_extreme(lambda v: M @ v.ravel(), lambda: M, n, "upper")
    if n <= DENSE_LIMIT:
        values, vectors = eigh(M, B, check_finite=False)
        return float(values[-1]), vectors[:, -1]
    L = cholesky(B, lower=True, check_finite=False)

    def whiten(v: Matrix) -> Matrix:
        return solve_triangular(L, v, lower=True, check_finite=False)

    def unwhiten(v: Vector) -> Vector:
        return solve_triangular(L, v, lower=True, trans=1, check_finite=False)

    value, v = symmetric_extreme(lambda v: whiten(M @ unwhiten(v.ravel())), lambda: whiten(whiten(M).T), n, "upper")
    return value, unwhiten(v)


def is_definite(lam: float, M: Matrix, B: Matrix, size: Matrix) -> bool:
    """Is λB − M ⪰ 0 for certain, M one matrix or every one of a stack? See `lambda_max_bound` for the proof.

    A Cholesky factorisation that ends proves that a nearby matrix is positive definite. With S = fl(λB − M)
    the computed S differs from the true one by at most `rounded` in the ∞-norm (row sums), the factorisation
    backs an error of (n + 3)·u·tr S, and S is lowered by twice the sum of both before it is factored. True is
    a proof; False says only that none was found.

    A diagonal entry ≤ 0 answers at once: such a matrix is not positive definite, and its trace would make
    the error bound meaningless.
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
    """By how much λB − M is lowered before it is factored, a number a matrix: rounding and the factorisation's error.

    Twice what the theorem asks, since the number itself is computed in floating point.
    """
    rounded = 8.0 * UNIT_ROUNDOFF * np.max(np.sum(abs(lam) * np.abs(B) + size, axis=-1), axis=-1, keepdims=True)
    trace = np.sum(diagonal, axis=-1, keepdims=True)
    return 2.0 * ((diagonal.shape[-1] + 3) * UNIT_ROUNDOFF * trace + rounded)


def up(value: float) -> float:
    """The next number above: no sum or product that was rounded to `value` exceeds it."""
    return math.nextafter(value, math.inf)


def times(value: float, unit: float) -> float:
    """A bound in the user's units, value·unit: exact for a power of two, and up where it leaves the normal numbers.

    Examples
    --------
    >>> from dcgev_cvx._numerics.proofs import times
    >>> times(3.0, 0.5), times(1.25, 2.0**-1074) == 2.0**-1073
    (1.5, True)
    """
    product = value * unit
    return product if product / unit == value else up(product)
