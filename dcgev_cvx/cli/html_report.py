"""A comparison as one self-contained page: the verdict, a picture, the tables, and what it was computed from."""

import hashlib
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from importlib.metadata import version
from io import StringIO
from typing import Any

import numpy as np

from .. import __version__
from ..comparison import Comparison
from ..comparison.interval_plot import figure_of
from ..comparison.rows import ComparisonRow
from ..pencils import Pencil

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>dcgev compare</title><style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #111; }}
h1 {{ font-size: 1.25rem; }} h2 {{ font-size: 1.05rem; margin-top: 2rem; }}
table {{ border-collapse: collapse; font-size: 0.9rem; }}
th, td {{ padding: 0.15rem 0.8rem 0.15rem 0; text-align: right; font-variant-numeric: tabular-nums; }}
th:first-child, td:first-child {{ text-align: left; }} th {{ border-bottom: 1px solid #888; }}
svg {{ max-width: 100%; height: auto; }} .small {{ font-size: 0.85rem; color: #444; overflow-wrap: anywhere; }}
</style></head><body>
{body}
</body></html>
"""


def html_page(sentences: Sequence[str], heading: str, found: Sequence[Comparison]) -> str:
    """The page of comparisons of one pencil."""
    parts = [f"<h1>{escape(sentence)}</h1>" for sentence in sentences]
    parts += [f"<p>{escape(heading)}</p>", svg_of(found)]
    for comparison in found:
        parts.append(f"<h2>{escape(comparison.verdict)}</h2>")
        support = ", ".join(comparison.best_support)
        parts += [f"<p>Best support: {escape(support)}</p>"] if support else []
        parts.append(html_table("vectors found", comparison.lower, ("value", "% λmax", "k", "gap %", "KKT", "s")))
        parts.append(html_table("bounds proved", comparison.upper, ("value", "% λmax", "gap %", "s")))
    parts.append(f'<h2>Computed from</h2><p class="small">{"<br>".join(map(escape, sources(found[0].pencil)))}</p>')
    return PAGE.format(body="\n".join(parts))


def svg_of(found: Sequence[Comparison]) -> str:
    """The picture as an element of the page."""
    stream = StringIO()
    figure_of(found).savefig(stream, format="svg")
    return stream.getvalue()[stream.getvalue().index("<svg") :]


def html_table(title: str, rows: Sequence[ComparisonRow], columns: Sequence[str]) -> str:
    """The table of one side, with how each method ended."""
    head = "".join(f"<th>{escape(name)}</th>" for name in (title, *columns))
    lines = []
    for row in rows:
        cells = row.cells()
        texts = "".join(f"<td>{escape(cells[name])}</td>" for name in columns)
        lines.append(f'<tr title="{escape(row.status)}"><td>{escape(row.method)}</td>{texts}</tr>')
    return f"<table><tr>{head}</tr>{''.join(lines)}</table>"


def sources(pencil: Pencil) -> list[str]:
    """The hashes of the matrices, the versions and the time: what somebody needs to compute it again."""
    names = ("numpy", "scipy", "cvxpy", "clarabel", "scs")
    A, B = pencil.dense()
    versions = ", ".join([f"dcgev_cvx {__version__}", *(f"{name} {version(name)}" for name in names)])
    return [
        f"sha256 of A: {digest(A)}",
        f"sha256 of B: {'the identity' if pencil.B is None else digest(B)}",
        f"{versions}, Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    ]


def digest(matrix: Any) -> str:
    """The hash of the entries as doubles, row by row."""
    return hashlib.sha256(np.ascontiguousarray(matrix, dtype="<f8").tobytes()).hexdigest()
