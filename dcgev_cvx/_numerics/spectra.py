"""Extreme eigenpairs of a pencil: dense for small n, Lanczos beyond, through the factor when A = CᵀC is thin.

Everything is whitened by the Cholesky factor of B and brought to size one by powers of two, so that pencils with
entries of 1e±100 are treated as any other. Nothing here is proved: an eigenvalue is good to its residual,
and where a bound is wanted `relaxations.bounds.lambda_max_bound` proves one.
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
    from ..pencils import Pencil

End: TypeAlias = Literal["lower", "upper"]

DENSE_LIMIT = 300
LANCZOS_TOL = 1e-12


def power_of_two(size: float) -> float:
    """The power of two just above a size: a unit that rounds nothing (1 for 0).

    For size > 0 the result r satisfies size < r ≤ 2·size, so that size/r lies in [½, 1).

    Examples
    --------
    >>> from dcgev_cvx._numerics.spectra import power_of_two
    >>> power_of_two(3.0), power_of_two(4.0), power_of_two(0.3), power_of_two(0.0)
    (4.0, 8.0, 0.5, 1.0)
    """
    # 2¹⁰²³ is the largest of them
    return math.ldexp(1.0, min(1023, math.frexp(size)[1])) if size > 0 else 1.0


def power_of_four(size: float) -> float:
    """The power of four near a size: its square root rounds nothing either.

    Within a factor of four of the size. It is the unit of B, of which the square root is the unit of x.
    """
    return math.ldexp(1.0, min(1022, 2 * (math.frexp(size)[1] // 2))) if size > 0 else 1.0


def positive(x: Vector) -> Vector:
    """±x with its largest entry positive: an eigenvector's sign is free, ours is fixed.

    Eigenvectors differ by sign between LAPACK versions and between LAPACK and ARPACK; results must not.
    """
    return x if x[np.argmax(np.abs(x))] >= 0 else -x


def extreme(pencil: Pencil, end: End) -> tuple[float, Vector]:
    """(λ, x) at one end of the spectrum of (A, B), ‖x‖_B = 1 (GEV-P).

    The problem is whitened, L⁻¹AL⁻ᵀv = λv with B = LLᵀ and x = L⁻ᵀv, in units where A and B are of
    size one.

    Returns
    -------
    (λ, x)
        λ in the user's units, x with its largest entry positive. For a multiple eigenvalue x is one vector of
        the eigenspace, the same on every call.
    """
    # powers of two and of four: the units, and the root of the second, round nothing
    a, b = power_of_two(pencil.A_scale), power_of_four(pencil.B_scale)
    root, factor = math.sqrt(b), pencil.factor

    def whiten(v: Matrix) -> Matrix:
        return v if factor is None else root * factor.whiten(v)

    def unwhiten(v: Matrix) -> Matrix:
        return v if factor is None else root * factor.unwhiten(v)

    def product(v: Vector) -> Vector:
        return whiten(pencil.A_dot(unwhiten(v.ravel()) / a))

    def dense() -> Matrix:
        return whiten(whiten(pencil.dense()[0] / a).T)

    value, v = symmetric_extreme(product, dense, pencil.n, end)
    x = unwhiten(v) / root
    return value * (a / b), positive(x / pencil.B_norm(x))


def extreme_of_factor(pencil: Pencil, C: Matrix) -> tuple[float, Vector]:
    """The leading pair of (CᵀC, B) from the p × p matrix CB⁻¹Cᵀ: x ∝ B⁻¹Cᵀu.

    Proof: CB⁻¹Cᵀu = λu gives CᵀC(B⁻¹Cᵀu) = λB(B⁻¹Cᵀu). For C = 0 every vector is an eigenvector and the first
    coordinate's is returned. The value is computed from x, not from the small matrix.
    """
    a, b = power_of_two(float(np.max(np.abs(C)))), power_of_four(pencil.B_scale)
    D = C / a
    solved = D.T if pencil.factor is None else pencil.B_solve(D.T) * b
    with same_bits(pencil.n):
        M = D @ solved
        x = solved @ one_pair(0.5 * (M + M.T), len(C) - 1)[1]
    norm = pencil.B_norm(x)
    x = positive(x / norm) if norm > 0.0 else np.eye(1, pencil.n)[0] / math.sqrt(pencil.B_diagonal[0])
    return pencil.A_quad(x), x


def smallest_of_matrix(pencil: Pencil) -> float:
    """λmin(A)."""
    unit = power_of_two(pencil.A_scale)

    def product(v: Vector) -> Vector:
        return pencil.A_dot(v.ravel() / unit)

    return unit * symmetric_extreme(product, lambda: pencil.dense()[0] / unit, pencil.n, "lower")[0]


def semidefinite(A: Matrix, scale: float) -> bool:
    """Is A ⪰ 0 but for rounding? By a Cholesky factorisation of A shifted by that much.

    The shift 4nu (A at size one) covers what rounding did when A was computed, so that a covariance of rank
    below n passes; an A with λmin below about −4nu·max|A| does not.
    """
    unit, shift = power_of_two(scale), 4.0 * len(A) * UNIT_ROUNDOFF
    diagonal = np.diagonal(A) / unit + shift
    i = int(np.argmin(diagonal))
    if diagonal[i] < 0.0 or np.any((A[i] / unit) ** 2 > diagonal[i] * diagonal * (1.0 + shift)):
        return False  # a minor of order two is negative: no need to factor, and no copy
    shifted = A / unit
    shifted[np.diag_indices_from(shifted)] += shift
    try:
        with same_bits(len(A)):
            cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return False
    return True


def two_views(A: Matrix, B: Matrix | None) -> int | None:
    """The size of the first view of a CCA pencil, A zero within two groups of variables and B zero between (Eq:CCA).

    Then D = diag(I, −I) gives DAD = −A and DBD = B: the spectrum is symmetric, λmin = −λmax.

    Cheap, and it saves an eigenvalue problem: τ ≥ −λmin is then λmax, which is known. Views that are not
    contiguous, or of which the first variable is uncorrelated with all others, are not recognised and cost
    only the saving.
    """
    first = np.flatnonzero(A[0])
    if not len(first) or first[0] == 0:
        return None
    h = int(first[0])
    other = A[:h, :h].any() or A[h:, h:].any() or (B is not None and B[:h, h:].any())
    return None if other else h


def symmetric_extreme(
    product: Callable[[Vector], Vector], dense: Callable[[], Matrix], n: int, end: End
) -> tuple[float, Vector]:
    """One extreme eigenpair of a symmetric operator of size about one; dense when small or when Lanczos fails.

    `dense` is a function, not a matrix, so that nothing of order n² is formed where Lanczos succeeds.
    """
    if n > DENSE_LIMIT:
        pair = lanczos(product, n, "SA" if end == "lower" else "LA")
        if pair is not None:
            return pair
    i = 0 if end == "lower" else n - 1
    with same_bits(n):
        M = dense()
        return one_pair(0.5 * (M + M.T), i)


def one_pair(M: Matrix, i: int) -> tuple[float, Vector]:
    """The i-th eigenpair of a symmetric matrix; all of them where LAPACK cannot single it out.

    On a multiple of the identity, up to rounding, its search for one pair fails or returns none.

    i counts from the smallest eigenvalue, 0 … n − 1; the vector has unit length and LAPACK's sign.
    """
    try:
        values, vectors = eigh(M, subset_by_index=[i, i], check_finite=False)
    except LinAlgError:
        values, vectors = np.empty(0), M
    if len(values):
        return float(values[0]), vectors[:, 0]
    values, vectors = eigh(M, check_finite=False)
    return float(values[i]), vectors[:, i]


def lanczos(product: Callable[[Vector], Vector], n: int, which: str) -> tuple[float, Vector] | None:
    """One pair by ARPACK from a fixed start, accepted if its residual is small; None when it takes too long.

    The start is random but always the same, so that it is not orthogonal to the eigenvector by
    symmetry and the answer does not change from call to call.

    ARPACK gets 20 restarts of 40 vectors: enough where the end of the spectrum is separated; where it is not,
    a dense decomposition is the better algorithm and the caller takes it.
    """
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
