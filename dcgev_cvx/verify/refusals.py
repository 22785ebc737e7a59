"""Questions without an answer: what a solver should refuse, as test vectors with the outcome "invalid".

Shapes that do not fit, an ε at which log(1 + 1/ε) does not exist, a B whose Ω is unbounded or empty, aᵀx = 1 with
a = 0, no nonzeros but a unit norm. Whatever numbers come back are wrong; only saying so is right. `verify.check` does
not ask them: a solver may leave the checking of its input to its caller.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._numerics.checks import frozen
from .instances import LEVELS

A = frozen(np.diag([3.0, 2.0, 1.0]) + 0.5)
B = frozen(np.eye(3))
OUTSIDE = frozen(np.diag([1.0, 1.0, -1.0]))
"""An indefinite B: xᵀBx ≤ 1 has no end along e₃."""
Y = frozen(np.array([0.6, 0.6, 0.5]))
SOUND: dict[str, Any] = {
    "A": A,
    "B": B,
    "y": Y,
    "x0": Y,
    "a": frozen(np.array([1.0, 0.5, 0.2])),
    "rho": 0.3,
    "nu": 0.3,
    "eps": 0.1,
    "tau": 0.0,
    "k": 2,
}
WRONG_EPS = {"eps": (("ε is 0", 0.0), ("ε is negative", -0.1))}
SHORT = ("is one entry short", Y[:2])


def refusals(level: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(what is wrong, the arguments) of every question of a level that has no answer.

    Each is a sound question with one argument spoilt.
    """
    for name, spoilt in changes(level):
        for words, value in spoilt:
            yield words, {key: value if key == name else SOUND[key] for key in LEVELS[level].arguments}


def changes(level: str) -> Iterator[tuple[str, tuple[tuple[str, Any], ...]]]:
    """(argument, ways to spoil it) by level."""
    larger = np.eye(4)
    if level == "pca":
        yield "A", (("A is 4 × 4 and x0 has 3 entries", larger),)
    else:
        yield "B", (("B is 4 × 4, the rest of size 3", larger),)
    if level in ("step", "algorithm", "pca", "fda"):
        start = "x0" if level in ("algorithm", "pca") else "y"
        yield start, ((f"{start} {SHORT[0]}", SHORT[1]),)
        yield from WRONG_EPS.items()
    if level in ("step", "algorithm", "fda"):
        yield "B", (("B is indefinite: the program is unbounded below", OUTSIDE),)
    if level == "fda":
        yield "a", (("a = 0: no x satisfies aᵀx = 1", np.zeros(3)),)
    if level == "cardinality":
        yield "B", (("B = −I: no x has xᵀBx = 1", -np.eye(3)),)
        yield "k", (("k = 0 and a unit norm exclude each other", 0),)
