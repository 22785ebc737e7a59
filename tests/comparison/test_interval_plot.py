"""The picture of a comparison: every method has its own marker, and the numbers on the Axes are those of the rows."""

import pytest
from matplotlib.figure import Figure

from dcgev_cvx import InvalidParameter, compare
from dcgev_cvx.comparison import METHODS, Comparison, ComparisonRow, comparison_plot
from dcgev_cvx.comparison.interval_plot import figure_of, marker_of
from dcgev_cvx.datasets import pitprops


@pytest.fixture
def ax():
    return Figure().add_subplot()


def test_every_method_has_its_own_marker_and_its_own_colour_on_its_side():
    marked = [(method, marker_of(ComparisonRow(method.title, method.side))) for method in METHODS.values()]
    assert len({marker for _, (marker, _) in marked}) == len(METHODS)
    marks = [(method.side, marks) for method, marks in marked if not method.rival]
    for side in ("lower", "upper"):
        colors = [color for where, (_, color) in marks if where == side]
        assert len(set(colors)) == len(colors) <= 10  # Matplotlib's cycle has ten


def test_one_k_is_drawn_by_method(six, ax):
    assert comparison_plot([six], ax) is ax
    assert len(ax.get_yticklabels()) == len(six.rows)
    drawn = {line.get_xdata()[0] for line in ax.get_lines() if line.get_marker() != "None"}
    assert {row.value for row in six.rows} <= drawn
    assert len(figure_of([six]).axes[0].get_yticklabels()) == len(six.rows)
    assert len(six.plot().get_yticklabels()) == len(six.rows)


def test_several_k_are_drawn_side_by_side(six, ax):
    comparison_plot([six, compare(pitprops(), 7, ("solve", "no-sdp"))], ax)
    assert ax.get_xticks().tolist() == [6, 7]
    drawn = {line.get_label(): line for line in ax.get_lines()}
    assert len(drawn["solve"].get_ydata()) == len(drawn["no SDP bound"].get_ydata()) == 2
    assert len(drawn["greedy"].get_ydata()) == 1


def test_what_does_not_count_is_marked(ax):
    rows = (ComparisonRow("no SDP", "upper", 1.0, "", False), ComparisonRow("no SDP", "upper", 2.0, "", True))
    comparison_plot([Comparison(pitprops(), k, (row,), 0.0) for k, row in enumerate(rows, 1)], ax)
    looks = {line.get_label(): line.get_alpha() for line in ax.get_lines()}
    assert looks == {"no SDP bound": 1.0, "no SDP bound (not valid)": 0.4}


def test_rounding_errors_do_not_look_like_a_gap(pitprops, ax):
    found = compare(pitprops, 13, ("solve", "exact"))
    comparison_plot([found], ax)
    low, high = ax.get_xlim()
    assert low < found.best_lower <= found.best_upper < high
    assert high - low == pytest.approx(0.01 * found.best_upper, rel=0.1)


def test_a_picture_needs_comparisons(six):
    for wrong in ([], six, None, 3, "six"):
        with pytest.raises(InvalidParameter, match=r"comparisons = .* must list what compare returned"):
            comparison_plot(wrong)
    with pytest.raises(InvalidParameter, match="must be a Comparison, got int: see compare"):
        comparison_plot([six, 3])
