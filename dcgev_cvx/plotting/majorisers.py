"""Pictures of f and its majoriser g(·, y): along a line, in the plane, and where MM ends from each start."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._numerics.canvas import BLACK, BLUE, ORANGE, STYLES, axes_of, plain
from .._numerics.checks import Matrix, Vector, as_vector, as_whole
from ..certificates import check_history
from ..errors import InvalidParameter
from ..mm import Iterate, Stop, minimize
from ..programs import Program, expect_program
from ..steps.native import native_step
from ..steps.step import Step


def plot_majoriser(program: Program, y: Any, x: Any = None, *, ax: Any = None, points: int = 401) -> Any:
    """Draw f and g(·, y) along the line through y and x, the minimiser of g: they touch at y (Eq:maj-step).

    With one variable the abscissa is x itself, over Ω; with more it is t of y + t(x − y).

    Parameters
    ----------
    program : SparseGEV or SparseFDA
        The program that f and g belong to.
    y : array_like
        Where f and g touch.
    x : array_like, optional
        The other end of the line, different from y; the native step from y by default.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    points : int
        How many points of the line are evaluated.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that were drawn on.

    Examples
    --------
    >>> from dcgev_cvx import SparseGEV, datasets
    >>> from dcgev_cvx.plotting import plot_majoriser
    >>> program = SparseGEV(datasets.pitprops(), rho=1.0, eps=0.1, tau=3.0)
    >>> axes = plot_majoriser(program, program.start())
    """
    points, n = as_whole(points, "points", low=2, high=100_000), np.size(y)
    y = as_vector(y, n, "y")
    x = native_step(program, y).x if x is None else as_vector(x, n, "x")
    if n > 1 and not np.any(x - y):
        raise InvalidParameter("x = y: the step does not move, so there is no line to draw along. Give another x.")
    ax = axes_of(ax)
    if n == 1:
        edge = 1.0 / program.pencil.B_norm(np.ones(1))
        grid, at_y, at_x = np.linspace(-edge, edge, points), y[0], x[0]
        line = grid[:, None]
    else:
        grid, at_y, at_x = np.union1d(np.linspace(-0.6, 1.6, points), (0.0, 1.0)), 0.0, 1.0
        line = y + grid[:, None] * (x - y)
    values = [program.f(z) for z in line]
    ax.plot(grid, values, color=BLACK, label=r"$f(x)$")
    ax.plot(grid, [program.g(z, y) for z in line], color=BLUE, linestyle="--", label=r"$g(x, y)$")
    ax.plot(at_y, program.f(y), "o", color=BLACK, markersize=8, label=r"$y$: $g$ touches $f$", zorder=3)
    ax.plot(at_x, program.g(x, y), "v", color=BLUE, markersize=9, label=r"$x=\arg\min\,g(\cdot,y)$", zorder=3)
    ax.plot(at_x, program.f(x), "s", color=ORANGE, markersize=8, label=r"$f$ at $x$", zorder=3)
    spread = max(values) - min(values)
    ax.set_ylim(min(values) - 0.1 * spread, max(values) + spread)  # g may rise far above f away from y
    ax.set_xlabel(r"$x$" if n == 1 else r"$t$ of $y + t\,(x - y)$")
    plain(ax, r"$g$ touches $f$ at $y$ and lies above it, so its minimum lowers $f$")
    ax.legend(frameon=False, fontsize=9)
    return ax


def plot_majoriser_2d(program: Program, history: Sequence[Iterate], *, at: int = 0, ax: Any = None) -> Any:
    """Draw level lines of f and of g(·, x⁽ˡ⁾) in the plane, its minimiser and the iterates (Eq:majorize-f).

    Parameters
    ----------
    program : SparseGEV
        A program of two variables.
    history : sequence of Iterate
        The iterates of a run, as `iterate` yields them or `MMResult.history` keeps them.
    at : int
        The l whose surrogate is drawn; beyond the end, the last.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that were drawn on.

    Examples
    --------
    >>> from dcgev_cvx import Pencil, sparse_gev
    >>> from dcgev_cvx.plotting import plot_majoriser_2d
    >>> result = sparse_gev(Pencil([[2.0, 0.8], [0.8, 1.2]]), rho=0.6, eps=0.1, tau=4.0)
    >>> axes = plot_majoriser_2d(result.program, result.history)
    """
    check_history(history, expect_program(program).pencil.n)
    first, second, inside = plane(program)
    if not history:
        raise InvalidParameter("history is empty: give at least one iterate.")
    l = min(as_whole(at, "at", low=0), len(history) - 1)  # noqa: E741 - the paper's letter
    ax = axes_of(ax, (6.6, 4.6))
    y, grid = history[l].x, (first, second)
    (edge,) = ax.fill(*on_boundary(program, np.linspace(0.0, 2.0 * np.pi, 361)), facecolor="none", edgecolor=BLACK)
    level_lines(ax, grid, over_plane(program.f, *grid), inside, edge, colors="0.55", linestyles="-")
    level_lines(ax, grid, over_plane(lambda z: program.g(z, y), *grid), inside, edge, colors=BLUE, linestyles="--")
    ax.plot([], [], color="0.55", label=r"$f$")
    ax.plot([], [], color=BLUE, linestyle="--", label=r"$g(\cdot,y)$")
    ax.plot([], [], color=BLACK, label=r"boundary of $\Omega$")
    ax.plot(*np.array([point.x for point in history]).T, "-o", color=ORANGE, markersize=4, label=r"$x^{(l)}$")
    ax.plot(*y, "o", color=BLACK, markersize=8, label=rf"$y=x^{{({l})}}$")
    ax.plot(*native_step(program, y).x, "v", color=BLUE, markersize=9, label=r"$\arg\min\,g(\cdot,y)$")
    ax.set(xlabel=r"$x_1$", ylabel=r"$x_2$", aspect="equal", anchor="W")
    ax.set_title(rf"Level lines of $f$ and of its majoriser at $x^{{({l})}}$", loc="left", fontsize=10)
    ax.locator_params(nbins=5)
    ax.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def level_lines(ax: Any, grid: tuple[Matrix, Matrix], values: Matrix, inside: Any, edge: Any, **look: Any) -> None:
    """Labelled level lines of a function on the grid, cut off at the edge of Ω."""
    low, high = np.quantile(values[inside], (0.02, 0.97))
    if high - low <= 1e-12 * max(abs(low), abs(high)):  # the same everywhere, up to rounding: there are no lines
        return
    lines = ax.contour(*grid, values, levels=np.linspace(low, high, 9), linewidths=0.8, **look)
    lines.set_clip_path(edge)
    for label in ax.clabel(lines, lines.levels[1::2], fontsize=7, fmt="%.2g"):
        label.set_visible(edge.get_path().contains_point(1.12 * np.array(label.get_position())))


def plane(program: Program, points: int = 121) -> tuple[Matrix, Matrix, Any]:
    """A grid over Ω for two variables, and which of its points lie inside."""
    if program.pencil.n != 2:
        raise InvalidParameter(f"the program must have two variables, this program has {program.pencil.n}.")
    if program.slack(np.zeros(2)) <= 0.0:
        raise InvalidParameter("Ω is a line of the plane, as in SparseFDA: give a program with xᵀBx ≤ 1.")
    edges = np.sqrt(np.diagonal(np.linalg.inv(program.pencil.dense()[1])))
    first, second = np.meshgrid(*(np.linspace(-1.05 * edge, 1.05 * edge, points) for edge in edges))
    inside = over_plane(program.slack, first, second) >= 0.0
    return first, second, inside


def over_plane(function: Callable[[Vector], float], first: Matrix, second: Matrix) -> Matrix:
    """A function h on the grid from its values on two lines: h(a, b) = h(a, 0) + h(0, b) − h(0, 0) + c·ab.

    This holds for a quadratic plus a sum over the coordinates, such as f, g(·, y) and the slack of Ω; a call for each
    point of the grid would take a hundred times as long.
    """
    origin = function(np.zeros(2))
    row = np.array([function(np.array([a, 0.0])) for a in first[0]]) - origin
    column = np.array([function(np.array([0.0, b])) for b in second[:, 0]]) - origin
    a, b = first[0, -1], second[-1, 0]
    cross = (function(np.array([a, b])) - origin - row[-1] - column[-1]) / (a * b)
    return origin + row + column[:, None] + cross * first * second


def on_boundary(program: Program, angles: Vector) -> Any:
    """Points of the ellipse xᵀBx = 1, one column per angle."""
    circle, factor = np.vstack([np.cos(angles), np.sin(angles)]), program.pencil.cholesky
    return circle if factor is None else np.linalg.solve(factor.T, circle)


def plot_basins(program: Program, step: Step, *, starts: int = 360, max_iter: int = 500, ax: Any = None) -> Any:
    """Draw where MM ends from each start on the boundary of Ω in the plane.

    A mark for each start, a little outside of the boundary, shows the support of its limit; the limits themselves are
    drawn hollow.

    Parameters
    ----------
    program : SparseGEV
        A program of two variables.
    step : Step
        Any step for the program.
    starts : int
        The number of runs.
    max_iter : int
        The most steps of a run.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that were drawn on.

    Examples
    --------
    >>> from dcgev_cvx import Pencil, SparseGEV
    >>> from dcgev_cvx.plotting import plot_basins
    >>> from dcgev_cvx.steps.closed import soft_threshold_step
    >>> program = SparseGEV(Pencil([[2.0, 0.8], [0.8, 1.2]]), rho=1.5, eps=1e-6)
    >>> axes = plot_basins(program, soft_threshold_step, starts=12)
    """
    starts, stop = as_whole(starts, "starts", high=100_000), Stop(max_iter=max_iter)
    plane(expect_program(program), 2)
    ax = axes_of(ax, (5.0, 5.0))
    ax.plot(*on_boundary(program, np.linspace(0.0, 2.0 * np.pi, 241)), color=BLACK, linewidth=1.0)
    begin = on_boundary(program, (np.arange(starts) + 0.5) * 2.0 * np.pi / starts).T
    end = np.array([minimize(program, step, x, stop=stop).x for x in begin])
    kinds = ((1, 1, "both nonzero"), (1, 0, r"$x_2=0$"), (0, 1, r"$x_1=0$"), (0, 0, r"$x=0$"))
    for (color, marker, _), (first, second, name) in zip(STYLES, kinds, strict=True):
        chosen = np.all((end != 0.0) == (bool(first), bool(second)), axis=1)
        if chosen.any():
            look = {"color": color, "linestyle": ""}
            ax.plot(*(1.12 * begin[chosen]).T, marker, markersize=3, label=f"ends with {name}", **look)
            ax.plot(*end[chosen].T, marker, markersize=9, markerfacecolor="none", **look)
    ax.set(xlabel=r"$x_1$", ylabel=r"$x_2$", aspect="equal")
    ax.set_title("Where MM ends from each start; its limits are hollow", loc="left", fontsize=10)
    ax.legend(frameon=False, fontsize=8, loc="center")
    return ax
