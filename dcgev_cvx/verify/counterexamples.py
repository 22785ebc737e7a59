"""A failing case made as small as possible, and written as code to paste.

A failure on two variables with one-digit numbers can be checked by hand. Shrinking is greedy: a simpler instance is
kept if the solver still fails on it and if it can still be judged.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .call_pairs import start_inside, usable, with_variables
from .levels import LEVELS, Instance, optimum, plain, question
from .reference_answers import reference
from .step_cases import shifted
from .trial import Finding, Outcome, Trial

CONTEXT: Mapping[str, str] = {
    "answers kept": "its answer is read again after later calls",
    "inputs unchanged": "its arguments are read again after it",
}
"""What a check does beside the call that is shown: pasted alone, that call may be right."""
MOST_CALLS = 100
"""Calls that making an example smaller may cost."""


@dataclass(frozen=True)
class Counterexample:
    """An instance on which the solver fails, as plain numbers and as a snippet to paste.

    calls counts what shrinking cost; 0 for faults of state or memory, which a single call does not show.
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

    def __str__(self) -> str:
        return self.snippet


def counterexample(trial: Trial, outcomes: Sequence[Outcome]) -> Counterexample | None:
    """The smallest failing example of the first contract check that fails often, shrunk; or of the call that hung."""
    shown = [outcome for outcome in outcomes if outcome.kind == "contract" and outcome.shown and not outcome.passed]
    most = max((outcome.failures for outcome in shown), default=0)
    often = [outcome for outcome in shown if 4 * outcome.failures >= most and outcome.status != "blocked"]
    first = next(iter([*often, *shown]), None)
    if first is None or first.shown is None:
        return None
    finding, calls = first.shown, 0
    alone = None if finding.before or trial.session.solver.lost else trial.on_its_own(finding.instance)
    if alone is not None:  # otherwise a fault of state, of memory or of side effects: shown as it was found
        finding, calls = shrunk(trial, alone)
    return written_out(trial, first, finding, calls, repeats=alone is not None)


def shrunk(trial: Trial, finding: Finding) -> tuple[Finding, int]:
    """(the simplest failure found, the calls it took); a missing answer is not traded for a wrong one or back."""
    calls, improved = 0, True
    while improved:
        improved = False
        for simpler in filter(usable, simplifications(finding.instance)):
            if calls >= MOST_CALLS:
                return finding, calls
            calls += 1
            found = trial.on_its_own(simpler)
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
    return question(instance.level, instance.name, (), start_inside(data), instance.penalty)


def written_out(trial: Trial, first: Outcome, finding: Finding, calls: int, *, repeats: bool) -> Counterexample:
    """The failure as plain data and as code."""
    instance, level = finding.instance, LEVELS[finding.instance.level]
    arguments = {name: plain(instance.data[name]) for name in level.arguments}
    found = None if finding.x is None else plain(finding.x if level.returns == "x" else finding.x[0])
    expected, note = expected_of(instance), finding.note or first.name
    passed = getattr(trial.session.solver, "passed", ()) or level.arguments
    lines = [snippet(finding, note, found, expected, passed)]
    if finding.before:
        lines.append("# the calls before the last one matter: alone it may be right")
    elif first.name in CONTEXT:
        lines.append(f'# alone it may be right: in "{first.name}" {CONTEXT[first.name]}')
    elif not repeats and not trial.session.solver.lost:
        lines.append("# called again, the answer was right: it depends on earlier calls, on chance or on time")
    return Counterexample(
        first.name, note, finding.violation, finding.limit, arguments, found, expected, "\n".join(lines), calls
    )


def expected_of(instance: Instance) -> Any:
    """The known answer where there is one: the minimiser, or the optimum that a bound must reach."""
    if instance.level in ("step", "fda"):
        return plain(reference(instance).x)
    return optimum(instance).value if instance.level == "bound" else None


def snippet(finding: Finding, note: str, found: Any, expected: Any, passed: Sequence[str]) -> str:
    """Lines to paste that repeat the calls with the same bits, once `solver` is defined."""
    lines = ["import numpy as np", *calls_as_code(finding, passed), f"# returned {rough(found)}"]
    if expected is not None:
        lines.append(f"# expected {'at least ' if finding.instance.level == 'bound' else ''}{rough(expected)}")
    size = f": {finding.violation:.3g} where {finding.limit:.3g} is allowed" if np.isfinite(finding.violation) else ""
    return "\n".join([*lines, f"# {note}{size}"])


def calls_as_code(finding: Finding, passed: Sequence[str]) -> Iterator[str]:
    """The calls before the last one and the last one; what stays the same is not written again."""
    known: dict[str, Any] = {}
    for instance in (*finding.before, finding.instance):
        arguments = LEVELS[instance.level].arguments
        for name in (name for name in arguments if name in passed):
            value = instance.data[name]
            if name in known and np.array_equal(known[name], value):
                continue
            array = isinstance(value, np.ndarray)
            target = f"{name}[...]" if array and finding.reused and name in known else name
            yield f"{target} = {matrix_as_code(value)}" if array else f"{target} = {plain(value)!r}"
            known[name] = value
        fresh = finding.before and not finding.reused
        words = (f"{name}.copy()" if fresh and isinstance(known[name], np.ndarray) else name for name in passed)
        yield f"x = solver({', '.join(words)})"


def matrix_as_code(value: Any) -> str:
    """An array as code, np.eye(n) where it is the identity."""
    if value.ndim == 2 and len(value) > 1 and np.array_equal(value, np.eye(len(value))):
        return f"np.eye({len(value)})"
    return f"np.array({plain(value)!r})"


def rough(value: Any) -> str:
    """An answer for a comment: 10 digits."""
    if value is None:
        return "nothing that can be judged"
    return "[" + ", ".join(f"{v:.10g}" for v in value) + "]" if np.ndim(value) else f"{float(value):.12g}"
