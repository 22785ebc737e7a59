"""Pictures of vectors, values and distances."""

import numpy as np
import pytest

from dcgev_cvx import InvalidParameter, plotting


def test_tradeoff_draws_every_curve_and_the_top(ax, lines):
    plotting.plot_tradeoff({"a": [(1, 0.5), (2, 0.7)], "b": [(1, 0.4)]}, top=1.0, ax=ax)
    assert lines(ax)["a"].tolist() == [[1, 2], [0.5, 0.7]]
    assert lines(ax)[r"$\lambda_{max}(A,B)$"][1].tolist() == [1.0, 1.0]


def test_loadings_are_the_vectors_and_carry_the_names(pitprops, result, ax):
    plotting.plot_loadings(pitprops, {"dense": pitprops.leading_vector, "sparse": result.x}, ax)
    heights = [bar.get_height() for bar in ax.patches]
    assert np.allclose(heights, [*pitprops.leading_vector, *result.x])
    assert [label.get_text() for label in ax.get_xticklabels()] == list(pitprops.names)


def test_nothing_to_draw_is_refused(pitprops, ax):
    with pytest.raises(InvalidParameter, match="no vector to draw"):
        plotting.plot_loadings(pitprops, {}, ax)
