"""The rows of the equation index, for the pages and for the API reference."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

INDEX = Path(__file__).parent.parent / "equation-index.md"


@cache
def equations() -> dict[str, list[str]]:
    """The rows of the equation index, by label and by printed number or tag."""
    found: dict[str, list[str]] = {}
    for line in INDEX.read_text(encoding="utf-8").splitlines():
        cells = cells_of(line)
        if len(cells) == 6 and cells[0] not in ("no.", "---"):
            for key in filter(None, (cells[1].strip("`"), cells[0].strip("()"))):
                found.setdefault(key, cells)
    return found


def cells_of(line: str) -> list[str]:
    """The cells of a row of a Markdown table; none for any other line."""
    return [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []


def anchor(row: list[str]) -> str:
    """The id of an equation on a page."""
    return "equation-" + re.sub(r"\W+", "-", row[1] or row[0]).strip("-").lower()
