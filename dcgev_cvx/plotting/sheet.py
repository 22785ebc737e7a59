"""What the pictures share: colours and their meaning, labels beside what they name, and a figure that is drawn anew."""

from base64 import b64encode
from collections.abc import Callable
from io import BytesIO
from typing import Any

from .._numerics.canvas import new_figure

BLACK, BLUE, ORANGE, GREEN = "black", "#0072B2", "#D55E00", "#009E73"
GREY = "#6E6E6E"
DC, BOUND, PROVED, RIVAL = ORANGE, BLUE, BLACK, GREY
"""In every picture of answers: d.c. vectors, upper bounds, what is proved optimal, and the methods of others."""
STYLES = ((BLACK, "o", "-"), (BLUE, "s", "--"), (ORANGE, "^", ":"), (GREEN, "D", "-."))
"""Colour (Okabe and Ito), marker and line style of the first, second, … curve."""


class Sheet:
    """A figure that is drawn again and again, for apps that answer a slider.

    Most of the time of a Matplotlib picture goes into text and layout. A sheet keeps its canvas, and with it the text
    that has been measured, and is given its margins instead of computing them.

    Parameters
    ----------
    width, height : float
        The size in inches.
    margins : tuple of float
        The margins on the left, bottom, right and top, in inches.
    dpi : float
        Dots per inch.

    Examples
    --------
    >>> from dcgev_cvx.plotting import Sheet
    >>> sheet = Sheet(4.0, 3.0, (0.5, 0.5, 0.1, 0.2))
    >>> sheet(lambda figure: figure.add_subplot().plot([1, 2]))[:22]
    'data:image/png;base64,'
    """

    def __init__(
        self, width: float, height: float, margins: tuple[float, float, float, float], *, dpi: float = 150.0
    ) -> None:
        left, bottom, right, top = margins
        self.figure: Any = new_figure((width, height), dpi=dpi)
        self.figure.subplots_adjust(left / width, bottom / height, 1.0 - right / width, 1.0 - top / height)

    def __call__(self, paint: Callable[[Any], object]) -> str:
        """Clear the figure, call paint(figure), and return the picture as a `data:` address for a browser."""
        for ax in self.figure.axes:
            ax.remove()
        paint(self.figure)
        buffer = BytesIO()
        self.figure.savefig(buffer, format="png", pil_kwargs={"compress_level": 1})  # quick rather than small
        return f"data:image/png;base64,{b64encode(buffer.getvalue()).decode()}"


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


def whole_numbers(*axes: Any) -> None:
    """A few ticks at whole numbers: steps and cardinalities have no halves."""
    for axis in axes:
        axis.get_major_locator().set_params(integer=True, nbins=6)
