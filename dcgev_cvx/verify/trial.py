"""A solver on trial: its calls one at a time, and what was found in its answers."""

import math
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from .._numerics.checks import Vector
from .answers import WATCHED, Answer
from .equations import Limits, share, worst
from .levels import Instance, Tolerances
from .suite import Suite

Solver: TypeAlias = Callable[..., Any]
CheckStatus: TypeAlias = Literal["passed", "failed", "blocked"]
Kind: TypeAlias = Literal["contract", "advisory"]


class Respondent(Protocol):
    """A solver as the trial calls it: a function here, a function elsewhere, or a program.

    remote programs have no arrays whose layout, precision or identity could matter. lost says why none is called again.
    """

    remote: bool
    lost: str

    def respond(self, instance: Instance, *, reuse: bool = False) -> Answer:
        """One call, with the arrays of the call before or with new ones."""
        ...


@dataclass
class Session:
    """The calls of a solver; the answer to a case is kept, so that one call serves all checks.

    late is the call that did not return in time; unsupported are the cases that the solver does not claim to answer,
    which are not judged. disturbed holds the calls whose arguments or answers were changed later, and what was changed.
    """

    solver: Respondent
    calls: int = 0
    late: Instance | None = None
    unsupported: set[Instance] = field(default_factory=set[Instance])
    answers: dict[Instance, Answer] = field(default_factory=dict[Instance, Answer])
    disturbed: list[tuple[Instance, str]] = field(default_factory=list[tuple[Instance, str]])
    last: deque[Instance] = field(default_factory=lambda: deque[Instance](maxlen=WATCHED))

    def ask(self, instance: Instance) -> Answer:
        """The answer to an instance, asked for the first time or remembered."""
        if instance not in self.answers:  # instances are compared by identity
            self.answers[instance] = self.call(instance)
        return self.answers[instance]

    def call(self, instance: Instance, *, reuse: bool = False) -> Answer:
        """One call, judged for form alone."""
        if self.solver.lost:
            return Answer(None, self.solver.lost, asked=False)
        answer = self.solver.respond(instance, reuse=reuse)
        if answer.unsupported:
            self.unsupported.add(instance)
            return answer
        self.calls += 1
        self.last.appendleft(instance)
        for age, what in answer.disturbed:
            self.disturbed.append((self.last[min(age, len(self.last) - 1)], what))
        if not answer.asked and self.late is None:
            self.late = instance
        return answer


@dataclass(frozen=True)
class Finding:
    """One judged case; note says what the numbers cannot: the equation, or the argument that was changed.

    before holds the calls that came before this one where they matter; reused: its numbers were written into their
    arrays.
    """

    instance: Instance
    violation: float
    limit: float
    x: Vector | None = None
    note: str = ""
    before: tuple[Instance, ...] = ()
    reused: bool = False

    @property
    def ratio(self) -> float:
        """How many times the limit."""
        return share(self.violation, self.limit)

    @property
    def failed(self) -> bool:
        """Is the limit exceeded? NaN counts as that."""
        return not self.ratio <= 1.0


@dataclass(frozen=True)
class Trial:
    """A solver's session over a suite at given tolerances."""

    session: Session
    suite: Suite
    tol: Tolerances

    def limits(self, answer: Answer) -> Limits:
        """How far an answer may be off."""
        return Limits(self.tol, answer.single)

    def judged(self, case: Instance, answer: Answer, *, note: str = "") -> Finding:
        """The equation that the answer misses most; no answer is an infinite miss."""
        if answer.x is None:
            return Finding(case, math.inf, 1.0, None, answer.problem)
        with np.errstate(all="ignore"):  # an answer may be so large that sums overflow
            name, violation, limit = worst(case, answer.x, self.limits(answer))
        return Finding(case, violation, limit, answer.x, f"{name} ({note})" if note else name)

    def right(self, case: Instance) -> bool:
        """Does the answer to a case satisfy every equation?"""
        return not self.judged(case, self.session.ask(case)).failed

    def on_its_own(self, case: Instance) -> Finding | None:
        """The failure on a single further call, if it is there."""
        answer = self.session.call(case)
        finding = self.judged(case, answer) if answer.asked else None
        return finding if finding is not None and finding.failed else None


@dataclass(frozen=True)
class Outcome:
    """What a check found.

    worst and tolerance belong to the case with the largest ratio of the two; shown is the smallest failing case.
    since is the version of the kit that the check came with, known the reason why a failure is expected.
    """

    name: str
    tag: str
    meaning: str
    kind: Kind
    status: CheckStatus
    cases: int
    failures: int = 0
    worst: float = 0.0
    tolerance: float = 0.0
    shown: Finding | None = None
    note: str = ""
    since: str = ""
    known: str = ""

    @property
    def passed(self) -> bool:
        """Did it pass? A blocked check did not."""
        return self.status == "passed"


def simplicity(finding: Finding) -> tuple[int, float]:
    """(n, how far the sizes of the arguments are from 1, in powers of ten): a small example should be plain too.

    Of answers that cannot be judged the first is shown, since later ones may follow from it.
    """
    arguments = finding.instance.data.values() if finding.x is not None else ()
    sizes = [float(np.max(np.abs(value))) for value in arguments]
    return finding.instance.n, sum(abs(math.log10(size)) for size in sizes if size > 0.0)


@dataclass(frozen=True)
class Check:
    """One line of the report: what is judged, what it means, and the words where there is nothing to judge."""

    name: str
    tag: str
    meaning: str
    findings: Callable[[Trial], Iterable[Finding]]
    kind: Kind = "contract"
    blocked: str = "no answer could be judged"
    since: str = "1"

    def run(self, trial: Trial) -> Outcome:
        """The worst finding decides; of the failing ones the smallest instance is shown.

        Without a finding the check is blocked, and without a failing one if a call did not return in time: its answer
        and those of the calls that were not made are unknown.
        """
        about = (self.name, self.tag, self.meaning, self.kind)
        with np.errstate(all="ignore"):
            found = list(self.findings(trial))
        failing, late = [finding for finding in found if finding.failed], trial.session.late
        if not failing and (late is not None or not found):
            note = trial.session.solver.lost if late is not None else f"blocked: {self.blocked}"
            unknown = None if late is None else Finding(late, math.inf, 1.0, note=note)
            return Outcome(*about, "blocked", len(found), shown=unknown, note=note, since=self.since)
        top = max(found, key=lambda f: f.ratio)
        shown = min(failing, key=simplicity) if failing else top
        status: CheckStatus = "failed" if failing else "passed"
        numbers = (len(found), len(failing), top.violation, top.limit)
        return Outcome(*about, status, *numbers, shown, shown.note, self.since)
