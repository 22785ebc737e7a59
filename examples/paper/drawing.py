"""The figures of the report as PNG files."""

import io
from typing import Any

from findings import Figure, Panel
from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Canvas

MARKERS, LINES = "osD^vP*Xx", ("-", "--", "-.", ":")


def drawn(figure: Figure) -> bytes:
    """A PNG file with the panels, two to a row: the same bytes for the same numbers and Matplotlib."""
    columns = min(2, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    content = io.BytesIO()
    with style.context(["tableau-colorblind10", {"font.size": 9}]):
        canvas = Canvas((5.6 * columns, 4.0 * rows), layout="constrained")
        FigureCanvasAgg(canvas)
        for j, panel in enumerate(figure.panels):
            draw_panel(canvas.add_subplot(rows, columns, j + 1), panel)
        canvas.savefig(content, format="png", dpi=130, metadata={"Software": None})  # a version would change the file
    return content.getvalue()


def draw_panel(ax: Any, panel: Panel) -> None:
    """Every curve with its own colour and marker; curves of many points have no markers."""
    for j, (name, curve) in enumerate(panel.curves.items()):
        # smaller from curve to curve, so that markers at the same point can all be seen
        size = max(3.5, 7.5 - 0.6 * j) if len(curve) < 50 else 0
        look = {"marker": MARKERS[j], "markersize": size, "markerfacecolor": "none", "linestyle": LINES[j % 4]}
        ax.plot([x for x, _ in curve], [y for _, y in curve], label=name, linewidth=1.2, **look)
    ax.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    if panel.log_x:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter("{x:g}")
    if panel.log_y:
        ax.set_yscale("log")
    ax.grid(True, alpha=0.3)
    ax.legend(fontsize=8, framealpha=0.8, edgecolor="none")
