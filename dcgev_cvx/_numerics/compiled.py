"""Functions compiled by numba when it is installed (extra `fast`), plain Python otherwise: same results, slower."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache
from typing import Any, ParamSpec, TypeVar, cast

njit: Any
try:
    from numba import njit
except ImportError:
    njit = None

COMPILED = njit is not None
LARGE = 200
"""From this many variables on, `solve` takes several times as long without numba as with it."""
P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """njit with a cache on disk, or without one where no folder can be written; the function itself without numba."""
    if not COMPILED:
        return function
    try:
        return cast("Callable[P, R]", njit(cache=True)(function))
    except RuntimeError:  # numba found no folder for its cache
        return cast("Callable[P, R]", njit(function))


def expect_compiled(n: int) -> None:
    """Log once per process that numba is missing, where a problem of n variables would be solved faster with it."""
    if not COMPILED and n >= LARGE:
        log_missing()


@cache
def log_missing() -> None:
    """One line on stderr, unless the logger `dcgev_cvx` is configured otherwise."""
    logging.getLogger("dcgev_cvx").warning(
        "dcgev_cvx: numba is not installed; large problems are solved faster with it: pip install 'dcgev-cvx[fast]'."
    )
