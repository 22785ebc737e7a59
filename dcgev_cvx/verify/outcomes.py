"""What a check is and what it finds: outcomes, findings and the trial they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from .._numerics.checks import Vector
from .equations import Asked, over, worst
from .instances import Instance
from .session import Answer, Session
from .suite import Suite
from .tolerances import Tolerances

Status: TypeAlias = Literal["passed", "failed", "blocked"]
Kind: TypeAlias = Literal["contract", "manner"]


@dataclass(frozen=True)
class Outcome:
    """What a check found: the worst violation, the limit there, and the instance that shows it.

    worst and tolerance belong to the case with the largest ratio of the two; instance is the smallest failing case,
    which is what a person wants to see.
    """

    name: str
    tag: str
    meaning: str
    kind: Kind
    status: Status
    cases: int
    failures: int = 0
    worst: float = 0.0
    tolerance: float = 0.0
    instance: Instance | None = None
    x: Vector | None = None
    note: str = ""

    @property
    def passed(self) -> bool:
        """Did it pass? A blocked check did not."""
        return self.status == "passed"


@dataclass(frozen=True)
class Trial:
    """A solver's session over a suite at given tolerances."""

    session: Session
    suite: Suite
    tol: Tolerances

    def asked(self, answer: Answer, *, single: bool = False) -> Asked:
        """How exactly an answer is judged."""
        return Asked(self.tol, single=single, rounded=answer.single)

    def right(self, instance: Instance) -> bool:
        """Does the answer to a case satisfy every equation?

        Used to choose bases: what starts from a wrong answer says nothing about consistency.
        """
        answer = self.session.ask(instance)
        return answer.x is not None and worst(instance, answer.x, self.asked(answer)).ratio <= 1.0


@dataclass(frozen=True)
class Check:
    """One line of the report; run(trial) judges it."""

    name: str
    tag: str
    meaning: str
    kind: Kind
    judge: Callable[[Trial], Outcome]

    def run(self, trial: Trial) -> Outcome:
        """Judge the trial; sums that overflow because an answer is huge are no concern of the caller's."""
        with np.errstate(all="ignore"):
            return self.judge(trial)


@dataclass(frozen=True)
class Finding:
    """One judged case.

    note says what the numbers cannot: the equation, the argument that was changed, the way of delivery.
    """

    instance: Instance
    violation: float
    limit: float
    x: Vector | None = None
    note: str = ""

    @property
    def ratio(self) -> float:
        """How many times the limit."""
        return over(self.violation, self.limit)


def outcome(about: tuple[str, str, str, Kind], findings: Iterable[Finding], blocked: str) -> Outcome:
    """The worst of the findings; of the failing ones the smallest instance is shown; none at all means blocked.

    Ratios decide, not violations: 1e-6 may be a failure of one equation and a success of another.
    """
    found = list(findings)
    if not found:
        return Outcome(*about, "blocked", 0, note=blocked)
    failing = [finding for finding in found if not finding.ratio <= 1.0]
    shown = min(failing, key=lambda f: f.instance.n) if failing else max(found, key=lambda f: f.ratio)
    top = max(found, key=lambda f: f.ratio)
    return Outcome(
        *about,
        "failed" if failing else "passed",
        len(found),
        len(failing),
        top.violation,
        top.limit,
        shown.instance,
        shown.x,
        shown.note,
    )


NO_ANSWER = "blocked: no answer could be judged"
NO_BASE = "blocked: the answers it starts from are wrong already"


def judged(trial: Trial, case: Instance, answer: Answer, *, single: bool = False, note: str = "") -> Finding:
    """The equation that the answer misses most; no answer is an infinite miss.

    The note names the equation, and how the arguments were delivered where that matters.
    """
    if answer.x is None:
        return Finding(case, np.inf, 1.0, None, answer.problem)
    miss = worst(case, answer.x, trial.asked(answer, single=single))
    return Finding(case, miss.violation, miss.limit, answer.x, f"{miss.equation.name}{f' ({note})' if note else ''}")
