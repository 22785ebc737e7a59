"""The three pictures of a study, drawn to be printed: they can be read in grey, and every line has its own marker."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._numerics.canvas import axes_of
from .._numerics.checks import one_of
from ..errors import InvalidParameter
from .compare_methods import METHODS

if TYPE_CHECKING:
    from .study import Study, StudyRow

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#999999")
"""Okabe and Ito's colours, which people with any colour vision tell apart."""
METHOD_MARKERS = "osD^vPXh<>pHd81234+x|_.*"
"""One for each method: they tell methods apart in grey too."""
LEAST_GAP = 1e-3
"""In per cent: smaller gaps are drawn on this line, where the axis ends."""


def study_plot(found: "Study", kind: str, ax: Any = None) -> Any:
    """Draw one of the pictures of `Study.plot` on the Axes, or on new ones."""
    draw = {"gap": gap_plot, "transition": transition_plot, "time": time_plot}[one_of(kind, "kind", PICTURES)]
    return draw(found, axes_of(ax, (6.4, 4.0)))


PICTURES = ("gap", "transition", "time")
"""The kinds of pictures."""


def gap_plot(found: "Study", ax: Any) -> Any:
    """The median gap against k, per method, with the middle half of the instances as a band."""
    for at, (method, rows) in enumerate(by_method_of(found.rows)):
        points = quantiles_over(rows, "k", "gap")
        if not points:
            continue
        ks = [k for k, _ in points]
        bands = zip(*(quantiles for _, quantiles in points), strict=True)
        low, middle, high = (np.maximum(100.0 * np.array(band), LEAST_GAP) for band in bands)
        draw_band(ax, draw_line(ax, at, method, ks, middle), ks, low, high)
    ax.set_yscale("log")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.axhline(LEAST_GAP, color="0.7", linewidth=0.8, linestyle=":")
    ax.set(xlabel=r"cardinality $k$", ylabel="gap to the other side (%)")
    ax.set_title("median and middle half of the instances; 0.001 % stands for less", fontsize=9)
    return finished_axes(ax)


def transition_plot(found: "Study", ax: Any) -> Any:
    """The share of optima found against the signal; behind it the share of instances where an SDP is tight."""
    if not any(row.get("signal") is not None for row in found.rows):
        raise InvalidParameter("this study has no signal to draw over: use the family spiked, cca, fda or conditioned.")
    for at, (method, rows) in enumerate(by_method_of(found.rows)):
        judged = "optimal" if METHODS[method].side == "lower" else "tight"
        if method == "exact" or (METHODS[method].side == "upper" and not METHODS[method].sdp):
            continue
        points = [
            (signal, 100.0 * float(np.mean([row[judged] for row in chosen])))
            for signal, chosen in groups_over([row for row in rows if row[judged] is not None], "signal")
        ]
        if not points:
            continue
        signals, shares = zip(*points, strict=True)
        line = draw_line(ax, at, method, signals, shares, " is tight" if judged == "tight" else "")
        if judged == "tight":
            draw_band(ax, line, signals, 0.0, shares)
    ax.set(xlabel="signal", ylabel="share of the instances (%)", ylim=(-3.0, 103.0))
    ax.set_title("optima found (solid), and where an SDP proves them (dashed, shaded)", fontsize=9)
    return finished_axes(ax)


def time_plot(found: "Study", ax: Any) -> Any:
    """The median seconds against n on logarithmic axes, with the middle half as a band."""
    for at, (method, rows) in enumerate(by_method_of(found.rows)):
        points = quantiles_over([row for row in rows if row["value"] is not None], "n", "seconds")
        if not points:
            continue
        sizes = [n for n, _ in points]
        low, middle, high = (np.maximum(np.array(q), 1e-6) for q in zip(*(q for _, q in points), strict=True))
        draw_band(ax, draw_line(ax, at, method, sizes, middle), sizes, low, high)
    ax.set(xscale="log", yscale="log", xlabel=r"number of variables $n$", ylabel="seconds")
    ax.set_title("median and middle half of the instances and cardinalities", fontsize=9)
    ax.xaxis.set_major_formatter("{x:g}")
    sizes = sorted({row["n"] for row in found.rows if row.get("n")})
    if len(sizes) <= 8:
        ax.set_xticks(sizes, [str(n) for n in sizes])
        ax.minorticks_off()
    return finished_axes(ax)


def by_method_of(rows: Sequence["StudyRow"]) -> list[tuple[str, list["StudyRow"]]]:
    """The rows of each method, in the order of METHODS; the search's bound goes with the search."""
    return [
        (name, chosen)
        for name in METHODS
        if name != "exact-bound" and (chosen := [row for row in rows if row["method"] == name])
    ]


def groups_over(rows: Sequence["StudyRow"], column: str) -> list[tuple[float, list["StudyRow"]]]:
    """The rows of each value of a column, ascending; a budget per view counts by its total."""
    groups: dict[float, list[StudyRow]] = {}
    for row in rows:
        entry = row.get(column)
        if entry is not None:
            groups.setdefault(float(sum(entry) if isinstance(entry, list | tuple) else entry), []).append(row)
    return sorted(groups.items())


def quantiles_over(
    rows: Sequence["StudyRow"], column: str, what: str
) -> list[tuple[float, tuple[float, float, float]]]:
    """The quartiles of an entry for each value of a column."""
    known = groups_over([row for row in rows if row[what] is not None], column)
    return [(x, tuple(np.quantile([row[what] for row in chosen], (0.25, 0.5, 0.75)).tolist())) for x, chosen in known]


def draw_line(ax: Any, at: int, method: str, x: Sequence[float], y: Any, suffix: str = "") -> Any:
    """One method's line: colour and marker are its own in the study, bounds are dashed."""
    upper = METHODS[method].side == "upper"
    look: Any = {
        "color": COLORS[at % len(COLORS)],
        "marker": METHOD_MARKERS[at % len(METHOD_MARKERS)],
        "linestyle": "--" if upper else "-",
        # hollow, and smaller from line to line: markers at the same point can all be seen
        "markerfacecolor": "none",
        "markersize": max(3.0, 9.0 - 0.8 * at),
    }
    return ax.plot(x, y, label=METHODS[method].title + suffix, linewidth=1.3, **look)[0]


def draw_band(ax: Any, line: Any, x: Sequence[float], low: Any, high: Any) -> None:
    """The band of a line, pale: several of them may overlap."""
    ax.fill_between(x, low, high, color=line.get_color(), alpha=0.1, linewidth=0.0)


def finished_axes(ax: Any) -> Any:
    """A grid, and the legend beside the picture."""
    if not ax.get_legend_handles_labels()[0]:
        raise InvalidParameter("this study has no number for that picture: no gap, or no optimum, is known.")
    ax.grid(True, alpha=0.3)
    ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax
