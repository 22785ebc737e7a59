"""Variables that no optimal support contains, removed with a proof (beyond the paper).

The supports that hold at least one variable of a set Z are bounded together. A row outside Z has a partner in Z, so
that its charge (`relaxations.pairwise`) is the largest aᵢⱼ with j in Z and the k − 2 largest of the others, not the
k − 1 largest. Where λB − A − U − Diag(charges) ≻ 0 no such support reaches λ, and all of Z goes.
"""

import math
from time import perf_counter

import numpy as np

from .._numerics.checks import Index, Matrix, Vector
from .._numerics.proofs import is_definite
from ..pencils import Pencil
from ..relaxations.pairwise import PairDual, charges, pair_dual

SLACK = 0.999
"""The share of a row's diagonal that is given away as charges: the rest pays for rounding."""


class Screening:
    """The test for one pencil, one dual and one λ.

    `charges` are the sums of the k − 1 largest of every row, an upper bound on every charge, and `last` the smallest
    of these; `size` holds the moduli of all summands, for `is_definite`.
    """

    def __init__(self, A: Matrix, B: Matrix | None, k: int, dual: PairDual, lam: float) -> None:
        self.k: int = k
        self.a: Matrix = dual.a
        self.lam: float = lam
        self.M, self.B = A + dual.U, np.eye(len(A)) if B is None else B
        self.charges: Vector = charges(dual.a, 0, k)
        self.last: Vector = np.partition(dual.a, len(A) - k + 1, axis=1)[:, len(A) - k + 1]
        self.size: Matrix = np.abs(A) + np.abs(dual.U) + np.diag(self.charges)

    def kept(self, weights: Vector, deadline: float = math.inf) -> Index:
        """The variables that are left: the k, 2k, 4k, … of the largest weight, as soon as all others are excluded."""
        order, size = np.argsort(-weights, kind="stable"), self.k
        while size < len(order) and not self.excluded(order[size:]):
            size = 2 * size if perf_counter() < deadline else len(order)
        return np.sort(order[:size])

    def excluded(self, Z: Index) -> bool:
        """Is every support with a variable of Z proved to stay below λ?"""
        return is_definite(self.lam, self.M + np.diag(self.charges_with(Z)), self.B, self.size)

    def charges_with(self, Z: Index) -> Vector:
        """The charges of the supports that hold a variable of Z: one of the k − 1 others of a row is in Z."""
        saved = np.maximum(0.0, self.last - np.max(self.a[:, Z], axis=1))
        saved[Z] = 0.0  # a row of Z may be the only one of Z in the support
        return self.charges - saved  # `charges` rounds its sums up by more than this difference rounds


def promising(pencil: Pencil, k: int, lam: float, support: Index, size: int) -> Index | None:
    """The support and the least dominant rows of λB − A, `size` in all; None if more than that are not dominant."""
    room = allowance(lam, pencil, k, np.arange(pencil.n))
    room[support] = -np.inf
    if np.count_nonzero(room <= 0.0) > size:
        return None
    return np.sort(np.argsort(room, kind="stable")[:size])


def allowance(lam: float, pencil: Pencil, k: int, Z: Index) -> Vector:
    """The largest charge that every row of Z can pay for each pair with a variable outside Z, or below zero for none.

    Row j pays t such pairs and its k − 1 − t largest |Sⱼₗ| within Z from Sⱼⱼ, S = λB − A, whatever t is.
    """
    S = lam * pencil.B_sub(Z) - np.asarray(pencil.A)[np.ix_(Z, Z)]
    diagonal = SLACK * np.diagonal(S)
    np.fill_diagonal(S, 0.0)
    largest = -np.sort(-np.partition(np.abs(S), len(Z) - k + 1, axis=1)[:, len(Z) - k + 1 :], axis=1)
    sums = np.cumsum(np.pad(largest, ((0, 0), (1, 0))), axis=1)  # of the 0 … k − 1 largest
    room = (diagonal[:, None] - sums[:, :-1]) / np.arange(k - 1, 0, -1)
    return np.minimum(np.min(room, axis=1), diagonal - sums[:, -1])


def extended(pencil: Pencil, k: int, lam: float, W: Index, dual: PairDual) -> PairDual | None:
    """A dual on W made one on all variables: other pairs are cancelled at λ and charged as their rows can pay.

    U = λB − A on these pairs. A row j outside W pays eⱼ for each pair with W, which leaves Sᵢⱼ²/eⱼ to the row in W;
    pairs outside W cost both rows |Sᵢⱼ|, as in Gershgorin's theorem. None where a row cannot pay.
    """
    Z = np.setdiff1d(np.arange(pencil.n), W)
    e = allowance(lam, pencil, k, Z)
    if np.any(e <= 0.0):
        return None
    A, B = pencil.dense()
    U = lam * B - A
    a = np.abs(U)
    a[np.ix_(W, Z)], a[np.ix_(Z, W)] = U[np.ix_(W, Z)] ** 2 / e, np.broadcast_to(e[:, None], (len(Z), len(W)))
    U[np.ix_(W, W)], a[np.ix_(W, W)] = dual.U, dual.a
    return pair_dual(U, a, pencil.n)
