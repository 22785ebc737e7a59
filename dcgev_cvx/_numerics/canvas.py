"""Matplotlib's figures and Axes, made when a picture is drawn: Matplotlib is an optional package."""

from typing import Any

from ..errors import InvalidParameter
from .extras import require


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
