"""Pictures of vectors, values and distances."""

import numpy as np
import pytest

from dcgev_cvx import InvalidParameter, Pencil, plotting


def test_tradeoff_draws_every_curve_and_the_top(ax, lines):
    plotting.plot_tradeoff({"a": [(1, 0.5), (2, 0.7)], "b": [(1, 0.4)]}, top=1.0, ax=ax)
    assert lines(ax)["a"].tolist() == [[1, 2], [0.5, 0.7]]
    assert lines(ax)[r"$\lambda_{max}(A,B)$"][1].tolist() == [1.0, 1.0]


def test_one_vector_is_drawn_by_size_without_its_zeros(pitprops, result, ax):
    plotting.plot_loadings(pitprops, result.x, ax)
    widths = [bar.get_width() for bar in ax.patches]
    assert len(widths) == 6
    assert widths == sorted(widths, key=abs, reverse=True)
    largest = pitprops.name(int(np.argmax(np.abs(result.x))))
    assert ax.get_yticklabels()[0].get_text() == largest


def test_several_vectors_are_a_heat_map_with_their_numbers(pitprops, ax):
    vectors = {f"e{i}": np.eye(13)[i] for i in range(4)}
    plotting.plot_loadings(pitprops, vectors, ax)
    assert [text.get_text() for text in ax.texts] == ["1.00"] * 4
    assert [label.get_text() for label in ax.get_xticklabels()] == list(vectors)
    assert [label.get_text() for label in ax.get_yticklabels()] == [pitprops.name(i) for i in range(4)]


def test_of_many_variables_the_largest_are_drawn(ax):
    x = np.arange(100.0)
    plotting.plot_loadings(Pencil(np.eye(100)), x, ax)
    assert [bar.get_width() for bar in ax.patches] == list(range(99, 59, -1))


def test_nothing_to_draw_is_refused(pitprops, ax):
    with pytest.raises(InvalidParameter, match="no vector to draw"):
        plotting.plot_loadings(pitprops, {}, ax)
