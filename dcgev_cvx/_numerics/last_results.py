"""The results of a function for the last few vectors."""

from collections.abc import Callable
from typing import Generic, TypeVar

from .checks import Vector

T = TypeVar("T")


class LastResults(Generic[T]):
    """What a function returned for the last three read-only vectors, found again by their identity.

    Iterates are read-only, and an MM step asks for the same products about ten times, in f, g, the slopes and the
    residual. A vector that may change is not kept.
    """

    def __init__(self) -> None:
        self._kept: tuple[tuple[Vector, T], ...] = ()

    def of(self, x: Vector, function: Callable[[Vector], T]) -> T:
        """The function at x."""
        for known, result in self._kept:
            if known is x:
                return result
        result = function(x)
        if not x.flags.writeable:
            self._kept = ((x, result), *self._kept[:2])
        return result
