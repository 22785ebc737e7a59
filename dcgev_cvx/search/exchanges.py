"""Exchanges of variables for A = CᵀC with B = I, through the rows of R = Cᵀ: a support is the small matrix R_S.

λmax(A_SS) = ‖R_S‖², its eigenvector is the left singular vector of R_S, and Ax = R(R_Sᵀx_S) is one pass over the
data. Most of the work is done on a pool of a few members and outsiders; all rows are looked at only to choose
the next pool.
"""

from __future__ import annotations

import math

import numpy as np

from .._numerics.checks import Index, Matrix, Vector

FEW = 24
"""Members that may leave and outsiders that may enter in one pool."""
TRIES = 4
"""Exchanges of a pool that are evaluated before it counts as used up."""
CLIMB = 1
"""Power steps that evaluate an exchange: its value is attained, whether or not they have converged."""


def exchange_rows(R: Matrix, s: Vector, x: Vector, max_swaps: int) -> tuple[Vector, int]:
    """Exchanges that raise xᵀAx, A = RRᵀ, until no pair of a fresh pool does; (x, exchanges made).

    Parameters
    ----------
    s
        The diagonal of A: squared norms of the rows.
    x
        A nonzero vector; its support is where the search begins, its loadings are where the power steps do.
    """
    search, done = Exchange(R, s, x), 0
    while done < max_swaps:
        before = done
        search.choose_pool()
        while done < max_swaps and search.once():
            done += 1
        if done == before:
            break
    z = np.zeros_like(x)
    z[search.members] = search.x
    return z, done


class Exchange:
    """A support under exchanges: its members, their rows W, loadings x, Cx = Wᵀx, λ = ‖Cx‖², and a pool of pairs.

    `rows` are the places of the members that may leave, `adds` the outsiders that may enter, and G is A between
    the two. After an exchange the pool stays one: who left may come back.
    """

    def __init__(self, R: Matrix, s: Vector, x: Vector) -> None:
        self.R, self.s = R, s
        self.members: Index = np.flatnonzero(x)
        self.W = R[self.members]
        self.x, self.Cx, self.value = climb(self.W, x[self.members], 12 * CLIMB)

    def choose_pool(self) -> None:
        """The members that cost least to drop and the outsiders that gain most when added, by one pass.

        Without member i the rest of x is worth (λ − 2xᵢ(Ax)ᵢ + xᵢ²Aᵢᵢ)/(1 − xᵢ²); with outsider j at its side x
        is worth the larger eigenvalue of [λ (Ax)ⱼ; (Ax)ⱼ Aⱼⱼ].
        """
        Ax = self.R @ self.Cx
        gain = larger_eigenvalue(self.value, Ax, self.s)
        gain[self.members] = -math.inf
        places = np.arange(len(self.members))
        self.rows = best(kept(self, places, Ax[self.members]), FEW)
        self.adds = best(gain, min(FEW, len(gain) - len(self.members)))
        self.G = self.W[self.rows] @ self.R[self.adds].T

    def table(self) -> tuple[Matrix, Vector]:
        """Rayleigh–Ritz values on span{x − xᵢeᵢ, eⱼ}, lower bounds of λmax after the exchange; (Ax)ⱼ beside them."""
        x = self.x[self.rows, None]
        Ax = self.R[self.adds] @ self.Cx
        rest = kept(self, self.rows, self.W[self.rows] @ self.Cx)
        cross = (Ax - self.G * x) / np.sqrt(np.maximum(1.0 - x * x, 1e-14))
        return larger_eigenvalue(rest[:, None], cross, self.s[self.adds]), Ax

    def once(self) -> bool:
        """Carry out the first of the best pairs that raises the value by more than 1e-12 of itself; is there one?"""
        if not len(self.adds):
            return False
        table, Ax = self.table()
        for flat in best(table.ravel(), TRIES):
            f, g = divmod(int(flat), len(self.adds))
            r, j = self.rows[f], self.adds[g]
            old, y = self.W[r].copy(), self.x.copy()
            self.W[r] = self.R[j]
            # the newcomer begins with what a power step would give it
            y[r] = Ax[g] / self.value if self.value > 0.0 else 1.0
            if not y.any():
                y[r] = 1.0
            y, Cy, value = climb(self.W, y, CLIMB)
            if value > self.value * (1.0 + 1e-12):
                self.x, self.Cx, self.value = y, Cy, value
                self.members[r], self.adds[g] = j, self.members[r]
                self.G[f] = self.R[self.adds] @ self.W[r]
                self.G[:, g] = self.W[self.rows] @ self.R[self.adds[g]]
                return True
            self.W[r] = old
        return False


def climb(W: Matrix, x: Vector, steps: int) -> tuple[Vector, Vector, float]:
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


def kept(search: Exchange, places: Index, Ax: Vector) -> Vector:
    """What x without one of its members is worth, for the members at the places given."""
    x = search.x[places]
    square = x * x
    return (search.value - 2.0 * x * Ax + square * search.s[search.members[places]]) / np.maximum(1.0 - square, 1e-14)


def larger_eigenvalue(p: Matrix | float, a: Matrix, r: Vector) -> Matrix:
    """The larger eigenvalue of [p a; a r], entry by entry."""
    half = 0.5 * (p - r)
    return 0.5 * (p + r) + np.sqrt(half * half + a * a)


def best(values: Vector, count: int) -> Index:
    """The positions of the largest values, at most `count`, in descending order; ties go to the lower position."""
    chosen = np.argpartition(-values, count - 1)[:count] if count < len(values) else np.arange(len(values))
    chosen = np.sort(chosen)
    return chosen[np.argsort(-values[chosen], kind="stable")]
