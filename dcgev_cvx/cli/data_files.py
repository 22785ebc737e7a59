"""Reading .npy, .npz, .csv and .mtx files: matrices with the names of their columns, vectors, class labels.

The ending of a file decides how it is read. Pickled arrays, which could execute code, are never loaded.

.npy   one array
.npz   one array; or the arrays A (or C, meaning A = CᵀC), B and names; or a matrix of scipy.sparse.save_npz
.csv   numbers separated by comma, semicolon or tab; a header and a column of row names are recognised
.mtx   Matrix Market, dense or sparse
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from scipy.io import mmread
from scipy.sparse import load_npz

from .._numerics.checks import as_path, shown
from ..errors import DCGEVError, InvalidParameter, nearest

SUFFIXES = (".npy", ".npz", ".csv", ".mtx")


class NamedArray(np.ndarray[Any, Any]):
    """An array with the names of its columns and rows, which are read like those of a pandas frame."""

    columns: Sequence[str] | None = None
    index: Sequence[str] | None = None

    @classmethod
    def of(cls, array: Any, columns: Sequence[str], index: Sequence[str] | None = None) -> NamedArray:
        """The array under these names."""
        named = np.asarray(array).view(cls)
        named.columns, named.index = columns, index
        return named


def read_table(name: str) -> Any:
    """The matrix in a file: an array, one with names, or a sparse matrix."""
    path = existing(name)
    readers: Mapping[str, Callable[[Path], Any]] = {
        ".npy": lambda path: np.load(path, allow_pickle=False),
        ".npz": lambda path: only_array(path, npz_arrays(path)),
        ".csv": read_csv,
        ".mtx": lambda path: mmread(path, spmatrix=False),
    }
    suffix = path.suffix.lower()
    if suffix not in readers:
        ending = f"ends in {suffix!r}" if suffix else "has no ending"
        raise InvalidParameter(f"{name} {ending}; files are read by their ending: {', '.join(SUFFIXES)}.")
    return guarded(readers[suffix], path)


def read_arrays(name: str) -> dict[str, Any]:
    """The arrays of an .npz file; a single one, unless it is called B, counts as A."""
    path = existing(name)
    arrays = guarded(npz_arrays, path)
    if "A" in arrays or "C" in arrays:
        return arrays
    if "B" in arrays:
        raise InvalidParameter(f"{path} holds B and no A: add the array A, or C with A = CᵀC.")
    return {"A": only_array(path, arrays)}


def read_vector(name: str) -> Any:
    """The one row or column of a file."""
    matrix = read_table(name)
    vector = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
    if vector.size != max(vector.shape, default=1):
        raise InvalidParameter(f"{name} holds an array of shape {vector.shape}; one row or one column is needed.")
    return vector.reshape(-1)


def read_labels(name: str, m: int) -> list[Any]:
    """The m labels in a file of one column, text or numbers; one line more than samples is a header."""
    path = existing(name)
    if path.suffix.lower() not in (".csv", ".txt"):
        return read_vector(name).tolist()
    rows: list[list[str]] = guarded(
        lambda path: list(csv.reader(path.read_text("utf-8-sig").rstrip().split("\n"))), path
    )
    if any(len(row) > 1 for row in rows):
        raise InvalidParameter(f"{name} has rows of several entries; labels must be one column.")
    labels = [row[0].strip() if row else "" for row in rows]
    refuse_missing(labels, range(1, len(labels) + 1), name)
    return labels[1:] if len(labels) == m + 1 else labels


def read_labelled(name: str, column: str) -> tuple[NamedArray, list[str]]:
    """The numbers of a .csv file and the labels in one of its named columns."""
    path = existing(name)
    if path.suffix.lower() != ".csv":
        raise InvalidParameter(f"--y {column}: no such file, and {name} has no named columns (only .csv has).")
    text: Lines = guarded(Lines.of, path)
    header = text.cells(0)
    if column not in header:
        raise InvalidParameter(f"{name} has no column {column!r}; {nearest(column, header)}")
    if header.count(column) > 1:
        raise InvalidParameter(f"{name} has {header.count(column)} columns named {column!r}: rename all but one.")
    j = header.index(column)
    matrix, labels = text.numbers(1, len(header), j)
    refuse_missing(labels, [number for number, _ in text.lines[1:]], name)
    return NamedArray.of(matrix, [*header[:j], *header[j + 1 :]]), labels


def refuse_missing(labels: Sequence[str], lines: Sequence[int], name: str) -> None:
    """Raise for a label that is empty or NaN."""
    for number, label in zip(lines, labels, strict=True):
        if not label or label.lower() == "nan":
            raise InvalidParameter(f"{name}, line {number}: the label is missing.")


# Files that are not there or cannot be read


def existing(name: str) -> Path:
    """The path of a file that exists; a misspelt name is answered with the nearest file in that folder."""
    path = as_path(name, "the name of a file")
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a pipe or a device"
        raise InvalidParameter(f"{name} is {kind}; a file is needed ({', '.join(SUFFIXES)}).")
    if not path.exists():
        folder = path.parent
        others = [p.name for p in folder.iterdir() if p.suffix.lower() in SUFFIXES] if folder.is_dir() else []
        hint = nearest(path.name, others)
        raise InvalidParameter(f"{name} does not exist.{f' {hint}' if hint.startswith('did') else ''}")
    return path


def guarded(reader: Callable[[Path], Any], path: Path) -> Any:
    """What the reader returns; errors that a file can cause become one sentence."""
    try:
        return reader(path)
    except DCGEVError:
        raise
    except (OSError, ValueError, ArithmeticError, EOFError, BadZipFile, KeyError, TypeError, csv.Error) as cause:
        raise InvalidParameter(f"{path} could not be read as {path.suffix.lower()}: {reason(cause)}") from cause
    except MemoryError as cause:
        raise InvalidParameter(f"{path} does not fit in memory: {cause}.") from cause


def reason(cause: Exception) -> str:
    """The first line of a reader's message, or a plainer sentence."""
    if isinstance(cause, UnicodeDecodeError):
        return f"it is not UTF-8 text (byte {cause.start + 1}); save it as UTF-8."
    text = str(cause).strip()
    if "pickle" in text:  # NumPy takes any unknown file for a pickle, and tells how to run it
        return "it is not an array of numbers, or it holds pickled objects, which are never loaded."
    return text.splitlines()[0] if text else type(cause).__name__


# .npz


def npz_arrays(path: Path) -> dict[str, Any]:
    """Every array of an .npz file; a matrix of scipy.sparse.save_npz counts as the array A."""
    with path.open("rb") as handle, np.load(handle, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if "format" in arrays:
        matrix = load_npz(path)
        if hasattr(matrix, "check_format"):  # SciPy would write wherever the indices of a damaged file point
            matrix.check_format(full_check=True)
        return {"A": matrix}
    return arrays


def only_array(path: Path, arrays: Mapping[str, Any]) -> Any:
    """The single array of an .npz file."""
    if len(arrays) != 1:
        held = f"the arrays {', '.join(arrays)}" if arrays else "no arrays"
        raise InvalidParameter(f"{path} holds {held}: name one A (and B), or keep only one.")
    return next(iter(arrays.values()))


# .csv: np.loadtxt reads the numbers, after header and row names have been recognised


def read_csv(path: Path) -> Any:
    """The numbers of a .csv file, and the names in its header."""
    text = Lines.of(path)
    first, second = text.cells(0), text.cells(1) if len(text.lines) > 1 else []
    if not has_header(first, len(text.lines) - 1):
        return text.numbers(0, len(first))[0]
    refuse_mixed(path, text.lines[0][0], first)
    short = len(second) == len(first) + 1  # R leaves out the cell above the row names, pandas leaves it empty
    if not second or not (short or first[0] == "" or not is_number(second[0])):
        return NamedArray.of(text.numbers(1, len(first))[0], first)
    names = first if short else first[1:]
    matrix, rows = text.numbers(1, len(names) + 1, 0)
    if not short and first[0] != "" and any(map(is_number, rows)):
        raise InvalidParameter(text.not_a_number(1, 1, second[0]))
    return NamedArray.of(matrix, names, rows)


@dataclass(frozen=True)
class Lines:
    """The lines of a .csv file with their numbers, blank ones left out."""

    path: Path
    separator: str
    lines: list[tuple[int, str]]

    @classmethod
    def of(cls, path: Path) -> Lines:
        """Read the lines; the separator is the mark that occurs most often in the first of them."""
        with path.open(encoding="utf-8-sig", newline="") as handle:
            lines = [(number, line) for number, line in enumerate(handle, 1) if line.strip(" ,;\t\r\n")]
        if not lines:
            raise InvalidParameter(f"{path} is empty.")
        while lines[0][1].count('"') % 2:  # a name in the header may have line breaks
            if len(lines) == 1:
                raise InvalidParameter(f"{path} has a quotation mark that is opened and never closed.")
            lines[:2] = [(lines[0][0], lines[0][1] + lines[1][1])]
        return cls(path, max(",;\t", key=lines[0][1].count), lines)

    def cells(self, i: int) -> list[str]:
        """The cells of one line."""
        return [cell.strip() for cell in next(csv.reader([self.lines[i][1]], delimiter=self.separator))]

    def numbers(self, skip: int, width: int, text: int | None = None) -> tuple[Any, list[str]]:
        """The cells after some lines as numbers, but those of one column as text; all lines must have one width."""
        texts: list[str] = []
        if len(self.lines) == skip:
            raise InvalidParameter(f"{self.path} has a header and no numbers below it.")
        if len(self.cells(skip)) != width:
            raise InvalidParameter(self.wrong_width(skip, len(self.cells(skip)), width))
        if width == (text is not None):
            raise InvalidParameter(f"{self.path} has no column of numbers; separate them by comma, semicolon or tab.")
        try:
            matrix = np.loadtxt(
                [line for _, line in self.lines[skip:]],
                delimiter=self.separator,
                quotechar='"',
                comments=None,
                converters=None if text is None else {text: lambda cell: texts.append(cell.strip()) or 0.0},
                ndmin=2,
            )
        except ValueError as cause:
            raise InvalidParameter(self.explained(str(cause), skip)) from cause
        return matrix if text is None else np.delete(matrix, text, axis=1), texts

    def explained(self, message: str, skip: int) -> str:
        """What np.loadtxt could not read, with the number of the line in the file."""
        if wrong := re.search(r"string '(.*)' to float64 at row (\d+), column (\d+)", message, re.DOTALL):
            return self.not_a_number(skip + int(wrong[2]), int(wrong[3]), wrong[1])
        if wrong := re.search(r"changed from (\d+) to (\d+) at row (\d+)", message):
            return self.wrong_width(skip + int(wrong[3]) - 1, int(wrong[2]), int(wrong[1]))
        return f"{self.path} could not be read as .csv: {message}"

    def not_a_number(self, i: int, entry: int, cell: str) -> str:
        """A cell that is text where a number is expected."""
        hint = " Write decimals with a point." if is_number(cell.replace(",", ".")) else ""
        return f"{self.path}, line {self.lines[i][0]}, entry {entry}: {shown(cell)} is not a number.{hint}"

    def wrong_width(self, i: int, entries: int, width: int) -> str:
        """A line with more or fewer entries than the others."""
        return f"{self.path}, line {self.lines[i][0]}: {entries} entries where {width} are expected."


def has_header(first: list[str], rows: int) -> bool:
    """Is the first line names: not all numbers, or 0, 1, 2, … above a square, as pandas names columns?"""
    if not all(map(is_number, first)):
        return True
    return rows == len(first) and first == [str(j) for j in range(len(first))]


def refuse_mixed(path: Path, number: int, first: list[str]) -> None:
    """Raise for a first line of names and numbers, which may be a row with a gap: a header would drop it."""
    cells = first[1:] if first[0] == "" else first
    names = [cell for cell in cells if not is_number(cell)]
    if 0 < len(names) < len(cells):
        raise InvalidParameter(
            f"{path}, line {number}: {shown(names[0])} among numbers is neither a header nor a row. Name every "
            "column in the first line, or write a number in its place."
        )


def is_number(cell: str) -> bool:
    """Does the cell read as a float? 1_000, which Python takes for 1000, does not."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell
