"""What can go wrong, said to a person: the number that failed and what to do about it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DCGEVError(Exception):
    """Base of every error this package raises on purpose."""


class InvalidPencil(DCGEVError, ValueError):
    """The matrices do not form a pencil (A symmetric, B positive definite)."""


class InvalidParameter(DCGEVError, ValueError):
    """A setting or a vector lies outside its range."""


class Infeasible(DCGEVError, ValueError):
    """The program has no feasible point."""


class SolverFailed(DCGEVError, RuntimeError):
    """A solver gave no answer, or one that its certificate refutes."""


class SolverMissing(DCGEVError, ImportError):
    """A solver or an optional package is not installed."""


class DataUnavailable(DCGEVError, OSError):
    """A data file is missing, damaged, or cannot be fetched."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint `did you mean ...?` for a misspelt name, or the list of known names."""
    names = sorted(known)
    upper = {candidate.upper(): candidate for candidate in names}
    close = difflib.get_close_matches(name.upper(), list(upper), n=1, cutoff=0.5)
    if close:
        return f"did you mean {upper[close[0]]!r}?"
    return f"known: {', '.join(names)}"
