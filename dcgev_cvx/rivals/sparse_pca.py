"""What the rivals share: the sparse PCA problem, a factor of A, the penalty that gives k, and the answer."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Matrix, Vector
from .._numerics.selection import largest_first, parameter_for_count
from ..certificates import on_support
from ..errors import InvalidParameter
from ..pencils import Pencil, expect_pencil
from ..programs import smallest_tau
from ..search.starts import spread
from ..solutions import Solution, checked_k, solution_of
from ..steps.scaling import Scaling

SAFE_SIZE = 1e50
"""Variances between this and its inverse are taken as they are: their squares neither overflow nor vanish."""


def pca_problem(pencil: Any, k: Any, rival: str) -> tuple[Pencil, int]:
    """The pencil to work on, its entries of moderate size, and the checked k; B = I and A ⪰ 0 are required."""
    if expect_pencil(pencil).B is not None:
        raise InvalidParameter(f"{rival} is a method of sparse PCA (B = I): use solve or sparse_gev for another B.")
    if smallest_tau(pencil, "identity") > 0.0:
        raise InvalidParameter(
            f"{rival} needs A ⪰ 0, but λmin(A) = {pencil.lambda_min_A:.3g}: use solve or sparse_gev, which shift A."
        )
    top = float(np.max(pencil.A_diagonal))
    extreme = top > 0.0 and not 1.0 / SAFE_SIZE < top < SAFE_SIZE
    # a support and its loadings do not depend on the unit, and powers of two round nothing
    return Scaling.of_pencil(pencil).pencil(pencil) if extreme else pencil, checked_k(k, pencil.n)


def longest_column(C: Matrix) -> tuple[Vector, float]:
    """The column of largest norm over its norm, 0 for a matrix of zeros, and ‖C‖².

    The first among equals: standardised columns are of one length but for rounding, which must not decide.
    """
    lengths = np.vecdot(C.T, C.T)
    top = float(np.maximum.reduce(lengths))
    column = C[:, int((lengths >= (1.0 - C.shape[0] * UNIT_ROUNDOFF) * top).argmax())]
    return column / math.sqrt(top) if top > 0.0 else column, float(np.add.reduce(lengths))


@dataclass(frozen=True)
class Run:
    """Where one run at a fixed penalty ended, and whether its own stopping rule was met; x = 0 is a regular end."""

    x: Vector
    steps: int
    converged: bool


def search_penalty(run: Callable[[float], Run], high: float, k: int, n: int, *, slack: int = 0) -> tuple[Run, float]:
    """Halve (0, high) until a run has k ± slack nonzeros; that run and its penalty.

    The cardinality falls, by leaps too, as the penalty grows. Nothing is left at the penalty `high`; k = n is the run
    without a penalty. Where the cardinality jumps over k, the last run with more than k nonzeros is returned. It need
    not be monotone, and then a k may be missed.
    """
    runs: dict[float, Run] = {}

    def count(penalty: float) -> int:
        runs[penalty] = run(penalty)
        found = int(np.count_nonzero(runs[penalty].x))
        return k if abs(found - k) <= slack else found

    at = parameter_for_count(count, k, 0.0, high) if k < n else None
    if at is None:
        # the last run with more than k; without a penalty if k = n, or if even the smallest penalty left too few
        at = max((penalty for penalty in runs if np.count_nonzero(runs[penalty].x) > k), default=0.0)
    return runs[at] if at in runs else run(at), at


def best_loadings(pencil: Pencil, x: Vector, k: int) -> Vector:
    """The leading eigenvector on the k largest entries of x (variational renormalization)."""
    return on_support(pencil, np.sort(largest_first(np.abs(x), k)))


def finished(pencil: Pencil, x: Vector, k: int, method: str, begin: float, run: Run | None = None) -> Solution:
    """The rival's answer, whose method says if the run behind it was out of iterations.

    It is on the path if the run has k nonzeros. Where its eigenvalue is shared, variables that cost nothing fill it
    up to k nonzeros; fewer are left only where more would lower the value, as for a diagonal A.
    """
    if np.count_nonzero(x) < k:
        x = spread(pencil, x / float(np.linalg.norm(x)), k)
    label = method if run is None or run.converged else f"{method} (out of iterations)"
    on_path = None if run is None else int(np.count_nonzero(run.x)) == k
    return solution_of(pencil, x, label, perf_counter() - begin, on_path=on_path)
