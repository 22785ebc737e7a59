"""Products without rounding, in integers, for pencils whose sums cancel: a double is one times a power of two."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .checks import Matrix, Vector
from .proofs import TINY
from .spectra import power_of_two

CANCELLATION = 1e4
"""A sum whose terms are this much larger has lost four digits: it is computed in exact integers."""
EXACT_ENTRIES = 40_000
"""The largest matrix for which that takes some hundredths of a second."""


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


def exact_quotient(pencil: Any, x: Vector) -> Fraction:
    """xᵀAx/xᵀBx without rounding."""
    support = np.flatnonzero(x)
    z = x[support]
    (a,) = exact_product(z[None], *pencil.A_products(support, support), z)
    (b,) = exact_product(z[None], pencil.B_sub(support), z)
    return a / b


def B_cancels(pencil: Any, x: Vector) -> bool:
    """Do the terms of xᵀBx, bounded by (Σ √Bᵢᵢ|xᵢ|)², exceed CANCELLATION times their sum?"""
    if pencil.B is None or not x.any():
        return False
    z = x / power_of_two(float(np.max(np.abs(x))))
    return float(np.abs(z) @ pencil.B_roots) ** 2 > CANCELLATION * pencil.B_quad(z)


def may_cancel(pencil: Any, x: Vector, a: float, b: float) -> bool:
    """May the terms of a = xᵀAx or b = xᵀBx exceed CANCELLATION times their sum, or underflow?

    The terms of a are at most max|Aᵢⱼ|·‖x‖₁².
    """
    s = np.count_nonzero(x)
    if not pencil.A_scale or s * max(pencil.A_terms, s) > EXACT_ENTRIES:
        return False
    l1 = float(np.sum(np.abs(x)))
    return not TINY < pencil.A_scale * l1 * l1 <= CANCELLATION * abs(a) or b == 0.0 or B_cancels(pencil, x)


class ExactPencil:
    """The products that a certificate needs of a pencil, computed in integers and rounded once."""

    def __init__(self, pencil: Any) -> None:
        self.rounded = pencil
        self.n: int = pencil.n
        self.B_roots: Vector = pencil.B_roots

    def A_dot(self, x: Vector) -> Vector:
        """Ax."""
        pencil, support = self.rounded, np.flatnonzero(x)
        if not pencil.in_memory:
            return pencil.A_dot(x)
        return rounded_product(*pencil.A_products(np.arange(self.n), support), x[support])

    def B_dot(self, x: Vector) -> Vector:
        """Bx."""
        return x if self.rounded.B is None else rounded_product(self.rounded.B, x)

    def B_quad(self, x: Vector) -> float:
        """xᵀBx."""
        support = np.flatnonzero(x)
        return float(rounded_product(x[None, support], self.rounded.B_sub(support), x[support])[0])

    def B_norm(self, x: Vector) -> float:
        """‖x‖_B."""
        return math.sqrt(max(0.0, self.B_quad(x)))
