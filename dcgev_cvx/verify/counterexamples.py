"""Counterexamples: a failing case made as small as possible.

A failure on two variables with one-digit numbers can be checked by hand. Shrinking is greedy: a simpler instance is
kept if the solver still fails on it and if it can still be judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from .call_pairs import inside, picked, usable
from .levels import LEVELS, Instance, plain, question
from .pencil_cases import optimum
from .reference_answers import reference
from .trial import Finding, Outcome, Trial

CONTEXT: Mapping[str, str] = MappingProxyType(
    {
        "the same call twice": "the same call comes before it",
        "calls interleaved": "other calls come before it",
        "one part changed": "a call that differs in one place comes before it",
        "reused arrays": "a call with other numbers in the same arrays comes before it",
        "answers kept": "its answer is read again after later calls",
        "inputs unchanged": "its arguments are read again after it",
        "last digits": "its answer is compared with that of a neighbour",
        "float32 data": "the arrays are float32",
    }
)
"""What a check does beside the call that is shown: pasted alone, that call may be right."""


@dataclass(frozen=True)
class Counterexample:
    """An instance on which the solver fails, as plain numbers and as a snippet to paste.

    calls counts what shrinking cost; 0 for faults of state or memory, which a single fresh call does not show.
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


def counterexample(trial: Trial, outcomes: Sequence[Outcome]) -> Counterexample | None:
    """The smallest failing example of the first contract check that fails, shrunk."""
    failed = (outcome for outcome in outcomes if outcome.kind == "contract" and outcome.status == "failed")
    first = next(failed, None)
    if first is None or first.instance is None:
        return None
    finding, calls = fresh_failure(trial, first.instance), 0
    if finding is not None:
        finding, calls = shrunk(trial, finding)
    else:  # a fault of state, of memory or of side effects: shown as it was found
        finding = Finding(first.instance, first.worst, first.tolerance, first.x, first.note)
    return written_out(first, finding, calls)


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
    data = instance.data
    for i in range(instance.n if instance.n > 1 else 0):
        keep = np.delete(np.arange(instance.n), i)
        fewer = {key: picked(value, keep) for key, value in data.items()}
        yield repaired(instance, {**fewer, "k": min(data["k"], len(keep))} if "k" in data else fewer)
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
    """The instance with y or x0 brought back into Ω, which dropping a variable or rounding may have left."""
    for name in ("y", "x0"):
        if name in data and instance.level == "fda":
            av = float(data["a"] @ data[name])
            data[name] = data[name] / av if av != 0.0 else data[name]
        elif name in data:
            data[name] = inside(data.get("B", np.eye(len(data[name]))), data[name])
    return question(instance.level, instance.name.split(", shrunk")[0] + ", shrunk", (), data)


def written_out(first: Outcome, finding: Finding, calls: int) -> Counterexample:
    """The failure as plain data and as code."""
    instance, level = finding.instance, LEVELS[finding.instance.level]
    arguments = {name: plain(instance.data[name]) for name in level.arguments}
    found = None if finding.x is None else plain(finding.x if level.returns == "x" else finding.x[0])
    expected, note = expected_of(instance), finding.note or first.name
    text = snippet(finding, note, found, expected)
    text += f'\n# alone it may be right: in "{first.name}" {CONTEXT[first.name]}' if first.name in CONTEXT else ""
    return Counterexample(first.name, note, finding.violation, finding.limit, arguments, found, expected, text, calls)


def expected_of(instance: Instance) -> Any:
    """The known answer where there is one: the minimiser, or the optimum that a bound must reach."""
    if instance.level in ("step", "fda"):
        return plain(reference(instance).x)
    return optimum(instance).value if instance.level == "bound" else None


def snippet(finding: Finding, note: str, found: Any, expected: Any) -> str:
    """Lines to paste that repeat the call with the same bits, once `solver` is defined."""
    instance, level = finding.instance, LEVELS[finding.instance.level]
    lines = ["import numpy as np", f"# {instance.name}"]
    for name in level.arguments:
        value = instance.data[name]
        text = repr(plain(value))
        lines.append(f"{name} = np.array({text})" if isinstance(value, np.ndarray) else f"{name} = {text}")
    lines += [f"x = solver({', '.join(level.arguments)})", f"# returned {rough(found)}"]
    if expected is not None:
        lines.append(f"# expected {'at least ' if instance.level == 'bound' else ''}{rough(expected)}")
    size = f": {finding.violation:.3g} where {finding.limit:.3g} is allowed" if np.isfinite(finding.violation) else ""
    return "\n".join([*lines, f"# {note}{size}"])


def rough(value: Any) -> str:
    """An answer for a comment: 10 digits."""
    if value is None:
        return "nothing that can be judged"
    return "[" + ", ".join(f"{v:.10g}" for v in value) + "]" if np.ndim(value) else f"{float(value):.12g}"
