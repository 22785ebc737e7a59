"""Supports for a pencil of rank one, A = aaᵀ: one tableau gives the value of every exchange exactly (Eq:gevmin).

The best vector on a support S is B_SS⁻¹a_S and its value a_SᵀB_SS⁻¹a_S. Sweeping (Gauss and Jordan) the members of S
in [B a; aᵀ 0] leaves B_SS⁻¹, B_SS⁻¹B_Sj, B_SS⁻¹a_S, the Schur complements of the others and the value; a member
more or less is one further sweep, n² operations.
"""

from __future__ import annotations

import math

import numpy as np

from .._numerics.checks import Index, Matrix, Vector

REFRESH = 100
"""Sweeps after which the tableau is made anew, so that their rounding does not add up."""
SWINGS = (0.03, 0.1, 0.2)
"""How far the number of members swings away from k, as shares of it."""
DEPENDENT = 1e-14
"""A variable whose variance beside the members is below this share of its own is not taken in."""


class Tableau:
    """[B a; aᵀ 0] with the members of a support swept, in units of √Bᵢᵢ.

    With P = B_SS⁻¹: T_SS = −P, T_Sj = PB_Sj, T_Sn = Pa_S, T_ij = Bᵢⱼ − B_iS PB_Sj, T_in = aᵢ − B_iS Pa_S and
    T_nn = −a_SᵀPa_S.
    """

    def __init__(self, a: Vector, B: Matrix, support: Index) -> None:
        root = np.sqrt(np.diagonal(B))
        n = len(a)
        self.whole = np.zeros((n + 1, n + 1))
        self.whole[:n, :n] = B / (root[:, None] * root)
        self.whole[:n, n] = self.whole[n, :n] = a / root
        self.inside = np.zeros(n, dtype=bool)
        self.inside[support] = True
        self.refresh()

    @property
    def value(self) -> float:
        """a_SᵀB_SS⁻¹a_S."""
        return -float(self.T[-1, -1])

    def refresh(self) -> None:
        """The tableau from the data."""
        S = np.flatnonzero(self.inside)
        rest = np.flatnonzero(~np.append(self.inside, False))
        P = np.linalg.inv(self.whole[np.ix_(S, S)])
        across = P @ self.whole[np.ix_(S, rest)]
        self.T = np.empty_like(self.whole)
        self.T[np.ix_(S, S)] = -0.5 * (P + P.T)
        self.T[np.ix_(S, rest)] = across
        self.T[np.ix_(rest, S)] = across.T
        self.T[np.ix_(rest, rest)] = self.whole[np.ix_(rest, rest)] - self.whole[np.ix_(rest, S)] @ across
        self.age = 0

    def toggle(self, i: int) -> None:
        """Take a variable in, or out."""
        sign = -1.0 if self.inside[i] else 1.0
        row, pivot = self.T[i].copy(), float(self.T[i, i])
        self.T -= np.outer(row, row / pivot)
        self.T[i] = self.T[:, i] = sign * row / pivot
        self.T[i, i] = -1.0 / pivot
        self.inside[i] = not self.inside[i]
        self.age += 1
        if self.age >= REFRESH:
            self.refresh()

    def gains(self) -> Vector:
        """What each variable would add to the value; −inf for members and for what members explain."""
        n = len(self.inside)
        spread = np.diagonal(self.T)[:n]
        free = ~self.inside & (spread > DEPENDENT)
        return np.where(free, self.T[:n, n] ** 2 / np.where(free, spread, 1.0), -np.inf)

    def losses(self) -> Vector:
        """What the value loses without each variable; inf for those that are no members."""
        n = len(self.inside)
        return np.where(
            self.inside, self.T[:n, n] ** 2 / np.where(self.inside, -np.diagonal(self.T)[:n], 1.0), np.inf
        )

    def fit(self, k: int) -> None:
        """Add the best or drop the cheapest, one at a time, until there are k."""
        while np.count_nonzero(self.inside) > k:
            self.toggle(int(np.argmin(self.losses())))
        while np.count_nonzero(self.inside) < k and np.max(self.gains()) > -np.inf:
            self.toggle(int(np.argmax(self.gains())))

    def exchange(self) -> bool:
        """Make the exchange of the largest gain, if one raises the value by more than 1e-12 of it; was there one?

        Without member i the others' residuals are T_jn + T_ij xᵢ/Pᵢᵢ and their variances T_jj + T_ij²/Pᵢᵢ.
        """
        n = len(self.inside)
        S, free = np.flatnonzero(self.inside), np.flatnonzero(~self.inside)
        if not len(S) or not len(free):
            return False
        q, x, p = self.T[np.ix_(S, free)], self.T[S, n][:, None], -np.diagonal(self.T)[S][:, None]
        spread = np.diagonal(self.T)[free] + q * q / p
        table = (self.T[free, n] + q * (x / p)) ** 2 / np.maximum(spread, DEPENDENT)
        table[spread <= DEPENDENT] = 0.0
        table -= x * x / p
        i, j = np.unravel_index(int(np.argmax(table)), table.shape)
        if not table[i, j] > 1e-12 * self.value:
            return False
        before, value = self.inside.copy(), self.value
        self.toggle(int(S[i]))
        self.toggle(int(free[j]))
        if self.value > value:
            return True
        self.inside = before  # rounding promised more than there was
        self.refresh()
        return False

    def climb(self) -> Index:
        """The support that no exchange improves, by the best exchange at a time."""
        for _ in range(20 * len(self.inside)):
            if not self.exchange():
                break
        return np.flatnonzero(self.inside)


def rank_one_support(a: Vector, B: Matrix, k: int) -> Index:
    """k variables of a large a_SᵀB_SS⁻¹a_S, fewer only where the members explain all others.

    From backward elimination and from forward selection, by the best exchange at a time; then away from k and back,
    down and up, by the shares SWINGS of it (strategic oscillation, Glover 1989).
    """
    tops: list[Tableau] = []
    for start in (np.arange(len(a)), np.empty(0, dtype=np.intp)):
        tableau = Tableau(a, B, start)
        tableau.fit(k)
        tableau.climb()
        tops.append(tableau)
    best = max(tops, key=lambda top: top.value)
    support, value = np.flatnonzero(best.inside), best.value
    for share in SWINGS:
        for away in (max(0, k - math.ceil(share * k)), min(len(a), k + math.ceil(share * k))):
            best.fit(away)
            best.fit(k)
            best.climb()
            if best.value > value:
                support, value = np.flatnonzero(best.inside), best.value
    return support
