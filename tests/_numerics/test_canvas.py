"""Axes and figures: given ones are used, new ones are made, and what is not an Axes is refused."""

import pytest
from matplotlib.figure import Figure

from dcgev_cvx import InvalidParameter
from dcgev_cvx._numerics.canvas import axes_of, new_figure


def test_given_axes_are_used_and_others_are_refused():
    ax = Figure().add_subplot()
    assert axes_of(ax) is ax
    with pytest.raises(InvalidParameter, match="ax must be a Matplotlib Axes, got Figure"):
        axes_of(Figure())


def test_figures_for_files_are_unknown_to_pyplot():
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    assert new_figure((2.0, 1.0), dpi=50).get_size_inches().tolist() == [2.0, 1.0]
    assert plt.get_fignums() == before
