"""Exchanges for A = CᵀC with B = I through the rows of R = Cᵀ, where a table of all exchanges would cost too much.

λmax(A_SS) = ‖R_S‖², its eigenvector is the left singular vector of R_S, and Ax = R(R_Sᵀx_S) is one pass over the
data. Most of the work is done on a pool of a few members and outsiders; all rows are looked at only to choose the
next pool.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._numerics.checks import Index, Matrix, Vector
from .._numerics.selection import largest_first
from ..pencils import Gram, Pencil

POOL = 24
"""Members that may leave and outsiders that may enter in a pool: its table costs less than a power step."""


@dataclass
class FactorPool:
    """Exchanges in a pencil with A = CᵀC and B = I, by pools of the most promising pairs."""

    pencil: Pencil
    k: int
    work: float = 0.0

    exhaustive: ClassVar[bool] = False

    def __post_init__(self) -> None:
        assert isinstance(self.pencil.A, Gram)
        self.C = self.pencil.A.C

    @property
    def exchange_work(self) -> float:
        """Multiplications of one exchange: power steps, the table of a pool, and a share of choosing it."""
        p, n = self.C.shape
        return float(p * (4 * self.k + 4 * POOL + n // POOL))

    def improve(self, supports: Index) -> tuple[Index, Vector]:
        """The ends that exchanges reach from the rows of an m × k table, with values that power steps attain."""
        ends, values = supports.copy(), np.empty(len(supports))
        for row, support in enumerate(supports):
            pool = _Pool(self.C.T, self.pencil.A_diagonal, support)
            self.work += self.exchange_work * (2 + pool.improve())
            ends[row], values[row] = np.sort(pool.members), pool.value
        return ends, values


class _Pool:
    """A support under exchanges: its members, their rows W, loadings x, Cx = Wᵀx, λ = ‖Cx‖², and a pool of pairs.

    `places` are those of the members that may leave, `adds` the outsiders that may enter, and G is A between
    the two. After an exchange the pool stays one: who left may come back.
    """

    def __init__(self, R: Matrix, diagonal: Vector, support: Index) -> None:
        self.R, self.diagonal = R, diagonal
        self.members: Index = support.copy()
        self.W: Matrix = R[support]
        start = self.W @ self.W[np.argmax(diagonal[support])]
        self.x, self.Cx, self.value = power_steps(self.W, start if start.any() else np.ones(len(support)), 12)

    def improve(self) -> int:
        """Exchange until a fresh pool has no pair that raises the value; how many exchanges were made."""
        count, before = 0, -1
        while before < count < 20 * len(self.members):
            before = count
            self.choose()
            while self.exchange():
                count += 1
        return count

    def choose(self) -> None:
        """The members that cost least to drop and the outsiders that gain most when added, by one pass.

        Without member i the rest of x is worth (λ − 2xᵢ(Ax)ᵢ + xᵢ²Aᵢᵢ)/(1 − xᵢ²); with outsider j at its side x
        is worth the larger eigenvalue of [λ (Ax)ⱼ; (Ax)ⱼ Aⱼⱼ].
        """
        Ax = self.R @ self.Cx
        gain = larger_eigenvalue(self.value, Ax, self.diagonal)
        gain[self.members] = -math.inf
        self.places: Index = largest_first(self.kept(np.arange(len(self.members)), Ax[self.members]), POOL)
        self.adds: Index = largest_first(gain, min(POOL, len(gain) - len(self.members)))
        self.G = self.W[self.places] @ self.R[self.adds].T

    def kept(self, places: Index, Ax: Vector) -> Vector:
        """What x without one of its members is worth, for the members at the places given."""
        x = self.x[places]
        rest = self.value - 2.0 * x * Ax + x * x * self.diagonal[self.members[places]]
        return rest / np.maximum(1.0 - x * x, 1e-14)

    def exchange(self) -> bool:
        """Make the first of the four best exchanges that raises the value; was there one?

        Ranked by Rayleigh–Ritz values on span{x − xᵢeᵢ, eⱼ}, lower bounds of λmax after the exchange, and judged by
        one power step: the value is attained, whether or not the step has converged.
        """
        x, Ax = self.x[self.places, None], self.R[self.adds] @ self.Cx
        rest = self.kept(self.places, self.W[self.places] @ self.Cx)
        cross = (Ax - self.G * x) / np.sqrt(np.maximum(1.0 - x * x, 1e-14))
        table = larger_eigenvalue(rest[:, None], cross, self.diagonal[self.adds])
        for flat in largest_first(table.ravel(), 4).tolist():
            i, j = divmod(flat, len(self.adds))
            if self.replaced(i, j, float(Ax[j])):
                return True
        return False

    def replaced(self, i: int, j: int, Ax: float) -> bool:
        """Put outsider j of the pool in the place of member i if the value rises; did it?"""
        place, new = self.places[i], self.adds[j]
        old, y = self.W[place].copy(), self.x.copy()
        self.W[place] = self.R[new]
        y[place] = Ax / self.value if self.value > 0.0 else 1.0  # what a power step would give it
        if not y.any():
            y[place] = 1.0
        y, Cy, value = power_steps(self.W, y, 1)
        if not value > self.value * (1.0 + 1e-12):
            self.W[place] = old
            return False
        self.x, self.Cx, self.value = y, Cy, value
        self.members[place], self.adds[j] = new, self.members[place]
        self.G[i] = self.R[self.adds] @ self.W[place]
        self.G[:, j] = self.W[self.places] @ self.R[self.adds[j]]
        return True


def power_steps(W: Matrix, x: Vector, steps: int) -> tuple[Vector, Vector, float]:
    """(x, Wᵀx, ‖Wᵀx‖²) after power steps x ← WWᵀx/‖·‖."""
    x = x / np.linalg.norm(x)
    v = x @ W
    for _ in range(steps):
        y = W @ v
        norm = math.sqrt(float(y @ y))
        if norm == 0.0:
            break
        x = y / norm
        v = x @ W
    return x, v, float(v @ v)


def larger_eigenvalue(p: Matrix | float, a: Matrix, r: Vector) -> Matrix:
    """The larger eigenvalue of [p a; a r], entry by entry."""
    half = 0.5 * (p - r)
    return 0.5 * (p + r) + np.sqrt(half * half + a * a)
