"""Both kernels deflated by each component found, as in Shawe-Taylor and Cristianini (2004): O(N²) per component.

The data matrix X (documents × features) becomes (I − ppᵀ)X with p = Xu/‖Xu‖: what the score of
u knows of any feature is taken out. The covariances follow by updates of rank one and two, so
that no factor and no product of matrices is ever computed again.
"""

from __future__ import annotations

import math

import numpy as np

from ..._numerics.checks import Matrix, Vector
from .lasso import subtract_outer
from .pairs import Pairs, canonical_pairs, ridged

RITZ = 40
"""The start of a component is sought in the span of so many dense pairs, those most correlated now."""


class DeflatedViews:
    """X, Y and their covariances XᵀX, YᵀY (without ridge), XᵀY, all deflated by the components so far.

    Given are the centred data, documents × features; they are divided by √N. κ = ridge × the mean
    variance of a view's features is added to XᵀX and YᵀY wherever they act as B.
    """

    def __init__(self, first: Matrix, second: Matrix, ridge: float) -> None:
        root = math.sqrt(len(first))
        self.X: Matrix = np.ascontiguousarray(first) / root
        self.Y: Matrix = np.ascontiguousarray(second) / root
        self.Sx: Matrix = self.X.T @ self.X
        self.Sy: Matrix = self.Y.T @ self.Y
        self.C: Matrix = self.X.T @ self.Y
        self.kx = ridge * float(np.trace(self.Sx)) / len(self.Sx)
        self.ky = ridge * float(np.trace(self.Sy)) / len(self.Sy)
        self.dense: Pairs = canonical_pairs(ridged(self.Sx, self.kx), ridged(self.Sy, self.ky), self.C)
        self._scores_x: Matrix = self.X @ self.dense.U
        self._scores_y: Matrix = self.Y @ self.dense.V

    def start(self) -> tuple[Vector, Vector, float]:
        """The leading pair of the deflated data within the span of the RITZ best dense pairs (Rayleigh–Ritz).

        Before the first deflation this is the leading pair itself.
        """
        shared = np.abs(np.einsum("ij,ij->j", self._scores_x, self._scores_y))
        best = np.argsort(-shared, kind="stable")[:RITZ]
        U, V = self.dense.U[:, best], self.dense.V[:, best]
        P, Q = self._scores_x[:, best], self._scores_y[:, best]
        pairs = canonical_pairs(P.T @ P + self.kx * (U.T @ U), Q.T @ Q + self.ky * (V.T @ V), P.T @ Q)
        return U @ pairs.U[:, 0], V @ pairs.V[:, 0], float(pairs.values[0])

    def deflate(self, u: Vector, v: Vector) -> None:
        """X ← (I − ppᵀ)X and Y ← (I − qqᵀ)Y with the unit scores p ∝ Xu, q ∝ Yv, and the covariances with them."""
        p, q = self.X @ u, self.Y @ v
        p, q = p / np.linalg.norm(p), q / np.linalg.norm(q)
        xp, yq, yp, xq = p @ self.X, q @ self.Y, p @ self.Y, q @ self.X
        subtract_outer(self.X, p, xp)
        subtract_outer(self.Y, q, yq)
        subtract_outer(self.Sx, xp, xp)
        subtract_outer(self.Sy, yq, yq)
        # (XᵀY)' = Xᵀ(I − ppᵀ)(I − qqᵀ)Y
        subtract_outer(self.C, xp, yp - float(p @ q) * yq)
        subtract_outer(self.C, xq, yq)
        subtract_outer(self._scores_x, p, p @ self._scores_x)
        subtract_outer(self._scores_y, q, q @ self._scores_y)
