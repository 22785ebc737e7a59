"""Figures from plain curves: PNG and SVG, drawn without a display and without touching pyplot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .base import Figure, Panel

STYLES = {
    "DC-PCA": ("#0072b2", "o", "-"),
    "d.c. solve": ("#000000", "*", "-"),
    "GPower": ("#d55e00", "s", "--"),
    "SPCA": ("#009e73", "D", "-"),
    "SPCA (own loadings)": ("#009e73", "x", ":"),
    "DSPCA": ("#cc79a7", "^", "-."),
    "GSPCA": ("#e69f00", "v", ":"),
    "greedy": ("#56b4e9", "P", "--"),
    "SCoTLASS": ("#7f7f7f", "X", "-"),
    "exact": ("#000000", "+", ":"),
}
"""Colour (Okabe and Ito's, which colour-blind readers can tell apart), marker and line: one look per method."""

OTHERS = (("#0072b2", "o", "-"), ("#d55e00", "s", "--"), ("#009e73", "D", "-."), ("#cc79a7", "^", ":"))


def draw(figure: Figure, folder: Path) -> tuple[Path, Path]:
    """Draw the panels side by side, two to a row, and save them as PNG and SVG.

    The files are the same byte for byte for the same numbers and versions of matplotlib, so that a change shows in
    version control.
    """
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
    """Every curve with its own colour and marker, named in the legend.

    Methods have one colour and marker throughout the report; curves with many points have no markers.
    """
    for j, (name, points) in enumerate(panel.curves.items()):
        if points:
            x, y = zip(*points, strict=True)
            color, marker, line = STYLES.get(name, OTHERS[j % len(OTHERS)])
            size = {"markersize": 5.5, "markerfacecolor": "none"} if len(points) < 50 else {"markersize": 0}
            ax.plot(x, y, label=name, color=color, marker=marker, linestyle=line, linewidth=1.2, **size)
    ax.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    if panel.log_x:
        ax.set_xscale("log")
    if panel.log_y:
        ax.set_yscale("log")
    ax.grid(True, alpha=0.3)
    ax.legend(frameon=False, fontsize=8)
