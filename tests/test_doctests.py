"""Every example in a docstring prints what it says."""

import doctest
import importlib
import pkgutil

import pytest

import dcgev_cvx

MODULES = [
    info.name
    for info in pkgutil.walk_packages(dcgev_cvx.__path__, "dcgev_cvx.")
    if not info.name.endswith("__main__") and ">>>" in importlib.util.find_spec(info.name).loader.get_source(info.name)
]


def test_there_are_examples():
    assert {"dcgev_cvx.algorithms", "dcgev_cvx.pencils", "dcgev_cvx.search.path"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
