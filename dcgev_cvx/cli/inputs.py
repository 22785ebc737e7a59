"""From what the user typed to a pencil: bundled names, and .npy, .npz, .csv, .mtx files.

A file's ending decides how it is read; its content is never guessed from. No format that can execute code is
read: pickled arrays are refused.

.npy   one square matrix A
.npz   arrays A (or C, meaning A = CᵀC without forming it), optionally B and names; or one array; or a
       matrix written by scipy.sparse.save_npz
.csv   numbers by comma, semicolon or tab; a header and a column of row names are recognised
.mtx   Matrix Market, dense or sparse
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zipfile import BadZipFile

import numpy as np

from .. import datasets
from .._numerics.checks import Matrix, Vector, as_path, shown
from ..errors import DCGEVError, InvalidParameter, nearest
from ..pencils import Gram, Pencil, check_order

BUNDLED: Mapping[str, Callable[[], Pencil]] = MappingProxyType(
    {
        "pitprops": datasets.pitprops,
        "planted-pca": lambda: datasets.planted_pca().pencil,
        "planted-cca": lambda: datasets.planted_cca().pencil,
        "indefinite": datasets.indefinite,
    }
)
"""The names that stand for a pencil."""

SUFFIXES = (".npy", ".npz", ".csv", ".mtx")


@dataclass(frozen=True)
class Table:
    """A matrix as it was read, and the names of its columns if the file has them."""

    matrix: Any
    names: tuple[str, ...] | None = None


def read_pencil(data: str | None, A: str | None, B: str | None) -> Pencil:
    """The pencil of `DATA`, or of `--A` and `--B`; a `--B` beside DATA supplies the metric.

    Raises InvalidParameter when both or neither of DATA and --A are given, and for files that cannot be read;
    InvalidPencil when the matrices do not form a pencil.
    """
    if data is not None and A is not None:
        raise InvalidParameter(f"DATA ({data}) and --A ({A}) were both given: give one of them.")
    if data is None and A is None:
        known = ", ".join(BUNDLED)
        raise InvalidParameter(f"no problem was given: name a bundled one ({known}), a file, or --A FILE [--B FILE].")
    pencil = read_data(data) if data is not None else pencil_of(read_table(str(A)), str(A))
    return pencil if B is None else with_metric(pencil, read_table(B), B)


def read_data(data: str) -> Pencil:
    """A bundled pencil by name, or the pencil in a file."""
    if data in BUNDLED:
        return BUNDLED[data]()
    path = as_path(data, "DATA")
    if not path.suffix and not path.exists():
        raise InvalidParameter(f"{data!r} is neither a bundled name nor a file; {nearest(data, BUNDLED)}")
    if path.suffix.lower() == ".npz":
        return read_npz_pencil(path)
    return pencil_of(read_table(data), data)


def read_table(name: str) -> Table:
    """The matrix in a .npy, .npz (one array), .csv or .mtx file, or an error that says what is wrong with it.

    Raises InvalidParameter for an unknown ending, a missing file or one that cannot be read; pickled arrays are
    never loaded.
    """
    path = existing(name)
    readers: Mapping[str, Callable[[Path], Table]] = {
        ".npy": lambda p: Table(np.load(p, allow_pickle=False)),
        ".npz": only_array,
        ".csv": read_csv,
        ".mtx": read_mtx,
    }
    suffix = path.suffix.lower()
    if suffix not in readers:
        ending = f"ends in {suffix!r}" if suffix else "has no ending"
        raise InvalidParameter(f"{name} {ending}; files are read by their ending: {listed()}.")
    return guarded(readers[suffix], path)


def existing(name: str) -> Path:
    """The path of a file that is there, or the error that says it is not.

    A misspelt name is answered with the nearest file in that folder.
    """
    path = as_path(name, "the name of a file")
    if path.is_dir():
        raise InvalidParameter(f"{name} is a folder; a file is needed ({listed()}).")
    if path.is_symlink() and not path.exists():
        raise InvalidParameter(f"{name} is a link to a file that does not exist.")
    if not path.exists():
        folder = path.parent
        others = [p.name for p in folder.iterdir() if p.suffix.lower() in SUFFIXES] if folder.is_dir() else []
        hint = nearest(path.name, others)
        raise InvalidParameter(f"{name} does not exist.{f' {hint}' if hint.startswith('did') else ''}")
    return path


def guarded(reader: Callable[[Path], Any], path: Path) -> Any:
    """What the reader returns; whatever else goes wrong inside a file becomes one sentence.

    Only errors that a file can cause are caught; the reader's message is cut to its first line.
    """
    try:
        return reader(path)
    except DCGEVError:
        raise
    except (OSError, ValueError, ArithmeticError, EOFError, BadZipFile, KeyError, TypeError, csv.Error) as cause:
        raise InvalidParameter(f"{path} could not be read as {path.suffix.lower()}: {reason(cause)}") from cause
    except MemoryError as cause:
        raise InvalidParameter(f"{path} does not fit in memory: {cause}.") from cause


def reason(cause: Exception) -> str:
    """The first line of a reader's complaint; where it advises what is not done here, our own words."""
    if isinstance(cause, csv.Error) and "end of data" in str(cause):
        return "a quotation mark is opened and never closed."
    if isinstance(cause, UnicodeDecodeError):
        return f"it is not UTF-8 text (byte {cause.start + 1}); save it as UTF-8."
    text = str(cause).strip()
    if "pickle" in text:  # NumPy takes any unknown file for one, and tells how to run it
        return "it is no array of numbers, or one of pickled objects, which are never loaded."
    return text.splitlines()[0] if text else type(cause).__name__


def pencil_of(table: Table, name: str, B: Any = None) -> Pencil:
    """Pencil(A, B) of a table; a matrix of samples is recognised by its shape and refused with the remedy.

    Raises InvalidParameter for a table that is not square, and says how samples are passed instead.
    """
    shape = np.shape(table.matrix)
    if len(shape) == 2 and shape[0] != shape[1]:
        raise InvalidParameter(
            f"{name} holds {shape[0]}×{shape[1]} numbers; A must be square. If these are samples × variables, "
            "pass --task pca, or store the centred data as array C of an .npz file (A = CᵀC, never formed)."
        )
    return Pencil(table.matrix, B, names=table.names)


def with_metric(pencil: Pencil, table: Table, name: str) -> Pencil:
    """The same A with B from a table; names that disagree are an error, not a guess.

    Raises InvalidParameter when the data bring a B of their own, or when the columns of A and B are named
    differently.
    """
    if pencil.B is not None:
        raise InvalidParameter(f"the data bring their own B: leave out --B {name}.")
    if pencil.names is not None and table.names is not None and pencil.names != table.names:
        pairs = zip(pencil.names, table.names, strict=False)
        first = next(((a, b) for a, b in pairs if a != b), ("", ""))
        raise InvalidParameter(f"A and B name their columns differently, first {first[0]!r} and {first[1]!r}.")
    return Pencil(pencil.A, table.matrix, names=pencil.names if pencil.names is not None else table.names)


def read_npz_pencil(path: Path) -> Pencil:
    """The arrays A (or C with A = CᵀC), B and names of an .npz file.

    A takes precedence over C; without either, a file with a single array is that array, unless it is called B.
    """
    arrays = guarded(npz_arrays, existing(str(path)))
    if "B" in arrays and "A" not in arrays and "C" not in arrays:
        raise InvalidParameter(f"{path} holds B and no A: add the array A, or C with A = CᵀC.")
    names = tuple(str(name) for name in np.ravel(arrays["names"])) if "names" in arrays else None
    if "C" in arrays and "A" not in arrays:
        return Pencil(Gram(arrays["C"]), arrays.get("B"), names=names)
    A = arrays["A"] if "A" in arrays else guarded(only_array, path).matrix
    return pencil_of(Table(A, names), str(path), arrays.get("B"))


def npz_arrays(path: Path) -> dict[str, Any]:
    """Every array of an .npz file; one of scipy.sparse.save_npz counts as the array A."""
    # opened here, for NumPy leaves a damaged file open
    with path.open("rb") as handle, np.load(handle, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if "format" in arrays:
        from scipy.sparse import load_npz

        return {"A": load_npz(path)}
    return arrays


def only_array(path: Path) -> Table:
    """The single array of an .npz file."""
    arrays = npz_arrays(path)
    if len(arrays) != 1:
        held = f"the arrays {', '.join(arrays)}" if arrays else "no arrays"
        raise InvalidParameter(f"{path} holds {held}: name one A (and B), or keep only one.")
    return Table(next(iter(arrays.values())))


def read_mtx(path: Path) -> Table:
    """A Matrix Market file, dense or sparse."""
    from scipy.io import mmread

    return Table(mmread(path, spmatrix=False))


@dataclass(frozen=True)
class Line:
    """The cells of one line of a .csv file, and its number in the file."""

    number: int
    cells: list[str]


def csv_lines(path: Path) -> list[Line]:
    """The lines of a .csv file, cut by comma, semicolon or tab, without those that are blank.

    The separator is the mark that occurs most often in the first line that is not blank; a byte order mark is
    skipped. A quotation mark that is opened and not closed would swallow the rest of the file, and is an error.
    """
    with path.open(encoding="utf-8-sig", newline="") as handle:
        first = next((line for line in handle if line.strip()), "")
        separator = max(",;\t", key=first.count)
        handle.seek(0)
        reader = csv.reader(handle, delimiter=separator, strict=True)
        lines = [Line(reader.line_num, cells) for row in reader if any(cells := [cell.strip() for cell in row])]
    if not lines:
        raise InvalidParameter(f"{path} is empty.")
    return lines


def read_csv(path: Path) -> Table:
    """Numbers separated by comma, semicolon or tab; a header and a column of row names are recognised."""
    lines = csv_lines(path)
    rows = [line.cells for line in lines]
    if not has_header(rows):
        return Table(parsed(path, lines, range(len(rows[0])), len(rows[0])))
    refuse_mixed(path, lines[0])
    header, body = rows[0], rows[1:]
    if not has_row_names(header, body):
        return Table(parsed(path, lines[1:], range(len(header)), len(header)), tuple(header))
    names = header if len(body[0]) == len(header) + 1 else header[1:]
    check_order(tuple(names), [row[0] for row in body], f"the columns of {path}", "its rows")
    return Table(parsed(path, lines[1:], range(1, len(names) + 1), len(names) + 1), tuple(names))


def has_header(rows: list[list[str]]) -> bool:
    """Is the first row names: not all numbers, or 0, 1, 2, … above a square (the names of an unnamed frame)?

    pandas writes 0, 1, 2, … above a frame without names: a first row like that over a square is a header, and one row
    too many would be the symptom of taking it for numbers.
    """
    first = rows[0]
    if not all(is_number(cell) for cell in first):
        return True
    return len(rows) == len(first) + 1 and first == [str(j) for j in range(len(first))]


def refuse_mixed(path: Path, first: Line) -> None:
    """A first line of names and numbers: to take it for a header would be to drop a row whose gap reads NA.

    An empty first cell stands above a column of row names.
    """
    cells = first.cells[1:] if first.cells[0] == "" else first.cells
    names = [cell for cell in cells if not is_number(cell)]
    if 0 < len(names) < len(cells):
        raise InvalidParameter(
            f"{path}, line {first.number}: {shown(names[0])} among numbers is neither a header nor a row. Name every "
            "column in the first line, or write a number in its place."
        )


def has_row_names(header: list[str], body: list[list[str]]) -> bool:
    """Is the first column names: a header that is empty there or one cell short, or cells that are no numbers?

    R writes a header that is one cell short above a column of row names; pandas leaves the cell empty.
    """
    if not body or not body[0]:
        return False
    short = all(len(row) == len(header) + 1 for row in body)
    return short or header[0] == "" or not any(is_number(row[0]) for row in body if row)


def is_number(cell: str) -> bool:
    """Does the cell read as a float? 1_000, which Python takes for 1000, does not."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def number_in(cell: str) -> float | str:
    """The number that a cell spells, or the cell itself, for an error to show."""
    return float(cell) if is_number(cell) else cell


def parsed(path: Path, lines: Sequence[Line], columns: Sequence[int], width: int) -> Matrix:
    """These columns of the lines as numbers, or the place and text of the first cell that is none.

    Every line must have `width` cells.
    """
    if not lines:
        raise InvalidParameter(f"{path} has a header and no numbers below it.")
    if not columns:
        raise InvalidParameter(f"{path} has no column of numbers; they are separated by comma, semicolon or tab.")
    matrix = np.empty((len(lines), len(columns)))
    for i, line in enumerate(lines):
        if len(line.cells) != width:
            raise InvalidParameter(
                f"{path}, line {line.number}: {len(line.cells)} entries where {width} are expected."
            )
        for j, column in enumerate(columns):
            cell = line.cells[column]
            if not is_number(cell):
                hint = " Write decimals with a point." if is_number(cell.replace(",", ".")) else ""
                raise InvalidParameter(
                    f"{path}, line {line.number}, entry {column + 1}: {shown(cell)} is not a number.{hint}"
                )
            matrix[i, j] = float(cell)
    return matrix


def read_start(text: str | None) -> Vector | None:
    """A start x0: numbers separated by commas, or a file with one row or column; the run compares its length."""
    if text is None:
        return None
    cells = text.split(",")
    if all(is_number(cell) for cell in cells):
        return np.array([float(cell) for cell in cells])
    if not Path(text).suffix:
        raise InvalidParameter(f"--x0 {text!r} must be numbers with commas, or a file ({listed()}).")
    return read_vector(text)


def read_vector(text: str) -> Any:
    """The one row or column of a file.

    Raises InvalidParameter for a file that holds a matrix.
    """
    matrix = read_table(text).matrix
    vector = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
    if vector.size != max(vector.shape, default=1):
        raise InvalidParameter(f"{text} holds an array of shape {vector.shape}; one row or one column is wanted.")
    return vector.reshape(-1)


def listed() -> str:
    """The endings that can be read."""
    return ", ".join(SUFFIXES)
