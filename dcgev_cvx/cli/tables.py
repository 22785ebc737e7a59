"""Tables for people: readable at 80 columns, plain when piped, no name ever cut."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table

FOLDED = 12
"""The narrowest that a column of names or sentences becomes."""


def show(*parts: RenderableType) -> None:
    """Print text and tables to stdout: colours on a terminal only, and nothing a name says is taken for markup.

    rich wraps at the terminal's width, or at 80 columns in a pipe, and would cut numbers where even that is too
    narrow: there lines run on. They lose their trailing blanks, so that output can be compared with diff.
    """
    console = Console(markup=False, highlight=False, emoji=False)
    console.width = max([console.width or 80, *(narrowest(part) for part in parts if isinstance(part, Table))])
    with console.capture() as captured:
        for part in parts:
            console.print(part, soft_wrap=isinstance(part, str))
    for line in captured.get().splitlines():
        print(line.rstrip(), file=sys.stdout)


def narrowest(made: Table) -> int:
    """The width at which no cell is cut: whole where a column does not wrap, FOLDED where it does, and the frame."""
    kept: list[int] = []
    for column in made.columns:
        widest = max(cell_len(str(cell)) for cell in (column.header, *column.cells))
        kept.append(widest if column.no_wrap else min(widest, FOLDED))
    return sum(kept) + 3 * len(kept) + 1


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "", words: int = 1) -> Table:
    """A table whose first column is folded when long; the first `words` columns are set left, the numbers right."""
    made = Table(box=box.SIMPLE_HEAD, title=title or None, title_justify="left", title_style="bold")
    for j, column in enumerate(columns):
        made.add_column(column, justify="left" if j < words else "right", overflow="fold", no_wrap=j > 0)
    for row in rows:
        made.add_row(*(printable(cell) for cell in row))
    return made


def facts(pairs: Iterable[tuple[str, str]]) -> Table:
    """Name and value side by side, without a frame; long values are folded."""
    made = Table.grid(padding=(0, 2))
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs:
        made.add_row(f"  {name}", printable(value))
    return made


def printable(text: str) -> str:
    """The text with control characters, which could steer a terminal, replaced.

    A name read from a file could otherwise move the cursor or change colours.
    """
    return "".join(letter if letter.isprintable() else "·" for letter in text)


def tiny(value: float) -> str:
    """A residual: two digits, and a plain 0 when it is exactly that."""
    return "0" if value == 0.0 else f"{value:.1e}"
