"""What the tests of the pictures share: Axes, a run on pit props, and the lines that were drawn, by label."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from dcgev_cvx import SparseGEV, minimize
from dcgev_cvx.steps.closed import soft_threshold_step


@pytest.fixture
def ax():
    return Figure().add_subplot()


@pytest.fixture(scope="session")
def result(pitprops):
    return minimize(SparseGEV(pitprops, rho=4.84), soft_threshold_step)


@pytest.fixture
def lines():
    return lambda ax: {line.get_label(): np.array(line.get_data()) for line in ax.get_lines()}
