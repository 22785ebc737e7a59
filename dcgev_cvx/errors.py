"""The errors of the package: each message shows the value that failed and what to do about it.

Every error is a DCGEVError and also the built-in that a caller expects (ValueError, RuntimeError, ImportError,
OSError). Exceptions of NumPy, LAPACK, CVXPY and the solvers are caught and chained as the cause.
"""

import difflib
from collections.abc import Iterable


class DCGEVError(Exception):
    """Base class of every error that this package raises on purpose."""


class InvalidPencil(DCGEVError, ValueError):
    """The matrices do not form a pencil (A symmetric, B positive definite).

    A matrix is not square, not symmetric or not finite, the shapes differ, or B is not positive definite. The message
    has the offending number, such as B's smallest eigenvalue.
    """


class InvalidParameter(DCGEVError, ValueError):
    """A setting or a vector lies outside its range.

    For example rho < 0, k > n, an unknown name (with the nearest known one), or data that cannot be used.
    """


class Infeasible(DCGEVError, ValueError):
    """The program has no feasible point.

    For sparse FDA: a = 0, or an ℓ1 radius below 1/‖a‖∞. xᵀBx ≤ 1 always has a point. For a DCProgram: its convex
    constraints have no common point, or a step was asked for from a point outside the constraints.
    """


class Unbounded(DCGEVError, ValueError):
    """A convex problem has no minimiser, because its objective falls for ever.

    The message names the variables that grow without limit.
    """


class SolverFailed(DCGEVError, RuntimeError):
    """Every solver of a Backend failed, or returned an answer whose KKT residual is too large.

    The message has the reason of each. Try another solver, or engine="native".
    """


class SolverMissing(DCGEVError, ImportError):
    """A solver is not installed; the message has the command that installs it."""


class MissingPackage(DCGEVError, ImportError):
    """A package is not installed, or too old; the message has the command that installs it."""


class DataUnavailable(DCGEVError, OSError):
    """A data file is missing, damaged, or cannot be fetched; the message says which file is expected where."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The hint "did you mean ...?" for a misspelt name, whatever its case, or the list of known names.

    >>> from dcgev_cvx.errors import nearest
    >>> nearest("clarabell", ["CLARABEL", "SCS"]), nearest("xyz", ["CLARABEL", "SCS"])
    ("did you mean 'CLARABEL'?", 'known: CLARABEL, SCS')
    """
    names = sorted(known)
    upper = {candidate.upper(): candidate for candidate in names}
    close = difflib.get_close_matches(name.upper(), list(upper), n=1, cutoff=0.6)
    if close:
        return f"did you mean {upper[close[0]]!r}?"
    return f"known: {', '.join(names)}"
