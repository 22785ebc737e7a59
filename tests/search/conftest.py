"""Shared settings of the tests of the search."""

import pytest
import standin


@pytest.fixture
def exhaustive(monkeypatch):
    """Every component is found by looking at all supports, so that a test of deflation tests nothing else."""
    monkeypatch.setattr("dcgev_cvx.search.components.solve", standin.solve)
