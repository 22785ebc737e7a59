"""The k largest entries of a vector, and the parameter at which a count is k."""

from collections.abc import Callable

import numpy as np

from .checks import Index, Matrix, Vector


def largest_first(values: Vector, k: int) -> Index:
    """The positions of the k largest entries, the largest first; ties go to the lower position.

    Linear in the length but for sorting the k entries themselves.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx._numerics.selection import largest_first
    >>> largest_first(np.array([2.0, 5.0, 2.0, 7.0, 2.0]), 3)
    array([3, 1, 0])
    """
    if k < len(values):
        threshold = np.partition(values, len(values) - k)[len(values) - k] if k > 0 else np.inf
        above = np.flatnonzero(values > threshold)
        chosen = np.sort(np.append(above, np.flatnonzero(values == threshold)[: max(k, 0) - len(above)]))
    else:
        chosen = np.arange(len(values))
    return chosen[np.argsort(-values[chosen], kind="stable")]


def top_sum(rows: Matrix, m: int) -> Vector:
    """The sum of the m largest entries of every row, or of all where there are fewer.

    >>> import numpy as np
    >>> from dcgev_cvx._numerics.selection import top_sum
    >>> top_sum(np.array([[3.0, 1.0, 2.0], [0.0, 5.0, 4.0]]), 2)
    array([5., 9.])
    """
    width = rows.shape[1]
    if m <= 0:
        return np.zeros(len(rows))
    if m >= width:
        return np.sum(rows, axis=1)
    return np.sum(np.partition(rows, width - m, axis=1)[:, width - m :], axis=1)


def keep_largest(x: Vector, k: int, sizes: Vector | None = None) -> Vector:
    """x with all but its k largest entries set to zero, by modulus or by the sizes given; ties go to the first."""
    kept = largest_first(np.abs(x) if sizes is None else sizes, k)
    z = np.zeros_like(x)
    z[kept] = x[kept]
    return z


def parameter_for_count(
    count: Callable[[float], int | None], k: int, low: float, high: float, *, tries: int = 60, width: float = 1e-8
) -> float | None:
    """A parameter between low and high at which a falling count is k, by halving; None when none of those tried is.

    The count may jump over k, and it may be None to end the search. The interval is halved at most `tries` times,
    until its relative width is `width`.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx._numerics.selection import parameter_for_count
    >>> sizes = np.array([5.0, 3.0, 3.0, 1.0])
    >>> parameter_for_count(lambda t: int(np.sum(sizes > t)), 3, 0.0, 8.0), parameter_for_count(
    ...     lambda t: int(np.sum(sizes > t)), 2, 0.0, 8.0
    ... )
    (2.0, None)
    """
    for _ in range(tries):
        if high - low <= width * high:
            break
        middle = 0.5 * (low + high)
        found = count(middle)
        if found is None or found == k:
            return None if found is None else middle
        low, high = (middle, high) if found > k else (low, middle)
    return None
