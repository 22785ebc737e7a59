"""Figures from plain curves: PNG and SVG, drawn without a display and without touching pyplot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .base import Figure, Panel

MARKERS = "osD^vP*X"
INKS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")
"""Okabe and Ito's colours, which colour-blind readers can tell apart."""


def draw(figure: Figure, folder: Path) -> tuple[Path, Path]:
    """Draw the panels side by side, two to a row, and save them as PNG and SVG."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    columns = min(2, len(figure.panels))
    rows = -(-len(figure.panels) // columns)
    # a fixed salt and no date: the same numbers give the same file
    with mpl.rc_context({"svg.hashsalt": "dcgev", "font.size": 9}):
        canvas: Any = Canvas(figsize=(5.6 * columns, 4.0 * rows), layout="constrained")
        FigureCanvasAgg(canvas)
        for j, panel in enumerate(figure.panels):
            draw_panel(canvas.add_subplot(rows, columns, j + 1), panel)
        png, svg = folder / f"{figure.name}.png", folder / f"{figure.name}.svg"
        canvas.savefig(png, dpi=130, metadata={"Software": None})
        canvas.savefig(svg, metadata={"Date": None})
    return png, svg


def draw_panel(ax: Any, panel: Panel) -> None:
    """Every curve with its own colour and marker, named in the legend."""
    for j, (name, points) in enumerate(panel.curves.items()):
        if points:
            x, y = zip(*points, strict=True)
            style = {"marker": MARKERS[j % len(MARKERS)], "color": INKS[j % len(INKS)]}
            ax.plot(x, y, label=name, markersize=4 if len(points) < 50 else 0, linewidth=1.2, **style)
    ax.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    if panel.log_x:
        ax.set_xscale("log")
    if panel.log_y:
        ax.set_yscale("log")
    ax.grid(True, alpha=0.3)
    ax.legend(frameon=False, fontsize=8)
