"""Calls that depend on those before them: repeated, interleaved, changed in one place, in reused arrays.

The second question has a reference of its own; the two answers are never compared with each other, since both may be
right and different (a tie, another stationary point).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Index, Matrix, Vector
from ..errors import DCGEVError
from .levels import LEVELS, Instance, optimum
from .reference_answers import reference
from .run_cases import settles

RUNS = ("algorithm", "pca")
LAST_DIGITS = 2.0**-40
"""A relative change that float64 resolves 8000 times over and that float32, whose unit is 2⁻²⁴, does not see."""


@dataclass(frozen=True)
class Pair:
    """A base whose answer is known, and a second call that must be right as well.

    before   what is asked just before it
    reused   the second question is written into the first one's arrays
    """

    base: Instance
    asked: Instance
    before: tuple[Instance, ...] = ()
    reused: bool = False
    how: str = ""


def usable(instance: Instance) -> bool:
    """Can the instance be judged: is its reference certified, or does the exact iteration settle in time?"""
    try:
        if instance.level in ("step", "fda"):
            return reference(instance).kkt >= 0.0
        if instance.level in RUNS:
            return settles(instance)
        return bool(np.isfinite(optimum(instance).value))
    except (DCGEVError, np.linalg.LinAlgError, FloatingPointError):
        return False


# The same problem in other words


def permuted(instance: Instance, order: Index) -> Instance:
    """The variables in another order: x must come out in that order."""
    return instance.changed("permuted", **with_variables(instance.data, order))


def with_variables(data: Mapping[str, Any], which: Index) -> dict[str, Any]:
    """The data of these variables, in this order; k is at most their number."""
    made = dict(data)
    for name, value in data.items():
        if isinstance(value, np.ndarray):
            made[name] = value[which] if value.ndim == 1 else value[np.ix_(which, which)]
    return {**made, "k": min(data["k"], len(which))} if "k" in data else made


def flipped(instance: Instance, signs: Vector) -> Instance:
    """The signs of some variables changed: A becomes SAS, B becomes SBS, x becomes Sx."""
    return instance.changed("signs flipped", **stretched(instance, signs, signs))


def stretched(instance: Instance, d: Vector, e: Vector) -> dict[str, Any]:
    """DAD, DBD and Da with D = diag(d); Ey and Ex0 with E = diag(e)."""
    grown = {key: instance.data[key] * np.outer(d, d) for key in ("A", "B") if key in instance.data}
    grown |= {key: instance.data[key] * e for key in ("y", "x0") if key in instance.data}
    return {**grown, "a": instance.data["a"] * d} if "a" in instance.data else grown


# State between calls


def repetitions(bases: Sequence[Instance]) -> Iterator[Pair]:
    """The same call again, at once: detects overwritten arrays and a random generator that has advanced."""
    return (Pair(base, base, before=(base,)) for base in bases)


def interleavings(bases: Sequence[Instance]) -> Iterator[Pair]:
    """The same call again after others, of other sizes and of the same: detects caches keyed by size, warm starts."""
    for base in bases:
        others = tuple(other for other in bases if other.n != base.n)[:2]
        mirrored = (flipped(base, -np.ones(base.n)), permuted(base, np.arange(base.n)[::-1]))
        yield Pair(base, base, before=(*others, *mirrored), how="after other calls")


def single_changes(bases: Sequence[Instance]) -> Iterator[Pair]:
    """One argument, one symmetric pair of entries or one entry changed and all the rest kept.

    Detects values remembered from an earlier call by a key that is a part of the data: the other arguments, the
    shape, the trace or the diagonal, the sum, a row, rounded numbers.
    """
    for base in bases:
        for asked, how in changes(base):
            if worthwhile(base, asked):
                yield Pair(base, asked, before=(base,), how=how)


def changes(base: Instance) -> Iterator[tuple[Instance, str]]:
    """(the changed question, what was changed): entries, numbers, everything a little, order and signs."""
    for name in LEVELS[base.level].arguments:
        value = base.data[name]
        if name == "k":
            # the other way an old answer would be right
            other = min(value + 1, base.n) if base.level == "bound" else max(1, value - 1)
            yield base.changed("another k", k=other), "k changed alone"
        elif isinstance(value, np.ndarray):
            for moved_to, how in entry_changes(base, name):
                yield with_start(base, name, moved_to), f"{how} changed alone"
        else:
            for factor in (1.7, 1.001):
                grown = value * factor + (0.05 * (factor > 1.5) if name == "tau" else 0.0)
                yield base.changed(f"{name} × {factor:g}", **{name: grown}), f"{name} changed alone"
    for size in (1e-2, 1e-3, 1e-4):
        yield nudged(base, size), f"every number changed by {size:g} of itself"
    order = np.roll(np.arange(base.n), 1)
    yield permuted(base, order), "the variables in another order, which keeps trace, sum and spectrum"
    signs = np.where(np.arange(base.n) == 0, -1.0, 1.0)
    yield flipped(base, signs), "one variable with the other sign, which keeps the diagonal"


def entry_changes(base: Instance, name: str) -> Iterator[tuple[Any, str]]:
    """An array with one entry, one symmetric pair, or two that keep the sum changed; with what was changed."""
    value, n = base.data[name], base.n
    if value.ndim == 1:
        for i in range(n):
            yield value + 0.05 * float(np.max(np.abs(value))) * np.eye(n)[i], f"{name}[{i}]"
        yield value[::-1].copy(), f"{name} reversed"
        return
    units = np.sqrt(np.abs(np.outer(np.diagonal(value), np.diagonal(value))))
    units = np.where(units > 0.0, units, np.max(np.abs(value)))
    sizes = large_changes(base, name) if base.level == "bound" else 0.03 * units
    for i, j in combinations_with_replacement(range(n), 2):
        yield value + sizes[i, j] * pair_of_entries(n, i, j), f"{name}[{i}, {j}]"
    if n > 2 and base.level != "bound":
        trade = sizes[0, 0] * (pair_of_entries(n, 0, 0) - pair_of_entries(n, 1, 1))
        yield value + trade, f"{name}[0, 0] and {name}[1, 1], the trace kept,"
        trade = sizes[0, 1] * (pair_of_entries(n, 0, 1) - pair_of_entries(n, 1, 2))
        yield value + trade, f"{name}[0, 1] and {name}[1, 2], the sum kept,"


def pair_of_entries(n: int, i: int, j: int) -> Matrix:
    """eᵢeⱼᵀ + eⱼeᵢᵀ, or eᵢeᵢᵀ."""
    E = np.zeros((n, n))
    E[i, j] = E[j, i] = 1.0
    return E


def large_changes(base: Instance, name: str) -> Matrix:
    """Changes of single entries that raise the optimum above what was a valid bound before."""
    B, diag = base.B, np.sqrt(np.diagonal(base.B))
    if name == "A":
        return 6.0 * optimum(base).radius * np.outer(diag, diag)
    return np.where(np.eye(base.n, dtype=bool), -0.97 * B, 0.995 * np.outer(diag, diag) - B)


def with_start(base: Instance, name: str, value: Any) -> Instance:
    """The base with one array replaced, and y or x0 brought back into Ω."""
    return base.changed(f"{name} changed", **start_inside({**base.data, name: value}))


def start_inside(data: dict[str, Any]) -> dict[str, Any]:
    """The data with y or x0 scaled into Ω, since f may be lower outside than anywhere in Ω; for FDA onto aᵀy = 1."""
    for name in {"y", "x0"} & set(data):
        v = data[name]
        if "a" in data:
            v = v if v @ data["a"] != 0.0 else data["a"]
            size = float(v @ data["a"])
        else:
            size = math.sqrt(max(1.0, float(v @ data.get("B", np.eye(len(v))) @ v)))  # a rounded B may be indefinite
        data[name] = v / (size or 1.0)
    return data


def worthwhile(base: Instance, asked: Instance) -> bool:
    """Can the changed question be judged, and would the old answer be wrong? A bound must fall below the optimum."""
    if not all(np.all(np.isfinite(value)) for value in asked.data.values()):
        return False
    if base.level == "bound":
        before = optimum(base).lambda_max if asked.data["k"] == base.data["k"] else optimum(base).value
        return usable(asked) and optimum(asked).value > before + 0.02 * abs(before)
    if base.level == "cardinality":
        return usable(asked) and (asked.data["k"] < base.data["k"] or not np.array_equal(asked.B, base.B))
    return usable(asked)


def nudged(base: Instance, size: float) -> Instance:
    """Every array changed by a small share of itself, y kept in Ω: detects a cache keyed by rounded numbers."""
    d = 1.0 + size * np.cos(np.arange(base.n))
    return base.changed("nudged", **stretched(base, d, np.ones(base.n) if base.level == "pca" else 1.0 / d))


def reused_arrays(bases: Sequence[Instance]) -> Iterator[Pair]:
    """New numbers in the same arrays, in one of them or in all, B = I included: detects caches keyed by id()."""
    for base in bases:
        signs = np.where(np.arange(base.n) % 2 == 0, -1.0, 1.0)
        arrays = [name for name in LEVELS[base.level].arguments if isinstance(base.data[name], np.ndarray)]
        every = nudged(permuted(flipped(base, signs), np.arange(base.n)[::-1]), 1e-2)
        alone = [(with_start(base, name, list(entry_changes(base, name))[1][0]), name) for name in arrays]
        for asked, how in ((every, "every array"), *alone):
            if worthwhile(base, asked):
                yield Pair(base, asked, reused=True, how=f"{how} overwritten in place")


# The last digits of the arguments


def last_digits(base: Instance) -> Iterator[Pair]:
    """One argument of a step changed by 1e-12 of itself: if no bit of the answer changes, it was rounded."""
    for name in LEVELS[base.level].arguments:
        if name == "B" and nearly_diagonal(base.B):
            continue  # code may treat a B as diagonal that is so to rounding
        value = moved(base.data[name])
        value = value / float(base.data["a"] @ value) if base.level == "fda" and name == "y" else value
        asked = base.changed(f"{name} moved by 1e-12 of itself", **{name: value})
        if usable(asked) and resolved(base, asked):
            yield Pair(base, asked, how=name)


def nearly_diagonal(B: Matrix) -> bool:
    """Is every entry beside the diagonal below a hundredth of it?"""
    scaled = B / np.sqrt(np.outer(np.diagonal(B), np.diagonal(B)))
    return bool(np.max(np.abs(scaled - np.diag(np.diagonal(scaled)))) < 1e-2)


def moved(value: Any) -> Any:
    """Every entry a little nearer to 0, by LAST_DIGITS and up to twice that: semidefinite stays so, and y in Ω."""
    if not isinstance(value, np.ndarray):
        return value * (1.0 - LAST_DIGITS)
    turn = 1.0 + np.cos(np.arange(len(value))) ** 2
    if value.ndim == 1:
        return value * (1.0 - LAST_DIGITS * turn)
    root = 1.0 - 0.5 * LAST_DIGITS * turn  # DAD with a diagonal D: of the rank and the signs of A
    return value * np.outer(root, root)


def resolved(base: Instance, asked: Instance) -> bool:
    """Does the minimiser move by 30 units in the last place of its largest entry?

    Not all do: where all nonzeros are alike, x does not depend on ρ̃ at all.
    """
    x = reference(base).x
    return bool(np.max(np.abs(reference(asked).x - x)) > 30.0 * UNIT_ROUNDOFF * np.max(np.abs(x)))


PAIRS: Mapping[str, tuple[Callable[[Sequence[Instance]], Iterator[Pair]], str]] = {
    "the same call twice": (repetitions, "a second call is as right as the first"),
    "calls interleaved": (interleavings, "no state is left over from calls of other sizes and numbers"),
    "one part changed": (single_changes, "nothing is remembered when one argument or one entry changes"),
    "reused arrays": (reused_arrays, "new numbers in the same arrays are seen"),
}
"""By the name of the check: how its pairs are made from some cases, and what it means when it passes."""
