"""What is done to an answer afterwards: better loadings on the same support (Section 3.3)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ._numerics.checks import Index, Matrix, Vector, as_vector
from ._numerics.proofs import TINY
from .errors import InvalidParameter, InvalidPencil
from .pencils import Gram, Pencil, expect_pencil

CANCELS = 1e4
"""A sum of which the terms are this much larger has lost four digits: it is computed in whole numbers."""
EXACT_ENTRIES = 40_000
"""The largest matrix for which that takes some hundredths of a second."""


def renormalize(pencil: Pencil, x: Vector) -> Vector:
    """Variational renormalization: the leading eigenvector of (A_k, B_k) on the support of x, unit in the B norm.

    The value xᵀAx/xᵀBx does not fall, and is the best that this sparsity pattern allows: if x is not
    the leading eigenvector already, it is not optimal among vectors with its own zeros. The sign is
    chosen to agree with x.

    >>> import numpy as np
    >>> from dcgev_cvx import Pencil, renormalize
    >>> pencil = Pencil([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 9.0]])
    >>> renormalize(pencil, np.array([1.0, 0.2, 0.0])).round(4)
    array([0.7071, 0.7071, 0.    ])
    """
    x = as_vector(x, expect_pencil(pencil).n, "x")
    support = np.flatnonzero(x)
    if not len(support):
        raise InvalidParameter("x = 0 has no support to renormalize on: lower rho.")
    z = on_support(pencil, support)
    return z if float(pencil.B_dot(z) @ x) >= 0.0 else -z


def on_support(pencil: Pencil, support: Index) -> Vector:
    """The leading eigenvector of the principal sub-pencil, embedded with exact zeros."""
    x = np.zeros(pencil.n)
    # products = 0: a large support of A = CᵀC never forms its square
    x[support] = pencil.restrict(support, products=0).leading_vector
    return x


def value(pencil: Pencil, x: Vector) -> float:
    """The generalized Rayleigh quotient xᵀAx/xᵀBx, rounded once where its sums cancel (GEV-P).

    Along the small eigenvalues of an ill-conditioned B the terms of xᵀBx are up to cond(B) times their sum: at 1e12
    four digits would be left, and a value could pass a proved bound. There it is computed in whole numbers, for up
    to EXACT_ENTRIES entries. InvalidPencil where it is beyond floating point.

    >>> import numpy as np
    >>> from dcgev_cvx import Pencil
    >>> from dcgev_cvx.postprocess import value
    >>> value(Pencil(np.eye(2), [[1.0, 1.0 - 1e-13], [1.0 - 1e-13, 1.0]]), np.array([1.0, -0.7])) < 1.49 / 0.09
    True
    """
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = pencil.A_quad(x), pencil.B_quad(x)
    found = exact_value(pencil, np.flatnonzero(x), x) if cancels(pencil, x, a, b) else a / b
    if not math.isfinite(found):
        raise InvalidPencil("xᵀAx/xᵀBx overflows: divide A by 1e100, or multiply B.")
    return found


def cancels(pencil: Pencil, x: Vector, a: float, b: float) -> bool:
    """May the terms of a = xᵀAx or of b = xᵀBx be more than CANCELS times their sum, or below the normal numbers?

    They are at most max|Aᵢⱼ|·‖x‖₁² and, B being positive definite, (Σ √Bᵢᵢ|xᵢ|)².
    """
    support = np.flatnonzero(x)
    rows = pencil.A.C.shape[0] if isinstance(pencil.A, Gram) else len(support)
    if not pencil.A_scale or len(support) * max(rows, len(support)) > EXACT_ENTRIES:
        return False
    moduli = np.abs(x)
    l1, length = float(np.sum(moduli)), float(moduli @ pencil.B_roots)
    return not TINY < pencil.A_scale * l1 * l1 <= CANCELS * abs(a) or length * length > CANCELS * b


def exact_value(pencil: Pencil, support: Index, x: Vector) -> float:
    """xᵀAx/xᵀBx of the numbers as they are, in integers: every double is one times a power of two."""
    z, _ = whole(x[support])
    B, down = whole(pencil.B_sub(support))
    if isinstance(pencil.A, Gram):
        C, up = whole(pencil.A.C[:, support])
        a, up = sum((C @ z) ** 2), 2 * up
    else:
        A, up = whole(pencil.A_sub(support))
        a = z @ A @ z
    try:
        return float(Fraction(a) / Fraction(z @ B @ z) * Fraction(2) ** (up - down))
    except OverflowError:
        return math.inf


def whole(values: Matrix) -> tuple[Any, int]:
    """Integers m and a number e with values = m·2ᵉ: nothing is rounded.

    >>> import numpy as np
    >>> from dcgev_cvx.postprocess import whole
    >>> m, e = whole(np.array([0.75, -2.0, 0.0]))
    >>> [entry * 2.0**e for entry in m]
    [0.75, -2.0, 0.0]
    """
    mantissas, exponents = np.frexp(values)
    least = int(np.min(exponents, where=values != 0.0, initial=1024))
    shifts = np.maximum(exponents - least, 0).astype(object)
    return np.ldexp(mantissas, 53).astype(np.int64).astype(object) << shifts, least - 53
