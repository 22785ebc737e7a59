"""Typical mistakes, found by making them: an answer that yields what a known wrong one yields has that fault."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .guarded_calls import Unusable


@dataclass(frozen=True)
class Fault:
    """A mistake: the options that turn the right answer into the wrong one, and the sentence about it."""

    change: Mapping[str, Any]
    says: str


@cache
def texts() -> dict[str, dict[str, Any]]:
    """What exercises.toml says of each exercise, and of the penalty."""
    return tomllib.loads((Path(__file__).parent / "exercises.toml").read_text(encoding="utf-8"))


def faults_of(*names: str) -> tuple[Fault, ...]:
    """The faults of these entries of exercises.toml."""
    rows = [dict(row) for name in names for row in texts()[name]["faults"]]
    return tuple(Fault(says=row.pop("says"), change=row) for row in rows)


@dataclass(frozen=True, eq=False)
class Family:
    """A right answer with options, and the options' values that students' mistakes amount to.

    make()             the right answer
    make(**change)     the answer with a fault
    row(answer, i)     an array: what an answer yields at test point i, NaN where it yields no number
    rows               the number of test points
    faults             the mistakes that are tried, alone and in pairs
    tol                how far apart two equal answers may be
    """

    make: Callable[..., Any]
    row: Callable[[Any, int], Any]
    rows: int
    faults: tuple[Fault, ...]
    tol: float = 1e-6
    _known: dict[Any, Any] = field(default_factory=dict[Any, Any])

    def read(self, answer: Any) -> NDArray[np.float64]:
        """What an answer yields at all test points."""
        return np.array([self.row(answer, i) for i in range(self.rows)])

    def diagnose(self, found: NDArray[np.float64]) -> str:
        """The sentence of the fault, or of the two faults, that explain what was found; "" where none does."""
        for faults in self.candidates():
            if self.agrees(found, {key: value for fault in faults for key, value in fault.change.items()}):
                return " Also: ".join(fault.says for fault in faults)
        return ""

    def candidates(self) -> Iterator[tuple[Fault, ...]]:
        """Every fault, then every two that change different options."""
        yield from ((fault,) for fault in self.faults)
        yield from (pair for pair in combinations(self.faults, 2) if not set(pair[0].change) & set(pair[1].change))

    def agrees(self, found: NDArray[np.float64], change: Mapping[str, Any]) -> bool:
        """Whether the answer with these options yields the same numbers; most differ at the first test point."""
        near = partial(np.allclose, rtol=self.tol, atol=self.tol, equal_nan=True)
        return all(near(row, self.known(change, i)) for i, row in enumerate(found))

    def known(self, change: Mapping[str, Any], i: int) -> Any:
        """What the answer with these options yields at test point i, computed once; infinite where it cannot be."""
        key = frozenset(change.items()), i
        if key not in self._known:
            try:
                with np.errstate(all="ignore"):
                    self._known[key] = self.row(self.make(**change), i)
            except Unusable:
                self._known[key] = np.inf
        return self._known[key]
