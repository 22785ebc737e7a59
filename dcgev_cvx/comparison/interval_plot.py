"""The picture of a comparison: bounds and vectors of one k as an interval, or their distances in % over several k."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from .._numerics.canvas import BOUND, DC, PROVED, RIVAL, axes_of, name_beside, name_ends, new_figure, plain
from .._numerics.checks import expect, listed, shown
from ..errors import InvalidParameter
from .rows import Comparison, ComparisonRow, counts_text, counts_total

LEAST_SPAN = 0.01
"""The least width of the axis of values, relative to the values: rounding errors do not look like a gap."""
SMALLEST = 1e-3
"""The smallest distance in % that the logarithmic axis shows; what is closer is drawn at 0."""


def comparison_plot(comparisons: Sequence[Comparison], ax: Any = None) -> Any:
    """Draw one comparison as an interval by method, several as distances to the best vector and bound over k.

    Bounds are blue, d.c. vectors orange, other vectors grey, the exact search black. The shaded interval holds the
    optimum. Pale labels belong to bounds that do not hold at that k, or to vectors with too many nonzeros.

    Parameters
    ----------
    comparisons : sequence of Comparison
        What `compare` returned, one for each k, of the same pencil.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib.axes.Axes
        The Axes that were drawn on.

    Examples
    --------
    >>> from dcgev_cvx import compare, datasets
    >>> from dcgev_cvx.comparison import comparison_plot
    >>> axes = comparison_plot([compare(datasets.pitprops(), 3, ["greedy", "no-sdp"])])
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['no SDP', 'greedy']
    """
    found = [expect(given, Comparison, "each of comparisons", "see compare") for given in listed(comparisons)]
    if not found:
        raise InvalidParameter(f"comparisons = {shown(comparisons)} must list what compare returned.")
    if len(found) == 1:
        return interval(found[0], axes_of(ax, (8.0, 0.9 + 0.3 * len(found[0].rows))))
    return distances(found, axes_of(ax, (8.0, 4.8)))


def figure_of(comparisons: Sequence[Comparison]) -> Any:
    """The picture as a figure for a file."""
    figure = new_figure((9.0, 5.0), layout="constrained")
    comparison_plot(comparisons, figure.add_subplot())
    return figure


def color_of(row: ComparisonRow) -> str:
    """A bound, the exact search, a d.c. method, or another one."""
    if row.side == "upper":
        return BOUND
    if row.method.startswith("exact"):
        return PROVED
    return DC if row.method.startswith(("DC", "solve")) else RIVAL


# ---------------------------------------------------------------------------------------------------------- one k


def interval(comparison: Comparison, ax: Any) -> Any:
    """One line per method: a bound is a bar from the best vector to its value, a vector a tick at its value."""
    rows = [row for row in comparison.rows if isfinite(row.value)]
    rows.sort(key=lambda row: (row.side == "lower", -float(f"{row.value:.9g}")))  # equal values keep their order
    values = [row.value for row in rows]
    base = comparison.best_lower if isfinite(comparison.best_lower) else min(values, default=0.0)
    if isfinite(comparison.gap.absolute):
        ax.axvspan(comparison.best_lower, comparison.best_upper, color=BOUND, alpha=0.12, linewidth=0)
        ax.axvline(comparison.best_lower, color=PROVED, linewidth=0.8)
    for position, row in enumerate(rows):
        look = {"color": color_of(row), "alpha": 1.0 if row.valid else 0.35}
        if row.side == "upper":
            ax.barh(position, row.value - base, 0.5, base, **look)
        ax.plot([row.value] * 2, [position - 0.32, position + 0.32], linewidth=2.5, **look)
        name_beside(ax, (1.01, position), f"{row.value:.5g}", RIVAL, xycoords=("axes fraction", "data"), fontsize=8)
    ax.set_yticks(range(len(rows)), [named(row.method, row.valid) for row in rows])
    ax.axhline(sum(row.side == "upper" for row in rows) - 0.5, color=RIVAL, linewidth=0.6)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = max(0.06 * (high - low), 0.5 * (LEAST_SPAN * max(abs(low), abs(high)) - (high - low)))
    ax.set_xlim(low - room, high + room)
    ax.set_xlabel(r"$x^TAx \,/\, x^TBx$")
    plain(ax, comparison.verdict)
    return ax


# ------------------------------------------------------------------------------------------------------ several k


def distances(comparisons: Sequence[Comparison], ax: Any) -> Any:
    """Over k: how far each bound is above the best vector, and each vector below the best bound, in % (log scale).

    Methods with the same distances share a line and a label. Every k whose optimum is proved has a mark at the bottom.
    """
    ks = [counts_total(comparison.k) for comparison in comparisons]
    for side, marker in (("upper", "v"), ("lower", "o")):
        for names, color, points in series(comparisons, side):
            line = "-" if side == "upper" else "--"
            ax.plot(*zip(*points, strict=True), line, marker=marker, color=color, markersize=4, label=names)
    proved = [k for k, comparison in zip(ks, comparisons, strict=True) if comparison.gap.closed]
    ax.plot(proved, [0.0] * len(proved), "D", color=PROVED, markersize=5, label="_proved", clip_on=False, zorder=4)
    ax.set_yscale("symlog", linthresh=SMALLEST, linscale=0.4)
    ax.set_ylim(0.0, None)
    ax.set_xticks(ks, [counts_text(comparison.k) for comparison in comparisons])
    ax.set(xlabel=r"nonzeros $k$", ylabel="distance to the other side, %")
    plain(ax, f"The optimum is proved at {len(proved)} of {len(ks)} k (diamonds); bounds solid, vectors dashed")
    name_ends(ax)
    return ax


def series(comparisons: Sequence[Comparison], side: str) -> list[tuple[str, str, tuple[tuple[int, float], ...]]]:
    """(names, colour, points) of the methods of a side, those with equal points together."""
    points: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for comparison in comparisons:
        for row in comparison.rows:
            if row.side == side and row.valid and isfinite(row.gap):
                percent = 100.0 * max(0.0, row.gap)
                at = (counts_total(comparison.k), 0.0 if percent < SMALLEST else float(f"{percent:.3g}"))
                points.setdefault((row.method, color_of(row)), []).append(at)
    together: dict[tuple[tuple[int, float], ...], list[tuple[str, str]]] = {}
    for method, places in points.items():
        together.setdefault(tuple(places), []).append(method)
    return [(" · ".join(name for name, _ in methods), methods[0][1], places) for places, methods in together.items()]


def named(label: str, valid: bool) -> str:
    """The label, marked where the row does not count."""
    return label if valid else f"{label} (not valid)"
