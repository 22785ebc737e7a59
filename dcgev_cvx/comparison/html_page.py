"""A comparison as one self-contained HTML page: tables, picture, facts of the problem, and the command that made it.

The page has no scripts, fonts or links to elsewhere and can be mailed as one file.
"""

from __future__ import annotations

import platform
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from importlib.metadata import version

from .. import __version__
from .._numerics.checks import expect
from ..errors import MissingPackage
from .interval_plot import png
from .rows import Comparison, Row, checked_comparisons

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
    """Write comparisons of one pencil as an HTML page; names are escaped and nothing is loaded from elsewhere.

    Parameters
    ----------
    comparisons : sequence of Comparison
        What `compare` returned, one for each k.
    title, command : str
        The page's title, and the command that made it.

    Returns
    -------
    str
        The page, with the picture inside where Matplotlib is installed.

    Examples
    --------
    >>> from dcgev_cvx import compare, datasets
    >>> from dcgev_cvx.comparison import html_report
    >>> page = html_report([compare(datasets.pitprops(), 3, ["greedy", "no-sdp"])], title="pit props")
    >>> "<h1>Sparse generalized eigenvalues: pit props</h1>" in page
    True
    """
    comparisons = checked_comparisons(comparisons)
    title, command = expect(title, str, "title", "a text"), expect(command, str, "command", "a text, or ''")
    parts = [
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
        f"<title>dcgev compare: {escape(title)}</title><style>{STYLE}</style></head><body>",
        f"<h1>Sparse generalized eigenvalues: {escape(title)}</h1>",
        facts(comparisons, command),
        picture(comparisons),
        *map(section, comparisons),
        "<p>Vectors found: xᵀAx/xᵀBx is computed from the data. Bounds proved: they follow from the data and a dual "
        "matrix, rounding included, and trust no solver. KKT is the residual of the d.c. program behind a vector. "
        "Grey rows do not count.</p>\n</body></html>",
    ]
    return "\n".join(parts)


def facts(comparisons: Sequence[Comparison], command: str) -> str:
    """The problem, the versions behind the numbers, and the command."""
    pencil = comparisons[0].pencil
    versions = [f"{name} {version(name)}" for name in ("cvxpy", "clarabel", "scs", "numpy", "scipy")]
    pairs = [
        ("problem", f"n = {pencil.n}, B {'= I' if pencil.B is None else 'dense'}"),
        ("λmax(A,B)", f"{pencil.lambda_max:.8g}"),
        ("k", ", ".join(str(comparison.k) for comparison in comparisons)),
        ("versions", ", ".join([f"Python {platform.python_version()}", f"dcgev-cvx {__version__}", *versions])),
    ]
    if pencil.lambda_max <= 0.0:
        pairs.append(("note", "λmax(A,B) ≤ 0: no direction has a positive value; the largest is the least negative."))
    if command:
        pairs.append(("command", command))
    return f"<dl>{''.join(f'<dt>{escape(name)}</dt><dd>{escape(text)}</dd>' for name, text in pairs)}</dl>"


def picture(comparisons: Sequence[Comparison]) -> str:
    """The picture inside the page; without Matplotlib a line that says so."""
    try:
        data = b64encode(png(comparisons)).decode("ascii")
    except MissingPackage as missing:
        return f"<p>No picture. {escape(str(missing))}</p>"
    return f'<img alt="values found and bounds proved" src="data:image/png;base64,{data}">'


def section(comparison: Comparison) -> str:
    """One k: the verdict and its two tables."""
    lower = table(comparison.lower, "vectors found", comparison.best_lower)
    upper = table(comparison.upper, "bounds proved", comparison.best_upper)
    return f"<h2>{escape(comparison.verdict)}</h2>{lower}{upper}"


def table(rows: Sequence[Row], title: str, best: float) -> str:
    """The rows of one side; those with the best value are bold, those that do not count are grey."""
    cells = [row.cells() | {"status": row.status, "support": ", ".join(row.support)} for row in rows]
    # bounds have no nonzeros, steps or support: columns that are empty throughout are left out
    columns = [name for name in (cells[0] if cells else ()) if any(row[name] for row in cells)]
    kinds = ["invalid" if not row.valid else "best" if row.value == best else "" for row in rows]
    lines = [f'<tr class="{kind}">{line("td", columns, row)}</tr>' for kind, row in zip(kinds, cells, strict=True)]
    head = line("th", columns, {name: name for name in columns})
    return f"<h3>{title}</h3><table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def line(tag: str, columns: Sequence[str], cells: dict[str, str]) -> str:
    """The cells of one line; columns of words are set left."""
    words = {name: ' class="words"' if name in ("status", "support") else "" for name in columns}
    return "".join(f"<{tag}{words[name]}>{escape(cells[name])}</{tag}>" for name in columns)
