"""Every tolerance of the kit in one table, each with its reason.

A tolerance that is too tight fails right solvers, one that is too loose passes wrong ones; each constant says which
known mistake it must still catch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from ..checks import UNIT_ROUNDOFF
from ..errors import InvalidParameter, nearest
from .instances import Instance

VALUE_SHARE = 1e-3
"""The value's tolerance over x's: an error δ in x costs δ² in the value, so this is far from tight."""
CONDITIONS_SHARE = 5.0
"""The optimality conditions' tolerance over x's: a conic solver at 1e-11 reaches 1e-5 in them beside a tie."""
MINIMISER_SHARE = 3.0
"""The tolerance of ‖x − x*‖_B over the accuracy."""
VALUE_FLOOR = 1e-12
"""What summing the surrogate in double precision may lose."""
BOUND = 1e-9
"""How far below the truth, over max |λ|, a bound may be computed: honest rounding is 1e-14, a trusted solver 1e-7."""
SLACK = 1e-3
"""How far, over max |λ|, a bound may exceed λmax(A, B) or fall when k grows: a conic solver's sloppiness."""
SINGLE = 1e-3
"""The accuracy asked of an answer given in float32, or of one to float32 data."""
UNIT_NORM = 1e-6
"""How far xᵀBx may be from 1 at the level cardinality."""


@dataclass(frozen=True)
class Tolerances:
    """accuracy holds for x, its conditions, the constraint and ascent; the limits say which cases it is for.

    smallest_eps, largest_condition and largest_scale keep a profile from asking what its kind of solver cannot do:
    cases beyond are left out, counted, and said to be.
    """

    name: str
    accuracy: float
    reason: str
    smallest_eps: float = 0.0
    largest_condition: float = math.inf
    largest_scale: float = math.inf
    value_share: float = VALUE_SHARE

    @property
    def value(self) -> float:
        """The tolerance of the surrogate's value, relative to its size."""
        return self.value_share * self.accuracy + VALUE_FLOOR

    def at(self, instance: Instance) -> float:
        """The accuracy asked at an instance: not below what rounding leaves at B's condition number."""
        return max(self.accuracy, 50.0 * UNIT_ROUNDOFF * condition(instance))

    def admits(self, instance: Instance) -> bool:
        """Is the instance one that this profile is for?

        Cases with tiny weights are admitted only by profiles without a limit on ε.
        """
        eps = instance.data.get("eps", 1.0)
        easy = "tiny-weights" not in instance.flags or self.smallest_eps == 0.0
        return eps >= self.smallest_eps and condition(instance) <= self.largest_condition and easy


PROFILES: Mapping[str, Tolerances] = MappingProxyType(
    {
        "standard": Tolerances(
            "standard", 1e-5, "any method run to convergence; a stop at 1e-4, or single precision on a hard B, shows"
        ),
        "interior-point": Tolerances(
            "interior-point",
            2e-3,
            "default accuracy of a conic solver: 1e-5 in x, 1e-4 beside ties; weights beyond 1/ε = 1e4, "
            "cond(B) > 1e3 and data far from size one need a cap, a polish or units and are left out",
            smallest_eps=1e-4,
            largest_condition=2e3,
            largest_scale=100.0,
            value_share=0.1,  # its gap of 1e-8 is absolute, and a small step has a small value
        ),
        "closed": Tolerances("closed", 1e-10, "a closed form, or an answer polished on its support"),
    }
)


def tolerances(tol: Any) -> Tolerances:
    """The profile of a name, the standard one for None, or one made of a number.

    Raises InvalidParameter for an unknown name, with the nearest, or for a number outside [1e-13, 0.1].

    Examples
    --------
    >>> from dcgev_cvx.verify.tolerances import tolerances
    >>> tolerances(None).accuracy, tolerances("closed").accuracy, tolerances(1e-6).name
    (1e-05, 1e-10, '1e-06')
    """
    if tol is None:
        return PROFILES["standard"]
    if isinstance(tol, Tolerances):
        return tol
    if isinstance(tol, str):
        if tol not in PROFILES:
            raise InvalidParameter(f"tol = {tol!r} is unknown; {nearest(tol, PROFILES)}, or a number.")
        return PROFILES[tol]
    if isinstance(tol, bool) or not isinstance(tol, (int, float, np.floating)) or not 1e-13 <= float(tol) <= 0.1:
        raise InvalidParameter(f"tol = {tol!r} must be a profile's name or a number between 1e-13 and 0.1.")
    return Tolerances(f"{float(tol):g}", float(tol), "given by the caller")


def condition(instance: Instance) -> float:
    """cond(B), once per instance."""
    if "condition" not in instance.cache:
        values = np.linalg.eigvalsh(instance.B) if instance.level != "pca" else np.ones(1)
        instance.cache["condition"] = float(values[-1] / values[0]) if values[0] > 0.0 else math.inf
    return instance.cache["condition"]
