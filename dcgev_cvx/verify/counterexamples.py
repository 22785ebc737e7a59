"""What leads to a fault: where a solver fails, and a failing case made as small as possible.

Where: the properties of the data, and of the calls before, that failing cases share and most passing cases do not have,
such as τ > 0, B ≠ I, n ≥ 33. Cases near the failing ones, which differ in one dimension, are asked first: a few
failures are then enough to tell the properties that matter from those that do not.

A failure on two variables with one-digit numbers can be checked by hand. Shrinking is greedy: a simpler instance is
kept if the solver still fails on it and if it can still be judged.
"""

import heapq
import math
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import reduce
from hashlib import sha256
from itertools import islice
from operator import and_
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from .call_pairs import start_inside, usable, with_variables
from .levels import LEVELS, Instance, optimum, plain, question
from .reference_answers import reference
from .step_cases import shifted
from .suite import SPACES, Properties, builder, properties
from .trial import Finding, Outcome, Trial

CONTEXT: Mapping[str, str] = {
    "answers kept": "its answer is read again after later calls",
    "inputs unchanged": "its arguments are read again after it",
    "float32 data": "the arrays are float32",
}
"""What a check does beside the call that is shown: pasted alone, that call may be right."""
LARGEST_SNIPPET = 2000
"""Characters of an example that is printed; a longer one is written to a file."""


@dataclass(frozen=True)
class Counterexample:
    """An instance on which the solver fails, as plain numbers and as a snippet to paste.

    calls counts what shrinking cost; 0 for faults of state or memory, which a single fresh call does not show. file
    holds the snippet if it is long.
    """

    check: str
    equation: str
    violation: float
    limit: float
    arguments: dict[str, Any]
    found: Any
    expected: Any
    snippet: str
    calls: int
    file: str = ""

    def __str__(self) -> str:
        if not self.file:
            return self.snippet
        end = [line[:200] for line in self.snippet.splitlines() if line.startswith("#")][-3:]
        return "\n".join([f"# written to {self.file} ({len(self.snippet) / 1000:.0f} kB)", *end])


def counterexample(trial: Trial, outcomes: Sequence[Outcome]) -> Counterexample | None:
    """The smallest failing example of the first contract check that fails, shrunk; or the call that did not return."""
    shown = [outcome for outcome in outcomes if outcome.kind == "contract" and outcome.shown and not outcome.passed]
    first = min(shown, key=lambda outcome: outcome.status == "blocked", default=None)
    if first is None or first.shown is None:
        return None
    finding, calls = first.shown, 0
    single = None if finding.before else fresh_failure(trial, finding.instance)
    if single is not None:  # otherwise a fault of state, of memory or of side effects: shown as it was found
        finding, calls = shrunk(trial, single)
    return written_out(trial, first, finding, calls)


def fresh_failure(trial: Trial, instance: Instance) -> Finding | None:
    """The failure on a single fresh call, if it is there."""
    answer = trial.session.call(instance, instance.arguments())
    with np.errstate(all="ignore"):
        finding = trial.judged(instance, answer) if answer.asked else None
    return finding if finding is not None and finding.failed else None


def shrunk(trial: Trial, finding: Finding, attempts: int = 150, seconds: float = 6.0) -> tuple[Finding, int]:
    """(the simplest failure found, the calls it took); a missing answer is not traded for a wrong one or back."""
    begin, calls, improved = perf_counter(), 0, True
    while improved:
        improved = False
        for simpler in filter(usable, simplifications(finding.instance)):
            if calls >= attempts or perf_counter() - begin > seconds:
                return finding, calls
            calls += 1
            found = fresh_failure(trial, simpler)
            if found is not None and (found.x is None) == (finding.x is None):
                finding, improved = found, True
                break
    return finding, calls


def simplifications(instance: Instance) -> Iterator[Instance]:
    """Simpler instances: a variable dropped, B replaced by I, numbers rounded."""
    data = dict(instance.data)
    for i in range(instance.n if instance.n > 1 else 0):
        yield repaired(instance, with_variables(data, np.delete(np.arange(instance.n), i)))
    changes: list[dict[str, Any]] = [{**data, "B": np.eye(instance.n)}] if "B" in data else []
    changes += [{key: rounded(value, digits) for key, value in data.items()} for digits in (1, 2, 3)]
    changes += [{key: rounded(value, digits, each=True) for key, value in data.items()} for digits in (1, 2)]
    for change in changes:
        simpler = repaired(instance, change)
        if any(not np.array_equal(simpler.data[key], data[key]) for key in data):
            yield simpler


def rounded(value: Any, digits: int, *, each: bool = False) -> Any:
    """A number or an array to so many digits of its largest entry, or every entry to so many digits of its own."""
    if isinstance(value, (bool, int)) or not np.any(value):
        return value
    if each and isinstance(value, np.ndarray):
        return np.array([float(f"{v:.{digits}g}") for v in value.ravel()]).reshape(value.shape)
    places = digits - 1 - int(np.floor(np.log10(np.max(np.abs(value)))))
    result = np.round(value, places) if abs(places) < 300 else value
    return result if isinstance(value, np.ndarray) else float(result)


def repaired(instance: Instance, data: dict[str, Any]) -> Instance:
    """The instance with y or x0 brought back into Ω and τ made valid, where a change of the data has broken it."""
    if "tau" in data:
        data["tau"] = max(data["tau"], shifted(data["A"]))
    return question(instance.level, instance.name.split(", shrunk")[0] + ", shrunk", (), start_inside(data))


def written_out(trial: Trial, first: Outcome, finding: Finding, calls: int) -> Counterexample:
    """The failure as plain data and as code."""
    instance, level = finding.instance, LEVELS[finding.instance.level]
    arguments = {name: plain(instance.data[name]) for name in level.arguments}
    found = None if finding.x is None else plain(finding.x if level.returns == "x" else finding.x[0])
    expected, note = expected_of(instance), finding.note or first.name
    lines = [snippet(finding, note, found, expected)]
    if finding.before:
        lines.append(f"# {about_the_last_call(trial, instance)}")
    elif first.name in CONTEXT:
        lines.append(f'# alone it may be right: in "{first.name}" {CONTEXT[first.name]}')
    text, numbers = "\n".join(lines), (finding.violation, finding.limit, arguments, found, expected)
    return Counterexample(first.name, note, *numbers, text, calls, file_of(text))


def file_of(text: str) -> str:
    """The temporary file that a long example is written to; "" for a short one, or where none can be written."""
    path = Path(tempfile.gettempdir()) / f"dcgev-example-{sha256(text.encode()).hexdigest()[:12]}.py"
    with suppress(OSError):
        if len(text) > LARGEST_SNIPPET:
            path.write_text(text + "\n", encoding="utf-8")
            return str(path)
    return ""


def about_the_last_call(trial: Trial, instance: Instance) -> str:
    """Is the last call of a sequence right in a new process? Said only if it was tried."""
    answer = trial.session.alone(instance)
    if answer is None:
        return "the calls before it matter: in a new process the last call alone may be right"
    wrong = trial.judged(instance, answer).failed
    return f"in a new process the last call alone is {'wrong too' if wrong else 'right: the calls before it matter'}"


def expected_of(instance: Instance) -> Any:
    """The known answer where there is one: the minimiser, or the optimum that a bound must reach."""
    if instance.level in ("step", "fda"):
        return plain(reference(instance).x)
    return optimum(instance).value if instance.level == "bound" else None


def snippet(finding: Finding, note: str, found: Any, expected: Any) -> str:
    """Lines to paste that repeat the calls with the same bits, once `solver` is defined."""
    lines = [
        "import numpy as np",
        f"# {finding.instance.name}",
        *calls_as_code(finding),
        f"# returned {rough(found)}",
    ]
    if expected is not None:
        lines.append(f"# expected {'at least ' if finding.instance.level == 'bound' else ''}{rough(expected)}")
    size = f": {finding.violation:.3g} where {finding.limit:.3g} is allowed" if np.isfinite(finding.violation) else ""
    return "\n".join([*lines, f"# {note}{size}"])


def calls_as_code(finding: Finding) -> Iterator[str]:
    """The calls before the last one and the last one; what stays the same is not written again."""
    known: dict[str, Any] = {}
    for instance in (*finding.before, finding.instance):
        arguments = LEVELS[instance.level].arguments
        for name in arguments:
            value = instance.data[name]
            if name in known and np.array_equal(known[name], value):
                continue
            array = isinstance(value, np.ndarray)
            target = f"{name}[...]" if array and finding.reused and name in known else name
            yield f"{target} = np.array({plain(value)!r})" if array else f"{target} = {plain(value)!r}"
            known[name] = value
        fresh = finding.before and not finding.reused
        words = (f"{name}.copy()" if fresh and isinstance(known[name], np.ndarray) else name for name in arguments)
        yield f"x = solver({', '.join(words)})"


def rough(value: Any) -> str:
    """An answer for a comment: 10 digits."""
    if value is None:
        return "nothing that can be judged"
    return "[" + ", ".join(f"{v:.10g}" for v in value) + "]" if np.ndim(value) else f"{float(value):.12g}"


# Where a solver fails


@dataclass(frozen=True)
class Condition:
    """Words that hold for nearly all failing cases, for how many of these, and for how many passing cases too.

    remarks say whether failing calls are answered right when repeated, and where the solver itself raised a warning.
    """

    words: tuple[str, ...]
    named: int
    failing: int
    exceptions: int
    passing: int
    remarks: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.passing:
            return f"fails on all {self.failing} cases"
        if not self.words:
            return f"the {self.failing} failing cases share no property that most passing cases lack"
        words, others = " and ".join(self.words), f"{self.exceptions} of {self.passing} others"
        if self.named < self.failing:
            return f"fails mostly if {words} ({self.named} of {self.failing} failing cases, {others})"
        if not self.exceptions:
            return f"fails whenever {words} ({self.failing} cases)"
        return f"fails only if {words} (all {self.failing} failing cases, {others})"


def failure_condition(trial: Trial) -> Condition | None:
    """The properties that separate the failing cases from the passing ones; None without failures."""
    answers = trial.session.answers.items()
    judged = {case: trial.judged(case, answer).failed for case, answer in answers if answer.asked}
    if not any(judged.values()) or trial.session.hung:
        return None
    if not all(judged.values()):  # where every answer is wrong, more of them tell nothing
        judged |= dict(probed(trial, [case for case, failed in judged.items() if failed]))
    return replace(condition_of(judged), remarks=tuple(observations(trial, [c for c in judged if judged[c]])))


def observations(trial: Trial, failing: Sequence[Instance]) -> Iterator[str]:
    """What failing cases show beside their numbers: state, or chance, and the solver's own warnings."""
    again = failing[:5]
    if right := sum(fresh_failure(trial, case) is None for case in again):
        yield f"asked again, {right} of {len(again)} failing cases are right: earlier calls matter, or chance or time"
    if warned := [text for case in failing if (text := trial.session.answers[case].warned)]:
        yield f"the solver itself warned in {len(warned)} of {len(failing)} failing cases: {warned[0]}"


def unsupported_condition(trial: Trial) -> Condition | None:
    """The properties that the cases share for which the solver raised NotImplementedError."""
    refused = {case: case in trial.session.unsupported for case in trial.suite.cases}
    return condition_of(refused) if any(refused.values()) and not all(refused.values()) else None


def condition_of(marked: Mapping[Instance, bool]) -> Condition:
    """What separates the marked cases, in the order of their calls, from the others."""
    known = dict(zip(marked, in_sequence(marked), strict=True))
    failing = [known[case] for case, mark in marked.items() if mark]
    passing = [known[case] for case, mark in marked.items() if not mark]
    words, named, exceptions = shared(failing, passing) if passing else ((), len(failing), 0)
    return Condition(words, named, len(failing), exceptions, len(passing))


def in_sequence(cases: Iterable[Instance]) -> Iterator[Properties]:
    """The properties of each case, with what the calls before it had in common with it."""
    seen: set[tuple[Any, ...]] = set()
    for case in cases:
        data = case.data
        keys = {name: (name, value.tobytes()) for name, value in data.items() if isinstance(value, np.ndarray)}
        keys |= {"n": ("n", case.n), "diag(B)": ("diag(B)", np.diagonal(case.B).tobytes())}
        keys |= {"n and tr A": ("tr A", case.n, f"{np.trace(data['A']):.9g}")} if "A" in data else {}
        keys |= {"n and k": ("k", case.n, data["k"])} if "k" in data else {}
        yield properties(case) | {f"an earlier call had the same {name}": key in seen for name, key in keys.items()}
        seen.update(keys.values())


def probed(trial: Trial, failing: Sequence[Instance]) -> Iterator[tuple[Instance, bool]]:
    """(case, whether it fails) for at most 100 neighbours of failing rows, which differ in one dimension."""
    space, build, rng = SPACES[trial.suite.level], builder(trial.suite.level), np.random.default_rng(0)
    rows = [row for case in failing if len(row := row_of(case)) == len(space.dimensions)]
    neighbours = (
        {**rows[int(i)], name: str(level)}
        for i in rng.permutation(len(rows))[:5]
        for name, levels in space.dimensions.items()
        for level in rng.permutation([v for v in levels if v != rows[int(i)][name]])[:3]
    )
    cases = (build(row, rng) for row in islice(filter(space.allows, neighbours), 100))
    for case in filter(None, cases):
        if (answer := trial.session.ask(case)).asked:
            yield case, trial.judged(case, answer).failed


def row_of(case: Instance) -> dict[str, str]:
    """The levels of a case by dimension."""
    return dict(flag.split("=", 1) for flag in case.flags if "=" in flag)


# The shortest separating conjunction


@dataclass(frozen=True)
class Literal:
    """A property in words, the failing and the passing cases that have it (as bits), and its price."""

    words: str
    failing: int
    passing: int
    price: float


VISIBLE = ("x* = 0", "nonzeros of x*", "x* lies inside Ω", "ρ̃ over the ρ̃ of collapse", "ρ̃", "ν",
           "least nonzero |x*ᵢ| over the largest")  # fmt: skip
"""Properties that decide whether a fault can be seen at all; they are named only if no others separate the cases."""
PLAIN = ("n", "ε", "τ/max |A|", "‖y‖_B", "‖x0‖_B", "k", "cond(B)", "nonzeros of x*")
"""Numbers that code asks about more often than about others."""


def shared(failing: Sequence[Properties], passing: Sequence[Properties]) -> tuple[tuple[str, ...], int, int]:
    """(at most three properties, the failing cases that have them, the passing ones): few, plain and excluding most.

    Failing cases without them may have another cause; a share of them counts four times as much as the same share of
    passing cases with the properties. Of each number of properties the best sets are extended by one more.
    """
    found = [literal for name in failing[0] for literal in literals(name, failing, passing)]

    def counts(chosen: Sequence[Literal]) -> tuple[int, int]:
        named = reduce(and_, (literal.failing for literal in chosen), (1 << len(failing)) - 1)
        held = reduce(and_, (literal.passing for literal in chosen), (1 << len(passing)) - 1)
        return named.bit_count(), held.bit_count()

    def cost(chosen: Sequence[Literal]) -> float:
        named, held = counts(chosen)
        missed = 4.0 * (len(failing) - named) / len(failing)
        return held / len(passing) + missed + sum(literal.price for literal in chosen)

    best: list[tuple[Literal, ...]] = [()]
    tried = list(best)
    for _ in range(3):
        best = heapq.nsmallest(20, ((*chosen, one) for chosen in best for one in found if one not in chosen), key=cost)
        tried += best
    chosen = min(tried, key=cost)
    named, held = counts(chosen)
    if held > 0.85 * len(passing):
        return (), len(failing), len(passing)
    return tuple(merged([literal.words for literal in chosen])), named, held


def literals(name: str, failing: Sequence[Properties], passing: Sequence[Properties]) -> Iterator[Literal]:
    """What failing cases have in common in one property: its truth, a lower and an upper bound.

    A bound holds for all of them, or for all but the twentieth that lies farthest out.
    """
    bad, good = np.array([case[name] for case in failing]), np.array([case[name] for case in passing])
    truth, visible = isinstance(failing[0][name], (bool, np.bool_)), 0.2 * (name in VISIBLE)
    price = (0.04 if truth else 0.06 if name in PLAIN else 0.08) + visible
    if truth:
        often = bool(np.mean(bad) >= 0.5)
        if np.mean(bad == often) >= 0.95:
            yield Literal(name if often else opposite(name), as_bits(bad == often), as_bits(good == often), price)
        return
    ordered, out = np.sort(bad), len(bad) // 20
    for low in {float(ordered[0]), float(ordered[out])}:
        if np.any(good < low) and math.isfinite(low):
            bound = round_between(float(np.max(good[good < low])), low)
            words = f"{name} > 0" if bound == 0.0 else f"{name} ≥ {bound:g}"
            yield Literal(words, as_bits(bad >= low), as_bits(good >= low), price)
    for high in {float(ordered[-1]), float(ordered[-1 - out])}:
        if np.any(good > high):
            bound = round_between(float(np.min(good[good > high])), high)
            words = f"{name} = 0" if high == 0.0 else f"{name} ≤ {bound:g}"
            yield Literal(words, as_bits(bad <= high), as_bits(good <= high), price)


def as_bits(held: Any) -> int:
    """Truth values as the bits of a number."""
    return sum(1 << int(i) for i in np.flatnonzero(held))


def merged(words: Sequence[str]) -> Iterator[str]:
    """n ≥ 48 and n ≤ 48 become n = 48, other bounds on the same number one chain."""
    lower = dict(word.split(" ≥ ") for word in words if " ≥ " in word)
    upper = dict(word.split(" ≤ ") for word in words if " ≤ " in word)
    yield from (word for word in words if not {word.split(" ≥ ")[0], word.split(" ≤ ")[0]} & set(lower) & set(upper))
    for name in (name for name in lower if name in upper):
        yield f"{name} = {lower[name]}" if lower[name] == upper[name] else f"{lower[name]} ≤ {name} ≤ {upper[name]}"


def opposite(words: str) -> str:
    """The words of a property that does not hold."""
    for yes, no in (("an earlier", "no earlier"), (" has a ", " has no "), (" = ", " ≠ "), (" is ", " is not "),
                    (" lies inside", " lies on the boundary of"), (" are ", " are not "), (" ≤ ", " > "),
                    ):  # fmt: skip
        if yes in words:
            return words.replace(yes, no, 1)
    return f"not ({words})"


def round_between(outside: float, inside: float) -> float:
    """A number of few digits between the two, the first excluded: 0 stays 0, whole numbers stay whole."""
    if inside.is_integer() or not math.isfinite(inside):
        return inside
    shorter = (float(f"{inside:.{digits}g}") for digits in range(1, 6))
    between = (value for value in shorter if min(outside, inside) < value < max(outside, inside))
    return 0.0 if outside == 0.0 else next(between, inside)
