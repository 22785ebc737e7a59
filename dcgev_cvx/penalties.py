"""Penalties Σ φ(|xᵢ|) with φ concave, and the cardinality that they approximate (Section 3.1).

Each has the three methods of `Penalty`; any object with these three may take their place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ._numerics.checks import Vector, as_number, as_real, shown
from .errors import InvalidParameter


class Penalty(Protocol):
    """A function Σ φ(|xᵢ|) with φ concave: its value, and the slopes of its tangent in |x|."""

    def coefficient(self, rho: float, eps: float) -> float:
        """The factor before the value, ρ_ε in the paper."""
        ...

    def value(self, x: Vector, eps: float) -> float:
        """Σ φ(|xᵢ|)."""
        ...

    def weights(self, y: Vector, eps: float) -> Vector:
        """φ'(|yᵢ|): the slope in |x|, positive everywhere, also at 0."""
        ...


@dataclass(frozen=True)
class LogPenalty:
    """Σ log(ε + |xᵢ|), the paper's penalty: a Student t prior (SGEV-A).

    Its slope 1/(|x| + ε) is 1/ε at zero and falls like 1/|x|, so that small entries are penalised strongly and large
    ones hardly.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import LogPenalty
    >>> LogPenalty().weights(np.array([0.0, 0.9]), eps=0.1)
    array([10.,  1.])
    """

    def coefficient(self, rho: float, eps: float) -> float:
        """ρ_ε = ρ̃ / log(1 + 1/ε)."""
        return rho_eps(rho, eps)

    def value(self, x: Vector, eps: float) -> float:
        """Σ log(ε + |xᵢ|)."""
        return float(np.log(eps + np.abs(x)).sum())

    def weights(self, y: Vector, eps: float) -> Vector:
        """wᵢ = 1/(|yᵢ| + ε) (Eq:log)."""
        return 1.0 / (np.abs(y) + eps)


@dataclass(frozen=True)
class L1Penalty:
    """Σ |xᵢ|, the penalty of SCoTLASS: it is its own majoriser, and ε plays no part (Eq:scotlass-regularized).

    Every entry has the same slope, so that large entries are shrunk as much as small ones.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import L1Penalty
    >>> L1Penalty().value(np.array([0.5, -2.0]), eps=0.1)
    2.5
    """

    def coefficient(self, rho: float, eps: float) -> float:
        """ρ."""
        return rho

    def value(self, x: Vector, eps: float) -> float:
        """‖x‖₁."""
        return float(np.abs(x).sum())

    def weights(self, y: Vector, eps: float) -> Vector:
        """1."""
        return np.ones_like(y)


@dataclass(frozen=True)
class ExponentialPenalty:
    """Σ (1 − exp(−α|xᵢ|)) with α = 1/ε, the penalty of Bradley and Mangasarian (Section 3.1).

    It is at most the cardinality. Entries beyond a few ε cost nothing more, so that ε should be of the size of the
    entries that count (0.1, not machine precision).

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import ExponentialPenalty
    >>> round(ExponentialPenalty().value(np.array([0.0, 1.0]), eps=0.1), 4)
    1.0
    """

    def coefficient(self, rho: float, eps: float) -> float:
        """ρ̃: the sum tends to the cardinality as ε → 0."""
        return rho

    def value(self, x: Vector, eps: float) -> float:
        """Σ (1 − exp(−|xᵢ|/ε))."""
        return -float(np.expm1(-np.abs(x) / eps).sum())

    def weights(self, y: Vector, eps: float) -> Vector:
        """exp(−|yᵢ|/ε)/ε, kept positive where the exponential underflows."""
        return np.maximum(np.exp(-np.abs(y) / eps) / eps, np.finfo(np.float64).tiny)


def card(x: Vector) -> int:
    """The cardinality ‖x‖₀, the number of nonzero entries; there is no tolerance (SGEV-P).

    Parameters
    ----------
    x : array_like
        Any real vector.

    Returns
    -------
    int
        The number of nonzeros.

    Examples
    --------
    >>> from dcgev_cvx import card
    >>> card([0.0, 2.0, -1e-300])
    2
    """
    return int(np.count_nonzero(as_real(x, "x", InvalidParameter)))


def card_eps(x: Vector, eps: float) -> float:
    """‖x‖_ε = Σ log(1 + |xᵢ|/ε) / log(1 + 1/ε), between ‖x‖₀ (ε → 0) and ‖x‖₁ (ε → ∞) (Eq:lim-cardinality).

    Parameters
    ----------
    x : array_like
        Any real vector.
    eps : float
        ε > 0.

    Returns
    -------
    float
        ‖x‖_ε.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import card_eps
    >>> x = np.array([0.0, 0.5, 2.0])
    >>> [round(card_eps(x, eps), 3) for eps in (1e6, 1.0, 1e-3, 1e-12, 1e-300)]
    [2.5, 2.17, 2.0, 2.0, 2.0]
    """
    eps = as_eps(eps)
    with np.errstate(divide="ignore"):  # log 0 = −∞ is right
        logs = np.log(np.abs(as_real(x, "x", InvalidParameter))) - math.log(eps)
    return float(np.logaddexp(0.0, logs).sum()) / log_scale(eps)


def rho_eps(rho: float, eps: float) -> float:
    """ρ_ε = ρ̃ / log(1 + 1/ε) (SGEV-A)."""
    return rho / log_scale(eps)


def log_scale(eps: float) -> float:
    """log(1 + 1/ε), without overflow for small ε and without cancellation for large ε."""
    return math.log1p(eps) - math.log(eps) if eps < 1.0 else math.log1p(1.0 / eps)


def as_eps(eps: Any) -> float:
    """ε, a positive number whose reciprocal is finite."""
    return as_number(as_number(eps, "eps", strict=True), "eps", low=1e-300, high=1e300)


def as_penalty(penalty: Any) -> Penalty:
    """The penalty, or the paper's for None."""
    if penalty is None:
        return LogPenalty()
    if isinstance(penalty, type) or not all(hasattr(penalty, name) for name in ("coefficient", "value", "weights")):
        raise InvalidParameter(
            f"penalty must be LogPenalty(), L1Penalty(), ExponentialPenalty() or an object with the methods "
            f"coefficient, value and weights; got {shown(penalty)}."
        )
    return penalty
