"""Functions compiled by numba at their first call, cached on disk where some folder can be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from numba import njit

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """njit with a cache on disk; without one where neither the package's folder nor the home can be written."""
    try:
        return cast("Callable[P, R]", njit(cache=True)(function))
    except RuntimeError:  # numba found no folder for its cache
        return cast("Callable[P, R]", njit(function))
