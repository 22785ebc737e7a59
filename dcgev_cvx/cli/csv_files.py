"""Reading .csv files: the separator, a header, row names; whatever was decided is kept as a note, and doubt raises.

Separator   tab, semicolon or comma: the one that makes most cells numbers
Header      a first line of names; of whole numbers in equal steps (0, 1, 2, … or years) when no line below is whole
Row names   a first column without a name that is whole or text, or any that is text; never the same entry twice
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from .._numerics.checks import MAX_BYTES, Matrix, shown
from ..errors import InvalidParameter, nearest

LARGEST_FILE = MAX_BYTES // 10
"""Bytes of a .csv file that is read: its cells take about ten times as much memory."""
MISSING = ("", "na", "nan", "n/a", "#n/a", "null", "none", "nil", "-", ".", "?", "missing")
"""How files write a missing value, in lower case."""


@dataclass(frozen=True)
class Decisions:
    """What --header and --index-column decide (None: the rules do), and notes on what was decided."""

    header: bool | None = None
    index: str | None = None
    notes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Cells:
    """The cells below the header as text, with the numbers of their lines, and the names of columns and rows."""

    path: Path
    rows: list[list[str]]
    lines: list[int]
    header: list[str] | None = None
    index: list[str] | None = None
    notes: tuple[str, ...] = field(default=())

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.rows[0])

    def column(self, j: int) -> list[str]:
        """The cells of one column."""
        return [row[j] for row in self.rows]

    def title(self, j: int) -> str:
        """The name of a column, or its position."""
        return f"{j + 1}" if self.header is None else shown(self.header[j])

    def without(self, j: int) -> Cells:
        """The same cells without one column."""
        header = None if self.header is None else [*self.header[:j], *self.header[j + 1 :]]
        return replace(self, rows=[[*row[:j], *row[j + 1 :]] for row in self.rows], header=header)

    def noting(self, note: str) -> Cells:
        """The same cells with one more note."""
        return replace(self, notes=(*self.notes, note))

    def numbers(self) -> Matrix:
        """The cells as numbers."""
        if not self.width:
            raise InvalidParameter(f"{self.path} has no column of numbers; separate them by comma, semicolon or tab.")
        for line, row in zip(self.lines, self.rows, strict=True):
            for j, cell in enumerate(row):
                if not is_number(cell):
                    raise InvalidParameter(self.not_a_number(line, j, cell))
        return np.array([[float(cell) for cell in row] for row in self.rows])

    def not_a_number(self, line: int, j: int, cell: str) -> str:
        """A cell that is text where a number is expected, and what to do."""
        hint = f"Drop the column, or give --index-column {j + 1} if it holds row names."
        if cell.lower() in MISSING:
            hint = "Drop the row or the column, or fill the gap."
        elif is_number(cell.replace(",", ".")) or is_number(cell.replace(",", "")):
            hint = "Write decimals with a point, and no separators of thousands."
        elif cell.lower() in ("true", "false"):
            hint = "Write 1 and 0."
        elif self.width == 1:
            hint = "Separate numbers by comma, semicolon or tab."
        return f"{self.path}, line {line}, column {self.title(j)}: {shown(cell)} is not a number. {hint}"


def read_cells(path: Path, decisions: Decisions, label: str | None = None) -> Cells:
    """The cells of a file; `label` is a column that is not taken for row names."""
    raw, comment = rows_of(path)
    cells = with_header(raw, comment, decisions)
    found = index_column(cells, decisions, label)
    if found is None:
        return cells
    names = cells.column(found)
    first = "" if cells.header is None else f" {cells.title(found)}" if cells.header[found] else " without a name"
    dropped = cells.without(found).noting(f"column {found + 1}{first} holds row names ({shown(names[0])}, …)")
    return replace(dropped, index=names)


# Bytes, lines and cells


def decoded(path: Path) -> str:
    """The text of a file in UTF-8, or in UTF-16 with a byte order mark."""
    if path.stat().st_size > LARGEST_FILE:
        raise InvalidParameter(f"{path} has more than {LARGEST_FILE:,} bytes: save it as .npy, which is read faster.")
    data = path.read_bytes()
    if data.startswith(b"\x1f\x8b") or data.startswith(b"PK\x03\x04"):
        raise InvalidParameter(f"{path} is a compressed file or a workbook: unpack it, or save it as .csv text.")
    text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    if "\0" in text:
        raise InvalidParameter(f"{path} has NUL bytes: it is not text; save it as UTF-8.")
    return text


def rows_of(path: Path) -> tuple[Cells, list[str]]:
    """Every line with entries, all of one width, and the cells of the last comment before them."""
    text = decoded(path)
    mark = separator(text)
    table = [(line, row) for line, row in parsed(text, mark) if row]
    head = next((i for i, (_, row) in enumerate(table) if not row[0].startswith("#")), len(table))
    comment = [cell.lstrip("#").strip(' "') for cell in table[head - 1][1]] if head else []
    kept = [(line, row) for line, row in table if not row[0].startswith("#")]
    notes = ("lines that begin with # were left out",) if len(kept) < len(table) else ()
    while kept and not any(kept[-1][1]):
        kept.pop()  # spreadsheets write rows of nothing but separators at the end
    if not kept:
        raise InvalidParameter(f"{path} is empty.")
    if len(kept[-1][1]) == 1:
        kept = one_column(path, text, mark)
    made = Cells(path, [row for _, row in kept], [line for line, _ in kept], notes=notes)
    return without_empty_end(made), comment


def one_column(path: Path, text: str, mark: str) -> list[tuple[int, list[str]]]:
    """The lines of a file of one column, where an empty line between others is a missing entry."""
    table = [(line, row or [""]) for line, row in parsed(text, mark) if not (row or [""])[0].startswith("#")]
    full = [i for i, (_, row) in enumerate(table) if any(row)]
    gap = next((line for line, row in table[full[0] : full[-1] + 1] if not any(row)), None)
    if gap is not None:
        raise InvalidParameter(f"{path}, line {gap}: the entry is missing. Delete the line, or fill the gap.")
    return table[full[0] : full[-1] + 1]


def parsed(text: str, mark: str) -> list[tuple[int, list[str]]]:
    """The number and the cells of each line; a blank line has no cells."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, skipinitialspace=mark != "\t", strict=True)
    rows: list[tuple[int, list[str]]] = []
    before = 0
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            rows.append((before + 1, [] if cells == [""] else cells))
            before = reader.line_num
    except csv.Error as cause:
        if "unexpected end" in str(cause):
            raise ValueError("it has a quotation mark that is opened and never closed.") from cause
        raise
    return rows


def separator(text: str) -> str:
    """Tab, semicolon or comma: by the share of cells that are numbers, then by lines of equal width."""
    start = "".join(islice(io.StringIO(text, newline=""), 60))

    def merit(mark: str) -> tuple[float, bool]:
        rows = [row for row in csv.reader(io.StringIO(start, newline=""), delimiter=mark) if row]
        cells = [cell.strip().replace(",", ".") for row in rows[len(rows) > 1 :] for cell in row if cell.strip()]
        widths = {len(row) for row in rows}
        if widths <= {1}:
            return -1.0, False
        return sum(map(is_number, cells)) / max(1, len(cells)), len(widths) == 1

    return max("\t;,", key=merit)


def without_empty_end(cells: Cells) -> Cells:
    """Lines that all end with a separator lose the empty cell behind it; lines of other widths raise."""
    head, *body = cells.rows
    while len(head) > 1 and body and not any(row[-1] for row in body):
        if head[-1] and len(body[0]) <= len(head):
            break
        head, body = head if head[-1] else head[:-1], [row[:-1] for row in body]
    width = len(body[0]) if body else len(head)
    if len(head) not in (width, width - 1):
        raise InvalidParameter(wrong_width(cells.path, cells.lines[1], width, len(head)))
    for line, row in zip(cells.lines[1:], body, strict=True):
        if len(row) != width:
            raise InvalidParameter(wrong_width(cells.path, line, len(row), width))
        if not any(row):
            raise InvalidParameter(f"{cells.path}, line {line}: every entry is missing. Delete the line.")
    return replace(cells, rows=[head, *body])


def wrong_width(path: Path, line: int, entries: int, width: int) -> str:
    """A line with more or fewer entries than the others."""
    return f"{path}, line {line}: {entries} entries where {width} are expected."


# Header


def with_header(cells: Cells, comment: list[str], decisions: Decisions) -> Cells:
    """The cells below the header, if there is one."""
    first, body = cells.rows[0], cells.rows[1:]
    if decisions.header is None and any(map(is_number, first)):  # np.savetxt writes a header as a comment
        while len(comment) > len(first) and not comment[-1]:
            comment = comment[:-1]
        names = ["", *comment] if len(comment) == len(first) - 1 else comment
        if 1 < len(names) == len(first) and (not any(map(is_number, names)) or numeric_header(names, cells.rows)):
            return replace(cells, header=names).noting("the comment above the numbers is the header")
    if not has_header(cells, decisions.header):
        if body and len(first) != len(body[0]):
            raise InvalidParameter(wrong_width(cells.path, cells.lines[0], len(first), len(body[0])))
        return cells
    if not body:
        raise InvalidParameter(f"{cells.path} has a header and no numbers below it.")
    made = replace(cells, rows=body, lines=cells.lines[1:])
    short = len(first) < len(body[0])  # R leaves out the cell above the row names, pandas leaves it empty
    made = replace(made, header=["", *first] if short else first)
    if short and len(first) == 1 and all(map(is_number, made.column(0))):
        raise InvalidParameter(
            f"{cells.path}, line {made.lines[0]}: 2 entries below the one name {shown(first[0])}: write decimals "
            "with a point, or name both columns."
        )
    numeric = decisions.header is None and is_number(first[-1])
    return made.noting(f"the first line ({', '.join(first[:3])}, …) is the header") if numeric else made


def has_header(cells: Cells, given: bool | None) -> bool:
    """Is the first line the header? Raises where that cannot be told."""
    first, body = cells.rows[0], cells.rows[1:]
    if given is not None:
        return given
    numeric = [j for j, cell in enumerate(first) if is_number(cell)]
    missing = [cell.lower() in MISSING for cell in first]
    if not numeric:
        if all(missing) or (first[0] == "" and any(missing[1:])):
            raise InvalidParameter(in_doubt(cells))
        return True
    named = [cell for j, cell in enumerate(first) if j not in numeric]
    rest = [first[j] for j in numeric]
    answer = numeric_header(rest, [[row[j] for j in numeric] for row in body])
    if not named:
        return decided(cells, answer)
    if named == first[:1]:
        return decided(cells, under_a_corner(cells, answer))
    if answer and not any(cell.lower() in MISSING for cell in named):
        return True
    raise InvalidParameter(
        f"{cells.path}, line {cells.lines[0]}: {shown(named[0])} among numbers is neither a header nor a row. "
        "Name every column in the first line, or write a number in its place; --header and --no-header decide."
    )


def under_a_corner(cells: Cells, answer: bool | None) -> bool | None:
    """Is a first line of numbers behind one cell of text, or an empty one, a header?"""
    (corner, *rest), body = cells.rows[0], cells.rows[1:]
    if is_unnamed(corner):
        counted = all(map(is_whole, rest)) and len(set(rest)) == len(rest)
        return True if answer or (counted and body and is_index([row[0] for row in body])) else None
    if corner.lower() in MISSING or answer:
        return None if corner.lower() in MISSING else True
    named = answer is False and not any(is_number(row[0]) for row in body) and not all(map(is_whole, rest))
    return False if named else None


def decided(cells: Cells, answer: bool | None) -> bool:
    """The answer, if there is one."""
    if answer is None:
        raise InvalidParameter(in_doubt(cells))
    return answer


def in_doubt(cells: Cells) -> str:
    """The question to the user whether the first line is a header."""
    start = shown(", ".join(cells.rows[0]), 40)
    where = f"{cells.path}, line {cells.lines[0]}"
    return f"{where}: {start} may be a header or a row of numbers: pass --header or --no-header."


def numeric_header(first: list[str], body: list[list[str]]) -> bool | None:
    """Is a line of numbers a header? None when it may be."""
    n = len(first)
    if not body or not all(map(is_whole, first)) or len(set(first)) < n:
        return False
    if n > 1 and is_symmetric(body):
        return True
    if is_symmetric([first, *body]):
        return False
    steps = {int(b) - int(a) for a, b in pairwise(first)}
    even, rising = len(steps) == 1 and min(steps) > 0, n > 1 and min(steps) > 0
    counted = [int(cell) for cell in first] in (list(range(n)), list(range(1, n + 1)))
    outliers = all(abs(int(cell)) > 3.0 * max(abs(float(r[j])) for r in body) for j, cell in enumerate(first))
    if not any(all(map(is_whole, row)) for row in body):
        return (True if even else None) if n > 1 else None if first == ["0"] or outliers else False
    return None if (counted and n > 1) or (even and n > 2) or (rising and n > 3) or outliers else False


# Row names


def index_column(cells: Cells, decisions: Decisions, label: str | None) -> int | None:
    """The column that holds row names, if there is one; raises where that cannot be told."""
    if decisions.index is not None:
        return chosen_column(cells, decisions.index)
    column, header = cells.column(0), cells.header
    if (header is not None and header[0] == label) or cells.width == 1:
        return None
    unnamed = header is not None and is_unnamed(header[0])
    if unnamed and is_index(column):
        return 0
    if unnamed or (is_count(column) and not is_symmetric(cells.rows)):
        raise InvalidParameter(
            f"{cells.path}: the first column ({', '.join(column[:3])}, …) may be row names or a variable: pass "
            "--index-column 1, or --index-column none to keep it."
        )
    if any(map(is_number, column)) or any(cell.lower() in MISSING for cell in column):
        return None
    if len(set(column)) < len(column):
        raise InvalidParameter(
            f"{cells.path}, column {cells.title(0)}: {shown(column[0])} is not a number, and as row names the "
            "entries repeat. Drop the column, or pass --index-column 1 to leave it out."
        )
    return 0


def chosen_column(cells: Cells, name: str) -> int | None:
    """The position of the column that --index-column names, by its name or its number from 1."""
    if name == "none":
        return None
    if cells.header is not None and name in cells.header:
        return cells.header.index(name)
    if name.isdecimal() and 1 <= int(name) <= cells.width:
        return int(name) - 1
    hint = f"it has {cells.width} columns." if cells.header is None else nearest(name, cells.header)
    raise InvalidParameter(f"{cells.path} has no column --index-column {name}; {hint}")


def is_unnamed(name: str) -> bool:
    """Is it the name of a column without a name, which pandas writes as nothing and reads as Unnamed: 0?"""
    return name == "" or name.startswith("Unnamed: ")


def is_index(column: Sequence[str]) -> bool:
    """Are the entries all whole numbers or all text, none missing and none twice?"""
    kinds = {is_number(cell) for cell in column}
    whole = kinds == {False} or all(map(is_whole, column))
    return whole and len(set(column)) == len(column) and not any(cell.lower() in MISSING for cell in column)


def is_count(column: Sequence[str]) -> bool:
    """Are four numbers or more counted: 0, 1, 2, … or 1, 2, 3, … in any order or with repetitions, or equal steps?"""
    if len(column) < 4 or not all(map(is_number, column)):
        return False
    values = [float(cell) for cell in column]
    steps = [b - a for a, b in pairwise(values)]
    if max(steps) - min(steps) <= 1e-9 * abs(steps[0]) and steps[0]:
        return True
    if not all(map(is_whole, column)) or min(values) not in (0, 1):
        return False
    in_order = set(steps) <= {0.0, 1.0} and values[-1] - values[0] > 1
    return in_order or sorted(values) == [min(values) + i for i in range(len(values))]


def is_symmetric(rows: list[list[str]]) -> bool:
    """Do the cells make a symmetric matrix of numbers?"""
    if any(len(row) != len(rows) for row in rows) or not all(is_number(cell) for row in rows for cell in row):
        return False
    matrix = np.array([[float(cell) for cell in row] for row in rows])
    return bool(np.allclose(matrix, matrix.T, rtol=1e-6, atol=0.0, equal_nan=True))


def is_whole(cell: str) -> bool:
    """Is the cell a whole number without a decimal point, such as 0 or 1998?"""
    return cell.removeprefix("-").isdecimal() and cell.isascii()


def is_number(cell: Any) -> bool:
    """Does the cell read as a float? 1_000, which Python takes for 1000, does not."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
