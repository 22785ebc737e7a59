"""What is done to an answer afterwards: better loadings on the same support (Section 3.3)."""

from __future__ import annotations

import numpy as np

from .checks import Index, Vector, as_vector
from .errors import InvalidParameter
from .pencils import Gram, Pencil, expect_pencil


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
    if isinstance(pencil.A, Gram) and pencil.B is None:
        sub = Pencil(Gram(pencil.A.C[:, support]))  # a large support never forms its square
    else:
        sub = Pencil(pencil.A_sub(support), None if pencil.B is None else pencil.B_sub(support))
    x = np.zeros(pencil.n)
    x[support] = sub.leading_vector
    return x


def value(pencil: Pencil, x: Vector) -> float:
    """The generalized Rayleigh quotient xᵀAx/xᵀBx (GEV-P)."""
    return pencil.A_quad(x) / pencil.B_quad(x)
