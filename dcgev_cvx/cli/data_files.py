"""Reading .npy, .npz, .csv and .mtx files: matrices with the names of their columns and rows, vectors, class labels.

The ending of a file decides how it is read. Pickled arrays, which could execute code, are never loaded.

.npy   one array
.npz   one array; or the arrays A (or C, meaning A = CᵀC), B and names; or a matrix of scipy.sparse.save_npz
.csv   numbers separated by comma, semicolon or tab; a header and a column of row names are recognised
.mtx   Matrix Market, dense or sparse
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from scipy.sparse import coo_array, load_npz

from .._numerics.checks import MAX_BYTES, as_path, check_bytes, shown
from ..errors import DCGEVError, InvalidParameter, nearest
from .csv_files import Cells, Decisions, is_number, read_cells, rows_of

SUFFIXES = (".npy", ".npz", ".csv", ".mtx")


class NamedArray(np.ndarray[Any, Any]):
    """An array with the names of its columns and rows, which are read like those of a pandas frame."""

    columns: Sequence[str] | None = None
    index: Sequence[str] | None = None

    @classmethod
    def of(cls, array: Any, columns: Sequence[str] | None, index: Sequence[str] | None = None) -> NamedArray:
        """The array under these names."""
        named = np.asarray(array).view(cls)
        named.columns, named.index = columns, index
        return named


def read_table(name: str, decisions: Decisions) -> Any:
    """The matrix in a file: an array, one with names, or a sparse matrix."""
    path = existing(name)
    readers: Mapping[str, Callable[[Path], Any]] = {
        ".npy": lambda path: np.load(path, allow_pickle=False),
        ".npz": lambda path: only_array(path, npz_arrays(path)),
        ".csv": lambda path: named_numbers(read_cells(path, decisions), decisions),
        ".mtx": read_matrix_market,
    }
    suffix = path.suffix.lower()
    if suffix not in readers:
        ending = f"ends in {suffix!r}" if suffix else "has no ending"
        raise InvalidParameter(f"{name} {ending}; files are read by their ending: {', '.join(SUFFIXES)}.")
    return guarded(readers[suffix], path)


def named_numbers(cells: Cells, decisions: Decisions) -> Any:
    """The numbers of a .csv file under their names; what was decided is noted."""
    matrix = cells.numbers()
    decisions.notes.extend(f"{cells.path}: {note}." for note in cells.notes)
    return (
        matrix if cells.header is None and cells.index is None else NamedArray.of(matrix, cells.header, cells.index)
    )


def read_arrays(name: str) -> dict[str, Any]:
    """The arrays of an .npz file; a single one, unless it is called B, counts as A."""
    path = existing(name)
    arrays = guarded(npz_arrays, path)
    if "A" in arrays or "C" in arrays:
        return arrays
    if "B" in arrays:
        raise InvalidParameter(f"{path} holds B and no A: add the array A, or C with A = CᵀC.")
    return {"A": only_array(path, arrays)}


def read_vector(name: str, decisions: Decisions) -> Any:
    """The one row or column of a file."""
    matrix = read_table(name, decisions)
    if hasattr(matrix, "toarray"):
        check_bytes(matrix.shape, name, "One row or one column is needed.")
    vector = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
    if vector.size != max(vector.shape, default=1):
        raise InvalidParameter(f"{name} holds an array of shape {vector.shape}; one row or one column is needed.")
    return vector.reshape(-1)


def read_labels(name: str, m: int, decisions: Decisions) -> Any:
    """The m labels in a file of one column, or two with row names first; one line more than samples is a header."""
    path = existing(name)
    if path.suffix.lower() not in (".csv", ".txt"):
        return read_vector(name, decisions)
    cells: Cells = guarded(lambda path: rows_of(path)[0], path)
    if cells.width > 2 or {len(row) for row in cells.rows[1:]} > {cells.width}:
        raise InvalidParameter(f"{name} has rows of several entries; labels must be one column, or follow row names.")
    head = len(cells.rows) == m + 1 if decisions.header is None else decisions.header
    rows, lines = cells.rows[head:], cells.lines[head:]
    refuse_missing([row[-1] for row in rows], lines, name)
    index = [row[0] for row in rows] if rows and len(rows[0]) == 2 else None
    if index is not None:
        if len(set(index)) < len(index):
            raise InvalidParameter(f"{name}: the row names in its first column repeat; labels must be one column.")
        decisions.notes.append(f"{name}: column 1 holds row names ({index[0]!r}, …).")
    return NamedArray.of(np.array([row[-1] for row in rows], dtype=object), None, index)


def read_labelled(name: str, column: str, decisions: Decisions) -> tuple[Any, list[str]]:
    """The numbers of a .csv file and the labels in one of its named columns."""
    path = existing(name)
    if path.suffix.lower() != ".csv":
        raise InvalidParameter(f"--y {column}: no such file, and {name} has no named columns (only .csv has).")
    cells: Cells = guarded(lambda path: read_cells(path, decisions, column), path)
    header = cells.header
    if header is None or column not in header:
        raise InvalidParameter(f"{name} has no column {column!r}; {nearest(column, header or [])}")
    if header.count(column) > 1:
        raise InvalidParameter(f"{name} has {header.count(column)} columns named {column!r}: rename all but one.")
    labels = cells.column(header.index(column))
    refuse_missing(labels, cells.lines, name)
    return named_numbers(cells.without(header.index(column)), decisions), labels


def refuse_missing(labels: Sequence[str], lines: Sequence[int], name: str) -> None:
    """Raise for a label that is empty or NaN."""
    for number, label in zip(lines, labels, strict=True):
        if label.lower() in ("", "nan", "na", "n/a", "#n/a", "<na>", "null", "none"):
            raise InvalidParameter(f"{name}, line {number}: the label is missing: drop the sample.")


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
    """What the reader returns; whatever a damaged file makes a library raise becomes one sentence."""
    try:
        return reader(path)
    except DCGEVError:
        raise
    except MemoryError as cause:
        raise InvalidParameter(f"{path} does not fit in memory: {cause}.") from cause
    except Exception as cause:  # zlib.error, RuntimeError, NotImplementedError, struct.error, SyntaxError, …
        raise InvalidParameter(f"{path} could not be read as {path.suffix.lower()}: {reason(cause)}") from cause


def reason(cause: Exception) -> str:
    """The first line of a reader's message, or a plainer sentence."""
    if isinstance(cause, UnicodeDecodeError):
        return f"it is not {cause.encoding.upper()} text (byte {cause.start + 1}); save it as UTF-8."
    text = str(cause).strip()
    if "pickle" in text:  # NumPy takes any unknown file for a pickle, and tells how to run it
        return "it is not an array of numbers, or it holds pickled objects, which are never loaded."
    if "password" in text or "encrypted" in text:
        return "it is encrypted; save it without a password."
    return text.splitlines()[0] if text else type(cause).__name__


# .npz


def npz_arrays(path: Path) -> dict[str, Any]:
    """Every array of an .npz file; a matrix of scipy.sparse.save_npz counts as the array A."""
    with ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    if size > MAX_BYTES:
        raise InvalidParameter(f"{path} unpacks to {size:,} bytes (> {MAX_BYTES:,}). Save fewer or smaller arrays.")
    with path.open("rb") as handle, np.load(handle, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if "format" in arrays:
        matrix = load_npz(path)
        if hasattr(matrix, "check_format"):  # SciPy would write wherever the indices of a damaged file point
            matrix.check_format(full_check=True)
        return {"A": matrix}
    if any(isinstance(array, bytes) for array in arrays.values()):
        raise InvalidParameter(f"{path} holds files that are not arrays: save it with np.savez.")
    return arrays


def only_array(path: Path, arrays: Mapping[str, Any]) -> Any:
    """The single array of an .npz file."""
    if len(arrays) != 1:
        held = f"the arrays {', '.join(arrays)}" if arrays else "no arrays"
        raise InvalidParameter(f"{path} holds {held}: name one A (and B), or keep only one.")
    return next(iter(arrays.values()))


# .mtx: a damaged file can end the process inside SciPy's reader, so that its numbers are read here


def read_matrix_market(path: Path) -> Any:
    """The matrix of a Matrix Market file, an array or a sparse one; every entry is counted."""
    head, _, text = path.read_text("utf-8").partition("\n")
    words = head.lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise ValueError("its first line must be %%MatrixMarket matrix FORMAT FIELD SYMMETRY.")
    form, kind, symmetry = words[2:]
    if kind not in ("real", "double", "integer", "pattern") or symmetry == "hermitian":
        raise ValueError(f"A is {kind}: only real numbers are supported.")
    if symmetry not in ("general", "symmetric", "skew-symmetric") or form not in ("array", "coordinate"):
        raise ValueError(f"its first line says {form} {symmetry}, which is unknown.")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("%")]
    sizes = [int(word) for word in lines[0].split()] if lines else []
    if len(sizes) != (3 if form == "coordinate" else 2) or min(sizes) < 0 or 0 in sizes[:2]:
        raise ValueError(f"its sizes are {sizes}: rows and columns (and entries) must be whole numbers above 0.")
    entries = " ".join(lines[1:]).split()
    make = sparse_entries if form == "coordinate" else dense_entries
    return make(entries, sizes, kind, symmetry)


def dense_entries(entries: list[str], sizes: list[int], kind: str, symmetry: str) -> Any:
    """A matrix by columns; of a symmetric one the lower triangle, without the diagonal if skew."""
    rows, columns = sizes
    check_bytes((rows, columns), "A", "Pass fewer rows or columns.")
    if kind == "pattern" or (symmetry != "general" and rows != columns):
        raise ValueError(f"its first line says array {kind} {symmetry}, which has no meaning for {rows}×{columns}.")
    if symmetry == "general":
        counted(entries, rows * columns)
        return numbers(entries).reshape(columns, rows).T
    skew = symmetry == "skew-symmetric"
    j, i = np.triu_indices(rows, int(skew))
    counted(entries, len(i))
    matrix = np.zeros((rows, rows))
    matrix[i, j] = numbers(entries)
    matrix[j, i] = -matrix[i, j] if skew else matrix[i, j]
    return matrix


def sparse_entries(entries: list[str], sizes: list[int], kind: str, symmetry: str) -> Any:
    """A matrix by (row, column, value), those of a symmetric one mirrored; entries given twice are added."""
    width = 2 if kind == "pattern" else 3
    counted(entries, sizes[2] * width)
    table = numbers(entries).reshape(-1, width)
    i, j = table[:, 0], table[:, 1]
    if np.any((i < 1) | (i > sizes[0]) | (j < 1) | (j > sizes[1]) | (i % 1 != 0) | (j % 1 != 0)):
        raise ValueError(f"an entry lies outside of its {sizes[0]}×{sizes[1]} numbers.")
    value = table[:, 2] if width == 3 else np.ones(len(table))
    i, j = i.astype(np.int64) - 1, j.astype(np.int64) - 1
    if symmetry != "general":
        if sizes[0] != sizes[1] or (np.any(i < j) and np.any(i > j)):
            raise ValueError(f"its first line says {symmetry}: it must be square, with the entries of one triangle.")
        off, sign = i != j, -1.0 if symmetry == "skew-symmetric" else 1.0
        i, j, value = np.append(i, j[off]), np.append(j, i[off]), np.append(value, sign * value[off])
    return coo_array((value, (i, j)), shape=(sizes[0], sizes[1]))


def counted(entries: list[str], expected: int) -> None:
    """Raise unless there are as many numbers as the header says."""
    if len(entries) != expected:
        raise ValueError(f"its header announces {expected} numbers, but {len(entries)} follow: it is cut or damaged.")


def numbers(entries: list[str]) -> Any:
    """The entries as floats."""
    bad = next((entry for entry in entries if not is_number(entry)), None)
    if bad is not None:
        raise ValueError(f"{shown(bad)} is not a number.")
    return np.array([float(entry) for entry in entries])
