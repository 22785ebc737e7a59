"""The exercises by name: what is asked, three hints, the check of an answer, and the mistakes that it recognises.

exercises.toml has the texts. A mistake is recognised by making it: each exercise has its right answer as a function
with options, and an answer that yields the same numbers as a wrong value of an option has that fault.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from .._numerics.checks import as_number, as_whole, one_of, shown
from ..errors import DCGEVError
from . import function_exercises as functions
from . import value_exercises as values
from .guarded_calls import Unusable, guarded
from .verdicts import Verdict


def as_given(answer: Any) -> list[Any]:
    """An answer that is judged as it is."""
    return [answer]


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
    faults : sequence of mappings
        The typical mistakes, which are tried alone and in pairs: the options that turn the right answer into a wrong
        one, and under "says" the sentence about it.
    judge : callable
        Returns the verdict on what was read.
    right : callable, optional
        The right answer, a function that takes the options of a fault as `wrong` too; for an answer that is no
        function, a function of `wrong` alone.
    read : callable
        Yields what is judged: the values of a function at the test points; the answer itself by default.
    tol : float
        How far apart two equal answers may be.

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
    faults: Sequence[Mapping[str, Any]]
    judge: Callable[..., Verdict]
    right: Any = None
    read: Callable[[Any], Iterable[Any]] = as_given
    tol: float = 1e-6

    def judged(self, answer: Any) -> tuple[Sequence[Any], Verdict]:
        """What was read of an answer, and the verdict on it."""
        found = list(self.read(answer))
        return found, self.judge(*found)

    def diagnose(self, found: Sequence[Any]) -> str:
        """The sentence of the fault, or of the two faults, that explain what was found; "" where none does."""
        for faults in (*combinations(self.faults, 1), *combinations(self.faults, 2)):
            settings = [(option, value) for fault in faults for option, value in fault.items() if option != "says"]
            if len(dict(settings)) == len(settings) and self.agrees(found, **dict(settings)):
                return " Also: ".join(fault["says"] for fault in faults)
        return ""

    def variant(self, **options: Any) -> Any:
        """The right answer, or with the options of a fault a wrong one."""
        answer = partial(self.right, wrong=options)
        return answer() if self.read is as_given else answer

    def agrees(self, found: Sequence[Any], **options: Any) -> bool:
        """Whether the answer with these options yields the same numbers; most differ at the first test point."""
        near = partial(np.allclose, rtol=self.tol, atol=self.tol, equal_nan=True)
        try:
            with np.errstate(all="ignore"):
                return all(map(near, found, self.read(self.variant(**options))))
        except (DCGEVError, TypeError):  # this wrong answer has no value, such as a problem without a solution
            return False


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
    says = verdict.why if verdict else f"{exercise.diagnose(found)} {verdict.why}".strip()
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


def exercise(name: str, *check: Any, **options: Any) -> Exercise:
    """An exercise with its texts and faults from exercises.toml."""
    text = TEXTS[name]
    faults = [fault for part in (name, *text.get("faults_of", ())) for fault in TEXTS[part].get("faults", ())]
    return Exercise(name, text["title"], text["task"], tuple(text["hints"]), text["wants"], faults, *check, **options)


TEXTS = tomllib.loads((Path(__file__).parent / "exercises.toml").read_text(encoding="utf-8"))
IN_ORDER = (
    exercise("majoriser", functions.judge_majoriser, functions.surrogate, functions.read_majoriser),
    exercise("tau", values.judge_tau, values.shifts, tol=2e-4),
    exercise("dcp", functions.judge_dcp, functions.step_problem, functions.read_dcp, tol=1e-4),
    exercise("threshold", functions.judge_threshold, functions.closed_step, functions.read_threshold),
    exercise("cardinality", values.judge_cardinality),
    exercise("stuck", values.judge_stuck),
    exercise("descent", functions.judge_descent, functions.descent_direction, functions.read_descent),
    exercise("corollary", values.judge_corollary),
    exercise("bound", values.judge_bound, values.duals, tol=1e-3),
    exercise("suspect", values.judge_suspect),
)
EXERCISES: Mapping[str, Exercise] = {each.name: each for each in IN_ORDER}
"""Every exercise by name, from easy to hard."""
