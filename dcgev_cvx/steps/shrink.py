"""Going on without the variables that stay zero: work, data and memory then follow the support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._numerics.checks import Index, Vector, frozen
from ..errors import InvalidParameter


@dataclass(frozen=True)
class Restriction:
    """A program restricted to the variables of a support, and the way back.

    A zero of y has the slope ρ_ε/ε; when that exceeds every slope that a nonzero can have, xᵢ stays zero in this and
    all later steps, and the restricted program takes the same steps. Its f and g differ from those of the whole by
    `constant`, what the dropped variables add. The program says which variables may leave: see `Restrictable`.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import SparseGEV, datasets
    >>> from dcgev_cvx.steps.shrink import Restriction
    >>> program = SparseGEV(datasets.pitprops(), rho=4.84)
    >>> y = np.where(np.arange(13) < 4, 0.5, 0.0)
    >>> restricted = Restriction.of(program, y).shrunk(y)
    >>> restricted.part.pencil.n, bool(np.isclose(restricted.part.f(y[:4]) + restricted.constant, program.f(y)))
    (4, True)
    """

    whole: Any
    part: Any
    support: Index
    n: int
    constant: float

    @classmethod
    def of(cls, program: Any, y: Vector) -> Restriction:
        """All variables of a program whose points look like y."""
        return cls(program, program, np.arange(len(y)), len(y), 0.0)

    def shrunk(self, y: Vector) -> Restriction:
        """The restriction to y's support, or this one where little would be saved or a zero might come back."""
        # restricting copies a submatrix, which takes longer than it saves unless the support has shrunk by much
        if not 0 < np.count_nonzero(y) < 0.7 * len(y) or not self.part.zeros_stay(y):
            return self
        kept = np.flatnonzero(y)
        part = self.part.restrict(kept)
        constant = self.whole.f(self.lift(y)) - part.f(y[kept])
        return Restriction(self.whole, part, self.support[kept], self.n, constant)

    def lift(self, z: Vector) -> Vector:
        """z as a point of the whole space."""
        if self.part is self.whole:
            return z
        x = np.zeros(self.n)
        x[self.support] = z
        return frozen(x)


def expect_restrictable(program: Any) -> Any:
    """The program, if it can be restricted to a few variables."""
    for method, call in (("restrict", "restrict(support)"), ("zeros_stay", "zeros_stay(y)")):
        if not callable(getattr(program, method, None)):
            raise InvalidParameter(
                f"shrink=True needs a program with the method {call}; {type(program).__name__} has none. "
                "Run it with shrink=False, or add the method."
            )
    return program
