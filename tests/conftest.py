"""Shared settings: hypothesis repeats the same examples on every run, and no test touches the network."""

import os

# one BLAS thread per test process: the suite runs in parallel, and small matrices gain nothing
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from cvxpy.error import SolverError
from hypothesis import HealthCheck, settings

from dcgev_cvx import Pencil, SolverMissing, datasets

settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def pitprops() -> Pencil:
    return datasets.pitprops()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """Skip a test of ECOS where it is not installed: it has no wheels for Python 3.13 and for ARM."""
    try:
        return (yield)
    except (SolverMissing, SolverError) as missing:  # ours, or CVXPY's own
        if "ECOS is not installed" in str(missing):
            pytest.skip("ECOS is not installed")
        raise
