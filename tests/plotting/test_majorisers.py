"""f and its majoriser: the numbers on the Axes are those of the program."""

from functools import partial
from itertools import islice

import numpy as np
import pytest

from dcgev_cvx import InvalidParameter, Iterate, Pencil, SparseFDA, SparseGEV, iterate, plotting
from dcgev_cvx.plotting.majorisers import over_plane, plane
from dcgev_cvx.steps.closed import soft_threshold_step
from dcgev_cvx.steps.native import native_step

LINE = SparseGEV(Pencil(np.ones((1, 1))), rho=0.5, eps=0.1, tau=3.0)
PLANE = SparseGEV(Pencil(np.array([[2.0, 0.8], [0.8, 1.2]])), rho=0.6, eps=0.1, tau=4.0)


@pytest.mark.parametrize("program", [LINE, PLANE], ids=["one variable", "two"])
def test_the_majoriser_touches_at_y_and_lies_above(program, ax, lines):
    y = np.full(program.pencil.n, 0.3)
    assert plotting.plot_majoriser(program, y, ax=ax) is ax
    drawn = lines(ax)
    f, g = drawn["$f(x)$"], drawn["$g(x, y)$"]
    assert np.array_equal(f[0], g[0])
    assert np.all(g[1] >= f[1] - 1e-12)
    touch, least = drawn["$y$: $g$ touches $f$"], drawn[r"$x=\arg\min\,g(\cdot,y)$"]
    assert touch[1, 0] == pytest.approx(program.f(y))
    assert least[1, 0] <= g[1].min() + 1e-9
    assert drawn["$f$ at $x$"][1, 0] <= least[1, 0] <= touch[1, 0]


def test_a_cusp_at_x_is_on_the_picture(pitprops, ax, lines):
    """At tiny ε f falls steeply to a point of fewer nonzeros, between any two points of an even grid."""
    program = SparseGEV(pitprops, 6.0, 1e-6, 3.0)
    *_, y, x = (point.x for point in islice(iterate(program, native_step), 5))
    assert np.count_nonzero(x) < np.count_nonzero(y)
    plotting.plot_majoriser(program, y, x, ax=ax)
    assert lines(ax)["$f(x)$"][1].min() == program.f(x)
    assert ax.get_ylim()[0] < program.f(x)


def test_a_step_that_does_not_move_has_no_line(ax):
    y = np.array([0.3, 0.3])
    with pytest.raises(InvalidParameter, match="x = y"):
        plotting.plot_majoriser(PLANE, y, y, ax=ax)


def test_the_plane_shows_the_iterates_inside_the_ellipse(ax, lines):
    history = list(islice(iterate(PLANE, native_step, [0.3, 0.35]), 10))
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


def test_basins_mark_every_start_and_limits_are_fixed_points(ax):
    program = SparseGEV(PLANE.pencil, rho=1.5, eps=1e-6)
    plotting.plot_basins(program, soft_threshold_step, starts=24, ax=ax)
    kinds = [line for line in ax.get_lines() if line.get_label().startswith("ends with")]
    assert sum(len(line.get_xdata()) for line in kinds) == 24
    limits = [line for line in ax.get_lines() if line.get_markerfacecolor() == "none"]
    for x in np.unique(np.hstack([np.array(line.get_data()) for line in limits]).round(9), axis=1).T:
        assert np.allclose(soft_threshold_step(program, x).x, x, atol=1e-6)


def test_basins_of_an_ellipse_start_on_it(ax, lines):
    program = SparseGEV(Pencil(np.eye(2), np.array([[2.0, 0.3], [0.3, 1.0]])), rho=0.1, eps=0.1)
    plotting.plot_basins(program, native_step, starts=8, ax=ax)
    starts = np.hstack([np.array(v) for label, v in lines(ax).items() if label.startswith("ends with")]) / 1.12
    assert np.allclose([program.pencil.B_norm(x) for x in starts.T], 1.0)


def test_a_flat_function_has_no_level_lines(ax):
    flat = SparseGEV(Pencil(np.zeros((2, 2))), 0.0, 1.0)
    point = Iterate(0, np.array([0.5, 0.5]), 0.0, 0.0, 0.0, 0.0)
    assert plotting.plot_majoriser_2d(flat, (point,), ax=ax) is ax
