"""One-shot cardinality: MM steps whose ρ_ε is chosen at each step so that k coordinates survive (beyond the paper).

Every step is an MM step of the program with that ρ_ε, so the limit is a stationary point of the last one.
The paper names the missing a-priori sparsity as its open weakness; this answers it.

Why it works: at fixed ε the survival score 2|cᵢ|(|yᵢ| + ε) does not depend on ρ_ε, so the ρ_ε that leaves k
coordinates can be read off by sorting before the step is taken. Lowering ε gradually lets the first steps,
where the penalty is nearly convex, choose the support and the last ones settle the loadings.
"""

import math
from collections.abc import Callable

import numpy as np

from .._numerics.checks import Vector
from .._numerics.selection import keep_largest
from ..pencils import Pencil
from ..programs import smallest_tau
from ..steps.closed import soft_threshold

EPS_LEVELS = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001)
"""ε relative to max|x|. At ε of the size of x the penalty is nearly ℓ1 and coordinates may still come back; as ε
falls, zeros become absorbing and the support settles."""
STEPS, STILL = 40, 3e-3
"""The most MM steps at a level, which ends once x moves by less than STILL: what is wanted is the support."""


def one_shot(pencil: Pencil, k: int, x0: Vector) -> tuple[Vector, float]:
    """(x, ρ_ε) after MM steps from x0 at all levels of ε, for B = I: at most k nonzeros, of unit length.

    Coordinate i survives the step (ALG-S) exactly when 2|cᵢ|(|yᵢ| + ε) > ρ_ε, so the (k+1)-th largest of these scores,
    taken as ρ_ε, keeps k. With another B the step is a LASSO, whose ρ_ε for k would be found by bisection; the search
    is as good without it (`solve` on CCA with 18 to 4000 variables), and faster.

    Parameters
    ----------
    pencil : Pencil
        (A, I).
    k : int
        The cardinality.
    x0 : array
        Any nonzero start; the leading eigenvector is a good one, 1/√n a bad one.

    Returns
    -------
    tuple
        x and ρ_ε of the last step, which is 0 when k = n, where nothing is penalised. Fewer than k nonzeros are
        possible when scores tie.

    Examples
    --------
    >>> from dcgev_cvx import datasets
    >>> from dcgev_cvx.search.one_shot import one_shot
    >>> pencil = datasets.pitprops()
    >>> x, _ = one_shot(pencil, 3, pencil.leading_vector)
    >>> x.nonzero()[0].tolist(), round(pencil.A_quad(x), 3)
    ([0, 1, 8], 2.475)
    """
    x = np.array(x0 / math.sqrt(float(x0 @ x0)))
    if k == pencil.n:
        return x, 0.0
    rho, tau = 0.0, smallest_tau(pencil, "identity")
    for level in EPS_LEVELS:
        x, rho = settle(lambda y: pencil.A_dot(y) + tau * y, x, k, level)
    return keep_largest(x, k), rho  # no ρ_ε keeps k where all scores tie


def settle(product: Callable[[Vector], Vector], x: Vector, k: int, level: float) -> tuple[Vector, float]:
    """(x, ρ_ε) after steps at one level of ε until x stops moving; `product` is x ↦ (A + τI)x."""
    rho = 0.0
    for _ in range(STEPS):
        z, rho = survivors(product(x), x, k, level)
        moved, x = z - x, z
        if moved @ moved <= STILL * STILL:
            break
    return x, rho


def survivors(c: Vector, x: Vector, k: int, level: float) -> tuple[Vector, float]:
    """(x⁺, ρ_ε): the step (ALG-S) from x with c = (A + τI)x that k coordinates survive; x itself if none does."""
    score = survival(c, x, level)
    rho = kth_largest(score, k + 1)
    alive = (score > rho).nonzero()[0]
    z = np.zeros(len(x))
    # ½ρ_ε/(|xᵢ| + ε) = |cᵢ|ρ_ε/scoreᵢ
    z[alive] = soft_threshold(c[alive], np.abs(c[alive]) * (rho / score[alive]))
    norm = math.sqrt(float(z @ z))
    return (z / norm if norm > 0.0 else x), rho


def survival(c: Vector, x: Vector, level: float) -> Vector:
    """The scores 2|cᵢ|(|xᵢ| + ε): i survives the step from x (ALG-S) when its score exceeds ρ_ε."""
    size = np.abs(x)
    size += level * size.max()
    size *= 2.0
    return size * np.abs(c)


def kth_largest(values: Vector, k: int) -> float:
    """The k-th largest value."""
    return float(np.partition(values, len(values) - k)[len(values) - k])
