"""The exercises by name: what is asked, three hints, and the check of an answer; exercises.toml has the texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from .._numerics.checks import as_number, as_whole, one_of, shown
from .dcp_exercise import DCP, judge_dcp
from .faults import Family, texts
from .guarded_calls import Unusable, guarded
from .majoriser_exercise import MAJORISER, judge_majoriser
from .step_exercises import THRESHOLD, judge_threshold
from .suspects import judge_suspect, read_suspect
from .value_exercises import (
    BOUND,
    TAU,
    judge_bound,
    judge_cardinality,
    judge_corollary,
    judge_stuck,
    judge_tau,
    read_cardinality,
    read_corollary,
    read_stuck,
)
from .verdicts import Verdict


@dataclass(frozen=True)
class Exercise:
    """An exercise with its hints and the check of an answer.

    Parameters
    ----------
    name, title : str
        The name by which it is called, and a heading.
    task : str
        What is asked.
    hints : tuple of str
        Three hints: where to look, the idea, and nearly the answer.
    wants : str
        The form of an answer.
    read : callable
        Returns what is judged: the values of a function at the test points, or a checked number, vector or matrix.
    judge : callable
        Returns the verdict on what was read.
    family : Family, optional
        The right answer and the typical wrong ones, with which a wrong answer is compared.

    Examples
    --------
    >>> from dcgev_cvx import teach
    >>> teach.EXERCISES["tau"].wants
    'a number'
    """

    name: str
    title: str
    task: str
    hints: tuple[str, ...]
    wants: str
    read: Callable[[Any], Any]
    judge: Callable[[Any], Verdict]
    family: Family | None = None

    def judged(self, answer: Any) -> tuple[Any, Verdict]:
        """What was read of an answer, and the verdict on it."""
        found = self.read(answer)
        return found, self.judge(found)


def check(name: str, answer: Any, *, time_limit: float = 10.0) -> Verdict:
    """Check an answer, and say which typical mistake it is or which equation fails.

    Whatever the answer's own code does (raise, loop, print, return nonsense) is said in the verdict.

    Parameters
    ----------
    name : str
        One of `EXERCISES`.
    answer : object
        What `EXERCISES[name].wants`: a function, a number, a vector, a matrix or a tuple.
    time_limit : float
        Seconds after which the answer's code is interrupted.

    Returns
    -------
    Verdict
        True or not, with the mistake and the numbers that show it.

    Examples
    --------
    >>> from dcgev_cvx import teach
    >>> print(teach.check("cardinality", 0.5))
    not yet: Algorithm 2 at ρ̃ = 0.5, ε = 0.01 ends with 7 nonzeros (converged). Take a larger ρ̃.
    >>> bool(teach.check("tau", 0.0))
    False
    """
    exercise, seconds = named(name), as_number(time_limit, "time_limit", strict=True, high=3600.0)
    if answer is None or answer is ...:
        return Verdict(False, f"no answer given. {exercise.task}")
    try:
        (found, verdict), printed = guarded(lambda: exercise.judged(answer), seconds)
    except Unusable as problem:
        return Verdict(False, f"{problem} (wanted: {exercise.wants})")
    mistake = "" if verdict or exercise.family is None else exercise.family.diagnose(found)
    says = f"{mistake} {verdict.why}".strip()
    return Verdict(verdict.ok, f"{says} Your code printed {shown(printed)}." if printed else says)


def task(name: str) -> str:
    """Return what an exercise asks.

    Parameters
    ----------
    name : str
        One of `EXERCISES`.

    Returns
    -------
    str
        The task.

    Examples
    --------
    >>> from dcgev_cvx import teach
    >>> teach.task("cardinality")
    'Find ρ̃ for which Algorithm 2 with ε = 0.01 on pit props ends with exactly five nonzeros.'
    """
    return named(name).task


def hint(name: str, grade: int = 1) -> str:
    """Return a hint.

    Parameters
    ----------
    name : str
        One of `EXERCISES`.
    grade : int
        1 says where to look, 2 gives the idea, 3 nearly the answer.

    Returns
    -------
    str
        The hint.

    Examples
    --------
    >>> from dcgev_cvx import teach
    >>> teach.hint("cardinality")
    'Try two values of ρ̃ and compare the numbers of nonzeros. Which way does the number go?'
    """
    return named(name).hints[as_whole(grade, "grade", high=3) - 1]


def named(name: object) -> Exercise:
    """The exercise of that name, or an error with the nearest one."""
    return EXERCISES[one_of(name, "exercise", EXERCISES)]


CHECKS: Mapping[str, dict[str, Any]] = MappingProxyType(
    {
        "tau": {"read": TAU.read, "judge": judge_tau, "family": TAU},
        "majoriser": {"read": MAJORISER.read, "judge": judge_majoriser, "family": MAJORISER},
        "threshold": {"read": THRESHOLD.read, "judge": judge_threshold, "family": THRESHOLD},
        "dcp": {"read": DCP.read, "judge": judge_dcp, "family": DCP},
        "cardinality": {"read": read_cardinality, "judge": judge_cardinality},
        "stuck": {"read": read_stuck, "judge": judge_stuck},
        "corollary": {"read": read_corollary, "judge": judge_corollary},
        "bound": {"read": BOUND.read, "judge": judge_bound, "family": BOUND},
        "suspect": {"read": read_suspect, "judge": judge_suspect},
    }
)


EXERCISES: Mapping[str, Exercise] = MappingProxyType(
    {
        name: Exercise(name, text["title"], text["task"], tuple(text["hints"]), text["wants"], **CHECKS[name])
        for name, text in texts().items()
        if name in CHECKS
    }
)
"""Every exercise by name, from easy to hard."""
