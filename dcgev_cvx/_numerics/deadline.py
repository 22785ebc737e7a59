"""The only clock that an algorithm may look at: a limit that the user set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from time import perf_counter

from .checks import as_number


@dataclass(frozen=True)
class Deadline:
    """A moment of `time.perf_counter`, looked at between operations; an operation that has begun is not interrupted.

    Without a limit it never passes, so that a result does not depend on the machine or its load.

    >>> Deadline.after(None, "time_limit").passed
    False
    """

    moment: float = math.inf

    @classmethod
    def after(cls, seconds: float | None, name: str) -> Deadline:
        """The moment in so many seconds; never for None."""
        return cls() if seconds is None else cls(perf_counter() + as_number(seconds, name))

    @property
    def passed(self) -> bool:
        """Is the time over?"""
        return perf_counter() >= self.moment

    @property
    def left(self) -> float | None:
        """The seconds that are left, at least 0; None without a limit. For solvers that take a limit of their own."""
        return None if math.isinf(self.moment) else max(0.0, self.moment - perf_counter())
