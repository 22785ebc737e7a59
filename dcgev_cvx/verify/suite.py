"""Everything that is asked at a level: a covering array of its case space, hard cases, and sequences of calls.

The suite of a level, seed, effort and profile is the same for every solver, on every machine up to the last bits of
LAPACK.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from .._numerics.checks import as_whole, one_of
from .._numerics.threads import one_thread
from .call_pairs import PAIRS, RUNS, Pair, another_k, last_digits, usable, variable_scales, weights_moved
from .case_space import Covered, Row, Space, covered
from .levels import PROFILES, Instance, Tolerances, condition, known_level
from .pencil_cases import (
    SUBSET_SPACE,
    Random,
    hard_subsets,
    leading,
    optimum,
    pencil,
    pencil_case,
    subset_build,
    unit,
)
from .reference_answers import reference
from .run_cases import (
    PCA_SPACE,
    QUICK_RUN,
    RUN_SPACE,
    hard_runs,
    run_build,
    run_case,
    run_start,
    useful_run,
)
from .step_cases import (
    FDA_SPACE,
    STEP_SPACE,
    fda_build,
    hard_steps,
    means,
    step_build,
    step_case,
    step_question,
)

Effort: TypeAlias = Literal["quick", "full"]
SPACES: Mapping[str, Space] = MappingProxyType(
    {
        "step": STEP_SPACE,
        "fda": FDA_SPACE,
        "algorithm": RUN_SPACE.without(  # a run with a dense B takes long
            *("n=48 … 66", "n=97, 129", "A=multiple", "A=repeated", "A=banded", "A=signed diagonal")
        ),
        "pca": PCA_SPACE,
        "bound": SUBSET_SPACE.without("n=41, 60"),  # a relaxation takes long there
        "cardinality": SUBSET_SPACE,
    }
)


@dataclass(frozen=True)
class Suite:
    """The cases in order of size, the pairs by the name of their check, and the levels left out by a profile.

    ladder holds pairs (k, k + 1) on one pencil, for the level bound; space is what the cases cover.
    """

    level: str
    cases: tuple[Instance, ...]
    pairs: Mapping[str, tuple[Pair, ...]]
    space: Covered
    ladder: tuple[tuple[Instance, Instance], ...] = ()
    left_out: tuple[str, ...] = ()


def case_hash(found: Suite) -> str:
    """Twelve digits that stand for the numbers of all cases, bit by bit."""
    digest = sha256(found.level.encode())
    for case in found.cases:
        for name, value in sorted(case.data.items()):
            digest.update(name.encode() + np.ascontiguousarray(value, dtype=np.float64).tobytes())
    return digest.hexdigest()[:12]


def suite(level: str, seed: int, effort: Effort, tol: Tolerances = PROFILES["standard"]) -> Suite:
    """Everything that is asked at a level; InvalidParameter for a level, seed or effort out of range."""
    one_of(effort, "effort", ("quick", "full"))
    name = known_level(level).name
    return made_suite(name, as_whole(seed, "seed", low=0), effort, left_out_by(tol, SPACES[name]))


def left_out_by(tol: Tolerances, space: Space) -> tuple[str, ...]:
    """The levels of a space that a profile is not for."""
    gone = ["B=basis 1e8"] if tol.accuracy > 1e-8 else []
    gone += ["B=cond 1e8"] if tol.largest_condition < 1e8 else []
    gone += [f"ε={v}" for v in STEP_SPACE.dimensions["ε"] if STEP_SPACE.at("ε", v)[0] < tol.smallest_eps]
    if tol.largest_scale < np.inf:
        gone += [
            f"size of {M}={size}"
            for M in "ABa"
            for size in ("1e-6", "1e-4", "1e-3", "1e-2", "1e2", "1e3", "1e4", "1e6", "1e40")
        ]
        gone += ["τ=huge", "norm of y=1e-8", "norm of y=1e-4"]
    return tuple(level for level in gone if level in space.levels)


@lru_cache(maxsize=64)
def made_suite(level: str, seed: int, effort: Effort, left_out: tuple[str, ...]) -> Suite:
    """The cases, and the sequences of calls made of some of them."""
    space, found = made_cases(level, seed, effort, left_out)
    rng, count = np.random.default_rng([seed, 11]), {"quick": (5, 3), "full": (9, 6)}[effort][level in RUNS]
    with one_thread:
        mild = chosen([case for case in found if is_mild(case)], count)
        bases = state_bases(level, rng, 1 if effort == "quick" else 2)
        used = {"units of the variables": mild, "float32 data": mild}
        pairs = {name: tuple(make(used.get(name, bases), rng)) for name, (make, _) in PAIRS.items()}
        pairs["last digits"] = most_telling((*bases, *found), count)
        pairs["last digits"] += tuple(weights_moved(rng, count)) if level == "step" else ()
        ties = [case for case in found if "near-tie" in case.flags][:4]
        pairs["units of the variables"] += tuple(variable_scales(ties, rng))
        narrow = any(gone.startswith("size") for gone in left_out)
        pairs["units of the variables"] = () if narrow else pairs["units of the variables"]
        kept = {name: tuple(p for p in made if level in RUNS or usable(p.asked)) for name, made in pairs.items()}
    ladder = tuple(steps_in_k(found)) if level == "bound" else ()
    some = MappingProxyType({name: made for name, made in kept.items() if made})
    return Suite(level, found, some, space, ladder, left_out)


@lru_cache(maxsize=64)
def made_cases(
    level: str, seed: int, effort: Effort, left_out: tuple[str, ...]
) -> tuple[Covered, tuple[Instance, ...]]:
    """(the covering array, all cases in order of size); a step without a certified reference is not asked."""
    rng, many = np.random.default_rng([seed, len(level)]), 4 if effort == "quick" else 10
    with one_thread:
        space = covered(
            SPACES[level].without(*left_out),
            builder(level),
            rng,
            triples=effort == "full",
        )
        more = covered(telling_part(SPACES[level].without(*left_out)), telling_builder(level), rng, attempts=300)
        hard = hard_steps(seed, many) if level == "step" else hard_runs(level, seed, many) if level in RUNS else ()
        hard = hard_subsets(level, seed, 2 * many) if level in ("bound", "cardinality") else hard
        kept = [case for case in hard if level in RUNS or judged(case)]
    return space, tuple(sorted((*space.cases, *more.cases, *kept), key=lambda case: case.n))


def builder(level: str) -> Callable[[Row, Random], Instance | None]:
    """How a row of the level's space becomes a case; None where it cannot be judged."""
    makers: dict[str, Callable[[], Callable[..., Instance | None]]] = {"step": step_build, "fda": fda_build}
    build = makers.get(level, lambda: (run_build if level in RUNS else subset_build)(level))()
    return lambda row, rng: case if (case := build(row, rng)) is not None and judged(case) else None


def telling_part(space: Space) -> Space:
    """The space without the levels at which the answer is 0, or is so whatever most arguments are."""
    inside = ("τ=moderate", "τ=large", "τ=huge", "norm of y=1e-8", "norm of y=1e-4", "norm of y=0.02")
    few = ("n=1", "ρ=0", "ρ=0.6 … 0.9", "ρ=0.9 … 1", "ν=0", "ν=20", "A=zero", "A=negative")
    slow = ("n=33 … 66", "n=97, 129", "n=13 … 24", "n=41, 60", "n=16 … 33", "n=48 … 66")
    return space.without(*space.hiding, *inside, *few, *slow)


def telling_builder(level: str) -> Callable[[Row, Random], Instance | None]:
    """As `builder`, for cases in which every argument has a part."""
    build = builder(level)
    return lambda row, rng: case if (case := build(row, rng)) is not None and is_telling(case) else None


def is_telling(case: Instance) -> bool:
    """Does the answer have two nonzeros or more, and lie on the boundary of Ω, without a tie?"""
    if case.level in RUNS:
        return useful(case)
    if case.level not in ("step", "fda"):
        return 1 < case.data["k"] < case.n
    x = reference(case).x
    binding = case.level == "fda" or float(x @ case.B @ x) > 1.0 - 1e-9
    return binding and bool(np.count_nonzero(x) >= 2)


def judged(case: Instance) -> bool:
    """Can the case be judged? Runs are chosen so."""
    return case.level in RUNS or usable(case)


def state_bases(level: str, rng: Random, count: int) -> list[Instance]:
    """Small questions in which every argument moves the answer: otherwise a remembered one would be right.

    B is dense, diagonal or I and τ is 0 or not, since each may have a branch, and a cache, of its own.
    """
    found: list[Instance] = []
    plans = (("dense", 1.0), ("I", 0.7), ("dense", 0.0), ("diagonal", 0.4)) * count
    for number, (metric, shift) in enumerate(plans):
        drawn = (state_base(level, metric, shift, 3 + (number + 1) % 3, rng) for _ in range(40))
        found += [case for case in drawn if every_argument_matters(case)][:1] if level != "pca" else []
    if level == "pca":
        drawn = (state_base(level, "I", 0.0, 3 + i % 3, rng) for i in range(60))
        found = [case for case in drawn if every_argument_matters(case)][: 2 * count]
    return found


def state_base(level: str, metric: str, shift: float, n: int, rng: Random) -> Instance:
    """A question of moderate numbers at a level."""
    A, B = pencil("covariance", metric, n, rng)
    B = B + 0.3 * np.eye(n) if metric == "dense" else B
    y, eps = unit(B, rng.standard_normal(n)), float(rng.choice([0.1, 0.3, 1.0]))
    flags = ("state", f"B={metric}")
    if level == "step":
        return step_case(A, B, y, float(rng.uniform(0.05, 0.2)), eps, shift, flags)
    if level == "fda":
        a = means("dense", n, rng)
        fisher = np.linalg.solve(B, a) / float(a @ np.linalg.solve(B, a))
        y = fisher * (1.0 + 0.2 * rng.standard_normal(n))
        data = {"a": a, "B": B, "y": y / float(a @ y), "nu": 0.1 * float(fisher @ B @ fisher), "eps": eps}
        return step_question(data, flags)
    if level in RUNS:
        top = leading(A, B)
        return run_case(level, A, B, 0.02 * float(top @ A @ top), eps, run_start(B, top, "near", rng), flags)
    return pencil_case(level, A, B, max(2, n - 1) if level == "cardinality" else 2, flags)


def is_mild(case: Instance) -> bool:
    """Is the case fit to be transformed: two variables or more, benign B, ε not tiny, x compared?

    Pairs are about consistency, and a hard base would blame rounding. A conic relaxation takes long in other units,
    so that pencils for bounds are smaller.
    """
    data, most = case.data, 8 if case.level in ("bound", "cardinality") else 13
    sizes = [float(np.max(np.abs(M))) for M in (data.get("A", case.B), case.B)]
    if not (2 <= case.n <= most and all(1e-2 <= size <= 1e2 for size in sizes) and condition(case) <= 1e4):
        return False
    if not 1e-4 <= data.get("eps", 1.0) <= 10.0 or {"slow", "small-entries", "cancelling", "better-start"} & set(
        case.flags
    ):
        return False
    if case.level in RUNS:
        return useful(case)
    return case.level not in ("step", "fda") or (reference(case).nondegenerate and bool(reference(case).x.any()))


def useful(case: Instance) -> bool:
    """Does the exact run end at two nonzeros or more?"""
    return useful_run(case, QUICK_RUN) is not None


def every_argument_matters(case: Instance) -> bool:
    """Does every argument of the case move its answer? Otherwise a stale one would be right.

    B has no part in a step that ends inside Ω, nor has ρ̃ where one entry is left. A bound has to rise with k and with
    1/B, and the k of a vector to have somewhere to go.
    """
    if case.level in ("bound", "cardinality"):
        return another_k(case) != case.data["k"] and (case.level == "cardinality" or optimum(case).value > 0.0)
    if case.level in RUNS:
        return is_weighty(case) and useful(case)
    if not usable(case):
        return False
    x = reference(case).x
    return (
        reference(case).nondegenerate
        and bool(np.count_nonzero(x) >= 2)
        and (case.level == "fda" or float(x @ case.B @ x) > 1.0 - 1e-9)
    )


def is_weighty(case: Instance) -> bool:
    """Is there a penalty, a shift, and an ε that is not lost beside |y|?"""
    data = case.data
    shift = data.get("tau", 1.0) > 0.01 * float(np.max(np.abs(data.get("A", 1.0))))
    return data.get("rho", data.get("nu", 0.0)) > 0.0 and data["eps"] >= 1e-2 and shift


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
