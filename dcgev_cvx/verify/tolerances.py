"""Every tolerance of the kit in one table, each with its reason.

A tolerance that is too tight fails right solvers, one that is too loose passes wrong ones; each constant says which
known mistake it must still catch.

Two kinds of solver stop by two kinds of rule, and the limits follow from the rule. One that controls x (a closed
form, an active set, an iteration run until it stands still) is held to an accuracy δ in x; its value is then off by
δ² and its optimality conditions by δ. One that controls the value (a conic solver, which stops at a duality gap of
1e-8) is held to that gap, and what it owes in x follows from strong convexity:

    g(x, y) − g(x*, y) ≥ κ‖x − x*‖²_B   on Ω,   κ = μ + τ/λmax(B),   so   ‖x − x*‖_B ≤ √(gap/κ).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Matrix, shown
from ..errors import InvalidParameter, nearest
from .instances import Instance

VALUE_SHARE = 1e-3
"""The value's tolerance over x's: an error δ in x costs δ² in the value, so this is far from tight."""
CONDITIONS_SHARE = 5.0
"""The optimality conditions' tolerance over x's: r is 2-Lipschitz in x in their units, and μ is recovered from x."""
MINIMISER_SHARE = 3.0
"""The tolerance of ‖x − x*‖_B over the accuracy."""
VALUE_FLOOR = 1e-12
"""What summing the surrogate in double precision may lose."""
GAP = 1e-6
"""A conic solver's gap, relative to 1 + |value|: interior points stop at 1e-8, SCS at 1e-8 leaves 2e-7."""
FEASIBLE = 1e-5
"""How far any solver may leave Ω: conic solvers stop at 1e-8, which cond(B) = 1e3 can make 1e-6."""
BOUND = 1e-9
"""How far below the truth, over max |λ|, a bound may be computed: honest rounding is 1e-14, a trusted solver 1e-7."""
BOUND_ULPS = 20.0
"""The same in units of cond(B)·u: what whitening by any factor of B may lose, 2e-7 at cond(B) = 1e8."""
SLACK = 1e-3
"""How far, over max |λ|, a bound may exceed λmax(A, B) or fall when k grows before it is remarked upon."""
VACUOUS = 10.0
"""How many times n·cond(B)·max |λ|, which norms of A and B⁻¹ do not exceed, a bound may be."""
SINGLE = 1e-3
"""The accuracy asked of an answer to float32 data, which may be computed in that precision."""
SINGLE_ULP = 2.0**-24
"""What rounding x to float32 changes in an entry, relative to it."""
UNIT_NORM = 1e-6
"""How far xᵀBx may be from 1 at the level cardinality."""


@dataclass(frozen=True)
class Tolerances:
    """accuracy holds for x, its conditions, the constraint and ascent; the limits say which cases it is for.

    A gap > 0 is for solvers that control the value: the limits of a step then follow from it and from the curvature,
    and accuracy is what a whole run is held to. smallest_eps, largest_condition and largest_scale keep a profile from
    asking what its kind of solver cannot do: cases beyond are left out, counted, and said to be.
    """

    name: str
    accuracy: float
    reason: str
    smallest_eps: float = 0.0
    largest_condition: float = math.inf
    largest_scale: float = math.inf
    gap: float = 0.0

    @property
    def feasibility(self) -> float:
        """How far an answer may leave Ω: the accuracy, or FEASIBLE for solvers that control the value."""
        return FEASIBLE if self.gap > 0.0 else self.accuracy

    def value(self, size: float) -> float:
        """The tolerance of a surrogate's value, relative to its size; a gap is one of 1 + size."""
        if self.gap > 0.0:
            return self.gap * (1.0 + 1.0 / size) if size > 0.0 else 1.0
        return VALUE_SHARE * self.accuracy + VALUE_FLOOR

    def at(self, instance: Instance) -> float:
        """The accuracy asked at an instance: not below what rounding leaves there."""
        return max(self.accuracy, rounding(instance))

    def admits(self, instance: Instance) -> bool:
        """Is the instance one that this profile is for?

        Cases with tiny weights are admitted only by profiles without a limit on ε; a B of condition 1e8 that no
        units repair only by those that ask for 1e-8 and more, since no first-order method could answer it.
        """
        eps = instance.data.get("eps", 1.0)
        easy = "tiny-weights" not in instance.flags or self.smallest_eps == 0.0
        mild = "basis-1e8" not in instance.flags or self.accuracy <= 1e-8
        return eps >= self.smallest_eps and condition(instance) <= self.largest_condition and easy and mild


PROFILES: Mapping[str, Tolerances] = MappingProxyType(
    {
        "standard": Tolerances(
            "standard",
            1e-5,
            "any method run to convergence; a stop at 1e-4 or single precision shows; a B of condition 1e8 in a "
            "random basis, where coordinate descent needs 1e8 sweeps, is left to the profile closed",
        ),
        "interior-point": Tolerances(
            "interior-point",
            1e-3,
            "a conic solver at its default gap of 1e-8, which leaves √(gap/κ) in x; weights beyond 1/ε = 1e4, "
            "cond(B) > 1e3 and data far from size one need a cap, a polish or units and are left out",
            smallest_eps=1e-4,
            largest_condition=2e3,
            largest_scale=100.0,
            gap=GAP,
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
            known = nearest(tol, PROFILES)
            raise InvalidParameter(f"tol = {shown(tol)} is unknown; {known} A number will do as well.")
        return PROFILES[tol]
    if isinstance(tol, bool) or not isinstance(tol, (int, float, np.floating)) or not 1e-13 <= tol <= 0.1:
        raise InvalidParameter(f"tol = {shown(tol)} must be a profile's name or a number between 1e-13 and 0.1.")
    return Tolerances(f"{float(tol):g}", float(tol), "given by the caller")


def condition(instance: Instance) -> float:
    """cond(B), once per instance."""
    if "condition" not in instance.cache:
        instance.cache["condition"] = 1.0 if instance.level == "pca" else condition_of(instance.B)
    return instance.cache["condition"]


def scaled_condition(instance: Instance) -> float:
    """cond(D⁻¹BD⁻¹) with D = diag(B)^½: what relative errors of single entries of x are magnified by."""
    if "scaled" not in instance.cache:
        root = np.sqrt(np.diagonal(instance.B))
        instance.cache["scaled"] = condition_of(instance.B / np.outer(root, root))
    return instance.cache["scaled"]


def condition_of(B: Matrix) -> float:
    """λmax/λmin of a symmetric matrix."""
    values = np.linalg.eigvalsh(B)
    return float(values[-1] / values[0]) if values[0] > 0.0 else math.inf


def rounding(instance: Instance) -> float:
    """What rounding alone may do to x: 50 units in the last place, magnified by cond(B) and by cancellation in c."""
    return 50.0 * UNIT_ROUNDOFF * max(condition(instance), cancellation(instance))


def cancellation(instance: Instance) -> float:
    """max (|A| + τI)|y| / max |(A + τI)y|: how much of the data cancels in the linear term of a step."""
    if instance.level != "step":
        return 1.0
    if "cancellation" not in instance.cache:
        A, y, tau = instance.data["A"], instance.data["y"], instance.data["tau"]
        whole, left = np.max(np.abs(A) @ np.abs(y) + tau * np.abs(y)), np.max(np.abs(A @ y + tau * y))
        instance.cache["cancellation"] = float(whole / left) if left > 0.0 else 1.0
    return instance.cache["cancellation"]
