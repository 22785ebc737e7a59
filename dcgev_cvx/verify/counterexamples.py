"""Counterexamples: a failing case made as small as possible, and a search for failures beyond the suite.

A failure on two variables with one-digit numbers can be checked by hand. Shrinking is greedy: a simpler instance is
kept if the solver still fails on it and if it can still be judged. The search lets hypothesis draw problems of one to
four variables whose entries are halves and quarters.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from random import Random as PlainRandom
from tempfile import TemporaryDirectory
from time import perf_counter
from types import MappingProxyType
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, Vector
from ..programs import MACHINE_EPS, log_scale
from .call_pairs import RUNS, inside, picked, usable
from .levels import LEVELS, Instance, lost, plain, question
from .pencil_cases import leading, optimum
from .reference_answers import reference
from .run_cases import QUICK_RUN, useful_run
from .step_cases import collapse, lowest, through
from .trial import Check, Finding, Outcome, Trial

CONTEXT: Mapping[str, str] = MappingProxyType(
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


# The search beyond the suite


def search_available() -> bool:
    """Is hypothesis installed?"""
    return find_spec("hypothesis") is not None


def search_check(level: str, seed: int) -> Check:
    """No problem of a few small numbers makes the solver miss an equation."""

    def findings(trial: Trial) -> list[Finding]:
        seen: list[Finding] = []

        def fails(case: Instance | None) -> bool:
            answer = trial.session.call(case, case.arguments()) if case is not None else None
            if case is None or answer is None or not answer.asked:
                return False
            seen.append(trial.judged(case, answer))
            return seen[-1].failed

        found = searched(level, seed, fails)
        worst = fresh_failure(trial, found) if found is not None else None
        return seen if worst is None else [worst]

    return Check("search", "", "no counterexample among problems of small whole numbers", findings)


def searched(level: str, seed: int, fails: Callable[[Instance | None], bool]) -> Instance | None:
    """The smallest problem on which the solver fails, or None; the same for the same seed. Whole runs cost more."""
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis.errors import NoSuchExample

    quiet = settings(
        max_examples=60 if level in RUNS else 200,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=(HealthCheck.filter_too_much, HealthCheck.too_slow, HealthCheck.data_too_large),
    )
    try:
        with temporary_home():
            return find(problems(level), fails, settings=quiet, random=PlainRandom(seed))
    except NoSuchExample:
        return None


@contextmanager
def temporary_home() -> Generator[None]:
    """Hypothesis keeps its notes in a temporary folder, and not in the caller's."""
    from hypothesis import configuration

    before = getattr(configuration, "__hypothesis_home_directory", None)
    with TemporaryDirectory() as folder:
        configuration.set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            configuration.set_hypothesis_home_dir(before)


def problems(level: str) -> Any:
    """A strategy for problems of a level; None is returned for draws that cannot be judged."""
    from hypothesis import strategies

    @strategies.composite
    def one(draw: Callable[[Any], Any]) -> Instance | None:
        halves, n = strategies.integers(-4, 4), draw(strategies.integers(1, 4))

        def numbers(count: int) -> Vector:
            return 0.5 * np.array(draw(strategies.lists(halves, min_size=count, max_size=count)), dtype=np.float64)

        M, N = numbers(n * n).reshape(n, n), numbers(n * n).reshape(n, n)
        A = M @ M.T if level == "pca" else 0.5 * (M + M.T)
        B = np.eye(n) + (0.25 * N @ N.T if level != "pca" and draw(strategies.booleans()) else 0.0)
        if level in ("bound", "cardinality"):
            return judgeable(level, {"A": A, "B": B, "k": draw(strategies.integers(1, n))})
        eps = draw(strategies.sampled_from((1.0, 0.1, 1e-2, 1e-4, MACHINE_EPS)))
        share = draw(strategies.sampled_from((0.0, 0.1, 0.3, 0.6, 0.9)))
        shift = draw(strategies.sampled_from((0.0, 0.5, 4.0)))
        return judgeable(level, penalised(level, A, B, numbers(n), eps, share, shift))

    return one()


def penalised(level: str, A: Matrix, B: Matrix, v: Vector, *drawn: float) -> dict[str, Any]:
    """The arguments of a step or a run from small numbers: v becomes y, x0 or a, ρ̃ a share of what matters."""
    eps, share, shift = drawn
    if level == "fda":
        a = np.where(v == 0.0, 1.0, v)
        return {"a": a, "B": B, "y": through(a, A[0] + a), "nu": share * log_scale(eps), "eps": eps}
    if level == "step":
        tau, y = max(0.0, -float(np.floor(2.0 * lowest(A)) / 2.0)) + shift, inside(B, v)
        return {"A": A, "B": B, "y": y, "rho": share * collapse(A, y, eps, tau), "eps": eps, "tau": tau}
    top = leading(A, B)
    rho = 0.1 * share * max(0.0, float(top @ A @ top))
    return {"A": A, "B": B, "rho": rho, "eps": eps, "x0": inside(B, top + 0.5 * v)}


def judgeable(level: str, data: dict[str, Any]) -> Instance | None:
    """The question, if it can be judged with certainty: not where c is rounding, on which no two programs agree."""
    kept = {name: data[name] for name in LEVELS[level].arguments}
    case = question(level, f"n = {len(data['B'])}, search", (), kept)
    if level in RUNS:
        return case if useful_run(case, QUICK_RUN) is not None else None
    if level == "step" and data["y"].any():
        c = data["A"] @ data["y"] + data["tau"] * data["y"]
        if not c.any() or lost(case) >= 1e6:
            return None
    return case if usable(case) else None
