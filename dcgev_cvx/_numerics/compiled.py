"""Functions compiled by numba when it is installed (extra `fast`), plain Python otherwise: same results, slower."""

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

njit: Any
try:
    from numba import njit
except ImportError:
    njit = None

COMPILED = njit is not None
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
