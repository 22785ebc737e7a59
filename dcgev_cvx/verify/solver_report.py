"""The two ways to try a solver, `check` and `parametrize_with_checks`, and the report on it."""

from __future__ import annotations

import math
import platform
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from time import perf_counter
from typing import Any
from xml.etree import ElementTree

import numpy as np

from .._numerics.checks import as_flag
from .._numerics.text_tables import printable
from ..errors import DCGEVError, InvalidParameter
from .counterexamples import Condition, Counterexample, counterexample, failure_condition, unsupported_condition
from .level_checks import BRANCHES, KIT, branch_check, checks, is_remote, selected
from .levels import LEVELS, Tolerances, known_level, tolerances
from .solver_coverage import Search, Watcher, guilty_branch
from .suite import Effort, Suite, case_hash, suite
from .trial import TIME_LIMIT, Check, Outcome, Session, Solver, Trial, as_time_limit
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

    The report says which equation fails, by how much, and on which smallest example.

    Parameters
    ----------
    solver : callable
        A function with the level's positional arguments, or a `ProcessSolver` for other languages.
    level : str
        "step", "algorithm", "pca", "bound", "fda" or "cardinality"; see `LEVELS`.
    seed : int
        The seed of the random cases.
    effort : {"quick", "full"}
        "full" covers triples of levels too, with up to two and a half times as many cases.
    tol : str, float or None
        A profile ("standard", "interior-point", "closed") or an accuracy; None is "standard".
    time_limit : float
        Seconds that a call may take. After a call that takes longer the solver is not called again. A solver that
        computes on a busy machine and has had less than half of its time is given up to six times as long.
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
    found, remote = suite(level, seed, effort, profile), is_remote(solver)
    watched: Any = None if remote else solver if hasattr(solver, "branches") else Watcher(solver)
    trial = Trial(Session(watched or solver, as_time_limit(time_limit)), found, profile)
    made = checks(level, found, remote=remote, startable=hasattr(solver, "fresh"))
    outcomes, searches = list[Outcome](), list[Search]()
    if watched is not None:
        made.append(branch_check(watched, outcomes, searches))
    try:
        for item in selected(made, include, exclude, known):
            if progress is not None:
                progress(item.name, trial.session.calls)
            outcomes.append(replace(item.run(trial), known=known.get(item.name, "")))
        with np.errstate(all="ignore"):
            where, refused = failure_condition(trial), unsupported_condition(trial)
            guilty = "" if watched is None else guilty_branch(trial, watched)
        example = counterexample(trial, [outcome for outcome in outcomes if not outcome.known])
    finally:
        if isinstance(watched, Watcher):
            watched.close()
    return Report(
        level=level,
        solver=str(getattr(solver, "__name__", None) or type(solver).__name__),
        seed=seed,
        effort=effort,
        tolerances=profile,
        checks=tuple(o for o in outcomes if o.cases or o.shown is not None or o.name != BRANCHES),
        calls=trial.session.calls,
        cases=len(found.cases),
        left_out=found.left_out,
        solver_seconds=trial.session.seconds,
        seconds=perf_counter() - begin,
        counterexample=example,
        condition=where,
        unsupported=refused,
        branches=tuple(searches),
        guilty=guilty,
        remarks=tuple(remarks(found, refused, watched, remote=remote)),
        origin=origin(found),
    )


def remarks(found: Suite, refused: Condition | None, watched: Any, *, remote: bool) -> Iterator[str]:
    """What was tried, and what was not."""
    yield f"{found.space.asked} of {found.space.pairs} pairs of levels ({found.space.share:.0%})"
    if refused is not None:
        yield f"{refused.failing} cases unsupported ({' and '.join(refused.words) or 'no property in common'})"
    if watched is not None and watched.problem:
        yield f"branches not watched: {watched.problem}"
    if remote:
        yield "memory layout, float32 and in-place checks do not apply to a program"


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
        return Trial(Session(solver, limit), found, profile)

    def run(item: Check, solver: Solver) -> Outcome:
        trial = trial_of(solver)
        outcome = item.run(trial)
        if not outcome.passed:
            example = counterexample(trial, [outcome])
            raise VerificationFailed("\n".join([line(outcome), *([str(example)] if example else [])]))
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
    solver_seconds, seconds : float
        The time inside the solver, and all of it with references and shrinking.
    counterexample : Counterexample or None
        The smallest example on which the solver fails.
    condition, unsupported : Condition or None
        What the failing cases, and those that the solver does not support, have in common.
    branches : tuple of Search
        The branches of the solver's source that no case took, and what the search for inputs that take them found.
    guilty : str
        The branch of the source that failing cases take and others do not, in words.
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
    solver_seconds: float
    seconds: float
    counterexample: Counterexample | None
    condition: Condition | None = None
    unsupported: Condition | None = None
    branches: tuple[Search, ...] = ()
    guilty: str = ""
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
        known = f" ({counts['known']} known failures)" if counts["known"] else ""
        part = ""
        if self.ok and self.unsupported is not None:
            part = f" on what it supports ({1.0 - self.unsupported.failing / self.cases:.0%})"
        if self.ok and (never := sum(not result.findings for result in self.branches)):
            words = ("branch", "was") if never == 1 else ("branches", "were")
            part += f"; {never} {words[0]} of your code {words[1]} never run"
        return (
            f"{self.verdict.upper()}{part}: {self.solver} as {self.level} ({LEVELS[self.level].tag}): "
            f"{counts['passed']} checks passed, {counts['failed']} failed{known}, {counts['blocked']} blocked; "
            f"{self.cases} cases, {self.calls} calls, {self.seconds:.1f} s ({self.solver_seconds:.1f} in the solver)"
        )

    @property
    def setting(self) -> str:
        """Seed, effort and tolerance, and what was left out and why."""
        profile = self.tolerances
        parts = [f"seed {self.seed}, effort {self.effort}, tolerance {profile.name} = {profile.accuracy:g}"]
        if self.left_out:
            parts.append(f"{', '.join(self.left_out)} left out by this profile ({profile.reason})")
        parts += self.remarks
        parts += [f"known failure {o.name!r} passes ({o.known})" for o in self.checks if o.known and o.passed]
        parts += [f"{name} {value}" for name, value in self.origin.items()]
        return "; ".join(parts)

    @property
    def direction(self) -> tuple[str, ...]:
        """The equation of the first failure, and what all failing cases share; why it was not judged; or nothing."""
        if not self.failed:
            right = f"; the answers to the {self.calls - 1} calls before it are right" if self.calls > 1 else ""
            blocked = [outcome for outcome in self.contract if outcome.status == "blocked"]
            return tuple(f"{outcome.note}{right if outcome.shown else ''}" for outcome in blocked[:1])
        first = self.failed[0]
        tag = f" ({first.tag})" if first.tag else ""
        only = first.name == BRANCHES or self.condition is None
        where = f"fails only in this check: {first.note}" if only else str(self.condition)
        beside = () if self.condition is None else self.condition.remarks
        return (f"{first.name}{tag}: {where}", *([self.guilty] if self.guilty else []), *beside)

    def __str__(self) -> str:
        lines = [self.headline, *self.direction, self.setting, ""]
        table = [row("check", "tag", "", "cases", "worst", "allowed"), *map(line, self.contract)]
        table += ["advisory (reported, does not decide)", *map(line, self.advisory)]
        lines += dict.fromkeys("\n".join(table).splitlines())  # a note that several checks share is printed once
        if self.branches:
            lines += ["branches of the source that no case took", *(f"  {result}" for result in self.branches)]
        if self.counterexample is not None:
            lines += ["", f"smallest example found ({self.counterexample.check}):", str(self.counterexample)]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; the counterexample's arguments are lists, ready for a bug report."""
        names = ("level", "solver", "seed", "effort", "cases", "calls", "left_out", "seconds", "solver_seconds")
        return {
            "command": "verify",
            **{name: getattr(self, name) for name in ("ok", "verdict", *names)},
            "origin": dict(self.origin),
            "condition": None if self.condition is None else str(self.condition),
            "tolerance": {"name": self.tolerances.name, "accuracy": self.tolerances.accuracy},
            "checks": [record(outcome) for outcome in self.checks],
            "branches": [str(result) for result in self.branches],
            "counterexample": None if self.counterexample is None else finite(vars(self.counterexample)),
        }

    def to_junit(self) -> str:
        """The contract checks as JUnit XML, which CI systems read; a blocked check is an error."""
        rows = [(outcome.name, mark(outcome), line(outcome).strip()) for outcome in self.contract]
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


def row(*cells: str) -> str:
    """One line of the table."""
    name, tag, mark, cases, worst, allowed = cells
    return f"  {name:<26} {tag:<16} {mark:<8} {cases:>9} {worst:>9} {allowed:>9}"


def line(outcome: Outcome) -> str:
    """A check as a line; the note of a failure below it."""
    cases = f"{outcome.failures}/{outcome.cases}" if outcome.failures else f"{outcome.cases}"
    text = row(outcome.name, outcome.tag, mark(outcome), cases, number(outcome.worst), number(outcome.tolerance))
    if outcome.passed:
        return text
    where = f" at {outcome.shown.instance.name}" if outcome.shown is not None else ""
    known = f"known failure: {outcome.known}; " if outcome.known else ""
    return f"{text}\n      {known}{outcome.note or outcome.meaning}{where}"


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
