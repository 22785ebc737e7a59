"""Exchanges on a large support of a dense pencil: an inverse is kept, and an exchange changes one row of it.

λmax after an exchange is found by inverse iteration with M = λB − A on the support, λ the value at the last table of
gains. The newcomer takes the place of who leaves, so that M changes in one row and column and its inverse by a
matrix of rank two (Sherman, Morrison and Woodbury): k² operations for each step of the iteration, where a
factorisation takes k³. As M is singular at first, it is bordered; the same inverse gives the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy.linalg import LinAlgError

from .._numerics.checks import Index, Matrix, Vector
from ..certificates import on_support
from ..pencils import Pencil
from .gains import bordered_inverse, cross_block, gains_from, shortlists

STEPS = 20
"""Steps of inverse iteration at most; a few are enough where λmax stands out."""
SETTLED = 1e-9
"""The iteration ends once the value rises by no more than this share of itself."""
MISSES = 40
"""Exchanges that raise nothing, one after the other, before a table counts as used up."""
STEEPEST = 400
"""On supports up to this size every exchange is the best of a table of its own; beyond, a table serves for many."""
TRUSTED = 4
"""Exchanges of a fresh table that are looked at again where inverse iteration sees no rise."""
RANKED = 4096
"""Pairs of a table that are ranked."""
PRODUCT = 4 * 10**8
"""All exchanges are looked at where that takes a product of no more than this many multiplications."""
LIST = 400
"""Members that may leave and outsiders that may enter, where there are too many to look at all."""


class Slots:
    """A support with its members in fixed places: A and B there and the leading pair (λ, x), in units of √Bᵢᵢ.

    `inverse` is that of [tB − A, c; cᵀ, 0] with t = λ and c along Bx when it was made; c then stays.
    """

    def __init__(self, pencil: Pencil, support: Index, x: Vector, value: float) -> None:
        self.pencil = pencil
        self.members: Index = support.copy()
        root = pencil.B_roots[support]
        scale = root[:, None] * root
        self.A, self.B = pencil.A_sub(support) / scale, pencil.B_sub(support) / scale
        self.x, self.value = x[support] * root, value
        self.invert()

    def invert(self) -> None:
        """The inverse anew, at the value and vector as they are now."""
        self.shift = self.value
        self.inverse = bordered_inverse(self.A, self.B, self.x, np.array([[self.value]]))

    def column(self, newcomer: int) -> tuple[Vector, Vector]:
        """A and B between the members and an outsider."""
        a, b = (block[:, 0] for block in cross_block(self.pencil, self.members, np.array([newcomer])))
        scale = self.pencil.B_roots[self.members] * self.pencil.B_roots[newcomer]
        return a / scale, b / scale

    def exchange(self, place: int, newcomer: int, *, exactly: bool = False) -> bool:
        """Put the newcomer in a member's place if λmax rises by more than 1e-12 of itself; did it?

        Inverse iteration finds the eigenvalue nearest to the old one, which after a large rise may be the second:
        `exactly` solves the eigenvalue problem from scratch.
        """
        a, b = self.column(newcomer)
        a[place], b[place] = self.pencil.A_diagonal[newcomer] / self.pencil.B_diagonal[newcomer], 1.0
        old = self.A[place].copy(), self.B[place].copy()
        # K⁺ = K + evᵀ + veᵀ with the unit vector e of the place
        v = np.append(self.shift * (b - old[1]) - (a - old[0]), 0.0)
        v[place] *= 0.5
        W = np.column_stack([self.inverse[:, place], self.inverse @ v])
        small = np.array([W[place], v @ W]) + np.array([[0.0, 1.0], [1.0, 0.0]])
        self.replace(place, a, b)
        try:
            middle = np.linalg.inv(small) @ W.T
            x, value = self.solved(place, newcomer) if exactly else self.iterate(place, W, middle)
        except LinAlgError:
            middle, x, value = W.T, self.x, -math.inf
        if not value > self.value + 1e-12 * abs(self.value):
            self.replace(place, *old)
            return False
        self.inverse -= W @ middle
        self.x, self.value = x, value
        self.members[place] = newcomer
        return True

    def solved(self, place: int, newcomer: int) -> tuple[Vector, float]:
        """(x, λ) with the newcomer in a member's place."""
        members = self.members.copy()
        members[place] = newcomer
        x = on_support(self.pencil, members)
        return x[members] * self.pencil.B_roots[members], self.pencil.A_quad(x)

    def replace(self, place: int, a: Vector, b: Vector) -> None:
        """Give A and B the row and column of another member."""
        self.A[place] = self.A[:, place] = a
        self.B[place] = self.B[:, place] = b

    def iterate(self, place: int, W: Matrix, middle: Matrix) -> tuple[Vector, float]:
        """(x, xᵀAx) by inverse iteration from x without the member that left, K⁻¹ less W·middle for K⁻¹.

        With K(z, μ) = (b, 0) and K(w, ν) = (0, 1), M(νz − μw) = νb: the direction of M⁻¹b, and that of w where M is
        singular. The value is attained, whether or not the iteration has converged.
        """
        w = self.inverse[:, -1] - W @ middle[:, -1]
        z, value = self.x.copy(), -math.inf
        z[place] = 0.0
        if not z.any():
            z[place] = 1.0
        Bz = self.B @ z
        for _ in range(STEPS):
            solved = self.inverse @ np.append(Bz, 0.0)
            solved -= W @ (middle[:, :-1] @ Bz)
            z = w[-1] * solved[:-1] - solved[-1] * w[:-1]
            pulled, Bz = w[-1] * float(z @ Bz), self.B @ z
            square = float(z @ Bz)
            if not 0.0 < square < math.inf:
                raise LinAlgError("inverse iteration broke down")
            # zᵀMz = νzᵀb, so that zᵀAz need not be computed
            before, value = value, self.shift - pulled / square
            norm = math.sqrt(square)
            z, Bz = z / norm, Bz / norm
            rise = value - before
            if abs(rise) <= SETTLED * abs(value) or value + rise < self.value:
                break
        return z, float(z @ (self.A @ z))

    def promising(self, groups: Index | None) -> Iterator[tuple[int, int]]:
        """The pairs (place, newcomer) whose exchange raises λmax, the largest estimated gains first.

        For a fresh inverse: its leading block is the G of `exchange_gains`.
        """
        pencil, x = self.pencil, np.zeros(self.pencil.n)
        x[self.members] = self.x / pencil.B_roots[self.members]
        outside = np.flatnonzero(~np.isin(np.arange(pencil.n), self.members))
        drop, add = shortlists(pencil, self.members, outside, x, self.value, PRODUCT, LIST)
        H, B_cross = cross_block(pencil, self.members, add)
        H -= self.value * B_cross
        H /= pencil.B_roots[self.members][:, None] * pencil.B_roots[add]
        h = pencil.A_diagonal[add] / pencil.B_diagonal[add] - self.value
        gains = gains_from(self.inverse[:-1, :-1], H, self.x, h)[drop]
        if groups is not None:
            gains[groups[self.members[drop]][:, None] != groups[add]] = 0.0
        flat = gains.ravel()
        best = np.argpartition(-flat, RANKED)[:RANKED] if len(flat) > RANKED else np.arange(len(flat))
        best = np.sort(best[flat[best] > 0.0])
        for at in best[np.argsort(-flat[best], kind="stable")].tolist():
            i, j = divmod(at, len(add))
            yield int(drop[i]), int(add[j])


def exchange_slots(
    pencil: Pencil, support: Index, x: Vector, value: float, max_swaps: int, groups: Index | None
) -> tuple[Index, int]:
    """The support after exchanges that raise λmax until no pair of a fresh table does; (support, exchanges made).

    A table says for every pair whether its exchange alone raises λmax, and about how much. Beyond STEEPEST it serves
    for as many exchanges as it is good for, each judged by the value it attains, no place or newcomer twice.
    """
    slots, done = Slots(pencil, support, x, value), 0
    most = 1 if len(support) <= STEEPEST else max_swaps
    while done < max_swaps:
        used: set[tuple[str, int]] = set()
        before, misses = done, 0
        for place, newcomer in slots.promising(groups):
            pair = {("place", place), ("newcomer", newcomer)}
            if misses == MISSES or done == max_swaps or done == before + most:
                break
            if used & pair:
                continue
            # a fresh table is right about the sign
            trusted = done == before and misses < TRUSTED
            if slots.exchange(place, newcomer) or (trusted and slots.exchange(place, newcomer, exactly=True)):
                done, misses, used = done + 1, 0, used | pair
            else:
                misses += 1
        if done == before:
            break
        slots.invert()
    return np.sort(slots.members), done
