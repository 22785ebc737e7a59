"""Settings of the process that threads share: the last one to leave restores them."""

import threading
import warnings

import pytest
from threadpoolctl import threadpool_info

from dcgev_cvx._numerics.threads import THREADED, one_thread, quiet, same_bits


def test_one_blas_thread_ends_with_the_outermost_context_even_after_an_error():
    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before = threads()
    with one_thread, one_thread:
        assert set(threads()) == {1}
    with pytest.raises(ZeroDivisionError), one_thread:
        divmod(1, 0)
    assert threads() == before


def test_warning_filters_survive_overlapping_threads():
    """The first to enter must not put back filters that the last one still needs off."""
    before = list(warnings.filters)
    inside, leave = threading.Barrier(2), threading.Event()

    def other():
        with quiet:
            inside.wait()
            leave.wait()

    thread = threading.Thread(target=other)
    with quiet:
        thread.start()
        inside.wait()
    try:
        warnings.warn("silenced while the other thread is inside", stacklevel=1)
    finally:
        leave.set()
        thread.join()
    assert warnings.filters == before


def test_only_large_matrices_need_one_thread():
    assert same_bits(THREADED) is one_thread
    assert same_bits(THREADED - 1) is not one_thread
