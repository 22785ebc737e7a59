"""Approximations of the cardinality and the slopes of their linear majorisers (Section 3.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ._numerics.checks import Vector, as_number, as_real, attribute, shown
from .errors import InvalidParameter

MACHINE_EPS = float(np.finfo(np.float64).eps)
SMALLEST_EPS, LARGEST_EPS = 1e-300, 1e300
"""1/ε must be a number."""


class Penalty(Protocol):
    """φ concave in abs(x): a value and the positive slopes of its tangent in abs(x)."""

    def coefficient(self, rho: float, eps: float) -> float:
        """The factor that stands before the value, ρ_ε in the paper."""
        ...

    def value(self, x: Vector, eps: float) -> float:
        """Σ φ(|xᵢ|)."""
        ...

    def weights(self, y: Vector, eps: float) -> Vector:
        """φ'(|yᵢ|): the slope in abs(x), positive everywhere, also at 0."""
        ...


def card(x: Vector) -> int:
    """‖x‖₀, the number of nonzero entries (SGEV-P). No tolerance: 1e-300 counts.

    >>> from dcgev_cvx import card
    >>> card([0.0, 2.0, -1e-300])
    2
    """
    return int(np.count_nonzero(as_real(x, "x", InvalidParameter)))


def as_eps(eps: Any) -> float:
    """ε, a number whose reciprocal is one too."""
    return as_number(as_number(eps, "eps", strict=True), "eps", low=SMALLEST_EPS, high=LARGEST_EPS)


def as_penalty(penalty: Any) -> Penalty:
    """The penalty if it is one, the paper's for None."""
    if penalty is None:
        return LogPenalty()
    wanted = ("coefficient", "value", "weights")
    if isinstance(penalty, type) or not all(callable(attribute(penalty, name)) for name in wanted):
        raise InvalidParameter(
            f"penalty = {shown(penalty)} is none: it is LogPenalty(), L1Penalty(), ExponentialPenalty(), or has "
            "the three methods coefficient, value and weights."
        )
    return penalty


def log_scale(eps: float) -> float:
    """log(1 + 1/ε), without overflow for the smallest ε and without cancellation for the largest."""
    return math.log1p(eps) - math.log(eps) if eps < 1.0 else math.log1p(1.0 / eps)


def log1p_ratio(a: Vector, eps: float) -> Vector:
    """log(1 + a/ε) for a ≥ 0, by the form that neither overflows nor cancels."""
    large = a > eps
    big = np.where(large, a, 1.0)
    small = np.where(large, 0.0, a)
    return np.where(large, np.log(big) + np.log1p(eps / big) - math.log(eps), np.log1p(small / eps))


def card_eps(x: Vector, eps: float) -> float:
    """‖x‖_ε = Σ log(1 + |xᵢ|/ε) / log(1 + 1/ε), between ‖x‖₀ (ε → 0) and ‖x‖₁ (ε → ∞) (Eq:lim-cardinality).

    Each term a_ε lies between 1 and a, and nearer to 1 the smaller ε is, so that ‖x‖_ε is a closer
    stand-in for the cardinality than ‖x‖₁ at every ε.

    >>> import numpy as np
    >>> x = np.array([0.0, 0.5, 2.0])
    >>> [round(card_eps(x, eps), 3) for eps in (1e6, 1.0, 1e-3, 1e-12, 1e-300)]
    [2.5, 2.17, 2.0, 2.0, 2.0]
    """
    eps = as_eps(eps)
    return float(np.sum(log1p_ratio(np.abs(as_real(x, "x", InvalidParameter)), eps))) / log_scale(eps)


def rho_eps(rho: float, eps: float) -> float:
    """ρ_ε = ρ̃ / log(1 + 1/ε) (SGEV-A)."""
    return rho / log_scale(eps)


@dataclass(frozen=True)
class LogPenalty:
    """Σ log(ε + |xᵢ|), the paper's choice: a Student t prior (SGEV-A).

    Its slope 1/(|x| + ε) is 1/ε at zero and falls like 1/|x|: small entries are pressed hard,
    large ones hardly. At ε = machine precision the slopes span sixteen orders of magnitude.
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
    """Σ |xᵢ|, the choice of SCoTLASS: its majoriser is itself, ε plays no part (Eq:scotlass-regularized).

    Every entry pays the same slope, so a zero can come back and large entries are shrunk as much
    as small ones: what the paper's penalty avoids.
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
    """Σ (1 − exp(−α|xᵢ|)) with α = 1/ε, the choice of Bradley and Mangasarian (Section 3.1).

    Bounded by the cardinality from below and above by n; entries beyond a few ε are free, so ε should be
    of the size of the entries that count (0.1, not machine precision).
    """

    def coefficient(self, rho: float, eps: float) -> float:
        """ρ̃: the sum tends to the cardinality by itself as ε → 0."""
        return rho

    def value(self, x: Vector, eps: float) -> float:
        """Σ (1 − exp(−|xᵢ|/ε))."""
        return -float(np.expm1(-np.abs(x) / eps).sum())

    def weights(self, y: Vector, eps: float) -> Vector:
        """exp(−|yᵢ|/ε)/ε, held above zero where the exponential underflows."""
        return np.maximum(np.exp(-np.abs(y) / eps) / eps, np.finfo(np.float64).tiny)
