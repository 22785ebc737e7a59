"""Pairs of calls whose answers must both be right: transformed, repeated, interleaved, laid out otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Matrix, Vector
from ..errors import DCGEVError
from .instances import LEVELS, Instance, flipped, permuted, question, scaled_objective, scaled_variables
from .matrices import lowest
from .printed import printed_run, settles
from .reference import optimum, reference
from .run_cases import QUICK_RUN

OBJECTIVE_SCALES, VARIABLE_SCALES = (1e-6, 1e6), (1e-6, 1e6)
BEYOND_SINGLE = 2.0**140
LAST_DIGITS = 2.0**-40
"""A relative change that float64 resolves 8000 times over and that float32, whose unit is 2⁻²⁴, does not see."""


def as_given(instance: Instance) -> list[Any]:
    """The arguments as they are: fresh C-ordered writeable arrays."""
    return instance.arguments()


@dataclass(frozen=True)
class Pair:
    """A base whose answer is known, and a second call that must be right as well.

    deliver  how the second call's arguments are laid out in memory
    before   what is asked just before it
    reused   the second question is written into the first one's arrays
    single   float32 data: judged by the tolerance of that precision

    The second question has a reference of its own; base and asked are never compared with each other.
    """

    base: Instance
    asked: Instance
    deliver: Callable[[Instance], list[Any]] = as_given
    before: tuple[Instance, ...] = ()
    reused: bool = False
    single: bool = False
    how: str = ""


def usable(instance: Instance) -> bool:
    """Can the instance be judged: is its reference certified, or does the printed iteration settle in time?

    False for instances that a transformation has made unjudgeable, which are then not asked.
    """
    try:
        if instance.level in ("step", "fda"):
            return reference(instance).kkt >= 0.0
        if instance.level in ("pca", "algorithm"):
            return settles(instance, QUICK_RUN)
        return bool(np.isfinite(optimum(instance).value)) and bool(instance.data["A"].any())
    except (DCGEVError, np.linalg.LinAlgError, FloatingPointError):
        return False


def permutations(bases: Sequence[Instance], rng: np.random.Generator) -> Iterator[Pair]:
    """P A Pᵀ, P B Pᵀ, P y.

    Catches: loops over the wrong axis, state kept by position.
    """
    for base in bases:
        yield Pair(base, permuted(base, rng.permutation(base.n)))


def sign_flips(bases: Sequence[Instance], rng: np.random.Generator) -> Iterator[Pair]:
    """S A S, S B S, S y with S diagonal, ±1.

    At least one sign is negative, so that no pair is the identity. Catches: signs taken from A instead of from c.
    """
    for base in bases:
        signs = rng.choice([-1.0, 1.0], size=base.n)
        signs[int(rng.integers(base.n))] = -1.0
        yield Pair(base, flipped(base, signs))


def objective_scales(bases: Sequence[Instance], rng: np.random.Generator) -> Iterator[Pair]:
    """The objective times 1e-6 to 1e6; ×10 stands in for profiles with narrow limits.

    Catches: absolute tolerances, fixed ridges, hard-coded thresholds.
    """
    for base in bases:
        for s in (*OBJECTIVE_SCALES, 10.0):
            yield Pair(base, scaled_objective(base, s))


def beyond_single(bases: Sequence[Instance], rng: np.random.Generator) -> Iterator[Pair]:
    """A and ρ̃ times 2¹⁴⁰, for Algorithm 2: exact in float64, infinite in float32.

    The only level at which single precision leaves no other trace: A ⪰ 0 and x'Ax cannot cancel. The factor changes
    no bit of a mantissa, and a right iteration takes the same steps.
    """
    for base in bases[:2]:
        if base.level == "pca":
            yield Pair(base, scaled_objective(base, BEYOND_SINGLE))


def variable_scales(bases: Sequence[Instance], rng: np.random.Generator) -> Iterator[Pair]:
    """The variables in units 1e-6 to 1e6 (B from 1e-12 to 1e12); ×3 stands in for narrow profiles.

    B from 1e-12 to 1e12: catches tolerances on |x| that should be tolerances on |x|√Bᵢᵢ. Not for PCA, whose B is
    fixed.
    """
    for base in bases:
        for s in () if base.level == "pca" else (*VARIABLE_SCALES, 3.0):
            asked = scaled_variables(base, s)
            if usable(asked):
                yield Pair(base, asked)


def repetitions(bases: Sequence[Instance], rng: np.random.Generator) -> Iterator[Pair]:
    """The same call again, at once.

    Catches: state that a call leaves behind, such as arrays overwritten or a random generator advanced.
    """
    for base in bases:
        yield Pair(base, base)


def interleavings(bases: Sequence[Instance], rng: np.random.Generator) -> Iterator[Pair]:
    """The same call again, after calls of another size and of the same size with other numbers.

    Catches: caches keyed by size, and warm starts that change the answer.
    """
    for base in bases:
        others = tuple(other for other in bases if other.n != base.n)[:1]
        yield Pair(
            base, base, before=(*others, flipped(base, -np.ones(base.n)), permuted(base, np.arange(base.n)[::-1]))
        )


def single_changes(bases: Sequence[Instance], rng: np.random.Generator) -> Iterator[Pair]:
    """One argument changed and the others kept: what is remembered of the last call shows."""
    for base in bases[-3:]:
        for name in LEVELS[base.level].arguments:
            asked = with_change(base, name)
            if asked is not None and usable(asked):
                yield Pair(base, asked, before=(base,), how=f"{name} changed, the rest kept")
        nudge = nudged(base)
        if usable(nudge):
            yield Pair(base, nudge, before=(base,), how="every number moved by a thousandth")


def nudged(base: Instance) -> Instance:
    """Every array moved by a thousandth of itself, units and all: a cache keyed by rounded numbers shows.

    D A D, D B D and D⁻¹y with D = I + 10⁻³·diag(cos i): y stays in Ω (FDA: a becomes Da), definite stays definite.
    """
    d = 1.0 + 1e-3 * np.cos(np.arange(base.n))
    grow: dict[str, Any] = {name: base.data[name] * np.outer(d, d) for name in ("A", "B") if name in base.data}
    grow |= {name: base.data[name] / d for name in ("y", "x0") if name in base.data and base.level != "pca"}
    return base.changed("nudged", **grow, **({"a": base.data["a"] * d} if "a" in base.data else {}))


def with_change(base: Instance, name: str) -> Instance | None:
    """The base with one argument moved to another valid value.

    Each change keeps the question valid: τ only grows, y stays in Ω (or on aᵀx = 1), k stays in range.
    """
    value, data = base.data[name], base.data
    if name == "A":
        return base.changed("A + bulge", A=value + bulge(value))
    if name == "B":
        if base.level == "bound":
            return base.changed("B/2", B=0.5 * value)  # a larger B leaves an old bound valid
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
    """v on its ray into Ω: a start outside may lie below every point of Ω, and nothing could be reached from it."""
    return v / max(1.0, float(np.sqrt(v @ B @ v)))


def bulge(A: Matrix) -> Matrix:
    """A positive semidefinite change of A, a tenth of its size.

    A fixed direction, so that the change is the same in every run.
    """
    v = np.cos(np.arange(len(A)))
    return 0.1 * float(np.max(np.abs(A))) * np.outer(v, v)


def reused_arrays(bases: Sequence[Instance], rng: np.random.Generator) -> Iterator[Pair]:
    """New numbers in the same arrays: an answer remembered by the array's identity is stale.

    Every array changes, B = I included. Catches: caches keyed by id().
    """
    for base in bases[:3]:
        signs = np.where(np.arange(base.n) % 2 == 0, -1.0, 1.0)
        asked = nudged(permuted(flipped(base, signs), np.arange(base.n)[::-1]))
        if usable(asked):
            yield Pair(base, asked, reused=True)


def laid_out(make: Callable[[Any], Any]) -> Callable[[Instance], list[Any]]:
    """Arguments whose arrays are passed through a change of memory layout.

    Numbers are untouched; only arrays change their layout.
    """
    return lambda instance: [make(v) if isinstance(v, np.ndarray) else v for v in instance.arguments()]


def strided(array: Any) -> Any:
    """Every second entry of a larger array, backwards: neither contiguous nor of positive stride.

    The gaps are NaN, so that reading beyond the view shows at once.
    """
    wide = np.full([2 * size for size in array.shape], np.nan)
    view = wide[tuple(slice(None, None, -2) for _ in array.shape)]
    view[...] = array
    return view


def read_only(array: Any) -> Any:
    """The array with writing forbidden."""
    array.flags.writeable = False
    return array


LAYOUTS = MappingProxyType(
    {"Fortran order": laid_out(np.asfortranarray), "strided": laid_out(strided), "read-only": laid_out(read_only)}
)


def layouts(bases: Sequence[Instance], rng: np.random.Generator) -> Iterator[Pair]:
    """The same numbers in Fortran order, strided and read-only."""
    for base in bases[-3:]:
        for how, deliver in LAYOUTS.items():
            yield Pair(base, base, deliver=deliver, how=how)


def single_precision(bases: Sequence[Instance], rng: np.random.Generator) -> Iterator[Pair]:
    """The numbers rounded to float32 and handed over as such.

    The numbers themselves are rounded first, so that both precisions hold the same question.
    """
    for base in [base for base in bases if base.data.get("eps", 1.0) >= 1e-2][:3]:
        data = {
            k: v.astype(np.float32).astype(np.float64) if isinstance(v, np.ndarray) else v
            for k, v in base.data.items()
        }
        for key in ("A", "B"):
            if key in data:
                data[key] = 0.5 * (data[key] + data[key].T)
        if "tau" in data:
            data["tau"] = max(float(data["tau"]), -1.01 * lowest(data["A"]))
        asked = question(base.level, f"{base.name}, float32", base.flags, data)
        if usable(asked):
            yield Pair(base, asked, deliver=laid_out(lambda v: v.astype(np.float32)), single=True, how="float32 data")


def last_digits(bases: Sequence[Instance], rng: np.random.Generator) -> Iterator[Pair]:
    """One argument moved by 1e-12 of itself: an answer of which no bit moves was computed from a rounded argument.

    Catches: an argument, or all that is made of it, in single precision; caches keyed by rounded numbers.
    """
    for base in bases:
        for name in LEVELS[base.level].arguments:
            if name in ("x0", "k") or (name == "eps" and base.level in ("pca", "algorithm")):
                continue
            value = moved(base.data[name])
            value = value / float(base.data["a"] @ value) if base.level == "fda" and name == "y" else value
            asked = base.changed(f"{name} moved by 1e-12 of itself", **{name: value})
            if base.level in ("pca", "algorithm"):
                telling = resolved(base, asked, printed_run(base, QUICK_RUN).x)
            else:
                telling = usable(asked) and resolved(base, asked, reference(base).x)
            if telling:
                yield Pair(base, asked, how=name)


def weights_moved(rng: np.random.Generator, count: int) -> Iterator[Pair]:
    """Steps whose y moves by 2⁻⁴⁰ between two variables that are one to A: c = Ay stays to the bit, the weights move.

    Entries are multiples of 1/8 and τ = 0, so that c is exact in any order of summation; weights in single precision
    stand still, and x with them.
    """
    for _ in range(count):
        row = rng.integers(1, 5, 4) / 4.0
        A = np.outer(row, row)[np.ix_([0, 0, 1, 2, 3], [0, 0, 1, 2, 3])] + np.diag([0.0, 0.0, 1.0, 1.0, 1.0])
        N, y = rng.standard_normal((5, 11)), rng.choice([-1.0, 1.0]) * np.array([2.0, 2.0, 1.0, 3.0, 1.0]) / 8.0
        data = {"A": A, "B": N @ N.T / 22.0 + 0.1 * np.eye(5), "rho": 0.02, "eps": 0.125, "tau": 0.0}
        data["y"] = y
        base = question("step", "n = 5, two variables are one to A", (), data)
        asked = base.changed("moved between them", y=y + LAST_DIGITS * np.array([1.0, -1.0, 0.0, 0.0, 0.0]))
        if usable(base) and usable(asked) and resolved(base, asked, reference(base).x):
            yield Pair(base, asked, how="y in its weights")


def moved(value: Any) -> Any:
    """Every entry a little nearer to 0, by LAST_DIGITS and up to twice that: symmetric stays symmetric, y in Ω."""
    if not isinstance(value, np.ndarray):
        return value * (1.0 - LAST_DIGITS)
    place = np.arange(len(value))
    turn = np.cos(place) ** 2 if value.ndim == 1 else np.cos(np.add.outer(place, place)) ** 2
    return value * (1.0 - LAST_DIGITS * (1.0 + turn))


def resolved(base: Instance, asked: Instance, x: Vector) -> bool:
    """Does x, the certified minimiser or the limit of a run, move by 30 units in the last place of its largest entry?

    Not all do: where all nonzeros are alike, x does not depend on ρ̃ at all.
    """
    if np.count_nonzero(x) < 2:
        return False
    run = base.level in ("pca", "algorithm")
    move = limit_move(base, asked, x) if run else reference(asked).x - reference(base).x
    return bool(np.max(np.abs(move)) > 30.0 * UNIT_ROUNDOFF * np.max(np.abs(x)))


def limit_move(base: Instance, asked: Instance, x: Vector) -> Vector:
    """How far the stationary point x of (SGEV-A) moves, to first order, when the data do.

    On the support F = −2Ax + ρ_ε w∘sign x + 2μBx = 0 and xᵀBx = 1: (∂F/∂x, ∂F/∂μ)(dx, dμ) = −dF, with ∂F/∂x = −2A −
    ρ_ε diag(w²) + 2μB. Nothing where the constraint is slack or the system is singular.
    """
    on = np.flatnonzero(np.abs(x) > 1e-4 * np.max(np.abs(x)))
    part = np.ix_(on, on)
    A, B, v = base.data["A"][part], base.B[part], x[on]
    w, price = 1.0 / (np.abs(v) + base.data["eps"]), base.coefficient
    mu = float(v @ A @ v) - 0.5 * price * float(w @ np.abs(v))
    dA, dB = asked.data["A"][part] - A, asked.B[part] - B
    dF = -2.0 * dA @ v + (asked.coefficient - price) * w * np.sign(v) + 2.0 * mu * (dB @ v)
    k = len(on)
    J = np.zeros((k + 1, k + 1))
    J[:k, :k] = -2.0 * A - price * np.diag(w * w) + 2.0 * mu * B
    J[:k, k] = J[k, :k] = 2.0 * (B @ v)
    if mu <= 0.0 or np.linalg.cond(J) > 1e8:
        return np.zeros(k)
    return np.asarray(np.linalg.solve(J, -np.append(dF, float(v @ dB @ v)))[:k], dtype=np.float64)


def weighty(base: Instance) -> bool:
    """Do all arguments matter: is there a penalty, a shift, and an ε that is not lost beside |y|?"""
    data = base.data
    price = data.get("rho", data.get("nu", 0.0))
    return price > 0.0 and data["eps"] >= 1e-2 and data.get("tau", 1.0) > 0.0


PAIRS: MappingProxyType[str, Callable[[Sequence[Instance], np.random.Generator], Iterator[Pair]]] = MappingProxyType(
    {
        "permutation": permutations,
        "sign flips": sign_flips,
        "scale of the objective": objective_scales,
        "range of float64": beyond_single,
        "units of the variables": variable_scales,
        "the same call twice": repetitions,
        "calls interleaved": interleavings,
        "one argument changed": single_changes,
        "reused arrays": reused_arrays,
        "memory layout": layouts,
        "float32 data": single_precision,
    }
)
