"""Going on without the variables that stay zero: work, data and memory then follow the support."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._numerics.checks import Index, Vector, frozen
from ..programs import Program, SparseFDA, penalty_at_zero


@dataclass(frozen=True)
class Restriction:
    """A program restricted to the variables of a support, and the way back.

    A zero of y has the slope ρ_ε/ε; when that exceeds every slope that a nonzero can have, xᵢ stays zero in this and
    all later steps, and the restricted program takes the same steps. It leaves out φ(0) for each dropped variable;
    `constant` is their sum, so that f and g of the whole program are known exactly.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import SparseGEV, datasets
    >>> from dcgev_cvx.steps.shrink import Restriction
    >>> program = SparseGEV(datasets.pitprops(), rho=4.84)
    >>> y = np.where(np.arange(13) < 4, 0.5, 0.0)
    >>> restricted = Restriction.whole(program).shrunk(y)
    >>> restricted.part.pencil.n, bool(np.isclose(restricted.part.f(y[:4]) + restricted.constant, program.f(y)))
    (4, True)
    """

    whole_program: Program
    part: Program
    support: Index
    constant: float

    @classmethod
    def whole(cls, program: Program) -> Restriction:
        """All variables."""
        return cls(program, program, np.arange(program.pencil.n), 0.0)

    def shrunk(self, y: Vector) -> Restriction:
        """The restriction to y's support, or this one where little would be saved or a zero might come back."""
        # restricting copies a submatrix, which takes longer than it saves unless the support has shrunk by much
        if not 0 < np.count_nonzero(y) < 0.7 * len(y) or not absorbing(self.part, y):
            return self
        kept = np.flatnonzero(y)
        program, support = self.whole_program, self.support[kept]
        dropped = program.pencil.n - len(support)
        return Restriction(program, self.part.restrict(kept), support, dropped * penalty_at_zero(program)[0])

    def lift(self, z: Vector) -> Vector:
        """z as a point of the whole space."""
        if self.part is self.whole_program:
            return z
        x = np.zeros(self.whole_program.pencil.n)
        x[self.support] = z
        return frozen(x)

    @property
    def share(self) -> float:
        """What a product with A costs here, as a share of one with the whole of A."""
        return self.part.pencil.A_entries / self.whole_program.pencil.A_entries


def absorbing(program: Program, y: Vector) -> bool:
    """Does a zero stay zero in every step of a descending run through y, the slope at 0 being above every θᵢ?

    GEV: θᵢ ≤ 4√Bᵢᵢ‖c‖_{B⁻¹}, and ‖(A + τI)y‖_{B⁻¹} ≤ (n·max|A| + τ)/λmin(B) for yᵀBy ≤ 1.
    FDA: θᵢ = 2F|aᵢ| + 2√(BᵢᵢF), and F = yᵀBy + pᵀ|y| ≤ f(y) − nφ(0), since tφ'(t) ≤ φ(t) − φ(0).
    Crude bounds do: at tiny ε the slope is larger by many orders.
    """
    value, slope = penalty_at_zero(program)
    pencil = program.pencil
    root = math.sqrt(pencil.B_scale)
    if isinstance(program, SparseFDA):
        F = program.f(y) - pencil.n * value
        return slope > 2.0 * F * float(np.max(np.abs(program.a))) + 2.0 * root * math.sqrt(F)
    shift = program.tau if program.shift == "identity" else program.tau * pencil.B_scale
    smallest = 1.0 if pencil.factor is None else pencil.factor.smallest
    return slope > 4.0 * root * (pencil.n * pencil.A_scale + shift) / smallest
