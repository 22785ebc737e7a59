"""The picture of a comparison: vectors found from below, bounds proved from above, and the interval between them."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

from .._numerics.canvas import axes_of, new_figure
from .._numerics.checks import expect, listed, shown
from ..errors import InvalidParameter
from .rows import Comparison, ComparisonRow, counts_text, counts_total

MARKERS = "osD^vPXh<>pHd81234+x|_.*"
"""One for each method in the order of METHODS, rivals last: they tell methods apart in grey too."""
LEAST_SPAN = 0.01
"""The least width of the axis of values, relative to the values: rounding errors do not look like a gap."""


def comparison_plot(comparisons: Sequence[Comparison], ax: Any = None) -> Any:
    """Draw the values found and the bounds proved: by method for one k, over k for several.

    The band holds the optimum. Grey labels and hollow or dotted marks belong to bounds that do not hold at that k, or
    to vectors with too many nonzeros.

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
    ax = axes_of(ax, (8.0, 4.8))
    return by_method(found[0], ax) if len(found) == 1 else by_cardinality(found, ax)


def figure_of(comparisons: Sequence[Comparison]) -> Any:
    """The picture as a figure for a file."""
    figure = new_figure((9.0, 4.8), layout="constrained")
    comparison_plot(comparisons, figure.add_subplot())
    return figure


def by_method(comparison: Comparison, ax: Any) -> Any:
    """One line per method, bounds above and vectors below, values to the right."""
    rows = [row for row in comparison.rows if isfinite(row.value)]
    rows.sort(key=lambda row: (row.side == "lower", -float(f"{row.value:.9g}")))  # equal values keep their order
    if isfinite(comparison.gap.absolute):
        ax.axvspan(comparison.best_lower, comparison.best_upper, color="#D55E00", alpha=0.15)
        ax.axvline(comparison.best_upper, color="#D55E00", linewidth=0.8)
    for position, row in enumerate(rows):
        draw_marks(ax, [row.value], [position], row, size=9)
    ax.set_yticks(range(len(rows)), [row_label(row.method, row.valid) for row in rows])
    ax.axhline(sum(row.side == "upper" for row in rows) - 0.5, color="0.7", linewidth=0.8)
    ax.invert_yaxis()
    low, high = ax.get_xlim()
    room = max(0.0, LEAST_SPAN * max(abs(low), abs(high)) - (high - low))
    ax.set_xlim(low - 0.5 * room, high + 0.5 * room)
    ax.set_xlabel(r"$x^TAx \,/\, x^TBx$")
    ax.set_title(f"k = {counts_text(comparison.k)}: bounds proved above the line, vectors found below it", fontsize=10)
    return ax


def by_cardinality(comparisons: Sequence[Comparison], ax: Any) -> Any:
    """For every k the marks of all methods, bounds on level lines, and the band that holds the optimum."""
    for position, comparison in enumerate(comparisons):
        if isfinite(comparison.gap.absolute):
            label = "holds the optimum" if position == 0 else None
            height, base = comparison.gap.absolute, comparison.best_lower
            ax.bar(counts_total(comparison.k), height, 0.8, base, color="#D55E00", alpha=0.25, label=label)
    for side in ("upper", "lower"):
        pairs = [
            (counts_total(c.k), row) for c in comparisons for row in c.rows if row.side == side and isfinite(row.value)
        ]
        methods = list(dict.fromkeys(row.method for _, row in pairs))
        for position, method in enumerate(methods):
            shift = 0.75 * ((position + 0.5) / len(methods) - 0.5)  # side by side, as many values coincide
            for valid in (True, False):
                chosen = [(k, row) for k, row in pairs if row.method == method and row.valid is valid]
                if chosen:
                    draw_series(ax, chosen, shift)
    ax.use_sticky_edges = False
    ax.set_xticks([counts_total(c.k) for c in comparisons], [counts_text(c.k) for c in comparisons])
    ax.set(xlabel=r"cardinality $k$", ylabel=r"$x^TAx \,/\, x^TBx$")
    ax.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def draw_series(ax: Any, pairs: Sequence[tuple[int, ComparisonRow]], shift: float) -> None:
    """The rows of one method for several k, all valid or all not; a bound has a thin level line behind its mark."""
    row, values = pairs[0][1], [row.value for _, row in pairs]
    name = f"{row.method} bound" if row.side == "upper" else row.method
    draw_marks(ax, [k + shift for k, _ in pairs], values, row, label=row_label(name, row.valid))
    if row.side == "upper":
        left, right = [k - 0.4 for k, _ in pairs], [k + 0.4 for k, _ in pairs]
        ax.hlines(values, left, right, color=marker_of(row)[1], linewidth=0.8, linestyle="-" if row.valid else ":")


def draw_marks(
    ax: Any, x: list[float], y: list[float], row: ComparisonRow, *, label: str | None = None, size: int = 6
) -> None:
    """Marks of one method, pale and hollow where they do not count; those of bounds are bold, having no area."""
    marker, color = marker_of(row)
    fill, alpha = ("full", 1.0) if row.valid else ("none", 0.4)
    look = {"color": color, "linestyle": "none", "fillstyle": fill, "alpha": alpha, "label": label}
    ax.plot(x, y, marker, markersize=size, markeredgewidth=1.6 if row.side == "upper" else 1.0, **look)


def marker_of(row: ComparisonRow) -> tuple[str, str]:
    """Marker and colour of a method: colours are its own among those of its side."""
    from .compare_methods import METHODS

    methods = sorted(METHODS.values(), key=lambda method: method.rival)
    titles = [(method.side, method.title) for method in methods]
    at = titles.index((row.side, row.method))
    return MARKERS[at], f"C{sum(side == row.side for side, _ in titles[:at])}"


def row_label(label: str, valid: bool) -> str:
    """The label, marked where the row does not count."""
    return label if valid else f"{label} (not valid)"
