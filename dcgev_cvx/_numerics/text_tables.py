"""Tables as text, laid out by rich: compact enough for 80 columns, and no number is ever cut."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from io import StringIO
from typing import Any

NAME_WIDTH = 12
"""The narrowest that a column of names becomes where there is little room."""


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    words: Collection[int] = (0,),
    title: str | None = None,
    styles: Mapping[int, str] | None = None,
) -> Any:
    """A table as rich has it: columns of words are set left, the others right, and only the first one wraps."""
    from rich import box
    from rich.table import Table

    layout: Any = {"box": box.SIMPLE_HEAD, "show_edge": False, "pad_edge": False, "collapse_padding": True}
    made = Table(title=title, title_justify="left", **layout)
    for j, column in enumerate(columns):
        made.add_column(
            column,
            justify="left" if j in words else "right",
            overflow="fold",
            no_wrap=j > 0,
            style=(styles or {}).get(j),
        )
    for row in rows:
        made.add_row(*map(printable, row))
    return made


def facts(pairs: Iterable[tuple[str, str]]) -> Any:
    """Names and values side by side; long values wrap."""
    from rich.table import Table

    made = Table.grid(padding=(0, 2))
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs:
        made.add_row(f"  {name}", printable(value))
    return made


def as_text(*parts: Any, width: int = 80, color: bool = False) -> str:
    """Text and tables one below the other; lines of numbers that need more than the width run on."""
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table

    needed = [width]
    for made in (part for part in parts if isinstance(part, Table)):
        sizes = [max(cell_len(str(cell)) for cell in (column.header, *column.cells)) for column in made.columns]
        kept = [
            size if column.no_wrap else min(size, NAME_WIDTH) for size, column in zip(sizes, made.columns, strict=True)
        ]
        needed.append(sum(kept) + 2 * (len(kept) - 1))
    stream = StringIO()
    plain: Any = {"markup": False, "highlight": False, "emoji": False, "force_jupyter": False}
    system: Any = "standard" if color else None
    console = Console(file=stream, width=max(needed), color_system=system, force_terminal=color, **plain)
    for part in parts:
        console.print(printable(part) if isinstance(part, str) else part, soft_wrap=isinstance(part, str))
    return "\n".join(line.rstrip() for line in stream.getvalue().split("\n")[:-1])


def printable(text: str) -> str:
    """The text with control characters, which could steer a terminal, replaced."""
    return "".join(letter if letter.isprintable() or letter == "\n" else "·" for letter in text)


def count(number: int, noun: str) -> str:
    """1 nonzero, 2 nonzeros."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
