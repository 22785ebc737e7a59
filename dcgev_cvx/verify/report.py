"""The verdict: what passed, what failed by how much, where, and how to see it."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import Any

from ..errors import DCGEVError
from .instances import LEVELS
from .outcomes import Outcome
from .shrink import Counterexample
from .tolerances import Tolerances


class VerificationFailed(DCGEVError, AssertionError):
    """A solver missed a contract check; the message is the report."""


@dataclass(frozen=True)
class Report:
    """The outcome of every check on one solver at one level.

    calls counts every call, repeated ones included; left_out what the tolerance profile excluded; solver_seconds
    the time inside the solver, seconds all of it with references and shrinking.
    """

    level: str
    solver: str
    seed: int
    effort: str
    tolerances: Tolerances
    checks: tuple[Outcome, ...]
    calls: int
    cases: int
    left_out: int
    solver_seconds: float
    seconds: float
    counterexample: Counterexample | None
    remote: bool = False

    @property
    def contract(self) -> tuple[Outcome, ...]:
        """The checks that decide."""
        return tuple(outcome for outcome in self.checks if outcome.kind == "contract")

    @property
    def manners(self) -> tuple[Outcome, ...]:
        """The checks that are reported beside the verdict."""
        return tuple(outcome for outcome in self.checks if outcome.kind == "manner")

    @property
    def ok(self) -> bool:
        """Did every contract check run and pass? No check at all is a failure.

        Blocked checks do not pass: a solver that answers nothing is not right.
        """
        return bool(self.contract) and all(outcome.passed for outcome in self.contract)

    @property
    def failed(self) -> tuple[Outcome, ...]:
        """The contract checks that failed."""
        return tuple(outcome for outcome in self.contract if outcome.status == "failed")

    def raise_if_failed(self) -> Report:
        """The report itself, or VerificationFailed with the report as its message.

        For use in a test: verify.check(step, "step").raise_if_failed().
        """
        if not self.ok:
            raise VerificationFailed(str(self))
        return self

    @property
    def headline(self) -> str:
        """One line: the verdict with the number of checks, cases and calls behind it.

        What a continuous-integration log shows.
        """
        counts = {
            status: sum(o.status == status for o in self.contract) for status in ("passed", "failed", "blocked")
        }
        verdict = "PASSED" if self.ok else "FAILED"
        return (
            f"{verdict}: {self.solver} as {self.level} ({LEVELS[self.level].tag}): {counts['passed']} checks passed, "
            f"{counts['failed']} failed, {counts['blocked']} blocked; {self.cases} cases, {self.calls} calls, "
            f"{self.seconds:.1f} s ({self.solver_seconds:.1f} s in the solver)"
        )

    @property
    def setting(self) -> str:
        """Seed, effort and tolerance, and what was left out and why."""
        parts = [
            f"seed {self.seed}, effort {self.effort}, tolerance {self.tolerances.name} = {self.tolerances.accuracy:g}"
        ]
        if self.left_out:
            parts.append(f"{self.left_out} cases left out by this profile ({self.tolerances.reason})")
        if self.effort == "full" and all(outcome.name != "search" for outcome in self.checks):
            parts.append("no search, since hypothesis is not installed")
        if self.remote:
            parts.append("memory layout, float32 and in-place checks do not apply over a wire")
        return "; ".join(parts)

    def __str__(self) -> str:
        lines = [self.headline, self.setting, "", row("check", "tag", "", "cases", "worst", "allowed")]
        lines += [line(outcome) for outcome in self.contract]
        lines += ["manners (reported, do not decide)"]
        lines += [line(outcome) for outcome in self.manners]
        if self.counterexample is not None:
            lines += ["", f"smallest example found ({self.counterexample.check}):", self.counterexample.snippet]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON.

        The counterexample's arguments are plain lists, ready to be sent with a bug report.
        """
        return {
            "command": "verify",
            "ok": self.ok,
            "level": self.level,
            "solver": self.solver,
            "seed": self.seed,
            "effort": self.effort,
            "tolerance": {"name": self.tolerances.name, "accuracy": self.tolerances.accuracy},
            "cases": self.cases,
            "calls": self.calls,
            "left_out": self.left_out,
            "seconds": self.seconds,
            "solver_seconds": self.solver_seconds,
            "checks": [record(outcome) for outcome in self.checks],
            "counterexample": None if self.counterexample is None else finite(dict(vars(self.counterexample))),
        }

    def to_html(self) -> str:
        """A page that stands alone."""
        rows = "".join(html_row(outcome) for outcome in self.checks)
        example = (
            ""
            if self.counterexample is None
            else f"<h2>Smallest example</h2><pre>{html.escape(self.counterexample.snippet)}</pre>"
        )
        return (
            f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(self.solver)}</title>'
            "<style>body{font:16px sans-serif;margin:2em;max-width:70em}td,th{padding:.2em .8em;text-align:left}"
            ".failed{background:#fdd}.blocked{background:#eee}pre{background:#f4f4f4;padding:1em;overflow:auto}</style>"
            f"<h1>{html.escape(self.headline)}</h1><p>{html.escape(self.setting)}</p>"
            "<table><tr><th>check<th>tag<th>meaning<th>kind<th>outcome<th>cases<th>worst<th>allowed</tr>"
            f"{rows}</table>{example}</html>\n"
        )


MARKS = {"passed": "ok", "failed": "FAILED", "blocked": "blocked"}


def row(*cells: str) -> str:
    """One line of the table."""
    name, tag, mark, cases, worst, allowed = cells
    return f"  {name:<26} {tag:<16} {mark:<8} {cases:>9} {worst:>9} {allowed:>9}"


def line(outcome: Outcome) -> str:
    """A check as a line; the note of a failure below it.

    A failed manner is marked "note": it does not decide.
    """
    mark = MARKS[outcome.status]
    if outcome.kind == "manner" and outcome.status == "failed":
        mark = "note"
    share = f"{outcome.failures}/{outcome.cases}" if outcome.failures else f"{outcome.cases}"
    text = row(outcome.name, outcome.tag, mark, share, number(outcome.worst), number(outcome.tolerance))
    if outcome.status == "passed":
        return text
    where = f" at {outcome.instance.name}" if outcome.instance is not None else ""
    return f"{text}\n      {outcome.note or outcome.meaning}{where}"


def number(value: float) -> str:
    """Two digits, a plain 0, or a dash for what has no size."""
    return "0" if value == 0.0 else f"{value:.1e}" if math.isfinite(value) else "-"


def record(outcome: Outcome) -> dict[str, Any]:
    """A check as plain data."""
    return finite(
        {
            "name": outcome.name,
            "tag": outcome.tag,
            "meaning": outcome.meaning,
            "kind": outcome.kind,
            "status": outcome.status,
            "cases": outcome.cases,
            "failures": outcome.failures,
            "worst": outcome.worst,
            "tolerance": outcome.tolerance,
            "instance": None if outcome.instance is None else outcome.instance.name,
            "note": outcome.note,
        }
    )


def finite(data: dict[str, Any]) -> dict[str, Any]:
    """Numbers that JSON has no word for become None."""
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in data.items()}


def html_row(outcome: Outcome) -> str:
    """A check as a row of HTML."""
    share = f"{outcome.failures} of {outcome.cases}" if outcome.failures else str(outcome.cases)
    cells = (outcome.name, outcome.tag, outcome.meaning, outcome.kind, MARKS[outcome.status], share)
    numbers = (number(outcome.worst), number(outcome.tolerance))
    inner = "".join(f"<td>{html.escape(cell)}" for cell in (*cells, *numbers))
    return f'<tr class="{outcome.status}">{inner}</tr>'
