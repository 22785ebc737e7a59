"""What a solver is asked: the six levels, their arguments in order, and one instance of each.

    step         (A, B, y, rho, eps, tau) → x       one MM step, exact
    algorithm    (A, B, rho, eps, x0) → x           a run of Algorithm 1, judged by its certificate
    pca          (A, rho, eps, x0) → x              a run of Algorithm 2
    bound        (A, B, k) → number                 an upper bound on (SGEV-P)
    fda          (a, B, y, nu, eps) → x             one step of sparse FDA
    cardinality  (A, B, k) → x                      a k-sparse vector of unit B norm

Arguments are positional. rho and nu are the paper's ρ̃ and ν: dividing by log(1 + 1/ε) is the solver's business.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from .._numerics.checks import Index, Matrix, Vector, frozen, one_of
from ..programs import log_scale


@dataclass(frozen=True)
class Level:
    """What is asked of a solver: its arguments in order, what it returns, and the equation that judges it.

    verdict says how an answer is judged: "exact" against a certified minimiser, "certificate" by conditions that
    many answers may meet, "bound" against the exact optimum.
    """

    name: str
    arguments: tuple[str, ...]
    returns: str
    tag: str
    verdict: str
    task: str


LEVELS = MappingProxyType(
    {
        "step": Level("step", ("A", "B", "y", "rho", "eps", "tau"), "x", "ALG", "exact", "the minimiser of (ALG)"),
        "algorithm": Level(
            "algorithm",
            ("A", "B", "rho", "eps", "x0"),
            "x",
            "SGEV-A",
            "certificate",
            "a stationary point of (SGEV-A) reached from x0 without ascent",
        ),
        "pca": Level(
            "pca",
            ("A", "rho", "eps", "x0"),
            "x",
            "ALG-S",
            "certificate",
            "Algorithm 2: a stationary point of (SGEV-A) with B = I reached from x0 without ascent",
        ),
        "bound": Level("bound", ("A", "B", "k"), "bound", "SGEV-P", "bound", "a valid upper bound on (SGEV-P)"),
        "fda": Level(
            "fda", ("a", "B", "y", "nu", "eps"), "x", "Eq:fdaiterative", "exact", "the minimiser of Eq:fdaiterative"
        ),
        "cardinality": Level(
            "cardinality",
            ("A", "B", "k"),
            "x",
            "SGEV-P",
            "certificate",
            "a vector with at most k nonzeros and unit B norm",
        ),
    }
)


def known_level(name: object) -> Level:
    """The level of that name, or an error with the nearest one.

    Raises InvalidParameter with the nearest name.
    """
    return LEVELS[one_of(name, "level", LEVELS)]


@dataclass(frozen=True, eq=False)
class Instance:
    """One question to a solver: the level, a name, the arguments by name (read-only arrays) and family flags.

    cache holds what judging needs (reference, surrogate, condition number), computed once; it is no part of the
    question.
    """

    level: str
    name: str
    data: MappingProxyType[str, Any]
    flags: tuple[str, ...] = ()
    cache: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self.data["a"] if self.level == "fda" else self.data["A"])

    @property
    def B(self) -> Matrix:
        """The metric: the identity at the level pca."""
        if self.level != "pca":
            return self.data["B"]
        if "B" not in self.cache:
            self.cache["B"] = frozen(np.eye(self.n))
        return self.cache["B"]

    @property
    def coefficient(self) -> float:
        """ρ_ε or ν_ε: what stands before the penalty (SGEV-A)."""
        return float(self.data["nu" if self.level == "fda" else "rho"]) / log_scale(float(self.data["eps"]))

    def arguments(self) -> list[Any]:
        """Fresh writeable copies in the level's order: what the solver is given.

        A solver that writes to them spoils its own copy; that it did is noticed by comparison.
        """
        values = [self.data[name] for name in LEVELS[self.level].arguments]
        return [value.copy() if isinstance(value, np.ndarray) else value for value in values]

    def changed(self, name: str, **values: Any) -> Instance:
        """Another question: some arguments replaced, so that the flags no longer hold.

        Flags are dropped, since they describe the original; a changed question is judged by its own reference.
        """
        return question(self.level, f"{self.name}, {name}", (), {**self.data, **values})


def question(level: str, name: str, flags: tuple[str, ...], data: dict[str, Any]) -> Instance:
    """An instance with its arrays copied and read-only.

    Arrays are copied in C order as float64, so that all instances are alike in memory unless a pair says otherwise.
    """
    kept = {
        key: frozen(np.array(value, dtype=np.float64, order="C")) if isinstance(value, np.ndarray) else value
        for key, value in data.items()
    }
    return Instance(level, name, MappingProxyType(kept), flags)


def permuted(instance: Instance, order: Index) -> Instance:
    """The variables in another order: x must come out in that order.

    P(argmin) = argmin of the permuted problem, if the minimiser is unique; the answer is judged by its own
    reference in any case.
    """
    return instance.changed("permuted", **{key: reordered(value, order) for key, value in instance.data.items()})


def flipped(instance: Instance, signs: Vector) -> Instance:
    """The signs of some variables changed: A becomes SAS, B becomes SBS, x becomes Sx."""
    return instance.changed("signs flipped", **{key: signed(value, signs) for key, value in instance.data.items()})


def reordered(value: Any, order: Index) -> Any:
    """A vector or matrix with its variables in another order; a number as it is."""
    if not isinstance(value, np.ndarray):
        return value
    return value[order] if value.ndim == 1 else value[np.ix_(order, order)]


def signed(value: Any, signs: Vector) -> Any:
    """S·v or S·M·S with S = diag(signs); a number as it is."""
    if not isinstance(value, np.ndarray):
        return value
    return value * signs if value.ndim == 1 else value * np.outer(signs, signs)


def scaled_objective(instance: Instance, s: float) -> Instance:
    """The objective times s: A, ρ̃, τ times s (FDA: B and ν); the minimiser stays, a bound is multiplied by s.

    f, g and the conditions are homogeneous of degree one in (A, ρ̃, τ), so that a right answer does not change.
    """
    names = ("B", "nu") if instance.level == "fda" else ("A", "rho", "tau")
    values = {key: instance.data[key] * s for key in names if key in instance.data}
    return instance.changed(f"objective × {s:g}", **values)


def scaled_variables(instance: Instance, s: float) -> Instance:
    """The variables in other units, x → x/s: A, B, τ times s², y and ε over s, ρ̃ such that ρ_ε is as it was.

    Derivation: with x' = x/s, xᵀAx = x'ᵀ(s²A)x', and log(ε + |x|) = log(ε/s + |x'|) + log s; ρ_ε must stay, so ρ̃
    is multiplied by log(1 + s/ε)/log(1 + 1/ε).
    """
    data = instance.data
    values: dict[str, Any] = {key: data[key] * (s * s) for key in ("A", "B", "tau") if key in data}
    values |= {key: data[key] / s for key in ("y", "x0", "eps") if key in data}
    if "a" in data:
        values["a"] = data["a"] * s
    if "eps" in data:
        stretch = log_scale(data["eps"] / s) / log_scale(data["eps"])
        values |= {key: data[key] * stretch for key in ("rho", "nu") if key in data}
    return instance.changed(f"variables × {1.0 / s:g}", **values)


def plain(value: Any) -> Any:
    """Lists and numbers, for JSON and for snippets; decimals that read back to the same bits.

    repr of a float reads back to the same bits, so that vectors written to JSON are the vectors that were judged.
    """
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (bool, int)):
        return value
    return float(value) if isinstance(value, (float, np.floating)) and math.isfinite(value) else value
