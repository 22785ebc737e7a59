"""Why a solver fails, in a sentence or two: the mistake that its wrong answers follow from, or where they occur."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

from .._numerics.checks import Vector
from ..errors import DCGEVError
from .call_pairs import RUNS, usable
from .equations import EQUATIONS
from .levels import LEVELS, Instance
from .mistakes import explained, listing
from .reference_answers import reference
from .run_cases import SETTLED, exact_step
from .trial import Finding, Outcome, Trial

COMPARED, LARGEST = 24, 12
"""Wrong answers that named mistakes are compared with, and the most variables they have."""
WITHOUT = {"rho": "the penalty is missing", "nu": "the penalty is missing", "B": "the metric is missing"}


def diagnosis(trial: Trial, failed: Sequence[Outcome]) -> tuple[str, ...]:
    """The cause, then what to do about it or where it shows; the first failing check decides what is explained."""
    first = failed[0]
    wrong = wrong_answers(trial)
    missing = [(case, trial.session.ask(case).problem) for case in trial.suite.cases if no_answer(trial, case)]
    if first.name == "valid answer" and len(missing) >= len(wrong) and missing:
        what = Counter(words for _, words in missing).most_common(1)[0][0]
        asked = len(trial.session.answers)
        return tuple(filter(None, (f"{what} (no answer in {len(missing)} of {asked} cases)",
                                   where(trial, [case for case, _ in missing]))))  # fmt: skip
    if not wrong:
        shown = first.shown
        return (
            (stale(trial, shown) if shown is not None and shown.x is not None else "") or first.note or first.meaning,
        )
    if words := remembered(trial, wrong):
        return (words,)
    found = of_wrong_answers(trial, wrong)
    unused = ignored(trial)
    if unused:
        why = "; ".join(dict.fromkeys(WITHOUT[name] for name in unused if name in WITHOUT))
        found = (f"your answers do not depend on {listing(unused)}{f': {why}' if why else ''}", *found)
    return (*found, *filter(None, (where(trial, [case for case, _ in wrong]),)))


def of_wrong_answers(trial: Trial, wrong: Sequence[tuple[Instance, Vector]]) -> tuple[str, ...]:
    """The named mistakes; or how near the answers are; or the equation that fails on the simplest case."""
    sample = [pair for pair in wrong if pair[0].n <= LARGEST and telling(pair[0])] or list(wrong[:COMPARED])
    sample = sample[:: max(1, len(sample) // COMPARED)][:COMPARED]
    if trial.suite.level in RUNS:
        sample = [(case, x) for case, x in sample if not stays(case, x, trial)]
        if not sample:
            return ("your answers are stationary but f is larger there than at x0: the run starts elsewhere, or rises",)
    limit = max(1e-7, 3.0 * trial.tol.accuracy)
    found = explained(sample, limit)
    if found is not None:
        first = found.first
        return found.in_words(trial.suite.level), f"{first.right}   not   {first.wrong}   (mistake: {first.name})"
    if words := stopped_early(trial, sample) or nearly_right(trial, sample) or scaled(trial, sample):
        return (words,)
    case, _ = min(wrong, key=lambda pair: pair[0].n)
    finding = trial.judged(case, trial.session.ask(case))
    return (f"no named mistake gives your answers; on the simplest case ({case.n} variables) {finding.note} is off by "
            f"{finding.violation:.2g}, allowed is {finding.limit:.2g}",)  # fmt: skip


def stays(case: Instance, x: Vector, trial: Trial) -> bool:
    """Is the answer of a run stationary?"""
    equation = next(equation for equation in EQUATIONS[case.level] if equation.name == "stationarity")
    measured = equation.judge(case, x, trial.limits(trial.session.answers[case]))
    return measured is None or measured[0] <= measured[1]


def wrong_answers(trial: Trial) -> list[tuple[Instance, Vector]]:
    """The cases with a wrong answer of the right form, and the answer."""
    found = [(case, trial.session.answers[case]) for case in trial.suite.cases if case in trial.session.answers]
    return [(case, answer.x) for case, answer in found if answer.x is not None and not trial.right(case)]


def no_answer(trial: Trial, case: Instance) -> bool:
    """Was the case asked, and nothing returned that can be judged?"""
    answer = trial.session.answers.get(case)
    return answer is not None and answer.asked and answer.x is None


def telling(case: Instance) -> bool:
    """Is the case of sizes at which wrong answers differ from each other, and without a tie?"""
    return case.level not in ("step", "fda") or (reference(case).nondegenerate and bool(reference(case).x.any()))


# Arguments without influence, and answers of earlier calls


def ignored(trial: Trial) -> list[str]:
    """The arguments that were changed alone and never moved the answer by a bit, where the right answer moved."""
    seen: dict[str, list[bool]] = {}
    for pair in trial.suite.pairs.get("one part changed", ()):
        names = [name for name in LEVELS[pair.base.level].arguments if differs(pair.base, pair.asked, name)]
        if len(names) == 1 and pair.how.startswith(names[0]) and len(seen.setdefault(names[0], [])) < 6:
            first, second = trial.session.ask(pair.base).x, trial.session.ask(pair.asked).x
            seen[names[0]].append(first is not None and second is not None and np.array_equal(first, second))
    found = [name for name, same in seen.items() if len(same) >= 2 and all(same)]
    free = {"bound": ("k",), "algorithm": ("x0",), "pca": ("x0",)}.get(trial.suite.level, ())
    return [name for name in found if name not in free]


def differs(a: Instance, b: Instance, name: str) -> bool:
    """Is an argument not the same in two questions?"""
    return not np.array_equal(a.data[name], b.data[name])


def stale(trial: Trial, finding: Finding) -> str:
    """Is the answer that to the call before, or one in which an argument is that of the call before?"""
    for before in reversed(finding.before):
        if not alike(before, finding.instance):
            continue
        old, x = trial.session.answers.get(before), finding.x
        changed = [name for name in LEVELS[before.level].arguments if differs(before, finding.instance, name)]
        if x is not None and old is not None and old.x is not None and np.array_equal(old.x, x) and changed:
            return (
                f"the answer of an earlier call is returned again although {listing(changed)} changed ({finding.note})"
            )
        if before.level in ("step", "fda") and x is not None:
            for names in (part for size in (1, 2) for part in combinations(changed, size)):
                mixed = finding.instance.changed("mixed", **{name: before.data[name] for name in names})
                if usable(mixed) and np.allclose(reference(mixed).x, x, rtol=1e-6, atol=1e-9):
                    return f"your answer is that for the {listing(names)} of an earlier call ({finding.note})"
    return ""


def remembered(trial: Trial, wrong: Sequence[tuple[Instance, Vector]]) -> str:
    """The argument of a step that is that of the first call of this size, or of the last, in most wrong answers."""
    level, asked = trial.suite.level, list(trial.session.answers)
    sample = [(case, x) for case, x in wrong if case.n <= LARGEST][:COMPARED]
    if level not in ("step", "fda") or not sample:
        return ""
    earlier = {case: [other for other in asked[: asked.index(case)] if alike(other, case)] for case, _ in sample}
    for name, which in product(LEVELS[level].arguments, (0, -1)):
        mixed = [
            (case.changed("mixed", **{name: earlier[case][which].data[name]}), x) for case, x in sample if earlier[case]
        ]
        same = [usable(case) and np.allclose(reference(case).x, x, rtol=1e-6, atol=1e-9) for case, x in mixed]
        if sum(same) > 0.8 * len(sample):
            return f"your answers are those for the {name} of an earlier call, in {sum(same)} of {len(sample)} compared"
    return ""


def alike(a: Instance, b: Instance) -> bool:
    """Are the arguments of the same shapes?"""
    return all(np.shape(a.data[name]) == np.shape(b.data[name]) for name in LEVELS[a.level].arguments)


# Answers near the right ones


def stopped_early(trial: Trial, sample: Sequence[tuple[Instance, Vector]]) -> str:
    """After how many exact steps a run's wrong answers are reached, where nearly all are on the way of that run."""
    if trial.suite.level not in RUNS:
        return ""
    with np.errstate(all="ignore"):
        counts = [count for case, x in sample if (count := steps_to(case, x))]
    if len(counts) < 0.6 * len(sample):
        return ""
    low, high = min(counts), max(counts)
    after = f"{low} steps" if low == high else f"{low} to {high} steps"
    return f"your answers are the iterates of the right run after {after}: the run stops too early"


def steps_to(case: Instance, x: Vector) -> int:
    """The number of exact steps from x0 to a point, 0 where it is on the way of neither split."""
    for metric in {False, case.level == "algorithm"}:
        step, y = exact_step(case, metric), case.data["x0"]
        for count in range(1, 400):
            new = step(y)
            if np.max(np.abs(new - x)) <= 1e-9 * max(1e-30, float(np.max(np.abs(x)))):
                return count
            moved, y = float(np.max(np.abs(new - y))), new
            if moved < SETTLED:
                break
    return 0


def nearly_right(trial: Trial, sample: Sequence[tuple[Instance, Vector]]) -> str:
    """How many digits the wrong answers have, where it is two or more in nearly all."""
    misses = sorted(trial.judged(case, trial.session.ask(case)).violation for case, _ in sample)
    top = misses[int(0.9 * (len(misses) - 1))]
    if trial.suite.level == "cardinality" or not 0.0 < top < 3e-3:
        return ""
    low = "below the optimum by" if trial.suite.level == "bound" else "right but for"
    return f"your answers are {low} {misses[0]:.0e} to {misses[-1]:.0e}: a loose stopping rule, or low precision"


def scaled(trial: Trial, sample: Sequence[tuple[Instance, Vector]]) -> str:
    """The one factor between the wrong and the right answers of steps, if there is one."""
    if trial.suite.level not in ("step", "fda"):
        return ""
    pairs = [(reference(case).x, x) for case, x in sample if reference(case).x.any()]
    factors = [float(r @ x) / float(r @ r) for r, x in pairs]
    same = [np.allclose(f * r, x, rtol=1e-6) for f, (r, x) in zip(factors, pairs, strict=True)]
    if not factors or not all(same) or np.ptp(factors) > 1e-6 * abs(factors[0]):
        return ""
    return f"your answers are {factors[0]:.6g} times the right ones"


# Where answers are wrong


def where(trial: Trial, wrong: Sequence[Instance]) -> str:
    """The levels of one or two dimensions that nearly all wrong cases have and few right ones."""
    failing = [set(case.flags) for case in wrong if any("=" in flag for flag in case.flags)]
    ids = {id(case) for case in wrong}
    passing = [set(case.flags) for case in trial.suite.cases if id(case) not in ids and case in trial.session.answers]
    if len(failing) < 5 or len(failing) > 4 * len(passing):
        return ""
    conditions = list(shared(failing))
    rated = [
        (sum(holds(cond, flags) for flags in passing) / max(1, len(passing)), len(cond), cond) for cond in conditions
    ]
    best: Any = min(rated, default=None, key=lambda rate: (round(rate[0], 2), rate[1]))
    if best is None or best[0] > 0.1:
        return ""
    words = " and ".join(" or ".join(sorted(part)) for part in best[2])
    return f"wrong only where {words} ({len(failing)} cases)"


def shared(failing: Sequence[set[str]]) -> Iterator[tuple[frozenset[str], ...]]:
    """Conditions that all failing cases meet: one of at most three levels in a dimension, or two such."""
    single = list[frozenset[str]]()
    for name in {flag.partition("=")[0] for flag in failing[0] if "=" in flag}:
        levels = {flag for flags in failing for flag in flags if flag.partition("=")[0] == name}
        if len(levels) <= 3 and all(flags & levels for flags in failing):
            single.append(frozenset(levels))
    yield from ((one,) for one in single)
    yield from combinations(single, 2)


def holds(condition: Sequence[frozenset[str]], flags: set[str]) -> bool:
    """Does a case have a level of every part?"""
    return all(flags & part for part in condition)


def quiet_diagnosis(trial: Trial, failed: Sequence[Outcome]) -> tuple[str, ...]:
    """The diagnosis; where it cannot be made, the note of the first failing check."""
    try:
        with np.errstate(all="ignore"):
            return diagnosis(trial, failed)
    except (DCGEVError, np.linalg.LinAlgError, FloatingPointError):
        return (failed[0].note or failed[0].meaning,)
