"""Pairs of calls whose answers must both be right: transformed, repeated, interleaved, laid out otherwise in memory.

The second question has a reference of its own; the two answers are never compared with each other, since both may be
right and different (a tie, another stationary point).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Index, Matrix, Vector
from ..errors import DCGEVError
from ..programs import log_scale
from .levels import LEVELS, Instance, question
from .pencil_cases import Random, optimum
from .reference_answers import reference
from .run_cases import QUICK_RUN, exact_run, settles
from .step_cases import lowest

RUNS = ("algorithm", "pca")
LAST_DIGITS = 2.0**-40
"""A relative change that float64 resolves 8000 times over and that float32, whose unit is 2⁻²⁴, does not see."""


@dataclass(frozen=True)
class Pair:
    """A base whose answer is known, and a second call that must be right as well.

    layout   how the arrays of the second call are laid out in memory
    before   what is asked just before it
    reused   the second question is written into the first one's arrays
    single   float32 data: judged by the tolerance of that precision
    """

    base: Instance
    asked: Instance
    layout: Callable[[Any], Any] = np.copy
    before: tuple[Instance, ...] = ()
    reused: bool = False
    single: bool = False
    how: str = ""

    def arguments(self) -> list[Any]:
        """The arguments of the second call."""
        return [self.layout(v) if isinstance(v, np.ndarray) else v for v in self.asked.arguments()]


def usable(instance: Instance) -> bool:
    """Can the instance be judged: is its reference certified, or does the exact iteration settle in time?"""
    try:
        if instance.level in ("step", "fda"):
            return reference(instance).kkt >= 0.0
        if instance.level in RUNS:
            return settles(instance, QUICK_RUN)
        return bool(np.isfinite(optimum(instance).value)) and bool(instance.data["A"].any())
    except (DCGEVError, np.linalg.LinAlgError, FloatingPointError):
        return False


# The same problem in other words


def permuted(instance: Instance, order: Index) -> Instance:
    """The variables in another order: x must come out in that order."""
    return instance.changed("permuted", **{key: picked(value, order) for key, value in instance.data.items()})


def picked(value: Any, order: Index) -> Any:
    """The variables of a vector or matrix in this order; a number as it is."""
    if not isinstance(value, np.ndarray):
        return value
    return value[order] if value.ndim == 1 else value[np.ix_(order, order)]


def flipped(instance: Instance, signs: Vector) -> Instance:
    """The signs of some variables changed: A becomes SAS, B becomes SBS, x becomes Sx."""
    return instance.changed("signs flipped", **stretched(instance, signs, signs))


def stretched(instance: Instance, d: Vector, e: Vector) -> dict[str, Any]:
    """DAD, DBD and Da with D = diag(d); Ey and Ex0 with E = diag(e)."""
    grown = {key: instance.data[key] * np.outer(d, d) for key in ("A", "B") if key in instance.data}
    grown |= {key: instance.data[key] * e for key in ("y", "x0") if key in instance.data}
    return {**grown, "a": instance.data["a"] * d} if "a" in instance.data else grown


def scaled_objective(instance: Instance, s: float) -> Instance:
    """The objective times s: A, ρ̃, τ times s (FDA: B and ν); the minimiser stays, a bound is multiplied by s."""
    names = ("B", "nu") if instance.level == "fda" else ("A", "rho", "tau")
    values = {key: instance.data[key] * s for key in names if key in instance.data}
    return instance.changed(f"objective × {s:g}", **values)


def scaled_variables(instance: Instance, s: float) -> Instance:
    """The variables in other units, x → x/s: A, B, τ times s², y and ε over s, ρ̃ such that ρ_ε is as it was.

    With x' = x/s, xᵀAx = x'ᵀ(s²A)x' and log(ε + |x|) = log(ε/s + |x'|) + log s; ρ_ε must stay, so ρ̃ is multiplied by
    log(1 + s/ε)/log(1 + 1/ε).
    """
    data = instance.data
    values: dict[str, Any] = {key: data[key] * (s * s) for key in ("A", "B", "tau") if key in data}
    values |= {key: data[key] / s for key in ("y", "x0", "eps") if key in data}
    values |= {"a": data["a"] * s} if "a" in data else {}
    if "eps" in data:
        growth = log_scale(data["eps"] / s) / log_scale(data["eps"])
        values |= {key: data[key] * growth for key in ("rho", "nu") if key in data}
    return instance.changed(f"variables × {1.0 / s:g}", **values)


def permutations(bases: Sequence[Instance], rng: Random) -> Iterator[Pair]:
    """PAPᵀ, PBPᵀ, Py: detects loops over the wrong axis and state kept by position."""
    return (Pair(base, permuted(base, rng.permutation(base.n))) for base in bases)


def sign_flips(bases: Sequence[Instance], rng: Random) -> Iterator[Pair]:
    """SAS, SBS, Sy with S diagonal, ±1, not all +1: detects signs taken from A instead of from c."""
    for base in bases:
        signs = rng.choice([-1.0, 1.0], size=base.n)
        signs[int(rng.integers(base.n))] = -1.0
        yield Pair(base, flipped(base, signs))


def objective_scales(bases: Sequence[Instance], rng: Random) -> Iterator[Pair]:
    """The objective times 1e±6, and 10 for profiles with narrow limits: detects absolute tolerances and ridges."""
    return (Pair(base, scaled_objective(base, s)) for base in bases for s in (1e-6, 1e6, 10.0))


def beyond_single(bases: Sequence[Instance], rng: Random) -> Iterator[Pair]:
    """A and ρ̃ times 2¹⁴⁰ at the level pca: exact in float64, infinite in float32.

    It is the only level at which single precision leaves no other trace: A ⪰ 0 and xᵀAx cannot cancel.
    """
    return (Pair(base, scaled_objective(base, 2.0**140)) for base in bases[:2] if base.level == "pca")


def variable_scales(bases: Sequence[Instance], rng: Random) -> Iterator[Pair]:
    """Units 1e±6 (B from 1e-12 to 1e12), and 3 for narrow profiles: detects tolerances on |x|, not |x|√Bᵢᵢ."""
    scaled = ((base, scaled_variables(base, s)) for base in bases if base.level != "pca" for s in (1e-6, 1e6, 3.0))
    return (Pair(base, asked) for base, asked in scaled if usable(asked))


# State between calls


def repetitions(bases: Sequence[Instance], rng: Random) -> Iterator[Pair]:
    """The same call again, at once: detects overwritten arrays and a random generator that has advanced."""
    return (Pair(base, base) for base in bases)


def interleavings(bases: Sequence[Instance], rng: Random) -> Iterator[Pair]:
    """The same call again after others, one of the same size: detects caches keyed by size and warm starts."""
    for base in bases:
        others = tuple(other for other in bases if other.n != base.n)[:1]
        mirrored = (flipped(base, -np.ones(base.n)), permuted(base, np.arange(base.n)[::-1]))
        yield Pair(base, base, before=(*others, *mirrored))


def single_changes(bases: Sequence[Instance], rng: Random) -> Iterator[Pair]:
    """One argument changed and the others kept: detects values remembered from the last call."""
    for base in bases[-3:]:
        changes = [
            (with_change(base, name), f"{name} changed, the rest kept") for name in LEVELS[base.level].arguments
        ]
        for asked, how in (*changes, (nudged(base), "every number moved by a thousandth")):
            if asked is not None and usable(asked):
                yield Pair(base, asked, before=(base,), how=how)


def nudged(base: Instance) -> Instance:
    """Every array changed by a thousandth of itself, y kept in Ω: detects a cache keyed by rounded numbers."""
    d = 1.0 + 1e-3 * np.cos(np.arange(base.n))
    return base.changed("nudged", **stretched(base, d, np.ones(base.n) if base.level == "pca" else 1.0 / d))


def with_change(base: Instance, name: str) -> Instance | None:
    """The base with one argument changed to another valid value: τ only grows, y stays in Ω, k stays in range."""
    value, data = base.data[name], base.data
    if name == "A":  # plus a positive semidefinite matrix, a tenth of its size
        v = np.cos(np.arange(base.n))
        return base.changed("A + bulge", A=value + 0.1 * float(np.max(np.abs(value))) * np.outer(v, v))
    if name == "B" and base.level == "bound":
        return base.changed("B/2", B=0.5 * value)  # a larger B leaves an old bound valid
    if name == "B":
        grown = value + np.diag(np.linspace(0.1, 0.7, base.n) * np.diagonal(value))
        starts = {key: inside(grown, data[key]) for key in ("y", "x0") if key in data and base.level != "fda"}
        return base.changed("B changed", B=grown, **starts)
    if name in ("y", "x0"):
        turned = value[::-1].copy()
        moved = turned / float(data["a"] @ turned) if base.level == "fda" else inside(base.B, turned)
        return base.changed(f"{name} reversed", **{name: moved}) if np.all(np.isfinite(moved)) else None
    if name == "k":
        return base.changed("another k", k=another_k(base))
    if name == "a":
        a = value * np.linspace(0.5, 1.5, base.n)
        return base.changed("another a", a=a, y=data["y"] / float(a @ data["y"]))
    factor = {"rho": 0.6, "nu": 0.5, "eps": 2.0, "tau": 1.7}[name]
    return base.changed(f"{name} × {factor:g}", **{name: value * factor + (0.05 if name == "tau" else 0.0)})


def another_k(base: Instance) -> int:
    """k + 1 for a bound, k − 1 for a vector, where there is one: the other way an old answer would be right."""
    k = base.data["k"]
    return min(k + 1, base.n) if base.level == "bound" else max(1, k - 1)


def inside(B: Matrix, v: Vector) -> Vector:
    """v, scaled into Ω if it lies outside: f may be lower there than anywhere in Ω."""
    return v / max(1.0, float(np.sqrt(v @ B @ v)))


def reused_arrays(bases: Sequence[Instance], rng: Random) -> Iterator[Pair]:
    """New numbers in the same arrays, B = I included: detects caches keyed by id()."""
    for base in bases[:3]:
        signs = np.where(np.arange(base.n) % 2 == 0, -1.0, 1.0)
        asked = nudged(permuted(flipped(base, signs), np.arange(base.n)[::-1]))
        if usable(asked):
            yield Pair(base, asked, reused=True)


# Memory layout and precision


def strided(array: Any) -> Any:
    """Every second entry of a larger array, backwards; the gaps are NaN, which detects reading beyond the view."""
    wide = np.full([2 * size for size in array.shape], np.nan)
    view = wide[tuple(slice(None, None, -2) for _ in array.shape)]
    view[...] = array
    return view


def read_only(array: Any) -> Any:
    """The array with writing forbidden."""
    array.flags.writeable = False
    return array


def layouts(bases: Sequence[Instance], rng: Random) -> Iterator[Pair]:
    """The same numbers in Fortran order, strided and read-only."""
    named = {"Fortran order": np.asfortranarray, "strided": strided, "read-only": read_only}
    return (Pair(base, base, layout=layout, how=how) for base in bases[-3:] for how, layout in named.items())


def single_precision(bases: Sequence[Instance], rng: Random) -> Iterator[Pair]:
    """Numbers rounded to float32, in both precisions the same question, delivered as float32."""
    for base in [base for base in bases if base.data.get("eps", 1.0) >= 1e-2][:3]:
        data = {k: single(v) if isinstance(v, np.ndarray) else v for k, v in base.data.items()}
        if "tau" in data:
            data["tau"] = max(float(data["tau"]), -1.01 * lowest(data["A"]))
        asked = question(base.level, f"{base.name}, float32", base.flags, data)
        if usable(asked):
            yield Pair(base, asked, layout=lambda v: v.astype(np.float32), single=True, how="float32 data")


def single(array: Any) -> Any:
    """The array rounded to float32; a matrix stays symmetric."""
    rounded = array.astype(np.float32).astype(np.float64)
    return 0.5 * (rounded + rounded.T) if rounded.ndim == 2 else rounded


# The last digits of the arguments


def last_digits(base: Instance) -> Iterator[Pair]:
    """One argument changed by 1e-12 of itself: if no bit of the answer changes, the argument was rounded."""
    for name in LEVELS[base.level].arguments:
        if name in ("x0", "k") or (name == "eps" and base.level in RUNS):
            continue
        value = moved(base.data[name])
        value = value / float(base.data["a"] @ value) if base.level == "fda" and name == "y" else value
        asked = base.changed(f"{name} moved by 1e-12 of itself", **{name: value})
        if base.level in RUNS or usable(asked):
            x = exact_run(base, QUICK_RUN).x if base.level in RUNS else reference(base).x
            yield from [Pair(base, asked, how=name)] if resolved(base, asked, x) else []


def weights_moved(rng: Random, count: int) -> Iterator[Pair]:
    """Steps whose y moves by 2⁻⁴⁰ between two variables with equal rows of A: c = Ay stays, the weights move.

    Entries are multiples of 1/8 and τ = 0, so that c is exact in any order of summation; weights in single precision
    stay, and x with them.
    """
    for _ in range(count):
        row = rng.integers(1, 5, 4) / 4.0
        A = np.outer(row, row)[np.ix_([0, 0, 1, 2, 3], [0, 0, 1, 2, 3])] + np.diag([0.0, 0.0, 1.0, 1.0, 1.0])
        N, y = rng.standard_normal((5, 11)), rng.choice([-1.0, 1.0]) * np.array([2.0, 2.0, 1.0, 3.0, 1.0]) / 8.0
        B = N @ N.T / 22.0 + 0.1 * np.eye(5)
        data = {"A": A, "B": B, "y": y, "rho": 0.02, "eps": 0.125, "tau": 0.0}
        base = question("step", "n = 5, two variables are one to A", (), data)
        asked = base.changed("moved between them", y=y + LAST_DIGITS * np.array([1.0, -1.0, 0.0, 0.0, 0.0]))
        if usable(base) and usable(asked) and resolved(base, asked, reference(base).x):
            yield Pair(base, asked, how="y in its weights")


def moved(value: Any) -> Any:
    """Every entry a little nearer to 0, by LAST_DIGITS and up to twice that: semidefinite stays so, and y in Ω."""
    if not isinstance(value, np.ndarray):
        return value * (1.0 - LAST_DIGITS)
    turn = 1.0 + np.cos(np.arange(len(value))) ** 2
    if value.ndim == 1:
        return value * (1.0 - LAST_DIGITS * turn)
    root = 1.0 - 0.5 * LAST_DIGITS * turn  # DAD with a diagonal D: of the rank and the signs of A
    return value * np.outer(root, root)


def resolved(base: Instance, asked: Instance, x: Vector) -> bool:
    """Does x, the certified minimiser or the limit of a run, move by 30 units in the last place of its largest entry?

    Not all do: where all nonzeros are alike, x does not depend on ρ̃ at all.
    """
    if np.count_nonzero(x) < 2:
        return False
    move = limit_move(base, asked, x) if base.level in RUNS else reference(asked).x - reference(base).x
    return bool(np.max(np.abs(move)) > 30.0 * UNIT_ROUNDOFF * np.max(np.abs(x)))


def limit_move(base: Instance, asked: Instance, x: Vector) -> Vector:
    """How far the stationary point x of (SGEV-A) moves, to first order, when the data do.

    On the support F = −2Ax + ρ_ε w∘sign x + 2μBx = 0 and xᵀBx = 1: (∂F/∂x, ∂F/∂μ)(dx, dμ) = −dF, with ∂F/∂x = −2A −
    ρ_ε diag(w²) + 2μB. Zero where the constraint is slack or the system is singular.
    """
    on = np.flatnonzero(np.abs(x) > 1e-4 * np.max(np.abs(x)))
    part, k = np.ix_(on, on), len(on)
    A, B, v = base.data["A"][part], base.B[part], x[on]
    w, price = 1.0 / (np.abs(v) + base.data["eps"]), base.coefficient
    mu = float(v @ A @ v) - 0.5 * price * float(w @ np.abs(v))
    dA, dB = asked.data["A"][part] - A, asked.B[part] - B
    dF = -2.0 * dA @ v + (asked.coefficient - price) * w * np.sign(v) + 2.0 * mu * (dB @ v)
    J = np.zeros((k + 1, k + 1))
    J[:k, :k] = -2.0 * A - price * np.diag(w * w) + 2.0 * mu * B
    J[:k, k] = J[k, :k] = 2.0 * (B @ v)
    if mu <= 0.0 or np.linalg.cond(J) > 1e8:
        return np.zeros(k)
    return np.asarray(np.linalg.solve(J, -np.append(dF, float(v @ dB @ v)))[:k], dtype=np.float64)


PAIRS: Mapping[str, tuple[Callable[[Sequence[Instance], Random], Iterator[Pair]], str]] = MappingProxyType(
    {
        "permutation": (permutations, "the variables in another order give the same answer in that order"),
        "sign flips": (sign_flips, "flipping variables flips the answer"),
        "scale of the objective": (objective_scales, "A, ρ̃, τ times 1e±6 change nothing but the value"),
        "range of float64": (beyond_single, "A and ρ̃ times 2¹⁴⁰, too large for float32, change nothing"),
        "units of the variables": (variable_scales, "x in other units (B from 1e-12 to 1e12) is the same x"),
        "the same call twice": (repetitions, "a second call is as right as the first"),
        "calls interleaved": (interleavings, "no state is left over from calls of other sizes and numbers"),
        "one argument changed": (single_changes, "nothing is remembered of the other arguments"),
        "reused arrays": (reused_arrays, "new numbers in the same arrays are seen"),
        "memory layout": (layouts, "Fortran order, strides and read-only arrays hold the same numbers"),
        "float32 data": (single_precision, "float32 numbers are read as numbers"),
    }
)
"""By the name of the check: how its pairs are made from some cases, and what it means when it passes."""
