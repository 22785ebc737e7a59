"""What all pictures share: figures and Axes, colours and their meaning, titles, and labels beside what they name.

Matplotlib is an optional package and is imported when a picture is drawn.
"""

from textwrap import fill
from typing import Any

from ..errors import InvalidParameter
from .extras import require

BLACK, BLUE, ORANGE, GREEN = "black", "#0072B2", "#D55E00", "#009E73"
GREY = "#6E6E6E"
DC, BOUND, PROVED, RIVAL = ORANGE, BLUE, BLACK, GREY
"""In every picture of answers: d.c. vectors, upper bounds, what is proved optimal, and the methods of others."""
STYLES = ((BLACK, "o", "-"), (BLUE, "s", "--"), (ORANGE, "^", ":"), (GREEN, "D", "-."))
"""Colour (Okabe and Ito), marker and line style of the first, second, … curve."""


def axes_of(ax: Any, size: tuple[float, float] = (6.4, 4.0)) -> Any:
    """The Axes given, or those of a new figure of pyplot, which notebooks show."""
    if ax is None:
        return require("matplotlib.pyplot", "plot").figure(figsize=size, layout="constrained").add_subplot()
    if not hasattr(ax, "get_legend_handles_labels"):
        raise InvalidParameter(f"ax must be a Matplotlib Axes, got {type(ax).__name__}.")
    return ax


def new_figure(size: tuple[float, float], **settings: Any) -> Any:
    """A figure for a file: drawn by Agg, which needs no display, and unknown to pyplot, which would keep it."""
    figure = require("matplotlib.figure", "plot").Figure(figsize=size, **settings)
    require("matplotlib.backends.backend_agg", "plot").FigureCanvasAgg(figure)
    return figure


def plain(ax: Any, title: str = "") -> None:
    """No frame on the right and above; the title, which states what is seen, on the left."""
    ax.spines[["top", "right"]].set_visible(False)
    if title:
        ax.set_title(title, loc="left", fontsize=10)


def lower_panel(ax: Any, height: float) -> Any:
    """A second panel below an Axes, so many times as high, with the same abscissa, whose numbers stand below both."""
    place = ax.get_subplotspec()
    if place is None:  # Axes at a fixed place of a figure
        left, bottom, width, whole = ax.get_position().bounds
        part = 0.95 * whole / (1.0 + height)
        ax.set_position((left, bottom + whole - part, width, part))
        below = ax.figure.add_axes((left, bottom, width, 0.95 * whole - part), sharex=ax)
    else:
        upper, lower = place.subgridspec(2, 1, height_ratios=(1.0, height), hspace=0.08)
        ax.set_subplotspec(upper)
        below = ax.figure.add_subplot(lower, sharex=ax)
    ax.tick_params(labelbottom=False)
    return below


def name_beside(ax: Any, place: tuple[float, float], words: str, color: str, **settings: Any) -> None:
    """A curve's or a mark's name beside it, instead of a legend."""
    look: dict[str, Any] = {"xytext": (5, 0), "va": "center", "fontsize": 9, "annotation_clip": False} | settings
    ax.annotate(words, place, textcoords="offset points", color=color, **look)


def name_ends(ax: Any, width: int = 44) -> None:
    """The names of the lines at the right of the Axes, in lines of this width, moved apart where they would overlap."""
    lines = [line for line in ax.get_lines() if not str(line.get_label()).startswith("_")]
    lines.sort(key=lambda line: (line.get_ydata()[-1], sum(line.get_ydata())))
    top = float("-inf")
    for line in lines:
        y, words = line.get_ydata()[-1], fill(str(line.get_label()), width)
        at = ax.transData.transform((0.0, y))[1] * 72.0 / ax.figure.dpi
        half = 6.0 * (1 + words.count("\n"))
        middle = max(at, top + half)
        top = middle + half
        name_beside(
            ax,
            (1.0, y),
            words,
            line.get_color(),
            xycoords=("axes fraction", "data"),
            xytext=(8, middle - at),
            fontsize=8,
        )


def whole_numbers(*axes: Any) -> None:
    """A few ticks at whole numbers: steps and cardinalities have no halves."""
    for axis in axes:
        axis.get_major_locator().set_params(integer=True, nbins=6)
