"""The picture of a comparison: its colours have a meaning, and the numbers on the Axes are those of the rows."""

import pytest
from matplotlib.figure import Figure

from dcgev_cvx import InvalidParameter, compare
from dcgev_cvx._numerics.canvas import BOUND, DC, PROVED, RIVAL
from dcgev_cvx.comparison import Comparison, ComparisonRow, comparison_plot
from dcgev_cvx.comparison.interval_plot import color_of, figure_of
from dcgev_cvx.datasets import pitprops


@pytest.fixture
def ax():
    return Figure().add_subplot()


def test_one_k_is_drawn_by_method_with_its_verdict(six, ax):
    assert comparison_plot([six], ax) is ax
    assert len(ax.get_yticklabels()) == len(six.rows)
    drawn = {line.get_xdata()[0] for line in ax.get_lines()}
    assert {row.value for row in six.rows} <= drawn
    assert ax.get_title("left") == six.verdict
    assert len(figure_of([six]).axes[0].get_yticklabels()) == len(six.rows)
    assert len(six.plot().get_yticklabels()) == len(six.rows)


def test_a_bound_is_a_bar_from_the_best_vector_to_its_value(six, ax):
    comparison_plot([six], ax)
    ends = sorted(bar.get_x() + bar.get_width() for bar in ax.patches[1:])  # the first is the interval
    assert ends == pytest.approx(sorted(row.value for row in six.upper))
    assert {bar.get_x() for bar in ax.patches[1:]} == {six.best_lower}


def test_bounds_d_c_vectors_and_the_exact_search_have_colours_of_their_own(six):
    colors = {(row.side, row.method): color_of(row) for row in six.rows}
    bounds = {color for (side, _), color in colors.items() if side == "upper"}
    assert bounds == {BOUND}
    assert colors["lower", "solve"] == DC
    assert colors["lower", "exact (branch and bound)"] == PROVED
    assert colors["lower", "greedy"] == RIVAL


def test_several_k_show_the_distances_and_mark_what_is_proved(six, ax):
    seven = compare(pitprops(), 7, ("solve", "no-sdp"))
    comparison_plot([six, seven], ax)
    assert ax.get_xticks().tolist() == [6, 7]
    drawn = {line.get_label(): line.get_data() for line in ax.get_lines()}
    ks, percent = drawn["no SDP"]
    assert list(ks) == [6, 7]
    gaps = [next(row.gap for row in found.upper if row.method == "no SDP") for found in (six, seven)]
    assert list(percent) == pytest.approx([100.0 * gap for gap in gaps], rel=1e-2)
    assert list(drawn["_proved"][0]) == [6]
    assert "proved at 1 of 2 k" in ax.get_title("left")


def test_methods_with_the_same_distances_share_a_line(six, ax):
    comparison_plot([six, six], ax)
    (label,) = [line.get_label() for line in ax.get_lines() if "solve" in line.get_label()]
    assert {"solve", "greedy"} <= set(label.split(" · "))


def test_what_does_not_count_is_pale_for_one_k_and_left_out_for_several(ax):
    wrong = Comparison(pitprops(), 1, (ComparisonRow("no SDP", "upper", 1.0, "", False),), 0.0)
    comparison_plot([wrong], ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["no SDP (not valid)"]
    assert {line.get_alpha() for line in ax.get_lines() if line.get_linewidth() > 2} == {0.35}
    comparison_plot([wrong, wrong], other := Figure().add_subplot())
    assert all(line.get_label() == "_proved" for line in other.get_lines())


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
