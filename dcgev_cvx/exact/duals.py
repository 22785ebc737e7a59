"""Upper bounds on whole families of supports, each from one dual matrix (beyond the paper).

A family holds the supports that contain `included` and fill the budget with variables of `free`. Let S = λB − A on
included ∪ free, U symmetric and a ≥ 0 with Uᵢⱼ² ≤ aᵢⱼaⱼᵢ, U = 0 within `included`, and rᵢ at least Σⱼ aᵢⱼ over the
partners that i has in any support of the family, without pairs within `included`. If S − U − Diag(r) ⪰ 0, no support
of the family exceeds λ. The proof is that of `relaxations.pairwise`; the pairs within `included` are in every support,
and need not be cancelled. U = 0 is Cauchy's interlacing.

A dual stays one on every part of its variables, so that one relaxation bounds every node of the search tree.
"""

from __future__ import annotations

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Index, Matrix, Vector
from .._numerics.deadline import Deadline
from .._numerics.proofs import TINY, is_definite, lambda_max_bound, leading_pair
from ..budgets import Budget
from ..relaxations.pairwise import PairDual, charges

DIGITS = 11
"""Decimal digits of a charge: what they change in a bound is below the 1e-10 at which nodes are closed."""
SLACK = 0.999
"""The share of a row's diagonal that is given away as charges: the rest pays for rounding."""


class Core:
    """What extends a dual on the variables `inner` to others: what each of the others can pay, at a level λ."""

    def __init__(self, level: float, inner: Index, allowances: Vector) -> None:
        self.level, self.inner, self.allowances = level, inner, allowances


class StoredDual:
    """Charges a ≥ 0 and signs for the pairs of some variables, in ascending order; U = ±√(aᵢⱼaⱼᵢ), rounded down.

    The search works with the numbers that a proof file holds: `stored`, `extended` and `row_sums` make them.
    """

    def __init__(self, variables: Index, a: Matrix, signs: Matrix, core: Core | None = None) -> None:
        products = a * a.T
        limit = np.where(products >= TINY, np.sqrt(products) * (1.0 - 4.0 * UNIT_ROUNDOFF), 0.0)
        self.variables, self.a, self.U, self.core = variables, a, signs * limit, core

    def restrict(self, variables: Index) -> StoredDual:
        """The same on some of its variables."""
        rows = np.ix_(*[np.searchsorted(self.variables, variables)] * 2)
        return StoredDual(variables, self.a[rows], np.sign(self.U[rows]))


def stored(dual: PairDual, variables: Index) -> StoredDual:
    """A dual with few digits. Charges that |U| = √(aᵢⱼaⱼᵢ) does not need are dropped, which only helps."""
    products = dual.a * dual.a.T
    needed = np.abs(dual.U) / np.sqrt(np.where(products >= TINY, products, np.inf))
    return StoredDual(variables, decimals(dual.a * np.minimum(needed, 1.0)), np.sign(dual.U))


def decimals(a: Matrix) -> Matrix:
    """Numbers with at most DIGITS decimal digits; whole numbers divided by powers of ten, which print as they are."""
    with np.errstate(divide="ignore"):
        places = DIGITS - 1 - np.floor(np.log10(a))
    # 10²² is the largest power of ten that floating point holds exactly
    scale = 10.0 ** np.clip(places, 0, 22)
    return np.rint(a * scale) / scale


def extended(A: Matrix, B: Matrix, k: int, level: float, inner: StoredDual) -> StoredDual | None:
    """A dual on some variables W made one on all: other pairs are cancelled at a level λ and charged as rows can pay.

    U = λB − A on these pairs. A row j outside W pays eⱼ for each pair with W, which leaves Uᵢⱼ²/eⱼ to the row in W;
    pairs outside W cost both rows |Uᵢⱼ|, as in Gershgorin's theorem. None where a row cannot pay.
    """
    W = inner.variables
    Z = np.setdiff1d(np.arange(len(A)), W)
    e = allowances(level, A, B, k, Z)
    if np.any(e <= 0.0):
        return None
    S = level * B - A
    a = np.abs(S)
    a[np.ix_(W, Z)], a[np.ix_(Z, W)] = S[np.ix_(W, Z)] ** 2 / e, np.broadcast_to(e[:, None], (len(Z), len(W)))
    signs = np.sign(S)
    a[np.ix_(W, W)], signs[np.ix_(W, W)] = inner.a, np.sign(inner.U)
    np.fill_diagonal(a, 0.0)
    return StoredDual(np.arange(len(A)), a, signs, Core(level, W, e))


def row_sums(A: Matrix, B: Matrix, level: float) -> StoredDual:
    """Gershgorin's theorem on supports as a dual: every pair is cancelled at a level λ, nothing is inner."""
    nobody = np.empty(0, dtype=np.intp)
    S = level * B - A
    np.fill_diagonal(S, 0.0)
    return StoredDual(np.arange(len(A)), np.abs(S), np.sign(S), Core(level, nobody, np.ones(len(A))))


def allowances(level: float, A: Matrix, B: Matrix, k: int, Z: Index) -> Vector:
    """The largest charge that every row of Z can pay for each pair with a variable outside Z, or below zero for none.

    Row j pays t such pairs and its k − 1 − t largest |Sⱼₗ| within Z from Sⱼⱼ, S = λB − A, whatever t is.
    """
    S = level * B[np.ix_(Z, Z)] - A[np.ix_(Z, Z)]
    diagonal = SLACK * np.diagonal(S)
    np.fill_diagonal(S, 0.0)
    largest = -np.sort(-np.partition(np.abs(S), len(Z) - k + 1, axis=1)[:, len(Z) - k + 1 :], axis=1)
    sums = np.cumsum(np.pad(largest, ((0, 0), (1, 0))), axis=1)  # of the 0 … k − 1 largest
    room = (diagonal[:, None] - sums[:, :-1]) / np.arange(k - 1, 0, -1)
    return np.minimum(np.min(room, axis=1), diagonal - sums[:, -1])


class FamilyBounds:
    """The bounds of one scaled problem; B is None for the identity."""

    def __init__(self, A: Matrix, B: Matrix | None, budget: Budget) -> None:
        self.A, self.B, self.budget = A, B, budget

    def bound(self, dual: StoredDual | None, included: Index, free: Index) -> tuple[float, Vector]:
        """The smallest λ that a dual proves for a family, None for U = 0, and the vector that attains λmax."""
        allowed, left = np.concatenate([included, free]), self.budget.restrict(free, included)
        M, size = self.charged(dual, allowed, len(included), left)
        B = None if self.B is None else self.B[np.ix_(allowed, allowed)]
        lead = leading_pair(M, B)
        return lambda_max_bound(M, B, size, lead), lead[1]

    def charged(self, dual: StoredDual | None, allowed: Index, p: int, left: Budget) -> tuple[Matrix, Matrix]:
        """A + U + Diag(r) on a family's variables, the first p included, and the moduli of the summands."""
        A = self.A[np.ix_(allowed, allowed)]
        if dual is None:
            return A, np.abs(A)
        rows = np.ix_(*[np.searchsorted(dual.variables, allowed)] * 2)
        U = dual.U[rows]
        r = np.diag(charges(dual.a[rows], p, left))
        U[:p, :p] = 0.0
        return A + U + r, np.abs(A) + np.abs(U) + r


class Screening:
    """Variables that no better support contains, by one dual at a level λ.

    The supports that hold at least one variable of a set Z are bounded together: the partners of a row outside Z
    include one of Z, so that its largest sum may lose its smallest summand to the best of Z. Where the rest is proved
    as for any family, no such support exceeds λ, and all of Z can be removed.
    """

    def __init__(self, bounds: FamilyBounds, dual: StoredDual, level: float) -> None:
        self.budget, self.level, self.a = bounds.budget.restrict(dual.variables), level, dual.a
        rows = np.ix_(dual.variables, dual.variables)
        A, self.B = bounds.A[rows], np.eye(len(rows[0])) if bounds.B is None else bounds.B[rows]
        self.charges: Vector = charges(dual.a, 0, self.budget)
        self.M, self.size = A + dual.U, np.abs(A) + np.abs(dual.U) + np.diag(self.charges)
        self.last = last_charges(dual.a, self.budget)

    def kept(self, weights: Vector, deadline: Deadline) -> Index:
        """The variables that are left: the k, 2k, 4k, … of the largest weight, as soon as all others are excluded."""
        best = self.budget.largest(weights)
        others = np.argsort(-weights, kind="stable")
        order, size = np.concatenate([best, others[~np.isin(others, best)]]), len(best)
        while size < len(order) and not self.excluded(order[size:]):
            size = len(order) if deadline.passed else 2 * size
        return np.sort(order[:size])

    def excluded(self, Z: Index) -> bool:
        """Is every support with a variable of Z proved not to exceed λ?"""
        return is_definite(self.level, self.M + np.diag(self.charges_with(Z)), self.B, self.size)

    def charges_with(self, Z: Index) -> Vector:
        """The charges of the supports that hold a variable of Z: one of the partners of a row is in Z."""
        saved = self.charges.copy()
        for g in np.unique(self.budget.labels[Z]):
            best_of_Z = np.max(self.a[:, Z[self.budget.labels[Z] == g]], axis=1)
            saved = np.minimum(saved, np.maximum(0.0, self.last[:, g] - best_of_Z))
        saved[Z] = 0.0  # a row of Z may be the only one of Z in the support
        return self.charges - saved  # `charges` rounds its sums up by more than this difference rounds


def last_charges(a: Matrix, budget: Budget) -> Matrix:
    """For every row and group the smallest summand of the largest sum; inf where the row has no partner there."""
    last = np.full((len(a), len(budget.counts)), np.inf)
    for g, (group, k) in enumerate(zip(budget.groups, budget.counts, strict=True)):
        own = budget.labels == g
        for rows, m in ((own, k - 1), (~own, k)):
            if m > 0 and np.any(rows):
                part = a[np.ix_(rows, group)]
                last[rows, g] = np.partition(part, len(group) - m, axis=1)[:, len(group) - m]
    return last
