"""Penalties Σ φ(|xᵢ|) with φ concave and rising, and the cardinality that they approximate (Section 3.1).

MM replaces φ by its tangent at |yᵢ|, which lies above it because φ is concave: the slopes are all that a step needs.
Any object with the three methods of `Penalty` can be passed wherever a penalty is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ._numerics.checks import Vector, as_number, as_real, shown
from ._numerics.last_results import LastResults
from .errors import InvalidParameter


class Penalty(Protocol):
    """A function Σ φ(|xᵢ|) with φ concave and rising: f contains coefficient(ρ̃, ε)·value(x, ε)."""

    def coefficient(self, rho: float, eps: float) -> float:
        """The factor before the value, ρ_ε in the paper; 0 for ρ̃ = 0."""
        ...

    def value(self, x: Vector, eps: float) -> float:
        """Σ φ(|xᵢ|)."""
        ...

    def weights(self, y: Vector, eps: float) -> Vector:
        """φ'(|yᵢ|), the slopes in |x|: at least 0, and finite at 0, where φ' is the slope to the right."""
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


@dataclass(frozen=True)
class MCP:
    """The minimax concave penalty of Zhang (2010): t − t²/2w up to the width w, and w/2 from there on.

    Beyond the paper. Its slope falls from 1 at zero to 0 at the width w: entries beyond w are not shrunk at all. The
    coefficient 2ρ̃/w makes ρ̃ the price of an entry beyond w. ε plays no part.

    Parameters
    ----------
    width : float
        w > 0, in the units of x.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import MCP
    >>> MCP(width=0.5).weights(np.array([0.0, 0.25, 0.9]), eps=0.1)
    array([1. , 0.5, 0. ])
    """

    width: float = 0.5

    def __post_init__(self) -> None:
        as_number(self.width, "width", strict=True)

    def coefficient(self, rho: float, eps: float) -> float:
        """2ρ̃/w."""
        return 2.0 * rho / self.width

    def value(self, x: Vector, eps: float) -> float:
        """Σ φ(|xᵢ|)."""
        t = np.minimum(np.abs(x), self.width)
        return float((t - 0.5 * t * t / self.width).sum())

    def weights(self, y: Vector, eps: float) -> Vector:
        """[1 − |yᵢ|/w]₊."""
        return np.maximum(0.0, 1.0 - np.abs(y) / self.width)


@dataclass(frozen=True)
class SCAD:
    """The smoothly clipped absolute deviation of Fan and Li (2001), of slope 1 up to w/a and 0 from w on.

    Beyond the paper. Between w/a and w the slope falls linearly. The coefficient makes ρ̃ the price of an entry beyond
    w. ε plays no part.

    Parameters
    ----------
    width : float
        w > 0, in the units of x.
    a : float
        a > 1; 3.7 is the choice of Fan and Li.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import SCAD
    >>> SCAD(width=0.4, a=4.0).weights(np.array([0.0, 0.1, 0.25, 0.9]), eps=0.1)
    array([1. , 1. , 0.5, 0. ])
    """

    width: float = 0.5
    a: float = 3.7

    def __post_init__(self) -> None:
        as_number(self.width, "width", strict=True)
        as_number(self.a, "a", low=1.0, strict=True)

    def coefficient(self, rho: float, eps: float) -> float:
        """ρ̃ divided by φ(w) = (w/a)(a + 1)/2."""
        return 2.0 * rho * self.a / (self.width * (self.a + 1.0))

    def value(self, x: Vector, eps: float) -> float:
        """Σ φ(|xᵢ|): |xᵢ| minus what the falling slope takes off beyond w/a."""
        t, knee = np.minimum(np.abs(x), self.width), self.width / self.a
        return float((t - 0.5 * np.maximum(0.0, t - knee) ** 2 / (self.width - knee)).sum())

    def weights(self, y: Vector, eps: float) -> Vector:
        """1, falling from w/a on, 0 from w on."""
        return np.clip((self.width - np.abs(y)) / (self.width - self.width / self.a), 0.0, 1.0)


@dataclass(frozen=True)
class LqPenalty:
    """Σ (|xᵢ| + ε)^q with 0 < q < 1: ℓq, smoothed at zero (beyond the paper).

    The slope at zero, qε^(q−1), is finite for ε > 0 only. Between log (q → 0) and ℓ1 (q → 1).

    Parameters
    ----------
    q : float
        The exponent, between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx import LqPenalty
    >>> LqPenalty(q=0.5).weights(np.array([0.0, 0.24]), eps=0.01)
    array([5., 1.])
    """

    q: float = 0.5

    def __post_init__(self) -> None:
        if not as_number(self.q, "q", strict=True) < 1.0:
            raise InvalidParameter(f"q = {self.q:g} must lie between 0 and 1: use L1Penalty() for q = 1.")

    def coefficient(self, rho: float, eps: float) -> float:
        """ρ̃ divided by (1 + ε)^q − ε^q, so that an entry of 1 costs ρ̃."""
        return rho / ((1.0 + eps) ** self.q - eps**self.q)

    def value(self, x: Vector, eps: float) -> float:
        """Σ (|xᵢ| + ε)^q."""
        return float(((np.abs(x) + eps) ** self.q).sum())

    def weights(self, y: Vector, eps: float) -> Vector:
        """q(|yᵢ| + ε)^(q−1)."""
        return self.q * (np.abs(y) + eps) ** (self.q - 1.0)


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


class PricedPenalty:
    """ρ_ε Σ φ(|xᵢ|), or with ν_ε: a penalty with its price and ε, as it stands in f."""

    def __init__(self, penalty: Penalty | None, price: float, eps: float, letter: str, n: int) -> None:
        self._values: LastResults[float] = LastResults()
        self._slopes: LastResults[Vector] = LastResults()
        self.eps = as_eps(eps)
        self.penalty = as_penalty(penalty, self.eps)
        self.coefficient = checked_coefficient(self.penalty, price, self.eps)
        with np.errstate(over="ignore"):
            self.value_at_zero = self.value(np.zeros(1))
            self.slope_at_zero = float(self.slopes(np.zeros(1))[0])
        if not math.isfinite(n * max(abs(self.value_at_zero), abs(self.slope_at_zero))):
            raise InvalidParameter(
                f"{letter} = {price:g} is too large at eps = {eps:g}: the slope of the penalty at 0 overflows. "
                f"Lower {letter} or raise eps."
            )

    def value(self, x: Vector) -> float:
        """ρ_ε Σ φ(|xᵢ|)."""
        return self._values.of(x, lambda x: self.coefficient * self.penalty.value(x, self.eps))

    def slopes(self, y: Vector) -> Vector:
        """pᵢ = ρ_ε φ'(|yᵢ|)."""
        return self._slopes.of(y, lambda y: self.coefficient * self.penalty.weights(y, self.eps))

    def tangent(self, x: Vector, y: Vector) -> float:
        """The tangent of the penalty in |x| at |y|, which lies above it because φ is concave (Eq:log)."""
        return self.value(y) + float(self.slopes(y) @ (np.abs(x) - np.abs(y)))

    def size(self, x: Vector) -> float:
        """The sum of the moduli of the penalty's terms."""
        return len(x) * abs(self.value_at_zero) + abs(self.value(x))


PROBES = np.array([0.0, *np.geomspace(1e-12, 1e3, 46)])
"""Values of |x| at which a penalty that somebody else wrote is looked at."""
OURS = (LogPenalty, L1Penalty, ExponentialPenalty, MCP, SCAD, LqPenalty)


def as_penalty(penalty: Any, eps: float) -> Penalty:
    """The penalty, or the paper's for None; one of another class is checked for slopes that MM can use."""
    if penalty is None:
        return LogPenalty()
    if isinstance(penalty, OURS):
        return penalty
    methods = [getattr(penalty, name, None) for name in ("coefficient", "value", "weights")]
    if isinstance(penalty, type) or not all(map(callable, methods)):
        raise InvalidParameter(
            f"penalty must be LogPenalty(), L1Penalty(), ExponentialPenalty(), MCP(), SCAD(), LqPenalty() or an object "
            f"with the methods coefficient, value and weights; got {shown(penalty)}."
        )
    check_tangents(penalty, eps)
    return penalty


def checked_coefficient(penalty: Penalty, price: float, eps: float) -> float:
    """The factor before the penalty, a number of at least 0; infinity is reported as a price that is too large."""
    found: Any = penalty.coefficient(price, eps)
    if not isinstance(found, (int, float, np.number)) or not found >= 0.0:
        call = f"{type(penalty).__name__}.coefficient({price:g}, {eps:.3g})"
        raise InvalidParameter(f"{call} must return a number of at least 0; got {shown(found)}.")
    return float(found)


def check_tangents(penalty: Penalty, eps: float) -> None:
    """Raise where a slope is negative or no finite number, or where a tangent does not lie above the penalty."""
    name = type(penalty).__name__
    with np.errstate(all="ignore"):  # what divides by zero is reported below
        found: Any = penalty.weights(PROBES.copy(), eps)
        values = [penalty.value(np.array([t]), eps) for t in PROBES]
    if not isinstance(found, np.ndarray) or found.shape != PROBES.shape or found.dtype.kind not in "fiu":
        raise InvalidParameter(f"{name}.weights(y, eps) must return an array of numbers like y; got {shown(found)}.")
    for value in values:
        if not isinstance(value, (int, float, np.number)) or not math.isfinite(value):
            raise InvalidParameter(f"{name}.value(x, eps) must return one finite number; got {shown(value)}.")
    slopes = np.asarray(found, dtype=np.float64)
    for t, slope in zip(PROBES, slopes, strict=True):
        if not 0.0 <= slope < np.inf:
            raise InvalidParameter(
                f"the slope of {name} at |x| = {t:.3g} is {slope:.3g} (eps = {eps:.3g}). MM needs slopes that are at "
                "least 0 and finite, also at 0."
            )
    phi = np.array(values, dtype=np.float64)
    rises = slopes[:, None] * (PROBES - PROBES[:, None])
    excess = phi - (phi[:, None] + rises)
    noise = 1e-9 * (np.abs(phi) + np.abs(phi[:, None]) + np.abs(rises))
    for i, j in np.argwhere(excess > noise):
        raise InvalidParameter(
            f"the tangent of {name} at |x| = {PROBES[i]:.3g}, of slope {slopes[i]:.3g}, lies {excess[i, j]:.3g} below "
            f"it at |x| = {PROBES[j]:.3g} (eps = {eps:.3g}). MM needs a concave function of |x| and its derivative."
        )
