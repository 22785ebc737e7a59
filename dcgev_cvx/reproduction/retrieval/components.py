"""Sparse canonical components one after the other: DC-CCA on two deflated kernels (Section 5.1).

A step alternates between the views. With v fixed, f is majorised in u by a weighted LASSO in the
metric of Bx, whose ρ is the one that leaves k nonzeros; then the same for v. ε falls from the size of
the loadings to a tenth of it. That settles the supports; the loadings are those of a stationary
point of (SGEV-A) for the deflated pencil with these supports, at ε = machine precision, and carry
its certificate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np

from ..._numerics.checks import (
    Index,
    Matrix,
    Vector,
    as_callback,
    as_indices,
    as_number,
    as_whole,
    expect,
    is_whole,
    listed,
    shown,
)
from ..._numerics.data_tables import read_table
from ...certificates import checked_k
from ...errors import InvalidParameter
from .deflated import DeflatedViews
from .lasso import lasso_near_k
from .stationary import stationary_pair
from .views import KernelView, expect_view

LARGEST_RIDGE = 1e12
RIDGE = 0.03
"""κ as a share of a view's mean variance."""
LEVELS = (1.0, 0.1)
"""ε relative to the largest loading."""
STEPS = 2
LASSO_TOL = 1e-2
EXHAUSTED = 1e-6
"""A deflated correlation below this is rounding: the rank is used up."""


@dataclass(frozen=True)
class Component:
    """One sparse pair: the training documents it looks at, their loadings, and what is known of it.

    correlation   uᵀCv in the deflated data, uᵀBxu = vᵀByv = 1
    rho           ρ̃ of the program (SGEV-A) of which it is a stationary point, at ε = machine precision
    stationarity  the certificate's KKT residual there, of the whole pencil and not of the support alone
    """

    rows: tuple[tuple[int, ...], tuple[int, ...]]
    loadings: tuple[tuple[float, ...], tuple[float, ...]]
    correlation: float
    rho: float
    stationarity: float
    seconds: float

    def vectors(self, p: int, q: int) -> tuple[Vector, Vector]:
        """(u, v) with their zeros, for views of p and q features.

        Raises InvalidParameter when the component looks at features that a view does not have.
        """
        u, v = np.zeros(as_whole(p, "p", high=10**9)), np.zeros(as_whole(q, "q", high=10**9))
        u[as_indices(self.rows[0], p, "rows[0]")] = self.loadings[0]
        v[as_indices(self.rows[1], q, "rows[1]")] = self.loadings[1]
        return u, v

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, for JSON."""
        return asdict(self)

    @staticmethod
    def from_dict(content: Mapping[str, Any]) -> Component:
        """The component that to_dict wrote; InvalidParameter for anything else."""
        try:
            rows, loadings = ((tuple(content[name][0]), tuple(content[name][1])) for name in ("rows", "loadings"))
            plain = {name: float(content[name]) for name in ("correlation", "rho", "stationarity", "seconds")}
            if list(map(len, rows)) != list(map(len, loadings)):
                raise ValueError("one loading per row")
        except Exception as cause:  # whatever a file may hold instead
            raise InvalidParameter(f"content = {shown(content)} is not what Component.to_dict writes.") from cause
        return Component(rows, loadings, **plain)


def sparse_cca(
    first: KernelView,
    second: KernelView,
    d: int,
    *,
    zeros: float = 0.88,
    ridge: float = RIDGE,
    known: Sequence[Component] = (),
    callback: Callable[[Component], Any] | None = None,
) -> tuple[Component, ...]:
    """d sparse components of two kernels, a share of at least `zeros` zero loadings in each (Section 5.1).

    Parameters
    ----------
    first, second
        The two views of the training documents, from `kernel_views`.
    d
        The number of components, at most the rank of the cross-covariance. Component j does not depend on d.
    zeros
        The share of zero loadings, below 1: at 0.88 a component looks at 12 % of the documents in each language.
    ridge
        κ > 0, added to both covariances.
    known
        The components of an earlier run with the same settings: they are deflated, not sought again.
    callback
        Called with each new component, so that a long run can be kept.

    Examples
    --------
    >>> from dcgev_cvx.reproduction.planted_text import planted_translations
    >>> from dcgev_cvx.reproduction.retrieval import kernel_views, sparse_cca
    >>> views = kernel_views(planted_translations(documents=40, rng=0))
    >>> [(len(c.rows[0]), c.stationarity < 1e-8) for c in sparse_cca(*views, 2, zeros=0.8)]
    [(8, True), (8, True)]
    """
    share = as_number(zeros, "zeros")
    if share >= 1.0:
        raise InvalidParameter(f"zeros = {share:g} must lie below 1: it is the share of zero loadings.")
    expect_view(second, "second")
    k = max(1, math.floor((1.0 - share) * expect_view(first, "first").n + 1e-9))
    return sparse_pairs(first.K, second.K, d, (k, k), ridge=ridge, known=known, callback=callback)


def sparse_pairs(
    X: Matrix,
    Y: Matrix,
    d: int,
    ks: tuple[int, int],
    *,
    ridge: float = RIDGE,
    known: Sequence[Component] = (),
    callback: Callable[[Component], Any] | None = None,
) -> tuple[Component, ...]:
    """d sparse canonical pairs of centred data X and Y with at most ks[0] and ks[1] nonzeros, deflated in between.

    X and Y have the same rows, one a sample. ridge, known and callback are those of `sparse_cca`, which calls this
    with two kernels.
    """
    first, second = read_table(X), read_table(Y, "Y")
    if first.m != second.m:
        raise InvalidParameter(f"X has {first.m} rows but Y has {second.m}: row i of both must be the same sample.")
    wanted, before, listener = listed(ks), listed(known), as_callback(callback, "callback")
    if len(wanted) != 2:
        raise InvalidParameter(f"ks = {shown(ks)} must give two cardinalities, one per view.")
    if not before and not isinstance(known, (list, tuple)):
        raise InvalidParameter(f"known = {shown(known)} must list the components of an earlier run.")
    sizes = (checked_k(wanted[0], first.n), checked_k(wanted[1], second.n))
    views = DeflatedViews(first.X, second.X, as_number(ridge, "ridge", strict=True, high=LARGEST_RIDGE))
    refuse_rank(d, views.dense.rank)
    found = [expect(component, Component, "known", "the components of an earlier run") for component in before[:d]]
    for component in found:
        views.deflate(*component.vectors(first.n, second.n))
    while len(found) < d:
        component = next_component(views, sizes, len(found))
        found.append(component)
        views.deflate(*component.vectors(first.n, second.n))
        if listener is not None:
            listener(component)
    return tuple(found)


def refuse_rank(d: int, rank: int) -> None:
    """1 ≤ d ≤ rank, a whole number."""
    if not is_whole(d) or not 1 <= d <= rank:
        raise InvalidParameter(
            f"d = {shown(d)} components were asked for: d must be a whole number between 1 and {rank}, the rank of "
            "the cross-covariance of the two kernels."
        )


def next_component(views: DeflatedViews, ks: tuple[int, int], j: int) -> Component:
    """The next pair of the deflated views, certified."""
    begin = perf_counter()
    u, v, shared = views.start()
    if shared <= EXHAUSTED:
        raise InvalidParameter(f"Nothing is left to correlate after {j} component(s): ask for d = {j} at most.")
    pair = stationary_pair(views, *supports(views, ks, u, v))
    return Component(
        rows=(tuple(map(int, pair.a)), tuple(map(int, pair.b))),
        loadings=(tuple(map(float, pair.u)), tuple(map(float, pair.v))),
        correlation=pair.correlation,
        rho=pair.rho,
        stationarity=pair.stationarity,
        seconds=perf_counter() - begin,
    )


def supports(views: DeflatedViews, ks: tuple[int, int], u: Vector, v: Vector) -> tuple[Index, Index]:
    """At most ks[0] and ks[1] features, by alternating LASSO steps from (u, v) with falling ε."""
    zu, qu, zv, qv = np.zeros_like(u), np.zeros_like(u), np.zeros_like(v), np.zeros_like(v)
    rho_u = rho_v = 0.0
    for level in LEVELS:
        for _ in range(STEPS):
            u, rho_u = view_step(views.Sx, views.kx, views.C @ v, u, level, ks[0], (zu, qu), rho_u)
            v, rho_v = view_step(views.Sy, views.ky, u @ views.C, v, level, ks[1], (zv, qv), rho_v)
    return np.flatnonzero(largest(u, ks[0])), np.flatnonzero(largest(v, ks[1]))


def view_step(
    S: Matrix, ridge: float, c: Vector, y: Vector, level: float, k: int, warm: tuple[Vector, Vector], rho: float
) -> tuple[Vector, float]:
    """One view's MM step from y: argmin zᵀBz − 2cᵀz + ρ Σ |zᵢ|/(|yᵢ| + ε) scaled to unit B norm (Eq:weighted)."""
    size = np.abs(y)
    weights = 1.0 / (size + level * float(np.max(size)))
    z, q = warm
    rho = float(lasso_near_k(S, ridge, c, weights, k, z, q, rho, LASSO_TOL))
    norm = math.sqrt(max(0.0, float(z @ q + ridge * (z @ z))))
    return (z / norm, rho) if norm > 0.0 else (y, rho)


def largest(z: Vector, k: int) -> Vector:
    """Z with all but its k largest entries set to zero."""
    if np.count_nonzero(z) <= k:
        return z
    kept = np.zeros_like(z)
    order = np.argsort(-np.abs(z), kind="stable")[:k]
    kept[order] = z[order]
    return kept
