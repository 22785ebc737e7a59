"""What can go wrong, said to a person: the number that failed and what to do about it.

Every error is a DCGEVError and at the same time the built-in that a caller would expect (ValueError,
RuntimeError, ImportError, OSError), so that `except ValueError` written for another library still works.
Exceptions of NumPy, LAPACK, CVXPY and the solvers do not pass through: they are caught where they arise and
chained as the cause.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DCGEVError(Exception):
    """Base of every error this package raises on purpose.

    `except DCGEVError` catches what this package says about its input or its solvers, and no bug.
    """


class InvalidPencil(DCGEVError, ValueError):
    """The matrices do not form a pencil (A symmetric, B positive definite).

    Not square, not symmetric, shapes that differ, B not positive definite, entries that are not finite numbers:
    the message holds the offending number, such as B's smallest eigenvalue.
    """


class InvalidParameter(DCGEVError, ValueError):
    """A setting or a vector lies outside its range.

    A price below zero, a k outside 1 … n, an unknown name (with the nearest known one), data that cannot be used.
    """


class Infeasible(DCGEVError, ValueError):
    """The program has no feasible point.

    For sparse FDA only: a = 0, or an ℓ1 radius below 1/‖a‖∞. xᵀBx ≤ 1 always has a point.
    """


class SolverFailed(DCGEVError, RuntimeError):
    """A solver gave no answer, or one that its certificate refutes.

    Raised when every solver of a Backend has failed, with each one's reason. Trying another solver, or
    engine="native", is the remedy.
    """


class SolverMissing(DCGEVError, ImportError):
    """A solver or an optional package is not installed.

    The message holds the command that installs it.
    """


class MissingPackage(DCGEVError, ImportError):
    """An optional package is not installed.

    The message holds the command that installs it.
    """


class DataUnavailable(DCGEVError, OSError):
    """A data file is missing, damaged, or cannot be fetched.

    The message says which file belongs where; nothing that is damaged is used or overwritten.
    """


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint `did you mean ...?` for a misspelt name, or the list of known names.

    Letter case does not count. Examples:

    >>> from dcgev_cvx.errors import nearest
    >>> nearest("clarabell", ["CLARABEL", "SCS"]), nearest("xyz", ["CLARABEL", "SCS"])
    ("did you mean 'CLARABEL'?", 'known: CLARABEL, SCS')
    """
    names = sorted(known)
    upper = {candidate.upper(): candidate for candidate in names}
    close = difflib.get_close_matches(name.upper(), list(upper), n=1, cutoff=0.5)
    if close:
        return f"did you mean {upper[close[0]]!r}?"
    return f"known: {', '.join(names)}"
