"""What is asked at a level: the battery, and the pairs of calls whose answers must agree with each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from .._numerics.checks import as_whole, one_of
from .instances import Instance, known_level
from .pairs import PAIRS, Pair, another_k, last_digits, usable, variable_scales, weights_moved, weighty
from .reference import optimum, reference
from .runs_battery import run_battery
from .steps_battery import fda_battery, step_battery
from .subset_battery import subset_battery
from .tolerances import Tolerances, condition

Effort: TypeAlias = Literal["quick", "full"]

COUNTS = MappingProxyType(
    {
        "step": (320, 960),
        "fda": (200, 500),
        "pca": (120, 300),
        "algorithm": (36, 90),
        "bound": (160, 400),
        "cardinality": (140, 340),
    }
)
"""Random cases per level at effort quick and full; the special families come on top."""
BASES = MappingProxyType({"quick": 5, "full": 9})
RUN_BASES = MappingProxyType({"quick": 3, "full": 6})
"""How many cases are transformed, reordered and repeated; whole runs cost more."""


@dataclass(frozen=True)
class Suite:
    """The battery in order of size, the pairs by the name of their check, and the cases left to other profiles.

    ladder holds pairs (k, k + 1) on one pencil, for the level bound.
    """

    level: str
    battery: tuple[Instance, ...]
    pairs: MappingProxyType[str, tuple[Pair, ...]]
    ladder: tuple[tuple[Instance, Instance], ...] = ()
    left_out: int = 0

    def limited(self, tol: Tolerances) -> Suite:
        """The part of the suite that a tolerance profile is for.

        left_out counts cases and pairs, so that a profile cannot pass by silently asking less.
        """
        battery = tuple(case for case in self.battery if tol.admits(case))
        pairs = {name: tuple(p for p in found if admitted(p, tol)) for name, found in self.pairs.items()}
        gone = len(self.battery) - len(battery) + sum(len(self.pairs[k]) - len(pairs[k]) for k in pairs)
        return Suite(self.level, battery, MappingProxyType(pairs), self.ladder, gone)


def admitted(pair: Pair, tol: Tolerances) -> bool:
    """Are both questions of a pair within the profile, scale included?

    The scale is the largest of |A| and B and of their reciprocals, over both questions.
    """
    scale = 1.0
    for instance in (pair.base, pair.asked):
        size = float(np.max(np.abs(instance.data["A"]))) if "A" in instance.data else 1.0
        size = size if size > 0.0 else 1.0
        scale = max(scale, size, 1.0 / size, float(np.max(instance.B)), 1.0 / float(np.max(instance.B)))
    return tol.admits(pair.base) and tol.admits(pair.asked) and scale <= tol.largest_scale


def suite(level: str, seed: int, effort: Effort) -> Suite:
    """Everything that is asked at a level for a seed: the same for every solver.

    Kept by its arguments: references are computed once for all solvers of a process. Deterministic: the same
    cases on every machine, up to the last bits of LAPACK.

    Raises InvalidParameter for an unknown level or effort and for a seed that is no whole number.
    """
    return made_suite(*asked_for(level, seed, effort))


def questions(level: str, seed: int, effort: Effort) -> tuple[Instance, ...]:
    """The battery alone, in order of size: what is written as test vectors. Raises as `suite` does."""
    return made_questions(*asked_for(level, seed, effort))


def asked_for(level: str, seed: int, effort: Effort) -> tuple[str, int, Effort]:
    """The three as they are looked up, or an error that names the one that is wrong."""
    one_of(effort, "effort", BASES)
    return known_level(level).name, as_whole(seed, "seed", low=0), effort


@lru_cache(maxsize=64)
def made_suite(level: str, seed: int, effort: Effort) -> Suite:
    """The battery and the pairs of its bases."""
    battery = made_questions(level, seed, effort)
    rng = np.random.default_rng([seed, 11])
    many = (RUN_BASES if level in ("pca", "algorithm") else BASES)[effort]
    fit = [case for case in battery if handy(case)]
    bases, moving = chosen(fit, many), chosen([case for case in fit if responsive(case)], many)
    pairs = {
        name: tuple(p for p in make(moving if name in REMEMBERED else bases, rng) if certain(p.asked))
        for name, make in PAIRS.items()
    }
    ties = [case for case in battery if "near-tie" in case.flags][:4]
    pairs["last digits"] = most_telling(battery, many, rng)
    pairs["last digits"] += tuple(weights_moved(rng, many)) if level == "step" else ()
    pairs["units of the variables"] += tuple(variable_scales(ties, rng))
    ladder = tuple(rungs(battery)) if level == "bound" else ()
    return Suite(level, battery, MappingProxyType({k: v for k, v in pairs.items() if v}), ladder)


@lru_cache(maxsize=64)
def made_questions(level: str, seed: int, effort: Effort) -> tuple[Instance, ...]:
    """The cases of a battery that can be judged, in order of size."""
    drawn = cases(level, seed, COUNTS[level][effort == "full"])
    return tuple(sorted((case for case in drawn if certain(case)), key=lambda case: case.n))


def cases(level: str, seed: int, count: int) -> list[Instance]:
    """The battery of a level."""
    if level == "step":
        return step_battery(seed, count)
    if level == "fda":
        return fda_battery(seed, count)
    return run_battery(level, seed, count) if level in ("pca", "algorithm") else subset_battery(level, seed, count)


def certain(case: Instance) -> bool:
    """Is a step's reference certified? A case without one is not asked: better no question than a doubtful verdict.

    Two methods lose digits to cond(B) and beside collapse, and one draw in a few hundred of both together is refused.
    """
    return usable(case) if case.level in ("step", "fda") else True


NOT_HANDY = frozenset({"slow", "collapse", "small", "better-start", "small-entries", "cancelling", "no-objective"})


def handy(case: Instance) -> bool:
    """Is the case fit to be transformed: two variables or more, benign B, ε not tiny, x compared?

    Bases are easy on purpose: a pair is about consistency, and a hard base would blame rounding.
    """
    largest = 8 if case.level in ("bound", "cardinality") else 13  # a conic relaxation takes its time in other units
    calm = 2 <= case.n <= largest and case.data.get("eps", 1.0) >= 1e-4 and condition(case) <= 1e4
    if not calm or NOT_HANDY & set(case.flags):
        return False
    return reference(case).nondegenerate and bool(reference(case).x.any()) if case.level in ("step", "fda") else True


REMEMBERED = frozenset({"one argument changed", "reused arrays"})
"""Pairs that ask what a solver remembers: every argument has to matter there, or nothing is learnt."""


def responsive(case: Instance) -> bool:
    """Does every argument of the case move its answer: a penalty, two nonzeros, and for a step a binding constraint?

    B has no part in a step that ends inside Ω, nor has ρ̃ where one entry is left: a stale one would be right. So
    would be a bound of a larger optimum and a vector of fewer nonzeros: the one has to rise with k and 1/B, and k of
    the other to have somewhere to go.
    """
    if case.level in ("bound", "cardinality"):
        return another_k(case) != case.data["k"] and (case.level == "cardinality" or optimum(case).value > 0.0)
    if not weighty(case) or case.level in ("pca", "algorithm"):
        return weighty(case)
    x = reference(case).x
    return bool(np.count_nonzero(x) >= 2) and (case.level == "fda" or float(x @ case.B @ x) > 1.0 - 1e-9)


def most_telling(battery: Sequence[Instance], count: int, rng: np.random.Generator) -> tuple[Pair, ...]:
    """The pairs "last digits" of so many cases, those in which the most arguments move the minimiser.

    A minimiser with few nonzeros may not depend on y at all, a limit of equal entries not on ρ̃: more cases are looked
    at, all of them where one look is cheap.
    """
    heavy = [case for case in battery if 3 <= case.n <= 13 and handy(case) and weighty(case)]
    cheap = bool(heavy) and heavy[0].level in ("pca", "algorithm")
    found = [tuple(last_digits([case], rng)) for case in (heavy if cheap else chosen(heavy, 2 * count))]
    return tuple(pair for pairs in sorted(found, key=len, reverse=True)[:count] for pair in pairs)


def chosen(found: Sequence[Instance], count: int) -> list[Instance]:
    """So many of them, evenly spread over the sizes."""
    places = np.unique(np.linspace(0, len(found) - 1, count).astype(int)) if found else []
    return [found[int(i)] for i in places]


def rungs(battery: Sequence[Instance]) -> Iterator[tuple[Instance, Instance]]:
    """(k, k + 1) on the same pencil."""
    for case in chosen([case for case in battery if case.data["k"] < case.n], 30):
        yield case, case.changed("k + 1", k=case.data["k"] + 1)
