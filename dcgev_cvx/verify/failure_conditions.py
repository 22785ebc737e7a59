"""Where a solver fails: the properties of the data that all failing cases share and passing cases do not have.

Properties are measured from the data, such as τ > 0, B ≠ I, n ≥ 33. Cases near the failing ones, which differ in one
dimension, are asked first: a few failures are then enough to tell the properties that matter from those that do not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from .equations import over
from .levels import Instance, condition
from .reference_answers import reference, surrogate
from .step_cases import collapse
from .suite import SPACES, builder
from .trial import Trial

Properties: TypeAlias = dict[str, float]
PROBES = 100
"""Calls that are made to tell the properties that matter from those that do not."""


@dataclass(frozen=True)
class Condition:
    """Words that hold for all failing cases, the number of these, and how many passing cases they hold for too."""

    words: tuple[str, ...]
    failing: int
    exceptions: int
    passing: int

    def __str__(self) -> str:
        if not self.passing:
            return f"fails on all {self.failing} cases"
        if not self.words:
            return f"the {self.failing} failing cases share no property that passing cases lack"
        words = " and ".join(self.words)
        if not self.exceptions:
            return f"fails whenever {words} ({self.failing} cases)"
        return f"fails only if {words} (all {self.failing} failing cases, {self.exceptions} of {self.passing} others)"


def failure_condition(trial: Trial) -> Condition | None:
    """The properties that separate the failing cases from the passing ones; None without failures."""
    judged = {
        case: trial.judged(case, answer).failed for case, answer in trial.session.answers.items() if answer.asked
    }
    if not any(judged.values()) or trial.session.hung:
        return None
    near = dict(probed(trial, [case for case, failed in judged.items() if failed]))
    judged |= near
    failing = [properties(case) for case, failed in judged.items() if failed]
    passing = [properties(case) for case, failed in judged.items() if not failed]
    beside = np.array([case in near for case, failed in judged.items() if not failed], dtype=bool)
    words, exceptions = shared(failing, passing, beside if beside.any() else ~beside)
    return Condition(words, len(failing), exceptions, len(passing))


def unsupported_condition(trial: Trial) -> Condition | None:
    """The properties that the cases share for which the solver raised NotImplementedError."""
    refused = [properties(case) for case in trial.suite.cases if case in trial.session.unsupported]
    answered = [properties(case) for case in trial.suite.cases if case not in trial.session.unsupported]
    if not refused or not answered:
        return None
    words, exceptions = shared(refused, answered, np.zeros(len(answered), dtype=bool))
    return Condition(words, len(refused), exceptions, len(answered))


def probed(trial: Trial, failing: Sequence[Instance]) -> Iterator[tuple[Instance, bool]]:
    """(case, whether it fails) for neighbours of some failing rows, which differ from them in one dimension."""
    space, build, rng = SPACES[trial.suite.level], builder(trial.suite.level), np.random.default_rng(0)
    rows = [row for case in failing if len(row := row_of(case)) == len(space.dimensions)]
    neighbours = (
        {**rows[int(i)], name: str(level)}
        for i in rng.permutation(len(rows))[:5]
        for name, levels in space.dimensions.items()
        for level in rng.permutation([v for v in levels if v != rows[int(i)][name]])[:3]
    )
    for row, _ in zip((row for row in neighbours if space.allows(row)), range(PROBES), strict=False):
        case = build(row, rng)
        answer = trial.session.ask(case) if case is not None else None
        if case is not None and answer is not None and answer.asked:
            yield case, trial.judged(case, answer).failed


def row_of(case: Instance) -> dict[str, str]:
    """The levels of a case by dimension."""
    return dict(flag.split("=", 1) for flag in case.flags if "=" in flag)


# Properties of the data


def properties(case: Instance) -> Properties:
    """Truth values as 0 and 1 by their words, and numbers by their names."""
    data, B, n = case.data, case.B, case.n
    diag = np.diagonal(B)
    found: dict[str, float] = {"n": n, "n is even": n % 2 == 0}
    if case.level != "pca":
        found |= {"B = I": np.array_equal(B, np.eye(n)), "B is diagonal": np.array_equal(B, np.diag(diag)),
                  "diag(B) = 1": bool(np.all(np.abs(diag - 1.0) <= 1e-8)), "B has a zero entry": not B.all(),
                  "cond(B)": condition(case), "max |B|": float(np.max(np.abs(B))),
                  "max |Bᵢⱼ|/√(BᵢᵢBⱼⱼ)": float(np.max(np.abs(B - np.diag(diag)) / np.sqrt(np.outer(diag, diag)))),
                  }  # fmt: skip
    if "A" in data:
        found |= matrix_properties(data["A"])
    for name in ("y", "x0", "a"):
        if name in data:
            v, size = data[name], float(np.max(np.abs(data[name]))) or 1.0
            found |= {f"{name} has a zero": not v.all(), f"{name} has a negative entry": bool(np.any(v < 0.0)),
                      f"nonzeros of {name}": int(np.count_nonzero(v)),
                      f"least |{name}ᵢ| over the largest": float(np.min(np.abs(v))) / size}  # fmt: skip
            if name != "a":
                found[f"‖{name}‖_B"] = math.sqrt(max(0.0, float(v @ B @ v)))
    for name, symbol in (("rho", "ρ̃"), ("nu", "ν"), ("tau", "τ")):
        found |= {f"{symbol} = 0": data[name] == 0.0} if name in data else {}
    found |= {symbol: float(data[name]) for name, symbol in (("eps", "ε"), ("k", "k")) if name in data}
    if case.level == "step":
        limit = collapse(data["A"], data["y"], data["eps"], data["tau"])
        found |= {"τ/max |A|": over(float(data["tau"]), float(np.max(np.abs(data["A"])))),
                  "ρ̃ over the ρ̃ of collapse": data["rho"] / limit if limit > 0.0 else math.inf}  # fmt: skip
    if case.level in ("step", "fda"):
        x = reference(case).x
        found |= {"x* = 0": not x.any(), "nonzeros of x*": int(np.count_nonzero(x)),
                  "x* lies inside Ω": case.level == "step" and float(surrogate(case).room(x)) > 1e-9}  # fmt: skip
    found |= {"k = n": data["k"] == n} if "k" in data else {}
    layout = next((flag[7:] for flag in case.flags if flag.startswith("layout=")), "C order")
    return {**found, **{f"the arrays are {name}": layout == name for name in ("strided", "read-only")},
            "the arrays are in Fortran order": layout == "Fortran order"}  # fmt: skip


def matrix_properties(A: Any) -> dict[str, float]:
    """What code may ask about A."""
    diag, low = np.diagonal(A), float(np.linalg.eigvalsh(A)[0])
    size = float(np.max(np.abs(A)))
    return {"A = 0": size == 0.0, "A is diagonal": np.array_equal(A, np.diag(diag)), "max |A|": size,
            "A has a negative eigenvalue": low < -1e-10 * size, "tr A ≤ 0": float(np.sum(diag)) <= 0.0,
            "A has a zero row": not np.all(np.any(A, axis=0)), "A has a negative entry": bool(np.any(A < 0.0)),
            "diag(A) = 0": not diag.any(), "A is singular": abs(low) <= 1e-10 * size,
            "A is a multiple of I": np.array_equal(A, diag[0] * np.eye(len(A)))}  # fmt: skip


# The shortest separating conjunction


@dataclass(frozen=True, eq=False)
class Literal:
    """Words that hold for every failing case, for which passing cases they hold, and how odd they are."""

    words: str
    name: str
    held: Any
    oddness: int


VISIBLE = ("x* = 0", "nonzeros of x*", "x* lies inside Ω", "ρ̃ over the ρ̃ of collapse", "ρ̃ = 0", "ν = 0")
"""Properties that decide whether a fault can be seen at all; they are named only if no others separate the cases."""
COMMON = ("n", "ε", "τ/max |A|", "‖y‖_B", "‖x0‖_B", "k", "cond(B)")


def shared(failing: Sequence[Properties], passing: Sequence[Properties], beside: Any) -> tuple[tuple[str, ...], int]:
    """(the words, the number of passing cases for which they hold).

    Candidates are properties that exclude many passing cases: among all, and among the neighbours of failing cases,
    which differ from them in one dimension. The best set of at most three excludes most with few and plain words.
    """
    found = list(literals(failing, passing))
    if not passing or not found:
        return (), len(passing)
    every, plain = np.ones(len(passing), dtype=bool), [literal for literal in found if literal.name not in VISIBLE]
    seen = np.all([every, *(literal.held for literal in found if literal.name in VISIBLE)], axis=0)
    lists = (
        excluding(plain, beside & seen),
        excluding(plain, beside),
        excluding(plain, every),
        excluding(found, every),
    )
    pool = list({literal.words: literal for chosen in lists for literal in chosen}.values())
    sets = [chosen for count in (0, 1, 2, 3) for chosen in combinations(pool, count)]
    best = min(sets, key=lambda chosen: cost(chosen, every))
    held = np.all([every, *(literal.held for literal in best)], axis=0)
    return tuple(merged([literal.words for literal in best])), int(held.sum())


def cost(chosen: Sequence[Literal], every: Any) -> float:
    """The share of passing cases that are not excluded, and a price for every property, higher for odd ones."""
    left = np.all([every, *(literal.held for literal in chosen)], axis=0).mean()
    return float(left) + sum(0.02 + 0.01 * literal.oddness + 0.1 * (literal.name in VISIBLE) for literal in chosen)


def excluding(found: Sequence[Literal], passing: Any) -> list[Literal]:
    """At most four properties, each of which excludes the most of the passing cases that are left."""
    chosen, left = list[Literal](), passing.copy()
    while len(chosen) < 4 and left.any() and found:
        best = max(found, key=lambda literal: float((left & ~literal.held).sum()) - 0.3 * literal.oddness)
        if not (left & ~best.held).any():
            break
        chosen.append(best)
        left = left & best.held
    return chosen


def literals(failing: Sequence[Properties], passing: Sequence[Properties]) -> Iterator[Literal]:
    """The properties that every failing case has and some passing case lacks."""
    for name in failing[0]:
        bad = np.array([case[name] for case in failing], dtype=np.float64)
        good = np.array([case[name] for case in passing], dtype=np.float64)
        odd = 1 if name in COMMON else 2
        if isinstance(failing[0][name], (bool, np.bool_)):
            if np.ptp(bad) == 0.0 and not np.all(good == bad[0]):
                yield Literal(name if bad[0] else opposite(name), name, good == bad[0], 0)
            continue
        low, high = float(np.min(bad)), float(np.max(bad))
        below, above = good[good < low], good[good > high]
        if len(below):
            bound = round_between(float(np.max(below)), low)
            yield Literal(f"{name} > 0" if bound == 0.0 else f"{name} ≥ {bound:g}", name, good >= low, odd)
        if len(above):
            bound = round_between(float(np.min(above)), high)
            yield Literal(f"{name} = 0" if high == 0.0 else f"{name} ≤ {bound:g}", name, good <= high, odd)


def merged(words: Sequence[str]) -> Iterator[str]:
    """n ≥ 48 and n ≤ 48 become n = 48, other bounds on the same number one chain."""
    lower = dict(word.split(" ≥ ") for word in words if " ≥ " in word)
    upper = dict(word.split(" ≤ ") for word in words if " ≤ " in word)
    yield from (word for word in words if not {word.split(" ≥ ")[0], word.split(" ≤ ")[0]} & set(lower) & set(upper))
    for name in set(lower) & set(upper):
        yield f"{name} = {lower[name]}" if lower[name] == upper[name] else f"{lower[name]} ≤ {name} ≤ {upper[name]}"


def opposite(words: str) -> str:
    """The words of a property that does not hold."""
    for yes, no in ((" = ", " ≠ "), (" is ", " is not "), (" has a ", " has no "),
                    (" lies inside", " lies on the boundary of"), (" are ", " are not "), (" ≤ ", " > "),
                    ):  # fmt: skip
        if yes in words:
            return words.replace(yes, no, 1)
    return f"not ({words})"


def round_between(outside: float, inside: float) -> float:
    """A number of few digits between the two, the first excluded: 0 stays 0, whole numbers stay whole."""
    if outside == 0.0 and not inside.is_integer():
        return 0.0
    if inside.is_integer() or not math.isfinite(inside):
        return inside
    for digits in range(1, 6):
        value = float(f"{inside:.{digits}g}")
        if min(outside, inside) < value < max(outside, inside):
            return value
    return inside
