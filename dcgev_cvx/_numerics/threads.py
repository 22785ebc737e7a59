"""BLAS on one thread: for short products, and where the last bits depend on the number of threads."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from typing import Any

THREADED = 64
"""Matrices below this order are factored and multiplied by one thread in any case."""


class OneThread:
    """A context in which BLAS uses one thread; nested and concurrent contexts restore the setting before the first.

    NumPy's and SciPy's BLAS libraries each keep their threads busy for a while after a call, so that with products of
    a tenth of a millisecond they mostly wait for each other.
    """

    def __init__(self) -> None:
        self._lock, self._depth = threading.Lock(), 0
        self._controller: Any = None
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                if self._controller is None:
                    from threadpoolctl import ThreadpoolController

                    self._controller = ThreadpoolController()
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._depth += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._limit.restore_original_limits()


one_thread = OneThread()


def same_bits(order: int) -> AbstractContextManager[None]:
    """A context for factorisations, eigenpairs and products of matrices, whose last bits depend on the threads.

    Products of a matrix and a vector do not, and need none.
    """
    return one_thread if order >= THREADED else nullcontext()
