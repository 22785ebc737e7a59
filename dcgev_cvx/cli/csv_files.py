"""Reading .csv and .tsv files by three rules, each with an option that overrides it.

Header      the first line, if a cell of it is text or if it counts 0, 1, 2, … or 1, 2, 3, …         --[no-]header
Row names   the first column, if it is text or has no name                                           --index-column
Numbers     every other cell; one that is none is an error with its line and column        --drop, --decimal

The separator is a tab or a semicolon if the first line has one, else the comma. Lines without an entry are left out.
"""

import csv
import io
import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .._numerics.checks import Matrix, shown
from ..errors import InvalidParameter, nearest

MISSING = ("", "na", "nan", "n/a", "#n/a", "<na>", "null", "none")
"""How files write a missing number or label, in lower case."""


@dataclass(frozen=True)
class CsvOptions:
    """The options for .csv files (None: the rule decides), and what was decided and dropped."""

    header: bool | None = None
    index: str | None = None
    drop: tuple[str, ...] = ()
    decimal: str = "."
    notes: list[str] = field(default_factory=list[str])
    dropped: set[str] = field(default_factory=set[str])


@dataclass
class CsvTable:
    """The cells below the header by columns, under the names of the columns, with the numbers of their lines."""

    path: Path
    header: list[str] | None
    columns: list[list[str]]
    lines: list[int]
    decimal: str
    index: list[str] | None = None

    def find(self, name: str) -> int | None:
        """The position of a column by its name or its number from 1; None if there is no such column."""
        header = self.header or []
        if header.count(name) > 1:
            raise InvalidParameter(f"{self.path} has {header.count(name)} columns named {name!r}: rename all but one.")
        if name in header:
            return header.index(name)
        return int(name) - 1 if name.isdecimal() and 1 <= int(name) <= len(self.columns) else None

    def position(self, name: str, option: str) -> int:
        """The position of a column that an option names."""
        found = self.find(name)
        if found is None:
            hint = nearest(name, self.header) if self.header else f"it has {len(self.columns)} columns."
            raise InvalidParameter(f"{self.path} has no column {name!r} ({option}); {hint}")
        return found

    def take(self, j: int) -> list[str]:
        """Remove a column and return its cells."""
        if self.header is not None:
            self.header.pop(j)
        return self.columns.pop(j)

    def numbers(self) -> Matrix:
        """The cells as numbers, a row per line."""
        if not self.columns:
            raise InvalidParameter(f"{self.path} has no column of numbers; separate them by comma, semicolon or tab.")
        return np.array([self._column(j, column) for j, column in enumerate(self.columns)]).T

    def _column(self, j: int, cells: list[str]) -> list[float]:
        name = shown(self.header[j]) if self.header is not None else str(j + 1)
        if self.header is not None and re.fullmatch(r"(Unnamed: \d+)?", self.header[j]):
            raise InvalidParameter(f"{self.path}: column {name} has no name: name it, or pass --drop COLUMN.")
        found: list[float] = []
        for line, cell in zip(self.lines, cells, strict=True):
            value = number_in(cell, self.decimal)
            if value is None:
                raise InvalidParameter(
                    f"{self.path}, line {line}, column {name}: {shown(cell)} is not a number. Correct or drop the "
                    "line, or pass --drop COLUMN, --index-column COLUMN for row names, or --decimal , for commas."
                )
            found.append(value)
        return found


def read_csv(path: Path, options: CsvOptions, label: str | None = None) -> CsvTable:
    """The cells of a file under its header; `label` is a column that is never taken for row names."""
    lines, rows = read_rows(path)
    header = None
    if is_header(rows[0], options.decimal) if options.header is None else options.header:
        header, rows, lines = rows[0], rows[1:], lines[1:]
        if any(number_in(cell, options.decimal) is not None for cell in header):
            options.notes.append(f"{path}: the header is {shown(', '.join(header), 40)} (--no-header if it is data).")
    if not rows:
        raise InvalidParameter(f"{path} has a header and no numbers below it.")
    table = CsvTable(path, header, [list(column) for column in zip(*rows, strict=True)], lines, options.decimal)
    # a number means the column of the file, before any is taken; --drop may mean another of several files
    dropped = {name: j for name in options.drop if (j := table.find(name)) is not None}
    options.dropped.update(dropped)
    index = index_position(table, options) if label is None or table.find(label) != 0 else None
    taken = set(dropped.values()) | (set[int]() if index is None else {index})
    for j in sorted(taken, reverse=True):
        cells = table.take(j)
        table.index = cells if j == index else table.index
    return table


def index_position(table: CsvTable, options: CsvOptions) -> int | None:
    """The position of the row names: the column that --index-column names, or a first one that is text or unnamed."""
    if options.index is not None:
        return None if options.index == "none" else table.position(options.index, "--index-column")
    column, unnamed = table.columns[0], table.header is not None and table.header[0] in ("", "Unnamed: 0")
    # 1,5 and 5 % are no text, but numbers that are written otherwise
    text = all(number_in(cell.replace(",", "").strip("%$€£ ")) is None for cell in column)
    if len(table.columns) == 1 or not (unnamed or text) or any(table.find(name) == 0 for name in options.drop):
        return None
    options.notes.append(f"{table.path}: column 1 holds row names ({shown(column[0])}, …).")
    return 0


def read_rows(path: Path) -> tuple[list[int], list[list[str]]]:
    """The numbers of the lines and their cells, as many in each; lines without an entry are left out."""
    try:
        text = path.read_text("utf-8-sig")
    except UnicodeDecodeError as cause:
        raise InvalidParameter(f"{path} is not UTF-8 text (byte {cause.start + 1}): save it as UTF-8 .csv.") from cause
    first = next((line for line in text.splitlines() if line.strip()), "")
    mark = next((mark for mark in "\t;" if mark in re.sub('"[^"]*"', "", first)), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=mark, skipinitialspace=mark != "\t", strict=True)
    table = [(reader.line_num, [cell.strip() for cell in row]) for row in reader]
    table = [(line, row) for line, row in table if any(row)]
    if not table:
        raise InvalidParameter(f"{path} is empty: a line of numbers for each sample is needed.")
    width = len(table[0][1])
    for line, row in table:
        if len(row) != width:
            raise InvalidParameter(
                f"{path}, line {line}: {len(row)} entries where the first line has {width}. Give every line the same "
                "number: name each column in the header, row names too, and put quotation marks around decimal commas."
            )
    return [line for line, _ in table], [row for _, row in table]


def is_header(cells: list[str], decimal: str) -> bool:
    """Is a cell a name, and not a missing number such as #N/A, or do two or more cells count from 0 or 1?"""
    if any(number_in(cell, decimal) is None and (cell == "" or cell.lower() not in MISSING) for cell in cells):
        return True
    return len(cells) > 1 and any(cells == [str(start + j) for j in range(len(cells))] for start in (0, 1))


def number_in(cell: str, decimal: str = ".") -> float | None:
    """The number that a cell spells, None for any other; not 1_000, which Python takes for 1000."""
    text = cell.replace(",", ".") if decimal == "," and "." not in cell else cell
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None
