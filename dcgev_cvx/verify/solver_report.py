"""The two ways to try a solver, `check` and `parametrize_with_checks`, and the report on it."""

from __future__ import annotations

import html
import math
import platform
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from .._numerics.checks import as_flag
from ..errors import DCGEVError, InvalidParameter
from .counterexamples import Condition, Counterexample, counterexample, failure_condition, unsupported_condition
from .level_checks import SINCE, checks, is_remote, selected
from .levels import LEVELS, Tolerances, known_level, tolerances
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
        "full" asks two to three times as many cases and searches with hypothesis where it is installed.
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
        raise InvalidParameter(
            f"solver = {solver!r} is not callable; it is called as solver({', '.join(about.arguments)})."
        )
    if progress is not None and not callable(progress):
        raise InvalidParameter(f"progress = {progress!r} is not callable; it is called as progress(check, calls).")
    begin, profile, session = perf_counter(), tolerances(tol), Session(solver, as_time_limit(time_limit))
    found = suite(level, seed, effort, profile)
    trial, outcomes = Trial(session, found, profile), list[Outcome]()
    known = dict(expected or {})
    for item in selected(checks(level, found, remote=is_remote(solver)), include, exclude, known):
        if progress is not None:
            progress(item.name, session.calls)
        outcomes.append(replace(item.run(trial), known=known.get(item.name, "")))
    name = getattr(solver, "__name__", None) or type(solver).__name__
    with np.errstate(all="ignore"):
        where, refused = failure_condition(trial), unsupported_condition(trial)
    example = counterexample(trial, [outcome for outcome in outcomes if not outcome.known])
    coverage = f"{found.space.asked} of {found.space.pairs} pairs of levels ({found.space.share:.0%})"
    counts = (session.calls, len(found.cases), found.left_out, session.seconds, perf_counter() - begin)
    return Report(
        level,
        str(name),
        seed,
        effort,
        profile,
        tuple(outcomes),
        *counts,
        example,
        is_remote(solver),
        where,
        refused,
        coverage,
        origin(found),
    )


def origin(found: Suite) -> dict[str, str]:
    """What a report can be repeated with: the versions, the platform, and the hash of the cases."""
    machine = f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.system()} {platform.machine()}"
    return {"kit": list(SINCE)[-1], "schema": str(SCHEMA_VERSION), "platform": machine, "cases": case_hash(found)}


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

    profile = tolerances(tol)
    found = suite(level, seed, effort, profile)
    bench = Bench(found, profile, as_time_limit(time_limit))
    made = checks(level, found, remote=as_flag(remote, "remote"))
    return pytest.mark.parametrize("check", [BoundCheck(c, bench) for c in made if c.kind == "contract"], ids=str)


@dataclass
class Bench:
    """A level's suite and the trial of the solver tried last, shared by all tests of a function."""

    found: Suite
    tol: Tolerances
    time_limit: float
    trial: Trial | None = field(default=None)

    def of(self, solver: Solver) -> Trial:
        """The running trial of a solver; another solver gets a new one."""
        if self.trial is None or self.trial.session.solver is not solver:
            self.trial = Trial(Session(solver, self.time_limit), self.found, self.tol)
        return self.trial


@dataclass(frozen=True)
class BoundCheck:
    """A check to be called with the solver; VerificationFailed holds the report's line and the example."""

    check: Check
    bench: Bench

    def __call__(self, solver: Solver) -> Outcome:
        """Run the check."""
        trial = self.bench.of(solver)
        outcome = self.check.run(trial)
        if not outcome.passed:
            example = counterexample(trial, [outcome])
            raise VerificationFailed("\n".join([line(outcome), *([example.snippet] if example else [])]))
        return outcome

    def __str__(self) -> str:
        return self.check.name


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
    remote : bool
        Whether the solver is another process.
    condition, unsupported : Condition or None
        What the failing cases, and those that the solver does not support, have in common.
    coverage : str
        The share of pairs of levels that were tried, in words.
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
    remote: bool = False
    condition: Condition | None = None
    unsupported: Condition | None = None
    coverage: str = ""
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
    def supported(self) -> float:
        """The share of the cases that the solver answered without raising NotImplementedError."""
        refused = self.unsupported.failing if self.unsupported is not None else 0
        return 1.0 - refused / self.cases

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
    def headline(self) -> str:
        """One line: the verdict with the number of checks, cases and calls behind it."""
        counts = Counter("known" if mark(outcome) == "known" else outcome.status for outcome in self.contract)
        known = f" ({counts['known']} known failures)" if counts["known"] else ""
        part = "" if self.unsupported is None or not self.ok else f" on what it supports ({self.supported:.0%})"
        return (
            f"{'PASSED' if self.ok else 'FAILED'}{part}: {self.solver} as {self.level} ({LEVELS[self.level].tag}): "
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
        parts.append(self.coverage)
        if self.unsupported is not None:
            words = " and ".join(self.unsupported.words) or "no property in common"
            parts.append(f"{self.unsupported.failing} cases unsupported ({words})")
        if self.remote:
            parts.append("memory layout, float32 and in-place checks do not apply to a program")
        parts += [f"known failure {o.name!r} passes ({o.known})" for o in self.checks if o.known and o.passed]
        parts += [f"{name} {value}" for name, value in self.origin.items()]
        return "; ".join(parts)

    @property
    def direction(self) -> tuple[str, ...]:
        """The equation of the first failure, and what all failing cases share; nothing where none failed."""
        if not self.failed:
            return ()
        first = self.failed[0]
        tag = f" ({first.tag})" if first.tag else ""
        where = str(self.condition) if self.condition else f"fails only in this check: {first.note}"
        return (f"{first.name}{tag}: {where}",)

    def __str__(self) -> str:
        lines = [
            self.headline,
            *self.direction,
            self.setting,
            "",
            row("check", "tag", "", "cases", "worst", "allowed"),
        ]
        lines += [line(outcome) for outcome in self.contract]
        lines += ["advisory (reported, does not decide)", *(line(outcome) for outcome in self.advisory)]
        if self.counterexample is not None:
            lines += ["", f"smallest example found ({self.counterexample.check}):", self.counterexample.snippet]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; the counterexample's arguments are lists, ready for a bug report."""
        names = ("level", "solver", "seed", "effort", "cases", "calls", "left_out", "seconds", "solver_seconds")
        return {
            "command": "verify",
            "ok": self.ok,
            **{name: getattr(self, name) for name in names},
            "origin": dict(self.origin),
            "condition": None if self.condition is None else str(self.condition),
            "tolerance": {"name": self.tolerances.name, "accuracy": self.tolerances.accuracy},
            "checks": [record(outcome) for outcome in self.checks],
            "counterexample": None if self.counterexample is None else finite(vars(self.counterexample)),
        }

    def to_html(self) -> str:
        """A page that needs no other file."""
        rows = "".join(html_row(outcome) for outcome in self.checks)
        snippet = "" if self.counterexample is None else html.escape(self.counterexample.snippet)
        example = f"<h2>Smallest example</h2><pre>{snippet}</pre>" if snippet else ""
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(self.solver)}</title>'
            "<style>body{font:16px sans-serif;margin:2em;max-width:70em}td,th{padding:.2em .8em;text-align:left}"
            ".failed{background:#fdd}.blocked{background:#eee}pre{background:#f4f4f4;padding:1em;overflow:auto}</style>"
            f"<h1>{html.escape(self.headline)}</h1><p>{html.escape(self.setting)}</p>"
            "<table><tr><th>check<th>tag<th>meaning<th>kind<th>outcome<th>cases<th>worst<th>allowed</tr>"
            f"{rows}</table>{example}</html>\n"
        )


def row(*cells: str) -> str:
    """One line of the table."""
    name, tag, mark, cases, worst, allowed = cells
    return f"  {name:<26} {tag:<16} {mark:<8} {cases:>9} {worst:>9} {allowed:>9}"


def line(outcome: Outcome) -> str:
    """A check as a line; the note of a failure below it."""
    numbers = (counted(outcome, "/"), number(outcome.worst), number(outcome.tolerance))
    text = row(outcome.name, outcome.tag, mark(outcome), *numbers)
    if outcome.passed:
        return text
    where = f" at {outcome.instance.name}" if outcome.instance is not None else ""
    known = f"known failure: {outcome.known}; " if outcome.known else ""
    return f"{text}\n      {known}{outcome.note or outcome.meaning}{where}"


def mark(outcome: Outcome) -> str:
    """The outcome in a word; a failed advisory check is a note."""
    failed = "known" if outcome.known else "FAILED" if outcome.kind == "contract" else "note"
    return {"passed": "ok", "failed": failed, "blocked": "blocked"}[outcome.status]


def counted(outcome: Outcome, between: str) -> str:
    """The number of cases, with the failures before it where there are some."""
    return f"{outcome.failures}{between}{outcome.cases}" if outcome.failures else f"{outcome.cases}"


def number(value: float) -> str:
    """Two digits, a plain 0, or a dash for infinity."""
    return "0" if value == 0.0 else f"{value:.1e}" if math.isfinite(value) else "-"


def record(outcome: Outcome) -> dict[str, Any]:
    """A check as plain data."""
    kept = {name: value for name, value in vars(outcome).items() if name != "x"}
    return finite({**kept, "instance": None if outcome.instance is None else outcome.instance.name})


def finite(data: dict[str, Any]) -> dict[str, Any]:
    """Infinity and NaN, which JSON does not have, become None."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in data.items()}


def html_row(outcome: Outcome) -> str:
    """A check as a row of HTML."""
    cells = (outcome.name, outcome.tag, outcome.meaning, outcome.kind, mark(outcome), counted(outcome, " of "))
    numbers = (number(outcome.worst), number(outcome.tolerance))
    inner = "".join(f"<td>{html.escape(cell)}" for cell in (*cells, *numbers))
    return f'<tr class="{outcome.status}">{inner}</tr>'
