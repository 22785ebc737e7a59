"""The two ways to try a solver, `check` and `parametrize_with_checks`, and the report on it."""

from __future__ import annotations

import math
import platform
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from time import perf_counter
from typing import Any
from xml.etree import ElementTree

import numpy as np

from .._numerics.checks import as_flag
from .._numerics.text_tables import as_text, printable, table
from ..errors import DCGEVError, InvalidParameter
from .answers import FunctionCaller
from .counterexamples import Counterexample, counterexample
from .diagnosis import quiet_diagnosis
from .level_checks import KIT, checks, selected
from .levels import LEVELS, Tolerances, known_level, tolerances
from .protocol import TIME_LIMIT, as_time_limit
from .suite import Effort, Suite, case_hash, suite
from .trial import Check, Outcome, Session, Solver, Trial
from .vector_files import SCHEMA_VERSION


class VerificationFailed(DCGEVError, AssertionError):
    """A solver failed a contract check; the message is the report."""


def check(
    solver: Solver,
    level: str,
    *,
    seed: int = 0,
    effort: Effort = "quick",
    tol: Any = None,
    time_limit: float = TIME_LIMIT,
    progress: Callable[[str, int], None] | None = None,
    include: Collection[str] = (),
    exclude: Collection[str] = (),
    expected: Mapping[str, str] | None = None,
) -> Report:
    """Run every check of a level on a solver.

    The report says which equation fails, by how much, for what reason, and on which smallest example.

    Parameters
    ----------
    solver : callable
        A function with the level's positional arguments, or with some of them by name; or a `ProcessSolver` for other
        languages.
    level : str
        "step", "algorithm", "pca", "bound", "fda" or "cardinality"; see `LEVELS`.
    seed : int
        The seed of the random cases.
    effort : {"quick", "full"}
        "full" asks three times as many cases, those of "quick" among them.
    tol : str, float or None
        A profile ("standard", "interior-point", "closed") or an accuracy; None is "standard".
    time_limit : float
        Seconds that a call may take. After a call that takes longer the solver is not called again.
    progress : callable or None
        Called as progress(name of the check, calls so far) before each check.
    include, exclude : list of str
        Names of checks: only these, or all but these.
    expected : mapping or None
        Checks that are known to fail, with the reason. They do not decide; one that passes is reported.

    Returns
    -------
    Report
        `ok` is true only if every contract check ran and passed.

    Raises
    ------
    InvalidParameter
        For an unknown level, a solver that cannot be called, or settings out of range. Exceptions of the solver are
        findings and are not raised.

    Examples
    --------
    >>> from scipy.linalg import eigh
    >>> from dcgev_cvx import verify
    >>> verify.check(lambda A, B, k: eigh(A, B, eigvals_only=True)[-1], "bound").ok
    True
    """
    about = known_level(level)
    if not callable(solver):
        words = ", ".join(about.arguments)
        raise InvalidParameter(f"solver = {solver!r} is not callable; it is called as solver({words}).")
    begin, profile, known = perf_counter(), tolerances(tol), dict(expected or {})
    found, asked = suite(level, seed, effort, profile), respondent(solver, level, as_time_limit(time_limit))
    trial = Trial(Session(asked), found, profile)
    outcomes = list[Outcome]()
    for item in selected(checks(level, found, remote=asked.remote), include, exclude, known):
        if progress is not None:
            progress(item.name, trial.session.calls)
        outcomes.append(replace(item.run(trial), known=known.get(item.name, "")))
    failed = [o for o in outcomes if o.kind == "contract" and o.status == "failed" and not o.known]
    cause = quiet_diagnosis(trial, failed) if failed else ()
    with np.errstate(all="ignore"):
        example = counterexample(trial, [outcome for outcome in outcomes if not outcome.known])
    return Report(
        level=level,
        solver=str(getattr(solver, "__name__", None) or type(solver).__name__),
        seed=seed,
        effort=effort,
        tolerances=profile,
        checks=tuple(outcomes),
        calls=trial.session.calls,
        cases=len(found.cases),
        left_out=found.left_out,
        seconds=perf_counter() - begin,
        counterexample=example,
        cause=cause,
        unsupported=sum(case in trial.session.unsupported for case in found.cases),
        remarks=tuple(remarks(found, asked)),
        origin=origin(found),
    )


def respondent(solver: Any, level: str, time_limit: float) -> Any:
    """The solver as a trial calls it."""
    return solver if hasattr(solver, "respond") else FunctionCaller(solver, time_limit, level)


def remarks(found: Suite, asked: Any) -> Iterable[str]:
    """What was tried, and what was not."""
    yield f"{found.space.asked} of {found.space.pairs} pairs of levels ({found.space.share:.0%})"
    if passed := getattr(asked, "passed", ()):
        yield f"called with {', '.join(passed)} alone, the other arguments are not among its parameters"
    if asked.remote:
        yield "memory layout and in-place checks do not apply to a program"


def origin(found: Suite) -> dict[str, str]:
    """What a report can be repeated with: the versions, the platform, and the hash of the cases."""
    machine = f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.system()} {platform.machine()}"
    return {"kit": KIT, "schema": str(SCHEMA_VERSION), "platform": machine, "cases": case_hash(found)}


def parametrize_with_checks(
    level: str,
    *,
    seed: int = 0,
    effort: Effort = "quick",
    tol: Any = None,
    time_limit: float = TIME_LIMIT,
    remote: bool = False,
) -> Any:
    """Decorate a test function so that pytest runs it once for every contract check of a level.

    The suite is drawn at collection. Each case is asked once for all tests.

    Parameters
    ----------
    level : str
        The level of the solver; see `LEVELS`.
    seed, effort, tol, time_limit : optional
        As for `check`.
    remote : bool
        True for a `ProcessSolver`: leaves out memory layouts, which do not exist between processes.

    Returns
    -------
    decorator
        Gives the test an argument `check`, to be called with the solver.

    Examples
    --------
    >>> from dcgev_cvx import verify
    >>> def my_bound(A, B, k):
    ...     return 0.0
    >>> @verify.parametrize_with_checks("bound")
    ... def test_my_bound(check):
    ...     check(my_bound)
    """
    import pytest

    profile, limit = tolerances(tol), as_time_limit(time_limit)
    found = suite(level, seed, effort, profile)
    made = [item for item in checks(level, found, remote=as_flag(remote, "remote")) if item.kind == "contract"]

    @lru_cache(maxsize=1)
    def trial_of(solver: Solver) -> Trial:
        return Trial(Session(respondent(solver, level, limit)), found, profile)

    def run(item: Check, solver: Solver) -> Outcome:
        trial = trial_of(solver)
        outcome = item.run(trial)
        if not outcome.passed:
            example = counterexample(trial, [outcome])
            raise VerificationFailed(f"{as_text(check_table([outcome]))}\n{example or ''}")
        return outcome

    return pytest.mark.parametrize("check", [partial(run, item) for item in made], ids=[item.name for item in made])


@dataclass(frozen=True)
class Report:
    """The outcome of every check on one solver at one level; print it to read it.

    Parameters
    ----------
    level, solver : str
        What was tried.
    seed, effort, tolerances : optional
        The settings of the trial.
    checks : tuple of Outcome
        One outcome per check, contract checks first.
    calls, cases : int
        All calls, repeated ones included; the cases of the suite.
    left_out : tuple of str
        The levels that the profile leaves out.
    seconds : float
        The time of the trial, with references and shrinking.
    counterexample : Counterexample or None
        The smallest example on which the solver fails.
    cause : tuple of str
        Why it fails: the named mistake, what it should be, and where answers are wrong.
    unsupported : int
        The cases that the solver does not claim to answer.
    remarks : tuple of str
        The share of pairs of levels that were tried, and what was not tried.
    origin : mapping
        Versions of the kit and of its schema, the platform, and the hash of the cases.

    Examples
    --------
    >>> from dcgev_cvx import verify
    >>> report = verify.check(lambda A, B, k: 0.0, "bound")
    >>> report.ok, report.failed[0].name
    (False, 'validity')
    """

    level: str
    solver: str
    seed: int
    effort: str
    tolerances: Tolerances
    checks: tuple[Outcome, ...]
    calls: int
    cases: int
    left_out: tuple[str, ...]
    seconds: float
    counterexample: Counterexample | None
    cause: tuple[str, ...] = ()
    unsupported: int = 0
    remarks: tuple[str, ...] = ()
    origin: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def contract(self) -> tuple[Outcome, ...]:
        """The checks that decide."""
        return tuple(outcome for outcome in self.checks if outcome.kind == "contract")

    @property
    def advisory(self) -> tuple[Outcome, ...]:
        """The checks that are reported beside the verdict."""
        return tuple(outcome for outcome in self.checks if outcome.kind == "advisory")

    @property
    def ok(self) -> bool:
        """Did every contract check run and pass, known failures aside? None at all, or a blocked one, fails."""
        deciding = [outcome for outcome in self.contract if not (outcome.known and outcome.status == "failed")]
        return bool(deciding) and all(outcome.passed for outcome in deciding)

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """The contract checks that failed, known failures aside."""
        return tuple(outcome for outcome in self.contract if outcome.status == "failed" and not outcome.known)

    def raise_if_failed(self) -> Report:
        """The report itself, or VerificationFailed with the report as its message."""
        if not self.ok:
            raise VerificationFailed(str(self))
        return self

    @property
    def verdict(self) -> str:
        """passed; failed if an answer is wrong or missing; not judged if no answer is, but checks are blocked."""
        return "passed" if self.ok else "failed" if self.failed else "not judged"

    @property
    def headline(self) -> str:
        """One line: the verdict with the number of checks, cases and calls behind it."""
        counts = Counter("known" if mark(outcome) == "known" else outcome.status for outcome in self.contract)
        parts = {"passed": "passed", "failed": "failed", "known": "known to fail", "blocked": "blocked"}
        numbers = ", ".join(f"{counts[key]} {words}" for key, words in parts.items() if counts[key])
        answered = f" on the {1.0 - self.unsupported / self.cases:.0%} of cases it supports" if self.unsupported else ""
        about = f"{self.solver} as {self.level} ({LEVELS[self.level].tag})"
        return f"{self.verdict.upper()}{answered}: {about}; checks: {numbers}; {self.cases} cases, {self.seconds:.1f} s"

    @property
    def direction(self) -> tuple[str, ...]:
        """Why it fails, or why it was not judged."""
        if self.failed:
            return self.cause
        right = f"; the answers to the {self.calls - 1} calls before it are right" if self.calls > 1 else ""
        blocked = [outcome for outcome in self.contract if outcome.status == "blocked"]
        return tuple(f"{outcome.note}{right if outcome.shown else ''}" for outcome in blocked[:1])

    @property
    def setting(self) -> str:
        """Seed, effort and tolerance, and what was left out and why."""
        profile = self.tolerances
        parts = [f"seed {self.seed}, effort {self.effort}, tolerance {profile.name} = {profile.accuracy:g}"]
        if self.left_out:
            parts.append(f"{', '.join(self.left_out)} left out by this profile ({profile.reason})")
        parts += [*self.remarks, f"{self.calls} calls"]
        return "; ".join([*parts, *(f"{name} {value}" for name, value in self.origin.items())])

    def __str__(self) -> str:
        return self.text()

    def text(self, *, details: bool = False) -> str:
        """The verdict and its cause, the smallest example, the checks that failed; everything with details."""
        parts: list[Any] = [self.headline, *self.direction]
        if self.counterexample is not None:
            parts += ["", f"smallest example ({self.counterexample.check}):", str(self.counterexample)]
        told = [o for o in self.checks if details or (o.kind == "contract" and (o.failures or o.known))]
        parts += [f"{o.name}: {note(o)}" for o in told if details and not o.passed]
        if told:
            parts += ["", check_table(told)]
        parts += [f"known failure {o.name!r} passes ({o.known})" for o in self.checks if o.known and o.passed]
        parts += ["", self.setting] if details else []
        return as_text(*parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; the counterexample's arguments are lists, ready for a bug report."""
        names = ("ok", "verdict", "level", "solver", "seed", "effort", "cases", "calls", "left_out", "seconds", "cause",
                 "unsupported")  # fmt: skip
        return {
            "command": "verify",
            **{name: getattr(self, name) for name in names},
            "origin": dict(self.origin),
            "tolerance": {"name": self.tolerances.name, "accuracy": self.tolerances.accuracy},
            "checks": [record(outcome) for outcome in self.checks],
            "counterexample": None if self.counterexample is None else finite(vars(self.counterexample)),
        }

    def to_junit(self) -> str:
        """The contract checks as JUnit XML, which CI systems read; a blocked check is an error."""
        rows = [(outcome.name, mark(outcome), note(outcome)) for outcome in self.contract]
        return junit_xml(f"{self.solver} as {self.level}", rows)


def junit_xml(title: str, rows: Iterable[tuple[str, str, str]]) -> str:
    """JUnit XML of (name, outcome in a word, details); a known failure is skipped."""
    kinds = {"failed": "failure", "FAILED": "failure", "blocked": "error", "known": "skipped"}
    cases = ElementTree.Element("testsuite", name=title)
    for name, word, details in rows:
        case = ElementTree.SubElement(cases, "testcase", classname=title, name=name)
        if word in kinds:
            text = printable(details)
            ElementTree.SubElement(case, kinds[word], message=text.splitlines()[0]).text = text
    cases.set("tests", str(len(cases)))
    for plural, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        cases.set(plural, str(len(cases.findall(f"testcase/{kind}"))))
    return ElementTree.tostring(cases, encoding="unicode", xml_declaration=True) + "\n"


def check_table(outcomes: Iterable[Outcome]) -> Any:
    """A table of checks: the tag of the equation, the outcome, how many cases fail, the worst and what is allowed."""
    rows = [(o.name, o.tag, mark(o), f"{o.failures}/{o.cases}", number(o.worst), number(o.tolerance)) for o in outcomes]
    return table(("check", "equation", "", "wrong", "worst", "allowed"), rows, words=(0, 1, 2))


def note(outcome: Outcome) -> str:
    """What a check found, in words."""
    known = f"known failure: {outcome.known}; " if outcome.known else ""
    at = f" at {outcome.shown.instance.name}" if outcome.shown is not None and not outcome.passed else ""
    return f"{known}{outcome.note or outcome.meaning}{at}"


def mark(outcome: Outcome) -> str:
    """The outcome in a word; a failed advisory check is a note."""
    failed = "known" if outcome.known else "FAILED" if outcome.kind == "contract" else "note"
    return {"passed": "ok", "failed": failed, "blocked": "blocked"}[outcome.status]


def number(value: float) -> str:
    """Two digits, a plain 0, or a dash for infinity."""
    return "0" if value == 0.0 else f"{value:.1e}" if math.isfinite(value) else "-"


def record(outcome: Outcome) -> dict[str, Any]:
    """A check as plain data."""
    kept = {name: value for name, value in vars(outcome).items() if name != "shown"}
    return finite({**kept, "instance": None if outcome.shown is None else outcome.shown.instance.name})


def finite(data: dict[str, Any]) -> dict[str, Any]:
    """Infinity and NaN, which JSON does not have, become None."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in data.items()}
