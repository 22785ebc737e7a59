"""One-shot cardinality: MM steps whose ρ_ε is chosen at each step so that k coordinates survive (beyond the paper).

Every step is an MM step of the program with that ρ_ε, so the limit is a stationary point of the last one.
The paper names the missing a-priori sparsity as its open weakness; this answers it.

Why it works: at fixed ε the survival score 2|cᵢ|(|yᵢ| + ε) does not depend on ρ_ε, so the ρ_ε that leaves k
coordinates can be read off by sorting before the step is taken. Lowering ε gradually lets the first steps,
where the penalty is nearly convex, choose the support and the last ones settle the loadings.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector, largest
from .._numerics.spectra import power_of_two
from ..pencils import Gram, Pencil
from ..programs import smallest_tau

DENSE_KERNEL = 400
"""With B = I and a dense A up to this n the whole schedule runs compiled; beyond, the products are BLAS's."""
SINGLE = 10**4
"""Factors with more entries than this are searched in single precision: half the memory to go through."""
GATHER = 10**5
"""Below this many numbers a product costs less than picking rows."""
POOL = 3
"""The pool of a level of ε holds this many times k rows."""
FULL = 2
"""Steps at the beginning of each level that look at all rows."""
STILL = 3e-3
"""A level ends once x moves by less, in length."""


@dataclass(frozen=True)
class Schedule:
    """ε-continuation: levels of ε relative to max|x|, from loose to tight, and MM steps at each.

    At ε of the size of x the penalty is nearly ℓ1 and coordinates may still come back; as ε falls,
    zeros become absorbing and the support settles.

    levels are relative to max|x| at each step, so that the schedule does not depend on the scale of x; steps is
    the most at each level, which ends earlier once x stops moving.
    """

    levels: tuple[float, ...] = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001)
    steps: int = 15


SCHEDULES = {
    "quick": Schedule(),
    "normal": Schedule((10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001), 40),
    "high": Schedule((30.0, 10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001), 80),
}


def one_shot(pencil: Pencil, k: int, x0: Vector, schedule: Schedule) -> tuple[Vector, float]:
    """(x, ρ_ε) after the schedule from x0: at most k nonzeros, unit in the B norm.

    With B = I coordinate i survives the step (ALG-S) exactly when 2|cᵢ|(|yᵢ| + ε) > ρ_ε, so the
    (k+1)-th largest of these scores, taken as ρ_ε, keeps k. With another B the step is a LASSO, and the
    ρ_ε at which k of its coordinates are nonzero is found by bisection.

    Parameters
    ----------
    pencil, k
        (A, B) and the cardinality.
    x0
        Any nonzero start; the leading eigenvector is a good one, 1/√n a bad one.
    schedule
        The levels of ε and the steps at each.

    Returns
    -------
    (x, ρ_ε)
        ρ_ε is the last step's; 0 when k = n, where nothing is penalised. Fewer than k nonzeros are possible when
        scores tie or when no ρ_ε of the LASSO leaves exactly k.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.search.oneshot import SCHEDULES, one_shot
    >>> pencil = datasets.pitprops()
    >>> x, _ = one_shot(pencil, 3, pencil.leading_vector, SCHEDULES["quick"])
    >>> x.nonzero()[0].tolist(), round(pencil.A_quad(x), 3)
    ([0, 1, 8], 2.475)
    """
    levels = np.array(schedule.levels)
    x = np.array(x0 / pencil.B_norm(x0))
    if k == pencil.n:
        return x, 0.0
    if pencil.B is None and isinstance(pencil.A, Gram):
        x, rho = one_shot_rows(pencil.A, k, x, schedule)
        return trimmed(pencil, x, k), rho
    # CᵀC needs no shift, and finding that out would cost an eigenvalue
    tau = 0.0 if isinstance(pencil.A, Gram) else smallest_tau(pencil, "metric")
    if pencil.B is None and pencil.n > DENSE_KERNEL:
        return one_shot_product(pencil, tau, k, x, schedule)
    from ..steps.kernels import one_shot_gev, one_shot_pca

    A = pencil.A.toarray() if isinstance(pencil.A, Gram) else np.asarray(pencil.A)
    # tighter than STILL: on so few variables running a level to its end costs next to nothing
    if pencil.B is None:
        rho = one_shot_pca(A, tau, k, x, levels, schedule.steps, 1e-6)
    else:
        L = np.ascontiguousarray(pencil.cholesky)
        rho = one_shot_gev(A, pencil.B, L, tau, k, x, levels, schedule.steps, 1e-5)
    return trimmed(pencil, x, k), float(rho)


def one_shot_rows(A: Gram, k: int, x: Vector, schedule: Schedule) -> tuple[Vector, float]:
    """The same for A = CᵀC and B = I on the rows of Cᵀ, one for each variable.

    Each level begins with steps over all rows; the others are steps of the same program restricted to the POOL·k
    rows with the highest scores, which contain all that survived. What is decided here is a support, and its
    value is computed elsewhere, so that single precision does where memory is what takes the time.
    """
    unit = power_of_two(largest(A.C))
    R: Any = np.empty(A.C.T.shape, np.float64 if A.C.size <= SINGLE else np.float32)
    np.divide(A.C.T, unit, out=R, casting="same_kind")
    x, rho = x.astype(R.dtype), 0.0
    # a pool of more than half the rows would save less than picking it out costs
    whole = 2 * POOL * k > len(x)
    for level in schedule.levels:
        x, rho, still = settle(R, x, k, level, schedule.steps if whole else FULL)
        if not whole and not still:
            score = survival(R @ combined(R, x), x, level)
            pool = np.flatnonzero((score > kth_largest(score, POOL * k + 1)) | (x != 0.0))
            # where scores tie, the pool may hold no more than k rows: then there is nothing to choose from
            if len(pool) > k:
                part, rho, _ = settle(R[pool], x[pool], k, level, schedule.steps - FULL)
                x = np.zeros_like(x)
                x[pool] = part
    z = x.astype(np.float64)
    return z / np.linalg.norm(z), rho * unit * unit


def settle(R: Matrix, x: Vector, k: int, level: float, steps: int) -> tuple[Vector, float, bool]:
    """(x, ρ_ε, did x stop moving?) after at most `steps` steps at one level of ε on the rows given."""
    rho = 0.0
    for _ in range(steps):
        z, rho = survivors(R @ combined(R, x), x, k, level)
        moved, x = z - x, z
        if moved @ moved <= STILL * STILL:
            return x, rho, True
    return x, rho, False


def combined(R: Matrix, x: Vector) -> Vector:
    """Rᵀx, from the rows where x is nonzero when these are few of many."""
    if R.size < GATHER:
        return x @ R
    support = np.flatnonzero(x)
    return x[support] @ R[support] if 2 * len(support) < len(x) else x @ R


def survival(c: Vector, x: Vector, level: float) -> Vector:
    """The scores 2|cᵢ|(|xᵢ| + ε): i survives the step from x (ALG-S) when its score exceeds ρ_ε."""
    size = np.abs(x)
    size += level * size.max()
    size *= 2.0
    return size * np.abs(c)


def kth_largest(values: Vector, k: int) -> float:
    """The k-th largest value."""
    ranked = values.copy()
    ranked.partition(len(values) - k)
    return float(ranked[len(values) - k])


def survivors(c: Vector, x: Vector, k: int, level: float) -> tuple[Vector, float]:
    """(x⁺, ρ_ε): the step (ALG-S) from x with c = (A + τI)x that k coordinates survive; x itself if none does."""
    score = survival(c, x, level)
    rho = kth_largest(score, k + 1)
    alive = (score > rho).nonzero()[0]
    z = np.zeros(len(x), x.dtype)
    # |cᵢ| − ½ρ_ε/(|xᵢ| + ε) = |cᵢ|(1 − ρ_ε/scoreᵢ)
    z[alive] = c[alive] * (1.0 - rho / score[alive])
    norm = math.sqrt(float(z @ z))
    return (z / norm if norm > 0.0 else x), rho


def one_shot_product(pencil: Pencil, tau: float, k: int, x: Vector, schedule: Schedule) -> tuple[Vector, float]:
    """The same for B = I through products with a large dense A: x has k nonzeros, so each step costs k rows of A."""
    rho = 0.0
    for level in schedule.levels:
        for _ in range(schedule.steps):
            z, rho = survivors(pencil.A_dot(x) + tau * x, x, k, level)
            moved, x = z - x, z
            if moved @ moved <= STILL * STILL:
                break
    return trimmed(pencil, x, k), rho


def trimmed(pencil: Pencil, x: Vector, k: int) -> Vector:
    """x with all but its k largest |xᵢ|√Bᵢᵢ set to zero.

    Needed after the LASSO, which may keep one coordinate more than k where two leave at the same ρ_ε, and where all
    scores tie, so that no ρ_ε keeps k.
    """
    size = np.abs(x) * np.sqrt(pencil.B_diagonal)
    if np.count_nonzero(size) <= k:
        return x
    keep = np.argpartition(size, -k)[-k:]
    z = np.zeros_like(x)
    z[keep] = x[keep]
    return z
