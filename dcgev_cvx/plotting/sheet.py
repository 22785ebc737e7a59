"""A figure that is drawn again and again, for apps that answer a slider."""

from base64 import b64encode
from collections.abc import Callable
from io import BytesIO
from typing import Any

from .._numerics.canvas import new_figure


class Sheet:
    """A figure for many pictures of the same size.

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
