"""Products of matrices and a vector without rounding, in integers: a double is one times a power of two."""

from fractions import Fraction
from typing import Any

import numpy as np

from .checks import Matrix, Vector


def rounded_product(*factors: Matrix) -> Vector:
    """The product of matrices and a vector, the last; each entry is rounded once."""
    return np.array([float(entry) for entry in exact_product(*factors)])


def exact_product(*factors: Matrix) -> list[Fraction]:
    """The product of matrices and a vector, the last, in integers: every double is one times a power of two."""
    *matrices, x = factors
    support = np.flatnonzero(x)
    z, exponent = as_integers(x[support])
    for M in reversed(matrices):
        whole, shift = as_integers(M[:, support] if M is matrices[-1] else M)
        z, exponent = whole @ z, exponent + shift
    return [Fraction(entry) * Fraction(2) ** exponent for entry in z]


def as_integers(values: Matrix) -> tuple[Any, int]:
    """Integers m and an exponent e with values = m·2ᵉ exactly.

    >>> import numpy as np
    >>> from dcgev_cvx._numerics.exact_products import as_integers
    >>> m, e = as_integers(np.array([0.75, -2.0, 0.0]))
    >>> [entry * 2.0**e for entry in m]
    [0.75, -2.0, 0.0]
    """
    mantissas, exponents = np.frexp(values)
    least = int(np.min(exponents, where=values != 0.0, initial=1024))
    shifts = np.maximum(exponents - least, 0).astype(object)
    return np.ldexp(mantissas, 53).astype(np.int64).astype(object) << shifts, least - 53
