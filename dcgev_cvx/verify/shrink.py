"""The smallest example: fewer variables, rounder numbers, as long as the solver still fails on it.

A failing problem of twenty variables teaches nothing; the same failure on two variables with one-digit numbers can
be checked by hand. Shrinking is greedy: a simpler instance is kept if the solver still fails on it and if it can
still be judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from .._numerics.checks import Vector
from .instances import LEVELS, Instance, plain, question, reordered
from .outcomes import Finding, Outcome, Trial, judged
from .pairs import usable
from .reference import optimum, reference

ATTEMPTS, SECONDS = 150, 6.0
"""What shrinking may cost: this many calls, this many seconds."""


CONTEXT = MappingProxyType(
    {
        "the same call twice": "the same call comes before it",
        "calls interleaved": "other calls come before it",
        "one argument changed": "a call that differs in one argument comes before it",
        "reused arrays": "a call with other numbers in the same arrays comes before it",
        "answers kept": "its answer is read again after later calls",
        "inputs unchanged": "its arguments are read again after it",
        "last digits": "its answer is compared with that of a neighbour",
        "memory layout": "the arrays are laid out otherwise",
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
    """The smallest failing example of the first contract check that fails, shrunk.

    The first failing contract check in the order of the report, which puts the basic ones first.
    """
    failed = [o for o in outcomes if o.kind == "contract" and o.status == "failed" and o.instance is not None]
    if not failed:
        return None
    first = failed[0]
    start = first.instance
    if start is None:
        return None
    finding, calls = first_finding(trial, start), 0
    if finding is not None:
        finding, calls = shrunk(trial, finding)
    else:  # a fault of state, of memory or of side effects: shown as it was found
        finding = Finding(start, first.worst, first.tolerance, first.x, first.note)
    return described(first, finding, calls)


def first_finding(trial: Trial, instance: Instance) -> Finding | None:
    """The failure on a single fresh call, if it is there."""
    finding = finding_of(trial, instance)
    return finding if finding is not None and not finding.ratio <= 1.0 else None


def finding_of(trial: Trial, instance: Instance) -> Finding | None:
    """One fresh call, judged; None once the solver hangs."""
    answer = trial.session.call(instance, instance.arguments())
    with np.errstate(all="ignore"):
        return judged(trial, instance, answer) if answer.asked else None


def shrunk(trial: Trial, finding: Finding) -> tuple[Finding, int]:
    """Take every simpler instance that still fails, until none does or the budget is spent.

    Ends after ATTEMPTS calls or SECONDS, with the best so far. A failure to answer is not traded for a wrong
    answer, nor the reverse.
    """
    begin, calls = perf_counter(), 0
    improved = True
    while improved and calls < ATTEMPTS and perf_counter() - begin < SECONDS:
        improved = False
        for simpler in simplifications(finding.instance):
            if calls >= ATTEMPTS or perf_counter() - begin > SECONDS:
                break
            if not usable(simpler):
                continue
            calls += 1
            found = first_finding(trial, simpler)
            if found is not None and (found.x is None) == (finding.x is None):
                finding, improved = found, True
                break
    return finding, calls


def simplifications(instance: Instance) -> Iterator[Instance]:
    """Simpler instances, the greatest simplification first.

    Variables are dropped one at a time, then B becomes I, then numbers lose digits; after each success the list
    starts anew.
    """
    yield from (without(instance, i) for i in range(instance.n) if instance.n > 1)
    for change in (
        plain_metric,
        *(round_numbers(d) for d in (1, 2, 3)),
        *(round_numbers(d, each=True) for d in (1, 2)),
    ):
        simpler = change(instance)
        if simpler is not None and differs(simpler, instance):
            yield simpler


def without(instance: Instance, i: int) -> Instance:
    """The instance with variable i left out."""
    keep = np.delete(np.arange(instance.n), i)
    data = {key: reordered(value, keep) for key, value in instance.data.items()}
    if "k" in data:
        data["k"] = min(data["k"], len(keep))
    return repaired(instance, data)


def plain_metric(instance: Instance) -> Instance | None:
    """The instance with B = I."""
    if "B" not in instance.data:
        return None
    return repaired(instance, {**instance.data, "B": np.eye(instance.n)})


def round_numbers(digits: int, *, each: bool = False) -> Callable[[Instance], Instance | None]:
    """The instance with so many significant digits, of an array's largest entry or of each."""

    def change(instance: Instance) -> Instance | None:
        cut = by_entry if each else rounded
        return repaired(instance, {key: cut(value, digits) for key, value in instance.data.items()})

    return change


def by_entry(value: Any, digits: int) -> Any:
    """A number or an array, every entry to so many digits of its own: small entries stay, where they matter."""
    if not isinstance(value, np.ndarray):
        return rounded(value, digits)
    return np.array([float(f"{v:.{digits}g}") for v in value.ravel()]).reshape(value.shape)


def rounded(value: Any, digits: int) -> Any:
    """A number or an array, each entry to so many digits of the largest.

    Digits are relative to the largest entry of an array, so that small entries become zero first.
    """
    if isinstance(value, (bool, int)):
        return value
    array = np.asarray(value, dtype=np.float64)
    size = float(np.max(np.abs(array)))
    if size == 0.0:
        return value
    places = digits - 1 - int(np.floor(np.log10(size)))
    result = np.round(array, places) if abs(places) < 300 else array
    return result if isinstance(value, np.ndarray) else float(result)


def repaired(instance: Instance, data: dict[str, Any]) -> Instance:
    """The instance with y or x0 brought back into Ω.

    Dropping a variable or rounding may push y out of Ω, where nothing is promised.
    """
    for name in ("y", "x0"):
        if name in data:
            v = data[name]
            if instance.level == "fda":
                av = float(data["a"] @ v)
                data[name] = v / av if av != 0.0 else v
            else:
                square = float(v @ data["B"] @ v) if "B" in data else float(v @ v)
                data[name] = v / np.sqrt(square) if square > 1.0 else v
    return question(instance.level, instance.name.split(", shrunk")[0] + ", shrunk", (), data)


def differs(one: Instance, other: Instance) -> bool:
    """Is any argument different?"""
    return any(not np.array_equal(one.data[key], other.data[key]) for key in one.data)


def described(first: Outcome, finding: Finding, calls: int) -> Counterexample:
    """The failure as plain data and as code."""
    instance = finding.instance
    arguments = {name: plain(instance.data[name]) for name in LEVELS[instance.level].arguments}
    found = None if finding.x is None else plain(finding.x if LEVELS[instance.level].returns == "x" else finding.x[0])
    expected = expected_of(instance)
    note = finding.note or first.name
    text = snippet(instance, note, finding, found, expected)
    text += f'\n# alone it may be right: in "{first.name}" {CONTEXT[first.name]}' if first.name in CONTEXT else ""
    return Counterexample(first.name, note, finding.violation, finding.limit, arguments, found, expected, text, calls)


def expected_of(instance: Instance) -> Any:
    """The known answer where there is one: the minimiser, or the optimum that a bound must reach."""
    if instance.level in ("step", "fda"):
        return plain(reference(instance).x)
    return optimum(instance).value if instance.level == "bound" else None


def snippet(instance: Instance, note: str, finding: Finding, found: Any, expected: Any) -> str:
    """Lines to paste that repeat the call.

    It runs as it stands once `solver` is bound, and repeats the call with the same bits.
    """
    level = LEVELS[instance.level]
    lines = ["import numpy as np", f"# {instance.name}"]
    for name in level.arguments:
        value = instance.data[name]
        shown = f"np.array({plain(value)!r})" if isinstance(value, np.ndarray) else repr(plain(value))
        lines.append(f"{name} = {shown}")
    lines.append(f"x = solver({', '.join(level.arguments)})")
    lines.append(f"# returned {rough(found)}")
    if expected is not None:
        lines.append(f"# expected {'at least ' if instance.level == 'bound' else ''}{rough(expected)}")
    size = f": {finding.violation:.3g} where {finding.limit:.3g} is allowed" if np.isfinite(finding.violation) else ""
    lines.append(f"# {note}{size}")
    return "\n".join(lines)


def rough(value: Any) -> str:
    """An answer for a comment: 10 digits."""
    if value is None:
        return "nothing that can be judged"
    vector: Vector = np.atleast_1d(np.asarray(value, dtype=np.float64))
    return "[" + ", ".join(f"{v:.10g}" for v in vector) + "]" if np.ndim(value) else f"{float(value):.12g}"
