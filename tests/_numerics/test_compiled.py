"""With numba a kernel is compiled; without it the plain function runs and returns the same."""

import subprocess
import sys

import pytest

from dcgev_cvx._numerics.compiled import compiled

WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
import dcgev_cvx
from dcgev_cvx._numerics.compiled import compiled
def twice(x):
    return x + x
assert compiled(twice) is twice
print(dcgev_cvx.sparse_gev(dcgev_cvx.datasets.pitprops(), rho=4.84, engine="native").support)
"""


def test_without_numba_the_function_itself_runs():
    done = subprocess.run([sys.executable, "-c", WITHOUT_NUMBA], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "(0, 1, 6, 7, 8, 9)"


def test_a_compiled_function_returns_the_same():
    def twice(x: float) -> float:
        return x + x

    assert compiled(twice)(1.5) == twice(1.5)


def test_without_a_folder_for_the_cache_functions_are_compiled_all_the_same():
    numba = pytest.importorskip("numba", exc_type=ImportError)
    names: dict = {}
    exec("def twice(x):\n    return x + x", names)  # no file, so that numba finds no place for a cache
    with pytest.raises(RuntimeError, match="cannot cache"):
        numba.njit(cache=True)(names["twice"])
    assert compiled(names["twice"])(1.5) == 3.0
