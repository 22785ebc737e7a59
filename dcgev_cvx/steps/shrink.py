"""Going on without the variables that stay zero: work, data and memory then follow the support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._numerics.checks import Index, Vector, frozen, method_flag
from ..certificates import restricted
from ..errors import InvalidParameter


@dataclass(frozen=True)
class Restriction:
    """A program restricted to the variables of a support, and the way back.

    A zero of y has the slope ρ_ε/ε; when that exceeds every slope that a nonzero can have, xᵢ stays zero in this and
    all later steps, and the restricted program takes the same steps. Its f and g differ from those of the original by
    `constant`, what the dropped variables add. The program says which may leave: see `majorized.Restrictable`.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import SparseGEV, datasets
    >>> from dcgev_cvx.steps.shrink import Restriction
    >>> program = SparseGEV(datasets.pitprops(), rho=4.84)
    >>> y = np.where(np.arange(13) < 4, 0.5, 0.0)
    >>> restricted = Restriction.whole(program, 13).shrunk(y)
    >>> restricted.program.pencil.n, bool(np.isclose(restricted.program.f(y[:4]) + restricted.constant, program.f(y)))
    (4, True)
    """

    original: Any
    program: Any
    support: Index
    n: int
    constant: float = 0.0

    @classmethod
    def whole(cls, program: Any, n: int) -> Restriction:
        """All n variables of a program."""
        return cls(program, program, np.arange(n), n)

    def can_shrink(self, y: Vector) -> bool:
        """Do the zeros of y stay zero, and are they many enough?"""
        # restricting copies a submatrix, which takes longer than it saves unless the support has shrunk by much
        return 0 < int(np.count_nonzero(y)) < 0.7 * len(y) and method_flag(self.program, "zeros_stay", y)

    def shrunk(self, y: Vector) -> Restriction:
        """The restriction to y's support."""
        kept = np.flatnonzero(y)
        program = restricted(self.program, kept)
        constant = self.original.f(self.lift(y)) - program.f(y[kept])
        return Restriction(self.original, program, self.support[kept], self.n, constant)

    def lift(self, z: Vector) -> Vector:
        """z as a point of the whole space."""
        if self.program is self.original:
            return z
        x = np.zeros(self.n)
        x[self.support] = z
        return frozen(x)


def expect_restrictable(program: Any) -> None:
    """Raise unless the program can be restricted to a few variables."""
    for method, call in (("restrict", "restrict(support)"), ("zeros_stay", "zeros_stay(y)")):
        if not callable(getattr(program, method, None)):
            raise InvalidParameter(
                f"shrink=True needs a program with the method {call}; {type(program).__name__} has none. "
                "Run it with shrink=False, or add the method."
            )
