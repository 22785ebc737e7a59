"""One change of units for everything that a solver is given: numbers of size one, by powers of two.

x = u∘x̂ and objective = o·ô. Multiplying by powers of two changes exponents and rounds nothing: what is feasible for
the scaled problem is feasible for the user's, to the last bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .._numerics.checks import Index, Matrix, Vector
from .._numerics.spectra import power_of_four, power_of_two
from ..errors import InvalidPencil
from ..pencils import Pencil
from ..programs import SparseFDA, SparseGEV


@dataclass(frozen=True)
class Scaling:
    """x = u∘x̂ with one power of two per variable, objective = o·ô with another."""

    u: Vector
    o: float

    @classmethod
    def of_pencil(cls, pencil: Pencil) -> Scaling:
        """Units in which B̂ has a diagonal in [1, 4) and max |Âᵢⱼ| lies in [½, 2)."""
        scaling = cls(unit_lengths(pencil), 1.0)
        with np.errstate(over="ignore"):
            size = pencil.A_size(scaling.u)
        if not math.isfinite(size):
            raise InvalidPencil(
                "Aᵢⱼ/√(BᵢᵢBⱼⱼ) overflows, and so would the eigenvalues: divide A by 1e100, or multiply B by 1e100."
            )
        return cls(scaling.u, power_of_four(size))

    @classmethod
    def of_program(cls, program: SparseGEV | SparseFDA) -> Scaling:
        """Units in which the x and the objective of an MM step are of size one.

        xᵀBx ≤ 1 fixes the size of each variable, A and τ that of the objective; for sparse FDA see `fda_units`.
        """
        if isinstance(program, SparseFDA):
            return fda_units(program)
        pencil, b = program.pencil, power_of_four(program.pencil.B_scale)
        shifted = program.shift == "identity" and program.tau > 0.0
        # τ‖x‖² keeps its form only if all variables have one unit
        u = np.full(pencil.n, 1.0 / math.sqrt(b)) if shifted else unit_lengths(pencil)
        return cls(u, power_of_two(max(pencil.A_scale, program.tau if shifted else program.tau * b)) / b)

    def uniform(self) -> Scaling:
        """One unit, the smallest, for all variables: then ‖x‖₁ keeps its form."""
        return Scaling(np.full_like(self.u, self.u.min()), self.o)

    def pencil(self, pencil: Pencil, A: Matrix | None = None) -> Pencil:
        """The pencil (Â, B̂), or with a given matrix in place of Â; nothing is checked or factored again.

        The factor of B̂ is that of B, row by row; A = CᵀC keeps its factor C, for o is a power of four.
        """
        return pencil.rescaled(self.u, self.o, A)

    def vector(self, x: Vector) -> Vector:
        """x from x̂."""
        return self.u * x

    def matrix(self, X: Matrix) -> Matrix:
        """X from X̂: xxᵀ and what relaxes it."""
        return self.form(X)

    def cost(self, c: Vector) -> Vector:
        """ĉ from c: the coefficients of a linear term cᵀx of the objective."""
        return c * (self.u / self.o)

    def form(self, B: Matrix) -> Matrix:
        """B̂ from B: a quadratic form xᵀBx or tr(XB) that is no part of the objective."""
        units = self._units
        return np.divide(B, units, out=units)  # one n×n array instead of two

    def objective_form(self, A: Matrix) -> Matrix:
        """Â from A: a quadratic form in the objective."""
        scaled = self.form(A)
        scaled /= self.o
        return scaled

    def multiplier_form(self, U: Matrix) -> Matrix:
        """U from Û, a matrix that is added to A."""
        return self.o * U * self._units

    @property
    def _units(self) -> Matrix:
        # 1/(uᵢuⱼ): a number even where uᵢuⱼ overflows, since Bᵢᵢ is one
        s = 1.0 / self.u
        return s[:, None] * s


@dataclass(frozen=True)
class Metric:
    """B̂ = vBv, not formed: v scales the variables."""

    pencil: Pencil
    v: Vector

    @cached_property
    def roots(self) -> Vector:
        """√B̂ᵢᵢ."""
        return self.pencil.B_roots * self.v

    def dot(self, x: Vector) -> Vector:
        """B̂x."""
        return self.v * self.pencil.B_dot(self.v * x)

    def norm(self, x: Vector) -> float:
        """‖x‖ in the metric of B̂."""
        return math.sqrt(max(0.0, float(x @ self.dot(x))))

    def dual_norm(self, c: Vector) -> float:
        """(cᵀB̂⁻¹c)^½."""
        unit = power_of_two(float(np.abs(c).max()))  # the square of a tiny c is 0, that of c/unit is not
        d = c / (unit * self.v)
        return unit * math.sqrt(max(0.0, float(d @ self.pencil.B_solve(d))))

    def sub(self, support: Index) -> Matrix:
        """B̂ on a support."""
        v = self.v[support]
        return self.pencil.B_sub(support) * (v[:, None] * v)

    def matrix(self) -> Matrix | None:
        """B̂ itself, None for the identity."""
        return None if self.pencil.B is None and (self.v == 1.0).all() else self.sub(np.arange(self.pencil.n))


def fda_units(program: SparseFDA) -> Scaling:
    """aᵀx = 1 fixes the size of x, xᵀBx that of the objective, unless the penalty is a million times larger."""
    roots = program.pencil.B_roots
    size = power_of_two(float(np.max(np.abs(program.a) / roots)))
    unit = 1.0 / (size * math.sqrt(power_of_four(program.pencil.B_scale)))
    price = program.nu_eps * float(program.penalty.weights(np.array([unit]), program.eps)[0]) * unit * size * size
    return Scaling(unit_lengths(program.pencil) / size, (power_of_four(price) if price > 1e6 else 1.0) / (size * size))


def unit_lengths(pencil: Pencil) -> Vector:
    """Powers of two with which √Bᵢᵢ comes to lie in [1, 2)."""
    return np.ldexp(1.0, 1 - np.frexp(pencil.B_roots)[1])
