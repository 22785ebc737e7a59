"""Exercises that check themselves: an answer is judged by the package's own certificates.

    from dcgev_cvx import teach
    print(teach.task("threshold"))
    print(teach.check("threshold", my_step))
    print(teach.hint("threshold", 2))

Starters are in `examples/exercises`, solutions apart in `examples/solutions`.
"""

from .exercises import EXERCISES, Exercise, check, hint, task
from .value_exercises import SUSPECTS
from .verdicts import Verdict, judge_step, majorises

__all__ = ["EXERCISES", "SUSPECTS", "Exercise", "Verdict", "check", "hint", "judge_step", "majorises", "task"]
