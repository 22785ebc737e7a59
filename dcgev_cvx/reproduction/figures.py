"""Figures from plain curves: PNG and SVG, drawn without a display and without touching pyplot."""

from __future__ import annotations

import io
from typing import Any

from .base import Figure, Panel

STYLES = {
    "DC-PCA": ("#0072b2", "o", "-"),
    "DC-PCA, one-sided": ("#0072b2", "o", ":"),
    "d.c. one-shot": ("#000000", "*", "-"),
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

FEW = 6
"""Up to this many values on a logarithmic axis are all marked."""


def drawn(figure: Figure) -> dict[str, bytes]:
    """The panels side by side, two to a row, as the content of a PNG and of an SVG file.

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
        return {
            ending: saved(canvas, ending, metadata)
            for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None}))
        }


def saved(canvas: Any, ending: str, metadata: dict[str, None]) -> bytes:
    """The canvas as the content of a file: it is written elsewhere, whole or not at all."""
    content = io.BytesIO()
    canvas.savefig(content, format=ending, dpi=130, metadata=metadata)
    return content.getvalue()


def draw_panel(ax: Any, panel: Panel) -> None:
    """Every curve with its own colour and marker, named in the legend.

    Methods have one colour and marker throughout the report; curves with many points have no markers.
    """
    for j, (name, points) in enumerate(panel.curves.items()):
        if points:
            x, y = zip(*points, strict=True)
            color, marker, line = STYLES.get(name, OTHERS[j % len(OTHERS)])
            # smaller from curve to curve, so that markers at the same point are all seen
            largest = max(3.5, 7.5 - 0.6 * j)
            size = {"markersize": largest, "markerfacecolor": "none"} if len(points) < 50 else {"markersize": 0}
            ax.plot(x, y, label=name, color=color, marker=marker, linestyle=line, linewidth=1.2, **size)
    ax.set(title=panel.title, xlabel=panel.x, ylabel=panel.y)
    if panel.log_x:
        logarithmic(ax, sorted({x for points in panel.curves.values() for x, _ in points}))
    if panel.log_y:
        ax.set_yscale("log")
    ax.grid(True, alpha=0.3)
    ax.legend(fontsize=8, framealpha=0.8, edgecolor="none")


def logarithmic(ax: Any, values: list[float]) -> None:
    """A logarithmic axis with plain numbers: at the values themselves where they are few, else at powers of ten."""
    ax.set_xscale("log")
    if len(values) <= FEW:
        ax.set_xticks(values, minor=False)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter("")
