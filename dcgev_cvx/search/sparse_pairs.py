"""Sparse canonical pairs one after another: DC-CCA on two deflated views (Section 5.1).

1. Start: the leading pair of the deflated data within the span of 40 dense pairs.
2. Supports: with v fixed, f is majorised in u by a weighted LASSO in the metric of Bx, whose ρ is the one that leaves
   k nonzeros; then the same for v. ε falls from the size of the loadings to a tenth of it.
3. Loadings: a stationary point of (SGEV-A) for the deflated pencil with these supports, at ε = machine precision,
   with its certificate. It is found by Newton's method; MM would be slow, since canonical correlations are close.
4. Deflation as in Shawe-Taylor and Cristianini (2004), in O(N²).
"""

import math
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
from scipy.linalg import cholesky, solve_triangular, svd
from scipy.linalg.blas import dger  # pyright: ignore[reportAttributeAccessIssue]

from .._numerics.checks import UNIT_ROUNDOFF, Index, Matrix, Vector, as_number, as_whole
from .._numerics.selection import keep_largest, largest_first, parameter_for_count
from ..certificates import certify
from ..errors import InvalidParameter
from ..pencils import Pencil
from ..solutions import checked_k
from ..steps.kernels import weighted_lasso
from .matching_program import program_of, stationary_near

RIDGE = 0.03
"""The default of κ as a share of a view's mean variance."""


@dataclass(frozen=True)
class Component:
    """One sparse pair (u, v): the features in its supports and their loadings.

    correlation   uᵀCv in the deflated data, where uᵀBxu = vᵀByv = 1
    rho           ρ̃ of the program (SGEV-A) of which it is a stationary point, at ε = machine precision
    stationarity  the KKT residual there, of the whole pencil and not of the support alone
    """

    rows: tuple[Index, Index]
    loadings: tuple[Vector, Vector]
    correlation: float
    rho: float
    stationarity: float
    seconds: float = 0.0

    def vectors(self, p: int, q: int) -> tuple[Vector, Vector]:
        """(u, v) with their zeros, for views of p and q features."""
        u, v = np.zeros(p), np.zeros(q)
        u[self.rows[0]], v[self.rows[1]] = self.loadings
        return u, v


def sparse_pairs(X: Matrix, Y: Matrix, d: int, k: int, *, ridge: float = RIDGE) -> list[Component]:
    """d sparse canonical pairs of centred data X and Y, at most k nonzeros in each view, deflated in between.

    Parameters
    ----------
    X, Y
        Samples × features, row i of both being the same sample.
    d
        The number of pairs, at most the rank of XᵀY. Pair j does not depend on d.
    k
        The largest cardinality in each view.
    ridge
        κ > 0 as a share of a view's mean variance, added to its covariance.
    """
    p, q = X.shape[1], Y.shape[1]
    checked_k(k, min(p, q))
    views = DeflatedViews(X, Y, as_number(ridge, "ridge", strict=True))
    as_whole(d, "d, the number of components,", high=views.dense.rank)
    found: list[Component] = []
    while len(found) < d:
        begin = perf_counter()
        u, v, correlation = views.start()
        if correlation <= 1e-6:  # rounding: the rank is used up
            raise InvalidParameter(f"no correlation is left after d = {len(found)} component(s): ask for no more.")
        component = stationary_pair(views, *supports(views, k, u, v))
        found.append(replace(component, seconds=perf_counter() - begin))
        views.deflate(*component.vectors(p, q))
    return found


@dataclass(frozen=True)
class Pairs:
    """U and V with UᵀBxU = VᵀByV = I and UᵀCV = diag(values), largest first."""

    U: Matrix
    V: Matrix
    values: Vector

    @property
    def rank(self) -> int:
        """The number of pairs whose correlation is not rounding."""
        return int(np.count_nonzero(self.values > len(self.values) * UNIT_ROUNDOFF * max(1.0, self.values[0])))


def canonical_pairs(Bx: Matrix, By: Matrix, C: Matrix) -> Pairs:
    """Every canonical pair of (C, Bx, By) by whitening and one SVD: max uᵀCv s.t. uᵀBxu = vᵀByv = 1 (Eq:CCA)."""
    Lx, Ly = (cholesky(B, lower=True, check_finite=False) for B in (Bx, By))
    half = solve_triangular(Lx, C, lower=True, check_finite=False)
    whitened = solve_triangular(Ly, half.T, lower=True, check_finite=False).T
    P, values, Qt = svd(whitened, full_matrices=False, check_finite=False)
    U = solve_triangular(Lx, P, lower=True, trans=1, check_finite=False)
    V = solve_triangular(Ly, Qt.T, lower=True, trans=1, check_finite=False)
    return Pairs(U, V, values)


class DeflatedViews:
    """X, Y and their covariances Sx = XᵀX, Sy = YᵀY and C = XᵀY, deflated by the components found so far.

    X becomes (I − ppᵀ)X with p = Xu/‖Xu‖, and Y likewise; the covariances follow by updates of rank one and two, so
    that no factor and no product of matrices is computed again. The data, samples × features, are divided by √N. The
    ridge kx = κ × the mean variance of X is added to Sx wherever it acts as B, and ky to Sy.
    """

    def __init__(self, first: Matrix, second: Matrix, ridge: float) -> None:
        root = math.sqrt(len(first))
        self.X: Matrix = np.ascontiguousarray(first) / root
        self.Y: Matrix = np.ascontiguousarray(second) / root
        self.Sx: Matrix = self.X.T @ self.X
        self.Sy: Matrix = self.Y.T @ self.Y
        self.C: Matrix = self.X.T @ self.Y
        self.kx: float = ridge * float(np.trace(self.Sx)) / len(self.Sx)
        self.ky: float = ridge * float(np.trace(self.Sy)) / len(self.Sy)
        self.dense: Pairs = canonical_pairs(ridged(self.Sx, self.kx), ridged(self.Sy, self.ky), self.C)
        self._scores_x: Matrix = self.X @ self.dense.U
        self._scores_y: Matrix = self.Y @ self.dense.V

    def start(self) -> tuple[Vector, Vector, float]:
        """The leading pair within the span of the 40 dense pairs that are most correlated now (Rayleigh–Ritz)."""
        correlation = np.abs(np.einsum("ij,ij->j", self._scores_x, self._scores_y))
        best = largest_first(correlation, 40)
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


def subtract_outer(M: Matrix, a: Vector, b: Vector) -> None:
    """M −= abᵀ in place; M is stored by rows, which BLAS knows as the columns of Mᵀ."""
    dger(-1.0, b, a, a=M.T, overwrite_a=True)


def supports(views: DeflatedViews, k: int, u: Vector, v: Vector) -> tuple[Index, Index]:
    """At most k features of each view, by two alternating LASSO steps at each of two ε from (u, v)."""
    for eps in (1.0, 1.0, 0.1, 0.1):  # relative to the largest loading
        u = view_step(views.Sx, views.kx, views.C @ v, u, eps, k)
        v = view_step(views.Sy, views.ky, u @ views.C, v, eps, k)
    return np.flatnonzero(keep_largest(u, k)), np.flatnonzero(keep_largest(v, k))


def view_step(S: Matrix, ridge: float, c: Vector, y: Vector, eps: float, k: int) -> Vector:
    """One view's MM step from y: argmin zᵀBz − 2cᵀz + ρ Σ |zᵢ|/(|yᵢ| + ε) scaled to unit B norm (Eq:weighted).

    B = S + ridge·I. ρ is the one that leaves between 0.94k and k nonzeros.
    """
    size = np.abs(y)
    weights = 1.0 / (size + eps * float(np.max(size)))
    z, q = np.zeros((2, len(y)))  # q = Sz
    natural = float(np.max(c * c / (np.diagonal(S) + ridge)))

    def count(rho: float) -> int:
        weighted_lasso(S, ridge, 1.0, c, rho * weights, z, q, natural, 1e-2, 300)  # loose: only the support is used
        found = int(np.count_nonzero(z))
        return k if 0.94 * k <= found <= k else found

    parameter_for_count(count, k, 0.0, 2.0 * float(np.max(np.abs(c) / weights)))
    norm = math.sqrt(max(0.0, float(z @ q + ridge * (z @ z))))
    return z / norm if norm > 0.0 else y


def stationary_pair(views: DeflatedViews, a: Index, b: Index) -> Component:
    """The stationary point next to the leading pair of the sub-pencil on the supports a and b (SGEV-A).

    On the supports the residual is the certificate's. Off them it is max(0, |2μ(Bx)ᵢ − 2(Ax)ᵢ| − ρ_ε/ε) in the same
    units, which needs the rows of the supports only.
    """
    a, b = without_tiny_loadings(views, a, b)
    Bx, By, C = view_blocks(views, a, b)
    pairs = canonical_pairs(Bx, By, C)
    pencil = two_view_pencil(C, Bx, By)
    x, rho_eps = stationary_near(pencil, np.concatenate([pairs.U[:, 0], pairs.V[:, 0]]) / math.sqrt(2.0))
    program = program_of(pencil, rho_eps)
    p, q = x[: len(a)], x[len(a) :]
    mu = program.multiplier(x, program.gradient(x), program.slopes(x))
    off_a = slopes_off(views.Sx, views.C[:, b] @ q, a, p, mu)
    off_b = slopes_off(views.Sy, p @ views.C[a], b, q, mu)
    scale = float(np.max(np.abs(program.gradient(x)) / np.sqrt(pencil.B_diagonal)))
    outside = max(0.0, float(max(np.max(off_a), np.max(off_b))) - program.slopes(np.zeros(1))[0]) / scale
    u, v = p / math.sqrt(p @ Bx @ p), q / math.sqrt(q @ By @ q)
    stationarity = max(certify(program, x).stationarity, outside)
    return Component((a, b), (u, v), float(u @ C @ v), program.rho, stationarity)


def without_tiny_loadings(views: DeflatedViews, a: Index, b: Index) -> tuple[Index, Index]:
    """The supports without members whose loading in the leading pair is below 1e-4: no penalty would keep them."""
    Bx, By, C = view_blocks(views, a, b)
    pairs = canonical_pairs(Bx, By, C)
    strong_a = np.abs(pairs.U[:, 0]) * np.sqrt(np.diagonal(Bx)) > 1e-4
    strong_b = np.abs(pairs.V[:, 0]) * np.sqrt(np.diagonal(By)) > 1e-4
    return a[strong_a], b[strong_b]


def view_blocks(views: DeflatedViews, a: Index, b: Index) -> tuple[Matrix, Matrix, Matrix]:
    """(Bx, By, C) on the supports."""
    Bx = ridged(views.Sx[np.ix_(a, a)], views.kx)
    return Bx, ridged(views.Sy[np.ix_(b, b)], views.ky), views.C[np.ix_(a, b)]


def ridged(S: Matrix, ridge: float) -> Matrix:
    """S + ridge·I."""
    return S + ridge * np.eye(len(S))


def slopes_off(S: Matrix, Ax: Vector, support: Index, z: Vector, mu: float) -> Vector:
    """|2μ(Bx)ᵢ − 2(Ax)ᵢ| of one view's features off the support, 0 on it."""
    row = 2.0 * mu * (z @ S[support]) - 2.0 * Ax
    row[support] = 0.0
    return np.abs(row)


def two_view_pencil(C: Matrix, Bx: Matrix, By: Matrix) -> Pencil:
    """A = [0 C; Cᵀ 0], B = [Bx 0; 0 By] (Eq:CCA)."""
    p, q = C.shape
    A = np.block([[np.zeros((p, p)), C], [C.T, np.zeros((q, q))]])
    B = np.block([[Bx, np.zeros((p, q))], [np.zeros((q, p)), By]])
    return Pencil(A, B, blocks=(p, q))
