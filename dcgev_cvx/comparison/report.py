"""One self-contained HTML page: the tables, the pictures, the problem's facts and the command that made it.

The page has no scripts, fonts or links to elsewhere and can be mailed as one file. The command line and the
versions of the packages are part of it, so that it can be made again.
"""

from __future__ import annotations

import io
import platform
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .._numerics.checks import expect
from .rows import CELLS, Comparison, Row, cells_of, checked_comparisons

PACKAGES = ("dcgev-cvx", "cvxpy", "clarabel", "scs", "numpy", "scipy", "matplotlib")

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #111; }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #ddd; vertical-align: top; }
th:first-child, td:first-child, th.words, td.words { text-align: left; }
tr.invalid td { color: #888; }
tr.best td:nth-child(-n+2) { font-weight: 600; }
dt { font-weight: 600; float: left; clear: left; min-width: 9rem; } dd { margin-left: 10rem; }
img { max-width: 100%; } code { background: #f3f3f3; padding: .1rem .3rem; }
"""


def html_report(comparisons: Sequence[Comparison], *, title: str = "comparison", command: str = "") -> str:
    """The page as a string; every name is escaped, nothing is loaded from elsewhere.

    Parameters
    ----------
    comparisons
        One per k, of the same pencil; at least one.
    title, command
        Text, escaped.

    The picture is embedded as base64 PNG where matplotlib is installed; without it the tables stand alone. Raises
    InvalidParameter for an empty list, comparisons of several pencils, and what is no text.
    """
    comparisons = checked_comparisons(comparisons)
    title, command = expect(title, str, "title", "a text"), expect(command, str, "command", "a text, or ''")
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f"<title>dcgev compare: {escape(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>Sparse generalized eigenvalues: {escape(title)}</h1>",
        facts(comparisons, command),
        picture(comparisons),
        *(section(comparison) for comparison in comparisons),
        "<p>Lower rows are vectors whose value xᵀAx/xᵀBx is computed from the data. Upper rows are bounds proved "
        "from the data and a dual matrix, rounding included: no solver is trusted. Grey rows do not count.</p>",
        "</body></html>",
    ]
    return "\n".join(parts)


def facts(comparisons: Sequence[Comparison], command: str) -> str:
    """What was compared, with which versions, and how to do it again.

    The pencil's size and λmax stand here once, as all comparisons share the pencil.
    """
    pencil = comparisons[0].pencil
    pairs = [
        ("problem", f"n = {pencil.n}, B {'= I' if pencil.B is None else 'dense'}"),
        ("λmax(A,B)", f"{pencil.lambda_max:.8g}"),
        ("k", ", ".join(str(comparison.k) for comparison in comparisons)),
        ("versions", ", ".join([f"Python {platform.python_version()}", *versions()])),
    ]
    if pencil.lambda_max <= 0.0:
        pairs.append(("note", "λmax(A,B) ≤ 0: no direction has a positive value; the largest is the least negative."))
    if command:
        pairs.append(("command", command))
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in pairs)
    return f"<dl>{items}</dl>"


def versions() -> list[str]:
    """The packages behind the numbers.

    Packages that are not installed are left out rather than shown as missing.
    """
    found: list[str] = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found


def picture(comparisons: Sequence[Comparison]) -> str:
    """The interval picture inside the page; without matplotlib a line that says so.

    A missing matplotlib is said on the page, since a reader may wonder where the picture is.
    """
    try:
        image = png(comparisons)
    except ImportError:
        return "<p>No picture: matplotlib is not installed (pip install matplotlib).</p>"
    data = b64encode(image).decode("ascii")
    return f'<img alt="lower values and upper bounds" src="data:image/png;base64,{data}">'


def png(comparisons: Sequence[Comparison]) -> bytes:
    """The picture as the bytes of a .png file.

    150 dots per inch, drawn by Agg: no display is needed.
    """
    stream = io.BytesIO()
    figure_of(comparisons).savefig(stream, format="png", dpi=150)
    return stream.getvalue()


def figure_of(comparisons: Sequence[Comparison]) -> Any:
    """A figure of its own, outside pyplot's state.

    pyplot keeps every figure until it is closed, and may want a display: neither is acceptable in a library.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from ..plotting import comparison_plot

    figure = Figure(figsize=(9.0, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    comparison_plot(comparisons, figure.add_subplot())
    return figure


def section(comparison: Comparison) -> str:
    """One k: the verdict and its two tables.

    One k a section, headed by the verdict in words.
    """
    lower = table(comparison.lower, "vectors found", comparison.best_lower)
    upper = table(comparison.upper, "bounds proved", comparison.best_upper)
    return f"<h2>{escape(comparison.verdict)}</h2>{lower}{upper}"


def table(rows: Sequence[Row], title: str, best: float) -> str:
    """The rows of one side with their supports.

    The column of supports appears only where some row has one: bounds have none.
    """
    head = "".join(
        f"<th{words(name)}>{escape(name)}</th>"
        for name in (*CELLS, *(["support"] if rows_have_support(rows) else []))
    )
    body = "".join(line(row, best, rows_have_support(rows)) for row in rows)
    return f"<h3>{escape(title)}</h3><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def rows_have_support(rows: Sequence[Row]) -> bool:
    """Do these rows name variables?"""
    return any(row.support for row in rows)


def line(row: Row, best: float, with_support: bool) -> str:
    """One row, grey when it does not count, bold when it is the best.

    "Best" is equality with the side's best value, so that ties are all bold.
    """
    kind = "" if row.valid and row.value != best else ' class="best"' if row.valid else ' class="invalid"'
    cells: list[tuple[str, str]] = list(zip(CELLS, cells_of(row), strict=True))
    if with_support:
        cells.append(("support", ", ".join(row.support)))
    return f"<tr{kind}>" + "".join(f"<td{words(name)}>{escape(text)}</td>" for name, text in cells) + "</tr>"


def words(name: str) -> str:
    """Columns of words are set left."""
    return ' class="words"' if name in ("status", "support") else ""
