"""One pytest test per check: @verify.parametrize_with_checks("step")."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._numerics.checks import as_flag
from .checks import checks
from .outcomes import Check, Outcome, Trial
from .report import VerificationFailed, line
from .search import available
from .session import TIME_LIMIT, Session, Solver, as_time_limit
from .shrink import counterexample
from .suite import Effort, Suite, suite
from .tolerances import Tolerances, tolerances


@dataclass
class Bench:
    """A level's suite and the session of the solver tried on it: each case is asked once for all tests.

    Kept by the decorator for all tests of a function, so that a hundred tests cost one set of calls.
    """

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
    """A check to be called with the solver: returns the outcome, or raises VerificationFailed.

    The message of a failure is the line of the report and the snippet that repeats it.
    """

    check: Check
    bench: Bench

    def __call__(self, solver: Solver) -> Outcome:
        """Run the check; manners never fail a test."""
        trial = self.bench.of(solver)
        outcome = self.check.run(trial)
        if outcome.kind == "contract" and not outcome.passed:
            example = counterexample(trial, [outcome])
            raise VerificationFailed("\n".join([line(outcome), *([example.snippet] if example else [])]))
        return outcome

    def __str__(self) -> str:
        return self.check.name


def parametrize_with_checks(
    level: str,
    *,
    seed: int = 0,
    effort: Effort = "quick",
    tol: Any = None,
    time_limit: float = TIME_LIMIT,
    remote: bool = False,
) -> Any:
    """A decorator that gives a test its argument `check`, once for every contract check of the level.

    For example::

        @verify.parametrize_with_checks("step")
        def test_my_step(check):
            check(my_step)

    remote=True leaves out memory layouts, for a ProcessSolver.

    The suite is drawn when the decorator is evaluated, that is at collection; ids are the names of the checks.
    Manners are left out.
    """
    import pytest

    profile = tolerances(tol)
    found = suite(level, seed, effort).limited(profile)
    bench = Bench(found, profile, as_time_limit(time_limit))
    search = seed if effort == "full" and available() else None
    made = checks(level, found, remote=as_flag(remote, "remote"), search=search)
    bound = [BoundCheck(item, bench) for item in made if item.kind == "contract"]
    return pytest.mark.parametrize("check", bound, ids=str)
