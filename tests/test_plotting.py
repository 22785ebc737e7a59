"""The pictures show what they say: the numbers on the Axes are those of the program."""

import sys
from base64 import b64decode
from functools import partial
from io import BytesIO
from itertools import islice, pairwise

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.image import imread

from dcgev_cvx import (
    FisherPath,
    InvalidParameter,
    Pencil,
    SolverMissing,
    SparseFDA,
    SparseGEV,
    Stop,
    compare,
    datasets,
    fda_vectors,
    fisher_path,
    iterate,
    minimize,
    plotting,
)
from dcgev_cvx.comparison import Comparison
from dcgev_cvx.pictures import STYLES, over_plane, plane
from dcgev_cvx.steps.closed import soft_threshold_step
from dcgev_cvx.steps.native import native_step

LINE = SparseGEV(Pencil(np.ones((1, 1))), rho=0.5, eps=0.1, tau=3.0)
PLANE = SparseGEV(Pencil(np.array([[2.0, 0.8], [0.8, 1.2]])), rho=0.6, eps=0.1, tau=4.0)


@pytest.fixture
def ax():
    return Figure().add_subplot()


@pytest.fixture(scope="module")
def result(pitprops):
    return minimize(SparseGEV(pitprops, rho=4.84), soft_threshold_step)


def lines(ax):
    return {line.get_label(): np.array(line.get_data()) for line in ax.get_lines()}


@pytest.mark.parametrize("program", [LINE, PLANE], ids=["one variable", "two"])
def test_the_majoriser_touches_at_y_and_lies_above(program, ax):
    y = np.full(program.pencil.n, 0.3)
    assert plotting.plot_majoriser(program, y, ax=ax) is ax
    drawn = lines(ax)
    f, g = drawn["$f(x)$"], drawn["$g(x, y)$"]
    assert np.array_equal(f[0], g[0])
    assert np.all(g[1] >= f[1] - 1e-12)
    touch, least = drawn["$y$: they touch"], drawn[r"$x=\arg\min\,g(\cdot,y)$"]
    assert touch[1, 0] == pytest.approx(program.f(y))
    assert least[1, 0] <= g[1].min() + 1e-9
    assert drawn["$f(x)$, lower still"][1, 0] <= least[1, 0] <= touch[1, 0]


def test_a_cusp_at_x_is_on_the_picture(pitprops, ax):
    """At tiny ε f falls steeply to a point of fewer nonzeros, between any two points of an even grid."""
    program = SparseGEV(pitprops, 6.0, 1e-6, 3.0)
    *_, y, x = (point.x for point in islice(iterate(program, native_step(program)), 5))
    assert np.count_nonzero(x) < np.count_nonzero(y)
    plotting.plot_majoriser(program, y, x, ax=ax)
    assert lines(ax)["$f(x)$"][1].min() == program.f(x)
    assert ax.get_ylim()[0] < program.f(x)


def test_rounding_errors_are_no_gap(pitprops, ax):
    found = compare(pitprops, 13, ("solve", "exact"))
    plotting.comparison_plot([found], ax)
    low, high = ax.get_xlim()
    assert low < found.best_lower <= found.best_upper < high
    assert high - low == pytest.approx(0.01 * found.best_upper, rel=0.1)


def test_a_step_that_does_not_move_has_no_line(ax):
    y = np.array([0.3, 0.3])
    with pytest.raises(InvalidParameter, match="x = y"):
        plotting.plot_majoriser(PLANE, y, y, ax=ax)


def test_the_plane_shows_the_iterates_inside_the_ellipse(ax):
    history = list(islice(iterate(PLANE, native_step(PLANE), [0.3, 0.35]), 10))
    assert plotting.plot_majoriser_2d(PLANE, history, at=2, ax=ax) is ax
    drawn = lines(ax)
    assert np.allclose(drawn["$x^{(l)}$"].T, [point.x for point in history])
    assert np.allclose(drawn["$y=x^{(2)}$"][:, 0], history[2].x)


def test_the_plane_wants_two_variables_and_an_inside(pitprops, ax):
    with pytest.raises(InvalidParameter, match="this program has 13"):
        plotting.plot_majoriser_2d(SparseGEV(pitprops, 1.0), (), ax=ax)
    with pytest.raises(InvalidParameter, match="Ω is a line"):
        plotting.plot_majoriser_2d(SparseFDA([1.0, 2.0], np.eye(2), 0.1), (), ax=ax)


@pytest.mark.parametrize("shift", ["identity", "metric"])
def test_the_plane_is_known_from_its_axes(shift):
    pencil = Pencil(np.array([[2.0, 0.8], [0.8, -1.2]]), np.array([[2.0, 0.3], [0.3, 1.0]]))
    program = SparseGEV(pencil, rho=0.6, eps=1e-3, shift=shift)
    first, second, inside = plane(program, 7)
    for function in (program.f, partial(program.g, y=np.array([0.3, -0.2]))):
        called = np.vectorize(lambda a, b, h=function: h(np.array([a, b])))(first, second)
        assert np.allclose(over_plane(function, first, second), called, rtol=1e-12, atol=1e-12)
    called = np.vectorize(lambda a, b: program.violation(np.array([a, b])) == 0.0)(first, second)
    assert np.array_equal(inside, called)
    assert 0 < np.count_nonzero(inside) < inside.size


def test_a_sheet_is_drawn_again_and_again():
    """The same picture whatever was drawn before, also after a painter that failed."""
    sheet = plotting.Sheet(4.0, 3.0, (0.5, 0.5, 0.1, 0.2), dpi=50.0)

    def one(figure):
        plotting.plot_majoriser(LINE, [0.3], ax=figure.add_subplot())

    def two(figure):
        plotting.plot_majoriser(PLANE, [0.3, 0.3], ax=figure.subplots(1, 2)[1])
        raise KeyError

    first = sheet(one)
    with pytest.raises(KeyError):
        sheet(two)
    assert sheet(one) == first
    png = b64decode(first.removeprefix("data:image/png;base64,"))
    assert imread(BytesIO(png)).shape == (150, 200, 4)
    left, bottom, right, top = sheet.figure.axes[0].get_position().extents
    assert (4.0 * left, 3.0 * bottom, 4.0 * (1.0 - right), 3.0 * (1.0 - top)) == pytest.approx((0.5, 0.5, 0.1, 0.2))


def test_steps_and_counts_have_no_halves(ax):
    short = minimize(PLANE, native_step(PLANE), [0.3, 0.35], stop=Stop(max_iter=2))
    plotting.plot_history(short, ax)
    right = next(axes for axes in ax.figure.axes if axes is not ax)
    for ticks in (ax.get_xticks(), right.get_yticks()):
        assert np.array_equal(ticks, np.round(ticks))


def test_basins_mark_every_start_and_limits_are_fixed_points(ax):
    program = SparseGEV(PLANE.pencil, rho=1.5, eps=1e-6)
    plotting.plot_basins(program, soft_threshold_step, starts=24, ax=ax)
    kinds = [line for line in ax.get_lines() if line.get_label().startswith("ends with")]
    assert sum(len(line.get_xdata()) for line in kinds) == 24
    limits = [line for line in ax.get_lines() if line.get_markerfacecolor() == "none"]
    for x in np.unique(np.hstack([np.array(line.get_data()) for line in limits]).round(9), axis=1).T:
        assert np.allclose(soft_threshold_step(program, x).x, x, atol=1e-6)


def test_basins_of_an_ellipse_start_on_it(ax):
    program = SparseGEV(Pencil(np.eye(2), np.array([[2.0, 0.3], [0.3, 1.0]])), rho=0.1, eps=0.1)
    plotting.plot_basins(program, native_step(program), starts=8, ax=ax)
    starts = np.hstack([np.array(v) for label, v in lines(ax).items() if label.startswith("ends with")]) / 1.12
    assert np.allclose([program.pencil.B_norm(x) for x in starts.T], 1.0)


def test_history_shows_f_and_the_count(result, ax):
    plotting.plot_history(result, ax)
    drawn = lines(ax)[r"$f(x^{(l)})$"]
    assert np.allclose(drawn[1], [point.f for point in result.history])
    right = next(axes for axes in ax.figure.axes if axes is not ax)
    assert right.get_lines()[0].get_ydata()[-1] == 6


def test_the_sandwich_lies_between_two_stairs(result, ax):
    plotting.plot_sandwich(result, ax, steps=30)
    drawn = lines(ax)
    stairs, triangles = drawn[r"$f(x^{(l)})$"][1], drawn[r"$g(x^{(l)},x^{(l-1)})$"][1]
    assert len(triangles) == 30
    for (before, after), between in zip(pairwise(stairs), triangles, strict=True):
        assert after - 1e-12 <= between <= before + 1e-12


def test_tradeoff_draws_every_curve_and_the_top(ax):
    plotting.plot_tradeoff({"a": [(1, 0.5), (2, 0.7)], "b": [(1, 0.4)]}, top=1.0, ax=ax)
    assert lines(ax)["a"].tolist() == [[1, 2], [0.5, 0.7]]
    assert lines(ax)[r"$\lambda_{max}(A,B)$"][1].tolist() == [1.0, 1.0]


def test_loadings_are_the_vectors_and_carry_the_names(pitprops, result, ax):
    plotting.plot_loadings(pitprops, {"dense": pitprops.leading_vector, "sparse": result.x}, ax)
    heights = [bar.get_height() for bar in ax.patches]
    assert np.allclose(heights, [*pitprops.leading_vector, *result.x])
    assert [label.get_text() for label in ax.get_xticklabels()] == list(pitprops.names)


def test_agreement_prints_the_distances(pitprops, ax):
    x = pitprops.leading_vector
    plotting.plot_agreement(pitprops, {"one": x, "two": x + 1e-6, "three": x}, ax)
    texts = [text.get_text() for text in ax.texts]
    assert texts[0] == texts[2] == "0"
    assert texts[1] == "4e-06"


def test_without_axes_a_new_one_is_made(result):
    import matplotlib.pyplot as plt

    made = plotting.plot_sandwich(result)
    assert made.get_xlabel() == "$l$"
    plt.close(made.figure)


def test_curves_are_told_apart_without_colour():
    assert len({style[1:] for style in STYLES}) == len(STYLES)
    grey = [np.dot(to_rgb(color), (0.2126, 0.7152, 0.0722)) for color, _, _ in STYLES]
    assert max(grey) < 0.75  # dark enough on white paper


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((0, 3.0, (0.5, 0.5, 0.1, 0.2)), "width = 0 is out of range"),
        ((4.0, "3", (0.5, 0.5, 0.1, 0.2)), "height = '3' is not a real number"),
        ((4.0, 3.0, None), "margins = None must list numbers"),
        ((4.0, 3.0, (0.5, 0.5)), r"margins = \(0.5, 0.5\) must be left, bottom, right and top"),
        ((4.0, 3.0, (3.0, 0.5, 1.0, 0.2)), "with room left on a sheet of 4 × 3"),
        ((4.0, 3.0, (0.5, 0.5, 0.1, 0.2), float("inf")), "dpi = inf is not finite"),
    ],
)
def test_a_sheet_that_cannot_be_is_refused(given, message):
    size, dpi = given[:3], dict(zip(["dpi"], given[3:], strict=False))
    with pytest.raises(InvalidParameter, match=message):
        plotting.Sheet(*size, **dpi)


def test_nothing_to_draw_is_refused(pitprops, ax):
    with pytest.raises(InvalidParameter, match="no vector to draw"):
        plotting.plot_loadings(pitprops, {}, ax)


def test_without_matplotlib_the_remedy_is_named(pitprops, result, monkeypatch):
    for name in ("matplotlib.pyplot", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    for draw in (
        lambda: plotting.Sheet(4.0, 3.0, (0.5, 0.5, 0.1, 0.2)),
        lambda: plotting.plot_sandwich(result),
        lambda: plotting.plot_majoriser(LINE, [0.3]),
        lambda: plotting.plot_loadings(pitprops, result.x),
        lambda: plotting.comparison_plot([Comparison(pitprops, 3, (), 0.0)]),
    ):
        with pytest.raises(SolverMissing, match="pip install matplotlib"):
            draw()


def test_a_path_in_nu_is_drawn_with_its_own_values(ax):
    X, y, _ = datasets.two_gaussians(6, 2, samples=80)
    a, B = fda_vectors(X, y)
    found = fisher_path(a, B, [0.01, 0.1, 1.0])
    drawn = plotting.plot_path(found, ax)
    assert drawn.get_xlabel() == r"$\nu$"
    assert list(drawn.lines[0].get_ydata()) == list(found.cardinalities)
    shares = drawn.figure.axes[-1].lines[0].get_ydata()
    dense = a @ np.linalg.solve(B, a)
    assert np.all(shares >= np.array(found.ratios) / dense - 1e-9)  # renormalized
    with pytest.raises(InvalidParameter, match="no ν to draw"):
        plotting.plot_path(FisherPath((), ()), ax)
