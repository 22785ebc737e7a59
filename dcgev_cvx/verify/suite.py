"""Everything that is asked at a level: the cases in order of size, the pairs of calls, and the families of cases.

The suite of a level, seed and effort is the same for every solver, on every machine up to the last bits of LAPACK.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from .._numerics.checks import as_whole, one_of
from .._numerics.threads import one_thread
from .call_pairs import PAIRS, RUNS, Pair, another_k, last_digits, usable, variable_scales, weights_moved
from .levels import LEVELS, Instance, Tolerances, condition, known_level
from .pencil_cases import optimum, subset_cases
from .reference_answers import reference
from .run_cases import run_cases
from .step_cases import fda_cases, step_cases

Effort: TypeAlias = Literal["quick", "full"]


@dataclass(frozen=True)
class Suite:
    """The cases in order of size, the pairs by the name of their check, and the number left out by a profile.

    ladder holds pairs (k, k + 1) on one pencil, for the level bound.
    """

    level: str
    cases: tuple[Instance, ...]
    pairs: Mapping[str, tuple[Pair, ...]]
    ladder: tuple[tuple[Instance, Instance], ...] = ()
    left_out: int = 0

    def limited(self, tol: Tolerances) -> Suite:
        """The cases and pairs that a tolerance profile is for; left_out counts the others."""
        cases = tuple(case for case in self.cases if tol.admits(case))
        pairs = {name: tuple(p for p in found if admitted(p, tol)) for name, found in self.pairs.items()}
        gone = len(self.cases) - len(cases) + sum(len(self.pairs[k]) - len(pairs[k]) for k in pairs)
        return Suite(self.level, cases, MappingProxyType(pairs), self.ladder, gone)


def admitted(pair: Pair, tol: Tolerances) -> bool:
    """Are both questions of a pair within the profile, and the sizes of A and B within its scale?"""
    questions = (pair.base, pair.asked)
    sizes = [float(np.max(np.abs(M))) for case in questions for M in (case.data.get("A", case.B), case.B)]
    scale = max(max(size, 1.0 / size) for size in sizes if size > 0.0)
    return all(map(tol.admits, questions)) and scale <= tol.largest_scale


def suite(level: str, seed: int, effort: Effort) -> Suite:
    """Everything that is asked at a level for a seed; InvalidParameter for a level, seed or effort out of range."""
    return made_suite(*checked(level, seed, effort))


def cases(level: str, seed: int, effort: Effort) -> tuple[Instance, ...]:
    """The cases alone, as they are written as test vectors. Raises as `suite` does."""
    return made_cases(*checked(level, seed, effort))


def checked(level: str, seed: int, effort: Effort) -> tuple[str, int, Effort]:
    """The three arguments, or an error that names the wrong one."""
    one_of(effort, "effort", ("quick", "full"))
    return known_level(level).name, as_whole(seed, "seed", low=0), effort


@lru_cache(maxsize=64)
def made_suite(level: str, seed: int, effort: Effort) -> Suite:
    """The cases, and the pairs made of a few of them, of which whole runs are fewer since they cost more."""
    found, rng = made_cases(level, seed, effort), np.random.default_rng([seed, 11])
    count = {"quick": (5, 3), "full": (9, 6)}[effort][level in RUNS]
    mild = [case for case in found if is_mild(case)]
    bases, moving = chosen(mild, count), chosen([case for case in mild if every_argument_matters(case)], count)
    remembering = ("one argument changed", "reused arrays")
    with one_thread:
        pairs = {
            name: tuple(make(moving if name in remembering else bases, rng)) for name, (make, _) in PAIRS.items()
        }
        pairs["last digits"] = most_telling(found, count)
        pairs["last digits"] += tuple(weights_moved(rng, count)) if level == "step" else ()
        ties = [case for case in found if "near-tie" in case.flags][:4]
        pairs["units of the variables"] += tuple(variable_scales(ties, rng))
        kept = {name: tuple(p for p in made if level in RUNS or usable(p.asked)) for name, made in pairs.items()}
    ladder = tuple(steps_in_k(found)) if level == "bound" else ()
    return Suite(level, found, MappingProxyType({name: made for name, made in kept.items() if made}), ladder)


@lru_cache(maxsize=64)
def made_cases(level: str, seed: int, effort: Effort) -> tuple[Instance, ...]:
    """The cases that can be judged, in order of size; a step without a certified reference is not asked."""
    counts = {"step": (320, 960), "fda": (200, 500), "pca": (120, 300), "algorithm": (36, 90),
              "bound": (160, 400), "cardinality": (140, 340)}  # fmt: skip
    count = counts[level][effort == "full"]
    with one_thread:
        if level in ("step", "fda"):
            drawn = [case for case in (step_cases if level == "step" else fda_cases)(seed, count) if usable(case)]
        else:
            drawn = (run_cases if level in RUNS else subset_cases)(level, seed, count)
    return tuple(sorted(drawn, key=lambda case: case.n))


def is_mild(case: Instance) -> bool:
    """Is the case fit to be transformed: two variables or more, benign B, ε not tiny, x compared?

    Pairs are about consistency, and a hard base would blame rounding. A conic relaxation takes long in other units,
    so that pencils for bounds are smaller.
    """
    hard = {"slow", "collapse", "small", "better-start", "small-entries", "cancelling", "zero-A"}
    most = 8 if case.level in ("bound", "cardinality") else 13
    easy = 2 <= case.n <= most and case.data.get("eps", 1.0) >= 1e-4 and condition(case) <= 1e4
    if not easy or hard & set(case.flags):
        return False
    return case.level not in ("step", "fda") or (reference(case).nondegenerate and bool(reference(case).x.any()))


def every_argument_matters(case: Instance) -> bool:
    """Does every argument of the case move its answer? Otherwise a stale one would be right.

    B has no part in a step that ends inside Ω, nor has ρ̃ where one entry is left. A bound has to rise with k and with
    1/B, and the k of a vector to have somewhere to go.
    """
    if case.level in ("bound", "cardinality"):
        return another_k(case) != case.data["k"] and (case.level == "cardinality" or optimum(case).value > 0.0)
    if not is_weighty(case) or case.level in RUNS:
        return is_weighty(case)
    x = reference(case).x
    return bool(np.count_nonzero(x) >= 2) and (case.level == "fda" or float(x @ case.B @ x) > 1.0 - 1e-9)


def is_weighty(case: Instance) -> bool:
    """Is there a penalty, a shift, and an ε that is not lost beside |y|?"""
    data = case.data
    return data.get("rho", data.get("nu", 0.0)) > 0.0 and data["eps"] >= 1e-2 and data.get("tau", 1.0) > 0.0


def most_telling(found: Sequence[Instance], count: int) -> tuple[Pair, ...]:
    """The pairs "last digits" of so many cases, those in which the most arguments move the answer.

    A minimiser with few nonzeros may not depend on y at all, a limit of equal entries not on ρ̃: more cases are looked
    at, all of them where one look is cheap.
    """
    weighty = [
        case for case in found if 3 <= case.n <= 13 and is_mild(case) and "eps" in case.data and is_weighty(case)
    ]
    looked_at = weighty if weighty and weighty[0].level in RUNS else chosen(weighty, 2 * count)
    pairs = sorted((tuple(last_digits(case)) for case in looked_at), key=len, reverse=True)
    return tuple(pair for made in pairs[:count] for pair in made)


def chosen(found: Sequence[Instance], count: int) -> list[Instance]:
    """So many of them, evenly spread over the sizes."""
    places = np.unique(np.linspace(0, len(found) - 1, count).astype(int)) if found else []
    return [found[int(i)] for i in places]


def steps_in_k(found: Sequence[Instance]) -> Iterator[tuple[Instance, Instance]]:
    """(k, k + 1) on the same pencil."""
    for case in chosen([case for case in found if case.data["k"] < case.n], 30):
        yield case, case.changed("k + 1", k=case.data["k"] + 1)


@dataclass(frozen=True)
class Family:
    """A family of cases with the mistake that it detects: one check, and one file of test vectors."""

    name: str
    tag: str
    mistake: str
    levels: tuple[str, ...]
    flags: tuple[str, ...]
    sizes: range = range(0)

    @property
    def group(self) -> str:
        """The name as part of a file name."""
        return self.name.lower().replace("ε", "eps").replace(" ", "-")

    def holds(self, case: Instance) -> bool:
        """Does the case belong to the family at its level?"""
        return case.level in self.levels and (bool(set(self.flags) & set(case.flags)) or case.n in self.sizes)


STEPS, SUBSETS = ("step", "fda"), ("bound", "cardinality")
FAMILIES = tuple(
    Family(name, tag, mistake, levels, tuple(flags.split()), *sizes)
    for name, tag, mistake, levels, flags, *sizes in (
        ("interior optimum", "ALG", "x normalised although the constraint is slack", ("step",), "interior-optimum"),
        ("nearly active", "ALG", "x normalised, or only scaled, near the boundary", ("step",), "nearly-active"),
        ("near ties", "ALG", "small entries cut off, or kept", ("step",), "near-tie"),
        ("weights at 0", "Eq:log", "a weight of 0, or a clipped one, at y = 0", STEPS, "zero-weights tiny-weights"),
        ("cancellation", "ALG", "data or sums in single precision", ("step",), "cancelling"),
        ("small entries", "Eq:power", "entries below 1e-3 cut off", RUNS, "small-entries"),
        ("A is zero", "ALG", "A divided by its size; y taken for the answer", ("step", *SUBSETS), "zero-A"),
        ("equal means", "Eq:fdaiterative", "variables with aᵢ = 0 left out", ("fda",), "equal-means"),
        ("constant variables", "ALG", "variables without variance left out, or divided by it",
         ("step", *RUNS, *SUBSETS), "constant-variables"),
        ("one variable", "", "n = 1 forgotten", tuple(LEVELS), "", range(1, 2)),
        ("collapse", "ALG-S", "0/0 where x = 0 is the answer", ("step", *RUNS), "rho-1.001 rho-3 collapse zero-y"),
        ("no penalty", "Eq:power", "ρ̃ = 0 is not the problem without a penalty", (*STEPS, *RUNS), "rho-0 nu-0"),
        ("x0 matters", "SGEV-A", "x0 ignored: the answer lies above it", RUNS, "better-start"),
        ("slow runs", "Eq:min-step", "stopped early", RUNS, "slow"),
        ("tight relaxations", "SGEV-P", "a bound that trusts a solver or drops a term", SUBSETS, "tight k-all k-one"),
        ("greedy search fails", "SGEV-P", "a greedy value taken for a bound", SUBSETS, "greedy-fails"),
        ("ill-conditioned B", "ALG", "single precision, B inverted, a ridge added", STEPS, "cond-1e8 cond-1e3"),
        ("tiny ε", "SGEV-A", "ε clipped, weights overflow", (*STEPS, *RUNS), "eps=2e-16 eps=1e-12 eps=1e-08"),
        ("large ε", "SGEV-A", "log(1/ε) for log(1 + 1/ε)", (*STEPS, *RUNS), "eps=1e+00 eps=4e+00 eps=3e+01"),
        ("indefinite A", "Eq:tau", "τ missing, doubled or on one side only; A ⪰ 0 assumed",
         ("step", "algorithm", *SUBSETS), "indefinite negative large-negative diagonal cca"),
        ("B not the identity", "", "B taken for diagonal or for the identity", ("step", "fda", "algorithm", *SUBSETS),
         "dense uneven small two-values cond-1e3 cond-1e8 cca"),
        ("many variables", "", "wrong beyond a size", (*STEPS, *RUNS), "", range(31, 10**6)),
    )
)  # fmt: skip
"""From the most special to the most general: a test vector is written into the file of the first that holds."""
