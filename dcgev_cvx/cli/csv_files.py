"""Reading .csv files by three rules. Where a rule does not decide, an error asks for an option; nothing is guessed.

Separator   a tab or a semicolon if the first line has one outside quotation marks, else the comma
Header      a first line of names; or of whole numbers, behind an empty cell above row names as pandas writes them, or
            in equal steps (0, 1, 2, … or years) above other numbers
Row names   a first column of text, or a column of text or whole numbers without a name; no entry twice. The header
            may leave them out, as R does, if they are text or 1, 2, 3, …
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import whitespace
from typing import Any

import numpy as np

from .._numerics.checks import Matrix, shown
from ..errors import InvalidParameter, nearest

MISSING = ("", "na", "nan", "n/a", "#n/a", "<na>", "null", "none", "nil", "-", ".", "?", "missing")
"""How files write a missing value, in lower case."""


@dataclass(frozen=True)
class CsvOptions:
    """What --header and --index-column decide (None: the rules do), and notes on what the rules decided."""

    header: bool | None = None
    index: str | None = None
    notes: list[str] = field(default_factory=list[str])


@dataclass
class CsvTable:
    """The cells below the header as text, by columns, with the numbers of their lines and the names of the rows."""

    path: Path
    header: list[str] | None
    columns: list[list[str]]
    lines: list[int]
    index: list[str] | None = None

    def take(self, j: int) -> list[str]:
        """Remove a column and return its cells."""
        if self.header is not None:
            self.header.pop(j)
        return self.columns.pop(j)

    def numbers(self) -> Matrix:
        """The cells as numbers, a row per line."""
        if not self.columns:
            raise InvalidParameter(f"{self.path} has no column of numbers; separate them by comma, semicolon or tab.")
        for j, column in enumerate(self.columns):
            for line, cell in zip(self.lines, column, strict=True):
                if not is_number(cell):
                    name = j + 1 if self.header is None else shown(self.header[j])
                    where = f"{self.path}, line {line}, column {name}"
                    raise InvalidParameter(f"{where}: {shown(cell)} is not a number. {remedy(cell)}")
        return np.array([[float(cell) for cell in column] for column in self.columns]).T


def remedy(cell: str) -> str:
    """What to do about a cell that is not a number."""
    if cell.lower() in MISSING:
        return "Drop the row or the column, or fill the gap."
    if spells_number(cell):
        return "Write decimals with a point, without units and separators of thousands."
    names = "Drop a column of text, or give --index-column if it holds row names"
    return f"{names}; separate numbers by comma, semicolon or tab."


def read_csv(path: Path, options: CsvOptions, label: str | None = None) -> CsvTable:
    """The cells of a file under its header; `label` is a column that is not taken for row names."""
    lines, rows = read_rows(path, options)
    names = None
    if has_header(f"{path}, line {lines[0]}", rows, options):
        lines, names = lines[1:], rows.pop(0)
    if not rows:
        raise InvalidParameter(f"{path} has a header and no numbers below it.")
    table = CsvTable(path, names, [list(column) for column in zip(*rows, strict=True)], lines)
    j, taken = index_column(table, options, label), 0
    while j is not None:
        table.index, taken = table.take(j), taken + 1
        options.notes.append(f"{path}: column {j + taken} holds row names ({shown(table.index[0])}, …).")
        again = options.index is None and is_unnamed(table)  # pandas adds one each time it reads and writes a file
        j = index_column(table, options, label) if again else None
    return table


def read_rows(path: Path, options: CsvOptions) -> tuple[list[int], list[list[str]]]:
    """The numbers of the lines and their cells, as many in each, without comments and blank lines."""
    text = decoded(path)
    first = next((line for line in io.StringIO(text, newline=None) if line.strip() and not line.startswith("#")), "")
    mark = next((mark for mark in "\t;" if mark in re.sub('"[^"]*"', "", first)), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, skipinitialspace=mark != "\t", strict=True)
    table = [(reader.line_num, [cell.strip(whitespace) for cell in row]) for row in reader]
    found = [(line, row) for line, row in table if not row or not row[0].startswith("#")]
    if len(found) < len(table):
        options.notes.append(f"{path}: lines that begin with # were left out.")
    while found and not any(found[-1][1]):
        found.pop()
    width = next((len(row) for _, row in found if row), 0)
    if not found:
        raise InvalidParameter(f"{path} is empty: a line of numbers for each sample is needed.")
    if width > 1:  # in one column a blank line is a gap
        found = [(line, row) for line, row in found if row]
    if width > 2 and not any(row[-1] for _, row in found):  # each line ends with a separator
        found, width = [(line, row[:-1]) for line, row in found], width - 1
    if names_rows_without_header([row for _, row in found]):
        found[0][1].insert(0, "")
        width += 1
    for line, row in found:
        if not any(row):
            raise InvalidParameter(f"{path}, line {line} is empty: delete it, or fill the gap.")
        if len(row) != width:
            raise InvalidParameter(
                f"{path}, line {line}: {len(row)} entries where the first line has {width}. Give every line the same "
                "number: name each column in the header, row names too, and write decimals with a point."
            )
    points = [cell for _, row in found for cell in row if "." in cell]
    if mark != "," and points and all(re.fullmatch(r"-?[1-9]\d{0,2}\.\d{3}", cell) for cell in points):
        options.notes.append(f"{path}: {points[0]} is read as a decimal number, not as thousands.")
    return [line for line, _ in found], [row for _, row in found]


def names_rows_without_header(rows: list[list[str]]) -> bool:
    """Does the header lack a name above the row names, as in a file that R wrote? They are text, or 1, 2, 3, …"""
    first, body = rows[0], rows[1:]
    if len(first) < 2 or not body or any(len(row) != len(first) + 1 for row in body) or any(map(is_number, first)):
        return False
    column = [row[0] for row in body]
    counted = len(column) > 2 and column == [str(i + 1) for i in range(len(column))]
    return counted or not any(map(spells_number, column))


def decoded(path: Path) -> str:
    """The text of a file in UTF-8, or in UTF-16 with a byte order mark."""
    data = path.read_bytes()
    try:
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as cause:
        raise InvalidParameter(
            f"{path} is not UTF-8 text (byte {cause.start + 1}): unpack it if it is compressed, and save a "
            "spreadsheet as UTF-8 .csv."
        ) from cause


# The header


def has_header(where: str, rows: list[list[str]], options: CsvOptions) -> bool:
    """Is the first line a header? Raises where the rules do not tell."""
    if options.header is not None:
        return options.header
    first, body = rows[0], rows[1:]
    corner = len(first) > 1 and not is_number(first[0])  # what is above row names does not count
    names = first[corner:]
    if not any(is_number(name) or name.lower() in MISSING for name in names):
        if not is_unrepeated(first) and may_be_names(body):  # two levels of column names
            raise InvalidParameter(
                f"{where}: names repeat, and {shown(', '.join(body[0]), 40)} below may be a second header: join both "
                "to one line of names, or pass --header to read it as a row of numbers."
            )
        return True
    answer = None
    if first[0] == "" and all(map(is_whole, names)) and is_unrepeated(names) and are_row_names([r[0] for r in body]):
        answer = True  # what pandas writes for a frame without names
    elif all(map(is_number, names)):
        answer = are_names(names, [row[corner:] for row in body])
    if answer is None or (corner and not answer):
        raise InvalidParameter(
            f"{where}: {shown(', '.join(first), 40)} may be a header or a row of numbers: name every column, or pass "
            "--header or --no-header."
        )
    if answer:
        options.notes.append(f"{where}: {shown(', '.join(first), 40)} is the header.")
    return answer


def may_be_names(rows: list[list[str]]) -> bool:
    """May the first of the rows be a header: do its numbers repeat, or may they be names?"""
    if not rows or not all(map(is_number, rows[0])):
        return False
    return not is_unrepeated(rows[0]) or are_names(rows[0], rows[1:]) is not False


def are_names(numbers: list[str], body: list[list[str]]) -> bool | None:
    """Is a first line of numbers a header? None if it may be."""
    if not body or is_symmetric([numbers, *body]):
        return False
    whole, steps = all(map(is_whole, numbers)), np.diff([float(number) for number in numbers])
    even = len(steps) > 0 and steps[0] > 0.0 and np.allclose(steps, steps[0], rtol=1e-9, atol=0.0)
    if whole and even and not any(all(map(is_whole, row)) for row in body):
        return True
    differs = is_unrepeated(numbers) or not any(map(is_whole, body[-1]))  # from the rows below
    return None if (whole and differs) or (even and len(steps) > 1) else False


# Row names


def index_column(table: CsvTable, options: CsvOptions, label: str | None) -> int | None:
    """The column that holds row names, if there is one; raises where the rules do not tell."""
    if options.index is not None:
        return chosen_column(table, options.index)
    column, unnamed = table.columns[0], is_unnamed(table)
    if len(table.columns) == 1 or (label is not None and table.header is not None and table.header[0] == label):
        return None
    if are_row_names(column) and (unnamed or not is_number(column[0])):
        return 0
    if unnamed or (is_ordered(column) and not is_symmetric(table.columns)):
        raise InvalidParameter(
            f"{table.path}: the first column ({', '.join(column[:3])}, …) may be row names or a variable: pass "
            "--index-column 1, or --index-column none to keep it."
        )
    return None


def is_unnamed(table: CsvTable) -> bool:
    """Is the first column without a name, or called as pandas calls such a column?"""
    return bool(table.header) and (table.header[0] == "" or table.header[0].startswith("Unnamed: "))


def chosen_column(table: CsvTable, name: str) -> int | None:
    """The position of the column that --index-column names, by its name or its number from 1."""
    if name == "none":
        return None
    if table.header is not None and name in table.header:
        return table.header.index(name)
    if name.isdecimal() and 1 <= int(name) <= len(table.columns):
        return int(name) - 1
    hint = f"it has {len(table.columns)} columns." if table.header is None else nearest(name, table.header)
    raise InvalidParameter(f"{table.path} has no column --index-column {name}; {hint}")


def are_row_names(column: Sequence[str]) -> bool:
    """Are the entries all text or all whole numbers, none missing and none twice?"""
    alike = all(map(is_whole, column)) or not any(map(spells_number, column))
    return alike and is_unrepeated(column) and not any(cell.lower() in MISSING for cell in column)


def is_ordered(column: Sequence[str]) -> bool:
    """Could more than two numbers be row names: do they rise, or are they whole and all different?"""
    if len(column) < 3 or not all(map(is_number, column)):
        return False
    values = [float(cell) for cell in column]
    rises = values == sorted(values) and values[0] < values[-1]
    return rises or (all(map(is_whole, column)) and is_unrepeated(column))


# Cells


def is_symmetric(rows: list[list[str]]) -> bool:
    """Do the cells make a symmetric matrix of numbers?"""
    if any(len(row) != len(rows) for row in rows) or not all(is_number(cell) for row in rows for cell in row):
        return False
    matrix = np.array([[float(cell) for cell in row] for row in rows])
    return bool(np.allclose(matrix, matrix.T, rtol=1e-6, atol=0.0, equal_nan=True))


def is_unrepeated(cells: Sequence[str]) -> bool:
    """Are all entries different?"""
    return len(set(cells)) == len(cells)


def is_whole(cell: str) -> bool:
    """Is the cell a whole number that can be a name, such as 0 or 1998? Negative numbers and 1.0 are not."""
    return cell.isdecimal() and cell.isascii()


def spells_number(cell: str) -> bool:
    """Is the cell a number, or one for people, such as 1,5 or 5 %?"""
    return is_number(cell.replace(",", "").strip("%$€£ "))


def is_number(cell: Any) -> bool:
    """Does the cell read as a float? 1_000, which Python takes for 1000, and control characters do not."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell and cell.isprintable()
