"""What the rivals share: the PCA problem at the door, a factor of A, the search for k, the label of the answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from .._numerics.checks import UNIT_ROUNDOFF, Index, Matrix, Vector
from .._numerics.spectra import power_of_four
from ..certificates import Solution, checked_k, on_support, solution_of
from ..errors import InvalidParameter
from ..pencils import Gram, Pencil
from ..programs import smallest_tau

SEARCH_RUNS = 60
"""The most runs that a search for k may take."""

SMALLEST_UNIT = 1e-50
"""Variances between this and its inverse are taken as they are."""

SEARCH_WIDTH = 1e-8
"""Relative width of the parameter's interval below which the cardinality is taken to jump over k."""


FEW = 0.25
"""Up to this share of the columns is gathered for a product; beyond it gathering costs more than it saves."""


@dataclass(frozen=True)
class Run:
    """Where one run at a fixed parameter ended: x, how many steps, and whether its own stopping rule was met.

    x = 0 is a regular end: the penalty outweighed everything. passes counts how often the data were read, a product
    with a part of the columns as that part of one; methods that do not count leave it 0.
    """

    x: Vector
    steps: int
    converged: bool
    passes: float = 0.0


@dataclass(frozen=True)
class Found:
    """The run whose cardinality is k, or the last one seen with more; runs counts what was tried.

    parameter is the penalty at which the run was made, 0 for the run without one; exact is False where the
    cardinality jumps over k, and the caller then trims.
    """

    run: Run
    parameter: float
    exact: bool
    runs: int


def pca_problem(pencil: Any, k: Any, rival: str) -> tuple[Pencil, int]:
    """The pencil to work on and the checked k; an error for B ≠ I, or A with negative eigenvalues.

    Raises InvalidParameter for anything but a Pencil, for another B, for an indefinite A and for k out of range: a
    rival that was made for PCA is not stretched beyond it.
    """
    if not isinstance(pencil, Pencil):
        raise InvalidParameter(f"pencil must be a Pencil, got {type(pencil).__name__}: use Pencil(A).")
    if pencil.B is not None:
        raise InvalidParameter(f"{rival} is a method of sparse PCA (B = I): use solve or sparse_gev for another B.")
    if smallest_tau(pencil, "identity") > 0.0:
        raise InvalidParameter(
            f"{rival} needs A ⪰ 0, but λmin(A) = {pencil.lambda_min_A:.3g}: use solve or sparse_gev, which shift A."
        )
    return tamed(pencil), checked_k(k, pencil.n)


def tamed(pencil: Pencil) -> Pencil:
    """The pencil in units in which squares of its entries neither overflow nor vanish; nearly always itself.

    A support and its loadings do not depend on the unit, which is a power of four, so that nothing is rounded.
    """
    top = float(np.max(pencil.A_diagonal))
    if top == 0.0 or SMALLEST_UNIT < top < 1.0 / SMALLEST_UNIT:
        return pencil
    unit = power_of_four(top)
    if isinstance(pencil.A, Gram):
        return Pencil(Gram(pencil.A.C / math.sqrt(unit)), names=pencil.names)
    return Pencil(np.asarray(pencil.A) / unit, names=pencil.names)


def factor(pencil: Pencil) -> Matrix:
    """C with A = CᵀC: the data themselves, or √Λ Vᵀ from A = VΛVᵀ without the null space.

    Needed by methods that are written in the data: GPower and SPCA. The rank is that of A to rounding, and the zero
    matrix gets one row of zeros.
    """
    if isinstance(pencil.A, Gram):
        return pencil.A.C
    values, vectors = np.linalg.eigh(pencil.A)
    kept = values > len(values) * UNIT_ROUNDOFF * max(values[-1], 0.0)
    if not kept.any():
        return np.zeros((1, pencil.n))
    return np.sqrt(values[kept])[:, None] * vectors[:, kept].T


def longest_column(C: Matrix) -> tuple[Vector, float]:
    """The column of largest norm over its norm, 0 for a matrix of zeros, and ‖C‖².

    The first among equals: standardised columns are of one length but for rounding, which must not decide.
    """
    lengths = np.vecdot(C.T, C.T)
    top = float(np.maximum.reduce(lengths))
    column = C[:, int((lengths >= (1.0 - C.shape[0] * UNIT_ROUNDOFF) * top).argmax())]
    return column / math.sqrt(top) if top > 0.0 else column, float(np.add.reduce(lengths))


def combined(C: Matrix, t: Vector) -> tuple[Vector, float]:
    """Ct with only the columns touched where t is not 0, if they are few, and which share of the data was read."""
    active = t != 0.0
    share = np.count_nonzero(active) / len(t)
    if share < FEW:
        few = active.nonzero()[0]
        return t[few] @ C.T.take(few, axis=0), share
    return C @ t, 1.0


def search(run: Callable[[float], Run], high: float, k: int, n: int, *, slack: int = 0) -> Found:
    """Halve (0, high) until a run has k ± slack nonzeros: the cardinality falls, by leaps too, as the penalty grows.

    Where the cardinality jumps over k, the last run with more than k nonzeros is returned;
    k = n is the run without a penalty.

    Parameters
    ----------
    run
        From a penalty to a Run; it should have fewer nonzeros as the penalty grows.
    high
        A penalty at which nothing is left.
    slack
        How far from k a cardinality may be.

    Sixty halvings or a relative width of 1e-8 end it. The cardinality need not be monotone, and then what is
    found is a k on some branch, or no k although there is one.
    """
    low, best, at, tried = 0.0, None, 0.0, 0
    while k < n and tried < SEARCH_RUNS and high - low > SEARCH_WIDTH * high:
        middle = 0.5 * (low + high)
        found, tried = run(middle), tried + 1
        count = int(np.count_nonzero(found.x))
        if abs(count - k) <= slack:
            return Found(found, middle, count == k, tried)
        low, high = (low, middle) if count < k else (middle, high)
        if count > k:
            best, at = found, middle
    # no run had more than k: k = n, or even the smallest penalty left too few
    if best is None:
        best, tried = run(0.0), tried + 1
    return Found(best, at, int(np.count_nonzero(best.x)) == k, tried)


def trimmed(x: Vector, k: int) -> Vector:
    """x with its k largest entries only; ties go to the first."""
    kept = largest(np.abs(x), k)
    out = np.zeros_like(x)
    out[kept] = x[kept]
    return out


def largest(score: Vector, k: int) -> Index:
    """The positions of the k largest scores, in order of position; ties go to the first."""
    return np.sort(np.argsort(-score, kind="stable")[:k])


def best_loadings(pencil: Pencil, x: Vector, k: int) -> Vector:
    """The leading eigenvector on the k largest entries of x: post-processing, variational renormalization.

    The value can only rise: the leading eigenvector maximises xᵀAx on its support.
    """
    return on_support(pencil, largest(np.abs(x), k))


def finished(
    pencil: Pencil,
    x: Vector,
    k: int,
    method: str,
    begin: float,
    *,
    converged: bool = True,
    on_path: bool | None = None,
) -> Solution:
    """The rival's answer; one that ran out of iterations says so in its name.

    Where its eigenvalue is shared, variables that cost nothing fill it up to k nonzeros; fewer are left only where
    more would lower the value, as for a diagonal A.
    """
    if np.count_nonzero(x) < k:
        from ..search.paths import spread

        x = spread(pencil, x / float(np.linalg.norm(x)), k)
    label = method if converged else f"{method} (out of iterations)"
    return solution_of(pencil, x, label, perf_counter() - begin, on_path=on_path)


def linear_models() -> Any:
    """sklearn.linear_model, with Python's global random numbers left where they were.

    Its import draws one of them (through rich, which numbers its links), and a first call must not be told from a
    second by what a user's own `random` gives next.
    """
    import random
    import sys
    from importlib import import_module

    name = "sklearn.linear_model"
    if name in sys.modules:
        return sys.modules[name]
    state = random.getstate()
    try:
        return import_module(name)
    finally:
        random.setstate(state)


@contextmanager
def hushed() -> Generator[None]:
    """scikit-learn's warnings are turned off: what they would say is measured by the caller."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
