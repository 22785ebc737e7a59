"""Pictures of MM at work and of what it finds, published by `plotting`: Axes in, Axes out.

Every function takes an optional Matplotlib Axes and returns the Axes it drew on. Colours are those of Okabe and Ito;
what they tell apart, line styles and markers tell apart as well.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from ._numerics.checks import (
    Matrix,
    Vector,
    as_number,
    as_numbers,
    as_vector,
    as_whole,
    attribute,
    expect,
    largest,
    listed,
    shown,
)
from .certificates import refuse_history
from .errors import InvalidParameter, SolverMissing
from .pencils import expect_pencil
from .programs import expect_program

if TYPE_CHECKING:
    from .mm import Iterate, MMResult
    from .pencils import Pencil
    from .programs import Program
    from .steps.base import Step

BLACK, BLUE, ORANGE, GREEN = "black", "#0072B2", "#D55E00", "#009E73"
STYLES = ((BLACK, "o", "-"), (BLUE, "s", "--"), (ORANGE, "^", ":"), (GREEN, "D", "-."))
"""Colour, marker and line style of the first, second, … curve."""
NEEDED = "pictures need Matplotlib: pip install matplotlib"


def axes_of(ax: Any, size: tuple[float, float] = (6.4, 4.0)) -> Any:
    """The Axes given, or a new one; without Matplotlib the error says how to install it."""
    if ax is not None and attribute(ax, "get_legend_handles_labels") is None:
        raise InvalidParameter(f"ax must be a Matplotlib Axes, got {type(ax).__name__}.")
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise SolverMissing(NEEDED) from error
    return plt.figure(figsize=size, layout="constrained").add_subplot()


class Sheet:
    """One figure drawn again and again, for apps that answer a slider: `sheet(paint)` after paint(figure) drew on it.

    What a Matplotlib picture costs is text: formulas to parse, labels to measure, and both once more for a layout
    engine that seeks the margins. Here the canvas stays, and with it what has been parsed and measured, and the
    margins (left, bottom, right, top, in inches) are given. Raises InvalidParameter for a sheet without room.
    """

    def __init__(
        self, width: float, height: float, margins: tuple[float, float, float, float], *, dpi: float = 150.0
    ) -> None:
        width, height = as_number(width, "width", low=0.1, high=99), as_number(height, "height", low=0.1, high=99)
        dpi, inches = as_number(dpi, "dpi", low=1.0, high=1200.0), as_numbers(margins, "margins")
        if len(inches) != 4 or inches[0] + inches[2] >= width or inches[1] + inches[3] >= height:
            raise InvalidParameter(
                f"margins = {shown(margins)} must be left, bottom, right and top in inches, with room left on a "
                f"sheet of {width:g} × {height:g}."
            )
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
            from matplotlib.figure import Figure
        except ImportError as error:
            raise SolverMissing(NEEDED) from error
        left, bottom, right, top = inches
        self.figure = Figure((width, height), dpi=dpi)
        self.figure.subplots_adjust(left / width, bottom / height, 1.0 - right / width, 1.0 - top / height)
        FigureCanvasAgg(self.figure)

    def __call__(self, paint: Callable[[Any], object]) -> str:
        """The picture as a `data:` address, which a browser shows without asking anyone."""
        if not callable(paint):
            raise InvalidParameter(f"paint = {shown(paint)} must be a function that draws on a figure.")
        for ax in self.figure.axes:
            ax.remove()
        paint(self.figure)
        buffer = BytesIO()
        self.figure.savefig(buffer, format="png", pil_kwargs={"compress_level": 1})  # quick rather than small
        return f"data:image/png;base64,{b64encode(buffer.getvalue()).decode()}"


def plot_majoriser(program: Program, y: Any, x: Any = None, *, ax: Any = None, points: int = 401) -> Any:
    """The functions f and g(·, y) along the line through y and x, the minimiser of g: they touch at y (Eq:maj-step).

    With one variable the abscissa is x itself, over Ω; with more it is t of y + t(x − y).

    Parameters
    ----------
    program
        A SparseGEV or SparseFDA: what f and g are taken from.
    y
        Where they touch.
    x
        The other end of the line; the native step from y by default. x = y is refused: there is no line.
    ax, points
        Where to draw, a new figure by default, and how many points of the line.
    """
    points = as_whole(points, "points", low=2, high=100_000)
    y = drawable(y, expect_program(program).pencil.n, "y")
    ax = axes_of(ax)
    x = next_point(program, y) if x is None else drawable(x, program.pencil.n, "x")
    origin, direction, grid, label = line_through(program, y, x, points)
    line = origin + grid[:, None] * direction
    values = [program.f(z) for z in line]
    ax.plot(grid, values, color=BLACK, label=r"$f(x)$")
    ax.plot(grid, [program.g(z, y) for z in line], color=BLUE, linestyle="--", label=r"$g(x, y)$")
    at_y, at_x = (y[0], x[0]) if program.pencil.n == 1 else (0.0, 1.0)
    ax.plot(at_y, program.f(y), "o", color=BLACK, markersize=8, label=r"$y$: they touch", zorder=3)
    ax.plot(at_x, program.g(x, y), "v", color=BLUE, markersize=9, label=r"$x=\arg\min\,g(\cdot,y)$", zorder=3)
    ax.plot(at_x, program.f(x), "s", color=ORANGE, markersize=8, label=r"$f(x)$, lower still", zorder=3)
    spread = max(values) - min(values)
    ax.set_ylim(min(values) - 0.1 * spread, max(values) + spread)  # g may rise far above f away from y
    ax.set_xlabel(label)
    ax.legend(frameon=False, fontsize=9)
    return ax


def drawable(x: Any, n: int, what: str) -> Vector:
    """A vector whose squares are numbers: beyond them no axis has limits."""
    vector = as_vector(x, n, what)
    if (size := largest(vector)) > 1e100:
        raise InvalidParameter(f"{what} has entries of size {size:.1e}: nothing is drawn beyond 1e100. Rescale it.")
    return vector


def next_point(program: Program, y: Vector) -> Vector:
    """The native step from y."""
    from .steps.native import native_step

    return native_step(program)(program, y).x


def line_through(program: Program, y: Vector, x: Vector, points: int) -> tuple[Vector, Vector, Vector, str]:
    """(origin, direction, grid, label) of the line that is drawn."""
    if program.pencil.n == 1:
        edge = 1.0 / program.pencil.B_norm(np.ones(1))
        return np.zeros(1), np.ones(1), np.linspace(-edge, edge, points), r"$x$"
    if not np.any(x - y):
        raise InvalidParameter("x = y: the step does not move, so there is no line to draw along.")
    return y, x - y, np.union1d(np.linspace(-0.6, 1.6, points), (0.0, 1.0)), r"$t$ of $y + t\,(x - y)$"


def plot_majoriser_2d(program: Program, history: Sequence[Iterate], *, at: int = 0, ax: Any = None) -> Any:
    """Level lines of f and of g(·, x⁽ˡ⁾) in the plane, with the iterates; l = at (Eq:majorize-f).

    Parameters
    ----------
    program
        A SparseGEV of two variables.
    history
        The iterates of a run, as `iterate` yields them or `MMResult.history` keeps them.
    at
        The l whose surrogate is drawn; beyond the end, the last.
    """
    refuse_history(history, expect_program(program).pencil.n)
    first, second, inside = plane(program)
    if not history:
        raise InvalidParameter("history is empty: there is no iterate to draw.")
    at = as_whole(at, "at", low=0)
    ax = axes_of(ax, (5.0, 5.0))
    y = history[min(at, len(history) - 1)].x
    f = np.where(inside, over_plane(program.f, first, second), np.nan)

    def surrogate(z: Vector) -> float:
        return program.g(z, y)

    g = np.where(inside, over_plane(surrogate, first, second), np.nan)
    ax.contourf(first, second, f, levels=levels_of(f, inside), cmap="Greys_r", alpha=0.75, extend="both")
    ax.contour(first, second, g, levels=levels_of(g, inside), colors=BLUE, linewidths=0.8, linestyles="--")
    draw_boundary(program, ax)
    points = np.array([point.x for point in history])
    ax.plot(*points.T, "-o", color=ORANGE, markersize=4, label=r"$x^{(l)}$")
    ax.plot(*y, "o", color=BLACK, markersize=9, label=rf"$y=x^{{({min(at, len(history) - 1)})}}$")
    ax.plot([], [], color=BLUE, linestyle="--", label=r"$g(\cdot,y)$")
    ax.plot([], [], color="0.6", linewidth=6, label=r"$f$, dark is low")
    ax.set(xlabel=r"$x_1$", ylabel=r"$x_2$", aspect="equal")
    ax.locator_params(nbins=5)
    ax.legend(frameon=True, fontsize=8, loc="lower left")
    return ax


def plane(program: Program, points: int = 91) -> tuple[Matrix, Matrix, Any]:
    """A grid over Ω for two variables, and which of its points lie inside."""
    if program.pencil.n != 2:
        raise InvalidParameter(f"the plane has two variables, this program has {program.pencil.n}.")
    if program.slack(np.zeros(2)) <= 0.0:
        raise InvalidParameter("Ω is a line of the plane, as in SparseFDA: a program with xᵀBx ≤ 1 is wanted.")
    edges = np.sqrt(np.diagonal(np.linalg.inv(program.pencil.dense()[1])))
    first, second = np.meshgrid(*(np.linspace(-1.05 * edge, 1.05 * edge, points) for edge in edges))
    inside = over_plane(program.slack, first, second) >= 0.0
    return first, second, inside


def levels_of(values: Matrix, inside: Any) -> Vector:
    """Twelve level lines that share the area inside Ω evenly."""
    return np.unique(np.quantile(values[inside], np.linspace(0.04, 0.96, 12)))


def over_plane(function: Any, first: Matrix, second: Matrix) -> Matrix:
    """A function h on the grid from its values on two lines: h(a, b) = h(a, 0) + h(0, b) − h(0, 0) + c·ab.

    So it is with a quadratic plus a sum over the coordinates, such as f, g(·, y) and the slack of Ω; a call for each
    point of the grid would take a hundred times as long.
    """
    origin = function(np.zeros(2))
    row = np.array([function(np.array([a, 0.0])) for a in first[0]]) - origin
    column = np.array([function(np.array([0.0, b])) for b in second[:, 0]]) - origin
    a, b = first[0, -1], second[-1, 0]
    cross = (function(np.array([a, b])) - origin - row[-1] - column[-1]) / (a * b)
    return origin + row + column[:, None] + cross * first * second


def draw_boundary(program: Program, ax: Any) -> None:
    """The ellipse xᵀBx = 1."""
    angle = np.linspace(0.0, 2.0 * np.pi, 241)
    circle = np.vstack([np.cos(angle), np.sin(angle)])
    factor = program.pencil.cholesky
    ax.plot(*(circle if factor is None else np.linalg.solve(factor.T, circle)), color=BLACK, linewidth=1.0)


def plot_basins(program: Program, step: Step, *, starts: int = 360, max_iter: int = 500, ax: Any = None) -> Any:
    """Where MM ends from each start on the boundary of Ω in the plane: a mark outside names the limit's support.

    The starts are spread evenly over the circle of B, a little outside of it; limits are drawn hollow where they are.

    Parameters
    ----------
    program, step
        A SparseGEV of two variables, and any step for it.
    starts, max_iter
        How many runs, and the most steps of each.
    """
    from .mm import Stop, minimize

    starts, stop = as_whole(starts, "starts", high=100_000), Stop(max_iter=max_iter)
    plane(expect_program(program), 2)
    ax = axes_of(ax, (5.0, 5.0))
    factor = program.pencil.cholesky
    draw_boundary(program, ax)
    looks = {(True, True): STYLES[0], (True, False): STYLES[1], (False, True): STYLES[2], (False, False): STYLES[3]}
    names = {
        (True, True): "both nonzero",
        (True, False): r"$x_2=0$",
        (False, True): r"$x_1=0$",
        (False, False): r"$x=0$",
    }
    ends: dict[tuple[bool, bool], list[list[float]]] = {}
    for angle in (np.arange(starts) + 0.5) * 2.0 * np.pi / starts:
        start = np.array([np.cos(angle), np.sin(angle)])
        start = start if factor is None else np.linalg.solve(factor.T, start)
        limit = minimize(program, step, start, stop=stop).x
        ends.setdefault((bool(limit[0]), bool(limit[1])), []).append([*(1.12 * start), *limit])
    for kind, rows in ends.items():
        color, marker, _ = looks[kind]
        points = np.array(rows)
        ax.plot(*points[:, :2].T, marker, color=color, markersize=3, linestyle="", label=f"ends with {names[kind]}")
        ax.plot(*points[:, 2:].T, marker, color=color, markersize=9, markerfacecolor="none", linestyle="")
    ax.set(xlabel=r"$x_1$", ylabel=r"$x_2$", aspect="equal")
    ax.legend(frameon=False, fontsize=8, loc="center")
    return ax


def plot_history(result: MMResult, ax: Any = None) -> Any:
    """f(x⁽ˡ⁾), left, and the number of nonzeros, right, along a run: where variables leave, f drops."""
    expect_result(result)
    ax = axes_of(ax)
    steps = [point.l for point in result.history]
    ax.plot(steps, [point.f for point in result.history], color=BLACK, label=r"$f(x^{(l)})$")
    ax.set(xlabel=r"$l$", ylabel=r"$f(x^{(l)})$")
    right = ax.twinx()
    counts = [int(np.count_nonzero(point.x)) for point in result.history]
    right.step(steps, counts, where="post", color=BLUE, linestyle="--", label=r"$\|x^{(l)}\|_0$")
    right.set_ylabel(r"$\|x^{(l)}\|_0$", color=BLUE)
    right.set_ylim(0, max(1.0, 1.05 * max(counts) + 0.5))
    ax.locator_params(nbins=6)
    whole_numbers(ax.xaxis, right.yaxis)
    joint_legend(ax, right, "upper right")  # both fall
    return ax


def plot_sandwich(result: MMResult, ax: Any = None, *, steps: int | None = None) -> Any:
    """f(x⁽ˡ⁺¹⁾) ≤ g(x⁽ˡ⁺¹⁾, x⁽ˡ⁾) ≤ f(x⁽ˡ⁾), each above the run's last value of f, on a log scale (Eq:sandwich).

    steps draws the first so many alone. An accelerated step minimises g(·, z) for another z: its triangle lies
    between the stairs all the same.
    """
    expect_result(result)
    history = result.history if steps is None else result.history[: as_whole(steps, "steps") + 1]
    ax = axes_of(ax)
    floor = result.f
    above = [point.f - floor for point in history]
    between = [point.g - floor for point in history[1:]]
    ax.step([point.l for point in history], above, where="post", color=BLACK, label=r"$f(x^{(l)})$")
    places = [point.l for point in history[1:]]
    ax.plot(places, between, "v", color=BLUE, markersize=4, label=r"$g(x^{(l)},x^{(l-1)})$")
    positive = [value for value in (*above, *between) if value > 0.0]
    if positive:
        ax.set_yscale("log")
        ax.set_ylim(0.5 * min(positive), 2.0 * max(positive))
        ax.yaxis.set_major_formatter("{x:.0e}")  # a formula at each tick would cost more than all else
        if max(positive) > 1e3 * min(positive):
            ax.yaxis.get_major_locator().set_params(numticks=6)
            ax.yaxis.minorticks_off()
    ax.set(xlabel=r"$l$", ylabel=r"above the last $f$")
    whole_numbers(ax.xaxis)
    ax.legend(frameon=False, fontsize=9)
    return ax


def expect_result(result: Any) -> None:
    """Refuse what is no run."""
    from .mm import MMResult

    expect(result, MMResult, "result", "see sparse_gev, dc_pca or minimize")


def whole_numbers(*axes: Any) -> None:
    """A few ticks at whole numbers: steps and cardinalities have no halves."""
    for axis in axes:
        axis.get_major_locator().set_params(integer=True, nbins=6)


def joint_legend(ax: Any, right: Any, place: str) -> None:
    """One legend for an Axes and its twin."""
    handles = [pair for axes in (ax, right) for pair in zip(*axes.get_legend_handles_labels(), strict=True)]
    ax.legend(*zip(*handles, strict=True), loc=place, frameon=False)


def plot_tradeoff(
    curves: Mapping[str, Sequence[tuple[int, float]]], *, top: float | None = None, ax: Any = None
) -> Any:
    """Value against cardinality, one curve a method.

    Parameters
    ----------
    curves
        By name, the pairs (k, xᵀAx/xᵀBx) of a method, in the order in which they are joined.
    top
        λmax(A, B), drawn as a line that no curve can pass; left out by default.
    """
    points = {
        str(name): as_pairs(name, pairs) for name, pairs in expect(curves, dict, "curves", "one a method").items()
    }
    if not points:
        raise InvalidParameter("curves is empty: give one list of pairs (k, value) a method.")
    top = None if top is None else as_number(top, "top", low=-1e300)
    ax = axes_of(ax)
    for i, (name, pairs) in enumerate(points.items()):
        color, marker, style = STYLES[i % len(STYLES)]
        ks, values = zip(*pairs, strict=True)
        ax.plot(ks, values, marker=marker, linestyle=style, color=color, markersize=5, fillstyle="none", label=name)
    if top is not None:
        ax.axhline(top, color="0.5", linewidth=0.8, label=r"$\lambda_{max}(A,B)$")
    ax.set(xlabel=r"$k$", ylabel=r"$x^TAx \,/\, x^TBx$")
    whole_numbers(ax.xaxis)
    ax.legend(frameon=False, fontsize=9)
    return ax


def as_pairs(name: object, pairs: Any) -> list[tuple[int, float]]:
    """The points (k, value) of a curve, at least one."""
    given = [listed(pair) for pair in listed(pairs)]
    if not given or not all(len(pair) == 2 for pair in given):
        raise InvalidParameter(f"the curve {name!r} must be a list of pairs (k, value).")
    return [(as_whole(k, "k"), as_number(value, "value", low=-1e300)) for k, value in given]


def plot_loadings(pencil: Pencil, vectors: Any, ax: Any = None) -> Any:
    """The entries of x by the names of the variables, as bars; zeros are left blank.

    vectors is one vector of length n, or several of them by label, drawn side by side.
    """
    expect_pencil(pencil)
    ax = axes_of(ax, (7.0, 3.6))
    several = isinstance(vectors, Mapping) and attribute(vectors, "toarray") is None
    given: Mapping[str, Any] = vectors if several else {"": vectors}
    if not given:
        raise InvalidParameter("there is no vector to draw: give one, or several by label.")
    hatches = ("", "///", "...", "xx")
    width = 0.8 / len(given)
    for i, (name, raw) in enumerate(given.items()):
        x = drawable(raw, pencil.n, "x")
        place = np.arange(pencil.n) + (i - 0.5 * (len(given) - 1)) * width
        color = STYLES[(i + 1) % len(STYLES)][0]
        ax.bar(place, x, width, color=color, edgecolor="white", hatch=hatches[i % 4], label=name or None)
    ax.axhline(0.0, color=BLACK, linewidth=0.8)
    ax.set_xticks(np.arange(pencil.n), [pencil.name(i) for i in range(pencil.n)], rotation=60, ha="right")
    ax.set_ylabel(r"$x_i$")
    ax.locator_params(axis="y", nbins=6)
    if any(given):  # above the bars: inside there is no place that is always free
        ax.legend(frameon=False, fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(4, len(given)))
    return ax


def plot_agreement(pencil: Pencil, answers: Mapping[str, Any], ax: Any = None) -> Any:
    """‖xᵢ − xⱼ‖_B between the answers of several solvers, as a table of powers of ten; dark is far apart."""
    n = expect_pencil(pencil).n
    names = list(expect(answers, dict, "answers", "one vector a solver"))
    if not names:
        raise InvalidParameter("answers is empty: give one vector a solver.")
    vectors = [as_vector(answers[name], n, str(name)) for name in names]
    ax = axes_of(ax, (5.6, 4.6))
    apart = np.array([[pencil.B_norm(a - b) for b in vectors] for a in vectors])
    powers = np.log10(np.maximum(apart, 1e-17))
    ax.imshow(powers, cmap="Greys", vmin=-17.0, vmax=0.0)
    for i, j in np.ndindex(*apart.shape):
        text = "0" if apart[i, j] == 0.0 else f"{apart[i, j]:.0e}"
        ax.text(j, i, text, ha="center", va="center", fontsize=8, color="white" if powers[i, j] > -7.0 else BLACK)
    ax.set_xticks(range(len(names)), names, rotation=40, ha="right")
    ax.set_yticks(range(len(names)), names)
    ax.set_title(r"$\|x_i-x_j\|_B$")
    return ax


__all__ = [
    "Sheet",
    "plot_agreement",
    "plot_basins",
    "plot_history",
    "plot_loadings",
    "plot_majoriser",
    "plot_majoriser_2d",
    "plot_sandwich",
    "plot_tradeoff",
]
