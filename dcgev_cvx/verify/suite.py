"""Everything that is asked at a level: a covering array of its case space, hard cases, and sequences of calls.

Two kinds of pairs of levels are not counted as covered. Levels that contradict each other are listed as such. A level
that makes the answer 0 whatever the other arguments are, such as y = 0, hides every other fault; a case with such a
level covers the pairs of this level alone. "full" covers every three levels of the dimensions with few of them too.

The suite of a level, seed, effort and profile is the same for every solver, on every machine up to the last bits of
LAPACK.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from itertools import combinations, islice
from typing import Any, Literal, TypeAlias

import numpy as np

from .._numerics.checks import as_whole, one_of
from .._numerics.threads import one_thread
from .call_pairs import PAIRS, RUNS, Pair, last_digits, usable
from .levels import PROFILES, Instance, Random, Row, Space, Tolerances, known_level
from .pencil_cases import SUBSET_SPACE, hard_subsets, leading, pencil, pencil_case, subset_of_row, unit
from .reference_answers import reference
from .run_cases import (
    PCA_SPACE,
    RUN_SPACE,
    hard_runs,
    run_case,
    run_of_row,
    run_start,
    useful_run,
)
from .step_cases import FDA_SPACE, STEP_SPACE, extra_steps, fda_case, fda_of_row, step_case, step_of_row

Build: TypeAlias = Callable[[Row, Random], Instance | None]
Effort: TypeAlias = Literal["quick", "full"]
SPACES: Mapping[str, Space] = {
    "step": STEP_SPACE,
    "fda": FDA_SPACE,
    "algorithm": RUN_SPACE.without(  # a run with a dense B takes long
        *("n=48 … 66", "n=97, 129", "A=multiple", "A=repeated", "A=banded", "A=signed diagonal")
    ),
    "pca": PCA_SPACE,
    # a relaxation takes long at the levels left out
    "bound": SUBSET_SPACE.without("n=41, 60", "size of B=1e-12", "size of B=1e12"),
    "cardinality": SUBSET_SPACE,
}


@dataclass(frozen=True)
class Suite:
    """The cases in order of size, the pairs by the name of their check, and the levels left out by a profile.

    space is what the cases cover.
    """

    level: str
    cases: tuple[Instance, ...]
    pairs: Mapping[str, tuple[Pair, ...]]
    space: Covered
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
    gone += [f"ε={v}" for v, (low, _) in STEP_SPACE.dimensions["ε"].items() if low < tol.smallest_eps]
    if tol.largest_scale < np.inf:
        gone += [name for name in space.levels if name.startswith("size of") and not name.endswith("=1")]
        gone += ["τ=huge", "norm of y=1e-8", "norm of y=1e-4"]
    return tuple(level for level in gone if level in space.levels)


@lru_cache(maxsize=64)
def made_suite(level: str, seed: int, effort: Effort, left_out: tuple[str, ...]) -> Suite:
    """The cases, and the sequences of calls made of small ones; a step without a certified reference is not asked."""
    space, full = SPACES[level].without(*left_out), effort == "full"
    with one_thread:
        rng = np.random.default_rng([seed, len(level)])
        pairwise = covered(space, builder(level), rng)
        tries = 600 if level == "pca" else 300  # its runs are cheap, and few of them tell
        more = covered(telling_part(level, space), builder(level, telling=True), rng, attempts=tries)
        triples = covered(space, builder(level), rng, beside=pairwise.cases).cases if full else ()
        hard = [case for case in hard_cases(level, seed, 10 if full else 4) if level in RUNS or usable(case)]
        bases = state_bases(level, np.random.default_rng([seed, 11]), 2 if full else 1)
        pairs = {name: tuple(make(bases)) for name, (make, _) in PAIRS.items()}
        if level in ("step", "fda"):
            pairs["last digits"] = tuple(pair for base in bases for pair in last_digits(base))
    cases = sorted((*pairwise.cases, *more.cases, *triples, *hard, *bases), key=lambda case: case.n)
    return Suite(level, tuple(cases), {name: made for name, made in pairs.items() if made}, pairwise, left_out)


def hard_cases(level: str, seed: int, count: int) -> Iterator[Instance]:
    """Cases that a covering array need not bring: plain ones, and hard ones made one by one."""
    if level in RUNS:
        return hard_runs(level, seed, count)
    return extra_steps(level, seed, count) if level in ("step", "fda") else hard_subsets(level, seed, count)


def builder(level: str, *, telling: bool = False) -> Build:
    """How a row of the level's space becomes a case, each of its sizes equally often; None if it cannot be judged.

    telling: only cases in which every argument has a part.
    """
    sizes: dict[str, list[int]] = {}

    def build(row: Row, rng: Random) -> Instance | None:
        if not sizes.get(row["n"]):
            sizes[row["n"]] = [int(n) for n in rng.permutation(SPACES[level].dimensions["n"][row["n"]])]
        n = sizes[row["n"]].pop()
        if level in ("step", "fda"):
            case = step_of_row(row, n, rng) if level == "step" else fda_of_row(row, n, rng)
        else:
            case = (run_of_row if level in RUNS else subset_of_row)(level, row, n, rng)
        kept = case is not None and usable(case) and (not telling or is_telling(case))
        return case if kept else None

    return build


def telling_part(level: str, space: Space) -> Space:
    """The space without levels at which the answer is 0 or one entry, or lies inside Ω, and without large sizes."""
    inside = ("τ=large", "τ=huge", "norm of y=1e-8", "norm of y=1e-4", "norm of y=0.02")
    few = ("n=1", "ρ=0.6 … 0.9", "ρ=0.9 … 1", "ν=20", "A=zero", "A=negative")
    few += () if level == "step" else ("ρ=0", "ν=0")
    slow = ("n=33 … 66", "n=97, 129", "n=13 … 24", "n=41, 60", "n=16 … 33") if level != "pca" else ()
    return space.without(*space.hiding, *inside, *few, *slow)


def is_telling(case: Instance) -> bool:
    """Does the answer have two nonzeros or more, and lie on the boundary of Ω, without a tie?"""
    if case.level in RUNS:
        return useful_run(case)
    if case.level in ("bound", "cardinality"):
        return 1 < case.data["k"] < case.n
    x = reference(case).x
    binding = case.level == "fda" or float(x @ case.B @ x) > 1.0 - 1e-9
    return binding and bool(np.count_nonzero(x) >= 2)


def state_bases(level: str, rng: Random, count: int) -> list[Instance]:
    """Small questions in which every argument moves the answer: otherwise a remembered one would be right.

    B is dense, diagonal or I and τ is 0 or not, since each may have a branch, and a cache, of its own.
    """
    plans = [("dense", 1.0), ("I", 0.7), ("dense", 0.0), ("diagonal", 0.4)] if level != "pca" else [("I", 0.0)] * 2
    found: list[Instance] = []
    for number, (metric, shift) in enumerate(plans * count):
        drawn = (state_base(level, metric, shift, 3 + (number + 1) % 3, rng) for _ in range(40))
        found += list(islice(filter(every_argument_matters, drawn), 1))
    return found


def every_argument_matters(case: Instance) -> bool:
    """Does every argument move the answer? B does not in a step that ends inside Ω, nor ρ̃ where one entry is left."""
    step = case.level in ("step", "fda")
    return usable(case) and is_telling(case) and (not step or reference(case).nondegenerate)


def state_base(level: str, metric: str, shift: float, n: int, rng: Random) -> Instance:
    """A question of moderate numbers at a level."""
    A, B = pencil("covariance", metric, n, rng)
    B = B + 0.3 * np.eye(n) if metric == "dense" else B
    y, eps = unit(B, rng.standard_normal(n)), float(rng.choice([0.1, 0.3, 1.0]))
    flags = ("state", f"B={metric}")
    if level == "step":
        return step_case(A, B, y, float(rng.uniform(0.05, 0.2)), eps, shift, *flags)
    if level == "fda":
        return fda_case(B, eps, rng, flags)
    if level in RUNS:
        top = leading(A, B)
        return run_case(level, A, B, 0.02 * float(top @ A @ top), eps, run_start(B, top, "near", rng), flags)
    return pencil_case(level, A, B, max(2, n - 1) if level == "cardinality" else 2, flags)


# The covering array


@dataclass(frozen=True)
class Covered:
    """The cases of a covering array, and the share of the sensible pairs of levels that they hold."""

    cases: tuple[Instance, ...]
    pairs: int
    asked: int
    missing: tuple[tuple[str, str], ...] = ()

    @property
    def share(self) -> float:
        """Pairs that occur, over pairs that can."""
        return self.asked / self.pairs if self.pairs else 1.0


def covered(space: Space, build: Build, rng: Random, beside: Sequence[Instance] = (), attempts: int = 4000) -> Covered:
    """Cases until every pair is held, or beside some that hold every pair, cases until every triple is.

    `build` returns None for a row that cannot be judged, and another is tried; attempts bounds the rows that are tried.
    """
    wanted, third = space.sensible.astype(np.float64), wanted_triples(space, beside) if beside else None
    wanted *= third is None
    pairs, cases, budget = int(wanted.sum()) // 2, list[Instance](), attempts
    while budget > 0 and (wanted.any() or (third is not None and third.any())):
        chosen = best_row(space, wanted, third, rng)
        budget -= 1
        case = build(space.row(chosen), rng) if len(chosen) == len(space.dimensions) else None
        if case is None:  # its pairs become less wanted, so that those that cannot be built do not crowd out others
            part = np.ix_(chosen, chosen)
            wanted[part] = np.maximum(0.9 * wanted[part], 1e-3 * (wanted[part] > 0.0))
            continue
        cases.append(case)
        for a, b in counted_pairs(space, chosen):
            wanted[a, b] = wanted[b, a] = 0.0
        if third is not None:
            third[np.ix_(chosen, chosen, chosen)] = False
    left = [(space.levels[a], space.levels[b]) for a, b in np.argwhere(np.triu(wanted))]
    return Covered(tuple(cases), pairs, pairs - len(left), tuple(left))


def counted_pairs(space: Space, chosen: list[int]) -> Iterator[tuple[int, int]]:
    """The pairs that a row covers: with a hiding level, those of this level alone."""
    hidden = [i for i in chosen if space.hides[i]]
    return ((hidden[0], i) for i in chosen if i != hidden[0]) if hidden else combinations(chosen, 2)


def wanted_triples(space: Space, beside: Iterable[Instance]) -> Any:
    """Which triples of levels are asked for: sensible, not held by the cases, without hiding ones and large dimensions.

    A dimension is large that has more than ten levels.
    """
    sizes = np.array([len(values) for values in space.dimensions.values()])
    few = (sizes[space.owner] <= 10) & ~space.hides
    pair = space.sensible & few[:, None] & few[None, :]
    wanted = pair[:, :, None] & pair[:, None, :] & pair[None, :, :]
    for case in beside:
        held = [space.levels.index(flag) for flag in case.flags if flag in space.levels]
        wanted[np.ix_(held, held, held)] &= bool(np.any(space.hides[held]))
    return wanted


def best_row(space: Space, wanted: Any, third: Any, rng: Random) -> list[int]:
    """The best of six rows, each grown from a pair or triple that is still wanted; more rows save few cases."""
    goals = np.argwhere(wanted) if wanted.any() else np.argwhere(third)
    rows = (grown(space, [int(i) for i in goals[rng.integers(len(goals))]], wanted, third, rng) for _ in range(6))
    return max(rows, key=lambda row: row[0])[1]


def grown(space: Space, start: list[int], wanted: Any, third: Any, rng: Random) -> tuple[float, list[int]]:
    """(new pairs and triples, the row): dimension by dimension the sensible level that adds most, ties at random."""
    chosen, gain = list(start), 1.0
    for dimension in rng.permutation(len(space.dimensions)):
        if any(space.owner[i] == dimension for i in chosen):
            continue
        allowed = (space.owner == dimension) & ~space.hides & np.all(space.sensible[chosen], axis=0)
        counting = [i for i in chosen if space.hides[i]] or chosen
        new = wanted[counting].sum(axis=0) + (0.0 if third is None else 0.5 * third[np.ix_(chosen, chosen)].sum((0, 1)))
        score = np.where(allowed, new + 0.9 * rng.random(len(new)), -1.0)
        best = int(np.argmax(score))
        if score[best] < 0.0:
            return -1.0, chosen  # a dead end: three levels may contradict each other where no two do
        chosen.append(best)
        gain += float(new[best])
    return gain, sorted(chosen)
