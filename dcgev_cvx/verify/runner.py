"""Putting a solver on trial: verify.check(solver, level)."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from ..errors import InvalidParameter
from .checks import checks
from .instances import known_level
from .outcomes import Check, Outcome, Trial
from .report import Report
from .search import available
from .session import TIME_LIMIT, Session, Solver, as_time_limit
from .shrink import counterexample
from .suite import Effort, suite
from .tolerances import tolerances


def check(
    solver: Solver,
    level: str,
    *,
    seed: int = 0,
    effort: Effort = "quick",
    tol: Any = None,
    time_limit: float = TIME_LIMIT,
    progress: Callable[[str, int], None] | None = None,
) -> Report:
    """Every check of a level on a solver; the report says which equation fails, and the smallest example found.

    level names the solver's signature (see LEVELS); tol is a profile ("standard", "interior-point",
    "closed") or a number; time_limit is in seconds per call; progress(check, calls) is told
    before each check.

    Parameters
    ----------
    solver
        Any callable with the level's positional arguments; a ProcessSolver for other languages.
    level
        "step", "algorithm", "pca", "bound", "fda" or "cardinality".
    seed
        Another draw of the random cases; the special families are drawn from it as well.
    effort
        "quick" or "full": two to three times as many cases, and a search by hypothesis where it is installed.
    tol
        None for "standard" (1e-5); see `tolerances`.
    time_limit
        Seconds a call may take, > 0; after one that takes longer the solver is not called again and the rest is
        blocked. One that computes on a busy machine and has had less than half of it is waited for, up to six times.

    Returns
    -------
    Report
        `ok` only if every contract check ran and passed.

    Raises
    ------
    InvalidParameter
        For an unknown level, a solver that cannot be called, or settings out of range. What the solver raises is a
        finding.
    """
    about = known_level(level)
    if not callable(solver):
        raise InvalidParameter(
            f"solver = {solver!r} is not callable; it is called as solver({', '.join(about.arguments)})."
        )
    if progress is not None and not callable(progress):
        raise InvalidParameter(f"progress = {progress!r} is not callable; it is called as progress(check, calls).")
    profile = tolerances(tol)
    session = Session(solver, as_time_limit(time_limit))
    begin = perf_counter()
    found = suite(level, seed, effort).limited(profile)
    trial = Trial(session, found, profile)
    search = seed if effort == "full" and available() else None
    made = checks(level, found, remote=is_remote(solver), search=search)
    outcomes = tuple(judge(item, trial, progress) for item in made)
    return Report(
        level=level,
        solver=name_of(solver),
        seed=seed,
        effort=effort,
        tolerances=profile,
        checks=outcomes,
        calls=session.calls,
        cases=len(found.battery),
        left_out=found.left_out,
        solver_seconds=session.seconds,
        seconds=perf_counter() - begin,
        counterexample=counterexample(trial, outcomes),
        remote=is_remote(solver),
    )


def name_of(solver: Solver) -> str:
    """What the solver is called, or else its type."""
    try:
        name = getattr(solver, "__name__", None)
    except Exception:  # an object may do what it likes with its attributes
        name = None
    return name if isinstance(name, str) else type(solver).__name__


def judge(item: Check, trial: Trial, progress: Callable[[str, int], None] | None) -> Outcome:
    """One check, announced."""
    if progress is not None:
        progress(item.name, trial.session.calls)
    return item.run(trial)


def is_remote(solver: Any) -> bool:
    """Does the solver live in another process, where arrays have no memory layout?"""
    return bool(getattr(solver, "remote", False))
