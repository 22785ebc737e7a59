"""Families of cases, each with the mistake that it brings to light."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .instances import LEVELS, Instance


@dataclass(frozen=True)
class Family:
    """A family of cases with the mistake that it brings to light.

    A case may belong to several. levels are those at which the mistake can be made.
    """

    name: str
    tag: str
    mistake: str
    levels: tuple[str, ...]
    holds: Callable[[Instance], bool]


def flagged(*flags: str) -> Callable[[Instance], bool]:
    """Does the case bear one of the flags?

    Flags are given by the batteries where the case is made: eps=2e-16, near-tie, cond-1e8, …
    """
    return lambda case: bool(set(flags) & set(case.flags))


LARGE_EPS, TINY_EPS = ("eps=1e+00", "eps=4e+00", "eps=3e+01"), ("eps=2e-16", "eps=1e-12", "eps=1e-08")
PENALISED, RUNS, SUBSETS = ("step", "fda", "algorithm", "pca"), ("algorithm", "pca"), ("bound", "cardinality")
FAMILIES = (
    Family("no penalty", "Eq:power", "ρ̃ = 0 is not the plain problem", PENALISED, flagged("rho-0", "nu-0")),
    Family("large ε", "SGEV-A", "log(1/ε) for log(1 + 1/ε)", PENALISED, flagged(*LARGE_EPS)),
    Family("tiny ε", "SGEV-A", "ε clipped, weights overflow", PENALISED, flagged(*TINY_EPS)),
    Family(
        "weights at 0",
        "Eq:log",
        "a weight of 0 (not 1/ε) where y is 0",
        ("step", "fda"),
        flagged("zero-weights", "tiny-weights"),
    ),
    Family(
        "interior optimum",
        "ALG",
        "x normalised although the constraint is slack",
        ("step",),
        flagged("interior-optimum"),
    ),
    Family("μ near 0", "ALG", "x normalised, or only scaled, near the boundary", ("step",), flagged("nearly-active")),
    Family("near ties", "ALG", "small entries cut off, or kept", ("step",), flagged("near-tie")),
    Family(
        "collapse",
        "ALG-S",
        "0/0 where x = 0 is the answer",
        ("step", *RUNS),
        flagged("rho-1.001", "rho-3", "collapse", "no-pull"),
    ),
    Family(
        "A = 0", "ALG", "A divided by its size; y taken for the answer", ("step", *SUBSETS), flagged("no-objective")
    ),
    Family(
        "idle variables",
        "ALG",
        "variables without variance left out, or divided by it",
        ("step", *RUNS, *SUBSETS),
        flagged("idle"),
    ),
    Family(
        "no difference", "Eq:fdaiterative", "variables with aᵢ = 0 left out", ("fda",), flagged("zero-difference")
    ),
    Family("cancellation", "ALG", "data or sums in single precision", ("step",), flagged("cancelling")),
    Family(
        "ill-conditioned B", "ALG", "single precision, B inverted", ("step", "fda"), flagged("cond-1e8", "cond-1e3")
    ),
    Family(
        "indefinite A",
        "Eq:tau",
        "τ missing, doubled or on one side only",
        ("step", "algorithm"),
        flagged("indefinite", "negative", "pulled-down", "cca"),
    ),
    Family("x0 decides", "SGEV-A", "x0 ignored: the answer lies above it", RUNS, flagged("better-start")),
    Family("small entries", "Eq:power", "entries below 1e-3 cut off", RUNS, flagged("small-entries")),
    Family("slow runs", "Eq:min-step", "stopped early", RUNS, flagged("slow")),
    Family(
        "tight relaxations",
        "SGEV-P",
        "the bound trusts a solver or drops a term",
        SUBSETS,
        flagged("tight", "k-all", "k-one"),
    ),
    Family("decoys", "SGEV-P", "a greedy value taken for a bound", SUBSETS, flagged("decoy")),
    Family(
        "A not semidefinite",
        "SGEV-P",
        "A ⪰ 0 assumed",
        SUBSETS,
        flagged("indefinite", "negative", "pulled-down", "diagonal"),
    ),
    Family(
        "B not the identity",
        "SGEV-P",
        "B = I assumed",
        SUBSETS,
        flagged("dense", "uneven", "small", "levels", "cond-1e8", "cca"),
    ),
    Family("one variable", "", "n = 1 forgotten", tuple(LEVELS), lambda case: case.n == 1),
    Family(
        "many variables", "", "wrong beyond a size", ("step", "fda", "algorithm", "pca"), lambda case: case.n > 30
    ),
)
