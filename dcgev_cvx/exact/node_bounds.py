"""Proved upper bounds at a node of the search tree: variables are in, out or still free (beyond the paper).

A dual (U, a) of the pairwise relaxation stays one on every principal sub-pencil. One relaxation at the root therefore
bounds every node, for one small eigenvalue problem each.
"""

from dataclasses import dataclass

import numpy as np

from .._numerics.checks import Index, Matrix, Vector
from .._numerics.proofs import lambda_max_bound, leading_pair
from ..relaxations.pairwise import PairDual, charges


@dataclass(frozen=True)
class Node:
    """The supports that contain `included` and lie in included ∪ free; `branch` is the free variable to decide next.

    `bound` is proved to be at least the value of each of these supports.
    """

    bound: float
    included: Index
    free: Index
    branch: int

    @property
    def children(self) -> tuple[tuple[Index, Index], tuple[Index, Index]]:
        """(included, free) of the two children, which partition the node's supports: branch in, branch out."""
        rest = self.free[self.free != self.branch]
        return (np.append(self.included, self.branch), rest), (self.included, rest)


@dataclass(frozen=True)
class NodeBounds:
    """Two bounds at the nodes of a scaled pencil; B is None for the identity.

    `dual` belongs to the variables `kept`, in ascending order; None without a relaxation.

    `dual_bound` is the sharper one; `interlacing` needs no dual, and its vector suggests the next support.
    """

    A: Matrix
    B: Matrix | None
    k: int
    dual: PairDual | None = None
    kept: Index | None = None

    def dual_bound(self, included: Index, free: Index) -> tuple[float, Vector] | None:
        """λmax of A + U + Diag(r) on T = I ∪ F with U_II = 0 and the charges r of the node's supports.

        The proof is that of `relaxations.pairwise`, without the pairs in I, which are known to be in the support; for
        I = ∅ it is the pairwise bound. Knowing I never hurts: on I the matrix falls by U_II + Diag(Σ_{j∈I} aᵢⱼ) at
        least, a sum of the 2 × 2 matrices [[aᵢⱼ, Uᵢⱼ], [Uᵢⱼ, aⱼᵢ]] ⪰ 0.
        """
        if self.dual is None:
            return None
        allowed, p = np.concatenate([included, free]), len(included)
        A = self.A[np.ix_(allowed, allowed)]
        dual = self.dual[allowed if self.kept is None else np.searchsorted(self.kept, allowed)]
        U, r = dual.U, np.diag(charges(dual.a, p, self.k - p))
        U[:p, :p] = 0.0
        return self.leading(A + U + r, np.abs(A) + np.abs(U) + r, allowed)

    def interlacing(self, allowed: Index) -> tuple[float, Vector]:
        """λmax((A, B)_TT) and its vector: no support inside T can do better (Cauchy's interlacing)."""
        A = self.A[np.ix_(allowed, allowed)]
        return self.leading(A, np.abs(A), allowed)

    def leading(self, M: Matrix, size: Matrix, allowed: Index) -> tuple[float, Vector]:
        """A proved bound on λmax(M, B_TT), and its vector; size as in `lambda_max_bound`."""
        B = None if self.B is None else self.B[np.ix_(allowed, allowed)]
        lead = leading_pair(M, B)
        return lambda_max_bound(M, B, size, lead), lead[1]
