"""Exchanges for A = aaᵀ: a tableau that gives the value of every exchange exactly (Eq:gevmin).

The best vector on a support S is B_SS⁻¹a_S and its value a_SᵀB_SS⁻¹a_S. Sweeping (Gauss and Jordan) the members of S
in [B a; aᵀ 0] leaves B_SS⁻¹, B_SS⁻¹B_Sj, B_SS⁻¹a_S, the Schur complements of the others and the value; a member
more or less is one further sweep, n² operations.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .._numerics.checks import Index, Matrix, Vector
from ..pencils import Gram, Pencil


@dataclass
class RankOneTableau:
    """Exchanges in a pencil with A = aaᵀ, best exchange first."""

    pencil: Pencil
    k: int
    work: float = 0.0
    seen: set[bytes] = field(default_factory=set[bytes])

    exhaustive: ClassVar[bool] = True

    @property
    def exchange_work(self) -> float:
        """Multiplications of one exchange: two sweeps, and about ten for each of k(n − k) exchanges."""
        return float(self.pencil.n * (4 * self.pencil.n + 10 * self.k))

    def improve(self, supports: Index) -> tuple[Index, Vector]:
        """The local optima that exchanges reach from the rows of an m × k table, and their values."""
        ends, values = [supports[:0]], [np.empty(0)]
        for support in supports:
            tableau = self.tableau(support)
            if tableau.improve(self.seen):
                ends.append(tableau.support[None])
                values.append(np.array([tableau.value]))
            self.work += tableau.swept * self.exchange_work / 2.0
        return np.concatenate(ends), np.concatenate(values)

    def fitted(self, support: Index) -> Index:
        """A support grown or cut to k variables, the best or the cheapest one at a time."""
        tableau = self.tableau(support)
        tableau.fit(self.k)
        self.work += tableau.swept * self.exchange_work / 2.0
        return tableau.support

    def tableau(self, support: Index) -> Tableau:
        """The tableau with a support swept."""
        assert isinstance(self.pencil.A, Gram)
        return Tableau(self.pencil.A.C[0], self.pencil.dense()[1], support)


class Tableau:
    """[B a; aᵀ 0] with the members of a support swept, in units of √Bᵢᵢ.

    With P = B_SS⁻¹: T_SS = −P, T_Sj = PB_Sj, T_Sn = Pa_S, T_ij = Bᵢⱼ − B_iS PB_Sj, T_in = aᵢ − B_iS Pa_S and
    T_nn = −a_SᵀPa_S. After 100 sweeps it is computed anew, so that their rounding does not add up.
    """

    def __init__(self, a: Vector, B: Matrix, support: Index) -> None:
        root = np.sqrt(np.diagonal(B))
        n = len(a)
        self.whole: Matrix = np.zeros((n + 1, n + 1))
        self.whole[:n, :n] = B / (root[:, None] * root)
        self.whole[:n, n] = self.whole[n, :n] = a / root
        self.inside: NDArray[np.bool_] = np.zeros(n, dtype=bool)
        self.inside[support] = True
        self.swept: int = 0
        self.refresh()

    @property
    def value(self) -> float:
        """a_SᵀB_SS⁻¹a_S."""
        return -float(self.T[-1, -1])

    @property
    def support(self) -> Index:
        """The members."""
        return np.flatnonzero(self.inside)

    def refresh(self) -> None:
        """The tableau from the data."""
        S, rest = self.support, np.flatnonzero(~np.append(self.inside, False))
        P = np.linalg.inv(self.whole[np.ix_(S, S)])
        across = P @ self.whole[np.ix_(S, rest)]
        self.T: Matrix = np.empty_like(self.whole)
        self.T[np.ix_(S, S)] = -0.5 * (P + P.T)
        self.T[np.ix_(S, rest)] = across
        self.T[np.ix_(rest, S)] = across.T
        self.T[np.ix_(rest, rest)] = self.whole[np.ix_(rest, rest)] - self.whole[np.ix_(rest, S)] @ across

    def sweep(self, i: int) -> None:
        """Take a variable in, or out."""
        sign = -1.0 if self.inside[i] else 1.0
        row, pivot = self.T[i].copy(), float(self.T[i, i])
        self.T -= np.outer(row, row / pivot)
        self.T[i] = self.T[:, i] = sign * row / pivot
        self.T[i, i] = -1.0 / pivot
        self.inside[i] = not self.inside[i]
        self.swept += 1
        if self.swept % 100 == 0:
            self.refresh()

    def gains(self) -> Vector:
        """What each variable would add to the value; −inf for members and for those that the members explain."""
        n = len(self.inside)
        spread = np.diagonal(self.T)[:n]
        free = ~self.inside & (spread > 1e-14)
        return np.where(free, self.T[:n, n] ** 2 / np.where(free, spread, 1.0), -np.inf)

    def losses(self) -> Vector:
        """What the value loses without each variable; inf for those that are not members."""
        n = len(self.inside)
        spread = np.where(self.inside, -np.diagonal(self.T)[:n], 1.0)
        return np.where(self.inside, self.T[:n, n] ** 2 / spread, np.inf)

    def fit(self, k: int) -> None:
        """Drop the cheapest or add the best until there are k; fewer if the members explain all others."""
        while np.count_nonzero(self.inside) > k:
            self.sweep(int(np.argmin(self.losses())))
        while np.count_nonzero(self.inside) < k and np.max(self.gains()) > -np.inf:
            self.sweep(int(np.argmax(self.gains())))

    def exchange(self) -> bool:
        """Make the exchange of the largest gain, if one raises the value by more than 1e-12 of it; was there one?

        Without member i the others' residuals are T_jn + T_ij xᵢ/Pᵢᵢ and their variances T_jj + T_ij²/Pᵢᵢ. A variance
        below 1e-14 is rounding.
        """
        n, S, free = len(self.inside), self.support, np.flatnonzero(~self.inside)
        if not len(S) or not len(free):
            return False
        q, x, p = self.T[np.ix_(S, free)], self.T[S, n][:, None], -np.diagonal(self.T)[S][:, None]
        spread = np.diagonal(self.T)[free] + q * q / p
        gains = (self.T[free, n] + q * (x / p)) ** 2 / np.maximum(spread, 1e-14)
        gains[spread <= 1e-14] = 0.0
        gains -= x * x / p
        i, j = np.unravel_index(int(np.argmax(gains)), gains.shape)
        if not gains[i, j] > 1e-12 * self.value:
            return False
        before, value = self.inside.copy(), self.value
        self.sweep(int(S[i]))
        self.sweep(int(free[j]))
        if self.value > value:
            return True
        self.inside = before  # rounding promised more than there was
        self.refresh()
        return False

    def improve(self, seen: set[bytes]) -> bool:
        """Exchange while the value rises; False when a support was met that had been seen before."""
        for _ in range(20 * len(self.inside)):
            key = self.support.tobytes()
            if key in seen:
                return False
            seen.add(key)
            if not self.exchange():
                break
        return True
