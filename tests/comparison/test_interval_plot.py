"""The picture of a comparison: every method has its own marker, and the numbers on the Axes are those of the rows."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from dcgev_cvx import InvalidParameter, Pencil, compare
from dcgev_cvx.comparison import METHODS, Comparison, Row, comparison_plot, html_report
from dcgev_cvx.comparison.interval_plot import mark, png
from dcgev_cvx.datasets import pitprops


@pytest.fixture
def ax():
    return Figure().add_subplot()


def test_every_method_has_its_own_marker_and_its_own_colour_on_its_side():
    marks = {(method.side, mark(Row(method.title, method.side))) for method in METHODS.values()}
    assert len({marker for _, (marker, _) in marks}) == len(METHODS)
    for side in ("lower", "upper"):
        colors = [color for where, (_, color) in marks if where == side]
        assert len(set(colors)) == len(colors) <= 10  # Matplotlib's cycle has ten
    assert mark(Row("another", "lower")) == (".", "black")


def test_one_k_is_drawn_by_method(six, ax):
    assert comparison_plot([six], ax) is ax
    assert len(ax.get_yticklabels()) == len(six.rows)
    drawn = {line.get_xdata()[0] for line in ax.get_lines() if line.get_marker() != "None"}
    assert {row.value for row in six.rows} <= drawn
    assert png([six])[:4] == b"\x89PNG"
    assert len(six.plot().get_yticklabels()) == len(six.rows)


def test_several_k_are_drawn_side_by_side(six, ax):
    comparison_plot([six, compare(pitprops(), 7, ("solve", "no-sdp"))], ax)
    assert ax.get_xticks().tolist() == [6, 7]
    drawn = {line.get_label(): line for line in ax.get_lines()}
    assert len(drawn["solve"].get_ydata()) == len(drawn["no SDP bound"].get_ydata()) == 2
    assert len(drawn["greedy"].get_ydata()) == 1


def test_what_does_not_count_is_marked(ax):
    rows = (Row("no SDP", "upper", 1.0, "", False), Row("no SDP", "upper", 2.0, "", True))
    comparison_plot([Comparison(pitprops(), k, (row,), 0.0) for k, row in enumerate(rows, 1)], ax)
    looks = {line.get_label(): line.get_alpha() for line in ax.get_lines()}
    assert looks == {"no SDP bound": 1.0, "no SDP bound (not valid)": 0.4}


def test_rounding_errors_do_not_look_like_a_gap(pitprops, ax):
    found = compare(pitprops, 13, ("solve", "exact"))
    comparison_plot([found], ax)
    low, high = ax.get_xlim()
    assert low < found.best_lower <= found.best_upper < high
    assert high - low == pytest.approx(0.01 * found.best_upper, rel=0.1)


@pytest.mark.parametrize("make", [html_report, comparison_plot])
def test_pages_and_pictures_need_comparisons_of_one_pencil(six, make):
    for wrong in ([], six, None, 3, "six"):
        with pytest.raises(InvalidParameter, match=r"comparisons = .* must list what compare returned"):
            make(wrong)
    with pytest.raises(InvalidParameter, match="must be a Comparison, got int: see compare"):
        make([six, 3])
    other = compare(Pencil(np.eye(4)), 2, ["greedy"])
    with pytest.raises(InvalidParameter, match=r"one pencil, got n = 13, λmax\(A,B\) = 4.21863 and n = 4"):
        make([six, other])
