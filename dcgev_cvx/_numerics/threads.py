"""Settings of the whole process that several threads change for a while: BLAS on one thread, and no warnings."""

import threading
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import cache
from typing import Any

THREADED = 64
"""Matrices below this order are factored and multiplied by one thread in any case."""


class Shared:
    """A context that the first of several threads enters and the last one leaves; it may be nested."""

    def __init__(self, made: Callable[[], AbstractContextManager[Any]]) -> None:
        self._made, self._lock, self._depth, self._entered = made, threading.Lock(), 0, ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._entered.enter_context(self._made())
            self._depth += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._entered.close()


@cache
def blas() -> Any:
    """The BLAS libraries that are loaded; NumPy and SciPy each have their own."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


one_thread = Shared(lambda: blas().limit(limits=1, user_api="blas"))
"""BLAS on one thread: its libraries keep their threads busy after a call, and short products wait for each other."""

quiet = Shared(lambda: warnings.catch_warnings(action="ignore"))
"""No warnings, where what they would say is in a status or measured by the caller."""


def same_bits(order: int) -> AbstractContextManager[None]:
    """A context for factorisations, eigenpairs and products of matrices, whose last bits depend on the threads.

    Products of a matrix and a vector do not, and need none.
    """
    return one_thread if order >= THREADED else nullcontext()
