"""Where floating point ends, or memory: prices and sizes beyond which f, g or their slopes would be no numbers."""

from __future__ import annotations

import math

import numpy as np

from ..errors import InvalidParameter, InvalidPencil
from .checks import Vector

LARGEST = 140
"""Sizes lie between 1e-140 and 1e140, so that their squares and products are numbers."""


SDP_LIMIT = 250
"""The largest n for which an SDP is built without being forced."""


def refuse_large_sdp(n: int) -> None:
    """Refuse an SDP beyond SDP_LIMIT variables, with what it would cost.

    The estimates are a fit to measured runs: memory grows as n², SCS's time as n³ for a fixed number of iterations.
    They are meant to warn, not to predict.
    """
    if n <= SDP_LIMIT:
        return
    memory, minutes = 1e-9 * 1200.0 * n * n * 8.0 / 2.0, (n / 200.0) ** 3 * 8.0 / 60.0
    raise InvalidParameter(
        f"an SDP with n = {n} has {n * (n + 1) // 2} variables and as many moduli: about {memory:.1f} GB and "
        f"{minutes:.0f} min with SCS. Use bounds.cheap_bound(pencil, k), which needs no SDP, restrict the pencil to "
        f"at most {SDP_LIMIT} variables, or pass force=True."
    )


def refuse_price(price: str, at_zero: tuple[float, float], n: int) -> None:
    """Refuse a price at which n penalties at zero, or their slopes, overflow.

    at_zero holds the value and the slope of one coordinate's penalty at zero, the largest slope there is.
    """
    if not math.isfinite(n * max(map(abs, at_zero))):
        raise InvalidParameter(f"{price} is too large for floating point at this eps: the slope ρ_ε/ε overflows.")


def refuse_ratio(A: float, B: float) -> None:
    """Refuse sizes of A and B whose quotient, the size of the eigenvalues, is no number."""
    if A > 0.0 and not 1e-300 <= A / B <= 1e300:
        raise InvalidPencil(
            f"A of size {A:.1e} and B of size {B:.1e} have eigenvalues near 1e{math.log10(A) - math.log10(B):+.0f}, "
            "beyond 1e-300 … 1e300. Rescale A or B."
        )


def refuse_dust(A: float) -> None:
    """Refuse an A whose entries have lost digits to subnormal numbers, and whose inverse is no number."""
    if 0.0 < A < 1e-305:
        raise InvalidPencil(f"max |A| = {A:.3g} is too small for floating point. Divide A and rho by {A:.3g}.")


def as_shift(tau: float, scale: float) -> float:
    """A shift that floating point can tell from 0 and from infinity beside A.

    Below 1e-32 of A's size it is 0; above 1e32 of it no step would move x.
    """
    if scale > 0.0 and tau > 1e32 * scale:
        raise InvalidParameter(f"tau = {tau:g} is too large: beside an A of size {scale:.1e} no step would move x.")
    return tau if tau > 1e-32 * scale else 0.0


def refuse_size(a: Vector, diagonal: Vector) -> None:
    """Refuse a and diag(B) whose Fisher ratios aᵢ²/Bᵢᵢ, or the squares on the way to them, leave floating point.

    Examples
    --------
    >>> import numpy as np
    >>> from dcgev_cvx._numerics.limits import refuse_size
    >>> refuse_size(np.array([1e150, 0.0]), np.ones(2))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    dcgev_cvx.errors.InvalidParameter: a of size 1.0e+150 and B of size 1.0e+00 give Fisher ratios ... near 1e+300...
    """
    on = a != 0.0
    size, metric = float(np.max(np.abs(a))), float(np.max(diagonal))
    # by logarithms, since the ratio itself may be no number
    ratio = float(np.max(2.0 * np.log10(np.abs(a[on])) - np.log10(diagonal[on])))
    if max(abs(math.log10(size)), abs(math.log10(metric)), abs(ratio)) > LARGEST:
        raise InvalidParameter(
            f"a of size {size:.1e} and B of size {metric:.1e} give Fisher ratios aᵢ²/Bᵢᵢ near 1e{ratio:+.0f}: "
            f"sizes and ratios must lie between 1e-{LARGEST} and 1e{LARGEST}. Rescale a and B."
        )
